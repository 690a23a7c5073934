/* tests/algos/tuna.c — the laws of coll/algos/tuna.h, and sizes that travel first: coll/algos/kit/sized_route.h
 *
 * The words are sent over loopback; then the plan of the blocks is proven by the sizes that each rank has seen. */
#include <stdlib.h>

#include "coll/algos/bruck_alltoallv.h"
#include "coll/algos/tuna.h"
#include "support/chance.h"
#include "support/sized_words.h"
#include "support/walk.h"

enum { P = WALK_RANKS };

typedef enum sizes { EQUAL, NONE, SKEWED, RANDOM, ONE_LONG, SIZES } sizes;

/* A case, and what each rank has. */
static struct {
    uint32_t p, ppn, intra, inter;
    bool in_place;
    sizes sizes;
    uint64_t seed;
} now;
static size_t counts[P][2][P], displs[P][2][P]; /* of IN, and of OUT */
static coll_route routes[P];
static coll_sized_route sized[P];
static coll_plan plans[P];
static void *memories[P];
static size_t *offsets[P];

/* Elements that a rank has for another; in place, as many as that one has for it. */
static size_t size_of(uint32_t from, uint32_t to)
{
    uint64_t seed = now.seed + (now.in_place && from > to ? to * P + from : from * P + to);
    if (now.in_place && now.sizes == SKEWED)
        return (from + to) % 5;
    switch (now.sizes) {
    case EQUAL:
        return 2;
    case NONE:
        return 0;
    case SKEWED:
        return to % 4 == 0 ? from % 7 : 0;
    case RANDOM:
        return chance_of(&seed, 3) ? 0 : chance_of(&seed, 9);
    default:
        return from == to / 2 || to == from / 2 ? 50 : 1;
    }
}

static void problem_of(coll_problem *problem, coll_nodes *nodes, uint32_t rank, bool words)
{
    coll_problem_init(problem, words ? COLL_ALLTOALL : COLL_ALLTOALLV, now.p, words, 8);
    problem->flags = now.in_place ? (uint32_t)COLL_FLAG_IN_PLACE : 0;
    coll_nodes_even(nodes, now.p, now.ppn);
    if (now.ppn < now.p)
        problem->nodes = *nodes;
    if (!words) {
        problem->in.counts = counts[rank][0];
        problem->in.displs = displs[rank][0];
        problem->out.counts = counts[rank][1];
        problem->out.displs = displs[rank][1];
    }
}

/* Tables with gaps, in which blocks do not lie in their order. */
static void tables(void)
{
    for (uint32_t rank = 0; rank < now.p; rank++)
        for (unsigned side = 0; side < 2; side++) {
            size_t at = 0;
            for (uint32_t i = 0; i < now.p; i++) {
                const uint32_t other = side == 0 && i % 2 == 0 ? now.p - 1 - i : i;
                const uint32_t k = side == 0 && now.p % 2 == 1 ? other : i;
                counts[rank][side][k] = side == 0 ? size_of(rank, k) : size_of(k, rank);
                displs[rank][side][k] = at;
                at += counts[rank][side][k] + i % 3;
            }
        }
}

static void routes_of(void)
{
    for (uint32_t rank = 0; rank < now.p; rank++) {
        coll_problem problem;
        coll_nodes nodes;
        size_t bytes;
        problem_of(&problem, &nodes, rank, false);
        bytes = coll_tuna_route_bytes(&problem, now.intra, now.inter);
        CHECK(bytes > 0);
        memories[rank] = malloc(bytes);
        CHECK_STATUS(coll_tuna_route(&routes[rank], &problem, rank, now.intra, now.inter,
                                     memories[rank], bytes - 1),
                     COLL_ERR_MEMORY);
        CHECK_STATUS(coll_tuna_route(&routes[rank], &problem, rank, now.intra, now.inter,
                                     memories[rank], bytes),
                     COLL_OK);
        CHECK(routes[rank].n * sizeof(coll_move) <= bytes);
        CHECK(routes[rank].scratch <= coll_tuna_route_scratch(&problem, now.intra, now.inter));
        sized[rank].route = &routes[rank];
        sized[rank].at = NULL;
        offsets[rank] = malloc((routes[rank].scratch + (size_t)1) * sizeof(size_t));
    }
}

