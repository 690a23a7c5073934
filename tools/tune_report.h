/* tools/tune_report.h — what coll tune has found: which choice won where, by how much, and what it cost */
#ifndef COLL_TOOLS_TUNE_REPORT_H
#define COLL_TOOLS_TUNE_REPORT_H

#include "coll/lab/tune/tuner.h"

/* What choices lose, as parts of the time of the best ones. */
struct tune_losses {
    double *value;
    uint32_t n;
};

struct tune_report {
    coll_tuner_cell *cell; /* of all numbers of ranks */
    uint32_t n;
    double left;     /* the most that may still be gained somewhere, as a part */
    bool unfinished; /* the time was over */
    /* In problems that the table has not seen: what it loses, and what a choice loses that knew half of
     * the measurements of this very problem, by the other half. No table can lose less than that. */
    struct tune_losses table, half;
};

/* Adds what a tuner has found. */
void tune_report_add(struct tune_report *report, const coll_tuner *tuner);

/* Has it that problem? */
bool tune_report_has(const struct tune_report *report, const coll_problem *problem);

/* Adds what an earlier run has found. */
void tune_report_add_earlier(struct tune_report *report, const coll_tuner_cell *cell);

/* Adds what rules lose in the cells of a tuner to which they were given. */
void tune_report_unseen(struct tune_report *report, const coll_tuner *tuner);

/* By collective, number of ranks and bytes. */
void tune_report_sort(struct tune_report *report);

/* A line a collective, and what it cost, on stderr. */
void tune_report_print(struct tune_report *report);

/* Draws how many times as long the built-in rules' choice takes, and what won. */
void tune_report_plot(const struct tune_report *report, const char *path);

void tune_report_free(struct tune_report *report);

#endif /* COLL_TOOLS_TUNE_REPORT_H */
