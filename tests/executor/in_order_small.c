/* tests/executor/in_order.c with what bare metal has by default: the code of fewest bytes, and no division. */
#undef COLL_EXTERN /* it has bodies of its own */
#define COLL_SMALL         1
#define COLL_DIVIDES       0
#define COLL_FAST_DIVISION 0
#include "in_order.c"
