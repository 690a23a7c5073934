/* coll/sim/admit.h — an action enters the window: as coll_i_admit (window.h), from memory
 *
 * Ranks do the same with other peers. What decides about an action's conflicts is its shape: kind,
 * size and refs. Shapes have numbers, and of each two it is known whether they conflict, so no slot
 * is looked at but those that the action must wait for.
 *
 * Of these, too, only some are kept. Older slots are asked from the youngest to the oldest, and
 * an action that waits for one of them to end before it starts need not wait for those that end
 * before that one does. Their bits would leave its masks before that one's, and somebody waits for
 * them already. So everything starts and ends, and has its events, when it would with all bits
 * (tests/sim/admit.c).
 *
 * coll_i_admit itself is asked where windows have less than 9 slots or more than 16, for multicasts
 * and reductions by the network, and where a plan has more shapes than there are numbers.
 *
 * Use sim.h.
 */
#ifndef COLL_SIM_ADMIT_H
#define COLL_SIM_ADMIT_H

#include "state.h"

/* Numbers of shapes; this one stands for none. */
enum { COLL_I_SIM_SHAPES = 64 };

typedef struct coll_i_sim_shapes {
    uint32_t n;
    uint8_t index[4 * COLL_I_SIM_SHAPES]; /* a number and 1, found by a hash; 0: none */
    /* Older shapes that one must wait for: before it starts, before it starts or combines. */
    uint64_t start[COLL_I_SIM_SHAPES], all[COLL_I_SIM_SHAPES];
    coll_action acts[COLL_I_SIM_SHAPES]; /* as they are in slots */
} coll_i_sim_shapes;

/* Before a run: forgets all shapes if there are no numbers left. */
COLL_INLINE void coll_i_sim_shapes_refresh(coll_i_sim_shapes *shapes)
{
    if (shapes && shapes->n == COLL_I_SIM_SHAPES)
        memset(shapes, 0, sizeof *shapes);
}

/* ---- shapes ------------------------------------------------------------------------------ */

/* Must an action wait for an older one, in a slot? *start: before it may start. As
 * coll_i_find_waits. */
COLL_INLINE bool coll_i_sim_conflict(const coll_action *a, const coll_action *older,
                                     bool *start)
{
    const bool combine =
        (coll_i_has(COLL_I_WRITES_DST, a) && coll_i_touches(older, a->dst, a->count, true)) ||
        (coll_i_has(COLL_I_READS_SRC, a) && coll_i_touches(older, a->src, a->count, false)) ||
        (a->kind == COLL_DO_REDUCE && coll_i_touches(older, a->via, coll_i_via_span(a), false));
    *start = a->kind == COLL_DO_RECV_REDUCE ? coll_i_touches(older, a->via, a->count, true)
                                            : combine;
    return combine || *start;
}

/* A new number, and what it means. */
COLL_INLINE uint32_t coll_i_sim_shapes_add(coll_i_sim_shapes *shapes, const coll_action *a)
{
    const uint32_t k = shapes->n++;
    bool start;
    shapes->acts[k] = *a;
    if (!coll_i_has(COLL_I_WRITES_DST, a))
        shapes->acts[k].dst = COLL_I_NOWHERE;
    if (!coll_i_has(COLL_I_READS_SRC, a))
        shapes->acts[k].src = COLL_I_NOWHERE;
    for (uint32_t j = 0; j <= k; j++) {
        if (coll_i_sim_conflict(&shapes->acts[k], &shapes->acts[j], &start)) {
            shapes->all[k] |= (uint64_t)1 << j;
            shapes->start[k] |= (uint64_t)start << j;
        }
        if (coll_i_sim_conflict(&shapes->acts[j], &shapes->acts[k], &start)) {
            shapes->all[j] |= (uint64_t)1 << k;
            shapes->start[j] |= (uint64_t)start << k;
        }
    }
    return k;
}

/* Has the shape of a slot's action this one's? */
COLL_HOT_INLINE bool coll_i_sim_alike(const coll_action *shape, const coll_action *a)
{
    const coll_ref dst = coll_i_has(COLL_I_WRITES_DST, a) ? a->dst : COLL_I_NOWHERE;
    const coll_ref src = coll_i_has(COLL_I_READS_SRC, a) ? a->src : COLL_I_NOWHERE;
    return ((shape->kind ^ a->kind) | (shape->inputs ^ a->inputs)) == 0 &&
           ((shape->count ^ a->count) | (shape->dst ^ dst) | (shape->src ^ src) |
            (shape->via ^ a->via) | (shape->stride ^ a->stride)) == 0;
}

