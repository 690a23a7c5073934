/* Arguments that are compared before data move: each of them wrong on one rank, which all ranks are told in one
 * sentence, and go on; calls that are not compared, by the next one that is. Ranks are threads. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "coll/algos/ring.h"
#include "coll/coll.h"
#include "coll/comm/compare.h"
#include "coll/comm/settle.h"
#include "coll/transports/threads.h"
#include "support/check.h"

enum { MOST = 8, ARENA = 1 << 16, COUNT = 64, WORDS = 400 };

/* What is wrong on one rank. */
typedef enum fault {
    NOTHING,
    OTHER_COLLECTIVE,
    OTHER_ROOT,
    OTHER_TYPE,
    OTHER_OPAQUE,
    OTHER_OPERATOR,
    USER_OPERATOR,
    OTHER_COUNT,
    OTHER_ALGORITHM,
    OTHER_TABLE,
    OTHER_GATHERED,  /* by a rank that only sends, in a gather, … */
    OTHER_REDUCED,   /* … a reduce, … */
    OTHER_SCATTERED, /* … or by one that receives, in a scatter */
    OTHER_OF_GATHERV,
    OTHER_OF_SCATTERV,
    NO_TABLE, /* at the root of a gatherv */
    OTHER_CALL_BEFORE,
    FAULTS
} fault;

/* One rank, of a thread. */
typedef struct rank {
    pthread_t thread;
    coll_comm comm;
    coll_compare compare;
    coll_compared all[MOST];
    coll_op_entry op;
    void *ctx;
    uint32_t r, p, wrong,
        second; /* ranks that do it wrong; second: p, or one that does it in another way */
    fault what;
    coll_status made, mismatch, after;
    bool sums;
    char text[WORDS];
    size_t length;
    unsigned char arena[ARENA];
    coll_request request;
    double in[COUNT], out[MOST * COUNT];
} rank;

static rank ranks[MOST];

static void multiply(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    double *to = (double *)dst;
    const double *x = (const double *)a, *y = (const double *)b;
    (void)arg;
    for (size_t i = 0; i < count; i++)
        to[i] = x[i] * y[i];
}

static coll_collective collective_of(fault what)
{
    switch (what) {
    case OTHER_ROOT:
    case OTHER_REDUCED:
        return COLL_REDUCE;
    case OTHER_OPAQUE:
        return COLL_BCAST;
    case OTHER_TABLE:
        return COLL_ALLGATHERV;
    case OTHER_GATHERED:
        return COLL_GATHER;
    case OTHER_SCATTERED:
        return COLL_SCATTER;
    case OTHER_OF_GATHERV:
    case NO_TABLE:
        return COLL_GATHERV;
    case OTHER_OF_SCATTERV:
        return COLL_SCATTERV;
    default:
        return COLL_ALLREDUCE;
    }
}

