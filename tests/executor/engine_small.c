/* tests/executor/engine.c with what bare metal has by default: the code of fewest bytes, and no division. */
#undef COLL_EXTERN       /* it has bodies of its own … */
#undef COLL_ONE_REGISTRY /* … and rows, as plans of small code are not those of others */
#define COLL_SMALL         1
#define COLL_DIVIDES       0
#define COLL_FAST_DIVISION 0
#include "engine.c"
