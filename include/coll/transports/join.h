/* coll/transports/join.h — two transports as one: within a node by one, between nodes by another
 *
 *   coll_nodes nodes;                                   // which ranks share a node: the same on all
 *   coll_nodes_even(&nodes, p, 16);
 *   coll_join join;                                     // at a fixed place
 *   status = coll_join_init(&join, rank, p, &nodes, &coll_threads_transport, near_ctx,
 *                           &coll_tcp_transport, tcp);
 *   status = coll_comm_init(&comm, coll_join_transport(&join), &join, rank, p, memory, bytes);
 *   status = coll_comm_nodes(&comm, &nodes);            // comm/multi_node.h: calls in levels
 *
 * The near transport has the ranks of this rank's node, from 0 on in their order; a node of one rank has
 * one, too. The far transport has all ranks, and carries what goes to other nodes. Both are used by the join
 * alone, and stay the caller's, with all that they point to, as long as it. A join may itself be the near or
 * the far one of another: cores of a socket, sockets of a node, nodes.
 *
 * What a peer's transport can do is used for that peer: its limits, messages that are read where they
 * lie, or combined as they arrive. SHARED is the near transport's; where it has some, it has as much on each
 * node. That of a near transport which is a join is memory of the sockets, say; coll_join_parts tells which
 * ranks of all nodes share one. Copies, and combinations of operands in memory, are the near transport's,
 * too; memory that is kept (coll_registration) is so by either. Neither one's multicasts and reductions
 * are used, as none of them reaches all ranks.
 *
 * Each transport tells only those of an abort that it reaches, so the library has whoever hears of one
 * tell it on (coll_routes).
 *
 * Both transports leave the highest bits of a handle's second word 0, one for each join above them. A rank
 * that waits for one transport moves the other one on from time to time, if that has `progress`.
 * Freestanding, where engines are compiled with COLL_ROUTES. One thread at a time may use a rank.
 */
#ifndef COLL_TRANSPORTS_JOIN_H
#define COLL_TRANSPORTS_JOIN_H

#include "../plan/topo/nodes.h"
#include "../transport.h"

/* Tests of one transport that find nothing, until the other one is moved on. */
#define COLL_I_JOIN_TURNS 32u

/* A rank's two transports, and the table by which they are used as one. Private. */
typedef struct coll_join {
    const coll_transport *near; /* of this rank's node … */
    const coll_transport *far;  /* … and of all ranks */
    void *near_ctx;             /* its ctx */
    void *far_ctx;              /* its ctx */
    const coll_nodes *nodes;    /* of all ranks; NULL: there are seats */
    const coll_nodes *parts;    /* who shares memory: the nodes, or parts of them */
    uint32_t first;             /* rank that is near … */
    uint32_t ranks;             /* … and how many are, in a row */
    uint32_t p;                 /* all ranks */
    const uint32_t *seats; /* or of each rank the near transport's rank, else COLL_RANK_NONE */
    uint32_t near_tag;     /* what is added to the tags of messages that are near */
    uintptr_t mark;        /* a bit of a handle's second word: the operation is far */
    uint32_t turns;        /* tests in which nothing was found */
    bool misses_near;      /* something near, since the last wait */
    bool misses_far;       /* something far */
    bool far_misfit;       /* the last misfit was the far one's */
    coll_transport transport;       /* the table; its records are these: */
    coll_zero_copy zero_copy;       /* if one of them has it */
    coll_arrival arrival;           /* if one of them has it */
    coll_failure failure;           /* if one of them has it; abort, if both */
    coll_in_network network;        /* how many ranks there are */
    coll_node_memory memory;        /* the near one's */
    coll_tag_ranges tag_ranges;     /* if both have it */
    coll_routes routes;             /* to whom by which */
    coll_registration registration; /* if one of them has it */
} coll_join;

/* A peer's rank in the near transport; COLL_RANK_NONE: it is far. */
COLL_HOT_INLINE uint32_t coll_i_join_seat(const coll_join *join, uint32_t peer)
{
    if (join->seats)
        return join->seats[peer];
    return peer - join->first < join->ranks ? peer - join->first : COLL_RANK_NONE;
}

/* ---- messages ---------------------------------------------------------------------------- */

