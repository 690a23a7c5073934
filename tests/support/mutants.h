/* tests/support/mutants.h — algorithms that are wrong in one way, for tests of the verifier
 *
 * A mutant is an algorithm of the library with an edit of its actions or of its record, or a
 * small program written down action by action. Each says which finding it must lead to. Beside
 * each program that is wrong stands one that is right and differs in as little as possible.
 */
#ifndef COLL_TESTS_MUTANTS_H
#define COLL_TESTS_MUTANTS_H

#include "coll/algos/registry.h"
#include "coll/lab/verify_grid.h"

/* ---- edits ------------------------------------------------------------------------------- */

typedef void edit(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out,
                  unsigned *n);

struct mutant {
    coll_algorithm record; /* what is handed to the library; filled by mutant_make */
    const char *name;
    const coll_algorithm *base;
    edit *change;
    uint32_t lacks, claims; /* traits taken away, and added */
    coll_collective collective;
    uint32_t p;
    size_t count;
    uint32_t flags;
    coll_finding finding;
    uint16_t window, sends; /* where it says others */
    coll_grid_layout layout;
    const char *sentence; /* the whole of it, or NULL: not looked at */
    coll_status (*check)(const coll_plan *plan);
    size_t (*steps)(const coll_plan *plan, uint32_t rank);
    size_t (*scratch)(const coll_plan *plan, uint32_t rank);
    size_t (*shared)(const coll_plan *plan);
};

static unsigned mutant_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const struct mutant *mutant = (const struct mutant *)(const void *)plan->algorithm;
    unsigned n = mutant->base->step(plan, rank, s, out);
    if (mutant->change)
        mutant->change(plan, rank, s, out, &n);
    return n;
}

/* The algorithm that the mutant is; with `healthy`, what it was made from. */
static const coll_algorithm *mutant_make(struct mutant *mutant, bool healthy)
{
    mutant->record = *mutant->base;
    if (healthy)
        return &mutant->record;
    mutant->record.step = mutant_step;
    mutant->record.collectives |= COLL_BIT(mutant->collective);
    mutant->record.traits = (mutant->record.traits & ~mutant->lacks) | mutant->claims;
    if (mutant->window)
        mutant->record.window = mutant->window;
    if (mutant->sends)
        mutant->record.sends = mutant->sends;
    if (mutant->check)
        mutant->record.check = mutant->check;
    if (mutant->steps)
        mutant->record.steps = mutant->steps;
    if (mutant->scratch)
        mutant->record.scratch = mutant->scratch;
    if (mutant->shared)
        mutant->record.shared = mutant->shared;
    return &mutant->record;
}

static coll_action *first_of(coll_kind kind, coll_action *out, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (out[i].kind == kind)
            return &out[i];
    return NULL;
}

static void drop(coll_action *out, unsigned *n, const coll_action *dropped)
{
    for (unsigned i = (unsigned)(dropped - out) + 1; i < *n; i++)
        out[i - 1] = out[i];
    (*n)--;
}

/* clang-format off */
#define EDIT(name) static void name(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out, unsigned *n)
#define UNUSED (void)plan, (void)rank, (void)s, (void)out, (void)n
/* clang-format on */

EDIT(yields_five)
{
    UNUSED;
    while (*n <= COLL_STEP_MAX)
        coll_act_copy(&out[(*n)++], COLL_AT(COLL_OUT, 0), COLL_AT(COLL_OUT, 0), 0);
}

EDIT(writes_five_yields_two)
{
    UNUSED;
    coll_act_copy(&out[COLL_STEP_MAX], COLL_AT(COLL_OUT, 0), COLL_AT(COLL_OUT, 0), 0);
}

EDIT(remembers_calls)
{
    static unsigned calls;
    UNUSED;
    out[0].via = calls++;
}

/* Right if asked in order. */
EDIT(expects_the_next_step)
{
    static uint32_t last_rank;
    static size_t last_step;
    const bool expected = rank != last_rank || s == 0 || s == last_step + 1 || s == last_step;
    UNUSED;
    last_rank = rank;
    last_step = s;
    if (!expected)
        *n = 0;
}

EDIT(leaves_a_field_unset)
{
    UNUSED;
    *((unsigned char *)&out[0].via + 1) = *((const unsigned char *)&out[3].via + 1);
}

EDIT(kind_that_is_none)
{
    UNUSED;
    out[0].kind = COLL_KINDS;
}

EDIT(peer_beyond)
{
    UNUSED;
    if (rank == 2)
        out[0].peer = plan->problem.p;
}

EDIT(peer_is_itself)
{
    UNUSED;
    out[0].peer = rank;
}

EDIT(stride_of_a_message)
{
    UNUSED;
    out[0].stride = 1;
}

EDIT(flag_of_a_send)
{
    UNUSED;
    out[0].flags = COLL_LEFT;
}

EDIT(unknown_flag)
{
    coll_action *merge = first_of(COLL_DO_RECV_REDUCE, out, *n);
    UNUSED;
    if (merge)
        merge->flags = 2;
}

EDIT(receives_into_in)
{
    coll_action *receive = first_of(COLL_DO_RECV, out, *n);
    UNUSED;
    if (receive && rank == 3)
        receive->dst = COLL_AT(COLL_IN, 0);
}

EDIT(receives_beyond_out)
{
    coll_action *receive = first_of(COLL_DO_RECV, out, *n);
    UNUSED;
    if (receive &&
        coll_ref_offset(receive->dst) + receive->count == plan->problem.p * plan->problem.count)
        receive->dst++;
}

EDIT(receives_huge)
{
    coll_action *receive = first_of(COLL_DO_RECV, out, *n);
    UNUSED;
    if (receive)
        receive->count = SIZE_MAX - 1;
}

EDIT(sends_beyond_in)
{
    UNUSED;
    if (coll_ref_space(out[0].src) == COLL_IN)
        out[0].src++;
}

EDIT(receives_into_shared)
{
    coll_action *receive = first_of(COLL_DO_RECV, out, *n);
    UNUSED;
    if (receive)
        receive->dst = COLL_AT(COLL_SHARED, 0);
}

EDIT(token_in_shared)
{
    UNUSED;
    out[0].src = COLL_AT(COLL_SHARED, 0);
}

static size_t scratch_less_one(const coll_plan *plan, uint32_t rank)
{
    const struct mutant *mutant = (const struct mutant *)(const void *)plan->algorithm;
    return mutant->base->scratch(plan, rank) - 1;
}

EDIT(receives_before_the_block)
{
    coll_action *receive = first_of(COLL_DO_RECV, out, *n);
    UNUSED;
    if (receive)
        receive->dst--;
}

EDIT(writes_before_the_first_block)
{
    UNUSED;
    for (unsigned i = 0; i < *n; i++)
        if (coll_i_has(COLL_I_WRITES_DST, &out[i]) && out[i].dst == COLL_AT(COLL_OUT, 1))
            out[i].dst--;
}

EDIT(rank_0_writes)
{
    UNUSED;
    if (rank == 0)
        coll_act_copy(&out[(*n)++], COLL_AT(COLL_OUT, 1), COLL_AT(COLL_IN, 0), 1);
}

EDIT(rank_0_writes_in_place)
{
    UNUSED;
    if (rank == 0)
        coll_act_copy(&out[(*n)++], COLL_AT(COLL_OUT, 1), COLL_AT(COLL_OUT, 0), 1);
}

EDIT(sends_from_before_the_block)
{
    coll_action *send = first_of(COLL_DO_SEND, out, *n);
    UNUSED;
    if (send)
        send->src--;
}

EDIT(sends_scratch)
{
    coll_action *send = first_of(COLL_DO_SEND, out, *n);
    UNUSED;
    if (send && s == 0)
        send->src = COLL_AT(COLL_SCRATCH, 0);
}

EDIT(stages_on_the_operand)
{
    coll_action *merge = first_of(COLL_DO_RECV_REDUCE, out, *n);
    UNUSED;
    if (merge)
        merge->via = merge->src;
}

EDIT(stages_beside_the_sum)
{
    coll_action *merge = first_of(COLL_DO_RECV_REDUCE, out, *n);
    UNUSED;
    if (merge && coll_ref_offset(merge->dst) == 0)
        merge->via = merge->dst + 1;
}

EDIT(operand_of_the_next_element)
{
    coll_action *merge = first_of(COLL_DO_RECV_REDUCE, out, *n);
    UNUSED;
    if (merge && coll_ref_offset(merge->src) == 0)
        merge->src++;
}

EDIT(receives_one_less)
{
    coll_action *receive = first_of(COLL_DO_RECV, out, *n);
    UNUSED;
    if (receive && rank == 1 && receive->count > 0)
        receive->count--;
}

EDIT(sends_only_once)
{
    coll_action *send = first_of(COLL_DO_SEND, out, *n);
    UNUSED;
    if (send && rank == 1 && s > 0)
        drop(out, n, send);
}

EDIT(sends_once_more)
{
    coll_action *send = first_of(COLL_DO_SEND, out, *n);
    UNUSED;
    if (send && rank == 2 && s == 3)
        out[(*n)++] = *send;
}

EDIT(sends_one_more_element)
{
    coll_action *send = first_of(COLL_DO_SEND, out, *n);
    UNUSED;
    if (send && rank == 1 && s == 0)
        send->count++;
}

/* The rounds of a dissemination have distances 1, 2, 4, and not 1, 2, 3. */
EDIT(receives_at_the_wrong_stride)
{
    coll_action *receive = first_of(COLL_DO_RECV, out, *n);
    UNUSED;
    if (receive && s == 2)
        receive->peer = (rank + 3) % plan->problem.p;
}

EDIT(sends_at_the_wrong_stride)
{
    coll_action *send = first_of(COLL_DO_NOTIFY, out, *n);
    UNUSED;
    if (send && s == 2)
        send->peer = (rank + 3) % plan->problem.p;
}

/* Takes both from the rank before it. */
EDIT(receives_both_from_one)
{
    coll_action *receive = first_of(COLL_DO_RECV, out, *n);
    UNUSED;
    if (receive)
        receive->peer = (rank + plan->problem.p - 1) % plan->problem.p;
}

EDIT(awaits_first)
{
    coll_action *send = first_of(COLL_DO_SEND, out, *n);
    coll_action *receive = first_of(COLL_DO_RECV, out, *n);
    UNUSED;
    if (send && receive) {
        const coll_action kept = *send;
        *send = *receive;
        *receive = kept;
    }
}

EDIT(forgets_its_own_block)
{
    const coll_action *copy = first_of(COLL_DO_COPY, out, *n);
    UNUSED;
    if (copy && rank == 4)
        drop(out, n, copy);
}

EDIT(sends_its_own_twice)
{
    coll_action *send = first_of(COLL_DO_SEND, out, *n);
    UNUSED;
    if (send && rank == 0 && s == 1)
        send->src = COLL_AT(COLL_IN, 0);
}

EDIT(receives_without_reducing)
{
    coll_action *merge = first_of(COLL_DO_RECV_REDUCE, out, *n);
    UNUSED;
    if (merge && rank == 3) {
        merge->kind = COLL_DO_RECV;
        merge->flags = 0;
    }
}

EDIT(reduces_twice)
{
    const coll_action *merge = first_of(COLL_DO_RECV_REDUCE, out, *n);
    UNUSED;
    if (merge && rank == 3 && s == 0) {
        coll_act_reduce(&out[*n], merge->dst, merge->dst, merge->src, merge->count);
        (*n)++;
    }
}

EDIT(ignores_sides)
{
    coll_action *merge = first_of(COLL_DO_RECV_REDUCE, out, *n);
    UNUSED;
    if (merge)
        merge->flags = 0;
}

EDIT(last_round_is_for_nobody)
{
    UNUSED;
    if (s + 1 == plan->algorithm->steps(plan, rank))
        *n = 0;
}

EDIT(last_round_is_for_nobody_at_6)
{
    if (plan->problem.p == 6)
        last_round_is_for_nobody(plan, rank, s, out, n);
}

EDIT(notifies_of_itself_alone)
{
    UNUSED;
    out[0].count = 1;
}

EDIT(parent_token_is_apart)
{
    UNUSED;
    for (unsigned i = 0; i < *n; i++)
        if (out[i].kind == COLL_DO_NOTIFY)
            out[i].src += 100;
}

