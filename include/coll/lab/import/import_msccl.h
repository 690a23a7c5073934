/* coll/lab/import/import_msccl.h — XML for the executors of MSCCL, read back: thread blocks and their steps
 *
 * What is taken is what compilers write, MSCCLang and the exporter of export/msccl.h among them: elements algo, gpu,
 * tb and step with their attributes in any order, comments, and unknown attributes, which mean nothing here. The limits of one
 * executor (steps a block, blocks a rank, one space between attributes) are not asked for.
 *
 * The blocks of a rank run side by side (strands.h). What they compute is proven for all interleavings: there is no
 * race, so the sequence that the plan is computes the same as any other. Private; use lab/import.h.
 */
#ifndef COLL_LAB_IMPORT_IMPORT_MSCCL_H
#define COLL_LAB_IMPORT_IMPORT_MSCCL_H

#include "msccl_file.h"

/* ---- sequences --------------------------------------------------------------------------- */

/* What a problem of this file is. */
COLL_INLINE void coll_i_msccl_problem(const coll_i_msccl_file *f, uint32_t rank,
                                      coll_problem *problem)
{
    const coll_import_options *options = &f->it->options;
    const bool blocks = f->collective == COLL_ALLGATHER || f->collective == COLL_ALLTOALL ||
                        f->collective == COLL_REDUCE_SCATTER_BLOCK;
    const uint64_t chunks = f->custom                       ? f->chunks[rank][0]
                            : blocks                        ? f->per_loop / f->p
                            : f->collective == COLL_GATHER  ? f->chunks[f->root][0]
                            : f->collective == COLL_SCATTER ? f->chunks[f->root][1]
                                                            : f->per_loop;
    coll_problem_init(problem, f->custom ? COLL_NEIGHBOR_ALLGATHER : f->collective, f->p,
                      (size_t)chunks * coll_i_msccl_chunk(f),
                      options->elem_bytes ? options->elem_bytes : 8);
    problem->root = f->root;
    if (f->in_place && f->collective != COLL_REDUCE_SCATTER_BLOCK)
        problem->flags |= COLL_FLAG_IN_PLACE;
    if (!f->custom && coll_is(COLL_REDUCING, f->collective))
        problem->flags |= COLL_FLAG_COMMUTATIVE;
}

/* Elements of SCRATCH before those where messages are staged: s, and what coll_i_msccl_place puts before it. */
COLL_INLINE size_t coll_i_msccl_scratch(const coll_i_msccl_file *f, uint32_t rank)
{
    return coll_ref_offset(coll_i_msccl_place(f, rank, 2, f->chunks[rank][2]));
}

/* Does a step combine a message as it arrives? */
COLL_INLINE bool coll_i_msccl_merges(const coll_i_step *step)
{
    return step->type == COLL_I_MSCCL_RRC || step->type == COLL_I_MSCCL_RRS ||
           step->type == COLL_I_MSCCL_RRCS;
}

/* The actions of a step; `via` where a message that is combined is staged. False: no memory. */
COLL_INLINE bool coll_i_msccl_acts(coll_i_imported_rank *r, const coll_i_block *block,
                                   const coll_i_step *step, coll_ref via)
{
    const coll_i_msccl_type type = step->type;
    const bool merges = coll_i_msccl_merges(step);
    const coll_ref dst = type == COLL_I_MSCCL_RRS ? via : step->dst;
    coll_action *a;
    if (type == COLL_I_MSCCL_NOP)
        return true;
    a = coll_i_imported_add(r);
    if (!a)
        return false;
    if (type == COLL_I_MSCCL_S)
        coll_act_send(a, block->send, step->src, step->count);
    else if (type == COLL_I_MSCCL_CPY)
        coll_act_copy(a, step->dst, step->src, step->count);
    else if (type == COLL_I_MSCCL_RE)
        coll_act_reduce(a, step->dst, step->dst, step->src, step->count);
    else if (merges)
        coll_act_recv_reduce(a, block->recv, dst, step->src, via, step->count);
    else
        coll_act_recv(a, block->recv, dst, step->count);
    if (type == COLL_I_MSCCL_S || !coll_i_step_sends(step))
        return true;
    a = coll_i_imported_add(r);
    if (a)
        coll_act_send(a, block->send, dst, step->count);
    return a != NULL;
}

