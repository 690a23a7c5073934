/* tests/algos/bine.c — the laws of coll/algos/bine.h */
#include "coll/algos/bine.h"

#include "support/trees.h"

/* The definition: binomial numbers, each with a run of positions around it, from the root on. */
typedef struct bine {
    uint32_t p;
    int64_t at[WALK_RANKS]; /* the position of a number; the root is at 0 */
} bine;

/* The positions that a subtree takes. */
typedef struct run {
    int64_t first, last;
} run;

static void shift(bine *b, uint32_t first, uint32_t numbers, int64_t by)
{
    for (uint32_t i = first; i < first + numbers && i < b->p; i++)
        b->at[i] += by;
}

/* Lays out a number at 0, and the subtrees of its children of phases below `phases` on its two sides
 * in turn, the first on `side`: 1 after it, −1 before it. */
static run lay_out(bine *b, uint32_t number, uint32_t phases, int64_t side)
{
    run all = {0, 0};
    b->at[number] = 0;
    for (uint32_t i = 0; i < phases; i++, side = -side) {
        const uint32_t child = number + ((uint32_t)1 << i);
        if (child < b->p) { /* turned round, next to what is there */
            const run of = lay_out(b, child, i, i % 2 ? side : -side);
            const int64_t by = side > 0 ? all.last + 1 - of.first : all.first - 1 - of.last;
            shift(b, child, (uint32_t)1 << i, by);
            all.first = side > 0 ? all.first : by + of.first;
            all.last = side > 0 ? by + of.last : all.last;
        }
    }
    return all;
}

static tree defined(uint32_t p)
{
    tree t = tree_of(&coll_bine_bcast, &coll_bine_reduce, &coll_bine_tree_allreduce, p, 0, 0);
    bine b;
    memset(&b, 0, sizeof b);
    b.p = p;
    t.top = (uint32_t)-lay_out(&b, 0, 7, 1).first;
    for (uint32_t number = 1; number < p; number++) {
        const uint32_t parent = number & (number - 1);
        const uint32_t v = (uint32_t)(b.at[number] + p) % p;
        t.parent[v] = (uint32_t)(b.at[parent] + p) % p;
    }
    tree_complete(&t);
    return t;
}

/* Law 1: the definition of the paper. */
static int64_t value_of(uint32_t digits)
{
    int64_t value = 0, weight = 1;
    for (; digits; digits >>= 1, weight *= -2)
        value += (digits & 1u) * weight;
    return value;
}

TEST(trees_of_the_paper)
{
    for (uint32_t p = 1, bits = 0; p <= CHECK_RANKS; p *= 2, bits++) {
        const tree t = defined(p);
        for (uint32_t digits = 1; digits < p; digits++) {
            uint32_t alike = 1; /* of the lowest digits */
            while (alike < bits && (digits >> alike & 1u) == (digits & 1u))
                alike++;
            CHECK_EQ(t.parent[(uint32_t)(value_of(digits) + p) % p],
                     (uint32_t)(value_of(digits ^ (((uint32_t)1 << alike) - 1)) + p) % p);
        }
    }
}

/* Law 2, by the definition; and the walk is that of tree.h. */
TEST(subtrees_are_runs_of_ranks)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++) {
        const tree t = defined(p);
        for (uint32_t root = 0; root < p; root += 1 + p / 5)
            check_tree_messages(&t, root);
        for (uint32_t v = 0; v < p; v++) {
            uint32_t ends = 0, members = 0;
            bool in[WALK_RANKS] = {false};
            for (uint32_t u = 0; u < p; u++) {
                uint32_t above = u;
                while (above != v && above != 0)
                    above = t.parent[above];
                in[u] = above == v;
                members += in[u] ? 1 : 0;
            }
            for (uint32_t u = 0; u < p; u++)
                ends += in[u] && !in[(u + 1) % p] ? 1 : 0;
            CHECK_EQ(ends, members < p ? 1 : 0);
        }
    }
}

/* Law 3. */
TEST(places_are_those_of_a_binomial_tree)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++) {
        const tree t = defined(p);
        uint32_t seen = 0;
        for (uint32_t v = 0; v < p; v++) {
            const coll_bine at = coll_bine_of(p, v);
            const coll_fnomial binomial = coll_fnomial_of(p, &coll_fast_divisor_two, at.number);
            seen += at.number;
            CHECK_EQ(at.children, t.children[v]);
            CHECK_EQ(at.children, binomial.children);
            CHECK_EQ(at.slot, binomial.slot);
            CHECK_EQ(at.parent, t.parent[v]);
            CHECK_EQ(coll_bine_of(p, at.parent).number, binomial.parent);
        }
        CHECK_EQ(seen, p * (p - 1) / 2);
        CHECK_EQ(t.height, COLL_HIGHEST_BIT(p));
        CHECK_EQ(t.children[0], coll_log2_ceil(p));
        for (uint32_t v = 1; v < p; v++)
            CHECK(t.children[v] < t.children[0]);
    }
}

/* Law 4. */
TEST(parents_are_near)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++) {
        const tree t = defined(p);
        uint32_t hops = 0, binomial = 0;
        for (uint32_t v = 1; v < p; v++) {
            const uint32_t up = (t.parent[v] + p - v) % p, step = v & (0 - v);
            hops += up < p - up ? up : p - up;
            binomial += step < p - step ? step : p - step;
        }
        CHECK(hops <= binomial);
        CHECK(hops < binomial || p <= 6);
    }
}

TEST(costs)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++) {
        const tree t = defined(p);
        check_tree_all_costs(&t);
    }
}

int main(void)
{
    RUN(trees_of_the_paper);
    RUN(subtrees_are_runs_of_ranks);
    RUN(places_are_those_of_a_binomial_tree);
    RUN(parents_are_near);
    RUN(costs);
    return check_done();
}
