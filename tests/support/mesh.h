/* tests/support/mesh.h — messages on the links of a mesh, round by round
 *
 *   mesh_begin(&traffic, p, width);
 *   mesh_message(&traffic, from, to, round);
 *   CHECK_EQ(mesh_conflicts(&traffic), 0);
 *
 * A message goes along its row first, then along its column (XY routing), and has all links of
 * its way, in that direction, in its round. What a round is, the tests say: mesh_flow for
 * algorithms on mesh_flow.h.
 */
#ifndef COLL_TESTS_ALGOS_MESH_H
#define COLL_TESTS_ALGOS_MESH_H

#include "walk.h"

#include <string.h>

enum { MESH_ROUNDS = 512 };

typedef struct mesh_traffic {
    uint32_t p, width;
    size_t rounds; /* one more than the last round with a message */
    unsigned char link[MESH_ROUNDS][WALK_RANKS][4]; /* messages on the link that leaves … */
    unsigned char ends[MESH_ROUNDS][WALK_RANKS];    /* messages that begin or end here */
} mesh_traffic;

static inline void mesh_begin(mesh_traffic *t, uint32_t p, uint32_t width)
{
    memset(t, 0, sizeof *t);
    t->p = p;
    t->width = width;
}

static inline void mesh_message(mesh_traffic *t, uint32_t from, uint32_t to, size_t round)
{
    const uint32_t w = t->width;
    uint32_t at = from;
    if (!CHECK(round < MESH_ROUNDS))
        return;
    t->ends[round][from]++;
    t->ends[round][to]++;
    t->rounds = round < t->rounds ? t->rounds : round + 1;
    while (at != to) {
        const bool along = at % w != to % w;
        const bool back = along ? at % w > to % w : at > to;
        t->link[round][at][(along ? 0 : 2) + (back ? 1 : 0)]++;
        at = along ? (back ? at - 1 : at + 1) : (back ? at - w : at + w);
    }
}

/* Links on the way from one rank to another. */
static inline uint32_t mesh_distance(uint32_t width, uint32_t a, uint32_t b)
{
    const uint32_t ax = a % width, ay = a / width, bx = b % width, by = b / width;
    return (ax > bx ? ax - bx : bx - ax) + (ay > by ? ay - by : by - ay);
}

/* Do all messages of a plan go between neighbours? */
static inline bool mesh_is_local(const coll_plan *plan, uint32_t width)
{
    for (uint32_t rank = 0; rank < plan->problem.p; rank++) {
        const walk *w = walk_of(plan, rank);
        for (size_t i = 0; i < w->n; i++)
            if ((is_send(&w->act[i]) || is_receive(&w->act[i])) &&
                mesh_distance(width, rank, w->act[i].peer) != 1)
                return false;
    }
    return true;
}

/* Links with more than one message in a round, counted in all rounds. */
static inline size_t mesh_conflicts(const mesh_traffic *t)
{
    size_t conflicts = 0;
    for (size_t round = 0; round < t->rounds; round++)
        for (uint32_t rank = 0; rank < t->p; rank++)
            for (int k = 0; k < 4; k++)
                conflicts += t->link[round][rank][k] > 1;
    return conflicts;
}

/* The most messages that any rank sends and receives in a round. */
static inline unsigned mesh_busiest(const mesh_traffic *t, size_t round)
{
    unsigned most = 0;
    for (uint32_t rank = 0; rank < t->p; rank++)
        most = t->ends[round][rank] > most ? t->ends[round][rank] : most;
    return most;
}

/* ---- rounds of algorithms on mesh_flow.h ------------------------------------------------- */

/* Hops from every rank to the root, along the first messages inward, or else outward; the most
 * of them. */
static inline uint32_t mesh_hops(const coll_plan *plan, uint32_t *parent, uint32_t *hops)
{
    const uint32_t p = plan->problem.p, root = plan->problem.root;
    const bool reduces = plan->problem.collective != COLL_BCAST;
    uint32_t most = 0;
    for (uint32_t rank = 0; rank < p; rank++) {
        const walk *w = walk_of(plan, rank);
        parent[rank] = rank;
        for (size_t i = 0; i < w->n && rank != root && parent[rank] == rank; i++)
            if (reduces ? is_send(&w->act[i]) : is_receive(&w->act[i]))
                parent[rank] = w->act[i].peer;
    }
    for (uint32_t rank = 0; rank < p; rank++) {
        hops[rank] = 0;
        for (uint32_t at = rank; at != root && hops[rank] < p; at = parent[at])
            hops[rank]++;
        CHECK(hops[rank] < p);
        most = hops[rank] > most ? hops[rank] : most;
    }
    return most;
}

