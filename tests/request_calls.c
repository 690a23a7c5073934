/* The executor call by call: what one rank asks of its transport, in which order, and what it makes of
 * each answer. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "coll/request.h"

/* ---- a transport that follows a script --------------------------------------------------- */

/* A call is three characters: which, of whom, and what it answers.
 *
 *   s r b   send, recv, borrow from a peer (a digit)   c d   copy, reduce (-)
 *   t u     test of a send, of a receive               m f   multicast (-), fabric_reduce of a team
 *   v       test of anything else (-)                  w     wait, a digit: idle
 *   x y z   cancel of such                             a     abort of a tag
 *   g       give_back
 *
 *   .  done   >  started   ?  not now   !  an error   /  not capable   p  the peer failed
 *
 * What is answered ? or / may be asked again before the script goes on. */
static const char *script;
static bool strayed; /* from the script */
static coll_status refused[128][128];

static coll_status call(char which, uint32_t whom)
{
    const char digit = whom == COLL_NOBODY ? '-' : (char)('0' + whom);
    static const char answers[] = ".>?!/p";
    static const coll_status statuses[] = {COLL_OK,     COLL_STARTED,        COLL_AGAIN,
                                           COLL_ERR_IO, COLL_ERR_CAPABILITY, COLL_ERR_PEER};
    coll_status status;
    while (*script == ' ')
        script++;
    if (strayed || script[0] != which || script[1] != digit) {
        if (!strayed && refused[(int)which][(int)digit] != COLL_OK)
            return refused[(int)which][(int)digit];
        if (!strayed)
            printf("    %c%c, not \"%s\"\n", which, digit, script);
        strayed = true;
        return COLL_ERR_STATE;
    }
    script += 3;
    status = statuses[strchr(answers, script[-1]) - answers];
    refused[(int)which][(int)digit] =
        status == COLL_AGAIN || status == COLL_ERR_CAPABILITY ? status : COLL_OK;
    return status;
}

/* Starts something: its handle is fresh. */
static coll_status starts(char which, uint32_t whom, coll_handle *h)
{
    const coll_status status = call(which, whom);
    if (h->word[0] != 0 || h->word[1] != 0) {
        printf("    %c%u: the handle is not fresh\n", which, whom);
        strayed = true;
    }
    if (status != COLL_STARTED)
        return status;
    h->word[0] = whom + (size_t)1;
    h->word[1] = (unsigned char)(which == 's' ? 't' : which == 'r' ? 'u' : 'v');
    return status;
}

static uint64_t in[16], out[16], scratch[64], message[16];
static size_t sizes[8]; /* of the calls that sent or received, oldest first */
static const void *buffers[8];
static unsigned n_sizes;

static void note(const void *buffer, size_t bytes)
{
    buffers[n_sizes % 8] = buffer;
    sizes[n_sizes++ % 8] = bytes;
}

static coll_status my_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                           size_t bytes, coll_handle *h)
{
    (void)ctx;
    (void)tag;
    note(buf, bytes);
    return starts('s', peer, h);
}

static coll_status my_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                           coll_handle *h)
{
    (void)ctx;
    (void)tag;
    note(buf, bytes);
    if (buf)
        memcpy(buf, message, bytes);
    return starts('r', peer, h);
}

static coll_status my_test(void *ctx, coll_handle *h)
{
    (void)ctx;
    return call((char)h->word[1], (uint32_t)(h->word[0] - 1));
}

static void my_cancel(void *ctx, coll_handle *h)
{
    (void)ctx;
    (void)call((char)(h->word[1] + 4), (uint32_t)(h->word[0] - 1));
}

static void my_abort(void *ctx, uint32_t first, uint32_t tags)
{
    (void)ctx;
    strayed = strayed || tags != 1;
    (void)call('a', first);
}

static void my_wait(void *ctx, uint32_t idle)
{
    (void)ctx;
    (void)call('w', idle);
}

static coll_status my_borrow(void *ctx, uint32_t peer, uint32_t tag, size_t bytes,
                             const void **where, coll_handle *h)
{
    coll_status status;
    (void)ctx;
    (void)tag;
    note(message, bytes);
    *where = message;
    status = call('b', peer);
    strayed = strayed || h->word[0] != 0 || h->word[1] != 0;
    h->word[0] = status == COLL_OK ? peer + (size_t)1 : 0;
    return status;
}

