/* mpi/layer/comms.c — a private communicator for each of the program's
 *
 * The calls by which a program makes communicators are collective and block, so each of them
 * makes the private one as well: no collective, not even one that does not block, has to wait
 * for it later. One that is made otherwise (MPI_Comm_idup) gets it at its first blocking
 * collective; until then its collectives are the library's. Those with ranks of other worlds stay the
 * library's, as these may be without the layer. The private one is made by
 * MPI_Comm_create, which unlike MPI_Comm_dup copies no attributes: a program's own copy
 * functions are not called behind its back.
 */
#include <stdlib.h>

#include "layer.h"

static int keyval = MPI_KEYVAL_INVALID;

struct comm *comm_last;

/* The record of all that are being freed. The program's delete functions may use them: by the library. */
static struct comm gone = {.handle = MPI_COMM_NULL};

/* ---- records ----------------------------------------------------------------------------- */

/* Takes what calls that failed have left, as MPICH gives the next communicator the same number. */
static void drain(MPI_Comm mine)
{
    MPI_Message message;
    MPI_Status status;
    int found = 0;
    while (PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, mine, &found, &message, &status) ==
               MPI_SUCCESS &&
           found) {
        int bytes = 0;
        void *room;
        (void)PMPI_Get_count(&status, MPI_BYTE, &bytes);
        room = malloc((size_t)bytes + 1);
        (void)PMPI_Mrecv(room, room ? bytes : 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        free(room);
    }
}

static void end(struct comm *comm)
{
    if (comm->runs_here && comm->p > 1) {
        drain(comm->mpi.comm);
        (void)PMPI_Comm_free(&comm->mpi.comm);
    }
    if (comm->runs_here)
        coll_mpi_free(&comm->mpi);
    repeats_free(comm->repeats);
    nodes_leave(comm);
    free(comm->graph);
    free(comm->neighbors);
    free(comm);
}

static int drop(MPI_Comm handle, int key, void *value, void *extra)
{
    struct comm *comm = (struct comm *)value;
    comm_last = NULL;
    (void)handle;
    (void)key;
    (void)extra;
    if (comm == &gone)
        return MPI_SUCCESS;
    comm->handle = MPI_COMM_NULL;
    if (comm->jobs == 0)
        end(comm);
    return MPI_SUCCESS;
}

void comm_done(struct comm *comm)
{
    if (--comm->jobs == 0 && comm->handle == MPI_COMM_NULL)
        end(comm);
}

/* Meets the other ranks of a communicator while jobs move on: after that none of them waits in the
 * library for one that waits for a job. Begins without our lock, as a thread elsewhere may come first. */
static int meet_over(MPI_Comm handle, struct comm *comm)
{
    MPI_Request request;
    uint32_t idle = 0;
    int done = 0, error;
    unlock();
    error = PMPI_Ibarrier(handle, &request);
    if (error == MPI_SUCCESS && !comm->pact)
        error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    lock();
    while (error == MPI_SUCCESS && comm->pact && !done) {
        error = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (error == MPI_SUCCESS && !done && jobs_wait(&idle))
            error = failures_of(comm, false); /* the request is never done then */
    }
    return error;
}

/* Makes the private communicator. If there is none to be had, no rank gets one. The other ranks
 * may be busy with those of other threads first, so our lock is open meanwhile. */
static bool open_private(struct comm *comm, MPI_Comm handle, MPI_Group group)
{
    MPI_Errhandler before;
    MPI_Comm mine;
    int error;
    if (comm->p == 1) {
        coll_mpi_init(&comm->mpi, settings.self);
        return true;
    }
    PMPI_Comm_get_errhandler(handle, &before);
    PMPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN);
    unlock();
    error = PMPI_Comm_create(handle, group, &mine);
    lock();
    PMPI_Comm_set_errhandler(handle, before);
    if (before != MPI_ERRHANDLER_NULL)
        PMPI_Errhandler_free(&before);
    if (error != MPI_SUCCESS)
        return false;
    PMPI_Comm_set_errhandler(mine, MPI_ERRORS_RETURN);
    coll_mpi_init(&comm->mpi, mine);
    return true;
}

/* Are all of them ranks of MPI_COMM_WORLD? Others may be without the layer. They all know. */
static bool is_of_world(MPI_Group group)
{
    MPI_Group world, others;
    int n = 1;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    if (PMPI_Group_difference(group, world, &others) == MPI_SUCCESS) {
        PMPI_Group_size(others, &n);
        if (others != MPI_GROUP_EMPTY)
            PMPI_Group_free(&others);
    }
    PMPI_Group_free(&world);
    return n == 0;
}

