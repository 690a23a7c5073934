/* coll/comm/args.h — a call's arguments, and the plan that they ask for
 *
 * Use comm/request.h, or this part alone.
 */
#ifndef COLL_COMM_ARGS_H
#define COLL_COMM_ARGS_H

#include "communicator.h"

/* As `in` (scatter and scatterv: as `out`), what COLL_FLAG_IN_PLACE means in plan.h; for rooted
 * collectives at the root only. */
#define COLL_IN_PLACE ((void *)~(uintptr_t)0)

/* What a collective is asked to do. Only what the collective has (plan.h) is read; counts are
 * in elements. */
typedef struct coll_args {
    coll_collective collective;
    uint32_t root;
    const void *in; /* bcast: not used, its one buffer is `out` */
    void *out;
    size_t count; /* of the vector, or of this rank's block or blocks */
    /* scatterv, alltoallv, -w; reduce_scatter: counts, and on all ranks displacements, or on none:
     * then its blocks lie one after the other */
    const size_t *in_counts, *in_displs;
    const size_t *out_counts, *out_displs; /* gatherv, allgatherv, alltoallv, -w */
    coll_type type;
    coll_operator op;
    const coll_graph *graph; /* neighbour collectives */
    /* Of a predefined operator: its loops, or how they are found. coll_args_init writes both. */
    const coll_i_loops *loops;
    coll_status (*builtin)(coll_op *op, coll_operator which, coll_type type); /* finds them */
} coll_args;

COLL_INLINE void coll_i_args_init(coll_args *args, coll_collective collective, const void *in,
                                  void *out, size_t count, coll_type type)
{
    args->collective = collective;
    args->root = 0;
    args->in = in;
    args->out = out;
    args->count = count;
    args->in_counts = args->in_displs = args->out_counts = args->out_displs = NULL;
    args->type = type;
    args->op = COLL_SUM;
    args->graph = NULL;
    args->loops = NULL;
    args->builtin = NULL;
}

/* Arguments of 0 elements of COLL_U8, root 0, COLL_SUM, without buffers, tables and graph; the
 * caller sets what the collective has. */
COLL_INLINE void coll_args_init(coll_args *args, coll_collective collective)
{
    coll_i_args_init(args, collective, NULL, NULL, 0, COLL_U8);
    args->builtin = coll_op_builtin;
}

/* The arguments of most collectives: with an operator, of which only what is used is compiled if
 * it and the type are constants; and without. */
COLL_HOT_INLINE void coll_i_reducing(coll_args *args, coll_collective collective,
                                     const void *in, void *out, size_t count, coll_type type,
                                     coll_operator op, uint32_t root)
{
    coll_i_args_init(args, collective, in, out, count, type);
    args->op = op;
    args->loops = coll_i_loops_of(op, type);
    args->root = root;
}

COLL_INLINE void coll_i_moving(coll_args *args, coll_collective collective, const void *in,
                               void *out, size_t count, coll_type type, uint32_t root)
{
    coll_i_args_init(args, collective, in, out, count, type);
    args->root = root;
}

/* ---- arguments → problem → plan ---------------------------------------------------------- */

/* Does the call work in place? COLL_ERR_IN_PLACE where COLL_IN_PLACE does not belong. */
COLL_INLINE coll_status coll_i_args_in_place(const coll_comm *comm, const coll_args *args,
                                             bool *in_place)
{
    const coll_collective it = args->collective;
    const bool scatter = it == COLL_SCATTER || it == COLL_SCATTERV;
    const bool in = args->in == COLL_IN_PLACE, out = args->out == COLL_IN_PLACE;
    *in_place = it == COLL_BCAST || (scatter ? out : in);
    if (it == COLL_BARRIER)
        *in_place = false;
    else if ((scatter ? in : out) || (in && coll_is(COLL_NEIGHBORLY, it)) ||
             (*in_place && it != COLL_BCAST && coll_is(COLL_ROOTED, it) &&
              comm->rank != args->root))
        return COLL_ERR_IN_PLACE;
    return COLL_OK;
}

/* The tables of a layout, where this rank has to give them. */
COLL_INLINE void coll_i_args_layout(coll_layout *layout, const size_t *counts,
                                    const size_t *displs)
{
    layout->counts = counts;
    layout->displs = displs;
}

