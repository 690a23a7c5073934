/* cmake/registry.c — the table of algorithms, compiled once for all programs of this tree */
#define COLL_REGISTRY_HERE
#include "coll/algos/registry.h"
