/* mpi/layer/calls.c — from the arguments of a collective to a job */
#include "layer.h"

#define SET(a) COLL_BIT(COLL_##a)

enum {
    IN_BLOCKS = SET(ALLTOALL) | SET(ALLTOALLV) | SET(ALLTOALLW) | SET(REDUCE_SCATTER) |
                SET(REDUCE_SCATTER_BLOCK),
    OUT_BLOCKS =
        SET(ALLGATHER) | SET(ALLGATHERV) | SET(ALLTOALL) | SET(ALLTOALLV) | SET(ALLTOALLW),
    GATHERS = SET(GATHER) | SET(GATHERV),
    SCATTERS = SET(SCATTER) | SET(SCATTERV),
    SCATTERS_SUMS = SET(REDUCE_SCATTER) | SET(REDUCE_SCATTER_BLOCK),
    OWN_BLOCK_IN_PLACE = GATHERS | SET(ALLGATHER) | SET(ALLGATHERV),
    NEIGHBORS_TO_EACH =
        SET(NEIGHBOR_ALLTOALL) | SET(NEIGHBOR_ALLTOALLV) | SET(NEIGHBOR_ALLTOALLW)
};

/* What a rank does in a call. */
struct role {
    bool in_place;
    bool has_in, has_out;        /* buffers that coll is given */
    struct side result, whole;   /* of a reduce-scatter: OUT, and in place with all blocks */
    struct side others[2];       /* IN and OUT without what this rank sends itself */
    const struct side *in, *out; /* the program's sides behind them */
    uint32_t n_in, n_out;        /* blocks */
};

/* ---- what the library would refuse ------------------------------------------------------- */

/* Is MPI_IN_PLACE where it does not belong? Where a buffer is not looked at, anything may be. */
static bool misplaced(const struct call *call, const struct comm *comm)
{
    const bool root = !coll_is(COLL_ROOTED, call->what) || (int)comm->rank == call->root;
    const bool scatters = coll_is(SCATTERS, call->what);
    const bool looks = root || call->what == COLL_BCAST;
    const bool never = call->what == COLL_BCAST || coll_is(COLL_NEIGHBORLY, call->what);
    const void *right = scatters ? call->out.buf : call->in.buf;
    const void *wrong = scatters ? call->in.buf : call->out.buf;
    return (wrong == MPI_IN_PLACE && looks) || (right == MPI_IN_PLACE && (never || !root));
}

/* Is a table of a side of n blocks missing? Open MPI looks for that on each rank, before any message,
 * and refuses the call; MPICH does not. */
static bool lacks_a_table(const struct call *call, const struct side *side, uint32_t n)
{
#ifdef OMPI_MAJOR_VERSION
    enum {
        BOTH =
            SET(ALLTOALLV) | SET(ALLTOALLW) | SET(NEIGHBOR_ALLTOALLV) | SET(NEIGHBOR_ALLTOALLW),
        IN = BOTH | SET(SCATTERV),
        OUT = BOTH | SET(GATHERV) | SET(ALLGATHERV) | SET(NEIGHBOR_ALLGATHERV)
    };
    return coll_is(side == &call->in ? (unsigned)IN : (unsigned)OUT, call->what) &&
           (!side->counts || !side->displs) &&
           (n > 0 || call->what == COLL_NEIGHBOR_ALLGATHERV);
#else
    (void)call;
    (void)side;
    (void)n;
    return false;
#endif
}

/* Is there data at no address? MPICH refuses that. */
static bool lacks_memory(const struct view *view)
{
#ifdef MPICH_VERSION
    return view->bytes > 0 && !view->side->buf && view->low == 0;
#else
    (void)view;
    return false;
#endif
}

/* Does the call read and write one block? Libraries of MPICH's kin look for that by addresses, types and
 * counts, and refuse it. Nothing else may be left to them: other ranks, of other buffers, take part
 * here and would wait. Neighbour collectives they do not look at. */
