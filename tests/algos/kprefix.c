/* tests/algos/kprefix.c — the laws of coll/algos/kprefix.h, with nodes missing and without */
#include "coll/algos/kprefix.h"

#include "support/fattree.h"
#include "support/missing.h"

static const uint32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 31, 64, 65536};
enum { SIZES = sizeof sizes / sizeof *sizes, COUNT = 2 };

static coll_plan kprefix(const missing *it, uint32_t k, uint32_t flags, bool by_rank)
{
    uint32_t params[2];
    params[0] = k;
    params[1] = by_rank ? 0 : it->nodes;
    return missing_plan(&coll_kprefix_allgather, COLL_ALLGATHER, it, COUNT, flags, params);
}

/* ---- who plays which lane, from the definition ------------------------------------------- */

/* The ranks of the partition of a node. */
typedef struct part {
    uint32_t at, first, n;
} part;

static part part_of(const missing *it, uint32_t k, uint32_t node)
{
    part its;
    its.at = node / k * k;
    its.first = its.n = 0;
    for (uint32_t rank = 0; rank < it->p; rank++) {
        its.first += it->table[rank] < its.at;
        its.n += it->table[rank] / k == node / k;
    }
    return its;
}

/* The player of a lane: whoever is on it, else the missing lanes go round the first 2^e. */
static uint32_t player(const missing *it, const part *its, uint32_t lane)
{
    uint32_t turn = 0, all = 1;
    while (2 * all <= its->n)
        all *= 2;
    for (uint32_t l = 0;; l++) {
        uint32_t on = COLL_RANK_NONE;
        for (uint32_t m = 0; m < its->n; m++)
            if (it->table[its->first + m] == its->at + l)
                on = its->first + m;
        if (l == lane)
            return on != COLL_RANK_NONE ? on : its->first + turn % all;
        turn += on == COLL_RANK_NONE;
    }
}

/* The partition behind: that of the next rank. */
static part part_behind(const missing *it, uint32_t k, const part *its)
{
    const uint32_t rank = its->first + its->n;
    return part_of(it, k, it->table[rank == it->p ? 0 : rank]);
}

/* Where a message belongs in the sequence of stages, from its sender, receiver and block. */
static uint64_t stage_of(const missing *it, uint32_t k, uint32_t from, uint32_t to,
                         uint32_t block)
{
    const uint32_t parts = (it->nodes - 1) / k + 1, home = it->table[block] / k;
    const uint32_t a = it->table[from] / k, b = it->table[to] / k;
    const uint64_t round = (a + parts - home) % parts;
    return round << 32 | (a == b ? it->table[from] % k ^ it->table[to] % k : 0);
}

/* Laws 1 and 2, message by message: right ends, and stages in order on both sides. */
static void check_messages(const missing *it, const coll_plan *plan, uint32_t k)
{
    for (uint32_t rank = 0; rank < it->p; rank++) {
        const walk *w = walk_of(plan, rank);
        uint64_t sent = 0, received = 0;
        for (size_t i = 0; i < w->n; i++) {
            const coll_action *a = &w->act[i];
            const coll_ref place = is_send(a) ? a->src : a->dst;
            const uint32_t block = coll_ref_space(place) == COLL_IN
                                       ? rank
                                       : (uint32_t)(coll_ref_offset(place) / COUNT);
            const uint32_t from = is_send(a) ? rank : a->peer, to = is_send(a) ? a->peer : rank;
            const part its = part_of(it, k, it->table[from]);
            const uint32_t lane = it->table[block] % k;
            if (!is_send(a) && !is_receive(a))
                continue;
            CHECK_EQ(player(it, &its, lane), from);
            if (it->table[from] / k != it->table[to] / k) {
                const part behind = part_behind(it, k, &its);
                CHECK_EQ(it->table[to] / k, behind.at / k);
                CHECK_EQ(player(it, &behind, lane), to);
                CHECK(it->table[block] / k != behind.at / k);
            }
            {
                const uint64_t stage = stage_of(it, k, from, to, block);
                uint64_t *last = is_send(a) ? &sent : &received;
                CHECK(stage >= *last);
                *last = stage;
            }
        }
    }
}

static void check_laws(const missing *it)
{
    for (size_t i = 0; i < SIZES; i++) {
        const coll_plan plan = kprefix(it, sizes[i], COLL_FLAG_IN_PLACE, false);
        check_messages(it, &plan, sizes[i]);
    }
}

