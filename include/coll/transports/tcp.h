/* coll/transports/tcp.h — ranks joined by TCP, on any machines (hosted)
 *
 *   char why[COLL_TCP_WHY];                                     // a sentence, if something fails
 *   coll_tcp_options options = {0};
 *   options.secret = secret;                                     // 16 bytes that the job's ranks know
 *   coll_tcp *tcp = coll_tcp_open(rank, p, &options, why);        // it listens
 *   coll_tcp_address mine = coll_tcp_own_address(tcp), all[P];
 *   … all ranks exchange these: transports/bootstrap.h, or by what there is …
 *   if (!tcp || !coll_tcp_join(tcp, all, why)) …
 *   coll_comm_init(&comm, &coll_tcp_transport, tcp, rank, p, memory, bytes);
 *   …
 *   coll_tcp_close(tcp);
 *
 * Connections are made when two ranks first have something to do with each other, so a rank has as many
 * as its calls have peers; coll_tcp_connect makes them before, at once (coll_plan_peers says with whom).
 * Whoever connects and is not a rank of the job is turned away (tcp/connect.h). What is sent is not
 * encrypted, and who can change packets on the way can change data.
 *
 * Messages of up to half of coll_tcp_credit go at once, as long as the receiver can keep them; of longer
 * ones the rest waits for the receive, and is read straight into its buffer (tcp/frames.h). A rank that
 * receives nothing keeps at most coll_tcp_credit bytes of each peer.
 *
 * A rank whose process ends without coll_tcp_close is noticed at once by those that have a connection with
 * it, and within `patience` if its machine or the network is gone: what waits for it ends with
 * COLL_ERR_IO, and the calls of the others with COLL_ERR_PEER. An abort goes along the connections that there are, from rank to rank; who connects
 * later is told.
 *
 * Memory: 14 bytes a rank of the job, 32 if one has an IPv6 address; some 700 bytes and what is kept for each peer;
 * 32 KiB to read into.
 * One thread at a time may use a rank. POSIX.
 */
#ifndef COLL_TRANSPORTS_TCP_H
#define COLL_TRANSPORTS_TCP_H

#include "tcp/descriptor.h"
#include "tcp/listen.h"

/* A vtable; ctx is a coll_tcp. */
COLL_CONST(coll_transport, coll_tcp_transport,
           {coll_i_tcp_send, coll_i_tcp_recv, coll_i_tcp_test, NULL /* copy */,
            NULL /* reduce */, coll_i_tcp_wait, coll_i_tcp_progress, COLL_CLAIM_ALL /* tags */, 0 /* max_bytes */,
            0 /* unsegmented */, NULL /* zero copy */, NULL /* arrival */, &coll_i_tcp_failure,
            &coll_i_tcp_network, NULL /* node memory */, &coll_i_tcp_tag_ranges, NULL /* routes */, COLL_I_TCP_EVENTS, NULL /* registration */,
            NULL /* whole from */, NULL /* one sided */});

/* Frees all that a rank has, without a word to the others, as if its process had ended. */
COLL_INLINE void coll_tcp_abandon(coll_tcp *tcp)
{
    if (!tcp)
        return;
    for (uint32_t i = 0; i < tcp->n_links; i++) {
        coll_i_tcp_link *link = tcp->list[i];
        coll_i_tcp_lose(tcp, link);
        while (link->kept)
            coll_i_tcp_forget(tcp, link, &link->kept);
        free(link->control);
        free(link->copy);
        free(link);
    }
    while (tcp->n_strangers > 0)
        coll_i_tcp_turn_away(tcp, tcp->n_strangers - 1);
    if (tcp->listener >= 0)
        (void)close(tcp->listener);
    coll_sleeper_close(&tcp->sleeper);
    for (uint32_t i = 0; i < tcp->n_ops / COLL_I_TCP_OPS; i++)
        free(tcp->ops[i]);
    free(tcp->ops);
    free(tcp->list);
    free(tcp->links);
    free(tcp->polled);
    free(tcp->addresses);
    free(tcp->aborted);
    free(tcp->staging);
    free(tcp);
}

/* Opens rank `rank` of p: it listens, and has an address. NULL: `why`, of COLL_TCP_WHY bytes, says why.
 * options: NULL for the default ones. */
COLL_INLINE coll_tcp *coll_tcp_open(uint32_t rank, uint32_t p, const coll_tcp_options *options,
                                    char *why)
{
    coll_tcp *tcp = (coll_tcp *)calloc(1, sizeof *tcp);
    const char *interfaces = options ? options->interfaces : NULL;
    (void)snprintf(why, COLL_TCP_WHY, "rank %u: there is not enough memory", (unsigned)rank);
    if (!tcp)
        return NULL;
    tcp->listener = -1;
    coll_sleeper_init(&tcp->sleeper);
    tcp->rank = rank;
    tcp->p = p;
    tcp->patience = options && options->patience ? options->patience : 10000;
    if (options && options->secret)
        memcpy(tcp->secret, options->secret, COLL_TCP_SECRET);
    coll_claims_init(&tcp->claims);
    coll_idle_init(&tcp->idle, options && options->ranks_here ? options->ranks_here : 1);
    tcp->ranks_here = options ? options->ranks_here : 0;
    tcp->links = (coll_i_tcp_link **)calloc(p ? p : 1, sizeof *tcp->links);
    tcp->polled = malloc((1 + COLL_I_TCP_STRANGERS) * sizeof(struct pollfd));
    if (!tcp->links || !tcp->polled) {
        coll_tcp_abandon(tcp);
        return NULL;
    }
    if (rank >= p) {
        (void)snprintf(why, COLL_TCP_WHY, "there is no rank %u of %u", (unsigned)rank,
                       (unsigned)p);
    } else if (!coll_i_tcp_choose(interfaces, &tcp->own)) {
        (void)snprintf(why, COLL_TCP_WHY,
                       "rank %u: this machine has no interface that is up%s%.100s",
                       (unsigned)rank, interfaces ? " of " : "", interfaces ? interfaces : "");
    } else {
        tcp->own.machine = coll_machine();
        tcp->own.port = options ? options->port : 0;
        tcp->listener = coll_i_tcp_listen_at(&tcp->own);
        if (tcp->listener >= 0) {
            *why = 0;
            return tcp;
        }
        (void)snprintf(why, COLL_TCP_WHY, "rank %u cannot listen at port %u: %s",
                       (unsigned)rank, (unsigned)tcp->own.port, strerror(errno));
    }
    coll_tcp_abandon(tcp);
    return NULL;
}

