/* coll/lab/import/msccl_file.h — what a file for MSCCL says: thread blocks, and their steps
 *
 * What is taken is what compilers write: import_msccl.h. Private; use lab/import.h.
 */
#ifndef COLL_LAB_IMPORT_MSCCL_FILE_H
#define COLL_LAB_IMPORT_MSCCL_FILE_H

#include "strands.h"
#include "xml_text.h"

/* What is read. */
typedef struct coll_i_msccl_file {
    coll_i_source_text text;
    coll_i_xml_tag tag;
    coll_import *it;
    coll_report *report;
    coll_i_blocks *ranks;
    coll_i_memory *lines; /* of each rank: those of its steps */
    size_t (*chunks)[3];  /* of each rank, of i, o and s */
    uint64_t per_loop;
    uint32_t p, root;
    uint32_t steps; /* of the rank that is read */
    coll_collective collective;
    bool in_place, out_of_place, custom;
    coll_i_lexeme name;
} coll_i_msccl_file;

/* ---- steps ------------------------------------------------------------------------------- */

/* The elements of a chunk. */
COLL_INLINE size_t coll_i_msccl_chunk(const coll_i_msccl_file *f)
{
    return f->it->options.chunk ? f->it->options.chunk : 1;
}

/* The place of a chunk of i, o or s in a plan: where a call in place has input and output in one buffer, both are in
 * OUT; of a file that does not say what comes out, and of a reduce_scatter in place, i and o are parts of SCRATCH. */
COLL_INLINE coll_ref coll_i_msccl_place(const coll_i_msccl_file *f, uint32_t rank,
                                        unsigned buffer, size_t chunk)
{
    const size_t elements = chunk * coll_i_msccl_chunk(f);
    const size_t *chunks = f->chunks[rank];
    const bool blocks = f->collective == COLL_ALLGATHER,
               scatters = f->collective == COLL_REDUCE_SCATTER_BLOCK && f->in_place;
    const size_t own = rank * (size_t)(f->per_loop / f->p) * coll_i_msccl_chunk(f);
    const size_t head = f->custom  ? chunks[1] * coll_i_msccl_chunk(f)
                        : scatters ? (size_t)f->per_loop * coll_i_msccl_chunk(f)
                                   : 0;
    if (buffer == 2)
        return COLL_AT(COLL_SCRATCH, head + elements);
    if (f->custom)
        return buffer == 0 ? COLL_AT(COLL_IN, elements) : COLL_AT(COLL_SCRATCH, elements);
    if (scatters)
        return COLL_AT(COLL_SCRATCH, elements + (buffer == 1 ? own : 0));
    if (f->in_place)
        return COLL_AT(COLL_OUT, elements + (buffer == 0 && blocks ? own : 0));
    return COLL_AT(buffer == 0 ? COLL_IN : COLL_OUT, elements);
}

/* Reads one side of a step. */
COLL_INLINE bool coll_i_msccl_side(coll_i_msccl_file *f, uint32_t rank, const char *side,
                                   bool used, uint64_t count, uint32_t block, uint64_t step,
                                   coll_ref *ref)
{
    static const char *const letters[] = {"i", "o", "s"};
    char key[8];
    const coll_i_lexeme *letter;
    uint64_t offset;
    uint32_t buffer;
    *ref = 0;
    if (!used)
        return true;
    snprintf(key, sizeof key, "%sbuf", side);
    letter = coll_i_xml_value(&f->tag, key);
    buffer = letter ? coll_i_lexeme_index(*letter, letters, 3) : 3;
    if (buffer == 3)
        return coll_i_text_fail(&f->text, "%s is i, o or s", key);
    snprintf(key, sizeof key, "%soff", side);
    if (!coll_i_xml_number(&f->text, &f->tag, key, COLL_I_XML_MOST, UINT64_MAX, &offset))
        return false;
    if (offset + count > f->chunks[rank][buffer])
        return coll_i_found(f->report, COLL_FOUND_OUTSIDE, rank, (size_t)step,
                            "thread block %" PRIu32 " (line %" PRIu32 ") %s %s[%" PRIu64
                            "], %" PRIu64 " chunks, but %s has %zu",
                            block, f->text.line, side[0] == 's' ? "reads" : "writes",
                            letters[buffer], offset, count, letters[buffer],
                            f->chunks[rank][buffer]);
    *ref = coll_i_msccl_place(f, rank, buffer, (size_t)offset);
    return true;
}

