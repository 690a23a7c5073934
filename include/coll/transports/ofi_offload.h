/* coll/transports/ofi_offload.h — NIC programs as libfabric's deferred work: collectives run while the host sleeps (hosted)
 *
 *   char why[COLL_OFI_WHY];
 *   coll_ofi_nic *nic = coll_ofi_nic_start(rank, p, NULL, gather, context, why);
 *   …                                                   // a program: coll_nic_lower (nic/lower.h)
 *   coll_ofi_buffers buffers = {&op, in, out, scratch, elem_bytes};
 *   coll_ofi_offload *o = coll_ofi_offload_open(nic, &program, &buffers, 1, why);
 *   status = coll_ofi_offload_start(o);                 // one call, in every epoch
 *   …                                                   // the host computes, or sleeps
 *   status = coll_ofi_offload_wait(o, milliseconds);    // COLL_OK: `out` has the result
 *   coll_ofi_offload_close(o);
 *   coll_ofi_nic_close(nic);
 *
 *   cc program.c $(pkg-config --cflags --libs libfabric)     // 1.17 or newer
 *
 * Counters are counters of libfabric, and operations are deferred work (FI_QUEUE_WORK), as
 * ofi_offload/translate.h says. Between start and end the host calls nothing. coll_ofi_offload_arm
 * queues epochs ahead: then a start is one addition to a counter, and may run many epochs, each of which
 * starts the next one. Results are those of an engine that runs the same plan: operands keep
 * their order, or are swapped where that gives the same bits. What deferred work cannot do is refused, as a
 * sentence: operators that libfabric has not, or computes differently (a caller's own, pairs, min and max
 * of floats, f16, bf16); reductions in the network; memory of a node; signals (coll_nic_limits.unexpected
 * must be true). NaNs of sums may have another payload.
 *
 * All ranks open the same programs in the same order, and start their epochs in the same number, though
 * some may be ahead. A message that is shorter than its receive is not noticed.
 *
 * Providers: written for those with deferred work in hardware (cxi), and tested with "sockets", where a thread of
 * the process plays the NIC. FI_SOCKETS_PE_WAITTIME=0 has that thread sleep at once when there is nothing to
 * do. sockets goes through more reads than a NIC (translate.h).
 *
 * An operation that fails is noticed by the waiting host, at the latest after a second. The first error, and
 * coll_ofi_offload_cancel, close the endpoints, as providers take back neither work that has begun nor, in
 * sockets, any work: then all memory is the host's again, all programs of the NIC are over, and all
 * ranks open anew.
 *
 * Memory: for each slot 300 bytes a piece of work. One thread at a time may use a NIC and its programs.
 */
#ifndef COLL_TRANSPORTS_OFI_OFFLOAD_H
#define COLL_TRANSPORTS_OFI_OFFLOAD_H

#include "ofi_offload/works.h"

/* ---- a rank's NIC ------------------------------------------------------------------------ */

/* Opens the NIC of rank `rank` of p. The provider is that of the options, or of COLL_OFI_PROVIDER, else the first
 * with triggered operations. NULL: `why`, of COLL_OFI_WHY bytes, says why. options: NULL for the default
 * ones. */
COLL_INLINE coll_ofi_nic *coll_ofi_nic_open(uint32_t rank, uint32_t p,
                                            const coll_ofi_options *options, char *why)
{
    const char *provider =
        options && options->provider ? options->provider : getenv("COLL_OFI_PROVIDER");
    const char *source =
        options && options->source ? options->source : getenv("COLL_OFI_SOURCE");
    coll_ofi_nic *nic = (coll_ofi_nic *)calloc(1, sizeof *nic);
    const char *lacks = "triggered operations on tagged messages, memory and atomics";
    int code = nic ? 0 : -FI_ENOMEM;
    if (rank >= p) {
        (void)snprintf(why, COLL_OFI_WHY, "there is no rank %u of %u", (unsigned)rank,
                       (unsigned)p);
        free(nic);
        return NULL;
    }
    if (code == 0) {
        nic->rank = rank;
        nic->p = p;
        nic->patience = options && options->patience ? options->patience : 10000;
        code = coll_i_offload_choose(nic, provider, source);
    }
    if (code == 0) {
        nic->relays = strcmp(nic->info->fabric_attr->prov_name, "sockets") == 0;
        lacks = "an endpoint with tags of 48 bits";
        code = coll_i_ofi_tag_bits(nic->info) < COLL_I_OFFLOAD_TAG_BITS
                   ? -FI_ENODATA
                   : coll_i_offload_open_all(nic);
    }
    if (code == 0) {
        lacks = "deferred work (FI_QUEUE_WORK)";
        code = coll_i_offload_try(nic);
    }
    if (code == 0)
        return nic;
    (void)snprintf(why, COLL_OFI_WHY, "rank %u: the provider %.30s has not %s: %.40s",
                   (unsigned)rank,
                   nic && nic->info ? nic->info->fabric_attr->prov_name
                   : provider       ? provider
                                    : "of libfabric",
                   lacks, fi_strerror(-code));
    if (nic)
        coll_i_offload_free(nic);
    return NULL;
}

