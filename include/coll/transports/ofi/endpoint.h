/* coll/transports/ofi/endpoint.h — ranks joined by libfabric: what is asked of the library
 *
 * Use ../ofi.h.
 */
#ifndef COLL_TRANSPORTS_OFI_ENDPOINT_H
#define COLL_TRANSPORTS_OFI_ENDPOINT_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include "../tagged/membership.h"
#include "ofi_regions.h"

enum {
    COLL_OFI_WHY = COLL_TCP_WHY, /* bytes of a sentence about what went wrong */
    COLL_I_OFI_BATCH = 16,       /* completions that are read at once */
    COLL_I_OFI_MOST = 1 << 30    /* bytes of the longest message; longer ones are cut */
};

/* What may be asked of coll_ofi_open; zeroed is well. */
typedef struct coll_ofi_options {
    const char *provider; /* NULL: COLL_OFI_PROVIDER of the environment, else see above */
    /* The address of this machine that is used, as "10.1.0.7". NULL: COLL_OFI_SOURCE of the environment,
     * else the provider chooses. */
    const char *source;
    uint32_t
        patience; /* ms until all ranks must be there, a send must find its peer, and that close
                          * waits; 0: 10000 */
    uint32_t ranks_here;  /* ranks on this machine; 0: it is found out */
    bool always_register; /* buffers are registered even if the provider does not ask for it */
} coll_ofi_options;

/* A rank's end; all of it is private. */
typedef struct coll_ofi {
    coll_i_tagged net;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    fi_addr_t *peers;   /* by rank */
    uint64_t key;       /* of the next buffer that is registered */
    const char *source; /* as asked; only while it is opened */
    bool directed;      /* receives name their source by its address */
    coll_i_ofi_puts puts;
} coll_ofi;

/* ---- what is asked of libfabric ---------------------------------------------------------- */

COLL_INLINE coll_status coll_i_ofi_status(ssize_t code)
{
    return code == 0 ? COLL_STARTED : code == -FI_EAGAIN ? COLL_AGAIN : COLL_ERR_IO;
}

COLL_INLINE void *coll_i_ofi_descriptor(void *registered)
{
    return registered ? fi_mr_desc((struct fid_mr *)registered) : NULL;
}

COLL_INLINE coll_status coll_i_ofi_send(coll_i_tagged *net, coll_i_tagged_link *link,
                                        uint64_t tag, const void *buf, size_t bytes,
                                        coll_i_tagged_op *op, void *registered)
{
    const coll_ofi *ofi = (const coll_ofi *)net;
    const fi_addr_t to = ofi->peers[link->peer];
    ssize_t code;
    if (op)
        return coll_i_ofi_status(fi_tsend(
            ofi->ep, buf, bytes, coll_i_ofi_descriptor(registered), to, tag, op->context));
    code = fi_tinject(ofi->ep, buf, bytes, to, tag);
    return code == 0 ? COLL_OK : coll_i_ofi_status(code);
}

COLL_INLINE coll_status coll_i_ofi_recv(coll_i_tagged *net, coll_i_tagged_link *link,
                                        uint64_t tag, uint64_t ignore, void *buf, size_t bytes,
                                        coll_i_tagged_op *op, void *registered)
{
    const coll_ofi *ofi = (const coll_ofi *)net;
    return coll_i_ofi_status(
        fi_trecv(ofi->ep, buf, bytes, coll_i_ofi_descriptor(registered),
                 link && ofi->directed ? ofi->peers[link->peer] : FI_ADDR_UNSPEC, tag, ignore,
                 op->context));
}

