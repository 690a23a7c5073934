/* mpi/layer/failures.c — ranks of a node that have died, and what becomes of their communicators
 *
 * The memory of a node outlives its ranks. Each seat there says whether its rank is alive, and
 * each communicator of the node has a *fate*: a member died, or somebody revoked it. All its
 * calls then end with an error, on all members, those that are under way, too: jobs that wait
 * look here now and then.
 *
 * Agreement. Each member votes, and waits until every other one has voted or is gone. It then
 * proposes what it saw, the AND of the votes and who is gone, in its own place, and tries to have
 * the fate name its proposal by one compare-and-swap from the agreement before. One member
 * succeeds, and all take its proposal. No member waits for anything but votes, and a rank that
 * dies at any point leaves either nothing or all of a proposal. Votes and proposals are written
 * again only in the next agreement, which is decided only after all living members have voted in
 * it: by then they have read this one.
 *
 * coll/comm/recover.h has the same for all transports, by messages and aborted tags, of which
 * a transport remembers a few; here every communicator of the program can fail.
 */
#include <stdlib.h>
#include <time.h>

#include "layer.h"

enum { ALIVE, DEAD, LEFT };     /* of a seat; LEFT: in MPI_Finalize */
enum { LOST = 1, REVOKED = 2 }; /* of a communicator */

struct fate {
    uint32_t ended;   /* LOST, REVOKED */
    uint64_t decided; /* the last agreement · 2³² + the member whose proposal counts */
};

/* A member's words; behind each of the two there is a set of members. */
enum { VOTE, VOTE_FLAGS, ACKNOWLEDGED };
enum { FLAGS, ALL_KNEW, GONE };

/* A communicator whose members this layer can keep apart from the dead. */
struct pact {
    struct fate *fate;
    struct fate alone;  /* it has one rank */
    uint64_t *votes;    /* of all seats */
    uint64_t agreement; /* the last one's number, … */
    uint64_t decided;   /* … and the fate's word of it */
    uint32_t events;    /* that are looked through already */
    uint32_t set;       /* words of a set of members */
    uint32_t *found; /* members that are gone, in the order in which this one found them: … */
    uint32_t n_found, n_acknowledged; /* … so many, of which it acknowledged the first ones */
    uint64_t members[];               /* SETS of them */
};

/* Sets of members: acknowledged as gone; gone as the last agreement says; found. */
enum { KNOWN, LOST_LAST, FOUND, SETS };

static const uint32_t no_events;
const uint32_t *failures_events = &no_events;

static uint32_t
    *events; /* in the node's memory: deaths and revocations so far; NULL: there is none */
static uint32_t *seats;
static struct fate *fates;
static uint64_t *votes;
static uint32_t n_numbers, n_seats;
static int code_failed = MPI_ERR_OTHER, code_revoked = MPI_ERR_OTHER;

/* ---- memory ------------------------------------------------------------------------------ */

enum { LINE = 64 };

