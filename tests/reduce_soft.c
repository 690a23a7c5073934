/* tests/reduce_soft.c — the tests of reduce.c with floats computed in integers */
#define COLL_SOFT_FLOAT 1
#include "reduce.c"