/* What a far operation said: its handle is marked if it is used, and it was its misfit. */
COLL_HOT_INLINE coll_status coll_i_join_far(coll_join *join, coll_handle *h, coll_status status)
{
    if (status == COLL_STARTED)
        h->word[1] |= join->mark;
    else if (status == COLL_ERR_SIZE)
        join->far_misfit = true;
    return status;
}

COLL_HOT_INLINE coll_status coll_i_join_near(coll_join *join, coll_status status)
{
    if (status == COLL_ERR_SIZE)
        join->far_misfit = false;
    return status;
}

/* A far operation's handle, as its transport knows it. */
COLL_HOT_INLINE bool coll_i_join_unmark(const coll_join *join, coll_handle *h)
{
    const bool far = (h->word[1] & join->mark) != 0;
    h->word[1] &= ~join->mark;
    return far;
}

COLL_INLINE coll_status coll_i_join_send(void *ctx, uint32_t peer, uint32_t tag,
                                         const void *buf, size_t bytes, coll_handle *h)
{
    coll_join *join = (coll_join *)ctx;
    const uint32_t seat = coll_i_join_seat(join, peer);
    if (seat != COLL_RANK_NONE)
        return join->near->send(join->near_ctx, seat, tag + join->near_tag, buf, bytes, h);
    return coll_i_join_far(join, h, join->far->send(join->far_ctx, peer, tag, buf, bytes, h));
}

COLL_INLINE coll_status coll_i_join_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                         size_t bytes, coll_handle *h)
{
    coll_join *join = (coll_join *)ctx;
    const uint32_t seat = coll_i_join_seat(join, peer);
    if (seat != COLL_RANK_NONE)
        return coll_i_join_near(
            join, join->near->recv(join->near_ctx, seat, tag + join->near_tag, buf, bytes, h));
    return coll_i_join_far(join, h, join->far->recv(join->far_ctx, peer, tag, buf, bytes, h));
}

/* The other transport has its turn. */
COLL_INLINE void coll_i_join_other(coll_join *join, bool far)
{
    const coll_transport *other = far ? join->near : join->far;
    if (++join->turns % COLL_I_JOIN_TURNS == 0 && other->progress)
        other->progress(far ? join->near_ctx : join->far_ctx);
}

COLL_INLINE coll_status coll_i_join_test(void *ctx, coll_handle *h)
{
    coll_join *join = (coll_join *)ctx;
    const bool far = coll_i_join_unmark(join, h);
    coll_status status =
        far ? join->far->test(join->far_ctx, h) : join->near->test(join->near_ctx, h);
    if (COLL_LIKELY(status == COLL_OK))
        return status;
    if (far)
        h->word[1] |= join->mark;
    if (status == COLL_AGAIN) {
        *(far ? &join->misses_far : &join->misses_near) = true;
        coll_i_join_other(join, far);
    } else if (status == COLL_ERR_SIZE) {
        join->far_misfit = far;
    }
    return status;
}

/* Waits as the transport of what is missing does; of both, in turn. */
COLL_INLINE void coll_i_join_wait(void *ctx, uint32_t idle)
{
    coll_join *join = (coll_join *)ctx;
    const bool far = join->misses_far && (!join->misses_near || idle % 2 != 0);
    const coll_transport *one = far ? join->far : join->near;
    join->misses_near = join->misses_far = false;
    coll_i_join_other(join, far);
    if (one->wait)
        one->wait(far ? join->far_ctx : join->near_ctx, idle);
}

COLL_INLINE void coll_i_join_progress(void *ctx)
{
    coll_join *join = (coll_join *)ctx;
    if (join->near->progress)
        join->near->progress(join->near_ctx);
    if (join->far->progress)
        join->far->progress(join->far_ctx);
}

COLL_INLINE const coll_transport *coll_i_join_route(void *ctx, uint32_t peer)
{
    const coll_join *join = (const coll_join *)ctx;
    const uint32_t seat = coll_i_join_seat(join, peer);
    const bool far = seat == COLL_RANK_NONE;
    const coll_transport *one = far ? join->far : join->near;
    if (!one->routes)
        return one;
    return one->routes->to(far ? join->far_ctx : join->near_ctx, far ? peer : seat);
}

/* ---- what the transports can do beyond --------------------------------------------------- */

