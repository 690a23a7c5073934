/* mpi/layer/nodes.c — which ranks share a node, and messages through its memory
 *
 * The ranks of a node have a segment (coll/transports/shm.h), if it can be made for all of them. A
 * communicator has a number of its own in each node that has several of its ranks, which goes into
 * the tags of its messages there; the first of these ranks takes it out of a table in the segment,
 * and it is free again when all of them have left the communicator. Whether two ranks talk
 * through memory depends on what both of them know: the node, and its number of the communicator.
 *
 * A communicator of one node alone uses the segment's transport as it is. One of several nodes
 * joins it with the library's messages (coll/transports/join.h).
 */
#include <stdio.h>
#include <stdlib.h>

#include "coll/select/intra_node.h"
#include "coll/transports/shm.h"
#include "layer.h"

enum {
    NUMBERS = COLL_CLAIM_ALL / TAGS_MOST,
    FAILURES = 8,
    PATIENCE_MS = 20000
};                                  /* all tags of the segment */
enum { SHARED = (4 << 20) + 4096 }; /* for calls: a MiB for each that is under way */

/* In SHARED memory, before what is for calls: how many ranks have a communicator of each number; 0: it
 * is free. Number 0 is none. And the numbers of its calls that failed last. */
struct numbers {
    uint32_t next;
    uint32_t users[NUMBERS];
    uint32_t unshared;
    uint32_t failures[NUMBERS];
    uint64_t failed[NUMBERS][FAILURES];
};

static uint32_t *world_nodes; /* node of each rank of MPI_COMM_WORLD, its first rank */
static coll_shm *shm;         /* of this rank's node; NULL: messages are the library's */
static coll_rule_list rules;  /* for communicators of one node */
static bool zero_copy;        /* its ranks read long messages where they lie */
static bool several;          /* nodes */
static bool
    in_turn; /* no rank of the node makes calls in several threads; of any, if all share */
static bool all_share;     /* each rank of the world has the SHARED memory of its node */
static coll_mpi_ways ways; /* of messages of this rank's node that are the library's */
/* Of communicators of one node, and of messages that are the library's, of which the second is for ranks
 * that are near each other. None aborts: after an error MPI's communicators go on, with the same tags; jobs.c ends the call. */
static coll_transport within, across[2];
static coll_failure within_failure;

static struct numbers *numbers(void)
{
    return (struct numbers *)coll_shm_shared(shm);
}

/* ---- the node's memory ------------------------------------------------------------------- */

/* Of each bit: has it every rank of the node? */
static int all_have(MPI_Comm node, int mine)
{
    int all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_BAND, node);
    return all;
}

static bool all_do(MPI_Comm node, bool good)
{
    return all_have(node, good ? 1 : 0) != 0;
}

/* Has every rank of the node attach to a segment that its first one makes, under a name that is
 * gone again before this returns. */
static bool attach(MPI_Comm node, uint32_t rank, uint32_t p, char *why)
{
    const size_t kept = sizeof(struct numbers) + late_bytes(p) + failures_bytes(NUMBERS, p);
    char name[64];
    enum { GOOD = 1, ONE_THREAD = 2 };
    int fd = -1, all;
    bool good;
    snprintf(name, sizeof name, "/collmpi-%ld", (long)getpid());
    if (rank == 0)
        fd = coll_shm_create(name, p, kept + SHARED, why);
    PMPI_Bcast(name, sizeof name, MPI_CHAR, 0, node);
    good = all_do(node, rank != 0 || fd >= 0);
    if (good && rank != 0)
        fd = coll_shm_open(name, PATIENCE_MS, why);
    if (fd >= 0) {
        shm = coll_shm_attach(fd, rank, p, kept + SHARED, why);
        (void)close(fd);
    }
    all = all_have(node, (good && shm ? GOOD : 0) | (settings.threads ? 0 : ONE_THREAD));
    good = (all & GOOD) != 0;
    in_turn = (all & ONE_THREAD) != 0;
    if (good) {
        coll_shm_keep(shm, kept);
        late_init(numbers() + 1, rank, p);
        failures_init((unsigned char *)(numbers() + 1) + late_bytes(p), NUMBERS, p);
    }
    if (rank == 0 && fd >= 0)
        coll_shm_unlink(name);
    if (good && !settings.pages) /* out of small pages the kernel is hardly faster */
        coll_shm_ask_slots(shm);
    if (good && settings.zero_copy) {
        coll_shm_ask_direct(shm);
        coll_shm_ask_zero_copy(shm);
    }
    return good && all_do(node, coll_shm_join(shm, PATIENCE_MS, why));
}

