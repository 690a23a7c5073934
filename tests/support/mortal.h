/* tests/support/mortal.h — ranks in one thread that die at a given point: a transport for the tests of recover.h and
 * reliable.h
 *
 *   mortal_begin(p, mode, seed);
 *   mortal.dies_at[2] = 17;                    // rank 2 dies in its 17th send or abort
 *   … &mortal_transport, &mortal.ends[r] …     // each step of rank r after mortal_step(r)
 *
 * Sends are buffered. From when a rank dies on, nothing that it does has an effect, though its code goes on to
 * the end of its step. Others notice, and aborts come, some steps later, each at its own time.
 */
#ifndef COLL_TESTS_MORTAL_H
#define COLL_TESTS_MORTAL_H

#include <stdlib.h>
#include <string.h>

#include "coll/transport.h"

/* Ranks at most, and bytes of a message: a test may ask for more. */
#ifndef MORTALS_MOST
#define MORTALS_MOST       6
#define MORTALS_BYTES_MOST 64
#endif

enum {
    MORTALS = MORTALS_MOST,
    MORTAL_TAGS = 512,
    MORTAL_MESSAGES = 256,
    MORTAL_BYTES = MORTALS_BYTES_MOST,
    MORTAL_OPS = 64
};

/* What a death, and an abort in whose midst a rank dies, look like: bits. */
enum {
    MORTAL_LOSES = 1, /* messages that were not received are lost … */
    MORTAL_SOME = 2,  /* … or some of them are */
    MORTAL_LATE = 4,  /* others notice later, and aborts come later */
    MORTAL_FIRST = 8, /* a message that is there is received though its tag is aborted */
    MORTAL_MODES = 16
};

typedef struct mortal_message {
    uint32_t tag;
    size_t bytes;
    unsigned char copy[MORTAL_BYTES];
} mortal_message;

typedef struct mortal_op {
    bool used;
    uint32_t peer, tag;
    void *into;
    size_t bytes;
} mortal_op;

typedef struct mortal_end {
    uint32_t rank;
    mortal_op ops[MORTAL_OPS];
} mortal_end;

static struct {
    uint32_t p, mode, random, now;
    bool dead[MORTALS];
    uint32_t points[MORTALS];               /* sends and aborts so far */
    uint32_t dies_at[MORTALS];              /* UINT32_MAX: it does not */
    uint32_t noticed[MORTALS][MORTALS];     /* when the first notices that the second is dead */
    uint32_t aborted[MORTALS][MORTAL_TAGS]; /* when the rank hears of that */
    uint32_t queued[MORTALS][MORTALS];
    mortal_message queue[MORTALS][MORTALS][MORTAL_MESSAGES]; /* from the first to the second */
    mortal_end ends[MORTALS];
    bool overflow;
    /* Changes a message that a rank sends, as an error in its program would; or NULL. */
    void (*tamper)(uint32_t rank, uint32_t peer, uint32_t tag, void *message, size_t bytes);
} mortal;

static uint32_t mortal_draw(uint32_t n)
{
    mortal.random = mortal.random * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(mortal.random >> 8) * n >> 24);
}

static void mortal_begin(uint32_t p, uint32_t mode, uint32_t seed)
{
    mortal.p = p;
    mortal.mode = mode;
    mortal.random = seed * 2654435769u + 1;
    mortal.now = 1;
    mortal.overflow = false;
    memset(mortal.aborted, 0xFF, p * sizeof mortal.aborted[0]);
    memset(mortal.noticed, 0xFF, sizeof mortal.noticed);
    memset(mortal.queued, 0, sizeof mortal.queued);
    for (uint32_t r = 0; r < p; r++) {
        mortal.dead[r] = false;
        mortal.points[r] = 0;
        mortal.dies_at[r] = UINT32_MAX;
        mortal.ends[r].rank = r;
        for (uint32_t i = 0; i < MORTAL_OPS; i++)
            mortal.ends[r].ops[i].used = false;
    }
}

static uint32_t mortal_delay(void)
{
    return mortal.mode & MORTAL_LATE ? mortal_draw(60) : 0;
}

/* A rank dies. */
static void mortal_die(uint32_t rank)
{
    mortal.dead[rank] = true;
    for (uint32_t r = 0; r < mortal.p; r++) {
        mortal.noticed[r][rank] = mortal.now + mortal_delay();
        if (mortal.mode & MORTAL_LOSES)
            mortal.queued[rank][r] = 0;
        else if (mortal.mode & MORTAL_SOME) /* the last ones are */
            mortal.queued[rank][r] = mortal_draw(mortal.queued[rank][r] + 1);
    }
}