/* A copy that no step is, before or after all of them. */
COLL_INLINE bool coll_i_msccl_copies(coll_i_imported_rank *r, coll_ref dst, coll_ref src,
                                     size_t count)
{
    coll_action *a;
    if (!coll_i_imported_step_add(r, 1, COLL_I_NONE, 0))
        return false;
    a = coll_i_imported_add(r);
    if (a)
        coll_act_copy(a, dst, src, count);
    return a != NULL;
}

/* Writes all ranks' sequences. False: no memory. */
COLL_INLINE bool coll_i_msccl_sequences(coll_i_msccl_file *f, const coll_i_strands *s)
{
    const uint32_t *sorted = (const uint32_t *)s->sorted.at;
    const bool lifted = f->collective == COLL_REDUCE_SCATTER_BLOCK && f->in_place;
    const size_t whole = (size_t)f->per_loop * coll_i_msccl_chunk(f), own = whole / f->p;
    coll_import *it = f->it;
    size_t *staging = (size_t *)malloc((s->n + (size_t)1) * sizeof *staging);
    const uint32_t *first = (const uint32_t *)s->first.at;
    bool good = staging != NULL;
    for (uint32_t rank = 0; good && rank < f->p; rank++) {
        size_t at = coll_i_msccl_scratch(f, rank);
        if (lifted)
            good = coll_i_msccl_copies(&it->ranks[rank], COLL_AT(COLL_SCRATCH, 0),
                                       COLL_AT(COLL_IN, 0), whole);
        for (uint32_t b = 0; b < f->ranks[rank].n; b++) {
            const coll_i_block *block = coll_i_block_at(&f->ranks[rank], b);
            const uint32_t node = ((const uint32_t *)s->blocks.at)[first[rank] + b];
            size_t most = 0, merges = 0;
            for (uint32_t k = 0; k < block->n; k++) {
                const coll_i_step *step = coll_i_step_at(block, k);
                most = coll_i_msccl_merges(step) && step->count > most ? step->count : most;
            }
            for (uint32_t k = 0; k < block->n; k++) /* what is sent on from one must leave it */
                staging[node + k] =
                    at +
                    (coll_i_msccl_merges(coll_i_step_at(block, k)) && merges++ % 2 ? most : 0);
            at += merges > 1 ? 2 * most : most;
        }
        it->ranks[rank].extent[COLL_SCRATCH] = at;
    }
    for (uint32_t i = 0; good && i < s->n; i++) {
        const coll_i_strand_node *node = coll_i_strand_at(s, sorted[i]);
        coll_i_imported_rank *r = &it->ranks[node->rank];
        good = coll_i_imported_step_add(r, node->line, node->block, node->step) &&
               coll_i_msccl_acts(r, coll_i_strand_block(s, node), coll_i_strand_step(s, node),
                                 COLL_AT(COLL_SCRATCH, staging[sorted[i]]));
    }
    for (uint32_t rank = 0; good && lifted && rank < f->p; rank++)
        good = coll_i_msccl_copies(&it->ranks[rank], COLL_AT(COLL_OUT, 0),
                                   COLL_AT(COLL_SCRATCH, rank * own), own);
    free(staging);
    return good;
}

/* Looks for races of all ranks, whose steps are sorted. */
COLL_INLINE bool coll_i_msccl_races(coll_i_msccl_file *f, coll_i_strands *s)
{
    const uint32_t *sorted = (const uint32_t *)s->sorted.at;
    uint32_t *nodes = (uint32_t *)malloc((s->n + (size_t)1) * sizeof *nodes),
             *at = (uint32_t *)calloc(f->p + (size_t)1, sizeof *at);
    bool good = nodes && at;
    if (!good)
        (void)coll_i_no_memory(f->report);
    for (uint32_t i = 0; good && i < s->n; i++)
        at[coll_i_strand_at(s, i)->rank + 1]++;
    for (uint32_t rank = 1; good && rank <= f->p; rank++)
        at[rank] += at[rank - 1];
    for (uint32_t i = 0; good && i < s->n; i++)
        nodes[at[coll_i_strand_at(s, sorted[i])->rank]++] = sorted[i];
    for (uint32_t rank = 0; good && rank < f->p; rank++) {
        const uint32_t begin = rank ? at[rank - 1] : 0;
        const size_t chunk = coll_i_msccl_chunk(f), *chunks = f->chunks[rank];
        size_t extent[COLL_SPACES]; /* in place the output may begin behind the input */
        extent[COLL_IN] = chunks[0];
        extent[COLL_OUT] = chunks[0] + chunks[1] + (size_t)f->per_loop;
        extent[COLL_SCRATCH] = coll_i_msccl_scratch(f, rank) / chunk + extent[COLL_OUT];
        extent[COLL_SHARED] = 0;
        good =
            coll_i_strands_race(s, nodes + begin, at[rank] - begin, extent, chunk, f->report);
    }
    free(nodes);
    free(at);
    return good;
}

