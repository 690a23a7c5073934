/* tests/algos/bine_butterfly.c — the laws of coll/algos/bine_butterfly.h */
#include "coll/algos/bine_butterfly.h"
#include "coll/algos/bine_allgather.h"
#include "coll/algos/recursive_multiplying_allgather.h"

#include "support/walk.h"

/* ---- the definition: sets of ranks as bits ----------------------------------------------- */

typedef struct ring {
    uint32_t p, size, rounds;
} ring;

static ring ring_of(uint32_t p)
{
    ring of = {p, p - p % 2, 0};
    for (uint32_t reach = 1; reach < of.size; reach *= 2)
        of.rounds++;
    return of;
}

static bool hosts(const ring *of, uint32_t rank)
{
    return of->size < of->p && rank + 1 == of->size;
}

static uint32_t partner(const ring *of, uint32_t rank, uint32_t t)
{
    int64_t rho = 0, term = 1, size = of->size, to;
    for (uint32_t i = 0; i <= t; i++, term *= -2)
        rho += term;
    to = rank + (rank % 2 ? -rho : rho);
    return (uint32_t)((to % size + size) % size);
}

/* What a rank has before round t. */
static uint64_t has(const ring *of, uint32_t rank, uint32_t t)
{
    return t == 0 ? (uint64_t)1 << rank
                  : has(of, rank, t - 1) | has(of, partner(of, rank, t - 1), t - 1);
}

static uint64_t takes(const ring *of, uint32_t rank, uint32_t t)
{
    return has(of, partner(of, rank, t), t) & ~has(of, rank, t);
}

static uint64_t gives(const ring *of, uint32_t rank, uint32_t t)
{
    return takes(of, partner(of, rank, t), t);
}

/* Blocks of a set: the last rank of the ring may stand for two. */
static uint64_t blocks_of(const ring *of, uint64_t set)
{
    const uint64_t last = (uint64_t)1 << (of->size - 1);
    return set & last && of->size < of->p ? set | last << 1 : set;
}

static uint32_t bits(uint64_t set)
{
    uint32_t n = 0;
    for (; set; set &= set - 1)
        n++;
    return n;
}

/* How many runs a set is, in a row and around the ring. */
static uint32_t runs(uint64_t set)
{
    return bits(set & ~(set << 1));
}

static uint32_t ring_runs(const ring *of, uint64_t set)
{
    const bool closed = (set & 1u) && (set >> (of->size - 1) & 1u);
    return runs(set) - (closed && runs(set) > 1 ? 1 : 0);
}

/* ---- laws -------------------------------------------------------------------------------- */

static coll_plan bine(const coll_algorithm *algorithm, coll_collective collective, uint32_t p,
                      size_t count, uint32_t flags)
{
    return plan_of(algorithm, collective, p, count, flags | COLL_FLAG_COMMUTATIVE);
}

/* The elements that the sends, or the receives, of a step move; all of them with `peer`. */
static uint64_t moved(const coll_plan *plan, uint32_t rank, size_t step, bool sends,
                      uint32_t peer)
{
    coll_action acts[COLL_STEP_MAX];
    const unsigned n = coll_plan_step(plan, rank, step, acts);
    uint64_t set = 0;
    for (unsigned i = 0; i < n; i++)
        if (sends ? is_send(&acts[i]) : is_receive(&acts[i])) {
            const size_t at = coll_ref_offset(sends ? acts[i].src : acts[i].dst);
            CHECK_EQ(acts[i].peer, peer);
            CHECK(acts[i].count > 0 && at + acts[i].count <= 64);
            set |= (UINT64_MAX >> (64 - acts[i].count)) << at;
        }
    return set;
}

/* Laws 1 and 2; in place, and one element a block, so that elements are blocks. */
TEST(runs_grow_at_their_ends)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const ring of = ring_of(p);
        const coll_plan plan =
            bine(&coll_bine_allgather, COLL_ALLGATHER, p, 1, COLL_FLAG_IN_PLACE);
        for (uint32_t rank = 0; rank < of.size; rank++)
            for (uint32_t t = 0; t < of.rounds; t++) {
                const size_t step = t + (hosts(&of, rank) ? 1 : 0);
                const uint32_t peer = partner(&of, rank, t);
                const uint64_t mine = has(&of, rank, t);
                const uint64_t take = takes(&of, rank, t), give = gives(&of, rank, t);
                CHECK_EQ(partner(&of, peer, t), rank);
                CHECK_EQ(moved(&plan, rank, step, true, peer), blocks_of(&of, give));
                CHECK_EQ(moved(&plan, rank, step, false, peer), blocks_of(&of, take));
                CHECK_EQ(bits(mine), 1u << t);
                CHECK_EQ(ring_runs(&of, mine), 1);
                CHECK_EQ(give & ~mine, 0);
                CHECK_EQ(ring_runs(&of, take), 1);
                CHECK_EQ(ring_runs(&of, give | take), 1);
            }
    }
}