TEST(messages_follow_the_lanes)
{
    missing_all(6, check_laws);
    missing_random(CHECK_RANKS, 20, check_laws);
    for (uint32_t p = 1; p <= CHECK_RANKS; p++) { /* none missing, by rank */
        const missing all = missing_of(p, UINT64_MAX);
        for (size_t i = 0; i < SIZES; i++) {
            const coll_plan plan = kprefix(&all, sizes[i], 0, true);
            check_messages(&all, &plan, sizes[i]);
        }
    }
}

/* Law 3, of the functions that the steps use. */
static void check_roles(const missing *it)
{
    for (size_t i = 0; i < SIZES; i++) {
        const uint32_t k = sizes[i];
        const coll_plan plan = kprefix(it, k, 0, false);
        const coll_i_kprefix by = coll_i_kprefix_of(&plan, it->nodes, false);
        for (uint32_t rank = 0; rank < it->p; rank++) {
            const coll_i_kprefix_part its = coll_i_kprefix_part_of(&by, rank);
            const coll_i_kprefix_bits bits = coll_i_kprefix_bits_of(&by, &its);
            const part model = part_of(it, k, it->table[rank]);
            const uint32_t all = (uint32_t)1 << its.turns, lack = k - its.n;
            uint32_t roles = 0, last = 0;
            CHECK(its.first == model.first && its.n == model.n && its.at == model.at);
            CHECK(all <= its.n && its.n < 2 * all);
            for (uint32_t a = 0; a < (uint32_t)1 << bits.role; a++) {
                const uint32_t lane = coll_i_kprefix_role(&by, &its, rank - its.first, a);
                if (lane == COLL_RANK_NONE)
                    continue;
                CHECK(lane < k && (roles == 0 || lane > last));
                CHECK_EQ(coll_i_kprefix_player(&by, &its, lane), rank);
                CHECK_EQ(player(it, &model, lane), rank);
                last = lane;
                roles++;
            }
            if (it->nodes > k) {
                uint32_t played = 0;
                for (uint32_t lane = 0; lane < k; lane++)
                    played += coll_i_kprefix_player(&by, &its, lane) == rank;
                CHECK_EQ(roles, played);
                CHECK(roles <= 1 + (lack + all - 1) / all);
            } else {
                CHECK_EQ(roles, 1);
            }
        }
    }
}

TEST(every_lane_has_a_player)
{
    missing_all(8, check_roles);
    missing_random(CHECK_RANKS, 40, check_roles);
}

/* ---- proofs and costs -------------------------------------------------------------------- */

/* Messages of each rank by the rule in the file's head; copies, and different blocks sent. */
/* Of all rounds, those that are empty too. */
static uint32_t stages(uint32_t nodes, uint32_t k)
{
    const uint32_t parts = (nodes - 1) / k + 1;
    uint32_t stages = 1;
    while (stages < (parts > 1 ? k : nodes))
        stages *= 2;
    return parts * stages;
}

static void check_cost(const missing *it, const coll_plan *plan, uint32_t k)
{
    const coll_report cost = cost_of(plan);
    const bool in_place = coll_in_place(plan);
    CHECK(cost.rounds < 2 * stages(it->nodes, k));
    if (it->p == it->nodes && it->p % k == 0 && (k & (k - 1)) == 0)
        CHECK_EQ(cost.rounds, it->p - 1);
    CHECK_EQ(cost.total.messages, (uint64_t)it->p * (it->p - 1));
    CHECK_EQ(cost.total.elements, COUNT * (uint64_t)it->p * (it->p - 1));
    CHECK_EQ(cost.total.copied, in_place ? 0 : COUNT * it->p);
    CHECK_EQ(coll_plan_scratch(plan, 0), 0);
    for (uint32_t rank = 0; rank < it->p; rank++) {
        const part its = part_of(it, k, it->table[rank]);
        const part behind = part_behind(it, k, &its);
        uint64_t messages = 0;
        for (uint32_t block = 0; block < it->p; block++)
            if (player(it, &its, it->table[block] % k) == rank)
                messages += its.n - 1 + (it->table[block] / k != behind.at / k ? 1u : 0u);
        CHECK_EQ(cost.ranks[rank].messages, messages);
        CHECK_EQ(cost.ranks[rank].elements, COUNT * messages);
    }
}

static void check_missing(const missing *it)
{
    for (size_t i = 0; i < SIZES; i++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
            const coll_plan plan = kprefix(it, sizes[i], flags, false);
            check_cost(it, &plan, sizes[i]);
        }
}

TEST(missing_nodes)
{
    missing_all(7, check_missing);
    missing_random(CHECK_RANKS, 12, check_missing);
}

static void prove(const missing *it)
{
    static const uint32_t some[] = {4, 8, 50};
    for (size_t i = 0; i < 3; i++) {
        const coll_plan plan = kprefix(it, some[i], 0, false);
        cost_of(&plan);
    }
}

