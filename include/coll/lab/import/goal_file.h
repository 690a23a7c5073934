/* coll/lab/import/goal_file.h — what a GOAL program says: the operations of all ranks, and what they wait for
 *
 * Private; use lab/import.h.
 */
#ifndef COLL_LAB_IMPORT_GOAL_FILE_H
#define COLL_LAB_IMPORT_GOAL_FILE_H

#include "../verify/memory.h"
#include "imported.h"

typedef struct coll_i_goal_op {
    coll_i_lexeme label;
    uint64_t bytes;
    uint32_t rank, line, peer, tag;
    uint32_t edges; /* the first of what it comes after */
    uint32_t match; /* the other end of its message */
    char kind;      /* s, r, c */
} coll_i_goal_op;

typedef struct coll_i_goal_edge {
    uint32_t op, next;
    bool started; /* irequires */
} coll_i_goal_edge;

/* What an operation's start or end is in the order. */
typedef struct coll_i_goal_event {
    uint32_t level; /* 0: not known; COLL_I_NONE: being looked for */
    uint32_t seen, at;
} coll_i_goal_event;

typedef struct coll_i_goal_file {
    coll_i_source_text text;
    coll_import *it;
    coll_report *report;
    coll_i_memory ops, edges, events, stack, sorted, labels;
    uint32_t n, n_edges, slots, first; /* first: operation of the rank that is read */
    uint32_t query;
    bool synchronous;
} coll_i_goal_file;

COLL_INLINE coll_i_goal_op *coll_i_goal_op_at(const coll_i_goal_file *f, uint32_t op)
{
    return (coll_i_goal_op *)f->ops.at + op;
}

COLL_INLINE bool coll_i_goal_no_memory(coll_i_goal_file *f)
{
    return coll_i_text_fail(&f->text, "there is not enough memory for this");
}

/* A finding at an operation; its step is its number on its rank. */
COLL_INLINE COLL_I_PRINTF(4, 5) bool coll_i_goal_found(coll_i_goal_file *f,
                                                       coll_finding finding, uint32_t op,
                                                       const char *format, ...)
{
    const coll_i_goal_op *at = coll_i_goal_op_at(f, op);
    uint32_t first = op;
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    while (first > 0 && coll_i_goal_op_at(f, first - 1)->rank == at->rank)
        first--;
    return coll_i_found(f->report, finding, at->rank, op - first, "(line %" PRIu32 ") %s",
                        at->line, text);
}

/* ---- labels ------------------------------------------------------------------------------ */

COLL_INLINE uint32_t *coll_i_goal_slot(const coll_i_goal_file *f, coll_i_lexeme label)
{
    uint32_t *slots = (uint32_t *)f->labels.at, i;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t k = 0; k < label.n; k++)
        hash = (hash ^ (unsigned char)label.at[k]) * 0x100000001b3u;
    for (i = (uint32_t)(hash >> 32) & (f->slots - 1); slots[i] != 0;
         i = (i + 1) & (f->slots - 1)) {
        const coll_i_lexeme other = coll_i_goal_op_at(f, slots[i] - 1)->label;
        if (other.n == label.n && memcmp(other.at, label.at, label.n) == 0)
            break;
    }
    return &slots[i];
}

/* Makes room for the labels of this rank's operations, and one more. */
COLL_INLINE bool coll_i_goal_labels(coll_i_goal_file *f)
{
    const uint32_t n = f->n - f->first + 1;
    if (f->slots > 2 * n)
        return true;
    f->slots = f->slots ? 2 * f->slots : 64;
    if (!coll_i_reserve_new(&f->labels, f->slots * sizeof(uint32_t)))
        return coll_i_goal_no_memory(f);
    memset(f->labels.at, 0, f->slots * sizeof(uint32_t));
    for (uint32_t op = f->first; op < f->n; op++)
        if (coll_i_goal_op_at(f, op)->label.n > 0)
            *coll_i_goal_slot(f, coll_i_goal_op_at(f, op)->label) = op + 1;
    return true;
}

/* The operation of a label. */
COLL_INLINE bool coll_i_goal_labelled(coll_i_goal_file *f, coll_i_lexeme label, uint32_t *op)
{
    const uint32_t found = f->n > f->first && label.n ? *coll_i_goal_slot(f, label) : 0;
    if (found == 0)
        return coll_i_text_fail(&f->text, "there is no operation \"%.*s\" above",
                                coll_i_lexeme_shown(label), label.at);
    *op = found - 1;
    return true;
}

