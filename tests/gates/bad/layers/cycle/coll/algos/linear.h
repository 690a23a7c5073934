/* Bad: includes ring.h, which includes this. */
#include "ring.h"
