/* coll/transports/ofi/ofi_regions.h — ranks joined by libfabric: regions that are exposed, and puts on their way
 *
 * A put is a write with remote CQ data: the completion that the target reads tells which counter of which region counts,
 * when the bytes are there. A region's key is its number, so peers need not be told.
 *
 * Use ../ofi.h.
 */
#ifndef COLL_TRANSPORTS_OFI_OFI_REGIONS_H
#define COLL_TRANSPORTS_OFI_OFI_REGIONS_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdlib.h>
#include <string.h>

#include "../tagged/membership.h"

enum {
    COLL_I_OFI_REGIONS = 4,
    COLL_I_OFI_COUNTERS = 1 << 24, /* of a region */
    COLL_I_OFI_PUTS = 256          /* in flight */
};
/* Keys of regions begin here, far above those of buffers that are registered. */
#define COLL_I_OFI_REGION_KEY ((uint64_t)0x636f6c6c << 16)

enum { COLL_I_OFI_PUT_FREE, COLL_I_OFI_PUT_FLYING, COLL_I_OFI_PUT_OVER };

/* A put on its way. */
typedef struct coll_i_ofi_put {
    void *context[8]; /* the library's own: first, as completions name it */
    coll_i_tagged_link *link;
    uint32_t tag;
    uint8_t state;
    int8_t status; /* of one that is over */
} coll_i_ofi_put;

/* What a rank has of puts. */
typedef struct coll_i_ofi_puts {
    bool able; /* the provider can */
    struct fid_mr *keys[COLL_I_OFI_REGIONS];
    coll_region *regions[COLL_I_OFI_REGIONS]; /* NULL: not exposed */
    uint32_t last[COLL_I_OFI_REGIONS];        /* counter that was asked for last */
    coll_i_ofi_put *all;                      /* COLL_I_OFI_PUTS of them; NULL: none yet */
} coll_i_ofi_puts;

/* Can a provider do it: with keys and offsets of this transport's own choice, in order, and with room for what is counted?
 * Not ofi_rxd of libfabric 1.17, whose endpoint stands still after a write that leads beyond a region. */
COLL_INLINE bool coll_i_ofi_can_put(const struct fi_info *info)
{
    return (info->caps & FI_RMA) != 0 && (info->caps & FI_REMOTE_WRITE) != 0 &&
           (info->domain_attr->mr_mode & (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY)) ==
               0 &&
           info->domain_attr->cq_data_size >= sizeof(uint64_t) &&
           info->domain_attr->mr_key_size >= sizeof(uint64_t) &&
           (info->tx_attr->msg_order & info->rx_attr->msg_order & FI_ORDER_WAW) != 0 &&
           strstr(info->fabric_attr->prov_name, "ofi_rxd") == NULL;
}

/* The put that a completion's context, or a handle's word, names; NULL: it is not one. */
COLL_INLINE coll_i_ofi_put *coll_i_ofi_put_of(const coll_i_ofi_puts *puts, const void *context)
{
    const uintptr_t skip = (uintptr_t)context - (uintptr_t)puts->all;
    return puts->all && skip < COLL_I_OFI_PUTS * sizeof *puts->all
               ? (coll_i_ofi_put *)(uintptr_t)context
               : NULL;
}

/* The library is done with a put. */
COLL_INLINE void coll_i_ofi_put_ended(coll_i_ofi_put *put, coll_status status)
{
    if (put->state != COLL_I_OFI_PUT_FLYING)
        return;
    put->state = COLL_I_OFI_PUT_OVER;
    put->status = (int8_t)status;
    put->link->ops--;
}

/* The bytes of a peer's put are here. */
COLL_INLINE void coll_i_ofi_put_arrived(coll_i_ofi_puts *puts, uint64_t data)
{
    const uint64_t number = data >> 32, counter = data & UINT32_MAX;
    coll_region *region = number < COLL_I_OFI_REGIONS ? puts->regions[number] : NULL;
    if (region && counter < region->n)
        region->counters[counter]++;
}

/* Takes a region back, if there is one. */
COLL_INLINE void coll_i_ofi_close_region(coll_i_ofi_puts *puts, uint32_t number)
{
    if (puts->keys[number])
        (void)fi_close(&puts->keys[number]->fid);
    puts->keys[number] = NULL;
    puts->regions[number] = NULL;
}

#endif /* COLL_TRANSPORTS_OFI_OFI_REGIONS_H */