EDIT(last_root_forgets)
{
    UNUSED;
    if (plan->problem.root > 0 && plan->problem.root + 1 == plan->problem.p)
        receives_one_less(plan, rank, s, out, n);
}

EDIT(writes_before_block_0)
{
    const coll_block own = coll_out_block(plan, 0);
    UNUSED;
    if (rank == 0 && s == 0 && own.count > 0 && own.offset > 0)
        coll_act_copy(&out[(*n)++], COLL_AT(COLL_OUT, own.offset - 1),
                      coll_in_place(plan) ? COLL_AT(COLL_OUT, own.offset) : COLL_AT(COLL_IN, 0),
                      1);
}

EDIT(forgets_in_place)
{
    if (coll_in_place(plan))
        receives_without_reducing(plan, rank, s, out, n);
}

EDIT(forgets_for_degree_5)
{
    coll_action *merge = first_of(COLL_DO_RECV_REDUCE, out, *n);
    UNUSED;
    if (merge && plan->param[0] == 5)
        merge->kind = COLL_DO_RECV;
}

EDIT(ignores_sides_if_it_matters)
{
    if (!(plan->problem.flags & COLL_FLAG_COMMUTATIVE))
        ignores_sides(plan, rank, s, out, n);
}

static size_t steps_that_vary(const coll_plan *plan, uint32_t rank)
{
    static size_t calls;
    const struct mutant *mutant = (const struct mutant *)(const void *)plan->algorithm;
    return mutant->base->steps(plan, rank) + (calls++ & 1);
}

static size_t scratch_that_varies(const coll_plan *plan, uint32_t rank)
{
    static size_t calls;
    const struct mutant *mutant = (const struct mutant *)(const void *)plan->algorithm;
    return mutant->base->scratch(plan, rank) + (calls++ & 1);
}

static size_t shared_one(const coll_plan *plan)
{
    (void)plan;
    return 1;
}

/* Where both neighbours in a dimension are one rank, takes what it sent one way for what came that
 * way. */
EDIT(mistakes_the_direction)
{
    coll_action *first = first_of(COLL_DO_RECV, out, *n);
    UNUSED;
    for (coll_action *next = first; first && next < out + *n; next++)
        if (next != first && next->kind == COLL_DO_RECV && next->peer == first->peer) {
            const coll_ref dst = next->dst;
            next->dst = first->dst;
            first->dst = dst;
            return;
        }
}

/* Fills in what would come over the end of a mesh. */
EDIT(fills_in_for_nobody)
{
    const coll_graph *graph = plan->problem.graph;
    const coll_block block = coll_out_block(plan, 0);
    UNUSED;
    if (s == 0 && coll_graph_source(graph, rank, 0) == COLL_RANK_NONE)
        coll_act_copy(&out[(*n)++], COLL_AT(COLL_OUT, block.offset), COLL_AT(COLL_IN, 0),
                      block.count);
}

EDIT(multicasts)
{
    coll_action *send = first_of(COLL_DO_SEND, out, *n);
    UNUSED;
    if (send)
        send->kind = COLL_DO_MULTICAST;
}

/* clang-format off */
#define RING     &coll_ring_allgather
#define RING_SUM &coll_ring_allreduce
#define DOUBLING &coll_recursive_doubling_allreduce
#define SUM      .collective = COLL_ALLREDUCE, .p = 5, .count = 13, .flags = COLL_FLAG_COMMUTATIVE
#define GATHER   .base = RING, .collective = COLL_ALLGATHER, .p = 5, .count = 3

static struct mutant mutants[] = {
    {.name = "yields five actions", GATHER, .change = yields_five, .finding = COLL_FOUND_ACTIONS, .sentence = "rank 0, step 0: yields 5 actions; COLL_STEP_MAX is 4"},
    {.name = "writes five actions, yields two", GATHER, .change = writes_five_yields_two, .finding = COLL_FOUND_ACTIONS, .sentence = "rank 0, step 0: yields 3 actions; COLL_STEP_MAX is 4, and more were written"},
    {.name = "remembers how often it was called", GATHER, .change = remembers_calls, .finding = COLL_FOUND_IMPURE, .sentence = "rank 0, step 0: asked again, the step gives other actions"},
    {.name = "expects the next step", GATHER, .change = expects_the_next_step, .finding = COLL_FOUND_IMPURE, .sentence = "rank 1, step 1: asked again, the step gives other actions"},
    {.name = "leaves a field unset", GATHER, .change = leaves_a_field_unset, .finding = COLL_FOUND_IMPURE, .sentence = "rank 0, step 0: asked again, the step gives other actions"},
    {.name = "number of steps varies", GATHER, .steps = steps_that_vary, .finding = COLL_FOUND_IMPURE, .sentence = "rank 4, at the end: steps gives a second answer"},
    {.name = "scratch varies", .base = RING_SUM, SUM | COLL_FLAG_IN_PLACE, .scratch = scratch_that_varies, .finding = COLL_FOUND_IMPURE, .sentence = "rank 0, at the end: scratch or shared gives a second answer"},
    {.name = "kind that is none", GATHER, .change = kind_that_is_none, .finding = COLL_FOUND_KIND, .sentence = "rank 0, step 0: there is no kind of action 9"},
    {.name = "peer beyond the ranks", GATHER, .change = peer_beyond, .finding = COLL_FOUND_PEER, .sentence = "rank 2, step 0: the peer is rank 5 of 5"},
    {.name = "peer is the rank itself", GATHER, .change = peer_is_itself, .finding = COLL_FOUND_PEER, .sentence = "rank 0, step 0: the peer is rank 0 of 5, itself"},
    {.name = "stride of a message", GATHER, .change = stride_of_a_message, .finding = COLL_FOUND_FIELD, .sentence = "rank 0, step 0: stride is 1 and flags are 0 in an action of kind 0"},
    {.name = "flag of a send", GATHER, .change = flag_of_a_send, .finding = COLL_FOUND_FIELD, .sentence = "rank 0, step 0: stride is 0 and flags are 1 in an action of kind 0"},
    {.name = "unknown flag", .base = RING_SUM, SUM, .change = unknown_flag, .finding = COLL_FOUND_FIELD, .sentence = "rank 0, step 0: stride is 0 and flags are 2 in an action of kind 2"},
    {.name = "receives into IN", GATHER, .change = receives_into_in, .finding = COLL_FOUND_WRITES_IN, .sentence = "rank 3, step 0: the destination is IN[0], 3 elements"},
    {.name = "receives beyond OUT", GATHER, .change = receives_beyond_out, .finding = COLL_FOUND_OUTSIDE, .sentence = "rank 0, step 0: the destination is OUT[13], 3 elements, but OUT has 15"},
    {.name = "receives more than memory holds", GATHER, .change = receives_huge, .finding = COLL_FOUND_OUTSIDE},
    {.name = "sends beyond IN", GATHER, .change = sends_beyond_in, .finding = COLL_FOUND_OUTSIDE, .sentence = "rank 0, step 0: the source is IN[1], 3 elements, but IN has 3"},
    {.name = "receives into SHARED that it has not", GATHER, .change = receives_into_shared, .finding = COLL_FOUND_OUTSIDE, .sentence = "rank 0, step 0: the destination is SHARED[0], 3 elements, but SHARED has 0"},
    {.name = "token in SHARED that it has not", .base = &coll_dissemination_barrier, .collective = COLL_BARRIER, .p = 6, .change = token_in_shared, .finding = COLL_FOUND_OUTSIDE, .sentence = "rank 0, step 0: the token is SHARED[0], 1 elements, but SHARED has 0"},
    {.name = "asks for too little SCRATCH", .base = RING_SUM, SUM | COLL_FLAG_IN_PLACE, .scratch = scratch_less_one, .finding = COLL_FOUND_OUTSIDE, .sentence = "rank 3, step 1: the staging is SCRATCH[3], 3 elements, but SCRATCH has 5"},
    {.name = "writes into a gap in place", .base = &coll_pairwise_alltoall, .collective = COLL_ALLTOALLV, .p = 5, .layout = COLL_GRID_GAPS, .flags = COLL_FLAG_IN_PLACE, .change = writes_before_the_first_block, .finding = COLL_FOUND_GAP, .sentence = "rank 1, step 0: the destination is OUT[0], 3 elements, but OUT[0] must stay as it is"},
    {.name = "writes into a gap between blocks", .base = RING, .collective = COLL_ALLGATHERV, .p = 5, .layout = COLL_GRID_GAPS, .change = receives_before_the_block, .finding = COLL_FOUND_GAP, .sentence = "rank 0, step 0: the destination is OUT[0], 4 elements, but OUT[0] must stay as it is"},
    {.name = "exscan: rank 0 writes OUT", .base = &coll_linear_exscan, .collective = COLL_EXSCAN, .p = 3, .count = 2, .change = rank_0_writes, .finding = COLL_FOUND_GAP, .sentence = "rank 0, step 0: the destination is OUT[1], 1 elements, but OUT[1] must stay as it is"},
    {.name = "exscan in place: rank 0 writes OUT", .base = &coll_linear_exscan, .collective = COLL_EXSCAN, .p = 3, .count = 2, .flags = COLL_FLAG_IN_PLACE, .change = rank_0_writes_in_place, .finding = COLL_FOUND_GAP, .sentence = "rank 0, step 0: the destination is OUT[1], 1 elements, but OUT[1] must stay as it is"},
    {.name = "reads a gap between blocks", .base = &coll_linear_scatter, .collective = COLL_SCATTERV, .p = 5, .layout = COLL_GRID_GAPS, .change = sends_from_before_the_block, .finding = COLL_FOUND_UNWRITTEN, .sentence = "rank 0, step 1: the source is IN[11], 3 elements, but IN[11] is in no block"},
    {.name = "sends SCRATCH that nobody wrote", .base = RING_SUM, SUM | COLL_FLAG_IN_PLACE, .change = sends_scratch, .finding = COLL_FOUND_UNWRITTEN, .sentence = "rank 0, step 0: the source is SCRATCH[0], 2 elements, but SCRATCH[0] was never written by this rank"},
    {.name = "stages on the operand", .base = RING_SUM, SUM | COLL_FLAG_IN_PLACE, .change = stages_on_the_operand, .finding = COLL_FOUND_OVERLAP, .sentence = "rank 0, step 0: staging and source overlap: OUT[9], 2 elements, and OUT[9], 2 elements"},
    {.name = "stages beside the sum", .base = RING_SUM, SUM, .change = stages_beside_the_sum, .finding = COLL_FOUND_OVERLAP, .sentence = "rank 2, step 0: destination and staging overlap: OUT[0], 3 elements, and OUT[1], 3 elements"},
    {.name = "reduces neighbouring elements", .base = RING_SUM, SUM, .change = operand_of_the_next_element, .finding = COLL_FOUND_MIXED, .sentence = "rank 2, step 0: operand element 0 of 3 combines element 1 of rank 2, in IN[1], with element 0 of rank 1, in the message of rank 1 (its step 0)"},
    {.name = "receives one element less", GATHER, .change = receives_one_less, .finding = COLL_FOUND_SIZE, .sentence = "rank 1, step 0: expects 2 elements from rank 0, which sent 3 elements at its step 0"},
    {.name = "sends one element more", .base = RING_SUM, SUM, .change = sends_one_more_element, .finding = COLL_FOUND_SIZE, .sentence = "rank 2, step 0: expects 3 elements from rank 1, which sent 4 elements at its step 0"},
    {.name = "sends only once", GATHER, .change = sends_only_once, .finding = COLL_FOUND_UNSENT, .sentence = "rank 2, step 1: waits for a message of 3 elements of rank 1, which sends it no second one and has ended"},
    {.name = "sends once more", GATHER, .change = sends_once_more, .finding = COLL_FOUND_UNRECEIVED, .sentence = "rank 2, step 3: sends rank 3 a message of 3 elements that nobody receives: of 5 messages from here rank 3, which has ended after 4 steps, receives 4"},
    {.name = "receives at the wrong stride", .base = &coll_bruck_allgather, .collective = COLL_ALLGATHER, .p = 8, .count = 3, .change = receives_at_the_wrong_stride, .finding = COLL_FOUND_UNSENT, .sentence = "rank 0, step 2: waits for a message of 12 elements of rank 3, which sends it none at all; rank 4 has sent rank 0 a message of 12 elements (its step 2) that nobody receives"},
    {.name = "sends at the wrong stride", .base = &coll_dissemination_barrier, .collective = COLL_BARRIER, .p = 8, .change = sends_at_the_wrong_stride, .finding = COLL_FOUND_UNSENT, .sentence = "rank 0, step 2: waits for a notification of rank 4, which sends it none at all; rank 5 has sent rank 0 a notification (its step 2) that nobody receives"},
    {.name = "receives both from one rank", .base = &coll_linear_allgather, .collective = COLL_ALLGATHER, .p = 3, .count = 1, .change = receives_both_from_one, .finding = COLL_FOUND_UNSENT, .sentence = "rank 0, step 1: waits for a message of 1 element of rank 2, which sends it no second one; rank 1 has sent rank 0 a message of 1 element (its step 1) that nobody receives"},
    {.name = "everybody awaits before sending", GATHER, .change = awaits_first, .finding = COLL_FOUND_DEADLOCK, .sentence = "rank 0, step 0: waits for rank 4 (step 0), which waits for rank 3 (step 0), which waits for rank 2 (step 0), which waits for rank 1 (step 0), which waits for rank 0 (step 0); none of them has sent yet, and each does only after its own wait: rank 4 in its step 0"},
    {.name = "many await before sending", .base = RING, .collective = COLL_ALLGATHER, .p = 32, .count = 1, .change = awaits_first, .finding = COLL_FOUND_DEADLOCK, .sentence = "rank 0, step 0: waits for rank 31 (step 0), which waits for rank 30 (step 0), which waits for rank 29 (step 0), which waits for rank 28 (step 0), which waits for rank 27 (step 0), ...; none of them has sent yet, and each does only after its own wait: rank 31 in its step 0"},
    {.name = "window too small", GATHER, .window = 1, .finding = COLL_FOUND_WINDOW, .sentence = "rank 0, at the end: with sends that wait for the receiver it needs a window of 2 slots; it says 1"},
    {.name = "forgets its own block", GATHER, .change = forgets_its_own_block, .finding = COLL_FOUND_UNSET, .sentence = "rank 4, at the end: OUT[12] must be element 0 of rank 4 and is nothing: it was never written"},
    {.name = "sends its own block twice", GATHER, .change = sends_its_own_twice, .finding = COLL_FOUND_WRONG, .sentence = "rank 1, at the end: OUT[12] must be element 0 of rank 4 and is element 0 of rank 0"},
    {.name = "overwrites instead of reducing", .base = RING_SUM, SUM, .change = receives_without_reducing, .finding = COLL_FOUND_MISSING, .sentence = "rank 0, at the end: OUT[0] lacks the contribution of rank 3: it is element 0 reduced over ranks (0 (4 (2 1)))"},
    {.name = "reduces its operand twice", .base = RING_SUM, SUM, .change = reduces_twice, .finding = COLL_FOUND_DOUBLED, .sentence = "rank 0, at the end: OUT[3] has the contribution of rank 3 2 times: it is element 3 reduced over ranks (1 (0 (4 (3 2 3))))"},
    {.name = "allreduce as scan", .base = RING_SUM, .collective = COLL_SCAN, .p = 5, .count = 13, .flags = COLL_FLAG_COMMUTATIVE, .finding = COLL_FOUND_FOREIGN, .sentence = "rank 0, at the end: OUT[0] has the contribution of rank 1, and must not: it is element 0 reduced over ranks (0 (4 (3 (2 1))))"},
    {.name = "reorders without saying so", .base = RING_SUM, .collective = COLL_ALLREDUCE, .p = 5, .count = 13, .lacks = COLL_NEEDS_COMMUTATIVE, .finding = COLL_FOUND_ORDER, .sentence = "rank 0, at the end: OUT[0] is not in rank order 0 to 4: it is element 0 reduced over ranks (0 (4 (3 (2 1))))"},
    {.name = "swaps operands", .base = DOUBLING, .collective = COLL_ALLREDUCE, .p = 4, .count = 3, .change = ignores_sides, .finding = COLL_FOUND_ORDER, .sentence = "rank 1, at the end: OUT[0] is not in rank order 0 to 3: it is element 0 reduced over ranks (1 0 (3 2))"},
    {.name = "swaps operands on some ranks", .base = DOUBLING, SUM, .lacks = COLL_GIVES_REPRODUCIBLE, .change = ignores_sides, .finding = COLL_FOUND_BITS, .sentence = "rank 2, at the end: OUT[0] is reduced as (2 (1 0) (4 3)), but on rank 0 as (1 0 2 (3 4))"},
    {.name = "order differs between elements", .base = RING_SUM, SUM, .claims = COLL_GIVES_REPRODUCIBLE, .finding = COLL_FOUND_STRUCTURE, .sentence = "rank 0, at the end: OUT[3] is reduced as (1 (0 (4 (3 2)))), and other elements as (0 (4 (3 (2 1))))"},
    {.name = "barrier: loses the last round", .base = &coll_dissemination_barrier, .collective = COLL_BARRIER, .p = 6, .change = last_round_is_for_nobody, .finding = COLL_FOUND_BARRIER, .sentence = "rank 0, at the end: may leave the barrier before rank 1 enters it"},
    {.name = "barrier: notifies before it knows", .base = &coll_dissemination_barrier, .collective = COLL_BARRIER, .p = 6, .change = notifies_of_itself_alone, .finding = COLL_FOUND_BARRIER, .sentence = "rank 0, at the end: may leave the barrier before rank 1 enters it"},
    {.name = "barrier: tokens that order nothing", .base = &coll_fnomial_barrier, .collective = COLL_BARRIER, .p = 6, .change = parent_token_is_apart, .finding = COLL_FOUND_BARRIER, .sentence = "rank 0, at the end: may leave the barrier before rank 3 enters it"},
    {.name = "multicast without saying so", .base = &coll_linear_bcast, .collective = COLL_BCAST, .p = 3, .count = 2, .change = multicasts, .finding = COLL_FOUND_TRAIT, .sentence = "rank 0, step 0: a multicast, but the algorithm does not say that it needs one"},
    {.name = "SHARED without saying so", GATHER, .shared = shared_one, .finding = COLL_FOUND_TRAIT, .sentence = "rank 0, at the end: the algorithm wants SHARED without COLL_NEEDS_SHARED"},
};