/* Law 3. */
TEST(halving_is_gathering_backwards)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++) {
        const ring of = ring_of(p);
        const coll_plan all =
            bine(&coll_bine_allreduce, COLL_ALLREDUCE, p, p, COLL_FLAG_IN_PLACE);
        for (uint32_t rank = 0; rank < of.size; rank++)
            for (uint32_t t = 0; t < of.rounds; t++) {
                const size_t before = hosts(&of, rank) ? 1 : 0;
                const size_t there = before + of.rounds - 1 - t, back = before + of.rounds + t;
                const uint32_t peer = partner(&of, rank, t);
                const uint64_t take = blocks_of(&of, takes(&of, rank, t));
                const uint64_t give = blocks_of(&of, gives(&of, rank, t));
                CHECK_EQ(moved(&all, rank, there, true, peer), take);
                CHECK_EQ(moved(&all, rank, there, false, peer), give);
                CHECK_EQ(moved(&all, rank, back, true, peer), give);
                CHECK_EQ(moved(&all, rank, back, false, peer), take);
            }
    }
    for (uint32_t p = 2; p <= CHECK_RANKS;
         p++) { /* places in SCRATCH tell nothing; numbers do */
        const ring of = ring_of(p);
        const coll_plan plan =
            bine(&coll_bine_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p, 1, 0);
        for (uint32_t rank = 0; rank < of.size; rank++) {
            const walk *w = walk_of(&plan, rank);
            uint32_t sent[64] = {0}, received[64] = {0};
            for (size_t i = 0; i < w->n; i++) {
                if (is_send(&w->act[i]))
                    sent[w->act[i].peer] += (uint32_t)w->act[i].count;
                if (is_receive(&w->act[i]))
                    received[w->act[i].peer] += (uint32_t)w->act[i].count;
            }
            for (uint32_t t = 0; t < of.rounds; t++) {
                const uint32_t peer = partner(&of, rank, t);
                uint32_t take = 0, give = 0;
                for (uint32_t i = 0; i < of.rounds; i++) /* rounds may share a partner */
                    if (partner(&of, rank, i) == peer) {
                        take += bits(blocks_of(&of, takes(&of, rank, i)));
                        give += bits(blocks_of(&of, gives(&of, rank, i)));
                    }
                CHECK_EQ(sent[peer], take);
                CHECK_EQ(received[peer], give);
            }
        }
    }
}

/* Law 4. */
TEST(messages_stay_near)
{
    for (uint32_t p = 4; p <= CHECK_RANKS; p *= 2) {
        const coll_plan plan = bine(&coll_bine_allgather, COLL_ALLGATHER, p, 1, 0);
        const coll_plan far =
            plan_of(&coll_recursive_doubling_allgather, COLL_ALLGATHER, p, 1, 0);
        CHECK(element_hops(&plan) < element_hops(&far));
    }
}

/* ---- costs ------------------------------------------------------------------------------- */

/* Elements of a set of blocks: of a vector cut into p parts, or of `count` elements each. */
static size_t elements_of(uint32_t p, size_t count, bool parts, uint64_t set)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < p; i++)
        if (set >> i & 1u)
            sum += !parts ? count : count / p + (i < count % p ? 1 : 0);
    return sum;
}

/* One half, of a rank in the ring. */
typedef struct half {
    uint32_t gives, takes; /* messages */
    size_t given, taken;   /* elements */
} half;

static half half_of(const ring *of, uint32_t rank, size_t count, bool parts)
{
    half sum;
    memset(&sum, 0, sizeof sum);
    for (uint32_t t = 0; t < of->rounds; t++) {
        const uint64_t give = gives(of, rank, t), take = takes(of, rank, t);
        const size_t given = elements_of(of->p, count, parts, blocks_of(of, give));
        sum.gives += runs(give);
        sum.takes += runs(take);
        sum.given += given;
        sum.taken += elements_of(of->p, count, parts, blocks_of(of, take));
    }
    return sum;
}

