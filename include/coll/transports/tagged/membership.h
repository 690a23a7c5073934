/* coll/transports/tagged/membership.h — ranks joined by a library with tagged messages: how a rank comes and goes
 *
 * The address of a rank is the process that it is, and the bytes by which the library reaches it. Those
 * differ in length from rank to rank, so ranks exchange the lengths first.
 *
 * Use ../ofi.h or ../ucx.h.
 */
#ifndef COLL_TRANSPORTS_TAGGED_MEMBERSHIP_H
#define COLL_TRANSPORTS_TAGGED_MEMBERSHIP_H

#include <sys/stat.h>

#include "sleep.h"

enum {
    COLL_I_TAGGED_WHO = (int)sizeof(coll_i_tagged_process) + 4
}; /* and the library's length */

/* ---- who this is ------------------------------------------------------------------------- */

/* This process. The machine is coll_machine's number and the name spaces of its processes and its network. */
COLL_INLINE coll_i_tagged_process coll_i_tagged_self(void)
{
    static const unsigned char key[COLL_TCP_SECRET] = {0};
    coll_i_tagged_process self;
    unsigned char bytes[3 * sizeof(uint64_t)];
    struct stat space, network;
    memset(&self, 0, sizeof self);
    self.number = (uint64_t)getpid();
    self.start = coll_i_tagged_started(self.number);
    self.processors = coll_machine();
    if (self.processors != 0 && stat("/proc/self/ns/pid", &space) == 0 &&
        stat("/proc/self/ns/net", &network) == 0) {
        const uint64_t numbers[3] = {self.processors, (uint64_t)space.st_ino,
                                     (uint64_t)network.st_ino};
        memcpy(bytes, numbers, sizeof bytes);
        self.machine = coll_i_siphash(key, bytes, sizeof bytes) | 1;
    }
    return self;
}

/* What options of any library say. */
typedef struct coll_i_tagged_asked {
    uint32_t patience, ranks_here;
    const void *options; /* all of them */
} coll_i_tagged_asked;

/* False, and `why` says that there is no memory. */
COLL_INLINE bool coll_i_tagged_no_memory(uint32_t rank, char *why)
{
    (void)snprintf(why, COLL_TCP_WHY, "rank %u: there is not enough memory", (unsigned)rank);
    return false;
}

/* Prepares a rank. False: `why` says why. */
COLL_INLINE bool coll_i_tagged_init(coll_i_tagged *net, uint32_t rank, uint32_t p,
                                    const coll_i_tagged_asked *asked, char *why)
{
    net->rank = rank;
    net->p = p;
    net->listener = net->probe = -1;
    coll_sleeper_init(&net->sleeper);
    net->patience = asked->patience ? asked->patience : 10000;
    net->ranks_here = asked->ranks_here;
    coll_claims_init(&net->claims);
    coll_idle_init(&net->idle, asked->ranks_here ? asked->ranks_here : 1);
    coll_i_tagged_list_init(&net->due);
    coll_i_tagged_list_init(&net->stuck);
    net->self = coll_i_tagged_self();
    if (rank >= p) {
        (void)snprintf(why, COLL_TCP_WHY, "there is no rank %u of %u", (unsigned)rank,
                       (unsigned)p);
        return false;
    }
    net->links = (coll_i_tagged_link **)calloc(p, sizeof *net->links);
    return net->links || coll_i_tagged_no_memory(rank, why);
}

/* Keeps the own address: the library's, and where it is watched. */
COLL_INLINE bool coll_i_tagged_set_address(coll_i_tagged *net, const void *its, size_t bytes,
                                           const char *interfaces)
{
    const uint32_t length = (uint32_t)bytes;
    coll_i_tagged_be_watched(net, interfaces);
    net->address_bytes = COLL_I_TAGGED_WHO + length;
    net->address = (unsigned char *)malloc(net->address_bytes);
    if (!net->address)
        return false;
    memcpy(net->address, &net->self, sizeof net->self);
    memcpy(net->address + sizeof net->self, &length, sizeof length);
    memcpy(net->address + COLL_I_TAGGED_WHO, its, length);
    return true;
}

/* The library's part of an address; its length, or 0: it is none. */
COLL_INLINE size_t coll_i_tagged_library_address(const unsigned char *address, size_t bytes,
                                                 const unsigned char **its)
{
    uint32_t length = 0;
    if (bytes >= COLL_I_TAGGED_WHO)
        memcpy(&length, address + sizeof(coll_i_tagged_process), sizeof length);
    *its = address + COLL_I_TAGGED_WHO;
    return length <= bytes - COLL_I_TAGGED_WHO ? length : 0;
}

