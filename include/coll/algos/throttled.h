/* coll/algos/throttled.h — alltoall(v,w) with at most `batch` messages on their way to a rank
 *
 * Where p−1 messages for one rank meet, they wait in its network interface or its memory, and hold
 * each other up. Here the order is that of pairwise.h, but for all rounds except the first `batch`
 * a message needs permission: the rank that is to receive it in round i gives that when it has
 * received the one of round i − batch, and until then its sender waits. So a rank never has more
 * than `batch` messages to come, however many the window of its executor holds, and it is the
 * receiver that sets the pace. A permission is a message of 0 bytes (NOTIFY): its src is the
 * block that must be there first, and the dst of the AWAIT at the other end is what the message
 * is sent from, so the order is one of refs, as everywhere. Empty blocks need no permission, and
 * count as received. In place, `batch` copies of blocks leave while others take their places.
 *
 *   p = 6, batch = 2, what rank r does:
 *       round 1                             send to r+1, receive from r−1
 *       round 2                             send to r+2, receive from r−2
 *       round 3    notify r−3 if r−1 came   await r+3, send to r+3, receive from r−3
 *       round 4    notify r−4 if r−2 came   await r+4, send to r+4, receive from r−4
 *       round 5    notify r−5 if r−3 came   await r+5, send to r+5, receive from r−5
 *
 * Laws (tests/algos/throttled.c)
 *   (1) the messages are those of pairwise.h, in its rounds
 *   (2) what permits the message of a round reads the block that came `batch` rounds before (if
 *       the rank skips that one: twice as many), and the message waits for it
 *   (3) with blocks that are not empty, a rank has at most `batch` messages to come
 * Cost    p−1 rounds, in place p of which each rank skips one; p−1 blocks per rank, each a message;
 *         and p−1−batch permissions (in place p−batch, or one less). scratch: in place
 *         min(batch, p) of the largest blocks
 * Source  the alltoalls "scattered" of MPICH and "linear_sync" of Open MPI, which wait for batches
 *         of their own; permissions: credit-based flow control
 */
#ifndef COLL_ALGOS_THROTTLED_H
#define COLL_ALGOS_THROTTLED_H

#include "kit/derived.h"
#include "pairwise.h"

COLL_TABLE(coll_param, coll_i_throttled_params, {
    COLL_PARAM("batch", "messages on their way to a rank",
               1, UINT32_MAX / 2, 4, {4, 1, 100, 4})});

/* Permits the message `now` of `from`, of this round, if there is one: when the block `before`
 * is here or, where that is empty, at once. */
COLL_HOT_INLINE void coll_i_throttled_permit(coll_action *a, uint32_t from, coll_block before,
                                             coll_block now)
{
    const bool waits = before.count > 0;
    coll_act_notify(a, from, COLL_AT(COLL_OUT, waits ? before.offset : now.offset),
                    now.count > 0 ? waits ? before.count : now.count : 0);
}

/* In place: a step for what makes the round's block leave, and one that exchanges it. */
COLL_INLINE unsigned coll_i_throttled_trade(const coll_plan *plan, uint32_t rank, size_t s,
                                            coll_action *out)
{
    const uint32_t p = plan->problem.p, batch = plan->param[0];
    const uint32_t number = (uint32_t)(s >> 1);
    const uint32_t round = number + (number >= coll_i_pairwise_alone(p, rank) ? 1 : 0);
    const uint32_t with = coll_mod_sub(round, rank, p);
    const coll_block block = coll_out_block(plan, with);
    const coll_ref place = COLL_AT(COLL_OUT, block.offset);
    const uint32_t copy = round - coll_divide(round, &plan->radix) * batch;
    const coll_ref leaving = COLL_AT(COLL_SCRATCH, copy * plan->largest);
    unsigned n = 0;
    if (s & 1) {
        coll_act_send(&out[0], with, leaving, block.count);
        coll_act_recv(&out[1], with, place, block.count);
        return 2;
    }
    if (round >= batch) {
        uint32_t earlier = coll_mod_sub(round - batch, rank, p);
        if (earlier == rank) /* the round that is skipped; the one before it, or none */
            earlier =
                round - batch >= batch ? coll_mod_sub(round - batch - batch, rank, p) : with;
        coll_i_throttled_permit(&out[n++], with, coll_out_block(plan, earlier), block);
    }
    coll_act_copy(&out[n++], leaving, place, block.count);
    if (round >= batch)
        coll_act_await(&out[n++], with, leaving, block.count);
    return n;
}

COLL_INLINE size_t coll_i_throttled_steps(const coll_plan *plan, uint32_t rank)
{
    return coll_i_pairwise_alltoall_steps(plan, rank) << (coll_in_place(plan) ? 1 : 0);
}

COLL_INLINE unsigned coll_i_throttled_step(const coll_plan *plan, uint32_t rank, size_t s,
                                           coll_action *out)
{
    const uint32_t p = plan->problem.p, batch = plan->param[0], round = (uint32_t)s + 1;
    unsigned n = 0;
    if (coll_in_place(plan))
        return coll_i_throttled_trade(plan, rank, s, out);
    if (p > 1 && round > batch) {
        const uint32_t to = coll_mod_add(rank, round, p), from = coll_mod_sub(rank, round, p);
        const coll_block give = coll_in_block(plan, to);
        coll_i_throttled_permit(&out[n++], from,
                                coll_out_block(plan, coll_mod_add(from, batch, p)),
                                coll_out_block(plan, from));
        coll_act_await(&out[n++], to, COLL_AT(COLL_IN, give.offset), give.count);
    }
    return n + coll_i_pairwise_alltoall_step(plan, rank, s, &out[n]);
}

COLL_INLINE size_t coll_i_throttled_scratch(const coll_plan *plan, uint32_t rank)
{
    const uint32_t p = plan->problem.p, batch = plan->param[0];
    (void)rank;
    return coll_in_place(plan) ? (batch < p ? batch : p) * plan->largest : 0;
}

COLL_ALGORITHM(coll_throttled_alltoall, "throttled",
    "scattered in MPICH, linear_sync in Open MPI",
    COLL_EXCHANGING, /* traits */ 0,
    /* window */ 2, /* sends */ 1, COLL_PREPARED(1, coll_i_throttled_params, coll_i_prepare_radix),
    coll_i_throttled_steps, coll_i_throttled_step, coll_i_throttled_scratch);

#endif /* COLL_ALGOS_THROTTLED_H */