/* What keeps long messages from being read where they lie; NULL: nothing. */
static const char *not_zero_copy(void)
{
    return !shm        ? "messages within a node are the library's"
           : zero_copy ? NULL
                       : "the kernel does not let the ranks read each other's memory";
}

/* How messages within the node go that are the library's. */
static void find_ways(MPI_Comm node)
{
    coll_mpi mpi;
    int rank;
    PMPI_Comm_rank(node, &rank);
    PMPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    coll_mpi_init(&mpi, node);
    mpi.oversubscribed = settings.oversubscribed;
    mpi.pages = settings.pages;
    ways = settings.near == UNASKED
               ? coll_mpi_find_ways(&mpi)
               : coll_mpi_usual_ways(settings.near, settings.oversubscribed);
    coll_mpi_free(&mpi);
    if (rank == 0 && settings.verbose)
        report_ways(&ways);
}

/* Collective over the ranks that share memory, of which the node is a part if the user says so. */
static void open_node(MPI_Comm sharing, uint32_t first)
{
    char why[COLL_SHM_WHY] = "another rank of the node could not";
    uint32_t members = 0;
    int rank, p, world;
    MPI_Comm node = sharing;
    PMPI_Comm_size(MPI_COMM_WORLD, &world);
    for (int i = 0; i < world; i++) {
        members += world_nodes[i] == first;
        several = several || world_nodes[i] != first;
    }
    if (settings.ppn > 0)
        PMPI_Comm_split(sharing, (int)first, 0, &node);
    PMPI_Comm_rank(node, &rank);
    PMPI_Comm_size(node, &p);
    if ((p > 1 || several) && (uint32_t)p == members) {
        if (settings.shm && !attach(node, (uint32_t)rank, members, why)) {
            coll_shm_detach(shm);
            shm = NULL;
            if (settings.verbose)
                fprintf(stderr, "coll: messages within a node are the library's: %s\n", why);
        }
        if (!shm && p > 1)
            find_ways(node);
        zero_copy = settings.zero_copy && shm && coll_shm_transport(shm)->max_bytes == 0;
        if (rank == 0 && settings.zero_copy && settings.verbose)
            report_zero_copy(not_zero_copy());
    }
    if (node != sharing)
        PMPI_Comm_free(&node);
}

