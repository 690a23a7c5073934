/* coll/lab/import/json_actions.h — the actions of a rank in JSON, and the order that they say themselves
 *
 * What that order must have: import_json.h. Private; use lab/import.h.
 */
#ifndef COLL_LAB_IMPORT_JSON_ACTIONS_H
#define COLL_LAB_IMPORT_JSON_ACTIONS_H

#include "../export/program.h"
#include "imported.h"
#include "json_text.h"

/* The lists of one rank's actions: after, behind, combine_after. */
enum { COLL_I_AFTER, COLL_I_LISTED_BEHIND, COLL_I_COMBINE_AFTER, COLL_I_LISTS };

typedef struct coll_i_json_lists {
    coll_i_memory numbers,
        first; /* first: COLL_I_LISTS + 1 for each action, the last one the end */
    uint32_t n;
    bool any;
} coll_i_json_lists;

typedef struct coll_i_json_file {
    coll_i_source_text text;
    coll_import *it;
    coll_report *report;
    coll_i_lexeme algorithm;
    coll_collective collective;
    uint32_t traits, root, nodes;
    uint64_t count, elem_bytes, ranks;
    bool in_place, commutative, has_plan, has_problem;
    coll_i_json_lists lists;
    coll_i_program program;
    coll_i_memory pairs, first_nodes, stack;
} coll_i_json_file;

COLL_INLINE bool coll_i_json_no_memory(coll_i_json_file *f)
{
    return coll_i_text_fail(&f->text, "there is not enough memory for this");
}

/* ---- actions ----------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_json_read_ref(coll_i_source_text *t, coll_ref *ref)
{
    static const char *const names[] = {"space", "offset"};
    coll_i_json_scope scope = {false, 0};
    coll_i_lexeme word;
    uint64_t offset = 0;
    uint32_t i, space = 0;
    while ((i = coll_i_json_member(t, &scope, names, 2)) != COLL_I_NONE) {
        if (i == 1 ? !coll_i_json_number(t, names[1], COLL_I_JSON_MOST, &offset)
                   : !coll_i_json_string(t, &word))
            return false;
        if (i == 1)
            continue;
        while (space < COLL_SPACES &&
               !coll_i_lexeme_is(word, coll_space_name((coll_space)space)))
            space++;
        if (space == COLL_SPACES)
            return coll_i_text_fail(t, "there is no space \"%.*s\": IN, OUT, SCRATCH or SHARED",
                                    coll_i_lexeme_shown(word), word.at);
    }
    *ref = COLL_AT(space, offset);
    return !t->bad && coll_i_json_needs(t, &scope, names, 0) &&
           coll_i_json_needs(t, &scope, names, 1);
}

/* A list of older actions' numbers. */
COLL_INLINE bool coll_i_json_read_list(coll_i_json_file *f, const char *name, size_t before)
{
    coll_i_json_scope scope = {false, 0};
    uint64_t number = 0;
    f->lists.any = true;
    while (coll_i_json_element(&f->text, &scope)) {
        if (!coll_i_json_number(&f->text, name, UINT32_MAX, &number))
            return false;
        if (number >= before)
            return coll_i_text_fail(&f->text,
                                    "action %zu comes after %" PRIu64 ", which is no older one",
                                    before, number);
        if (!coll_i_append(&f->lists.numbers, &f->lists.n, (uint32_t)number))
            return coll_i_json_no_memory(f);
    }
    return !f->text.bad;
}

enum {
    COLL_I_JSON_KIND,
    COLL_I_JSON_COUNT,
    COLL_I_JSON_PEER,
    COLL_I_JSON_DST,
    COLL_I_JSON_SRC,
    COLL_I_JSON_VIA,
    COLL_I_JSON_LEFT,
    COLL_I_JSON_INPUTS,
    COLL_I_JSON_STRIDE,
    COLL_I_JSON_GROUP,
    COLL_I_JSON_MEMBERS,
    COLL_I_JSON_MEETS,
    COLL_I_JSON_ID,
    COLL_I_JSON_LIST,
    COLL_I_JSON_ACTION_MEMBERS = COLL_I_JSON_LIST + COLL_I_LISTS
};

COLL_INLINE const char *const *coll_i_json_action_names(void)
{
    static const char *const names[] = {
        "kind",   "count", "peer",    "dst",   "src", "via",   "message_left", "inputs",
        "stride", "group", "members", "meets", "id",  "after", "behind",       "combine_after"};
    return names;
}

