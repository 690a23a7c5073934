/* Bad: the core uses the C library. */
#include "action.h"
#include <string.h>