static void my_give_back(void *ctx, coll_handle *h)
{
    (void)ctx;
    (void)call('g', (uint32_t)(h->word[0] - 1));
}

static coll_status my_copy(void *ctx, void *dst, const void *src, size_t bytes, coll_handle *h)
{
    (void)ctx;
    memcpy(dst, src, bytes);
    return starts('c', COLL_NOBODY, h);
}

static coll_status my_multicast(void *ctx, uint32_t tag, const void *buf, size_t bytes,
                                coll_handle *h)
{
    (void)ctx;
    (void)tag;
    note(buf, bytes);
    return starts('m', COLL_NOBODY, h);
}

/* ---- a program --------------------------------------------------------------------------- */

enum { MOST = 8 };
static coll_action acts[MOST];
static unsigned n_acts, per_step;

static size_t my_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return (n_acts + per_step - 1) / per_step;
}

static unsigned my_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *to)
{
    unsigned n = 0;
    (void)plan;
    (void)rank;
    for (size_t i = s * per_step; i < n_acts && n < per_step; i++)
        to[n++] = acts[i];
    return n;
}

static size_t my_scratch(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return sizeof scratch / sizeof *scratch;
}

static coll_algorithm algorithm = {
    "program",  "",  COLL_BIT(COLL_ALLREDUCE), 0, 1, 0, NULL, NULL, my_steps, my_step,
    my_scratch, NULL};

static void combine(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)dst)[i] = 3 * ((const uint64_t *)a)[i] + ((const uint64_t *)b)[i];
}

static coll_op op;
static coll_plan plan;
static coll_transport transport;
static coll_run run;
static coll_request request;
static coll_slot slots[MOST];

/* A rank without a program, and nothing in its memory that it could rely on. */
static void begin(uint32_t window)
{
    coll_problem problem;
    coll_problem_init(&problem, COLL_ALLREDUCE, 9, 16, sizeof(uint64_t));
    memset(&transport, 0, sizeof transport);
    transport.send = my_send;
    transport.recv = my_recv;
    transport.test = my_test;
    memset(&run, 0, sizeof run);
    memset(&op, 0, sizeof op);
    op.combine = combine;
    CHECK_STATUS(coll_plan_init(&plan, &algorithm, &problem, NULL), COLL_OK);
    run.plan = &plan;
    run.transport = &transport;
    run.op = &op;
    run.in = in;
    run.out = out;
    run.scratch = scratch;
    run.scratch_bytes = sizeof scratch;
    for (unsigned i = 0; i < 16; i++) {
        in[i] = 100 + i;
        out[i] = 200 + i;
        message[i] = 1000 + i;
    }
    n_acts = n_sizes = 0;
    per_step = 1;
    memset(slots, 0xFF, sizeof slots);
    memset(&request, 0xFF, sizeof request);
    request.status = COLL_AGAIN;
    CHECK_STATUS(coll_request_init(&request, slots, window), COLL_OK);
}

static coll_action *next(void)
{
    return &acts[n_acts++];
}

/* Does something; the transport is asked as it is written, and no more. */
#define TALK(what, status, words)                                                              \
    do {                                                                                       \
        script = words;                                                                        \
        strayed = false;                                                                       \
        memset(refused, 0, sizeof refused);                                                    \
        CHECK_STATUS(what, status);                                                            \
        CHECK(!strayed && *script == 0);                                                       \
    } while (0)
#define START(status, words)    TALK(coll_request_start(&request, &run), status, words)
#define PROGRESS(status, words) TALK(coll_request_progress(&request), status, words)
#define OUT(i)                  COLL_AT(COLL_OUT, i)
#define SCRATCH(i)              COLL_AT(COLL_SCRATCH, i)

/* ---- progress ---------------------------------------------------------------------------- */