/* Writes the problem that the arguments state. What MPI calls not significant on a rank is not
 * looked at: a rooted collective's tables away from the root are left out, unless the algorithm
 * that was chosen for it needs them everywhere. */
COLL_INLINE coll_status coll_i_args_problem(const coll_comm *comm, const coll_args *args,
                                            coll_problem *problem)
{
    const coll_collective it = args->collective;
    const coll_algorithm *chosen;
    const bool bytes = it == COLL_ALLTOALLW || it == COLL_NEIGHBOR_ALLTOALLW;
    bool in_place = false, tables;
    coll_status status;
    if ((unsigned)it >= COLL_COLLECTIVES)
        return COLL_ERR_COLLECTIVE;
    if (coll_is(COLL_ROOTED, it) && args->root >= comm->p)
        return COLL_ERR_ROOT;
    if (it != COLL_BARRIER && !bytes && coll_type_bytes(args->type) == 0)
        return COLL_ERR_TYPE;
    status = coll_i_args_in_place(comm, args, &in_place);
    if (status != COLL_OK)
        return status;
    coll_problem_init(problem, it, comm->p, args->count,
                      bytes ? 1 : coll_type_bytes(args->type));
    problem->flags = in_place ? (uint32_t)COLL_FLAG_IN_PLACE : 0;
    problem->root = coll_is(COLL_ROOTED, it) ? args->root : 0;
    problem->graph = coll_is(COLL_NEIGHBORLY, it) ? args->graph : NULL;
    if (comm->nodes)
        coll_i_nodes_assign(&problem->nodes, comm->nodes);
    chosen = comm->choice[it].algorithm;
    tables = comm->rank == args->root || (chosen && (chosen->traits & COLL_NEEDS_COUNTS));
    switch (it) {
    case COLL_BARRIER:
        problem->count = 0;
        problem->elem_bytes = 1;
        break;
    case COLL_GATHERV:
        if (tables)
            coll_i_args_layout(&problem->out, args->out_counts, args->out_displs);
        break;
    case COLL_SCATTERV:
        if (tables)
            coll_i_args_layout(&problem->in, args->in_counts, args->in_displs);
        break;
    case COLL_ALLGATHERV:
        problem->count = 0;
        coll_i_args_layout(&problem->out, args->out_counts, args->out_displs);
        break;
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        problem->count = 0;
        coll_i_args_layout(&problem->out, args->out_counts, args->out_displs);
        coll_i_args_layout(&problem->in, in_place ? args->out_counts : args->in_counts,
                           in_place ? args->out_displs : args->in_displs);
        break;
    case COLL_REDUCE_SCATTER:
        problem->count = 0;
        coll_i_args_layout(&problem->in, args->in_counts, args->in_displs);
        break;
    case COLL_NEIGHBOR_ALLGATHERV:
        coll_i_args_layout(&problem->out, args->out_counts, args->out_displs);
        break;
    case COLL_NEIGHBOR_ALLTOALLV:
    case COLL_NEIGHBOR_ALLTOALLW:
        problem->count = 0;
        coll_i_args_layout(&problem->in, args->in_counts, args->in_displs);
        coll_i_args_layout(&problem->out, args->out_counts, args->out_displs);
        break;
    default:
        break;
    }
    return COLL_OK;
}

/* Is this rank's own count the one that its tables have? In place nobody looks at it. */
COLL_INLINE coll_status coll_i_args_count(const coll_args *args, const coll_problem *problem,
                                          uint32_t rank)
{
    const coll_collective it = args->collective;
    const size_t *counts = it == COLL_SCATTERV ? problem->in.counts : problem->out.counts;
    if (it != COLL_GATHERV && it != COLL_SCATTERV && it != COLL_ALLGATHERV)
        return COLL_OK;
    return (problem->flags & COLL_FLAG_IN_PLACE) || !counts || counts[rank] == args->count
               ? COLL_OK
               : COLL_ERR_SIZE;
}

/* Writes the operator of a reducing collective, and what of it the problem must know. */
COLL_INLINE coll_status coll_i_args_op(const coll_comm *comm, const coll_args *args,
                                       coll_problem *problem, coll_op *op)
{
    coll_status status;
    if (!coll_is(COLL_REDUCING, args->collective))
        return COLL_OK;
    if (args->op >= COLL_USER_OP)
        status = coll_i_comm_user_op(comm, args->op, args->type, op);
    else if (args->builtin)
        status = args->builtin(op, args->op, args->type);
    else
        status = coll_i_op_write(op, args->loops, args->op, args->type);
    if (status == COLL_OK && op->commutative)
        problem->flags |= COLL_FLAG_COMMUTATIVE;
    return status;
}

