/* coll/transports/tagged/sleep.h — ranks joined by a library with tagged messages: a descriptor to sleep on
 * (coll_events)
 *
 * It is a set of the library's own descriptor and a timer: a rank that waits for peers looks after them from time
 * to time, and offers again what the library did not take.
 *
 * Use ../ofi.h or ../ucx.h.
 */
#ifndef COLL_TRANSPORTS_TAGGED_SLEEP_H
#define COLL_TRANSPORTS_TAGGED_SLEEP_H

#include "exchange.h"

enum {
    COLL_I_TAGGED_NAP = 250, /* ms of sleep while peers are waited for */
    COLL_I_TAGGED_WINK = 1   /* … while the library takes something not */
};

COLL_INLINE int coll_i_tagged_descriptor(void *ctx)
{
    coll_i_tagged *net = (coll_i_tagged *)ctx;
    int its;
    if (net->sleeper.epoll >= 0)
        return net->sleeper.epoll;
    its = net->broken ? -1 : net->library->descriptor(net);
    if (its >= 0 && coll_sleeper_open(&net->sleeper) >= 0 &&
        !coll_sleeper_enter(&net->sleeper, its, false))
        coll_sleeper_close(&net->sleeper);
    return net->sleeper.epoll;
}

/* Is there an operation whose peer is lost? Its tests find that out after a while, without being woken. */
COLL_INLINE bool coll_i_tagged_has_lost(const coll_i_tagged *net)
{
    bool lost = false;
    for (uint32_t i = 0; i < net->n_links; i++)
        lost = lost || (net->list[i]->lost && net->list[i]->ops != 0);
    for (uint32_t i = 0; lost && i < net->n_ops; i++) {
        const coll_i_tagged_op *op = &net->ops[i / COLL_I_TAGGED_OPS][i % COLL_I_TAGGED_OPS];
        if (op->state != COLL_I_TAGGED_FREE && !op->given_up && op->link && op->link->lost)
            return true;
    }
    return false;
}

/* In how many ms there is something to do in any case; 0: never. */
COLL_INLINE uint64_t coll_i_tagged_sleeps_for(const coll_i_tagged *net)
{
    uint64_t in = 0;
    if (net->n_waiting != 0 || net->stuck.first)
        return COLL_I_TAGGED_WINK;
    for (uint32_t i = 0; i < net->n_links; i++) {
        const coll_i_tagged_link *link = net->list[i];
        if (link->refused != 0 && !link->lost)
            return COLL_I_TAGGED_WINK;
        if (link->ops != 0)
            in = COLL_I_TAGGED_NAP;
    }
    return in;
}

COLL_INLINE coll_status coll_i_tagged_arm(void *ctx)
{
    coll_i_tagged *net = (coll_i_tagged *)ctx;
    coll_status status;
    if (coll_i_tagged_descriptor(net) < 0)
        return COLL_ERR_IO;
    coll_i_tagged_move(net);
    coll_i_tagged_look(net);
    if (net->news || coll_i_tagged_has_lost(net)) {
        net->news = false;
        return COLL_AGAIN;
    }
    status = net->broken ? COLL_ERR_IO : net->library->arm(net);
    if (status != COLL_OK)
        return status;
    return coll_sleeper_alarm(&net->sleeper, coll_i_tagged_sleeps_for(net)) ? COLL_OK
                                                                            : COLL_ERR_IO;
}

COLL_CONST(coll_events, coll_i_tagged_events, {coll_i_tagged_descriptor, coll_i_tagged_arm});
#define COLL_I_TAGGED_TRANSPORT(max_bytes, test, failure, one_sided)                           \
    {                                                                                          \
        coll_i_tagged_send, coll_i_tagged_recv, test, NULL /* copy */, NULL /* reduce */,      \
            coll_i_tagged_wait, coll_i_tagged_progress, COLL_CLAIM_ALL /* tags */, max_bytes,  \
            0 /* unsegmented */, NULL /* zero copy */, NULL /* arrival */, failure,            \
            &coll_i_tagged_network, NULL /* node memory */, &coll_i_tagged_tag_ranges,         \
            NULL /* routes */, &coll_i_tagged_events, &coll_i_tagged_registration,             \
            NULL /* whole from */, one_sided                                                   \
    }

#endif /* COLL_TRANSPORTS_TAGGED_SLEEP_H */
