/* coll/lab/export/msccl.h — a plan as XML for the executors of MSCCL, in NCCL and RCCL
 *
 *   coll_msccl_options options = {"Simple", 64};
 *   result = coll_export_msccl(&job, &options);
 *
 * A file is a collective on a number of GPUs: for each of them thread blocks, whose steps move
 * or combine chunks of the input (i), the output (o) and scratch memory (s):
 *
 *   <algo name="allgather_ring" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" …>
 *     <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
 *       <tb id="0" send="1" recv="-1" chan="0">
 *         <step s="0" type="s" srcbuf="i" srcoff="0" … cnt="1" depid="-1" deps="-1" hasdep="0"/>
 *         …
 *
 * A chunk is the largest number of elements of which all offsets and counts of the plan are
 * multiples; the file serves all calls whose count is a multiple of `nchunksperloop`. Blocks and
 * steps are those of msccl/blocks.h: a rank sends to another in one block, which may also
 * receive, and steps wait for steps of other blocks where program.h says so. A message is
 * combined as it arrives (rrc), and passed on at once where that is the next thing that happens
 * to it (rcs, rrcs; rrs if nobody else needs it).
 *
 * What MSCCL cannot express is refused: collectives that its executors do not know, blocks of
 * unequal size, operands in rank order, messages without data and shared memory, multicast and
 * reductions by the network; programs that are too long, and those that would not end with the
 * two chunks for which a connection has room (msccl/ends.h). A file is for one root, which only
 * its name says, and the executors do not ask. All ranks' programs are in memory.
 *
 * Source  Cowan, Maleki, Musuvathi, Saarikivi, Xiong 2023 (ASPLOS; MSCCLang); the parsers of
 *         msccl-executor-nccl and RCCL
 */
#ifndef COLL_LAB_EXPORT_MSCCL_H
#define COLL_LAB_EXPORT_MSCCL_H

#include "msccl/ends.h"
#include "msccl/limits.h"

/* What the executor takes. */
typedef struct coll_msccl_options {
    const char *protocol; /* "Simple", "LL" or "LL128": how the executor moves chunks */
    uint32_t steps;       /* of a thread block, as many as the executor takes */
} coll_msccl_options;

enum {
    COLL_I_MSCCL_CHANNELS = 32,
    COLL_I_MSCCL_OFFSET = 32767, /* of a chunk */
    COLL_I_MSCCL_NODES = 4096    /* of XML that the parser keeps for a rank */
};

/* ---- all ranks --------------------------------------------------------------------------- */

/* What is made of a plan. */
typedef struct coll_i_msccl {
    coll_i_blocks *ranks;
    size_t *scratch; /* chunks of each */
    uint32_t p, channels;
    size_t chunk;
} coll_i_msccl;

COLL_INLINE void coll_i_msccl_release(coll_i_msccl *m)
{
    for (uint32_t rank = 0; m->ranks && rank < m->p; rank++)
        coll_i_blocks_release(&m->ranks[rank]);
    free(m->ranks);
    free(m->scratch);
}

/* Makes the blocks of all ranks, of those that `pairs` allows. COLL_EXPORT_NO_MEMORY, or that a
 * rank needs too many blocks. */
COLL_INLINE coll_export_result coll_i_msccl_make(coll_export *job, coll_i_msccl *m,
                                                 coll_i_builder *b, bool pairs)
{
    b->pairs = pairs;
    b->chunk = m->chunk;
    for (uint32_t rank = 0; rank < m->p; rank++) {
        coll_i_blocks_release(&m->ranks[rank]);
        if (coll_i_blocks_make(b, &m->ranks[rank], coll_i_export_plan(job, rank), rank))
            continue;
        if (m->ranks[rank].n < COLL_I_MSCCL_BLOCKS)
            return COLL_EXPORT_NO_MEMORY;
        return coll_i_refuse(job,
                             "rank %u needs more than %d thread blocks: export fewer "
                             "ranks, or an algorithm with fewer partners",
                             rank, COLL_I_MSCCL_BLOCKS);
    }
    return COLL_EXPORTED;
}

/* Counts a ref of a step into its rank's scratch; false: its offset is too large. */
COLL_INLINE bool coll_i_msccl_measure(coll_i_msccl *m, uint32_t rank, coll_ref ref,
                                      size_t count)
{
    const size_t end = (coll_ref_offset(ref) + count) / m->chunk;
    if (coll_ref_space(ref) == COLL_SCRATCH && m->scratch[rank] < end)
        m->scratch[rank] = end;
    return end <= COLL_I_MSCCL_OFFSET;
}

