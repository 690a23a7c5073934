/* tests/gates/modes/bodies.c — the file that has them, with COLL_EXTERN */
#define COLL_IMPLEMENTATION
#include "coll/comm.h"
#include "coll/transports/loopback.h"