/* Which members must be there for a kind. */
COLL_INLINE uint32_t coll_i_json_needed(const coll_action *a)
{
    uint32_t needed = 1u << COLL_I_JSON_KIND | 1u << COLL_I_JSON_COUNT;
    if (coll_i_has_peer(a))
        needed |= 1u << COLL_I_JSON_PEER;
    if (coll_i_has(COLL_I_WRITES_DST, a))
        needed |= 1u << COLL_I_JSON_DST;
    if (coll_i_has(COLL_I_READS_SRC, a))
        needed |= 1u << COLL_I_JSON_SRC;
    if (a->kind == COLL_DO_REDUCE || a->kind == COLL_DO_RECV_REDUCE)
        needed |= 1u << COLL_I_JSON_VIA;
    if (a->kind == COLL_DO_REDUCE)
        needed |= 1u << COLL_I_JSON_INPUTS;
    if (a->kind == COLL_DO_NETWORK_REDUCE)
        needed |= 1u << COLL_I_JSON_GROUP | 1u << COLL_I_JSON_MEMBERS;
    return needed;
}

/* Has the action what its kind needs, and numbers that a machine can add? */
COLL_INLINE bool coll_i_json_action_fits(coll_i_json_file *f, coll_action *a, uint32_t seen)
{
    const uint32_t needed = coll_i_json_needed(a);
    for (uint32_t i = 0; i < COLL_I_JSON_ACTION_MEMBERS; i++)
        if (needed & ~seen & 1u << i)
            return coll_i_text_fail(&f->text, "a %s needs \"%s\"",
                                    coll_kind_name((coll_kind)a->kind),
                                    coll_i_json_action_names()[i]);
    if (a->count > COLL_I_JSON_MOST / 2)
        return coll_i_text_fail(&f->text, "%zu elements are too many", a->count);
    if (!(needed & 1u << COLL_I_JSON_SRC))
        a->src = 0;
    if (!(needed & 1u << COLL_I_JSON_DST))
        a->dst = 0;
    if (!(needed & 1u << COLL_I_JSON_VIA))
        a->via = 0;
    if (a->kind == COLL_DO_REDUCE &&
        (a->inputs == 0 || a->stride > COLL_I_JSON_MOST / 2 / a->inputs))
        return coll_i_text_fail(&f->text, "the operands at via are none, or too many");
    return true;
}

COLL_INLINE bool coll_i_json_read_kind(coll_i_source_text *t, coll_action *a)
{
    coll_i_lexeme word;
    uint32_t kind = 0;
    if (!coll_i_json_string(t, &word))
        return false;
    while (kind < COLL_KINDS && !coll_i_lexeme_is(word, coll_kind_name((coll_kind)kind)))
        kind++;
    a->kind = (uint8_t)kind;
    return kind < COLL_KINDS ||
           coll_i_text_fail(t, "there is no kind \"%.*s\"", coll_i_lexeme_shown(word), word.at);
}

