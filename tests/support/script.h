/* tests/support/script.h — one rank over a transport that follows a script: what the executor
 * asks of it, call by call, and what it makes of each answer
 *
 *   begin(4);                                     // a window
 *   coll_act_send(next(), 1, OUT(0), 2);          // the program
 *   coll_act_recv(next(), 2, OUT(2), 2);
 *   START(COLL_OK, "s1. r2> u2?");                // it sends to 1, receives from 2, and asks
 *   PROGRESS(COLL_OK, "u2.");
 */
#ifndef COLL_TESTS_SCRIPT_H
#define COLL_TESTS_SCRIPT_H

#include <string.h>

#include "check.h"
#include "coll/executor.h"
#include "records.h"

/* A call is three characters: which, of whom, and what it answers.
 *
 *   s r b   send, recv, acquire from a peer (a digit)   c d   copy, reduce (-)
 *   q       recv_reduce from a peer
 *   t u     test of a send, of a receive               m f   multicast (-), network_reduce of a group
 *   v       test of anything else (-)                  w     wait, a digit: idle
 *   x y z   cancel of such                             a     abort of a tag
 *   g       release                                  S R   send, recv that are handed to the engine
 *
 *   .  done   >  started   ?  not now   !  an error   /  not capable   p  the peer failed
 *
 * What is answered ? or / may be asked again before the script goes on. */
static const char *script;
static bool strayed; /* from the script */
static coll_status refused[128][128];

static inline coll_status call(char which, uint32_t whom)
{
    const char digit = whom == COLL_RANK_NONE ? '-' : (char)('0' + whom);
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
static inline coll_status starts(char which, uint32_t whom, coll_handle *h)
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

static inline void note(const void *buffer, size_t bytes)
{
    buffers[n_sizes % 8] = buffer;
    sizes[n_sizes++ % 8] = bytes;
}

static inline coll_status my_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                                  size_t bytes, coll_handle *h)
{
    (void)ctx;
    (void)tag;
    note(buf, bytes);
    return starts('s', peer, h);
}

static inline coll_status my_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                  size_t bytes, coll_handle *h)
{
    (void)ctx;
    (void)tag;
    note(buf, bytes);
    if (buf)
        memcpy(buf, message, bytes);
    return starts('r', peer, h);
}

static inline coll_status my_test(void *ctx, coll_handle *h)
{
    (void)ctx;
    return call((char)h->word[1], (uint32_t)(h->word[0] - 1));
}

static inline void my_cancel(void *ctx, coll_handle *h)
{
    (void)ctx;
    (void)call((char)(h->word[1] + 4), (uint32_t)(h->word[0] - 1));
}

static inline void my_abort(void *ctx, uint32_t first, uint32_t tags)
{
    (void)ctx;
    strayed = strayed || tags != 1;
    (void)call('a', first);
}

static inline void my_wait(void *ctx, uint32_t idle)
{
    (void)ctx;
    (void)call('w', idle);
}