/* Sends the words; then each rank has its offsets. */
static void send_words(void)
{
    static uint64_t in[P][P], out[P][P];
    uint64_t *ins[P], *outs[P];
    for (uint32_t rank = 0; rank < now.p; rank++) {
        coll_problem problem;
        coll_nodes nodes;
        problem_of(&problem, &nodes, rank, true);
        CHECK_STATUS(coll_plan_by_sizes(&plans[rank], &problem, &sized[rank]), COLL_OK);
        for (uint32_t i = 0; i < now.p; i++)
            in[rank][i] = out[rank][i] = size_of(rank, i);
        ins[rank] = in[rank];
        outs[rank] = out[rank];
    }
    sized_words(now.p, plans, ins, outs, routes, offsets);
    for (uint32_t rank = 0; rank < now.p; rank++)
        for (uint32_t i = 0; i < now.p; i++)
            CHECK_EQ(out[rank][i], size_of(i, rank));
}

static const coll_plan *plan_at(void *arg, uint32_t rank)
{
    (void)arg;
    return &plans[rank];
}

static coll_report prove(void)
{
    static coll_verifier memory;
    coll_verify_options options;
    coll_report report;
    memset(&options, 0, sizeof options);
    options.verifier = &memory;
    options.plan_of = plan_at;
    if (!CHECK(prove_plan(NULL, &options, &report) == COLL_PROVEN))
        printf("    p = %u, %u a node, radices %u, %u, sizes %d, in place %d: %s\n",
               (unsigned)now.p, (unsigned)now.ppn, (unsigned)now.intra, (unsigned)now.inter,
               (int)now.sizes, now.in_place, report.sentence);
    return report;
}

/* Digits that are not 0 of the distance on a level, and the messages of the level. */
static uint32_t digits_of(uint32_t distance, uint32_t k)
{
    uint32_t n = 0;
    for (; distance > 0; distance /= k)
        n += distance % k != 0;
    return n;
}

static uint32_t messages_of(uint32_t size, uint32_t k)
{
    uint32_t n = 0;
    for (uint64_t weight = 1; weight < size; weight *= k)
        for (uint64_t e = 1; e < k && e * weight < size; e++)
            n++;
    return n;
}

/* The radix that stands for 0. */
static uint32_t radix_of(uint32_t size, uint32_t k)
{
    uint32_t root = 2;
    while (root * root < size)
        root++;
    return k ? k : root;
}

static void laws(const coll_report *report)
{
    const bool even = now.p % now.ppn == 0;
    const uint32_t q = even ? now.ppn : 1, n = now.p / q;
    const uint32_t k = radix_of(q, now.intra), l = radix_of(n, now.inter);
    size_t elements = 0, most = 0;
    for (uint32_t rank = 0; rank < now.p; rank++) {
        uint32_t sends = 0, receives = 0;
        size_t moved = 0;
        for (uint32_t i = 0; i < routes[rank].n; i++) {
            const coll_move *move = &routes[rank].moves[i];
            if (move->peer == COLL_RANK_NONE) {
                moved += move->blocks;
                continue;
            }
            sends += move->dst == COLL_RANK_NONE;
            receives += move->src == COLL_RANK_NONE;
            if (move->src >> 30 == COLL_IN && move->dst == COLL_RANK_NONE)
                CHECK_EQ(move->blocks, 1); /* law 3 */
        }
        CHECK_EQ(sends, messages_of(q, k) + messages_of(n, l)); /* law 1 */
        CHECK_EQ(receives, sends);
        if (k >= q && n == 1 && !now.in_place) { /* law 4 */
            CHECK_EQ(routes[rank].scratch, 0);
            CHECK_EQ(moved, 1);
        }
        for (uint32_t to = 0; to < now.p; to++) {
            const uint32_t places = (to % q + q - rank % q) % q,
                           nodes = (to / q + n - rank / q) % n;
            elements += (digits_of(places, k) + digits_of(nodes, l)) * size_of(rank, to);
            most = size_of(rank, to) > most ? size_of(rank, to) : most;
        }
    }
    CHECK_EQ(report->total.elements, elements); /* law 2 */
}

