/* Bad: the core uses a hosted header. */
#include "lab/verify.h"
