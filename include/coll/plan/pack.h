/* coll/plan/pack.h — a plan as bytes: for a NIC, a file, another process
 *
 *   unsigned char wire[COLL_PACK_BYTES];               // more if the plan has tables
 *   status = coll_plan_pack(&plan, wire, sizeof wire, &bytes);
 *   status = coll_plan_unpack(&plan, wire, bytes, coll_registry, COLL_REGISTRY_COUNT, memory, n);
 *
 * A packed plan is what a host gives to a network processor, or to a file: the problem, the
 * algorithm's name, parameters and group, a few dozen bytes without pointers, the same on all
 * machines. Who unpacks it has the step functions. Nothing here allocates, blocks or
 * communicates.
 */
#ifndef COLL_PLAN_PACK_H
#define COLL_PLAN_PACK_H

#include "../plan.h"
#include "graph.h"

/* ---- packing -----------------------------------------------------------------------------
 * Little endian, no padding:
 *
 *   u32 magic, u32 version, u32 bytes in all, u32 hash of the algorithm's name,
 *   u32 collective, u32 p, u32 root, u32 flags, u64 count, u64 elem_bytes,
 *   u32 group base, u32 group stride, u32 which tables follow, u32 parameters n, u32 × n,
 *   the nodes, the graph, u64 × p counts and u64 × p displacements of IN, then of OUT,
 *   u32 × p group table, u32 check
 *
 * The nodes: u32 how many, u32 ranks of each; or 0 ranks, and u32 × (n + 1) first ranks.
 *
 * The graph of a neighbour collective; its tables have an entry for each block instead of p:
 *
 *   u32 blocks of OUT, u32 of IN, u32 dimensions n, u32 periodic, u32 rank, u32 has it vectors,
 *   u32 × n sizes, u32 × n for each vector; or, without dimensions, u32 sources and destinations
 */
enum {
    COLL_I_PACK_MAGIC = 0x6c6c6f63, /* "coll" */
    COLL_I_PACK_VERSION = 1,
    COLL_I_PACK_HEAD = 64, /* bytes before the parameters */
    COLL_I_PACK_IN = 1,    /* which tables */
    COLL_I_PACK_OUT = 2,
    COLL_I_PACK_GROUP = 4,
    COLL_I_PACK_GRAPH = 8,
    COLL_I_PACK_NODES = 16,
    COLL_I_PACK_ALL = 31,
    COLL_I_PACK_GRAPH_HEAD = 24, /* bytes of the graph before its sizes or lists */
    COLL_PACK_BYTES =
        COLL_I_PACK_HEAD + 4 * COLL_PARAM_MAX + 4 /* of a plan without tables, at most */
};

/* FNV-1a, continued from `hash`. */
#define COLL_I_HASH_START 2166136261u
COLL_INLINE uint32_t coll_i_hash(uint32_t hash, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

/* What stands for an algorithm in a descriptor: the hash of its name. */
COLL_INLINE uint32_t coll_algorithm_hash(const coll_algorithm *algorithm)
{
    size_t n = 0;
    while (algorithm->name[n])
        n++;
    return coll_i_hash(COLL_I_HASH_START, (const unsigned char *)algorithm->name, n);
}

/* Where the next number is written or read; after the end, `at` still moves, and nothing else
 * happens. */
typedef struct coll_i_wire {
    unsigned char *out; /* writing, or … */
    const unsigned char *in;
    size_t at, bytes;
} coll_i_wire;

COLL_INLINE void coll_i_put(coll_i_wire *wire, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++, wire->at++)
        if (wire->at < wire->bytes)
            wire->out[wire->at] = (unsigned char)(value >> (8 * i) & 0xff);
}

COLL_INLINE uint64_t coll_i_get(coll_i_wire *wire, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++, wire->at++)
        if (wire->at < wire->bytes)
            value |= (uint64_t)wire->in[wire->at] << (8 * i);
    return value;
}

