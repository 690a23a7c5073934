/* coll/lab/tune/tuned_rules.h — rules from what a tuner has measured: few of them, and without cliffs
 *
 *   coll_tuned_rules *rules = …;                                  // large: not on a stack
 *   coll_tuned_rules_make(rules, cells, n, 0.02);
 *   for (uint32_t i = 0; i < rules->n; i++)
 *       coll_rule_text(&rules->rule[i], text, sizeof text);
 *
 * Cells of one collective and number of ranks, by their bytes, share a rule as long as one choice takes at most
 * `loss` more than the best one in each of them. A rule's bytes end half way to the next cell, and its ranks half way to the next
 * number of ranks, by their ratio: so powers of two and their neighbours are treated alike. Where the same rule
 * holds for the next number of ranks, they are one.
 */
#ifndef COLL_LAB_TUNE_TUNED_RULES_H
#define COLL_LAB_TUNE_TUNED_RULES_H

#include "tuner.h"

enum { COLL_TUNED_RULES_MOST = 1024, COLL_TUNED_WHY = 160 };

/* Rules, and their reasons. */
typedef struct coll_tuned_rules {
    coll_rule rule[COLL_TUNED_RULES_MOST];           /* for coll_rule_list */
    char why[COLL_TUNED_RULES_MOST][COLL_TUNED_WHY]; /* … to which the rules point */
    uint32_t n;                                      /* how many */
} coll_tuned_rules;

/* What it takes, as far as is known; HUGE_VAL: it is none. */
COLL_INLINE double coll_candidate_ns(const coll_candidate *one)
{
    return one->fails ? HUGE_VAL : one->is.n > 0 ? one->is.median : one->predicted_ns;
}

/* The same choice among a cell's candidates; NULL: it was not measured there. */
COLL_INLINE const coll_candidate *coll_i_tuned_same(const coll_tuner_cell *cell,
                                                    const coll_candidate *as)
{
    for (uint32_t i = 0; i < cell->n; i++)
        if (coll_i_candidate_is(&cell->one[i], as->algorithm, as->param))
            return &cell->one[i];
    return NULL;
}

/* How much longer a choice takes than the best one of a cell, as a part; HUGE_VAL: nobody knows. What was only
 * predicted is compared with predictions alone. */
COLL_INLINE double coll_i_tuned_loss(const coll_tuner_cell *cell, const coll_candidate *as)
{
    const uint32_t best = coll_tuner_best(cell);
    const coll_candidate *one = coll_i_tuned_same(cell, as);
    if (best == cell->n || !one || (one->is.n > 0) != (cell->one[best].is.n > 0))
        return HUGE_VAL;
    return coll_candidate_ns(one) / coll_candidate_ns(&cell->one[best]) - 1;
}

/* The choice for cells from..end, of which it is one of the first's; NULL: none is good for all. */
COLL_INLINE const coll_candidate *coll_i_tuned_for(const coll_tuner_cell *cells, uint32_t from,
                                                   uint32_t end, double loss)
{
    const coll_candidate *found = NULL;
    double least = HUGE_VAL;
    for (uint32_t i = 0; i < cells[from].n; i++) {
        double sum = 0;
        for (uint32_t c = from; c < end; c++) {
            const double its = coll_i_tuned_loss(&cells[c], &cells[from].one[i]);
            sum += its <= loss ? its : HUGE_VAL;
        }
        if (cells[from].one[i].by_rules && sum < HUGE_VAL)
            return &cells[from].one[i]; /* what is good enough stays */
        if (sum < least) {
            least = sum;
            found = &cells[from].one[i];
        }
    }
    return found;
}

/* Half way between two numbers, by their ratio. */
COLL_INLINE size_t coll_i_tuned_between(size_t a, size_t b)
{
    return (size_t)sqrt((double)a * (double)b);
}

