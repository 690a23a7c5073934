/* coll/transports/bootstrap.h — how ranks find each other (hosted)
 *
 *   char why[COLL_TCP_WHY];
 *   coll_tcp *tcp = coll_tcp_launched(NULL, why);      // of this process, as its environment says
 *   if (!tcp) …                                        // `why` is a sentence
 *   coll_comm_init(&comm, &coll_tcp_transport, tcp, coll_tcp_rank(tcp), coll_tcp_size(tcp),
 *                  memory, bytes);
 *   …
 *   coll_tcp_close(tcp);
 *
 * A process learns who it is, who the others are, and what they have to say, by one of these:
 *
 *   coll launch -n P PROGRAM        on one machine
 *   mpiexec -n P PROGRAM            of MPICH, and what else speaks PMI-1 (bootstrap/pmi.h)
 *   mpiexec -n P PROGRAM            of Open MPI, srun --mpi=pmix, prun: if the program is compiled with
 *                                   COLL_PMIX, and linked with PMIx (bootstrap/pmix.h)
 *   COLL_RANK=r COLL_SIZE=p COLL_RENDEZVOUS=address:port COLL_SECRET=… PROGRAM
 *                                   on any machines: rank 0 listens at that address. The secret has 32
 *                                   hexadecimal digits. Jobs that run at once take different ports.
 *                                   address:port,address:port,… are several roots, which share the load:
 *                                   of m the k-th is where rank k·p/m listens (bootstrap/rendezvous.h)
 *   nothing of all that             the process is alone: rank 0 of 1
 *
 * Where options leave them open, COLL_INTERFACES says where ranks listen, COLL_PATIENCE for how many ms they
 * wait for each other, and COLL_RANKS_HERE how many share a machine, where its kernel does not tell
 * (coll_tcp_options).
 *
 * Or by means of the caller's: coll_tcp_start asks a callback that gathers some bytes of all ranks.
 */
#ifndef COLL_TRANSPORTS_BOOTSTRAP_H
#define COLL_TRANSPORTS_BOOTSTRAP_H

#include "bootstrap/pmi.h"
#include "bootstrap/pmix.h"
#include "bootstrap/rendezvous.h"

/* Writes what each rank has, `bytes` of it, by rank, to `all`. All ranks call it. False: it failed. */
typedef bool (*coll_gather_bytes)(void *ctx, const void *mine, size_t bytes, void *all);

/* Opens a rank and has it join the others, whose addresses `gather` finds out. NULL: `why`, of
 * COLL_TCP_WHY bytes, says why. */
COLL_INLINE coll_tcp *coll_tcp_start(uint32_t rank, uint32_t p, const coll_tcp_options *options,
                                     coll_gather_bytes gather, void *ctx, char *why)
{
    coll_tcp *tcp = coll_tcp_open(rank, p, options, why);
    coll_tcp_address *all;
    coll_tcp_address mine;
    bool well;
    if (!tcp)
        return NULL;
    mine = coll_tcp_own_address(tcp);
    all = (coll_tcp_address *)malloc(p * sizeof *all);
    (void)snprintf(
        why, COLL_TCP_WHY,
        "rank %u does not learn the addresses of the others: one is not there, or has "
        "another secret",
        (unsigned)rank);
    well = all && gather(ctx, &mine, sizeof mine, all) && coll_tcp_join(tcp, all, why);
    free(all);
    if (well) {
        *why = 0;
        return tcp;
    }
    coll_tcp_abandon(tcp);
    return NULL;
}

/* ---- for who starts processes ------------------------------------------------------------ */

enum {
    COLL_RENDEZVOUS_TEXT = 32, /* of each root */
    COLL_RENDEZVOUS_SECRET = 2 * COLL_TCP_SECRET + 1
};

/* Opens what a root of a job on this machine listens at: it inherits the descriptor, whose number is its
 * COLL_RENDEZVOUS_FD. Writes its part of what is COLL_RENDEZVOUS to all, of COLL_RENDEZVOUS_TEXT bytes; where
 * there are several roots, commas go between their parts. −1: errno says why. */
