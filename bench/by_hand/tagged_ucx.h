/* bench/by_hand/tagged_ucx.h — UCX's tagged calls, with its own settings */
#ifndef COLL_BENCH_TAGGED_UCX_H
#define COLL_BENCH_TAGGED_UCX_H

#include <ucp/api/ucp.h>

#include "hand.h"

static struct {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep[HAND_RANKS];
} by_ucx;

static inline bool ucx_is_done(ucs_status_ptr_t request)
{
    return !request || ucp_request_check_status(request) != UCS_INPROGRESS;
}

static inline void ucx_free(ucs_status_ptr_t request)
{
    if (request)
        ucp_request_free(request);
}

static inline void ucx_exchange(hand *me, uint32_t to, const void *out, uint32_t from, void *in,
                                size_t bytes)
{
    const ucp_request_param_t plain = {.op_attr_mask = 0};
    ucs_status_ptr_t got = ucp_tag_recv_nbx(by_ucx.worker, in, bytes, from, UINT64_MAX, &plain);
    ucs_status_ptr_t sent = ucp_tag_send_nbx(by_ucx.ep[to], out, bytes, me->rank, &plain);
    hand_stop(!UCS_PTR_IS_ERR(got) && !UCS_PTR_IS_ERR(sent), "UCX refuses a message");
    while (!ucx_is_done(got) || !ucx_is_done(sent))
        hand_found(me, ucp_worker_progress(by_ucx.worker) != 0);
    ucx_free(got);
    ucx_free(sent);
}

static inline void ucx_open(hand *me, hand_address *mine)
{
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                 .features = UCP_FEATURE_TAG};
    const ucp_worker_params_t single = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                        .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_address_t *its = NULL;
    hand_stop(ucp_init(&params, NULL, &by_ucx.context) == UCS_OK &&
                  ucp_worker_create(by_ucx.context, &single, &by_ucx.worker) == UCS_OK &&
                  ucp_worker_get_address(by_ucx.worker, &its, &mine->bytes) == UCS_OK &&
                  mine->bytes <= HAND_ADDRESS,
              "UCX cannot be opened");
    memcpy(mine->at, its, mine->bytes);
    ucp_worker_release_address(by_ucx.worker, its);
    me->exchange = ucx_exchange;
}

static inline void ucx_connect(hand *me, const hand_address *all)
{
    for (uint32_t r = 0; r < me->p; r++) {
        const ucp_ep_params_t its = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                     .address = (const ucp_address_t *)(const void *)all[r].at};
        hand_stop(r == me->rank || ucp_ep_create(by_ucx.worker, &its, &by_ucx.ep[r]) == UCS_OK,
                  "UCX makes no endpoint");
    }
}

static inline void ucx_close(hand *me)
{
    const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = UCP_EP_CLOSE_FLAG_FORCE};
    for (uint32_t r = 0; r < me->p; r++) {
        ucs_status_ptr_t end = r == me->rank ? NULL : ucp_ep_close_nbx(by_ucx.ep[r], &force);
        while (UCS_PTR_IS_PTR(end) && !ucx_is_done(end))
            (void)ucp_worker_progress(by_ucx.worker);
        if (UCS_PTR_IS_PTR(end))
            ucp_request_free(end);
    }
    ucp_worker_destroy(by_ucx.worker);
    ucp_cleanup(by_ucx.context);
}

#endif /* COLL_BENCH_TAGGED_UCX_H */