/* An operation has ended with an error. */
COLL_INLINE void coll_i_ofi_error(coll_ofi *ofi)
{
    struct fi_cq_err_entry error;
    coll_i_tagged_end end;
    memset(&error, 0, sizeof error);
    if (fi_cq_readerr(ofi->cq, &error, 0) <= 0 || !error.op_context)
        return; /* of what was sent inline: whoever waits for the peer finds out */
    error.err = error.err < 0 ? -error.err : error.err; /* shm has it negative */
    if (coll_i_ofi_put_of(&ofi->puts, error.op_context)) {
        coll_i_ofi_put_ended(coll_i_ofi_put_of(&ofi->puts, error.op_context),
                             error.err == FI_EACCES ? COLL_ERR_PLACE : COLL_ERR_IO);
        return;
    }
    end = error.err == FI_ETRUNC      ? COLL_I_TAGGED_CUT
          : error.err == FI_ECANCELED ? COLL_I_TAGGED_TAKEN_BACK
                                      : COLL_I_TAGGED_FAILED;
    coll_i_tagged_done(&ofi->net, (coll_i_tagged_op *)error.op_context, end, error.tag,
                       error.len + error.olen);
}

COLL_INLINE void coll_i_ofi_progress(coll_i_tagged *net)
{
    coll_ofi *ofi = (coll_ofi *)net;
    struct fi_cq_tagged_entry entries[COLL_I_OFI_BATCH];
    const ssize_t n = fi_cq_read(ofi->cq, entries, COLL_I_OFI_BATCH);
    for (ssize_t i = 0; i < n; i++) {
        coll_i_ofi_put *put = coll_i_ofi_put_of(&ofi->puts, entries[i].op_context);
        if (put)
            coll_i_ofi_put_ended(put, COLL_OK);
        else if (entries[i].flags & FI_REMOTE_WRITE)
            coll_i_ofi_put_arrived(&ofi->puts, entries[i].data);
        else
            coll_i_tagged_done(net, (coll_i_tagged_op *)entries[i].op_context,
                               COLL_I_TAGGED_WELL, entries[i].tag, entries[i].len);
    }
    if (n == -FI_EAVAIL)
        coll_i_ofi_error(ofi);
}

COLL_INLINE void coll_i_ofi_cancel(coll_i_tagged *net, coll_i_tagged_op *op)
{
    (void)fi_cancel(&((coll_ofi *)net)->ep->fid, op->context);
}

COLL_INLINE void coll_i_ofi_lose(coll_i_tagged *net, coll_i_tagged_link *link)
{
    (void)net;
    (void)link;
}

COLL_INLINE void coll_i_ofi_unpin(coll_i_tagged *net, void *registered)
{
    (void)net;
    (void)fi_close(&((struct fid_mr *)registered)->fid);
}