COLL_INLINE coll_status coll_i_join_acquire(void *ctx, uint32_t peer, uint32_t tag,
                                            size_t bytes, const void **message, coll_handle *h)
{
    coll_join *join = (coll_join *)ctx;
    const uint32_t seat = coll_i_join_seat(join, peer);
    coll_status status;
    if (seat != COLL_RANK_NONE)
        return join->near->zero_copy
                   ? coll_i_join_near(join, join->near->zero_copy->acquire(join->near_ctx, seat,
                                                                           tag + join->near_tag,
                                                                           bytes, message, h))
                   : COLL_ERR_CAPABILITY;
    if (!join->far->zero_copy)
        return COLL_ERR_CAPABILITY;
    status = coll_i_join_far(
        join, h, join->far->zero_copy->acquire(join->far_ctx, peer, tag, bytes, message, h));
    if (status == COLL_OK)
        h->word[1] |= join->mark;
    return status;
}

COLL_INLINE void coll_i_join_release(void *ctx, coll_handle *h)
{
    coll_join *join = (coll_join *)ctx;
    if (coll_i_join_unmark(join, h))
        join->far->zero_copy->release(join->far_ctx, h);
    else
        join->near->zero_copy->release(join->near_ctx, h);
}

/* A handle that read was asked about stays as it is, but for the mark meanwhile. */
COLL_INLINE coll_status coll_i_join_read(void *ctx, coll_handle *h, size_t at, size_t bytes,
                                         const void **part)
{
    coll_join *join = (coll_join *)ctx;
    coll_status status;
    if (!coll_i_join_unmark(join, h))
        return join->near->zero_copy->read(join->near_ctx, h, at, bytes, part);
    status = join->far->zero_copy->read(join->far_ctx, h, at, bytes, part);
    h->word[1] |= join->mark;
    return status;
}

COLL_INLINE coll_status coll_i_join_recv_reduce(void *ctx, const coll_arrival_call *call,
                                                coll_handle *h)
{
    coll_join *join = (coll_join *)ctx;
    const uint32_t seat = coll_i_join_seat(join, call->peer);
    coll_arrival_call near;
    if (seat == COLL_RANK_NONE)
        return join->far->arrival
                   ? coll_i_join_far(join, h,
                                     join->far->arrival->recv_reduce(join->far_ctx, call, h))
                   : COLL_ERR_CAPABILITY;
    if (!join->near->arrival)
        return COLL_ERR_CAPABILITY;
    COLL_COPY(&near, call, sizeof near);
    near.peer = seat;
    near.tag += join->near_tag;
    return coll_i_join_near(join, join->near->arrival->recv_reduce(join->near_ctx, &near, h));
}

COLL_INLINE coll_status coll_i_join_copy(void *ctx, void *dst, const void *src, size_t bytes,
                                         coll_handle *h)
{
    const coll_join *join = (const coll_join *)ctx;
    return join->near->copy(join->near_ctx, dst, src, bytes, h);
}

COLL_INLINE coll_status coll_i_join_reduce(void *ctx, const coll_reduce_call *call,
                                           coll_handle *h)
{
    const coll_join *join = (const coll_join *)ctx;
    return join->near->reduce(join->near_ctx, call, h);
}

COLL_INLINE uint32_t coll_i_join_ranks(void *ctx)
{
    return ((const coll_join *)ctx)->p;
}

/* Memory that is used again and again: what goes near and what goes far is known when it is used. */
COLL_INLINE void coll_i_join_keep(void *ctx, const void *memory, size_t bytes, bool writes)
{
    const coll_join *join = (const coll_join *)ctx;
    if (join->near->registration)
        join->near->registration->keep(join->near_ctx, memory, bytes, writes);
    if (join->far->registration)
        join->far->registration->keep(join->far_ctx, memory, bytes, writes);
}

COLL_INLINE void coll_i_join_forget(void *ctx, const void *memory, size_t bytes, bool writes)
{
    const coll_join *join = (const coll_join *)ctx;
    if (join->near->registration)
        join->near->registration->forget(join->near_ctx, memory, bytes, writes);
    if (join->far->registration)
        join->far->registration->forget(join->far_ctx, memory, bytes, writes);
}

/* ---- failures ---------------------------------------------------------------------------- */

COLL_INLINE void coll_i_join_cancel(void *ctx, coll_handle *h)
{
    coll_join *join = (coll_join *)ctx;
    const bool far = coll_i_join_unmark(join, h);
    const coll_failure *its = far ? join->far->failure : join->near->failure;
    if (its && its->cancel)
        its->cancel(far ? join->far_ctx : join->near_ctx, h);
}