/* What can move moves in one call, however small the window is; a run leaves nothing to the next. */
TEST(all_that_can_move_moves)
{
    for (unsigned each = 1; each <= 4; each++) {
        begin(1);
        per_step = each;
        coll_act_send(next(), 1, OUT(0), 2);
        coll_act_send(next(), 2, OUT(1), 0); /* is none */
        coll_act_recv(next(), 3, OUT(2), 2);
        coll_act_send(next(), 4, OUT(3), 2);
        START(COLL_OK, "s1> t1. r3> u3. s4.");
        CHECK_STATUS(request.status, COLL_OK);
        PROGRESS(COLL_OK, "");
        START(COLL_OK, "s1> t1?");
        CHECK_STATUS(request.status, COLL_AGAIN);
        PROGRESS(COLL_AGAIN, "t1. r3> u3?");
        PROGRESS(COLL_AGAIN, "u3. s4?");
        CHECK(!coll_request_only_waits(&request)); /* it has not started the last one */
        PROGRESS(COLL_AGAIN, "s4> t4?");
        CHECK(coll_request_only_waits(&request));
        PROGRESS(COLL_OK, "t4.");
    }
}

/* In the middle of a step, too. */
TEST(given_up_and_started_again)
{
    begin(2);
    per_step = 4;
    coll_act_send(next(), 1, OUT(0), 2);
    coll_act_recv(next(), 2, OUT(2), 2);
    coll_act_send(next(), 3, OUT(4), 2);
    coll_act_send(next(), 4, OUT(6), 2);
    run.tag = 5;
    transport.cancel = my_cancel;
    transport.abort = my_abort;
    START(COLL_OK, "s1> r2> t1? u2?");
    CHECK(!coll_request_only_waits(&request));
    START(COLL_ERR_BUSY, "");
    TALK(coll_request_cancel(&request), COLL_OK, "a5. x1. y2.");
    PROGRESS(COLL_ERR_CANCELLED, "");
    TALK(coll_request_wait(&request), COLL_ERR_CANCELLED, "");
    START(COLL_OK, "s1. r2> s3. s4. u2.");
    START(COLL_ERR_IO, "s1> r2! a5. x1.");
    START(COLL_ERR_PEER, "s1> r2p x1.");
    transport.abort = NULL;
    START(COLL_OK, "s1> r2> t1? u2?");
    PROGRESS(COLL_ERR_IO, "t1! x1. y2.");
    PROGRESS(COLL_ERR_IO, "");
    transport.cancel = NULL;
    START(COLL_ERR_IO, "s1> r2!");
}

