/* tests/support/padded.h — alltoallv in slots of one size: short blocks ride, longer ones go
 * straight
 *
 *   padded_check(&of, &slots, block);        // an alltoallv, and the alltoall of its slots
 *   … padded_plan(rank), padded_riding(rank): those of the two that were checked last
 *   padded_release();
 */
#ifndef COLL_TESTS_ALGOS_PADDED_H
#define COLL_TESTS_ALGOS_PADDED_H

#include "coll/lab/verify/case.h"
#include "walk.h"

static coll_grid_worker padded_worker, padded_slots;

static inline void padded_release(void)
{
    coll_grid_worker_release(&padded_worker);
    coll_grid_worker_release(&padded_slots);
}

static inline const coll_plan *padded_plan(uint32_t rank)
{
    return coll_i_grid_plan_of(&padded_worker, rank);
}

static inline const coll_plan *padded_riding(uint32_t rank)
{
    return coll_i_grid_plan_of(&padded_slots, rank);
}

/* Elements that a rank has for another. */
static inline size_t padded_gives(uint32_t rank, uint32_t to)
{
    const coll_plan *plan = padded_plan(rank);
    return (coll_in_place(plan) ? coll_out_block(plan, to) : coll_in_block(plan, to)).count;
}

/* First the messages of the alltoall, if slots have any elements, then those of the longer
 * blocks. */
static inline void padded_messages(uint32_t rank, uint32_t p, uint32_t block)
{
    static coll_action riding[WALK_MAX];
    const walk *w = walk_of(padded_riding(rank), rank);
    size_t n = 0, i = 0;
    uint64_t straight = 0;
    for (size_t a = 0; a < w->n && block > 0; a++)
        if (w->act[a].count > 0 && (is_send(&w->act[a]) || is_receive(&w->act[a])))
            riding[n++] = w->act[a];
    w = walk_of(padded_plan(rank), rank);
    for (size_t a = 0; a < w->n; a++) {
        const coll_action *act = &w->act[a];
        if (act->kind == COLL_DO_COPY || act->count == 0)
            continue;
        if (i < n) {
            CHECK_EQ(act->kind, riding[i].kind);
            CHECK_EQ(act->peer, riding[i].peer);
            CHECK_EQ(act->count, riding[i].count);
            i++;
        } else if (is_send(act)) {
            CHECK(act->count > block);
            CHECK_EQ(act->count, padded_gives(rank, act->peer));
            straight |= (uint64_t)1 << act->peer;
        }
    }
    CHECK_EQ(i, n);
    for (uint32_t to = 0; to < p; to++)
        CHECK_EQ((straight >> to) & 1, to != rank && padded_gives(rank, to) > block);
}

/* What all cost: that of the alltoall, and a message for each longer block, in at most as many
 * rounds more as there are of pairwise.h in which somebody has one. */
static inline void padded_costs(const coll_report *cost, const coll_report *slots, uint32_t p,
                                uint32_t block)
{
    const bool rides = p > 1 && block > 0;
    const uint32_t before = rides ? slots->rounds : 0;
    bool rounds[WALK_RANKS] = {false};
    uint32_t straight = 0;
    for (uint32_t rank = 0; rank < p; rank++) {
        uint64_t messages = rides ? slots->ranks[rank].messages : 0;
        uint64_t elements = rides ? slots->ranks[rank].elements : 0;
        for (uint32_t to = 0; to < p; to++)
            if (to != rank && padded_gives(rank, to) > block) {
                messages++;
                elements += padded_gives(rank, to);
                rounds[(coll_in_place(padded_plan(rank)) ? to + rank : to + p - rank) % p] =
                    true;
            }
        CHECK_EQ(cost->ranks[rank].messages, messages);
        CHECK_EQ(cost->ranks[rank].elements, elements);
    }
    for (uint32_t i = 0; i < p; i++)
        straight += rounds[i];
    CHECK(cost->rounds >= before && cost->rounds <= before + straight);
}

/* Proves both, and checks all that is said above. */
static inline void padded_check(const coll_grid_case *of, const coll_grid_case *slots,
                                uint32_t block)
{
    coll_report cost, riding;
    padded_slots.skip = COLL_VERIFY_NO_WINDOW | COLL_VERIFY_NO_PURITY;
    CHECK_STATUS(prove_case(&padded_slots, slots, &riding), COLL_OK);
    CHECK_STATUS(prove_case(&padded_worker, of, &cost), COLL_OK);
    if (!CHECK(riding.ok && cost.ok))
        printf("    p = %u, block = %u: %s\n", of->p, block, cost.sentence);
    for (uint32_t rank = 0; rank < of->p; rank++)
        padded_messages(rank, of->p, block);
    padded_costs(&cost, &riding, of->p, block);
}

#endif /* COLL_TESTS_ALGOS_PADDED_H */
