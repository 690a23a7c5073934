/* coll/transports/shm/launched.h — the shared memory of processes: ranks that `coll launch` started
 *
 * Use shm.h.
 */
#ifndef COLL_TRANSPORTS_SHM_LAUNCHED_H
#define COLL_TRANSPORTS_SHM_LAUNCHED_H

#include "meeting.h"

/* A number in the environment. False: it is not there, or not one up to `most`; `why` says. */
COLL_INLINE bool coll_i_ipc_variable(const char *name, uint64_t most, uint64_t *value,
                                     char *why)
{
    const char *text = getenv(name);
    char *end = NULL;
    errno = 0;
    *value = text ? strtoull(text, &end, 10) : 0;
    if (text && *text >= '0' && *text <= '9' && *end == 0 && errno == 0 && *value <= most)
        return true;
    coll_i_ipc_say(why, "%s is not what coll launch sets: \"%.40s\"", name, text ? text : "");
    return false;
}

/* Attaches the rank that coll launch has started this process as: the variables COLL_RANK and
 * COLL_SIZE name it, COLL_SEGMENT is the number of the open file that it inherits, COLL_SHARED the
 * bytes of SHARED. A process without COLL_RANK is alone: rank 0 of 1, without SHARED. NULL: `why`
 * says. Once a process. */
COLL_INLINE coll_shm *coll_shm_attach_launched(char *why)
{
    uint64_t rank = 0, p = 1, fd = 0, shared_bytes = 0;
    coll_shm *shm;
    const bool alone = !getenv("COLL_RANK");
    if (alone) {
        const int own = coll_shm_create(NULL, 1, 0, why);
        if (own < 0)
            return NULL;
        fd = (uint64_t)own;
    } else if (!coll_i_ipc_variable("COLL_RANK", UINT32_MAX, &rank, why) ||
               !coll_i_ipc_variable("COLL_SIZE", UINT32_MAX, &p, why) ||
               !coll_i_ipc_variable("COLL_SEGMENT", INT32_MAX, &fd, why) ||
               !coll_i_ipc_variable("COLL_SHARED", SIZE_MAX / 2, &shared_bytes, why)) {
        return NULL;
    }
    shm = coll_shm_attach((int)fd, (uint32_t)rank, (uint32_t)p, (size_t)shared_bytes, why);
    /* not what is no segment: the program's file, if this was called before */
    if (shm || alone)
        (void)close((int)fd);
    return shm;
}

/* … and joins. */
COLL_INLINE coll_shm *coll_shm_launched(uint32_t milliseconds, char *why)
{
    coll_shm *shm = coll_shm_attach_launched(why);
    if (shm && !coll_shm_join(shm, milliseconds, why)) {
        coll_shm_detach(shm);
        return NULL;
    }
    return shm;
}

#endif /* COLL_TRANSPORTS_SHM_LAUNCHED_H */
