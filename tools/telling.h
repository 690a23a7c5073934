/* tools/telling.h — what a rank of coll run that is a process tells coll top, if coll launch --top started it
 *
 *   telling_open(&telling, &comm);                     // COLL_TOP=1: collective
 *   telling_begin(&telling, &problem, type, which);    // of each repetition, before its ranks meet
 *   …
 *   telling_end(&telling);
 *   telling_close(&telling);
 *
 * Without COLL_TOP nothing is told, and nothing is done. A rank's line is as of coll/comm/explain.h, with times in ns of
 * CLOCK_MONOTONIC: from where it begins to wait for the others to start together it is shown to wait.
 */
#ifndef COLL_TOOLS_TELLING_H
#define COLL_TOOLS_TELLING_H

#include "coll/comm.h"
#include "coll/comm/published.h"

struct telling {
    coll_page page; /* .memory is NULL: there is none */
    coll_told told;
    uint64_t calls;
};

void telling_open(struct telling *telling, coll_comm *comm);
void telling_begin(struct telling *telling, const coll_problem *problem, coll_type type,
                   coll_operator which);
void telling_end(struct telling *telling);
void telling_close(struct telling *telling);

#endif /* COLL_TOOLS_TELLING_H */
