/* mpi/layer/tokens.c — the requests that the program holds for what the layer does
 *
 * A call that does not block, or persists, is given to the program as an ordinary request: a
 * receive of nothing from this rank itself, on a communicator of its own. When the job is done,
 * the layer sends itself that message. So all of MPI's calls that test, wait for, or look at
 * requests work, in any mixture, and the layer only has to see to it that jobs move on in them.
 *
 * A job that failed sends itself a message that is too long: its request ends with an error in
 * whatever call the program waits, MPI_ERR_TRUNCATE to the library. Which error it was is kept
 * here, and the calls of waits.c give the program that one.
 */
#include <stdlib.h>

#include "layer.h"

static struct holder {
    bool taken;             /* is there a request with this tag? */
    struct job *persistent; /* its job, if it persists; or NULL */
} * holders;                /* by the tag */
static size_t n_holders;
static unsigned n_persistent;
static MPI_Comm tokens = MPI_COMM_NULL;

/* Requests that ended with an error. The library gives none of their handles to another request, as the program has
 * yet to complete them. */
static struct failed {
    struct failed *next;
    MPI_Request token;
    int error;
} * failed;

void tokens_init(void)
{
    PMPI_Comm_dup(MPI_COMM_SELF, &tokens);
    PMPI_Comm_set_errhandler(tokens, MPI_ERRORS_RETURN);
}

void tokens_end(void)
{
    while (failed)
        (void)token_error(failed->token, true);
    free(holders);
    holders = NULL;
    n_holders = 0;
    if (tokens != MPI_COMM_NULL)
        PMPI_Comm_free(&tokens);
}

/* A tag that no other request has. */
static int take_tag(struct job *persistent)
{
    size_t tag = 0;
    while (tag < n_holders && holders[tag].taken)
        tag++;
    if (tag == n_holders) {
        const size_t more = n_holders ? 2 * n_holders : 16;
        struct holder *table = realloc(holders, more * sizeof *table);
        if (!table)
            return -1;
        memset(table + n_holders, 0, (more - n_holders) * sizeof *table);
        holders = table;
        n_holders = more;
    }
    holders[tag].taken = true;
    holders[tag].persistent = persistent;
    n_persistent += persistent != NULL;
    return (int)tag;
}

int token_take(struct job *persistent, int *tag, MPI_Request *token)
{
    *tag = take_tag(persistent);
    if (*tag < 0)
        return MPI_ERR_NO_MEM;
    return persistent ? PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, *tag, tokens, token)
                      : PMPI_Irecv(NULL, 0, MPI_BYTE, 0, *tag, tokens, token);
}

void token_give(int tag)
{
    n_persistent -= holders[tag].persistent != NULL;
    holders[tag].taken = false;
    holders[tag].persistent = NULL;
}

struct job *job_behind(MPI_Request request)
{
    for (size_t tag = 0; n_persistent > 0 && tag < n_holders; tag++)
        if (holders[tag].persistent && holders[tag].persistent->token == request)
            return holders[tag].persistent;
    return NULL;
}

/* ---- how they end ------------------------------------------------------------------------ */

/* Notes the error first: another thread may be in a call that completes the request. */
void token_done(MPI_Request token, int tag, int error)
{
    struct failed *one =
        error != MPI_SUCCESS && token != MPI_REQUEST_NULL ? malloc(sizeof *one) : NULL;
    (void)token_error(token, true); /* of the same handle, if another tool completed that */
    if (one) {
        one->next = failed;
        one->token = token;
        one->error = error;
        __atomic_store_n(&failed, one, __ATOMIC_RELEASE);
    }
    (void)PMPI_Send(&error, error != MPI_SUCCESS, MPI_BYTE, 0, tag, tokens);
}

bool tokens_failed(void)
{
    return __atomic_load_n(&failed, __ATOMIC_ACQUIRE) != NULL;
}

int token_error(MPI_Request token, bool told)
{
    struct failed **link = &failed, *one;
    int error;
    while (*link && (*link)->token != token)
        link = &(*link)->next;
    one = *link;
    if (!one)
        return MPI_SUCCESS;
    error = one->error;
    if (told) {
        __atomic_store_n(link, one->next, __ATOMIC_RELEASE);
        free(one);
    }
    return error;
}
