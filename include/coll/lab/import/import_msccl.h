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

#include "strands.h"

enum { COLL_I_XML_ATTRIBUTES = 24, COLL_I_XML_MOST = 1 << 20 };

typedef struct coll_i_xml_tag {
    coll_i_lexeme name;
    bool closes, alone; /* </name>, <name/> */
    uint32_t n;
    coll_i_lexeme key[COLL_I_XML_ATTRIBUTES], value[COLL_I_XML_ATTRIBUTES];
} coll_i_xml_tag;

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

/* ---- tags -------------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_xml_attribute(coll_i_source_text *t, coll_i_xml_tag *tag)
{
    char quote;
    coll_i_lexeme *value = &tag->value[tag->n];
    if (tag->n == COLL_I_XML_ATTRIBUTES)
        return coll_i_text_fail(t, "a tag has more than %d attributes", COLL_I_XML_ATTRIBUTES);
    tag->key[tag->n] = coll_i_text_name(t);
    if (tag->key[tag->n].n == 0)
        return coll_i_text_fail(t, "an attribute or the end of the tag is missing");
    coll_i_text_blanks(t, true);
    if (!coll_i_text_take(t, "="))
        return coll_i_text_fail(t, "the attribute %.*s has no value",
                                coll_i_lexeme_shown(tag->key[tag->n]), tag->key[tag->n].at);
    coll_i_text_blanks(t, true);
    if (coll_i_text_ended(t) || (*t->at != '"' && *t->at != '\''))
        return coll_i_text_fail(t, "the value of %.*s is not between quotes",
                                coll_i_lexeme_shown(tag->key[tag->n]), tag->key[tag->n].at);
    quote = *t->at++;
    value->at = t->at;
    while (t->at < t->end && *t->at != quote && *t->at != '<' && *t->at != '\n')
        t->at++;
    value->n = (size_t)(t->at - value->at);
    if (coll_i_text_ended(t) || *t->at != quote)
        return coll_i_text_fail(t, "the value of %.*s has no end",
                                coll_i_lexeme_shown(tag->key[tag->n]), tag->key[tag->n].at);
    t->at++;
    tag->n++;
    return true;
}

/* Reads the next tag. False: there is none, or a mistake. */
COLL_INLINE bool coll_i_xml_next(coll_i_source_text *t, coll_i_xml_tag *tag)
{
    for (;;) {
        coll_i_text_blanks(t, true);
        if (coll_i_text_ended(t))
            return false;
        if (coll_i_text_take(t, "<!--")) {
            if (!coll_i_text_pass(t, "-->"))
                return coll_i_text_fail(t, "a comment has no end");
        } else if (coll_i_text_take(t, "<?")) {
            if (!coll_i_text_pass(t, "?>"))
                return coll_i_text_fail(t, "<? has no end");
        } else {
            break;
        }
    }
    if (!coll_i_text_take(t, "<"))
        return coll_i_text_fail(t, "a tag is missing: here is text");
    tag->n = 0;
    tag->alone = false;
    tag->closes = coll_i_text_take(t, "/");
    tag->name = coll_i_text_name(t);
    if (tag->name.n == 0)
        return coll_i_text_fail(t, "a tag has no name");
    for (;;) {
        coll_i_text_blanks(t, true);
        tag->alone = coll_i_text_take(t, "/");
        if (coll_i_text_take(t, ">"))
            return true;
        if (tag->alone || tag->closes || !coll_i_xml_attribute(t, tag))
            return coll_i_text_fail(t, "the tag %.*s has no end",
                                    coll_i_lexeme_shown(tag->name), tag->name.at);
    }
}

/* The next tag must be there; *opens: it begins an element of this name, and does not end `of`. */
COLL_INLINE bool coll_i_xml_child(coll_i_msccl_file *f, const char *of, const char *name,
                                  bool *opens)
{
    coll_i_xml_tag *tag = &f->tag;
    if (!coll_i_xml_next(&f->text, tag))
        return coll_i_text_fail(&f->text, "</%s> is missing", of);
    *opens = !tag->closes;
    if (coll_i_lexeme_is(tag->name, tag->closes ? of : name))
        return true;
    return coll_i_text_fail(&f->text, "<%s%.*s> is not expected in <%s>",
                            tag->closes ? "/" : "", coll_i_lexeme_shown(tag->name),
                            tag->name.at, of);
}

