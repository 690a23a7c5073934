/* tests/algos/tree_gather.c — the laws of coll/algos/kit/tree_gather.h, for f-nomial and Bine
 * trees */
#include "coll/algos/bine.h"
#include "coll/algos/fnomial_gather.h"

#include "support/walk.h"

/* 0: a Bine tree. */
static const uint32_t degrees[] = {2, 3, 4, 5, 8, 64, 1000, 0};
enum { DEGREES = sizeof degrees / sizeof *degrees, COUNT = 2, RANKS = 64 };

static size_t counts[RANKS], displs[RANKS];

/* A gather or scatter, of blocks of COUNT elements or of 0 to 4. */
static coll_plan blocks(unsigned kind, uint32_t p, uint32_t flags, uint32_t root, uint32_t f)
{
    const bool gathers = (kind & 1) != 0, uneven = (kind & 2) != 0;
    coll_problem problem;
    coll_plan plan;
    size_t at = 0;
    coll_problem_init(&problem,
                      uneven ? (gathers ? COLL_GATHERV : COLL_SCATTERV)
                             : (gathers ? COLL_GATHER : COLL_SCATTER),
                      p, uneven ? 0 : COUNT, 8);
    problem.root = root;
    problem.flags = flags;
    for (uint32_t i = 0; i < RANKS; i++) {
        counts[i] = uneven ? (i * 7 + 3) % 5 : COUNT;
        displs[i] = at;
        at += counts[i];
    }
    if (uneven) {
        coll_layout *layout = gathers ? &problem.out : &problem.in;
        layout->counts = counts;
        layout->displs = displs;
    }
    if (f > 0)
        CHECK_STATUS(coll_plan_init(&plan,
                                    uneven ? &coll_fnomial_gatherv : &coll_fnomial_gather,
                                    &problem, &f),
                     COLL_OK);
    else
        CHECK_STATUS(coll_plan_init(&plan, uneven ? &coll_bine_gatherv : &coll_bine_gather,
                                    &problem, NULL),
                     COLL_OK);
    return plan;
}

/* The parent of a rank, the root itself for the root; and how many children it has. */
static uint32_t parent_of(const coll_plan *plan, uint32_t f, uint32_t rank)
{
    const uint32_t p = plan->problem.p, root = plan->problem.root, v = (rank + p - root) % p;
    const uint32_t above =
        f > 0 ? coll_fnomial_of(p, &plan->radix, v).parent : coll_bine_of(p, v).parent;
    return (above + root) % p;
}

static uint32_t children_of(const coll_plan *plan, uint32_t f, uint32_t rank)
{
    uint32_t children = 0;
    for (uint32_t r = 0; r < plan->problem.p; r++)
        children += r != plan->problem.root && parent_of(plan, f, r) == rank ? 1 : 0;
    return children;
}

/* Elements of the blocks in the subtree of a rank, added up one by one. */
static size_t subtree(const coll_plan *plan, uint32_t f, uint32_t rank)
{
    size_t sum = 0;
    for (uint32_t r = 0; r < plan->problem.p; r++) {
        uint32_t above = r;
        while (above != rank && above != plan->problem.root)
            above = parent_of(plan, f, above);
        sum += above == rank ? counts[r] : 0;
    }
    return sum;
}

/* Law 1, for what is kept in SCRATCH and in the root's buffer: every element comes, or goes,
 * once. */
TEST(subtrees_tile_the_interval)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t root = 0; root < p; root += 1 + p / 4)
                for (unsigned kind = 0; kind < 4; kind++) {
                    const coll_plan plan = blocks(kind, p, 0, root, degrees[d]);
                    const bool gathers = (kind & 1) != 0;
                    for (uint32_t rank = 0; rank < p; rank++) {
                        const walk *w = walk_of(&plan, rank);
                        const size_t all = subtree(&plan, degrees[d], rank);
                        const uint32_t parent = parent_of(&plan, degrees[d], rank);
                        const bool keeps =
                            rank != root && children_of(&plan, degrees[d], rank) > 0;
                        bool met[5 * RANKS] = {false};
                        size_t n = 0;
                        for (size_t i = 0; i < w->n; i++) {
                            const coll_action *a = &w->act[i];
                            const bool moves = is_send(a) || is_receive(a);
                            const coll_ref at = gathers ? a->dst : a->src;
                            if (moves && rank != root && a->peer == parent)
                                continue;
                            for (size_t e = 0; e < a->count; e++, n++) {
                                const size_t element = coll_ref_offset(at) + e;
                                if (CHECK(element < all && !met[element]))
                                    met[element] = true;
                            }
                        }
                        CHECK_EQ(n, keeps || rank == root ? all : 0);
                        CHECK_EQ(coll_plan_scratch(&plan, rank), keeps ? all : 0);
                    }
                }
}

