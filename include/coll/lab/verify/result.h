/* coll/lab/verify/result.h — compares what the ranks hold at the end with what the collective is to
 * give
 *
 * Use lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_RESULT_H
#define COLL_LAB_VERIFY_RESULT_H

#include "../../plan/graph.h"
#include "data.h"

/* The structure that each rank's result had in the first plan of an algorithm, p and parameters. */
typedef struct coll_i_fixed {
    const coll_algorithm *algorithm;
    uint32_t p, collective, param[COLL_PARAM_MAX];
    coll_i_memory structures; /* by rank; COLL_I_UNSET: not known yet */
} coll_i_fixed;

/* Forgets the structures unless they belong to this plan's algorithm, p and parameters. */
COLL_INLINE bool coll_i_fixed_begin(coll_i_fixed *fixed, coll_i_structures *st,
                                    const coll_plan *plan)
{
    const uint32_t p = plan->problem.p, collective = (uint32_t)plan->problem.collective;
    if (st->out_of_memory) { /* some of them are missing */
        coll_i_structures_clear(st);
        fixed->algorithm = NULL;
    }
    if (st->n < 1000000 && fixed->algorithm == plan->algorithm && fixed->p == p &&
        fixed->collective == collective &&
        memcmp(fixed->param, plan->param, sizeof fixed->param) == 0)
        return true;
    if (st->n >= 100000)
        coll_i_structures_clear(st);
    fixed->algorithm = NULL;
    if (!coll_i_reserve_new(&fixed->structures, p * sizeof(uint32_t)))
        return false;
    memset(fixed->structures.at, 0, p * sizeof(uint32_t));
    fixed->algorithm = plan->algorithm;
    fixed->p = p;
    fixed->collective = collective;
    memcpy(fixed->param, plan->param, sizeof fixed->param);
    return true;
}

typedef struct coll_i_check {
    coll_i_data *data;
    coll_i_fixed *fixed;
    coll_report *report;
    uint32_t rank;
} coll_i_check;

/* OUT[at … at + count) must be elements index, index + 1 … of rank `of`. */
COLL_INLINE bool coll_i_expect_elements(const coll_i_check *c, size_t at, size_t count,
                                        uint32_t of, size_t index)
{
    const coll_i_value *out = coll_i_rank_at(c->data, c->rank)->at[COLL_OUT] + at;
    const coll_i_value first = coll_i_value_of(COLL_I_LEAF + of, index);
    char found[160];
    for (size_t i = 0; i < count; i++) {
        if (out[i] == first + i)
            continue;
        coll_i_value_words(&c->data->structures, out[i], found, sizeof found);
        return coll_i_found(
            c->report,
            coll_i_structure(out[i]) < COLL_I_LEAF ? COLL_FOUND_UNSET : COLL_FOUND_WRONG,
            c->rank, COLL_NO_STEP, "OUT[%zu] must be element %zu of rank %u and is %s", at + i,
            index + i, of, found);
    }
    return true;
}

/* Which contribution is wrong in a value that must be the sum over ranks 0 … n−1, and is not? */
COLL_INLINE bool coll_i_found_terms(const coll_i_check *c, size_t at, coll_i_value value,
                                    uint32_t n)
{
    const coll_i_data *d = c->data;
    const uint32_t *times =
        coll_i_count_ranks(&c->data->structures, coll_i_structure(value), d->p);
    char found[160];
    if (!times)
        return coll_i_no_memory(c->report);
    coll_i_value_words(&d->structures, value, found, sizeof found);
    for (uint32_t r = 0; r < d->p; r++) {
        if (r < n && times[r] == 0)
            return coll_i_found(c->report, COLL_FOUND_MISSING, c->rank, COLL_NO_STEP,
                                "OUT[%zu] lacks the contribution of rank %u: it is %s", at, r,
                                found);
        if (r < n && times[r] > 1)
            return coll_i_found(c->report, COLL_FOUND_DOUBLED, c->rank, COLL_NO_STEP,
                                "OUT[%zu] has the contribution of rank %u %u times: it is %s",
                                at, r, times[r], found);
        if (r >= n && times[r] > 0)
            return coll_i_found(c->report, COLL_FOUND_FOREIGN, c->rank, COLL_NO_STEP,
                                "OUT[%zu] has the contribution of rank %u, and must not: it is "
                                "%s",
                                at, r, found);
    }
    return coll_i_found(c->report, COLL_FOUND_ORDER, c->rank, COLL_NO_STEP,
                        "OUT[%zu] is not in rank order 0 to %u: it is %s", at, n - 1, found);
}

