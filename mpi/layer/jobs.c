/* mpi/layer/jobs.c — running collectives
 *
 * The program has a request for each that does not block, or persists: tokens.c.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "again.h"
#include "ticks.h"

/* What a plan needs, and all actions of a schedule whose sends come first. */
enum { WINDOW = WRITTEN + 8 };
/* Every so many rounds without anything it is looked what the library does, and whether others failed. */
enum { LOOKS = 64 };

_Static_assert(offsetof(coll_engine, task) == 0 && offsetof(coll_in_order, task) == 0,
               "a job's engines begin with the task that they run");

unsigned jobs_running;
static struct job *running; /* oldest first */
static struct job *unused;
static MPI_Request pulse = MPI_REQUEST_NULL; /* never done: to test it moves the library on */

void jobs_init(void)
{
    tokens_init();
    if (settings.shm)
        PMPI_Irecv(NULL, 0, MPI_BYTE, 0, settings.tags, settings.self, &pulse);
}

void jobs_end(void)
{
    while (unused) {
        struct job *job = unused;
        unused = job->next;
        free(job);
    }
    if (pulse != MPI_REQUEST_NULL) {
        PMPI_Cancel(&pulse);
        PMPI_Wait(&pulse, MPI_STATUS_IGNORE);
    }
    tokens_end();
}

/* ---- life -------------------------------------------------------------------------------- */

struct job *job_new(void)
{
    struct job *job = unused;
    if (job)
        unused = job->next;
    else
        job = malloc(sizeof *job);
    if (!job)
        return NULL;
    job->next = NULL;
    job->comm = NULL;
    job->prepared = &job->own;
    job->own.written = false;
    job->repeat = NULL;
    job->checked = false;
    job->run.tag = 0;
    job->run.shared = NULL;
    job->run.shared_bytes = 0;
    job->tables = job->scratch = job->workspace = job->packed = job->blank = NULL;
    job->combination.room = NULL;
    job->pieces = NULL;
    job->n_loads = job->n_stores = 0;
    job->operation = NULL;
    job->how = BLOCKING;
    job->running = job->freed = job->holds = job->quick = job->ordered = job->misfit = false;
    job->token_tag = -1;
    job->error = MPI_SUCCESS;
    job->bytes = 0;
    return job;
}

/* What only jobs have that are no plain repetition of a blocking call. */
static void release(struct job *job)
{
    if (job->holds) {
        for (size_t i = 0; i < job->n_loads + job->n_stores; i++)
            type_done(job->pieces[i].type);
        if (job->combination.room)
            type_done(job->combination.type);
        operation_done(job->operation);
        job->holds = false;
    }
    if (job->token_tag >= 0) {
        token_give(job->token_tag);
        job->token_tag = -1;
    }
    pool_give(job->tables);
    pool_give(job->packed);
    pool_give(job->blank);
    pool_give(job->workspace);
    pool_give(job->combination.room);
}

void job_free(struct job *job)
{
    struct comm *comm = job->comm;
    if (!job->repeat || job->how != BLOCKING)
        release(job);
    if (!job->repeat || !job_keep(job)) {
        pool_give(job->scratch);
        job->scratch = NULL;
        job->next = unused;
        unused = job;
    }
    if (comm)
        comm_done(comm);
}

/* ---- running ----------------------------------------------------------------------------- */

/* Sentences need a class of their own, as MPICH has no text for codes of its own classes. */
int sentence_code(const char *sentence)
{
    static int class = MPI_ERR_LASTCODE;
    int code = MPI_ERR_OTHER;
    if (class == MPI_ERR_LASTCODE && PMPI_Add_error_class(&class) == MPI_SUCCESS)
        (void)PMPI_Add_error_string(class, "a collective of coll failed");
    if (class != MPI_ERR_LASTCODE && PMPI_Add_error_code(class, &code) == MPI_SUCCESS)
        (void)PMPI_Add_error_string(code, sentence);
    return code;
}

int job_code(coll_status status)
{
    if (status == COLL_ERR_MEMORY || status == COLL_ERR_OVERFLOW || status == COLL_ERR_SIZE)
        return status == COLL_ERR_MEMORY     ? MPI_ERR_NO_MEM
               : status == COLL_ERR_OVERFLOW ? MPI_ERR_COUNT
                                             : MPI_ERR_TRUNCATE;
    return sentence_code(coll_status_text(status));
}

