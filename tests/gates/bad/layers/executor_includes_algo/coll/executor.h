/* Bad: the executor knows an algorithm. */
#include "plan.h"
#include "algos/ring.h"
