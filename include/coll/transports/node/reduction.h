/* coll/transports/node/reduction.h — ranks that share memory: reductions by the ranks of a group
 *
 * Every rank lays its operand down where all see it. Whoever finds the operands of the whole group
 * there claims that of its lowest rank, combines all in rank order and hands out the results: so the
 * last one to come works for all. A short vector lies in its operand, as does any that not all ranks
 * can address; to a barrier ranks bring none.
 *
 * No locks: whoever finds that an operand was taken back before the claim gives that up, and looks at
 * all again. A rank that takes its operand back waits while that of a lower rank of the group is
 * claimed. It has one operand at a time for each tag and group. An operand is of one group for ever: whoever
 * has one is a member, and missed if it has left. Of a rank that left before it made one the group
 * tells whether it is a member (coll_network_call).
 *
 * A lock for all groups would be a little faster, but processes cannot have one: a rank may die while it
 * holds it. Measurements: docs/internals/shared-memory.md.
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_REDUCTION_H
#define COLL_TRANSPORTS_NODE_REDUCTION_H

#include "inbox.h"

/* An operand is nobody's, or waits for its group, until that use is over; that of the lowest rank may be
 * claimed. */
enum { COLL_I_NODE_IDLE, COLL_I_NODE_WAITS, COLL_I_NODE_CLAIMED };

enum {
    COLL_NODE_REDUCE = COLL_NODE_NARROW /* bytes of the longest vector that an operand holds */
};

/* In shared memory, from a line on. */
typedef struct coll_i_node_operand {
    uint32_t over;  /* the number of its last use that is over: what its rank looks at */
    uint32_t state; /* + 4 · the number of this use (WAITS), or · the rank that claims it */
    uint32_t tag, members;
    uint32_t group;     /* of all uses */
    coll_status status; /* of the use that is over */
    uint64_t bytes;     /* of the vector */
    uint64_t next;      /* the operand that its rank made before, or 0 */
    uint64_t lies;      /* 1: it lies elsewhere in shared memory */
    union {
        unsigned char bytes[COLL_NODE_REDUCE]; /* the vector, then the result */
        uint64_t at[2];                        /* … or where they lie */
    } vector;
} coll_i_node_operand;

/* What its rank knows of it. */
typedef struct coll_i_node_brought {
    coll_i_node_operand *operand;
    struct coll_i_node_brought *next;
    void *dst; /* where the result is to be copied to; NULL: it was written there */
    size_t bytes;
    uint32_t tag, group;
    uint32_t uses;
    bool used;
    coll_is_member is_member; /* of this use, as in coll_network_call … */
    const void *of;           /* … and by what */
} coll_i_node_brought;

/* An operand that was found, and its state then. */
typedef struct coll_i_node_member {
    coll_i_node_operand *operand; /* NULL: the rank has none for the group */
    uint32_t state;
} coll_i_node_member;

COLL_INLINE uint32_t coll_i_node_stage_of(uint32_t state)
{
    return state % 4;
}

/* ---- finding a group ---------------------------------------------------------------------- */

/* Does an operand wait, as its state says? */
COLL_INLINE bool coll_i_node_waits(const coll_i_node_operand *operand, uint32_t state)
{
    return coll_i_node_stage_of(state) == COLL_I_NODE_WAITS &&
           __atomic_load_n(&operand->over, __ATOMIC_ACQUIRE) != state / 4;
}

/* The first operand of a group among one and those that its rank made before; NULL: there is none. */
COLL_INLINE coll_i_node_operand *coll_i_node_of_group(const coll_i_node_rank *me, uint64_t at,
                                                      uint32_t group)
{
    coll_i_node_operand *operand;
    while ((operand = (coll_i_node_operand *)coll_i_node_shared(me, at, sizeof *operand)) !=
               NULL &&
           operand->group != group)
        at = operand->next;
    return operand;
}

/* … of all that a rank has made. */
COLL_INLINE coll_i_node_operand *coll_i_node_newest(const coll_i_node_rank *me, uint32_t rank,
                                                    uint32_t group)
{
    return coll_i_node_of_group(me, __atomic_load_n(&me->operands[rank], __ATOMIC_ACQUIRE),
                                group);
}

