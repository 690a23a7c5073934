/* coll/transports/ofi.h — ranks joined by libfabric: Slingshot, EFA, Omni-Path, InfiniBand, TCP, UDP (hosted)
 *
 *   char why[COLL_OFI_WHY];
 *   coll_ofi *ofi = coll_ofi_launched(NULL, why);      // of this process, as its environment says
 *   if (!ofi) …                                        // `why` is a sentence
 *   coll_comm_init(&comm, &coll_ofi_transport, ofi, coll_ofi_rank(ofi), coll_ofi_size(ofi),
 *                  memory, bytes);
 *   …
 *   coll_ofi_close(ofi);
 *
 *   cc program.c $(pkg-config --cflags --libs libfabric)     // 1.17 or newer
 *
 * How a process learns who it is, is transports/bootstrap.h; coll_ofi_start takes a callback that gathers
 * bytes of all ranks, and coll_ofi_open and coll_ofi_join leave the exchange of addresses to the caller.
 * The provider is the first one that libfabric offers for more than one machine, or that of the options, or of
 * COLL_OFI_PROVIDER: "tcp;ofi_rxm", "verbs;ofi_rxm", "cxi", "efa" … All ranks take the same. The tests run
 * tcp;ofi_rxm, and udp;ofi_rxd as far as the kit goes: with more ranks than processors its messages may
 * take minutes (libfabric 1.17). sockets has a thread for each rank, and is slow. shm of libfabric 1.17
 * is refused: there, messages that come before their receives get lost. Of other providers nobody knows.
 * coll_ofi_describe tells what it can do. libfabric authenticates nobody: for networks that are the
 * job's own.
 *
 * Messages of up to 16 KiB go at once, as long as the receiver has room for them (COLL_TAGGED_CREDIT
 * bytes of each peer), from a copy if they are longer than the provider takes inline; longer ones wait for
 * their receive (tagged/records.h), and are then moved from buffer to buffer as the provider sees fit.
 * Where a provider asks that buffers are registered (FI_MR_LOCAL), those of long messages are for as long
 * as the operation takes: nobody tells a transport when memory is given back. But those of prepared calls
 * (coll_request_init), and what else is kept (coll_registration), are registered once, until they are
 * forgotten.
 *
 * A rank whose process ends without coll_ofi_close is noticed within a second by those that wait for it, and
 * within about `patience` if its machine or the network is gone (tagged/watch.h); what waits for it ends with
 * COLL_ERR_IO, and the calls of the others with COLL_ERR_PEER. An abort reaches all ranks, by way of those
 * at a distance of 1, 2, 4 …
 *
 * Ranks put into each other's memory (coll_one_sided) where the provider lets this transport choose keys and offsets, keeps
 * the order of writes, and registers nothing that is read: tcp;ofi_rxm and sockets do. With others expose is
 * COLL_ERR_CAPABILITY. Four regions a rank, 256 puts on their way. What leads beyond a region is found before it is sent, as
 * all have as many bytes. But a put to a region that the peer has withdrawn, or not exposed yet, ends the connection in
 * tcp;ofi_rxm of libfabric 1.17, and with it what was on its way (COLL_ERR_IO). A rank of another machine that dies is noticed
 * by who puts to it, or has messages with it, not by who only waits for its puts.
 *
 * A rank may sleep on a descriptor (coll_events), if the provider has one.
 *
 * cancel waits up to a second for the provider to let go of a long message that is being moved. libfabric
 * has no way to end the operations with one peer, so what is left then ends the endpoint: all that the rank
 * does later is COLL_ERR_IO.
 *
 * Memory: 68 bytes a rank of the job and the provider's own; some 100 a peer. One thread at a time may use
 * a rank. Linux.
 */
#ifndef COLL_TRANSPORTS_OFI_H
#define COLL_TRANSPORTS_OFI_H

#include "ofi/puts.h"

/* ---- a rank ------------------------------------------------------------------------------ */

/* A vtable; ctx is a coll_ofi. */
COLL_CONST(coll_transport, coll_ofi_transport, 
           COLL_I_TAGGED_TRANSPORT(COLL_I_OFI_MOST, coll_i_ofi_test, &coll_i_ofi_failure,
                                   &coll_i_ofi_one_sided));