/* The number of an action's shape, or COLL_I_SIM_SHAPES. */
COLL_HOT_INLINE uint32_t coll_i_sim_shape(coll_i_sim_shapes *shapes, const coll_action *a)
{
    const uint64_t odd = 0x9E3779B97F4A7C15u;
    const uint64_t dst = coll_i_has(COLL_I_WRITES_DST, a) ? a->dst : 0;
    const uint64_t src = coll_i_has(COLL_I_READS_SRC, a) ? a->src : 0;
    const uint64_t refs = dst * 3 + src * 5 + a->via;
    uint64_t hash = (refs + a->kind * 64u + a->inputs * 1024u + a->stride) * odd;
    if (a->kind == COLL_DO_MULTICAST || a->kind == COLL_DO_FABRIC_REDUCE)
        return COLL_I_SIM_SHAPES;
    hash = ((hash ^ hash >> 32) + a->count) * odd;
    for (uint32_t at = (uint32_t)(hash >> 40);; at++) {
        uint8_t *number = &shapes->index[at % (4 * COLL_I_SIM_SHAPES)];
        if (*number != 0 && coll_i_sim_alike(&shapes->acts[*number - 1], a))
            return *number - 1u;
        if (*number != 0)
            continue;
        if (shapes->n == COLL_I_SIM_SHAPES)
            return COLL_I_SIM_SHAPES;
        *number = (uint8_t)(shapes->n + 1);
        return coll_i_sim_shapes_add(shapes, a);
    }
}

/* ---- channels ---------------------------------------------------------------------------- */

/* Which channel messages of these kinds are of, in seven bits that are not 0; else 0. */
COLL_HOT_INLINE uint32_t coll_i_sim_channel(unsigned kinds, uint32_t peer)
{
    const uint32_t hash = peer * 0x9E3779B1u >> 27 << 2;
    return kinds == COLL_I_SENDS ? hash | 1 : kinds == COLL_I_RECEIVES ? hash | 2 : 0;
}

/* Slots that may have a message of this channel. Bytes are below 128 but those that become 0: where
 * one does, the byte above it may be taken for another. */
COLL_HOT_INLINE uint32_t coll_i_sim_on_channel(const coll_i_sim_known *known, uint32_t channel)
{
    const uint64_t ones = UINT64_MAX / 255;
    uint32_t found = 0;
    for (uint32_t word = 0; word < 2; word++) {
        const uint64_t differ = known->channels[word] ^ ones * channel;
        uint64_t equal = (differ - ones) & ~differ & ones << 7;
        for (; equal; equal &= equal - 1)
            found |= (uint32_t)1 << (8 * word + coll_i_highest_bit64(equal & (0 - equal)) / 8);
    }
    return found;
}

/* The message before an action on its channel: as coll_i_find_waits, where no slot has a
 * multicast. */
COLL_HOT_INLINE uint32_t coll_i_sim_order(const coll_request *r, const coll_action *a,
                                          uint32_t channel)
{
    const unsigned kinds = coll_i_channel_kinds(a);
    uint32_t order = 0, behind = 0, left;
    if (channel == 0)
        return 0;
    left = coll_i_sim_on_channel(coll_i_sim_known_of(r), channel) & coll_i_all(r) & ~r->free;
    for (; left; left &= left - 1) {
        const uint32_t j = COLL_LOWEST_BIT(left);
        const coll_slot *older = &r->slots[j];
        if (coll_i_has(kinds, &older->act) && older->act.peer == a->peer) {
            order |= (uint32_t)1 << j;
            behind |= older->order;
        }
    }
    return order & ~behind & ~r->landed;
}

/* ---- entering ---------------------------------------------------------------------------- */

/* Of a window that nothing has entered. */
COLL_INLINE void coll_i_sim_notes_clear(const coll_request *r)
{
    uint32_t *notes = coll_i_sim_notes(r);
    notes[COLL_I_SIM_ENTERED] = notes[COLL_I_SIM_STRANGE] = 0;
    if (coll_i_sim_knows(r))
        memset(coll_i_sim_known_of(r), 0, sizeof(coll_i_sim_known));
}