static bool aliased(const struct call *call, const struct comm *comm, const struct view *in,
                    const struct view *out)
{
#ifdef MPICH_VERSION
    const bool scatters = coll_is(SCATTERS, call->what);
    const struct side *part = scatters ? &call->out : &call->in;
    const struct side *whole = scatters ? &call->in : &call->out;
    const char *block = whole->buf;
    if (in->bytes == 0 || out->bytes == 0 || part->buf == MPI_BOTTOM ||
        coll_is(COLL_NEIGHBORLY, call->what))
        return false;
    if (!coll_is(COLL_REDUCING, call->what)) {
        if (part->type != whole->type || part->types != whole->types)
            return false;
        if (coll_is(IN_BLOCKS, call->what) && part->counts != whole->counts)
            return false;
        if (!whole->counts && part->count != whole->count)
            return false;
        if (!coll_is(IN_BLOCKS, call->what)) {
            const struct type *type = type_of(whole->type);
            if (side_count(call, whole, comm->rank) == 0)
                return false;
            block += side_at(call, whole, comm->rank, type,
                             (ptrdiff_t)comm->rank * (ptrdiff_t)whole->count * type->extent);
        }
    }
    return part->buf == block;
#else
    (void)call;
    (void)comm;
    (void)in;
    (void)out;
    return false;
#endif
}

/* ---- roles ------------------------------------------------------------------------------- */

static bool cast(const struct call *call, struct comm *comm, const coll_graph *graph,
                 struct role *role)
{
    const coll_collective what = call->what;
    const bool root = (int)comm->rank == call->root, scatters = coll_is(SCATTERS, what);
    if (misplaced(call, comm))
        return false;
    role->in = &call->in;
    role->out = &call->out;
    role->in_place =
        what == COLL_BCAST || (scatters ? call->out.buf : call->in.buf) == MPI_IN_PLACE;
    role->has_in =
        what != COLL_BARRIER && what != COLL_BCAST && (scatters ? root : !role->in_place);
    role->has_out = what != COLL_BARRIER &&
                    (scatters ? !role->in_place
                              : root || !coll_is(COLL_ROOTED, what) || what == COLL_BCAST);
    role->n_in = coll_is(IN_BLOCKS, what) || (scatters && root) ? comm->p : 1;
    role->n_out = coll_is(OUT_BLOCKS, what) || (coll_is(GATHERS, what) && root) ? comm->p : 1;
    if (graph) {
        role->n_in = coll_is(NEIGHBORS_TO_EACH, what) ? graph->n_out : 1;
        role->n_out = graph->n_in;
    }
    if (coll_is(SCATTERS_SUMS, what)) {
        role->result = call->out;
        if (call->in.counts)
            role->result.count = side_count(call, &call->in, comm->rank);
        role->whole = call->in;
        role->whole.buf = call->out.buf;
        role->out = role->in_place ? &role->whole : &role->result;
        role->n_out = role->in_place ? comm->p : 1;
    }
    return true;
}

/* ---- blocks that differ ------------------------------------------------------------------ */

/* Bytes of block i of a side, which has been measured. An empty block may have any type. */
static size_t bytes_of(const struct call *call, const struct side *side, uint32_t i)
{
    const MPI_Datatype type = side->types ? side->types[i] : side->type;
    const size_t count = (size_t)side_count(call, side, i);
    return count > 0 ? count * type_of(type)->size : 0;
}

/* A side with tables whose block i is empty; `counts`: memory for its table. */
static void without(const struct call *call, const struct side *side, uint32_t p, uint32_t i,
                    unsigned char *counts, struct side *other)
{
    const size_t width = call->wide ? sizeof(MPI_Count) : sizeof(int);
    memcpy(counts, side->counts, p * width);
    memset(counts + i * width, 0, width);
    *other = *side;
    other->counts = counts;
}

/* This rank sends itself nothing in an alltoallv or alltoallw. */
static bool leave_out_own(struct job *job, const struct call *call, const struct comm *comm,
                          struct role *role)
{
    const size_t bytes = comm->p * (call->wide ? sizeof(MPI_Count) : sizeof(int));
    unsigned char *counts = pool_take(2 * bytes);
    job->misfit = true;
    job->blank = counts;
    if (!counts)
        return false;
    without(call, role->in, comm->p, comm->rank, counts, &role->others[0]);
    without(call, role->out, comm->p, comm->rank, counts + bytes, &role->others[1]);
    role->in = &role->others[0];
    role->out = &role->others[1];
    return true;
}

/* What this rank sends to itself and what it receives from itself are to have one size. If not, it gets an error;
 * others, who do not know, get what they expect, of zeros, and what it would receive goes nowhere:
 * a block of `blank` takes the place of the one that others do not see. Where each block has a size of its own,
 * nobody else sees this one, and it is left out. */