COLL_INLINE void coll_i_put_layout(coll_i_wire *wire, const coll_layout *layout, uint32_t p)
{
    for (uint32_t i = 0; layout->counts && i < p; i++)
        coll_i_put(wire, layout->counts[i], 8);
    for (uint32_t i = 0; layout->counts && i < p; i++)
        coll_i_put(wire, layout->displs[i], 8);
}

COLL_INLINE uint64_t coll_i_pack_nodes_bytes(uint32_t count, uint32_t ppn)
{
    return 8 + (ppn ? 0 : 4 * ((uint64_t)count + 1));
}

COLL_INLINE void coll_i_put_nodes(coll_i_wire *wire, const coll_nodes *nodes)
{
    coll_i_put(wire, nodes->count, 4);
    coll_i_put(wire, nodes->first ? 0 : nodes->by_ppn.by, 4);
    for (uint32_t i = 0; nodes->first && i <= nodes->count; i++)
        coll_i_put(wire, nodes->first[i], 4);
}

/* Bytes of a graph with so many blocks and dimensions. */
COLL_INLINE uint64_t coll_i_pack_graph_bytes(uint32_t n_in, uint32_t n_out, uint32_t n_dims,
                                             bool vectors)
{
    const uint64_t lists = n_dims ? 0 : (uint64_t)n_in + n_out;
    return COLL_I_PACK_GRAPH_HEAD +
           4 * (lists + n_dims + (vectors ? (uint64_t)n_out * n_dims : 0));
}

COLL_INLINE void coll_i_put_graph(coll_i_wire *wire, const coll_graph *graph)
{
    const bool lists = graph->n_dims == 0;
    coll_i_put(wire, graph->n_in, 4);
    coll_i_put(wire, graph->n_out, 4);
    coll_i_put(wire, graph->n_dims, 4);
    coll_i_put(wire, graph->periodic, 4);
    coll_i_put(wire, graph->rank, 4);
    coll_i_put(wire, graph->vectors ? 1 : 0, 4);
    for (uint32_t d = 0; d < graph->n_dims; d++)
        coll_i_put(wire, graph->size[d].by, 4);
    for (size_t i = 0; graph->vectors && i < (size_t)graph->n_out * graph->n_dims; i++)
        coll_i_put(wire, (uint32_t)graph->vectors[i], 4);
    for (uint32_t i = 0; lists && i < graph->n_in; i++)
        coll_i_put(wire, graph->sources[i], 4);
    for (uint32_t i = 0; lists && i < graph->n_out; i++)
        coll_i_put(wire, graph->destinations[i], 4);
}

/* Writes a plan to `wire`, with this rank's tables, graph and the group, and to *bytes how many
 * bytes that takes. COLL_ERR_MEMORY: more than `room`; *bytes is right nevertheless, so room may
 * be 0 to ask. COLL_ERR_COMPOSED: a composition or a replay, whose parts a descriptor cannot
 * name, or an algorithm that needs a route. */