/* ---- statements -------------------------------------------------------------------------- */

COLL_INLINE coll_i_lexeme coll_i_goal_word(coll_i_goal_file *f)
{
    coll_i_text_blanks(&f->text, false);
    return coll_i_text_name(&f->text);
}

/* Passes empty lines and comments. */
COLL_INLINE bool coll_i_goal_space(coll_i_source_text *t)
{
    for (;;) {
        coll_i_text_blanks(t, true);
        if (coll_i_text_take(t, "//")) {
            while (t->at < t->end && *t->at != '\n')
                t->at++;
        } else if (coll_i_text_take(t, "/*")) {
            if (!coll_i_text_pass(t, "*/"))
                return coll_i_text_fail(t, "a comment has no end");
        } else {
            return true;
        }
    }
}

COLL_INLINE bool coll_i_goal_number(coll_i_goal_file *f, const char *what, uint64_t most,
                                    uint64_t *number)
{
    coll_i_text_blanks(&f->text, false);
    if (coll_i_text_take(&f->text, "-1"))
        return coll_i_text_fail(&f->text,
                                "any %s could match, so nothing can be proven: give one", what);
    return coll_i_text_number(&f->text, what, most, number);
}

COLL_INLINE bool coll_i_goal_end_of_line(coll_i_goal_file *f)
{
    coll_i_text_blanks(&f->text, false);
    return coll_i_text_ended(&f->text) || *f->text.at == '\n' ||
           coll_i_text_fail(&f->text, "there is more behind the statement");
}

/* send, recv or calc, and what follows. */
COLL_INLINE bool coll_i_goal_operation(coll_i_goal_file *f, uint32_t rank, coll_i_lexeme label,
                                       coll_i_lexeme word)
{
    static const char *const options[] = {"tag", "cpu", "nic"};
    const bool sends = coll_i_lexeme_is(word, "send"), calc = coll_i_lexeme_is(word, "calc");
    uint64_t bytes = 0, peer = 0, option[3] = {0, 0, 0};
    coll_i_goal_op *op;
    if (!coll_i_goal_number(f, calc ? "a time" : "a size", COLL_REF_LIMIT / 512, &bytes))
        return false;
    if (!calc) {
        coll_i_lexeme way;
        if (!coll_i_text_take(&f->text, "b"))
            return coll_i_text_fail(&f->text, "a size ends with b, for bytes");
        way = coll_i_goal_word(f);
        if (!coll_i_lexeme_is(way, sends ? "to" : "from"))
            return coll_i_text_fail(&f->text, "\"%s\" is missing", sends ? "to" : "from");
        if (!coll_i_goal_number(f, "rank", UINT32_MAX - 1, &peer))
            return false;
        if (peer >= f->it->p || peer == rank)
            return coll_i_text_fail(
                &f->text, "rank %" PRIu64 " of %" PRIu32 " is no peer of rank %" PRIu32, peer,
                f->it->p, rank);
    }
    for (;;) {
        const coll_i_lexeme name = coll_i_goal_word(f);
        const uint32_t i = coll_i_lexeme_index(name, options, 3);
        if (name.n == 0)
            break;
        if (i == 3 || (calc && i != 1))
            return coll_i_text_fail(&f->text, "\"%.*s\" is not expected here",
                                    coll_i_lexeme_shown(name), name.at);
        if (!coll_i_goal_number(f, options[i], UINT32_MAX, &option[i]))
            return false;
    }
    if (!coll_i_goal_end_of_line(f) || !coll_i_goal_labels(f))
        return false;
    if (label.n > 0 && *coll_i_goal_slot(f, label) != 0)
        return coll_i_text_fail(&f->text, "the label \"%.*s\" is there twice",
                                coll_i_lexeme_shown(label), label.at);
    op = f->n == UINT32_MAX / 4
             ? NULL
             : (coll_i_goal_op *)coll_i_reserve(&f->ops, (f->n + (size_t)1) * sizeof *op);
    if (!op)
        return coll_i_goal_no_memory(f);
    op += f->n;
    op->label = label;
    op->bytes = bytes;
    op->rank = rank;
    op->line = f->text.line;
    op->peer = (uint32_t)peer;
    op->tag = (uint32_t)option[0];
    op->edges = op->match = COLL_I_NONE;
    op->kind = calc ? 'c' : sends ? 's' : 'r';
    if (label.n > 0)
        *coll_i_goal_slot(f, label) = f->n + 1;
    f->n++;
    return true;
}

