/* coll/comm/recover.h — what the survivors of a communicator do when a rank has died: revoke, agree, shrink
 *
 *   static uint64_t room[COLL_RECOVERY_BYTES(P) / 8 + 1];
 *   coll_recovery recovery;                                         // while all ranks are well
 *   status = coll_recovery_init(&recovery, &comm, 1000, room, sizeof room);
 *   …
 *   status = coll_allreduce(&comm, x, y, n, COLL_F64, COLL_SUM);
 *   if (status != COLL_OK)
 *       (void)coll_comm_revoke(&recovery);                          // so that all others hear of it
 *   uint64_t well = status == COLL_OK;
 *   status = coll_comm_agree(&recovery, &well);                     // the same on all survivors
 *   if (status == COLL_OK && !well)
 *       status = coll_comm_shrink(&recovery, &smaller, 64);         // a communicator of the survivors
 *   … coll_allreduce(&smaller, …); coll_comm_free(&smaller); …
 *   status = coll_recovery_free(&recovery);                         // before the communicator
 *
 * The names are those of User-Level Failure Mitigation (ULFM), which means the same by them. How survivors
 * agree, and why they do, whoever dies meanwhile, is in agree.h: without a death in 2 · ⌈log₂ p⌉ rounds
 * of messages of some 48 bytes; with deaths, in messages from all to all for each.
 *
 * Transports. They can cancel, abort, and know who is dead (coll_failure), and tell it of nobody that is alive:
 * coll_recovery_lacks says in a sentence what is missing. They take a message of some 48 bytes without
 * waiting for its receiver; over others (loopback) coll_recovery_free may wait for ranks that are
 * behind, if one dies meanwhile. Each communicator that fails needs room for aborted tags of its own, of which
 * transports have some eight per root communicator (COLL_NODE_ABORTS).
 *
 * Progress. A rank that has returned from an agreement may still have to answer others, when one dies. It does so in
 * each coll_progress, coll_test and coll_wait, and in all that blocks, of its root communicator. So ranks
 * that wait for each other there or here do not wait for ever; one that computes lets them wait meanwhile.
 *
 * A recovery has tags of its own, which its communicator's failure leaves alone. It takes no memory but what
 * it is given, and programs that do not include this header have nothing of it.
 */
#ifndef COLL_COMM_RECOVER_H
#define COLL_COMM_RECOVER_H

#include "agree.h"

/* What a rank needs to agree with the others of a communicator. The caller's memory, at a fixed place. Private. */
typedef struct coll_recovery {
    coll_comm *comm; /* whose survivors these are */
    coll_comm spare; /* of the same ranks, for its tags: nothing is called on it */
    coll_span spent; /* tags that communicators of survivors had, and may have failed with … */
    uint32_t used;   /* … so many, with those of the one that exists */
    uint32_t *table; /* the group of that one */
    coll_i_agree agree;
    struct coll_recovery *next; /* of the root communicator */
} coll_recovery;

/* Bytes of memory for the recovery of p ranks, at any alignment: a constant expression. */
#define COLL_RECOVERY_BYTES(p)                                                                 \
    (COLL_I_AGREE_BYTES(p) + (size_t)(p) * sizeof(uint32_t) + COLL_I_AGREE_ALIGN - 1)

/* What a transport lacks for a recovery, in a sentence that says what to do; NULL: nothing. */
COLL_INLINE const char *coll_recovery_lacks(const coll_transport *transport)
{
    const coll_failure *failure = transport ? transport->failure : NULL;
    if (!failure || !failure->dead)
        return "the transport does not know which ranks are dead: take one with "
               "coll_failure.dead";
    if (!failure->abort)
        return "the transport cannot tell the other ranks of a failure: take one with "
               "coll_failure.abort";
    if (!failure->cancel)
        return "the transport cannot give operations up: take one with coll_failure.cancel";
    if (transport->tags == 0)
        return "the transport has no tags, of which a recovery needs some: take one with tags";
    return NULL;
}

