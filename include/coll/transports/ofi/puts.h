/* coll/transports/ofi/puts.h — ranks joined by libfabric: puts (one_sided.h), and what tells them from messages
 *
 * Use ../ofi.h.
 */
#ifndef COLL_TRANSPORTS_OFI_PUTS_H
#define COLL_TRANSPORTS_OFI_PUTS_H

#include "endpoint.h"

COLL_INLINE coll_status coll_i_ofi_expose(void *ctx, uint32_t number, coll_region *region)
{
    coll_ofi *ofi = (coll_ofi *)ctx;
    coll_i_ofi_puts *puts = &ofi->puts;
    struct fid_mr *key = NULL;
    if (!region || (!region->memory && region->bytes != 0) ||
        (!region->counters && region->n != 0))
        return COLL_ERR_NULL;
    if (!puts->able || ofi->net.broken)
        return puts->able ? COLL_ERR_IO : COLL_ERR_CAPABILITY;
    if (number >= COLL_I_OFI_REGIONS || region->n > COLL_I_OFI_COUNTERS)
        return COLL_ERR_COUNTS;
    if (puts->regions[number])
        return COLL_ERR_STATE;
    if (!puts->all)
        puts->all = (coll_i_ofi_put *)calloc(COLL_I_OFI_PUTS, sizeof *puts->all);
    if (!puts->all)
        return COLL_ERR_MEMORY;
    /* one that has no bytes is there for its counters, and a key is of some memory */
    if (fi_mr_reg(ofi->domain, region->bytes ? region->memory : (void *)region->own,
                  region->bytes ? region->bytes : sizeof region->own, FI_REMOTE_WRITE, 0,
                  COLL_I_OFI_REGION_KEY + number, 0, &key, NULL) != 0)
        return COLL_ERR_MEMORY;
    if ((ofi->info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0 &&
        (fi_mr_bind(key, &ofi->ep->fid, 0) != 0 || fi_mr_enable(key) != 0)) {
        (void)fi_close(&key->fid);
        return COLL_ERR_MEMORY;
    }
    for (uint32_t c = 0; c < region->n; c++)
        region->counters[c] = 0;
    puts->last[number] = 0;
    puts->keys[number] = key;
    puts->regions[number] = region;
    return COLL_OK;
}

COLL_INLINE void coll_i_ofi_withdraw(void *ctx, uint32_t number)
{
    coll_ofi *ofi = (coll_ofi *)ctx;
    if (number < COLL_I_OFI_REGIONS)
        coll_i_ofi_close_region(&ofi->puts, number);
}

/* A put that is free; NULL: as many are on their way as there may be. */
COLL_INLINE coll_i_ofi_put *coll_i_ofi_take_put(const coll_i_ofi_puts *puts)
{
    for (uint32_t i = 0; i < COLL_I_OFI_PUTS; i++)
        if (puts->all[i].state == COLL_I_OFI_PUT_FREE)
            return &puts->all[i];
    return NULL;
}

COLL_INLINE coll_status coll_i_ofi_start_put(void *ctx, const coll_put_call *call,
                                             coll_handle *h)
{
    coll_ofi *ofi = (coll_ofi *)ctx;
    coll_i_ofi_puts *puts = &ofi->puts;
    const coll_region *own =
        call->region < COLL_I_OFI_REGIONS ? puts->regions[call->region] : NULL;
    coll_i_tagged_link *link;
    coll_i_ofi_put *put;
    coll_status status;
    if (!own)
        return COLL_ERR_STATE;
    if (call->counter >= own->n ||
        !coll_region_covers(own->bytes, call->offset, call->bytes)) /* as the peer's is */
        return COLL_ERR_PLACE;
    link = coll_i_tagged_link_for(&ofi->net, call->peer, own->tag, &status);
    if (!link)
        return status;
    if (link->lost)
        return COLL_ERR_IO;
    put = coll_i_ofi_take_put(puts);
    if (!put) {
        coll_i_tagged_move(&ofi->net);
        return COLL_AGAIN;
    }
    status = coll_i_ofi_status(
        fi_writedata(ofi->ep, call->bytes ? call->from : NULL, call->bytes, NULL,
                     (uint64_t)call->region << 32 | call->counter, ofi->peers[call->peer],
                     call->offset, COLL_I_OFI_REGION_KEY + call->region, put->context));
    if (status != COLL_STARTED) {
        coll_i_tagged_move(&ofi->net); /* a connection is being made, or a queue is full */
        return status;
    }
    put->link = link;
    put->tag = own->tag;
    put->state = COLL_I_OFI_PUT_FLYING;
    link->ops++;
    h->word[0] = (uintptr_t)put;
    return COLL_STARTED;
}

COLL_INLINE coll_status coll_i_ofi_count(void *ctx, uint32_t number, uint32_t counter,
                                         uint32_t *value)
{
    coll_ofi *ofi = (coll_ofi *)ctx;
    coll_i_ofi_puts *puts = &ofi->puts;
    const coll_region *region = number < COLL_I_OFI_REGIONS ? puts->regions[number] : NULL;
    if (!region || counter >= region->n)
        return COLL_ERR_STATE;
    if (counter <= puts->last[number]) /* all have been asked for since things moved */
        coll_i_tagged_move(&ofi->net);
    puts->last[number] = counter;
    *value = region->counters[counter];
    if (ofi->net.n_aborted != 0 && coll_i_tagged_is_aborted(&ofi->net, region->tag))
        return COLL_ERR_PEER;
    return ofi->net.broken ? COLL_ERR_IO : COLL_OK;
}

/* ---- what is tested and given up --------------------------------------------------------- */

COLL_INLINE coll_status coll_i_ofi_test(void *ctx, coll_handle *h)
{
    coll_ofi *ofi = (coll_ofi *)ctx;
    coll_i_ofi_put *put = coll_i_ofi_put_of(&ofi->puts, (const void *)h->word[0]);
    coll_status status;
    if (!put)
        return coll_i_tagged_test(ctx, h);
    if (put->state == COLL_I_OFI_PUT_FLYING)
        coll_i_tagged_move(&ofi->net);
    if (put->state == COLL_I_OFI_PUT_OVER) {
        status = (coll_status)put->status;
        if (status == COLL_OK)
            put->state = COLL_I_OFI_PUT_FREE;
        return status == COLL_ERR_PLACE && put->link->lost ? COLL_ERR_IO : status;
    }
    if (ofi->net.n_aborted != 0 && coll_i_tagged_is_aborted(&ofi->net, put->tag))
        return COLL_ERR_PEER;
    return put->link->lost || ofi->net.broken ? COLL_ERR_IO : COLL_AGAIN;
}

/* Waits until the library has read a put's bytes; it cannot take a write back. */
COLL_INLINE void coll_i_ofi_cancel_any(void *ctx, coll_handle *h)
{
    coll_ofi *ofi = (coll_ofi *)ctx;
    coll_i_ofi_put *put = coll_i_ofi_put_of(&ofi->puts, (const void *)h->word[0]);
    uint64_t until;
    if (!put) {
        coll_i_tagged_cancel(ctx, h);
        return;
    }
    until = coll_i_tcp_now() + (put->link->lost ? COLL_I_TAGGED_FAREWELL : COLL_I_TAGGED_GRACE);
    while (put->state == COLL_I_OFI_PUT_FLYING && !ofi->net.broken && coll_i_tcp_now() < until)
        coll_i_tagged_move(&ofi->net);
    if (put->state == COLL_I_OFI_PUT_FLYING) {
        put->link->ops--;
        coll_i_tagged_break(&ofi->net);
    }
    put->state = COLL_I_OFI_PUT_FREE;
}

COLL_CONST(coll_failure, coll_i_ofi_failure,
           {coll_i_ofi_cancel_any, coll_i_tagged_abort, coll_i_tagged_dead,
            NULL /* outlive: all do */});
COLL_CONST(coll_one_sided, coll_i_ofi_one_sided,
           {coll_i_ofi_expose, coll_i_ofi_withdraw, coll_i_ofi_start_put, coll_i_ofi_count,
            COLL_I_OFI_REGIONS, COLL_I_OFI_COUNTERS});

#endif /* COLL_TRANSPORTS_OFI_PUTS_H */
