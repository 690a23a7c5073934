/* mpi/layer/ulfm.c — User-Level Failure Mitigation: MPIX_Comm_revoke, agree, shrink, and who has
 * failed
 *
 * For communicators of one node, by failures.c. Others are the library's, where it has such
 * calls (MPICH), which do not notice that a rank died; over Open MPI 4.1 an error says why.
 *
 * Agreeing and shrinking are *undertakings*, in the order in which the program calls them. Of each
 * communicator the oldest one is under way: this rank has voted. They move on wherever jobs do
 * (jobs_progress). A shrink agrees on who is lost, has the library make a communicator, and
 * agrees on whether that went well everywhere; if not, as another rank died, it begins again. The
 * library's call blocks, so a shrink that the program does not wait for makes it in whatever call of
 * MPI's the program waits in then, once all survivors have called it.
 */
#include <stdlib.h>

#include "coll_ulfm.h"
#include "layer.h"

#ifdef MPICH_VERSION
#define LIBRARY_HAS(call) call
#else
#define LIBRARY_HAS(call) (refuse(comm))
#endif

/* What a rank with calls of ours says of a communicator that they do not serve. */
static int refuse(MPI_Comm comm)
{
    const int error = comm == MPI_COMM_NULL
                          ? MPI_ERR_COMM
                          : sentence_code("the layer can only recover communicators that it "
                                          "runs, whose ranks are all on one "
                                          "node and talk through its memory: leave COLL_SHM "
                                          "and COLL_PPN unset, or split "
                                          "the communicator by nodes first");
    (void)PMPI_Comm_call_errhandler(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, error);
    return error;
}

/* The record of a communicator that failures.c knows, with the lock taken; otherwise NULL,
 * without it. */
static struct comm *enter(MPI_Comm handle)
{
    struct comm *comm;
    if (!settings.ready)
        return NULL;
    lock();
    comm = comm_of(handle, false);
    if (comm && comm->pact)
        return comm;
    unlock();
    return NULL;
}

static int leave(MPI_Comm handle, int error)
{
    unlock();
    if (error != MPI_SUCCESS)
        (void)PMPI_Comm_call_errhandler(handle, error);
    return error;
}

/* ---- undertakings ------------------------------------------------------------------------ */

struct undertaking {
    struct undertaking *next;
    struct comm *comm;
    uint64_t flags;                /* that this rank votes for; then what was agreed on */
    bool begun, over;              /* it has voted; it is done, … */
    int error;                     /* … with this code of MPI's */
    bool shrinks, makes, all_knew; /* `makes`: the next result says who is lost */
    uint32_t turn;
    MPI_Comm made; /* of a shrink */
    /* Of those that nobody blocks for: where the results go. */
    bool waited; /* it is none of these */
    int *flag;
    MPI_Comm *newcomm;
    MPI_Request token;
    int tag;
};

static struct undertaking *undertakings; /* the oldest first */

static void undertake(struct undertaking *one, struct comm *comm, uint64_t flags, bool shrinks)
{
    struct undertaking **link = &undertakings;
    memset(one, 0, sizeof *one);
    one->comm = comm;
    one->flags = flags;
    one->error = MPI_SUCCESS;
    one->shrinks = one->makes = shrinks;
    one->made = MPI_COMM_NULL;
    one->token = MPI_REQUEST_NULL;
    one->tag = -1;
    while (*link)
        link = &(*link)->next;
    *link = one;
}

/* The members of a list. */
static int group_of(const struct comm *comm, const uint32_t *members, uint32_t n,
                    MPI_Group *group)
{
    int *ranks = malloc((n > 0 ? n : 1) * sizeof *ranks), error;
    MPI_Group all;
    if (!ranks || !group) {
        free(ranks);
        return group ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
    }
    for (uint32_t i = 0; i < n; i++)
        ranks[i] = (int)members[i];
    error = PMPI_Comm_group(comm->handle, &all);
    if (error == MPI_SUCCESS) {
        error = PMPI_Group_incl(all, (int)n, ranks, group);
        PMPI_Group_free(&all);
    }
    free(ranks);
    return error;
}

/* A communicator of those that the last agreement did not find gone. The library's own errors
 * return. */