COLL_INLINE coll_status coll_plan_pack(const coll_plan *plan, void *wire, size_t room,
                                       size_t *bytes)
{
    coll_i_wire to;
    const coll_problem *of;
    uint64_t total;
    if (!plan || !bytes || (!wire && room != 0))
        return COLL_ERR_NULL;
    if (plan->inner || (plan->traits & COLL_NEEDS_ROUTE))
        return COLL_ERR_COMPOSED;
    of = &plan->problem;
    total = COLL_I_PACK_HEAD + 4 * (uint64_t)plan->algorithm->n_params + 4 +
            (of->in.counts ? 16 : 0) * (uint64_t)coll_in_blocks(of) +
            (of->out.counts ? 16 : 0) * (uint64_t)coll_out_blocks(of) +
            (plan->group.table ? 4 : 0) * (uint64_t)of->p;
    if (of->nodes.count)
        total +=
            coll_i_pack_nodes_bytes(of->nodes.count, of->nodes.first ? 0 : of->nodes.by_ppn.by);
    if (of->graph)
        total += coll_i_pack_graph_bytes(of->graph->n_in, of->graph->n_out, of->graph->n_dims,
                                         of->graph->vectors != NULL);
    if (total > UINT32_MAX || total > SIZE_MAX)
        return COLL_ERR_OVERFLOW;
    to.out = (unsigned char *)wire;
    to.in = NULL;
    to.at = 0;
    to.bytes = room;
    coll_i_put(&to, COLL_I_PACK_MAGIC, 4);
    coll_i_put(&to, COLL_I_PACK_VERSION, 4);
    coll_i_put(&to, total, 4);
    coll_i_put(&to, coll_algorithm_hash(plan->algorithm), 4);
    coll_i_put(&to, (unsigned)of->collective, 4);
    coll_i_put(&to, of->p, 4);
    coll_i_put(&to, of->root, 4);
    coll_i_put(&to, of->flags, 4);
    coll_i_put(&to, of->count, 8);
    coll_i_put(&to, of->elem_bytes, 8);
    coll_i_put(&to, plan->group.base, 4);
    coll_i_put(&to, plan->group.stride, 4);
    coll_i_put(&to,
               (of->in.counts ? (unsigned)COLL_I_PACK_IN : 0u) |
                   (of->out.counts ? (unsigned)COLL_I_PACK_OUT : 0u) |
                   (plan->group.table ? (unsigned)COLL_I_PACK_GROUP : 0u) |
                   (of->graph ? (unsigned)COLL_I_PACK_GRAPH : 0u) |
                   (of->nodes.count ? (unsigned)COLL_I_PACK_NODES : 0u),
               4);
    coll_i_put(&to, plan->algorithm->n_params, 4);
    for (uint32_t i = 0; i < plan->algorithm->n_params; i++)
        coll_i_put(&to, plan->param[i], 4);
    if (of->nodes.count)
        coll_i_put_nodes(&to, &of->nodes);
    if (of->graph)
        coll_i_put_graph(&to, of->graph);
    coll_i_put_layout(&to, &of->in, coll_in_blocks(of));
    coll_i_put_layout(&to, &of->out, coll_out_blocks(of));
    for (uint32_t i = 0; plan->group.table && i < of->p; i++)
        coll_i_put(&to, plan->group.table[i], 4);
    *bytes = (size_t)total;
    if (room < total)
        return COLL_ERR_MEMORY;
    coll_i_put(&to, coll_i_hash(COLL_I_HASH_START, to.out, to.at), 4);
    return COLL_OK;
}

/* The memory into which tables are unpacked. */
typedef struct coll_i_tables {
    unsigned char *at;
    size_t left;
} coll_i_tables;

/* Takes n entries of `bytes` each, and the gap to where the next table may begin; NULL: there is
 * not so much left. */
COLL_INLINE void *coll_i_tables_take(coll_i_tables *tables, size_t n, size_t bytes)
{
    void *table = tables->at;
    size_t all, gap;
    if (!coll_multiply(n, bytes, &all) || all > tables->left)
        return NULL;
    gap = (0 - all) % sizeof(size_t);
    all += gap <= tables->left - all ? gap : 0;
    tables->at += all;
    tables->left -= all;
    return table;
}

COLL_INLINE coll_status coll_i_get_layout(coll_i_wire *wire, coll_layout *layout, uint32_t p,
                                          coll_i_tables *tables)
{
    size_t *counts = (size_t *)coll_i_tables_take(tables, p, sizeof(size_t));
    size_t *displs = (size_t *)coll_i_tables_take(tables, p, sizeof(size_t));
    bool fits = true;
    if (!counts || !displs)
        return COLL_ERR_MEMORY;
    for (uint32_t i = 0; i < 2 * (uint64_t)p; i++) {
        const uint64_t value = coll_i_get(wire, 8);
        fits = fits && value <= SIZE_MAX;
        (i < p ? counts : displs)[i < p ? i : i - p] = (size_t)value;
    }
    layout->counts = counts;
    layout->displs = displs;
    return fits ? COLL_OK : COLL_ERR_OVERFLOW;
}

/* Takes n numbers of 32 bits; NULL: no memory. */
COLL_INLINE uint32_t *coll_i_get_numbers(coll_i_wire *wire, size_t n, coll_i_tables *tables)
{
    uint32_t *numbers = (uint32_t *)coll_i_tables_take(tables, n, sizeof *numbers);
    for (size_t i = 0; numbers && i < n; i++)
        numbers[i] = (uint32_t)coll_i_get(wire, 4);
    return numbers;
}