COLL_INLINE bool coll_i_msccl_no_memory(coll_i_msccl_file *f)
{
    return coll_i_text_fail(&f->text, "there is not enough memory for this");
}

COLL_INLINE bool coll_i_msccl_read_step(coll_i_msccl_file *f, uint32_t rank, uint32_t b)
{
    static const char *const types[] = {"s",    "r",   "rcs", "rrc", "rrs",
                                        "rrcs", "cpy", "re",  "nop"};
    coll_i_block *block = coll_i_block_at(&f->ranks[rank], b);
    const coll_i_lexeme *type = coll_i_xml_value(&f->tag, "type");
    const uint32_t which = type ? coll_i_lexeme_index(*type, types, 9) : 9;
    uint64_t number, count, depends, after, awaited;
    coll_i_strand_touch touch;
    coll_i_step *step;
    uint32_t *lines;
    if (which == 9)
        return coll_i_text_fail(&f->text,
                                "a step is of type s, r, rcs, rrc, rrs, rrcs, cpy, re or nop");
    if (!coll_i_xml_number(&f->text, &f->tag, "s", UINT32_MAX, UINT64_MAX, &number) ||
        !coll_i_xml_number(&f->text, &f->tag, "cnt", COLL_I_XML_MOST, 0, &count) ||
        !coll_i_xml_number(&f->text, &f->tag, "depid", UINT16_MAX, COLL_I_NONE, &depends) ||
        !coll_i_xml_number(&f->text, &f->tag, "deps", COLL_I_XML_MOST, COLL_I_NONE, &after) ||
        !coll_i_xml_number(&f->text, &f->tag, "hasdep", 1, 0, &awaited))
        return false;
    if (number != block->n)
        return coll_i_text_fail(&f->text, "steps are numbered from 0: this is step %" PRIu32,
                                block->n);
    if ((depends == COLL_I_NONE) != (after == COLL_I_NONE))
        return coll_i_text_fail(&f->text, "depid and deps go together");
    if (which != COLL_I_MSCCL_NOP && count == 0)
        return coll_i_text_fail(&f->text, "a step moves at least one chunk: cnt is missing");
    step = (coll_i_step *)coll_i_reserve(&block->steps, (block->n + (size_t)1) * sizeof *step);
    lines = (uint32_t *)coll_i_reserve(&f->lines[rank], (f->steps + (size_t)1) * sizeof *lines);
    if (!step || !lines)
        return coll_i_msccl_no_memory(f);
    lines[f->steps] = f->text.line;
    step += block->n;
    memset(step, 0, sizeof *step);
    step->type = (coll_i_msccl_type)which;
    step->count = which == COLL_I_MSCCL_NOP ? 0 : (size_t)count * coll_i_msccl_chunk(f);
    step->block = (uint32_t)depends;
    step->after = (uint32_t)after;
    step->awaited = awaited == 1;
    if (coll_i_step_sends(step) && block->send == COLL_RANK_NONE)
        return coll_i_text_fail(&f->text,
                                "the step sends, and its thread block has send=\"-1\"");
    if (coll_i_step_receives(step) && block->recv == COLL_RANK_NONE)
        return coll_i_text_fail(&f->text,
                                "the step receives, and its thread block has recv=\"-1\"");
    touch = coll_i_strand_touches(step);
    if (!coll_i_msccl_side(f, rank, "src", touch.count[0] > 0, count, b, number, &step->src) ||
        !coll_i_msccl_side(f, rank, "dst", touch.count[1] > 0, count, b, number, &step->dst))
        return false;
    block->n++;
    f->steps++;
    return true;
}