/* Does a block, or a rank, exceed what the executors read? */
COLL_INLINE coll_export_result coll_i_msccl_limits(coll_export *job, coll_i_msccl *m,
                                                   const coll_msccl_options *options)
{
    for (uint32_t rank = 0; rank < m->p; rank++) {
        uint64_t nodes = 1 + (uint64_t)m->p + m->ranks[rank].n;
        for (uint32_t i = 0; i < m->ranks[rank].n; i++) {
            const coll_i_block *block = coll_i_block_at(&m->ranks[rank], i);
            bool fits = true;
            if (block->n > options->steps)
                return coll_i_refuse(job,
                                     "a thread block of rank %u has %u steps, and the "
                                     "executor takes %u: export fewer ranks or segments, "
                                     "or say that it takes more",
                                     rank, block->n, options->steps);
            for (uint32_t s = 0; s < block->n; s++) {
                const coll_i_step *step = coll_i_step_at(block, s);
                fits = coll_i_msccl_measure(m, rank, step->src, step->count) &&
                       coll_i_msccl_measure(m, rank, step->dst, step->count) && fits;
            }
            if (!fits)
                return coll_i_refuse(job,
                                     "there are more than %d chunks, of %zu element%s: "
                                     "export a count that the ranks divide",
                                     COLL_I_MSCCL_OFFSET, m->chunk, m->chunk == 1 ? "" : "s");
            nodes += block->n;
            if (m->channels <= block->channel)
                m->channels = block->channel + 1;
        }
        if (nodes > COLL_I_MSCCL_NODES || m->channels > COLL_I_MSCCL_CHANNELS)
            return coll_i_refuse(job,
                                 "the program of rank %u is longer than the executors "
                                 "read: export fewer ranks or segments",
                                 rank);
    }
    return COLL_EXPORTED;
}

/* Makes all blocks, in pairs if these come to their ends. */
COLL_INLINE coll_export_result coll_i_msccl_all(coll_export *job, coll_i_msccl *m,
                                                const coll_msccl_options *options)
{
    coll_i_builder *b = (coll_i_builder *)calloc(1, sizeof *b);
    coll_export_result result = b ? COLL_EXPORTED : COLL_EXPORT_NO_MEMORY;
    bool memory = true, ends = false;
    for (int pairs = 1; pairs >= 0 && result == COLL_EXPORTED && !ends; pairs--) {
        result = coll_i_msccl_make(job, m, b, pairs == 1);
        ends = result == COLL_EXPORTED && coll_i_blocks_end(m->ranks, m->p, m->chunk, &memory);
    }
    if (b)
        coll_i_builder_release(b);
    free(b);
    if (result != COLL_EXPORTED || !memory)
        return memory ? result : COLL_EXPORT_NO_MEMORY;
    if (!ends)
        return coll_i_refuse(job, "with room for two chunks on a connection the ranks would "
                                  "wait for each other: export another algorithm");
    return coll_i_msccl_limits(job, m, options);
}

/* ---- text -------------------------------------------------------------------------------- */

COLL_INLINE void coll_i_msccl_ref(coll_writer *to, const coll_i_msccl *m, const char *side,
                                  coll_ref ref, bool used)
{
    static const char letters[] = {'i', 'o', 's'};
    if (used)
        coll_i_write(to, " %sbuf=\"%c\" %soff=\"%zu\"", side, letters[coll_ref_space(ref)],
                     side, coll_ref_offset(ref) / m->chunk);
    else
        coll_i_write(to, " %sbuf=\"%c\" %soff=\"-1\"", side, side[0] == 's' ? 'i' : 'o', side);
}

/* Would the parser take two reductions for one that they are not? It looks at where they go to, and
 * not at how much. */
COLL_INLINE bool coll_i_msccl_confused(const coll_i_step *step, const coll_i_step *next)
{
    return step->type == COLL_I_MSCCL_RE && next->type == COLL_I_MSCCL_RE &&
           next->block == COLL_I_NONE && step->dst == next->dst &&
           coll_ref_space(step->src) == coll_ref_space(next->src) && step->count != next->count;
}

COLL_INLINE void coll_i_msccl_step(coll_writer *to, const coll_i_msccl *m,
                                   const coll_i_block *block, uint32_t s)
{
    static const char *const names[] = {"s",    "r",   "rcs", "rrc", "rrs",
                                        "rrcs", "cpy", "re",  "nop"};
    const coll_i_step *step = coll_i_step_at(block, s);
    const coll_i_msccl_type type = step->type;
    const bool waits = step->block != COLL_I_NONE, nop = type == COLL_I_MSCCL_NOP;
    const bool reads = type != COLL_I_MSCCL_R && type != COLL_I_MSCCL_RCS && !nop,
               writes = type != COLL_I_MSCCL_S && type != COLL_I_MSCCL_RRS && !nop;
    const bool awaited =
        step->awaited ||
        (s + 1 < block->n && coll_i_msccl_confused(step, coll_i_step_at(block, s + 1)));
    coll_i_write(to, "      <step s=\"%u\" type=\"%s\"", s, names[type]);
    coll_i_msccl_ref(to, m, "src", step->src, reads);
    coll_i_msccl_ref(to, m, "dst", step->dst, writes);
    coll_i_write(to, " cnt=\"%zu\"", step->count / m->chunk);
    if (waits)
        coll_i_write(to, " depid=\"%u\" deps=\"%u\"", step->block, step->after);
    else
        coll_i_write_text(to, " depid=\"-1\" deps=\"-1\"");
    coll_i_write(to, " hasdep=\"%d\"/>\n", awaited ? 1 : 0);
}