/* Is this the rank's last act? Dead ranks have none. */
static bool mortal_acts(uint32_t rank, bool *last)
{
    *last = false;
    if (mortal.dead[rank])
        return false;
    *last = mortal.points[rank]++ == mortal.dies_at[rank];
    return true;
}

static coll_status mortal_again(uint32_t rank, uint32_t peer, uint32_t tag)
{
    if (mortal.aborted[rank][tag] <= mortal.now)
        return COLL_ERR_PEER;
    return mortal.noticed[rank][peer] <= mortal.now ? COLL_ERR_IO : COLL_AGAIN;
}

static coll_status mortal_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                               size_t bytes, coll_handle *h)
{
    const uint32_t rank = ((mortal_end *)ctx)->rank;
    const coll_status status = mortal_again(rank, peer, tag);
    mortal_message *message;
    bool last;
    (void)h;
    if (status < 0)
        return status;
    if (!mortal_acts(rank, &last))
        return COLL_OK;
    if (last && mortal_draw(2) == 0) {
        mortal_die(rank);
        return COLL_OK;
    }
    if (mortal.queued[rank][peer] == MORTAL_MESSAGES || bytes > MORTAL_BYTES) {
        mortal.overflow = true;
        return COLL_ERR_MEMORY;
    }
    message = &mortal.queue[rank][peer][mortal.queued[rank][peer]++];
    message->tag = tag;
    message->bytes = bytes;
    if (bytes > 0)
        memcpy(message->copy, buf, bytes);
    if (mortal.tamper)
        mortal.tamper(rank, peer, tag, message->copy, bytes);
    if (last)
        mortal_die(rank);
    return COLL_OK;
}

static coll_status mortal_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf, size_t bytes,
                               coll_handle *h)
{
    mortal_end *end = (mortal_end *)ctx;
    uint32_t i = 0;
    while (i < MORTAL_OPS && end->ops[i].used)
        i++;
    if (i == MORTAL_OPS) {
        mortal.overflow = true;
        return COLL_ERR_MEMORY;
    }
    end->ops[i].used = true;
    end->ops[i].peer = peer;
    end->ops[i].tag = tag;
    end->ops[i].into = buf;
    end->ops[i].bytes = bytes;
    h->word[0] = i;
    return COLL_STARTED;
}

static coll_status mortal_test(void *ctx, coll_handle *h)
{
    mortal_end *end = (mortal_end *)ctx;
    mortal_op *op = &end->ops[h->word[0]];
    const uint32_t rank = end->rank;
    uint32_t *queued = &mortal.queued[op->peer][rank];
    mortal_message *first = mortal.queue[op->peer][rank];
    const coll_status status = mortal_again(rank, op->peer, op->tag);
    uint32_t i = 0;
    if (status == COLL_ERR_PEER && !(mortal.mode & MORTAL_FIRST))
        return status;
    while (i < *queued && first[i].tag != op->tag)
        i++;
    if (i == *queued)
        return status;
    op->used = false;
    if (first[i].bytes != op->bytes)
        return COLL_ERR_SIZE;
    if (op->bytes > 0)
        memcpy(op->into, first[i].copy, op->bytes);
    memmove(first + i, first + i + 1, (*queued - i - 1) * sizeof *first);
    --*queued;
    return COLL_OK;
}

static void mortal_cancel(void *ctx, coll_handle *h)
{
    ((mortal_end *)ctx)->ops[h->word[0]].used = false;
}

/* Of a rank that dies of it, others hear all of it late, or nothing at all. */
static void mortal_abort(void *ctx, uint32_t first, uint32_t tags)
{
    const uint32_t rank = ((mortal_end *)ctx)->rank;
    bool last;
    if (!mortal_acts(rank, &last))
        return;
    if (last && mortal_draw(2) == 0) {
        mortal_die(rank);
        return;
    }
    for (uint32_t r = 0; r < mortal.p; r++) {
        const uint32_t when = mortal.now + (r == rank ? 0 : mortal_delay());
        for (uint32_t t = first; t < first + tags && t < MORTAL_TAGS; t++)
            if (mortal.aborted[r][t] > when)
                mortal.aborted[r][t] = when;
    }
    if (last)
        mortal_die(rank);
}

static bool mortal_dead(void *ctx, uint32_t peer)
{
    return mortal.noticed[((mortal_end *)ctx)->rank][peer] <= mortal.now;
}

static const coll_failure mortal_failure = {mortal_cancel, mortal_abort, mortal_dead, NULL};
static const coll_transport mortal_transport = {.send = mortal_send,
                                                .recv = mortal_recv,
                                                .test = mortal_test,
                                                .tags = MORTAL_TAGS,
                                                .failure = &mortal_failure};

#endif /* COLL_TESTS_MORTAL_H */
