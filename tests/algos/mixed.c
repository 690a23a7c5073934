/* tests/algos/mixed.c — the laws of coll/algos/mixed.h and mixed_allgather.h */
#include "coll/algos/mixed_allgather.h"
#include "coll/algos/mixed.h"

#include "support/walk.h"

/* Ranks on nodes: of one size, or, with ppn 0, of 1, 2, 3, 4, 1, 2 … ranks. */
static uint32_t firsts[65];

static void place(coll_problem *problem, uint32_t ppn)
{
    uint32_t n = 0;
    if (ppn > 0) {
        coll_nodes_even(&problem->nodes, problem->p, ppn);
        return;
    }
    for (uint32_t rank = 0; rank < problem->p; rank += 1 + (n - 1) % 4)
        firsts[n++] = rank;
    firsts[n] = problem->p;
    coll_nodes_table(&problem->nodes, n, firsts, NULL);
}

static coll_plan mixed(coll_collective collective, uint32_t p, uint32_t ppn, size_t count,
                       uint32_t flags, uint32_t root, const uint32_t *params)
{
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, collective, p, count, 8);
    problem.flags = flags;
    problem.root = root;
    place(&problem, ppn);
    CHECK_STATUS(
        coll_plan_init(&plan,
                       collective == COLL_BCAST ? &coll_mixed_bcast : &coll_mixed_allgather,
                       &problem, params),
        COLL_OK);
    return plan;
}

static bool coordinates(const coll_plan *plan, uint32_t rank)
{
    const coll_problem *of = &plan->problem;
    const coll_node node = coll_node_of(&of->nodes, of->p, rank);
    const bool home = coll_node_of(&of->nodes, of->p, of->root).index == node.index;
    if (of->collective == COLL_BCAST && home)
        return rank == of->root;
    return node.local == 0;
}

static bool carries(const coll_action *a)
{
    return a->count > 0 && (a->kind == COLL_DO_SEND || a->kind == COLL_DO_RECV);
}

static bool is_put(const coll_action *a)
{
    return a->kind == COLL_DO_COPY && a->count > 0 && coll_ref_space(a->dst) == COLL_SHARED;
}

/* Law 1. */
TEST(coordinators_talk)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t ppn = 0; ppn <= 5; ppn++)
            for (unsigned all = 0; all < 2; all++) {
                const uint32_t params[] = {2, 2, 3, 2};
                const coll_plan plan = mixed(all ? COLL_ALLGATHER : COLL_BCAST, p, ppn, 7, 0,
                                             all ? 0 : p / 3, params);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const walk *w = walk_of(&plan, rank);
                    bool came[64 * 7] = {false};
                    for (size_t i = 0; i < w->n; i++) {
                        const coll_action *a = &w->act[i];
                        if (!carries(a))
                            continue;
                        CHECK(coordinates(&plan, rank) && coordinates(&plan, a->peer));
                        for (size_t k = 0; a->kind == COLL_DO_RECV && k < a->count; k++) {
                            CHECK(!came[coll_ref_offset(a->dst) + k]);
                            came[coll_ref_offset(a->dst) + k] = true;
                        }
                    }
                }
            }
}

/* Laws 2 and 3: what a coordinator puts between two of its segments' messages. */
TEST(overlap)
{
    for (uint32_t p = 4; p <= CHECK_RANKS; p++)
        for (uint32_t overlap = 0; overlap <= 4; overlap++) {
            const uint32_t params[] = {1, 2, 3, overlap};
            const coll_plan plan = mixed(COLL_BCAST, p, 2, 20, 0, 0, params);
            for (uint32_t rank = 0; rank + 2 < p; rank += 2) { /* but the end of the chain */
                const walk *w = walk_of(&plan, rank);
                size_t puts_now = 0, messages = 0, left = 0;
                for (size_t i = 0; i < w->n; i++) {
                    const coll_action *a = &w->act[i];
                    if (carries(a)) {
                        CHECK(puts_now <= overlap);
                        puts_now = 0;
                        messages++;
                    }
                    if (is_put(a))
                        puts_now += a->count;
                    if (is_put(a) && messages == (rank == 0 ? 7u : 14u))
                        left += a->count;
                }
                CHECK_EQ(messages, rank == 0 ? 7 : 14);
                CHECK_EQ(left, overlap == 0   ? 20
                               : overlap >= 3 ? 2
                               : overlap == 1 ? 20 - 6
                                              : 20 - 12);
            }
        }
}

