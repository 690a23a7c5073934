/* tests/algos/kprefix_lb.c — the laws of coll/algos/kprefix_lb.h */
#include "coll/algos/kprefix_lb.h"

#include "support/missing.h"

static const uint32_t sizes[] = {1, 2, 3, 4, 8, 13, 64, 65536};
static const uint32_t intervals[] = {1, 2, 3, 5, 8, 16, UINT32_MAX};
enum {
    SIZES = sizeof sizes / sizeof *sizes,
    INTERVALS = sizeof intervals / sizeof *intervals,
    COUNT = 2
};

static coll_plan loose(const missing *it, uint32_t k, uint32_t every, uint32_t flags,
                       bool by_rank)
{
    uint32_t params[3];
    params[0] = k;
    params[1] = every;
    params[2] = by_rank ? 0 : it->nodes;
    return missing_plan(&coll_kprefix_lb_allgather, COLL_ALLGATHER, it, COUNT, flags, params);
}

/* ---- what the head of the file says about barriers --------------------------------------- */

typedef struct barriers {
    uint32_t rounds, interval, stages, n;
} barriers;

static barriers barriers_of(const missing *it, uint32_t k, uint32_t every)
{
    barriers all = {0, every, 1, 0};
    if (it->p > 2)
        for (all.rounds = 1; (uint32_t)1 << (all.rounds - 1) < it->p - 1; all.rounds++)
            ;
    while (all.interval < all.rounds)
        all.interval *= 2;
    while (all.stages < (k < it->nodes ? k : it->nodes))
        all.stages *= 2;
    all.stages *= (it->nodes - 1) / k + 1;
    if (all.rounds > 0 && all.stages >= all.rounds)
        all.n = (all.stages - all.rounds) / all.interval;
    return all;
}

static bool is_token(const coll_action *a)
{
    return coll_i_has(COLL_I_TOKENS, a);
}

/* Law 1: after the copy, and without tokens, the actions of kprefix in place. */
static void check_moves(const missing *it)
{
    for (size_t i = 0; i < SIZES; i++)
        for (size_t e = 0; e < INTERVALS; e += 2) {
            const coll_plan plan = loose(it, sizes[i], intervals[e], 0, false);
            const uint32_t params[2] = {sizes[i], it->nodes};
            const coll_plan model = missing_plan(&coll_kprefix_allgather, COLL_ALLGATHER, it,
                                                 COUNT, COLL_FLAG_IN_PLACE, params);
            for (uint32_t rank = 0; rank < it->p; rank++) {
                static walk mine;
                const walk *other;
                size_t n = 1;
                memcpy(&mine, walk_of(&plan, rank), sizeof mine);
                other = walk_of(&model, rank);
                CHECK(mine.n > 0 && mine.act[0].kind == COLL_DO_COPY);
                for (size_t k = 0; k < other->n; k++) {
                    while (n < mine.n && is_token(&mine.act[n]))
                        n++;
                    if (CHECK(n < mine.n))
                        CHECK(memcmp(&mine.act[n++], &other->act[k], sizeof(coll_action)) == 0);
                }
                while (n < mine.n && is_token(&mine.act[n]))
                    n++;
                CHECK_EQ(n, mine.n);
            }
        }
}

/* Law 2. */
static void check_rounds(const missing *it)
{
    for (size_t i = 0; i < SIZES; i++)
        for (size_t e = 0; e < INTERVALS; e++) {
            const uint32_t k = sizes[i];
            const barriers all = barriers_of(it, k, intervals[e]);
            const coll_plan plan = loose(it, k, intervals[e], COLL_FLAG_IN_PLACE, false);
            for (uint32_t rank = 0; rank < it->p; rank++) {
                const size_t steps = coll_plan_steps(&plan, rank), role = steps / all.stages;
                const walk *w = walk_of(&plan, rank);
                uint32_t n = 0;
                CHECK(role > 0 && role * all.stages == steps);
                for (size_t a = 0; a + 1 < w->n; a++) {
                    const uint32_t round = all.rounds ? n % all.rounds : 0;
                    const uint32_t far = round ? 1u << (round - 1) : 1;
                    if (w->act[a].kind != COLL_DO_NOTIFY)
                        continue;
                    CHECK_EQ(w->step[a], role * ((n / all.rounds + 1) * all.interval + round));
                    CHECK_EQ(w->act[a].peer, (rank + far) % it->p);
                    CHECK_EQ(w->act[a + 1].kind, COLL_DO_AWAIT);
                    CHECK_EQ(w->step[a + 1], w->step[a]);
                    CHECK_EQ(w->act[a + 1].peer, (rank + it->p - far) % it->p);
                    n++;
                }
                CHECK_EQ(n, all.n * all.rounds);
            }
        }
}

