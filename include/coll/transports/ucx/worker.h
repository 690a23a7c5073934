/* coll/transports/ucx/worker.h — ranks joined by UCX: what is asked of the library
 *
 * Use ../ucx.h.
 */
#ifndef COLL_TRANSPORTS_UCX_WORKER_H
#define COLL_TRANSPORTS_UCX_WORKER_H

#include <ucp/api/ucp.h>

#include "../tagged/membership.h"

enum { COLL_UCX_WHY = COLL_TCP_WHY }; /* bytes of a sentence about what went wrong */

/* What may be asked of coll_ucx_open; zeroed is well. */
typedef struct coll_ucx_options {
    uint32_t patience;   /* ms until all ranks must be there, and that close waits; 0: 10000 */
    uint32_t ranks_here; /* ranks on this machine; 0: it is found out */
} coll_ucx_options;

enum { COLL_I_UCX_AT_ONCE = 256 }; /* bytes that UCX copies, or does not take yet */

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
    ((coll_i_tagged_link *)link)->lost = true; /* sleep.h looks for such links */
}

/* ---- what is asked of it ----------------------------------------------------------------- */

/* The endpoint towards a peer, made now if there is none. UCX moves messages through shared memory only if it
 * need not notice that the peer dies; of one on this machine its process tells that. */
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
    params.err_mode = coll_i_tagged_is_near(&ucx->net, link->peer) ? UCP_ERR_HANDLING_MODE_NONE
                                                                   : UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = coll_i_ucx_failed;
    params.err_handler.arg = link;
    if (ucp_ep_create(ucx->worker, &params, &ep) != UCS_OK)
        return false;
    link->end = ep;
    return true;
}

/* Tells of a buffer that is registered. */
COLL_INLINE void coll_i_ucx_use(ucp_request_param_t *param, void *registered)
{
    if (!registered)
        return;
    param->op_attr_mask |= UCP_OP_ATTR_FIELD_MEMH;
    param->memh = (ucp_mem_h)registered;
}

COLL_INLINE coll_status coll_i_ucx_send(coll_i_tagged *net, coll_i_tagged_link *link,
                                        uint64_t tag, const void *buf, size_t bytes,
                                        coll_i_tagged_op *op, void *registered)
{
    ucp_request_param_t param;
    void *request;
    if (!link->end && !coll_i_ucx_connect((coll_ucx *)net, link))
        return COLL_ERR_IO;
    param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    param.memory_type = UCS_MEMORY_TYPE_HOST;
    if (op) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        param.cb.send = coll_i_ucx_sent;
        param.user_data = op;
        coll_i_ucx_use(&param, registered);
        op->context[0] = net;
    } else {
        param.op_attr_mask |= UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    }
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
    /* UCX 1.13 does not say what came in a receive that ends at once, so it tells by the callback. */
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                         UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    param.cb.recv = coll_i_ucx_received;
    param.user_data = op;
    param.memory_type = UCS_MEMORY_TYPE_HOST;
    coll_i_ucx_use(&param, registered);
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

/* Registers memory with all devices, so that a message by any of them finds it. UCX 1.13 knows but memory
 * that may be written: other memory it does not register, and goes on without. */
COLL_INLINE void *coll_i_ucx_pin(coll_i_tagged *net, void *memory, size_t bytes, bool writes)
{
    ucp_mem_map_params_t params;
    ucp_mem_h registered;
    (void)writes;
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
    params.address = memory;
    params.length = bytes;
    params.memory_type = UCS_MEMORY_TYPE_HOST;
    return ucp_mem_map(((coll_ucx *)net)->context, &params, &registered) == UCS_OK ? registered
                                                                                   : NULL;
}

COLL_INLINE void coll_i_ucx_unpin(coll_i_tagged *net, void *registered)
{
    (void)ucp_mem_unmap(((coll_ucx *)net)->context, (ucp_mem_h)registered);
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
    if (!coll_i_tagged_is_near(net, link->peer)) /* else it cannot be closed without the peer */
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

COLL_INLINE int coll_i_ucx_descriptor(coll_i_tagged *net)
{
    int fd = -1;
    return ucp_worker_get_efd(((coll_ucx *)net)->worker, &fd) == UCS_OK ? fd : -1;
}

COLL_INLINE coll_status coll_i_ucx_arm(coll_i_tagged *net)
{
    const ucs_status_t status = ucp_worker_arm(((coll_ucx *)net)->worker);
    return status == UCS_OK ? COLL_OK : status == UCS_ERR_BUSY ? COLL_AGAIN : COLL_ERR_IO;
}

/* ---- opening it -------------------------------------------------------------------------- */

/* UCX's own settings, but that a message that goes at once never waits for its receive, and no connection is
 * waited for: the system tries for two minutes to reach a machine that has gone. */
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
    params.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
    params.tag_sender_mask = ucx->net.all_bits >> ucx->net.source_shift
                                                      << ucx->net.source_shift;
    params.estimated_num_eps = 32;
    status = ucp_config_modify(config, "RNDV_THRESH", eager);
    if (status == UCS_OK)
        (void)ucp_config_modify(config, "CONN_NB",
                                "y"); /* tcp's; where there is no tcp, no one's */
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
    net->direct = net->keeps = true;
    net->inject_end = COLL_I_UCX_AT_ONCE + 1;
    /* UCX keeps what comes before its receive, and compares each message with all of these. */
    net->posted = 1;
    if (!coll_i_tagged_divide(net, 64))
        return false;
    status = coll_i_ucx_open_worker(ucx);
    if (status == UCS_OK)
        status = ucp_worker_get_address(ucx->worker, &its, &bytes);
    if (status != UCS_OK)
        (void)snprintf(why, COLL_UCX_WHY, "rank %u: UCX cannot be opened: %s",
                       (unsigned)net->rank, ucs_status_string(status));
    else
        well = coll_i_tagged_set_address(net, its, bytes, getenv("COLL_INTERFACES"));
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
            coll_i_ucx_lose, coll_i_ucx_pin, coll_i_ucx_unpin, coll_i_ucx_shut,
            coll_i_ucx_descriptor, coll_i_ucx_arm});

#endif /* COLL_TRANSPORTS_UCX_WORKER_H */
