/* examples/mpi/layer/repeats.c — calls that were made before
 *
 * Programs repeat themselves: with the same counts, types, operator and root, only the buffers of
 * a call are new. So a communicator remembers what was made of its latest calls, unless it holds
 * something of the program's: a type or an operator that may be freed, or packed data.
 */
#include <stdlib.h>

#include "layer.h"

enum { REMEMBERED = 16, TABLES = 6, BRIEF = 8 };

/* What two calls have in common that are the same: words, as structures with small fields are
 * slow to compare right after they are written. */
enum { KEY_WORDS = 7 };
struct key {
    uint64_t word[KEY_WORDS];
};

/* A table of the program's. */
struct span {
    const void *at;
    size_t bytes;
};

struct repeats {
    struct repeat {
        struct key key;
        bool filled, checked;
        unsigned users;       /* jobs */
        uint32_t n_in, n_out; /* blocks of what this rank has */
        bool has_in, has_out;
        ptrdiff_t in_low, out_low; /* where the data begins, from the buffers on */
        void *copies;              /* of the program's tables */
        void *tables;              /* that the plan uses; of the pool */
        coll_plan plan;
        bool brief; /* what this rank does is written out, as it is at most BRIEF actions */
        coll_schedule schedule;
        coll_action actions[BRIEF];
        coll_op op;
        size_t bytes, scratch;
        struct job *idle; /* made of such a call, and not running; NULL: there is none */
    } call[REMEMBERED];
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

static void write_key(const struct call *call, struct key *key)
{
    uint64_t in_type = 0, out_type = 0, op = 0;
    memcpy(&in_type, &call->in.type, sizeof call->in.type);
    memcpy(&out_type, &call->out.type, sizeof call->out.type);
    memcpy(&op, &call->op, sizeof call->op);
    key->word[0] = in_type;
    key->word[1] = out_type;
    key->word[2] = op;
    key->word[3] = (uintptr_t)call->in.counts ^ (uint64_t)(uintptr_t)call->out.counts << 1;
    key->word[4] = (uint64_t)call->in.count;
    key->word[5] = (uint64_t)call->out.count;
    key->word[6] = (uint64_t)(uint32_t)call->root << 32 | (uint64_t)call->what << 8 |
                   (call->wide ? 1 : 0) | (call->in.buf == MPI_IN_PLACE ? 2 : 0) |
                   (call->out.buf == MPI_IN_PLACE ? 4 : 0);
}

static bool same(const struct key *a, const struct key *b)
{
    const uint64_t *v = a->word, *w = b->word;
    return ((v[0] ^ w[0]) | (v[1] ^ w[1]) | (v[2] ^ w[2]) | (v[3] ^ w[3]) | (v[4] ^ w[4]) |
            (v[5] ^ w[5]) | (v[6] ^ w[6])) == 0;
}

/* Where a call is remembered. Calls that differ in the type of what they receive alone are rare, and
 * may share a place. */
static struct repeat *place_of(struct repeats *repeats, const struct key *key)
{
    const uint64_t *w = key->word;
    const uint64_t mixed = w[0] + w[2] + w[3] + w[4] + 3 * w[5] + w[6];
    return &repeats->call[mixed * 0x9E3779B97F4A7C15u >> 60];
}

static bool same_tables(const struct call *call, const struct repeat *repeat)
{
    const unsigned char *copy = (const unsigned char *)repeat->copies;
    struct span spans[TABLES];
    if (!copy)
        return true;
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

/* Buffers that the library may refuse are looked at again. */
static bool doubtful(const struct call *call, const struct repeat *repeat)
{
    return repeat->bytes > 0 &&
           ((repeat->has_in && !call->in.buf) || (repeat->has_out && !call->out.buf) ||
            (repeat->has_in && call->in.buf == call->out.buf));
}

struct job *job_repeat(struct comm *comm, const struct call *call)
{
    struct repeat *repeat;
    struct job *job;
    struct key key;
    void *scratch;
    if (!comm->repeats)
        return NULL;
    write_key(call, &key);
    repeat = place_of(comm->repeats, &key);
    if (!repeat->filled || !same(&repeat->key, &key) || doubtful(call, repeat) ||
        !same_tables(call, repeat))
        return NULL;
    scratch = repeat->scratch > 0 ? pool_take(repeat->scratch) : NULL;
    if (repeat->scratch > 0 && !scratch)
        return NULL;
    job = repeat->idle;
    repeat->idle = NULL;
    if (!job) {
        job = job_new();
        if (!job) {
            pool_give(scratch);
            return NULL;
        }
        use(job, repeat);
        coll_op_assign(&job->op, &repeat->op);
        job->bytes = repeat->bytes;
        job->run.scratch_bytes = repeat->scratch;
        job->comm = comm;
        job_equip(job);
    }
    repeat->users++;
    job->scratch = job->run.scratch = scratch;
    job->run.in = repeat->has_in ? (const char *)call->in.buf + repeat->in_low : NULL;
    job->run.out = repeat->has_out ? (char *)(uintptr_t)call->out.buf + repeat->out_low : NULL;
    return job;
}

bool job_keep(struct job *job)
{
    struct repeat *repeat = job->repeat;
    repeat->users--;
    if (repeat->idle)
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
    struct key key;
    if (in->packed || out->packed || job->combination.room || job->kit)
        return;
    if (!comm->repeats)
        comm->repeats = calloc(1, sizeof *comm->repeats);
    if (!comm->repeats)
        return;
    write_key(call, &key);
    repeat = place_of(comm->repeats, &key);
    if (repeat->users > 0)
        return;
    forget(repeat);
    repeat->key = key;
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
