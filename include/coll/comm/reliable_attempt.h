/* coll/comm/reliable_attempt.h — collectives that survive f crashes: an attempt, part by part
 *
 * Use reliable.h, which says what for. A rank goes through the parts in their order: the group, up to
 * the parent, down from it, the correction, and until all that it sent is on its way. What a rank
 * waits for in a part is sent in an earlier part, or in the same one by a rank that is nearer to
 * where the value comes from. So no ranks wait for each other in a circle.
 */
#ifndef COLL_COMM_RELIABLE_ATTEMPT_H
#define COLL_COMM_RELIABLE_ATTEMPT_H

#include "reliable_rank.h"

/* ---- an attempt ------------------------------------------------------------------------------ */

/* Ranks that the last agreement lost. */
COLL_INLINE uint32_t coll_i_reliable_lost(const coll_reliable *r)
{
    uint32_t lost = 0;
    for (uint32_t i = 0; i < coll_i_reliable_comm(r)->p; i++)
        lost += coll_recovery_is_lost(r->recovery, i) ? 1u : 0u;
    return lost;
}

/* Begins an attempt, among those that the last agreement has not lost. The root is one of them. */
COLL_INLINE void coll_i_reliable_begin(coll_reliable *r)
{
    const coll_comm *comm = coll_i_reliable_comm(r);
    uint32_t q = 0, own = 0;
    for (uint32_t i = 0; i < comm->p; i++) {
        if (coll_recovery_is_lost(r->recovery, i)) {
            r->gone[i] = true;
            continue;
        }
        if (i == comm->rank)
            own = q;
        if (i == r->root)
            r->at = q;
        r->member[q++] = i;
    }
    r->tree = coll_i_reliable_tree_of(q, r->f < q ? r->f : q - 1);
    r->x = coll_mod_sub(own, r->at, q);
    r->number++;
    r->i = r->n_sends = r->error = r->waits = 0;
    r->asked = r->misses = r->headed = r->receiving = false;
    r->given_up = COLL_OK;
    r->whole = r->has = true;
    r->part = r->collective == COLL_BCAST ? COLL_I_RELIABLE_DOWN : COLL_I_RELIABLE_GROUP;
    for (uint32_t i = 0; i < r->set; i++)
        r->who[i] = 0;
    if (r->collective == COLL_BCAST)
        return;
    r->who[comm->rank / 64] |= (uint64_t)1 << comm->rank % 64;
    coll_i_reliable_copy(r->sum, r->in, r->bytes);
    for (uint32_t i = 0; i + 1 < r->tree.classes && coll_i_reliable_in_class(&r->tree, r->x);
         i++) {
        const uint32_t group = coll_i_reliable_group(&r->tree, r->x);
        coll_i_reliable_tell(r, group + i + (group + i >= r->x ? 1 : 0), COLL_I_RELIABLE_GROUP,
                             r->in, true);
    }
}

/* Goes on with the next part. */
COLL_INLINE void coll_i_reliable_go(coll_reliable *r, coll_i_reliable_part part)
{
    r->part = part;
    r->i = 0;
    r->moved = true;
}

/* Combines the value that came, if there is one. */
COLL_INLINE void coll_i_reliable_combine(coll_reliable *r)
{
    if (r->heard[COLL_I_RELIABLE_HAS] == 0)
        return;
    if (r->count != 0)
        r->op.combine(r->sum, r->sum, r->came, r->count, r->op.arg);
    for (uint32_t i = 0; i < r->set; i++)
        r->who[i] |= r->heard[COLL_I_RELIABLE_WHO + i];
}

/* Contributions of the group: r->i counts its members. */
COLL_INLINE void coll_i_reliable_step_group(coll_reliable *r)
{
    const bool in_class = coll_i_reliable_in_class(&r->tree, r->x);
    uint32_t y;
    if (!in_class || r->i == r->tree.classes) {
        coll_i_reliable_go(r, COLL_I_RELIABLE_UP);
        r->whole = r->x != 0 || r->tree.levels == 0; /* the root has no class yet */
        return;
    }
    y = coll_i_reliable_group(&r->tree, r->x) + r->i;
    if (y != r->x) {
        if (coll_i_reliable_hear(r, y, COLL_I_RELIABLE_GROUP, r->came) != COLL_OK)
            return;
        coll_i_reliable_combine(r);
    }
    r->i++;
    r->moved = true;
}

/* Contributions of the children; then they go to the parent, or the root has them all. Of the
 * classes the root takes the first that lacks nobody: all of them have the same ranks that live. */