/* May messages of so many bytes go to all ranks as one? */
COLL_INLINE bool coll_i_recovery_fits(const coll_comm *comm, size_t bytes)
{
    for (uint32_t i = 0; i < comm->p; i++) {
        const coll_transport *way = comm->transport;
        if (COLL_ROUTES && way->routes && i != comm->rank)
            way = way->routes->to(comm->ctx, coll_group_outer(&comm->group, i));
        if (way && way->max_bytes != 0 && way->max_bytes < bytes)
            return false;
    }
    return true;
}

/* Answers those that need it. */
COLL_INLINE void coll_i_recovery_serve(coll_comm *root_comm)
{
    for (coll_recovery *its = root_comm->recoveries; its; its = its->next) {
        its->agree.moved = false;
        coll_i_agree_serve(&its->agree);
        if (its->agree.moved)
            root_comm->idle = 0;
    }
}

/* Prepares a communicator for the death of some of its ranks. Collective over it, like coll_comm_dup, while
 * it is well: `tags`, at least 6 and the same on all ranks, are taken from it; half of them, at most 32, are
 * the recovery's, the rest serve communicators of survivors. `memory`, of COLL_RECOVERY_BYTES(p)
 * bytes, and the communicator stay the caller's, at their place, until coll_recovery_free.
 * Errors: COLL_ERR_CAPABILITY: the transport lacks what coll_recovery_lacks says, which all ranks find;
 * COLL_ERR_TAG, likewise; COLL_ERR_NULL, COLL_ERR_MEMORY: the communicator has failed, as others may have
 * prepared it; or that of one that failed before. */
COLL_INLINE coll_status coll_recovery_init(coll_recovery *recovery, coll_comm *comm,
                                           uint32_t tags, void *memory, size_t bytes)
{
    const size_t align = COLL_I_AGREE_ALIGN;
    unsigned char *at = (unsigned char *)memory;
    coll_status status = COLL_OK;
    if (!comm)
        return COLL_ERR_NULL;
    if (comm->rank >= comm->p)
        return COLL_ERR_RANK;
    if (comm->status < 0)
        return comm->status;
    if (coll_recovery_lacks(comm->transport) ||
        !coll_i_recovery_fits(comm, COLL_I_AGREE_WORDS(comm->p) * sizeof(uint64_t)))
        return COLL_ERR_CAPABILITY;
    if (tags < 2 * COLL_I_AGREE_TAGS)
        return COLL_ERR_TAG;
    if (!recovery || !memory)
        status = COLL_ERR_NULL;
    else if (bytes < COLL_RECOVERY_BYTES(comm->p))
        status = COLL_ERR_MEMORY;
    if (status != COLL_OK) {
        coll_i_comm_spoil(comm, status, true);
        return status;
    }
    status = coll_comm_dup(&recovery->spare, comm, tags);
    if (status != COLL_OK)
        return status;
    at += (align - (uintptr_t)at % align) % align;
    recovery->comm = comm;
    recovery->spent.at = recovery->spent.count = 0;
    recovery->used = 0;
    recovery->table = (uint32_t *)(void *)(at + COLL_I_AGREE_BYTES(comm->p));
    coll_i_agree_init(&recovery->agree, comm, recovery->spare.first_tag, recovery->spare.use,
                      at);
    recovery->next = comm->root_comm->recoveries;
    comm->root_comm->recoveries = recovery;
    comm->root_comm->serve = coll_i_recovery_serve;
    if (comm->transport->failure->outlive)
        comm->transport->failure->outlive(comm->ctx, recovery->spare.first_tag, tags);
    return COLL_OK;
}

/* Revokes a communicator, on all ranks: all its calls end, and all later ones are refused, here with
 * COLL_ERR_CANCELLED, on the others with COLL_ERR_PEER (coll_comm_abort). Its survivors can then
 * only agree and shrink. Communicators made from it go on. Has no effect on one that has failed, of which the other
 * ranks know, or will. */