/* The action of slot k is known from now on. */
COLL_HOT_INLINE void coll_i_sim_know(const coll_request *r, uint32_t k, uint32_t shape,
                                     uint32_t channel, uint32_t before)
{
    coll_i_sim_known *known = coll_i_sim_known_of(r);
    const uint32_t shift = 8 * (k % 8);
    uint64_t *channels = &known->channels[k / 8];
    known->ages = known->ages << 4 | k;
    known->shapes[k] = (uint8_t)(shape % COLL_I_SIM_SHAPES);
    known->before[k] = (uint16_t)before;
    *channels = (*channels & ~((uint64_t)255 << shift)) | (uint64_t)channel << shift;
    if (shape == COLL_I_SIM_SHAPES)
        coll_i_sim_notes(r)[COLL_I_SIM_STRANGE] |= (uint32_t)1 << k;
}

/* What lies behind the slots of a smaller window, behind those of a larger one. */
COLL_INLINE void coll_i_sim_notes_copy(coll_i_sim_shapes *shapes, const coll_request *to,
                                       const coll_request *from)
{
    uint32_t left = coll_i_all(from) & ~from->free;
    memcpy(coll_i_sim_notes(to), coll_i_sim_notes(from),
           (COLL_I_SIM_NUMBERS + from->window) * sizeof(uint32_t));
    while (coll_i_sim_knows(to) && shapes && left) {
        const uint32_t k = coll_i_sim_oldest(to, left);
        const coll_action *a = &to->slots[k].act;
        left &= ~((uint32_t)1 << k);
        coll_i_sim_know(to, k, coll_i_sim_shape(shapes, a),
                        coll_i_sim_channel(coll_i_channel_kinds(a), a->peer), 0);
    }
}

/* What an action of a shape must wait for, and in *before all slots that end before it does. */
COLL_HOT_INLINE coll_i_waits coll_i_sim_waits(const coll_request *r, uint64_t starts,
                                              uint64_t all, uint32_t *before)
{
    const coll_i_sim_known *known = coll_i_sim_known_of(r);
    uint32_t left = coll_i_all(r) & ~r->free;
    uint64_t ages = known->ages;
    coll_i_waits waits = {0, 0};
    *before = 0;
    for (uint32_t aged = 16; left; aged -= aged > 0) {
        const uint32_t j = aged > 0 ? (uint32_t)ages & 15 : COLL_LOWEST_BIT(left);
        const uint32_t bit = left & (uint32_t)1 << j, shape = known->shapes[j];
        const uint32_t waited = bit & (0 - (uint32_t)(all >> shape & 1));
        ages >>= 4;
        left &= ~bit;
        if (!waited)
            continue;
        waits.combine |= waited;
        *before |= waited;
        if (aged > 0)
            *before |= known->before[j] & left;
        if (!(starts >> shape & 1))
            continue;
        waits.start |= waited;
        if (aged > 0)
            left &= ~(uint32_t)known->before[j];
    }
    return waits;
}

/* As coll_i_admit, of a window of which something is known. */
COLL_INLINE uint32_t coll_i_sim_enter_known(coll_i_sim_shapes *shapes, coll_request *r,
                                            const coll_action *a)
{
    uint32_t *strange = &coll_i_sim_notes(r)[COLL_I_SIM_STRANGE];
    const uint32_t k = COLL_LOWEST_BIT(r->free), shape = coll_i_sim_shape(shapes, a);
    const uint32_t channel = coll_i_sim_channel(coll_i_channel_kinds(a), a->peer);
    uint32_t before = 0;
    *strange &= ~r->free;
    if (shape == COLL_I_SIM_SHAPES || *strange) {
        (void)coll_i_admit(r, a);
    } else {
        const coll_i_waits waits =
            coll_i_sim_waits(r, shapes->start[shape], shapes->all[shape], &before);
        (void)coll_i_place(r, a, waits, coll_i_sim_order(r, a, channel));
    }
    coll_i_sim_know(r, k, shape, channel, before);
    return k;
}

/* As coll_i_admit. */
COLL_INLINE uint32_t coll_i_sim_enter(coll_i_sim_shapes *shapes, coll_request *r,
                                      const coll_action *a)
{
    const uint32_t k = shapes && coll_i_sim_knows(r) ? coll_i_sim_enter_known(shapes, r, a)
                                                     : coll_i_admit(r, a);
    coll_i_sim_numbers(r)[k] = coll_i_sim_notes(r)[COLL_I_SIM_ENTERED]++;
    return k;
}

#endif /* COLL_SIM_ADMIT_H */