static bool settle_differences(struct job *job, const struct call *call,
                               const struct comm *comm, struct role *role)
{
    const bool scatters = coll_is(SCATTERS, call->what);
    const bool even = call->what == COLL_ALLTOALL;
    const bool uneven = coll_is(SET(ALLTOALLV) | SET(ALLTOALLW), call->what);
    struct side *const part = &role->result;
    size_t in, out, bytes;
    if ((!uneven &&
         !coll_is(GATHERS | SCATTERS | SET(ALLGATHER) | SET(ALLGATHERV) | SET(ALLTOALL),
                  call->what)) ||
        !role->has_in || !role->has_out)
        return true;
    in = bytes_of(call, role->in, scatters || uneven ? comm->rank : 0);
    out = bytes_of(call, role->out, scatters ? 0 : comm->rank);
    if (in == out)
        return true;
    if (uneven)
        return leave_out_own(job, call, comm, role);
    bytes = scatters ? in : out;
    job->misfit = true;
    job->blank = pool_take((even ? comm->p : 1) * bytes);
    if (bytes > 0 && !job->blank)
        return false;
    if (bytes > 0)
        memset(job->blank, 0, (even ? comm->p : 1) * bytes);
    *part = (struct side){.buf = job->blank, .count = (MPI_Count)bytes, .type = MPI_BYTE};
    *(scatters ? &role->out : &role->in) = part;
    return true;
}

/* ---- the problem ------------------------------------------------------------------------- */

/* Bytes of the only block of a side, or of each. */
static size_t block_bytes(const struct view *view)
{
    return view->n > 0 ? view->bytes / view->n : 0;
}

static void state_problem(const struct call *call, const struct comm *comm,
                          const coll_graph *graph, const struct role *role,
                          const struct view *in, const struct view *out, size_t unit,
                          coll_problem *problem)
{
    const coll_collective what = call->what;
    const struct view *one = role->has_out && !coll_is(SCATTERS_SUMS, what) ? out : in;
    size_t count = one->side ? block_bytes(one) / unit : 0;
    if (coll_is(SCATTERS, what) && role->has_in)
        count = block_bytes(in);
    if (what == COLL_REDUCE_SCATTER_BLOCK)
        count = block_bytes(role->in_place ? out : in) / unit;
    if (what == COLL_GATHERV)
        count = role->in_place || !role->has_in ? out->counts[comm->rank] : in->bytes;
    if (what == COLL_SCATTERV)
        count = role->has_in ? in->counts[comm->rank] : out->bytes;
    if (what == COLL_NEIGHBOR_ALLGATHER || what == COLL_NEIGHBOR_ALLGATHERV)
        count = in->bytes;
    if (what == COLL_NEIGHBOR_ALLTOALL && role->n_out == 0)
        count = block_bytes(in);
    coll_problem_init(problem, what, comm->p, count, unit);
    problem->root = coll_is(COLL_ROOTED, what) ? (uint32_t)call->root : 0;
    problem->flags = role->in_place ? COLL_FLAG_IN_PLACE : 0;
    problem->graph = graph;
    problem->in.counts = in->counts;
    problem->in.displs = in->displs;
    problem->out.counts = out->counts;
    problem->out.displs = out->displs;
    if (what == COLL_REDUCE_SCATTER) {
        if (role->in_place)
            problem->in = problem->out;
        problem->out.counts = problem->out.displs = NULL;
        problem->count = 0;
    }
    if (coll_is(COLL_PAIRED, what) && role->in_place)
        problem->in = problem->out;
    if (coll_is(COLL_PAIRED | SET(ALLGATHERV) | SET(NEIGHBOR_ALLTOALLV) |
                    SET(NEIGHBOR_ALLTOALLW),
                what))
        problem->count = 0;
}

/* ---- the job ----------------------------------------------------------------------------- */

/* Which blocks are packed before the job, and which unpacked after it. */
static void plan_packing(struct job *job, const struct call *call, const struct comm *comm,
                         const struct role *role, const struct view *in, const struct view *out)
{
    const bool root = (int)comm->rank == call->root, bcast = call->what == COLL_BCAST;
    struct piece *next = job->pieces;
    if (in->packed)
        next += view_split(call, in, 0, in->n, next);
    if (out->packed && role->in_place && (!bcast || root)) {
        const bool own = coll_is(OWN_BLOCK_IN_PLACE, call->what);
        next +=
            view_split(call, out, own ? comm->rank : 0, own ? comm->rank + 1 : out->n, next);
    }
    job->n_loads = (size_t)(next - job->pieces);
    if (!out->packed || (bcast && root) || (call->what == COLL_EXSCAN && comm->rank == 0))
        return;
    if (role->out == &role->whole) { /* the result takes the place of the first elements */
        struct view result = *out;
        result.side = &role->result;
        result.n = 1;
        job->n_stores = view_split(call, &result, 0, 1, next);
    } else {
        job->n_stores = view_split(call, out, 0, out->n, next);
    }
}

