/* bench/reproduce/scores.c — see scores.h */
#include "scores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const scores_names[SCORES_BASES] = {"predicted", "fitted", "assumed", "our own"};

double scores_off(double paper, double ours)
{
    return 100 * (ours / paper - 1);
}

bool scores_number(scores *of, scores_basis basis, const char *what, double paper, double ours,
                   double tolerance)
{
    scores_of_basis *at = &of->basis[basis];
    const double off = scores_off(paper, ours);
    /* 1e-9: of equal numbers that were computed in two ways */
    const bool within = fabs(off) <= tolerance + 1e-9;
    if (at->numbers == SCORES_NUMBERS) {
        fprintf(stderr,
                "reproduce: more than %d numbers of a paper are %s: "
                "SCORES_NUMBERS of scores.h is too small\n",
                SCORES_NUMBERS, scores_names[basis]);
        exit(2);
    }
    if (at->numbers == 0 || fabs(off) > fabs(at->worst)) {
        at->worst = off;
        snprintf(at->worst_what, sizeof at->worst_what, "%s", what);
    }
    at->off[at->numbers++] = fabs(off);
    at->within += within;
    return within;
}

void scores_statement(scores *of, scores_basis basis, bool holds)
{
    of->basis[basis].statements++;
    of->basis[basis].hold += holds;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double scores_median(const scores *of, scores_basis basis)
{
    const scores_of_basis *at = &of->basis[basis];
    const unsigned n = at->numbers;
    double sorted[SCORES_NUMBERS];
    if (n == 0)
        return 0;
    memcpy(sorted, at->off, n * sizeof sorted[0]);
    qsort(sorted, n, sizeof sorted[0], by_size);
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}
