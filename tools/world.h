/* tools/world.h — all ranks of a job, with their memory, over a transport; runs the collective
 * once and again
 *
 *   struct world world;
 *   world_make(&world, &data, WORLD_THREADS, window);
 *   while (world_run(&world, fill, &seconds) == COLL_OK) …
 *   world_free(&world);
 */
#ifndef COLL_TOOLS_WORLD_H
#define COLL_TOOLS_WORLD_H

#include "coll/executor.h"
#include "coll/lab/sim/real_record.h"
#include "data.h"

/* A thread a rank, over their memory or over TCP; all ranks in one thread. */
enum world_kind { WORLD_THREADS, WORLD_LOOPBACK, WORLD_TCP, WORLD_JOIN, WORLD_PROCESSES };

struct world_rank;
struct world_engine;

struct world {
    const struct data *data;
    enum world_kind kind;
    uint32_t p, window;
    void **in, **out;         /* of each rank, of the set in use … */
    void **all_in, **all_out; /* … and of all sets, one behind the other */
    uint32_t sets, set;
    struct world_rank *ranks;
    struct world_engine *engine; /* what the kind of transport needs */
    void *shared;
    bool barrier_broken; /* a barrier let a rank go before all had come */
    uint32_t failed;     /* the first rank with an error, after an error */
};

/* Bytes that so many sets of buffers and the window of all ranks take together; UINT64_MAX: too many to
 * count. */
uint64_t world_bytes(const struct data *data, uint32_t window, uint32_t sets);

/* Makes the ranks, with so many sets of buffers; refuses what cannot be made. */
void world_make(struct world *world, const struct data *data, enum world_kind kind,
                uint32_t window, uint32_t sets);

/* Runs the collective once, in the next set of buffers; with `fill`, writes the data first. *seconds: from
 * the first rank's start to the last one's end; all start at once if each has a processor. Returns COLL_OK
 * or the error of rank world->failed; the world can then only be freed. */
coll_status world_run(struct world *world, bool fill, double *seconds);

/* Has each rank note the latest `room` operations of the last repetition. Before the first world_run. */
void world_trace(struct world *world, uint32_t room);
/* … and says what a rank noted, between two of them, until world_free. */
coll_real_rank world_traced(const struct world *world, uint32_t rank);

void world_free(struct world *world);

#endif /* COLL_TOOLS_WORLD_H */