static int make(struct comm *comm, MPI_Comm *made)
{
    uint32_t *members = malloc(comm->p * sizeof *members), n = 0;
    MPI_Errhandler handler;
    MPI_Group group;
    int error = MPI_ERR_NO_MEM;
    for (uint32_t i = 0; members && i < comm->p; i++)
        if (!failures_is_lost(comm, i))
            members[n++] = i;
    if (members)
        error =
            comm->handle == MPI_COMM_NULL ? MPI_ERR_COMM : group_of(comm, members, n, &group);
    free(members);
    if (error != MPI_SUCCESS)
        return error;
    PMPI_Comm_get_errhandler(comm->handle, &handler);
    PMPI_Comm_set_errhandler(comm->handle, MPI_ERRORS_RETURN);
    error = PMPI_Comm_create_group(comm->handle, group, 0, made);
    PMPI_Comm_set_errhandler(comm->handle, handler);
    if (error == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(*made, handler);
    if (handler != MPI_ERRHANDLER_NULL)
        PMPI_Errhandler_free(&handler);
    PMPI_Group_free(&group);
    return error;
}

/* Its agreement is decided. A shrink's flag says whether all are able to make a communicator, and
 * then, whether all have made it. */
static void decided(struct undertaking *one)
{
    one->all_knew = failures_take(one->comm, &one->flags);
    one->begun = false;
    if (!one->shrinks) {
        one->error = one->all_knew ? MPI_SUCCESS : failures_error();
        one->over = true;
    } else if (one->makes) {
        if (one->flags == 0) {
            one->error = MPI_ERR_ARG;
            one->over = true;
            return;
        }
        one->error = make(one->comm, &one->made);
        one->flags = one->error == MPI_SUCCESS;
        one->makes = false;
    } else if (one->flags != 0) {
        comm_made(one->made);
        one->over = true;
    } else {
        if (one->error == MPI_SUCCESS)
            PMPI_Comm_free(&one->made);
        one->over = ++one->turn == one->comm->p;
        if (one->over && one->error == MPI_SUCCESS)
            one->error = MPI_ERR_OTHER;
        one->flags = 1;
        one->makes = true;
    }
}

/* The program's request for it is done. */
static void finish(struct undertaking *one)
{
    struct comm *comm = one->comm;
    if (one->flag)
        *one->flag = (int)(unsigned)one->flags;
    if (one->newcomm && one->error == MPI_SUCCESS)
        *one->newcomm = one->made;
    if (one->error != MPI_SUCCESS)
        jobs_tell_later(comm->handle, one->error);
    token_done(one->token, one->tag, one->error);
    token_give(one->tag);
    jobs_running--;
    free(one);
    comm_done(comm);
}

/* Is it the oldest of its communicator? */
static bool is_next(const struct undertaking *one)
{
    const struct undertaking *first = undertakings;
    while (first->comm != one->comm)
        first = first->next;
    return first == one;
}

bool agreements_progress(void)
{
    static bool within; /* what makes a communicator may wait, and call this again */
    bool moved = false;
    if (!undertakings || within)
        return false;
    within = true;
    for (struct undertaking **link = &undertakings, *one; (one = *link) != NULL;) {
        if (is_next(one) && !one->begun) {
            failures_begin(one->comm, one->flags);
            one->begun = true;
        }
        if (one->begun && failures_decided(one->comm)) {
            decided(one);
            moved = true;
        }
        if (!one->over) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        if (!one->waited)
            finish(one);
    }
    within = false;
    return moved;
}

/* Waits for one, of memory of the caller's. */
static void wait_for(struct undertaking *one)
{
    uint32_t idle = 0;
    one->waited = true;
    while (!one->over)
        (void)jobs_wait(&idle);
}

bool agreement_on(struct comm *comm, uint64_t *flags)
{
    struct undertaking one;
    undertake(&one, comm, *flags, false);
    wait_for(&one);
    *flags = one.flags;
    return one.all_knew;
}

/* Gives the program a request for one; NULL: there is no memory, and *error says so. */
static struct undertaking *start(struct comm *comm, uint64_t flags, bool shrinks,
                                 MPI_Request *request, int *error)
{
    struct undertaking *one = malloc(sizeof *one);
    MPI_Request token = MPI_REQUEST_NULL;
    int tag = -1;
    *request = MPI_REQUEST_NULL;
    *error = one ? token_take(NULL, &tag, &token) : MPI_ERR_NO_MEM;
    if (*error != MPI_SUCCESS) {
        if (tag >= 0)
            token_give(tag);
        free(one);
        return NULL;
    }
    undertake(one, comm, flags, shrinks);
    one->token = *request = token;
    one->tag = tag;
    comm->jobs++;
    jobs_running++;
    return one;
}

/* ---- revoke, agree ----------------------------------------------------------------------- */

EXPORT int MPIX_Comm_revoke(MPI_Comm comm)
{
    struct comm *its = enter(comm);
    if (!its)
        return LIBRARY_HAS(PMPIX_Comm_revoke(comm));
    failures_revoke(its);
    return leave(comm, MPI_SUCCESS);
}

EXPORT int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag)
{
    struct comm *its = enter(comm);
    if (!its)
        return refuse(comm);
    if (flag)
        *flag = failures_is_revoked(its);
    return leave(comm, flag ? MPI_SUCCESS : MPI_ERR_ARG);
}