/* The same, if it is the library that has failed, by its code; or that of a dead rank, of a revoked communicator. */
static int code_of(const struct job *job, coll_status status)
{
    const int its = job->comm->mpi.error;
    const int fate = status == COLL_ERR_PEER || status == COLL_ERR_IO
                         ? failures_of(job->comm, true)
                         : MPI_SUCCESS;
    job->comm->mpi.error = MPI_SUCCESS;
    if (fate != MPI_SUCCESS)
        return fate;
    return its != MPI_SUCCESS ? its : job_code(status);
}

/* This rank leaves a call in which others may wait for it. Those of its node look whether somebody has. Others
 * may wait in the library, so they get an empty message, which ends what they wait for
 * (coll_i_mpi_fits). */
void job_withdraw(struct job *job)
{
    const struct comm *comm = job->comm;
    nodes_fail(comm, job->call);
    for (uint32_t i = 0; i < comm->p && !comm->one_node; i++) {
        MPI_Request request;
        if (i != comm->rank && (!comm->seats || comm->seats[i] == COLL_RANK_NONE) &&
            PMPI_Isend(NULL, 0, MPI_BYTE, (int)i, (int)job->run.tag, comm->mpi.comm,
                       &request) == MPI_SUCCESS)
            (void)PMPI_Request_free(&request);
    }
}

/* Failures that the program's error handlers are still to be told of: handlers may do what they
 * like, so they are called without the lock. */
static struct failure {
    struct failure *next;
    MPI_Comm comm;
    int error;
} * untold;

void jobs_tell_later(MPI_Comm comm, int error)
{
    struct failure *failure = malloc(sizeof *failure), **link = &untold;
    if (!failure)
        return; /* the request ends with an error all the same */
    while (*link)
        link = &(*link)->next;
    failure->next = NULL;
    failure->comm = comm != MPI_COMM_NULL ? comm : MPI_COMM_WORLD;
    failure->error = error;
    *link = failure;
}

bool jobs_tell(MPI_Comm *comm, int *error)
{
    struct failure *failure = untold;
    if (!failure)
        return false;
    *comm = failure->comm;
    *error = failure->error;
    untold = failure->next;
    free(failure);
    return true;
}

/* ---- SHARED memory: of calls that block --------------------------------------------------- */

static bool is_sharing(const struct job *job)
{
    return (job->prepared->plan.traits & COLL_NEEDS_SHARED) != 0;
}

/* Has it failed on another rank, or its communicator, or cannot be known to be the same call there? */
static bool is_lost(const struct job *job)
{
    return nodes_has_failed(job->comm, job->call) || (is_sharing(job) && nodes_unshared()) ||
           failures_of(job->comm, false) != MPI_SUCCESS;
}

/* After that many rounds without anything, in none of the layer's locks. */
static void idle_for(uint32_t idle)
{
    if (settings.threads)
        unlock();
    jobs_idle(idle);
    if (settings.threads)
        lock();
}

bool jobs_wait(uint32_t *idle)
{
    if (jobs_progress())
        *idle = 0;
    else
        idle_for(++*idle);
    return *idle % LOOKS == LOOKS - 1;
}

/* Takes the next use, and waits until all ranks are done with the one that had its part before. They
 * are in calls that block, so they wait for nobody who waits here. */
static coll_status enter_shared(struct job *job)
{
    coll_task *run = &job->run;
    coll_status status;
    run->shared_bytes =
        run->transport->node_memory->shared(run->ctx, true, &job->use, &run->shared);
    for (uint32_t idle = 0; (status = run->transport->node_memory->enter(
                                 run->ctx, run->tag, job->use)) == COLL_AGAIN;)
        if (jobs_wait(&idle) && is_lost(job))
            return COLL_ERR_PEER;
    return status;
}

static void leave_shared(struct job *job)
{
    job->run.transport->node_memory->leave(job->run.ctx, job->use);
}

/* ---- running ----------------------------------------------------------------------------- */

/* The job is over: its data goes to the program, and the program's request is done. A job that
 * nobody blocks for tells the program of its failure by the communicator's error handler, and
 * if that returns by its request, which ends with the error. */
static void end(struct job *job, coll_status status)
{
    job->running = false;
    jobs_running--;
    if (settings.tells)
        late_end(job);
    if (is_sharing(job))
        leave_shared(job);
    if (settings.trace)
        trace_job(job, status == COLL_OK);
    if (status == COLL_ERR_PEER)
        nodes_fail(job->comm, job->call);
    else if (status != COLL_OK)
        job_withdraw(job);
    if (status != COLL_OK)
        job->error = code_of(job, status);
    else if (job->error == MPI_SUCCESS && job->n_stores > 0)
        job->error = job_store(job);
    if (settings.verbose)
        report_job(job);
    if (job->how == BLOCKING)
        return;
    if (job->error != MPI_SUCCESS)
        jobs_tell_later(job->comm->handle, job->error);
    token_done(job->token, job->token_tag, job->error);
    if (job->how == NONBLOCKING || job->freed)
        job_free(job);
}