/* Memory for tables, pieces and packed data. */
static bool furnish(struct job *job, const struct call *call, struct view *in, struct view *out,
                    size_t unit)
{
    const size_t in_tables = view_tables(in), out_tables = view_tables(out);
    const size_t pieces = view_pieces(call, in) + 2 * view_pieces(call, out) + 1;
    const size_t in_bytes = in->packed ? in->bytes : 0,
                 out_bytes = out->packed ? out->bytes : 0;
    const size_t aligned = (in_bytes + 63) / 64 * 64;
    size_t *tables = NULL;
    if (in_tables + out_tables > 0 || in->packed || out->packed) {
        job->tables = pool_take((in_tables + out_tables) * sizeof(size_t) +
                                pieces * sizeof(struct piece));
        if (!job->tables)
            return false;
        tables = (size_t *)job->tables;
        job->pieces = (struct piece *)(void *)(tables + in_tables + out_tables);
    }
    if (aligned + out_bytes > 0) {
        job->packed = pool_take(aligned + out_bytes);
        if (!job->packed)
            return false;
    }
    if (in->side)
        view_place(call, in, (unsigned char *)job->packed, tables, unit);
    if (out->side)
        view_place(call, out, (unsigned char *)job->packed + aligned, tables + in_tables, unit);
    return true;
}

static void hold(struct job *job, struct operation *operation)
{
    for (size_t i = 0; i < job->n_loads + job->n_stores; i++)
        type_use(job->pieces[i].type);
    job->operation = operation;
    operation_use(operation);
    if (job->combination.room)
        type_use(job->combination.type);
    job->holds = true;
}

/* From here on all ranks are in it. */
static void take_part(struct job *job, struct comm *comm)
{
    job->comm = comm;
    comm->jobs++;
    job_place(job);
}

/* The plan, and memory for it. */
static coll_status prepare(struct job *job, const coll_problem *problem, bool exact)
{
    const coll_status status = plan_for(job, problem, exact);
    size_t scratch;
    if (status != COLL_OK)
        return status;
    scratch = coll_plan_scratch(&job->prepared->plan, job->run.rank) * problem->elem_bytes;
    job->prepared->scratch = job->run.scratch_bytes = scratch;
    job->scratch = scratch > 0 ? pool_take(scratch) : NULL;
    return scratch > 0 && !job->scratch ? COLL_ERR_MEMORY : COLL_OK;
}

/* Are all types of a side predefined? */
static bool is_predefined(const struct view *view)
{
    for (uint32_t i = 0; view->side && i < (view->side->types ? view->n : view->n > 0); i++) {
        const struct type *type =
            type_of(view->side->types ? view->side->types[i] : view->side->type);
        if (!type || !type->predefined)
            return false;
    }
    return true;
}

