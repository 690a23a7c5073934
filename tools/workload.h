/* tools/workload.h — a program of collectives and of what ranks compute between them, as a text file
 *
 *   # two steps of a solver
 *   compute 20us random 5us
 *   repeat 100
 *       compute 50us ramp 10us
 *       allreduce recursive_doubling count=1
 *       bcast fnomial f=4 count=64k root=3
 *   end
 *
 * A line is one of
 *
 *   compute TIME               every rank computes so long
 *   compute TIME random T      … and up to T more, each rank and each time anew, all times as likely
 *   compute TIME exponential T … and T more in the mean, each rank and each time anew
 *   compute TIME imbalance T   … and up to T more, each rank always as much
 *   compute TIME ramp T        … and r/(p−1) of T more on rank r
 *   compute TIME rank R T      … and T more on rank R alone
 *   COLLECTIVE ALGORITHM K=V…  a call: count, root, graph, intra, inter, and parameters of the algorithm
 *   repeat N, end              what is between them, N times
 *
 * and # begins a comment. The ranks, and what they share, are those of coll sim.
 */
#ifndef COLL_TOOLS_WORKLOAD_H
#define COLL_TOOLS_WORKLOAD_H

#include "job.h"
#include "simulated.h"
#include "traces.h"

typedef enum workload_kind {
    WORKLOAD_COMPUTE,
    WORKLOAD_CALL,
    WORKLOAD_REPEAT,
    WORKLOAD_END
} workload_kind;

typedef enum workload_pattern {
    WORKLOAD_SAME,
    WORKLOAD_RANDOM,
    WORKLOAD_EXPONENTIAL,
    WORKLOAD_IMBALANCE,
    WORKLOAD_RAMP,
    WORKLOAD_RANK
} workload_pattern;

/* What calls of a line took: all of them, and all ranks together. */
struct workload_cost {
    uint64_t calls;
    double after_last; /* us from the last rank's coming to the last one's end */
    double inside;     /* rank-us in calls */
    double waiting;    /* … of these, before the last rank had come */
};

/* A line. */
struct workload_step {
    workload_kind kind;
    uint32_t line;
    /* COMPUTE */
    workload_pattern pattern;
    double us, more_us;
    uint32_t rank;
    /* REPEAT, END */
    uint64_t times, left;
    size_t other; /* its END; its REPEAT */
    /* CALL */
    char *words;    /* as they stand */
    char label[80]; /* collective and algorithm */
    struct ask ask;
    struct job job;
    struct simulated on;
    struct workload_cost cost;
};

struct workload {
    const char *path;
    uint32_t p;
    struct workload_step **steps; /* which stay where they are */
    size_t n;
    uint64_t calls; /* of a run */
};

/* Reads the file, for ranks as `ask` has them, and makes the plans of its calls; or refuses, with the line. */
void workload_read(struct workload *workload, const char *path, const struct ask *ask,
                   size_t elem_bytes);

/* Simulates it on the machine of these words, prints what it took, and writes the traces that are wanted. False: it was
 * said on stderr that one could not be written. */
bool workload_sim(struct workload *workload, const struct simulated *on, uint32_t window,
                  uint64_t seed, bool json, const struct traces *traces);

void workload_free(struct workload *workload);

#endif /* COLL_TOOLS_WORKLOAD_H */
