/* Bad: includes linear.h, which includes this. */
#include "linear.h"
