/* tools/compared.h — an algorithm beside the others of its collective, all simulated on one machine
 *
 *   struct comparison all;
 *   comparison_make(&all, &what);
 *   … all.row[0 … all.n − 1], the fastest first; all.chart over sizes, if all.chart.n > 0 …
 *   comparison_free(&all);
 *
 * The others have their default parameters. Each is simulated in a process of its own.
 */
#ifndef COLL_TOOLS_COMPARED_H
#define COLL_TOOLS_COMPARED_H

#include "chart.h"
#include "sweep.h"

/* What is compared with what. */
struct compared_with {
    const struct ask *ask;      /* the algorithm and its problem … */
    const struct simulated *on; /* … the machine, in words … */
    const char *type;           /* … and the type of its elements */
    struct sweep_times own;     /* its times, at its own size */
    uint64_t jobs;              /* processes at a time */
};

struct compared {
    const char *name;
    bool own;
    struct sweep_times times; /* no runs: it was refused … */
    char *refusal;            /* … with this sentence; else NULL */
};

struct comparison {
    struct compared *row; /* those that ran by their time, then those that were refused */
    size_t n, ran;
    struct chart chart; /* of the algorithm and the fastest of the others */
    uint64_t bytes[CHART_POINTS];
    struct sweep sweep; /* whose the names are */
};

/* Does the algorithm copy through the memory of a node, of which the machine does not say what that takes? Then its
 * time is no time to compare with. */
bool compared_is_free(const struct simulated *on, const coll_algorithm *algorithm);

/* Simulates them all, at this size; and a few, if each has at most COMPARED_MESSAGES messages, over sizes. */
enum { COMPARED_MESSAGES = 1 << 18 };
void comparison_make(struct comparison *all, const struct compared_with *what);

void comparison_free(struct comparison *all);

#endif /* COLL_TOOLS_COMPARED_H */