/* Where others reach this rank: COLL_OFI_NIC_ADDRESS bytes, which stay until it is closed. */
COLL_INLINE const void *coll_ofi_nic_own_address(const coll_ofi_nic *nic)
{
    return nic->address;
}

/* Gives a rank the addresses of all, by rank; they are copied. False: `why` says why. */
COLL_INLINE bool coll_ofi_nic_join(coll_ofi_nic *nic, const void *addresses, char *why)
{
    nic->peers = (fi_addr_t *)calloc(nic->p, sizeof *nic->peers);
    for (uint32_t r = 0; r < nic->p; r++)
        if (!nic->peers ||
            fi_av_insert(nic->av,
                         (const unsigned char *)addresses + (size_t)r * COLL_OFI_NIC_ADDRESS, 1,
                         &nic->peers[r], 0, NULL) != 1) {
            (void)snprintf(why, COLL_OFI_WHY,
                           "rank %u: the provider does not take the address of rank %u",
                           (unsigned)nic->rank, (unsigned)r);
            return false;
        }
    return true;
}

/* Closes a NIC, whose programs are closed. */
COLL_INLINE void coll_ofi_nic_close(coll_ofi_nic *nic)
{
    coll_i_offload_free(nic);
}

/* Opens a NIC and has it join the others, whose addresses `gather` finds out. NULL: `why`, of COLL_OFI_WHY
 * bytes, says why. */
COLL_INLINE coll_ofi_nic *coll_ofi_nic_start(uint32_t rank, uint32_t p,
                                             const coll_ofi_options *options,
                                             coll_gather_bytes gather, void *ctx, char *why)
{
    coll_ofi_nic *nic = coll_ofi_nic_open(rank, p, options, why);
    unsigned char *all = (unsigned char *)malloc((size_t)p * COLL_OFI_NIC_ADDRESS);
    bool well = false;
    if (nic && all && !gather(ctx, nic->address, sizeof nic->address, all))
        (void)snprintf(why, COLL_OFI_WHY, "rank %u does not learn the addresses of the others",
                       (unsigned)rank);
    else if (nic && all)
        well = coll_ofi_nic_join(nic, all, why);
    free(all);
    if (well)
        return nic;
    if (nic)
        coll_i_offload_free(nic);
    return NULL;
}

/* Writes what was negotiated, as a line of up to `bytes` bytes with its end. */
COLL_INLINE void coll_ofi_nic_describe(const coll_ofi_nic *nic, char *text, size_t bytes)
{
    const struct fi_info *info = nic->info;
    (void)snprintf(text, bytes,
                   "libfabric %u.%u, provider %s, domain %s; %u counters, %u operations in "
                   "flight, %s progress%s",
                   FI_MAJOR(fi_version()), FI_MINOR(fi_version()), info->fabric_attr->prov_name,
                   info->domain_attr->name, (unsigned)info->domain_attr->cntr_cnt,
                   (unsigned)info->tx_attr->size,
                   info->domain_attr->data_progress == FI_PROGRESS_MANUAL ? "manual"
                                                                          : "automatic",
                   nic->relays ? "; operations wait for reads in between" : "");
}

/* What a program for this NIC is lowered for (coll_nic_lower). */
COLL_INLINE void coll_ofi_nic_limits(const coll_ofi_nic *nic, coll_nic_limits *limits)
{
    const size_t counters = nic->info->domain_attr->cntr_cnt;
    coll_nic_limits_init(limits);
    limits->counters =
        counters > nic->counters + 2 ? (uint32_t)counters - nic->counters - 2 : 0;
    limits->receives = (uint32_t)nic->info->rx_attr->size;
}

/* ---- a program --------------------------------------------------------------------------- */

/* What a program works on, as of coll_nic_machine; the caller's, as long as it is open. */
typedef struct coll_ofi_buffers {
    const coll_op *op; /* NULL where nothing is reduced */
    const void *in;
    void *out;
    void *scratch; /* NULL where the plan needs none */
    size_t elem_bytes;
} coll_ofi_buffers;