static inline coll_status my_borrow(void *ctx, uint32_t peer, uint32_t tag, size_t bytes,
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

static inline void my_give_back(void *ctx, coll_handle *h)
{
    (void)ctx;
    (void)call('g', (uint32_t)(h->word[0] - 1));
}

/* What it takes it does at once, as my_reduce does. */
static inline coll_status my_copy(void *ctx, void *dst, const void *src, size_t bytes,
                                  coll_handle *h)
{
    const coll_status status = starts('c', COLL_RANK_NONE, h);
    (void)ctx;
    if (status == COLL_OK || status == COLL_STARTED)
        memcpy(dst, src, bytes);
    return status;
}

static inline coll_status my_multicast(void *ctx, uint32_t tag, const void *buf, size_t bytes,
                                       coll_handle *h)
{
    (void)ctx;
    (void)tag;
    note(buf, bytes);
    return starts('m', COLL_RANK_NONE, h);
}

static inline coll_status my_network_reduce(void *ctx, const coll_network_call *call,
                                            coll_handle *h)
{
    (void)ctx;
    if (!CHECK(call->of != NULL && call->op != NULL && call->elem_bytes == 8))
        return COLL_ERR_STATE;
    note(call->dst, call->count);
    note(call->src, call->group.members);
    return starts('f', call->group.number, h);
}

static inline coll_status my_reduce(void *ctx, const coll_reduce_call *call, coll_handle *h)
{
    const coll_status status = starts('d', COLL_RANK_NONE, h);
    (void)ctx;
    if (!CHECK(call->elem_bytes == 8))
        return COLL_ERR_STATE;
    note(call->dst, call->count);
    if (status == COLL_OK || status == COLL_STARTED)
        call->op->combine(call->dst, call->a, call->b, call->count, call->op->arg);
    return status;
}

/* The message is combined at once, whatever is said of it; of the last one all is kept. */
static coll_arrival_call arrived;

static inline coll_status my_recv_reduce(void *ctx, const coll_arrival_call *of, coll_handle *h)
{
    const coll_status status = starts('q', of->peer, h);
    (void)ctx;
    if (!CHECK(of->count > 0 && of->elem_bytes == 8))
        return COLL_ERR_STATE;
    arrived = *of;
    if (status == COLL_OK || status == COLL_STARTED)
        of->op->combine(of->dst, of->left ? message : of->operand,
                        of->left ? of->operand : message, of->count, of->op->arg);
    return status;
}

/* ---- a program --------------------------------------------------------------------------- */

enum { MOST = 8 };
static coll_action acts[MOST];
static unsigned n_acts, per_step;

static inline size_t my_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return (n_acts + per_step - 1) / per_step;
}

static inline unsigned my_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *to)
{
    unsigned n = 0;
    (void)plan;
    (void)rank;
    for (size_t i = s * per_step; i < n_acts && n < per_step; i++)
        to[n++] = acts[i];
    return n;
}

static size_t scratch_needed;

static inline size_t my_scratch(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return scratch_needed;
}

static coll_algorithm algorithm = {"program",
                                   "",
                                   COLL_BIT(COLL_ALLREDUCE),
                                   0,
                                   1,
                                   1,
                                   COLL_NO_PARAMS,
                                   my_steps,
                                   my_step,
                                   my_scratch,
                                   NULL,
                                   NULL,
                                   NULL};

static inline void combine(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)dst)[i] = 3 * ((const uint64_t *)a)[i] + ((const uint64_t *)b)[i];
}

static coll_op op;
static coll_plan plan;
static coll_transport transport;
static records own; /* its records */
static coll_task run;
static coll_engine engine;
static coll_slot slots[MOST];

/* A rank without a program, and nothing in its memory that it could rely on. */
static inline void begin(uint32_t window)
{
    coll_problem problem;
    coll_problem_init(&problem, COLL_ALLREDUCE, 9, 16, sizeof(uint64_t));
    memset(&transport, 0, sizeof transport);
    memset(&own, 0, sizeof own);
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
    scratch_needed = sizeof scratch / sizeof *scratch;
    n_acts = n_sizes = 0;
    per_step = 1;
    memset(slots, 0xFF, sizeof slots);
    memset(&engine, 0xFF, sizeof engine);
    engine.status = COLL_AGAIN;
    CHECK_STATUS(coll_engine_init(&engine, slots, window), COLL_OK);
}

static inline coll_action *next(void)
{
    return &acts[n_acts++];
}

/* Does something; the transport is asked as it is written, and no more. */
#define TALK(what, status, words)                                                              \
    do {                                                                                       \
        script = words;                                                                        \
        strayed = false;                                                                       \
        memset(refused, 0, sizeof refused);                                                    \
        records_use(&own, &transport);                                                         \
        CHECK_STATUS(what, status);                                                            \
        CHECK(!strayed && *script == 0);                                                       \
    } while (0)
#define START(status, words)    TALK(coll_engine_start(&engine, &run), status, words)
#define PROGRESS(status, words) TALK(coll_engine_progress(&engine), status, words)
#define OUT(i)                  COLL_AT(COLL_OUT, i)
#define SCRATCH(i)              COLL_AT(COLL_SCRATCH, i)

#endif /* COLL_TESTS_SCRIPT_H */
