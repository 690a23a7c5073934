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
 * for their receive (tagged/records.h), and are then moved as UCX sees fit. UCX has a cache of memory that is
 * registered; that of prepared calls (coll_request_init), and what else is kept (coll_registration), is mapped
 * (ucp_mem_map) until it is forgotten. Where a device does not take it, as it is read-only, UCX may say so in
 * its log, and messages go without.
 *
 * A rank whose process ends without coll_ucx_close is noticed within a second by those that wait for it, and
 * within about `patience` if its machine or the network is gone (tagged/watch.h); what waits for it ends with
 * COLL_ERR_IO, and the calls of the others with COLL_ERR_PEER. An abort reaches all ranks, by way of those
 * at a distance of 1, 2, 4 …
 *
 * A rank may sleep on a descriptor (coll_events).
 *
 * cancel waits up to a second for UCX to let go of a long message that is being moved; then it gives up the
 * connection with that peer, or, where that is on the same machine, all of them: what the rank does later is
 * COLL_ERR_IO.
 *
 * Memory: 60 bytes and an address a rank of the job, some 100 and UCX's endpoint a peer, and UCX's own. One thread at a
 * time may use a rank. Linux.
 */
#ifndef COLL_TRANSPORTS_UCX_H
#define COLL_TRANSPORTS_UCX_H

#include "ucx/worker.h"

/* ---- a rank ------------------------------------------------------------------------------ */

/* A vtable; ctx is a coll_ucx. */
COLL_CONST(coll_transport, coll_ucx_transport, 
           COLL_I_TAGGED_TRANSPORT(0 /* max_bytes */, coll_i_tagged_test, &coll_i_tagged_failure,
                                   NULL /* one sided */));

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
