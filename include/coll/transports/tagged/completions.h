/* coll/transports/tagged/completions.h — ranks joined by a library with tagged messages: what becomes of operations
 *
 * Use ../ofi.h or ../ucx.h.
 */
#ifndef COLL_TRANSPORTS_TAGGED_COMPLETIONS_H
#define COLL_TRANSPORTS_TAGGED_COMPLETIONS_H

#include <fcntl.h>
#include <unistd.h>

#include "watch.h"

enum {
    COLL_I_TAGGED_LOOK = 50, /* ms between two looks whether peers live */
    COLL_I_TAGGED_SILENCE =
        500,                  /* ms of waiting after which a peer is sent a ping, and watched */
    COLL_I_TAGGED_ROUNDS = 64 /* … of tests, after which this rank asks for the time */
};

/* ---- operations that the library has ended ----------------------------------------------- */

/* The status of an operation that is over, to return: a message that does not fit is noted then. */
COLL_INLINE coll_status coll_i_tagged_status(coll_i_tagged *net, const coll_i_tagged_op *op)
{
    const uint32_t bits = net->use_mask << COLL_I_TAGGED_TAG_BITS | (COLL_CLAIM_ALL - 1);
    if (op->status == COLL_ERR_SIZE) {
        (void)coll_misfit_note(&net->misfit, op->link->peer, op->tag, op->bytes);
        net->misfit.its_tag =
            op->kind == COLL_I_TAGGED_RECV ? (uint32_t)op->its_tag & bits : op->tag;
        net->misfit.bytes = op->its_bytes;
    }
    return op->status;
}

/* Is the message of the same use of the tag? */
COLL_INLINE bool coll_i_tagged_same_use(const coll_i_tagged *net, const coll_i_tagged_op *op)
{
    return (((uint32_t)op->its_tag ^ op->tag) >> COLL_I_TAGGED_TAG_BITS & net->use_mask) == 0;
}

/* A short message has come. */
COLL_INLINE void coll_i_tagged_short_came(coll_i_tagged *net, coll_i_tagged_op *op)
{
    if (op->end == COLL_I_TAGGED_WELL && op->its_bytes == op->bytes &&
        coll_i_tagged_same_use(net, op)) {
        if (op->into != op->buf && op->bytes != 0)
            memcpy(op->buf, op->into, op->bytes);
        coll_i_tagged_end_op(net, op, COLL_OK);
    } else {
        coll_i_tagged_end_op(net, op, COLL_ERR_SIZE);
    }
}

/* A message was announced. */
COLL_INLINE void coll_i_tagged_announced(coll_i_tagged *net, coll_i_tagged_op *op)
{
    uint64_t bytes;
    memcpy(&bytes, op->into, sizeof bytes);
    memcpy(&op->other, op->into + sizeof bytes, sizeof op->other);
    if (bytes == op->bytes && coll_i_tagged_same_use(net, op)) {
        op->kind = COLL_I_TAGGED_RECV_DATA;
        coll_i_tagged_start_data(net, op);
    } else {
        op->its_bytes = (size_t)bytes;
        coll_i_tagged_end_op(net, op, COLL_ERR_SIZE);
    }
}

/* A receive that looked for what comes first has ended. */
COLL_INLINE void coll_i_tagged_came(coll_i_tagged *net, coll_i_tagged_op *op)
{
    const bool announced =
        coll_i_tagged_kind_of(net, op->its_tag) == COLL_I_TAGGED_ANNOUNCEMENT;
    const uint32_t credit = coll_i_tagged_credit_of(net, op->its_tag);
    if (op->end > COLL_I_TAGGED_CUT) {
        coll_i_tagged_end_op(net, op, COLL_ERR_IO);
        return;
    }
    if (credit != 0)
        coll_i_tagged_credit(op->link, credit);
    if (!announced) {
        coll_i_tagged_owe(net, op->link, op->its_bytes);
        coll_i_tagged_short_came(net, op);
    } else {
        op->state = COLL_I_TAGGED_DUE;
        coll_i_tagged_append(&net->due, op);
    }
}

/* The library calls this when it has ended an operation. */
COLL_INLINE void coll_i_tagged_done(coll_i_tagged *net, coll_i_tagged_op *op,
                                    coll_i_tagged_end end, uint64_t its_tag, size_t its_bytes)
{
    op->has = false;
    op->end = (uint8_t)end;
    if (op->link)
        op->link->since = 0; /* it is there */
    op->its_tag = its_tag;
    op->its_bytes = its_bytes;
    switch (op->kind) {
    case COLL_I_TAGGED_RECV:
        coll_i_tagged_came(net, op);
        break;
    case COLL_I_TAGGED_RECV_DATA:
        coll_i_tagged_end_op(net, op,
                             end == COLL_I_TAGGED_WELL && its_bytes == op->bytes ? COLL_OK
                             : end <= COLL_I_TAGGED_CUT                          ? COLL_ERR_SIZE
                                                                                 : COLL_ERR_IO);
        break;
    case COLL_I_TAGGED_HEAR:
        op->state = COLL_I_TAGGED_DUE;
        coll_i_tagged_append(&net->due, op);
        return;
    case COLL_I_TAGGED_SEND:
        if (end == COLL_I_TAGGED_FAILED)
            op->link->lost = true;
        coll_i_tagged_end_op(net, op, end == COLL_I_TAGGED_WELL ? COLL_OK : COLL_ERR_IO);
        break;
    default:
        coll_i_tagged_end_op(net, op, COLL_OK);
        break;
    }
    if (op->given_up && op->state == COLL_I_TAGGED_OVER) {
        if (op->kind == COLL_I_TAGGED_SEND)
            net->orphans--;
        coll_i_tagged_op_give(net, op);
    }
}

