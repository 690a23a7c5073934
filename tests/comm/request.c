/* Calls: many under way, waited for in any order; persistent ones; sub-communicators; few tags
 * and none; errors, failing transports, cancelling; and that the arena is always empty in the
 * end. */
#include <pthread.h>

#include "support/chance.h"
#include "support/check.h"
#include "coll/algos/prefix.h"
#include "coll/transports/loopback.h"
#include "coll/transports/threads.h"
#include "support/comm_cases.h"
#include "support/records.h"

/* ---- all ranks in one thread ------------------------------------------------------------- */

enum { P = 6, CALLS = 100, ARENA = 1 << 18 };

static coll_loopback loopback;
static coll_loopback_rank ends[P];
static coll_transport transport; /* loopback, perhaps with other tags … */
static records own;              /* … and records of its own */
static coll_comm comms[P], subs[P][4];
static coll_op_entry ops[P];
static unsigned char arenas[P][ARENA];
static coll_request requests[P][CALLS];
static comm_rank *ranks[P][CALLS];
static comm_case cases[CALLS];
static void *messages;

static void begin(uint32_t tags)
{
    const coll_op op = COLL_OP(comm_multiply, NULL, false, true);
    const uint32_t n = P * CALLS * COLL_WINDOW;
    const size_t bytes = COLL_LOOPBACK_BYTES(n);
    coll_operator number = 0;
    transport = coll_loopback_transport;
    transport.tags = tags;
    records_of(&own, &transport);
    if (tags <= 1000)
        own.tag_ranges.use_step = 0;
    records_use(&own, &transport);
    messages = malloc(bytes);
    memset(comms, 0xA5, sizeof comms); /* memory that holds anything */
    memset(subs, 0xA5, sizeof subs);
    memset(requests, 0xA5, sizeof requests);
    CHECK_STATUS(coll_loopback_init(&loopback, P, n, messages, bytes), COLL_OK);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_loopback_attach(&loopback, r, &ends[r]), COLL_OK);
        CHECK_STATUS(coll_comm_init(&comms[r], &transport, &ends[r], r, P, arenas[r], ARENA),
                     COLL_OK);
        CHECK_STATUS(coll_comm_add_op(&comms[r], &ops[r], &op, COLL_OPAQUE(32), &number),
                     COLL_OK);
    }
}

static void end(void)
{
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_comm_free(&comms[r]), COLL_OK);
        CHECK(comms[r].arena.units.first == NULL);
        CHECK(comms[r].requests == NULL);
    }
    CHECK_EQ(loopback.n_free, P * CALLS * COLL_WINDOW); /* no operation is left over */
    free(messages);
}

/* A communicator has failed with this error, or, with COLL_OK, has not. One that has may be used
 * again. */
static bool has_failed(coll_comm *comm, coll_status with)
{
    const bool told = coll_i_loop_again(&loopback, comm->first_tag) == COLL_ERR_PEER;
    const bool is = comm->status == with && told == (with < 0);
    comm->status = COLL_OK;
    coll_loopback_recover(&loopback);
    return is;
}

/* An error that all ranks find, and one that this rank may be alone with. */
#define CHECK_ALIKE(expression, wanted)                                                        \
    do {                                                                                       \
        CHECK_STATUS(expression, wanted);                                                      \
        CHECK(has_failed(comm, COLL_OK));                                                      \
    } while (0)

#define CHECK_ALONE(expression, wanted)                                                        \
    do {                                                                                       \
        CHECK_STATUS(expression, wanted);                                                      \
        CHECK_STATUS(coll_barrier(comm), wanted);                                              \
        CHECK(has_failed(comm, wanted));                                                       \
    } while (0)

/* Some collective or other, on small vectors. */
static void choose_case(comm_case *it, uint64_t *random)
{
    do {
        it->collective = (coll_collective)chance_of(random, COLL_COLLECTIVES);
        it->p = P;
        it->root = chance_of(random, P);
        it->count = chance_of(random, 20);
        it->in_place = chance_of(random, 2) != 0;
        it->sort = &comm_sorts[chance_of(random, COMM_SORTS)];
        it->packed = false;
        it->routed = NULL;
    } while (!comm_valid(it));
}

/* Tests the first n calls of every rank, each rank in an order of its own, until all are
 * done. */
static void finish(uint32_t n, uint64_t *random)
{
    bool open[P][CALLS];
    uint32_t left = P * n;
    memset(open, 1, sizeof open);
    for (unsigned round = 0; left > 0 && round < 1000000; round++) {
        const uint32_t r = chance_of(random, P), i = chance_of(random, n);
        coll_status status;
        if (!open[r][i])
            continue;
        status = coll_test(&requests[r][i]);
        if (status == COLL_AGAIN)
            continue;
        CHECK_STATUS(status, COLL_OK);
        open[r][i] = false;
        left--;
    }
    CHECK_EQ(left, 0);
}

static void check_ranks(uint32_t n)
{
    for (uint32_t r = 0; r < P; r++)
        for (uint32_t i = 0; i < n; i++)
            CHECK(comm_right(ranks[r][i]));
}

static void make_ranks(uint32_t n, uint64_t *random)
{
    for (uint32_t i = 0; i < n; i++) {
        choose_case(&cases[i], random);
        for (uint32_t r = 0; r < P; r++)
            ranks[r][i] = comm_rank_new(&cases[i], r);
    }
}

static void free_ranks(uint32_t n)
{
    for (uint32_t r = 0; r < P; r++)
        for (uint32_t i = 0; i < n; i++)
            comm_rank_free(ranks[r][i]);
}