/* Reads an action of a rank. */
COLL_INLINE bool coll_i_json_read_action(coll_i_json_file *f, coll_i_imported_rank *r)
{
    const char *const *names = coll_i_json_action_names();
    coll_i_source_text *t = &f->text;
    coll_i_json_scope scope = {false, 0};
    const size_t id = r->n;
    coll_action *a = coll_i_imported_add(r);
    uint32_t *first = (uint32_t *)coll_i_reserve(
        &f->lists.first, ((id + 1) * (COLL_I_LISTS + 1) + 1) * sizeof *first);
    uint64_t number = 0, peer = 0, members = 0, stride = 0;
    bool left = false, meets = false;
    uint32_t i;
    if (!a || !first)
        return coll_i_json_no_memory(f);
    first += id * (COLL_I_LISTS + 1);
    for (i = 0; i <= COLL_I_LISTS; i++)
        first[i] = COLL_I_NONE; /* no such list */
    while ((i = coll_i_json_member(t, &scope, names, COLL_I_JSON_ACTION_MEMBERS)) !=
           COLL_I_NONE) {
        bool good = true;
        number = 0;
        switch (i) {
        case COLL_I_JSON_KIND:
            good = coll_i_json_read_kind(t, a);
            break;
        case COLL_I_JSON_DST:
            good = coll_i_json_read_ref(t, &a->dst);
            break;
        case COLL_I_JSON_SRC:
            good = coll_i_json_read_ref(t, &a->src);
            break;
        case COLL_I_JSON_VIA:
            good = coll_i_json_read_ref(t, &a->via);
            break;
        case COLL_I_JSON_LEFT:
            good = coll_i_json_bool(t, names[i], &left);
            break;
        case COLL_I_JSON_MEETS:
            good = coll_i_json_bool(t, names[i], &meets);
            break;
        case COLL_I_JSON_PEER:
        case COLL_I_JSON_GROUP:
            good = coll_i_json_number(t, names[i], UINT32_MAX - 1, &peer);
            break;
        case COLL_I_JSON_INPUTS:
            good = coll_i_json_number(t, names[i], UINT16_MAX, &number);
            a->inputs = (uint16_t)number;
            break;
        case COLL_I_JSON_STRIDE:
            good = coll_i_json_number(t, names[i], COLL_I_JSON_MOST, &stride);
            break;
        case COLL_I_JSON_MEMBERS:
            good = coll_i_json_number(t, names[i], UINT32_MAX, &members);
            break;
        case COLL_I_JSON_COUNT:
            good = coll_i_json_number(t, names[i], COLL_I_JSON_MOST, &number);
            a->count = (size_t)number;
            break;
        case COLL_I_JSON_ID:
            good = coll_i_json_number(t, names[i], UINT32_MAX, &number);
            if (good && number != id)
                good =
                    coll_i_text_fail(t, "actions are numbered from 0: this is action %zu", id);
            break;
        default:
            first[i - COLL_I_JSON_LIST] = f->lists.n;
            good = coll_i_json_read_list(f, names[i], id);
            if (good && !coll_i_append(&f->lists.numbers, &f->lists.n, COLL_I_NONE))
                good = coll_i_json_no_memory(f);
            break;
        }
        if (!good)
            return false;
    }
    a->peer = (uint32_t)peer;
    a->stride = (size_t)(a->kind == COLL_DO_NETWORK_REDUCE ? members
                         : a->kind == COLL_DO_REDUCE       ? stride
                                                           : 0);
    a->inputs = a->kind == COLL_DO_REDUCE ? a->inputs : 0;
    a->flags = a->kind == COLL_DO_RECV_REDUCE && left       ? COLL_LEFT
               : a->kind == COLL_DO_NETWORK_REDUCE && meets ? COLL_NETWORK_BARRIER
                                                            : 0;
    if (a->kind == COLL_DO_MULTICAST)
        f->traits |= COLL_NEEDS_MULTICAST;
    if (a->kind == COLL_DO_NETWORK_REDUCE)
        f->traits |= meets ? COLL_NEEDS_NETWORK_BARRIER : COLL_NEEDS_NETWORK_REDUCE;
    return !t->bad && coll_i_json_action_fits(f, a, scope.seen);
}

/* ---- the order that is written ------------------------------------------------------------ */

/* The first number of an action's list, up to a COLL_I_NONE; NULL: there is no such list. */
COLL_INLINE const uint32_t *coll_i_json_list(const coll_i_json_file *f, uint32_t action,
                                             unsigned list)
{
    const uint32_t first =
        ((const uint32_t *)f->lists.first.at)[action * (COLL_I_LISTS + 1) + list];
    return first == COLL_I_NONE ? NULL : (const uint32_t *)f->lists.numbers.at + first;
}

/* Marks a node as one that has started, and perhaps ended, before the one that is looked at. */
COLL_INLINE bool coll_i_json_reach(coll_i_json_file *f, uint32_t node, bool ended,
                                   uint32_t query, uint32_t *pending)
{
    coll_i_task *task = coll_i_task_at(&f->program, node);
    const bool was = task->started == query;
    if (ended)
        task->ended = query;
    if (was)
        return true;
    task->started = query;
    return coll_i_append(&f->stack, pending, node);
}