TEST(nodes_missing_in_large_machines)
{
    missing_large(prove);
}

TEST(groups_that_do_not_fit)
{
    static const uint32_t down[4] = {7, 5, 2, 1}, params[2] = {4, 8}, small[2] = {4, 3};
    coll_plan plan = plan_with(&coll_kprefix_allgather, COLL_ALLGATHER, 4, 1, 0, 0, params);
    coll_problem problem;
    coll_group group;
    coll_group_table(&group, down, NULL);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_ERR_GROUP);
    coll_problem_init(&problem, COLL_ALLGATHER, 4, 1, 8);
    CHECK_STATUS(coll_plan_init(&plan, &coll_kprefix_allgather, &problem, small),
                 COLL_ERR_GROUP);
    plan = plan_of(&coll_kprefix_allgather, COLL_ALLGATHER, 4, 1, 0);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK); /* by rank, wherever they are */
    cost_of(&plan);
}

/* By rank: the same rule on a machine of p nodes, and the closed forms where k divides p. */
TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < SIZES; i++) {
            const uint32_t k = sizes[i];
            const missing all = missing_of(p, UINT64_MAX);
            const coll_plan plan = kprefix(&all, k, 0, true);
            check_cost(&all, &plan, k);
            if (p % k != 0)
                continue;
            for (uint32_t rank = 0; rank < p; rank++) {
                const walk *w = walk_of(&plan, rank);
                uint32_t messages = 0, ring = 0, blocks = 0;
                coll_ref last = COLL_AT(COLL_SHARED, 0);
                for (size_t n = 0; n < w->n; n++)
                    if (is_send(&w->act[n])) {
                        messages++;
                        ring += w->act[n].peer / k != rank / k;
                        blocks += w->act[n].src != last;
                        last = w->act[n].src;
                    }
                CHECK_EQ(messages, p - 1);
                CHECK_EQ(ring, p / k - 1);
                CHECK_EQ(blocks, k == 1 ? p - 1 : p / k); /* a ring does not send the last */
                if ((k & (k - 1)) == 0)
                    CHECK_EQ(coll_plan_steps(&plan, rank), p);
            }
        }
}

/* ---- fat trees --------------------------------------------------------------------------- */

/* Law 4. The messages of a stage between two ranks follow each other on the same links. */
static void check_links(const missing *it)
{
    static fattree tree;
    static uint64_t stages[MISSING_MOST][WALK_MAX];
    const bool whole = it->p == 64;
    for (uint32_t k = 2; k <= 16; k *= 2)
        for (unsigned route = FATTREE_BY_SOURCE; route <= FATTREE_BY_DESTINATION; route++) {
            const coll_plan plan = kprefix(it, k, COLL_FLAG_IN_PLACE, false);
            const uint32_t parts = (it->nodes - 1) / k + 1;
            fattree_init(&tree, 4, 3, (fattree_route)route);
            for (uint32_t rank = 0; rank < it->p; rank++) {
                const walk *w = walk_of(&plan, rank);
                for (size_t i = 0; i < w->n; i++)
                    stages[rank][i] =
                        is_send(&w->act[i])
                            ? stage_of(it, k, rank, w->act[i].peer,
                                       (uint32_t)(coll_ref_offset(w->act[i].src) / COUNT))
                            : UINT64_MAX;
            }
            for (uint64_t round = 0; round < parts; round++)
                for (uint64_t j = whole ? 0 : 1; j < k; j++) {
                    fattree_clear(&tree);
                    for (uint32_t rank = 0; rank < it->p; rank++) {
                        const walk *w = walk_of(&plan, rank);
                        uint32_t peer = COLL_RANK_NONE;
                        for (size_t i = 0; i < w->n; i++) {
                            if (stages[rank][i] != (round << 32 | j) || peer == w->act[i].peer)
                                continue;
                            CHECK_EQ(peer, COLL_RANK_NONE); /* one at a stage */
                            peer = w->act[i].peer;
                            CHECK(fattree_send(&tree, it->table[rank], it->table[peer]));
                        }
                    }
                }
        }
}

TEST(stages_share_no_link)
{
    const missing all = missing_of(64, UINT64_MAX);
    check_links(&all);
    missing_random(CHECK_RANKS, 10, check_links);
}

int main(void)
{
    RUN(messages_follow_the_lanes);
    RUN(every_lane_has_a_player);
    RUN(missing_nodes);
    RUN(nodes_missing_in_large_machines);
    RUN(groups_that_do_not_fit);
    RUN(costs);
    RUN(stages_share_no_link);
    return check_done();
}