/* More calls at once than tags go round, each rank testing them in another order. */
TEST(many_calls_under_way)
{
    static const uint32_t tags[] = {1, 2, 7, 1000};
    uint64_t random = 1;
    for (size_t t = 0; t < sizeof tags / sizeof tags[0]; t++) {
        begin(tags[t]);
        make_ranks(CALLS, &random);
        for (uint32_t r = 0; r < P; r++)
            for (uint32_t i = 0; i < CALLS; i++)
                CHECK_STATUS(comm_issue(&cases[i], ranks[r][i], COMM_NONBLOCKING, &comms[r],
                                        &requests[r][i]),
                             COLL_OK);
        for (uint32_t i = 1; i < CALLS; i++) /* the tags go round */
            CHECK((requests[0][i].engine.task.tag == requests[0][i - 1].engine.task.tag) ==
                  (comms[0].turns == 1));
        finish(CALLS, &random);
        check_ranks(CALLS);
        free_ranks(CALLS);
        end();
    }
}

/* A few cases again and again on one communicator, each after any other one, so that plans of one are
 * looked at for the other; every rank in another order of tests. */
TEST(a_few_cases_made_again)
{
    enum { CASES = 12, TIMES = 60, SETS = 12, AT_ONCE = 3 };
    uint64_t random = 3;
    for (unsigned set = 0; set < SETS; set++) {
        begin(64);
        make_ranks(CASES, &random);
        for (uint32_t i = 1; i < CASES; i += 2) { /* half of them are another one but for … */
            cases[i] = cases[i - 1];
            switch (chance_of(&random, 4)) {
            case 0:
                cases[i].count++;
                break;
            case 1:
                cases[i].root =
                    coll_is(COLL_ROOTED, cases[i].collective) ? (cases[i].root + 1) % P : 0;
                break;
            case 2:
                cases[i].in_place = !cases[i].in_place;
                break;
            default:
                cases[i].sort = &comm_sorts[(cases[i].sort - comm_sorts + 1) % COMM_SORTS];
                break;
            }
            if (!comm_valid(&cases[i]))
                cases[i] = cases[i - 1];
            for (uint32_t r = 0; r < P; r++) {
                comm_rank_free(ranks[r][i]);
                ranks[r][i] = comm_rank_new(&cases[i], r);
            }
        }
        for (unsigned again = 0; again < TIMES; again++) {
            const uint32_t first = chance_of(&random, CASES);
            for (uint32_t r = 0; r < P; r++)
                for (uint32_t i = 0; i < AT_ONCE; i++) {
                    const uint32_t k = (first + i) % CASES;
                    comm_rank_fill(&cases[k], ranks[r][k]);
                    CHECK_STATUS(comm_issue(&cases[k], ranks[r][k], COMM_NONBLOCKING, &comms[r],
                                            &requests[r][i]),
                                 COLL_OK);
                }
            finish(AT_ONCE, &random);
            for (uint32_t r = 0; r < P; r++)
                for (uint32_t i = 0; i < AT_ONCE; i++)
                    CHECK(comm_right(ranks[r][(first + i) % CASES]));
        }
        free_ranks(CASES);
        end();
    }
}

/* Blocking and persistent calls between the others, started 100 times, by every rank in another
 * order. */
TEST(persistent_calls_in_any_order)
{
    enum { N = 8 };
    uint64_t random = 2;
    begin(1000);
    make_ranks(N, &random);
    for (uint32_t r = 0; r < P; r++)
        for (uint32_t i = 0; i < N; i++)
            CHECK_STATUS(
                comm_issue(&cases[i], ranks[r][i], COMM_PERSISTENT, &comms[r], &requests[r][i]),
                COLL_OK);
    for (int again = 0; again < 100; again++) {
        bool started[P][N];
        memset(started, 0, sizeof started);
        for (uint32_t left = P * N; left > 0;) {
            const uint32_t r = chance_of(&random, P), i = chance_of(&random, N);
            if (started[r][i])
                continue;
            comm_rank_fill(&cases[i], ranks[r][i]);
            CHECK_STATUS(coll_start(&requests[r][i]), COLL_OK);
            CHECK_STATUS(coll_request_free(&requests[r][i]), COLL_ERR_BUSY);
            started[r][i] = true;
            left--;
        }
        finish(N, &random);
        check_ranks(N);
    }
    for (uint32_t r = 0; r < P; r++)
        for (uint32_t i = 0; i < N; i++) {
            CHECK_STATUS(coll_test(&requests[r][i]),
                         COLL_OK); /* not started: nothing to wait for */
            CHECK_STATUS(coll_request_free(&requests[r][i]), COLL_OK);
            CHECK_STATUS(coll_request_free(&requests[r][i]), COLL_OK);
            CHECK_STATUS(coll_start(&requests[r][i]), COLL_ERR_STATE);
        }
    free_ranks(N);
    end();
}

/* ---- communicators ----------------------------------------------------------------------- */

/* Runs an allgather of the ranks' numbers in the home on every member of each of `n`
 * communicators, and the same on the home, all at once; returns whether all saw the ranks
 * `members` names in order. */
