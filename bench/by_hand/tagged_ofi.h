/* bench/by_hand/tagged_ofi.h — libfabric's tagged calls: the provider COLL_OFI_PROVIDER, or tcp;ofi_rxm */
#ifndef COLL_BENCH_TAGGED_OFI_H
#define COLL_BENCH_TAGGED_OFI_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include "hand.h"

static struct {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    fi_addr_t peer[HAND_RANKS];
    struct fi_context2 sends, receives;
} by_ofi;

/* Reads what has ended. */
static inline unsigned ofi_ended(const hand *me)
{
    struct fi_cq_tagged_entry ended[4];
    const ssize_t n = fi_cq_read(by_ofi.cq, ended, 4);
    hand_stop(n >= 0 || n == -FI_EAGAIN, "libfabric has lost a message");
    hand_found(me, n > 0);
    return n > 0 ? (unsigned)n : 0;
}

static inline void ofi_exchange(hand *me, uint32_t to, const void *out, uint32_t from, void *in,
                                size_t bytes)
{
    const bool is_short = bytes <= by_ofi.info->tx_attr->inject_size;
    unsigned left = is_short ? 1 : 2;
    ssize_t code;
    while ((code = fi_trecv(by_ofi.ep, in, bytes, NULL, by_ofi.peer[from], from, 0,
                            &by_ofi.receives)) == -FI_EAGAIN)
        left -= ofi_ended(me);
    hand_stop(code == 0, "libfabric refuses a receive");
    do {
        code = is_short ? fi_tinject(by_ofi.ep, out, bytes, by_ofi.peer[to], me->rank)
                        : fi_tsend(by_ofi.ep, out, bytes, NULL, by_ofi.peer[to], me->rank,
                                   &by_ofi.sends);
        if (code == -FI_EAGAIN)
            left -= ofi_ended(me);
    } while (code == -FI_EAGAIN);
    hand_stop(code == 0, "libfabric refuses a message");
    while (left > 0)
        left -= ofi_ended(me);
}

static inline struct fi_info *ofi_provider(void)
{
    const char *name = getenv("COLL_OFI_PROVIDER");
    struct fi_info *hints = fi_allocinfo(), *found = NULL;
    hand_stop(hints != NULL, "there is no memory");
    hints->caps = FI_TAGGED | FI_SEND | FI_RECV | FI_DIRECTED_RECV;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->fabric_attr->prov_name = strdup(name ? name : "tcp;ofi_rxm");
    hand_stop(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &found) == 0,
              "libfabric has no such provider, or it wants buffers to be registered");
    fi_freeinfo(hints);
    return found;
}

static inline void ofi_open(hand *me, hand_address *mine)
{
    struct fi_av_attr av = {.type = FI_AV_TABLE, .count = me->p};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_NONE};
    struct fi_info *info = by_ofi.info = ofi_provider();
    cq.size = info->tx_attr->size + info->rx_attr->size;
    mine->bytes = HAND_ADDRESS;
    hand_stop(fi_fabric(info->fabric_attr, &by_ofi.fabric, NULL) == 0 &&
                  fi_domain(by_ofi.fabric, info, &by_ofi.domain, NULL) == 0 &&
                  fi_av_open(by_ofi.domain, &av, &by_ofi.av, NULL) == 0 &&
                  fi_cq_open(by_ofi.domain, &cq, &by_ofi.cq, NULL) == 0 &&
                  fi_endpoint(by_ofi.domain, info, &by_ofi.ep, NULL) == 0 &&
                  fi_ep_bind(by_ofi.ep, &by_ofi.av->fid, 0) == 0 &&
                  fi_ep_bind(by_ofi.ep, &by_ofi.cq->fid, FI_TRANSMIT | FI_RECV) == 0 &&
                  fi_enable(by_ofi.ep) == 0 &&
                  fi_getname(&by_ofi.ep->fid, mine->at, &mine->bytes) == 0,
              "libfabric cannot be opened");
    me->exchange = ofi_exchange;
}

static inline void ofi_connect(hand *me, const hand_address *all)
{
    for (uint32_t r = 0; r < me->p; r++)
        hand_stop(fi_av_insert(by_ofi.av, all[r].at, 1, &by_ofi.peer[r], 0, NULL) == 1,
                  "libfabric does not know an address");
}

static inline void ofi_close(hand *me)
{
    (void)me;
    (void)fi_close(&by_ofi.ep->fid);
    (void)fi_close(&by_ofi.cq->fid);
    (void)fi_close(&by_ofi.av->fid);
    (void)fi_close(&by_ofi.domain->fid);
    (void)fi_close(&by_ofi.fabric->fid);
    fi_freeinfo(by_ofi.info);
}

#endif /* COLL_BENCH_TAGGED_OFI_H */
