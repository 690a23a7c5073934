/* coll/transports/conformance.h — does a transport keep the contract of transport.h?
 *
 * A kit that an author runs over a transport of his own; it says in a sentence what that does wrong:
 *
 *   static coll_conformance kit[P];
 *   static unsigned char memory[P][1 << 16];
 *   for (uint32_t r = 0; r < P; r++) {
 *       const coll_conformance_task task = {&mine, ctx[r], r, P, 0, 0, 0, 0, memory[r], 1 << 16};
 *       if (coll_conformance_init(&kit[r], &task) != COLL_OK) …
 *   }
 *   if (coll_conformance_run(kit, P) != COLL_OK)
 *       puts(coll_conformance_sentence(kit, P));
 *   for (int c = 0; c < COLL_CONFORMANCE_CHECKS; c++)
 *       printf("%s: %s\n", coll_conformance_name((coll_conformance_check)c),
 *              coll_conformance_result_text(
 *                  coll_conformance_result_of(kit, P, (coll_conformance_check)c)));
 *
 *   order (messages of one peer and tag arrive in the order in which they were sent): rank 0, recv
 *   of 16 bytes from rank 2, tag 0, message 0: message 1 came instead
 *
 * That is for ranks that one thread drives in turn. Where each rank is a thread or a process, all do
 * the same with one kit, that of their rank: coll_conformance_run(&kit, 1). A rank is a state machine,
 * whose step is a round of starts and tests (coll_conformance_step): the first way steps all kits in
 * turn, the second one kit, and calls the transport's wait between rounds. A rank that fails stops, so
 * the others may lose patience: the sentence that is not about patience is the one to read.
 * For firmware, too: nothing is allocated, and no C library is needed.
 *
 * COLL_CONFORMANCE_LIST (conformance/kit.h) has the checks. On each rank one is PASSED; FAILED, which
 * ends the run on that rank, as nothing is known of the transport then; NOT_RUN; or NOT_THERE: the
 * transport lacks the callback, refused each time (COLL_ERR_CAPABILITY), never said COLL_AGAIN, or has
 * too few tags (all failures together want 17) or ranks (a slow peer wants 3).
 *
 * `longest` is best beyond every limit at which the transport changes its way of sending; a rank has up
 * to 2·depth + 24 operations in flight, and the memory of coll_conformance_bytes. Who makes no progress
 * for `patience` rounds hangs, and is told so; but a callback that does not return cannot be told.
 *
 * A pass promises that the transport kept the contract in these exchanges, as they happened. It does
 * not promise that it does so in every interleaving (run it under load, with other p, and under a
 * thread sanitizer), when a process dies or a link loses messages, or when memory runs out; nor that
 * its memory is bounded, nor that it is fast.
 *
 * 16 KiB of code on a Cortex-M0+; p = 4, a depth of 4 and messages of up to 64 bytes take 7 KiB a rank.
 */
#ifndef COLL_TRANSPORTS_CONFORMANCE_H
#define COLL_TRANSPORTS_CONFORMANCE_H

#include "conformance/checks.h"

/* Prepares the kit of a rank. The transport's record, ctx and the memory are kept until it ends; the
 * kit must not move. COLL_ERR_MEMORY: it is less than coll_conformance_bytes says. */
COLL_INLINE coll_status coll_conformance_init(coll_conformance *kit,
                                              const coll_conformance_task *task)
{
    unsigned char *at;
    if (!kit || !task || !task->transport || !task->memory)
        return COLL_ERR_NULL;
    if (task->p < 2 || task->p == UINT32_MAX)
        return COLL_ERR_RANKS;
    if (task->rank >= task->p)
        return COLL_ERR_RANK;
    if (task->bytes < coll_conformance_bytes(task))
        return COLL_ERR_MEMORY;
    kit->task.transport = task->transport;
    kit->task.ctx = task->ctx;
    kit->task.rank = task->rank;
    kit->task.p = task->p;
    kit->task.longest = task->longest;
    kit->task.depth = coll_i_conformance_depth(task);
    kit->task.patience = task->patience == 0    ? 100000
                         : task->patience < 256 ? 256
                                                : task->patience;
    kit->task.skip = task->skip;
    kit->task.memory = task->memory;
    kit->task.bytes = task->bytes;
    kit->status = COLL_AGAIN;
    kit->check = kit->phase = kit->round = kit->idle = 0;
    kit->again = kit->refused = kit->done = 0;
    kit->silence = 256;
    kit->begun = kit->guarded = kit->spent = kit->asleep = false;
    kit->missed = 0;
    kit->readable = NULL;
    kit->home = 0;
    kit->sum.combine = coll_i_conformance_sum;
    kit->chain.combine = coll_i_conformance_chain;
    kit->sum.arg = kit->chain.arg = NULL;
    kit->sum.commutative = true;
    kit->chain.commutative = false;
    kit->sum.exact = kit->chain.exact = true;
    kit->sum.number = kit->sum.type = kit->chain.number = kit->chain.type = 0; /* its own */
    kit->longest = coll_i_conformance_longest(task);
    at = (unsigned char *)task->memory;
    at += (sizeof(void *) - (uintptr_t)at % sizeof(void *)) % sizeof(void *);
    kit->ops = (coll_i_conformance_op *)(void *)at;
    kit->n_ops = 0;
    kit->most_ops = coll_i_conformance_most(task);
    kit->arena = (unsigned char *)(kit->ops + kit->most_ops);
    kit->room = coll_i_conformance_room(task);
    kit->used = 0;
    for (uint32_t i = 0; i < COLL_CONFORMANCE_CHECKS; i++)
        kit->results[i] = COLL_CONFORMANCE_NOT_RUN;
    kit->length = 0;
    kit->sentence[0] = 0;
    return COLL_OK;
}

