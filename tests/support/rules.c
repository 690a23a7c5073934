/* tests/support/rules.c — proofs of what rules select */
#include "rules.h"

#include "coll/select/table_write.h"
#include "draws.h"
#include "prove.h"

/* Whether a rule was reached, and if not why. */
struct rules_seen {
    const coll_rule *rule;
    const char *name;            /* of the lists, and */
    const coll_rule_list *lists; /* … these, where it was seen first */
    const coll_rule *instead;    /* that was reached for a problem of its own */
    coll_status refused;         /* what it had against the last one that it did not take */
    bool taken, reached;         /* by itself; by the lists */
};

enum { SHOWN = 20 };

/* ---- findings ---------------------------------------------------------------------------- */

static void found(rules_proof *proof, const char *name, const coll_rule *rule, const char *what,
                  const asked *it)
{
    char text[COLL_RULE_TEXT] = "no rule", words[512] = "", all[2048];
    if (rule)
        coll_rule_text(rule, text, sizeof text);
    if (it)
        asked_words(it, words, sizeof words);
    snprintf(all, sizeof all, "%s: \"%s\" %s%s%s", name, text, what, it ? ", for " : "", words);
    if (proof->findings++ == 0)
        snprintf(proof->first, sizeof proof->first, "%.1023s", all);
    if (!proof->quiet && proof->findings <= SHOWN)
        printf("    %s\n", all);
}

static rules_seen *seen_at(rules_proof *proof, size_t i)
{
    return (rules_seen *)proof->seen.at + i;
}

static rules_seen *seen_of(rules_proof *proof, const coll_rule *rule)
{
    for (size_t i = 0; i < proof->n_seen; i++)
        if (seen_at(proof, i)->rule == rule)
            return seen_at(proof, i);
    return NULL;
}

static void see(rules_proof *proof, const drawn *of)
{
    rules_seen *all =
        (rules_seen *)coll_i_reserve(&proof->seen, (proof->n_seen + 1) * sizeof(rules_seen));
    if (!all || seen_of(proof, of->rule))
        return;
    memset(&all[proof->n_seen], 0, sizeof *all);
    all[proof->n_seen].rule = of->rule;
    all[proof->n_seen].name = of->name;
    all[proof->n_seen++].lists = of->lists;
}

/* ---- plans ------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t sum, uint64_t x)
{
    sum = (sum ^ x) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 32;
}

static uint64_t mixed_name(uint64_t sum, const char *name)
{
    while (*name)
        sum = mixed(sum, (unsigned char)*name++);
    return sum;
}

/* All that the actions of the plans depend on. */
static uint64_t key_of(const rules_proof *proof, const coll_rule *rule)
{
    const asked *it = &proof->it;
    const coll_plan *plan = (const coll_plan *)proof->plans_of.at;
    uint64_t key = mixed_name(it->collective + 1u, plan->algorithm->name);
    key = mixed(mixed(mixed(mixed(key, it->p), it->root), it->count), it->layout);
    for (uint32_t rank = 0, before = ~0u; rank < (proof->per_rank ? it->p : 1); rank++) {
        const coll_problem *of = &plan[rank].problem;
        const uint32_t own = of->flags | (of->in.counts ? 4u : 0) | (of->out.counts ? 8u : 0);
        if (own != before)
            key = mixed(mixed(key, rank), own);
        before = own;
    }
    for (uint32_t i = 0; i < plan->algorithm->n_params; i++)
        key = mixed(key, plan->param[i]);
    if (plan->traits & (COLL_NEEDS_BUILD | COLL_USES_NODES))
        for (uint32_t i = 0; i < it->nodes; i++)
            key = mixed(key, it->first[i]);
    if (it->graph != COLL_GRID_NO_GRAPH)
        key = mixed_name(mixed(key, it->graph), it->route ? it->route->name : "");
    for (uint32_t i = 0; rule && i < rule->n_bindings; i++) {
        const coll_binding *binding = &rule->bindings[i];
        key = mixed_name(mixed(key, binding->level), binding->algorithm->name);
        for (uint32_t k = 0; binding->params && k < binding->algorithm->n_params; k++)
            key = mixed(key, binding->params[k]);
    }
    return key ? key : 1;
}

/* Is it the first time? */
static bool is_new(rules_proof *proof, uint64_t key)
{
    size_t slots = proof->known.bytes / sizeof key, at;
    uint64_t *keys = (uint64_t *)proof->known.at;
    if (2 * (proof->n_known + 1) > slots) {
        coll_i_memory old = proof->known;
        proof->known.at = calloc(2 * slots + 1024, sizeof key);
        if (!proof->known.at) {
            proof->known = old;
            return true;
        }
        proof->known.bytes = (2 * slots + 1024) * sizeof key;
        proof->n_known = 0;
        for (at = 0; at < slots; at++)
            if (keys[at])
                (void)is_new(proof, keys[at]);
        free(old.at);
        keys = (uint64_t *)proof->known.at;
        slots = 2 * slots + 1024;
    }
    for (at = (size_t)(key % slots); keys[at] && keys[at] != key;
         at = at + 1 < slots ? at + 1 : 0)
        ;
    if (keys[at])
        return false;
    keys[at] = key;
    proof->n_known++;
    return true;
}