COLL_INLINE void coll_i_reliable_step_up(coll_reliable *r)
{
    if (r->i < coll_i_reliable_children(&r->tree, r->x)) {
        const uint32_t y = coll_i_reliable_child(&r->tree, r->x, r->i);
        const bool top = r->x == 0 && coll_i_reliable_in_class(&r->tree, y);
        if (coll_i_reliable_hear(r, y, COLL_I_RELIABLE_UP, r->came) != COLL_OK)
            return;
        if (!top || !r->whole)
            coll_i_reliable_combine(r);
        if (top)
            r->whole = r->whole || r->heard[COLL_I_RELIABLE_HAS] != 0;
        else if (r->x != 0)
            r->whole = r->whole && r->heard[COLL_I_RELIABLE_HAS] != 0;
        r->i++;
        r->moved = true;
        return;
    }
    if (r->x != 0)
        coll_i_reliable_tell(r, coll_i_reliable_parent(&r->tree, r->x), COLL_I_RELIABLE_UP,
                             r->sum, r->whole);
    else if (r->whole)
        coll_i_reliable_copy(r->out, r->sum, r->bytes);
    r->has = r->x != 0 || r->whole;
    coll_i_reliable_go(r, r->collective == COLL_REDUCE ? COLL_I_RELIABLE_FLUSH
                                                       : COLL_I_RELIABLE_DOWN);
}

/* This rank has the value that came, if one did. */
COLL_INLINE void coll_i_reliable_take_value(coll_reliable *r)
{
    r->has = r->heard[COLL_I_RELIABLE_HAS] != 0;
    for (uint32_t i = 0; i < r->set && r->has; i++)
        r->who[i] = r->heard[COLL_I_RELIABLE_WHO + i];
}

/* The value comes from the parent, and goes to the children; who needs it asks. */
COLL_INLINE void coll_i_reliable_step_down(coll_reliable *r)
{
    if (r->x != 0) {
        if (coll_i_reliable_hear(r, coll_i_reliable_parent(&r->tree, r->x),
                                 COLL_I_RELIABLE_DOWN, r->out) != COLL_OK)
            return;
        coll_i_reliable_take_value(r);
    }
    for (uint32_t i = coll_i_reliable_children(&r->tree, r->x); i-- > 0;)
        coll_i_reliable_tell(r, coll_i_reliable_child(&r->tree, r->x, i), COLL_I_RELIABLE_DOWN,
                             r->out, r->has);
    r->asked = !r->has && coll_i_reliable_asks(&r->tree, r->x);
    for (uint32_t d = 1; d < r->tree.classes && coll_i_reliable_asks(&r->tree, r->x); d++)
        coll_i_reliable_tell(r, r->x - d, COLL_I_RELIABLE_ASK, NULL, r->asked);
    coll_i_reliable_go(r, COLL_I_RELIABLE_ASK);
}

/* Those behind this rank ask, or do not; who asks is answered. */
COLL_INLINE void coll_i_reliable_step_ask(coll_reliable *r)
{
    const uint32_t y = r->x + r->i + 1;
    if (r->i + 1 == r->tree.classes || !coll_i_reliable_in_class(&r->tree, r->x)) {
        coll_i_reliable_go(r, COLL_I_RELIABLE_ANSWER);
        return;
    }
    if (coll_i_reliable_asks(&r->tree, y)) {
        if (coll_i_reliable_hear(r, y, COLL_I_RELIABLE_ASK, NULL) != COLL_OK)
            return;
        if (r->heard[COLL_I_RELIABLE_HAS] != 0)
            coll_i_reliable_tell(r, y, COLL_I_RELIABLE_ANSWER, r->out, r->has);
    }
    r->i++;
    r->moved = true;
}

/* Answers come from those before it, if it asked. All that have the value have the same. */
COLL_INLINE void coll_i_reliable_step_answer(coll_reliable *r)
{
    if (!r->asked || r->i + 1 == r->tree.classes) {
        coll_i_reliable_go(r, COLL_I_RELIABLE_FLUSH);
        return;
    }
    if (coll_i_reliable_hear(r, r->x - r->i - 1, COLL_I_RELIABLE_ANSWER, r->out) != COLL_OK)
        return;
    if (!r->has)
        coll_i_reliable_take_value(r);
    r->i++;
    r->moved = true;
}

/* Does what can be done in this part without waiting. */
COLL_INLINE void coll_i_reliable_step(coll_reliable *r, bool flushed)
{
    switch (r->part) {
    case COLL_I_RELIABLE_GROUP:
        coll_i_reliable_step_group(r);
        break;
    case COLL_I_RELIABLE_UP:
        coll_i_reliable_step_up(r);
        break;
    case COLL_I_RELIABLE_DOWN:
        coll_i_reliable_step_down(r);
        break;
    case COLL_I_RELIABLE_ASK:
        coll_i_reliable_step_ask(r);
        break;
    case COLL_I_RELIABLE_ANSWER:
        coll_i_reliable_step_answer(r);
        break;
    case COLL_I_RELIABLE_FLUSH:
        if (flushed)
            coll_i_reliable_go(r, COLL_I_RELIABLE_AGREE);
        break;
    case COLL_I_RELIABLE_AGREE:
    case COLL_I_RELIABLE_IDLE:
        break;
    }
}

/* Moves the attempt on, up to the agreement. Did anything happen? */
COLL_INLINE bool coll_i_reliable_move(coll_reliable *r)
{
    bool moved = false;
    do {
        r->moved = false;
        coll_i_reliable_step(r, coll_i_reliable_flush(r));
        moved = moved || r->moved;
    } while (r->moved && r->part != COLL_I_RELIABLE_AGREE);
    return moved;
}

#endif /* COLL_COMM_RELIABLE_ATTEMPT_H */