EDIT(names_ranks_outside)
{
    UNUSED;
    for (unsigned i = 0; i < *n; i++)
        if (coll_i_has_peer(&out[i]))
            out[i].peer = coll_group_outer(&plan->group, out[i].peer);
}

/* Takes a rank outside for one of the plan, where the plan is on nodes and placed. */
EDIT(mistakes_the_place)
{
    coll_action *const a = first_of(COLL_DO_COPY, out, *n);
    UNUSED;
    if (a && plan->group.table && coll_nodes_count(&plan->problem.nodes) > 1 &&
        coll_group_outer(&plan->group, rank) != rank)
        drop(out, n, a);
}

static coll_status takes_all(const coll_plan *plan)
{
    (void)plan;
    return COLL_OK;
}

static coll_status takes_ranks_alone(const coll_plan *plan)
{
    return plan->param[0] == 0 || !plan->group.table ? COLL_OK : COLL_ERR_GROUP;
}

/* Right where a field that nobody prepared happens to be 0. */
EDIT(reads_what_was_not_prepared)
{
    UNUSED;
    (void)n;
    out[0].peer += plan->fold.extra;
}

/* Right, but for one value on an axis of the grid: the words are those of the first plan that
 * must be found. */
static struct grid_mutant {
    struct mutant of;
    const char *words;
} grid_mutants[] = {
    {{.name = "barrier at p = 6", .base = &coll_dissemination_barrier, .change = last_round_is_for_nobody_at_6, .collective = COLL_BARRIER, .finding = COLL_FOUND_BARRIER}, "barrier dissemination p=6"},
    {{.name = "last root", .base = &coll_linear_bcast, .change = last_root_forgets, .collective = COLL_BCAST, .finding = COLL_FOUND_UNRECEIVED}, "root=2"},
    {{.name = "in place", .base = RING_SUM, .change = forgets_in_place, .collective = COLL_ALLREDUCE, .finding = COLL_FOUND_MISSING}, "in-place"},
    {{.name = "degree 5", .base = &coll_fnomial_reduce, .change = forgets_for_degree_5, .collective = COLL_REDUCE, .finding = COLL_FOUND_MISSING}, "f=5"},
    {{.name = "non-commutative operator", .base = DOUBLING, .change = ignores_sides_if_it_matters, .collective = COLL_ALLREDUCE, .lacks = COLL_GIVES_REPRODUCIBLE, .finding = COLL_FOUND_ORDER}, "non-commutative"},
    {{.name = "layouts with gaps", .base = RING, .change = writes_before_block_0, .collective = COLL_ALLGATHERV, .finding = COLL_FOUND_GAP}, "layout=gaps"},
    {{.name = "order depends on the root", .base = &coll_fnomial_reduce, .claims = COLL_GIVES_REPRODUCIBLE, .collective = COLL_REDUCE, .finding = COLL_FOUND_STRUCTURE}, "root=1"},
    {{.name = "both neighbours are one", .base = &coll_linear_neighbor, .change = mistakes_the_direction, .collective = COLL_NEIGHBOR_ALLTOALL, .finding = COLL_FOUND_WRONG}, "graph=ring"},
    {{.name = "over the end", .base = &coll_linear_neighbor, .change = fills_in_for_nobody, .collective = COLL_NEIGHBOR_ALLGATHER, .finding = COLL_FOUND_GAP}, "graph=mesh"},
    {{.name = "ranks outside", .base = &coll_prefix_allgather, .change = names_ranks_outside, .collective = COLL_ALLGATHER, .finding = COLL_FOUND_PEER}, "p=2 count=1 group=missing:3:1"},
    {{.name = "groups that do not fit", .base = &coll_prefix_allgather, .check = takes_all, .collective = COLL_ALLGATHER, .finding = COLL_FOUND_TRAIT}, "group=missing:2:1 machine=1"},
    {{.name = "groups that fit", .base = &coll_prefix_allgather, .check = takes_ranks_alone, .collective = COLL_ALLGATHER, .finding = COLL_FOUND_REFUSED}, "p=1 count=1 group=missing:1:0 machine=1"},
    {{.name = "scattered ranks", .base = &coll_mixed_bcast, .change = mistakes_the_place, .collective = COLL_BCAST, .finding = COLL_FOUND_UNSET}, "places="},
    {{.name = "what was not prepared", .base = &coll_dissemination_barrier, .change = reads_what_was_not_prepared, .collective = COLL_BARRIER, .finding = COLL_FOUND_PEER}, "p="},
    {{.name = "window at any p", .base = RING, .window = 1, .collective = COLL_ALLGATHER, .finding = COLL_FOUND_WINDOW}, "p=2"},
};

/* ---- spoiled algorithms: one action of a right one is left out or shifted
 * --------------------- */

enum spoiling { DROPPED, DST_SHIFTED, SRC_SHIFTED, SHORTENED, SPOILINGS };

struct spoiled {
    coll_composite composite; /* with the record; the rest of it is that of a row that has one */
    const coll_algorithm *base;
    uint32_t rank;
    size_t s;
    unsigned i; /* the action */
    enum spoiling how;
};

static unsigned spoiled_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const struct spoiled *spoiled = (const struct spoiled *)(const void *)plan->algorithm;
    unsigned n = spoiled->base->step(plan, rank, s, out);
    coll_action *const a = &out[spoiled->i];
    if (rank != spoiled->rank || s != spoiled->s)
        return n;
    switch (spoiled->how) {
    case DROPPED:
        drop(out, &n, a);
        break;
    case DST_SHIFTED:
        a->dst++;
        break;
    case SRC_SHIFTED:
        a->src++;
        break;
    case SHORTENED:
        a->count--;
        break;
    case SPOILINGS:
        break;
    }
    return n;
}

/* Does this change anything for sure? Where tokens lie often does not matter, nor what becomes of
 * padding. */