static const coll_plan *plan_of(void *arg, uint32_t rank)
{
    const rules_proof *proof = (const rules_proof *)arg;
    return (const coll_plan *)proof->plans_of.at + (proof->per_rank ? rank : 0);
}

/* Has each rank choose, and finds out whether they choose alike. *rule: that of rank 0. */
static coll_status choose(rules_proof *proof, const char *name, const coll_rule_list *lists,
                          const coll_conditions *conditions, const coll_rule **rule)
{
    const uint32_t p = proof->it.p;
    coll_plan *plans = (coll_plan *)coll_i_reserve_new(&proof->plans_of, p * sizeof *plans);
    coll_workspace *workspaces =
        (coll_workspace *)coll_i_reserve_new(&proof->workspaces, p * sizeof *workspaces);
    coll_status first = COLL_ERR_MEMORY;
    *rule = NULL;
    proof->per_rank = proof->memory.per_rank || (proof->select && !proof->alone);
    for (uint32_t rank = 0; plans && workspaces && rank < (proof->per_rank ? p : 1); rank++) {
        rules_question question = {lists, NULL, conditions, rank, NULL};
        const coll_rule *chosen = NULL;
        coll_problem problem;
        coll_status status;
        asked_problem(&proof->memory, &proof->it, rank, &problem);
        question.problem = &problem;
        if (coll_select_builds(lists, &problem)) {
            const size_t room = coll_workspace_tables(&problem);
            size_t *tables =
                (size_t *)coll_i_reserve(&proof->workspace_tables, p * room * sizeof *tables);
            if (!tables)
                return COLL_ERR_MEMORY;
            question.workspace = &workspaces[rank];
            coll_workspace_init(question.workspace, rank, tables + rank * room, room);
        }
        status = proof->select && !proof->alone
                     ? proof->select(proof->arg, &question, &plans[rank], &chosen)
                     : coll_select_from(lists, &problem, conditions, question.workspace,
                                        &plans[rank], &chosen);
        if (rank == 0) {
            first = status;
            *rule = chosen;
            if (status == COLL_OK && (plans[0].traits & COLL_NEEDS_BUILD))
                proof->per_rank = true;
        } else if (status != first || chosen != *rule ||
                   (status == COLL_OK &&
                    (plans[rank].algorithm != plans[0].algorithm ||
                     memcmp(plans[rank].param, plans[0].param, sizeof plans[0].param) != 0 ||
                     plans[rank].traits != plans[0].traits))) {
            char what[200];
            snprintf(
                what, sizeof what, "is not what rank 0 chooses: rank %u has %s (%.60s), not %s",
                rank, status == COLL_OK ? plans[rank].algorithm->name : "no plan",
                coll_status_text(status), first == COLL_OK ? plans[0].algorithm->name : "none");
            found(proof, name, chosen, what, &proof->it);
            return COLL_ERR_STATE;
        }
    }
    return first;
}

/* Proves what was chosen last, of elements of 8 bytes: actions do not depend on them. */
static void prove(rules_proof *proof, const char *name, const coll_rule *rule,
                  const coll_conditions *conditions)
{
    coll_plan *plan = (coll_plan *)proof->plans_of.at;
    coll_verify_options options;
    coll_report report;
    proof->problems++;
    if (coll_i_conditions_check(conditions, plan->traits, plan->problem.collective) != COLL_OK)
        found(proof, name, rule, "breaks the terms", &proof->it);
    if (!is_new(proof, key_of(proof, rule)))
        return;
    for (uint32_t rank = 0; rank < (proof->per_rank ? proof->it.p : 1); rank++)
        plan[rank].problem.elem_bytes = 8;
    memset(&options, 0, sizeof options);
    options.plan_of = plan_of;
    options.arg = proof;
    options.verifier = &proof->verifier;
    options.skip = proof->it.p > 24 ? COLL_VERIFY_NO_PURITY : 0;
    if (prove_plan(NULL, &options, &report) == COLL_PROVEN)
        proof->plans++;
    else
        found(proof, name, rule, report.sentence, &proof->it);
}

/* May some algorithm need more than the machine has? */
static bool is_huge(const asked *it)
{
    const uint64_t blocks = (uint64_t)it->p * it->p * 16;
    return it->count > 0 && blocks > SIZE_MAX / it->count / it->elem_bytes;
}

