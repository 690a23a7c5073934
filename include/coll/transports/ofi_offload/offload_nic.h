/* coll/transports/ofi_offload/offload_nic.h — a NIC of libfabric that runs programs: what is opened, and who the others are
 *
 * Two endpoints of one domain. `ep` sends and receives. `own` reads and combines this rank's own
 * memory: libfabric has no copy and no reduction in deferred work, but reads and atomics, and a rank may be its
 * own peer.
 *
 * Use ../ofi_offload.h.
 */
#ifndef COLL_TRANSPORTS_OFI_OFFLOAD_OFFLOAD_NIC_H
#define COLL_TRANSPORTS_OFI_OFFLOAD_OFFLOAD_NIC_H

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_trigger.h>

#include "../../nic/nic_program.h"
#include "../ofi/endpoint.h"

enum {
    COLL_OFI_NIC_ADDRESS = 256, /* bytes of an address, on all ranks */
    /* A tag: epoch, number of the program, number of the message. */
    COLL_I_OFFLOAD_EPOCH_BITS = 16,
    COLL_I_OFFLOAD_PROGRAM_BITS = 12,
    COLL_I_OFFLOAD_NUMBER_BITS = 20,
    COLL_I_OFFLOAD_TAG_BITS = 48
};

/* A rank's NIC; all of it is private. */
typedef struct coll_ofi_nic {
    uint32_t rank, p;
    uint32_t programs; /* opened so far … */
    uint32_t open;     /* … and not closed */
    uint32_t counters; /* open */
    uint32_t patience; /* ms until a peer must be reached */
    uint64_t key;      /* of the memory that is registered next */
    /* sockets completes an operation while it holds a lock that starting one of the same kind takes: between
     * the two goes a read. */
    bool relays;
    bool failed; /* its endpoints are closed, after an error */
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq; /* errors alone */
    struct fid_ep *ep, *own;
    struct fid_mr *word_mr; /* of word */
    fi_addr_t *peers;       /* by rank */
    fi_addr_t self;         /* of `own` */
    uint64_t word[2];       /* what is read only so that something happens later: from, to */
    unsigned char address[COLL_OFI_NIC_ADDRESS]; /* of `ep` */
} coll_ofi_nic;

/* ---- memory ------------------------------------------------------------------------------ */