/* A rank, or -1. */
COLL_INLINE void coll_i_msccl_peer(coll_writer *to, const char *name, uint32_t peer)
{
    if (peer == COLL_RANK_NONE)
        coll_i_write(to, " %s=\"-1\"", name);
    else
        coll_i_write(to, " %s=\"%u\"", name, peer);
}

COLL_INLINE void coll_i_msccl_gpu(coll_writer *to, const coll_i_msccl *m,
                                  const coll_problem *of, uint32_t rank)
{
    const unsigned from_blocks =
        COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_ALLTOALL) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK);
    const unsigned to_blocks =
        COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLTOALL);
    const size_t chunks = of->count / m->chunk;
    const coll_i_blocks *blocks = &m->ranks[rank];
    coll_i_write(to, "  <gpu id=\"%u\" i_chunks=\"%zu\" o_chunks=\"%zu\"", rank,
                 coll_is(from_blocks, of->collective) ? chunks * m->p : chunks,
                 coll_is(to_blocks, of->collective) ? chunks * m->p : chunks);
    coll_i_write(to, " s_chunks=\"%zu\">\n", m->scratch[rank]);
    for (uint32_t i = 0; i < blocks->n; i++) {
        const coll_i_block *block = coll_i_block_at(blocks, i);
        coll_i_write(to, "    <tb id=\"%u\"", i);
        coll_i_msccl_peer(to, "send", block->send);
        coll_i_msccl_peer(to, "recv", block->recv);
        coll_i_write(to, " chan=\"%u\">\n", block->channel);
        for (uint32_t s = 0; s < block->n; s++)
            coll_i_msccl_step(to, m, block, s);
        coll_i_write_text(to, "    </tb>\n");
    }
    coll_i_write_text(to, "  </gpu>\n");
}

/* The executors take a call's count times the ranks, for the first three, and divide it by the
 * chunks of a loop. */
COLL_INLINE void coll_i_msccl_write(coll_writer *to, const coll_i_msccl *m,
                                    const coll_plan *plan, const coll_msccl_options *options)
{
    const unsigned times_ranks = COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLTOALL) |
                                 COLL_BIT(COLL_REDUCE_SCATTER_BLOCK);
    const coll_problem *of = &plan->problem;
    const size_t chunks = of->count / m->chunk;
    coll_i_write_text(to, "<algo name=\"");
    coll_i_write_text(to, coll_i_msccl_name(of->collective));
    coll_i_write_text(to, "_");
    coll_i_write_text(to, plan->algorithm->name);
    if (coll_is(COLL_ROOTED, of->collective))
        coll_i_write(to, "_root%u", of->root);
    coll_i_write(to, "\" proto=\"%s\" nchannels=\"%u\" nchunksperloop=\"%zu\" ngpus=\"%u\"",
                 options->protocol, m->channels,
                 coll_is(times_ranks, of->collective) ? chunks * m->p : chunks, m->p);
    coll_i_write(to, " coll=\"%s\" inplace=\"%d\" outofplace=\"%d\"",
                 coll_i_msccl_name(of->collective), coll_in_place(plan) ? 1 : 0,
                 coll_in_place(plan) ? 0 : 1);
    coll_i_write_text(to, " minBytes=\"0\" maxBytes=\"0\">\n");
    for (uint32_t rank = 0; rank < m->p; rank++)
        coll_i_msccl_gpu(to, m, of, rank);
    coll_i_write_text(to, "</algo>\n");
}

/* Writes XML. */
COLL_INLINE coll_export_result coll_export_msccl(coll_export *job,
                                                 const coll_msccl_options *options)
{
    const coll_plan *plan = coll_i_export_plan(job, 0);
    coll_export_result result = coll_i_msccl_check(job);
    coll_i_msccl m;
    size_t *chunk = &m.chunk;
    memset(&m, 0, sizeof m);
    m.chunk = plan->problem.count;
    if (result == COLL_EXPORTED)
        result = coll_i_export_ask(job, coll_i_msccl_asks, &chunk);
    if (result != COLL_EXPORTED)
        return result;
    m.p = plan->problem.p;
    m.channels = 1;
    m.ranks = (coll_i_blocks *)calloc(m.p, sizeof *m.ranks);
    m.scratch = (size_t *)calloc(m.p, sizeof *m.scratch);
    result = m.ranks && m.scratch ? coll_i_msccl_all(job, &m, options) : COLL_EXPORT_NO_MEMORY;
    if (result == COLL_EXPORTED)
        coll_i_msccl_write(&job->to, &m, plan, options);
    coll_i_msccl_release(&m);
    return result == COLL_EXPORT_REFUSED
               ? result
               : coll_i_export_end(job, result != COLL_EXPORT_NO_MEMORY);
}

#endif /* COLL_LAB_EXPORT_MSCCL_H */