/* Do the traits say that an algorithm refuses the problem, with this status? */
static bool is_said(const coll_rule *rule, const asked *it, coll_status status)
{
    unsigned traits = rule->algorithm->traits, inner = 0;
    for (uint32_t i = 0; i < rule->n_bindings; i++)
        inner |= rule->bindings[i].algorithm->traits;
    switch (status) {
    case COLL_ERR_ORDER:
        return ((traits | inner) & COLL_NEEDS_COMMUTATIVE) &&
               !(it->flags & COLL_FLAG_COMMUTATIVE);
    case COLL_ERR_IN_PLACE:
        return ((traits | inner) & COLL_NEEDS_OUT_OF_PLACE) &&
               ((it->flags & COLL_FLAG_IN_PLACE) || coll_is(COLL_ROOTED, it->collective));
    case COLL_ERR_SHAPE:
        return ((traits & COLL_NEEDS_POWER_OF_TWO) && (it->p & (it->p - 1)) != 0) ||
               ((inner & COLL_NEEDS_POWER_OF_TWO) && it->nodes > 1);
    case COLL_ERR_LAYOUT:
        return (traits & COLL_NEEDS_PACKED) && it->layout == ASKED_GAPS;
    case COLL_ERR_COUNTS:
        return (traits & COLL_NEEDS_COUNTS) &&
               coll_is(COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV), it->collective);
    case COLL_ERR_ROUTE:
        return (traits & COLL_NEEDS_ROUTE) &&
               (!it->route || strcmp(it->route->name, rule->algorithm->name) != 0);
    case COLL_ERR_NODES:
        return (traits & COLL_NEEDS_SHARED) && !(traits & COLL_USES_NODES) && it->nodes > 1;
    case COLL_ERR_OVERFLOW:
        return is_huge(it);
    default:
        return false;
    }
}

/* ---- rules ------------------------------------------------------------------------------- */

/* The rule alone, wherever it is for. */
static void prove_alone(rules_proof *proof, const drawn *of)
{
    const coll_rule_list alone = {of->rule, 1, NULL};
    const coll_conditions conditions = draws_terms(proof, true);
    rules_seen *seen = seen_of(proof, of->rule);
    const coll_rule *rule;
    coll_status status;
    proof->alone = true;
    status = choose(proof, of->name, &alone, &conditions, &rule);
    proof->alone = false;
    if (status == COLL_OK) {
        seen->taken = true;
        prove(proof, of->name, of->rule, &conditions);
        return;
    }
    seen->refused = status;
    if (status != COLL_ERR_STATE && !is_said(of->rule, &proof->it, status))
        found(proof, of->name, of->rule, coll_status_text(status), &proof->it);
}

/* What all lists choose. */
static void prove_chosen(rules_proof *proof, const drawn *of, bool proves)
{
    const coll_conditions conditions = draws_terms(proof, false);
    const coll_rule *rule;
    const coll_status status = choose(proof, of->name, of->lists, &conditions, &rule);
    rules_seen *seen = rule ? seen_of(proof, rule) : NULL;
    if (seen)
        seen->reached = true;
    if (rule && rule != of->rule)
        seen_of(proof, of->rule)->instead = rule;
    if (status == COLL_OK && proves)
        prove(proof, of->name, rule, &conditions);
    else if (status != COLL_OK && status != COLL_ERR_STATE && !proof->open &&
             !(status == COLL_ERR_OVERFLOW && is_huge(&proof->it)))
        found(proof, of->name, NULL, coll_status_text(status), &proof->it);
}

/* So many problems for p ranks. `known`: of a rule that is in other lists, too. */
static uint32_t draws_of(const rules_proof *proof, uint32_t p, bool known)
{
    const uint32_t all = known ? proof->draws / 4 : proof->draws;
    const uint32_t n = p <= 8 ? all : p <= 16 ? all / 3 : p <= 24 ? all / 6 : all / 12;
    return n < 1 ? 1 : n;
}

static void prove_rule(rules_proof *proof, const drawn *of)
{
    const bool known = seen_of(proof, of->rule)->lists != of->lists;
    const coll_rule *rule = of->rule;
    uint32_t p = rule->p_least < 1 ? 1 : rule->p_least;
    const uint32_t most = proof->p_most > p + 1 ? proof->p_most : p + 1;
    for (; p <= rule->p_most && p <= ASKED_RANKS; p++) {
        if (p > most && p <= proof->beyond) /* one more */
            p += draws_below(&proof->chance,
                             (rule->p_most < proof->beyond ? rule->p_most : proof->beyond) - p +
                                 1);
        for (uint32_t k = 0; k < draws_of(proof, p, known); k++)
            if (draws_problem(proof, of, p, k)) {
                if (!known && !proof->select)
                    prove_alone(proof, of);
                prove_chosen(proof, of, true);
            }
        if (p > most)
            break;
    }
}

