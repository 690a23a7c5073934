/* examples/mpi/layer/repeats.c — calls that were made before
 *
 * Programs repeat themselves: with the same counts, types, operator and root, only the buffers of
 * a call are new. So a communicator remembers what was made of its latest calls, unless it holds
 * something of the program's: a type or an operator that may be freed, or packed data.
 */
#include <stdlib.h>

#include "again.h"

enum { TABLES = 6, SCRATCH_KEPT = 4096 };

/* A table of the program's. */
struct span {
    const void *at;
    size_t bytes;
};

/* Nothing may be running that uses it. */
static void forget(struct repeat *repeat)
{
    struct job *idle = repeat->idle;
    repeat->filled = repeat->checked = false;
    free(repeat->copies);
    pool_give(repeat->tables);
    repeat->copies = repeat->tables = NULL;
    repeat->idle = NULL;
    if (idle) {
        idle->comm = NULL;
        idle->repeat = NULL;
        job_free(idle);
    }
}

void repeats_free(struct repeats *repeats)
{
    for (int i = 0; repeats && i < REMEMBERED; i++)
        forget(&repeats->call[i]);
    free(repeats);
}

/* ---- what makes two calls the same ------------------------------------------------------- */

/* The tables of a side with n blocks. */
static void list(const struct call *call, const struct side *side, uint32_t n,
                 struct span *spans)
{
    const size_t count = call->wide ? sizeof(MPI_Count) : sizeof(int);
    const size_t displ = call->wide || call->far_displs ? sizeof(MPI_Aint) : sizeof(int);
    spans[0].at = side->counts;
    spans[0].bytes = side->counts ? n * count : 0;
    spans[1].at = side->displs;
    spans[1].bytes = side->displs ? n * displ : 0;
    spans[2].at = side->types;
    spans[2].bytes = side->types ? n * sizeof(MPI_Datatype) : 0;
}

static void list_all(const struct call *call, uint32_t n_in, uint32_t n_out,
                     struct span spans[TABLES])
{
    list(call, &call->in, n_in, spans);
    list(call, &call->out, n_out, spans + 3);
}

bool repeat_same_tables(const struct call *call, const struct repeat *repeat)
{
    const unsigned char *copy = (const unsigned char *)repeat->copies;
    struct span spans[TABLES];
    list_all(call, repeat->n_in, repeat->n_out, spans);
    for (int i = 0; i < TABLES; i++) {
        if (spans[i].bytes > 0 && memcmp(copy, spans[i].at, spans[i].bytes) != 0)
            return false;
        copy += spans[i].bytes;
    }
    return true;
}

/* ---- remembering ------------------------------------------------------------------------- */

static void use(struct job *job, struct repeat *repeat)
{
    job->repeat = repeat;
    job->plan = &repeat->plan;
    job->checked = &repeat->checked;
    job->run.schedule = repeat->brief ? &repeat->schedule : NULL;
}

static void write_out(struct repeat *repeat, uint32_t rank)
{
    coll_schedule *schedule = &repeat->schedule;
    repeat->brief =
        coll_schedule_write(schedule, &repeat->plan, rank, repeat->actions, BRIEF) == COLL_OK;
    if (repeat->brief)
        coll_schedule_close(schedule, &repeat->plan, repeat->actions, COLL_MPI_PIECE,
                            job_window(&repeat->plan));
}

void job_take(struct job *job)
{
    job->repeat->idle = NULL;
    job->repeat->users++;
}

/* A job of a call that is remembered. */
static struct job *new_job(struct comm *comm, struct repeat *repeat)
{
    struct job *job = job_new();
    if (!job)
        return NULL;
    job->scratch = repeat->scratch > 0 ? pool_take(repeat->scratch) : NULL;
    if (repeat->scratch > 0 && !job->scratch) {
        job_free(job);
        return NULL;
    }
    use(job, repeat);
    coll_op_assign(&job->op, &repeat->op);
    job->bytes = repeat->bytes;
    job->run.scratch_bytes = repeat->scratch;
    job->run.scratch = job->scratch;
    job->comm = comm;
    job_equip(job);
    return job;
}

struct job *job_repeat(struct comm *comm, const struct call *call)
{
    struct repeat *repeat = comm->repeats ? repeat_place(comm->repeats, call) : NULL;
    struct job *job;
    if (!repeat || !repeat->filled || !repeat_is(repeat, call))
        return NULL;
    job = repeat->idle ? repeat->idle : new_job(comm, repeat);
    if (job) {
        job_take(job);
        repeat_point(job, repeat, call);
    }
    return job;
}

bool job_keep(struct job *job)
{
    struct repeat *repeat = job->repeat;
    repeat->users--;
    if (repeat->idle || !repeat->checked || repeat->scratch > SCRATCH_KEPT)
        return false;
    job->freed = false;
    repeat->idle = job;
    return true;
}

/* Copies the program's tables. */
static bool copy_tables(const struct call *call, struct repeat *repeat)
{
    struct span spans[TABLES];
    unsigned char *copy;
    size_t bytes = 0;
    list_all(call, repeat->n_in, repeat->n_out, spans);
    for (int i = 0; i < TABLES; i++)
        bytes += spans[i].bytes;
    copy = bytes > 0 ? malloc(bytes) : NULL;
    repeat->copies = copy;
    for (int i = 0; copy && i < TABLES; i++) {
        if (spans[i].bytes > 0)
            memcpy(copy, spans[i].at, spans[i].bytes);
        copy += spans[i].bytes;
    }
    return bytes == 0 || repeat->copies;
}

void job_remember(struct job *job, const struct call *call, const struct view *in,
                  const struct view *out)
{
    struct comm *comm = job->comm;
    struct repeat *repeat;
    if (in->packed || out->packed || job->combination.room || job->kit)
        return;
    if (!comm->repeats)
        comm->repeats = calloc(1, sizeof *comm->repeats);
    if (!comm->repeats)
        return;
    repeat = repeat_place(comm->repeats, call);
    if (repeat->users > 0)
        return;
    forget(repeat);
    repeat->call = *call;
    repeat->in_in_place = call->in.buf == MPI_IN_PLACE;
    repeat->out_in_place = call->out.buf == MPI_IN_PLACE;
    repeat->has_in = in->side != NULL;
    repeat->has_out = out->side != NULL;
    repeat->n_in = in->side ? in->n : call->what == COLL_REDUCE_SCATTER ? comm->p : 0;
    repeat->n_out = out->side ? out->n : 0;
    repeat->in_low = in->low;
    repeat->out_low = out->low;
    if (!copy_tables(call, repeat))
        return;
    repeat->tables = job->tables; /* the plan's, so they go with it */
    job->tables = NULL;
    repeat->plan = *job->plan;
    write_out(repeat, comm->rank);
    coll_op_assign(&repeat->op, &job->op);
    repeat->bytes = job->bytes;
    repeat->scratch = job->run.scratch_bytes;
    repeat->filled = true;
    repeat->users++;
    use(job, repeat);
}