/* Do all ranks find this error of a call, before anything is started? They do if it is one of what must
 * match. Buffers, tables, memory, operators of the user's, and the state of a call are each rank's
 * own; and so is a plan that is composite. */
COLL_INLINE bool coll_i_args_fail_alike(const coll_comm *comm, const coll_args *args,
                                        coll_status status)
{
    switch (status) {
    case COLL_ERR_ROOT:
    case COLL_ERR_TYPE:
        return true;
    case COLL_ERR_OP:
        return args->op < COLL_USER_OP;
    case COLL_ERR_IN_PLACE:
        return !comm->builder && !coll_is(COLL_ROOTED, args->collective);
    case COLL_ERR_COLLECTIVE:
    case COLL_ERR_PARAM:
    case COLL_ERR_ORDER:
    case COLL_ERR_SHAPE:
    case COLL_ERR_GROUP:
    case COLL_ERR_NODES:
    case COLL_ERR_SHARED:
    case COLL_ERR_CAPABILITY:
    case COLL_ERR_BUILD:
    case COLL_ERR_PROMISE:
        return !comm->builder;
    default:
        return false;
    }
}

/* The part of the next use of SHARED, of which each node that shares it has an equal share: as `shared`
 * of a transport. */
COLL_INLINE size_t coll_i_comm_part(const coll_comm *comm, bool take, uint32_t *use,
                                    void **memory)
{
    enum { LINE = 64 };
    size_t bytes = comm->transport->node_memory->shared(comm->ctx, take, use, memory);
    if (comm->shares > 1 && *memory) {
        bytes = bytes / comm->shares / LINE * LINE;
        *memory = (unsigned char *)*memory + comm->share * bytes;
    }
    return bytes;
}

/* Bytes of SHARED that a call may use: of a root communicator's calls that are not persistent, as
 * their order is the same on all ranks. */
COLL_INLINE size_t coll_i_comm_shared(const coll_comm *comm)
{
    void *memory;
    uint32_t use;
    return comm->shares > 0 ? coll_i_comm_part(comm, false, &use, &memory) : 0;
}

/* Does the network take what the ranks reduce? In a reduce_scatter that is all blocks, which lie one
 * after the other. */
COLL_INLINE bool coll_network_reduce_takes(const coll_transport *transport,
                                           const coll_problem *problem)
{
    const bool blocks = problem->collective == COLL_REDUCE_SCATTER ||
                        problem->collective == COLL_REDUCE_SCATTER_BLOCK;
    const coll_in_network *network = coll_i_transport_network(transport);
    size_t elements = problem->count, bytes;
    if (!network || !network->reduce || network->max_bytes == 0)
        return network && network->reduce;
    if (blocks)
        elements = coll_i_layout_elements(&problem->in, problem->count, problem->p);
    return coll_multiply(elements, problem->elem_bytes, &bytes) && bytes <= network->max_bytes;
}

/* Do the blocks lie one after the other on all ranks? */
COLL_INLINE bool coll_i_args_packed(const coll_args *args)
{
    return args->collective == COLL_REDUCE_SCATTER && !args->in_displs;
}

/* What the communicator offers beyond messages. Multicasts and reductions by the network
 * involve all ranks of the transport. */
COLL_INLINE unsigned coll_i_comm_capabilities(const coll_comm *comm, const coll_args *args,
                                              const coll_problem *problem, size_t shared_bytes)
{
    const coll_transport *transport = comm->transport;
    const coll_in_network *network = coll_i_transport_network(transport);
    const unsigned packed = coll_i_args_packed(args) ? (unsigned)COLL_NEEDS_PACKED : 0u;
    if (comm->p != comm->root_comm->p || comm->group.table) /* else all are in their order */
        return packed;
    return packed | (network && network->multicast ? (unsigned)COLL_NEEDS_MULTICAST : 0u) |
           (network && network->reduce ? (unsigned)COLL_NEEDS_NETWORK_BARRIER : 0u) |
           (coll_network_reduce_takes(transport, problem) ? (unsigned)COLL_NEEDS_NETWORK_REDUCE
                                                          : 0u) |
           (shared_bytes ? (unsigned)COLL_NEEDS_SHARED : 0u);
}

