/* coll/transports/tcp/descriptor.h — ranks joined by TCP: a descriptor to sleep on (coll_events)
 *
 * It is an epoll set of all connections and the listener, which is made when it is first asked for, and in
 * which arm enters what has changed: sleepers pay, and nobody else. A timer in it stands for the times
 * at which a rank has something to do without being told: a peer that was to connect, or to answer, does not.
 *
 * Linux; elsewhere there is no such record.
 *
 * Use ../tcp.h.
 */
#ifndef COLL_TRANSPORTS_TCP_DESCRIPTOR_H
#define COLL_TRANSPORTS_TCP_DESCRIPTOR_H

#include "operations.h"

#if COLL_I_SLEEPERS

/* Enters a descriptor into the set, or what is waited for there, unless it is so already. */
COLL_INLINE bool coll_i_tcp_watch(const coll_tcp *tcp, int fd, bool writes, uint32_t *watched)
{
    const uint32_t what = writes ? 2 : 1;
    if (fd < 0 || *watched == what)
        return true;
    *watched = what;
    return coll_sleeper_enter(&tcp->sleeper, fd, writes);
}

COLL_INLINE int coll_i_tcp_descriptor(void *ctx)
{
    coll_tcp *tcp = (coll_tcp *)ctx;
    if (tcp->sleeper.epoll < 0 && coll_sleeper_open(&tcp->sleeper) >= 0 &&
        !coll_sleeper_enter(&tcp->sleeper, tcp->listener, false))
        coll_sleeper_close(&tcp->sleeper);
    return tcp->sleeper.epoll;
}

COLL_INLINE coll_status coll_i_tcp_arm(void *ctx)
{
    coll_tcp *tcp = (coll_tcp *)ctx;
    const uint64_t now = coll_i_tcp_now();
    uint64_t first = UINT64_MAX; /* when there is something to do in any case */
    bool well = coll_i_tcp_descriptor(tcp) >= 0, news = tcp->news;
    if (!well)
        return COLL_ERR_IO;
    tcp->sweeps = 0; /* so it looks at the time */
    (void)coll_i_tcp_sweep(tcp, 0);
    for (uint32_t i = 0; i < tcp->n_links; i++) {
        coll_i_tcp_link *link = tcp->list[i];
        if (link->control_from != link->control_to && !link->blocked)
            coll_i_tcp_push(tcp, link);
        if (link->stage < COLL_I_TCP_UP && link->deadline < first)
            first = link->deadline;
        well = well && coll_i_tcp_watch(tcp, link->fd,
                                        link->blocked || link->stage == COLL_I_TCP_CONNECTING,
                                        &link->watched);
        news = news || link->ended != 0;
    }
    for (uint32_t i = 0; i < tcp->n_strangers; i++)
        well = well &&
               coll_i_tcp_watch(tcp, tcp->strangers[i].fd, false, &tcp->strangers[i].watched);
    news = news || tcp->news;
    tcp->news = false;
    if (news)
        return COLL_AGAIN;
    return well && coll_sleeper_alarm(&tcp->sleeper, first == UINT64_MAX ? 0
                                                     : first > now       ? first - now + 1
                                                                         : 1)
               ? COLL_OK
               : COLL_ERR_IO;
}

COLL_CONST(coll_events, coll_i_tcp_events, {coll_i_tcp_descriptor, coll_i_tcp_arm});
#define COLL_I_TCP_EVENTS &coll_i_tcp_events

#else
#define COLL_I_TCP_EVENTS NULL
#endif

#endif /* COLL_TRANSPORTS_TCP_DESCRIPTOR_H */
