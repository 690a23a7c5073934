/* examples/mpi/layer/plans.c — which algorithm, and calls that were made before
 *
 * Programs repeat themselves: with the same counts, types, operator and root, only the buffers of
 * a call are new. So a communicator remembers what was made of its latest calls, if nothing of it
 * was the program's: no tables, and predefined types, which nobody frees.
 */
#include <stdlib.h>

#include "layer.h"

/* Chooses by the user's rules, the tuned and the built-in ones. A sum of floats is to have the
 * same bits everywhere. */
coll_status plan_for(struct job *job, const coll_problem *problem, bool exact)
{
    const coll_terms terms = {0, exact ? 0 : COLL_GIVES_SAME_BITS};
    const coll_rule *rule = NULL;
    coll_status status;
    if (settings.kits) {
        const size_t room = coll_kit_tables(problem);
        job->kit = pool_take(sizeof(coll_kit) + room * sizeof(size_t));
        if (!job->kit)
            return COLL_ERR_MEMORY;
        coll_kit_init(job->kit, job->comm->rank, (size_t *)((coll_kit *)job->kit + 1), room);
    }
    status = coll_select_from(settings.rules, problem, &terms, job->kit, job->plan, &rule);
    if (status == COLL_OK && settings.verbose && job->comm->rank == 0)
        report_choice(problem, rule, control_passed_over(problem, &terms, rule));
    return status;
}

/* ---- calls made before ------------------------------------------------------------------- */

enum { REMEMBERED = 16 };

struct key {
    uint64_t in_type, out_type, op;
    MPI_Count in_count, out_count;
    int root;
    uint8_t what;
    bool in_place, out_place; /* MPI_IN_PLACE as the one buffer, as the other */
    uint8_t padding;
};

struct memory {
    struct repeat {
        struct key key;
        bool filled;
        unsigned users; /* jobs */
        bool has_in, has_out;
        coll_plan plan;
        coll_op op;
        size_t bytes, scratch;
    } call[REMEMBERED];
};

void memory_free(struct memory *memory)
{
    free(memory);
}

static void write_key(const struct call *call, struct key *key)
{
    key->in_type = key->out_type = key->op = 0;
    memcpy(&key->in_type, &call->in.type, sizeof call->in.type);
    memcpy(&key->out_type, &call->out.type, sizeof call->out.type);
    memcpy(&key->op, &call->op, sizeof call->op);
    key->in_count = call->in.count;
    key->out_count = call->out.count;
    key->root = call->root;
    key->what = (uint8_t)call->what;
    key->in_place = call->in.buf == MPI_IN_PLACE;
    key->out_place = call->out.buf == MPI_IN_PLACE;
    key->padding = 0;
}

static bool same(const struct key *a, const struct key *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Where a call is remembered. */
static struct repeat *place_of(struct memory *memory, const struct key *key)
{
    const uint64_t word = key->in_type ^ key->out_type << 1 ^ (uint64_t)key->in_count << 8 ^
                          (uint64_t)key->out_count << 9 ^ key->op << 3 ^
                          (uint64_t)key->what << 32 ^ (uint64_t)(unsigned)key->root << 40;
    return &memory->call[(word * 0x9E3779B97F4A7C15u) >> 60];
}

static bool may_repeat(const struct call *call)
{
    return !call->in.counts && !call->out.counts && !coll_is(COLL_NEIGHBORLY, call->what);
}

static void use(struct job *job, struct repeat *repeat)
{
    repeat->users++;
    job->plan_users = &repeat->users;
    job->plan = &repeat->plan;
}

bool job_repeat(struct job *job, struct comm *comm, const struct call *call)
{
    struct repeat *repeat;
    struct key key;
    if (!comm->memory || !may_repeat(call))
        return false;
    write_key(call, &key);
    repeat = place_of(comm->memory, &key);
    if (!repeat->filled || !same(&repeat->key, &key) ||
        (repeat->bytes > 0 &&
         ((repeat->has_in && !call->in.buf) || (repeat->has_out && !call->out.buf) ||
          (repeat->has_in && call->in.buf == call->out.buf))))
        return false; /* what the library may refuse is looked at again */
    if (repeat->scratch > 0) {
        job->scratch = pool_take(repeat->scratch);
        if (!job->scratch)
            return false;
    }
    use(job, repeat);
    coll_op_assign(&job->op, &repeat->op);
    job->bytes = repeat->bytes;
    job->run.scratch_bytes = repeat->scratch;
    job->run.in = repeat->has_in ? call->in.buf : NULL;
    job->run.out = repeat->has_out ? (void *)(uintptr_t)call->out.buf : NULL;
    return true;
}

void job_remember(struct job *job, const struct call *call)
{
    struct comm *comm = job->comm;
    struct repeat *repeat;
    struct key key;
    if (!may_repeat(call) || job->pieces || job->combination.room || job->kit)
        return;
    if (!comm->memory)
        comm->memory = calloc(1, sizeof *comm->memory);
    if (!comm->memory)
        return;
    write_key(call, &key);
    repeat = place_of(comm->memory, &key);
    if (repeat->users > 0)
        return;
    repeat->key = key;
    repeat->filled = true;
    repeat->has_in = job->run.in != NULL;
    repeat->has_out = job->run.out != NULL;
    repeat->plan = *job->plan;
    coll_op_assign(&repeat->op, &job->op);
    repeat->bytes = job->bytes;
    repeat->scratch = job->run.scratch_bytes;
    use(job, repeat);
}
