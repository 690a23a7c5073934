/* coll/transports/ucx.h — ranks joined by UCX: InfiniBand, RoCE, shared memory, TCP (hosted)
 *
 *   char why[COLL_UCX_WHY];
 *   coll_ucx *ucx = coll_ucx_launched(NULL, why);      // of this process, as its environment says
 *   if (!ucx) …                                        // `why` is a sentence
 *   coll_comm_init(&comm, &coll_ucx_transport, ucx, coll_ucx_rank(ucx), coll_ucx_size(ucx),
 *                  memory, bytes);
 *   …
 *   coll_ucx_close(ucx);
 *
 *   cc program.c $(pkg-config --cflags --libs ucx)     // 1.13 or newer
 *
 * How a process learns who it is, is transports/bootstrap.h; coll_ucx_start takes a callback that gathers
 * bytes of all ranks, and coll_ucx_open and coll_ucx_join leave the exchange of addresses to the caller.
 * UCX chooses among the networks of the machine; its own variables (UCX_TLS, UCX_NET_DEVICES …) have a say,
 * and coll_ucx_describe tells the result. UCX authenticates nobody: for networks that are the job's own.
 *
 * An endpoint is made when a rank first sends something to another one. Messages of up to 16 KiB go at
 * once, as long as the receiver has room for them (COLL_TAGGED_CREDIT bytes of each peer); longer ones wait
 * for their receive (tagged/records.h), and are then moved as UCX sees fit.
 *
 * A rank whose process ends without coll_ucx_close is noticed within a second by those on the same
 * machine that wait for it, and by others when UCX notices; what waits for it ends with COLL_ERR_IO, and
 * the calls of the others with COLL_ERR_PEER. An abort reaches all ranks, by way of those at a distance of
 * 1, 2, 4 …
 *
 * cancel waits up to a second for UCX to let go of a long message that is being moved; then it gives up the
 * connection with that peer, or, where that is on the same machine, all of them: what the rank does later is
 * COLL_ERR_IO.
 *
 * Memory: 32 bytes a rank of the job, some 100 and UCX's endpoint a peer, and UCX's own. One thread at a
 * time may use a rank. Linux.
 */
#ifndef COLL_TRANSPORTS_UCX_H
#define COLL_TRANSPORTS_UCX_H

#include <ucp/api/ucp.h>

#include "tagged/membership.h"

enum { COLL_UCX_WHY = COLL_TCP_WHY }; /* bytes of a sentence about what went wrong */

/* What may be asked of coll_ucx_open; zeroed is well. */
typedef struct coll_ucx_options {
    uint32_t patience;   /* ms until all ranks must be there, and that close waits; 0: 10000 */
    uint32_t ranks_here; /* ranks on this machine; 0: it is found out */
} coll_ucx_options;

/* A rank's end; all of it is private. */
typedef struct coll_ucx {
    coll_i_tagged net;
    ucp_context_h context;
    ucp_worker_h worker;
    unsigned char *addresses;  /* of all ranks, */
    size_t address_bytes;      /* each in so many bytes */
    ucs_status_ptr_t *closing; /* endpoints that are being closed */
    uint32_t n_closing;
} coll_ucx;

/* ---- what UCX says ----------------------------------------------------------------------- */

COLL_INLINE coll_i_tagged_end coll_i_ucx_end(ucs_status_t status)
{
    return status == UCS_OK                      ? COLL_I_TAGGED_WELL
           : status == UCS_ERR_MESSAGE_TRUNCATED ? COLL_I_TAGGED_CUT
           : status == UCS_ERR_CANCELED          ? COLL_I_TAGGED_TAKEN_BACK
                                                 : COLL_I_TAGGED_FAILED;
}

/* UCX hands an operation's context, but not the rank's: op->context has it. */
COLL_INLINE void coll_i_ucx_sent(void *request, ucs_status_t status, void *data)
{
    coll_i_tagged_op *op = (coll_i_tagged_op *)data;
    ucp_request_free(request);
    coll_i_tagged_done((coll_i_tagged *)op->context[0], op, coll_i_ucx_end(status), 0, 0);
}