/* Translates a program, after the operator was found. NULL, or why it is refused. */
COLL_INLINE const char *coll_i_offload_make(coll_i_offload_translation *t,
                                            const coll_ofi_nic *nic,
                                            const coll_nic_program *program, const coll_op *op,
                                            size_t elem_bytes, coll_i_offload_operator *its)
{
    size_t most = 0;
    memset(its, 0, sizeof *its);
    if (nic->failed)
        return "an operation of this NIC has failed: all ranks must open theirs anew";
    if (op && (!coll_i_offload_operator_of(op, its) ||
               fi_atomicvalid(nic->own, its->type, its->op, &most) != 0 || most == 0))
        return "the provider has no such operator on such elements that gives the same bits: "
               "take a sum or a product of f32 or f64, or any operator on integers";
    for (uint32_t i = 0; i < program->needs.ops && !op; i++)
        if (program->ops[i].kind == COLL_NIC_REDUCE)
            return "the program reduces, and there is no operator: set coll_ofi_buffers.op";
    return coll_i_offload_translate(t, nic, program, elem_bytes, most);
}

/* Tells what a program takes of this NIC, and opens nothing. op: NULL where nothing is reduced. NULL: *needs says
 * it; else a sentence that says why the program cannot run there. */
COLL_INLINE const char *coll_ofi_offload_needs_of(const coll_ofi_nic *nic,
                                                  const coll_nic_program *program,
                                                  const coll_op *op, size_t elem_bytes,
                                                  coll_ofi_offload_needs *needs)
{
    coll_i_offload_translation t;
    coll_i_offload_operator its;
    const char *why = coll_i_offload_make(&t, nic, program, op, elem_bytes, &its);
    if (why)
        return why;
    *needs = t.needs;
    coll_i_offload_forget(&t);
    return NULL;
}

/* Opens a program, with room for so many epochs that are armed at one time; the program itself may go. NULL:
 * `why`, of COLL_OFI_WHY bytes, says why. */
COLL_INLINE coll_ofi_offload *coll_ofi_offload_open(coll_ofi_nic *nic,
                                                    const coll_nic_program *program,
                                                    const coll_ofi_buffers *buffers,
                                                    uint32_t slots, char *why)
{
    coll_i_offload_translation t;
    coll_i_offload_operator op;
    const char *refused =
        coll_i_offload_make(&t, nic, program, buffers->op, buffers->elem_bytes, &op);
    coll_ofi_offload *o;
    if (!refused && nic->programs >> COLL_I_OFFLOAD_PROGRAM_BITS != 0) {
        coll_i_offload_forget(&t);
        refused = "4096 programs were opened, for which there are tags: open the NIC anew";
    }
    o = refused ? NULL : (coll_ofi_offload *)calloc(1, sizeof *o);
    if (!o) {
        (void)snprintf(why, COLL_OFI_WHY, "rank %u: %s", (unsigned)nic->rank,
                       refused ? refused : "there is not enough memory");
        return NULL;
    }
    nic->open++;
    o->nic = nic;
    o->steps = t.steps;
    o->counts = t.counts;
    free(t.weights);
    o->needs = t.needs;
    o->start = t.start;
    o->end = t.end;
    o->op = op;
    o->elem_bytes = buffers->elem_bytes;
    o->slots = slots > 0 ? slots : 1;
    o->number = nic->programs++;
    o->base[COLL_IN] = (void *)(uintptr_t)buffers->in; /* of which nothing is written */
    o->base[COLL_OUT] = buffers->out;
    o->base[COLL_SCRATCH] = buffers->scratch;
    if (coll_i_offload_prepare(o, t.extents))
        return o;
    coll_i_offload_drop(o);
    (void)snprintf(why, COLL_OFI_WHY,
                   "rank %u: the provider has not enough counters, or cannot register the "
                   "program's memory",
                   (unsigned)nic->rank);
    return NULL;
}

/* What an open program takes. */
COLL_INLINE const coll_ofi_offload_needs *coll_ofi_offload_has(const coll_ofi_offload *o)
{
    return &o->needs;
}

/* Ends all programs of the NIC: when it returns, no buffer is touched any more. */
COLL_INLINE coll_status coll_i_offload_fail(coll_ofi_offload *o, coll_status status)
{
    coll_i_offload_shut(o->nic);
    o->status = status;
    return status;
}

