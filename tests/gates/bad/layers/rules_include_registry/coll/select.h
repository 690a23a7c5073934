/* Bad: rules that bring all algorithms. */
#include "plan.h"
#include "algos/registry.h"
