/* Bad: the core uses a hosted header. */
#include "verify.h"