COLL_INLINE bool coll_i_number_before(const void *of, uint32_t a, uint32_t b)
{
    (void)of;
    return a < b;
}

/* Reads p different ranks, none of them COLL_RANK_NONE: twice, as they are sorted in their place
 * to see that. O(p log p). */
COLL_INLINE coll_status coll_i_get_group(coll_i_wire *wire, coll_group *group, uint32_t p,
                                         coll_i_tables *tables)
{
    const size_t at = wire->at;
    uint32_t *table = coll_i_get_numbers(wire, p, tables);
    if (!table)
        return COLL_ERR_MEMORY;
    coll_group_table(group, table, NULL);
    coll_i_sort(table, p, coll_i_number_before, NULL);
    for (uint32_t i = 0; i < p; i++)
        if (table[i] == (i + 1 < p ? table[i + 1] : COLL_RANK_NONE))
            return COLL_ERR_GROUP;
    wire->at = at;
    for (uint32_t i = 0; i < p; i++)
        table[i] = (uint32_t)coll_i_get(wire, 4);
    return COLL_OK;
}

/* Reads nodes, whose bytes are all there. Which node a rank is on is searched for, or computed. */
COLL_INLINE coll_status coll_i_get_nodes(coll_i_wire *wire, coll_problem *problem,
                                         coll_i_tables *tables)
{
    const uint32_t count = (uint32_t)coll_i_get(wire, 4), ppn = (uint32_t)coll_i_get(wire, 4);
    if (ppn) {
        coll_nodes_even(&problem->nodes, problem->p, ppn);
        return problem->nodes.count == count ? COLL_OK : COLL_ERR_NODES;
    }
    {
        const uint32_t *first = coll_i_get_numbers(wire, count + (size_t)1, tables);
        if (!first)
            return COLL_ERR_MEMORY;
        coll_nodes_table(&problem->nodes, count, first, NULL);
        return count ? COLL_OK : COLL_ERR_NODES; /* the rest coll_plan_init checks */
    }
}

/* Reads a graph, whose bytes are all there. */
COLL_INLINE coll_status coll_i_get_graph(coll_i_wire *wire, coll_problem *problem,
                                         coll_i_tables *tables)
{
    coll_graph *graph = (coll_graph *)coll_i_tables_take(tables, 1, sizeof *graph);
    const uint32_t n_in = (uint32_t)coll_i_get(wire, 4), n_out = (uint32_t)coll_i_get(wire, 4);
    const uint32_t n_dims = (uint32_t)coll_i_get(wire, 4);
    const uint32_t periodic = (uint32_t)coll_i_get(wire, 4);
    const uint32_t rank = (uint32_t)coll_i_get(wire, 4);
    const bool vectors = coll_i_get(wire, 4) != 0;
    coll_status status;
    if (!graph)
        return COLL_ERR_MEMORY;
    problem->graph = graph;
    if (n_dims) {
        const size_t numbers = vectors ? (size_t)n_out * n_dims : 0;
        uint32_t dims[COLL_DIMS_MAX];
        if (n_dims > COLL_DIMS_MAX)
            return COLL_ERR_GRAPH;
        for (uint32_t d = 0; d < n_dims; d++)
            dims[d] = (uint32_t)coll_i_get(wire, 4);
        if (vectors) {
            const uint32_t *at = coll_i_get_numbers(wire, numbers, tables);
            if (!at)
                return COLL_ERR_MEMORY;
            status = coll_graph_stencil(graph, n_dims, dims, periodic,
                                        (const int32_t *)(const void *)at, n_out);
        } else {
            status = coll_graph_mesh(graph, n_dims, dims, periodic);
        }
        if (status == COLL_OK && (graph->n_in != n_in || graph->n_out != n_out))
            status = COLL_ERR_GRAPH;
    } else {
        coll_neighbors lists;
        uint32_t *order;
        lists.n_in = n_in;
        lists.n_out = n_out;
        lists.sources = coll_i_get_numbers(wire, n_in, tables);
        lists.destinations = coll_i_get_numbers(wire, n_out, tables);
        order = (uint32_t *)coll_i_tables_take(tables, n_in + (size_t)n_out, sizeof *order);
        if (!lists.sources || !lists.destinations || !order)
            return COLL_ERR_MEMORY;
        status = coll_graph_lists(graph, &lists, rank, problem->p, order);
    }
    return status;
}