/* Laws 2 and 3. */
TEST(both_ends_cut_messages_alike)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t root = 0; root < p; root += 1 + p / 9)
                for (unsigned kind = 0; kind < 4; kind++) {
                    const coll_plan plan = blocks(kind, p, 0, root, degrees[d]);
                    const bool gathers = (kind & 1) != 0;
                    uint32_t wrapped = 0;
                    for (uint32_t rank = 0; rank < p; rank++)
                        walk_of(&plan, rank);
                    for (uint32_t rank = 0; rank < p; rank++) {
                        const uint32_t parent = parent_of(&plan, degrees[d], rank);
                        const walk *mine = walk_of(&plan, rank),
                                   *theirs = walk_of(&plan, parent);
                        size_t k = 0, messages = 0;
                        if (rank == root)
                            continue;
                        for (size_t i = 0; i < mine->n; i++) {
                            const coll_action *a = &mine->act[i];
                            if ((!is_send(a) && !is_receive(a)) || a->peer != parent)
                                continue;
                            CHECK_EQ(is_send(a), gathers);
                            while (k < theirs->n && (theirs->act[k].peer != rank ||
                                                     (gathers ? !is_receive(&theirs->act[k])
                                                              : !is_send(&theirs->act[k]))))
                                k++;
                            if (CHECK(k < theirs->n))
                                CHECK_EQ(theirs->act[k].count, a->count);
                            k++;
                            messages++;
                        }
                        CHECK(messages == 1 || (messages == 2 && parent == root));
                        wrapped += messages == 2 ? 1 : 0;
                    }
                    CHECK(wrapped <= 1);
                }
}

/* The sizes of intervals come from the displacements. */
TEST(packed_tables_only)
{
    for (unsigned kind = 2; kind < 4; kind++) {
        coll_plan plan = blocks(kind, 9, 0, 0, kind == 2 ? 2 : 0);
        const coll_algorithm *algorithm = plan.algorithm;
        coll_problem problem = plan.problem;
        CHECK_STATUS(coll_plan_check_rank(&plan, 3), COLL_OK);
        displs[4]++;
        CHECK_STATUS(coll_plan_init(&plan, algorithm, &problem, NULL), COLL_ERR_LAYOUT);
        problem.in.counts = problem.in.displs = problem.out.counts = problem.out.displs = NULL;
        CHECK_STATUS(coll_plan_init(&plan, algorithm, &problem, NULL), COLL_OK);
        CHECK_STATUS(coll_plan_check_rank(&plan, 3), COLL_ERR_COUNTS);
    }
}

static uint32_t depth_of(const coll_plan *plan, uint32_t f, uint32_t rank)
{
    uint32_t depth = 0;
    for (; rank != plan->problem.root; rank = parent_of(plan, f, rank))
        depth++;
    return depth;
}

/* Between a rank and its parent: one, unless all blocks are empty. The root has its subtrees' blocks
 * in OUT or IN: those of the ranks above it, and apart from them those of the ranks below. */
static uint32_t messages_of(const coll_plan *plan, uint32_t f, uint32_t rank)
{
    const uint32_t root = plan->problem.root;
    size_t above = 0, below = 0;
    for (uint32_t r = 0; r < plan->problem.p; r++) {
        uint32_t up = r;
        while (up != rank && up != root)
            up = parent_of(plan, f, up);
        *(r > root ? &above : &below) += up == rank ? counts[r] : 0;
    }
    if (parent_of(plan, f, rank) != root)
        return above + below > 0 ? 1 : 0;
    return (above > 0 ? 1u : 0u) + (below > 0 ? 1u : 0u);
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t d = 0; d < DEGREES; d++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE)
                for (unsigned kind = 0; kind < 4; kind++) {
                    const uint32_t root = (p + (uint32_t)d) / 2 % p;
                    const coll_plan plan = blocks(kind, p, flags, root, degrees[d]);
                    const coll_report cost = cost_of(&plan);
                    uint64_t hops = 0; /* of all elements */
                    uint32_t phases = 0, height = 0, messages = 0;
                    for (uint64_t reach = 1; reach < p; reach *= degrees[d] ? degrees[d] : 2)
                        phases++;
                    for (uint32_t v = 1; v < p; v++) {
                        const uint32_t rank = (v + root) % p;
                        const size_t all = subtree(&plan, degrees[d], rank);
                        const uint32_t depth = depth_of(&plan, degrees[d], rank);
                        hops += all;
                        height = all > 0 && depth > height ? depth : height;
                        messages += messages_of(&plan, degrees[d], rank);
                        CHECK_EQ(coll_plan_scratch(&plan, rank),
                                 children_of(&plan, degrees[d], rank) > 0 ? all : 0);
                        if (kind & 1)
                            CHECK_EQ(cost.ranks[rank].elements, all);
                    }
                    CHECK_EQ(cost.total.elements, hops);
                    CHECK_EQ(coll_plan_scratch(&plan, root), 0);
                    CHECK_EQ(cost.total.messages, messages);
                    if (!(kind & 2)) /* empty blocks are no messages */
                        CHECK(messages == p - 1 || messages == p);
                    CHECK_EQ(cost.rounds, height);
                    CHECK(height <= phases);
                }
}

int main(void)
{
    RUN(subtrees_tile_the_interval);
    RUN(both_ends_cut_messages_alike);
    RUN(packed_tables_only);
    RUN(costs);
    return check_done();
}