TEST(barriers_ride_on_kprefix)
{
    missing_all(5, check_moves);
    missing_random(40, 12, check_moves);
    missing_all(6, check_rounds);
    missing_random(CHECK_RANKS, 12, check_rounds);
}

/* ---- what a barrier holds back ----------------------------------------------------------- */

static bool touch(coll_ref a, size_t a_count, coll_ref b, size_t b_count)
{
    return a - b < b_count || b - a < a_count;
}

/* Does the executor keep the order of two actions of a rank, `a` before `b`? */
static bool ordered(const coll_action *a, const coll_action *b)
{
    const bool a_writes = coll_i_has(COLL_I_WRITES_DST, a),
               a_reads = coll_i_has(COLL_I_READS_SRC, a);
    const bool b_writes = coll_i_has(COLL_I_WRITES_DST, b),
               b_reads = coll_i_has(COLL_I_READS_SRC, b);
    return (a_writes && b_writes && touch(a->dst, a->count, b->dst, b->count)) ||
           (a_writes && b_reads && touch(a->dst, a->count, b->src, b->count)) ||
           (a_reads && b_writes && touch(a->src, a->count, b->dst, b->count)) ||
           (a->peer == b->peer &&
            ((is_send(a) && is_send(b)) || (is_receive(a) && is_receive(b))));
}

/* Law 3 of the tokens of one barrier: pairs of notification and await. */
static void check_tokens(const coll_action *pair[32][2], uint32_t rounds, uint32_t p)
{
    const coll_ref data = COLL_AT(COLL_OUT, 0);
    for (uint32_t block = 0; block < p; block++) {
        CHECK(touch(pair[0][0]->src, pair[0][0]->count, data + COUNT * block, COUNT));
        CHECK(touch(pair[rounds - 1][1]->dst, pair[rounds - 1][1]->count, data + COUNT * block,
                    COUNT));
    }
    for (uint32_t i = 0; i < rounds; i++) {
        CHECK(pair[i][0]->count < COLL_REF_LIMIT / 4 && pair[i][1]->count < COLL_REF_LIMIT / 4);
        for (uint32_t h = 0; h < rounds; h++) {
            const bool named =
                touch(pair[i][0]->src, pair[i][0]->count, pair[h][1]->dst, pair[h][1]->count);
            if (h < i)
                CHECK(named);
            if (h == i) /* else a notification that waits for its await never ends */
                CHECK(!named);
        }
        if (i > 0)
            CHECK(ordered(pair[i - 1][1], pair[i][1]));
    }
}

/* Whether a rank's action number i is sure to come after rank r's first notification of barrier
 * b: bit r of known[rank][i]. */
static uint64_t known[16][WALK_MAX];

static void find_known(const coll_plan *plan, uint32_t p, uint32_t rounds, uint32_t b)
{
    size_t next[16] = {0};
    uint32_t left = p;
    while (left > 0) {
        left = 0;
        for (uint32_t rank = 0; rank < p; rank++) {
            const walk *w = walk_of(plan, rank);
            for (; next[rank] < w->n; next[rank]++) {
                const size_t i = next[rank];
                const coll_action *a = &w->act[i];
                uint64_t set = 0;
                uint32_t notified = 0, message = 0;
                for (size_t k = 0; k < i; k++) {
                    if (ordered(&w->act[k], a))
                        set |= known[rank][k];
                    notified += w->act[k].kind == COLL_DO_NOTIFY;
                    message += is_receive(&w->act[k]) && w->act[k].peer == a->peer;
                }
                if (a->kind == COLL_DO_NOTIFY && notified == b * rounds)
                    set |= (uint64_t)1 << rank;
                if (is_receive(a)) {
                    const walk *other = walk_of(plan, a->peer);
                    size_t k = 0;
                    for (;; k++)
                        if (is_send(&other->act[k]) && other->act[k].peer == rank &&
                            message-- == 0)
                            break;
                    if (k >= next[a->peer])
                        break;
                    set |= known[a->peer][k];
                }
                known[rank][i] = set;
            }
            left += next[rank] < w->n;
        }
    }
}

