/* coll/transports/threads/fabric.h — the threads transport: reductions by the ranks of a team
 *
 * Every rank lays its operand down. The one that finds the operands of its whole team there, of
 * each rank the oldest, takes them, combines them in rank order, and hands out the result.
 *
 * Use threads.h.
 */
#ifndef COLL_TRANSPORTS_THREADS_FABRIC_H
#define COLL_TRANSPORTS_THREADS_FABRIC_H

#include "world.h"

COLL_INLINE void coll_i_threads_lock(coll_threads *threads)
{
    for (uint32_t tries = 1; __atomic_exchange_n(&threads->lock, 1, __ATOMIC_ACQUIRE) != 0;
         tries++)
        if (tries % 64 == 0)
            (void)sched_yield();
        else
            coll_i_node_pause();
}

COLL_INLINE void coll_i_threads_unlock(coll_threads *threads)
{
    __atomic_store_n(&threads->lock, 0, __ATOMIC_RELEASE);
}

/* The link to a rank's oldest operand for a team, or to NULL at the end. The lock is held. */
COLL_INLINE coll_i_threads_operand **coll_i_threads_oldest(coll_i_threads_rank *rank,
                                                           uint32_t tag, uint32_t team)
{
    coll_i_threads_operand **link = &rank->operands;
    while (*link && ((*link)->tag != tag || (*link)->team.number != team))
        link = &(*link)->next;
    return link;
}

/* Takes a team's oldest operands, in rank order, if all are there; else NULL. The lock is held. */
COLL_INLINE coll_i_threads_operand *coll_i_threads_meet(coll_threads *threads, uint32_t tag,
                                                        coll_team team)
{
    coll_i_threads_operand *first = NULL, **last = &first;
    uint32_t there = 0;
    for (uint32_t r = 0; r < threads->p; r++)
        there += *coll_i_threads_oldest(&threads->ranks[r], tag, team.number) ? 1u : 0u;
    for (uint32_t r = 0; r < threads->p && there >= team.members; r++) {
        coll_i_threads_operand **link =
            coll_i_threads_oldest(&threads->ranks[r], tag, team.number);
        if (!*link)
            continue;
        *last = *link;
        *link = (*link)->next;
        (*last)->met = true;
        (*last)->next = NULL;
        last = &(*last)->next;
    }
    return first;
}

/* Reduces a team's operands into the memory of all its ranks. */
COLL_INLINE void coll_i_threads_reduce(coll_i_threads_operand *first)
{
    const size_t bytes = first->count * first->elem_bytes;
    coll_status status = COLL_OK;
    for (const coll_i_threads_operand *o = first->next; o; o = o->next)
        if (o->count != first->count || o->elem_bytes != first->elem_bytes ||
            o->team.members != first->team.members)
            status = COLL_ERR_SIZE;
    if (status == COLL_OK && bytes != 0) {
        if (!first->next && first->dst != first->src)
            memcpy(first->dst, first->src, bytes);
        for (const coll_i_threads_operand *o = first->next; o; o = o->next)
            first->op->combine(first->dst, o == first->next ? first->src : first->dst, o->src,
                               first->count, first->op->arg);
        for (const coll_i_threads_operand *o = first->next; o; o = o->next)
            memcpy(o->dst, first->dst, bytes);
    }
    while (first) { /* its rank may use it again as soon as it has a status */
        coll_i_threads_operand *next = first->next;
        __atomic_store_n(&first->status, status, __ATOMIC_RELEASE);
        first = next;
    }
}

COLL_INLINE coll_status coll_i_threads_fabric_reduce(void *ctx, uint32_t tag, coll_team team,
                                                     const coll_op *op, void *dst,
                                                     const void *src, size_t count,
                                                     size_t elem_bytes, coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    coll_i_threads_operand *operand = me->free_operands, *met, **link = &me->operands;
    if (team.number >= COLL_TEAMS || team.members == 0 || team.members > me->threads->p)
        return COLL_ERR_CAPABILITY;
    if (coll_i_node_aborted(&me->node, tag))
        return COLL_ERR_PEER;
    if (operand)
        me->free_operands = operand->next;
    else
        operand = (coll_i_threads_operand *)coll_i_node_new(&me->node, sizeof *operand);
    if (!operand)
        return COLL_ERR_MEMORY;
    operand->met = false;
    operand->tag = tag;
    operand->team = team;
    operand->op = op;
    operand->dst = dst;
    operand->src = src;
    operand->count = count;
    operand->elem_bytes = elem_bytes;
    operand->next = NULL;
    coll_i_threads_lock(me->threads);
    /* Not earlier: others would take it for a sign that this rank waits (node/waiting.h). */
    __atomic_store_n(&operand->status, COLL_AGAIN, __ATOMIC_RELAXED);
    while (*link)
        link = &(*link)->next;
    *link = operand;
    met = coll_i_threads_meet(me->threads, tag, team);
    coll_i_threads_unlock(me->threads);
    if (met)
        coll_i_threads_reduce(met);
    h->word[0] = (uintptr_t)operand;
    h->word[1] = 1; /* not a message */
    return COLL_STARTED;
}

COLL_INLINE void coll_i_threads_operand_release(coll_i_threads_rank *me,
                                                coll_i_threads_operand *operand)
{
    operand->next = me->free_operands;
    me->free_operands = operand;
}

COLL_INLINE coll_status coll_i_threads_operand_test(coll_i_threads_rank *me,
                                                    coll_i_threads_operand *operand)
{
    const coll_status status = __atomic_load_n(&operand->status, __ATOMIC_ACQUIRE);
    if (status == COLL_AGAIN && coll_i_node_aborted(&me->node, operand->tag))
        return COLL_ERR_PEER;
    if (status == COLL_OK)
        coll_i_threads_operand_release(me, operand);
    if (status == COLL_AGAIN)
        coll_i_node_watch_word(&me->node, (const uint32_t *)&operand->status,
                               (uint32_t)COLL_AGAIN, COLL_NOBODY);
    return status;
}

/* Waits only for a reduction that runs at this moment. */
COLL_INLINE void coll_i_threads_operand_cancel(coll_i_threads_rank *me,
                                               coll_i_threads_operand *operand)
{
    coll_i_threads_lock(me->threads);
    if (!operand->met) {
        coll_i_threads_operand **link = &me->operands;
        while (*link != operand)
            link = &(*link)->next;
        *link = operand->next;
        __atomic_store_n(&operand->status, COLL_ERR_CANCELLED, __ATOMIC_RELAXED);
    }
    coll_i_threads_unlock(me->threads);
    while (__atomic_load_n(&operand->status, __ATOMIC_ACQUIRE) == COLL_AGAIN)
        (void)sched_yield();
    coll_i_threads_operand_release(me, operand);
}

#endif /* COLL_TRANSPORTS_THREADS_FABRIC_H */