COLL_INLINE int coll_rendezvous_listen(char *where)
{
    coll_tcp_address address;
    int fd;
    memset(&address, 0, sizeof address);
    address.family = 4;
    address.ip[0] = 127;
    address.ip[3] = 1;
    fd = coll_i_tcp_listen_at(&address);
    (void)snprintf(where, COLL_RENDEZVOUS_TEXT, "127.0.0.1:%u", (unsigned)address.port);
    return fd;
}

/* The rank that is root number `root` of some. */
COLL_INLINE uint32_t coll_rendezvous_rank(uint32_t p, uint32_t roots, uint32_t root)
{
    return coll_i_rdv_root(p, roots, root);
}

/* The same of rank 0, the only root; and writes COLL_SECRET, of COLL_RENDEZVOUS_SECRET bytes. */
COLL_INLINE int coll_rendezvous_open(char *where, char *secret)
{
    unsigned char random[COLL_TCP_SECRET];
    if (!coll_i_tcp_random(random, sizeof random))
        return -1;
    for (unsigned i = 0; i < COLL_TCP_SECRET; i++)
        (void)snprintf(secret + 2 * i, 3, "%02x", random[i]);
    return coll_rendezvous_listen(where);
}

/* ---- by the environment ------------------------------------------------------------------ */

/* Who a process is, and how it reaches the others. */
typedef struct coll_i_launched {
    uint32_t rank, p, patience;
    uint32_t gathered; /* how often */
    unsigned char secret[COLL_TCP_SECRET];
    coll_i_pmi pmi; /* fd −1: there is none */
#if defined(COLL_PMIX)
    coll_i_pmix pmix;
#endif
    int listener;           /* of a root; −1: it is not open yet */
    uint32_t roots;         /* of the rendezvous */
    coll_tcp_address where; /* … that of this rank's group … */
    coll_tcp_address first; /* … and rank 0's */
} coll_i_launched;

/* Was this process started as a rank of a job? coll_tcp_launched finds the others then; else the process is
 * alone. */
COLL_INLINE bool coll_is_launched(void)
{
    return getenv("PMI_FD") || getenv("COLL_RANK") || getenv("PMIX_NAMESPACE");
}

/* A number in the environment, up to UINT32_MAX. */
COLL_INLINE bool coll_i_launched_number(const char *name, uint32_t *value, char *why)
{
    const char *text = getenv(name);
    char *end = NULL;
    const unsigned long long number = text ? strtoull(text, &end, 10) : 0;
    if (text && *text >= '0' && *text <= '9' && *end == 0 && number <= UINT32_MAX) {
        *value = (uint32_t)number;
        return true;
    }
    (void)snprintf(why, COLL_TCP_WHY, "%s is not a number: \"%.40s\"", name, text ? text : "");
    return false;
}

/* … which need not be there. */
COLL_INLINE bool coll_i_launched_option(const char *name, uint32_t *value, char *why)
{
    return !getenv(name) || coll_i_launched_number(name, value, why);
}

/* Those of COLL_PATIENCE and COLL_RANKS_HERE, where the caller has said 0. */
COLL_INLINE bool coll_i_launched_options(uint32_t *patience, uint32_t *ranks_here, char *why)
{
    return (*patience != 0 || coll_i_launched_option("COLL_PATIENCE", patience, why)) &&
           (*ranks_here != 0 || coll_i_launched_option("COLL_RANKS_HERE", ranks_here, why));
}

/* "127.0.0.1:5000" or "[::1]:5000". */
COLL_INLINE bool coll_i_launched_where(const char *text, coll_tcp_address *where, char *why)
{
    char address[64];
    const char *colon = NULL;
    const char *const behind = text + strcspn(text, ",");
    for (const char *at = text; at < behind; at++)
        colon = *at == ':' ? at : colon;
    const size_t length = colon ? (size_t)(colon - text) : 0;
    const bool brackets = length > 1 && text[0] == '[' && text[length - 1] == ']';
    char *end = NULL;
    unsigned long port = 0;
    unsigned bits = 0;
    if (length > 0 && length < sizeof address) {
        memcpy(address, text + brackets, length - 2 * (size_t)brackets);
        address[length - 2 * (size_t)brackets] = 0;
        port = strtoul(colon + 1, &end, 10);
        if (end == behind && port > 0 && port < 65536 && !strchr(address, '/') &&
            coll_i_tcp_prefix(address, where, &bits)) {
            where->port = (uint16_t)port;
            return true;
        }
    }
    (void)snprintf(why, COLL_TCP_WHY,
                   "COLL_RENDEZVOUS is no address and port, such as 10.0.0.1:5000: \"%.60s\"",
                   text);
    return false;
}