/* The structures of a reproducible algorithm's results must all be one. */
COLL_INLINE bool coll_i_expect_fixed(const coll_i_check *c, size_t at, uint32_t structure)
{
    const coll_collective collective = (coll_collective)c->fixed->collective;
    const bool prefix = collective == COLL_SCAN || collective == COLL_EXSCAN;
    uint32_t *known = (uint32_t *)c->fixed->structures.at + (prefix ? c->rank : 0);
    char here[112], before[112];
    if (*known == COLL_I_UNSET)
        *known = structure;
    if (*known == structure)
        return true;
    coll_i_structure_words(&c->data->structures, structure, here, sizeof here);
    coll_i_structure_words(&c->data->structures, *known, before, sizeof before);
    return coll_i_found(c->report, COLL_FOUND_STRUCTURE, c->rank, COLL_NO_STEP,
                        "OUT[%zu] is reduced as %s, and other elements as %s", at, here,
                        before);
}

/* OUT[0 … count) must be elements index, index + 1 … reduced over ranks 0 … n−1. */
COLL_INLINE bool coll_i_expect_sums(const coll_i_check *c, size_t count, size_t index,
                                    uint32_t n)
{
    const coll_i_rank *rank = coll_i_rank_at(c->data, c->rank);
    const coll_i_value *out = rank->at[COLL_OUT];
    const bool commutes = (rank->plan->problem.flags & COLL_FLAG_COMMUTATIVE) != 0;
    uint32_t good = COLL_I_UNSET;
    char found[160];
    for (size_t i = 0; i < count; i++) {
        const uint32_t structure = coll_i_structure(out[i]);
        if ((uint32_t)out[i] != (uint32_t)(index + i) || structure < COLL_I_LEAF) {
            coll_i_value_words(&c->data->structures, out[i], found, sizeof found);
            return coll_i_found(
                c->report, structure < COLL_I_LEAF ? COLL_FOUND_UNSET : COLL_FOUND_WRONG,
                c->rank, COLL_NO_STEP,
                "OUT[%zu] must be element %zu reduced over ranks 0 to %u and is %s", i,
                index + i, n - 1, found);
        }
        if (structure == good)
            continue;
        {
            const coll_i_node node = coll_i_node_at(&c->data->structures, structure);
            if (commutes ? !coll_i_complete_ranks(&c->data->structures, structure, n)
                         : node.first != 0 || node.last + 1 != n)
                return coll_i_found_terms(c, i, out[i], n);
        }
        if ((rank->plan->traits & COLL_GIVES_REPRODUCIBLE) &&
            !coll_i_expect_fixed(c, i, structure))
            return false;
        good = structure;
    }
    return true;
}

/* An allreduce that gives the same bits must have combined in the same way on all ranks. */
COLL_INLINE bool coll_i_expect_same_bits(const coll_i_check *c)
{
    const coll_i_rank *here = coll_i_rank_at(c->data, c->rank),
                      *first = coll_i_rank_at(c->data, 0);
    const coll_i_value *a = here->at[COLL_OUT], *b = first->at[COLL_OUT];
    char mine[112], other[112];
    for (size_t i = 0; i < here->plan->problem.count; i++) {
        if (a[i] == b[i])
            continue;
        coll_i_structure_words(&c->data->structures, coll_i_structure(a[i]), mine, sizeof mine);
        coll_i_structure_words(&c->data->structures, coll_i_structure(b[i]), other,
                               sizeof other);
        return coll_i_found(c->report, COLL_FOUND_BITS, c->rank, COLL_NO_STEP,
                            "OUT[%zu] is reduced as %s, but on rank 0 as %s", i, mine, other);
    }
    return true;
}

/* The block of an alltoall(v,w)'s input that is for a rank. */
COLL_INLINE coll_block coll_i_gives(const coll_plan *plan, uint32_t to)
{
    return coll_in_place(plan) ? coll_out_block(plan, to) : coll_in_block(plan, to);
}