/* The one of `n` algorithms that has this hash and solves this collective, or NULL. */
COLL_INLINE const coll_algorithm *coll_i_find_hash(const coll_algorithm *const *among, size_t n,
                                                   uint32_t hash, uint32_t collective)
{
    for (size_t i = 0; i < n; i++)
        if (((among[i]->collectives >> collective) & 1u) &&
            coll_algorithm_hash(among[i]) == hash)
            return among[i];
    return NULL;
}

/* Bytes of a descriptor whose head has been read, by what its nodes and its graph say of themselves;
 * and how many blocks IN and OUT have. */
COLL_INLINE uint64_t coll_i_pack_total(const coll_i_wire *head, uint32_t p, uint32_t which,
                                       uint32_t n_params, uint32_t *in_blocks,
                                       uint32_t *out_blocks)
{
    uint64_t total = COLL_I_PACK_HEAD + 4 * (uint64_t)n_params;
    coll_i_wire wire;
    wire.out = NULL;
    wire.in = head->in;
    wire.bytes = head->bytes;
    *in_blocks = *out_blocks = p;
    if (which & COLL_I_PACK_NODES) {
        uint32_t nodes;
        wire.at = (size_t)total;
        nodes = (uint32_t)coll_i_get(&wire, 4);
        total += coll_i_pack_nodes_bytes(nodes, (uint32_t)coll_i_get(&wire, 4));
    }
    if (which & COLL_I_PACK_GRAPH) {
        uint32_t n_dims;
        wire.at = (size_t)(total < wire.bytes ? total : wire.bytes);
        *out_blocks = (uint32_t)coll_i_get(&wire, 4);
        *in_blocks = (uint32_t)coll_i_get(&wire, 4);
        n_dims = (uint32_t)coll_i_get(&wire, 4);
        wire.at += 8; /* periodic, rank */
        total +=
            coll_i_pack_graph_bytes(*out_blocks, *in_blocks, n_dims, coll_i_get(&wire, 4) != 0);
    }
    if (which & COLL_I_PACK_IN)
        total += 16 * (uint64_t)*in_blocks;
    if (which & COLL_I_PACK_OUT)
        total += 16 * (uint64_t)*out_blocks;
    if (which & COLL_I_PACK_GROUP)
        total += 4 * (uint64_t)p;
    return total + 4;
}

/* Makes *plan from a descriptor of `bytes` bytes, by one of the `n` algorithms in `among`.
 * `memory`, of `room` bytes and aligned for size_t, takes the descriptor's tables: 2·p size_t for
 * each layout, p uint32_t for a group that is a table, a uint32_t for each node and one more; of a
 * neighbour collective a coll_graph, a uint32_t for each component of a vector or two for each of
 * its neighbours, and layouts of as many size_t; NULL and 0 where there are none. It stays the
 * plan's. The bytes may come from anywhere: every number in them is checked.
 * Errors: COLL_ERR_FORMAT not a descriptor of this version, or damaged; COLL_ERR_UNKNOWN none
 * of these algorithms; COLL_ERR_MEMORY; COLL_ERR_GROUP; COLL_ERR_OVERFLOW; and those of
 * coll_plan_init. */