/* Bytes of memory for the plan itself, if it may be a composite one. */
COLL_INLINE size_t coll_i_comm_workspace(const coll_comm *comm, const coll_problem *problem)
{
    return comm->builder ? comm->builder->bytes(comm, problem) : 0;
}

/* Takes what a call needs of the arena before its plan is made: displacements of reduce_scatter's
 * blocks, which lie one after the other, and workspace_bytes at *workspace. */
COLL_INLINE coll_status coll_i_comm_tables(const coll_comm *comm, coll_problem *problem,
                                           size_t workspace_bytes, coll_piece *tables,
                                           void **workspace)
{
    coll_arena *arena = &comm->root_comm->arena;
    const size_t *counts = problem->in.counts;
    const bool packed =
        problem->collective == COLL_REDUCE_SCATTER && counts && !problem->in.displs;
    const size_t bytes = packed ? coll_arena_bytes(problem->p * sizeof(size_t)) : 0;
    const coll_status status = coll_arena_take(arena, bytes + workspace_bytes, tables);
    unsigned char *memory = (unsigned char *)coll_arena_at(tables);
    size_t *displs = (size_t *)(void *)memory, at = 0;
    if (status != COLL_OK)
        return status;
    *workspace = workspace_bytes ? memory + bytes : NULL;
    if (!packed)
        return COLL_OK;
    for (uint32_t i = 0; i < problem->p; i++) {
        displs[i] = at;
        if (counts[i] > SIZE_MAX - at)
            return COLL_ERR_OVERFLOW;
        at += counts[i];
    }
    problem->in.displs = displs;
    return COLL_OK;
}

/* The arguments but for buffers and tables, as of a call that may use so many bytes of SHARED. */
COLL_HOT_INLINE void coll_i_args_key(coll_i_call_key *key, const coll_comm *comm,
                                     const coll_args *args, size_t shared_bytes)
{
    key->comm = comm;
    key->count = args->count;
    key->shared_bytes = shared_bytes;
    key->collective = (uint32_t)args->collective | comm->settled << 8;
    key->in_is_out = args->in == COLL_IN_PLACE;
    key->out_is_in = args->out == COLL_IN_PLACE;
    key->type = args->type;
    key->op = args->op;
    key->root = coll_is(COLL_ROOTED, args->collective) ? args->root : 0;
}

/* The tables, but those of IN where OUT's stand for them. */
COLL_INLINE void coll_i_args_tables(const coll_args *args, const size_t **tables)
{
    const bool by_out = args->in == COLL_IN_PLACE && (args->collective == COLL_ALLTOALLV ||
                                                      args->collective == COLL_ALLTOALLW);
    tables[0] = by_out ? NULL : args->in_counts;
    tables[1] = by_out ? NULL : args->in_displs;
    tables[2] = args->out_counts;
    tables[3] = args->out_displs;
}

COLL_INLINE bool coll_i_args_same_tables(const coll_args *args, const coll_cache_entry *entry)
{
    const size_t *tables[4];
    coll_i_args_tables(args, tables);
    return coll_i_args_packed(args) == coll_i_cache_packed(entry) &&
           coll_i_cache_same_tables(entry, tables);
}

/* Are these the arguments of an entry, whose key is given? */
COLL_HOT_INLINE bool coll_i_args_are(const coll_args *args, const coll_i_call_key *key,
                                     const coll_cache_entry *entry)
{
    return COLL_LIKELY(coll_i_call_same(&entry->key, key)) &&
           (COLL_LIKELY(entry->given == 0) || coll_i_args_same_tables(args, entry)) &&
           (COLL_LIKELY(!entry->call.plan.problem.graph) ||
            coll_graph_same_mesh(&entry->mesh, args->graph));
}

/* The entry of a call behind the place that its key gives, or NULL. */
COLL_INLINE coll_cache_entry *coll_i_args_search(const coll_comm *comm, const coll_args *args,
                                                 size_t shared_bytes)
{
    const coll_cache *cache = &comm->cache;
    coll_i_call_key key;
    uint32_t at;
    coll_i_args_key(&key, comm, args, shared_bytes);
    at = coll_i_cache_home(cache, &key);
    for (uint32_t left = coll_i_cache_ways(cache); left > 1; left--) {
        at = at + 1 < cache->n ? at + 1 : 0;
        if (coll_i_args_are(args, &key, &cache->entries[at]))
            return &cache->entries[at];
    }
    return NULL;
}