/* `met`: all ranks come here at once, from a call that makes communicators. */
static struct comm *create(MPI_Comm handle, bool met)
{
    struct comm *comm = calloc(1, sizeof *comm);
    MPI_Group group, remote;
    int inter = 0, rank = 0, p = 1;
    if (!comm)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    comm->handle = handle;
    PMPI_Comm_test_inter(handle, &inter);
    PMPI_Comm_rank(handle, &rank);
    PMPI_Comm_size(handle, &p);
    PMPI_Comm_group(handle, &group);
    comm->rank = (uint32_t)rank;
    comm->p = (uint32_t)p;
    comm->meets = is_of_world(group);
    if (inter) {
        PMPI_Comm_remote_group(handle, &remote);
        comm->meets = comm->meets && is_of_world(remote);
        PMPI_Group_free(&remote);
    } else if (comm->meets) {
        comm->meets = p > 1;
        if (!met && p > 1)
            (void)meet_over(handle, comm);
        comm->runs_here = open_private(comm, handle, group);
        comm->mpi.oversubscribed = settings.oversubscribed;
        comm->mpi.turns = settings.turns;
        comm->mpi.empty_tells = true;
        comm->mpi.pages = settings.pages;
        nodes_join(comm, group);
    }
    PMPI_Group_free(&group);
    if (PMPI_Comm_set_attr(handle, keyval, comm) != MPI_SUCCESS)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    return comm;
}

struct comm *comm_of(MPI_Comm handle, bool may_create)
{
    void *value;
    int found = 0;
    if (comm_last && comm_last->handle == handle)
        return comm_last;
    if (handle == MPI_COMM_NULL ||
        PMPI_Comm_get_attr(handle, keyval, &value, &found) != MPI_SUCCESS)
        return NULL;
    if (!found && !may_create)
        return NULL;
    comm_last = found ? (struct comm *)value : create(handle, false);
    return comm_last;
}

void comm_made(MPI_Comm handle)
{
    (void)create(handle, true);
}

void comms_init(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &keyval, NULL);
    (void)create(MPI_COMM_WORLD, true);
    (void)create(MPI_COMM_SELF, true);
}