/* Memory that `own` reads, writes and combines. NULL: it cannot be registered. */
COLL_INLINE struct fid_mr *coll_i_offload_register(coll_ofi_nic *nic, const void *at,
                                                   size_t bytes, bool writes)
{
    const uint64_t access =
        writes ? FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE
               : FI_SEND | FI_WRITE | FI_REMOTE_READ;
    struct fid_mr *mr = NULL;
    if (fi_mr_reg(nic->domain, at, bytes, access, 0, ++nic->key, 0, &mr, NULL) != 0)
        return NULL;
    if ((nic->info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0 &&
        (fi_mr_bind(mr, &nic->own->fid, 0) != 0 || fi_mr_enable(mr) != 0)) {
        (void)fi_close(&mr->fid);
        return NULL;
    }
    return mr;
}

/* What a peer, here this rank itself, calls a place in memory that begins at `base`. */
COLL_INLINE uint64_t coll_i_offload_place(const coll_ofi_nic *nic, const void *base,
                                          size_t offset)
{
    return (nic->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0
               ? (uint64_t)(uintptr_t)base + offset
               : (uint64_t)offset;
}

/* ---- opening it -------------------------------------------------------------------------- */

/* An endpoint, whose errors come to the completion queue. */
COLL_INLINE int coll_i_offload_endpoint(const coll_ofi_nic *nic, struct fid_ep **ep)
{
    int code = fi_endpoint(nic->domain, nic->info, ep, NULL);
    if (code == 0)
        code = fi_ep_bind(*ep, &nic->av->fid, 0);
    if (code == 0)
        code = fi_ep_bind(*ep, &nic->cq->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION);
    return code == 0 ? fi_enable(*ep) : code;
}

/* What is asked of a provider: to be found, with FI_SOURCE at `source`. */
COLL_INLINE int coll_i_offload_choose(coll_ofi_nic *nic, const char *provider,
                                      const char *source)
{
    struct fi_info *hints = coll_i_ofi_hints(provider, true, false);
    int code;
    if (!hints)
        return -FI_ENOMEM;
    hints->caps |=
        FI_TRIGGER | FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    code =
        fi_getinfo(FI_VERSION(1, 17), source, NULL, source ? FI_SOURCE : 0, hints, &nic->info);
    fi_freeinfo(hints);
    return code;
}

/* Opens all but the peers. */
COLL_INLINE int coll_i_offload_open_all(coll_ofi_nic *nic)
{
    struct fi_av_attr av;
    struct fi_cq_attr cq;
    unsigned char address[COLL_OFI_NIC_ADDRESS];
    size_t bytes = sizeof address;
    int code = fi_fabric(nic->info->fabric_attr, &nic->fabric, NULL);
    memset(&av, 0, sizeof av);
    memset(&cq, 0, sizeof cq);
    av.type = nic->info->domain_attr->av_type == FI_AV_MAP ? FI_AV_MAP : FI_AV_TABLE;
    av.count = (size_t)nic->p + 1;
    cq.format = FI_CQ_FORMAT_TAGGED;
    cq.wait_obj = FI_WAIT_NONE;
    if (code == 0)
        code = fi_domain(nic->fabric, nic->info, &nic->domain, NULL);
    if (code == 0)
        code = fi_av_open(nic->domain, &av, &nic->av, NULL);
    if (code == 0)
        code = fi_cq_open(nic->domain, &cq, &nic->cq, NULL);
    if (code == 0)
        code = coll_i_offload_endpoint(nic, &nic->ep);
    if (code == 0)
        code = coll_i_offload_endpoint(nic, &nic->own);
    if (code == 0)
        code = fi_getname(&nic->own->fid, address, &bytes);
    if (code == 0 && fi_av_insert(nic->av, address, 1, &nic->self, 0, NULL) != 1)
        code = -FI_EINVAL;
    bytes = sizeof nic->address;
    if (code == 0)
        code = fi_getname(&nic->ep->fid, nic->address, &bytes);
    if (code == 0) {
        nic->word_mr = coll_i_offload_register(nic, nic->word, sizeof nic->word, true);
        code = nic->word_mr ? 0 : -FI_ENOMEM;
    }
    return code;
}

/* A counter, that can be waited for in this way. NULL: there is none. */
COLL_INLINE struct fid_cntr *coll_i_offload_counter(coll_ofi_nic *nic, enum fi_wait_obj waits)
{
    struct fi_cntr_attr attr;
    struct fid_cntr *counter = NULL;
    memset(&attr, 0, sizeof attr);
    attr.events = FI_CNTR_EVENTS_COMP;
    attr.wait_obj = waits;
    if (fi_cntr_open(nic->domain, &attr, &counter, NULL) != 0)
        return NULL;
    nic->counters++;
    return counter;
}

COLL_INLINE void coll_i_offload_close_counter(coll_ofi_nic *nic, struct fid_cntr *counter)
{
    if (counter && fi_close(&counter->fid) == 0)
        nic->counters--;
}

/* Takes the provider deferred work? Tries it: one counter is to add to another, within a second. */
COLL_INLINE int coll_i_offload_try(coll_ofi_nic *nic)
{
    const uint64_t until = coll_i_tcp_now() + 1000;
    struct fid_cntr *from = coll_i_offload_counter(nic, FI_WAIT_NONE),
                    *to = coll_i_offload_counter(nic, FI_WAIT_NONE);
    struct fi_deferred_work work;
    struct fi_op_cntr add;
    int code = from && to ? 0 : -FI_ENOMEM;
    memset(&work, 0, sizeof work);
    add.cntr = to;
    add.value = 1;
    work.triggering_cntr = from;
    work.threshold = 1;
    work.op_type = FI_OP_CNTR_ADD;
    work.op.cntr = &add;
    if (code == 0)
        code = fi_control(&nic->domain->fid, FI_QUEUE_WORK, &work);
    if (code == 0)
        code = fi_cntr_add(from, 1);
    while (code == 0 && fi_cntr_read(to) == 0)
        if (coll_i_tcp_now() > until)
            code = -FI_ETIMEDOUT;
    coll_i_offload_close_counter(nic, from);
    coll_i_offload_close_counter(nic, to);
    return code;
}

/* ---- the end ----------------------------------------------------------------------------- */

/* Closes the endpoints, after which libfabric touches no buffer any more. */
COLL_INLINE void coll_i_offload_shut(coll_ofi_nic *nic)
{
    if (nic->ep)
        (void)fi_close(&nic->ep->fid);
    if (nic->own)
        (void)fi_close(&nic->own->fid);
    nic->ep = nic->own = NULL;
    nic->failed = true;
}

/* Frees all that the NIC has. */
COLL_INLINE void coll_i_offload_free(coll_ofi_nic *nic)
{
    if (nic->word_mr)
        (void)fi_close(&nic->word_mr->fid);
    coll_i_offload_shut(nic);
    if (nic->cq)
        (void)fi_close(&nic->cq->fid);
    if (nic->av)
        (void)fi_close(&nic->av->fid);
    if (nic->domain)
        (void)fi_close(&nic->domain->fid);
    if (nic->fabric)
        (void)fi_close(&nic->fabric->fid);
    if (nic->info)
        fi_freeinfo(nic->info);
    free(nic->peers);
    free(nic);
}

/* The first error that an operation has ended with; COLL_OK: none. */
COLL_INLINE coll_status coll_i_offload_error(const coll_ofi_nic *nic)
{
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error;
    const ssize_t n = fi_cq_read(nic->cq, &entry, 1);
    if (n >= 0 || n == -FI_EAGAIN)
        return COLL_OK;
    memset(&error, 0, sizeof error);
    if (n == -FI_EAVAIL && fi_cq_readerr(nic->cq, &error, 0) > 0 &&
        (error.err == FI_ETRUNC || error.err == -FI_ETRUNC))
        return COLL_ERR_SIZE;
    return COLL_ERR_IO;
}

#endif /* COLL_TRANSPORTS_OFI_OFFLOAD_OFFLOAD_NIC_H */
