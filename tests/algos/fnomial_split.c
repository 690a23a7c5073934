/* tests/algos/fnomial_split.c — the laws of coll/algos/fnomial_split.h
 *
 * The algorithm is carried out here as it is told: lists of ranks are split into those at even
 * and those at odd places, again and again.
 */
#include "coll/algos/fnomial_split.h"

#include "support/walk.h"

#include <string.h>

enum { P = 64 };

/* A group: its members, counted from the root, and its piece. */
typedef struct group {
    uint32_t n, members[P];
    size_t offset, count;
} group;

/* What came of the ranks. */
static struct {
    uint32_t f;
    bool spreads;
    uint32_t splits[P];          /* of the group that a rank ends in */
    uint32_t first[P], after[P]; /* the run of ranks whose operands it holds */
    uint32_t messages[P];        /* sent */
    size_t elements[P], reduced[P];
    uint32_t sums[P]; /* how many operands it combines its own with */
    size_t half[P];   /* its part of the vector after the first split */
    uint32_t groups, roots[P], index[P], members[P];
    coll_block piece[P];
} told;

static void send(uint32_t from, size_t count)
{
    told.messages[from] += count > 0;
    told.elements[from] += count;
}

/* A rank combines what it holds with operands of ranks right before or after. */
static void combine(uint32_t to, uint32_t first, uint32_t after, size_t count)
{
    CHECK(first == told.after[to] || after == told.first[to]);
    told.first[to] = first < told.first[to] ? first : told.first[to];
    told.after[to] = after > told.after[to] ? after : told.after[to];
    told.reduced[to] += count;
    told.sums[to]++;
}

/* Splits a group in two, which combine what they hand each other, or, if `back`, join again. */
static void halve(const group *of, group half[2], bool back)
{
    memset(half, 0, 2 * sizeof *half);
    half[0].offset = of->offset;
    half[1].count = of->count / 2;
    half[0].count = of->count - half[1].count;
    half[1].offset = of->offset + half[0].count;
    for (uint32_t i = 0; i < of->n; i++) {
        const uint32_t side = i % 2, me = of->members[i];
        const bool alone = i + 1 == of->n && side == 0;
        const uint32_t partner = of->members[side == 1 || alone ? i - 1 : i + 1];
        half[side].members[half[side].n++] = me;
        send(back ? partner : me, half[1 - side].count);
    }
    for (uint32_t i = 0; i + 1 < of->n && !back; i += 2) {
        const uint32_t even = of->members[i], odd = of->members[i + 1];
        const uint32_t first = told.first[even], middle = told.first[odd];
        const uint32_t after = told.after[odd];
        CHECK_EQ(told.after[even], middle);
        combine(even, middle, after, half[0].count);
        combine(odd, first, middle, half[1].count);
        if (i + 3 == of->n)
            combine(odd, after, told.after[of->members[i + 2]], half[1].count);
    }
}

/* The tree of a group, as the thesis defines it: up, and, if it spreads, down. */
static void climb(const group *of)
{
    for (uint64_t s = 1; s < of->n; s *= told.f)
        for (uint64_t i = 0; i < of->n; i += s) {
            const uint64_t above = i / (s * told.f) * (s * told.f);
            const uint32_t child = of->members[i], parent = of->members[above];
            if (above == i)
                continue;
            send(child, of->count);
            combine(parent, told.first[child], told.after[child], of->count);
            if (told.spreads)
                send(parent, of->count);
        }
}

static group groups[P][P]; /* by depth */
static uint32_t n_groups[P];

/* Splits p ranks as long as there are splits. */
static void tell(uint32_t p, size_t count, uint32_t f, uint32_t splits, bool spreads)
{
    uint32_t depth = 0;
    memset(&told, 0, sizeof told);
    told.f = f;
    told.spreads = spreads;
    memset(groups, 0, sizeof groups);
    n_groups[0] = 1;
    groups[0][0].n = p;
    groups[0][0].count = count;
    for (uint32_t v = 0; v < p; v++) {
        groups[0][0].members[v] = v;
        told.first[v] = v;
        told.after[v] = v + 1;
    }
    for (; depth < splits && depth < 8; depth++) {
        n_groups[depth + 1] = 0;
        for (uint32_t k = 0; k < n_groups[depth]; k++) {
            const group *of = &groups[depth][k];
            group *next = &groups[depth + 1][n_groups[depth + 1]];
            if (of->n == 1) {
                *next = *of;
                n_groups[depth + 1]++;
                continue;
            }
            halve(of, next, false);
            for (uint32_t i = 0; i < of->n; i++) {
                told.splits[of->members[i]]++;
                if (depth == 0)
                    told.half[of->members[i]] = next[i % 2].count;
            }
            n_groups[depth + 1] += 2;
        }
    }
    told.groups = n_groups[depth];
    for (uint32_t k = 0; k < n_groups[depth]; k++) {
        const group *of = &groups[depth][k];
        for (uint32_t i = 0; i < of->n; i++) {
            told.index[of->members[i]] = i;
            told.members[of->members[i]] = of->n;
            told.piece[of->members[i]].offset = of->offset;
            told.piece[of->members[i]].count = of->count;
        }
        told.roots[k] = of->members[0];
    }
}

static const uint32_t splits_of[] = {0, 1, 2, 3, 4, 5, 6, 7, 32};
enum { SPLITS = sizeof splits_of / sizeof *splits_of };

