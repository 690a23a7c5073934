/* tools/report.h — what coll report has found out, and the sections of its page */
#ifndef COLL_TOOLS_REPORT_H
#define COLL_TOOLS_REPORT_H

#include "coll/lab/sim.h"
#include "compared.h"
#include "proof.h"
#include "rounds.h"

struct report {
    const char *command; /* that makes the same page */
    struct ask ask;
    struct job job;
    struct simulated on;
    bool machine_given; /* by the user */

    struct rounds played;
    coll_report plan_proof; /* of this plan, unless it is too large … */
    bool plan_large;
    coll_grid_row grid; /* … and of many, up to a number of ranks */
    uint32_t grid_least, grid_most;
    bool proven; /* both */

    /* If they are proven. */
    coll_sim sim;
    coll_sim_record record;
    struct comparison comparison;
};

/* Writes the whole page. */
void report_write(const struct report *report, FILE *to);

/* The section on costs by the formulas of the machine's model. */
void report_cost(const struct report *report, FILE *to);

/* A picture or table of more than this is left out of the page. */
enum { REPORT_SHOWN = 1 << 15, REPORT_LINES = 400 };

#endif /* COLL_TOOLS_REPORT_H */