COLL_INLINE coll_i_tagged_asked coll_i_ofi_asked(const coll_ofi_options *options)
{
    coll_i_tagged_asked asked;
    asked.patience = options ? options->patience : 0;
    asked.ranks_here = options ? options->ranks_here : 0;
    asked.options = options;
    return asked;
}

/* Opens rank `rank` of p: it has an address then. NULL: `why`, of COLL_OFI_WHY bytes, says why. options:
 * NULL for the default ones. */
COLL_INLINE coll_ofi *coll_ofi_open(uint32_t rank, uint32_t p, const coll_ofi_options *options,
                                    char *why)
{
    const coll_i_tagged_asked asked = coll_i_ofi_asked(options);
    return (coll_ofi *)coll_i_tagged_open(&coll_i_ofi_library, rank, p, &asked, why);
}

/* Who it is, and of how many. */
COLL_INLINE uint32_t coll_ofi_rank(const coll_ofi *ofi)
{
    return ofi->net.rank;
}

/* How many ranks there are. */
COLL_INLINE uint32_t coll_ofi_size(const coll_ofi *ofi)
{
    return ofi->net.p;
}

/* Where others reach this rank: *bytes bytes, which stay until it is closed. They may be more on one rank than
 * on another. */
COLL_INLINE const void *coll_ofi_own_address(const coll_ofi *ofi, size_t *bytes)
{
    *bytes = ofi->net.address_bytes;
    return ofi->net.address;
}

/* Gives a rank the addresses of all, by rank, each in `bytes` bytes; they are copied. False: `why` says
 * why. */
COLL_INLINE bool coll_ofi_join(coll_ofi *ofi, const void *addresses, size_t bytes, char *why)
{
    return coll_i_tagged_join(&ofi->net, addresses, bytes, why);
}

/* Opens a rank and has it join the others, whose addresses `gather` finds out, in two calls. NULL: `why`,
 * of COLL_OFI_WHY bytes, says why. */
COLL_INLINE coll_ofi *coll_ofi_start(uint32_t rank, uint32_t p, const coll_ofi_options *options,
                                     coll_gather_bytes gather, void *ctx, char *why)
{
    const coll_i_tagged_asked asked = coll_i_ofi_asked(options);
    return (coll_ofi *)coll_i_tagged_start(&coll_i_ofi_library, rank, p, &asked, gather, ctx,
                                           why);
}

/* Opens and joins the rank that this process was started as (transports/bootstrap.h). NULL: `why`, of
 * COLL_OFI_WHY bytes, says why. Once a process. */
COLL_INLINE coll_ofi *coll_ofi_launched(const coll_ofi_options *options, char *why)
{
    return (coll_ofi *)coll_i_tagged_launched(&coll_i_ofi_library, coll_i_ofi_asked(options),
                                              why);
}

/* Writes what was negotiated, as a line of up to `bytes` bytes with its end: provider, version, domain, how many
 * bytes are sent inline and at most, which of a provider's abilities are used, and how often memory was registered. */
COLL_INLINE void coll_ofi_describe(const coll_ofi *ofi, char *text, size_t bytes)
{
    const struct fi_info *info = ofi->info;
    (void)snprintf(
        text, bytes,
        "libfabric %u.%u, provider %s, domain %s; inline up to %llu bytes, messages up "
        "to %llu, tags of %u bits; receives by %s; buffers are %sregistered (%u times so far, "
        "%u are now)",
        FI_MAJOR(fi_version()), FI_MINOR(fi_version()), info->fabric_attr->prov_name,
        info->domain_attr->name, (unsigned long long)info->tx_attr->inject_size,
        (unsigned long long)info->ep_attr->max_msg_size, (unsigned)coll_i_ofi_tag_bits(info),
        ofi->directed ? "address and tag" : "tag", ofi->net.registers ? "" : "not ",
        (unsigned)ofi->net.pins, (unsigned)ofi->net.pinned);
}

/* Frees all that a rank has, without a word to the others, as if its process had ended. */
COLL_INLINE void coll_ofi_abandon(coll_ofi *ofi)
{
    coll_i_tagged_abandon((coll_i_tagged *)ofi);
}

/* Says to all that this rank is done, waits until they know, for `patience` at most, and frees all. No
 * operation may be in flight. */
COLL_INLINE void coll_ofi_close(coll_ofi *ofi)
{
    coll_i_tagged_close((coll_i_tagged *)ofi);
}

#endif /* COLL_TRANSPORTS_OFI_H */