/* Laws 1 and 3. */
TEST(groups_and_pieces)
{
    for (uint32_t p = 1; p <= P; p++)
        for (size_t k = 0; k < SPLITS; k++)
            for (size_t count = 0; count <= 40; count += 13) {
                const uint32_t params[2] = {2, splits_of[k]};
                const coll_plan plan =
                    plan_with(&coll_fnomial_split_reduce, COLL_REDUCE, p, count, 0, 0, params);
                uint64_t roots = 0;
                size_t covered = 0;
                tell(p, count, 2, splits_of[k], false);
                CHECK_EQ(coll_i_split_groups(&plan), told.groups);
                for (uint32_t g = 0; g < told.groups; g++) {
                    roots |= (uint64_t)1 << told.roots[g];
                    covered += told.piece[told.roots[g]].count;
                }
                CHECK_EQ(roots & (roots + 1), 0); /* 0 … G−1 */
                CHECK_EQ(covered, count);
                for (uint32_t v = 0; v < p; v++) {
                    const uint32_t depth = coll_i_split_depth(&plan, v);
                    const coll_i_split_place at = coll_i_split_place_of(&plan, v, depth);
                    const coll_block piece = coll_i_split_piece(&plan, v, depth);
                    CHECK_EQ(depth, told.splits[v]);
                    CHECK_EQ(at.index, told.index[v]);
                    CHECK_EQ(at.members, told.members[v]);
                    CHECK_EQ(piece.offset, told.piece[v].offset);
                    CHECK_EQ(piece.count, told.piece[v].count);
                }
            }
}

/* Law 2: `combine` checks the neighbourhood; in the end the groups' roots hold everything. */
TEST(operands_stay_in_order)
{
    for (uint32_t p = 1; p <= P; p++)
        for (size_t k = 0; k < SPLITS; k++)
            for (uint32_t f = 2; f <= 5; f++) {
                tell(p, 100, f, splits_of[k], false);
                for (uint32_t g = 0; g < told.groups; g++) {
                    climb(&groups[splits_of[k] < 8 ? splits_of[k] : 8][g]);
                    CHECK_EQ(told.first[told.roots[g]], 0);
                    CHECK_EQ(told.after[told.roots[g]], p);
                }
            }
}

/* The least k with f^k ≥ x. */
static uint32_t phases(uint32_t f, uint32_t x)
{
    uint32_t k = 0;
    for (uint64_t reach = 1; reach < x; reach *= f)
        k++;
    return k;
}

TEST(costs)
{
    for (uint32_t p = 1; p <= P; p++)
        for (size_t k = 0; k < SPLITS; k++)
            for (int spreads = 0; spreads <= 1; spreads++) {
                const uint32_t f = 2 + (p + (uint32_t)k) % 3;
                const size_t count = (p + k) % 2 ? 256 : 11;
                const uint32_t flags = (p + k) / 2 % 2 ? COLL_FLAG_IN_PLACE : 0;
                const uint32_t root = spreads ? 0 : p / 2;
                const uint32_t params[2] = {f, splits_of[k]};
                const coll_plan plan = plan_with(
                    spreads ? &coll_fnomial_split_allreduce : &coll_fnomial_split_reduce,
                    spreads ? COLL_ALLREDUCE : COLL_REDUCE, p, count,
                    flags | COLL_FLAG_COMMUTATIVE, root, params);
                const coll_report cost = cost_of(&plan);
                uint32_t depth = splits_of[k] < 8 ? splits_of[k] : 8, rounds = 0, most = 0;
                bool halves = true;
                tell(p, count, f, splits_of[k], spreads != 0);
                for (uint32_t g = 0; g < told.groups; g++)
                    climb(&groups[depth][g]);
                for (uint32_t v = 0; v < p; v++) {
                    const uint32_t tree = phases(f, told.members[v]);
                    most = told.splits[v] > most ? told.splits[v] : most;
                    rounds = tree > rounds ? tree : rounds;
                    halves = halves && told.piece[v].count > 0;
                }
                rounds =
                    spreads ? 2 * (most + rounds) : most + rounds + (told.groups > 1 ? 1u : 0u);
                if (spreads) { /* back again */
                    group unused[2];
                    while (depth-- > 0)
                        for (uint32_t g = 0; g < n_groups[depth]; g++)
                            if (groups[depth][g].n > 1)
                                halve(&groups[depth][g], unused, true);
                } else {
                    for (uint32_t g = 0; g < told.groups; g++)
                        if (told.roots[g] != 0)
                            send(told.roots[g], told.piece[told.roots[g]].count);
                }
                CHECK(cost.rounds <= rounds);
                if ((p & (p - 1)) == 0 && f == 2 && halves)
                    CHECK_EQ(cost.rounds, rounds);
                for (uint32_t v = 0; v < p; v++) {
                    const coll_verify_count *rank = &cost.ranks[(v + root) % p];
                    const size_t kept = told.splits[v] > 0 ? told.half[v] : count;
                    CHECK_EQ(rank->messages, told.messages[v]);
                    CHECK_EQ(rank->elements, told.elements[v]);
                    CHECK_EQ(rank->reduced, told.reduced[v]);
                    const uint32_t sums = told.sums[v];
                    const bool out =
                        spreads || v == 0; /* there is one; else the sum is apart */
                    const uint32_t slots = sums - (sums > 0 && !(out && flags) ? 1 : 0);
                    CHECK_EQ(coll_plan_scratch(&plan, (v + root) % p),
                             ((sums > 0 && !out ? 1 : 0) + (slots < 2 ? slots : 2)) * kept);
                    if (halves && !spreads)
                        CHECK_EQ(rank->messages, told.splits[v] + (v > 0 ? 1 : 0));
                }
            }
}

int main(void)
{
    RUN(groups_and_pieces);
    RUN(operands_stay_in_order);
    RUN(costs);
    return check_done();
}