/* Who it is, and of how many. */
COLL_INLINE uint32_t coll_tcp_rank(const coll_tcp *tcp)
{
    return tcp->rank;
}

/* How many ranks there are. */
COLL_INLINE uint32_t coll_tcp_size(const coll_tcp *tcp)
{
    return tcp->p;
}

/* Where this rank listens, for the others to know. */
COLL_INLINE coll_tcp_address coll_tcp_own_address(const coll_tcp *tcp)
{
    return tcp->own;
}

/* Gives a rank the addresses of all, by rank; they are copied. False: `why` says why. */
COLL_INLINE bool coll_tcp_join(coll_tcp *tcp, const coll_tcp_address *addresses, char *why)
{
    uint32_t here = 0;
    for (uint32_t r = 0; r < tcp->p; r++) {
        if (addresses[r].family != 4 && addresses[r].family != 6) {
            (void)snprintf(why, COLL_TCP_WHY, "rank %u has no address", (unsigned)r);
            return false;
        }
        here += (addresses[r].machine != 0 && addresses[r].machine == tcp->own.machine) ||
                (addresses[r].family == tcp->own.family &&
                 memcmp(addresses[r].ip, tcp->own.ip, sizeof tcp->own.ip) == 0);
    }
    tcp->staging = (unsigned char *)malloc(COLL_I_TCP_STAGING);
    if (!tcp->staging || !coll_i_tcp_keep_addresses(tcp, addresses)) {
        (void)snprintf(why, COLL_TCP_WHY, "rank %u: there is not enough memory",
                       (unsigned)tcp->rank);
        return false;
    }
    if (tcp->ranks_here == 0)
        coll_idle_init(&tcp->idle, here);
    return true;
}

/* Where a rank of the job listens, after coll_tcp_join; its machine is not kept. */
COLL_INLINE coll_tcp_address coll_tcp_address_of(const coll_tcp *tcp, uint32_t rank)
{
    coll_tcp_address its = coll_i_tcp_address_at(tcp, rank);
    its.machine = 0;
    return its;
}

/* Makes connections with some ranks, all at once, and waits for them. COLL_ERR_IO: one was not there
 * before the patience was over. */
COLL_INLINE coll_status coll_tcp_connect(coll_tcp *tcp, const uint32_t *peers, uint32_t n)
{
    const uint64_t until = coll_i_tcp_now() + tcp->patience;
    uint32_t left;
    for (uint32_t i = 0; i < n; i++)
        if (peers[i] >= tcp->p || peers[i] == tcp->rank)
            return COLL_ERR_RANK;
        else if (!coll_i_tcp_link_of(tcp, peers[i]))
            return COLL_ERR_MEMORY;
    do {
        left = 0;
        (void)coll_i_tcp_sweep(tcp, 1);
        for (uint32_t i = 0; i < n; i++) {
            const coll_i_tcp_link *link = tcp->links[peers[i]];
            if (link->stage == COLL_I_TCP_DEAD)
                return COLL_ERR_IO;
            left += link->stage < COLL_I_TCP_UP;
        }
    } while (left != 0 && coll_i_tcp_now() < until);
    return left == 0 ? COLL_OK : COLL_ERR_IO;
}

/* Says to all that this rank is done, waits until they have what was sent to them, for `patience` at
 * most, and frees all. No operation may be in flight. */
COLL_INLINE void coll_tcp_close(coll_tcp *tcp)
{
    uint64_t until;
    if (!tcp)
        return;
    until = coll_i_tcp_now() + tcp->patience;
    for (uint32_t i = 0; i < tcp->n_links; i++) {
        coll_i_tcp_link *link = tcp->list[i];
        if (link->stage == COLL_I_TCP_UP) {
            const coll_i_tcp_frame frame = coll_i_tcp_frame_of(link, COLL_I_TCP_LEAVE);
            coll_i_tcp_say(tcp, link, &frame);
            coll_i_tcp_push(tcp, link);
        }
    }
    for (uint32_t i = 0; i < tcp->n_links; i++) {
        coll_i_tcp_link *link = tcp->list[i];
        while (link->fd >= 0 && coll_i_tcp_has_more(link) && coll_i_tcp_now() < until)
            (void)coll_i_tcp_sweep(tcp, 1);
    }
    coll_tcp_abandon(tcp);
}

#endif /* COLL_TRANSPORTS_TCP_H */
