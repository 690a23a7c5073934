/* coll/lab/verify/symbolic.h — the ranks of a plan that is run symbolically: their memory, and what
 * they start from
 *
 * Use lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_SYMBOLIC_H
#define COLL_LAB_VERIFY_SYMBOLIC_H

#include "../../plan/graph.h"
#include "values.h"

/* Where each rank's plan comes from. */
typedef struct coll_i_plans {
    const coll_plan *plan;
    const coll_plan *(*plan_of)(void *arg, uint32_t rank); /* NULL: `plan` for all */
    void *arg;
    const coll_problem *asked; /* as in coll_verify_options */
    const uint32_t *node;
} coll_i_plans;

COLL_INLINE const coll_plan *coll_i_plan_of(const coll_i_plans *plans, uint32_t rank)
{
    return plans->plan_of ? plans->plan_of(plans->arg, rank) : plans->plan;
}

enum { COLL_I_READY, COLL_I_WAITS, COLL_I_WAITS_ALL, COLL_I_WAITS_TURN, COLL_I_ENDED };

typedef struct coll_i_rank {
    const coll_plan *plan;
    const coll_plan
        *asked;  /* the plan, or one that differs in its problem alone: what is asked */
    uint32_t as; /* the rank of that problem which has this rank of the plan */
    coll_i_value *at[COLL_SPACES];
    size_t extent[COLL_SPACES];
    size_t step, steps;   /* the step after those that were taken */
    size_t low, high;     /* SCRATCH touched */
    uint32_t n, next;     /* actions of the step that is being run, and the next one of them */
    uint32_t state, peer; /* the rank, or the group, that it waits for */
    uint32_t meetings[COLL_NETWORK_GROUPS]; /* with each group */
    uint32_t depth;                         /* messages in the longest chain that ends here */
    bool gaps;                              /* OUT has elements that must not be written … */
    bool frozen;                            /* … or all are such, though readable */
    bool checked;                           /* the next action is legal by itself */
    coll_action acts[COLL_STEP_MAX];
} coll_i_rank;

typedef struct coll_i_message {
    size_t step;  /* of the sender */
    size_t count; /* elements; 0: a notification */
    size_t at;    /* the elements, in `payload` */
    uint32_t next, depth;
} coll_i_message;

enum { COLL_I_CLASSES = 48, COLL_I_ROOM = 4 * COLL_STEP_MAX };

/* The current NETWORK_REDUCE of a group. */
typedef struct coll_i_meeting {
    coll_i_memory sum;
    uint32_t met, members; /* ranks that are here; all of the group */
    size_t count;          /* elements */
} coll_i_meeting;

typedef struct coll_i_data {
    coll_i_structures structures;
    coll_i_channels channels;
    coll_i_memory ranks, counts, elements, messages, payload, ready;
    uint32_t p, n_ready;
    uint32_t n_messages, free_message;
    size_t payload_used, free_payload[COLL_I_CLASSES]; /* by the power of two; SIZE_MAX: none */
    coll_i_meeting meetings[COLL_NETWORK_GROUPS];
    uint32_t decoy;
    uint32_t kinds; /* mask of the kinds of all actions */
    uint32_t nodes; /* with a SHARED of their own */
    const uint32_t *node;
    coll_plan asked;
    bool pure; /* look for impure functions too */
    coll_action first[COLL_STEP_MAX + COLL_I_ROOM], again[COLL_STEP_MAX + COLL_I_ROOM];
} coll_i_data;

COLL_INLINE coll_i_rank *coll_i_rank_at(const coll_i_data *d, uint32_t rank)
{
    return (coll_i_rank *)d->ranks.at + rank;
}

COLL_INLINE coll_i_value *coll_i_values_at(const coll_i_rank *at, coll_ref ref)
{
    return at->at[coll_ref_space(ref)] + coll_ref_offset(ref);
}

COLL_INLINE coll_i_message *coll_i_message_at(const coll_i_data *d, uint32_t index)
{
    return (coll_i_message *)d->messages.at + index;
}

COLL_INLINE coll_verify_count *coll_i_count_at(const coll_i_data *d, uint32_t rank)
{
    return (coll_verify_count *)d->counts.at + rank;
}

COLL_INLINE bool coll_i_no_memory(coll_report *report)
{
    return coll_i_found(report, COLL_FOUND_NO_MEMORY, 0, COLL_NO_STEP,
                        "the verifier ran out of memory");
}