/* Calls in a row in which nothing happened; wait is told of them, if there is one. */
TEST(idle_calls)
{
    for (unsigned waits = 0; waits < 2; waits++) {
        begin(2);
        coll_act_recv(next(), 1, OUT(0), 2);
        coll_act_recv(next(), 2, OUT(2), 2);
        transport.wait = waits ? my_wait : NULL;
        START(COLL_OK, "r1> r2> u1? u2?");
        CHECK_EQ(request.idle, 0);
        PROGRESS(COLL_AGAIN, "u1? u2?");
        PROGRESS(COLL_AGAIN, "u1? u2?");
        CHECK_EQ(request.idle, 2);
        PROGRESS(COLL_AGAIN, "u1. u2?");
        CHECK_EQ(request.idle, 0);
        request.idle = UINT16_MAX - 1;
        PROGRESS(COLL_AGAIN, "u2?");
        PROGRESS(COLL_AGAIN, "u2?");
        CHECK_EQ(request.idle, UINT16_MAX);
        request.idle = 5;
        TALK(coll_request_wait(&request), COLL_OK, waits ? "u2? w6. u2? w7. u2." : "u2? u2.");
    }
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Sends of one peer start in order, and receives; one that was not taken holds up the next, but
 * nobody else's. */
TEST(channels)
{
    begin(8);
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_send(next(), 1, OUT(0), 2);
    coll_act_recv(next(), 1, OUT(4), 1);
    coll_act_send(next(), 2, OUT(0), 3);
    START(COLL_OK, "s1? r1> s2. u1?");
    PROGRESS(COLL_AGAIN, "u1? s1> t1? s1>");
    CHECK_EQ(sizes[(n_sizes - 2) % 8], 8);
    CHECK_EQ(sizes[(n_sizes - 1) % 8], 16);
    PROGRESS(COLL_OK, "t1. t1. u1.");
    START(COLL_OK, "s1> s1? r1? s2> t1? t2?");
    PROGRESS(COLL_OK, "t1. t2. s1. r1.");
}

/* A message in pieces: one after the other, the next message only then. */
TEST(pieces)
{
    begin(8);
    transport.max_bytes = 12;
    coll_act_send(next(), 1, OUT(0), 4);
    coll_act_send(next(), 1, OUT(4), 1);
    START(COLL_OK, "s1. s1> t1?");
    PROGRESS(COLL_AGAIN, "t1. s1> s1? t1?");
    PROGRESS(COLL_OK, "t1. s1.");
    CHECK(sizes[0] == 12 && sizes[1] == 12 && sizes[2] == 8);
    CHECK(buffers[0] == out && buffers[1] == (char *)out + 12 && buffers[2] == out + 3);
    begin(8);
    transport.max_bytes = 8;
    coll_act_recv(next(), 1, OUT(0), 2);
    coll_act_recv(next(), 1, OUT(2), 1);
    START(COLL_OK, "r1> u1?");
    PROGRESS(COLL_AGAIN, "u1. r1? ");
    PROGRESS(COLL_OK, "r1. r1.");
    CHECK(buffers[0] == out && buffers[(n_sizes - 2) % 8] == out + 1 &&
          buffers[(n_sizes - 1) % 8] == out + 2);
}

/* Tokens are of no bytes. */
TEST(tokens)
{
    begin(1);
    transport.max_bytes = 4;
    coll_act_notify(next(), 1, OUT(0), 4);
    coll_act_await(next(), 2, OUT(4), 4);
    START(COLL_OK, "s1. r2> u2.");
    for (unsigned i = 0; i < 2; i++)
        CHECK(buffers[i] == NULL && sizes[i] == 0);
    for (unsigned i = 0; i < 16; i++)
        CHECK_EQ(out[i], 200 + i);
}

TEST(multicasts)
{
    begin(4);
    transport.multicast = my_multicast;
    transport.max_bytes = 8;
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_multicast(next(), OUT(1), 2);
    coll_act_send(next(), 2, OUT(2), 1);
    START(COLL_OK, "s1? ");
    PROGRESS(COLL_AGAIN, "s1. m-> v-?");
    PROGRESS(COLL_OK, "v-. m-. s2.");
    CHECK(buffers[(n_sizes - 2) % 8] == out + 2 && sizes[(n_sizes - 2) % 8] == 8);
}

/* Where memory moves, but not where it stays. */
TEST(copies)
{
    for (unsigned copies = 0; copies < 2; copies++) {
        begin(2);
        transport.copy = copies ? my_copy : NULL;
        coll_act_copy(next(), OUT(0), COLL_AT(COLL_IN, 2), 2);
        coll_act_copy(next(), OUT(4), OUT(4), 2);
        coll_act_send(next(), 1, OUT(1), 1);
        START(COLL_OK, copies ? "c-? c->  v-. s1." : "s1.");
        CHECK(out[0] == 102 && out[1] == 103 && out[2] == 202);
    }
}

/* What is none of the kinds is an error, and not passed over. */
TEST(no_kind)
{
    begin(2);
    coll_act_send(next(), 1, OUT(0), 1);
    coll_act_copy(next(), OUT(0), OUT(1), 1);
    acts[1].kind = COLL_KINDS;
    START(COLL_ERR_STATE, "s1.");
}

/* ---- sums -------------------------------------------------------------------------------- */

static coll_action *merge(uint32_t peer, size_t at, size_t staging, size_t count)
{
    coll_action *a = next();
    coll_act_recv_reduce(a, peer, OUT(at), OUT(at), SCRATCH(staging), count);
    return a;
}

static void lends(void)
{
    transport.borrow = my_borrow;
    transport.give_back = my_give_back;
}

/* A message that is lent is not received; nor is one asked for that may not be combined yet, until
 * the rank has been idle for some time. */
TEST(borrowed)
{
    begin(4);
    lends();
    merge(1, 0, 0, 2);
    START(COLL_OK, "b1. g1.");
    CHECK(out[0] == 3 * 200 + 1000 && out[1] == 3 * 201 + 1001 && out[2] == 202);
    START(COLL_OK, "b1?");
    PROGRESS(COLL_OK, "b1. g1.");
    START(COLL_ERR_IO, "b1!");
    START(COLL_OK, "b1/ r1> u1?");
    PROGRESS(COLL_OK, "u1.");

    begin(4);
    lends();
    coll_act_recv(next(), 1, OUT(0), 1);
    merge(2, 0, 0, 1);
    START(COLL_OK, "r1> u1?");
    PROGRESS(COLL_AGAIN, "u1?");
    PROGRESS(COLL_OK, "u1. b2. g2.");
    CHECK_EQ(out[0], 3 * 1000 + 1000);
    START(COLL_OK, "r1> u1?");
    for (unsigned i = 1; i < COLL_I_PATIENCE; i++)
        PROGRESS(COLL_AGAIN, "u1?");
    PROGRESS(COLL_AGAIN, "u1? r2> u2?");
    PROGRESS(COLL_AGAIN, "u1? u2. ");
    PROGRESS(COLL_OK, "u1.");
    CHECK_EQ(out[0], 3 * 1000 + 1000);
    START(COLL_OK, "r1> u1?");
    for (unsigned i = 1; i < COLL_I_PATIENCE; i++)
        PROGRESS(COLL_AGAIN, "u1?");
    PROGRESS(COLL_AGAIN, "u1? r2?"); /* there is no room */
    PROGRESS(COLL_AGAIN, "u1? r2> u2?");
    PROGRESS(COLL_OK, "u1. u2.");
    CHECK_EQ(out[0], 3 * 1000 + 1000);
}

/* One that waits for a send is received at once. */
TEST(staged)
{
    begin(4);
    lends();
    coll_act_send(next(), 1, OUT(0), 1);
    merge(2, 0, 0, 1);
    START(COLL_OK, "s1> r2> t1? u2?");
    PROGRESS(COLL_AGAIN, "t1? u2.");
    CHECK_EQ(out[0], 200);
    PROGRESS(COLL_OK, "t1.");
    CHECK_EQ(out[0], 3 * 200 + 1000);
}

/* The one before it on its channel is taken first: if that was not lent, when it is here. */
TEST(borrowed_in_order)
{
    begin(4);
    lends();
    coll_act_recv(next(), 1, OUT(4), 1);
    merge(1, 0, 0, 1);
    START(COLL_OK, "r1> u1?");
    PROGRESS(COLL_AGAIN, "u1?");
    PROGRESS(COLL_AGAIN, "u1. b1?");
    PROGRESS(COLL_OK, "b1. g1.");
    begin(4);
    lends();
    merge(1, 0, 0, 1);
    merge(1, 1, 1, 1);
    START(COLL_OK, "b1/ r1> u1?");
    PROGRESS(COLL_AGAIN, "u1. b1?");
    PROGRESS(COLL_OK, "b1/ r1.");
    CHECK(out[0] == 3 * 200 + 1000 && out[1] == 3 * 201 + 1000);
}

/* Pieces that are lent, each as soon as it is here. */
TEST(borrowed_in_pieces)
{
    begin(4);
    lends();
    transport.max_bytes = 8;
    merge(1, 0, 0, 3);
    START(COLL_OK, "b1?");
    PROGRESS(COLL_AGAIN, "b1. g1. b1?");
    PROGRESS(COLL_OK, "b1. g1. b1. g1.");
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQ(out[i], 3 * (200 + i) + 1000);
    CHECK_EQ(out[3], 203);
    START(COLL_OK, "b1/ r1> u1?"); /* none of them is, then */
    PROGRESS(COLL_AGAIN, "u1. r1> u1?");
    PROGRESS(COLL_OK, "u1. r1.");
}

int main(void)
{
    RUN(all_that_can_move_moves);
    RUN(given_up_and_started_again);
    RUN(idle_calls);
    RUN(channels);
    RUN(pieces);
    RUN(tokens);
    RUN(multicasts);
    RUN(copies);
    RUN(no_kind);
    RUN(borrowed);
    RUN(staged);
    RUN(borrowed_in_order);
    RUN(borrowed_in_pieces);
    return check_done();
}
