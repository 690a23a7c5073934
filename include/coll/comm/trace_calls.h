/* coll/comm/trace_calls.h — the calls of a communicator among what its traced transport notes
 *
 *   status = coll_comm_init(&comm, coll_traced_transport(&traced), &traced, …);    // transports/traced.h
 *   coll_trace_calls calls;                          // at a fixed place, as long as the communicator
 *   status = coll_comm_trace(&comm, &calls, &traced);
 *
 * A blocking call is an event from its beginning to its end, with the status by which it ended, a nonblocking
 * one where it was started: its messages, which have its tag, show how long it ran. A persistent call is seen
 * where it is made, and its starts by their messages. Opt in: comm.h does not include this header.
 */
#ifndef COLL_COMM_TRACE_CALLS_H
#define COLL_COMM_TRACE_CALLS_H

#include "../transports/traced.h"
#include "around.h"

/* Notes the calls of one communicator. Private. */
typedef struct coll_trace_calls {
    coll_i_around around; /* the first member */
    coll_traced *traced;  /* where they are noted */
} coll_trace_calls;

/* The call that comes now begins. Returns its number. */
COLL_INLINE uint64_t coll_i_trace_calls_begin(coll_comm *comm, coll_traced *traced,
                                              const coll_args *args)
{
    const size_t bytes = coll_type_bytes(args->type);
    size_t all;
    if (args->collective == COLL_BARRIER || !coll_multiply(args->count, bytes, &all))
        all = 0;
    return coll_traced_begin(traced, args->collective, comm->first_tag + comm->turn + comm->use,
                             all);
}

COLL_INLINE coll_status coll_i_trace_calls_run(coll_comm *comm, const coll_args *args)
{
    coll_trace_calls *calls = (coll_trace_calls *)(void *)coll_i_around_of(comm);
    const uint64_t number = coll_i_trace_calls_begin(comm, calls->traced, args);
    const coll_status status = coll_i_around_run(comm, &calls->around, args);
    coll_traced_end(calls->traced, number, status);
    return status;
}

/* A call that does not come by `run`: nonblocking, or persistent. */
COLL_INLINE void coll_i_trace_calls_choose(coll_comm *comm, const coll_args *args)
{
    coll_trace_calls *calls = (coll_trace_calls *)(void *)coll_i_around_of(comm);
    (void)coll_i_trace_calls_begin(comm, calls->traced, args);
    coll_i_around_choose(comm, &calls->around, args);
}

/* Notes the calls of a communicator from now on, until it is freed; those of communicators that are made from it
 * are not. `calls` and `traced`, of whose transport the communicator is, stay the caller's until then. May
 * differ from rank to rank. After coll_comm_settle, if there is one. */
COLL_INLINE coll_status coll_comm_trace(coll_comm *comm, coll_trace_calls *calls,
                                        coll_traced *traced)
{
    if (!comm || !calls || !traced)
        return COLL_ERR_NULL;
    calls->traced = traced;
    coll_i_around_put(comm, &calls->around, coll_i_trace_calls_run, coll_i_trace_calls_choose);
    return COLL_OK;
}

#endif /* COLL_COMM_TRACE_CALLS_H */