COLL_INLINE void coll_i_ucx_received(void *request, ucs_status_t status,
                                     const ucp_tag_recv_info_t *info, void *data)
{
    coll_i_tagged_op *op = (coll_i_tagged_op *)data;
    const uint64_t tag = info->sender_tag;
    const size_t bytes = info->length;
    ucp_request_free(request);
    coll_i_tagged_done((coll_i_tagged *)op->context[0], op, coll_i_ucx_end(status), tag, bytes);
}

COLL_INLINE void coll_i_ucx_failed(void *link, ucp_ep_h ep, ucs_status_t status)
{
    (void)ep;
    (void)status;
    ((coll_i_tagged_link *)link)->lost = true;
}

/* ---- what is asked of it ----------------------------------------------------------------- */

/* Is a peer on this machine? UCX moves messages through shared memory only if it need not notice that the peer
 * dies; its process tells that. */
COLL_INLINE bool coll_i_ucx_is_near(const coll_i_tagged *net, uint32_t peer)
{
    return net->self.machine != 0 && net->processes[peer].machine == net->self.machine;
}

/* The endpoint towards a peer, made now if there is none. */
COLL_INLINE bool coll_i_ucx_connect(coll_ucx *ucx, coll_i_tagged_link *link)
{
    const unsigned char *its;
    ucp_ep_params_t params;
    ucp_ep_h ep;
    memset(&params, 0, sizeof params);
    if (coll_i_tagged_library_address(ucx->addresses + link->peer * ucx->address_bytes,
                                      ucx->address_bytes, &its) == 0)
        return false;
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                        UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = (const ucp_address_t *)(const void *)its;
    params.err_mode = coll_i_ucx_is_near(&ucx->net, link->peer) ? UCP_ERR_HANDLING_MODE_NONE
                                                                : UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = coll_i_ucx_failed;
    params.err_handler.arg = link;
    if (ucp_ep_create(ucx->worker, &params, &ep) != UCS_OK)
        return false;
    link->end = ep;
    return true;
}

COLL_INLINE coll_status coll_i_ucx_send(coll_i_tagged *net, coll_i_tagged_link *link,
                                        uint64_t tag, const void *buf, size_t bytes,
                                        coll_i_tagged_op *op, void *registered)
{
    ucp_request_param_t param;
    void *request;
    (void)registered;
    if (!link->end && !coll_i_ucx_connect((coll_ucx *)net, link))
        return COLL_ERR_IO;
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                         UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    param.cb.send = coll_i_ucx_sent;
    param.user_data = op;
    param.memory_type = UCS_MEMORY_TYPE_HOST;
    op->context[0] = net;
    request = ucp_tag_send_nbx((ucp_ep_h)link->end, buf, bytes, tag, &param);
    if (!request)
        return COLL_OK;
    if (UCS_PTR_IS_ERR(request))
        return UCS_PTR_STATUS(request) == UCS_ERR_NO_RESOURCE ? COLL_AGAIN : COLL_ERR_IO;
    op->request = request;
    return COLL_STARTED;
}

COLL_INLINE coll_status coll_i_ucx_recv(coll_i_tagged *net, coll_i_tagged_link *link,
                                        uint64_t tag, uint64_t ignore, void *buf, size_t bytes,
                                        coll_i_tagged_op *op, void *registered)
{
    ucp_request_param_t param;
    void *request;
    (void)link;
    (void)registered;
    /* UCX 1.13 does not say what came in a receive that ends at once, so it tells by the callback. */
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                         UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    param.cb.recv = coll_i_ucx_received;
    param.user_data = op;
    param.memory_type = UCS_MEMORY_TYPE_HOST;
    op->context[0] = net;
    request = ucp_tag_recv_nbx(((coll_ucx *)net)->worker, buf, bytes, tag, ~ignore, &param);
    if (UCS_PTR_IS_ERR(request))
        return UCS_PTR_STATUS(request) == UCS_ERR_NO_MEMORY ? COLL_AGAIN : COLL_ERR_IO;
    if (op->has)
        op->request = request;
    return COLL_STARTED;
}

COLL_INLINE void coll_i_ucx_progress(coll_i_tagged *net)
{
    (void)ucp_worker_progress(((coll_ucx *)net)->worker);
}

