/* tests/algos/binary_tree_scan.c — the laws of coll/algos/binary_tree_scan.h and binary_tree_exscan.h */
#include "coll/algos/binary_tree_scan.h"
#include "coll/algos/binary_tree_exscan.h"

#include "support/walk.h"

enum { RANKS = 64, COUNT = 3, PLACES = 16 };

static coll_plan scan_plan(bool scan, uint32_t p, size_t count, uint32_t flags,
                           uint32_t segment)
{
    return plan_with(scan ? &coll_binary_tree_scan : &coll_binary_tree_exscan,
                     scan ? COLL_SCAN : COLL_EXSCAN, p, count, flags, 0, &segment);
}

/* ---- running plans on sums of ranks ------------------------------------------------------- */

/* A sum of consecutive ranks, of one element. */
typedef struct sum {
    uint32_t first, last;
} sum;

/* Messages of one direction of an edge, in order. */
typedef struct edge {
    size_t sent, taken;
    sum message[COUNT];
} edge;

static sum memory[RANKS][3][PLACES];
static edge edges[RANKS][RANKS];

static sum *at(uint32_t rank, coll_ref ref)
{
    static sum nowhere;
    const size_t offset = coll_ref_offset(ref);
    return CHECK(offset < PLACES) ? &memory[rank][coll_ref_space(ref)][offset] : &nowhere;
}

static sum joined(sum left, sum right)
{
    CHECK_EQ(left.last + 1, right.first);
    left.last = right.last;
    return left;
}

/* Does an action of one element; false if its message has not come. */
static bool act(uint32_t rank, const coll_action *a)
{
    CHECK_EQ(a->count, 1);
    if (is_send(a)) {
        edge *e = &edges[rank][a->peer];
        if (CHECK(e->sent < COUNT))
            e->message[e->sent++] = *at(rank, a->src);
    } else if (is_receive(a)) {
        edge *e = &edges[a->peer][rank];
        if (e->taken == e->sent)
            return false;
        if (a->kind == COLL_DO_RECV)
            *at(rank, a->dst) = e->message[e->taken];
        else
            *at(rank, a->dst) = a->flags & COLL_LEFT
                                    ? joined(e->message[e->taken], *at(rank, a->src))
                                    : joined(*at(rank, a->src), e->message[e->taken]);
        e->taken++;
    } else if (a->kind == COLL_DO_COPY) {
        *at(rank, a->dst) = *at(rank, a->src);
    } else if (CHECK_EQ(a->kind, COLL_DO_REDUCE)) {
        *at(rank, a->dst) = joined(*at(rank, a->src), *at(rank, a->via));
    }
    return true;
}

/* Runs all ranks on COUNT elements in segments of one. */
static void run(const coll_plan *plan)
{
    const walk *lists[RANKS];
    size_t next[RANKS] = {0};
    bool moved = true;
    memset(edges, 0, sizeof edges);
    for (uint32_t rank = 0; rank < plan->problem.p; rank++) {
        lists[rank] = walk_of(plan, rank);
        for (size_t i = 0; i < COUNT; i++) {
            sum *own = at(rank, coll_input(plan) + i);
            own->first = own->last = rank;
        }
    }
    while (moved) {
        moved = false;
        for (uint32_t rank = 0; rank < plan->problem.p; rank++)
            for (const walk *w = lists[rank];
                 next[rank] < w->n && act(rank, &w->act[next[rank]]); next[rank]++)
                moved = true;
    }
}

/* Laws 1 to 3. */
TEST(what_goes_up_and_down)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE)
            for (unsigned scan = 0; scan < 2; scan++) {
                const coll_plan plan = scan_plan(scan, p, COUNT, flags, 1);
                run(&plan);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const coll_inorder here = coll_inorder_of(p, rank);
                    for (uint32_t to = 0; to < p; to++) {
                        const edge *e = &edges[rank][to];
                        const coll_inorder there = coll_inorder_of(p, to);
                        const bool up = to == here.parent && to != rank && here.last != p - 1;
                        const bool down =
                            rank == there.parent && to != rank && there.first != 0;
                        CHECK_EQ(e->sent, up || down ? COUNT : 0);
                        CHECK_EQ(e->taken, e->sent);
                        for (size_t i = 0; i < e->sent; i++) {
                            CHECK_EQ(e->message[i].first, up ? here.first : 0);
                            CHECK_EQ(e->message[i].last, up ? here.last : there.first - 1);
                        }
                    }
                    for (size_t i = 0; i < COUNT && (scan || rank > 0); i++) {
                        const sum result = *at(rank, COLL_AT(COLL_OUT, i));
                        CHECK_EQ(result.first, 0);
                        CHECK_EQ(result.last, scan ? rank : rank - 1);
                    }
                }
            }
}