/* For each rule and collective of the lists; false: there are no more. */
static bool next_drawn(drawn *of, const coll_rule_list **list, size_t *i, unsigned *collective)
{
    for (; *list; *list = (*list)->next, *i = 0)
        for (; *i < (*list)->n; (*i)++, *collective = 0)
            for (; *collective < COLL_COLLECTIVES; (*collective)++)
                if (coll_is((*list)->rules[*i].collectives, *collective)) {
                    of->rule = &(*list)->rules[*i];
                    of->collective = (coll_collective)(*collective)++;
                    return true;
                }
    return false;
}

void rules_begin(rules_proof *proof)
{
    memset(proof, 0, sizeof *proof);
    asked_begin(&proof->memory);
    coll_verifier_init(&proof->verifier);
    proof->p_most = 64;
    proof->beyond = 150;
    proof->draws = 20;
    proof->capabilities = proof->requirements = ~0u;
    proof->chance = 1;
}

/* What is wrong with a rule as it is written. */
static void check_rule(rules_proof *proof, const drawn *of)
{
    const coll_rule *rule = of->rule;
    if (rule->collectives == 0 || (rule->collectives & ~rule->algorithm->collectives))
        found(proof, of->name, rule, "has an algorithm of other collectives", NULL);
    if (!rule->why || !rule->why[0])
        found(proof, of->name, rule, "does not say why", NULL);
    for (uint32_t i = rule->algorithm->n_params; i < COLL_PARAM_MAX; i++)
        if ((rule->in_bytes >> i & 1u) ||
            (rule->param[i] != COLL_DEFAULT && rule->param[i] != 0))
            found(proof, of->name, rule, "has a parameter that its algorithm does not have",
                  NULL);
}

void rules_prove(rules_proof *proof, const char *name, const coll_rule_list *lists)
{
    const coll_rule_list *list = lists;
    size_t i = 0;
    unsigned collective = 0;
    drawn of;
    memset(&of, 0, sizeof of);
    of.name = name;
    of.lists = lists;
    while (next_drawn(&of, &list, &i, &collective)) {
        if (!seen_of(proof, of.rule))
            check_rule(proof, &of);
        see(proof, &of);
        draws_ends(&of);
        prove_rule(proof, &of);
    }
}

/* Looks for a problem that reaches a rule; the last word on one that none has reached so far. */
static void look_for(rules_proof *proof, const rules_seen *seen)
{
    const coll_rule *rule = seen->rule;
    const coll_rule_list *list = seen->lists;
    const uint32_t least = rule->p_least < 1 ? 1 : rule->p_least,
                   most = rule->p_most < least + 64 ? rule->p_most : least + 64;
    size_t i = 0;
    unsigned collective = 0;
    drawn of;
    memset(&of, 0, sizeof of);
    of.name = seen->name;
    of.lists = seen->lists;
    while (next_drawn(&of, &list, &i, &collective)) {
        if (of.rule != rule)
            continue;
        draws_ends(&of);
        for (uint32_t k = 0; k < 4000 && !seen->reached && least <= most && most <= ASKED_RANKS;
             k++)
            if (draws_problem(proof, &of, least + draws_below(&proof->chance, most - least + 1),
                              k))
                prove_chosen(proof, &of, false);
    }
}

void rules_end(rules_proof *proof)
{
    for (size_t i = 0; i < proof->n_seen; i++) {
        const rules_seen *seen = seen_at(proof, i);
        char why[2 * COLL_RULE_TEXT], other[COLL_RULE_TEXT] = "";
        if (!seen->reached)
            look_for(proof, seen);
        if (seen->reached)
            continue;
        if (seen->instead)
            coll_rule_text(seen->instead, other, sizeof other);
        snprintf(why, sizeof why, "is reached by no problem: %s%s%s",
                 seen->rule->p_least > seen->rule->p_most ||
                         seen->rule->bytes_least > seen->rule->bytes_most ||
                         seen->rule->ppn_least > seen->rule->ppn_most
                     ? "its range is empty"
                 : !seen->taken && seen->refused != COLL_OK ? "its algorithm refuses them all, "
                 : !seen->taken                             ? "its range is empty"
                                                            : "another rule comes first, ",
                 !seen->taken && seen->refused != COLL_OK ? coll_status_text(seen->refused)
                                                          : "",
                 seen->taken ? other : "");
        found(proof, seen->name, seen->rule, why, NULL);
    }
    asked_end(&proof->memory);
    coll_verifier_release(&proof->verifier);
    coll_i_release(&proof->plans_of);
    coll_i_release(&proof->workspaces);
    coll_i_release(&proof->workspace_tables);
    coll_i_release(&proof->known);
    coll_i_release(&proof->seen);
}
