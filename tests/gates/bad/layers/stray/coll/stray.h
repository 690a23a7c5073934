/* Bad: a header of no layer. */
#include "plan.h"
