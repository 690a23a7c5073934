/* mpi/layer/repeats.c — calls that were made before
 *
 * Programs repeat themselves: with the same counts, types, operator and root, only the buffers of
 * a call are new. So a communicator remembers what was made of its latest calls, a prepared call
 * (coll/comm/prepared.h) and a job that lies ready, unless it holds something of the program's: a
 * type or an operator that may be freed, or packed data.
 */
#include <stdlib.h>

#include "again.h"

/* Bytes that a job keeps while it lies ready, at most: short messages need no more. */
enum { SCRATCH_KEPT = COLL_MPI_SHORT };

/* Nothing may be running that uses it. */
static void forget(struct repeat *repeat)
{
    struct job *idle = repeat->idle;
    repeat->filled = repeat->checked = false;
    free(repeat->copies);
    pool_give(repeat->tables);
    pool_give(repeat->workspace);
    repeat->copies = repeat->tables = repeat->workspace = NULL;
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

/* Entries have four bytes or eight, and are mostly so few that memcmp would take longer, and the same:
 * all are compared. */
bool repeat_same_tables(const void *const at[TABLES], const struct repeat *repeat)
{
    const unsigned char *copy = (const unsigned char *)repeat->copies;
    uint64_t differ = 0;
    for (uint32_t i = 0; i < repeat->n_tables; i++) {
        const unsigned char *its = (const unsigned char *)at[repeat->table[i].which];
        size_t left = repeat->table[i].bytes;
        if (!its) /* the library is to refuse it */
            return false;
        for (; left >= 16; left -= 16, its += 16, copy += 16) {
            uint64_t now[2], then[2];
            memcpy(now, its, 16);
            memcpy(then, copy, 16);
            differ |= (now[0] ^ then[0]) | (now[1] ^ then[1]);
        }
        for (; !COLL_LIKELY(left == 0); left -= 4, its += 4, copy += 4) {
            uint32_t now, then;
            memcpy(&now, its, 4);
            memcpy(&then, copy, 4);
            differ |= now ^ then;
        }
    }
    return differ == 0;
}

/* ---- remembering ------------------------------------------------------------------------- */

static void use(struct job *job, struct repeat *repeat)
{
    job->repeat = repeat;
    job->prepared = &repeat->prepared;
}

/* Writes out what this rank does, with its sends first if there is room for them. */
static void write_out(struct repeat *repeat)
{
    coll_prepared *const call = &repeat->prepared;
    const size_t most = COLL_MPI_SHORT / call->plan.problem.elem_bytes;
    coll_schedule *schedule = &call->schedule;
    repeat->quick = false;
    call->written = coll_schedule_write(schedule, &call->plan, repeat->rank, repeat->actions,
                                        WRITTEN) == COLL_OK;
    if (!call->written)
        return;
    if (schedule->window + schedule->n <= job_window(&call->plan) &&
        schedule->sends + schedule->n < SLOTS_MAX)
        coll_schedule_sends_first(schedule, repeat->actions);
    repeat->quick = schedule->sends < SLOTS_MAX;
    for (size_t i = 0; i < schedule->n; i++)
        if (coll_i_has((COLL_I_SENDS | COLL_I_RECEIVES) & ~COLL_I_TOKENS,
                       &repeat->actions[i]) &&
            repeat->actions[i].count > most)
            repeat->quick = false;
}

void job_take(struct job *job)
{
    job->repeat->idle = NULL;
    job->prepared->users++;
}

/* A job of a call that is remembered. */
static struct job *new_job(struct comm *comm, struct repeat *repeat)
{
    const size_t scratch = repeat->prepared.scratch;
    struct job *job = job_new();
    if (!job)
        return NULL;
    job->scratch = scratch > 0 ? pool_take(scratch) : NULL;
    if (scratch > 0 && !job->scratch) {
        job_free(job);
        return NULL;
    }
    use(job, repeat);
    job->bytes = repeat->bytes;
    job->run.scratch_bytes = scratch;
    job->run.scratch = job->scratch;
    job->run.rank = repeat->rank;
    job->comm = comm;
    job_equip(job);
    return job;
}

struct job *job_repeat(struct comm *comm, const struct call *call, way how)
{
    struct repeat *repeat = comm->repeats ? repeat_find(comm->repeats, repeat_key(call)) : NULL;
    struct job *job;
    if (!repeat || !repeat->filled || !repeat->fits[how != BLOCKING] ||
        !repeat_is(repeat, call))
        return NULL;
    job = repeat->idle ? repeat->idle : new_job(comm, repeat);
    if (job) {
        job_take(job);
        repeat_point(job, repeat, call);
    }
    return job;
}

void repeats_unshare(struct comm *comm)
{
    comm->shares = false;
    for (uint32_t i = 0; comm->repeats && i < REMEMBERED; i++)
        if (comm->repeats->call[i].filled &&
            (comm->repeats->call[i].prepared.plan.traits & COLL_NEEDS_SHARED))
            comm->repeats->call[i].fits[0] = comm->repeats->call[i].fits[1] = false;
}

bool job_keep(struct job *job)
{
    struct repeat *repeat = job->repeat;
    job->prepared->users--;
    if (repeat->idle || !repeat->checked || job->prepared->scratch > SCRATCH_KEPT)
        return false;
    job->freed = false;
    job_rest(job);
    repeat->idle = job;
    return true;
}

/* Copies the program's tables. */
static bool copy_tables(const struct call *call, struct repeat *repeat)
{
    const size_t count = call->wide ? sizeof(MPI_Count) : sizeof(int),
                 displ = call->wide || call->far_displs ? sizeof(MPI_Aint) : sizeof(int);
    const size_t entry[TABLES / 2] = {count, displ, sizeof(MPI_Datatype)};
    const void *at[TABLES];
    unsigned char *copy;
    size_t bytes = 0;
    tables_of(call, at);
    repeat->n_tables = 0;
    for (size_t i = 0; i < TABLES; i++) {
        const struct table table = {i, (i < TABLES / 2 ? repeat->n_in : repeat->n_out) *
                                           entry[i % (TABLES / 2)]};
        if (at[i] && table.bytes > 0) {
            repeat->table[repeat->n_tables++] = table;
            bytes += table.bytes;
        }
    }
    copy = bytes > 0 ? malloc(bytes) : NULL;
    repeat->copies = copy;
    for (uint32_t i = 0; copy && i < repeat->n_tables; i++) {
        memcpy(copy, at[repeat->table[i].which], repeat->table[i].bytes);
        copy += repeat->table[i].bytes;
    }
    return bytes == 0 || repeat->copies;
}

void job_remember(struct job *job, const struct call *call, const struct view *in,
                  const struct view *out)
{
    struct comm *comm = job->comm;
    struct repeat *repeat;
    if (in->packed || out->packed || job->combination.room)
        return;
    if (!comm->repeats)
        comm->repeats = calloc(1, sizeof *comm->repeats);
    if (!comm->repeats)
        return;
    repeat = repeat_room(comm->repeats, repeat_key(call));
    if (!repeat)
        return;
    forget(repeat);
    repeat->call = *call;
    repeat->fits[0] = !comm->shares || job->how == BLOCKING;
    repeat->fits[1] = !comm->shares || job->how != BLOCKING;
    repeat->in_in_place = call->in.buf == MPI_IN_PLACE;
    repeat->out_in_place = call->out.buf == MPI_IN_PLACE;
    repeat->has_in = in->side != NULL;
    repeat->has_out = out->side != NULL;
    repeat->in_needed = repeat->has_in && job->bytes > 0;
    repeat->out_needed = repeat->has_out && job->bytes > 0;
    repeat->n_in = in->side ? in->n : call->what == COLL_REDUCE_SCATTER ? comm->p : 0;
    repeat->n_out = out->side ? out->n : 0;
    repeat->in_low = in->low;
    repeat->out_low = out->low;
    if (!copy_tables(call, repeat))
        return;
    repeat->tables = job->tables;       /* the plan's, so they go with it … */
    repeat->workspace = job->workspace; /* … as does this, if it is composite */
    job->tables = job->workspace = NULL;
    repeat->prepared = *job->prepared;
    repeat->prepared.users = 1;
    repeat->rank = job->run.rank;
    write_out(repeat);
    repeat->bytes = job->bytes;
    repeat->filled = true;
    use(job, repeat);
}