void comms_end(void)
{
    MPI_Comm all[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    for (int i = 0; i < 2; i++)
        if (comm_of(all[i], false))
            PMPI_Comm_delete_attr(all[i], keyval);
    PMPI_Comm_free_keyval(&keyval);
}

/* ---- neighbours -------------------------------------------------------------------------- */

static coll_status read_mesh(const struct comm *comm, coll_graph *graph, int n_dims)
{
    int dims[COLL_DIMS_MAX], wraps[COLL_DIMS_MAX], at[COLL_DIMS_MAX];
    uint32_t sizes[COLL_DIMS_MAX], periodic = 0;
    if (PMPI_Cart_get(comm->handle, n_dims, dims, wraps, at) != MPI_SUCCESS)
        return COLL_ERR_GRAPH;
    for (int d = 0; d < n_dims; d++) {
        sizes[d] = (uint32_t)dims[d];
        periodic |= wraps[d] ? 1u << d : 0;
    }
    return coll_graph_mesh(graph, (uint32_t)n_dims, sizes, periodic);
}

/* Lists of neighbours, as ints in the memory of the uint32_t that they become. */
static coll_status read_lists(struct comm *comm, coll_graph *graph, int kind)
{
    coll_neighbors lists = {0, NULL, 0, NULL};
    int n_in = 0, n_out = 0, weighted, error;
    int *ranks;
    if (kind == MPI_DIST_GRAPH)
        error = PMPI_Dist_graph_neighbors_count(comm->handle, &n_in, &n_out, &weighted);
    else
        error = PMPI_Graph_neighbors_count(comm->handle, (int)comm->rank, &n_in);
    if (error != MPI_SUCCESS)
        return COLL_ERR_GRAPH;
    if (kind == MPI_GRAPH)
        n_out = n_in;
    ranks = malloc((3 * ((size_t)n_in + (size_t)n_out) + 1) * sizeof *ranks);
    if (!ranks)
        return COLL_ERR_MEMORY;
    comm->neighbors = (uint32_t *)(void *)ranks;
    if (kind == MPI_DIST_GRAPH) {
        int *weights = ranks + n_in + n_out;
        error = PMPI_Dist_graph_neighbors(comm->handle, n_in, ranks, weights, n_out,
                                          ranks + n_in, weights + n_in);
    } else {
        error = PMPI_Graph_neighbors(comm->handle, (int)comm->rank, n_in, ranks);
        memcpy(ranks + n_in, ranks, (size_t)n_in * sizeof *ranks);
    }
    if (error != MPI_SUCCESS)
        return COLL_ERR_GRAPH;
    lists.n_in = (uint32_t)n_in;
    lists.sources = comm->neighbors;
    lists.n_out = (uint32_t)n_out;
    lists.destinations = comm->neighbors + n_in;
    return coll_graph_lists(graph, &lists, comm->rank, comm->p, comm->neighbors + n_in + n_out);
}

const coll_graph *comm_graph(struct comm *comm)
{
    int kind = MPI_UNDEFINED, n_dims = 0;
    coll_status status = COLL_ERR_GRAPH;
    if (comm->graph)
        return comm->graph;
    if (PMPI_Topo_test(comm->handle, &kind) != MPI_SUCCESS || kind == MPI_UNDEFINED)
        return NULL;
    comm->graph = malloc(sizeof *comm->graph);
    if (!comm->graph)
        return NULL;
    if (kind == MPI_CART)
        PMPI_Cartdim_get(comm->handle, &n_dims);
    if (kind != MPI_CART)
        status = read_lists(comm, comm->graph, kind);
    else if (n_dims > 0 && n_dims <= COLL_DIMS_MAX)
        status = read_mesh(comm, comm->graph, n_dims);
    if (status != COLL_OK) {
        free(comm->graph);
        free(comm->neighbors);
        comm->graph = NULL;
        comm->neighbors = NULL;
    }
    return comm->graph;
}

/* ---- before calls in which jobs would stand still ------------------------------------------ */

/* Of all ranks of a communicator. Not MPI_SUCCESS: a rank has died, or it was revoked. */
static int meet(MPI_Comm comm)
{
    struct comm *record;
    int error = MPI_SUCCESS;
    if (!settings.ready)
        return MPI_SUCCESS;
    lock();
    record = comm_of(comm, true);
    if (record)
        error = failures_of(record, false);
    if (record && record->meets && error == MPI_SUCCESS)
        (void)meet_over(record->runs_here ? record->mpi.comm : comm, record);
    if (record)
        error = failures_of(record, false);
    unlock();
    if (error != MPI_SUCCESS)
        (void)PMPI_Comm_call_errhandler(comm, error);
    return error;
}

/* The private communicator, or MPI_COMM_NULL, for those who are not all of its ranks, and a tag there
 * that collectives do not use. */
static MPI_Comm aside(MPI_Comm comm, int *tag)
{
    MPI_Comm mine = MPI_COMM_NULL;
    const struct comm *record;
    void *most;
    int found = 0;
    lock();
    record = settings.ready ? comm_of(comm, false) : NULL;
    if (record && record->runs_here && record->p > 1)
        mine = record->mpi.comm;
    unlock();
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
    *tag = found && *tag > 0 ? settings.tags + *tag % (*(int *)most - settings.tags + 1)
                             : settings.tags;
    return mine;
}

/* Of the ranks of a group in it: all tell the first one, which answers. */
static void meet_group(MPI_Comm comm, MPI_Group group, int tag)
{
    MPI_Group all;
    MPI_Comm mine;
    int rank = MPI_UNDEFINED, p = 0, *ranks;
    if (group == MPI_GROUP_NULL || PMPI_Group_rank(group, &rank) != MPI_SUCCESS ||
        rank == MPI_UNDEFINED || PMPI_Group_size(group, &p) != MPI_SUCCESS || p == 1)
        return;
    mine = aside(comm, &tag);
    if (mine == MPI_COMM_NULL)
        return;
    ranks = malloc(2 * (size_t)p * sizeof *ranks);
    if (!ranks)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < p; i++)
        ranks[i] = i;
    PMPI_Comm_group(mine, &all);
    PMPI_Group_translate_ranks(group, p, ranks, all, ranks + p);
    PMPI_Group_free(&all);
    if (rank > 0)
        MPI_Send(NULL, 0, MPI_BYTE, ranks[p], tag, mine);
    for (int i = rank > 0 ? 0 : 1; i < (rank > 0 ? 1 : p); i++)
        MPI_Recv(NULL, 0, MPI_BYTE, ranks[p + i], tag, mine, MPI_STATUS_IGNORE);
    for (int i = 1; rank == 0 && i < p; i++)
        MPI_Send(NULL, 0, MPI_BYTE, ranks[p + i], tag, mine);
    free(ranks);
}