/* The addresses of the roots, with commas between them. */
COLL_INLINE bool coll_i_launched_roots(coll_i_launched *me, const char *text, char *why)
{
    const char *at = text;
    uint32_t g;
    me->roots = 1;
    for (at = text; *at; at++)
        me->roots += *at == ',';
    if (me->roots > me->p || me->rank >= me->p) {
        (void)snprintf(why, COLL_TCP_WHY,
                       me->rank < me->p ? "COLL_RENDEZVOUS has %u addresses, for %u ranks"
                                        : "COLL_RANK is %u, of %u ranks",
                       (unsigned)(me->rank < me->p ? me->roots : me->rank), (unsigned)me->p);
        return false;
    }
    g = coll_i_rdv_group(me->p, me->roots, me->rank);
    for (at = text; g > 0; g--)
        at += strcspn(at, ",") + 1;
    return coll_i_launched_where(text, &me->first, why) &&
           coll_i_launched_where(at, &me->where, why);
}

/* Opens what a root listens at, so that what forbids it can be said. */
COLL_INLINE bool coll_i_launched_listen(coll_i_launched *me, char *why)
{
    const uint32_t g = coll_i_rdv_group(me->p, me->roots, me->rank);
    uint32_t fd = 0;
    if (me->listener >= 0 || me->rank != coll_i_rdv_root(me->p, me->roots, g))
        return true;
    if (getenv("COLL_RENDEZVOUS_FD")) {
        me->listener = coll_i_launched_number("COLL_RENDEZVOUS_FD", &fd, why) ? (int)fd : -1;
        return me->listener >= 0;
    }
    me->listener = coll_i_tcp_listen_at(&me->where);
    if (me->listener < 0)
        (void)snprintf(why, COLL_TCP_WHY,
                       "rank %u cannot listen at address %u of COLL_RENDEZVOUS: %s",
                       (unsigned)me->rank, (unsigned)g + 1, strerror(errno));
    return me->listener >= 0;
}

/* By PMIx. */
COLL_INLINE bool coll_i_launched_by(coll_i_launched *me, char *why)
{
#if defined(COLL_PMIX)
    if (coll_i_pmix_open(&me->pmix, &me->rank, &me->p))
        return true;
    (void)coll_i_pmix_close(&me->pmix);
    (void)snprintf(why, COLL_TCP_WHY, "the process manager does not answer by PMIx");
#else
    (void)me;
    (void)snprintf(why, COLL_TCP_WHY,
                   "this process was started by PMIx, for which it must be compiled with "
                   "COLL_PMIX; or have it started by coll launch, or mpiexec of MPICH");
#endif
    return false;
}