COLL_INLINE coll_status coll_comm_revoke(coll_recovery *recovery)
{
    return recovery ? coll_comm_abort(recovery->comm, COLL_ERR_CANCELLED) : COLL_ERR_NULL;
}

/* ---- agreements, step by step ------------------------------------------------------------------ */

/* Begins an agreement. `looks`: asks the transport who is dead first, which may cost a system call for each rank. */
COLL_INLINE coll_status coll_i_recovery_begin(coll_recovery *recovery, uint64_t flags,
                                              bool looks)
{
    coll_i_agree *a = &recovery->agree;
    if (a->status != COLL_OK)
        return a->status;
    if (a->state == COLL_I_AGREE_BRIEF || a->state == COLL_I_AGREE_LONG)
        return COLL_ERR_BUSY;
    coll_i_agree_begin(a, flags, looks);
    return COLL_OK;
}

/* Begins an agreement, which coll_agree_test then ends; meanwhile this rank may do something else. COLL_ERR_BUSY:
 * there is one under way. Otherwise as coll_comm_agree. */
COLL_INLINE coll_status coll_agree_begin(coll_recovery *recovery, uint64_t flags)
{
    return recovery ? coll_i_recovery_begin(recovery, flags, recovery->comm->status < 0)
                    : COLL_ERR_NULL;
}

/* Moves an agreement on, and, while it is not over, all calls that share the root communicator. COLL_AGAIN: it is
 * under way. COLL_OK: it is over, and *flags is what was agreed. */
COLL_INLINE coll_status coll_agree_test(coll_recovery *recovery, uint64_t *flags)
{
    coll_comm *root_comm;
    bool moved;
    coll_status status;
    if (!recovery || !flags)
        return COLL_ERR_NULL;
    root_comm = recovery->comm->root_comm;
    recovery->agree.moved = false;
    status = coll_i_agree_progress(&recovery->agree);
    moved = recovery->agree.moved;
    if (status == COLL_AGAIN)
        coll_progress(root_comm);
    if (moved)
        root_comm->idle = 0;
    if (status == COLL_OK)
        *flags = recovery->agree.mine[COLL_I_AGREE_FLAGS];
    return status;
}

COLL_INLINE coll_status coll_i_recovery_wait(coll_recovery *recovery, uint64_t *flags)
{
    coll_status status;
    while ((status = coll_agree_test(recovery, flags)) == COLL_AGAIN) {
        const coll_comm *root_comm = recovery->comm->root_comm;
        if (root_comm->transport->wait)
            root_comm->transport->wait(root_comm->ctx, root_comm->idle);
    }
    return status;
}

/* ---- what ranks do together -------------------------------------------------------------------- */

/* Agrees on flags with all survivors: *flags becomes the bitwise AND of theirs, the same on all that return
 * COLL_OK, and the lost ranks (coll_recovery_is_lost) are the same, too. The flags of a rank that dies
 * meanwhile may count or not. Also on a communicator that has failed, or was revoked. Blocks until all survivors
 * call it: collective, in the same order with coll_comm_shrink. An error: this rank cannot take part
 * any more, as the transport failed; the others wait for it until it ends. */
COLL_INLINE coll_status coll_comm_agree(coll_recovery *recovery, uint64_t *flags)
{
    const coll_status status = flags ? coll_agree_begin(recovery, *flags) : COLL_ERR_NULL;
    return status == COLL_OK ? coll_i_recovery_wait(recovery, flags) : status;
}

/* Is a rank of the communicator among those that were lost before the last agreement? The same on all that
 * returned from it. */
COLL_INLINE bool coll_recovery_is_lost(const coll_recovery *recovery, uint32_t rank)
{
    return recovery && rank < recovery->agree.p &&
           coll_i_agree_has(coll_i_agree_lost(&recovery->agree), rank);
}

/* Does a communicator of survivors exist? */
COLL_INLINE bool coll_i_recovery_has_shrunk(const coll_recovery *recovery)
{
    const coll_span *first = recovery->spare.subs.first;
    return first && (first != &recovery->spent || first->next);
}