EXPORT int MPIX_Comm_agree(MPI_Comm comm, int *flag)
{
    struct comm *its = enter(comm);
    uint64_t flags;
    bool all_knew;
    if (!its)
        return LIBRARY_HAS(PMPIX_Comm_agree(comm, flag));
    flags = flag ? (unsigned)*flag : 0;
    all_knew = agreement_on(its, &flags);
    if (flag)
        *flag = (int)(unsigned)flags;
    return leave(comm, !flag ? MPI_ERR_ARG : all_knew ? MPI_SUCCESS : failures_error());
}

EXPORT int MPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request)
{
    struct undertaking *one;
    struct comm *its = enter(comm);
    int error = MPI_ERR_ARG;
    if (!its)
        return refuse(comm);
    if (!flag || !request)
        return leave(comm, error);
    one = start(its, (unsigned)*flag, false, request, &error);
    if (one) {
        one->flag = flag;
        (void)jobs_progress();
    }
    return leave(comm, error);
}

/* ---- groups ------------------------------------------------------------------------------ */

EXPORT int MPIX_Comm_failure_ack(MPI_Comm comm)
{
    struct comm *its = enter(comm);
    if (!its)
        return LIBRARY_HAS(PMPIX_Comm_failure_ack(comm));
    (void)failures_acknowledge(its, failures_find(its));
    return leave(comm, MPI_SUCCESS);
}

EXPORT int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked)
{
    struct comm *its = enter(comm);
    if (!its)
        return refuse(comm);
    if (num_to_ack < 0 || !num_acked)
        return leave(comm, MPI_ERR_ARG);
    (void)failures_find(its);
    *num_acked = (int)failures_acknowledge(its, (uint32_t)num_to_ack);
    return leave(comm, MPI_SUCCESS);
}

EXPORT int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failed)
{
    struct comm *its = enter(comm);
    if (!its)
        return LIBRARY_HAS(PMPIX_Comm_failure_get_acked(comm, failed));
    return leave(comm,
                 group_of(its, failures_found(its), failures_acknowledge(its, 0), failed));
}

EXPORT int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failed)
{
    struct comm *its = enter(comm);
    uint32_t n;
    if (!its)
        return refuse(comm);
    n = failures_find(its);
    return leave(comm, group_of(its, failures_found(its), n, failed));
}

/* ---- shrink ------------------------------------------------------------------------------ */

EXPORT int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct comm *its = enter(comm);
    struct undertaking one;
    if (!its)
        return LIBRARY_HAS(PMPIX_Comm_shrink(comm, newcomm));
    undertake(&one, its, newcomm != NULL, true);
    wait_for(&one);
    if (one.error == MPI_SUCCESS)
        *newcomm = one.made;
    return leave(comm, one.error);
}

EXPORT int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    struct undertaking *one;
    struct comm *its = enter(comm);
    int error = MPI_ERR_ARG;
    if (!its)
        return refuse(comm);
    if (!newcomm || !request)
        return leave(comm, error);
    *newcomm = MPI_COMM_NULL;
    one = start(its, 1, true, request, &error);
    if (one) {
        one->newcomm = newcomm;
        (void)jobs_progress();
    }
    return leave(comm, error);
}