COLL_INLINE void coll_i_tuned_why(char *why, const coll_tuner_cell *cell,
                                  const coll_candidate *one)
{
    const coll_candidate *rules = NULL;
    char by_rules[80] = "";
    for (uint32_t i = 0; i < cell->n; i++)
        if (cell->one[i].by_rules && cell->one[i].is.n > 0)
            rules = &cell->one[i];
    if (rules && one->is.n > 0 && !one->by_rules && rules->is.median > one->is.median)
        snprintf(by_rules, sizeof by_rules, "; %.40s takes %.2f times that",
                 rules->algorithm->name, rules->is.median / one->is.median);
    if (rules && one->by_rules)
        snprintf(by_rules, sizeof by_rules, ", as the built-in rules have it");
    snprintf(why, COLL_TUNED_WHY, "%s %.3g us at %lu bytes%s",
             one->is.n > 0 ? "measured" : "simulated", coll_candidate_ns(one) / 1000,
             (unsigned long)coll_problem_bytes(&cell->problem), by_rules);
}

/* A rule for cells from..end of one collective and number of ranks, of which `all` is the end. */
COLL_INLINE void coll_i_tuned_add(coll_tuned_rules *rules, const coll_tuner_cell *cells,
                                  uint32_t begin, uint32_t from, uint32_t end, uint32_t all,
                                  const coll_candidate *one)
{
    const coll_problem *problem = &cells[from].problem;
    coll_rule *rule;
    if (rules->n == COLL_TUNED_RULES_MOST)
        return;
    rule = &rules->rule[rules->n];
    memset(rule, 0, sizeof *rule);
    rule->collectives = COLL_BIT(problem->collective);
    rule->p_least = rule->p_most = problem->p;
    rule->bytes_least = from == begin
                            ? 0
                            : coll_i_tuned_between(coll_problem_bytes(&cells[from - 1].problem),
                                                   coll_problem_bytes(problem));
    rule->bytes_most = end == all
                           ? SIZE_MAX
                           : coll_i_tuned_between(coll_problem_bytes(&cells[end - 1].problem),
                                                  coll_problem_bytes(&cells[end].problem)) -
                                 1;
    rule->algorithm = one->algorithm;
    for (uint32_t i = 0; i < one->algorithm->n_params; i++) {
        const coll_param *row = &one->algorithm->params[i];
        rule->param[i] = one->param[i] == row->default_value ? COLL_DEFAULT : one->param[i];
        if (rule->param[i] == COLL_DEFAULT || !coll_param_is_size(row))
            continue;
        rule->param[i] *= (uint32_t)problem->elem_bytes;
        rule->in_bytes |= 1u << i;
    }
    rule->why = rules->why[rules->n];
    coll_i_tuned_why(rules->why[rules->n++], &cells[from], one);
}

/* Cells begin..all are of one collective and number of ranks: as few rules as can be. */
COLL_INLINE void coll_i_tuned_row(coll_tuned_rules *rules, const coll_tuner_cell *cells,
                                  uint32_t begin, uint32_t all, double loss)
{
    for (uint32_t from = begin; from < all;) {
        const coll_candidate *one = coll_i_tuned_for(cells, from, from + 1, loss), *more = one;
        uint32_t end = from;
        while (more && end < all) {
            one = more;
            end++;
            more = end < all ? coll_i_tuned_for(cells, from, end + 1, loss) : NULL;
        }
        if (one)
            coll_i_tuned_add(rules, cells, begin, from, end, all, one);
        from = one ? end : from + 1;
    }
}

COLL_INLINE bool coll_i_tuned_alike(const coll_rule *a, const coll_rule *b)
{
    return a->collectives == b->collectives && a->bytes_least == b->bytes_least &&
           a->bytes_most == b->bytes_most && a->algorithm == b->algorithm &&
           a->in_bytes == b->in_bytes &&
           memcmp(a->param, b->param, a->algorithm->n_params * sizeof a->param[0]) == 0;
}

/* Ranks half way to the next number; p: all numbers of ranks that were tuned, by size. */
COLL_INLINE void coll_i_tuned_ranks(coll_rule *rule, const uint32_t *p, uint32_t n)
{
    const uint32_t its = rule->p_least;
    for (uint32_t i = 0; i < n; i++) {
        if (p[i] != its)
            continue;
        rule->p_least =
            (uint32_t)(i > 0 ? coll_i_tuned_between(p[i - 1], its) + 1 : its - its / 4);
        rule->p_most =
            (uint32_t)(i + 1 < n ? coll_i_tuned_between(its, p[i + 1]) : its + its / 2);
    }
}