/* A block has one peer to send to and one to receive from, over a channel that no other block has for them. */
COLL_INLINE bool coll_i_msccl_read_block(coll_i_msccl_file *f, uint32_t rank)
{
    coll_i_blocks *blocks = &f->ranks[rank];
    const uint32_t b = blocks->n;
    const bool alone = f->tag.alone;
    uint64_t id, send, recv, channel;
    coll_i_block *block;
    bool opens = true;
    if (!coll_i_xml_number(&f->text, &f->tag, "id", UINT16_MAX, UINT64_MAX, &id) ||
        !coll_i_xml_number(&f->text, &f->tag, "send", f->p - 1, COLL_RANK_NONE, &send) ||
        !coll_i_xml_number(&f->text, &f->tag, "recv", f->p - 1, COLL_RANK_NONE, &recv) ||
        !coll_i_xml_number(&f->text, &f->tag, "chan", 255, 0, &channel))
        return false;
    if (id != b)
        return coll_i_text_fail(&f->text,
                                "thread blocks are numbered from 0: this is block %" PRIu32, b);
    if (send == rank || recv == rank)
        return coll_i_text_fail(&f->text,
                                "a thread block of gpu %" PRIu32 " has itself as peer", rank);
    for (uint32_t i = 0; i < b; i++) {
        const coll_i_block *other = coll_i_block_at(blocks, i);
        if (other->channel == channel && ((send != COLL_RANK_NONE && other->send == send) ||
                                          (recv != COLL_RANK_NONE && other->recv == recv)))
            return coll_i_text_fail(&f->text,
                                    "block %" PRIu32 " has the same peer on channel %" PRIu64
                                    ", so its messages would be in no order with these",
                                    i, channel);
    }
    block = (coll_i_block *)coll_i_reserve(&blocks->list, (b + (size_t)1) * sizeof *block);
    if (!block)
        return coll_i_msccl_no_memory(f);
    memset(block + b, 0, sizeof *block);
    block[b].send = (uint32_t)send;
    block[b].recv = (uint32_t)recv;
    block[b].channel = (uint32_t)channel;
    blocks->n++;
    while (!alone && coll_i_xml_child(&f->text, &f->tag, "tb", "step", &opens) && opens) {
        if (!coll_i_msccl_read_step(f, rank, b))
            return false;
        if (!f->tag.alone &&
            (!coll_i_xml_child(&f->text, &f->tag, "step", "", &opens) || opens))
            return coll_i_text_fail(&f->text, "a step has nothing inside");
    }
    return !f->text.bad;
}

COLL_INLINE bool coll_i_msccl_read_gpu(coll_i_msccl_file *f, unsigned char *seen)
{
    static const char *const keys[] = {"i_chunks", "o_chunks", "s_chunks"};
    const bool alone = f->tag.alone;
    uint64_t id;
    bool opens = true;
    if (!coll_i_xml_number(&f->text, &f->tag, "id", f->p - 1, UINT64_MAX, &id))
        return false;
    if (seen[id])
        return coll_i_text_fail(&f->text, "gpu %" PRIu64 " is there twice", id);
    seen[id] = 1;
    f->steps = 0;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t chunks;
        if (!coll_i_xml_number(&f->text, &f->tag, keys[i], COLL_I_XML_MOST, 0, &chunks))
            return false;
        f->chunks[id][i] = (size_t)chunks;
    }
    while (!alone && coll_i_xml_child(&f->text, &f->tag, "gpu", "tb", &opens) && opens)
        if (!coll_i_msccl_read_block(f, (uint32_t)id))
            return false;
    return !f->text.bad;
}

/* ---- the file ---------------------------------------------------------------------------- */

