/* tests/reduce_wide.c — the tests of reduce.c with loops on vectors of 32 bytes, where there are wider ones */
#undef COLL_EXTERN /* it has bodies of its own */
#define COLL_WIDE_LOOPS 32
#include "reduce.c"