/* The rounds of halving whose messages go through SCRATCH, as they are numbered in gathering: of
 * those of a reduce_scatter the first takes its operands from IN, and the last has its sum in OUT. */
typedef enum stages { STAGE_ALL, STAGE_LATER, STAGE_INNER } stages;

static size_t half_staged(const ring *of, uint32_t rank, size_t count, stages which, bool parts)
{
    const uint32_t end = of->rounds - (which == STAGE_ALL ? 0 : 1);
    size_t most = 0;
    for (uint32_t t = which == STAGE_INNER ? 1 : 0; t < end; t++) {
        const size_t n = elements_of(of->p, count, parts, blocks_of(of, gives(of, rank, t)));
        most = n > most ? n : most;
    }
    return most;
}

/* Of odd p: does the longest way from the rank that stands for two lead back to it? */
static bool comes_back(const ring *of)
{
    uint32_t rank = of->size - 1;
    for (uint32_t t = 0; t < of->rounds; t++)
        rank = partner(of, rank, t);
    return of->p > of->size && rank == of->size - 1;
}

TEST(costs)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const ring of = ring_of(p);
            const size_t count = 2, vector = 3 * (size_t)p + 1;
            const uint32_t odd = p % 2;
            const coll_plan gather =
                bine(&coll_bine_allgather, COLL_ALLGATHER, p, count, flags);
            const coll_plan scatter =
                bine(&coll_bine_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK, p, count, flags);
            const coll_plan all = bine(&coll_bine_allreduce, COLL_ALLREDUCE, p, vector, flags);
            coll_report cost = cost_of(&gather);
            CHECK_EQ(cost.rounds, of.rounds + odd + (comes_back(&of) ? 1 : 0));
            for (uint32_t rank = 0; rank < of.size; rank++) {
                const half h = half_of(&of, rank, count, false);
                const uint32_t more = hosts(&of, rank) ? 1 : 0;
                CHECK_EQ(cost.ranks[rank].messages, h.gives + more);
                CHECK_EQ(cost.ranks[rank].elements, h.given + more * count * p);
                CHECK(odd || h.given == count * (p - 1));
                CHECK_EQ(coll_plan_scratch(&gather, rank), 0);
            }
            CHECK(!odd || cost.ranks[p - 1].elements == count);
            cost = cost_of(&scatter);
            CHECK_EQ(cost.rounds, of.rounds + odd + (comes_back(&of) ? 1 : 0));
            for (uint32_t rank = 0; rank < of.size; rank++) {
                const half h = half_of(&of, rank, count, false);
                const uint32_t more = hosts(&of, rank) ? 1 : 0;
                const size_t largest =
                    half_staged(&of, rank, count, more ? STAGE_ALL : STAGE_INNER, false);
                const size_t kept =
                    more ? p : bits(blocks_of(&of, has(&of, rank, of.rounds - 1)));
                CHECK_EQ(cost.ranks[rank].messages, h.takes + more);
                CHECK_EQ(cost.ranks[rank].elements, h.taken + more * count);
                CHECK(odd || h.taken == count * (p - 1));
                CHECK_EQ(coll_plan_scratch(&scatter, rank),
                         of.rounds == 1 && !more && !flags ? 0 : count * kept + largest);
            }
            CHECK(!odd || cost.ranks[p - 1].elements == count * p);
            cost = cost_of(&all);
            CHECK_EQ(cost.rounds, 2 * (of.rounds + odd));
            for (uint32_t rank = 0; rank < of.size; rank++) {
                const half h = half_of(&of, rank, vector, true);
                const uint32_t more = hosts(&of, rank) ? 1 : 0;
                CHECK_EQ(cost.ranks[rank].messages, h.gives + h.takes + more);
                CHECK_EQ(cost.ranks[rank].elements, h.given + h.taken + more * vector);
                const size_t largest = half_staged(
                    &of, rank, vector, more || flags ? STAGE_ALL : STAGE_LATER, true);
                CHECK_EQ(coll_plan_scratch(&all, rank), more && flags ? vector : largest);
            }
            CHECK(!odd || cost.ranks[p - 1].elements == vector);
        }
}

int main(void)
{
    RUN(runs_grow_at_their_ends);
    RUN(halving_is_gathering_backwards);
    RUN(messages_stay_near);
    RUN(costs);
    return check_done();
}