/* ---- what the ranks start from ----------------------------------------------------------- */

/* Where a rank's SHARED begins in that of all nodes, one after the other. */
COLL_INLINE size_t coll_i_shared_base(const coll_i_data *d, uint32_t rank)
{
    const coll_i_rank *at = coll_i_rank_at(d, rank);
    const coll_problem *of = &at->plan->problem;
    const uint32_t node =
        d->node ? d->node[at->as] : coll_node_of(&of->nodes, of->p, rank).index;
    return node * at->extent[COLL_SHARED];
}

/* Marks as not the algorithm's what lies between the blocks of a layout. */
COLL_INLINE bool coll_i_mark_gaps(coll_i_value *values, size_t extent,
                                  const coll_layout *layout, uint32_t p, size_t head)
{
    bool gaps = false;
    if (!layout->counts)
        return false;
    for (size_t i = head; i < extent; i++)
        values[i] = coll_i_value_of(COLL_I_GAP, 0);
    for (uint32_t b = 0; b < p; b++)
        for (size_t i = 0; i < layout->counts[b]; i++)
            values[layout->displs[b] + i] = 0;
    for (size_t i = 0; i < extent && !gaps; i++)
        gaps = coll_i_structure(values[i]) == COLL_I_GAP;
    return gaps;
}

/* Leaves to the algorithm the blocks of IN or OUT that neighbours have, and nothing else. */
COLL_INLINE void coll_i_mark_neighbors(coll_i_rank *at, uint32_t rank, bool out)
{
    const coll_plan *plan = at->plan;
    const coll_graph *graph = plan->problem.graph;
    const size_t extent = at->extent[out ? COLL_OUT : COLL_IN];
    coll_i_value *values = at->at[out ? COLL_OUT : COLL_IN];
    for (size_t i = 0; i < extent; i++)
        values[i] = coll_i_value_of(COLL_I_GAP, 0);
    for (uint32_t b = 0; b < (out ? graph->n_in : graph->n_out); b++) {
        const coll_block block = out ? coll_out_block(plan, b) : coll_in_block(plan, b);
        if ((out ? coll_graph_source(graph, rank, b)
                 : coll_graph_destination(graph, rank, b)) == COLL_RANK_NONE)
            continue;
        if (out)
            memset(values + block.offset, 0, block.count * sizeof *values);
        else
            coll_i_fill_values(values + block.offset, block.count, rank, block.offset);
    }
}

/* The elements that a rank starts with, at their place in IN or OUT. */
COLL_INLINE void coll_i_load_rank(coll_i_rank *at)
{
    const uint32_t rank = at->as;
    const coll_plan *plan = at->asked;
    const coll_problem *of = &plan->problem;
    const bool root = rank == of->root;
    const bool in_place =
        coll_in_place(plan) && (root || !coll_is(COLL_ROOTED, of->collective));
    coll_i_value *in = at->at[COLL_IN], *out = at->at[COLL_OUT];
    coll_i_value *from = in_place ? out : in;
    at->gaps = at->frozen = false;
    switch (of->collective) {
    case COLL_BCAST:
        if (root)
            coll_i_fill_values(from, of->count, rank, 0);
        break;
    case COLL_EXSCAN:
        at->frozen = rank == 0;
        coll_i_fill_values(from, of->count, rank, 0);
        break;
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
    case COLL_SCAN:
        coll_i_fill_values(from, of->count, rank, 0);
        break;
    case COLL_GATHER:
    case COLL_GATHERV:
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
        if (at->extent[COLL_OUT] > 0)
            at->gaps = coll_i_mark_gaps(out, at->extent[COLL_OUT], &of->out, of->p, 0);
        coll_i_fill_values(in_place ? out + coll_out_block(plan, rank).offset : in,
                           coll_own_count(plan, rank), rank, 0);
        break;
    case COLL_SCATTER:
    case COLL_SCATTERV:
        if (root) {
            coll_i_mark_gaps(in, at->extent[COLL_IN], &of->in, of->p, 0);
            for (uint32_t b = 0; b < of->p; b++) {
                const coll_block block = coll_in_block(plan, b);
                coll_i_fill_values(in + block.offset, block.count, rank, block.offset);
            }
        }
        break;
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK: {
        const bool exchange = coll_is(COLL_EXCHANGING, of->collective);
        const coll_layout *input = in_place && exchange ? &of->out : &of->in;
        if (in_place)
            at->gaps = coll_i_mark_gaps(out, at->extent[COLL_OUT], input, of->p,
                                        exchange ? 0 : coll_own_count(plan, rank));
        else
            coll_i_mark_gaps(in, at->extent[COLL_IN], input, of->p, 0);
        if (!in_place && exchange)
            at->gaps = coll_i_mark_gaps(out, at->extent[COLL_OUT], &of->out, of->p, 0);
        for (uint32_t b = 0; b < of->p; b++) {
            const coll_block block = coll_i_layout_block(input, of->count, b);
            coll_i_fill_values(from + block.offset, block.count, rank, block.offset);
        }
        break;
    }
    case COLL_NEIGHBOR_ALLGATHER:
    case COLL_NEIGHBOR_ALLGATHERV:
        coll_i_fill_values(in, of->count, rank, 0);
        coll_i_mark_neighbors(at, rank, true);
        at->gaps = true;
        break;
    case COLL_NEIGHBOR_ALLTOALL:
    case COLL_NEIGHBOR_ALLTOALLV:
    case COLL_NEIGHBOR_ALLTOALLW:
        coll_i_mark_neighbors(at, rank, false);
        coll_i_mark_neighbors(at, rank, true);
        at->gaps = true;
        break;
    case COLL_BARRIER:
    case COLL_COLLECTIVES:
        break;
    }
}