uint32_t job_window(const coll_plan *plan)
{
    return plan->window > WINDOW ? plan->window : WINDOW;
}

/* What is alone waits in the library, but not where threads share the lock, or ranks a processor that
 * the library would not yield: there we wait ourselves. */
static bool library_waits(void)
{
    return !settings.threads && !settings.turns && !settings.tells;
}

/* Of a job whose plan is known. Are its messages the library's? */
static bool choose_messages(struct job *job)
{
    return nodes_transport(job->comm, &job->run);
}

void job_equip(struct job *job)
{
    const coll_prepared *const call = job->prepared;
    job->run.plan = &call->plan;
    job->run.op = &call->op;
    job->run.schedule = call->written ? &call->schedule : NULL;
    (void)choose_messages(job);
}

void job_rest(struct job *job)
{
    job->how = BLOCKING;
    job->ordered = false;
    job->quick =
        choose_messages(job) && job->repeat->quick && !settings.verbose && !settings.tells;
    if (job->quick)
        (void)coll_in_order_init(&job->in_order, job->ops, SLOTS_MAX);
}

/* Tags are numbers that all ranks count alike: of calls in their order, and, as these may be
 * started in any order, of persistent ones in the order in which they are made. */
COLL_HOT_INLINE void take_place(struct job *job, bool persistent)
{
    struct comm *comm = job->comm;
    const uint32_t half = (uint32_t)settings.tags / 2, tag = comm->next[persistent];
    comm->next[persistent] = tag + 1 < half ? tag + 1 : 0;
    job->call = ++comm->calls[persistent] | (uint64_t)persistent << 63;
    job->run.tag = (persistent ? half : 0) + tag;
}

void job_place(struct job *job)
{
    take_place(job, job->how == PERSISTENT);
    if (job->repeat) /* others have no plan yet */
        (void)choose_messages(job);
}

static coll_status job_status(const struct job *job)
{
    return job->ordered ? job->in_order.status : job->engine.status;
}

/* Starts the engine that has all in flight that may be. */
static coll_status start_engine(struct job *job)
{
    job->ordered = false;
    (void)coll_engine_init(&job->engine, job->slots, job_window(&job->prepared->plan));
    return coll_engine_restart(&job->engine);
}

/* A job was started: it is over, or among those that run. */
static void go_on(struct job *job, coll_status status)
{
    job->running = true;
    jobs_running++;
    if (status == COLL_OK)
        status = job_status(job);
    if (status == COLL_AGAIN) {
        struct job **link = &running;
        while (*link)
            link = &(*link)->next;
        *link = job;
        job->next = NULL;
    } else {
        end(job, status);
    }
}

void job_start(struct job *job)
{
    bool *const checked = job->repeat ? &job->repeat->checked : &job->checked;
    coll_status status = COLL_OK;
    if (job->how == PERSISTENT) {
        job->call += (uint64_t)1 << 32;
        (void)token_error(job->token, true); /* of the start before */
    }
    if (settings.tells)
        late_start(job);
    else if (settings.verbose)
        job->started = PMPI_Wtime();
    if (settings.trace)
        trace_begin(job);
    /* What cannot be packed is not sent, but others wait for us. */
    job->error = job->misfit        ? MPI_ERR_TRUNCATE
                 : job->n_loads > 0 ? job_load(job)
                                    : MPI_SUCCESS;
    if (job->how == PERSISTENT && failures_any() &&
        failures_of(job->comm, false) != MPI_SUCCESS)
        status = COLL_ERR_PEER;
    if (is_sharing(job))
        status = enter_shared(job);
    if (status == COLL_OK && !*checked) {
        status = coll_engine_check(&job->run, job_window(&job->prepared->plan));
        *checked = status == COLL_OK;
    }
    if (status == COLL_OK)
        status = start_engine(job);
    go_on(job, status);
}

/* A running job is over. */
static void stop(struct job *job, coll_status status)
{
    struct job **link = &running;
    while (*link != job)
        link = &(*link)->next;
    *link = job->next;
    end(job, status);
}