/* The operand of a rank for a group that waits, or is claimed; or none. */
COLL_INLINE coll_i_node_member coll_i_node_find_operand(const coll_i_node_rank *me,
                                                        uint32_t rank, uint32_t tag,
                                                        uint32_t group, bool claimed)
{
    coll_i_node_member found;
    for (found.operand = coll_i_node_newest(me, rank, group); found.operand;
         found.operand = coll_i_node_of_group(me, found.operand->next, group)) {
        found.state = __atomic_load_n(&found.operand->state, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&found.operand->tag, __ATOMIC_ACQUIRE) == tag &&
            (claimed ? coll_i_node_stage_of(found.state) == COLL_I_NODE_CLAIMED
                     : coll_i_node_waits(found.operand, found.state)))
            return found;
    }
    found.state = COLL_I_NODE_IDLE;
    return found;
}

/* Is its use over? */
COLL_INLINE bool coll_i_node_is_over(const coll_i_node_brought *own)
{
    return __atomic_load_n(&own->operand->over, __ATOMIC_ACQUIRE) == own->uses;
}

/* Who is reducing what an operand of this rank is part of, or may be; COLL_RANK_NONE: no rank. */
COLL_INLINE uint32_t coll_i_node_claimer(const coll_i_node_rank *me,
                                         const coll_i_node_brought *own)
{
    for (uint32_t rank = 0; rank <= me->rank; rank++) {
        const coll_i_node_member of =
            coll_i_node_find_operand(me, rank, own->tag, own->group, true);
        if (of.operand)
            return of.state / 4;
    }
    return COLL_RANK_NONE;
}

/* Does it wait, with nobody who is reducing it? */
COLL_INLINE bool coll_i_node_is_left(const coll_i_node_rank *me, const coll_i_node_brought *own)
{
    return coll_i_node_claimer(me, own) == COLL_RANK_NONE &&
           __atomic_load_n(&own->operand->state, __ATOMIC_SEQ_CST) ==
               own->uses * 4 + COLL_I_NODE_WAITS &&
           !coll_i_node_is_over(own);
}

/* Does a rank wait for its group in another use of the tag (transport.h)? It does so in vain: whoever is
 * in this use brings it nothing any more. It does not if somebody is reducing what it has brought, and
 * has told the rank last that is asked about. */
COLL_INLINE bool coll_i_node_is_astray(const coll_i_node_rank *me, uint32_t rank, uint32_t tag,
                                       uint32_t group)
{
    for (const coll_i_node_operand *its = coll_i_node_newest(me, rank, group); its;
         its = coll_i_node_of_group(me, its->next, group)) {
        const uint32_t state = __atomic_load_n(&its->state, __ATOMIC_SEQ_CST);
        const uint32_t other = __atomic_load_n(&its->tag, __ATOMIC_ACQUIRE);
        bool claimed = false;
        if (other == tag || coll_claim_tag(other ^ tag) != 0 || !coll_i_node_waits(its, state))
            continue;
        for (uint32_t r = 0; r < rank && !claimed; r++)
            claimed = coll_i_node_find_operand(me, r, other, group, true).operand != NULL;
        if (!claimed && __atomic_load_n(&its->state, __ATOMIC_SEQ_CST) == state &&
            coll_i_node_waits(its, state))
            return true;
    }
    return false;
}

/* Finds the operands of all ranks of the group for which this rank has one. False: one is missing;
 * *astray: for good. */
COLL_INLINE bool coll_i_node_find_group(coll_i_node_rank *me, const coll_i_node_brought *own,
                                        coll_network_group group, bool *astray)
{
    uint32_t others = me->p - group.members;
    for (uint32_t i = 1; i <= me->p; i++) { /* who comes next has most likely not come yet */
        const uint32_t rank = coll_mod_add(me->rank, i % me->p, me->p);
        me->group[rank] = coll_i_node_find_operand(me, rank, own->tag, group.number, false);
        if (me->group[rank].operand)
            continue;
        /* a rank that has gone on to its next use has not left this one behind */
        *astray = coll_i_node_is_astray(me, rank, own->tag, group.number) &&
                  coll_i_node_is_left(me, own);
        if (*astray || others-- == 0)
            return false;
    }
    return others == 0;
}