/* Of two groups, whose leaders are ranks of a communicator that the others may not have. */
static void meet_both(MPI_Comm comm, int leader, MPI_Comm peers, int peer, int tag)
{
    int rank = -1;
    MPI_Comm mine;
    (void)meet(comm);
    if (settings.ready && comm != MPI_COMM_NULL)
        PMPI_Comm_rank(comm, &rank);
    if (rank == leader && (mine = aside(peers, &tag)) != MPI_COMM_NULL)
        MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, tag, NULL, 0, MPI_BYTE, peer, tag, mine,
                     MPI_STATUS_IGNORE);
    (void)meet(comm);
}

/* ---- communicators go -------------------------------------------------------------------- */

/* The record goes first, under our lock: the library may call its delete functions under one of
 * its own. */
static void leave(MPI_Comm *comm)
{
    if (!settings.ready || !comm || *comm == MPI_COMM_NULL || *comm == MPI_COMM_WORLD ||
        *comm == MPI_COMM_SELF) /* the library refuses these */
        return;
    lock();
    if (comm_of(*comm, false))
        PMPI_Comm_set_attr(*comm, keyval, &gone); /* ends the record before */
    unlock();
}

EXPORT int MPI_Comm_free(MPI_Comm *comm)
{
    leave(comm);
    return PMPI_Comm_free(comm);
}

EXPORT int MPI_Comm_disconnect(MPI_Comm *comm)
{
    if (comm)
        (void)meet(*comm);
    leave(comm);
    return PMPI_Comm_disconnect(comm);
}

/* ---- communicators come ------------------------------------------------------------------ */

/* What a call that makes a communicator returns. */
static int made(int error, const MPI_Comm *newcomm)
{
    if (error == MPI_SUCCESS && settings.ready && *newcomm != MPI_COMM_NULL) {
        lock();
        comm_made(*newcomm);
        unlock();
    }
    return error;
}

/* All ranks meet, then the library makes the communicator; not if one has died. */
#define MADE(comm, newcomm, library)                                                           \
    const int met = meet(comm);                                                                \
    return met != MPI_SUCCESS ? met : made(library, newcomm)

EXPORT int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    MADE(comm, newcomm, PMPI_Comm_dup(comm, newcomm));
}

EXPORT int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    MADE(comm, newcomm, PMPI_Comm_dup_with_info(comm, info, newcomm));
}

EXPORT int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    MADE(comm, newcomm, PMPI_Comm_create(comm, group, newcomm));
}

EXPORT int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    meet_group(comm, group, tag);
    return made(PMPI_Comm_create_group(comm, group, tag, newcomm), newcomm);
}

EXPORT int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    MADE(comm, newcomm, PMPI_Comm_split(comm, color, key, newcomm));
}

EXPORT int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
                               MPI_Comm *newcomm)
{
    MADE(comm, newcomm, PMPI_Comm_split_type(comm, split_type, key, info, newcomm));
}

EXPORT int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                                int remote_leader, int tag, MPI_Comm *newintercomm)
{
    meet_both(local_comm, local_leader, peer_comm, remote_leader, tag);
    return PMPI_Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag,
                                 newintercomm);
}

EXPORT int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    (void)meet(intercomm);
    return made(PMPI_Intercomm_merge(intercomm, high, newintracomm), newintracomm);
}

EXPORT int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[],
                           int reorder, MPI_Comm *comm_cart)
{
    MADE(comm, comm_cart, PMPI_Cart_create(comm, ndims, dims, periods, reorder, comm_cart));
}

EXPORT int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    MADE(comm, newcomm, PMPI_Cart_sub(comm, remain_dims, newcomm));
}

EXPORT int MPI_Graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[],
                            int reorder, MPI_Comm *comm_graph)
{
    MADE(comm, comm_graph, PMPI_Graph_create(comm, nnodes, index, edges, reorder, comm_graph));
}

EXPORT int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                                 const int destinations[], const int weights[], MPI_Info info,
                                 int reorder, MPI_Comm *comm_graph)
{
    MADE(comm, comm_graph,
         PMPI_Dist_graph_create(comm, n, sources, degrees, destinations, weights, info, reorder,
                                comm_graph));
}

EXPORT int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                          const int sourceweights[], int outdegree,
                                          const int destinations[], const int destweights[],
                                          MPI_Info info, int reorder, MPI_Comm *comm_graph)
{
    MADE(comm, comm_graph,
         PMPI_Dist_graph_create_adjacent(comm, indegree, sources, sourceweights, outdegree,
                                         destinations, destweights, info, reorder, comm_graph));
}