static void gather_numbers(uint32_t n, const uint32_t (*members)[4][P])
{
    static uint32_t mine[P], all[P][5][P];
    bool open[P][5];
    uint32_t left = 0;
    memset(all, 0xff, sizeof all);
    memset(open, 0, sizeof open);
    for (uint32_t r = 0; r < P; r++) {
        mine[r] = r;
        for (uint32_t i = 0; i <= n; i++) {
            const uint32_t k = r & 1 ? i : n - i; /* neighbours start in opposite orders */
            coll_comm *comm = k < n ? &subs[r][k] : &comms[r];
            if (comm->rank == COLL_RANK_NONE) {
                CHECK_STATUS(
                    coll_iallgather(comm, &mine[r], all[r][k], 1, COLL_U32, &requests[r][k]),
                    COLL_ERR_RANK);
                continue;
            }
            CHECK_STATUS(
                coll_iallgather(comm, &mine[r], all[r][k], 1, COLL_U32, &requests[r][k]),
                COLL_OK);
            open[r][k] = true;
            left++;
        }
    }
    for (unsigned round = 0; left > 0 && round < 10000; round++)
        for (uint32_t r = 0; r < P; r++)
            for (uint32_t k = 0; k <= n; k++) {
                const uint32_t at = r & 2 ? k : n - k; /* … and wait in yet others */
                if (open[r][at] && coll_test(&requests[r][at]) == COLL_OK) {
                    open[r][at] = false;
                    left--;
                }
            }
    CHECK_EQ(left, 0);
    for (uint32_t r = 0; r < P; r++) {
        for (uint32_t i = 0; i < P; i++)
            CHECK_EQ(all[r][n][i], i);
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t i = 0; i < subs[r][k].p && subs[r][k].rank != COLL_RANK_NONE; i++)
                CHECK_EQ(all[r][k][i], members[r][k][i]);
    }
}

/* A duplicate; odd and even ranks; a table; a part of a part. */
TEST(sub_communicators)
{
    static const uint32_t table[3] = {4, 1, 2}, back[2] = {2, 0};
    static uint32_t members[P][4][P];
    begin(1000);
    for (uint32_t r = 0; r < P; r++) {
        coll_group group;
        CHECK_STATUS(coll_comm_dup(&subs[r][0], &comms[r], 10), COLL_OK);
        coll_group_affine(&group, r & 1, 2);
        CHECK_STATUS(coll_comm_create(&subs[r][1], &comms[r], &group, 3, 10), COLL_OK);
        coll_group_table(&group, table, NULL);
        CHECK_STATUS(coll_comm_create(&subs[r][2], &comms[r], &group, 3, 10), COLL_OK);
        coll_group_table(&group, back, NULL);
        CHECK_STATUS(coll_comm_create(&subs[r][3], &subs[r][1], &group, 2, 5), COLL_OK);
        for (uint32_t i = 0; i < P; i++) {
            members[r][0][i] = i;
            members[r][1][i] = 2 * i + (r & 1);
            members[r][2][i] = i < 3 ? table[i] : 0;
            members[r][3][i] = i < 2 ? 2 * back[i] + (r & 1) : 0;
        }
        CHECK_EQ(subs[r][0].rank, r);
        CHECK_EQ(subs[r][1].rank, r / 2);
        CHECK_EQ(subs[r][2].rank, r == 4 ? 0 : r == 1 || r == 2 ? r : COLL_RANK_NONE);
        CHECK_EQ(subs[r][3].rank, r / 2 == 2 ? 0 : r / 2 == 0 ? 1 : COLL_RANK_NONE);
    }
    for (int again = 0; again < 20; again++)
        gather_numbers(4, (const uint32_t(*)[4][P])members);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_comm_free(&subs[r][1]),
                     COLL_ERR_BUSY); /* the last one is made from it */
        for (uint32_t k = 4; k-- > 0;)
            CHECK_STATUS(coll_comm_free(&subs[r][k]), COLL_OK);
        CHECK(comms[r].subs.first == NULL);
    }
    end();
}

/* Parts of parts: steps of steps, steps in a table, a table of steps; who is left out is no member. */
TEST(parts_of_parts)
{
    static const uint32_t table[4] = {5, 0, 3, 1};
    static const struct {
        uint32_t base, stride, p, ranks[3];
    } parts[3] = {{0, 2, 2, {1, 5}}, {1, 1, 2, {3, 5}}, {1, 2, 2, {0, 1}}};
    begin(1000);
    for (uint32_t r = 0; r < P; r++)
        for (unsigned k = 0; k < 3; k++) {
            uint32_t rank = COLL_RANK_NONE;
            coll_group group;
            if (k < 2)
                coll_group_affine(&group, 1, 2);
            else
                coll_group_table(&group, table, NULL);
            CHECK_STATUS(coll_comm_create(&subs[r][0], &comms[r], &group, k < 2 ? 3 : 4, 100),
                         COLL_OK);
            CHECK_EQ(subs[r][0].table.span.count, k < 2 ? 0 : 1);
            coll_group_affine(&group, parts[k].base, parts[k].stride);
            CHECK_STATUS(coll_comm_create(&subs[r][1], &subs[r][0], &group, 2, 10), COLL_OK);
            for (uint32_t i = 0; i < 2; i++) {
                CHECK_EQ(coll_group_outer(&subs[r][1].group, i), parts[k].ranks[i]);
                rank = parts[k].ranks[i] == r ? i : rank;
            }
            CHECK_EQ(subs[r][1].rank,
                     subs[r][0].rank == COLL_RANK_NONE ? COLL_RANK_NONE : rank);
            CHECK((subs[r][1].group.table != NULL) == (k == 2));
            CHECK_STATUS(coll_comm_free(&subs[r][1]), COLL_OK);
            CHECK_STATUS(coll_comm_free(&subs[r][0]), COLL_OK);
        }
    end();
}

