/* coll/lab/import/import_json.h — schedules in JSON, read back: docs/formats.md says what is in them
 *
 * The actions of a rank, in the order in which they stand, are its program. Where an action says what it comes
 * after, that must have all of the order in which an executor would run the program: else a runtime that relies on
 * these lists may run actions in another order than the one that is proven. Without such lists the program's own
 * order counts. Private; use lab/import.h.
 */
#ifndef COLL_LAB_IMPORT_IMPORT_JSON_H
#define COLL_LAB_IMPORT_IMPORT_JSON_H

#include "json_actions.h"

/* ---- plan and problem -------------------------------------------------------------------- */

COLL_INLINE bool coll_i_json_read_traits(coll_i_json_file *f)
{
    const uint32_t known = COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST |
                           COLL_NEEDS_NETWORK_REDUCE | COLL_NEEDS_NETWORK_BARRIER |
                           COLL_USES_NODES | COLL_USES_PADDING | COLL_GIVES_IDENTICAL |
                           COLL_GIVES_REPRODUCIBLE;
    coll_i_json_scope scope = {false, 0};
    while (coll_i_json_element(&f->text, &scope)) {
        coll_i_lexeme word;
        if (!coll_i_json_string(&f->text, &word))
            return false;
#define COLL_I_JSON_READ_TRAIT(trait, text)                                                    \
    if (coll_i_lexeme_is(word, text))                                                          \
        f->traits |= (uint32_t)(trait)&known;
        COLL_TRAIT_LIST(COLL_I_JSON_READ_TRAIT)
#undef COLL_I_JSON_READ_TRAIT
    }
    return !f->text.bad;
}

COLL_INLINE bool coll_i_json_read_plan(coll_i_json_file *f)
{
    static const char *const names[] = {"collective", "algorithm", "traits"};
    coll_i_json_scope scope = {false, 0};
    coll_i_lexeme word;
    uint32_t i, c = 0;
    while ((i = coll_i_json_member(&f->text, &scope, names, 3)) != COLL_I_NONE) {
        if (i == 2) {
            if (!coll_i_json_read_traits(f))
                return false;
        } else if (!coll_i_json_string(&f->text, &word)) {
            return false;
        } else if (i == 1) {
            f->algorithm = word;
        } else {
            while (c < COLL_COLLECTIVES &&
                   !coll_i_lexeme_is(word, coll_collective_name((coll_collective)c)))
                c++;
            if (c == COLL_COLLECTIVES)
                return coll_i_text_fail(&f->text, "there is no collective \"%.*s\"",
                                        coll_i_lexeme_shown(word), word.at);
            f->collective = (coll_collective)c;
        }
    }
    f->has_plan = true;
    return !f->text.bad && coll_i_json_needs(&f->text, &scope, names, 0) &&
           coll_i_json_needs(&f->text, &scope, names, 1);
}

/* The first rank of each node. */
COLL_INLINE bool coll_i_json_read_nodes(coll_i_json_file *f)
{
    coll_i_json_scope scope = {false, 0};
    uint64_t first = 0, last = 0;
    while (coll_i_json_element(&f->text, &scope)) {
        uint32_t *nodes;
        if (!coll_i_json_number(&f->text, "the first rank of a node", UINT32_MAX - 1, &first))
            return false;
        if (f->nodes == 0 ? first != 0 : first <= last)
            return coll_i_text_fail(&f->text, "the first ranks of nodes ascend from 0");
        nodes =
            (uint32_t *)coll_i_reserve(&f->it->nodes, (f->nodes + (size_t)2) * sizeof *nodes);
        if (!nodes)
            return coll_i_json_no_memory(f);
        nodes[f->nodes++] = (uint32_t)first;
        last = first;
    }
    return !f->text.bad;
}