COLL_INLINE void coll_i_join_abort(void *ctx, uint32_t first, uint32_t tags)
{
    coll_join *join = (coll_join *)ctx;
    join->near->failure->abort(join->near_ctx, first + join->near_tag, tags);
    join->far->failure->abort(join->far_ctx, first, tags);
}

COLL_INLINE bool coll_i_join_dead(void *ctx, uint32_t peer)
{
    const coll_join *join = (const coll_join *)ctx;
    const uint32_t seat = coll_i_join_seat(join, peer);
    const coll_failure *its = seat != COLL_RANK_NONE ? join->near->failure : join->far->failure;
    if (!its || !its->dead)
        return false;
    return seat != COLL_RANK_NONE ? its->dead(join->near_ctx, seat)
                                  : its->dead(join->far_ctx, peer);
}

COLL_INLINE void coll_i_join_outlive(void *ctx, uint32_t first, uint32_t tags)
{
    coll_join *join = (coll_join *)ctx;
    if (join->near->failure && join->near->failure->outlive)
        join->near->failure->outlive(join->near_ctx, first + join->near_tag, tags);
    if (join->far->failure && join->far->failure->outlive)
        join->far->failure->outlive(join->far_ctx, first, tags);
}

/* ---- SHARED ------------------------------------------------------------------------------ */

COLL_INLINE size_t coll_i_join_shared(void *ctx, bool take, uint32_t *use, void **memory)
{
    const coll_join *join = (const coll_join *)ctx;
    return join->near->node_memory->shared(join->near_ctx, take, use, memory);
}

COLL_INLINE coll_status coll_i_join_enter(void *ctx, uint32_t tag, uint32_t use)
{
    coll_join *join = (coll_join *)ctx;
    const coll_status status =
        join->near->node_memory->enter(join->near_ctx, tag + join->near_tag, use);
    if (status == COLL_AGAIN) {
        join->misses_near = true;
        coll_i_join_other(join, false);
    }
    return status;
}

COLL_INLINE void coll_i_join_leave(void *ctx, uint32_t use)
{
    const coll_join *join = (const coll_join *)ctx;
    join->near->node_memory->leave(join->near_ctx, use);
}

/* Which ranks share a part: those of a node, as the near transport's is one of all its ranks, or those of
 * coll_join_parts. */
COLL_INLINE const coll_nodes *coll_i_join_nodes(void *ctx)
{
    return ((const coll_join *)ctx)->parts;
}

/* ---- tags -------------------------------------------------------------------------------- */

/* Both find the same, as nobody else claims any of theirs. */
COLL_INLINE coll_status coll_i_join_claim(void *ctx, uint32_t *first, uint32_t *tags)
{
    coll_join *join = (coll_join *)ctx;
    const coll_tag_ranges *near = join->near->tag_ranges, *far = join->far->tag_ranges;
    uint32_t far_first, far_tags;
    coll_status status = near->claim(join->near_ctx, first, tags);
    if (status != COLL_OK)
        return status;
    status = far->claim(join->far_ctx, &far_first, &far_tags);
    if (status == COLL_OK && far_first == *first && far_tags == *tags)
        return COLL_OK;
    near->unclaim(join->near_ctx, *first);
    if (status == COLL_OK)
        far->unclaim(join->far_ctx, far_first);
    return COLL_ERR_TAG;
}

COLL_INLINE void coll_i_join_unclaim(void *ctx, uint32_t first)
{
    coll_join *join = (coll_join *)ctx;
    join->near->tag_ranges->unclaim(join->near_ctx, first);
    join->far->tag_ranges->unclaim(join->far_ctx, first);
}

COLL_INLINE void coll_i_join_misfit(void *ctx, coll_misfit *its)
{
    const coll_join *join = (const coll_join *)ctx;
    uint32_t peer = 0;
    if (join->far_misfit) {
        join->far->tag_ranges->misfit(join->far_ctx, its);
        return;
    }
    join->near->tag_ranges->misfit(join->near_ctx, its);
    its->tag -= join->near_tag;
    its->its_tag -= join->near_tag;
    if (its->peer == COLL_RANK_NONE)
        return;
    while (peer < join->p && coll_i_join_seat(join, peer) != its->peer)
        peer++;
    its->peer = peer;
}

/* ---- making one -------------------------------------------------------------------------- */