/* An algorithm that computes on the ranks of the transport gets them, or says why it cannot. */
TEST(sub_communicators_on_a_machine)
{
    static const uint32_t up[4] = {0, 2, 3, 5}, down[4] = {5, 3, 2, 0}, nodes = P;
    static uint32_t in[P], out[P][4];
    begin(16);
    for (uint32_t r = 0; r < P; r++) {
        coll_args args;
        coll_group group;
        size_t bytes;
        coll_args_init(&args, COLL_ALLGATHER);
        args.type = COLL_U32;
        args.count = 1;
        in[r] = 10 * r;
        for (unsigned k = 0; k < 2; k++) {
            coll_group_table(&group, k ? down : up, NULL);
            CHECK_STATUS(coll_comm_create(&subs[r][k], &comms[r], &group, 4, 4), COLL_OK);
            CHECK_STATUS(coll_comm_set_algorithm(&subs[r][k], COLL_ALLGATHER,
                                                 &coll_prefix_allgather, &nodes),
                         COLL_OK);
            if (subs[r][k].rank != COLL_RANK_NONE)
                CHECK_STATUS(coll_comm_bytes(&subs[r][k], &args, &bytes),
                             k ? COLL_ERR_GROUP : COLL_OK);
        }
        if (subs[r][0].rank != COLL_RANK_NONE)
            CHECK_STATUS(
                coll_iallgather(&subs[r][0], &in[r], out[r], 1, COLL_U32, &requests[r][0]),
                COLL_OK);
    }
    for (uint32_t round = 0; round < 1000; round++)
        if (subs[round % P][0].rank != COLL_RANK_NONE)
            CHECK(coll_test(&requests[round % P][0]) == COLL_OK || round < 900);
    for (uint32_t r = 0; r < P; r++) {
        for (uint32_t i = 0; i < 4 && subs[r][0].rank != COLL_RANK_NONE; i++)
            CHECK_EQ(out[r][i], 10 * up[i]);
        CHECK_STATUS(coll_comm_free(&subs[r][1]), COLL_OK);
        CHECK_STATUS(coll_comm_free(&subs[r][0]), COLL_OK);
    }
    end();
}

TEST(sub_communicators_without_tags)
{
    static uint32_t in[P], out[P][3];
    begin(0);
    for (uint32_t r = 0; r < P; r++) {
        coll_group group;
        in[r] = r;
        coll_group_affine(&group, r & 1, 2);
        CHECK_STATUS(coll_comm_create(&subs[r][0], &comms[r], &group, 3, 10), COLL_OK);
        CHECK_STATUS(coll_iallgather(&subs[r][0], &in[r], out[r], 1, COLL_U32, &requests[r][0]),
                     COLL_OK);
        CHECK_STATUS(coll_ibarrier(&comms[r], &requests[r][1]), COLL_ERR_BUSY);
    }
    for (uint32_t n = 0, round = 0; n < P && round < 1000; round++)
        n += coll_test(&requests[round % P][0]) == COLL_OK && round >= P;
    for (uint32_t r = 0; r < P; r++) {
        for (uint32_t i = 0; i < 3; i++)
            CHECK_EQ(out[r][i], 2 * i + (r & 1));
        CHECK_STATUS(coll_comm_free(&subs[r][0]), COLL_OK);
    }
    end();
}

TEST(sub_communicator_errors)
{
    static const uint32_t twice[2] = {1, 1};
    coll_group group;
    coll_comm sub, *const comm = &comms[0];
    begin(8); /* 4 of which go round */
    coll_group_identity(&group);
    CHECK_ALONE(coll_comm_create(NULL, comm, &group, P, 2), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_create(&sub, NULL, &group, P, 2), COLL_ERR_NULL);
    CHECK_ALONE(coll_comm_create(&sub, comm, NULL, P, 2), COLL_ERR_NULL);
    CHECK_ALONE(coll_comm_dup(NULL, comm, 2), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_dup(&sub, NULL, 2), COLL_ERR_NULL);
    CHECK_ALONE(coll_comm_create(&sub, comm, &group, 0, 2), COLL_ERR_GROUP);
    CHECK_ALONE(coll_comm_create(&sub, comm, &group, P + 1, 2), COLL_ERR_GROUP);
    CHECK_ALIKE(coll_comm_dup(&sub, comm, 0), COLL_ERR_TAG);
    CHECK_ALIKE(coll_comm_dup(&sub, comm, 5), COLL_ERR_TAG);
    coll_group_table(&group, twice, NULL);
    CHECK_ALONE(coll_comm_create(&sub, comm, &group, 2, 2), COLL_ERR_GROUP);
    CHECK_STATUS(coll_comm_dup(&sub, comm, 4), COLL_OK);
    CHECK_ALIKE(coll_barrier_init(comm, &requests[0][0]), COLL_ERR_TAG);
    CHECK(strstr(coll_status_text(COLL_ERR_TAG), "free persistent calls") != NULL);
    CHECK_STATUS(coll_comm_free(comm), COLL_ERR_BUSY);
    CHECK_STATUS(coll_comm_free(&sub), COLL_OK);
    comms[0].arena.units.count = 0; /* no memory for a table */
    group.table = twice + 1;
    CHECK_ALONE(coll_comm_create(&sub, comm, &group, 1, 4), COLL_ERR_MEMORY);
    CHECK(comms[0].tags.first == NULL && comms[0].subs.first == NULL);
    CHECK_STATUS(coll_comm_free(NULL), COLL_ERR_NULL);
    end();
}

/* ---- transports without tags, and that fail ---------------------------------------------- */