/* Takes the addresses of all ranks, each in `bytes` bytes; they are copied. False: `why` says why. */
COLL_INLINE bool coll_i_tagged_join(coll_i_tagged *net, const void *all, size_t bytes,
                                    char *why)
{
    const unsigned char *its, *at = (const unsigned char *)all;
    uint32_t here = 0;
    net->processes = (coll_i_tagged_process *)malloc(net->p * sizeof *net->processes);
    if (!net->processes)
        return coll_i_tagged_no_memory(net->rank, why);
    for (uint32_t r = 0; r < net->p; r++) {
        if (coll_i_tagged_library_address(at + r * bytes, bytes, &its) == 0) {
            (void)snprintf(why, COLL_TCP_WHY, "rank %u has no address", (unsigned)r);
            return false;
        }
        memcpy(&net->processes[r], at + r * bytes, sizeof *net->processes);
        here += net->processes[r].processors == net->self.processors;
    }
    coll_i_tagged_probe(net);
    if (net->ranks_here == 0)
        coll_idle_init(&net->idle, here ? here : 1);
    if (!net->library->join(net, at, bytes, why))
        return false;
    for (unsigned i = 0; i < net->posted; i++) { /* receives of notices */
        coll_i_tagged_op *op = coll_i_tagged_op_take(net, NULL, COLL_I_TAGGED_HEAR, 0, NULL, 0);
        if (op)
            coll_i_tagged_start_data(net, op);
        if (op && op->state != COLL_I_TAGGED_OVER)
            continue;
        (void)snprintf(why, COLL_TCP_WHY, "rank %u: the library takes no receives",
                       (unsigned)net->rank);
        return false;
    }
    return true;
}

/* Finds out the addresses of all ranks, *bytes each; to free. NULL: `why` says why. */
COLL_INLINE unsigned char *coll_i_tagged_gather(const coll_i_tagged *net,
                                                coll_gather_bytes gather, void *ctx,
                                                size_t *bytes, char *why)
{
    uint32_t *lengths = (uint32_t *)malloc(net->p * sizeof *lengths);
    unsigned char *mine = NULL, *all = NULL;
    bool well = false;
    *bytes = 0;
    if (lengths && gather(ctx, &net->address_bytes, sizeof *lengths, lengths)) {
        for (uint32_t r = 0; r < net->p; r++)
            *bytes = lengths[r] > *bytes ? lengths[r] : *bytes;
        mine = (unsigned char *)calloc(1, *bytes);
        all = (unsigned char *)malloc(net->p * *bytes);
        if (mine && all) {
            memcpy(mine, net->address, net->address_bytes);
            well = gather(ctx, mine, *bytes, all);
        }
    }
    free(mine);
    free(lengths);
    if (well)
        return all;
    free(all);
    (void)snprintf(
        why, COLL_TCP_WHY,
        "rank %u does not learn the addresses of the others: one is not there, or has "
        "another secret",
        (unsigned)net->rank);
    return NULL;
}

/* ---- the end ----------------------------------------------------------------------------- */

/* Frees all that a rank has, without a word to the others, as if its process had ended. */
COLL_INLINE void coll_i_tagged_abandon(coll_i_tagged *net)
{
    if (!net)
        return;
    coll_i_tagged_break(net);
    for (uint32_t i = 0; i < net->n_ops; i++) {
        coll_i_tagged_op *op = &net->ops[i / COLL_I_TAGGED_OPS][i % COLL_I_TAGGED_OPS];
        coll_i_tagged_unregister(net, op);
        if (op->bounce && net->registers)
            net->library->unpin(net, op->bounce_own);
        if (i % COLL_I_TAGGED_OPS == 0 && net->registers)
            net->library->unpin(net, op->own);
    }
    coll_i_tagged_forget_all(net);
    for (uint32_t i = 0; i < net->n_ops; i++)
        free(net->ops[i / COLL_I_TAGGED_OPS][i % COLL_I_TAGGED_OPS].bounce);
    for (uint32_t i = 0; i < net->n_ops / COLL_I_TAGGED_OPS; i++)
        free(net->ops[i]);
    for (uint32_t i = 0; i < net->n_links; i++) {
        coll_i_tagged_watch_end(net->list[i]);
        free(net->list[i]);
    }
    if (net->probe >= 0)
        (void)close(net->probe);
    if (net->listener >= 0)
        (void)close(net->listener);
    coll_sleeper_close(&net->sleeper);
    free(net->ops);
    free(net->list);
    free(net->links);
    free(net->waiting);
    free(net->aborted);
    free(net->processes);
    free(net->address);
    net->library->release(net);
    free(net);
}