static bool spoils(const coll_action *a, enum spoiling how, uint32_t traits)
{
    if ((traits & COLL_USES_PADDING) &&
        (!coll_i_has(COLL_I_READS_SRC, a) || coll_ref_space(a->src) == COLL_SCRATCH) &&
        (!coll_i_has(COLL_I_WRITES_DST, a) || coll_ref_space(a->dst) == COLL_SCRATCH))
        return false;
    if (a->count == 0 || (coll_i_is_token(a) && how != DROPPED))
        return false;
    if (a->kind == COLL_DO_MULTICAST && a->count == 1 && how == SRC_SHIFTED)
        return false; /* one element for all may be a mere signal */
    if ((traits & COLL_NEEDS_BUILD) && a->kind == COLL_DO_COPY &&
        coll_ref_space(a->src) == COLL_SCRATCH)
        return false; /* from stage to stage: the same may be there already */
    return how == DROPPED || how == SHORTENED ||
           coll_i_has(how == DST_SHIFTED ? COLL_I_WRITES_DST : COLL_I_READS_SRC, a);
}

/* ---- programs ---------------------------------------------------------------------------- */

enum { LINES = 12 };

struct program {
    coll_algorithm record;
    const char *name;
    coll_collective collective;
    uint32_t p;
    size_t count;
    uint32_t flags, traits;
    uint32_t ppn;    /* ranks of a node; 0: all */
    uint16_t window, sends; /* 0: 4 */
    size_t scratch, shared;
    coll_finding finding;
    const char *sentence; /* as a mutant's */
    struct {
        uint32_t rank;
        coll_action act;
    } lines[LINES];
};

#define SEND(to, from, n)             {COLL_DO_SEND, 0, 0, to, n, 0, from, 0, 0}
#define RECV(from, to, n)             {COLL_DO_RECV, 0, 0, from, n, to, 0, 0, 0}
#define MERGE(from, to, a, via, n)    {COLL_DO_RECV_REDUCE, 0, 0, from, n, to, a, via, 0}
#define COPY(to, from, n)             {COLL_DO_COPY, 0, 0, 0, n, to, from, 0, 0}
#define REDUCE(to, a, b, inputs, n)   {COLL_DO_REDUCE, 0, inputs, 0, n, to, a, b, n}
#define NOTIFY_OF(to, token, n)       {COLL_DO_NOTIFY, 0, 0, to, n, 0, token, 0, 0}
#define NOTIFY(to, token)             NOTIFY_OF(to, token, 1)
#define AWAIT_OF(from, token, n)      {COLL_DO_AWAIT, 0, 0, from, n, token, 0, 0, 0}
#define AWAIT(from, token)            AWAIT_OF(from, token, 1)
#define MULTICAST(from, n)            {COLL_DO_MULTICAST, 0, 0, 0, n, 0, from, 0, 0}
#define MEET(group, ranks, to, from, n) {COLL_DO_NETWORK_REDUCE, 0, 0, group, n, to, from, 0, ranks}
#define JOIN_OF(group, ranks, token, n) {COLL_DO_NETWORK_REDUCE, COLL_NETWORK_BARRIER, 0, group, n, token, token, 0, ranks}
#define JOIN(group, ranks, token) JOIN_OF(group, ranks, token, 1)
#define IN(i)  COLL_AT(COLL_IN, i)
#define OUT(i) COLL_AT(COLL_OUT, i)
#define TMP(i) COLL_AT(COLL_SCRATCH, i)
#define MEM(i) COLL_AT(COLL_SHARED, i)

#define BCAST(ranks, n)   .collective = COLL_BCAST, .p = ranks, .count = n
#define REDUCING(ranks, n) .collective = COLL_REDUCE, .p = ranks, .count = n
#define SWAP(n)           .collective = COLL_ALLTOALL, .p = 2, .count = n, .flags = COLL_FLAG_IN_PLACE
#define SHARES            .traits = COLL_NEEDS_SHARED, .shared = 1