/* A requires B. */
COLL_INLINE bool coll_i_goal_relation(coll_i_goal_file *f, coll_i_lexeme label,
                                      coll_i_lexeme word)
{
    const bool started = coll_i_lexeme_is(word, "irequires");
    uint32_t op = 0, other = 0;
    coll_i_goal_edge *edge;
    if (!started && !coll_i_lexeme_is(word, "requires"))
        return coll_i_text_fail(&f->text, "\"%.*s\" is no statement", coll_i_lexeme_shown(word),
                                word.at);
    if (!coll_i_goal_labelled(f, label, &op) ||
        !coll_i_goal_labelled(f, coll_i_goal_word(f), &other) || !coll_i_goal_end_of_line(f))
        return false;
    edge =
        (coll_i_goal_edge *)coll_i_reserve(&f->edges, (f->n_edges + (size_t)1) * sizeof *edge);
    if (!edge || f->n_edges == UINT32_MAX - 1)
        return coll_i_goal_no_memory(f);
    edge += f->n_edges;
    edge->op = other;
    edge->started = started;
    edge->next = coll_i_goal_op_at(f, op)->edges;
    coll_i_goal_op_at(f, op)->edges = f->n_edges++;
    return true;
}

COLL_INLINE bool coll_i_goal_read_rank(coll_i_goal_file *f, uint32_t rank)
{
    coll_i_source_text *t = &f->text;
    coll_i_lexeme word = coll_i_goal_word(f);
    uint64_t number;
    if (!coll_i_lexeme_is(word, "rank"))
        return coll_i_text_fail(t, "\"rank %" PRIu32 " {\" is missing", rank);
    if (!coll_i_goal_number(f, "rank", UINT32_MAX - 1, &number))
        return false;
    if (number != rank)
        return coll_i_text_fail(t, "ranks are in order: this is rank %" PRIu32, rank);
    coll_i_text_blanks(t, true);
    if (!coll_i_text_take(t, "{"))
        return coll_i_text_fail(t, "'{' is missing");
    f->first = f->n;
    if (f->slots)
        memset(f->labels.at, 0, f->slots * sizeof(uint32_t));
    while (coll_i_goal_space(t) && !coll_i_text_take(t, "}")) {
        coll_i_lexeme label = {NULL, 0};
        word = coll_i_goal_word(f);
        if (word.n == 0)
            return coll_i_text_fail(t, "a statement or '}' is missing");
        coll_i_text_blanks(t, false);
        if (coll_i_text_take(t, ":")) {
            label = word;
            word = coll_i_goal_word(f);
        }
        if (coll_i_lexeme_is(word, "send") || coll_i_lexeme_is(word, "recv") ||
            coll_i_lexeme_is(word, "calc")) {
            if (!coll_i_goal_operation(f, rank, label, word))
                return false;
        } else if (label.n > 0 || !coll_i_goal_relation(f, word, coll_i_goal_word(f))) {
            return coll_i_text_fail(t, "a label is in front of send, recv or calc");
        }
    }
    return !t->bad;
}

COLL_INLINE bool coll_i_goal_read(coll_i_goal_file *f)
{
    coll_i_source_text *t = &f->text;
    uint64_t p = 0;
    if (!coll_i_goal_space(t) || !coll_i_lexeme_is(coll_i_goal_word(f), "num_ranks"))
        return coll_i_text_fail(t, "this is neither JSON ({), nor XML for MSCCL (<), nor GOAL "
                                   "(num_ranks)");
    if (!coll_i_goal_number(f, "number of ranks", UINT32_MAX - 1, &p))
        return false;
    if (p == 0 || p > (uint64_t)(t->end - t->at))
        return coll_i_text_fail(t, "%" PRIu64 " ranks are not in this text", p);
    if (!coll_i_import_ranks(f->it, (uint32_t)p))
        return coll_i_goal_no_memory(f);
    for (uint32_t rank = 0; rank < p; rank++)
        if (!coll_i_goal_space(t) || !coll_i_goal_read_rank(f, rank))
            return false;
    return coll_i_goal_space(t) &&
           (coll_i_text_ended(t) || coll_i_text_fail(t, "there is more behind the last rank"));
}

#endif /* COLL_LAB_IMPORT_GOAL_FILE_H */
