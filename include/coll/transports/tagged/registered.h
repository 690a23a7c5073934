/* coll/transports/tagged/registered.h — ranks joined by a library with tagged messages: operations, and the
 * memory that the library knows
 *
 * Some libraries take no buffer that is not registered. Then a rank's own memory is registered once, the
 * caller's buffer of a long message for as long as the operation takes. Where the caller keeps ranges of
 * memory (coll_registration), these are registered once, and operations in them find that. They are in a
 * table by address, whose entries also say how far those before them reach: so the one that has a buffer is
 * found in log n steps, and as many more as there are ranges round about that overlap. An operation counts
 * as a user of its range: one that is forgotten meanwhile stays registered until the last one has ended.
 *
 * Use ../ofi.h or ../ucx.h.
 */
#ifndef COLL_TRANSPORTS_TAGGED_REGISTERED_H
#define COLL_TRANSPORTS_TAGGED_REGISTERED_H

#include "records.h"

/* ---- registered memory ------------------------------------------------------------------- */

/* Registers memory of the caller's; NULL: it could not. */
COLL_INLINE void *coll_i_tagged_pin(coll_i_tagged *net, const void *memory, size_t bytes,
                                    bool writes)
{
    void *registered = net->library->pin(net, (void *)(uintptr_t)memory, bytes, writes);
    net->pins += registered != NULL;
    net->pinned += registered != NULL;
    return registered;
}

COLL_INLINE void coll_i_tagged_unpin(coll_i_tagged *net, void *registered)
{
    net->library->unpin(net, registered);
    net->pinned--;
}

/* An operation in a range that is kept, or was, has ended. */
COLL_INLINE void coll_i_tagged_kept_leave(coll_i_tagged *net, coll_i_tagged_kept *kept)
{
    if (--kept->users != 0 || kept->keeps != 0)
        return;
    if (kept->registered)
        coll_i_tagged_unpin(net, kept->registered);
    free(kept);
}

/* ---- operations -------------------------------------------------------------------------- */

/* Allocates some more. */
COLL_INLINE bool coll_i_tagged_more_ops(coll_i_tagged *net)
{
    const uint32_t chunks = net->n_ops / COLL_I_TAGGED_OPS;
    const size_t bytes = COLL_I_TAGGED_OPS * sizeof **net->ops;
    coll_i_tagged_op *more;
    void *table, *own = NULL;
    if (net->n_ops == COLL_I_TAGGED_OPS_MOST)
        return false;
    table = realloc(net->ops, (chunks + 1) * sizeof *net->ops);
    if (!table)
        return false;
    net->ops = (coll_i_tagged_op **)table;
    more = (coll_i_tagged_op *)calloc(1, bytes);
    if (!more || (net->registers && !(own = net->library->pin(net, more, bytes, true)))) {
        free(more);
        return false;
    }
    for (uint32_t i = COLL_I_TAGGED_OPS; i-- > 0;) {
        more[i].id = net->n_ops + i;
        more[i].own = own;
        more[i].next = net->unused;
        net->unused = &more[i];
    }
    net->ops[chunks] = more;
    net->n_ops += COLL_I_TAGGED_OPS;
    return true;
}

/* One that is free, of a link or of none; NULL: there is no memory. */
COLL_INLINE coll_i_tagged_op *coll_i_tagged_op_take(coll_i_tagged *net,
                                                    coll_i_tagged_link *link,
                                                    coll_i_tagged_kind kind, uint32_t tag,
                                                    void *buf, size_t bytes)
{
    coll_i_tagged_op *op;
    if (!net->unused && !coll_i_tagged_more_ops(net))
        return NULL;
    op = net->unused;
    net->unused = op->next;
    op->id += COLL_I_TAGGED_OPS_MOST;
    op->link = link;
    if (link)
        link->ops++;
    op->kind = (uint8_t)kind;
    op->state = COLL_I_TAGGED_FLYING;
    op->tag = tag;
    op->buf = (unsigned char *)buf;
    op->bytes = bytes;
    op->round = net->round - 1;
    op->late = 0;
    op->has = op->given_up = op->sunk = op->by_bounce = false;
    op->status = COLL_AGAIN;
    op->refused = COLL_OK;
    return op;
}