TEST(one_at_a_time_without_tags)
{
    static const unsigned char x = 1;
    static unsigned char y[P][P];
    begin(0);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_iallgather(&comms[r], &x, y[r], 1, COLL_U8, &requests[r][0]),
                     COLL_OK);
        CHECK_STATUS(coll_ibarrier(&comms[r], &requests[r][1]), COLL_ERR_BUSY);
        CHECK_STATUS(coll_wait(&requests[r][1]), COLL_OK); /* it is none */
        CHECK_STATUS(coll_barrier_init(&comms[r], &requests[r][2]), COLL_OK);
        CHECK_STATUS(coll_start(&requests[r][2]), COLL_ERR_BUSY);
    }
    for (unsigned round = 0; round < 100; round++)
        coll_progress(&comms[round % P]);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_start(&requests[r][2]),
                     COLL_ERR_BUSY); /* done, but nobody was told */
        CHECK_STATUS(coll_test(&requests[r][0]), COLL_OK);
        CHECK_STATUS(coll_start(&requests[r][2]), COLL_OK);
    }
    for (unsigned round = 0; round < 100; round++)
        coll_progress(&comms[round % P]);
    for (uint32_t r = 0; r < P; r++) {
        CHECK_STATUS(coll_wait(&requests[r][2]), COLL_OK);
        CHECK_STATUS(coll_request_free(&requests[r][2]), COLL_OK);
    }
    end();
}

static unsigned sends_left, aborts;

static coll_status failing_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                size_t bytes, coll_handle *h)
{
    if (((coll_loopback_rank *)ctx)->rank == 2 && sends_left-- == 0)
        return COLL_ERR_IO;
    return coll_loopback_transport.send(ctx, peer, tag, buf, bytes, h);
}

static void counted_abort(void *ctx, uint32_t first, uint32_t tags)
{
    aborts++;
    coll_loopback_transport.failure->abort(ctx, first, tags);
}

/* Rank 2 fails at one of its sends: it is told so, the others that its peer failed, and nothing
 * is left over. */
TEST(failing_transport)
{
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        for (unsigned n = 0; n < 3; n++) {
            comm_case it = {(coll_collective)c, P, 2, 40, false, &comm_sorts[0], false, NULL};
            coll_status status[P];
            unsigned round = 0, left = P;
            if (!coll_is(COLL_ROOTED, it.collective))
                it.root = 0;
            begin(100);
            transport.send = failing_send;
            own.failure.abort = counted_abort;
            sends_left = n;
            aborts = 0;
            for (uint32_t r = 0; r < P; r++) {
                ranks[r][0] = comm_rank_new(&it, r);
                status[r] =
                    comm_issue(&it, ranks[r][0], COMM_NONBLOCKING, &comms[r], &requests[r][0]);
                left -= status[r] < 0;
                if (status[r] == COLL_OK)
                    status[r] = COLL_AGAIN;
            }
            for (; left > 0 && round < 10000; round++)
                for (uint32_t r = 0; r < P; r++)
                    if (status[r] == COLL_AGAIN) {
                        status[r] = coll_test(&requests[r][0]);
                        left -= status[r] != COLL_AGAIN;
                    }
            CHECK_EQ(left, 0);
            for (uint32_t r = 0; r < P; r++) {
                if (aborts == 0)
                    CHECK_STATUS(status[r], COLL_OK); /* it sends less often than that */
                else if (r == 2)
                    CHECK_STATUS(status[r], COLL_ERR_IO);
                else
                    CHECK(status[r] == COLL_OK || status[r] == COLL_ERR_PEER);
                CHECK_STATUS(coll_wait(&requests[r][0]), COLL_OK); /* it is over */
                comm_rank_free(ranks[r][0]);
            }
            CHECK(aborts == 0 || aborts == 2); /* of its tag, and of the communicator's */
            CHECK(n > 0 || aborts == 2 || it.collective == COLL_GATHER ||
                  it.collective == COLL_GATHERV || it.collective == COLL_REDUCE ||
                  coll_is(COLL_NEIGHBORLY, it.collective)); /* it may have no destination */
            end();
        }
}

/* A running call is cancelled, or one that is queued behind it; the others learn of it, and so
 * do calls of the same tag. */
TEST(cancelling)
{
    static double x[P][8], y[P][8];
    for (uint32_t k = 0; k < 2; k++) {
        begin(1); /* one tag: the second call waits for the first */
        for (uint32_t r = 0; r < P; r++)
            for (uint32_t i = 0; i < 2; i++)
                CHECK_STATUS(coll_iallreduce(&comms[r], x[r], y[r], 8, COLL_F64, COLL_SUM,
                                             &requests[r][i]),
                             COLL_OK);
        CHECK_STATUS(coll_cancel(&requests[0][k]), COLL_OK);
        CHECK_STATUS(coll_cancel(&requests[0][k]), COLL_ERR_STATE);
        CHECK_STATUS(coll_wait(&requests[0][k]), COLL_ERR_CANCELLED);
        CHECK_STATUS(coll_wait(&requests[0][1 - k]), COLL_ERR_CANCELLED);
        CHECK_STATUS(coll_cancel(&requests[0][k]), COLL_ERR_STATE);
        for (uint32_t r = 1; r < P; r++) {
            const coll_status older = coll_wait(&requests[r][0]);
            CHECK(older == COLL_ERR_PEER || older == COLL_OK); /* OK: it was done before */
            CHECK_STATUS(coll_wait(&requests[r][1]), COLL_ERR_PEER);
        }
        end();
    }
    CHECK_STATUS(coll_cancel(NULL), COLL_ERR_NULL);
}

/* ---- errors ------------------------------------------------------------------------------ */

static void sum_twice(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((float *)dst)[i] = ((const float *)a)[i] + ((const float *)b)[i];
}