/* Goes on with what the library has ended, but this rank has not. */
COLL_INLINE void coll_i_tagged_go_on(coll_i_tagged *net)
{
    while (net->due.first) {
        coll_i_tagged_op *op = net->due.first;
        net->due.first = op->next;
        if (!op->next)
            net->due.end = &net->due.first;
        if (op->given_up) { /* an announcement that nobody waits for any more */
            coll_i_tagged_op_give(net, op);
        } else if (op->kind == COLL_I_TAGGED_RECV) {
            coll_i_tagged_announced(net, op);
        } else {
            if (op->end == COLL_I_TAGGED_WELL && op->its_bytes == COLL_I_TAGGED_NOTICE)
                coll_i_tagged_hear(net, op->head);
            if (op->end <= COLL_I_TAGGED_CUT)
                coll_i_tagged_start_data(net, op);
            else
                coll_i_tagged_op_give(net, op);
        }
    }
}

/* ---- peers that are lost ----------------------------------------------------------------- */

/* When a process was started, in ticks since the machine was. 0: it has ended, or nobody knows. */
COLL_INLINE uint64_t coll_i_tagged_started(uint64_t number)
{
    char path[48], text[512], *at;
    ssize_t n;
    int fd;
    (void)snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)number);
    fd = open(path, O_RDONLY);
    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    text[n > 0 ? n : 0] = 0;
    at = strrchr(text, ')'); /* behind the name: state, and after 19 more words the time */
    if (!at || at[1] == 0 || at[2] == 'Z' || at[2] == 'X')
        return 0;
    for (unsigned words = 0; at && words < 20; words++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* Is the process of a rank on this machine, and has it ended? */
COLL_INLINE bool coll_i_tagged_has_ended(const coll_i_tagged *net, uint32_t peer)
{
    const coll_i_tagged_process *its = &net->processes[peer];
    return coll_i_tagged_is_near(net, peer) && its->number != net->self.number &&
           its->start != 0 && coll_i_tagged_started(its->number) != its->start;
}

COLL_INLINE void coll_i_tagged_lose(coll_i_tagged *net, coll_i_tagged_link *link)
{
    if (link->lost)
        return;
    link->lost = net->news = true;
    coll_i_tagged_watch_end(link);
    net->library->lose(net, link);
}

/* Looks after the peers that this rank waits for. */
COLL_INLINE void coll_i_tagged_look(coll_i_tagged *net)
{
    const uint64_t now = coll_i_tcp_now();
    const uint64_t most = COLL_I_TAGGED_SILENCE;
    const uint64_t silence = net->patience / 3 < most ? net->patience / 3 : most;
    if (now - net->looked < COLL_I_TAGGED_LOOK || net->broken)
        return;
    net->looked = now;
    coll_i_tagged_probed(net);
    for (uint32_t i = 0; i < net->n_links; i++) {
        coll_i_tagged_link *link = net->list[i];
        if (link->lost || (link->ops == 0 && link->refused == 0)) {
            link->since = 0;
        } else if (coll_i_tagged_has_ended(net, link->peer) ||
                   coll_i_tagged_watch_misses(net, link, now) ||
                   (link->refused != 0 && now - link->refused > net->patience)) {
            coll_i_tagged_lose(net, link);
        } else if (link->since == 0) {
            link->since = now;
        } else if (now - link->since > silence) {
            link->since = now;
            coll_i_tagged_watch(net, link, now);
            if (!link->asked) {
                link->asked = true;
                coll_i_tagged_say(net, link->peer, COLL_I_TAGGED_PING, 0, 0);
            }
        }
    }
}

/* ---- moving on --------------------------------------------------------------------------- */

COLL_INLINE void coll_i_tagged_move(coll_i_tagged *net)
{
    net->round++;
    if (net->broken)
        return;
    net->library->progress(net);
    if (net->due.first)
        coll_i_tagged_go_on(net);
    if (net->owing)
        coll_i_tagged_pay(net);
    if (net->stuck.first)
        coll_i_tagged_start_stuck(net);
    if (net->n_waiting != 0)
        coll_i_tagged_say_waiting(net);
    if (net->round % COLL_I_TAGGED_ROUNDS == 0)
        coll_i_tagged_look(net);
}

#endif /* COLL_TRANSPORTS_TAGGED_COMPLETIONS_H */
