/* tests/algos/two_level.c — the laws of coll/algos/two_level.h, and every algorithm in both roles */
#include "levels.h"

static const coll_recipe *const rows[] = {&coll_two_level_barrier, &coll_two_level_bcast,
                                          &coll_two_level_reduce, &coll_two_level_allreduce};
static const coll_collective collectives[] = {COLL_BARRIER, COLL_BCAST, COLL_REDUCE,
                                              COLL_ALLREDUCE};
enum { ROWS = sizeof rows / sizeof rows[0] };

static const uint32_t node_kinds[] = {0, 1, 2, 3, 4, COLL_GRID_NODES_UNEVEN};
enum { NODE_KINDS = sizeof node_kinds / sizeof node_kinds[0] };

/* The local rank that leads a node. */
static uint32_t leader_of(const coll_kit *kit, uint32_t root, uint32_t node)
{
    const coll_node at = coll_node_of(&kit->nodes, kit->p, root);
    return node == at.index ? at.local : 0;
}

static coll_report plain_cost(const coll_algorithm *algorithm, coll_collective collective,
                              uint32_t p, size_t count, uint32_t flags, uint32_t root)
{
    const coll_plan plan = plan_with(algorithm, collective, p, count, flags, root, NULL);
    return cost_of(&plan);
}

/* (1), (2) Messages to other nodes, and their elements. */
static void check_across(const coll_grid_case *of, const coll_algorithm *inner)
{
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t n = coll_nodes_count(nodes);
    const uint32_t root = coll_node_of(nodes, of->p, of->root).index;
    const coll_report across = plain_cost(inner, of->collective, n, of->count, of->flags, root);
    for (uint32_t r = 0; r < of->p; r++) {
        const coll_node at = coll_node_of(nodes, of->p, r);
        const bool leads = at.local == leader_of(level_kit(r), of->root, at.index);
        const walk *w = walk_of(level_plan(r), r);
        uint64_t messages = 0, elements = 0;
        for (size_t i = 0; i < w->n; i++) {
            const coll_action *a = &w->act[i];
            if (a->count == 0 || !is_send(a) ||
                coll_node_of(nodes, of->p, a->peer).index == at.index)
                continue;
            messages++;
            elements += coll_i_has(COLL_I_TOKENS, a) ? 0 : a->count;
        }
        CHECK_EQ(messages, leads ? across.ranks[at.index].messages : 0);
        CHECK_EQ(elements, leads ? across.ranks[at.index].elements : 0);
    }
}

TEST(only_leaders_talk_across)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t p = 1; p <= 64; p += p < 20 ? 1 : 4)
            for (uint32_t kind = 0; kind < NODE_KINDS; kind++)
                for (uint32_t root = 0; root < p; root += p / 3 + 1) {
                    const coll_recipe *recipe = rows[row];
                    coll_grid_case of = level_case(&recipe->algorithm, collectives[row], p,
                                                   row == 0 ? 0 : 7, COLL_COMMUTATIVE);
                    of.nodes = node_kinds[kind];
                    of.root = coll_is(COLL_ROOTED, of.collective) ? root : 0;
                    if (CHECK_STATUS(coll_i_grid_plans(&level_worker, &of), COLL_OK))
                        check_across(&of, recipe->usual[recipe->n_usual - 1].algorithm);
                }
}

/* What a rank's inner collectives within its node cost, by the usual algorithms. */
static void add_within(const coll_grid_case *of, const coll_recipe *recipe, uint32_t node,
                       uint32_t ranks, uint32_t local, coll_verify_count *sum)
{
    const uint32_t root = leader_of(level_kit(0), of->root, node);
    const uint32_t times =
        of->collective == COLL_BARRIER && coll_nodes_count(&level_kit(0)->nodes) > 1 ? 2 : 1;
    for (uint32_t i = 0; i + 1 < recipe->n_usual; i++) {
        const coll_algorithm *algorithm = recipe->usual[i].algorithm;
        const coll_collective it = of->collective == COLL_ALLREDUCE
                                       ? (i == 0 ? COLL_REDUCE : COLL_BCAST)
                                       : of->collective;
        const coll_report report = plain_cost(algorithm, it, ranks, of->count, COLL_COMMUTATIVE,
                                              it == COLL_BARRIER ? 0 : root);
        sum->messages += times * report.ranks[local].messages;
        sum->elements += report.ranks[local].elements;
        sum->reduced += report.ranks[local].reduced;
    }
}

static void check_costs(const coll_grid_case *of, const coll_recipe *recipe)
{
    const coll_report report = level_cost(of);
    const coll_algorithm *inner = recipe->usual[recipe->n_usual - 1].algorithm;
    coll_verify_count own[64];
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t n = coll_nodes_count(nodes);
    const uint32_t root = coll_node_of(nodes, of->p, of->root).index;
    memcpy(own, report.ranks, of->p * sizeof own[0]);
    for (uint32_t r = 0; r < of->p; r++) {
        const coll_node at = coll_node_of(nodes, of->p, r);
        coll_verify_count sum;
        memset(&sum, 0, sizeof sum);
        add_within(of, recipe, at.index, at.ranks, at.local, &sum);
        if (at.local == leader_of(level_kit(r), of->root, at.index)) {
            const coll_report across =
                plain_cost(inner, of->collective, n, of->count, COLL_COMMUTATIVE, root);
            sum.messages += across.ranks[at.index].messages;
            sum.elements += across.ranks[at.index].elements;
            sum.reduced += across.ranks[at.index].reduced;
        }
        CHECK_EQ(own[r].messages, sum.messages);
        CHECK_EQ(own[r].elements, sum.elements);
        CHECK_EQ(own[r].reduced, sum.reduced);
    }
}