COLL_INLINE void coll_i_make_ready(coll_i_data *d, uint32_t rank)
{
    coll_i_rank_at(d, rank)->state = COLL_I_READY;
    ((uint32_t *)d->ready.at)[d->n_ready++] = rank;
}

/* Adds `times` spaces of so many elements to *total. False: no machine has so many. */
COLL_INLINE bool coll_i_data_add(size_t *total, size_t elements, size_t times)
{
    const size_t most = SIZE_MAX / sizeof(coll_i_value) / 4 - *total;
    if (elements > most / times)
        return false;
    *total += elements * times;
    return true;
}

/* Takes up a rank's plan: can it run, and with how much memory? Adds that to *total. */
COLL_INLINE bool coll_i_data_measure(coll_i_data *d, uint32_t rank, const coll_i_plans *plans,
                                     size_t *total, coll_report *report)
{
    const coll_plan *plan = coll_i_plan_of(plans, rank);
    const bool asked = plans->asked != NULL;
    coll_i_rank *at = coll_i_rank_at(d, rank);
    const coll_plan *first = rank == 0 ? plan : coll_i_rank_at(d, 0)->plan;
    const coll_status status = plan ? coll_plan_check_rank(plan, rank) : COLL_ERR_NULL;
    coll_extents extents;
    if (status != COLL_OK || plan->problem.p != d->p ||
        plan->problem.nodes.count != first->problem.nodes.count)
        return coll_i_found(report, COLL_FOUND_PLAN, rank, COLL_NO_STEP,
                            "the plan cannot run on this rank: %s",
                            status != COLL_OK ? coll_status_text(status)
                                              : "it has another number of ranks or nodes");
    at->plan = plan;
    at->asked = asked ? &d->asked : plan;
    at->as = asked ? coll_group_outer(&plan->group, rank) : rank;
    if (at->as >= d->p)
        return coll_i_found(report, COLL_FOUND_PLAN, rank, COLL_NO_STEP,
                            "it stands for rank %u of a problem of %u", at->as, d->p);
    extents = coll_plan_extents(at->asked, at->as);
    if (!extents.fits)
        return coll_i_found(report, COLL_FOUND_PLAN, rank, COLL_NO_STEP, "%s",
                            coll_status_text(COLL_ERR_OVERFLOW));
    at->extent[COLL_IN] = extents.in;
    at->extent[COLL_OUT] = extents.out;
    at->extent[COLL_SCRATCH] = coll_plan_scratch(plan, rank);
    at->extent[COLL_SHARED] = coll_plan_shared(plan);
    if (coll_plan_scratch(plan, rank) != at->extent[COLL_SCRATCH] ||
        at->extent[COLL_SHARED] != coll_i_rank_at(d, 0)->extent[COLL_SHARED])
        return coll_i_found(report, COLL_FOUND_IMPURE, rank, COLL_NO_STEP,
                            "scratch or shared gives a second answer");
    if (at->extent[COLL_SHARED] > 0 && !(plan->traits & COLL_NEEDS_SHARED))
        return coll_i_found(report, COLL_FOUND_TRAIT, rank, COLL_NO_STEP,
                            "the algorithm wants SHARED without COLL_NEEDS_SHARED");
    for (int space = COLL_IN; space < COLL_SHARED; space++)
        if (!coll_i_data_add(total, at->extent[space], 1))
            return coll_i_found(
                report, COLL_FOUND_PLAN, rank, COLL_NO_STEP,
                "with its %zu elements of %s the plan has more than there can be",
                at->extent[space], coll_space_name((coll_space)space));
    return true;
}

