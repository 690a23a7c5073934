/* coll/comm/dump.h — what a request waits for, in words
 *
 *   coll_clock clock = {my_milliseconds, NULL};
 *   if (coll_wait_until(&request, &clock, my_milliseconds(NULL) + 5000) == COLL_AGAIN) {
 *       char text[1000];
 *       (void)coll_dump(&request, text, sizeof text);
 *       puts(text);                                    // executor/pending.h has what it looks like
 *       (void)coll_cancel(&request);
 *   }
 */
#ifndef COLL_COMM_DUMP_H
#define COLL_COMM_DUMP_H

#include "../executor/pending.h"
#include "request.h"

/* Writes what a request runs, how it stands, and each action that is not over, as text of `room` bytes with
 * its end; returns the length of the whole, which may be longer. NULL and 0 ask for that. The request was
 * made, by coll_post or coll_request_init, and its communicator exists. */
COLL_INLINE size_t coll_dump(const coll_request *request, char *text, size_t room)
{
    coll_i_pending_words to;
    coll_i_pending_begin(&to, text, room);
    if (request->state == COLL_REQUEST_RUNNING) {
        coll_i_pending_engine(&to, &request->engine);
        return to.length;
    }
    if (request->prepared)
        coll_i_pending_plan(&to, &request->prepared->plan, request->comm->rank,
                            request->engine.task.tag);
    else
        coll_i_pending_text(&to, "a call");
    if (request->state == COLL_REQUEST_QUEUED || request->state == COLL_REQUEST_READY) {
        coll_i_pending_text(&to, request->state == COLL_REQUEST_READY
                                     ? ": not started"
                                     : ": waits for an older call with its tag");
        return to.length;
    }
    coll_i_pending_text(&to, ": over, ");
    coll_i_pending_text(&to, coll_status_text(request->status));
    if (request->status == COLL_ERR_SIZE && coll_comm_misfit(request->comm)) {
        coll_i_pending_text(&to, ": ");
        coll_i_pending_misfit(&to, coll_comm_misfit(request->comm));
    }
    return to.length;
}

#endif /* COLL_COMM_DUMP_H */