/* The caller's buffer needs to be registered no more, but by those who keep it. */
COLL_INLINE void coll_i_tagged_unregister(coll_i_tagged *net, coll_i_tagged_op *op)
{
    if (op->kept)
        coll_i_tagged_kept_leave(net, op->kept);
    else if (op->registered)
        coll_i_tagged_unpin(net, op->registered);
    op->kept = NULL;
    op->registered = NULL;
}

COLL_INLINE void coll_i_tagged_op_give(coll_i_tagged *net, coll_i_tagged_op *op)
{
    if (op->registered)
        coll_i_tagged_unregister(net, op);
    if (op->link)
        op->link->ops--;
    if (op->sunk)
        free(op->buf);
    op->state = COLL_I_TAGGED_FREE;
    op->next = net->unused;
    net->unused = op;
}

/* The operation of a number that came from a peer; NULL: it has none such. */
COLL_INLINE coll_i_tagged_op *coll_i_tagged_op_of(const coll_i_tagged *net,
                                                  const coll_i_tagged_link *link, uint32_t id)
{
    const uint32_t index = id % COLL_I_TAGGED_OPS_MOST;
    coll_i_tagged_op *op;
    if (index >= net->n_ops)
        return NULL;
    op = &net->ops[index / COLL_I_TAGGED_OPS][index % COLL_I_TAGGED_OPS];
    return op->id == id && op->link == link && op->state != COLL_I_TAGGED_FREE ? op : NULL;
}

/* A bounce buffer of its own. False: there is no memory. */
COLL_INLINE bool coll_i_tagged_has_bounce(coll_i_tagged *net, coll_i_tagged_op *op)
{
    if (op->bounce)
        return true;
    op->bounce = (unsigned char *)malloc(COLL_I_TAGGED_EAGER);
    if (op->bounce && net->registers) {
        op->bounce_own = net->library->pin(net, op->bounce, COLL_I_TAGGED_EAGER, true);
        if (!op->bounce_own) {
            free(op->bounce);
            op->bounce = NULL;
        }
    }
    return op->bounce != NULL;
}

/* ---- memory that is kept ----------------------------------------------------------------- */