COLL_INLINE void coll_i_ucx_cancel(coll_i_tagged *net, coll_i_tagged_op *op)
{
    ucp_request_cancel(((coll_ucx *)net)->worker, op->request);
}

/* Closes an endpoint; what is in flight ends with an error, or (`flushes`) is sent first. */
COLL_INLINE void coll_i_ucx_close_end(coll_ucx *ucx, coll_i_tagged_link *link, bool flushes)
{
    ucp_request_param_t param;
    ucs_status_ptr_t request;
    void *moved;
    if (!link->end)
        return;
    moved = realloc(ucx->closing, (ucx->n_closing + 1) * sizeof *ucx->closing);
    if (!moved)
        return;
    ucx->closing = (ucs_status_ptr_t *)moved;
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flushes ? 0 : UCP_EP_CLOSE_FLAG_FORCE;
    request = ucp_ep_close_nbx((ucp_ep_h)link->end, &param);
    link->end = NULL;
    if (UCS_PTR_IS_PTR(request))
        ucx->closing[ucx->n_closing++] = request;
}

COLL_INLINE void coll_i_ucx_lose(coll_i_tagged *net, coll_i_tagged_link *link)
{
    if (!coll_i_ucx_is_near(net, link->peer)) /* else it cannot be closed without the peer */
        coll_i_ucx_close_end((coll_ucx *)net, link, false);
}

/* Takes back all receives, and drops what came for none: a worker that is destroyed complains of both. */
COLL_INLINE void coll_i_ucx_empty(coll_ucx *ucx)
{
    const coll_i_tagged *net = &ucx->net;
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;
    for (uint32_t i = 0; i < net->n_ops; i++) {
        coll_i_tagged_op *op = &net->ops[i / COLL_I_TAGGED_OPS][i % COLL_I_TAGGED_OPS];
        if (op->has && op->kind != COLL_I_TAGGED_SEND)
            ucp_request_cancel(ucx->worker, op->request);
    }
    (void)ucp_worker_progress(ucx->worker);
    while ((message = ucp_tag_probe_nb(ucx->worker, 0, 0, 1, &info)) != NULL) {
        ucp_request_param_t param;
        void *request;
        param.op_attr_mask = 0;
        request = ucp_tag_msg_recv_nbx(ucx->worker, &info, 0, message, &param);
        if (UCS_PTR_IS_PTR(request))
            ucp_request_free(request);
    }
}

/* Ends all endpoints, for some time at most, and the worker. */
COLL_INLINE void coll_i_ucx_shut(coll_i_tagged *net)
{
    coll_ucx *ucx = (coll_ucx *)net;
    const uint64_t until =
        coll_i_tcp_now() + (net->closing ? COLL_I_TAGGED_GRACE : COLL_I_TAGGED_FAREWELL);
    if (!ucx->worker)
        return;
    coll_i_ucx_empty(ucx);
    for (uint32_t i = 0; i < net->n_links; i++)
        if (!net->list[i]->lost)
            coll_i_ucx_close_end(ucx, net->list[i], net->closing);
        else
            coll_i_ucx_lose(net, net->list[i]);
    for (uint32_t i = 0; i < ucx->n_closing; i++) {
        while (ucp_request_check_status(ucx->closing[i]) == UCS_INPROGRESS &&
               coll_i_tcp_now() < until)
            (void)ucp_worker_progress(ucx->worker);
        ucp_request_free(ucx->closing[i]);
    }
    ucp_worker_destroy(ucx->worker);
    ucx->worker = NULL;
}

/* ---- opening it -------------------------------------------------------------------------- */

/* UCX's own settings, but that a message that goes at once never waits for its receive. */
COLL_INLINE ucs_status_t coll_i_ucx_open_worker(coll_ucx *ucx)
{
    ucp_params_t params;
    ucp_worker_params_t worker;
    ucp_config_t *config;
    ucs_status_t status = ucp_config_read(NULL, NULL, &config);
    char eager[16];
    if (status != UCS_OK)
        return status;
    memset(&params, 0, sizeof params);
    memset(&worker, 0, sizeof worker);
    (void)snprintf(eager, sizeof eager, "%d", COLL_I_TAGGED_EAGER + 1);
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_TAG_SENDER_MASK |
                        UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
    params.features = UCP_FEATURE_TAG;
    params.tag_sender_mask = ucx->net.all_bits >> ucx->net.source_shift
                                                      << ucx->net.source_shift;
    params.estimated_num_eps = 32;
    status = ucp_config_modify(config, "RNDV_THRESH", eager);
    if (status == UCS_OK)
        status = ucp_init(&params, config, &ucx->context);
    ucp_config_release(config);
    if (status != UCS_OK)
        return status;
    worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker.thread_mode = UCS_THREAD_MODE_SINGLE;
    return ucp_worker_create(ucx->context, &worker, &ucx->worker);
}

