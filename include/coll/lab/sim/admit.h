/* coll/lab/sim/admit.h — an action enters the window: as coll_i_window_admit (executor/window.h), with
 * fewer waits
 *
 * The youngest slots are asked first, and an action that waits for one of them to end before it
 * starts is not compared with those that end before that one does. Their bits would leave its masks
 * before that one's, and somebody waits for them already; so would that of the message before it on
 * its channel. So everything starts and ends, and has its events, when it would with all bits
 * (tests/lab/sim/admit.c). But most actions of a full window are compared with one or two others,
 * and few slots are looked at when one ends.
 *
 * Use lab/sim.h.
 */
#ifndef COLL_LAB_SIM_ADMIT_H
#define COLL_LAB_SIM_ADMIT_H

#include "state.h"

/* So many of the youngest slots are asked one by one; the others all together. */
enum { COLL_I_SIM_YOUNG = 2 };

/* Must an action wait for an older one in a slot before it combines, or starts? As
 * coll_i_window_find_waits. */
COLL_HOT_INLINE bool coll_i_sim_conflict(const coll_action *a, const coll_action *older)
{
    return (coll_i_has(COLL_I_WRITES_DST, a) &&
            coll_i_window_touches(older, a->dst, a->count, true)) ||
           (coll_i_has(COLL_I_READS_SRC, a) &&
            coll_i_window_touches(older, a->src, a->count, false)) ||
           (a->kind == COLL_DO_REDUCE &&
            coll_i_window_touches(older, a->via, coll_i_action_via_span(a), false));
}

/* Writes the action into a free slot, and finds what it must wait for. */
COLL_INLINE uint32_t coll_i_sim_enter(coll_window *w, const coll_action *a, uint32_t place)
{
    coll_i_sim_note *notes = coll_i_sim_notes(w);
    const bool merges = a->kind == COLL_DO_RECV_REDUCE;
    uint32_t left = coll_i_window_all(w) & ~w->free, before = 0, order = 0, k;
    uint32_t ages =
        w->idle; /* which the executor alone uses: the youngest slots, a byte each */
    coll_i_window_waits waits = {0, 0};
    for (uint32_t i = 0; i < COLL_I_SIM_YOUNG && left; i++, ages >>= 8) {
        const uint32_t j = ages & 31, bit = left & (uint32_t)1 << j;
        const coll_action *o = &w->slots[j].act;
        bool combine, start;
        if (!bit)
            continue; /* it has ended, or is used again */
        left &= ~bit;
        if (coll_i_has(coll_i_window_channel_kinds(a), o) &&
            (o->peer == a->peer || o->kind == COLL_DO_MULTICAST ||
             a->kind == COLL_DO_MULTICAST))
            order |= bit & ~w->staged;
        combine = coll_i_sim_conflict(a, o);
        start = merges ? coll_i_window_touches(o, a->via, a->count, true) : combine;
        waits.combine |= combine ? bit : 0;
        waits.start |= start ? bit : 0;
        before |= combine || start ? bit | (notes[j].before & left) : 0;
        left &= ~(start ? notes[j].before : 0);
    }
    if (left) {
        uint32_t older = 0;
        const coll_i_window_waits more = coll_i_window_find_waits(w, a, left, &older);
        waits.start |= more.start;
        waits.combine |= more.combine;
        order |= older;
        before |= more.start | more.combine;
    }
    k = coll_i_window_place(w, a, waits, order);
    w->idle = (uint16_t)((uint32_t)w->idle << 8 | k);
    notes[k].place = place;
    notes[k].before = before;
    return k;
}

#endif /* COLL_LAB_SIM_ADMIT_H */