/* Joins rules that say the same for neighbouring numbers of ranks. */
COLL_INLINE void coll_i_tuned_join(coll_tuned_rules *rules)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < rules->n; i++) {
        uint32_t k = 0;
        while (k < left && !(rules->rule[k].p_most + 1 == rules->rule[i].p_least &&
                             coll_i_tuned_alike(&rules->rule[k], &rules->rule[i])))
            k++;
        if (k < left)
            rules->rule[k].p_most = rules->rule[i].p_most;
        else
            rules->rule[left++] = rules->rule[i];
    }
    rules->n = left;
}

/* May a choice take at most `loss` longer than the best one of a cell, as far as was measured? */
COLL_INLINE bool coll_i_tuned_is_near(const coll_tuner_cell *cell, const coll_candidate *as,
                                      double loss)
{
    const uint32_t best = coll_tuner_best(cell);
    const coll_candidate *one = coll_i_tuned_same(cell, as);
    return best < cell->n && one && !one->fails && one->is.n > 0 &&
           one->is.low <= (1 + loss) * cell->one[best].is.median;
}

/* Cells begin..all are of one collective and number of ranks: a rule for each choice and each row of cells
 * in which it is near. */
COLL_INLINE void coll_i_tuned_near(coll_tuned_rules *rules, const coll_tuner_cell *cells,
                                   uint32_t begin, uint32_t all, double loss)
{
    for (uint32_t from = begin; from < all; from++)
        for (uint32_t i = 0; i < cells[from].n; i++) {
            const coll_candidate *one = &cells[from].one[i];
            uint32_t end = from + 1;
            if (!coll_i_tuned_is_near(&cells[from], one, loss) ||
                (from > begin && coll_i_tuned_is_near(&cells[from - 1], one, loss)))
                continue;
            while (end < all && coll_i_tuned_is_near(&cells[end], one, loss))
                end++;
            coll_i_tuned_add(rules, cells, begin, from, end, all, one);
        }
}

typedef void (*coll_i_tuned_maker)(coll_tuned_rules *rules, const coll_tuner_cell *cells,
                                   uint32_t begin, uint32_t all, double loss);

/* Has rules made of the cells of each collective and number of ranks. */
COLL_INLINE void coll_i_tuned_all(coll_tuned_rules *rules, const coll_tuner_cell *cells,
                                  uint32_t n, double loss, coll_i_tuned_maker make)
{
    uint32_t p[64], ranks = 0;
    rules->n = 0;
    for (uint32_t begin = 0, end; begin < n; begin = end) {
        const coll_problem *its = &cells[begin].problem;
        uint32_t k = 0;
        for (end = begin + 1; end < n && cells[end].problem.collective == its->collective &&
                              cells[end].problem.p == its->p;)
            end++;
        make(rules, cells, begin, end, loss);
        while (k < ranks && p[k] != its->p)
            k++;
        if (k == ranks && ranks < 64)
            p[ranks++] = its->p;
    }
    for (uint32_t i = 1; i < ranks; i++)
        for (uint32_t k = i; k > 0 && p[k] < p[k - 1]; k--) {
            const uint32_t other = p[k];
            p[k] = p[k - 1];
            p[k - 1] = other;
        }
    for (uint32_t i = 0; i < rules->n; i++)
        coll_i_tuned_ranks(&rules->rule[i], p, ranks);
    coll_i_tuned_join(rules);
}

/* Rules of cells that are sorted by collective, number of ranks and bytes. */
COLL_INLINE void coll_tuned_rules_make(coll_tuned_rules *rules, const coll_tuner_cell *cells,
                                       uint32_t n, double loss)
{
    coll_i_tuned_all(rules, cells, n, loss, coll_i_tuned_row);
}

/* Alternatives, for coll_settle_options (comm/settle.h): every choice that was measured, and may take at most
 * `loss` longer than the best one. Those cells, too. */
COLL_INLINE void coll_tuned_near_ties_make(coll_tuned_rules *rules,
                                           const coll_tuner_cell *cells, uint32_t n,
                                           double loss)
{
    coll_i_tuned_all(rules, cells, n, loss, coll_i_tuned_near);
}

#endif /* COLL_LAB_TUNE_TUNED_RULES_H */