TEST(costs)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t p = 1; p <= 64; p += p < 20 ? 1 : 11)
            for (uint32_t kind = 0; kind < NODE_KINDS; kind++) {
                coll_grid_case of = level_case(&rows[row]->algorithm, collectives[row], p,
                                               row == 0 ? 0 : 5, COLL_COMMUTATIVE);
                of.nodes = node_kinds[kind];
                of.root = coll_is(COLL_ROOTED, of.collective) ? p / 2 : 0;
                check_costs(&of, rows[row]);
            }
}

/* One algorithm in one role: proven, or refused with the reason. */
static void check_inner(const coll_recipe *recipe, coll_collective collective, coll_role role,
                        const coll_algorithm *inner, uint32_t p, uint32_t kind)
{
    const coll_use use = {role, inner, NULL};
    for (size_t count = 0; count <= (collective == COLL_BARRIER ? 0u : 7u); count += 7)
        for (uint32_t flags = 0; flags < (collective == COLL_BARRIER ? 1u : 4u); flags++)
            for (uint32_t root = 0; root < (coll_is(COLL_ROOTED, collective) ? p : 1);
                 root += 2) {
                coll_grid_case of = level_case(&recipe->algorithm, collective, p, count, flags);
                coll_report report;
                coll_status status, expected = COLL_OK;
                const coll_kit *kit;
                of.nodes = node_kinds[kind];
                of.root = root;
                of.uses = &use;
                of.n_uses = 1;
                status = level_prove(&of, &report);
                kit = level_kit(0);
                if (role == COLL_ACROSS
                        ? coll_nodes_count(&kit->nodes) == 1 && !coll_i_kit_flat(kit)
                        : coll_i_kit_flat(kit))
                    expected = COLL_OK; /* a level that is not there uses nothing */
                else if (role == COLL_ACROSS)
                    expected = level_expected(inner, coll_nodes_count(&kit->nodes),
                                              coll_i_kit_flat(kit), true, flags);
                else if ((inner->traits & COLL_NEEDS_COMMUTATIVE) &&
                         !(flags & COLL_COMMUTATIVE) && coll_is(COLL_REDUCING, collective))
                    expected = COLL_ERR_ORDER;
                if ((inner->traits & COLL_NEEDS_POWER_OF_TWO) && status == COLL_ERR_SHAPE)
                    continue;
                CHECK_STATUS(status, expected);
            }
}

TEST(every_algorithm_in_both_roles)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
            for (uint32_t role = 0; role < COLL_ROLES; role++)
                for (uint32_t p = 1; p <= 13; p += p < 8 ? 1 : 5)
                    for (uint32_t kind = 0; kind < NODE_KINDS; kind++) {
                        const coll_algorithm *inner = coll_registry[i];
                        const unsigned wanted =
                            COLL_BIT(collectives[row]) |
                            (row == 3 && role == COLL_WITHIN
                                 ? COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_BCAST)
                                 : 0u);
                        if ((inner->traits & COLL_NEEDS_BUILD) ||
                            !(inner->collectives & wanted) ||
                            (row == 3 && role == COLL_WITHIN &&
                             !(inner->collectives &
                               (COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_BCAST)))))
                            continue;
                        check_inner(rows[row], collectives[row], (coll_role)role, inner, p,
                                    kind);
                    }
}

/* Leaders of sockets meet in the network, and only there. */
TEST(sockets)
{
    const coll_use ring = {COLL_ACROSS, &coll_ring_allreduce, NULL};
    const coll_use shm[] = {{COLL_WITHIN, &coll_shm_reduce, NULL},
                            {COLL_WITHIN, &coll_shm_bcast, NULL}};
    for (uint32_t p = 1; p <= 20; p++)
        for (uint32_t kind = 0; kind < NODE_KINDS; kind++)
            for (uint32_t sockets = 1; sockets <= 5; sockets++) {
                coll_grid_case of = level_case(&coll_socket_leader_allreduce.algorithm,
                                               COLL_ALLREDUCE, p, 6, p & 3);
                coll_report report;
                uint32_t teams = 0, leaders = 0;
                of.nodes = node_kinds[kind];
                of.param[0] = sockets;
                CHECK_STATUS(level_prove(&of, &report), COLL_OK);
                for (uint32_t r = 0; r < p; r++) {
                    const coll_node at = coll_node_of(&level_kit(r)->nodes, p, r);
                    const walk *w = walk_of(level_plan(r), r);
                    if (at.local == 0)
                        leaders += at.ranks < sockets ? at.ranks : sockets;
                    for (size_t i = 0; i < w->n; i++)
                        teams += w->act[i].kind == COLL_DO_FABRIC_REDUCE;
                }
                CHECK_EQ(teams, leaders > 1 || p == 1 ? leaders : 0);
                of.uses = &ring;
                of.n_uses = 1;
                if (leaders > 1)
                    CHECK_STATUS(level_prove(&of, &report),
                                 of.flags & COLL_COMMUTATIVE ? COLL_ERR_GROUP : COLL_ERR_ORDER);
                of.uses = shm;
                of.n_uses = 2;
                if (!coll_i_kit_flat(level_kit(0)) && leaders < p)
                    CHECK_STATUS(level_prove(&of, &report), COLL_OK);
            }
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    RUN(only_leaders_talk_across);
    RUN(costs);
    RUN(every_algorithm_in_both_roles);
    RUN(sockets);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