COLL_INLINE bool coll_i_launched_read(coll_i_launched *me, char *why)
{
    const char *secret = getenv("COLL_SECRET"), *where = getenv("COLL_RENDEZVOUS");
    uint32_t fd = 0;
    me->rank = 0;
    me->p = 1;
    me->gathered = 0;
    me->pmi.fd = me->listener = -1;
    memset(me->secret, 0, sizeof me->secret);
#if defined(COLL_PMIX)
    me->pmix.open = false;
#endif
    if (!coll_is_launched())
        return true;
    if (getenv("PMI_FD")) {
        if (!coll_i_launched_number("PMI_FD", &fd, why) ||
            !coll_i_launched_number("PMI_RANK", &me->rank, why) ||
            !coll_i_launched_number("PMI_SIZE", &me->p, why))
            return false;
        if (coll_i_pmi_open(&me->pmi, (int)fd))
            return true;
        (void)snprintf(why, COLL_TCP_WHY, "the process manager does not answer at PMI_FD");
        return false;
    }
    if (!getenv("COLL_RANK"))
        return coll_i_launched_by(me, why);
    if (!coll_i_launched_number("COLL_RANK", &me->rank, why) ||
        !coll_i_launched_number("COLL_SIZE", &me->p, why))
        return false;
    if (secret && !coll_i_hex(secret, strlen(secret), me->secret, sizeof me->secret)) {
        (void)snprintf(why, COLL_TCP_WHY, "COLL_SECRET is not %d hexadecimal digits",
                       2 * COLL_TCP_SECRET);
        return false;
    }
    if (me->p > 1 && !where) {
        (void)snprintf(why, COLL_TCP_WHY, "COLL_RENDEZVOUS does not say where rank 0 listens");
        return false;
    }
    return me->p == 1 ||
           (coll_i_launched_roots(me, where, why) && coll_i_launched_listen(me, why));
}

/* ---- by a process manager ---------------------------------------------------------------- */

COLL_INLINE bool coll_i_launched_is_managed(const coll_i_launched *me)
{
#if defined(COLL_PMIX)
    if (me->pmix.open)
        return true;
#endif
    return me->pmi.fd >= 0;
}

/* Puts what this rank has under a key of its own. */
COLL_INLINE bool coll_i_launched_put(coll_i_launched *me, const char *key, const void *mine,
                                     size_t bytes)
{
#if defined(COLL_PMIX)
    if (me->pmix.open)
        return coll_i_pmix_put(key, mine, bytes);
#endif
    return coll_i_pmi_put(&me->pmi, key, mine, bytes);
}

/* Waits until all have put what they have. */
COLL_INLINE bool coll_i_launched_fence(coll_i_launched *me)
{
#if defined(COLL_PMIX)
    if (me->pmix.open)
        return coll_i_pmix_fence(&me->pmix);
#endif
    return coll_i_pmi_barrier(&me->pmi);
}

COLL_INLINE bool coll_i_launched_get(coll_i_launched *me, uint32_t rank, const char *key,
                                     void *its, size_t bytes)
{
#if defined(COLL_PMIX)
    if (me->pmix.open)
        return coll_i_pmix_get(&me->pmix, rank, key, its, bytes);
#endif
    (void)rank;
    return coll_i_pmi_get(&me->pmi, key, its, bytes);
}

/* By its key-value space: what each rank publishes, all read. A value has room for COLL_I_PMI_BYTES, so
 * what is longer is published in parts. */
COLL_INLINE bool coll_i_launched_by_manager(coll_i_launched *me, const void *mine, size_t bytes,
                                            unsigned char *all)
{
    const unsigned char *from = (const unsigned char *)mine;
    char key[60];
    for (size_t at = 0; at < bytes; at += COLL_I_PMI_BYTES) {
        (void)snprintf(key, sizeof key, "coll-%u-%u-%u", (unsigned)me->gathered,
                       (unsigned)me->rank, (unsigned)at);
        if (!coll_i_launched_put(me, key, from + at, coll_i_pmi_part(bytes - at)))
            return false;
    }
    if (!coll_i_launched_fence(me))
        return false;
    for (uint32_t r = 0; r < me->p; r++)
        for (size_t at = 0; at < bytes; at += COLL_I_PMI_BYTES) {
            (void)snprintf(key, sizeof key, "coll-%u-%u-%u", (unsigned)me->gathered,
                           (unsigned)r, (unsigned)at);
            if (!coll_i_launched_get(me, r, key, all + r * bytes + at,
                                     coll_i_pmi_part(bytes - at)))
                return false;
        }
    return true;
}