static void check_case(void)
{
    coll_report report;
    now.seed++;
    tables();
    routes_of();
    send_words();
    for (uint32_t rank = 0; rank < now.p; rank++) {
        coll_problem problem;
        coll_nodes nodes;
        sized[rank].at = NULL;
        problem_of(&problem, &nodes, rank, true);
        CHECK_STATUS(coll_plan_by_sizes(&plans[rank], &problem, &sized[rank]), COLL_OK);
    }
    if (now.sizes == EQUAL)
        (void)prove(); /* the words, too */
    for (uint32_t rank = 0; rank < now.p; rank++) {
        coll_problem problem;
        coll_nodes nodes;
        sized[rank].at = offsets[rank];
        problem_of(&problem, &nodes, rank, false);
        CHECK_STATUS(coll_plan_by_sizes(&plans[rank], &problem, &sized[rank]), COLL_OK);
    }
    report = prove();
    laws(&report);
    for (uint32_t rank = 0; rank < now.p; rank++) {
        free(memories[rank]);
        free(offsets[rank]);
    }
}

/* All p on one node, by several radices. */
TEST(one_level)
{
    static const uint32_t radices[] = {2, 3, 0, 8, 100};
    now.inter = 2;
    for (now.p = 1; now.p <= P; now.p++)
        for (unsigned i = 0; i < 5 * SIZES * 2; i++) {
            if (now.p > 17 && (i + now.p) % (now.p > 33 ? 23 : 7) != 0)
                continue;
            now.ppn = now.p;
            now.intra = radices[i % 5];
            now.sizes = (sizes)(i / 5 % SIZES);
            now.in_place = i / 5 / SIZES == 1;
            check_case();
        }
}

/* Nodes of all sizes that divide p, and some that do not. */
TEST(two_levels)
{
    static const uint32_t radices[] = {2, 3, 0, 64};
    for (now.p = 2; now.p <= P; now.p++)
        for (now.ppn = 1; now.ppn < now.p; now.ppn++)
            for (unsigned i = 0; i < 4 * 4; i++) {
                if (now.p % now.ppn ? (i + now.p + now.ppn) % 97 != 0
                                    : now.p > 12 && (i + now.p + now.ppn) % 11 != 0)
                    continue;
                now.intra = radices[i % 4];
                now.inter = radices[i / 4];
                now.sizes = (sizes)((i + now.p) % SIZES);
                now.in_place = (i + now.ppn) % 3 == 0;
                check_case();
            }
}

/* The messages of slots that are as long as the longest block, and blocks that go straight, move more. */
static size_t sent(const coll_algorithm *algorithm, const uint32_t *params, size_t *messages)
{
    size_t bytes = 0;
    *messages = 0;
    for (uint32_t rank = 0; rank < now.p; rank++) {
        coll_counts count = {0};
        coll_problem problem;
        coll_nodes nodes;
        coll_plan plan;
        problem_of(&problem, &nodes, rank, false);
        if (algorithm)
            CHECK_STATUS(coll_plan_init(&plan, algorithm, &problem, params), COLL_OK);
        CHECK_STATUS(coll_plan_count(algorithm ? &plan : &plans[rank], rank, &count), COLL_OK);
        bytes += count.bytes_sent;
        *messages += count.messages_sent;
    }
    return bytes;
}