static size_t up(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static uint32_t words_of_set(uint32_t members)
{
    return (members + 63) / 64;
}

static size_t vote_words(uint32_t ranks)
{
    return (size_t)ACKNOWLEDGED + GONE + 2 * words_of_set(ranks);
}

size_t failures_bytes(uint32_t numbers, uint32_t ranks)
{
    return LINE + LINE + up(ranks * sizeof *seats) + up(numbers * sizeof *fates) +
           numbers * ranks * vote_words(ranks) * sizeof *votes;
}

void failures_init(void *memory, uint32_t numbers, uint32_t ranks)
{
    unsigned char *at = (unsigned char *)(((uintptr_t)memory + LINE - 1) / LINE * LINE);
    n_numbers = numbers;
    n_seats = ranks;
    failures_events = events = (uint32_t *)(void *)at;
    at += LINE;
    seats = (uint32_t *)(void *)at;
    at += up(ranks * sizeof *seats);
    fates = (struct fate *)(void *)at;
    at += up(numbers * sizeof *fates);
    votes = (uint64_t *)(void *)at;
}

void failures_end(uint32_t seat)
{
    if (!events)
        return;
    __atomic_store_n(&seats[seat], LEFT, __ATOMIC_SEQ_CST);
    failures_events = &no_events;
    events = NULL;
}

void failures_fresh(uint32_t number)
{
    const size_t words = n_seats * vote_words(n_seats);
    memset(&fates[number], 0, sizeof fates[number]);
    memset(votes + number * words, 0, words * sizeof *votes);
}

/* ---- who is gone ------------------------------------------------------------------------- */

static bool is_gone(uint32_t seat)
{
    return __atomic_load_n(&seats[seat], __ATOMIC_ACQUIRE) != ALIVE;
}

/* Asks whether a rank is there. One that leaves says so first, so it is not taken for dead. */
static void ask(uint32_t seat)
{
    uint32_t was = ALIVE;
    if (!is_gone(seat) && nodes_seat_is_dead(seat) &&
        __atomic_compare_exchange_n(&seats[seat], &was, DEAD, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_ACQUIRE))
        (void)__atomic_add_fetch(events, 1, __ATOMIC_RELEASE);
}

/* Asks for a few ranks, at most once in a millisecond: each costs a system call. */
static void look(void)
{
    enum { AT_ONCE = 16 };
    static uint32_t next;
    static int64_t looked;
    struct timespec now;
    int64_t milliseconds;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    milliseconds = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (!events || milliseconds == looked)
        return;
    looked = milliseconds;
    for (uint32_t i = 0; i < AT_ONCE && i < n_seats; i++) {
        ask(next);
        next = next + 1 < n_seats ? next + 1 : 0;
    }
}

/* ---- communicators ----------------------------------------------------------------------- */

void failures_join(struct comm *comm)
{
    const uint32_t set = words_of_set(comm->p);
    struct pact *pact;
    if (comm->p > 1 && (!comm->one_node || !events))
        return;
    pact = calloc(1, sizeof *pact + SETS * set * sizeof(uint64_t) + comm->p * sizeof(uint32_t));
    if (!pact)
        return;
    pact->set = set;
    pact->found = (uint32_t *)(void *)(pact->members + SETS * set);
    pact->fate = &pact->alone;
    if (comm->p > 1) {
        pact->fate = &fates[comm->number];
        pact->votes = votes + comm->number * n_seats * vote_words(n_seats);
    }
    comm->pact = pact;
}

void failures_leave(struct comm *comm)
{
    free(comm->pact);
    comm->pact = NULL;
}

static void end(struct comm *comm, uint32_t how)
{
    (void)__atomic_fetch_or(&comm->pact->fate->ended, how, __ATOMIC_SEQ_CST);
}

/* Looks through the members, as somebody died since the last time. */
static void find_lost(struct comm *comm)
{
    const uint32_t seen = __atomic_load_n(events, __ATOMIC_ACQUIRE);
    if (seen == comm->pact->events)
        return;
    for (uint32_t i = 0; i < comm->p; i++)
        if (__atomic_load_n(&seats[comm->seats[i]], __ATOMIC_ACQUIRE) == DEAD)
            end(comm, LOST);
    comm->pact->events = seen;
}

int failures_of(struct comm *comm, bool now)
{
    const struct pact *pact = comm->pact;
    uint32_t ended;
    if (!pact)
        return MPI_SUCCESS;
    if (comm->p > 1 && events) {
        look();
        for (uint32_t i = 0; now && i < comm->p; i++)
            ask(comm->seats[i]);
        find_lost(comm);
    }
    ended = __atomic_load_n(&pact->fate->ended, __ATOMIC_ACQUIRE);
    return (ended & REVOKED) != 0 ? code_revoked : ended != 0 ? code_failed : MPI_SUCCESS;
}

void failures_revoke(struct comm *comm)
{
    end(comm, REVOKED);
    if (events)
        (void)__atomic_add_fetch(events, 1, __ATOMIC_RELEASE);
}

int failures_error(void)
{
    return code_failed;
}

bool failures_is_revoked(const struct comm *comm)
{
    return (__atomic_load_n(&comm->pact->fate->ended, __ATOMIC_ACQUIRE) & REVOKED) != 0;
}

/* ---- sets of members --------------------------------------------------------------------- */

static bool has(const uint64_t *set, uint32_t member)
{
    return (set[member / 64] >> member % 64 & 1) != 0;
}

static void add(uint64_t *set, uint32_t member)
{
    set[member / 64] |= (uint64_t)1 << member % 64;
}

static uint64_t *set_of(struct pact *pact, int which)
{
    return pact->members + (uint32_t)which * pact->set;
}

uint32_t failures_find(struct comm *comm)
{
    struct pact *pact = comm->pact;
    for (uint32_t i = 0; comm->p > 1 && events && i < comm->p; i++) {
        ask(comm->seats[i]);
        if (is_gone(comm->seats[i]) && !has(set_of(pact, FOUND), i)) {
            add(set_of(pact, FOUND), i);
            pact->found[pact->n_found++] = i;
        }
    }
    return pact->n_found;
}

const uint32_t *failures_found(const struct comm *comm)
{
    return comm->pact->found;
}

uint32_t failures_acknowledge(struct comm *comm, uint32_t n)
{
    struct pact *pact = comm->pact;
    while (pact->n_acknowledged < n && pact->n_acknowledged < pact->n_found)
        add(set_of(pact, KNOWN), pact->found[pact->n_acknowledged++]);
    return pact->n_acknowledged;
}

bool failures_is_lost(const struct comm *comm, uint32_t rank)
{
    return has(set_of(comm->pact, LOST_LAST), rank);
}

/* ---- agreement --------------------------------------------------------------------------- */

/* What a member says: its vote, and its proposal. */
static uint64_t *vote_of(const struct comm *comm, uint32_t member)
{
    return comm->pact->votes + comm->seats[member] * vote_words(n_seats);
}

static uint64_t *proposal_of(const struct comm *comm, uint32_t member)
{
    return vote_of(comm, member) + ACKNOWLEDGED + words_of_set(n_seats);
}

static void vote(const struct comm *comm, uint64_t flags)
{
    uint64_t *mine = vote_of(comm, comm->rank);
    mine[VOTE_FLAGS] = flags;
    for (uint32_t i = 0; i < comm->pact->set; i++)
        mine[ACKNOWLEDGED + i] = set_of(comm->pact, KNOWN)[i];
    __atomic_store_n(&mine[VOTE], comm->pact->agreement, __ATOMIC_RELEASE);
}

static bool has_voted(const struct comm *comm, uint32_t member)
{
    return __atomic_load_n(&vote_of(comm, member)[VOTE], __ATOMIC_ACQUIRE) >=
           comm->pact->agreement;
}

static bool all_have_voted(const struct comm *comm)
{
    for (uint32_t i = 0; i < comm->p; i++)
        if (!has_voted(comm, i) && !is_gone(comm->seats[i]))
            return false;
    return true;
}

static uint64_t decision(const struct pact *pact)
{
    return __atomic_load_n(&pact->fate->decided, __ATOMIC_ACQUIRE);
}

static void propose(const struct comm *comm)
{
    struct pact *pact = comm->pact;
    uint64_t *mine = proposal_of(comm, comm->rank), before = pact->decided;
    mine[FLAGS] = ~(uint64_t)0;
    mine[ALL_KNEW] = 1;
    for (uint32_t i = 0; i < pact->set; i++)
        mine[GONE + i] = 0;
    for (uint32_t i = 0; i < comm->p; i++)
        if (is_gone(comm->seats[i]))
            add(mine + GONE, i);
    for (uint32_t i = 0; i < comm->p; i++) {
        const uint64_t *its = vote_of(comm, i);
        if (!has_voted(comm, i))
            continue;
        mine[FLAGS] &= its[VOTE_FLAGS];
        for (uint32_t k = 0; k < pact->set && !has(mine + GONE, i); k++)
            if ((mine[GONE + k] & ~its[ACKNOWLEDGED + k]) != 0)
                mine[ALL_KNEW] = 0;
    }
    (void)__atomic_compare_exchange_n(&pact->fate->decided, &before,
                                      pact->agreement << 32 | comm->rank, false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
}

void failures_begin(struct comm *comm, uint64_t flags)
{
    struct pact *pact = comm->pact;
    pact->agreement++;
    if (comm->p > 1)
        vote(comm, flags);
}

bool failures_decided(struct comm *comm)
{
    struct pact *pact = comm->pact;
    if (comm->p == 1 || decision(pact) >> 32 == pact->agreement)
        return true;
    if (!all_have_voted(comm)) {
        look();
        return false;
    }
    propose(comm);
    return decision(pact) >> 32 == pact->agreement;
}

bool failures_take(struct comm *comm, uint64_t *flags)
{
    struct pact *pact = comm->pact;
    const uint64_t *its;
    if (comm->p == 1)
        return true;
    pact->decided = decision(pact);
    its = proposal_of(comm, (uint32_t)pact->decided);
    *flags = its[FLAGS];
    for (uint32_t i = 0; i < pact->set; i++)
        set_of(pact, LOST_LAST)[i] = its[GONE + i];
    return its[ALL_KNEW] != 0;
}

/* ---- classes of errors ------------------------------------------------------------------- */

#ifdef MPIX_ERR_PROC_FAILED
void failures_classes(void)
{
    code_failed = MPIX_ERR_PROC_FAILED;
    code_revoked = MPIX_ERR_REVOKED;
}
#else
/* The first classes that are added to those of the library have the numbers that coll_ulfm.h
 * says. Open MPI 4.1 only finds the class of codes, not of added classes. */
void failures_classes(void)
{
    int failed, revoked;
    if (PMPI_Add_error_class(&failed) != MPI_SUCCESS ||
        PMPI_Add_error_class(&revoked) != MPI_SUCCESS ||
        PMPI_Add_error_code(failed, &code_failed) != MPI_SUCCESS ||
        PMPI_Add_error_code(revoked, &code_revoked) != MPI_SUCCESS)
        return;
    (void)PMPI_Add_error_string(code_failed, "a process of the communicator has failed");
    (void)PMPI_Add_error_string(code_revoked, "the communicator has been revoked");
}
#endif