/* Its worker, and that one's address. */
COLL_INLINE bool coll_i_ucx_open(coll_i_tagged *net, const void *options, char *why)
{
    coll_ucx *ucx = (coll_ucx *)net;
    ucp_address_t *its = NULL;
    size_t bytes = 0;
    ucs_status_t status;
    bool well = false;
    (void)options; /* UCX has its own, in the environment */
    net->direct = true;
    if (!coll_i_tagged_divide(net, 64))
        return false;
    status = coll_i_ucx_open_worker(ucx);
    if (status == UCS_OK)
        status = ucp_worker_get_address(ucx->worker, &its, &bytes);
    if (status != UCS_OK)
        (void)snprintf(why, COLL_UCX_WHY, "rank %u: UCX cannot be opened: %s",
                       (unsigned)net->rank, ucs_status_string(status));
    else
        well = coll_i_tagged_set_address(net, its, bytes);
    if (its)
        ucp_worker_release_address(ucx->worker, its);
    return well;
}

/* Endpoints are made when something is sent, so the addresses are kept. */
COLL_INLINE bool coll_i_ucx_know(coll_i_tagged *net, const unsigned char *all, size_t bytes,
                                 char *why)
{
    coll_ucx *ucx = (coll_ucx *)net;
    ucx->addresses = (unsigned char *)malloc(net->p * bytes);
    ucx->address_bytes = bytes;
    if (!ucx->addresses)
        return coll_i_tagged_no_memory(net->rank, why);
    memcpy(ucx->addresses, all, net->p * bytes);
    return true;
}

COLL_INLINE void coll_i_ucx_release(coll_i_tagged *net)
{
    coll_ucx *ucx = (coll_ucx *)net;
    if (ucx->context)
        ucp_cleanup(ucx->context);
    free(ucx->addresses);
    free(ucx->closing);
}

COLL_CONST(coll_i_tagged_library, coll_i_ucx_library,
           {sizeof(coll_ucx), coll_i_ucx_open, coll_i_ucx_know, coll_i_ucx_release,
            coll_i_ucx_send, coll_i_ucx_recv, coll_i_ucx_progress, coll_i_ucx_cancel,
            coll_i_ucx_lose, NULL /* keep */, NULL /* unkeep */, coll_i_ucx_shut});

/* ---- a rank ------------------------------------------------------------------------------ */

/* A vtable; ctx is a coll_ucx. */
COLL_CONST(coll_transport, coll_ucx_transport, COLL_I_TAGGED_TRANSPORT(0 /* max_bytes */));

COLL_INLINE coll_i_tagged_asked coll_i_ucx_asked(const coll_ucx_options *options)
{
    coll_i_tagged_asked asked;
    asked.patience = options ? options->patience : 0;
    asked.ranks_here = options ? options->ranks_here : 0;
    asked.options = options;
    return asked;
}

/* Opens rank `rank` of p: it has an address then. NULL: `why`, of COLL_UCX_WHY bytes, says why. options:
 * NULL for the default ones. */
COLL_INLINE coll_ucx *coll_ucx_open(uint32_t rank, uint32_t p, const coll_ucx_options *options,
                                    char *why)
{
    const coll_i_tagged_asked asked = coll_i_ucx_asked(options);
    return (coll_ucx *)coll_i_tagged_open(&coll_i_ucx_library, rank, p, &asked, why);
}

/* Who it is, and of how many. */
COLL_INLINE uint32_t coll_ucx_rank(const coll_ucx *ucx)
{
    return ucx->net.rank;
}