COLL_INLINE const coll_i_lexeme *coll_i_xml_value(const coll_i_xml_tag *tag, const char *key)
{
    for (uint32_t i = 0; i < tag->n; i++)
        if (coll_i_lexeme_is(tag->key[i], key))
            return &tag->value[i];
    return NULL;
}

/* A number of a tag from 0 on. Where it is missing, or −1, it is `missing`, unless that is UINT64_MAX. */
COLL_INLINE bool coll_i_xml_number(coll_i_msccl_file *f, const char *key, uint64_t most,
                                   uint64_t missing, uint64_t *number)
{
    const coll_i_lexeme *value = coll_i_xml_value(&f->tag, key);
    *number = missing;
    if (missing != UINT64_MAX && (!value || coll_i_lexeme_is(*value, "-1")))
        return true;
    if (!value)
        return coll_i_text_fail(&f->text, "<%.*s> has no %s", coll_i_lexeme_shown(f->tag.name),
                                f->tag.name.at, key);
    return coll_i_lexeme_number(*value, most, number) ||
           coll_i_text_fail(&f->text,
                            "%s is a whole number from 0 to %" PRIu64 ", not \"%.*s\"", key,
                            most, coll_i_lexeme_shown(*value), value->at);
}

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
    if (!coll_i_xml_number(f, key, COLL_I_XML_MOST, UINT64_MAX, &offset))
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
    if (!coll_i_xml_number(f, "s", UINT32_MAX, UINT64_MAX, &number) ||
        !coll_i_xml_number(f, "cnt", COLL_I_XML_MOST, 0, &count) ||
        !coll_i_xml_number(f, "depid", UINT16_MAX, COLL_I_NONE, &depends) ||
        !coll_i_xml_number(f, "deps", COLL_I_XML_MOST, COLL_I_NONE, &after) ||
        !coll_i_xml_number(f, "hasdep", 1, 0, &awaited))
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
    if (!coll_i_xml_number(f, "id", UINT16_MAX, UINT64_MAX, &id) ||
        !coll_i_xml_number(f, "send", f->p - 1, COLL_RANK_NONE, &send) ||
        !coll_i_xml_number(f, "recv", f->p - 1, COLL_RANK_NONE, &recv) ||
        !coll_i_xml_number(f, "chan", 255, 0, &channel))
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
    while (!alone && coll_i_xml_child(f, "tb", "step", &opens) && opens) {
        if (!coll_i_msccl_read_step(f, rank, b))
            return false;
        if (!f->tag.alone && (!coll_i_xml_child(f, "step", "", &opens) || opens))
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
    if (!coll_i_xml_number(f, "id", f->p - 1, UINT64_MAX, &id))
        return false;
    if (seen[id])
        return coll_i_text_fail(&f->text, "gpu %" PRIu64 " is there twice", id);
    seen[id] = 1;
    f->steps = 0;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t chunks;
        if (!coll_i_xml_number(f, keys[i], COLL_I_XML_MOST, 0, &chunks))
            return false;
        f->chunks[id][i] = (size_t)chunks;
    }
    while (!alone && coll_i_xml_child(f, "gpu", "tb", &opens) && opens)
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
    if (!coll_i_xml_number(f, "ngpus", 1 << 20, UINT64_MAX, &p) ||
        !coll_i_xml_number(f, "nchunksperloop", COLL_I_XML_MOST, UINT64_MAX, &f->per_loop) ||
        !coll_i_xml_number(f, "inplace", 1, 0, &in_place) ||
        !coll_i_xml_number(f, "outofplace", 1, in_place ? 0 : 1, &out_of_place))
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
    while (!alone && coll_i_xml_child(f, "algo", "gpu", &opens) && opens) {
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