COLL_INLINE bool coll_i_json_read_problem(coll_i_json_file *f)
{
    static const char *const names[] = {"ranks",    "count",       "elem_bytes", "root",
                                        "in_place", "commutative", "nodes"};
    coll_i_source_text *t = &f->text;
    coll_i_json_scope scope = {false, 0};
    uint64_t root = 0;
    uint32_t i;
    while ((i = coll_i_json_member(t, &scope, names, 7)) != COLL_I_NONE) {
        const bool good =
            i == 0   ? coll_i_json_number(t, names[0], UINT32_MAX - 1, &f->ranks)
            : i == 1 ? coll_i_json_number(t, names[1], COLL_I_JSON_MOST, &f->count)
            : i == 2 ? coll_i_json_number(t, names[2], COLL_I_JSON_MOST, &f->elem_bytes)
            : i == 3
                ? coll_i_json_null(t) || coll_i_json_number(t, names[3], UINT32_MAX - 1, &root)
            : i == 4 ? coll_i_json_bool(t, names[4], &f->in_place)
            : i == 5 ? coll_i_json_bool(t, names[5], &f->commutative)
                     : coll_i_json_read_nodes(f);
        if (!good)
            return false;
    }
    f->root = (uint32_t)root;
    f->has_problem = true;
    for (i = 0; i < 3; i++)
        if (!t->bad && !coll_i_json_needs(t, &scope, names, i))
            return false;
    return !t->bad;
}

/* ---- ranks ------------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_json_read_steps(coll_i_json_file *f, coll_i_imported_rank *r)
{
    coll_i_json_scope steps = {false, 0};
    while (coll_i_json_element(&f->text, &steps)) {
        coll_i_json_scope actions = {false, 0};
        unsigned n = 0;
        if (!coll_i_imported_step_add(r, f->text.line, COLL_I_NONE, 0))
            return coll_i_json_no_memory(f);
        while (coll_i_json_element(&f->text, &actions)) {
            if (n++ == 0) {
                coll_i_text_blanks(&f->text, true);
                ((coll_i_place *)r->places.at)[r->steps - 1].line = f->text.line;
            } else if (n > COLL_STEP_MAX) { /* as many steps as it takes */
                n = 1;
                if (!coll_i_imported_step_add(r, f->text.line, COLL_I_NONE, 0))
                    return coll_i_json_no_memory(f);
            }
            if (!coll_i_json_read_action(f, r))
                return false;
        }
    }
    return !f->text.bad;
}

/* A table of blocks: counts and displacements. */
COLL_INLINE bool coll_i_json_read_table(coll_i_json_file *f, coll_i_imported_rank *r,
                                        unsigned side)
{
    static const char *const names[] = {"offset", "count"};
    coll_i_json_scope scope = {false, 0};
    size_t n = 0, *pairs, *table;
    while (coll_i_json_element(&f->text, &scope)) {
        coll_i_json_scope pair = {false, 0};
        uint64_t number[2] = {0, 0};
        uint32_t i;
        while ((i = coll_i_json_member(&f->text, &pair, names, 2)) != COLL_I_NONE)
            if (!coll_i_json_number(&f->text, names[i], COLL_I_JSON_MOST / 2, &number[i]))
                return false;
        pairs = (size_t *)coll_i_reserve(&f->pairs, (2 * n + 2) * sizeof *pairs);
        if (!pairs)
            return coll_i_json_no_memory(f);
        pairs[2 * n] = (size_t)number[1];
        pairs[2 * n++ + 1] = (size_t)number[0];
    }
    table = (size_t *)coll_i_reserve_new(&r->table[side], (2 * n + 1) * sizeof *table);
    if (!table)
        return coll_i_json_no_memory(f);
    for (size_t i = 0; i < n; i++) {
        table[i] = ((const size_t *)f->pairs.at)[2 * i];
        table[n + i] = ((const size_t *)f->pairs.at)[2 * i + 1];
    }
    r->blocks[side] = n;
    return !f->text.bad;
}

COLL_INLINE bool coll_i_json_read_neighbors(coll_i_json_file *f, coll_i_imported_rank *r,
                                            unsigned side)
{
    coll_i_json_scope scope = {false, 0};
    uint32_t n = 0;
    while (coll_i_json_element(&f->text, &scope)) {
        uint64_t rank = COLL_RANK_NONE;
        if (!coll_i_json_null(&f->text) &&
            !coll_i_json_number(&f->text, "a neighbour", UINT32_MAX - 1, &rank))
            return false;
        if (!coll_i_append(&r->listed[side], &n, (uint32_t)rank))
            return coll_i_json_no_memory(f);
    }
    r->neighbors[side] = n;
    return !f->text.bad;
}