/* The call, right or, on this rank, wrong; `by`: by how much. */
static coll_status call(rank *me, bool wrong, uint32_t by)
{
    size_t counts[MOST], displs[MOST];
    coll_args args;
    const coll_op product = COLL_OP(multiply, NULL, false, true);
    coll_args_init(&args, collective_of(me->what));
    args.in = me->in;
    args.out = me->out;
    args.count = 4;
    args.type = me->what == OTHER_OPAQUE ? COLL_OPAQUE(8) : COLL_F64;
    if (me->what == OTHER_TABLE) {
        for (uint32_t i = 0; i < me->p; i++)
            counts[i] = 4 + (i == me->r ? 0 : wrong);
        args.out_counts = counts;
    }
    if (coll_i_compare_is_table_of_root(args.collective)) {
        const bool gathers = args.collective == COLL_GATHERV;
        args.root = me->p - 1;
        args.count = 2 + me->r;
        for (uint32_t i = 0, at = 0; i < me->p; at += 2 + i++) {
            counts[i] = 2 + i;
            displs[i] = at;
        }
        if (me->r == args.root && gathers) {
            args.out_counts = me->what == NO_TABLE ? NULL : counts;
            args.out_displs = displs;
        } else if (me->r == args.root) {
            args.in_counts = counts;
            args.in_displs = displs;
        }
        if (me->r == args.root && me->second == me->p + 1 && gathers)
            args.in = COLL_IN_PLACE; /* its own block lies there */
        else if (me->r == args.root && me->second == me->p + 1)
            args.out = COLL_IN_PLACE;
    }
    if (wrong)
        switch (me->what) {
        case OTHER_COLLECTIVE:
            args.collective = by == 1 ? COLL_BCAST : COLL_BARRIER;
            break;
        case OTHER_ROOT:
            args.root = by;
            break;
        case OTHER_TYPE:
            args.type = by == 1 ? COLL_F32 : COLL_I64;
            break;
        case OTHER_OPAQUE:
            args.type = COLL_OPAQUE(8 + by);
            break;
        case OTHER_OPERATOR:
            args.op = by == 1 ? COLL_MAX : COLL_MIN;
            break;
        case USER_OPERATOR:
            (void)coll_comm_add_op(&me->comm, &me->op, &product, COLL_F64, &args.op);
            break;
        case OTHER_COUNT:
        case OTHER_GATHERED:
        case OTHER_REDUCED:
        case OTHER_SCATTERED:
            args.count = 4 - by;
            break;
        case OTHER_OF_GATHERV:
        case OTHER_OF_SCATTERV:
            args.count--;
            break;
        case OTHER_ALGORITHM:
            (void)coll_comm_set_algorithm(&me->comm, COLL_ALLREDUCE, &coll_ring_allreduce,
                                          NULL);
            break;
        case NOTHING:
        case OTHER_TABLE:
        case NO_TABLE:
        case OTHER_CALL_BEFORE:
        case FAULTS:
            break;
        }
    return coll_run(&me->comm, &args);
}

static void *work(void *arg)
{
    rank *me = (rank *)arg;
    const bool wrong = me->r == me->wrong || me->r == me->second;
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
        me->in[i] = me->r + 1;
    me->made = coll_comm_init(&me->comm, &coll_threads_transport, me->ctx, me->r, me->p,
                              me->arena, ARENA);
    if (me->made == COLL_OK)
        me->made = coll_comm_compare(&me->comm, &me->compare, me->all, me->p);
    if (me->made == COLL_OK) /* the first call, which is right */
        me->made = coll_allreduce(&me->comm, me->in, me->out, 1, COLL_F64, COLL_SUM);
    if (me->made == COLL_OK && me->what == OTHER_CALL_BEFORE)
        me->made = coll_iallreduce(&me->comm, me->in, me->out, 1, COLL_F64,
                                   wrong ? COLL_MAX : COLL_SUM, &me->request);
    if (me->made == COLL_OK && me->what == OTHER_CALL_BEFORE)
        me->made = coll_wait(&me->request);
    me->mismatch = me->made == COLL_OK ? call(me, wrong, me->r == me->second ? 2 : 1) : COLL_OK;
    me->length = coll_compare_text(&me->compare, me->text, sizeof me->text);
    (void)coll_comm_set_algorithm(&me->comm, COLL_ALLREDUCE, NULL, NULL);
    sum = -1;
    me->after = coll_allreduce(&me->comm, me->in, &sum, 1, COLL_F64, COLL_SUM);
    me->sums = sum == me->p * (me->p + 1) / 2.;
    (void)coll_comm_free(&me->comm);
    return NULL;
}

/* Runs p ranks, of which two may do it wrong. */
static void run(uint32_t p, fault what, uint32_t wrong, uint32_t second)
{
    coll_threads *world = coll_threads_create(p);
    const bool is_right = what == NOTHING || wrong >= p;
    if (!CHECK(world != NULL))
        return;
    for (uint32_t r = 0; r < p; r++) {
        memset(&ranks[r].text, 'x', sizeof ranks[r].text);
        ranks[r].ctx = coll_threads_rank(world, r);
        ranks[r].r = r;
        ranks[r].p = p;
        ranks[r].what = what;
        ranks[r].wrong = wrong;
        ranks[r].second = second;
        if (pthread_create(&ranks[r].thread, NULL, work, &ranks[r]) != 0)
            abort();
    }
    for (uint32_t r = 0; r < p; r++)
        (void)pthread_join(ranks[r].thread, NULL);
    for (uint32_t r = 0; r < p; r++) {
        CHECK_STATUS(ranks[r].made, COLL_OK);
        CHECK_STATUS(ranks[r].mismatch, is_right ? COLL_OK : COLL_ERR_MISMATCH);
        CHECK_STATUS(ranks[r].after, COLL_OK);
        CHECK(ranks[r].sums);
        CHECK_EQ(ranks[r].length, is_right ? 0 : strlen(ranks[r].text));
        CHECK(strcmp(ranks[r].text, ranks[0].text) == 0); /* all say the same */
    }
    coll_threads_destroy(world);
}

