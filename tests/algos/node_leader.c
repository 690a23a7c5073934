/* tests/algos/node_leader.c — the laws of coll/algos/node_leader.h */
#include "support/levels.h"

/* The number of the socket, among all, that a rank is on, of at most `most` a node; from 0. */
static uint32_t socket_of(const coll_nodes *nodes, uint32_t p, uint32_t most, uint32_t rank)
{
    const coll_node at = coll_node_of(nodes, p, rank);
    uint32_t before = 0;
    for (uint32_t i = 0; i <= at.index; i++) {
        const uint32_t ranks = coll_node_at(nodes, p, i, 0).ranks;
        const uint32_t sockets = ranks < most ? ranks : most;
        const coll_partition cut = coll_partition_of(ranks, sockets);
        for (uint32_t k = 0; k < sockets && i == at.index; k++)
            if (at.local < coll_part_offset(cut, k + 1))
                return before + k;
        before += sockets;
    }
    return before;
}

/* Adds the reduce or the bcast of a socket. */
static void add_within(level_sum *sum, level_stage phase, const coll_composite *composite,
                       coll_collective it, const coll_grid_case *of, uint32_t first, uint32_t n)
{
    coll_problem problem;
    const level_part *part;
    coll_problem_init(&problem, it, n, of->count, 8);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    part = level_apart(level_usual(composite, COLL_INTRA, it), &problem);
    for (uint32_t i = 0; i < n; i++)
        level_add(sum, phase, first + i, part, i);
}

/* (1), (2) and the costs: meetings are no messages, but a round. most: sockets of a node. */
static void check_case(const coll_grid_case *of, const coll_composite *composite, uint32_t most)
{
    const coll_report report = level_cost(of);
    const coll_nodes *nodes = &level_kit(0)->nodes;
    const uint32_t p = of->p, leaders = socket_of(nodes, p, most, p - 1) + 1;
    uint32_t last = 0;
    level_sum sum;
    memset(&sum, 0, sizeof sum);
    sum.rounds[LEVEL_ACROSS] = leaders > 1 || p == 1 ? 1 : 0;
    for (uint32_t r = 0; r < p; r++) {
        const uint32_t own = socket_of(nodes, p, most, r);
        const bool leads = r == 0 || socket_of(nodes, p, most, r - 1) != own;
        const walk *w = walk_of(level_plan(r), r);
        uint32_t meetings = 0, ranks = 1;
        for (size_t i = 0; i < w->n; i++) {
            const coll_action *a = &w->act[i];
            if (a->kind == COLL_DO_NETWORK_REDUCE) {
                meetings++;
                CHECK_EQ(a->stride, leaders);
                CHECK_EQ(a->count, of->count);
            } else if (is_send(a)) {
                CHECK_EQ(socket_of(nodes, p, most, a->peer), own);
            }
        }
        CHECK_EQ(meetings, leads ? sum.rounds[LEVEL_ACROSS] : 0);
        if (!leads)
            continue;
        while (r + ranks < p && socket_of(nodes, p, most, r + ranks) == own)
            ranks++;
        add_within(&sum, LEVEL_BEFORE, composite, COLL_REDUCE, of, r, ranks);
        add_within(&sum, LEVEL_AFTER, composite, COLL_BCAST, of, r, ranks);
    }
    for (uint32_t r = 0; r < p; r++) /* what the network combines counts for whom all wait */
        last = report.ranks[r].reduced > sum.ranks[r].reduced ? r : last;
    sum.ranks[last].reduced += (leaders - 1) * of->count;
    level_check(&report, &sum, p, true);
}

TEST(leaders_meet_in_the_network)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t flags = 0; flags < 4; flags++) {
                coll_grid_case of = level_case(&coll_node_leader_allreduce.algorithm,
                                               COLL_ALLREDUCE, p, 6, flags);
                of.nodes = level_nodes[kind];
                check_case(&of, &coll_node_leader_allreduce, 1);
                of.algorithm = &coll_socket_leader_allreduce.algorithm;
                for (of.param[0] = 1; of.param[0] <= 5; of.param[0]++)
                    check_case(&of, &coll_socket_leader_allreduce, of.param[0]);
            }
}

/* Only the network finds the leaders of sockets; those of a node may use anything. */
TEST(what_is_used_across)
{
    const coll_binding ring = {COLL_INTER, &coll_ring_allreduce, NULL};
    coll_grid_case of = level_case(&coll_socket_leader_allreduce.algorithm, COLL_ALLREDUCE, 8,
                                   6, COLL_FLAG_COMMUTATIVE);
    coll_report report;
    of.nodes = 4;
    of.bindings = &ring;
    of.n_bindings = 1;
    CHECK_STATUS(level_prove(&of, &report), COLL_ERR_GROUP);
    of.algorithm = &coll_node_leader_allreduce.algorithm;
    CHECK_STATUS(level_prove(&of, &report), COLL_OK);
    CHECK_EQ(level_plan(0)->traits & COLL_I_NEEDS_GROUP, 0);
}

/* Sockets have memory of their own to share. */
TEST(what_is_used_within)
{
    const coll_binding shm[] = {{COLL_INTRA, &coll_shm_reduce, NULL},
                                {COLL_INTRA, &coll_shm_bcast, NULL}};
    for (uint32_t p = 1; p <= 20; p++)
        for (uint32_t kind = 0; kind < LEVEL_NODES; kind++)
            for (uint32_t sockets = 1; sockets <= 3; sockets++) {
                coll_grid_case of = level_case(&coll_socket_leader_allreduce.algorithm,
                                               COLL_ALLREDUCE, p, 6, COLL_FLAG_COMMUTATIVE);
                of.nodes = level_nodes[kind];
                of.param[0] = sockets;
                of.bindings = shm;
                of.n_bindings = 2;
                (void)level_cost(&of);
            }
    level_try_all(&coll_node_leader_allreduce, COLL_ALLREDUCE);
}

int main(void)
{
    coll_grid_worker_init(&level_worker);
    RUN(leaders_meet_in_the_network);
    RUN(what_is_used_across);
    RUN(what_is_used_within);
    coll_grid_worker_release(&level_worker);
    return check_done();
}
