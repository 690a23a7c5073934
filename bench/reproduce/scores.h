/* bench/reproduce/scores.h — what of a paper is reproduced: how far numbers are off, by what ours rest on
 *
 *   scores of = {0};
 *   scores_number(&of, SCORES_PREDICTED, "two nodes", 2, 1.98, 5);
 *   scores_statement(&of, SCORES_PREDICTED, true);
 *   printf("%.1f %% in the median\n", scores_median(&of, SCORES_PREDICTED));
 */
#ifndef COLL_BENCH_REPRODUCE_SCORES_H
#define COLL_BENCH_REPRODUCE_SCORES_H

#include <stdbool.h>

/* What our number, or that a statement holds, rests on. */
typedef enum scores_basis {
    SCORES_PREDICTED, /* printed parameters, or those fitted to other measurements of the paper */
    SCORES_FITTED,    /* a parameter was fitted to this very number or statement */
    SCORES_ASSUMED,   /* the model has it as an assumption, or takes it from what is compared */
    SCORES_OWN,       /* simulation against formula: the paper has no such number */
    SCORES_BASES
} scores_basis;

extern const char *const scores_names[SCORES_BASES]; /* "predicted", … */

enum { SCORES_NUMBERS = 160, SCORES_WHAT = 100 };

/* Of numbers and statements on one basis. */
typedef struct scores_of_basis {
    double off[SCORES_NUMBERS]; /* how far each is off, without its sign, % */
    unsigned numbers; /* of them the first have an entry; more: an error of the program */
    unsigned within;  /* numbers that are within their tolerances */
    unsigned statements, hold;
    double worst;                 /* the largest of off, with its sign */
    char worst_what[SCORES_WHAT]; /* of which number */
} scores_of_basis;

/* Of a paper; begins as zeros. */
typedef struct scores {
    scores_of_basis basis[SCORES_BASES];
} scores;

/* How far ours is off, in % of what the paper prints, which is not 0. */
double scores_off(double paper, double ours);
/* Counts a number; true: it is off by at most `tolerance` %. */
bool scores_number(scores *of, scores_basis basis, const char *what, double paper, double ours,
                   double tolerance);
void scores_statement(scores *of, scores_basis basis, bool holds);
/* How far the numbers on a basis are off, in the median, without signs, %; 0: there are none. */
double scores_median(const scores *of, scores_basis basis);

#endif /* COLL_BENCH_REPRODUCE_SCORES_H */