static void says(const char *words)
{
    if (!CHECK(strcmp(ranks[0].text, words) == 0))
        printf("    %s\n", ranks[0].text);
}

/* With three ranks and more, two of which are right. */
static void says_of(uint32_t wrong, const char *call_of, const char *its, const char *others)
{
    char words[WORDS];
    (void)snprintf(words, sizeof words, "%s: rank %u %s%s", call_of, (unsigned)wrong, its,
                   others);
    says(words);
}

static void each_wrong(uint32_t p, uint32_t wrong)
{
    run(p, OTHER_COLLECTIVE, wrong, p);
    says_of(wrong, "call 2", "calls bcast, ", "the others allreduce");
    run(p, OTHER_ROOT, wrong, p);
    says_of(wrong, "call 2, reduce", "names root 1, ", "the others 0");
    run(p, OTHER_TYPE, wrong, p);
    says_of(wrong, "call 2, allreduce", "gives elements of f32, ", "the others f64");
    run(p, OTHER_OPAQUE, wrong, p);
    says_of(wrong, "call 2, bcast", "gives elements of 9 opaque bytes, ",
            "the others 8 opaque bytes");
    run(p, OTHER_OPERATOR, wrong, p);
    says_of(wrong, "call 2, allreduce", "combines by max, ", "the others by sum");
    run(p, USER_OPERATOR, wrong, p);
    says_of(wrong, "call 2, allreduce",
            "combines by an operator of the user that is not commutative, ",
            "the others by sum");
    run(p, OTHER_COUNT, wrong, p);
    says_of(wrong, "call 2, allreduce", "gives 3 elements, ", "the others 4");
    run(p, OTHER_ALGORITHM, wrong, p);
    says_of(wrong, "call 2, allreduce", "has forced an algorithm, ", "the others none");
    run(p, OTHER_TABLE, wrong, p);
    says_of(wrong, "call 2, allgatherv", "gives another table of counts than ", "the others");
    run(p, OTHER_GATHERED, wrong, p);
    says_of(wrong, "call 2, gather", "gives 3 elements, ", "the others 4");
    run(p, OTHER_REDUCED, wrong, p);
    says_of(wrong, "call 2, reduce", "gives 3 elements, ", "the others 4");
    run(p, OTHER_SCATTERED, wrong, p);
    says_of(wrong, "call 2, scatter", "gives 3 elements, ", "the others 4");
}

TEST(each_argument)
{
    for (uint32_t p = 3; p <= MOST; p += CHECK_SHARE)
        each_wrong(p, p / 2);
    each_wrong(4, 0);
    each_wrong(5, 4);
}

/* A rank's count is not what the root's table says, where only the root, the last rank, has one. */
TEST(counts_of_the_root)
{
    for (uint32_t p = 2; p <= MOST; p += CHECK_SHARE)
        for (uint32_t wrong = 0; wrong < p; wrong++) {
            char words[WORDS];
            (void)snprintf(words, sizeof words,
                           "call 2, gatherv: rank %u gives %u element%s, rank %u expects %u",
                           (unsigned)wrong, (unsigned)wrong + 1, wrong == 0 ? "" : "s",
                           (unsigned)p - 1, (unsigned)wrong + 2);
            run(p, OTHER_OF_GATHERV, wrong, p);
            says(words);
            (void)snprintf(words, sizeof words,
                           "call 2, scatterv: rank %u takes %u element%s, rank %u sends %u",
                           (unsigned)wrong, (unsigned)wrong + 1, wrong == 0 ? "" : "s",
                           (unsigned)p - 1, (unsigned)wrong + 2);
            run(p, OTHER_OF_SCATTERV, wrong, p);
            says(words);
        }
    run(5, OTHER_OF_GATHERV, 1, 3); /* the first of two */
    says("call 2, gatherv: rank 1 gives 2 elements, rank 4 expects 3");
    run(3, NO_TABLE, 0, 3);
    says("call 2, gatherv: rank 2, the root, has no table of counts");
}

