/* coll/transports/liveness.h — which processes are alive, by locks on bytes of a file
 *
 *   mine: coll_liveness_hold(fd, rank)          // once, in an open file of this process's own
 *   its:  !coll_liveness_is_held(fd, peer, 1)   // in any other open file: it has ended
 *
 * A process holds byte `number` of a file that all of them can open; the kernel lets go of it as soon
 * as the process ends in whatever way, so nobody waits for a time-out, and no number of a process is
 * mistaken for that of another. The bytes lie far behind what the file contains, which is not touched.
 * A lock is an open file's (an OFD lock): opened by this process itself, and closed by what it executes
 * (FD_CLOEXEC), or a child would keep it. For Linux; files of one machine.
 */
#ifndef COLL_TRANSPORTS_LIVENESS_H
#define COLL_TRANSPORTS_LIVENESS_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "../config.h"

enum {
    COLL_I_LIVENESS_GETLK = 36, /* F_OFD_GETLK, F_OFD_SETLK: by open file, not by process */
    COLL_I_LIVENESS_SETLK = 37
};

COLL_INLINE struct flock coll_i_liveness_lock(uint64_t number, uint64_t count)
{
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = (off_t)(((uint64_t)1 << 48) + number);
    lock.l_len = (off_t)count;
    return lock;
}

/* Takes a byte, below 2^40, for this open file, until that is closed or its process ends; false: another
 * open file has it, or the file system has no locks. The file is open for writing. */
COLL_INLINE bool coll_liveness_hold(int fd, uint64_t number)
{
    struct flock lock = coll_i_liveness_lock(number, 1);
    return fcntl(fd, COLL_I_LIVENESS_SETLK, &lock) == 0;
}

/* Has another open file one of `count` bytes, from this one on? */
COLL_INLINE bool coll_liveness_is_held(int fd, uint64_t number, uint64_t count)
{
    struct flock lock = coll_i_liveness_lock(number, count);
    return fcntl(fd, COLL_I_LIVENESS_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

#endif /* COLL_TRANSPORTS_LIVENESS_H */