/* Sets up all ranks with their memory. */
COLL_INLINE bool coll_i_data_begin(coll_i_data *d, const coll_i_plans *plans, bool pure,
                                   coll_report *report)
{
    const coll_plan *first = coll_i_plan_of(plans, 0);
    const uint32_t p = d->p = first->problem.p;
    size_t total = 0, all;
    coll_i_value *values;
    if (!coll_i_reserve_new(&d->ranks, p * sizeof(coll_i_rank)) ||
        !coll_i_reserve_new(&d->counts, p * sizeof(coll_verify_count)) ||
        !coll_i_reserve_new(&d->ready, p * sizeof(uint32_t)) ||
        !coll_i_reserve(&d->payload, sizeof(coll_i_value)))
        return coll_i_no_memory(report);
    memset(d->counts.at, 0, p * sizeof(coll_verify_count));
    if (plans->asked) {
        d->asked = *first;
        d->asked.problem = *plans->asked;
    }
    d->node = plans->node;
    d->nodes = d->node ? 0 : coll_nodes_count(&first->problem.nodes);
    for (uint32_t rank = 0; rank < p; rank++) {
        if (!coll_i_data_measure(d, rank, plans, &total, report))
            return false;
        if (d->node && d->nodes <= d->node[rank])
            d->nodes = d->node[rank] + 1;
    }
    all = total;
    if (!coll_i_data_add(&all, coll_i_rank_at(d, 0)->extent[COLL_SHARED], d->nodes))
        return coll_i_found(report, COLL_FOUND_PLAN, 0, COLL_NO_STEP,
                            "with SHARED of %zu elements the plan has more than there can be",
                            coll_i_rank_at(d, 0)->extent[COLL_SHARED]);
    values = (coll_i_value *)coll_i_reserve_new(&d->elements, all * sizeof(coll_i_value));
    if (!values)
        return coll_i_no_memory(report);
    memset(values, 0, all * sizeof(coll_i_value));
    d->n_ready = 0;
    for (uint32_t rank = p; rank-- > 0;) {
        coll_i_rank *at = coll_i_rank_at(d, rank);
        for (int space = COLL_IN; space < COLL_SHARED; space++) {
            at->at[space] = values;
            values += at->extent[space];
        }
        at->at[COLL_SHARED] =
            (coll_i_value *)d->elements.at + total + coll_i_shared_base(d, rank);
        at->step = 0;
        at->steps = coll_plan_steps(at->plan, rank);
        at->checked = false;
        if (coll_plan_steps(at->plan, rank) != at->steps)
            return coll_i_found(report, COLL_FOUND_IMPURE, rank, COLL_NO_STEP,
                                "steps gives a second answer");
        at->low = SIZE_MAX;
        at->high = 0;
        at->n = at->next = at->peer = at->depth = 0;
        memset(at->meetings, 0, sizeof at->meetings);
        coll_i_load_rank(at);
        coll_i_make_ready(d, rank);
    }
    coll_i_channels_clear(&d->channels);
    d->n_messages = 0;
    d->free_message = COLL_I_NONE;
    d->payload_used = 0;
    for (int i = 0; i < COLL_I_CLASSES; i++)
        d->free_payload[i] = SIZE_MAX;
    for (int group = 0; group < COLL_NETWORK_GROUPS; group++)
        d->meetings[group].met = 0;
    d->pure = pure;
    d->kinds = 0;
    return true;
}

COLL_INLINE void coll_i_data_release(coll_i_data *d)
{
    coll_i_structures_release(&d->structures);
    coll_i_channels_release(&d->channels);
    coll_i_release(&d->ranks);
    coll_i_release(&d->counts);
    coll_i_release(&d->elements);
    coll_i_release(&d->messages);
    coll_i_release(&d->payload);
    coll_i_release(&d->ready);
    for (int group = 0; group < COLL_NETWORK_GROUPS; group++)
        coll_i_release(&d->meetings[group].sum);
}

#endif /* COLL_LAB_VERIFY_SYMBOLIC_H */
