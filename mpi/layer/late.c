/* mpi/layer/late.c — COLL_DEADLINE: who is waited for, and why, in one sentence; COLL_TOP: for `coll top`
 *
 * Each rank writes into the memory of its node which call of which communicator it is in, or was in last,
 * and what all ranks have to give alike for it (coll/comm/board.h). A rank that has waited too long
 * reads the lines of the others, and says who is dead, has not called, or called something else; if
 * nobody, for which message it waits. Ranks of other nodes cannot be read. COLL_TOP has the same written
 * to a file (coll/comm/published.h), with the time, and the rank whose message is waited for.
 */
#include <stdio.h>

#include "coll/comm/published.h"
#include "coll/executor/pending.h"
#include "layer.h"

/* What a line says; `coll top` reads it, too (tools/top.c). INSIDE: 1, and above its lowest 8 bits 1 + the rank of
 * the world that is waited for, or 0. SINCE: when the call began, in ns of CLOCK_MONOTONIC. */
enum { CALL, COMM, WHAT, BYTES, ROOT, INSIDE, SINCE };

static coll_board board;
static coll_told mine;
static coll_page page;

bool late_publish(void)
{
    uint64_t job = coll_page_now(NULL) << 16 ^ (uint64_t)getpid();
    int rank, p;
    bool open;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &p);
    PMPI_Bcast(&job, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    open = coll_page_open(&page, job, (uint32_t)rank, (uint32_t)p, COLL_PAGE_MPI);
    PMPI_Barrier(MPI_COMM_WORLD);
    return open;
}

void late_unpublish(void)
{
    coll_page_close(&page);
}

static void tell(void)
{
    if (board.memory)
        coll_board_tell(&board, &mine);
    if (page.memory)
        coll_board_tell(&page.board, &mine);
}

size_t late_bytes(uint32_t ranks)
{
    return settings.deadline > 0 ? ranks * COLL_BOARD_WORDS * sizeof(uint64_t) : 0;
}

void late_init(void *memory, uint32_t rank, uint32_t ranks)
{
    if (settings.deadline > 0)
        coll_board_init(&board, (uint64_t *)memory, rank, ranks);
}

/* Collectives of which all ranks know the same length. */
static bool is_even(coll_collective what)
{
    const unsigned uneven = COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV) |
                            COLL_BIT(COLL_ALLGATHERV) | COLL_BIT(COLL_ALLTOALLV) |
                            COLL_BIT(COLL_ALLTOALLW) | COLL_BIT(COLL_REDUCE_SCATTER) |
                            COLL_NEIGHBORLY;
    return !coll_is(uneven, what);
}

void late_start(struct job *job)
{
    const coll_problem *problem = &job->prepared->plan.problem;
    job->started = PMPI_Wtime();
    job->told = 0;
    if (!board.memory && !page.memory)
        return;
    mine.word[CALL] = job->call;
    mine.word[COMM] = job->comm->number;
    mine.word[WHAT] = (uint64_t)problem->collective;
    mine.word[BYTES] =
        is_even(problem->collective) ? (uint64_t)problem->count * problem->elem_bytes : 0;
    mine.word[ROOT] = coll_is(COLL_ROOTED, problem->collective) ? problem->root : 0;
    mine.word[INSIDE] = 1;
    mine.word[SINCE] = page.memory ? coll_page_now(NULL) : 0;
    tell();
}

void late_end(const struct job *job)
{
    if ((!board.memory && !page.memory) || mine.word[CALL] != job->call ||
        mine.word[COMM] != job->comm->number)
        return;
    mine.word[INSIDE] = 0;
    tell();
}

/* ---- the sentence ------------------------------------------------------------------------ */

/* The rank that has this number where the job's messages go. */
static uint32_t rank_of(const struct comm *comm, uint32_t number)
{
    if (!comm->one_node)
        return number;
    for (uint32_t i = 0; i < comm->p; i++)
        if (comm->seats[i] == number)
            return i;
    return COLL_RANK_NONE;
}

/* The action of a job that it waits for, rather a receive; NULL: none with a peer. */
static const coll_pending *waited_for(const struct job *job, coll_pending pending[SLOTS_MAX])
{
    const uint32_t n = job->ordered ? coll_in_order_pending(&job->in_order, pending, SLOTS_MAX)
                                    : coll_engine_pending(&job->engine, pending, SLOTS_MAX);
    const coll_pending *one = NULL;
    for (uint32_t i = 0; i < n && i < SLOTS_MAX; i++)
        if (pending[i].peer != COLL_RANK_NONE && pending[i].state != COLL_PENDING_HELD &&
            (!one || (COLL_I_RECEIVES >> pending[i].kind & 1u)))
            one = &pending[i];
    return one;
}

