/* tests/algos/multi_leader_rooted.c — the laws of coll/algos/multi_leader_rooted.h, and every
 * algorithm in both roles */
#include "support/levels.h"

static const struct {
    const coll_composite *row;
    coll_collective collective;
} rows[] = {{&coll_multi_leader_gather, COLL_GATHER},
            {&coll_multi_leader_gather, COLL_SCATTER},
            {&coll_multi_leader_gatherv, COLL_GATHERV},
            {&coll_multi_leader_gatherv, COLL_SCATTERV}};
enum { ROWS = sizeof rows / sizeof rows[0], COUNT = 3, MOST = 4 };

static coll_grid_case case_of(uint32_t row, uint32_t p, uint32_t kind, uint32_t leaders)
{
    coll_grid_case of =
        level_case(&rows[row].row->algorithm, rows[row].collective, p, COUNT, 0);
    of.layout = row < 2 ? COLL_GRID_PLAIN : COLL_GRID_UNEVEN;
    of.nodes = level_nodes[kind];
    of.param[0] = leaders;
    of.root = (p + leaders) / 2 % p;
    return of;
}

/* Elements of all blocks. */
static size_t elements_of(const coll_grid_case *of)
{
    size_t sum = 0;
    for (uint32_t r = 0; r < of->p; r++)
        sum += of->layout == COLL_GRID_PLAIN ? of->count : coll_i_grid_count(of, r, 0);
    return sum;
}

/* (1) */
TEST(the_root_sorts_every_element_once)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t leaders = 1; leaders <= MOST; leaders++)
                for (uint32_t row = 0; row < ROWS; row++) {
                    const coll_grid_case of = case_of(row, p, kind, leaders);
                    const coll_nodes *nodes;
                    unsigned sorts = 0;
                    if (!CHECK_STATUS(coll_i_grid_plans(&level_worker, &of), COLL_OK))
                        continue;
                    for (uint32_t r = 0; r < p; r++)
                        for (uint32_t i = 0; i < level_kit(r)->sequence.n; i++) {
                            const coll_plan *plan = level_kit(r)->phases[i].plan;
                            if (strcmp(plan->algorithm->name, "sort runs") != 0)
                                continue;
                            CHECK_EQ(r, of.root);
                            level_check_sorting(plan, elements_of(&of));
                            sorts++;
                        }
                    nodes = &level_kit(0)->nodes;
                    CHECK_EQ(sorts, leaders > 1 && coll_nodes_smallest(nodes, p) > 1 &&
                                        coll_nodes_count(nodes) > 1);
                }
}

/* (2) */
TEST(leaders_alone_speak_with_other_nodes)
{
    const coll_binding across[] = {{COLL_INTER, &coll_linear_gather, NULL}};
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t leaders = 2; leaders <= MOST; leaders++)
                for (uint32_t row = 0; row < 2; row++) {
                    coll_grid_case of = case_of(row, p, kind, leaders);
                    const coll_nodes *nodes;
                    uint32_t h, l, home;
                    coll_report report;
                    of.bindings = across;
                    of.n_bindings = 1;
                    of.layout = COLL_GRID_PLAIN;
                    if (level_prove(&of, &report) != COLL_OK)
                        continue; /* nodes differ: the blocks across do */
                    nodes = &level_kit(0)->nodes;
                    h = coll_nodes_count(nodes);
                    l = coll_nodes_smallest(nodes, p);
                    l = leaders < l ? leaders : l;
                    home = coll_node_of(nodes, p, of.root).index;
                    for (uint32_t r = 0; r < p && l > 1; r++) {
                        const coll_node at = coll_node_of(nodes, p, r);
                        const uint32_t apart = at.ranks / l;
                        const bool leads = at.local % apart == 0 && at.local / apart < l;
                        const bool sends = (at.index == home) == (row == 1);
                        CHECK_EQ(level_outward(r).messages,
                                 leads && sends ? (row == 1 ? h - 1 : 1) : 0);
                    }
                }
}

/* A leader for each rank: what leaves a node leaves it by all its ranks. */
TEST(full_lane)
{
    uint32_t params[COLL_PARAM_MAX];
    CHECK(coll_resolve(COLL_GATHER, "full_lane", params) ==
          coll_find(COLL_GATHER, "multi_leader"));
    for (uint32_t p = 8; p <= CHECK_RANKS; p += 4) {
        coll_grid_case of = case_of(0, p, 4, params[0]);
        of.root = 1;
        (void)level_cost(&of);
        for (uint32_t r = 0; r < p; r++)
            CHECK_EQ(level_outward(r).messages, r >= 4);
    }
}

/* The root has room for all blocks, nobody else for more. */
TEST(scratch)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t row = 0; row < ROWS; row++) {
                coll_grid_case of = case_of(row, p, kind, 2 + (p + row) % (MOST - 1));
                const coll_binding linear[] = {{COLL_INTRA, &coll_linear_gather, NULL},
                                               {COLL_INTER, &coll_linear_gather, NULL}};
                const coll_nodes *nodes;
                coll_report whole;
                of.bindings = linear;
                of.n_bindings = 2;
                if (level_prove(&of, &whole) != COLL_OK)
                    continue; /* blocks across, or within, are of several sizes */
                nodes = &level_kit(0)->nodes;
                if (coll_nodes_smallest(nodes, p) == 1 || coll_nodes_count(nodes) == 1)
                    continue;
                for (uint32_t r = 0; r < p; r++)
                    CHECK(r == of.root ? whole.ranks[r].scratch == elements_of(&of)
                                       : whole.ranks[r].scratch <= elements_of(&of));
            }
}

TEST(every_algorithm_in_both_roles)
{
    for (uint32_t row = 0; row < ROWS; row++)
        level_try_all(rows[row].row, rows[row].collective);
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    RUN(the_root_sorts_every_element_once);
    RUN(leaders_alone_speak_with_other_nodes);
    RUN(full_lane);
    RUN(scratch);
    RUN(every_algorithm_in_both_roles);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