/* The lowest of the world's ranks that share memory. */
static int first_of(MPI_Comm sharing)
{
    const int lowest = 0;
    int first = 0;
    MPI_Group group, world;
    PMPI_Comm_group(sharing, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    (void)PMPI_Group_translate_ranks(group, 1, &lowest, world, &first);
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    return first;
}

/* ---- communicators ----------------------------------------------------------------------- */

/* Writes of all ranks of a communicator which ranks of the world they are. */
static bool find_in_world(const struct comm *comm, MPI_Group group, int *in_world)
{
    int *ranks = malloc(comm->p * sizeof *ranks);
    MPI_Group world;
    bool found;
    if (!ranks)
        return false;
    for (uint32_t i = 0; i < comm->p; i++)
        ranks[i] = (int)i;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    found =
        PMPI_Group_translate_ranks(group, (int)comm->p, ranks, world, in_world) == MPI_SUCCESS;
    PMPI_Group_free(&world);
    free(ranks);
    return found;
}

/* Finds the ranks' places by nodes, if these are several. */
static void find_places(struct comm *comm, const int *in_world)
{
    uint32_t *tables = malloc((coll_rank_order_tables(comm->p) + comm->p) * sizeof *tables);
    uint32_t *node = tables + coll_rank_order_tables(comm->p);
    if (!tables)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    for (uint32_t i = 0; i < comm->p; i++)
        node[i] = world_nodes[in_world[i]];
    coll_rank_order_of(&comm->places, node, comm->p, tables);
    if (coll_nodes_count(&comm->places.nodes) > 1) {
        comm->tables = tables;
        return;
    }
    coll_rank_order_init(&comm->places);
    free(tables);
}

/* Are all of them on one node? They all know. */
static bool are_near(const struct comm *comm, const int *in_world)
{
    uint32_t i = 0;
    while (i < comm->p && world_nodes[in_world[i]] == world_nodes[in_world[0]])
        i++;
    return i == comm->p;
}

/* Takes a number that is free, for so many ranks; 0: there is none. */
static uint32_t take_number(uint32_t ranks)
{
    struct numbers *all = numbers();
    for (uint32_t tries = 1; tries < NUMBERS; tries++) {
        const uint32_t number =
            1 + __atomic_fetch_add(&all->next, 1, __ATOMIC_RELAXED) % (NUMBERS - 1);
        uint32_t users = 0;
        if (__atomic_compare_exchange_n(&all->users[number], &users, ranks, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            memset(all->failed[number], 0, sizeof all->failed[number]);
            failures_fresh(number);
            return number;
        }
    }
    return 0;
}

static uint32_t tag_within(const struct comm *comm, uint32_t tag)
{
    return comm->number * (uint32_t)TAGS_MOST + tag;
}

/* Joins the node's memory and the library, for a communicator with seats on several nodes. */
static void join(struct comm *comm)
{
    if (coll_join_seats(&comm->join, comm->p, comm->seats, tag_within(comm, 0), &within, shm,
                        &across[0], &comm->mpi) != COLL_OK)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    if (comm->shares)
        coll_join_share(&comm->join);
}

/* Gives the communicator its number among this rank's node, and its ranks there their seats. */
static void find_seats(struct comm *comm, const int *in_world)
{
    const uint32_t here = shm ? world_nodes[in_world[comm->rank]] : UINT32_MAX;
    uint32_t *all = calloc(2 * (size_t)comm->p, sizeof *all), *seats = all + comm->p;
    uint32_t together = 0, leader = COLL_RANK_NONE, mine = 0;
    bool spans; /* all nodes, with all their ranks */
    int world;
    if (!all)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    PMPI_Comm_size(MPI_COMM_WORLD, &world);
    for (uint32_t i = 0; i < comm->p; i++) {
        seats[i] = COLL_RANK_NONE;
        if (!shm || world_nodes[in_world[i]] != here)
            continue;
        leader = together++ == 0 ? i : leader;
        seats[i] = 0;
        for (int k = (int)here; k < in_world[i]; k++)
            seats[i] += world_nodes[k] == here;
    }
    if (leader == comm->rank && together > 1)
        mine = take_number(together);
    unlock(); /* other ranks may be busy with those of other threads first */
    PMPI_Allgather(&mine, 1, MPI_UINT32_T, all, 1, MPI_UINT32_T, comm->mpi.comm);
    lock();
    comm->number = leader == COLL_RANK_NONE ? 0 : all[leader];
    comm->one_node = comm->number > 0 && together == comm->p;
    spans = all_share && together < comm->p && comm->p == (uint32_t)world;
    comm->shares = (spans || (comm->one_node && comm->p == coll_shm_size(shm))) &&
                   (in_turn || comm->handle == MPI_COMM_WORLD);
    if (comm->number == 0 && !comm->shares) {
        free(all);
        return;
    }
    for (uint32_t i = 0; i < comm->p; i++)
        all[i] = comm->number > 0 ? seats[i] : COLL_RANK_NONE;
    comm->seats = all;
    if (!comm->one_node)
        join(comm);
}

void nodes_join(struct comm *comm, MPI_Group group)
{
    int *in_world = malloc(comm->p * sizeof *in_world);
    coll_rank_order_init(&comm->places);
    coll_group_identity(&comm->group);
    if (!in_world || !find_in_world(comm, group, in_world))
        PMPI_Abort(MPI_COMM_WORLD, 1);
    if (comm->p > 1 && comm->runs_here) {
        find_places(comm, in_world);
        if (are_near(comm, in_world) && coll_mpi_set_ways(&comm->mpi, &ways) != MPI_SUCCESS)
            PMPI_Abort(MPI_COMM_WORLD, 1);
        if (settings.shm)
            find_seats(comm, in_world);
    }
    free(in_world);
    if (comm->one_node)
        coll_group_table(&comm->group, comm->seats, NULL);
    comm->placed = comm->group;
    if (comm->places.rank)
        coll_group_places(&comm->placed, &comm->places);
    failures_join(comm);
}

void nodes_leave(struct comm *comm)
{
    if (comm->number > 0 && shm)
        (void)__atomic_sub_fetch(&numbers()->users[comm->number], 1, __ATOMIC_ACQ_REL);
    failures_leave(comm);
    free(comm->seats);
    free(comm->tables);
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Are long messages to go through the memory of the node? All ranks answer alike. Where lines of
 * caches are slow between processors, MPICH's pieces do not pay if both ends send at once, unless
 * the messages are longer than caches; but an allreduce gains more elsewhere than it loses
 * there. */
static bool is_near(const struct comm *comm, const coll_problem *problem)
{
#ifdef OPEN_MPI
    (void)problem;
    return comm->mpi.near;
#else
    enum { LONG = 1 << 20 };
    const unsigned always = COLL_ROOTED | COLL_BIT(COLL_ALLREDUCE) | COLL_BIT(COLL_SCAN) |
                            COLL_BIT(COLL_EXSCAN),
                   long_ones =
                       COLL_BIT(COLL_REDUCE_SCATTER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK);
    return comm->mpi.near &&
           (settings.near != UNASKED || coll_is(always, problem->collective) ||
            (coll_is(long_ones, problem->collective) && coll_problem_bytes(problem) >= LONG));
#endif
}

bool nodes_transport(struct comm *comm, coll_task *run)
{
    if (comm->one_node) {
        run->transport = &within;
        run->ctx = shm;
        run->tag = tag_within(comm, run->tag);
        return false;
    }
    run->transport = comm->seats ? coll_join_transport(&comm->join)
                                 : &across[is_near(comm, &run->plan->problem)];
    run->ctx = comm->seats ? (void *)&comm->join : &comm->mpi;
    return !comm->seats;
}

/* Is each rank where its number says? */
static bool is_in_order(const struct comm *comm)
{
    for (uint32_t i = 0; i < comm->p; i++)
        if (comm->seats[i] != i)
            return false;
    return true;
}

/* A multicast is for all ranks of the segment, and so are meetings, and reductions, which have them in
 * their order there. */
unsigned nodes_offers(const struct comm *comm, const coll_problem *problem, bool blocks)
{
    if (!comm->one_node) /* a plan that knows the nodes has memory of each */
        return comm->shares && blocks && coll_nodes_count(&problem->nodes) > 1
                   ? COLL_NEEDS_SHARED
                   : 0;
    if (comm->p != coll_shm_size(shm))
        return 0;
    return COLL_NEEDS_MULTICAST | COLL_NEEDS_NETWORK_BARRIER |
           (comm->shares && blocks ? COLL_NEEDS_SHARED : 0) |
           (coll_network_reduce_takes(&within, problem) && is_in_order(comm)
                ? COLL_NEEDS_NETWORK_REDUCE
                : 0);
}

void nodes_fail(const struct comm *comm, uint64_t call)
{
    struct numbers *all = shm ? numbers() : NULL;
    uint32_t place;
    if (all && comm->shares)
        __atomic_store_n(&all->unshared, 1, __ATOMIC_RELEASE);
    if (!all || comm->number == 0 || nodes_has_failed(comm, call))
        return;
    place = __atomic_fetch_add(&all->failures[comm->number], 1, __ATOMIC_RELAXED) % FAILURES;
    __atomic_store_n(&all->failed[comm->number][place], call, __ATOMIC_RELEASE);
}

bool nodes_seat_is_dead(uint32_t seat)
{
    return within.failure->dead(shm, seat);
}

bool nodes_is_dead(const struct comm *comm, uint32_t rank)
{
    return comm->seats && comm->seats[rank] != COLL_RANK_NONE &&
           nodes_seat_is_dead(comm->seats[rank]);
}

bool nodes_unshared(void)
{
    return shm && __atomic_load_n(&numbers()->unshared, __ATOMIC_ACQUIRE) != 0;
}

bool nodes_has_failed(const struct comm *comm, uint64_t call)
{
    const struct numbers *all = comm->number > 0 ? numbers() : NULL;
    for (int i = 0; all && i < FAILURES; i++)
        if (__atomic_load_n(&all->failed[comm->number][i], __ATOMIC_ACQUIRE) == call)
            return true;
    return false;
}

bool nodes_hold(const coll_plan *plan)
{
    uint32_t use;
    void *memory;
    return !(plan->traits & COLL_NEEDS_SHARED) ||
           coll_plan_fits_shared(plan, within.node_memory->shared(shm, false, &use, &memory));
}

const coll_rule_list *nodes_rules(void)
{
    return &rules;
}

bool nodes_idle(uint32_t idle)
{
    if (!shm)
        return false;
    coll_shm_transport(shm)->wait(shm, idle < 2 ? idle : 2);
    return true;
}

/* ---- beginning and end ------------------------------------------------------------------- */

void nodes_init(MPI_Comm sharing)
{
    int rank, p, first;
    across[0] = coll_mpi_transport;
    across[1] = coll_mpi_near_transport;
    for (int near = 0; near < 2; near++)
        across[near].tags = (uint32_t)settings.tags;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &p);
    world_nodes = malloc((size_t)p * sizeof *world_nodes);
    if (!world_nodes)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    first = sharing == MPI_COMM_NULL ? rank : first_of(sharing);
    if (settings.ppn > 0)
        first = rank - rank % (int)settings.ppn;
    PMPI_Allgather(&first, 1, MPI_INT, world_nodes, 1, MPI_INT, MPI_COMM_WORLD);
    ways = coll_mpi_usual_ways(false, settings.oversubscribed);
    if (sharing != MPI_COMM_NULL)
        open_node(sharing, (uint32_t)first);
    if (several) {
        all_share = all_do(MPI_COMM_WORLD, shm != NULL);
        in_turn = all_do(MPI_COMM_WORLD, in_turn);
    }
    if (shm) {
        within = *coll_shm_transport(shm);
        within_failure = *within.failure;
        within_failure.abort = NULL;
        within.failure = &within_failure;
        /* a death ends what waits for the dead rank; failures.c sees to the others of its communicators */
        within_failure.outlive(shm, 0, within.tags);
    }
    if (zero_copy)
        memory_open(shm);
    rules = *coll_node_rules(settings.oversubscribed, shm && coll_shm_is_zero_copy(shm));
}

void nodes_end(void)
{
    memory_close();
    if (shm)
        failures_end(coll_shm_rank(shm));
    coll_shm_detach(shm);
    shm = NULL;
    free(world_nodes);
}