/* Queues epochs ahead: `starts` starts, each of which runs `epochs` epochs, one after the other. COLL_ERR_STATE: it
 * runs, or starts are armed. COLL_ERR_MEMORY: they are more than the slots that it was opened with.
 * COLL_ERR_OVERFLOW: its counters come to their end: open it anew, on all ranks. Other errors: the provider does
 * not take them, and all programs of the NIC are over. */
COLL_INLINE coll_status coll_ofi_offload_arm(coll_ofi_offload *o, uint32_t starts,
                                             uint32_t epochs)
{
    if (o->nic->failed)
        return o->status < 0 ? o->status : COLL_ERR_IO;
    if (o->status != COLL_OK || o->ahead > 0)
        return COLL_ERR_STATE;
    if (starts == 0 || epochs == 0 || epochs > o->slots / starts)
        return COLL_ERR_MEMORY;
    if (coll_i_offload_is_worn(o, starts * epochs))
        return COLL_ERR_OVERFLOW;
    for (uint32_t i = 0; i < starts * epochs; i++)
        if (coll_i_offload_queue(o, i % epochs + 1 == epochs) != 0)
            return coll_i_offload_fail(o, COLL_ERR_IO);
    o->ahead = starts;
    o->each = epochs;
    return COLL_OK;
}

/* Starts the program: one epoch, or, if starts are armed, the next of them, by one addition to a counter.
 * COLL_ERR_STATE: it runs; other errors are those of coll_ofi_offload_arm. */
COLL_INLINE coll_status coll_ofi_offload_start(coll_ofi_offload *o)
{
    if (o->nic->failed || o->status != COLL_OK || o->ahead == 0) {
        const coll_status status = coll_ofi_offload_arm(o, 1, 1);
        if (status != COLL_OK)
            return status;
    }
    o->ahead--;
    o->starts++;
    o->status = COLL_AGAIN;
    if (fi_cntr_add(o->counters[o->start], 1) != 0)
        return coll_i_offload_fail(o, COLL_ERR_IO);
    return COLL_OK;
}

/* Has it ended? COLL_AGAIN: no; COLL_OK: it has, or was not started; or the error that ended it. */
COLL_INLINE coll_status coll_ofi_offload_test(coll_ofi_offload *o)
{
    coll_status status;
    if (o->nic->failed)
        return o->status < 0 ? o->status : COLL_ERR_IO;
    if (o->status != COLL_AGAIN)
        return o->status;
    if (fi_cntr_read(o->counters[o->end]) >= o->starts) {
        o->status = COLL_OK;
        return COLL_OK;
    }
    status = coll_i_offload_error(o->nic);
    return status == COLL_OK ? COLL_AGAIN : coll_i_offload_fail(o, status);
}

/* Sleeps until it has ended, for so many milliseconds at most. COLL_AGAIN: they are over; else as
 * coll_ofi_offload_test. */
COLL_INLINE coll_status coll_ofi_offload_wait(coll_ofi_offload *o, uint32_t milliseconds)
{
    const uint64_t until = coll_i_tcp_now() + milliseconds;
    coll_status status;
    for (;;) {
        const uint64_t now = coll_i_tcp_now();
        status = coll_ofi_offload_test(o);
        if (status != COLL_AGAIN || now >= until)
            return status;
        coll_i_offload_sleep(o, until - now < 1000 ? (int)(until - now) : 1000);
    }
}

/* Gives up a program that runs: COLL_ERR_CANCELLED, or another error, is its status then, and all programs of the
 * NIC are over. COLL_ERR_STATE: it does not run. */
COLL_INLINE coll_status coll_ofi_offload_cancel(coll_ofi_offload *o, coll_status status)
{
    if (o->status != COLL_AGAIN || o->nic->failed || status >= 0)
        return COLL_ERR_STATE;
    (void)coll_i_offload_fail(o, status);
    return COLL_OK;
}

/* Closes a program. One that runs is given up. */
COLL_INLINE void coll_ofi_offload_close(coll_ofi_offload *o)
{
    (void)coll_ofi_offload_cancel(o, COLL_ERR_CANCELLED);
    if (o->ahead > 0 ||
        o->nic->failed) /* work that is queued, where a provider takes it back */
        for (size_t i = 0; i < (size_t)o->slots * o->needs.works; i++)
            if (fi_control(&o->nic->domain->fid, FI_CANCEL_WORK, &o->works[i].work) ==
                -FI_ENOSYS)
                break;
    coll_i_offload_drop(o);
}

#endif /* COLL_TRANSPORTS_OFI_OFFLOAD_H */