COLL_INLINE bool coll_i_json_read_rank(coll_i_json_file *f, uint32_t rank)
{
    static const char *const names[] = {"rank",         "in",        "out",        "scratch",
                                        "shared",       "in_blocks", "out_blocks", "sources",
                                        "destinations", "steps"};
    coll_i_source_text *t = &f->text;
    coll_i_imported_rank *r = &f->it->ranks[rank];
    coll_i_json_scope scope = {false, 0};
    uint64_t number = 0;
    uint32_t i;
    f->lists.n = 0;
    f->lists.any = false;
    while ((i = coll_i_json_member(t, &scope, names, 10)) != COLL_I_NONE) {
        const bool good = i == 9   ? coll_i_json_read_steps(f, r)
                          : i >= 7 ? coll_i_json_read_neighbors(f, r, i - 7)
                          : i >= 5
                              ? coll_i_json_read_table(f, r, i - 5)
                              : coll_i_json_number(t, names[i], COLL_I_JSON_MOST / 4, &number);
        if (!good)
            return false;
        if (i == 0 && number != rank)
            return coll_i_text_fail(t, "ranks are in order: this is rank %" PRIu32, rank);
        if (i >= 1 && i <= 4)
            r->extent[i - 1] = (size_t)number;
    }
    return !t->bad && coll_i_json_needs(t, &scope, names, 9) && coll_i_json_order(f, rank);
}

COLL_INLINE bool coll_i_json_read_ranks(coll_i_json_file *f)
{
    coll_i_json_scope scope = {false, 0};
    uint32_t room = 0, n = 0;
    while (coll_i_json_element(&f->text, &scope)) {
        if (n == room) {
            room = 2 * room + 16;
            if (!coll_i_import_ranks(f->it, room))
                return coll_i_json_no_memory(f);
        }
        if (!coll_i_json_read_rank(f, n))
            return false;
        n++;
    }
    f->it->p = n; /* the others have nothing */
    return !f->text.bad && (n > 0 || coll_i_text_fail(&f->text, "there are no ranks"));
}

/* ---- plans ------------------------------------------------------------------------------- */

/* The problem of one rank: with its tables and neighbours. */
COLL_INLINE bool coll_i_json_problem(coll_i_json_file *f, uint32_t rank, coll_problem *problem)
{
    coll_i_imported_rank *r = &f->it->ranks[rank];
    const coll_collective c = f->collective;
    uint64_t count = f->count;
    if ((c == COLL_GATHERV || c == COLL_NEIGHBOR_ALLGATHERV) && r->blocks[1] == SIZE_MAX)
        count = r->extent[COLL_IN];
    if (c == COLL_NEIGHBOR_ALLGATHERV)
        count = r->extent[COLL_IN];
    if (c == COLL_SCATTERV && r->blocks[0] == SIZE_MAX)
        count = r->extent[COLL_OUT];
    coll_problem_init(problem, c, f->it->p, (size_t)count, (size_t)f->elem_bytes);
    problem->root = f->root;
    problem->flags = (f->in_place ? (uint32_t)COLL_FLAG_IN_PLACE : 0u) |
                     (f->commutative ? (uint32_t)COLL_FLAG_COMMUTATIVE : 0u);
    if (f->nodes > 1)
        coll_nodes_table(&problem->nodes, f->nodes, (const uint32_t *)f->it->nodes.at, NULL);
    for (unsigned side = 0; side < 2; side++) {
        const size_t n = r->blocks[side];
        coll_layout *layout = side ? &problem->out : &problem->in;
        if (n == SIZE_MAX)
            continue;
        if (!coll_is(COLL_NEIGHBORLY, c) && n != f->it->p)
            return coll_i_text_fail(
                &f->text, "rank %" PRIu32 " has %zu blocks, and there are %" PRIu32 " ranks",
                rank, n, f->it->p);
        layout->counts = (const size_t *)r->table[side].at;
        layout->displs = layout->counts + n;
    }
    return true;
}