/* ---- all of them ------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_launched_by_rendezvous(coll_i_launched *me, const void *mine,
                                               size_t bytes, unsigned char *all)
{
    coll_i_rdv its;
    bool well;
    its.secret = me->secret;
    its.rank = me->rank;
    its.p = me->p;
    its.roots = me->roots;
    its.bytes = bytes;
    its.until = coll_i_tcp_now() + me->patience;
    its.room = (unsigned char *)malloc(COLL_I_TCP_RANDOM + me->p * bytes);
    if (!its.room)
        return false;
    memcpy(coll_i_rdv_at(&its, me->rank), mine, bytes);
    well = coll_i_rdv_meet(&its, me->listener, &me->where, &me->first);
    if (well)
        memcpy(all, coll_i_rdv_at(&its, 0), me->p * bytes);
    free(its.room);
    return well;
}

COLL_INLINE bool coll_i_launched_gather(void *ctx, const void *mine, size_t bytes, void *all)
{
    coll_i_launched *me = (coll_i_launched *)ctx;
    if (bytes > COLL_I_RDV_BYTES)
        return false;
    me->gathered++;
    if (coll_i_launched_is_managed(me))
        return coll_i_launched_by_manager(me, mine, bytes, (unsigned char *)all);
    if (me->p > 1)
        return coll_i_launched_by_rendezvous(me, mine, bytes, (unsigned char *)all);
    memcpy(all, mine, bytes);
    return true;
}

/* The ranks of a process manager have no secret yet: rank 0 makes one up. */
COLL_INLINE bool coll_i_launched_secret(coll_i_launched *me)
{
    const char *const key = "coll-secret";
    if (!coll_i_launched_is_managed(me))
        return true;
    if (me->rank == 0 && (!coll_i_tcp_random(me->secret, sizeof me->secret) ||
                          !coll_i_launched_put(me, key, me->secret, sizeof me->secret)))
        return false;
    return coll_i_launched_fence(me) &&
           coll_i_launched_get(me, 0, key, me->secret, sizeof me->secret);
}

/* Finds out who this process is; `gather` of coll_i_launched_gather, once or several times, may follow. False:
 * `why` says why. patience: ms, 0: 10000. */
COLL_INLINE bool coll_i_launched_begin(coll_i_launched *me, uint32_t patience, char *why)
{
    if (!coll_i_launched_read(me, why))
        return false;
    me->patience = patience ? patience : 10000;
    if (coll_i_launched_secret(me))
        return true;
    (void)snprintf(why, COLL_TCP_WHY, "the process manager keeps nothing for the ranks");
    return false;
}

/* False, and `why` says why: the process manager does not answer any more. */
COLL_INLINE bool coll_i_launched_end(coll_i_launched *me, char *why)
{
    if (me->listener >= 0)
        (void)close(me->listener);
#if defined(COLL_PMIX)
    if (me->pmix.open ? coll_i_pmix_close(&me->pmix)
                      : me->pmi.fd < 0 || coll_i_pmi_close(&me->pmi))
        return true;
#else
    if (me->pmi.fd < 0 || coll_i_pmi_close(&me->pmi))
        return true;
#endif
    (void)snprintf(why, COLL_TCP_WHY, "the process manager does not answer any more");
    return false;
}

/* Opens and joins the rank that this process was started as. What `options` say of a secret does not
 * count. NULL: `why`, of COLL_TCP_WHY bytes, says why. Once a process. */
COLL_INLINE coll_tcp *coll_tcp_launched(const coll_tcp_options *options, char *why)
{
    char last[COLL_TCP_WHY];
    coll_tcp_options mine;
    coll_i_launched me;
    coll_tcp *tcp;
    memset(&mine, 0, sizeof mine);
    if (options)
        mine = *options;
    if (!coll_i_launched_options(&mine.patience, &mine.ranks_here, why) ||
        !coll_i_launched_begin(&me, mine.patience, why))
        return NULL;
    if (!mine.interfaces)
        mine.interfaces = getenv("COLL_INTERFACES");
    mine.secret = me.secret;
    tcp = coll_tcp_start(me.rank, me.p, &mine, coll_i_launched_gather, &me, why);
    if (!coll_i_launched_end(&me, last) && tcp) {
        coll_tcp_abandon(tcp);
        (void)snprintf(why, COLL_TCP_WHY, "%s", last);
        tcp = NULL;
    }
    return tcp;
}

#endif /* COLL_TRANSPORTS_BOOTSTRAP_H */