/* How many ranks there are. */
COLL_INLINE uint32_t coll_ucx_size(const coll_ucx *ucx)
{
    return ucx->net.p;
}

/* Where others reach this rank: *bytes bytes, which stay until it is closed. They may be more on one rank than
 * on another. */
COLL_INLINE const void *coll_ucx_own_address(const coll_ucx *ucx, size_t *bytes)
{
    *bytes = ucx->net.address_bytes;
    return ucx->net.address;
}

/* Gives a rank the addresses of all, by rank, each in `bytes` bytes; they are copied. False: `why` says
 * why. */
COLL_INLINE bool coll_ucx_join(coll_ucx *ucx, const void *addresses, size_t bytes, char *why)
{
    return coll_i_tagged_join(&ucx->net, addresses, bytes, why);
}

/* Opens a rank and has it join the others, whose addresses `gather` finds out, in two calls. NULL: `why`,
 * of COLL_UCX_WHY bytes, says why. */
COLL_INLINE coll_ucx *coll_ucx_start(uint32_t rank, uint32_t p, const coll_ucx_options *options,
                                     coll_gather_bytes gather, void *ctx, char *why)
{
    const coll_i_tagged_asked asked = coll_i_ucx_asked(options);
    return (coll_ucx *)coll_i_tagged_start(&coll_i_ucx_library, rank, p, &asked, gather, ctx,
                                           why);
}

/* Opens and joins the rank that this process was started as (transports/bootstrap.h). NULL: `why`, of
 * COLL_UCX_WHY bytes, says why. Once a process. */
COLL_INLINE coll_ucx *coll_ucx_launched(const coll_ucx_options *options, char *why)
{
    return (coll_ucx *)coll_i_tagged_launched(&coll_i_ucx_library, coll_i_ucx_asked(options),
                                              why);
}

/* Appends to a line the transports of an endpoint that it does not have yet. */
COLL_INLINE void coll_i_ucx_describe_end(ucp_ep_h end, char *text, size_t bytes)
{
    FILE *printed =
        tmpfile(); /* UCX tells of them in print alone, as "lane[0]: 2:tcp/eth0.0 …" */
    char line[200], *name;
    if (!printed)
        return;
    ucp_ep_print_info(end, printed);
    rewind(printed);
    while (fgets(line, sizeof line, printed)) {
        const size_t have = strlen(text);
        name = strstr(line, "lane[");
        name = name ? strchr(name, ' ') : NULL;
        while (name && (*name == ' ' || *name == ':' || (*name >= '0' && *name <= '9')))
            name++;
        if (!name)
            continue;
        name[strcspn(name, ". \n")] = 0;
        if (!strstr(text, name))
            (void)snprintf(text + have, bytes - have, "%s%s",
                           strstr(text, "; by ") ? ", " : "; by ", name);
    }
    (void)fclose(printed);
}

/* Writes what UCX chose, as a line of up to `bytes` bytes with its end: its version, the length of an address, and
 * the transports and devices of the endpoints that there are. */
COLL_INLINE void coll_ucx_describe(const coll_ucx *ucx, char *text, size_t bytes)
{
    (void)snprintf(text, bytes, "UCX %s, address of %u bytes, %u endpoints",
                   ucp_get_version_string(),
                   (unsigned)ucx->net.address_bytes - (unsigned)COLL_I_TAGGED_WHO,
                   (unsigned)ucx->net.n_links);
    for (uint32_t i = 0; i < ucx->net.n_links; i++)
        if (ucx->net.list[i]->end && !ucx->net.list[i]->lost)
            coll_i_ucx_describe_end((ucp_ep_h)ucx->net.list[i]->end, text, bytes);
}

/* Frees all that a rank has, without a word to the others, as if its process had ended. */
COLL_INLINE void coll_ucx_abandon(coll_ucx *ucx)
{
    coll_i_tagged_abandon((coll_i_tagged *)ucx);
}

/* Says to all that this rank is done, waits until they know, for `patience` at most, and frees all. No
 * operation may be in flight. */
COLL_INLINE void coll_ucx_close(coll_ucx *ucx)
{
    coll_i_tagged_close((coll_i_tagged *)ucx);
}

#endif /* COLL_TRANSPORTS_UCX_H */
