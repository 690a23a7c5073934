/* tests/algos/bruck_alltoall.c — the laws of coll/algos/bruck_alltoall.h */
#include "coll/algos/bruck_alltoall.h"

#include "support/walk.h"

enum { COUNT = 2, RADICES = 5 }; /* elements of a block */

static const uint32_t radices[RADICES] = {2, 3, 4, 7, 100};

static coll_plan bruck(uint32_t p, uint32_t flags, uint32_t k)
{
    return plan_with(&coll_bruck_alltoall, COLL_ALLTOALL, p, COUNT, flags, 0, &k);
}

/* Rounds, or digits to the base k of numbers below p. */
static uint32_t rounds_of(uint32_t p, uint32_t k)
{
    uint32_t rounds = 0;
    for (uint64_t reach = 1; reach < p; reach *= k)
        rounds++;
    return rounds;
}

/* The blocks of the message that goes a distance: how many, and which. */
static uint32_t blocks_of(uint32_t p, uint32_t k, uint32_t distance, uint32_t *blocks)
{
    uint32_t stride = 1, n = 0;
    while (distance / k >= stride)
        stride *= k;
    CHECK_EQ(distance % stride, 0);
    for (uint32_t i = 0; i < p; i++)
        if (i / stride % k == distance / stride)
            blocks[n++] = i;
    return n;
}

/* Law 1. */
TEST(both_ends_agree)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (int i = 0; i < RADICES; i++) {
            const coll_plan plan = bruck(p, COLL_FLAG_IN_PLACE, radices[i]);
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *mine = walk_of(&plan, rank);
                uint32_t sent = 0;
                for (size_t a = 0; a < mine->n; a++) {
                    const coll_action *send = &mine->act[a];
                    const walk *theirs;
                    uint32_t received = 0;
                    size_t b = 0;
                    if (!is_send(send))
                        continue;
                    theirs = walk_of(&plan, send->peer); /* its receive has the same number */
                    while (b < theirs->n &&
                           !(is_receive(&theirs->act[b]) && received++ == sent))
                        b++;
                    CHECK(b < theirs->n && theirs->act[b].peer == rank &&
                          theirs->act[b].count == send->count);
                    sent++;
                }
            }
        }
}

/* Laws 2 and 3: which block each slot holds, from the first copy to the last. */
TEST(blocks_travel_digit_by_digit)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (int i = 0; i < RADICES; i++)
            for (uint32_t rank = 0; rank < p; rank += 1 + p / 5) {
                const coll_plan plan = bruck(p, COLL_FLAG_IN_PLACE, radices[i]);
                const walk *w = walk_of(&plan, rank);
                static uint32_t slots[64 * 8];
                uint32_t travelled[64] = {0}, placed = 0;
                for (size_t a = 0; a < w->n; a++) {
                    const coll_action *act = &w->act[a];
                    const size_t n = act->count / COUNT;
                    const size_t to = coll_ref_offset(act->dst) / COUNT;
                    const size_t from = coll_ref_offset(act->src) / COUNT;
                    uint32_t blocks[64];
                    if (act->kind != COLL_DO_COPY) {
                        const bool sends = is_send(act);
                        const uint32_t distance =
                            (sends ? act->peer + p - rank : rank + p - act->peer) % p;
                        CHECK_EQ(blocks_of(p, radices[i], distance, blocks), n);
                        for (size_t b = 0; b < n; b++) {
                            if (sends)
                                CHECK_EQ(slots[from + b], blocks[b]);
                            else
                                slots[to + b] = blocks[b];
                            travelled[blocks[b]] += sends ? distance : 0;
                        }
                    } else if (coll_ref_space(act->src) == COLL_OUT) {
                        for (size_t b = 0; b < n; b++)
                            slots[to + b] = (uint32_t)(from + b + p - rank) % p;
                    } else if (coll_ref_space(act->dst) == COLL_OUT) {
                        CHECK_EQ(slots[from], (rank + p - to) % p);
                        CHECK_EQ(travelled[slots[from]], slots[from]);
                        placed++;
                    } else {
                        for (size_t b = 0; b < n; b++)
                            slots[to + b] = slots[from + b];
                    }
                }
                CHECK_EQ(placed, p - 1);
            }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE)
            for (int i = 0; i < RADICES; i++) {
                const uint32_t k = radices[i], rounds = rounds_of(p, k);
                const coll_plan plan = bruck(p, flags, k);
                const coll_report cost = cost_of(&plan);
                const uint32_t regions = rounds > 1 ? rounds + 1 : rounds;
                uint32_t messages = 0, sent = 0, blocks[64];
                for (uint64_t stride = 1; stride < p; stride *= k)
                    for (uint32_t e = 1; e < k && e * stride < p; e++) {
                        messages++;
                        sent += blocks_of(p, k, (uint32_t)(e * stride), blocks);
                    }
                if (k == 2) /* a larger k takes its messages of a round one after the other */
                    CHECK_EQ(cost.rounds, rounds);
                for (uint32_t rank = 0; rank < p; rank++) {
                    CHECK_EQ(cost.ranks[rank].messages, messages);
                    CHECK_EQ(cost.ranks[rank].elements, COUNT * sent);
                    CHECK(cost.ranks[rank].copied <= COUNT * (2 * p + sent));
                    CHECK_EQ(coll_plan_scratch(&plan, rank),
                             COUNT * (p - 1 + regions * (p - (p + k - 1) / k)));
                }
            }
}

/* Law 4: on m rows of n ranks, n−1 messages of a block for each row, and m−1 of one for each column. */
TEST(a_virtual_mesh)
{
    for (uint32_t m = 2; m <= 8; m++)
        for (uint32_t n = 2; n <= 8; n++) {
            const coll_plan plan = bruck(m * n, 0, n > m ? n : m);
            const uint32_t columns = plan.param[0], rows = m * n / columns;
            for (uint32_t rank = 0; rank < m * n; rank++) {
                const walk *w = walk_of(&plan, rank);
                uint32_t in_row = 0, in_column = 0;
                for (size_t a = 0; a < w->n; a++)
                    if (is_send(&w->act[a])) {
                        const uint32_t way = (w->act[a].peer + m * n - rank) % (m * n);
                        in_row += way < columns && w->act[a].count == rows * COUNT;
                        in_column += way % columns == 0 && w->act[a].count == columns * COUNT;
                        CHECK(way < columns || way % columns == 0);
                    }
                CHECK_EQ(in_row, columns - 1);
                CHECK_EQ(in_column, rows - 1);
            }
        }
}

int main(void)
{
    RUN(a_virtual_mesh);
    RUN(both_ends_agree);
    RUN(blocks_travel_digit_by_digit);
    RUN(costs);
    return check_done();
}
