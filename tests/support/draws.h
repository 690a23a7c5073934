/* tests/support/draws.h — problems for a rule, drawn at random: a part of rules.c */
#ifndef COLL_TESTS_SHARED_DRAWS_H
#define COLL_TESTS_SHARED_DRAWS_H

#include "rules.h"

/* One end of a range of bytes: problems that have so many, or if that cannot be a little more or less. */
typedef struct end {
    size_t bytes;
    bool up;
} end;

enum { ENDS = 64 };

/* The rule and collective that problems are drawn for. */
typedef struct drawn {
    const char *name;
    const coll_rule_list *lists;
    const coll_rule *rule;
    coll_collective collective;
    end ends[ENDS];
    uint32_t n_ends;
} drawn;

/* A number below n. */
uint32_t draws_below(uint64_t *chance, uint32_t n);

/* Finds the ends: of the rule, and those of others within its range. */
void draws_ends(drawn *of);

/* Draws a problem of the rule for p ranks, number k of such, into proof->it; false: there is none. */
bool draws_problem(rules_proof *proof, const drawn *of, uint32_t p, uint32_t k);

/* Terms that the problem allows: with all that there is, or some of it. */
coll_conditions draws_terms(rules_proof *proof, bool all);

#endif /* COLL_TESTS_SHARED_DRAWS_H */