COLL_INLINE coll_status coll_plan_unpack(coll_plan *plan, const void *wire, size_t bytes,
                                         const coll_algorithm *const *among, size_t n,
                                         void *memory, size_t room)
{
    coll_i_wire from;
    coll_i_tables tables;
    coll_problem problem;
    coll_group group;
    const coll_algorithm *algorithm;
    uint32_t param[COLL_PARAM_MAX], hash, collective, which, n_params;
    uint64_t count, elem_bytes;
    uint32_t in_blocks, out_blocks;
    coll_status status = COLL_OK;
    if (!plan || !wire || !among || (!memory && room != 0))
        return COLL_ERR_NULL;
    from.out = NULL;
    from.in = (const unsigned char *)wire;
    from.at = 0;
    from.bytes = bytes;
    tables.at = (unsigned char *)memory;
    tables.left = room;
    if (bytes < COLL_I_PACK_HEAD + 4 || coll_i_get(&from, 4) != COLL_I_PACK_MAGIC ||
        coll_i_get(&from, 4) != COLL_I_PACK_VERSION || coll_i_get(&from, 4) != bytes)
        return COLL_ERR_FORMAT;
    from.at = bytes - 4;
    if (coll_i_get(&from, 4) != coll_i_hash(COLL_I_HASH_START, from.in, bytes - 4))
        return COLL_ERR_FORMAT;
    from.at = 12;
    hash = (uint32_t)coll_i_get(&from, 4);
    collective = (uint32_t)coll_i_get(&from, 4);
    if (collective >= COLL_COLLECTIVES)
        return COLL_ERR_FORMAT;
    coll_problem_init(&problem, (coll_collective)collective, (uint32_t)coll_i_get(&from, 4), 0,
                      0);
    problem.root = (uint32_t)coll_i_get(&from, 4);
    problem.flags = (uint32_t)coll_i_get(&from, 4);
    count = coll_i_get(&from, 8);
    elem_bytes = coll_i_get(&from, 8);
    coll_group_affine(&group, (uint32_t)coll_i_get(&from, 4), 0);
    group.stride = (uint32_t)coll_i_get(&from, 4);
    which = (uint32_t)coll_i_get(&from, 4);
    n_params = (uint32_t)coll_i_get(&from, 4);
    if ((problem.flags & ~(uint32_t)(COLL_FLAG_IN_PLACE | COLL_FLAG_COMMUTATIVE)) ||
        which > COLL_I_PACK_ALL || n_params > COLL_PARAM_MAX)
        return COLL_ERR_FORMAT;
    if (coll_i_pack_total(&from, problem.p, which, n_params, &in_blocks, &out_blocks) != bytes)
        return COLL_ERR_FORMAT;
    if (problem.p == 0)
        return COLL_ERR_RANKS;
    if (count > SIZE_MAX || elem_bytes > SIZE_MAX)
        return COLL_ERR_OVERFLOW;
    problem.count = (size_t)count;
    problem.elem_bytes = (size_t)elem_bytes;
    algorithm = coll_i_find_hash(among, n, hash, collective);
    if (!algorithm)
        return COLL_ERR_UNKNOWN;
    if (algorithm->n_params != n_params)
        return COLL_ERR_FORMAT;
    for (uint32_t i = 0; i < COLL_PARAM_MAX; i++)
        param[i] = i < n_params ? (uint32_t)coll_i_get(&from, 4) : 0;
    if (which & COLL_I_PACK_NODES)
        status = coll_i_get_nodes(&from, &problem, &tables);
    if (status == COLL_OK && (which & COLL_I_PACK_GRAPH))
        status = coll_i_get_graph(&from, &problem, &tables);
    if (status == COLL_OK && (which & COLL_I_PACK_IN))
        status = coll_i_get_layout(&from, &problem.in, in_blocks, &tables);
    if (status == COLL_OK && (which & COLL_I_PACK_OUT))
        status = coll_i_get_layout(&from, &problem.out, out_blocks, &tables);
    if (status == COLL_OK && (which & COLL_I_PACK_GROUP))
        status = coll_i_get_group(&from, &group, problem.p, &tables);
    if (status == COLL_OK)
        status = coll_plan_init(plan, algorithm, &problem, param);
    if (status == COLL_OK && !group.table)
        status = coll_group_check(&group, problem.p, UINT32_MAX);
    return status == COLL_OK ? coll_plan_place(plan, &group) : status;
}

#endif /* COLL_PLAN_PACK_H */