/* What both have, or one of them, as far as callers can tell. */
COLL_INLINE void coll_i_join_offer(coll_join *join)
{
    const coll_transport *near = join->near, *far = join->far;
    const coll_tag_ranges *ours = near->tag_ranges, *theirs = far->tag_ranges;
    coll_transport *t = &join->transport;
    t->send = coll_i_join_send;
    t->recv = coll_i_join_recv;
    t->test = coll_i_join_test;
    t->copy = near->copy ? coll_i_join_copy : NULL;
    t->reduce = near->reduce ? coll_i_join_reduce : NULL;
    t->wait = near->wait || far->wait ? coll_i_join_wait : NULL;
    t->progress = near->progress || far->progress ? coll_i_join_progress : NULL;
    t->tags = near->tags < far->tags ? near->tags : far->tags;
    t->max_bytes = 0;
    t->unsegmented = 0;
    t->whole_from = NULL;
    t->one_sided = NULL;
    join->zero_copy.acquire = coll_i_join_acquire;
    join->zero_copy.release = coll_i_join_release;
    join->zero_copy.max_bytes = 0;
    join->zero_copy.read = coll_i_join_read;
    join->zero_copy.part_bytes = 0; /* the parts' own hold */
    join->zero_copy.reads = 0;
    t->zero_copy = near->zero_copy || far->zero_copy ? &join->zero_copy : NULL;
    join->arrival.recv_reduce = coll_i_join_recv_reduce;
    t->arrival = near->arrival || far->arrival ? &join->arrival : NULL;
    join->failure.cancel = coll_i_join_cancel;
    join->failure.abort =
        near->failure && near->failure->abort && far->failure && far->failure->abort
            ? coll_i_join_abort
            : NULL;
    join->failure.dead = coll_i_join_dead;
    join->failure.outlive = coll_i_join_outlive;
    t->failure = near->failure || far->failure ? &join->failure : NULL;
    join->network.multicast = NULL;
    join->network.reduce = NULL;
    join->network.max_bytes = 0;
    join->network.ranks = coll_i_join_ranks;
    t->in_network = &join->network;
    join->memory.shared = coll_i_join_shared;
    join->memory.enter = coll_i_join_enter;
    join->memory.leave = coll_i_join_leave;
    join->memory.nodes = coll_i_join_nodes;
    t->node_memory =
        near->node_memory && !near->node_memory->nodes && !join->seats ? &join->memory : NULL;
    join->tag_ranges.claim = coll_i_join_claim;
    join->tag_ranges.unclaim = coll_i_join_unclaim;
    join->tag_ranges.use_step = ours && theirs ? ours->use_step : 0;
    join->tag_ranges.misfit =
        ours && theirs && ours->misfit && theirs->misfit ? coll_i_join_misfit : NULL;
    t->tag_ranges =
        ours && theirs && ours->claim && theirs->claim && ours->use_step == theirs->use_step
            ? &join->tag_ranges
            : NULL;
    join->routes.to = coll_i_join_route;
    t->routes = &join->routes;
    t->events = NULL;
    join->registration.keep = coll_i_join_keep;
    join->registration.forget = coll_i_join_forget;
    t->registration = near->registration || far->registration ? &join->registration : NULL;
}

/* The mark of a join's handles, below that of one of its transports which is a join, too. */
COLL_INLINE uintptr_t coll_i_join_mark(const coll_transport *near, const void *near_ctx,
                                       const coll_transport *far, const void *far_ctx)
{
    const uintptr_t most = (UINTPTR_MAX >> 1) + 1;
    const uintptr_t a =
        near->send == coll_i_join_send ? ((const coll_join *)near_ctx)->mark >> 1 : most;
    const uintptr_t b =
        far->send == coll_i_join_send ? ((const coll_join *)far_ctx)->mark >> 1 : most;
    return a < b ? a : b;
}

/* Joins two transports to one of p ranks, of which this is `rank`. All ranks do so, with the same nodes.
 * COLL_ERR_NODES: they are not those of p ranks; COLL_ERR_TRANSPORT: one of the transports has not what it
 * needs. */
