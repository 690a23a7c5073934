/* tests/plan/rails.c — the laws of coll/plan/topo/rails.h */
#include "support/check.h"

#include <string.h>

#include "coll/plan/topo/rails.h"

enum { MOST = 40, LEADERS = 50 };

static uint8_t rail[MOST];
static size_t below[MOST + 1];

/* Rails of m ranks: runs, in turn, unequal, at random, one. */
enum { KINDS = 9 };
static void make(uint32_t kind, uint32_t m)
{
    static uint32_t random = 1;
    coll_nodes one;
    coll_nodes_even(&one, m, m);
    if (kind < 3) {
        coll_rails_runs(rail, &one, m, kind + 1);
        return;
    }
    for (uint32_t t = 0; t < m; t++) {
        random = random * 1664525u + 1013904223u;
        rail[t] = (uint8_t)(kind == 3   ? t % 2
                            : kind == 4 ? COLL_RAILS_MOST - 1 - t % COLL_RAILS_MOST
                            : kind == 5 ? t * t % 3
                            : kind == 6 ? t + 1 == m
                            : kind == 7 ? random >> 28
                                        : random >> 31);
    }
}

/* (1), (2): what each rank leads, and each rail. */
static void check_numbers(uint32_t m, uint32_t l)
{
    uint32_t ranks[COLL_RAILS_MOST] = {0}, leaders[COLL_RAILS_MOST] = {0};
    for (uint32_t t = 0; t < m; t++) {
        const size_t leads = below[t + 1] - below[t];
        CHECK(leads == l / m || (leads == l / m + 1 && l % m != 0));
        ranks[rail[t]]++;
        leaders[rail[t]] += (uint32_t)leads;
        CHECK_EQ(coll_i_rails_leads(below, m, l, t), leads > 0);
    }
    for (uint32_t a = 0; a < COLL_RAILS_MOST; a++)
        for (uint32_t b = 0; b < COLL_RAILS_MOST; b++) {
            const bool gives = leaders[a] > ranks[a] * (l / m);
            const bool takes = leaders[b] < ranks[b] * ((l + m - 1) / m);
            CHECK(!gives || !takes || leaders[a] <= leaders[b] + 1);
        }
}

/* (3): every leader is found, and they are as far apart as those of one rail, where rails let them. */
static void check_order(uint32_t m, uint32_t l)
{
    CHECK_EQ(below[0], 0);
    CHECK_EQ(below[m], l);
    for (uint32_t t = 0; t < m; t++)
        for (size_t j = below[t]; j < below[t + 1]; j++)
            CHECK_EQ(coll_i_rails_leader(below, m, (uint32_t)j), t);
    CHECK(below[1] > 0);
    for (uint32_t t = 0; t < m && rail[t] == rail[0] && t + 1 == m; t++)
        for (uint32_t i = 0; i < m; i++)
            CHECK_EQ(below[i], ((uint64_t)i * l + m - 1) / m);
}

TEST(leaders_are_spread_over_rails)
{
    for (uint32_t m = 1; m <= MOST; m++)
        for (uint32_t kind = 0; kind < KINDS; kind++)
            for (uint32_t l = 1; l <= LEADERS; l++) {
                make(kind, m);
                coll_i_rails_leaders(rail, m, l, below);
                below[m] = l;
                check_numbers(m, l);
                check_order(m, l);
            }
}

/* The table in the header. */
TEST(eight_ranks)
{
    static const struct {
        uint8_t rail[8];
        uint32_t leader[4];
    } rows[] = {{{0, 0, 0, 0, 1, 1, 1, 1}, {0, 2, 4, 6}},
                {{0, 1, 0, 1, 0, 1, 0, 1}, {0, 2, 5, 7}},
                {{0, 0, 0, 0, 0, 0, 1, 1}, {0, 2, 6, 7}}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        coll_i_rails_leaders(rows[i].rail, 8, 4, below);
        for (uint32_t j = 0; j < 4; j++)
            CHECK_EQ(coll_i_rails_leader(below, 8, j), rows[i].leader[j]);
    }
}

TEST(runs_of_ranks)
{
    static const uint32_t first[] = {0, 5, 6, 9};
    static const uint8_t two[] = {0, 0, 0, 1, 1, 0, 0, 0, 1};
    coll_nodes nodes;
    coll_beyond beyond = {rail, NULL};
    coll_nodes_table(&nodes, 3, first, NULL);
    CHECK_EQ(coll_rails_count(&nodes, 9), 1);
    CHECK_EQ(coll_rail_of(&nodes, 8), 0);
    coll_rails_runs(rail, &nodes, 9, 2);
    CHECK(memcmp(rail, two, sizeof two) == 0);
    nodes.beyond = &beyond;
    CHECK_EQ(coll_rails_count(&nodes, 9), 2);
    CHECK_EQ(coll_rail_of(&nodes, 8), 1);
}

TEST(what_does_not_fit)
{
    uint8_t rails[] = {0, 1, 0, COLL_RAILS_MOST - 1, 2, 0};
    coll_nodes nodes, groups, above, ground;
    coll_beyond beyond = {rails, NULL}, more = {NULL, NULL}, most = {NULL, NULL},
                endless = {NULL, NULL};
    coll_nodes_even(&nodes, 6, 2);
    CHECK(coll_beyond_check(&nodes, 6));
    nodes.beyond = &beyond;
    CHECK(coll_beyond_check(&nodes, 6));
    rails[5] = COLL_RAILS_MOST;
    CHECK(!coll_beyond_check(&nodes, 6));
    rails[5] = 0;
    coll_nodes_even(&groups, 5, 2);
    beyond.groups = &groups;
    CHECK(!coll_beyond_check(&nodes, 6)); /* of five nodes, and there are three */
    coll_nodes_even(&groups, 3, 2);
    CHECK(coll_beyond_check(&nodes, 6));
    groups.beyond = &more;
    CHECK(coll_beyond_check(&nodes, 6));
    coll_nodes_even(&above, 2, 1);
    more.groups = &above;
    CHECK(coll_beyond_check(&nodes, 6));
    above.beyond = &most;
    coll_nodes_even(&ground, 2, 2);
    most.groups = &ground;
    CHECK(coll_beyond_check(&nodes, 6));
    ground.beyond = &endless; /* one level more than there may be */
    coll_nodes_even(&groups, 3, 2);
    groups.beyond = &more;
    endless.groups = &ground;
    CHECK(!coll_beyond_check(&nodes, 6));
}

int main(void)
{
    RUN(leaders_are_spread_over_rails);
    RUN(eight_ranks);
    RUN(runs_of_ranks);
    RUN(what_does_not_fit);
    return check_done();
}