/* Do the lists have it that node `older` comes before node `v`, as an edge says? */
COLL_INLINE bool coll_i_json_implied(coll_i_json_file *f, uint32_t v, uint32_t edge,
                                     uint32_t query, bool *memory)
{
    const uint32_t *firsts = (const uint32_t *)f->first_nodes.at;
    const coll_i_task *older = coll_i_task_at(&f->program, edge / 2);
    uint32_t pending = 0;
    *memory = coll_i_append(&f->stack, &pending, v);
    while (*memory && pending > 0) {
        const uint32_t at = ((const uint32_t *)f->stack.at)[--pending];
        const coll_i_task *node = coll_i_task_at(&f->program, at);
        const bool merges = node->half == COLL_I_MERGES;
        const uint32_t *list =
            coll_i_json_list(f, node->action, merges ? COLL_I_COMBINE_AFTER : COLL_I_AFTER);
        if (at < edge / 2)
            continue;
        if (merges)
            *memory = coll_i_json_reach(f, at - 1, true, query, &pending);
        for (; *memory && list && *list != COLL_I_NONE; list++) {
            const uint32_t first = firsts[*list];
            const uint32_t last =
                coll_i_task_at(&f->program, first)->half == COLL_I_TAKES ? first + 1 : first;
            *memory = coll_i_json_reach(f, last, true, query, &pending);
            if (last != first) /* its receiving has ended, too */
                *memory = *memory && coll_i_json_reach(f, first, true, query, &pending);
        }
        list = merges ? NULL : coll_i_json_list(f, node->action, COLL_I_LISTED_BEHIND);
        for (; *memory && list && *list != COLL_I_NONE; list++)
            *memory = coll_i_json_reach(f, firsts[*list], false, query, &pending);
        if (edge & COLL_I_BEHIND ? older->started == query : older->ended == query)
            return true;
    }
    return false;
}

/* Have the lists of a rank all the order that there must be? */
COLL_INLINE bool coll_i_json_order(coll_i_json_file *f, uint32_t rank)
{
    coll_i_program *g = &f->program;
    coll_plan plan;
    uint32_t *firsts;
    if (!f->lists.any)
        return true;
    memset(&plan, 0, sizeof plan);
    coll_i_import_record(f->it, f->collective, f->algorithm);
    plan.algorithm = &f->it->algorithm;
    plan.inner = &f->it->ranks[rank];
    firsts = (uint32_t *)coll_i_reserve_new(&f->first_nodes,
                                            (f->it->ranks[rank].n + 1) * sizeof *firsts);
    if (!firsts || !coll_i_program_make(g, &plan, rank, true))
        return coll_i_json_no_memory(f);
    {
        /* actions of 0 elements have no node: they come after nothing, and nothing comes after them */
        const coll_action *actions = (const coll_action *)f->it->ranks[rank].actions.at;
        uint32_t node = 0;
        for (size_t i = 0; i < f->it->ranks[rank].n; i++) {
            if (actions[i].count == 0)
                return coll_i_text_fail(&f->text,
                                        "action %zu has no elements, and lists of what comes "
                                        "after what: leave such actions out",
                                        i);
            firsts[i] = node;
            node += actions[i].kind == COLL_DO_RECV_REDUCE ? 2 : 1;
        }
    }
    for (uint32_t v = 0; v < g->n; v++)
        coll_i_task_at(g, v)->started = coll_i_task_at(g, v)->ended = 0;
    for (uint32_t v = 0, query = 1; v < g->n; v++) {
        const coll_i_task *node = coll_i_task_at(g, v);
        for (uint32_t k = 0; k < node->n; k++, query++) {
            const uint32_t edge = coll_i_edges_of(g, node)[k];
            const coll_i_task *older = coll_i_task_at(g, edge / 2);
            const uint32_t line =
                ((const coll_i_place *)f->it->ranks[rank].places.at)[node->step].line;
            bool memory;
            if (coll_i_json_implied(f, v, edge, query, &memory))
                continue;
            if (!memory)
                return coll_i_json_no_memory(f);
            return coll_i_found(
                f->report, COLL_FOUND_RACE, rank, node->step,
                "action %" PRIu32 " (line %" PRIu32 ") %s action %" PRIu32
                " (step %zu), and does not say that it comes %s it",
                node->action, line,
                edge & COLL_I_BEHIND ? "has the channel of" : "touches elements of",
                older->action, older->step, edge & COLL_I_BEHIND ? "behind" : "after");
        }
    }
    return true;
}

#endif /* COLL_LAB_IMPORT_JSON_ACTIONS_H */
