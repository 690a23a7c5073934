/* coll/transports/bootstrap/pmix.h — how ranks find each other: PMIx, of Open MPI's mpiexec, prun and srun
 *
 *   cc -DCOLL_PMIX $(pkg-config --cflags pmix) program.c $(pkg-config --libs pmix)
 *
 * With COLL_PMIX ../bootstrap.h includes this, which needs the library of PMIx; without, this is empty. What
 * each rank has is put into the key-value space, a fence collects it, and each rank gets that of all.
 *
 * Use ../bootstrap.h.
 */
#ifndef COLL_TRANSPORTS_BOOTSTRAP_PMIX_H
#define COLL_TRANSPORTS_BOOTSTRAP_PMIX_H

#include "../../config.h"

#if defined(COLL_PMIX)
#include <pmix.h>
#include <string.h>

typedef struct coll_i_pmix {
    bool open;
    pmix_proc_t me;
} coll_i_pmix;

/* Of a rank, or with PMIX_RANK_WILDCARD of the job; PMIX_RELEASE is the caller's. NULL: it is not there. */
COLL_INLINE pmix_value_t *coll_i_pmix_value(const coll_i_pmix *pmix, pmix_rank_t rank,
                                            const char *key)
{
    pmix_value_t *value = NULL;
    pmix_proc_t whose = pmix->me;
    whose.rank = rank;
    return PMIx_Get(&whose, key, NULL, 0, &value) == PMIX_SUCCESS ? value : NULL;
}

/* Finds out who this process is, and of how many. */
COLL_INLINE bool coll_i_pmix_open(coll_i_pmix *pmix, uint32_t *rank, uint32_t *p)
{
    pmix_value_t *size;
    bool well;
    pmix->open = PMIx_Init(&pmix->me, NULL, 0) == PMIX_SUCCESS;
    if (!pmix->open)
        return false;
    size = coll_i_pmix_value(pmix, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    well = size && size->type == PMIX_UINT32 && size->data.uint32 > pmix->me.rank;
    *rank = (uint32_t)pmix->me.rank;
    *p = well ? size->data.uint32 : 0;
    if (size)
        PMIX_VALUE_RELEASE(size);
    return well;
}

COLL_INLINE bool coll_i_pmix_close(coll_i_pmix *pmix)
{
    const bool was = pmix->open;
    pmix->open = false;
    return !was || PMIx_Finalize(NULL, 0) == PMIX_SUCCESS;
}

/* Publishes bytes under a key; the others have it after the fence. */
COLL_INLINE bool coll_i_pmix_put(const char *key, const void *bytes, size_t n)
{
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = (char *)(uintptr_t)bytes;
    value.data.bo.size = n;
    return PMIx_Put(PMIX_GLOBAL, key, &value) == PMIX_SUCCESS && PMIx_Commit() == PMIX_SUCCESS;
}

/* Waits for all ranks, and brings what they have put. */
COLL_INLINE bool coll_i_pmix_fence(const coll_i_pmix *pmix)
{
    pmix_proc_t all = pmix->me;
    pmix_info_t collects;
    all.rank = PMIX_RANK_WILDCARD;
    memset(&collects, 0, sizeof collects);
    strncpy(collects.key, PMIX_COLLECT_DATA, sizeof collects.key - 1);
    collects.value.type = PMIX_BOOL;
    collects.value.data.flag = true;
    return PMIx_Fence(&all, 1, &collects, 1) == PMIX_SUCCESS;
}

COLL_INLINE bool coll_i_pmix_get(const coll_i_pmix *pmix, uint32_t rank, const char *key,
                                 void *bytes, size_t n)
{
    pmix_value_t *value = coll_i_pmix_value(pmix, rank, key);
    const bool well = value && value->type == PMIX_BYTE_OBJECT && value->data.bo.size == n;
    if (well)
        memcpy(bytes, value->data.bo.bytes, n);
    if (value)
        PMIX_VALUE_RELEASE(value);
    return well;
}

#endif /* COLL_PMIX */
#endif /* COLL_TRANSPORTS_BOOTSTRAP_PMIX_H */