/* What comes to block i of a rank's OUT along the edge of a graph: the source, and its block. */
typedef struct coll_i_delivery {
    uint32_t from; /* COLL_RANK_NONE: nothing comes */
    coll_block gives;
    bool agreed; /* false: the source does not know the edge */
} coll_i_delivery;

COLL_INLINE coll_i_delivery coll_i_delivery_to(const coll_i_data *d, uint32_t rank, uint32_t i)
{
    const coll_graph *graph = coll_i_rank_at(d, rank)->plan->problem.graph;
    coll_i_delivery edge;
    edge.from = coll_graph_source(graph, rank, i);
    edge.gives.offset = edge.gives.count = 0;
    edge.agreed = true;
    if (edge.from != COLL_RANK_NONE) {
        const coll_plan *theirs = coll_i_rank_at(d, edge.from)->plan;
        const uint32_t k = coll_graph_origin(graph, rank, i, theirs->problem.graph);
        edge.agreed = k != COLL_RANK_NONE;
        if (theirs->problem.collective == COLL_NEIGHBOR_ALLGATHER ||
            theirs->problem.collective == COLL_NEIGHBOR_ALLGATHERV)
            edge.gives.count = theirs->problem.count;
        else if (edge.agreed)
            edge.gives = coll_in_block(theirs, k);
    }
    return edge;
}

/* Do the neighbours know each other, and agree on how much one has for the other? */
COLL_INLINE bool coll_i_check_edges(const coll_i_data *d, coll_report *report)
{
    uint64_t in = 0, out = 0;
    for (uint32_t rank = 0; rank < d->p; rank++) {
        const coll_plan *plan = coll_i_rank_at(d, rank)->plan;
        const coll_graph *graph = plan->problem.graph;
        for (uint32_t i = 0; i < graph->n_in; i++) {
            const coll_i_delivery edge = coll_i_delivery_to(d, rank, i);
            in += edge.from != COLL_RANK_NONE ? 1 : 0;
            if (!edge.agreed)
                return coll_i_found(report, COLL_FOUND_PLAN, rank, COLL_NO_STEP,
                                    "source %u of this rank is rank %u, of which it is not the "
                                    "destination",
                                    i, edge.from);
            if (edge.from != COLL_RANK_NONE &&
                edge.gives.count != coll_out_block(plan, i).count)
                return coll_i_found(report, COLL_FOUND_PLAN, rank, COLL_NO_STEP,
                                    "this rank has a block of %zu elements from rank %u, which "
                                    "has one of %zu",
                                    coll_out_block(plan, i).count, edge.from, edge.gives.count);
        }
        for (uint32_t i = 0; i < graph->n_out; i++)
            out += coll_graph_destination(graph, rank, i) != COLL_RANK_NONE ? 1 : 0;
    }
    return in == out || coll_i_found(report, COLL_FOUND_PLAN, 0, COLL_NO_STEP,
                                     "the ranks have %zu sources and %zu destinations",
                                     (size_t)in, (size_t)out);
}

/* OUT of a neighbour collective: each block is what its source has for this rank. */
COLL_INLINE bool coll_i_expect_neighbors(const coll_i_check *c)
{
    const coll_plan *plan = coll_i_rank_at(c->data, c->rank)->plan;
    for (uint32_t i = 0; i < plan->problem.graph->n_in; i++) {
        const coll_i_delivery edge = coll_i_delivery_to(c->data, c->rank, i);
        if (edge.from != COLL_RANK_NONE &&
            !coll_i_expect_elements(c, coll_out_block(plan, i).offset, edge.gives.count,
                                    edge.from, edge.gives.offset))
            return false;
    }
    return true;
}

/* Do the ranks agree on how much one has for another? O(p²) where every rank has tables of its
 * own. */