/* Moves a running job on. */
static coll_status advance(struct job *job)
{
    const coll_status status = job->ordered ? coll_in_order_progress(&job->in_order)
                                            : coll_engine_progress(&job->engine);
    if (status != COLL_AGAIN)
        stop(job, status);
    return status;
}

/* Ends running jobs that failed on another rank. */
static void give_up(void)
{
    for (struct job *job = running, *next; job; job = next) {
        next = job->next;
        if (!is_lost(job))
            continue;
        if (job->ordered)
            (void)coll_in_order_cancel(&job->in_order);
        else
            (void)coll_engine_cancel(&job->engine);
        stop(job, COLL_ERR_PEER);
    }
}

/* Messages through memory do not move the library on, but other ranks may wait for what it does for
 * the program's own messages. */
bool jobs_progress(void)
{
    static unsigned still; /* rounds in which nothing moved */
    bool moved = agreements_progress();
    for (struct job *job = running, *next; job; job = next) {
        next = job->next;
        moved = advance(job) != COLL_AGAIN || moved ||
                (job->ordered ? job->in_order.idle : job->engine.window.idle) == 0;
    }
    if (moved || ++still % LOOKS != 0)
        return moved;
    if (pulse != MPI_REQUEST_NULL) {
        int done;
        (void)PMPI_Test(&pulse, &done, MPI_STATUS_IGNORE);
        give_up();
    }
    for (struct job *job = settings.tells ? running : NULL; job; job = job->next)
        late_look(job);
    return moved;
}

void jobs_idle(uint32_t idle)
{
    enum { SPINS = 200, CROWDED_SPINS = 2 };
    if (!settings.threads && nodes_idle(idle))
        return;
    if (idle > (settings.oversubscribed ? CROWDED_SPINS : SPINS))
        (void)sched_yield();
}

/* Can it only be messages of the library that the job waits for, and nobody else needs this
 * thread? */
static bool is_alone(const struct job *job)
{
    return jobs_running == 1 && !job->comm->seats && library_waits();
}

int job_finish(struct job *job)
{
    uint32_t idle = 0;
    int error;
    while (job->running) {
        if (!job->ordered && coll_engine_only_waits(&job->engine) && is_alone(job))
            coll_mpi_block_all(&job->comm->mpi);
        idle = jobs_progress() ? 0 : idle + 1;
        if (idle > 0 && is_alone(job))
            coll_mpi_block(&job->comm->mpi);
        else if (settings.threads || idle > 0)
            idle_for(idle);
    }
    error = job->error;
    job_free(job);
    return error;
}

/* Not over at once, or failed: from here on it is a job like others. */
static int stay(struct job *job, coll_status status)
{
    const MPI_Comm handle = job->comm->handle;
    int error;
    job_take(job);
    job->comm->jobs++;
    job->error = MPI_SUCCESS;
    go_on(job, status);
    error = job_finish(job);
    unlock();
    if (error != MPI_SUCCESS)
        (void)PMPI_Comm_call_errhandler(handle, error);
    return error;
}

int job_rush(struct job *job)
{
    coll_status status;
    if (COLL_LIKELY(job->quick && jobs_running == 0)) {
        take_place(job, false);
        if (!COLL_LIKELY(!settings.trace))
            trace_begin(job);
        job->ordered = true;
        status = COLL_LIKELY(library_waits())
                     ? coll_in_order_restart_with(&job->in_order, coll_i_mpi_send_now,
                                                  coll_i_mpi_recv_now)
                     : coll_in_order_restart_with(&job->in_order, job->run.transport->send,
                                                  job->run.transport->recv);
        if (!COLL_LIKELY(status == COLL_OK && job->in_order.status == COLL_OK))
            return stay(job, status);
        if (!COLL_LIKELY(!settings.trace))
            trace_job(job, true);
        return MPI_SUCCESS;
    }
    if (failures_any() || (is_sharing(job) && nodes_unshared()))
        return NO_CODE;
    job_place(job);
    if (settings.tells)
        late_start(job);
    else if (settings.verbose)
        job->started = PMPI_Wtime();
    if (!COLL_LIKELY(!settings.trace))
        trace_begin(job);
    status = is_sharing(job) ? enter_shared(job) : COLL_OK;
    if (status == COLL_OK)
        status = start_engine(job);
    if (status != COLL_OK || job->engine.status != COLL_OK)
        return stay(job, status);
    if (is_sharing(job))
        leave_shared(job);
    if (settings.tells)
        late_end(job);
    if (!COLL_LIKELY(!settings.trace))
        trace_job(job, true);
    if (settings.verbose)
        report_job(job);
    return MPI_SUCCESS;
}