/* Do the blocks end where a connection has room for two chunks? */
COLL_INLINE bool coll_i_msccl_ends(coll_i_msccl_file *f)
{
    bool memory = true;
    if (coll_i_blocks_end(f->ranks, f->p, coll_i_msccl_chunk(f), &memory))
        return true;
    for (uint32_t rank = 0; memory && rank < f->p; rank++) {
        uint32_t n = 0;
        for (uint32_t b = 0; b < f->ranks[rank].n; b++) {
            const coll_i_block *block = coll_i_block_at(&f->ranks[rank], b);
            if (block->at < block->n)
                return coll_i_found(
                    f->report, COLL_FOUND_DEADLOCK_BOUNDED, rank, block->at,
                    "thread block %" PRIu32 " (line %" PRIu32
                    ") waits for ever where a connection has room for two chunks",
                    b, ((const uint32_t *)f->lines[rank].at)[n + block->at]);
            n += block->n;
        }
    }
    return coll_i_no_memory(f->report);
}

/* The plans. */
COLL_INLINE bool coll_i_msccl_plans(coll_i_msccl_file *f)
{
    coll_import *it = f->it;
    it->plans = (coll_plan *)calloc(f->p, sizeof *it->plans);
    if (!it->plans)
        return coll_i_msccl_no_memory(f);
    coll_i_import_record(it, f->custom ? COLL_NEIGHBOR_ALLGATHER : f->collective, f->name);
    for (uint32_t rank = 0; rank < f->p; rank++) {
        coll_neighbors nobody;
        coll_problem problem;
        coll_status status = COLL_OK;
        memset(&nobody, 0, sizeof nobody);
        coll_i_msccl_problem(f, rank, &problem);
        if (f->custom) {
            status = coll_graph_lists(&it->ranks[rank].graph, &nobody, rank, f->p, NULL);
            problem.graph = &it->ranks[rank].graph;
        }
        if (status == COLL_OK)
            status = coll_i_import_plan(it, rank, &problem);
        if (status != COLL_OK)
            return coll_i_text_fail(&f->text, "gpu %" PRIu32 ": %s", rank,
                                    coll_status_text(status));
    }
    it->problem = it->plans[0].problem;
    it->custom = f->custom;
    return true;
}

/* Reads XML into *it. */
COLL_INLINE coll_import_result coll_i_import_msccl(coll_import *it, const char *text,
                                                   size_t bytes, coll_sentence *why)
{
    coll_i_msccl_file f;
    coll_i_strands s;
    bool good;
    memset(&f, 0, sizeof f);
    memset(&s, 0, sizeof s);
    f.it = it;
    f.report = &it->report;
    coll_i_text_init(&f.text, text, bytes, why);
    good = coll_i_msccl_read(&f);
    if (good) {
        const uint32_t **lines = (const uint32_t **)calloc(f.p, sizeof *lines);
        for (uint32_t rank = 0; lines && rank < f.p; rank++)
            lines[rank] = (const uint32_t *)f.lines[rank].at;
        good = lines && coll_i_import_ranks(it, f.p) ? true : coll_i_msccl_no_memory(&f);
        good = good && coll_i_strands_make(&s, f.ranks, f.p, lines, f.report) &&
               coll_i_msccl_races(&f, &s) && coll_i_msccl_ends(&f);
        if (good && !coll_i_strands_in_line(&s, f.report)) {
            good = false;
            if (f.report->finding == COLL_FOUND_DEADLOCK) /* not the file's, but the order's */
                (void)coll_i_text_fail(
                    &f.text, "messages of two channels between two ranks overtake each "
                             "other, so there is no plan with one channel for both");
        }
        if (good && !coll_i_msccl_sequences(&f, &s))
            good = coll_i_msccl_no_memory(&f);
        good = good && coll_i_msccl_plans(&f);
        free(lines);
    }
    coll_i_strands_release(&s);
    coll_i_msccl_file_release(&f);
    return good ? COLL_IMPORTED : !f.text.bad ? COLL_IMPORT_WRONG : COLL_IMPORT_REFUSED;
}

#endif /* COLL_LAB_IMPORT_IMPORT_MSCCL_H */
