/* tests/support/rules.h — proves what rules select, by nothing but the rules themselves
 *
 *   rules_proof proof;
 *   rules_begin(&proof);
 *   rules_prove(&proof, "select.h", &coll_rules_built_in);   // lists as they are searched
 *   rules_end(&proof);                                       // proof.findings, proof.first
 *
 * For each rule of the lists, each collective of it and each p of its range, up to 64 and some beyond,
 * problems are drawn: of bytes at both ends of its range and at the ends of other rules within it, in
 * elements that make its parameters what they are there, with roots, operators, blocks, nodes and
 * graphs. Findings are
 *   - a rule that refuses such a problem for another reason than what its algorithm's traits say
 *   - a plan that the rule makes, or that the lists choose, which is not proven, or breaks the terms
 *   - ranks that choose differently; a problem for which the lists have nothing
 *   - a rule that no problem reaches, in none of the lists that were proven: its range is empty, its
 *     algorithm refuses all of it, or other rules come first
 * A plan is proven once: the bytes of an element matter for parameters alone.
 */
#ifndef COLL_TESTS_SHARED_RULES_H
#define COLL_TESTS_SHARED_RULES_H

#include "coll/select.h"
#include "asked.h"

/* What one rank is asked to choose for. */
typedef struct rules_question {
    const coll_rule_list *lists;
    const coll_problem *problem;
    const coll_conditions *conditions;
    uint32_t rank;
    coll_workspace *workspace; /* NULL: none */
} rules_question;

typedef struct rules_seen rules_seen;

typedef struct rules_proof {
    /* The caller's, after rules_begin. How plans are chosen by the lists; NULL: by coll_select_from.
     * *rule may be left as it is, NULL, where it is not known. */
    coll_status (*select)(void *arg, const rules_question *question, coll_plan *plan,
                          const coll_rule **rule);
    void *arg;
    bool open;                           /* the lists may leave problems open */
    bool quiet;                          /* findings are only counted */
    uint32_t p_most;                     /* each p up to this one, … */
    uint32_t beyond;                     /* … and one up to that */
    uint32_t draws;                      /* for each rule and p, while p is small */
    unsigned capabilities, requirements; /* terms are drawn from these */

    uint64_t problems, plans; /* chosen for; proven */
    unsigned findings;
    char first[1024]; /* the first one */

    /* private */
    asked it;
    asked_memory memory;
    coll_verifier verifier;
    coll_i_memory plans_of, workspaces, workspace_tables, known, seen;
    size_t n_known, n_seen;
    bool per_rank, alone;
    uint64_t chance;
} rules_proof;

void rules_begin(rules_proof *proof);
void rules_prove(rules_proof *proof, const char *name, const coll_rule_list *lists);
void rules_end(rules_proof *proof);

#endif /* COLL_TESTS_SHARED_RULES_H */
