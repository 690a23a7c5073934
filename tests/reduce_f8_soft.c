/* tests/reduce_f8_soft.c — the tests of reduce_f8.c with floats computed in integers */
#undef COLL_EXTERN /* it has bodies of its own */
#define COLL_SOFT_FLOAT 1
#include "reduce_f8.c"