/* Gives a kit that was prepared a function that says whether a descriptor is readable: coll_is_readable
 * (transports/idle.h), where there are descriptors, which waits for a millisecond, as patience is rounds.
 * Without one, the check `events` asks only arm. */
COLL_INLINE void coll_conformance_set_readable(coll_conformance *kit,
                                               bool (*readable)(int descriptor))
{
    kit->readable = readable;
}

/* Goes on to the next phase, or check. */
COLL_INLINE void coll_i_conformance_advance(coll_conformance *kit)
{
    coll_i_conformance_turn turn = COLL_I_CONFORMANCE_NO_MORE;
    const bool skips = (kit->task.skip >> kit->check & 1u) != 0;
    kit->n_ops = 0;
    kit->used = 0;
    kit->round = kit->idle = 0;
    if (!skips)
        turn = coll_i_conformance_next_phase(kit);
    kit->begun = turn == COLL_I_CONFORMANCE_PHASE;
    if (kit->begun || kit->status < 0)
        return;
    if (!skips)
        kit->results[kit->check] = turn == COLL_I_CONFORMANCE_NOTHING
                                       ? COLL_CONFORMANCE_NOT_THERE
                                       : COLL_CONFORMANCE_PASSED;
    kit->phase = 0;
    kit->again = kit->refused = kit->done = 0;
    if (++kit->check == COLL_CONFORMANCE_CHECKS)
        kit->status = COLL_OK;
}

/* One round of a rank: starts what can start, and tests what is in flight, once. COLL_AGAIN: call it
 * again; COLL_OK: all checks were run; COLL_ERR_IO: one has failed, see the sentence. */
COLL_INLINE coll_status coll_conformance_step(coll_conformance *kit)
{
    if (kit->status != COLL_AGAIN)
        return kit->status;
    if (!kit->begun) {
        coll_i_conformance_advance(kit);
    } else if (coll_i_conformance_round(kit)) {
        coll_i_conformance_close(kit);
        kit->begun = false;
        kit->phase++;
    }
    return kit->status;
}

/* Runs n kits to their end: one, that of this thread's or process's rank, or those of all ranks in
 * one thread. Returns COLL_OK, or the status of the first that has failed; the others then stop
 * where they are. */
COLL_INLINE coll_status coll_conformance_run(coll_conformance *kits, uint32_t n)
{
    for (uint32_t i = 0; i < n && n > 1; i++) /* whoever waits for a slow peer loses patience */
        kits[i].silence = 2 * kits[i].task.patience;
    for (;;) {
        uint32_t running = 0;
        for (uint32_t i = 0; i < n; i++) {
            const coll_status status = coll_conformance_step(&kits[i]);
            if (status < 0)
                return status;
            running += status == COLL_AGAIN;
        }
        if (running == 0)
            return COLL_OK;
        if (n == 1 && kits->idle > 0 && !kits->asleep)
            coll_i_conformance_wait(kits);
    }
}

/* What has gone wrong on the first rank of n that failed; "" if none did. */
COLL_INLINE const char *coll_conformance_sentence(const coll_conformance *kits, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (kits[i].status < 0)
            return kits[i].sentence;
    return "";
}

/* What became of a check on n ranks: FAILED or NOT_RUN if so on any, else NOT_THERE if so on all. */
COLL_INLINE coll_conformance_result coll_conformance_result_of(const coll_conformance *kits,
                                                               uint32_t n,
                                                               coll_conformance_check check)
{
    coll_conformance_result result = COLL_CONFORMANCE_NOT_THERE;
    for (uint32_t i = 0; i < n; i++) {
        const coll_conformance_result its = (coll_conformance_result)kits[i].results[check];
        if (its == COLL_CONFORMANCE_FAILED)
            return its;
        if (its == COLL_CONFORMANCE_NOT_RUN || result == COLL_CONFORMANCE_NOT_THERE)
            result = result == COLL_CONFORMANCE_NOT_RUN ? result : its;
    }
    return result;
}

#endif /* COLL_TRANSPORTS_CONFORMANCE_H */
