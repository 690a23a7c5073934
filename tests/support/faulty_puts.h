/* tests/support/faulty_puts.h — transports that put in a wrong way, for faulty.h, each in one
 *
 * All are loopback with a worse callback in the stead of one.
 */
#ifndef COLL_TESTS_FAULTY_PUTS_H
#define COLL_TESTS_FAULTY_PUTS_H

#include <string.h>

#include "coll/transports/loopback.h"
#include "records.h"

static const coll_one_sided *const puts_inner = &coll_i_loop_one_sided;

/* A put that one of them has kept. */
static struct {
    coll_put_call call;
    void *ctx;
    bool kept;
    uint32_t n; /* looks since then */
    unsigned char bytes[64];
} put_aside;

static coll_status put_cut(void *ctx, const coll_put_call *call, coll_handle *h)
{
    coll_put_call shorter = *call;
    shorter.bytes -= call->bytes > 0;
    return puts_inner->put(ctx, &shorter, h);
}

static coll_status put_twice(void *ctx, const coll_put_call *call, coll_handle *h)
{
    coll_put_call again = *call;
    coll_status status;
    again.bytes = 0;
    status = puts_inner->put(ctx, call, h);
    return status == COLL_OK ? puts_inner->put(ctx, &again, h) : status;
}

/* The first put comes long after those behind it. */
static coll_status put_late(void *ctx, const coll_put_call *call, coll_handle *h)
{
    if (put_aside.kept || call->bytes > sizeof put_aside.bytes)
        return puts_inner->put(ctx, call, h);
    put_aside.call = *call;
    put_aside.call.from = memcpy(put_aside.bytes, call->from, call->bytes);
    put_aside.ctx = ctx;
    put_aside.kept = true;
    return COLL_OK;
}

static coll_status count_late(void *ctx, uint32_t number, uint32_t counter, uint32_t *value)
{
    enum { LATE = 40 };
    coll_handle h;
    if (put_aside.kept && ++put_aside.n == LATE)
        (void)puts_inner->put(put_aside.ctx, &put_aside.call, &h);
    return puts_inner->count(ctx, number, counter, value);
}

/* It says that it is done before it has read the buffer. */
static coll_status put_later(void *ctx, const coll_put_call *call, coll_handle *h)
{
    if (put_aside.kept)
        (void)puts_inner->put(put_aside.ctx, &put_aside.call, h);
    put_aside.call = *call;
    put_aside.ctx = ctx;
    put_aside.kept = true;
    return COLL_OK;
}

static coll_status count_later(void *ctx, uint32_t number, uint32_t counter, uint32_t *value)
{
    coll_handle h;
    if (put_aside.kept)
        (void)puts_inner->put(put_aside.ctx, &put_aside.call, &h);
    put_aside.kept = false;
    return puts_inner->count(ctx, number, counter, value);
}

/* Where a put ends is not looked at. */
static coll_status put_anywhere(void *ctx, const coll_put_call *call, coll_handle *h)
{
    const coll_loopback *world = ((const coll_loopback_rank *)ctx)->world;
    coll_region *before,
        *region = coll_i_loop_region(&world->regions, call->peer, call->region, &before);
    if (region && call->counter < region->n && call->bytes != 0) {
        memcpy((unsigned char *)region->memory + call->offset, call->from, call->bytes);
        if (coll_region_covers(region->bytes, call->offset, call->bytes))
            region->counters[call->counter]++;
        return COLL_OK;
    }
    return puts_inner->put(ctx, call, h);
}

static coll_status put_counts_elsewhere(void *ctx, const coll_put_call *call, coll_handle *h)
{
    coll_put_call other = *call;
    other.counter %= 2;
    return puts_inner->put(ctx, &other, h);
}

static coll_status count_after_an_abort(void *ctx, uint32_t number, uint32_t counter,
                                        uint32_t *value)
{
    const coll_loopback_rank *end = (const coll_loopback_rank *)ctx;
    coll_region *before,
        *region = coll_i_loop_region(&end->world->regions, end->rank, number, &before);
    if (!region || counter >= region->n)
        return COLL_ERR_STATE;
    *value = region->counters[counter];
    return COLL_OK;
}

static void withdraw_not(void *ctx, uint32_t number)
{
    (void)ctx, (void)number;
}

#define SET_PUTS(name, field, callback)                                                        \
    static void name(coll_transport *t, records *own)                                          \
    {                                                                                          \
        (void)t;                                                                               \
        memset(&put_aside, 0, sizeof put_aside);                                               \
        own->one_sided.field = callback;                                                       \
    }
SET_PUTS(set_put_cut, put, put_cut)
SET_PUTS(set_put_twice, put, put_twice)
SET_PUTS(set_put_anywhere, put, put_anywhere)
SET_PUTS(set_put_counts_elsewhere, put, put_counts_elsewhere)
SET_PUTS(set_count_after_an_abort, count, count_after_an_abort)
SET_PUTS(set_withdraw_not, withdraw, withdraw_not)
SET_PUTS(set_put_missing, count, NULL)

static void set_put_late(coll_transport *t, records *own)
{
    (void)t;
    memset(&put_aside, 0, sizeof put_aside);
    own->one_sided.put = put_late;
    own->one_sided.count = count_late;
}

static void set_put_later(coll_transport *t, records *own)
{
    (void)t;
    memset(&put_aside, 0, sizeof put_aside);
    own->one_sided.put = put_later;
    own->one_sided.count = count_later;
}

#endif /* COLL_TESTS_FAULTY_PUTS_H */
