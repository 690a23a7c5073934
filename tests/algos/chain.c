/* tests/algos/chain.c — the laws of coll/algos/chain.h */
#include "coll/algos/chain.h"

#include "support/trees.h"

static const uint32_t chains[] = {1, 2, 3, 4, 7, 63, 1000};
enum { CHAINS = sizeof chains / sizeof *chains };

/* Law 1, the definition: rank after rank, the longer chains first. */
static tree defined(uint32_t p, uint32_t n)
{
    tree t = tree_of(&coll_chain_bcast, &coll_chain_reduce, &coll_chain_allreduce, p, n, 0);
    uint32_t v = 1;
    for (uint32_t i = 0; i < n && v < p; i++) {
        const uint32_t ranks = (p - 1) / n + (i < (p - 1) % n ? 1 : 0);
        for (uint32_t k = 0; k < ranks; k++, v++)
            t.parent[v] = k == 0 ? 0 : v - 1;
    }
    CHECK(v == p);
    tree_complete(&t);
    return t;
}

TEST(chains_are_runs_of_ranks)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t c = 0; c < CHAINS; c++) {
            const tree t = defined(p, chains[c]);
            for (uint32_t root = 0; root < p; root += 1 + p / 3)
                check_tree_messages(&t, root);
        }
}

/* Laws 2 and 3. */
TEST(only_the_root_has_several_children)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t c = 0; c < CHAINS; c++) {
            const tree t = defined(p, chains[c]);
            CHECK_EQ(t.children[0], chains[c] < p - 1 ? chains[c] : p - 1);
            CHECK_EQ(t.height, (p - 1 + chains[c] - 1) / chains[c]);
            for (uint32_t v = 1; v < p; v++)
                CHECK(t.children[v] <= 1);
        }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t c = 0; c < CHAINS; c++) {
            const tree t = defined(p, chains[c]);
            check_tree_all_costs(&t);
        }
}

int main(void)
{
    RUN(chains_are_runs_of_ranks);
    RUN(only_the_root_has_several_children);
    RUN(costs);
    return check_done();
}
