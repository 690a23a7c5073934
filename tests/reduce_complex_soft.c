/* tests/reduce_complex_soft.c — the tests of reduce_complex.c with floats computed in integers */
#undef COLL_EXTERN /* it has bodies of its own */
#define COLL_SOFT_FLOAT 1
#include "reduce_complex.c"