COLL_INLINE bool coll_i_json_plans(coll_i_json_file *f)
{
    coll_import *it = f->it;
    if (!f->has_plan || !f->has_problem)
        return coll_i_text_fail(&f->text, "\"%s\" is missing",
                                f->has_plan ? "problem" : "plan");
    if (f->ranks != it->p)
        return coll_i_text_fail(&f->text,
                                "there are %" PRIu32 " ranks, and the problem has %" PRIu64,
                                it->p, f->ranks);
    if (coll_is(COLL_NEIGHBORLY, f->collective))
        return coll_i_text_fail(&f->text,
                                "%s cannot be read: the text does not say which block of a "
                                "rank goes to which of its neighbour",
                                coll_collective_name(f->collective));
    if (f->nodes > 0 && ((const uint32_t *)it->nodes.at)[f->nodes - 1] >= it->p)
        return coll_i_text_fail(&f->text, "a node begins behind the last rank");
    if (f->nodes > 0)
        ((uint32_t *)it->nodes.at)[f->nodes] = it->p;
    coll_i_import_record(it, f->collective, f->algorithm);
    for (uint32_t rank = 0; rank < it->p; rank++)
        if (it->ranks[rank].extent[COLL_SHARED] > 0)
            f->traits |= COLL_NEEDS_SHARED | (f->nodes > 1 ? (uint32_t)COLL_USES_NODES : 0u);
    it->algorithm.traits = f->traits;
    it->plans = (coll_plan *)calloc(it->p, sizeof *it->plans);
    if (!it->plans)
        return coll_i_json_no_memory(f);
    for (uint32_t rank = 0; rank < it->p; rank++) {
        const coll_i_imported_rank *r = &it->ranks[rank];
        coll_problem problem;
        coll_extents extents;
        coll_status status;
        if (!coll_i_json_problem(f, rank, &problem))
            return false;
        status = coll_i_import_plan(it, rank, &problem);
        if (status != COLL_OK)
            return coll_i_text_fail(&f->text, "the plan of rank %" PRIu32 " cannot run: %s",
                                    rank, coll_status_text(status));
        extents = coll_plan_extents(&it->plans[rank], rank);
        if (!extents.fits || extents.in != r->extent[COLL_IN] ||
            extents.out != r->extent[COLL_OUT])
            return coll_i_text_fail(
                &f->text,
                "rank %" PRIu32 " has %zu elements of IN and %zu of OUT, and in %s as it is "
                "described %zu and %zu",
                rank, r->extent[COLL_IN], r->extent[COLL_OUT],
                coll_collective_name(f->collective), extents.in, extents.out);
    }
    it->problem = it->plans[0].problem;
    return true;
}

/* ---- the file ---------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_json_read(coll_i_json_file *f)
{
    static const char *const names[] = {"format", "version", "plan", "problem", "ranks"};
    coll_i_source_text *t = &f->text;
    coll_i_json_scope scope = {false, 0};
    coll_i_lexeme word;
    uint64_t version = 0;
    uint32_t i;
    while ((i = coll_i_json_member(t, &scope, names, 5)) != COLL_I_NONE) {
        bool good = i == 0   ? coll_i_json_string(t, &word)
                    : i == 1 ? coll_i_json_number(t, names[1], COLL_I_JSON_MOST, &version)
                    : i == 2 ? coll_i_json_read_plan(f)
                    : i == 3 ? coll_i_json_read_problem(f)
                             : coll_i_json_read_ranks(f);
        if (good && i == 0 && !coll_i_lexeme_is(word, "coll-schedule"))
            good = coll_i_text_fail(t, "the format is not \"coll-schedule\"");
        if (good && i == 1 && version != 1)
            good = coll_i_text_fail(t, "version 1 can be read, and this is %" PRIu64, version);
        if (!good)
            return false;
    }
    for (i = 0; i < 5; i++)
        if (t->bad || !coll_i_json_needs(t, &scope, names, i))
            return false;
    coll_i_text_blanks(t, true);
    if (!coll_i_text_ended(t))
        return coll_i_text_fail(t, "there is more behind the object");
    return coll_i_json_plans(f);
}

/* Reads JSON into *it. */
COLL_INLINE coll_import_result coll_i_import_json(coll_import *it, const char *text,
                                                  size_t bytes, coll_sentence *why)
{
    coll_i_json_file f;
    bool good;
    memset(&f, 0, sizeof f);
    f.it = it;
    f.report = &it->report;
    f.algorithm.at = "";
    coll_i_text_init(&f.text, text, bytes, why);
    good = coll_i_json_read(&f);
    coll_i_release(&f.lists.numbers);
    coll_i_release(&f.lists.first);
    coll_i_release(&f.pairs);
    coll_i_release(&f.first_nodes);
    coll_i_release(&f.stack);
    coll_i_program_release(&f.program);
    return good ? COLL_IMPORTED : !f.text.bad ? COLL_IMPORT_WRONG : COLL_IMPORT_REFUSED;
}

#endif /* COLL_LAB_IMPORT_IMPORT_JSON_H */