/* How many entries of the table begin at or before this address. */
COLL_INLINE uint32_t coll_i_tagged_kept_before(const coll_i_tagged *net, uintptr_t address)
{
    uint32_t low = 0, high = net->n_kept;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (net->kept[middle].first <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A range that has all of these bytes, is registered, and may be written if that is asked for; NULL: none. */
COLL_INLINE coll_i_tagged_kept *
coll_i_tagged_kept_find(const coll_i_tagged *net, const void *memory, size_t bytes, bool writes)
{
    const uintptr_t first = (uintptr_t)memory, end = first + bytes;
    for (uint32_t i = coll_i_tagged_kept_before(net, first); i-- > 0;) {
        const coll_i_tagged_kept_at *at = &net->kept[i];
        if (at->reach < end)
            return NULL;
        if (at->end >= end && at->its->registered && (at->its->writes || !writes))
            return at->its;
    }
    return NULL;
}

/* Where just this range is in the table; n_kept: nowhere. */
COLL_INLINE uint32_t coll_i_tagged_kept_index(const coll_i_tagged *net, uintptr_t first,
                                              uintptr_t end, bool writes)
{
    for (uint32_t i = coll_i_tagged_kept_before(net, first);
         i-- > 0 && net->kept[i].first == first;)
        if (net->kept[i].end == end && net->kept[i].its->writes == writes)
            return i;
    return net->n_kept;
}

/* Says again how far entries reach, from this one on. */
COLL_INLINE void coll_i_tagged_kept_measure(coll_i_tagged *net, uint32_t from)
{
    for (uint32_t i = from; i < net->n_kept; i++) {
        const uintptr_t before = i > 0 ? net->kept[i - 1].reach : 0;
        net->kept[i].reach = net->kept[i].end > before ? net->kept[i].end : before;
    }
}

/* Enters a range to the table; NULL: there is no memory. */
COLL_INLINE coll_i_tagged_kept *coll_i_tagged_kept_enter(coll_i_tagged *net, uintptr_t first,
                                                         uintptr_t end, bool writes)
{
    const uint32_t i = coll_i_tagged_kept_before(net, first);
    coll_i_tagged_kept *its;
    if (net->n_kept == net->kept_room) {
        const uint32_t room = net->kept_room ? 2 * net->kept_room : 16;
        void *moved = realloc(net->kept, room * sizeof *net->kept);
        if (!moved)
            return NULL;
        net->kept = (coll_i_tagged_kept_at *)moved;
        net->kept_room = room;
    }
    its = (coll_i_tagged_kept *)calloc(1, sizeof *its);
    if (!its)
        return NULL;
    its->writes = writes;
    memmove(&net->kept[i + 1], &net->kept[i], (net->n_kept - i) * sizeof *net->kept);
    net->kept[i].first = first;
    net->kept[i].end = end;
    net->kept[i].its = its;
    net->n_kept++;
    coll_i_tagged_kept_measure(net, i);
    return its;
}

/* Takes an entry out of the table. Operations that use it still have it. */
COLL_INLINE void coll_i_tagged_kept_remove(coll_i_tagged *net, uint32_t i)
{
    coll_i_tagged_kept *its = net->kept[i].its;
    net->n_kept--;
    memmove(&net->kept[i], &net->kept[i + 1], (net->n_kept - i) * sizeof *net->kept);
    coll_i_tagged_kept_measure(net, i);
    its->keeps = 0;
    its->users++; /* this one, which leaves */
    coll_i_tagged_kept_leave(net, its);
}

COLL_INLINE void coll_i_tagged_keep(void *ctx, const void *memory, size_t bytes, bool writes)
{
    coll_i_tagged *net = (coll_i_tagged *)ctx;
    const uintptr_t first = (uintptr_t)memory, end = first + bytes;
    coll_i_tagged_kept *its;
    uint32_t i;
    if (!net->keeps || net->broken)
        return;
    i = coll_i_tagged_kept_index(net, first, end, writes);
    its =
        i < net->n_kept ? net->kept[i].its : coll_i_tagged_kept_enter(net, first, end, writes);
    if (!its)
        return;
    its->keeps++;
    if (!its->registered)
        its->registered = coll_i_tagged_pin(net, memory, bytes, writes);
}

COLL_INLINE void coll_i_tagged_forget(void *ctx, const void *memory, size_t bytes, bool writes)
{
    coll_i_tagged *net = (coll_i_tagged *)ctx;
    const uintptr_t first = (uintptr_t)memory;
    const uint32_t i = coll_i_tagged_kept_index(net, first, first + bytes, writes);
    if (i < net->n_kept && --net->kept[i].its->keeps == 0)
        coll_i_tagged_kept_remove(net, i);
}

/* Forgets all, as the rank ends. */
COLL_INLINE void coll_i_tagged_forget_all(coll_i_tagged *net)
{
    while (net->n_kept != 0)
        coll_i_tagged_kept_remove(net, net->n_kept - 1);
    free(net->kept);
    net->kept = NULL;
}

/* Has the caller's buffer registered: as part of a range that is kept, or for this operation alone, if the
 * library asks for it. False: it could not. */
COLL_INLINE bool coll_i_tagged_register(coll_i_tagged *net, coll_i_tagged_op *op)
{
    const bool writes = op->kind != COLL_I_TAGGED_SEND;
    if (op->registered || op->bytes == 0)
        return true;
    if (net->n_kept != 0)
        op->kept = coll_i_tagged_kept_find(net, op->buf, op->bytes, writes);
    if (op->kept) {
        op->kept->users++;
        op->registered = op->kept->registered;
        return true;
    }
    if (net->registers)
        op->registered = coll_i_tagged_pin(net, op->buf, op->bytes, writes);
    return !net->registers || op->registered;
}

COLL_CONST(coll_registration, coll_i_tagged_registration,
           {coll_i_tagged_keep, coll_i_tagged_forget});

#endif /* COLL_TRANSPORTS_TAGGED_REGISTERED_H */
