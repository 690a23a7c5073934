/* coll/comm/around.h — code that stands around a communicator's calls, one round the other
 *
 * A coll_i_around is the first member of what has that code (trace_calls.h, compare.h). The one that was put
 * there last is asked first, and hands a call on to the next; settle.h is the innermost.
 */
#ifndef COLL_COMM_AROUND_H
#define COLL_COMM_AROUND_H

#include "request.h"

/* Private. */
typedef struct coll_i_around {
    coll_i_comm_settler calls;        /* what the communicator points to: the first member */
    const coll_i_comm_settler *inner; /* the next one, or NULL */
} coll_i_around;

/* What stands around the calls of a communicator that is asked now. */
COLL_INLINE coll_i_around *coll_i_around_of(const coll_comm *comm)
{
    return (coll_i_around *)(uintptr_t)comm->settler;
}

COLL_INLINE void coll_i_around_put(coll_comm *comm, coll_i_around *around,
                                   coll_status (*run)(coll_comm *comm, const coll_args *args),
                                   void (*choose)(coll_comm *comm, const coll_args *args))
{
    around->calls.run = run;
    around->calls.choose = choose;
    around->inner = comm->settler;
    comm->settler = &around->calls;
}

/* Runs a call as without this one. The next one finds itself where it looks. */
COLL_INLINE coll_status coll_i_around_run(coll_comm *comm, coll_i_around *around,
                                          const coll_args *args)
{
    coll_request request;
    coll_status status;
    if (around->inner) {
        comm->settler = around->inner;
        status = around->inner->run(comm, args);
    } else {
        comm->settler = NULL;
        status = coll_post(comm, args, &request);
        if (status == COLL_OK)
            status = coll_wait(&request);
    }
    comm->settler = &around->calls;
    return status;
}

/* Has the next one choose, if there is one. */
COLL_INLINE void coll_i_around_choose(coll_comm *comm, coll_i_around *around,
                                      const coll_args *args)
{
    if (!around->inner)
        return;
    comm->settler = around->inner;
    around->inner->choose(comm, args);
    comm->settler = &around->calls;
}

#endif /* COLL_COMM_AROUND_H */