/* Messages one after the other: up, then down, by the definition of what goes when. */
static uint32_t rounds_of(uint32_t p)
{
    uint32_t up[64], down[64] = {0}, most = 0;
    for (uint32_t level = 0; level <= COLL_HIGHEST_BIT(p); level++)
        for (uint32_t v = 0; v < p; v++) {
            const coll_inorder at = coll_inorder_of(p, v);
            if (at.level != level)
                continue;
            up[v] = at.left < v ? up[at.left] + 1 : 0;
            if (at.right > v && at.last + 1 < p && up[at.right] + 1 > up[v])
                up[v] = up[at.right] + 1;
        }
    for (uint32_t level = COLL_HIGHEST_BIT(p) + 1; level-- > 0;)
        for (uint32_t v = 0; v < p; v++) {
            const coll_inorder at = coll_inorder_of(p, v);
            if (at.level != level)
                continue;
            down[v] = down[v] > up[v] ? down[v] : up[v];
            most = down[v] > most ? down[v] : most;
            if (at.left < v && at.first > 0)
                down[at.left] = down[v] + 1;
            if (at.right > v)
                down[at.right] = down[v] + 1;
        }
    return most;
}

/* Slots in SCRATCH. */
static size_t slots_of(uint32_t p, uint32_t rank, bool scan, bool in_place, size_t segments)
{
    const coll_inorder at = coll_inorder_of(p, rank);
    const bool inner = at.left<rank, rises = at.last + 1 < p, follows = at.first> 0;
    const size_t pair = segments > 1 ? 2 : 1, depth = COLL_HIGHEST_BIT(p) - at.level;
    const size_t lag = depth < segments ? depth : segments;
    size_t first = pair; /* of an exscan, for what goes right */
    if (scan && !inner)
        return follows && in_place ? pair : 0;
    if (scan)
        return (follows ? 2 : rises || in_place ? 1 : 0) * pair;
    if (!inner || !(rises || follows || at.right > rank))
        return 0;
    if (!follows && rises && segments > 1)
        while (first < lag + 1) /* each segment on its way has one */
            first *= 2;
    return first + (rises ? 2 : follows ? 1 : 0) * pair;
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE)
            for (unsigned scan = 0; scan < 2; scan++)
                for (uint32_t segment = 0; segment <= 4; segment += 2) {
                    const size_t count = 11, segments = segment ? (10 + segment) / segment : 1;
                    const coll_plan plan = scan_plan(scan, p, count, flags, segment);
                    const coll_report cost = cost_of(&plan);
                    const size_t slot = segment ? segment : count;
                    size_t edges_used = 0;
                    for (uint32_t rank = 0; rank < p; rank++) {
                        const coll_inorder here = coll_inorder_of(p, rank);
                        const size_t sends = (here.last + 1 < p ? 1u : 0u) +
                                             (here.left < rank && here.first > 0 ? 1u : 0u) +
                                             (here.right > rank ? 1u : 0u);
                        edges_used += sends;
                        CHECK_EQ(cost.ranks[rank].messages, sends * segments);
                        CHECK_EQ(cost.ranks[rank].elements, sends * count);
                        CHECK_EQ(coll_plan_scratch(&plan, rank),
                                 slots_of(p, rank, scan, flags != 0, segments) * slot +
                                     (!scan && flags && here.left < rank ? count : 0));
                        if (!scan && here.left < rank) { /* each sum is formed once */
                            const size_t sums =
                                (here.last + 1 < p ? 2u : 0u) + (here.first > 0 ? 1u : 0u) +
                                (here.right > rank && (here.first > 0 || here.last + 1 == p)
                                     ? 1u
                                     : 0u);
                            CHECK_EQ(cost.ranks[rank].reduced, sums * count);
                        }
                    }
                    CHECK_EQ(cost.total.messages, edges_used * segments);
                    CHECK(p == 1 || edges_used < 2 * (p - 1));
                    if (segment == 0)
                        CHECK_EQ(cost.rounds, rounds_of(p));
                }
}

int main(void)
{
    RUN(what_goes_up_and_down);
    RUN(costs);
    return check_done();
}