/* Memory that is only sent from may be read-only, and verbs registers it only if that is said. */
COLL_INLINE void *coll_i_ofi_pin(coll_i_tagged *net, void *memory, size_t bytes, bool writes)
{
    coll_ofi *ofi = (coll_ofi *)net;
    struct fid_mr *registered = NULL;
    if (fi_mr_reg(ofi->domain, memory, bytes, writes ? FI_SEND | FI_RECV : FI_SEND, 0,
                  ++ofi->key, 0, &registered, NULL) != 0)
        return NULL;
    if ((ofi->info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0 &&
        (fi_mr_bind(registered, &ofi->ep->fid, 0) != 0 || fi_mr_enable(registered) != 0)) {
        coll_i_ofi_unpin(net, registered);
        return NULL;
    }
    return registered;
}

/* Is a long message on its way? tcp;ofi_rxm of libfabric 1.17 crashes if its endpoint is closed then: its
 * requests to read have no context, and rxm does not expect that one of them ends with an error. */
COLL_INLINE bool coll_i_ofi_is_amid(const coll_i_tagged *net)
{
    for (uint32_t i = 0; i < net->n_ops; i++) {
        const coll_i_tagged_op *op = &net->ops[i / COLL_I_TAGGED_OPS][i % COLL_I_TAGGED_OPS];
        if (op->has && op->kind <= COLL_I_TAGGED_RECV_DATA && op->bytes > COLL_I_TAGGED_EAGER)
            return true;
    }
    return false;
}

/* Has all links know that this rank is gone. */
COLL_INLINE void coll_i_ofi_farewell(coll_i_tagged *net)
{
    const uint64_t until = coll_i_tcp_now() + COLL_I_TAGGED_FAREWELL;
    for (uint32_t i = 0; i < net->n_links; i++)
        if (!net->list[i]->lost)
            coll_i_tagged_say(net, net->list[i]->peer, COLL_I_TAGGED_LEAVE, 0, 0);
    while (coll_i_tcp_now() < until)
        coll_i_tagged_move(net);
}

/* An endpoint that cannot be closed stays, until the process ends: where nothing moves without a call, it
 * touches no buffer any more. */
COLL_INLINE void coll_i_ofi_shut(coll_i_tagged *net)
{
    coll_ofi *ofi = (coll_ofi *)net;
    for (uint32_t i = 0; i < COLL_I_OFI_REGIONS; i++)
        coll_i_ofi_close_region(&ofi->puts, i);
    if (ofi->ep && coll_i_ofi_is_amid(net) &&
        ofi->info->domain_attr->data_progress == FI_PROGRESS_MANUAL) {
        coll_i_ofi_farewell(net);
        return;
    }
    if (ofi->ep)
        (void)fi_close(&ofi->ep->fid);
    ofi->ep = NULL;
}

COLL_INLINE int coll_i_ofi_sleeps_on(coll_i_tagged *net)
{
    int fd = -1;
    return fi_control(&((coll_ofi *)net)->cq->fid, FI_GETWAIT, &fd) == 0 ? fd : -1;
}

COLL_INLINE coll_status coll_i_ofi_arm(coll_i_tagged *net)
{
    coll_ofi *ofi = (coll_ofi *)net;
    struct fid *one = &ofi->cq->fid;
    const int code = fi_trywait(ofi->fabric, &one, 1);
    return code == 0 ? COLL_OK : code == -FI_EAGAIN ? COLL_AGAIN : COLL_ERR_IO;
}

/* ---- opening it -------------------------------------------------------------------------- */

/* What is asked of a provider; `puts`: that it writes to memory of peers, too. */
COLL_INLINE struct fi_info *coll_i_ofi_hints(const char *provider, bool directed, bool puts)
{
    struct fi_info *hints = fi_allocinfo();
    char *name = NULL;
    if (!hints)
        return NULL;
    hints->caps = FI_TAGGED | FI_SEND | FI_RECV | (directed ? FI_DIRECTED_RECV : 0) |
                  (puts ? FI_RMA | FI_WRITE | FI_REMOTE_WRITE : 0);
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order =
        FI_ORDER_SAS | (puts ? FI_ORDER_WAW : 0);
    if (provider) { /* fi_freeinfo frees it */
        name = (char *)malloc(strlen(provider) + 1);
        if (!name) {
            fi_freeinfo(hints);
            return NULL;
        }
        (void)memcpy(name, provider, strlen(provider) + 1);
        hints->fabric_attr->prov_name = name;
    }
    return hints;
}

/* The first that fits; without a name, none that stays on one machine. */
COLL_INLINE int coll_i_ofi_choose(coll_ofi *ofi, const char *provider, const char *source)
{
    const uint64_t flags = source ? FI_SOURCE : 0;
    struct fi_info *all = NULL, *one;
    int code = -FI_ENODATA;
    for (unsigned asks = 4; asks-- > 0 && !ofi->info;) {
        const bool directed = asks >= 2, puts = asks % 2 != 0;
        struct fi_info *hints = coll_i_ofi_hints(provider, directed, puts);
        if (!hints)
            return -FI_ENOMEM;
        code = fi_getinfo(FI_VERSION(1, 17), source, NULL, flags, hints, &all);
        fi_freeinfo(hints);
        if (code != 0)
            continue;
        for (one = all; one && !provider && strcmp(one->fabric_attr->prov_name, "shm") == 0;)
            one = one->next;
        if (one && (!puts || coll_i_ofi_can_put(one)))
            ofi->info = fi_dupinfo(one);
        ofi->directed = directed;
        ofi->puts.able = puts;
        fi_freeinfo(all);
    }
    return ofi->info ? 0 : code ? code : -FI_ENODATA;
}

/* Opens what an endpoint needs, and the endpoint. */
COLL_INLINE int coll_i_ofi_open_endpoint(coll_ofi *ofi)
{
    struct fi_info *info = ofi->info;
    struct fi_av_attr av;
    struct fi_cq_attr cq;
    unsigned char address[1024];
    size_t bytes = sizeof address;
    int code = fi_fabric(info->fabric_attr, &ofi->fabric, NULL);
    memset(&av, 0, sizeof av);
    memset(&cq, 0, sizeof cq);
    av.type = info->domain_attr->av_type == FI_AV_MAP ? FI_AV_MAP : FI_AV_TABLE;
    av.count = ofi->net.p;
    cq.format = FI_CQ_FORMAT_TAGGED;
    cq.size = info->tx_attr->size + info->rx_attr->size;
    cq.wait_obj = FI_WAIT_FD;
    if (code == 0)
        code = fi_domain(ofi->fabric, info, &ofi->domain, NULL);
    if (code == 0)
        code = fi_av_open(ofi->domain, &av, &ofi->av, NULL);
    if (code == 0 && fi_cq_open(ofi->domain, &cq, &ofi->cq, NULL) != 0) {
        cq.wait_obj = FI_WAIT_NONE; /* there is no descriptor, then */
        code = fi_cq_open(ofi->domain, &cq, &ofi->cq, NULL);
    }
    if (code == 0)
        code = fi_endpoint(ofi->domain, info, &ofi->ep, NULL);
    if (code == 0)
        code = fi_ep_bind(ofi->ep, &ofi->av->fid, 0);
    if (code == 0)
        code = fi_ep_bind(ofi->ep, &ofi->cq->fid, FI_TRANSMIT | FI_RECV);
    if (code == 0)
        code = fi_enable(ofi->ep);
    if (code == 0)
        code = fi_getname(&ofi->ep->fid, address, &bytes);
    if (code == 0 &&
        !coll_i_tagged_set_address(&ofi->net, address, bytes,
                                   ofi->source ? ofi->source : getenv("COLL_INTERFACES")))
        code = -FI_ENOMEM;
    return code;
}

/* How many bits of a tag the provider matches. */
COLL_INLINE uint32_t coll_i_ofi_tag_bits(const struct fi_info *info)
{
    uint64_t format = info->ep_attr->mem_tag_format;
    uint32_t bits = 0;
    if (format == 0)
        return 64;
    for (; format != 0; format >>= 1)
        bits++;
    return bits;
}

/* A provider, and an endpoint of it. */
COLL_INLINE bool coll_i_ofi_open(coll_i_tagged *net, const void *all_options, char *why)
{
    coll_ofi *ofi = (coll_ofi *)net;
    const coll_ofi_options *options = (const coll_ofi_options *)all_options;
    const char *provider =
        options && options->provider ? options->provider : getenv("COLL_OFI_PROVIDER");
    const char *source =
        options && options->source ? options->source : getenv("COLL_OFI_SOURCE");
    int code = coll_i_ofi_choose(ofi, provider, source);
    ofi->source = source;
    if (code != 0) {
        (void)snprintf(why, COLL_OFI_WHY,
                       "rank %u: libfabric has no provider%s%.40s%s%.40s that is reliable and "
                       "has tags: %.60s",
                       (unsigned)net->rank, provider ? " " : "", provider ? provider : "",
                       source ? " at " : "", source ? source : "", fi_strerror(-code));
        return false;
    }
    if (strcmp(ofi->info->fabric_attr->prov_name, "shm") == 0 &&
        FI_VERSION_LT(fi_version(), FI_VERSION(1, 18))) {
        (void)snprintf(why, COLL_OFI_WHY,
                       "rank %u: the provider shm of libfabric 1.17 loses messages that come "
                       "before their receives: take another one, or a newer libfabric",
                       (unsigned)net->rank);
        return false;
    }
    if (!coll_i_tagged_divide(net, coll_i_ofi_tag_bits(ofi->info)) ||
        ofi->info->ep_attr->max_msg_size < COLL_I_OFI_MOST) {
        (void)snprintf(why, COLL_OFI_WHY,
                       "rank %u: the provider %.40s has tags of %u bits, which are too few "
                       "for %u ranks, or messages that are shorter than 1 GiB",
                       (unsigned)net->rank, ofi->info->fabric_attr->prov_name,
                       (unsigned)coll_i_ofi_tag_bits(ofi->info), (unsigned)net->p);
        return false;
    }
    code = coll_i_ofi_open_endpoint(ofi);
    if (code != 0) {
        (void)snprintf(why, COLL_OFI_WHY, "rank %u: the provider %.40s cannot be opened: %.60s",
                       (unsigned)net->rank, ofi->info->fabric_attr->prov_name,
                       fi_strerror(-code));
        return false;
    }
    net->inject_end = ofi->info->tx_attr->inject_size + 1;
    net->bounces = true;
    net->posted = 16; /* some providers keep little that comes before its receive */
    net->registers = (ofi->info->domain_attr->mr_mode & FI_MR_LOCAL) != 0 ||
                     (options && options->always_register);
    net->keeps = net->registers;
    return true;
}

COLL_INLINE bool coll_i_ofi_know(coll_i_tagged *net, const unsigned char *all, size_t bytes,
                                 char *why)
{
    coll_ofi *ofi = (coll_ofi *)net;
    const unsigned char *its;
    ofi->peers = (fi_addr_t *)calloc(net->p, sizeof *ofi->peers);
    if (!ofi->peers)
        return coll_i_tagged_no_memory(net->rank, why);
    for (uint32_t r = 0; r < net->p; r++)
        if (coll_i_tagged_library_address(all + r * bytes, bytes, &its) == 0 ||
            fi_av_insert(ofi->av, its, 1, &ofi->peers[r], 0, NULL) != 1) {
            (void)snprintf(why, COLL_OFI_WHY,
                           "rank %u: the provider %.40s does not take the address of rank %u",
                           (unsigned)net->rank, ofi->info->fabric_attr->prov_name, (unsigned)r);
            return false;
        }
    return true;
}

/* Closes what an endpoint needed. */
COLL_INLINE void coll_i_ofi_close(coll_ofi *ofi)
{
    if (ofi->cq)
        (void)fi_close(&ofi->cq->fid);
    if (ofi->av)
        (void)fi_close(&ofi->av->fid);
    if (ofi->domain)
        (void)fi_close(&ofi->domain->fid);
    if (ofi->fabric)
        (void)fi_close(&ofi->fabric->fid);
}

COLL_INLINE void coll_i_ofi_release(coll_i_tagged *net)
{
    coll_ofi *ofi = (coll_ofi *)net;
    if (!ofi->ep)
        coll_i_ofi_close(ofi); /* else all are in use */
    if (ofi->info)
        fi_freeinfo(ofi->info);
    free(ofi->peers);
    free(ofi->puts.all);
}

COLL_CONST(coll_i_tagged_library, coll_i_ofi_library,
           {sizeof(coll_ofi), coll_i_ofi_open, coll_i_ofi_know, coll_i_ofi_release,
            coll_i_ofi_send, coll_i_ofi_recv, coll_i_ofi_progress, coll_i_ofi_cancel,
            coll_i_ofi_lose, coll_i_ofi_pin, coll_i_ofi_unpin, coll_i_ofi_shut,
            coll_i_ofi_sleeps_on, coll_i_ofi_arm});

#endif /* COLL_TRANSPORTS_OFI_ENDPOINT_H */
