/* tools/member.h — one rank of a job whose ranks are processes: coll run under coll launch, mpiexec or srun
 *
 *   struct member me;
 *   if (member_is_launched("tcp")) {
 *       member_join(&me, "tcp");
 *       member_repeat(&me, &data, window, repeat, times, &failure);      // a job after the other
 *       member_leave(&me);
 *   }
 *
 * All ranks are asked for the same jobs in the same order. Each makes the plans of all, runs and checks
 * its own part, and then knows what all found.
 */
#ifndef COLL_TOOLS_MEMBER_H
#define COLL_TOOLS_MEMBER_H

#include "coll/comm.h"
#include "coll/lab/sim/real_record.h"
#include "coll/lab/tune/bench.h"
#include "data.h"
#include "telling.h"

struct launched;

struct member {
    const struct launched *by;
    const coll_transport *transport;
    void *ctx; /* of the transport */
    uint32_t rank, p;
    uint32_t tag, tags, jobs; /* each job has the next tag of a range, but for the first */
    coll_bench bench;         /* by which ranks start a job together; it has that one … */
    double margin;  /* … and so long before they are told, in ns; 0: nobody knows yet */
    coll_comm comm; /* for what the ranks tell each other about a job */
    void *memory;   /* … its scratch */
    coll_traced_event *events; /* that it notes; NULL: none … */
    uint32_t room;             /* … so many at most … */
    coll_traced traced;        /* … by this */
    struct telling telling;    /* coll top, of its repetitions */
};

/* What went wrong, and where. */
struct failure {
    coll_status status;
    uint32_t rank;       /* whose status it is */
    uint64_t repetition; /* from 1 */
    char why[256];       /* a wrong result, in words; "": none is */
};

/* Can ranks of this transport be processes? */
bool member_knows(const char *transport);
/* … and was this one started as such a rank? */
bool member_is_launched(const char *transport);

/* Nanoseconds of the clock by which ranks of this machine start and measure. */
double member_now_ns(void *unused);

/* Finds the others, or refuses. */
void member_join(struct member *me, const char *transport);

/* Runs a job n times, in so many sets of buffers in turn. times: of each repetition, from a moment at which
 * all ranks start to the end of the last one (lab/tune/clock_offsets.h). True: well, on all ranks; else *failure says what is not. Other jobs can be run
 * after it if its status is COLL_OK or COLL_ERR_CAPABILITY. */
bool member_repeat(struct member *me, const struct data *data, uint32_t window, uint32_t sets,
                   uint64_t n, double *times, struct failure *failure);

/* Has this rank note the latest `room` operations of the last repetition of jobs that follow. */
void member_trace(struct member *me, uint32_t room);
/* … and tells rank 0 what all p ranks noted. All ranks call it after a job. ranks[…].events are to be freed. */
coll_status member_traced(struct member *me, coll_real_rank *ranks);

void member_leave(struct member *me);

#endif /* COLL_TOOLS_MEMBER_H */
