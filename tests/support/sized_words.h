/* tests/support/sized_words.h — sizes that travel by a route, over loopback: kit/sized_route.h
 *
 *   sized_words(p, plans, in, out, routes, offsets);    // plans of words, run with the least window
 */
#ifndef COLL_TESTS_SIZED_WORDS_H
#define COLL_TESTS_SIZED_WORDS_H

#include <stdlib.h>

#include "check.h"
#include "coll/algos/kit/sized_route.h"
#include "coll/transports/loopback.h"

enum { SIZED_RANKS = 64, SIZED_MESSAGES = SIZED_RANKS * 8 };

/* Runs the plans of p ranks, and writes where the blocks will lie: offsets[r] has one entry more than
 * routes[r] has blocks of scratch. */
static inline void sized_words(uint32_t p, const coll_plan *plans, uint64_t *const *in,
                               uint64_t *const *out, const coll_route *routes,
                               size_t *const *offsets)
{
    static unsigned char memory[COLL_LOOPBACK_BYTES(SIZED_MESSAGES)];
    static coll_loopback loopback;
    static coll_loopback_rank ends[SIZED_RANKS];
    static coll_engine engines[SIZED_RANKS], *running[SIZED_RANKS];
    static coll_slot slots[SIZED_RANKS][2];
    static coll_task tasks[SIZED_RANKS];
    CHECK_STATUS(coll_loopback_init(&loopback, p, SIZED_MESSAGES, memory, sizeof memory),
                 COLL_OK);
    for (uint32_t rank = 0; rank < p; rank++) {
        coll_task *task = &tasks[rank];
        CHECK_STATUS(coll_loopback_attach(&loopback, rank, &ends[rank]), COLL_OK);
        coll_task_init(task, &plans[rank], rank, &coll_loopback_transport, &ends[rank]);
        task->in = in[rank];
        task->out = out[rank];
        task->scratch_bytes = routes[rank].scratch * sizeof(uint64_t);
        task->scratch = malloc(task->scratch_bytes + 1);
        CHECK_STATUS(coll_engine_init(&engines[rank], slots[rank], 2), COLL_OK);
        CHECK_STATUS(coll_engine_start(&engines[rank], task), COLL_OK);
        running[rank] = &engines[rank];
    }
    CHECK_STATUS(coll_loopback_run(&loopback, running, p), COLL_OK);
    for (uint32_t rank = 0; rank < p; rank++) {
        CHECK_STATUS(coll_sized_route_offsets(
                         &routes[rank], (const uint64_t *)tasks[rank].scratch, offsets[rank]),
                     COLL_OK);
        free(tasks[rank].scratch);
    }
}

#endif /* COLL_TESTS_SIZED_WORDS_H */