/* Fetches a line that this rank is about to write to. */
COLL_INLINE void coll_i_node_fetch_to_write(const uint32_t *word)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*word)); /* as in node/messages.h */
#else
    (void)word;
#endif
}

/* Claims the operands that were found, by that of the lowest rank. False: it did not; *again: look
 * again, as nobody else may. */
COLL_INLINE bool coll_i_node_claim_group(coll_i_node_rank *me, bool *again)
{
    const uint32_t mine = me->rank * 4 + COLL_I_NODE_CLAIMED;
    uint32_t lowest = 0, state;
    while (!me->group[lowest].operand)
        lowest++;
    for (uint32_t rank = lowest; rank < me->p; rank++)
        if (me->group[rank].operand)
            coll_i_node_fetch_to_write(&me->group[rank].operand->over);
    state = me->group[lowest].state;
    *again = __atomic_compare_exchange_n(&me->group[lowest].operand->state, &state, mine, false,
                                         __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (!*again)
        return false;
    for (uint32_t rank = lowest + 1; rank < me->p; rank++) {
        const coll_i_node_member *of = &me->group[rank];
        if (of->operand &&
            (__atomic_load_n(&of->operand->state, __ATOMIC_SEQ_CST) != of->state ||
             !coll_i_node_waits(of->operand, of->state))) {
            __atomic_store_n(&me->group[lowest].operand->state, me->group[lowest].state,
                             __ATOMIC_SEQ_CST);
            return false;
        }
    }
    return true;
}

/* ---- reducing ---------------------------------------------------------------------------- */

/* Where a vector lies (0), or the result goes (1); NULL: nonsense. */
COLL_INLINE unsigned char *coll_i_node_vector(const coll_i_node_rank *me,
                                              coll_i_node_operand *operand, uint32_t end,
                                              size_t bytes)
{
    unsigned char *at;
    if (!operand->lies)
        return bytes <= COLL_NODE_REDUCE ? operand->vector.bytes : NULL;
    at = (unsigned char *)(me->base + (uintptr_t)operand->vector.at[end]);
    return coll_i_node_is_shared(me, at, bytes) ? at : NULL;
}

/* Reduces what was claimed to the memory of the first rank, and copies it to that of the others. */
COLL_INLINE coll_status coll_i_node_reduce_group(coll_i_node_rank *me, uint32_t members,
                                                 const coll_op *op, size_t count, size_t bytes)
{
    unsigned char *sum = NULL;
    const unsigned char *so_far = NULL;
    for (uint32_t rank = 0; rank < me->p; rank++) {
        coll_i_node_operand *operand = me->group[rank].operand;
        if (operand && (operand->bytes != bytes || operand->members != members ||
                        !coll_i_node_vector(me, operand, 0, bytes) ||
                        !coll_i_node_vector(me, operand, 1, bytes)))
            return COLL_ERR_SIZE;
    }
    if (bytes == 0)
        return COLL_OK;
    for (uint32_t rank = 0; rank < me->p; rank++) {
        coll_i_node_operand *operand = me->group[rank].operand;
        const unsigned char *src = operand ? coll_i_node_vector(me, operand, 0, bytes) : NULL;
        if (operand && !sum) {
            sum = coll_i_node_vector(me, operand, 1, bytes);
            so_far = src;
        } else if (operand) {
            op->combine(sum, so_far, src, count, op->arg);
            so_far = sum;
        }
    }
    if (so_far != sum) /* it is alone */
        memcpy(sum, so_far, bytes);
    for (uint32_t rank = 0; rank < me->p; rank++) {
        coll_i_node_operand *operand = me->group[rank].operand;
        unsigned char *dst = operand ? coll_i_node_vector(me, operand, 1, bytes) : NULL;
        if (dst && dst != sum)
            memcpy(dst, sum, bytes);
    }
    return COLL_OK;
}

/* Reduces the operands of a group if all are there. COLL_ERR_SIZE: they never will be. */
COLL_INLINE coll_status coll_i_node_meet(coll_i_node_rank *me, const coll_i_node_brought *own,
                                         coll_network_group group, const coll_op *op,
                                         size_t count)
{
    bool again = true, claimed = false, astray = false;
    while (again && !claimed && coll_i_node_find_group(me, own, group, &astray))
        claimed = coll_i_node_claim_group(me, &again);
    if (claimed) {
        const coll_status status =
            coll_i_node_reduce_group(me, group.members, op, count, own->bytes);
        for (uint32_t rank = me->p; rank-- > 0;) { /* the lowest, which is claimed, last */
            coll_i_node_operand *operand = me->group[rank].operand;
            if (!operand)
                continue;
            operand->status = status;
            if (coll_i_node_stage_of(__atomic_load_n(&operand->state, __ATOMIC_RELAXED)) ==
                COLL_I_NODE_CLAIMED)
                __atomic_store_n(&operand->state, COLL_I_NODE_IDLE, __ATOMIC_RELEASE);
            __atomic_store_n(&operand->over, me->group[rank].state / 4, __ATOMIC_RELEASE);
        }
    }
    return astray ? COLL_ERR_SIZE : COLL_OK;
}

/* ---- operands of this rank --------------------------------------------------------------- */

/* One of a group that is free; NULL: no memory. */
COLL_INLINE coll_i_node_brought *coll_i_node_take_brought(coll_i_node_rank *me, uint32_t group)
{
    coll_i_node_brought *own = me->brought;
    uint64_t at;
    while (own && (own->used || own->group != group))
        own = own->next;
    if (!own) {
        if (!me->group)
            me->group = (coll_i_node_member *)coll_i_node_new(me, me->p * sizeof *me->group);
        own = (coll_i_node_brought *)coll_i_node_new(me, sizeof *own);
        at = own && me->group ? me->carve(me, sizeof *own->operand) : 0;
        if (at == 0)
            return NULL;
        own->operand = (coll_i_node_operand *)(me->base + (uintptr_t)at);
        own->operand->next = me->operands[me->rank];
        own->operand->group = own->group = group;
        own->next = me->brought;
        me->brought = own;
        __atomic_store_n(&me->operands[me->rank], at, __ATOMIC_RELEASE);
    }
    own->used = true;
    return own;
}

/* Has the rank an operand for the group that is not over? */
COLL_INLINE bool coll_i_node_is_bringing(const coll_i_node_rank *me, uint32_t tag,
                                         uint32_t group)
{
    for (const coll_i_node_brought *own = me->brought; own; own = own->next)
        if (own->used && own->tag == tag && own->group == group && !coll_i_node_is_over(own))
            return true;
    return false;
}

/* Does a rank take part? Of a group that not all ranks are in those are known that have been there
 * before, and those that the group tells of. */
COLL_INLINE bool coll_i_node_takes_part(const coll_i_node_rank *me,
                                        const coll_i_node_brought *own, uint32_t rank)
{
    return own->group == COLL_GROUP_ALL || coll_i_node_newest(me, rank, own->group) ||
           (own->is_member && own->is_member(own->of, own->group, rank));
}

/* Others that have not come are missed, if they have left; but not once somebody reduces what has
 * come, as who was handed the result may leave before this rank is. */
COLL_INLINE void coll_i_node_miss_absent(coll_i_node_rank *me, const coll_i_node_brought *own)
{
    if (!coll_i_node_is_left(me, own))
        return;
    for (uint32_t rank = 0; rank < me->p; rank++) {
        coll_i_node_link *link = me->links[rank];
        if (rank == me->rank || !coll_i_node_takes_part(me, own, rank) ||
            coll_i_node_find_operand(me, rank, own->tag, own->group, false).operand)
            continue;
        if (!link) /* they have not sent each other anything */
            link = coll_i_node_link_new(me, rank);
        if (link)
            link->missed = true;
    }
}

COLL_INLINE coll_status coll_i_node_test_brought(coll_i_node_rank *me, coll_i_node_brought *own)
{
    const uint32_t over = __atomic_load_n(&own->operand->over, __ATOMIC_ACQUIRE);
    if (over == own->uses) {
        if (own->operand->status != COLL_OK)
            return coll_misfit_note(&me->misfit, COLL_RANK_NONE, own->tag, own->bytes);
        if (own->dst)
            coll_i_node_copy(me, own->dst, own->operand->vector.bytes, own->bytes);
        own->used = false;
        return COLL_OK;
    }
    if (coll_i_node_aborted(me, own->tag))
        return COLL_ERR_PEER;
    coll_i_node_watch_word(me, &own->operand->over, over, COLL_RANK_NONE);
    me->misses++;
    if (coll_i_node_misses_all(me)) {
        coll_i_node_miss_absent(me, own);
        me->check_liveness(me);
    }
    return coll_i_node_again(me);
}

/* Waits while a rank that may have found the operand reduces it. False: that rank has died. */
COLL_INLINE bool coll_i_node_is_let_go(coll_i_node_rank *me, const coll_i_node_brought *own)
{
    uint32_t claimer;
    while ((claimer = coll_i_node_claimer(me, own)) != COLL_RANK_NONE) {
        if (me->is_dead && me->is_dead(me, claimer))
            return false;
        (void)sched_yield();
    }
    return true;
}

/* Takes the operand back. One that a rank was reducing when it died is used no more. */
COLL_INLINE void coll_i_node_cancel_brought(coll_i_node_rank *me, coll_i_node_brought *own)
{
    uint32_t state;
    do {
        if (!coll_i_node_is_let_go(me, own))
            return;
        state = own->uses * 4 + COLL_I_NODE_WAITS;
    } while (!__atomic_compare_exchange_n(&own->operand->state, &state, COLL_I_NODE_IDLE, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
             state != COLL_I_NODE_IDLE);
    own->used = !coll_i_node_is_let_go(me, own);
}

COLL_INLINE coll_status coll_i_node_network_reduce(void *ctx, const coll_network_call *call,
                                                   coll_handle *h)
{
    coll_i_node_rank *me = (coll_i_node_rank *)ctx;
    const coll_network_group group = call->group;
    const uint32_t tag = call->tag;
    const size_t bytes = call->count * call->elem_bytes;
    const bool lies = bytes > COLL_NODE_INLINE && coll_i_node_is_shared(me, call->src, bytes) &&
                      coll_i_node_is_shared(me, call->dst, bytes);
    coll_i_node_operand *operand;
    coll_i_node_brought *own;
    if (group.number >= COLL_NETWORK_GROUPS || group.members == 0 || group.members > me->p ||
        (!lies && bytes > COLL_NODE_REDUCE))
        return COLL_ERR_CAPABILITY;
    if (coll_i_node_aborted(me, tag))
        return COLL_ERR_PEER;
    if (coll_i_node_is_bringing(me, tag, group.number))
        return COLL_AGAIN;
    own = coll_i_node_take_brought(me, group.number);
    if (!own)
        return COLL_ERR_MEMORY;
    own->dst = lies ? NULL : call->dst;
    own->bytes = bytes;
    own->tag = tag;
    own->is_member = call->is_member;
    own->of = call->of;
    operand = own->operand;
    __atomic_store_n(&operand->tag, tag, __ATOMIC_RELEASE); /* who sees it sees what is over */
    operand->members = group.members;
    operand->bytes = bytes;
    operand->lies = lies ? 1 : 0;
    if (lies) {
        operand->vector.at[0] = (uintptr_t)call->src - me->base;
        operand->vector.at[1] = (uintptr_t)call->dst - me->base;
    } else {
        coll_i_node_copy(me, operand->vector.bytes, call->src, bytes);
    }
    own->uses = (own->uses + 1) % (UINT32_MAX / 4);
    __atomic_store_n(&operand->state, own->uses * 4 + COLL_I_NODE_WAITS, __ATOMIC_SEQ_CST);
    if (coll_i_node_meet(me, own, group, call->op, call->count) != COLL_OK) {
        coll_i_node_cancel_brought(me, own);
        return coll_misfit_note(&me->misfit, COLL_RANK_NONE, tag, bytes);
    }
    h->word[0] = (uintptr_t)own;
    h->word[1] = 1; /* not a message */
    return COLL_STARTED;
}

/* After a failure: no rank uses the world. */
COLL_INLINE void coll_i_node_forget_brought(coll_i_node_rank *me)
{
    for (coll_i_node_brought *own = me->brought; own; own = own->next) {
        own->operand->state = COLL_I_NODE_IDLE;
        own->used = false;
    }
}

#endif /* COLL_TRANSPORTS_NODE_REDUCTION_H */