/* What was prepared for an earlier call with these arguments, or NULL. */
COLL_HOT_INLINE coll_cache_entry *coll_i_args_find(const coll_comm *comm, const coll_args *args,
                                                   size_t shared_bytes)
{
    coll_i_call_key key;
    coll_cache_entry *home;
    if (comm->cache.n == 0 || (unsigned)args->collective >= COLL_COLLECTIVES)
        return NULL;
    coll_i_args_key(&key, comm, args, shared_bytes);
    home = &comm->cache.entries[coll_i_cache_home(&comm->cache, &key)];
    return COLL_LIKELY(coll_i_args_are(args, &key, home))
               ? home
               : coll_i_args_search(comm, args, shared_bytes);
}

/* Keeps what was prepared for a call. */
COLL_INLINE void coll_i_args_keep(coll_comm *comm, const coll_args *args, size_t shared_bytes,
                                  const coll_prepared *call)
{
    const size_t *tables[4];
    coll_i_call_key key;
    if (comm->cache.n == 0)
        return;
    coll_i_args_key(&key, comm, args, shared_bytes);
    coll_i_args_tables(args, tables);
    coll_i_cache_keep(&comm->cache, call, &key, tables, comm->rank);
}

/* Makes the plan by the algorithm that the caller chose, else by the rules. */
COLL_INLINE coll_status coll_i_comm_choose(const coll_comm *comm, const coll_problem *problem,
                                           const coll_conditions *conditions, void *workspace,
                                           coll_plan *plan)
{
    const coll_choice *choice = &comm->choice[problem->collective];
    if (workspace)
        return comm->builder->plan(comm, problem, conditions, workspace, plan);
    return choice->algorithm
               ? coll_plan_init(plan, choice->algorithm, problem, choice->param)
               : coll_select_from(comm->rules, problem, conditions, NULL, plan, NULL);
}

/* The same, and places it. `capabilities`: those of coll_i_comm_capabilities; `workspace`: memory
 * of coll_i_comm_workspace bytes, NULL if there are none. */
COLL_INLINE coll_status coll_i_comm_plan(const coll_comm *comm, const coll_problem *problem,
                                         unsigned capabilities, size_t shared_bytes,
                                         void *workspace, coll_plan *plan)
{
    const coll_algorithm *chosen = comm->choice[problem->collective].algorithm;
    coll_conditions conditions;
    coll_status status = COLL_OK;
    conditions.capabilities = capabilities;
    conditions.requirements = chosen ? 0 : (unsigned)COLL_GIVES_IDENTICAL;
    if (chosen)
        status = coll_i_conditions_check(&conditions, chosen->traits, problem->collective);
    if (status == COLL_OK)
        status = coll_i_comm_choose(comm, problem, &conditions, workspace, plan);
    if (status == COLL_OK && !coll_plan_fits_shared(plan, shared_bytes)) {
        conditions.capabilities &= ~(unsigned)COLL_NEEDS_SHARED;
        status = chosen ? COLL_ERR_SHARED
                        : coll_i_comm_choose(comm, problem, &conditions, workspace, plan);
    }
    return status == COLL_OK ? coll_plan_place(plan, &comm->group) : status;
}

/* After COLL_ERR_CAPABILITY: what the algorithm that was chosen for the collective needs, and calls of this
 * communicator (persistent ones have no SHARED) do not have, as a mask of COLL_NEEDS_…, which
 * coll_capability_text puts into words; 0: nothing. */
COLL_INLINE unsigned coll_comm_lacks(const coll_comm *comm, const coll_args *args,
                                     bool persistent)
{
    const size_t shared = persistent ? 0 : coll_i_comm_shared(comm);
    const coll_algorithm *chosen;
    coll_conditions conditions;
    coll_problem problem;
    if (coll_i_args_problem(comm, args, &problem) != COLL_OK)
        return 0;
    chosen = comm->choice[args->collective].algorithm;
    conditions.requirements = 0;
    conditions.capabilities = coll_i_comm_capabilities(comm, args, &problem, shared);
    return chosen ? coll_conditions_lack(&conditions, chosen->traits) : 0;
}

