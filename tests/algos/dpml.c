/* tests/algos/dpml.c — the laws of coll/algos/dpml.h, and every allreduce across the nodes */
#include "support/leaders.h"

static const coll_algorithm *const dpml = &coll_dpml_allreduce.algorithm;
static const coll_algorithm *const pipelined = &coll_dpml_pipelined_allreduce.algorithm;

static bool makes(const coll_grid_case *of)
{
    return CHECK_STATUS(coll_i_grid_plans(&level_worker, of), COLL_OK);
}

/* (1) */
static void check_blocks(const coll_workspace *workspace, size_t count)
{
    const coll_plan *collect = workspace->phases[0].plan;
    const uint32_t leading = coll_i_dpml_leading(collect);
    size_t at = 0;
    uint32_t led = 0;
    for (uint32_t y = 0; y < leading; y++) {
        const coll_block block = coll_i_dpml_block(collect, y);
        const uint32_t local = y * collect->radix.by;
        CHECK_EQ(block.offset, at);
        CHECK_EQ(coll_i_dpml_number(collect, local), y);
        at += block.count;
    }
    CHECK_EQ(at, count);
    for (uint32_t local = 0; local < workspace->at.ranks; local++)
        led += coll_i_dpml_number(collect, local) != COLL_RANK_NONE;
    CHECK_EQ(led, leading);
}

TEST(partitions_tile_the_vector)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t l = 1; l <= 9; l += 2) {
                coll_grid_case of = level_case(dpml, COLL_ALLREDUCE, p, 3 * p % 11 + p, 0);
                of.nodes = level_nodes[kind];
                of.param[0] = l;
                if (!makes(&of))
                    continue;
                for (uint32_t r = 0; r < p; r++)
                    if (level_kit(r)->at.ranks > 1)
                        check_blocks(level_kit(r), of.count);
            }
}

/* (2) For every piece, one rank of each node has a stage in which it meets the others by their
 * numbers. */
static void check_across(const coll_grid_case *of, uint32_t pieces)
{
    const coll_workspace *workspace = level_kit(0);
    const size_t piece = workspace->part / pieces;
    const uint32_t nodes = coll_nodes_count(&workspace->nodes);
    for (size_t at = 0; piece > 0 && at < of->count; at += piece) {
        const uint32_t part = (uint32_t)(at / workspace->part);
        const size_t count = of->count - at < piece ? of->count - at : piece;
        uint32_t members = 0;
        for (uint32_t r = 0; r < of->p; r++)
            for (uint32_t i = 0; i < level_kit(r)->sequence.n; i++) {
                const coll_phase *phase = &level_kit(r)->phases[i];
                const size_t first = coll_ref_offset(phase->base[COLL_OUT]);
                if (!phase->map.nodes || at < first || at >= first + phase->all * piece ||
                    phase->plan->problem.count != count)
                    continue;
                members++;
                CHECK_EQ(phase->plan->problem.p, nodes);
                CHECK_EQ(phase->seat.rank, level_kit(r)->at.index);
                CHECK_EQ(coll_i_rank_map_outer(&phase->map, part, phase->seat.rank), r);
            }
        CHECK_EQ(members, nodes);
    }
}

TEST(leaders_of_a_number_meet)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t l = 1; l <= 7; l += 2)
                for (uint32_t k = 1; k <= 6; k += 5) {
                    coll_grid_case of =
                        level_case(pipelined, COLL_ALLREDUCE, p, 5 * p % 13 + p, 0);
                    of.nodes = level_nodes[kind];
                    of.param[0] = l;
                    of.param[1] = k;
                    if (makes(&of))
                        check_across(&of, k);
                }
}

/* (3) */
TEST(ranks_of_a_node_match)
{
    static unsigned told[64][64];
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t l = 1; l <= 9; l += 4) {
            coll_grid_case of = level_case(dpml, COLL_ALLREDUCE, p, 100, 0);
            const uint32_t leading = l < p ? l : p;
            of.param[0] = l;
            memset(told, 0, sizeof told);
            if (!makes(&of))
                continue;
            for (uint32_t r = 0; r < p; r++) {
                const walk *w = walk_of(level_plan(r), r);
                for (size_t i = 0; i < w->n; i++) {
                    told[r][w->act[i].peer] += w->act[i].kind == COLL_DO_NOTIFY;
                    told[w->act[i].peer][r] -= w->act[i].kind == COLL_DO_AWAIT;
                }
            }
            for (uint32_t a = 0; a < p; a++)
                for (uint32_t b = 0; b < p; b++)
                    CHECK_EQ(told[a][b], 0);
            if (p == 1)
                continue;
            for (uint32_t y = 0; y < leading; y++) {
                const coll_plan *collect = level_kit(0)->phases[0].plan;
                const uint32_t rank = y * collect->radix.by;
                for (uint32_t x = 1; x < leading; x++) {
                    coll_action acts[COLL_STEP_MAX];
                    CHECK_EQ(coll_plan_step(level_plan(rank), rank, x, acts), 3);
                    CHECK_EQ(acts[1].peer, (y + x) % leading * collect->radix.by);
                    CHECK_EQ(acts[2].peer, (y + leading - x) % leading * collect->radix.by);
                }
            }
        }
}