/* Makes a communicator of those that were not lost before the last agreement. Its tags had no other one before,
 * as that may have failed, and its tags been aborted. */
COLL_INLINE coll_status coll_i_recovery_make(coll_recovery *recovery, coll_comm *shrunk,
                                             uint32_t tags)
{
    coll_comm *spare = &recovery->spare;
    uint32_t survivors = 0, own = 0;
    coll_status status;
    for (uint32_t i = 0; i < recovery->comm->p; i++) {
        if (coll_recovery_is_lost(recovery, i))
            continue;
        if (i == recovery->comm->rank)
            own = survivors;
        recovery->table[survivors++] = coll_group_outer(&recovery->comm->group, i);
    }
    coll_spans_give(&spare->subs, &recovery->spent);
    status = coll_spans_take(&spare->subs, recovery->used, &recovery->spent);
    if (status == COLL_OK)
        status = coll_i_comm_make(shrunk, spare, survivors, tags);
    if (status != COLL_OK)
        return status;
    recovery->used += tags;
    shrunk->rank = own;
    coll_group_table(&shrunk->group, recovery->table, NULL);
    return COLL_OK;
}

/* Makes a communicator of the survivors, in the order of their ranks. It has `tags` of the recovery's, the
 * same number on all ranks, which no other one had before. One at a time: the one before is freed
 * first. It is freed before the recovery; rules are inherited and the cache is shared, as by
 * coll_comm_create. Collective, like coll_comm_agree, which it does first. A rank that dies after that
 * is a member: then the communicator fails in a call, and the survivors shrink again.
 * Errors, the same on all survivors: COLL_ERR_TAG: the recovery has not so many left; COLL_ERR_BUSY: the one
 * before was not freed; COLL_ERR_NULL, of which the others hear as COLL_ERR_PEER; or as
 * coll_comm_agree. */
COLL_INLINE coll_status coll_comm_shrink(coll_recovery *recovery, coll_comm *shrunk,
                                         uint32_t tags)
{
    uint64_t able = shrunk != NULL;
    coll_status status;
    if (!recovery)
        return COLL_ERR_NULL;
    if (coll_i_recovery_has_shrunk(recovery))
        return COLL_ERR_BUSY;
    status = coll_i_recovery_begin(recovery, able, true);
    if (status == COLL_OK)
        status = coll_i_recovery_wait(recovery, &able);
    if (status == COLL_OK && (able == 0 || !shrunk))
        status = shrunk ? COLL_ERR_PEER : COLL_ERR_NULL;
    return status == COLL_OK ? coll_i_recovery_make(recovery, shrunk, tags) : status;
}

/* Ends a recovery: collective over the survivors, like coll_comm_agree, and blocks as long as another one
 * may need this rank's answer. COLL_ERR_BUSY: a communicator of survivors exists, or reliable calls
 * (reliable.h), or an agreement is under way. */
COLL_INLINE coll_status coll_recovery_free(coll_recovery *recovery)
{
    coll_recovery **link;
    coll_comm *root_comm;
    uint64_t flags;
    if (!recovery)
        return COLL_ERR_NULL;
    if (coll_i_recovery_has_shrunk(recovery) || recovery->spare.tags.first ||
        recovery->agree.state == COLL_I_AGREE_BRIEF ||
        recovery->agree.state == COLL_I_AGREE_LONG)
        return COLL_ERR_BUSY;
    coll_i_agree_close(&recovery->agree);
    (void)coll_i_recovery_wait(recovery, &flags);
    coll_i_agree_end(&recovery->agree);
    root_comm = recovery->comm->root_comm;
    for (link = &root_comm->recoveries; *link != recovery; link = &(*link)->next)
        ;
    *link = recovery->next;
    if (!root_comm->recoveries)
        root_comm->serve = NULL;
    coll_spans_give(&recovery->spare.subs, &recovery->spent);
    return coll_comm_free(&recovery->spare);
}

#endif /* COLL_COMM_RECOVER_H */