/* Makes a plan that needs at least the scratch of a reduce_scatter whose blocks lie one after the
 * other: the algorithm is that of the call, and all blocks are as large as the largest one. */
COLL_INLINE coll_status coll_i_comm_plan_bound(const coll_comm *comm,
                                               const coll_problem *problem,
                                               unsigned capabilities, size_t shared_bytes,
                                               coll_plan *plan)
{
    coll_problem equal;
    coll_plan chosen;
    coll_status status;
    coll_i_problem_assign(&equal, problem);
    equal.in.counts = NULL;
    equal.count = coll_i_layout_elements(&problem->in, 0, problem->p) / problem->p;
    status = coll_i_comm_plan(comm, &equal, capabilities, shared_bytes, NULL, &chosen);
    equal.count = coll_i_layout_largest(&problem->in, 0, problem->p);
    if (status == COLL_OK)
        status = coll_plan_init(plan, chosen.algorithm, &equal, chosen.param);
    return status == COLL_OK ? coll_plan_place(plan, &comm->group) : status;
}

/* Writes how many bytes of the arena a call with these arguments takes while it runs
 * (persistent: until it is freed). Buffers are not looked at, except for COLL_IN_PLACE. A
 * reduce_scatter without in_displs gets an upper bound: what p blocks as large as the largest
 * one take. An arena for several calls at once needs their sum, and COLL_ARENA_ALIGN − 1 where
 * its memory is not aligned; calls of many sizes that come and go in any order may need
 * more.
 * Where rules name composite algorithms (comm/multi_node.h), the plan is made in the arena
 * to find out; COLL_ERR_MEMORY: it has not *bytes bytes to spare for that. */
COLL_INLINE coll_status coll_comm_bytes(const coll_comm *comm, const coll_args *args,
                                        size_t *bytes)
{
    coll_problem problem;
    coll_plan plan;
    coll_op op;
    coll_piece tables;
    coll_status status;
    size_t workspace_bytes, most = 0;
    void *workspace = NULL;
    const coll_i_scaling *scaling = NULL;
    bool packed;
    if (!comm || !args || !bytes)
        return COLL_ERR_NULL;
    if (comm->rank >= comm->p)
        return COLL_ERR_RANK;
    status = coll_i_args_problem(comm, args, &problem);
    if (status == COLL_OK)
        status = coll_i_args_op(comm, args, &problem, &op);
    if (status != COLL_OK)
        return status;
    if (args->op >= COLL_USER_OP && coll_is(COLL_REDUCING, args->collective))
        scaling = coll_i_comm_scaling(comm, args->op, args->type);
    packed = coll_i_args_packed(args);
    if (packed && !problem.in.counts)
        return COLL_ERR_COUNTS;
    workspace_bytes = coll_i_comm_workspace(comm, &problem);
    *bytes = (packed ? coll_arena_bytes(problem.p * sizeof(size_t)) : 0) +
             coll_arena_bytes(workspace_bytes);
    tables.span.count = 0;
    if (workspace_bytes > 0)
        status = coll_i_comm_tables(comm, &problem, workspace_bytes, &tables, &workspace);
    for (size_t shared = coll_i_comm_shared(comm); status == COLL_OK; shared = 0) {
        const unsigned capabilities = coll_i_comm_capabilities(comm, args, &problem, shared);
        size_t scratch;
        status = packed && !workspace
                     ? coll_i_comm_plan_bound(comm, &problem, capabilities, shared, &plan)
                     : coll_i_comm_plan(comm, &problem, capabilities, shared, workspace, &plan);
        if (status != COLL_OK)
            break;
        scratch = coll_plan_scratch(&plan, comm->rank);
        if (scaling && scaling->multiply) /* its operands are copied */
            scratch += coll_plan_extents(&plan, comm->rank).in + COLL_ARENA_ALIGN;
        if (!coll_i_addressable(scratch, problem.elem_bytes))
            status = COLL_ERR_OVERFLOW;
        most = scratch > most ? scratch : most;
        if (!(plan.traits & COLL_NEEDS_SHARED) || comm->choice[args->collective].algorithm)
            break; /* else the same if it is persistent */
    }
    coll_arena_give(&tables);
    if (status == COLL_OK)
        *bytes += coll_arena_bytes(most * problem.elem_bytes);
    return status;
}

#endif /* COLL_COMM_ARGS_H */