/* The grid of the proofs has few values of the parameters; here are more, for few ranks. */
TEST(parameters)
{
    static const uint32_t segments[] = {0, 1, 3, 100}, overlaps[] = {0, 1, 2, 100};
    for (uint32_t p = 1; p <= 7; p++)
        for (uint32_t ppn = 0; ppn <= p; ppn += 1 + ppn / 2)
            for (uint32_t k = 0; k <= 3; k++)
                for (uint32_t buffers = 1; buffers <= 3; buffers++)
                    for (size_t i = 0; i < 16; i++) {
                        const uint32_t params[] = {k, buffers, segments[i / 4],
                                                   overlaps[i % 4]};
                        const size_t count = (i + p) % 6;
                        coll_plan plan = mixed(COLL_BCAST, p, ppn, count, i & 1, p / 2, params);
                        cost_of(&plan);
                        if (k < 2)
                            continue;
                        plan = mixed(COLL_ALLGATHER, p, ppn, count, i & 1, 0, params);
                        cost_of(&plan);
                    }
}

static size_t children_of(const coll_plan *plan, uint32_t rank)
{
    const walk *w = walk_of(plan, rank);
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += w->act[i].kind == COLL_DO_SEND && w->act[i].count > 0 ? 1 : 0;
    return n;
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t ppn = 0; ppn <= 8; ppn += 2)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags++) {
                const uint32_t params[] = {2, 2, 20, 13};
                const size_t n = 10, own = flags ? 0 : n;
                coll_plan plan = mixed(COLL_BCAST, p, ppn, n, flags, p - 1, params);
                const uint32_t nodes = coll_nodes_count(&plan.problem.nodes);
                coll_report cost = cost_of(&plan);
                CHECK_EQ(cost.total.elements, (nodes - 1) * n);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const coll_node node = coll_node_of(&plan.problem.nodes, p, rank);
                    const size_t in_node = node.ranks > 1 ? n : 0;
                    CHECK_EQ(cost.ranks[rank].copied, in_node + (rank == p - 1 ? own : 0));
                    CHECK_EQ(cost.ranks[rank].elements, children_of(&plan, rank) * n);
                    CHECK(children_of(&plan, rank) <= 2);
                }
                plan = mixed(COLL_ALLGATHER, p, ppn, n, flags, 0, params);
                cost = cost_of(&plan);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const coll_node node = coll_node_of(&plan.problem.nodes, p, rank);
                    const coll_node next =
                        coll_node_at(&plan.problem.nodes, p, (node.index + 1) % nodes, 0);
                    const bool sends = node.local == 0 && nodes > 1;
                    CHECK_EQ(cost.ranks[rank].elements, sends ? (p - next.ranks) * n : 0);
                    if (node.local > 0)
                        CHECK_EQ(cost.ranks[rank].copied, n + p * n);
                    else
                        CHECK_EQ(cost.ranks[rank].copied,
                                 own + (node.ranks > 1 ? (node.ranks - 1) * n + p * n : 0));
                }
            }
}

/* Of the tree of nodes. */
static uint32_t height(uint32_t nodes, uint32_t k)
{
    uint32_t most = 0;
    if (k == 0)
        return fnomial_height(nodes, 2);
    for (uint64_t level = 1, all = 1; all < nodes; all += level) {
        level *= k;
        most++;
    }
    return most;
}

static size_t parts(size_t of, size_t into)
{
    return (of + into - 1) / into;
}

/* The rounds of the files' heads; with nodes of one size these, else at most so many. */
static void check_rounds(uint32_t p, uint32_t ppn, size_t count, uint32_t params[4])
{
    const size_t segment = params[2], twice = params[3] > 0 && params[3] < segment ? 2 : 1;
    for (unsigned all = 0; all < 2; all++, params[0] += 2) {
        const coll_plan plan =
            mixed(all ? COLL_ALLGATHER : COLL_BCAST, p, ppn, count, 0, all ? 0 : p / 2, params);
        const coll_nodes *nodes = &plan.problem.nodes;
        const uint32_t h = coll_nodes_count(nodes), n = coll_nodes_largest(nodes, p);
        const size_t S = parts(all ? n * count : count, segment);
        const size_t P = twice * (all ? h * S : S), E = P > params[1] ? P - params[1] : 0;
        const size_t tree = fnomial_height(n, all ? params[0] : 2) * (2 * E + 1);
        const size_t ring = (h - 1) * S, early = n > 1 && params[3] > 0 ? params[1] : ring;
        const size_t inter = !all ? height(h, params[0]) : early < ring ? early : ring;
        const size_t gather = all && n > 1 ? 2 * parts(count, segment) - 1 : 0;
        const coll_report report = cost_of(&plan);
        CHECK(report.rounds <= inter + gather + tree);
        if (ppn > 0 && (p % ppn == 0 || p < ppn))
            CHECK_EQ(report.rounds, inter + gather + tree);
    }
}

TEST(rounds)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t ppn = p % 3; ppn <= 8; ppn += 3) {
            uint32_t params[] = {(p + ppn) % 4, 1 + p % 4, 2 + p % 2, (p + ppn) % 4};
            check_rounds(p, ppn, 4, params);
        }
}

int main(void)
{
    RUN(coordinators_talk);
    RUN(overlap);
    RUN(parameters);
    RUN(costs);
    RUN(rounds);
    return check_done();
}