static struct program programs[] = {
    {.name = "exchange through SCRATCH", SWAP(1), .scratch = 1, .lines = {
        {0, SEND(1, OUT(1), 1)}, {0, RECV(1, TMP(0), 1)}, {0, COPY(OUT(1), TMP(0), 1)},
        {1, SEND(0, OUT(0), 1)}, {1, RECV(0, TMP(0), 1)}, {1, COPY(OUT(0), TMP(0), 1)}}},
    {.name = "exchange on the spot", SWAP(1), .finding = COLL_FOUND_DEADLOCK_SYNCHRONOUS, .sentence = "rank 0, step 1: never ends, whatever the window, if sends wait for the receiver: it sends to rank 1, which sends to rank 0; none of them can begin to receive before that", .lines = {
        {0, SEND(1, OUT(1), 1)}, {0, RECV(1, OUT(1), 1)},
        {1, SEND(0, OUT(0), 1)}, {1, RECV(0, OUT(0), 1)}}},
    {.name = "exchange on the spot, twice", SWAP(1), .finding = COLL_FOUND_DEADLOCK_BOUNDED, .sentence = "rank 0, step 3: never ends, whatever the window, if a channel holds no more than one message: it sends to rank 1, which sends to rank 0; none of them can begin to receive before that", .lines = {
        {0, SEND(1, OUT(1), 1)}, {0, SEND(1, OUT(1), 1)}, {0, RECV(1, OUT(1), 1)}, {0, RECV(1, OUT(1), 1)},
        {1, SEND(0, OUT(0), 1)}, {1, SEND(0, OUT(0), 1)}, {1, RECV(0, OUT(0), 1)}, {1, RECV(0, OUT(0), 1)}}},
    {.name = "wants more SCRATCH than there can be", SWAP(1), .scratch = SIZE_MAX - 3, .finding = COLL_FOUND_PLAN, .lines = {
        {0, SEND(1, OUT(1), 1)}, {0, RECV(1, TMP(0), 1)}, {0, COPY(OUT(1), TMP(0), 1)},
        {1, SEND(0, OUT(0), 1)}, {1, RECV(0, TMP(0), 1)}, {1, COPY(OUT(0), TMP(0), 1)}}},
    {.name = "wants more SHARED than there can be", BCAST(2, 1), .traits = COLL_NEEDS_SHARED | COLL_USES_NODES, .shared = SIZE_MAX / 64, .ppn = 1, .finding = COLL_FOUND_PLAN, .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, COPY(OUT(0), IN(0), 1)}, {0, SEND(1, MEM(0), 1)}, {1, RECV(0, OUT(0), 1)}}},
    {.name = "needs a window of 3, and two sends", .window = 3, .sends = 2, SWAP(1), .scratch = 1, .lines = {
        {0, SEND(1, OUT(1), 1)}, {0, SEND(1, OUT(1), 1)}, {0, RECV(1, TMP(0), 1)}, {0, RECV(1, TMP(0), 1)}, {0, COPY(OUT(1), TMP(0), 1)},
        {1, SEND(0, OUT(0), 1)}, {1, SEND(0, OUT(0), 1)}, {1, RECV(0, TMP(0), 1)}, {1, RECV(0, TMP(0), 1)}, {1, COPY(OUT(0), TMP(0), 1)}}},
    {.name = "has one send in flight", .window = 3, .sends = 1, SWAP(1), .scratch = 1, .finding = COLL_FOUND_SENDS, .sentence = "rank 0, at the end: in order, with sends that wait for the receiver, it needs 2 sends in flight; it says 1", .lines = {
        {0, SEND(1, OUT(1), 1)}, {0, SEND(1, OUT(1), 1)}, {0, RECV(1, TMP(0), 1)}, {0, RECV(1, TMP(0), 1)}, {0, COPY(OUT(1), TMP(0), 1)},
        {1, SEND(0, OUT(0), 1)}, {1, SEND(0, OUT(0), 1)}, {1, RECV(0, TMP(0), 1)}, {1, RECV(0, TMP(0), 1)}, {1, COPY(OUT(0), TMP(0), 1)}}},
    {.name = "has a window of 2", .window = 2, SWAP(1), .scratch = 1, .finding = COLL_FOUND_WINDOW, .sentence = "rank 0, at the end: with sends that wait for the receiver it needs a window of 3 slots; it says 2", .lines = {
        {0, SEND(1, OUT(1), 1)}, {0, SEND(1, OUT(1), 1)}, {0, RECV(1, TMP(0), 1)}, {0, RECV(1, TMP(0), 1)}, {0, COPY(OUT(1), TMP(0), 1)},
        {1, SEND(0, OUT(0), 1)}, {1, SEND(0, OUT(0), 1)}, {1, RECV(0, TMP(0), 1)}, {1, RECV(0, TMP(0), 1)}, {1, COPY(OUT(0), TMP(0), 1)}}},
    {.name = "the tables contradict each other", .collective = COLL_ALLTOALLV, .p = 2, .count = 1, .finding = COLL_FOUND_PLAN, .sentence = "rank 0, at the end: this rank has a block of 1 elements with rank 1, which has one of 2"},
    {.name = "no tables at the root", .collective = COLL_GATHERV, .p = 2, .count = 1, .finding = COLL_FOUND_PLAN, .sentence = "rank 0, at the end: the plan cannot run on this rank: the tables of counts and displacements are missing on this rank, the collective has none, or COLL_IRREGULAR is 0"},

    {.name = "forwards what it has", BCAST(3, 2), .lines = {
        {0, SEND(1, IN(0), 2)}, {0, COPY(OUT(0), IN(0), 2)},
        {1, RECV(0, OUT(0), 2)}, {1, SEND(2, OUT(0), 2)}, {2, RECV(1, OUT(0), 2)}}},
    {.name = "forwards what it does not have", BCAST(3, 2), .finding = COLL_FOUND_UNWRITTEN, .sentence = "rank 1, step 0: the source is OUT[0], 2 elements, but OUT[0] was never written by this rank", .lines = {
        {0, SEND(1, IN(0), 2)}, {0, COPY(OUT(0), IN(0), 2)},
        {1, SEND(2, OUT(0), 2)}, {1, RECV(0, OUT(0), 2)}, {2, RECV(1, OUT(0), 2)}}},
    {.name = "sends padding", .traits = COLL_USES_PADDING, .scratch = 2, BCAST(2, 1), .lines = {
        {0, COPY(TMP(0), IN(0), 1)}, {0, SEND(1, TMP(0), 2)}, {0, COPY(OUT(0), IN(0), 1)},
        {1, RECV(0, TMP(0), 2)}, {1, COPY(OUT(0), TMP(0), 1)}}},
    {.name = "sends padding and does not say so", .scratch = 2, BCAST(2, 1), .finding = COLL_FOUND_UNWRITTEN, .sentence = "rank 0, step 1: the source is SCRATCH[0], 2 elements, but SCRATCH[1] was never written by this rank", .lines = {
        {0, COPY(TMP(0), IN(0), 1)}, {0, SEND(1, TMP(0), 2)}, {0, COPY(OUT(0), IN(0), 1)},
        {1, RECV(0, TMP(0), 2)}, {1, COPY(OUT(0), TMP(0), 1)}}},
    {.name = "copies padding to OUT", .traits = COLL_USES_PADDING, .scratch = 2, BCAST(2, 1), .finding = COLL_FOUND_UNWRITTEN, .sentence = "rank 1, step 1: the source is SCRATCH[1], 1 elements, but SCRATCH[1] was never written by this rank", .lines = {
        {0, COPY(TMP(0), IN(0), 1)}, {0, SEND(1, TMP(0), 2)}, {0, COPY(OUT(0), IN(0), 1)},
        {1, RECV(0, TMP(0), 2)}, {1, COPY(OUT(0), TMP(1), 1)}}},
    {.name = "receives padding into OUT", .traits = COLL_USES_PADDING, .scratch = 1, BCAST(2, 1), .finding = COLL_FOUND_UNSET, .sentence = "rank 1, at the end: OUT[0] must be element 0 of rank 0 and is nothing: it was never written", .lines = {
        {0, SEND(1, TMP(0), 1)}, {0, COPY(OUT(0), IN(0), 1)}, {1, RECV(0, OUT(0), 1)}}},
    {.name = "reads IN of another rank", BCAST(2, 2), .finding = COLL_FOUND_OUTSIDE, .sentence = "rank 1, step 0: the source is IN[0], 2 elements, but IN has 0", .lines = {
        {0, COPY(OUT(0), IN(0), 2)}, {1, COPY(OUT(0), IN(0), 2)}}},
    {.name = "copies onto IN", BCAST(1, 2), .finding = COLL_FOUND_WRITES_IN, .sentence = "rank 0, step 1: the destination is IN[0], 2 elements", .lines = {
        {0, COPY(OUT(0), IN(0), 2)}, {0, COPY(IN(0), OUT(0), 2)}}},
    {.name = "copies beside itself", BCAST(1, 2), .scratch = 4, .lines = {
        {0, COPY(TMP(0), IN(0), 2)}, {0, COPY(TMP(2), TMP(0), 2)}, {0, COPY(OUT(0), TMP(2), 2)}}},
    {.name = "copies half onto itself", BCAST(1, 2), .scratch = 3, .finding = COLL_FOUND_OVERLAP, .sentence = "rank 0, step 1: destination and source overlap: SCRATCH[1], 2 elements, and SCRATCH[0], 2 elements", .lines = {
        {0, COPY(TMP(0), IN(0), 2)}, {0, COPY(TMP(1), TMP(0), 2)}, {0, COPY(OUT(0), TMP(1), 2)}}},
    {.name = "a token is no message", BCAST(2, 2), .finding = COLL_FOUND_SIZE, .sentence = "rank 1, step 0: expects 2 elements from rank 0, which sent a notification at its step 0", .lines = {
        {0, NOTIFY(1, IN(0))}, {0, COPY(OUT(0), IN(0), 2)}, {1, RECV(0, OUT(0), 2)}}},
    {.name = "a message is no token", BCAST(2, 2), .finding = COLL_FOUND_SIZE, .sentence = "rank 1, step 0: expects a notification from rank 0, which sent 2 elements at its step 0", .lines = {
        {0, SEND(1, IN(0), 2)}, {0, COPY(OUT(0), IN(0), 2)}, {1, AWAIT(0, OUT(0))}}},

    {.name = "reduces in one pass", REDUCING(3, 2), .scratch = 4, .lines = {
        {0, RECV(1, TMP(0), 2)}, {0, RECV(2, TMP(2), 2)}, {0, REDUCE(OUT(0), IN(0), TMP(0), 2, 2)},
        {1, SEND(0, IN(0), 2)}, {2, SEND(0, IN(0), 2)}}},
    {.name = "reduces in the wrong order", REDUCING(3, 2), .scratch = 4, .finding = COLL_FOUND_ORDER, .sentence = "rank 0, at the end: OUT[0] is not in rank order 0 to 2: it is element 0 reduced over ranks (0 2 1)", .lines = {
        {0, RECV(1, TMP(2), 2)}, {0, RECV(2, TMP(0), 2)}, {0, REDUCE(OUT(0), IN(0), TMP(0), 2, 2)},
        {1, SEND(0, IN(0), 2)}, {2, SEND(0, IN(0), 2)}}},
    {.name = "the same, commutative", REDUCING(3, 2), .flags = COLL_FLAG_COMMUTATIVE, .scratch = 4, .lines = {
        {0, RECV(1, TMP(2), 2)}, {0, RECV(2, TMP(0), 2)}, {0, REDUCE(OUT(0), IN(0), TMP(0), 2, 2)},
        {1, SEND(0, IN(0), 2)}, {2, SEND(0, IN(0), 2)}}},
    {.name = "reduces nothing", REDUCING(3, 2), .scratch = 4, .finding = COLL_FOUND_INPUTS, .sentence = "rank 0, step 2: reduces 0 operands", .lines = {
        {0, RECV(1, TMP(0), 2)}, {0, RECV(2, TMP(2), 2)}, {0, REDUCE(OUT(0), IN(0), TMP(0), 0, 2)},
        {1, SEND(0, IN(0), 2)}, {2, SEND(0, IN(0), 2)}}},
    {.name = "reduces onto one of several operands", REDUCING(3, 2), .scratch = 4, .finding = COLL_FOUND_OVERLAP, .sentence = "rank 0, step 2: destination and operand overlap: SCRATCH[2], 2 elements, and SCRATCH[2], 2 elements", .lines = {
        {0, RECV(1, TMP(0), 2)}, {0, RECV(2, TMP(2), 2)}, {0, REDUCE(TMP(2), IN(0), TMP(0), 2, 2)}, {0, COPY(OUT(0), TMP(2), 2)},
        {1, SEND(0, IN(0), 2)}, {2, SEND(0, IN(0), 2)}}},
    {.name = "reduces an operand beyond SCRATCH", REDUCING(3, 2), .scratch = 3, .finding = COLL_FOUND_OUTSIDE, .sentence = "rank 0, step 2: an operand is SCRATCH[2], 2 elements, but SCRATCH has 3", .lines = {
        {0, RECV(1, TMP(0), 2)}, {0, RECV(2, TMP(1), 2)}, {0, REDUCE(OUT(0), IN(0), TMP(0), 2, 2)},
        {1, SEND(0, IN(0), 2)}, {2, SEND(0, IN(0), 2)}}},
    {.name = "reduces an operand that is not there", REDUCING(3, 2), .scratch = 6, .finding = COLL_FOUND_UNWRITTEN, .sentence = "rank 0, step 2: an operand is SCRATCH[4], 2 elements, but SCRATCH[4] was never written by this rank; the other one there is element 0 reduced over ranks (0 1 2)", .lines = {
        {0, RECV(1, TMP(0), 2)}, {0, RECV(2, TMP(2), 2)}, {0, REDUCE(OUT(0), IN(0), TMP(0), 3, 2)},
        {1, SEND(0, IN(0), 2)}, {2, SEND(0, IN(0), 2)}}},
    {.name = "reduces one element that is not there", REDUCING(1, 1), .scratch = 1, .finding = COLL_FOUND_UNWRITTEN, .sentence = "rank 0, step 0: an operand is SCRATCH[0], 1 elements, but SCRATCH[0] was never written by this rank; the other one there is element 0 of rank 0", .lines = {
        {0, REDUCE(OUT(0), IN(0), TMP(0), 1, 1)}}},
    {.name = "one rank twice instead of another", REDUCING(3, 1), .flags = COLL_FLAG_COMMUTATIVE, .scratch = 1, .finding = COLL_FOUND_DOUBLED, .sentence = "rank 0, at the end: OUT[0] has the contribution of rank 1 2 times: it is element 0 reduced over ranks (0 1 1)", .lines = {
        {0, RECV(1, TMP(0), 1)}, {0, REDUCE(OUT(0), IN(0), TMP(0), 1, 1)}, {0, REDUCE(OUT(0), OUT(0), TMP(0), 1, 1)}, {1, SEND(0, IN(0), 1)}}},
    {.name = "reduces half of the vector", REDUCING(1, 2), .finding = COLL_FOUND_UNSET, .sentence = "rank 0, at the end: OUT[1] must be element 1 reduced over ranks 0 to 0 and is nothing: it was never written", .lines = {
        {0, COPY(OUT(0), IN(0), 1)}}},
    {.name = "turns the vector around", REDUCING(1, 2), .finding = COLL_FOUND_WRONG, .sentence = "rank 0, at the end: OUT[0] must be element 0 reduced over ranks 0 to 0 and is element 1 of rank 0", .lines = {
        {0, COPY(OUT(0), IN(1), 1)}, {0, COPY(OUT(1), IN(0), 1)}}},
    {.name = "the staging may hold anything", REDUCING(2, 2), .scratch = 2, .finding = COLL_FOUND_UNWRITTEN, .sentence = "rank 0, step 1: the source is SCRATCH[0], 2 elements, but SCRATCH[0] may hold anything: a message was staged there", .lines = {
        {0, MERGE(1, OUT(0), IN(0), TMP(0), 2)}, {0, COPY(OUT(0), TMP(0), 2)}, {1, SEND(0, IN(0), 2)}}},
    {.name = "the staging held something", REDUCING(2, 2), .scratch = 2, .finding = COLL_FOUND_UNWRITTEN, .sentence = "rank 0, step 2: the source is SCRATCH[0], 2 elements, but SCRATCH[0] may hold anything: a message was staged there", .lines = {
        {0, COPY(TMP(0), IN(0), 2)}, {0, MERGE(1, OUT(0), IN(0), TMP(0), 2)}, {0, COPY(OUT(0), TMP(0), 2)}, {1, SEND(0, IN(0), 2)}}},

    {.name = "combines with OUT before it is written", REDUCING(2, 1), .scratch = 1, .finding = COLL_FOUND_UNWRITTEN, .sentence = "rank 0, step 0: an operand is OUT[0], 1 elements, but OUT[0] was never written by this rank (its input is in IN: the plan is not in place); the other one there is element 0 of rank 1", .lines = {
        {0, MERGE(1, OUT(0), OUT(0), TMP(0), 1)}, {1, SEND(0, IN(0), 1)}}},
    {.name = "combines with OUT in place", REDUCING(2, 1), .flags = COLL_FLAG_IN_PLACE | COLL_FLAG_COMMUTATIVE, .scratch = 1, .lines = {
        {0, MERGE(1, OUT(0), OUT(0), TMP(0), 1)}, {1, SEND(0, IN(0), 1)}}},
    {.name = "combines with IN in place", REDUCING(2, 1), .flags = COLL_FLAG_IN_PLACE | COLL_FLAG_COMMUTATIVE, .scratch = 1, .finding = COLL_FOUND_OUTSIDE, .sentence = "rank 0, step 0: the source is IN[0], 1 elements, but IN has 0 (in place: the input is in OUT)", .lines = {
        {0, MERGE(1, OUT(0), IN(0), TMP(0), 1)}, {1, SEND(0, IN(0), 1)}}},
    {.name = "combines with padding", REDUCING(2, 1), .traits = COLL_USES_PADDING, .scratch = 1, .finding = COLL_FOUND_UNWRITTEN, .sentence = "rank 0, step 0: an operand is the message of rank 1 (its step 0), 1 elements, but its element 0 is padding, which nobody wrote; the other one there is element 0 of rank 0", .lines = {
        {0, MERGE(1, OUT(0), IN(0), TMP(0), 1)}, {1, SEND(0, TMP(0), 1)}}},
    {.name = "SHARED, sent before it is written", BCAST(2, 1), SHARES, .finding = COLL_FOUND_UNWRITTEN, .sentence = "rank 0, step 1: the source is SHARED[0], 1 elements, but SHARED[0] was never written by a rank of this node", .lines = {
        {0, COPY(OUT(0), IN(0), 1)}, {0, SEND(1, MEM(0), 1)}, {1, RECV(0, OUT(0), 1)}}},
    {.name = "one does not send, and another waits for who waits", BCAST(3, 1), .finding = COLL_FOUND_UNSENT, .sentence = "rank 1, step 0: waits for a message of 1 element of rank 2, which sends it none at all and has ended", .lines = {
        {0, RECV(1, OUT(0), 1)}, {1, RECV(2, OUT(0), 1)}, {1, SEND(0, OUT(0), 1)}}},
    {.name = "one does not send, and another's message is received later", BCAST(3, 1), .finding = COLL_FOUND_UNSENT, .sentence = "rank 1, step 0: waits for a message of 1 element of rank 2, which sends it none at all and has ended", .lines = {
        {0, COPY(OUT(0), IN(0), 1)}, {0, SEND(1, OUT(0), 1)}, {1, RECV(2, OUT(0), 1)}, {1, RECV(0, OUT(0), 1)}}},
    {.name = "sends to another rank", BCAST(3, 1), .finding = COLL_FOUND_UNSENT, .sentence = "rank 1, step 0: waits for a message of 1 element of rank 0, which sends it none at all and has ended; rank 0 has sent rank 2 a message of 1 element (its step 2) that nobody receives", .lines = {
        {0, COPY(OUT(0), IN(0), 1)}, {0, SEND(2, OUT(0), 1)}, {0, SEND(2, OUT(0), 1)}, {1, RECV(0, OUT(0), 1)}, {2, RECV(0, OUT(0), 1)}}},
    {.name = "notifies two and awaits one of them twice", .collective = COLL_BARRIER, .p = 3, .finding = COLL_FOUND_UNSENT, .sentence = "rank 0, step 3: waits for a notification of rank 1, which sends it no second one; rank 2 has sent rank 0 a notification (its step 0) that nobody receives", .lines = {
        {0, NOTIFY(1, TMP(0))}, {0, NOTIFY(2, TMP(0))}, {0, AWAIT(1, TMP(0))}, {0, AWAIT(1, TMP(0))},
        {1, NOTIFY(2, TMP(0))}, {1, NOTIFY(0, TMP(0))}, {1, AWAIT(2, TMP(0))}, {1, AWAIT(2, TMP(0))},
        {2, NOTIFY(0, TMP(0))}, {2, NOTIFY(1, TMP(0))}, {2, AWAIT(0, TMP(0))}, {2, AWAIT(0, TMP(0))}}},
    {.name = "waits for a message behind a meeting", .collective = COLL_ALLREDUCE, .p = 2, .count = 1, .finding = COLL_FOUND_DEADLOCK, .sentence = "rank 0, step 0: waits for rank 1 (step 0), which waits for rank 0 (step 0); none of them has sent or met yet, and each does only after its own wait: rank 1 in its step 1", .lines = {
        {0, MEET(COLL_GROUP_ALL, 2, OUT(0), IN(0), 1)}, {0, NOTIFY(1, OUT(0))}, {1, AWAIT(0, OUT(0))}, {1, MEET(COLL_GROUP_ALL, 2, OUT(0), IN(0), 1)}},
        .traits = COLL_NEEDS_NETWORK_REDUCE},
    {.name = "two groups that wait for each other", .collective = COLL_ALLREDUCE, .p = 2, .count = 1, .scratch = 1, .finding = COLL_FOUND_DEADLOCK, .sentence = "rank 0, step 0: waits for rank 1 (step 0), which waits for rank 0 (step 0); none of them has sent or met yet, and each does only after its own wait: rank 1 in its step 1", .lines = {
        {0, MEET(COLL_GROUP_ALL, 2, OUT(0), IN(0), 1)}, {0, MEET(COLL_GROUP_NODES, 2, TMP(0), IN(0), 1)},
        {1, MEET(COLL_GROUP_NODES, 2, TMP(0), IN(0), 1)}, {1, MEET(COLL_GROUP_ALL, 2, OUT(0), IN(0), 1)}},
        .traits = COLL_NEEDS_NETWORK_REDUCE},

    {.name = "multicast", BCAST(3, 2), .traits = COLL_NEEDS_MULTICAST, .lines = {
        {0, MULTICAST(IN(0), 2)}, {0, COPY(OUT(0), IN(0), 2)}, {1, RECV(0, OUT(0), 2)}, {2, RECV(0, OUT(0), 2)}}},
    {.name = "multicast that one does not receive", BCAST(3, 2), .traits = COLL_NEEDS_MULTICAST, .finding = COLL_FOUND_UNRECEIVED, .sentence = "rank 0, step 0: sends rank 2 a message of 2 elements that nobody receives: of 1 messages from here rank 2, which has ended after 0 steps, receives 0", .lines = {
        {0, MULTICAST(IN(0), 2)}, {0, COPY(OUT(0), IN(0), 2)}, {1, RECV(0, OUT(0), 2)}}},
    {.name = "reduction by the network", .collective = COLL_ALLREDUCE, .p = 3, .count = 2, .lines = {
        {0, MEET(COLL_GROUP_ALL, 3, OUT(0), IN(0), 2)}, {1, MEET(COLL_GROUP_ALL, 3, OUT(0), IN(0), 2)}, {2, MEET(COLL_GROUP_ALL, 3, OUT(0), IN(0), 2)}},
        .traits = COLL_NEEDS_NETWORK_REDUCE | COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE},
    {.name = "reductions by the network, one after the other", .collective = COLL_ALLREDUCE, .p = 2, .count = 2, .lines = {
        {0, MEET(COLL_GROUP_ALL, 2, OUT(0), IN(0), 1)}, {0, MEET(COLL_GROUP_ALL, 2, OUT(1), IN(1), 1)}, {1, MEET(COLL_GROUP_ALL, 2, OUT(0), IN(0), 1)}, {1, MEET(COLL_GROUP_ALL, 2, OUT(1), IN(1), 1)}},
        .traits = COLL_NEEDS_NETWORK_REDUCE},
    {.name = "one reduces less by the network", .collective = COLL_ALLREDUCE, .p = 3, .count = 2, .finding = COLL_FOUND_SIZE, .sentence = "rank 1, step 0: a network reduction of 1 elements among 3 ranks meets one of 2 among 3", .lines = {
        {0, MEET(COLL_GROUP_ALL, 3, OUT(0), IN(0), 2)}, {1, MEET(COLL_GROUP_ALL, 3, OUT(0), IN(0), 1)}, {2, MEET(COLL_GROUP_ALL, 3, OUT(0), IN(0), 2)}},
        .traits = COLL_NEEDS_NETWORK_REDUCE},
    {.name = "one does not come to the network", .collective = COLL_ALLREDUCE, .p = 3, .count = 2, .finding = COLL_FOUND_UNSENT, .sentence = "rank 0, step 0: waits for the 3 ranks of group 0, to which 2 have come, and no other rank comes", .lines = {
        {0, MEET(COLL_GROUP_ALL, 3, OUT(0), IN(0), 2)}, {2, MEET(COLL_GROUP_ALL, 3, OUT(0), IN(0), 2)}},
        .traits = COLL_NEEDS_NETWORK_REDUCE},
    {.name = "one waits before it comes to the network", .collective = COLL_ALLREDUCE, .p = 4, .count = 2, .scratch = 2, .finding = COLL_FOUND_UNSENT, .sentence = "rank 3, step 0: waits for a message of 2 elements of rank 0, which sends it none at all", .lines = {
        {0, MEET(COLL_GROUP_ALL, 4, OUT(0), IN(0), 2)}, {1, MEET(COLL_GROUP_ALL, 4, OUT(0), IN(0), 2)}, {2, MEET(COLL_GROUP_ALL, 4, OUT(0), IN(0), 2)},
        {3, RECV(0, TMP(0), 2)}, {3, MEET(COLL_GROUP_ALL, 4, OUT(0), IN(0), 2)}},
        .traits = COLL_NEEDS_NETWORK_REDUCE},
    {.name = "reduction by the network, of some", .collective = COLL_ALLREDUCE, .p = 3, .count = 1, .scratch = 1, .lines = {
        {0, MERGE(1, OUT(0), IN(0), TMP(0), 1)}, {0, MEET(COLL_GROUP_NODES, 2, OUT(0), OUT(0), 1)}, {0, SEND(1, OUT(0), 1)},
        {1, SEND(0, IN(0), 1)}, {1, RECV(0, OUT(0), 1)}, {2, MEET(COLL_GROUP_NODES, 2, OUT(0), IN(0), 1)}},
        .traits = COLL_NEEDS_NETWORK_REDUCE},
    {.name = "a group that changes", .collective = COLL_ALLREDUCE, .p = 3, .count = 1, .scratch = 1, .finding = COLL_FOUND_GROUP, .sentence = "rank 2, step 0: its meeting 1 with group 1 is meeting 2 of rank 0", .lines = {
        {0, MEET(COLL_GROUP_NODES, 2, TMP(0), IN(0), 1)}, {0, MEET(COLL_GROUP_NODES, 2, OUT(0), IN(0), 1)},
        {1, MEET(COLL_GROUP_NODES, 2, OUT(0), IN(0), 1)}, {2, MEET(COLL_GROUP_NODES, 2, OUT(0), IN(0), 1)}},
        .traits = COLL_NEEDS_NETWORK_REDUCE},
    {.name = "a group of another number of ranks", .collective = COLL_ALLREDUCE, .p = 2, .count = 1, .finding = COLL_FOUND_SIZE, .sentence = "rank 1, step 0: a network reduction of 1 elements among 1 ranks meets one of 1 among 2", .lines = {
        {0, MEET(COLL_GROUP_NODES, 2, OUT(0), IN(0), 1)}, {1, MEET(COLL_GROUP_NODES, 1, OUT(0), IN(0), 1)}},
        .traits = COLL_NEEDS_NETWORK_REDUCE},
    {.name = "a group that does not exist", .collective = COLL_ALLREDUCE, .p = 1, .count = 1, .finding = COLL_FOUND_PEER, .sentence = "rank 0, step 0: meets group 3 of 1 ranks, in a plan of 1", .lines = {
        {0, MEET(COLL_NETWORK_GROUPS, 1, OUT(0), IN(0), 1)}},
        .traits = COLL_NEEDS_NETWORK_REDUCE},
    {.name = "barrier by the network", .collective = COLL_BARRIER, .p = 3, .lines = {
        {0, JOIN(COLL_GROUP_ALL, 3, TMP(0))}, {1, JOIN(COLL_GROUP_ALL, 3, TMP(0))}, {2, JOIN(COLL_GROUP_ALL, 3, TMP(0))}},
        .traits = COLL_NEEDS_NETWORK_BARRIER},
    {.name = "one does not come to a barrier by the network", .collective = COLL_BARRIER, .p = 3, .finding = COLL_FOUND_UNSENT, .sentence = "rank 0, step 0: waits for the 3 ranks of group 0, to which 2 have come, and no other rank comes", .lines = {
        {0, JOIN(COLL_GROUP_ALL, 3, TMP(0))}, {2, JOIN(COLL_GROUP_ALL, 3, TMP(0))}},
        .traits = COLL_NEEDS_NETWORK_BARRIER},
    {.name = "barrier by the network, of some", .collective = COLL_BARRIER, .p = 3, .finding = COLL_FOUND_BARRIER, .sentence = "rank 0, at the end: may leave the barrier before rank 2 enters it", .lines = {
        {0, JOIN(COLL_GROUP_NODES, 2, TMP(0))}, {1, JOIN(COLL_GROUP_NODES, 2, TMP(0))}},
        .traits = COLL_NEEDS_NETWORK_BARRIER},
    {.name = "barrier by the network, then by messages", .collective = COLL_BARRIER, .p = 3, .lines = {
        {0, JOIN(COLL_GROUP_NODES, 2, TMP(0))}, {0, NOTIFY(2, TMP(0))}, {1, AWAIT(2, TMP(0))}, {1, JOIN(COLL_GROUP_NODES, 2, TMP(0))},
        {2, NOTIFY(1, TMP(0))}, {2, AWAIT(0, TMP(0))}},
        .traits = COLL_NEEDS_NETWORK_BARRIER},
    {.name = "barrier by the network, of who did not wait", .collective = COLL_BARRIER, .p = 3, .finding = COLL_FOUND_BARRIER, .sentence = "rank 0, at the end: may leave the barrier before rank 2 enters it", .lines = {
        {0, JOIN(COLL_GROUP_NODES, 2, TMP(0))}, {0, NOTIFY(2, TMP(0))}, {1, AWAIT(2, TMP(1))}, {1, JOIN(COLL_GROUP_NODES, 2, TMP(0))},
        {2, NOTIFY(1, TMP(0))}, {2, AWAIT(0, TMP(0))}},
        .traits = COLL_NEEDS_NETWORK_BARRIER},
    {.name = "a barrier by the network reduces nothing", .collective = COLL_ALLREDUCE, .p = 2, .count = 1, .finding = COLL_FOUND_SIZE, .sentence = "rank 1, step 0: a network reduction of 0 elements among 2 ranks meets one of 1 among 2", .lines = {
        {0, MEET(COLL_GROUP_ALL, 2, OUT(0), IN(0), 1)}, {1, JOIN(COLL_GROUP_ALL, 2, OUT(0))}},
        .traits = COLL_NEEDS_NETWORK_REDUCE | COLL_NEEDS_NETWORK_BARRIER},
    {.name = "a barrier by the network without saying so", .collective = COLL_BARRIER, .p = 1, .finding = COLL_FOUND_TRAIT, .sentence = "rank 0, step 0: a meeting in the network, but the algorithm does not say that it needs one", .lines = {
        {0, JOIN(COLL_GROUP_ALL, 1, TMP(0))}},
        .traits = COLL_NEEDS_NETWORK_REDUCE},
    {.name = "fabric without saying so", .collective = COLL_ALLREDUCE, .p = 2, .count = 2, .finding = COLL_FOUND_TRAIT, .sentence = "rank 0, step 0: a network reduction, but the algorithm does not say that it needs one", .lines = {
        {0, MEET(COLL_GROUP_ALL, 2, OUT(0), IN(0), 2)}, {1, MEET(COLL_GROUP_ALL, 2, OUT(0), IN(0), 2)}}},

    {.name = "both ranks have the same bits", .collective = COLL_ALLREDUCE, .p = 2, .count = 2, .scratch = 2, .flags = COLL_FLAG_COMMUTATIVE, .traits = COLL_GIVES_IDENTICAL, .lines = {
        {0, SEND(1, IN(0), 2)}, {0, RECV(1, TMP(0), 2)}, {0, REDUCE(OUT(0), IN(0), TMP(0), 1, 2)},
        {1, SEND(0, IN(0), 2)}, {1, RECV(0, TMP(0), 2)}, {1, REDUCE(OUT(0), TMP(0), IN(0), 1, 2)}}},
    {.name = "the last element has other bits", .collective = COLL_ALLREDUCE, .p = 2, .count = 2, .scratch = 2, .flags = COLL_FLAG_COMMUTATIVE, .traits = COLL_GIVES_IDENTICAL, .finding = COLL_FOUND_BITS, .sentence = "rank 1, at the end: OUT[1] is reduced as (1 0), but on rank 0 as (0 1)", .lines = {
        {0, SEND(1, IN(0), 2)}, {0, RECV(1, TMP(0), 2)}, {0, REDUCE(OUT(0), IN(0), TMP(0), 1, 2)},
        {1, SEND(0, IN(0), 2)}, {1, RECV(0, TMP(0), 2)}, {1, REDUCE(OUT(0), TMP(0), IN(0), 1, 1)}, {1, REDUCE(OUT(1), IN(1), TMP(1), 1, 1)}}},
    {.name = "SHARED, sent to nobody", BCAST(2, 1), SHARES, .finding = COLL_FOUND_PEER, .sentence = "rank 0, step 1: the peer is rank 2 of 2", .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, SEND(2, MEM(0), 1)}}},
    {.name = "SHARED, copied beyond OUT", BCAST(2, 1), SHARES, .finding = COLL_FOUND_OUTSIDE, .sentence = "rank 0, step 1: the destination is OUT[1], 1 elements, but OUT has 1", .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, COPY(OUT(1), MEM(0), 1)}}},
    {.name = "SHARED, notified", BCAST(2, 1), SHARES, .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, COPY(OUT(0), IN(0), 1)}, {0, NOTIFY(1, MEM(0))},
        {1, AWAIT(0, MEM(0))}, {1, COPY(OUT(0), MEM(0), 1)}}},
    {.name = "SHARED of two nodes", BCAST(3, 1), .ppn = 2, .traits = COLL_NEEDS_SHARED | COLL_USES_NODES, .shared = 1, .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, NOTIFY(1, MEM(0))}, {0, COPY(OUT(0), IN(0), 1)}, {0, SEND(2, IN(0), 1)},
        {1, AWAIT(0, MEM(0))}, {1, COPY(OUT(0), MEM(0), 1)},
        {2, RECV(0, MEM(0), 1)}, {2, COPY(OUT(0), MEM(0), 1)}}},
    {.name = "SHARED of another node", BCAST(2, 1), .ppn = 1, .traits = COLL_NEEDS_SHARED | COLL_USES_NODES, .shared = 1, .finding = COLL_FOUND_UNWRITTEN, .sentence = "rank 1, step 1: the source is SHARED[0], 1 elements, but SHARED[0] was never written by a rank of this node", .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, NOTIFY(1, MEM(0))}, {0, COPY(OUT(0), IN(0), 1)},
        {1, AWAIT(0, MEM(0))}, {1, COPY(OUT(0), MEM(0), 1)}}},
    {.name = "SHARED, not notified", BCAST(2, 1), SHARES, .finding = COLL_FOUND_RACE, .sentence = "rank 1, step 0: reads SHARED[0] in no order with rank 0, step 0", .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, COPY(OUT(0), IN(0), 1)}, {1, COPY(OUT(0), MEM(0), 1)}}},
    {.name = "SHARED, notified of something else", BCAST(2, 1), SHARES, .finding = COLL_FOUND_RACE, .sentence = "rank 1, step 1: reads SHARED[0] in no order with rank 0, step 0", .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, COPY(OUT(0), IN(0), 1)}, {0, NOTIFY(1, TMP(0))},
        {1, AWAIT(0, MEM(0))}, {1, COPY(OUT(0), MEM(0), 1)}}},
    {.name = "SHARED, awaited as something else", BCAST(2, 1), SHARES, .finding = COLL_FOUND_RACE, .sentence = "rank 1, step 1: reads SHARED[0] in no order with rank 0, step 0", .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, COPY(OUT(0), IN(0), 1)}, {0, NOTIFY(1, MEM(0))},
        {1, AWAIT(0, TMP(0))}, {1, COPY(OUT(0), MEM(0), 1)}}},
    {.name = "SHARED, used again when it is free", BCAST(2, 2), SHARES, .lines = {
        {0, COPY(OUT(0), IN(0), 2)}, {0, COPY(MEM(0), IN(0), 1)}, {0, NOTIFY(1, MEM(0))}, {0, AWAIT(1, MEM(0))},
        {0, COPY(MEM(0), IN(1), 1)}, {0, NOTIFY(1, MEM(0))},
        {1, AWAIT(0, MEM(0))}, {1, COPY(OUT(0), MEM(0), 1)}, {1, NOTIFY(0, OUT(0))},
        {1, AWAIT(0, MEM(0))}, {1, COPY(OUT(1), MEM(0), 1)}}},
    {.name = "SHARED, used again too early", BCAST(2, 2), SHARES, .finding = COLL_FOUND_RACE, .sentence = "rank 1, step 1: reads SHARED[0] in no order with rank 0, step 3", .lines = {
        {0, COPY(OUT(0), IN(0), 2)}, {0, COPY(MEM(0), IN(0), 1)}, {0, NOTIFY(1, MEM(0))},
        {0, COPY(MEM(0), IN(1), 1)}, {0, NOTIFY(1, MEM(0))},
        {1, AWAIT(0, MEM(0))}, {1, COPY(OUT(0), MEM(0), 1)},
        {1, AWAIT(0, MEM(0))}, {1, COPY(OUT(1), MEM(0), 1)}}},
    {.name = "SHARED, given back too early", BCAST(2, 2), SHARES, .finding = COLL_FOUND_RACE, .sentence = "rank 0, step 4: writes SHARED[0] in no order with rank 1, step 1", .lines = {
        {0, COPY(OUT(0), IN(0), 2)}, {0, COPY(MEM(0), IN(0), 1)}, {0, NOTIFY(1, MEM(0))}, {0, AWAIT(1, MEM(0))},
        {0, COPY(MEM(0), IN(1), 1)}, {0, NOTIFY(1, MEM(0))},
        {1, AWAIT(0, MEM(0))}, {1, COPY(OUT(0), MEM(0), 1)}, {1, NOTIFY(0, OUT(1))},
        {1, AWAIT(0, MEM(0))}, {1, COPY(OUT(1), MEM(0), 1)}}},
    {.name = "SHARED, overwritten when it was sent", BCAST(2, 1), SHARES, .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, COPY(OUT(0), IN(0), 1)}, {0, SEND(1, MEM(0), 1)},
        {1, RECV(0, OUT(0), 1)}, {1, COPY(MEM(0), OUT(0), 1)}}},
    {.name = "SHARED, overwritten when it was sent to one of two", BCAST(3, 1), SHARES, .finding = COLL_FOUND_RACE, .sentence = "rank 1, step 1: writes SHARED[0] in no order with rank 0, step 3", .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, COPY(OUT(0), IN(0), 1)}, {0, SEND(1, MEM(0), 1)}, {0, SEND(2, MEM(0), 1)},
        {1, RECV(0, OUT(0), 1)}, {1, COPY(MEM(0), OUT(0), 1)}, {2, RECV(0, OUT(0), 1)}}},
    {.name = "SHARED, overwritten while others receive the multicast", BCAST(3, 1), .shared = 1, .finding = COLL_FOUND_RACE, .sentence = "rank 1, step 1: writes SHARED[0] in no order with rank 0, step 2", .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, COPY(OUT(0), IN(0), 1)}, {0, MULTICAST(MEM(0), 1)},
        {1, RECV(0, OUT(0), 1)}, {1, COPY(MEM(0), OUT(0), 1)}, {2, RECV(0, OUT(0), 1)}},
        .traits = COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST},
    {.name = "SHARED, by the network", .collective = COLL_ALLREDUCE, .p = 2, .count = 1, .shared = 2, .lines = {
        {0, MEET(COLL_GROUP_ALL, 2, MEM(0), IN(0), 1)}, {0, COPY(OUT(0), MEM(0), 1)}, {1, MEET(COLL_GROUP_ALL, 2, MEM(1), IN(0), 1)}, {1, COPY(OUT(0), MEM(1), 1)}},
        .traits = COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_REDUCE},
    {.name = "SHARED, by the network of the other rank", .collective = COLL_ALLREDUCE, .p = 2, .count = 1, .shared = 1, .finding = COLL_FOUND_RACE, .sentence = "rank 1, step 1: reads SHARED[0] in no order with rank 0, step 0", .lines = {
        {0, MEET(COLL_GROUP_ALL, 2, MEM(0), IN(0), 1)}, {0, COPY(OUT(0), MEM(0), 1)}, {1, MEET(COLL_GROUP_ALL, 2, OUT(0), IN(0), 1)}, {1, COPY(OUT(0), MEM(0), 1)}},
        .traits = COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_REDUCE},
    {.name = "SHARED, when all have met", .collective = COLL_ALLGATHER, .p = 2, .count = 1, .shared = 2, .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, JOIN_OF(COLL_GROUP_ALL, 2, MEM(0), 2)}, {0, COPY(OUT(0), MEM(0), 2)},
        {1, COPY(MEM(1), IN(0), 1)}, {1, JOIN_OF(COLL_GROUP_ALL, 2, MEM(0), 2)}, {1, COPY(OUT(0), MEM(0), 2)}},
        .traits = COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_BARRIER},
    {.name = "SHARED, read before all have met", .collective = COLL_ALLGATHER, .p = 2, .count = 1, .shared = 2, .finding = COLL_FOUND_RACE, .sentence = "rank 0, step 3: reads SHARED[1] in no order with rank 1, step 0", .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, JOIN_OF(COLL_GROUP_ALL, 2, MEM(0), 1)}, {0, COPY(OUT(0), MEM(0), 1)}, {0, COPY(OUT(1), MEM(1), 1)},
        {1, COPY(MEM(1), IN(0), 1)}, {1, JOIN_OF(COLL_GROUP_ALL, 2, MEM(0), 2)}, {1, COPY(OUT(0), MEM(0), 2)}},
        .traits = COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_BARRIER},
    {.name = "SHARED, met before it was written", .collective = COLL_ALLGATHER, .p = 2, .count = 1, .shared = 2, .finding = COLL_FOUND_RACE, .sentence = "rank 0, step 2: reads SHARED[1] in no order with rank 1, step 0", .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, JOIN_OF(COLL_GROUP_ALL, 2, MEM(0), 2)}, {0, COPY(OUT(0), MEM(0), 2)},
        {1, COPY(MEM(1), IN(0), 1)}, {1, JOIN_OF(COLL_GROUP_ALL, 2, MEM(0), 1)}, {1, COPY(OUT(0), MEM(0), 1)}, {1, COPY(OUT(1), MEM(1), 1)}},
        .traits = COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_BARRIER},
    {.name = "SHARED, read beside what all have met for", BCAST(2, 1), .shared = 2, .finding = COLL_FOUND_RACE, .sentence = "rank 1, step 1: reads SHARED[1] in no order with rank 0, step 1", .lines = {
        {0, COPY(MEM(0), IN(0), 1)}, {0, COPY(MEM(1), IN(0), 1)}, {0, COPY(OUT(0), IN(0), 1)}, {0, JOIN_OF(COLL_GROUP_ALL, 2, MEM(0), 2)},
        {1, JOIN_OF(COLL_GROUP_ALL, 2, MEM(0), 1)}, {1, COPY(OUT(0), MEM(1), 1)}},
        .traits = COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_BARRIER},
    {.name = "SHARED, reduced by the network while it is written", .collective = COLL_ALLREDUCE, .p = 2, .count = 1, .scratch = 1, .shared = 1, .finding = COLL_FOUND_RACE, .sentence = "rank 1, step 2: reads SHARED[0] in no order with rank 0, step 0", .lines = {
        {0, RECV(1, MEM(0), 1)}, {0, COPY(TMP(0), MEM(0), 1)}, {0, SEND(1, IN(0), 1)}, {0, COPY(TMP(0), IN(0), 1)}, {0, MEET(COLL_GROUP_ALL, 2, OUT(0), TMP(0), 1)},
        {1, SEND(0, IN(0), 1)}, {1, RECV(0, OUT(0), 1)}, {1, MEET(COLL_GROUP_ALL, 2, OUT(0), MEM(0), 1)}},
        .traits = COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_REDUCE},
    {.name = "SHARED, overwritten while it waits for the network", .collective = COLL_ALLREDUCE, .p = 2, .count = 1, .shared = 1, .finding = COLL_FOUND_RACE, .sentence = "rank 0, step 1: writes SHARED[0] in no order with rank 1, step 2", .lines = {
        {0, AWAIT(1, MEM(0))}, {0, COPY(MEM(0), IN(0), 1)}, {0, MEET(COLL_GROUP_ALL, 2, OUT(0), IN(0), 1)},
        {1, COPY(MEM(0), IN(0), 1)}, {1, NOTIFY(0, MEM(0))}, {1, MEET(COLL_GROUP_ALL, 2, OUT(0), MEM(0), 1)}},
        .traits = COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_REDUCE},
    {.name = "SHARED, read when others have met", .collective = COLL_ALLREDUCE, .p = 2, .count = 1, .scratch = 3, .shared = 2, .finding = COLL_FOUND_RACE, .sentence = "rank 1, step 2: reads SHARED[0] in no order with rank 0, step 2", .lines = {
        {0, MERGE(1, OUT(0), IN(0), TMP(0), 1)}, {0, COPY(MEM(1), OUT(0), 1)}, {0, COPY(MEM(0), OUT(0), 1)}, {0, COPY(TMP(1), MEM(1), 1)}, {0, COPY(TMP(1), MEM(0), 1)},
        {0, MEET(COLL_GROUP_ALL, 2, TMP(2), TMP(1), 1)},
        {1, SEND(0, IN(0), 1)}, {1, MEET(COLL_GROUP_ALL, 2, MEM(1), IN(0), 1)}, {1, COPY(OUT(0), MEM(0), 1)}},
        .traits = COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_REDUCE},
    {.name = "SHARED, written when all have met", .collective = COLL_ALLREDUCE, .p = 2, .count = 1, .scratch = 2, .shared = 2, .lines = {
        {0, RECV(1, TMP(1), 1)}, {0, COPY(MEM(0), IN(0), 1)}, {0, COPY(TMP(0), MEM(0), 1)}, {0, SEND(1, IN(0), 1)}, {0, MEET(COLL_GROUP_ALL, 2, OUT(0), TMP(0), 1)},
        {1, COPY(MEM(1), IN(0), 1)}, {1, SEND(0, IN(0), 1)}, {1, RECV(0, TMP(1), 1)}, {1, MEET(COLL_GROUP_ALL, 2, MEM(0), MEM(1), 1)}, {1, COPY(OUT(0), MEM(0), 1)}},
        .traits = COLL_NEEDS_SHARED | COLL_NEEDS_NETWORK_REDUCE},
    {.name = "SHARED, read after what is younger", BCAST(3, 2), .traits = COLL_NEEDS_SHARED, .shared = 2, .lines = {
        {0, COPY(OUT(0), IN(0), 2)}, {0, COPY(MEM(0), IN(0), 1)}, {0, NOTIFY(1, MEM(0))}, {0, SEND(1, IN(0), 2)},
        {1, AWAIT(0, MEM(0))}, {1, RECV(0, OUT(0), 2)}, {1, COPY(MEM(1), OUT(1), 1)}, {1, NOTIFY_OF(2, MEM(0), 2)},
        {2, AWAIT_OF(1, MEM(0), 2)}, {2, COPY(OUT(1), MEM(1), 1)}, {2, COPY(OUT(0), MEM(0), 1)}}},
    {.name = "SHARED, staged there when it is free", REDUCING(3, 1), .flags = COLL_FLAG_COMMUTATIVE, SHARES, .scratch = 1, .lines = {
        {0, AWAIT(1, MEM(0))}, {0, MERGE(2, OUT(0), IN(0), MEM(0), 1)}, {0, MERGE(1, OUT(0), OUT(0), TMP(0), 1)},
        {1, COPY(MEM(0), IN(0), 1)}, {1, COPY(TMP(0), MEM(0), 1)}, {1, NOTIFY(0, TMP(0))}, {1, SEND(0, IN(0), 1)}, {2, SEND(0, IN(0), 1)}}},
    {.name = "SHARED, staged there when the sum is free", REDUCING(3, 1), .flags = COLL_FLAG_COMMUTATIVE, SHARES, .scratch = 1, .finding = COLL_FOUND_RACE, .sentence = "rank 0, step 1: writes SHARED[0] in no order with rank 1, step 0", .lines = {
        {0, AWAIT(1, OUT(0))}, {0, MERGE(2, OUT(0), IN(0), MEM(0), 1)}, {0, MERGE(1, OUT(0), OUT(0), TMP(0), 1)},
        {1, COPY(MEM(0), IN(0), 1)}, {1, COPY(TMP(0), MEM(0), 1)}, {1, NOTIFY(0, TMP(0))}, {1, SEND(0, IN(0), 1)}, {2, SEND(0, IN(0), 1)}}},
    {.name = "SHARED, notified when it is combined", REDUCING(3, 1), .flags = COLL_FLAG_COMMUTATIVE, SHARES, .scratch = 2, .lines = {
        {0, MERGE(1, MEM(0), IN(0), TMP(0), 1)}, {0, AWAIT(1, TMP(9))}, {0, NOTIFY(2, MEM(0))}, {0, MERGE(2, OUT(0), MEM(0), TMP(1), 1)},
        {1, SEND(0, IN(0), 1)}, {1, NOTIFY(0, IN(0))}, {2, AWAIT(0, MEM(0))}, {2, COPY(TMP(0), MEM(0), 1)}, {2, SEND(0, IN(0), 1)}}},
    {.name = "SHARED, notified when it is staged", REDUCING(3, 1), .flags = COLL_FLAG_COMMUTATIVE, SHARES, .scratch = 2, .finding = COLL_FOUND_RACE, .sentence = "rank 2, step 1: reads SHARED[0] in no order with rank 0, step 0", .lines = {
        {0, MERGE(1, MEM(0), IN(0), TMP(0), 1)}, {0, AWAIT(1, TMP(9))}, {0, NOTIFY(2, TMP(9))}, {0, MERGE(2, OUT(0), MEM(0), TMP(1), 1)},
        {1, SEND(0, IN(0), 1)}, {1, NOTIFY(0, IN(0))}, {2, AWAIT(0, MEM(0))}, {2, COPY(TMP(0), MEM(0), 1)}, {2, SEND(0, IN(0), 1)}}},
    {.name = "SHARED, read when it is written", REDUCING(3, 1), .flags = COLL_FLAG_COMMUTATIVE, SHARES, .scratch = 3, .lines = {
        {0, AWAIT(1, MEM(0))}, {0, MERGE(2, OUT(0), IN(0), TMP(0), 1)}, {0, AWAIT(2, TMP(1))}, {0, COPY(TMP(1), MEM(0), 1)}, {0, MERGE(1, OUT(0), OUT(0), TMP(2), 1)},
        {1, COPY(MEM(0), IN(0), 1)}, {1, NOTIFY(0, MEM(0))}, {1, SEND(0, IN(0), 1)}, {2, SEND(0, IN(0), 1)}, {2, NOTIFY(0, IN(0))}}},
    {.name = "SHARED, read after what waits for it has arrived", REDUCING(3, 1), .flags = COLL_FLAG_COMMUTATIVE, SHARES, .scratch = 3, .finding = COLL_FOUND_RACE, .sentence = "rank 0, step 3: reads SHARED[0] in no order with rank 1, step 0", .lines = {
        {0, AWAIT(1, OUT(0))}, {0, MERGE(2, OUT(0), IN(0), TMP(0), 1)}, {0, AWAIT(2, TMP(1))}, {0, COPY(TMP(1), MEM(0), 1)}, {0, MERGE(1, OUT(0), OUT(0), TMP(2), 1)},
        {1, COPY(MEM(0), IN(0), 1)}, {1, NOTIFY(0, MEM(0))}, {1, SEND(0, IN(0), 1)}, {2, SEND(0, IN(0), 1)}, {2, NOTIFY(0, IN(0))}}},
    {.name = "SHARED, sent from there", REDUCING(2, 1), SHARES, .scratch = 1, .lines = {
        {0, MERGE(1, OUT(0), IN(0), OUT(0), 1)},
        {1, COPY(MEM(0), IN(0), 1)}, {1, SEND(0, MEM(0), 1)}, {1, COPY(TMP(0), MEM(0), 1)}}},
    {.name = "SHARED, told of by what reads what was written", REDUCING(3, 1), .flags = COLL_FLAG_COMMUTATIVE, SHARES, .scratch = 2, .lines = {
        {0, COPY(TMP(0), IN(0), 1)}, {0, MERGE(1, TMP(0), TMP(0), TMP(1), 1)}, {0, SEND(2, TMP(0), 1)}, {0, MERGE(2, OUT(0), TMP(0), TMP(1), 1)},
        {1, COPY(MEM(0), IN(0), 1)}, {1, SEND(0, MEM(0), 1)},
        {2, RECV(0, TMP(0), 1)}, {2, COPY(TMP(0), MEM(0), 1)}, {2, SEND(0, IN(0), 1)}}},
    {.name = "SHARED, told of by what reads the same", REDUCING(3, 1), .flags = COLL_FLAG_COMMUTATIVE, SHARES, .scratch = 2, .finding = COLL_FOUND_RACE, .sentence = "rank 2, step 1: reads SHARED[0] in no order with rank 1, step 0", .lines = {
        {0, COPY(TMP(0), IN(0), 1)}, {0, MERGE(1, OUT(0), TMP(0), TMP(1), 1)}, {0, SEND(2, TMP(0), 1)}, {0, MERGE(2, OUT(0), OUT(0), TMP(1), 1)},
        {1, COPY(MEM(0), IN(0), 1)}, {1, SEND(0, MEM(0), 1)},
        {2, RECV(0, TMP(0), 1)}, {2, COPY(TMP(0), MEM(0), 1)}, {2, SEND(0, IN(0), 1)}}},
    {.name = "SHARED, overwritten when it was sent and reduced", BCAST(2, 1), SHARES, .scratch = 1, .lines = {
        {0, COPY(OUT(0), IN(0), 1)}, {0, COPY(MEM(0), IN(0), 1)}, {0, SEND(1, MEM(0), 1)}, {0, REDUCE(TMP(0), IN(0), MEM(0), 1, 1)}, {0, COPY(MEM(0), IN(0), 1)},
        {1, RECV(0, OUT(0), 1)}}},
    {.name = "SHARED, staged there", REDUCING(2, 1), SHARES, .scratch = 1, .finding = COLL_FOUND_RACE, .sentence = "rank 0, step 0: writes SHARED[0] in no order with rank 1, step 2", .lines = {
        {0, MERGE(1, OUT(0), IN(0), MEM(0), 1)},
        {1, COPY(MEM(0), IN(0), 1)}, {1, SEND(0, MEM(0), 1)}, {1, COPY(TMP(0), MEM(0), 1)}}},
};
/* clang-format on */