/* Laws 3 and 4. */
static void check_barriers(const missing *it)
{
    if (it->p < 3 || it->p > 16)
        return;
    for (size_t i = 0; i < SIZES; i++)
        for (size_t e = 0; e < 4; e++) {
            const barriers all = barriers_of(it, sizes[i], intervals[e]);
            const coll_plan plan = loose(it, sizes[i], intervals[e], 0, false);
            for (uint32_t b = 0; b < all.n; b++) {
                find_known(&plan, it->p, all.rounds, b);
                for (uint32_t rank = 0; rank < it->p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    const coll_action *pair[32][2];
                    uint32_t notified = 0, awaited = 0;
                    for (size_t n = 0; n < w->n; n++) {
                        const coll_action *a = &w->act[n];
                        if (a->kind == COLL_DO_NOTIFY && notified++ / all.rounds == b) {
                            pair[(notified - 1) % all.rounds][0] = a;
                            for (size_t k = 0; k < n && notified == b * all.rounds + 1; k++)
                                if (is_receive(&w->act[k]) && !is_token(&w->act[k]))
                                    CHECK(ordered(&w->act[k], a));
                        } else if (a->kind == COLL_DO_AWAIT && awaited++ / all.rounds == b) {
                            pair[(awaited - 1) % all.rounds][1] = a;
                        } else if (a->kind == COLL_DO_SEND && awaited >= (b + 1) * all.rounds) {
                            CHECK_EQ(known[rank][n], (UINT64_MAX >> (64 - it->p)));
                        }
                    }
                    check_tokens(pair, all.rounds, it->p);
                }
            }
        }
}

TEST(barriers_hold_back_what_follows)
{
    missing_all(5, check_barriers);
    missing_random(16, 30, check_barriers);
}

/* ---- proofs and costs -------------------------------------------------------------------- */

static void check_cost(const missing *it, uint32_t k, uint32_t every, uint32_t flags,
                       bool by_rank)
{
    const barriers all = barriers_of(it, k, every);
    const coll_plan plan = loose(it, k, every, flags, by_rank);
    const coll_report cost = cost_of(&plan);
    static uint64_t messages[MISSING_LARGE];
    const uint32_t params[2] = {k, by_rank ? 0 : it->nodes};
    const coll_plan model =
        missing_plan(&coll_kprefix_allgather, COLL_ALLGATHER, it, COUNT, flags, params);
    for (uint32_t rank = 0; rank < it->p; rank++) {
        messages[rank] = cost.ranks[rank].messages;
        CHECK_EQ(cost.ranks[rank].copied, flags ? 0 : COUNT);
    }
    {
        const coll_report base = cost_of(&model);
        const uint32_t all_rounds = all.n * all.rounds;
        CHECK(cost.rounds < 2 * all.stages + all_rounds);
        if (it->p == it->nodes && it->p % k == 0 && (k & (k - 1)) == 0)
            CHECK_EQ(cost.rounds, base.rounds + all_rounds);
        CHECK_EQ(cost.total.elements, base.total.elements);
        for (uint32_t rank = 0; rank < it->p; rank++)
            CHECK_EQ(messages[rank], base.ranks[rank].messages + all_rounds);
    }
}

static void check_missing(const missing *it)
{
    for (size_t i = 0; i < SIZES; i++)
        check_cost(it, sizes[i], intervals[i % INTERVALS], it->p % 2 ? COLL_FLAG_IN_PLACE : 0,
                   false);
}

static void check_large(const missing *it)
{
    check_cost(it, 8, 16, 0, false);
}

TEST(missing_nodes)
{
    missing_all(7, check_missing);
    missing_random(CHECK_RANKS, 12, check_missing);
    missing_large(check_large);
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++) {
        const missing all = missing_of(p, UINT64_MAX);
        for (size_t i = 0; i < SIZES; i++)
            check_cost(&all, sizes[i], intervals[(i + p) % INTERVALS],
                       p % 3 ? 0 : COLL_FLAG_IN_PLACE, true);
    }
}

int main(void)
{
    RUN(barriers_ride_on_kprefix);
    RUN(barriers_hold_back_what_follows);
    RUN(missing_nodes);
    RUN(costs);
    return check_done();
}