/* The collective of a name; COLL_COLLECTIVES: none whose result is known. */
COLL_INLINE coll_collective coll_i_msccl_named(coll_i_lexeme word)
{
    static const struct {
        const char *name;
        coll_collective collective;
    } names[] = {{"broadcast", COLL_BCAST},
                 {"reduce", COLL_REDUCE},
                 {"allreduce", COLL_ALLREDUCE},
                 {"gather", COLL_GATHER},
                 {"scatter", COLL_SCATTER},
                 {"allgather", COLL_ALLGATHER},
                 {"alltoall", COLL_ALLTOALL},
                 {"reducescatter", COLL_REDUCE_SCATTER_BLOCK},
                 {"reduce_scatter", COLL_REDUCE_SCATTER_BLOCK}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (coll_i_lexeme_is(word, names[i].name))
            return names[i].collective;
    return COLL_COLLECTIVES;
}

/* The root, which only the name of a file tells: …_root3. */
COLL_INLINE bool coll_i_msccl_root(coll_i_msccl_file *f)
{
    uint64_t root = 0;
    f->root = 0;
    if (f->custom || !coll_is(COLL_ROOTED, f->collective))
        return true;
    for (size_t i = 0; i + 5 < f->name.n; i++) {
        coll_i_lexeme digits;
        digits.at = f->name.at + i + 5;
        digits.n = f->name.n - i - 5;
        if (memcmp(f->name.at + i, "_root", 5) == 0 &&
            coll_i_lexeme_number(digits, f->p - 1, &root))
            break;
    }
    f->root = (uint32_t)root;
    return true;
}

COLL_INLINE bool coll_i_msccl_read_head(coll_i_msccl_file *f)
{
    static const coll_i_lexeme none = {"msccl", 5};
    const coll_i_lexeme *name, *collective;
    uint64_t p, in_place, out_of_place;
    if (!coll_i_xml_next(&f->text, &f->tag) || f->tag.closes ||
        !coll_i_lexeme_is(f->tag.name, "algo"))
        return coll_i_text_fail(&f->text, "a file for MSCCL begins with <algo …>");
    collective = coll_i_xml_value(&f->tag, "coll");
    if (!collective)
        return coll_i_text_fail(&f->text, "<algo> has no coll");
    if (!coll_i_xml_number(&f->text, &f->tag, "ngpus", 1 << 20, UINT64_MAX, &p) ||
        !coll_i_xml_number(&f->text, &f->tag, "nchunksperloop", COLL_I_XML_MOST, UINT64_MAX,
                           &f->per_loop) ||
        !coll_i_xml_number(&f->text, &f->tag, "inplace", 1, 0, &in_place) ||
        !coll_i_xml_number(&f->text, &f->tag, "outofplace", 1, in_place ? 0 : 1, &out_of_place))
        return false;
    if (p == 0)
        return coll_i_text_fail(&f->text, "ngpus is at least 1");
    name = coll_i_xml_value(&f->tag, "name");
    f->name = name && name->n ? *name : none;
    f->p = (uint32_t)p;
    f->collective = coll_i_msccl_named(*collective);
    f->custom = f->collective == COLL_COLLECTIVES;
    f->it->both = in_place && out_of_place && !f->custom;
    f->in_place = !f->custom && in_place && (!out_of_place || f->it->options.in_place);
    if (!f->custom && coll_is(COLL_ROOTED, f->collective) && f->in_place)
        return coll_i_text_fail(&f->text, "a rooted collective in place is another one on each "
                                          "rank: set outofplace=\"1\"");
    if (f->collective == COLL_ALLGATHER || f->collective == COLL_ALLTOALL ||
        f->collective == COLL_REDUCE_SCATTER_BLOCK) {
        if (f->per_loop % f->p != 0)
            return coll_i_text_fail(&f->text,
                                    "nchunksperloop is of all %" PRIu32
                                    " blocks, and they do not divide %" PRIu64,
                                    f->p, f->per_loop);
    }
    return coll_i_msccl_root(f);
}

COLL_INLINE bool coll_i_msccl_read(coll_i_msccl_file *f)
{
    unsigned char *seen;
    uint32_t gpus = 0;
    bool opens = true, alone;
    if (!coll_i_msccl_read_head(f))
        return false;
    alone = f->tag.alone;
    if ((uint64_t)f->p > (uint64_t)(f->text.end - f->text.at))
        return coll_i_text_fail(&f->text, "%" PRIu32 " gpus are not in this text", f->p);
    f->ranks = (coll_i_blocks *)calloc(f->p, sizeof *f->ranks);
    f->lines = (coll_i_memory *)calloc(f->p, sizeof *f->lines);
    f->chunks = (size_t(*)[3])calloc(f->p, sizeof *f->chunks);
    seen = (unsigned char *)calloc(f->p, 1);
    if (!f->ranks || !f->lines || !f->chunks || !seen) {
        free(seen);
        return coll_i_msccl_no_memory(f);
    }
    while (!alone && coll_i_xml_child(&f->text, &f->tag, "algo", "gpu", &opens) && opens) {
        if (!coll_i_msccl_read_gpu(f, seen))
            break;
        gpus++;
    }
    free(seen);
    if (f->text.bad || !f->report->ok)
        return false;
    if (gpus != f->p)
        return coll_i_text_fail(&f->text, "there are %" PRIu32 " gpus, and ngpus is %" PRIu32,
                                gpus, f->p);
    return !coll_i_xml_next(&f->text, &f->tag)
               ? !f->text.bad
               : coll_i_text_fail(&f->text, "there is more behind </algo>");
}

COLL_INLINE void coll_i_msccl_file_release(coll_i_msccl_file *f)
{
    for (uint32_t rank = 0; rank < f->p; rank++) {
        if (f->ranks)
            coll_i_blocks_release(&f->ranks[rank]);
        if (f->lines)
            coll_i_release(&f->lines[rank]);
    }
    free(f->ranks);
    free(f->lines);
    free(f->chunks);
}

#endif /* COLL_LAB_IMPORT_MSCCL_FILE_H */