/* The line of a program that is the rank's action s, or LINES. */
static size_t program_line(const coll_plan *plan, uint32_t rank, size_t s)
{
    const struct program *program = (const struct program *)(const void *)plan->algorithm;
    size_t line = 0;
    for (; line < LINES; line++)
        if (program->lines[line].rank == rank && program->lines[line].act.count > 0 && s-- == 0)
            break;
    return line;
}

static size_t program_steps(const coll_plan *plan, uint32_t rank)
{
    size_t s = 0;
    while (program_line(plan, rank, s) < LINES)
        s++;
    return s;
}

static unsigned program_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const struct program *program = (const struct program *)(const void *)plan->algorithm;
    out[0] = program->lines[program_line(plan, rank, s)].act;
    return 1;
}

static size_t program_scratch(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return ((const struct program *)(const void *)plan->algorithm)->scratch;
}

static size_t program_shared(const coll_plan *plan)
{
    return ((const struct program *)(const void *)plan->algorithm)->shared;
}

static const coll_algorithm *program_make(struct program *program)
{
    coll_algorithm *record = &program->record;
    record->name = "program";
    record->source = "here";
    record->collectives = COLL_BIT(program->collective);
    record->traits = program->traits;
    record->window = program->window ? program->window : 4;
    record->sends = program->sends ? program->sends : 4;
    record->steps = program_steps;
    record->step = program_step;
    record->scratch = program_scratch;
    record->shared = program_shared;
    return record;
}

#endif /* COLL_TESTS_MUTANTS_H */