/* The paper's loosely synchronous steps, read from the schedule: block b follows block b−1 one round
 * later, and every block moves one hop in every round. So, with the furthest rank D hops away,
 * a rank h hops from the root sends block b inward in round b + D − h, and outward in round
 * b + D + h. Checks that every rank's actions are in that order, and puts the messages on the
 * links of a mesh of `width` columns. In combines[round], if not NULL: the most operands that a
 * rank combines in the round. Returns D. */
static inline uint32_t mesh_flow(const coll_plan *plan, uint32_t width, mesh_traffic *t,
                                 unsigned *combines)
{
    const uint32_t p = plan->problem.p;
    const bool reduces = plan->problem.collective != COLL_BCAST;
    const bool spreads = plan->problem.collective != COLL_REDUCE;
    uint32_t parent[WALK_RANKS], hops[WALK_RANKS];
    const uint32_t most = mesh_hops(plan, parent, hops);
    const size_t start = reduces ? most : 0; /* a broadcast begins at the root */
    mesh_begin(t, p, width);
    memset(combines, 0, MESH_ROUNDS * sizeof *combines);
    for (uint32_t rank = 0; rank < p; rank++) {
        const walk *w = walk_of(plan, rank);
        size_t sent[WALK_RANKS] = {0}, received[WALK_RANKS] = {0}, last = 0;
        uint32_t operands = 0;
        for (size_t i = 0; i < w->n; i++) {
            const coll_action *a = &w->act[i];
            const bool to_parent = rank != plan->problem.root && a->peer == parent[rank];
            size_t round = last;
            if (is_send(a)) {
                const size_t b = sent[a->peer]++;
                CHECK(to_parent ? reduces : spreads && parent[a->peer] == rank);
                round = to_parent ? b + start - hops[rank] : b + start + hops[rank];
                mesh_message(t, rank, a->peer, round);
            } else if (is_receive(a)) {
                const size_t b = received[a->peer]++;
                round = to_parent ? b + start + hops[rank] - 1 : b + start - hops[rank] - 1;
            }
            CHECK(round >= last);
            operands = round > last ? 0 : operands;
            if (a->kind == COLL_DO_RECV_REDUCE)
                operands += operands == 0 ? 2 : 1;
            else if (a->kind == COLL_DO_REDUCE)
                operands += a->inputs + 1u;
            if (round < MESH_ROUNDS && operands > combines[round])
                combines[round] = operands;
            last = round;
        }
    }
    return most;
}

/* So many rounds one after the other with so many messages at the busiest rank. */
typedef struct mesh_steps {
    size_t rounds;
    unsigned links;
} mesh_steps;

static inline void mesh_check_steps(const mesh_traffic *t, const mesh_steps *steps, size_t n)
{
    size_t round = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < steps[i].rounds; k++)
            CHECK_EQ(mesh_busiest(t, round++), steps[i].links);
    CHECK_EQ(round, t->rounds);
}

/* What a rank with m neighbours behind it does: sends its sum inward, and results outward; `staged`
 * slots of SCRATCH besides that of a sum where there is no OUT. */
static inline void mesh_check_costs(const coll_plan *plan, const coll_report *cost,
                                    uint32_t rank, uint32_t m, uint32_t staged)
{
    const coll_problem *of = &plan->problem;
    const bool reduces = of->collective != COLL_BCAST, spreads = of->collective != COLL_REDUCE;
    const size_t blocks = coll_segments(of->count, plan->param[1]);
    const size_t slot = blocks > 1 ? 2 * plan->param[1] : of->count;
    const bool root = rank == of->root;
    const size_t slots = (root || spreads ? 0u : 1u) + staged;
    const uint32_t messages = (spreads ? m : 0) + (reduces && !root ? 1 : 0);
    CHECK_EQ(cost->ranks[rank].messages, messages * blocks);
    CHECK_EQ(cost->ranks[rank].elements, messages * of->count);
    CHECK_EQ(cost->ranks[rank].reduced, reduces ? m * of->count : 0);
    CHECK_EQ(coll_plan_scratch(plan, rank), reduces && m > 0 ? slots * slot : 0);
}

#endif /* COLL_TESTS_ALGOS_MESH_H */
