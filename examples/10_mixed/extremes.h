/* examples/10_mixed/extremes.h — the least and the greatest of all ranks' numbers, for C and C++ */
#ifndef COLL_EXAMPLES_10_MIXED_EXTREMES_H
#define COLL_EXAMPLES_10_MIXED_EXTREMES_H

#include "coll/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct extremes {
    int32_t least, greatest;
} extremes;

/* A collective call: all ranks make it, each with at least one number. */
coll_status extremes_of_all(coll_comm *comm, const int32_t *x, size_t n, extremes *all);

#ifdef __cplusplus
}
#endif

#endif /* COLL_EXAMPLES_10_MIXED_EXTREMES_H */