COLL_INLINE bool coll_i_check_tables(const coll_i_data *d, coll_report *report)
{
    if (coll_i_rank_at(d, 0)->plan->problem.graph)
        return coll_i_check_edges(d, report);
    for (uint32_t rank = 0; rank < d->p; rank++) {
        const coll_plan *plan = coll_i_rank_at(d, rank)->plan;
        const coll_collective collective = plan->problem.collective;
        const bool exchanges = coll_is(COLL_EXCHANGING, collective);
        const bool scatters = collective == COLL_SCATTER || collective == COLL_SCATTERV;
        const bool gathers = collective == COLL_GATHER || collective == COLL_GATHERV;
        if (plan == coll_i_rank_at(d, 0)->plan && rank > 0)
            continue; /* one plan for all */
        if (!exchanges && !(collective == COLL_ALLGATHER || collective == COLL_ALLGATHERV) &&
            !((scatters || gathers) && rank == plan->problem.root))
            continue;
        for (uint32_t j = 0; j < d->p; j++) {
            const coll_plan *theirs = coll_i_rank_at(d, j)->plan;
            const size_t mine =
                scatters ? coll_in_block(plan, j).count : coll_out_block(plan, j).count;
            const size_t other =
                exchanges ? coll_i_gives(theirs, rank).count : coll_own_count(theirs, j);
            if (mine != other)
                return coll_i_found(report, COLL_FOUND_PLAN, rank, COLL_NO_STEP,
                                    "this rank has a block of %zu elements with rank %u, which "
                                    "has one of %zu",
                                    mine, j, other);
        }
    }
    return true;
}

/* OUT of an alltoall(v,w): block j is what rank j has for this rank. */
COLL_INLINE bool coll_i_expect_exchange(const coll_i_check *c)
{
    const coll_i_rank *at = coll_i_rank_at(c->data, c->rank);
    for (uint32_t j = 0; j < c->data->p; j++) {
        const coll_plan *theirs = coll_i_rank_at(c->data, j)->plan;
        const coll_block to = coll_out_block(at->plan, j);
        const coll_block from = coll_i_gives(theirs, at->as);
        if (!coll_i_expect_elements(c, to.offset, to.count, j, from.offset))
            return false;
    }
    return true;
}

/* Is the result of one rank right? */
COLL_INLINE bool coll_i_check_result(const coll_i_check *c)
{
    const uint32_t rank = coll_i_rank_at(c->data, c->rank)->as;
    const coll_plan *plan = coll_i_rank_at(c->data, c->rank)->asked;
    const coll_problem *of = &plan->problem;
    const bool root = rank == of->root;
    switch (of->collective) {
    case COLL_BCAST:
        return coll_i_expect_elements(c, 0, of->count, of->root, 0);
    case COLL_REDUCE:
        return !root || coll_i_expect_sums(c, of->count, 0, of->p);
    case COLL_ALLREDUCE:
        return coll_i_expect_sums(c, of->count, 0, of->p) &&
               (!(plan->traits & COLL_GIVES_IDENTICAL) || coll_i_expect_same_bits(c));
    case COLL_SCAN:
        return coll_i_expect_sums(c, of->count, 0, rank + 1);
    case COLL_EXSCAN: /* rank 0 could not write */
        return rank == 0 || coll_i_expect_sums(c, of->count, 0, rank);
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK: {
        const coll_block own = coll_in_block(plan, rank);
        return coll_i_expect_sums(c, own.count, own.offset, of->p);
    }
    case COLL_GATHER:
    case COLL_GATHERV:
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
        if (!root && coll_is(COLL_ROOTED, of->collective))
            return true;
        for (uint32_t j = 0; j < of->p; j++) {
            const coll_block block = coll_out_block(plan, j);
            if (!coll_i_expect_elements(c, block.offset, block.count, j, 0))
                return false;
        }
        return true;
    case COLL_SCATTER:
    case COLL_SCATTERV: {
        const coll_block own = coll_in_block(coll_i_rank_at(c->data, of->root)->plan, rank);
        return (root && coll_in_place(plan)) ||
               coll_i_expect_elements(c, 0, own.count, of->root, own.offset);
    }
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        return coll_i_expect_exchange(c);
    case COLL_NEIGHBOR_ALLGATHER:
    case COLL_NEIGHBOR_ALLGATHERV:
    case COLL_NEIGHBOR_ALLTOALL:
    case COLL_NEIGHBOR_ALLTOALLV:
    case COLL_NEIGHBOR_ALLTOALLW:
        return coll_i_expect_neighbors(c);
    case COLL_BARRIER:
    case COLL_COLLECTIVES:
        break;
    }
    return true;
}

#endif /* COLL_LAB_VERIFY_RESULT_H */