COLL_INLINE coll_status coll_join_init(coll_join *join, uint32_t rank, uint32_t p,
                                       const coll_nodes *nodes, const coll_transport *near,
                                       void *near_ctx, const coll_transport *far, void *far_ctx)
{
    coll_status status;
    coll_node at;
    if (!join || !nodes)
        return COLL_ERR_NULL;
    status = coll_transport_check(near);
    if (status == COLL_OK)
        status = coll_transport_check(far);
    if (status != COLL_OK)
        return status;
    if (p == 0)
        return COLL_ERR_RANKS;
    if (rank >= p)
        return COLL_ERR_RANK;
    if (!coll_nodes_check(nodes, p))
        return COLL_ERR_NODES;
    at = coll_node_of(nodes, p, rank);
    join->near = near;
    join->near_ctx = near_ctx;
    join->far = far;
    join->far_ctx = far_ctx;
    join->nodes = join->parts = nodes;
    join->first = at.first;
    join->ranks = at.ranks;
    join->p = p;
    join->seats = NULL;
    join->near_tag = 0;
    join->mark = coll_i_join_mark(near, near_ctx, far, far_ctx);
    join->turns = 0;
    join->misses_near = join->misses_far = join->far_misfit = false;
    coll_i_join_offer(join);
    return COLL_OK;
}

/* The same, of ranks that are near in any order: `seats` has for each of the p ranks its rank in the near
 * transport, or COLL_RANK_NONE. To the tags of messages that are near, near_tag is added. There is no
 * SHARED. The table stays the caller's as long as the join. */
COLL_INLINE coll_status coll_join_seats(coll_join *join, uint32_t p, const uint32_t *seats,
                                        uint32_t near_tag, const coll_transport *near,
                                        void *near_ctx, const coll_transport *far,
                                        void *far_ctx)
{
    coll_nodes all;
    coll_status status;
    if (!seats)
        return COLL_ERR_NULL;
    coll_nodes_even(&all, p ? p : 1, 1);
    status = coll_join_init(join, 0, p, &all, near, near_ctx, far, far_ctx);
    if (status != COLL_OK)
        return status;
    join->nodes = join->parts = NULL;
    join->seats = seats;
    join->near_tag = near_tag;
    coll_i_join_offer(join);
    return COLL_OK;
}

/* Has a join with seats offer the near transport's SHARED all the same: the caller knows which ranks have it in
 * common, and that they are all of those that are near. */
COLL_INLINE void coll_join_share(coll_join *join)
{
    if (join->near->node_memory)
        join->transport.node_memory = &join->memory;
}

/* Has a join whose near transport is one, too, offer the SHARED of that: `parts` says for all ranks which of them
 * share memory, the same on all; those of this rank's node are the near one's. They stay the caller's as long as
 * the join. Where the near transport has no SHARED, there is none. COLL_ERR_NODES: they are not those of all ranks,
 * one reaches beyond a node, or the near transport has others; COLL_ERR_TRANSPORT: the near transport is no join
 * with nodes. */
COLL_INLINE coll_status coll_join_parts(coll_join *join, const coll_nodes *parts)
{
    const coll_node_memory *memory;
    const coll_nodes *theirs;
    uint32_t own;
    if (!join || !parts)
        return COLL_ERR_NULL;
    if (!join->nodes || join->near->send != coll_i_join_send)
        return COLL_ERR_TRANSPORT;
    if (!coll_nodes_check(parts, join->p))
        return COLL_ERR_NODES;
    for (uint32_t i = 0; i < coll_nodes_count(parts); i++) {
        const uint32_t first = coll_nodes_first(parts, join->p, i);
        const uint32_t last = coll_nodes_first(parts, join->p, i + 1) - 1;
        if (coll_node_of(join->nodes, join->p, first).index !=
            coll_node_of(join->nodes, join->p, last).index)
            return COLL_ERR_NODES;
    }
    memory = join->near->node_memory;
    if (!memory)
        return COLL_OK;
    theirs = memory->nodes(join->near_ctx);
    own = coll_node_of(parts, join->p, join->first).index;
    if (coll_nodes_count(theirs) > coll_nodes_count(parts) - own)
        return COLL_ERR_NODES;
    for (uint32_t i = 0; i <= coll_nodes_count(theirs); i++)
        if (coll_nodes_first(parts, join->p, own + i) !=
            join->first + coll_nodes_first(theirs, join->ranks, i))
            return COLL_ERR_NODES;
    join->parts = parts;
    join->transport.node_memory = &join->memory;
    return COLL_OK;
}

/* The table of a join, which is the ctx. */
COLL_INLINE const coll_transport *coll_join_transport(const coll_join *join)
{
    return &join->transport;
}

#endif /* COLL_TRANSPORTS_JOIN_H */