/* A job of a call that was not made before. */
static verdict make(struct job *job, const struct call *call, struct comm *comm, int *error)
{
    const bool reduces = coll_is(COLL_REDUCING, call->what);
    const coll_graph *graph = NULL;
    struct operation *operation = NULL;
    struct type *type = NULL;
    struct view in = {0}, out = {0};
    struct role role;
    coll_problem problem;
    coll_status status;
    verdict found = TAKEN;
    size_t unit = 1;
    if (coll_is(COLL_ROOTED, call->what) && (call->root < 0 || call->root >= (int)comm->p))
        return DECLINED;
    if (coll_is(COLL_NEIGHBORLY, call->what)) {
        graph = comm_graph(comm);
        if (!graph)
            return DECLINED;
    }
    if (!cast(call, comm, graph, &role))
        return DECLINED;
    if ((role.has_in && lacks_a_table(call, role.in, role.n_in)) ||
        (role.has_out && lacks_a_table(call, role.out, role.n_out)))
        return DECLINED;
    if (role.has_in)
        found = view_measure(call, role.in, role.n_in, &in);
    if (found == TAKEN && role.has_out)
        found = view_measure(call, role.out, role.n_out, &out);
    if (found == DECLINED || lacks_memory(&in) || lacks_memory(&out) ||
        aliased(call, comm, &in, &out))
        return DECLINED;
    if (reduces) {
        operation = operation_of(call->op);
        type = type_of(call->in.type);
        if (!operation || !type ||
            !operation_on(operation, type, &job->combination, &job->prepared->op))
            return DECLINED;
        unit = type->size > 0 ? type->size : 1;
    }
    take_part(job, comm);
    *error = job_code(found == FAILED ? COLL_ERR_OVERFLOW : COLL_ERR_MEMORY);
    if (found == FAILED)
        return FAILED;
    if (!settle_differences(job, call, comm, &role))
        return FAILED;
    if (job->misfit && (view_measure(call, role.in, role.n_in, &in) != TAKEN ||
                        view_measure(call, role.out, role.n_out, &out) != TAKEN))
        return FAILED;
    if (reduces && job->combination.type) {
        job->combination.room = pool_take(combine_room(type));
        if (!job->combination.room)
            return FAILED;
    }
    if (!furnish(job, call, &in, &out, unit))
        return FAILED;
    if (job->pieces)
        plan_packing(job, call, comm, &role, &in, &out);
    state_problem(call, comm, graph, &role, &in, &out, unit, &problem);
    if (reduces && job->prepared->op.commutative)
        problem.flags |= COLL_FLAG_COMMUTATIVE;
    status = prepare(job, &problem, !reduces || job->prepared->op.exact);
    if (status != COLL_OK) {
        *error = job_code(status);
        return FAILED;
    }
    job->bytes = in.bytes > out.bytes ? in.bytes : out.bytes;
    job->run.in = in.base;
    job->run.out = out.base;
    job->run.scratch = job->scratch;
    if (!job->misfit && is_predefined(&in) && is_predefined(&out))
        job_remember(job, call, &in, &out);
    if (job->how != BLOCKING ||
        (settings.threads && !job->repeat)) /* or another thread frees them */
        hold(job, operation);
    job_equip(job);
    return TAKEN;
}

/* The job of a call; whoever gets one frees it. FAILED: *error is MPI's code. */
static verdict job_make(const struct call *call, way how, struct job **made, int *error)
{
    struct comm *comm = comm_of(call->comm, how != NONBLOCKING);
    struct job *job;
    if (!comm || !comm->runs_here)
        return DECLINED;
    if (comm->shares && nodes_unshared())
        repeats_unshare(comm);
    *made = job = job_repeat(comm, call, how);
    if (job) {
        job->how = how;
        take_part(job, comm);
        return TAKEN;
    }
    *made = job = job_new();
    if (job) {
        job->how = how;
        return make(job, call, comm, error);
    }
    *error = MPI_ERR_NO_MEM;
    return FAILED;
}

/* Does its communicator take no more calls, as a rank has died or it was revoked? */
static bool has_ended(const struct call *call, int *error)
{
    struct comm *comm = comm_of(call->comm, false);
    *error = comm ? failures_of(comm, false) : MPI_SUCCESS;
    return *error != MPI_SUCCESS;
}

bool layer_takes(const struct call *call, way how, MPI_Request *request, int *error)
{
    struct job *job = NULL;
    verdict found;
    if (!settings.ready) {
        if (!settings.over)
            tools_missed();
        return false;
    }
    if (coll_is(settings.off, call->what)) {
        if (settings.verbose) {
            lock();
            report_declined(call, "COLL_OFF says");
            unlock();
        }
        return false;
    }
    lock();
    found =
        failures_any() && has_ended(call, error) ? FAILED : job_make(call, how, &job, error);
    if (found == TAKEN && how != BLOCKING) {
        *error = token_take(how == PERSISTENT ? job : NULL, &job->token_tag, &job->token);
        *request = job->token;
        if (*error != MPI_SUCCESS)
            found = FAILED;
    }
    if (found == TAKEN && how != PERSISTENT)
        job_start(job);
    if (found == TAKEN && how == BLOCKING)
        *error = job_finish(job);
    if (found == FAILED && how != BLOCKING)
        *request = MPI_REQUEST_NULL;
    if (found == FAILED && job && job->comm && how != PERSISTENT)
        job_withdraw(job);
    if (found != TAKEN && job)
        job_free(job);
    if (found == DECLINED && settings.verbose)
        report_declined(call, "the communicator, type, operator or arguments are not for coll");
    unlock();
    if (found != DECLINED && *error != MPI_SUCCESS)
        (void)PMPI_Comm_call_errhandler(call->comm, *error);
    return found != DECLINED;
}