TEST(nothing_is_padded)
{
    const uint32_t words = 8;
    uint32_t slots[] = {2, 0}; /* as long as the longest block */
    size_t by_words, by_slots, by_pairs, messages, slot_messages, pair_messages;
    now.p = now.ppn = 64;
    now.intra = 2;
    now.in_place = false;
    for (now.sizes = SKEWED; now.sizes < SIZES; now.sizes++) {
        check_case();
        memset(plans, 0, sizeof plans);
        tables();
        slots[1] = 0;
        for (uint32_t i = 0; i < now.p * now.p; i++)
            if (slots[1] < size_of(i / now.p, i % now.p))
                slots[1] = (uint32_t)size_of(i / now.p, i % now.p);
        routes_of();
        send_words();
        for (uint32_t rank = 0; rank < now.p; rank++) {
            coll_problem problem;
            coll_nodes nodes;
            sized[rank].at = offsets[rank];
            problem_of(&problem, &nodes, rank, false);
            CHECK_STATUS(coll_plan_by_sizes(&plans[rank], &problem, &sized[rank]), COLL_OK);
        }
        by_words = sent(NULL, NULL, &messages);
        by_slots = sent(&coll_bruck_alltoallv, slots, &slot_messages);
        by_pairs = sent(&coll_pairwise_alltoall, NULL, &pair_messages);
        printf("    sizes %d: %zu bytes in %zu messages; slots of %u %zu in %zu; straight %zu "
               "in %zu\n",
               (int)now.sizes, by_words, messages, (unsigned)slots[1], by_slots, slot_messages,
               by_pairs, pair_messages);
        CHECK(by_words + (size_t)now.p * now.p / 2 * 6 * words < by_slots);
        CHECK(by_pairs < by_words && messages < pair_messages);
        CHECK(messages <= slot_messages);
        for (uint32_t rank = 0; rank < now.p; rank++) {
            free(memories[rank]);
            free(offsets[rank]);
        }
    }
}

TEST(what_is_refused)
{
    uint32_t memory[64];
    coll_problem problem;
    coll_route route;
    coll_sized_route of;
    coll_plan plan;
    uint64_t huge[2] = {UINT64_MAX / 2, UINT64_MAX / 2};
    size_t at[3];
    coll_problem_init(&problem, COLL_ALLTOALLV, 4, 0, 8);
    CHECK_EQ(coll_tuna_route_bytes(&problem, 1, 2), 0);
    CHECK_EQ(coll_tuna_route_bytes(NULL, 2, 2), 0);
    CHECK_STATUS(coll_tuna_route(&route, &problem, 0, 2, 1, memory, sizeof memory),
                 COLL_ERR_PARAM);
    CHECK_STATUS(coll_tuna_route(&route, &problem, 4, 2, 2, memory, sizeof memory),
                 COLL_ERR_RANK);
    CHECK_STATUS(coll_tuna_route(&route, &problem, 0, 2, 2, NULL, 0), COLL_ERR_NULL);
    problem.collective = COLL_ALLGATHER;
    CHECK_STATUS(coll_tuna_route(&route, &problem, 0, 2, 2, memory, sizeof memory),
                 COLL_ERR_COLLECTIVE);
    problem.collective = COLL_ALLTOALLV;
    problem.p = COLL_TUNA_RANKS + 1;
    CHECK_EQ(coll_tuna_route_bytes(&problem, 2, 2), 0);
    CHECK_STATUS(coll_tuna_route(&route, &problem, 0, 2, 2, memory, sizeof memory),
                 COLL_ERR_OVERFLOW);
    of.route = NULL;
    of.at = NULL;
    CHECK_STATUS(coll_plan_by_sizes(&plan, &problem, &of), COLL_ERR_ROUTE);
    route.scratch = 2;
    CHECK_STATUS(coll_sized_route_offsets(&route, huge, at), COLL_ERR_OVERFLOW);
}

int main(void)
{
    RUN(one_level);
    RUN(two_levels);
    RUN(nothing_is_padded);
    RUN(what_is_refused);
    return check_done();
}