/* The costs; no partition is empty. */
static void check_costs(const coll_grid_case *of)
{
    const coll_report report = level_cost(of);
    const coll_workspace *workspace = level_kit(0);
    const uint32_t p = of->p, l = of->param[0],
                   largest = coll_nodes_largest(&workspace->nodes, p);
    const uint32_t most = l < largest ? l : largest; /* ranks of a node that lead */
    const bool flat = coll_i_composite_flat(workspace), even = level_even(p);
    level_sum sum;
    memset(&sum, 0, sizeof sum);
    for (uint32_t r = 0; r < p; r++) {
        const coll_node at = coll_node_of(&workspace->nodes, p, r);
        const uint32_t first = coll_leaders_below(at.ranks, at.local, l);
        const uint32_t end = coll_leaders_below(at.ranks, at.local + 1, l);
        const uint32_t leading = l < at.ranks ? l : at.ranks;
        coll_verify_count *own = &sum.ranks[r];
        if (coll_nodes_count(&workspace->nodes) > 1)
            leaders_across(&sum, of, &coll_recursive_doubling_allreduce, 0, &at);
        if (at.ranks > 1) {
            own->messages += end > first ? leading - 1 + at.ranks - 1 : leading;
            own->reduced += (leaders_part(of, end) - leaders_part(of, first)) * (at.ranks - 1);
            own->copied += 2 * of->count;
        } else if (p == 1) {
            own->copied += of->count;
        }
        CHECK_EQ(report.ranks[r].copied, own->copied);
    }
    if (!flat)
        sum.rounds[LEVEL_BEFORE] = sum.rounds[LEVEL_AFTER] = most > 1 ? most - 1 : 1;
    level_check(&report, &sum, p, even && l <= largest && leaders_pieces(of) == 1);
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES + 2; kind++)
            for (uint32_t l = 1; l <= 5; l += 2) {
                coll_grid_case of =
                    level_case(dpml, COLL_ALLREDUCE, p, 44, COLL_FLAG_COMMUTATIVE);
                of.nodes =
                    kind < LEVEL_NODES ? level_nodes[kind] : p / (kind + 2 - LEVEL_NODES);
                of.param[0] = l;
                check_costs(&of);
                of.algorithm = pipelined;
                of.param[1] = 3;
                check_costs(&of);
            }
}

/* Every allreduce of the registry across the nodes: proven, or refused with the reason. */
static void check_inner(const coll_algorithm *outer, const coll_algorithm *inner, uint32_t p,
                        uint32_t kind, uint32_t l)
{
    static const size_t counts[] = {0, 1, 2, 9};
    const coll_binding use = {COLL_INTER, inner, NULL};
    for (uint32_t c = 0; c < 4; c++)
        for (uint32_t flags = 0; flags < 4; flags++) {
            coll_grid_case of = level_case(outer, COLL_ALLREDUCE, p, counts[c], flags);
            coll_report report;
            coll_status status;
            of.nodes = level_nodes[kind];
            of.bindings = &use;
            of.n_bindings = 1;
            of.param[0] = l;
            status = level_prove(&of, &report);
            CHECK_STATUS(status, level_expected(
                                     inner, coll_nodes_count(&level_kit(0)->nodes),
                                     coll_nodes_largest(&level_kit(0)->nodes, p) == 1 || p == 1,
                                     l == 1, flags));
        }
}

TEST(every_allreduce_inside)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++) {
        const coll_algorithm *inner = coll_registry[i];
        if (!coll_is(inner->collectives, COLL_ALLREDUCE) || (inner->traits & COLL_NEEDS_BUILD))
            continue;
        for (uint32_t p = 1 + (uint32_t)i % CHECK_SHARE; p <= 16; p += p < 9 ? CHECK_SHARE : 7)
            for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
                for (uint32_t l = 1; l <= 5; l += l < 3 ? 1 : 2) {
                    check_inner(dpml, inner, p, kind, l);
                    check_inner(pipelined, inner, p, kind, l);
                }
    }
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    RUN(partitions_tile_the_vector);
    RUN(leaders_of_a_number_meet);
    RUN(ranks_of_a_node_match);
    RUN(costs);
    RUN(every_allreduce_inside);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
