/* examples/10_mixed/implementation.c — the bodies of all that the program includes; see 10_mixed.c */
#define COLL_IMPLEMENTATION
#include "coll/comm.h"
#include "coll/transports/threads.h"