/* Says to all that it has to do with that this rank is done, and waits for their answers, for `patience` at
 * most: the messages before were received by the library then. */
COLL_INLINE void coll_i_tagged_leave(coll_i_tagged *net)
{
    const uint64_t until = coll_i_tcp_now() + net->patience;
    uint32_t left;
    net->closing = true;
    for (uint32_t i = 0; i < net->n_links; i++)
        if (!net->list[i]->lost)
            coll_i_tagged_say(net, net->list[i]->peer, COLL_I_TAGGED_LEAVE, 0, 0);
    for (uint32_t idle = 0;; idle++) {
        left = net->orphans + net->n_waiting;
        for (uint32_t i = 0; i < net->n_links; i++) {
            coll_i_tagged_link *link = net->list[i];
            const bool there = !link->lost && !link->heard;
            if (there && idle % COLL_I_TAGGED_ROUNDS == 0 &&
                coll_i_tagged_has_ended(net, link->peer))
                coll_i_tagged_lose(net, link);
            left += there;
        }
        if (left == 0 || net->broken || coll_i_tcp_now() >= until)
            return;
        coll_i_tagged_move(net);
        coll_idle_wait(&net->idle, idle, -1);
    }
}

/* Leaves, and frees all that the rank has. */
COLL_INLINE void coll_i_tagged_close(coll_i_tagged *net)
{
    if (!net)
        return;
    coll_i_tagged_leave(net);
    coll_i_tagged_abandon(net);
}

/* ---- the beginning ----------------------------------------------------------------------- */

/* Opens rank `rank` of p: it has an address then. NULL: `why`, of COLL_TCP_WHY bytes, says why. */
COLL_INLINE coll_i_tagged *coll_i_tagged_open(const coll_i_tagged_library *library,
                                              uint32_t rank, uint32_t p,
                                              const coll_i_tagged_asked *asked, char *why)
{
    coll_i_tagged *net = (coll_i_tagged *)calloc(1, library->bytes);
    (void)coll_i_tagged_no_memory(rank, why);
    if (!net)
        return NULL;
    net->library = library;
    if (coll_i_tagged_init(net, rank, p, asked, why) &&
        library->open(net, asked->options, why)) {
        *why = 0;
        return net;
    }
    coll_i_tagged_abandon(net);
    return NULL;
}

/* Opens a rank and has it join the others, whose addresses `gather` finds out, in two calls. NULL: `why`
 * says why. */
COLL_INLINE coll_i_tagged *coll_i_tagged_start(const coll_i_tagged_library *library,
                                               uint32_t rank, uint32_t p,
                                               const coll_i_tagged_asked *asked,
                                               coll_gather_bytes gather, void *ctx, char *why)
{
    coll_i_tagged *net = coll_i_tagged_open(library, rank, p, asked, why);
    unsigned char *all;
    size_t bytes;
    bool well;
    if (!net)
        return NULL;
    all = coll_i_tagged_gather(net, gather, ctx, &bytes, why);
    well = all && coll_i_tagged_join(net, all, bytes, why);
    free(all);
    if (well)
        return net;
    coll_i_tagged_abandon(net);
    return NULL;
}

/* Opens and joins the rank that this process was started as; COLL_PATIENCE and COLL_RANKS_HERE of the
 * environment hold for what was not asked. NULL: `why` says why. */
COLL_INLINE coll_i_tagged *coll_i_tagged_launched(const coll_i_tagged_library *library,
                                                  coll_i_tagged_asked asked, char *why)
{
    char last[COLL_TCP_WHY];
    coll_i_launched me;
    coll_i_tagged *net;
    if (!coll_i_launched_options(&asked.patience, &asked.ranks_here, why) ||
        !coll_i_launched_begin(&me, asked.patience, why))
        return NULL;
    net = coll_i_tagged_start(library, me.rank, me.p, &asked, coll_i_launched_gather, &me, why);
    if (!coll_i_launched_end(&me, last) && net) {
        coll_i_tagged_abandon(net);
        (void)snprintf(why, COLL_TCP_WHY, "%s", last);
        net = NULL;
    }
    return net;
}

#endif /* COLL_TRANSPORTS_TAGGED_MEMBERSHIP_H */