TEST(operators)
{
    static const coll_op one = COLL_OP(sum_twice, NULL, true, false),
                         none = COLL_OP(NULL, NULL, true, false);
    coll_op_entry a, b;
    coll_operator first = 0, second = 0;
    coll_op op;
    float x = 1, y = 0;
    coll_comm *const comm = &comms[0];
    begin(100);
    CHECK_STATUS(coll_comm_add_op(NULL, &a, &one, COLL_F32, &first), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_add_op(&comms[0], NULL, &one, COLL_F32, &first), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_add_op(&comms[0], &a, NULL, COLL_F32, &first), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_add_op(&comms[0], &a, &none, COLL_F32, &first), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_add_op(&comms[0], &a, &one, COLL_F32, NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_add_op(&comms[0], &a, &one, COLL_TYPES, &first), COLL_ERR_TYPE);
    CHECK_STATUS(coll_comm_add_op(&comms[0], &a, &one, COLL_F32, &first), COLL_OK);
    CHECK_STATUS(coll_comm_add_op(&comms[0], &b, &one, COLL_F32, &second), COLL_OK);
    CHECK(first >= COLL_USER_OP && second >= COLL_USER_OP && first != second);
    CHECK_STATUS(coll_comm_op(&comms[0], first, COLL_F32, &op), COLL_OK);
    CHECK(op.combine == sum_twice && op.commutative && !op.exact);
    CHECK_STATUS(coll_comm_op(&comms[0], first, COLL_I32, &op), COLL_ERR_OP);
    CHECK_ALONE(coll_allreduce(comm, &x, &y, 1, COLL_I32, first), COLL_ERR_OP);
    CHECK_STATUS(coll_comm_remove_op(&comms[0], first), COLL_OK);
    CHECK_STATUS(coll_comm_remove_op(&comms[0], first), COLL_ERR_OP);
    CHECK_STATUS(coll_comm_remove_op(NULL, first), COLL_ERR_NULL);
    CHECK_ALONE(coll_allreduce(comm, &x, &y, 1, COLL_F32, first), COLL_ERR_OP);
    CHECK_STATUS(coll_comm_op(&comms[0], second, COLL_F32, &op), COLL_OK);
    end();
}

TEST(communicator_errors)
{
    coll_comm comm;
    coll_transport broken = coll_loopback_transport;
    broken.test = NULL;
    CHECK_STATUS(coll_comm_init(NULL, &coll_loopback_transport, NULL, 0, 1, NULL, 0),
                 COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_init(&comm, NULL, NULL, 0, 1, NULL, 0), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_init(&comm, &broken, NULL, 0, 1, NULL, 0), COLL_ERR_TRANSPORT);
    CHECK_STATUS(coll_comm_init(&comm, &coll_loopback_transport, NULL, 0, 0, NULL, 0),
                 COLL_ERR_RANKS);
    CHECK_STATUS(coll_comm_init(&comm, &coll_loopback_transport, NULL, 1, 1, NULL, 0),
                 COLL_ERR_RANK);
    CHECK_STATUS(coll_comm_init(&comm, &coll_loopback_transport, NULL, 0, 1, NULL, 1),
                 COLL_ERR_NULL);
}

/* Every wrong argument is found before anything is started: all calls of one rank alone
 * return. */
TEST(argument_errors)
{
    static double x[64], y[64];
    static const size_t counts[P] = {1, 1, 1, 1, 1, 1}, places[P] = {0, 1, 2, 3, 4, 5};
    static const size_t huge[P] = {SIZE_MAX, 1, 1, 1, 1, 1};
    coll_comm *comm;
    coll_request *request = &requests[0][0];
    coll_args args;
    size_t bytes;
    begin(100);
    comm = &comms[0];
    CHECK_STATUS(coll_allreduce(NULL, x, y, 1, COLL_F64, COLL_SUM), COLL_ERR_NULL);
    CHECK_ALONE(coll_iallreduce(comm, x, y, 1, COLL_F64, COLL_SUM, NULL), COLL_ERR_NULL);
    CHECK_ALONE(coll_post(comm, NULL, request), COLL_ERR_NULL);
    CHECK_ALONE(coll_request_init(comm, NULL, request), COLL_ERR_NULL);
    CHECK_STATUS(coll_start(NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_wait(NULL), COLL_ERR_NULL);
    CHECK_STATUS(coll_request_free(NULL), COLL_ERR_NULL);
    CHECK_ALIKE(coll_allreduce(comm, x, y, 1, COLL_TYPES, COLL_SUM), COLL_ERR_TYPE);
    CHECK_ALIKE(coll_bcast(comm, x, 1, COLL_OPAQUE(0), 0), COLL_ERR_TYPE);
    CHECK_ALIKE(coll_allreduce(comm, x, y, 1, COLL_F64, COLL_OPERATORS), COLL_ERR_OP);
    CHECK_ALIKE(coll_allreduce(comm, x, y, 1, COLL_F64, COLL_BAND), COLL_ERR_OP);
    CHECK_ALIKE(coll_allreduce(comm, x, y, 1, COLL_OPAQUE(8), COLL_SUM), COLL_ERR_TYPE);
    CHECK_ALIKE(coll_bcast(comm, x, 1, COLL_F64, P), COLL_ERR_ROOT);
    CHECK_ALIKE(coll_gather(comm, COLL_IN_PLACE, y, 1, COLL_F64, P), COLL_ERR_ROOT);
    CHECK_ALIKE(coll_scatter(comm, x, COLL_IN_PLACE, 1, COLL_F64, P), COLL_ERR_ROOT);
    CHECK_ALONE(coll_allreduce(comm, NULL, y, 1, COLL_F64, COLL_SUM), COLL_ERR_NULL);
    CHECK_ALONE(coll_allreduce(comm, x, NULL, 1, COLL_F64, COLL_SUM), COLL_ERR_NULL);
    CHECK_ALIKE(coll_allreduce(comm, x, COLL_IN_PLACE, 1, COLL_F64, COLL_SUM),
                COLL_ERR_IN_PLACE);
    CHECK_ALONE(coll_bcast(comm, COLL_IN_PLACE, 1, COLL_F64, 0), COLL_ERR_IN_PLACE);
    CHECK_ALONE(coll_scatter(comm, COLL_IN_PLACE, y, 1, COLL_F64, 0), COLL_ERR_IN_PLACE);
    CHECK_ALONE(coll_gather(comm, COLL_IN_PLACE, y, 1, COLL_F64, 1),
                COLL_ERR_IN_PLACE); /* not the root */
    CHECK_ALONE(coll_allreduce(comm, x, y, SIZE_MAX / 4, COLL_F64, COLL_SUM),
                COLL_ERR_OVERFLOW);
    CHECK_ALONE(coll_allgather(comm, x, y, SIZE_MAX / 40, COLL_F64), COLL_ERR_OVERFLOW);
    {
        static const uint32_t dims[1] = {P}, fewer[1] = {P - 1}, peers[1] = {0};
        static const coll_neighbors lists = {1, peers, 0, NULL};
        uint32_t order[1];
        coll_graph ring, other;
        CHECK_STATUS(coll_graph_mesh(&ring, 1, dims, 1), COLL_OK);
        CHECK_ALONE(coll_neighbor_allgather(comm, NULL, x, y, 1, COLL_F64), COLL_ERR_GRAPH);
        CHECK_ALIKE(coll_neighbor_alltoall(comm, &ring, COLL_IN_PLACE, y, 1, COLL_F64),
                    COLL_ERR_IN_PLACE);
        CHECK_ALONE(coll_neighbor_alltoall(comm, &ring, x, NULL, 1, COLL_F64), COLL_ERR_NULL);
        CHECK_ALONE(
            coll_neighbor_alltoallv(comm, &ring, x, counts, places, y, NULL, NULL, COLL_F64),
            COLL_ERR_COUNTS);
        CHECK_ALONE(coll_neighbor_alltoall(comm, &ring, x, y, SIZE_MAX / 10, COLL_F64),
                    COLL_ERR_OVERFLOW);
        CHECK_STATUS(coll_graph_mesh(&other, 1, fewer, 1), COLL_OK);
        CHECK_ALONE(coll_neighbor_allgather(comm, &other, x, y, 1, COLL_F64), COLL_ERR_GRAPH);
        CHECK_STATUS(coll_graph_lists(&other, &lists, 1, P, order), COLL_OK); /* of rank 1 */
        CHECK_ALONE(coll_neighbor_allgather(comm, &other, x, y, 1, COLL_F64), COLL_ERR_GRAPH);
    }
    CHECK_ALONE(coll_allgatherv(comm, x, 1, y, NULL, places, COLL_F64), COLL_ERR_COUNTS);
    CHECK_ALONE(coll_allgatherv(comm, x, 1, y, counts, NULL, COLL_F64), COLL_ERR_COUNTS);
    CHECK_ALONE(coll_allgatherv(comm, x, 1, y, NULL, NULL, COLL_F64), COLL_ERR_COUNTS);
    CHECK_ALONE(coll_allgatherv(comm, x, 2, y, counts, places, COLL_F64), COLL_ERR_SIZE);
    CHECK_ALONE(coll_gatherv(comm, x, 1, y, NULL, NULL, COLL_F64, 0), COLL_ERR_COUNTS);
    CHECK_ALONE(coll_gatherv(comm, x, 2, y, counts, places, COLL_F64, 0), COLL_ERR_SIZE);
    CHECK_ALONE(coll_scatterv(comm, x, NULL, NULL, y, 1, COLL_F64, 0), COLL_ERR_COUNTS);
    CHECK_ALONE(coll_scatterv(comm, x, counts, places, y, 2, COLL_F64, 0), COLL_ERR_SIZE);
    CHECK_ALONE(coll_alltoallv(comm, x, NULL, NULL, y, counts, places, COLL_F64),
                COLL_ERR_COUNTS);
    CHECK_ALONE(coll_alltoallv(comm, x, counts, places, y, counts, NULL, COLL_F64),
                COLL_ERR_COUNTS);
    CHECK_ALONE(coll_reduce_scatter(comm, x, y, NULL, COLL_F64, COLL_SUM), COLL_ERR_COUNTS);
    CHECK_ALONE(coll_reduce_scatter(comm, x, y, huge, COLL_F64, COLL_SUM), COLL_ERR_OVERFLOW);
    CHECK(comm->requests == NULL && comm->arena.units.first == NULL);

    coll_args_init(&args, COLL_COLLECTIVES);
    CHECK_ALIKE(coll_run(comm, &args), COLL_ERR_COLLECTIVE);
    CHECK_STATUS(coll_comm_bytes(comm, &args, &bytes), COLL_ERR_COLLECTIVE);
    CHECK_STATUS(coll_comm_bytes(NULL, &args, &bytes), COLL_ERR_NULL);
    coll_args_init(&args, COLL_REDUCE_SCATTER);
    CHECK_STATUS(coll_comm_bytes(comm, &args, &bytes), COLL_ERR_COUNTS);
    args.type = COLL_F64;
    args.in_counts = counts;
    CHECK_STATUS(coll_comm_bytes(comm, &args, &bytes), COLL_OK);
    CHECK(bytes >= P * sizeof(size_t));
    args.in_displs = places;
    CHECK_STATUS(coll_comm_bytes(comm, &args, &bytes), COLL_OK);

    /* a call that is under way cannot be made again */
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(coll_ibarrier(comm, request), COLL_OK);
        CHECK_STATUS(coll_comm_free(comm), COLL_ERR_BUSY);
        CHECK_ALONE(i == 0   ? coll_ibarrier(comm, request)
                    : i == 1 ? coll_barrier_init(comm, request)
                             : coll_start(request),
                    COLL_ERR_STATE);
        CHECK_STATUS(coll_comm_free(comm), COLL_ERR_BUSY);
        CHECK_STATUS(coll_wait(request), COLL_ERR_STATE);
    }
    CHECK_STATUS(coll_start(request), COLL_ERR_STATE);
    CHECK(has_failed(comm, COLL_OK)); /* it is no call any more */
    end();
}

TEST(memory_that_does_not_suffice)
{
    static uint64_t x[1000], y[1000];
    size_t most = 0;
    begin(100);
    for (uint32_t r = 0; r < P; r++) {
        coll_comm *const comm = &comms[r];
        coll_args args;
        size_t bytes;
        coll_args_init(&args, COLL_ALLREDUCE);
        args.in = COLL_IN_PLACE;
        args.out = y;
        args.count = 1000;
        args.type = COLL_U64;
        CHECK_STATUS(coll_comm_bytes(comm, &args, &bytes), COLL_OK);
        most = most < bytes ? bytes : most;
        if (bytes == 0)
            continue;
        coll_arena_init(&comm->arena, arenas[r], bytes - COLL_ARENA_ALIGN);
        CHECK_ALONE(
            coll_iallreduce(comm, COLL_IN_PLACE, y, 1000, COLL_U64, COLL_SUM, &requests[r][0]),
            COLL_ERR_MEMORY);
        CHECK(comm->arena.units.first == NULL);
        coll_arena_init(&comm->arena, NULL, 0);
        CHECK_ALONE(coll_ireduce_scatter(comm, x, y, (const size_t *)x, COLL_U64, COLL_SUM,
                                         &requests[r][0]),
                    COLL_ERR_MEMORY);
    }
    CHECK(most > 0);
    end();
}

/* ---- threads ----------------------------------------------------------------------------- */

typedef struct member {
    coll_threads *threads;
    uint32_t rank;
    pthread_t thread;
    unsigned long wrong;
    coll_comm comm, other;
    coll_request request[4];
    unsigned char arena[1 << 20];
} member;

/* Every rank waits for long calls of two communicators in an order of its own, blocking:
 * without progress on the others, the ranks would wait for each other. */
static void *wait_in_any_order(void *arg)
{
    enum { N = 20000 };
    member *me = (member *)arg;
    uint64_t random = me->rank;
    double *x = malloc(4 * N * sizeof *x), *y = malloc(4 * N * sizeof *y);
    me->wrong += coll_comm_init(&me->comm, &coll_threads_transport,
                                coll_threads_rank(me->threads, me->rank), me->rank, P,
                                me->arena, sizeof me->arena) != COLL_OK;
    me->wrong += coll_comm_dup(&me->other, &me->comm, 4) != COLL_OK;
    for (int again = 0; again < 20; again++) {
        bool open[4] = {true, true, true, true};
        for (size_t i = 0; i < 4 * N; i++) {
            x[i] = me->rank + (double)i;
            y[i] = -1;
        }
        for (int k = 0; k < 4; k++)
            me->wrong += coll_iallreduce(k & 1 ? &me->other : &me->comm, x + k * N, y + k * N,
                                         N, COLL_F64, COLL_SUM, &me->request[k]) != COLL_OK;
        for (int left = 4; left > 0;) {
            const uint32_t k = chance_of(&random, 4);
            if (!open[k])
                continue;
            me->wrong += coll_wait(&me->request[k]) != COLL_OK;
            open[k] = false;
            left--;
        }
        for (size_t i = 0; i < 4 * N; i++)
            me->wrong += y[i] < P * (double)i + 14.5 || y[i] > P * (double)i + 15.5;
    }
    me->wrong += coll_comm_free(&me->other) != COLL_OK;
    me->wrong += coll_comm_free(&me->comm) != COLL_OK;
    free(x);
    free(y);
    return NULL;
}

TEST(waits_in_any_order_on_threads)
{
    coll_threads *threads = coll_threads_create(P);
    member *members = calloc(P, sizeof *members);
    for (uint32_t r = 0; r < P; r++) {
        members[r].threads = threads;
        members[r].rank = r;
        CHECK_EQ(pthread_create(&members[r].thread, NULL, wait_in_any_order, &members[r]), 0);
    }
    for (uint32_t r = 0; r < P; r++) {
        CHECK_EQ(pthread_join(members[r].thread, NULL), 0);
        CHECK_EQ(members[r].wrong, 0);
    }
    free(members);
    coll_threads_destroy(threads);
}

int main(void)
{
    RUN(many_calls_under_way);
    RUN(a_few_cases_made_again);
    RUN(persistent_calls_in_any_order);
    RUN(sub_communicators);
    RUN(parts_of_parts);
    RUN(sub_communicators_on_a_machine);
    RUN(sub_communicators_without_tags);
    RUN(sub_communicator_errors);
    RUN(one_at_a_time_without_tags);
    RUN(failing_transport);
    RUN(cancelling);
    RUN(operators);
    RUN(communicator_errors);
    RUN(argument_errors);
    RUN(memory_that_does_not_suffice);
    RUN(waits_in_any_order_on_threads);
    return check_done();
}