/* Says which message the job waits for. */
static int say_message(const struct job *job, char *text, size_t room)
{
    coll_pending pending[SLOTS_MAX];
    const coll_pending *one = waited_for(job, pending);
    if (!one)
        return 0;
    return snprintf(text, room,
                    COLL_I_RECEIVES >> one->kind & 1u
                        ? ", for a message of %zu bytes from rank %u"
                        : ", until its message of %zu bytes is taken by rank %u",
                    one->bytes, rank_of(job->comm, one->peer));
}

/* Says what is wrong with rank i, as far as the node knows; 0: nothing. */
static int say_rank(const struct job *job, uint32_t i, char *text, size_t room)
{
    const struct comm *comm = job->comm;
    coll_told its = {{0}};
    const char *name;
    if (nodes_is_dead(comm, i))
        return snprintf(text, room, "; rank %u is dead", i);
    if (!coll_board_ask(&board, comm->seats[i], &its))
        return snprintf(text, room, "; rank %u has not called it, and no collective before", i);
    name = coll_collective_name((coll_collective)its.word[WHAT]);
    if (its.word[COMM] != comm->number)
        return snprintf(
            text, room, "; rank %u %s of another communicator, a %s", i,
            its.word[INSIDE] ? "is in a call" : "has not called it; its last call was", name);
    if (its.word[CALL] < job->call)
        return snprintf(text, room, "; rank %u has not called it: %s number %llu, %s", i,
                        its.word[INSIDE] ? "it is in" : "its last call was",
                        (unsigned long long)its.word[CALL], name);
    if (its.word[CALL] != job->call)
        return 0;
    if (its.word[WHAT] != mine.word[WHAT])
        return snprintf(text, room, "; rank %u called %s instead", i, name);
    if (its.word[ROOT] != mine.word[ROOT])
        return snprintf(text, room, "; rank %u gives root %llu, this one %llu", i,
                        (unsigned long long)its.word[ROOT],
                        (unsigned long long)mine.word[ROOT]);
    if (its.word[BYTES] != mine.word[BYTES])
        return snprintf(text, room, "; rank %u gives %llu bytes, this one %llu", i,
                        (unsigned long long)its.word[BYTES],
                        (unsigned long long)mine.word[BYTES]);
    return 0;
}

static void explain(struct job *job, double waited)
{
    enum { SAID = 4 }; /* ranks that are named */
    const struct comm *comm = job->comm;
    const coll_plan *plan = &job->prepared->plan;
    char text[1000];
    int world, at = 0;
    uint32_t named = 0, more = 0;
    bool compares = board.memory && comm->seats && job->how == BLOCKING;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    at = snprintf(
        text, sizeof text,
        "coll: rank %d has waited %.1f s in call %llu of its communicator of %u ranks, "
        "%s by %s",
        world, waited, (unsigned long long)(job->call & UINT32_MAX), comm->p,
        coll_collective_name(plan->problem.collective), plan->algorithm->name);
    at += say_message(job, text + at, sizeof text - (size_t)at);
    for (uint32_t i = 0; compares && i < comm->p; i++) {
        char one[200];
        if (i == comm->rank || comm->seats[i] == COLL_RANK_NONE ||
            say_rank(job, i, one, sizeof one) == 0)
            continue;
        if (named++ < SAID)
            at += snprintf(text + at, sizeof text - (size_t)at, "%s", one);
        else
            more++;
    }
    if (more > 0)
        at += snprintf(text + at, sizeof text - (size_t)at, "; and %u more ranks", more);
    if (compares && named == 0)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "; all ranks of this node are in it, with the same arguments");
    fprintf(stderr, "%s\n", text);
}

/* Tells whose message the job waits for, if that is another one than before. */
static void publish_peer(const struct job *job)
{
    coll_pending pending[SLOTS_MAX];
    const coll_pending *one;
    uint32_t peer;
    int in_world = MPI_UNDEFINED, rank;
    MPI_Group group, world;
    if (mine.word[CALL] != job->call || mine.word[COMM] != job->comm->number ||
        mine.word[INSIDE] != 1)
        return;
    one = waited_for(job, pending);
    peer = one ? rank_of(job->comm, one->peer) : COLL_RANK_NONE;
    if (peer == COLL_RANK_NONE)
        return;
    if (job->comm->places.rank && !job->comm->one_node)
        return; /* it is numbered by nodes */
    rank = (int)peer;
    PMPI_Comm_group(job->comm->handle, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    (void)PMPI_Group_translate_ranks(group, 1, &rank, world, &in_world);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    if (in_world < 0)
        return;
    mine.word[INSIDE] = 1 | (uint64_t)(in_world + 1) << 8;
    tell();
}

void late_look(struct job *job)
{
    double waited;
    if (page.memory)
        publish_peer(job);
    if (settings.deadline <= 0)
        return;
    waited = PMPI_Wtime() - job->started;
    if (waited < settings.deadline * (double)((uint64_t)1 << job->told))
        return;
    explain(job, waited);
    while (job->told < 30 && waited >= settings.deadline * (double)((uint64_t)1 << job->told))
        job->told++;
}
