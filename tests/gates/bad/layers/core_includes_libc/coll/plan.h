/* Bad: the core uses the C library. */
#include "plan/action.h"
#include <string.h>