/* … and is, also where the root's own block is in place. */
TEST(counts_of_the_root_that_fit)
{
    for (uint32_t p = 1; p <= MOST; p++)
        for (uint32_t second = p; second <= p + 1; second++) {
            run(p, OTHER_OF_GATHERV, p, second);
            run(p, OTHER_OF_SCATTERV, p, second);
        }
}

TEST(right)
{
    for (uint32_t p = 1; p <= MOST; p++)
        run(p, NOTHING, 0, p);
}

/* Of two ranks neither is the one that is wrong. */
TEST(two_ranks)
{
    run(2, OTHER_COUNT, 1, 2);
    says("call 2, allreduce: rank 1 gives 3 elements, rank 0 4");
    run(2, OTHER_COLLECTIVE, 0, 2);
    says("call 2: rank 1 calls allreduce, rank 0 bcast");
}

TEST(several)
{
    run(6, OTHER_TYPE, 2, 4);
    says("call 2, allreduce: rank 2 gives elements of f32, rank 4 gives elements of i64, the "
         "others f64");
    run(7, USER_OPERATOR, 2, 4);
    says("call 2, allreduce: ranks 2 and 4 combine by an operator of the user that is not "
         "commutative, the others by sum");
    run(8, OTHER_CALL_BEFORE, 3, 8);
    says("call 3: rank 3 made other nonblocking or persistent calls before it than the others");
}

/* ---- in one thread ----------------------------------------------------------------------- */

TEST(refusals_and_bytes)
{
    coll_threads *world = coll_threads_create(1);
    rank *me = &ranks[0];
    size_t bytes = 1;
    char text[8];
    if (!CHECK(world != NULL))
        return;
    CHECK_STATUS(coll_comm_init(&me->comm, &coll_threads_transport, coll_threads_rank(world, 0),
                                0, 1, NULL, 0),
                 COLL_OK);
    CHECK_STATUS(coll_comm_compare(NULL, &me->compare, me->all, 1), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_compare(&me->comm, NULL, me->all, 1), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_compare(&me->comm, &me->compare, NULL, 1), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_compare(&me->comm, &me->compare, me->all, 2), COLL_ERR_RANKS);
    CHECK_STATUS(coll_comm_compare(&me->comm, &me->compare, me->all, 1), COLL_OK);
    CHECK_STATUS(coll_compare_bytes(&me->comm, &me->compare, &bytes), COLL_OK);
    CHECK_EQ(bytes, 0); /* one rank needs none */
    CHECK_STATUS(coll_compare_bytes(&me->comm, NULL, &bytes), COLL_ERR_NULL);
    CHECK_STATUS(coll_comm_settle(&me->comm, NULL, NULL, 0, NULL),
                 COLL_ERR_STATE); /* too late */
    me->in[0] = 5;
    CHECK_STATUS(coll_allreduce(&me->comm, me->in, me->out, 1, COLL_F64, COLL_SUM), COLL_OK);
    CHECK(me->out[0] == 5);
    CHECK_EQ(me->compare.calls, 1);
    CHECK_EQ(coll_compare_text(&me->compare, text, sizeof text), 0);
    CHECK_EQ(text[0], 0);
    CHECK_STATUS(coll_comm_free(&me->comm), COLL_OK);
    coll_threads_destroy(world);
}

int main(void)
{
    RUN(each_argument);
    RUN(counts_of_the_root);
    RUN(counts_of_the_root_that_fit);
    RUN(right);
    RUN(two_ranks);
    RUN(several);
    RUN_ALONE(refusals_and_bytes);
    return check_done();
}
