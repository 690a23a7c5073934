/* executor/window.h: what an action that enters the window waits for, against the definition of a
 * conflict by sets of elements; actions of all kinds that start, land and end in any order. */
#include <string.h>

#include "support/chance.h"
#include "support/check.h"
#include "coll/executor/window.h"

enum { WINDOW = 32, ELEMENTS = 16, PEERS = 3 };

static coll_window r;
static coll_slot slots[WINDOW];
static coll_action acts[WINDOW]; /* as they were admitted */

static uint32_t bit_of(uint32_t k)
{
    return (uint32_t)1 << k;
}

/* ---- the definition ---------------------------------------------------------------------- */

/* The elements of [ref, ref + count), of all spaces. */
static uint64_t set_of(coll_ref ref, size_t count)
{
    return (((uint64_t)1 << count) - 1)
           << (coll_ref_space(ref) * ELEMENTS + coll_ref_offset(ref));
}

static uint64_t staged(const coll_action *a)
{
    return a->kind == COLL_DO_RECV_REDUCE ? set_of(a->via, a->count) : 0;
}

static uint64_t written(const coll_action *a)
{
    return coll_i_has(COLL_I_WRITES_DST, a) ? set_of(a->dst, a->count) : 0;
}

/* Of a REDUCE also what lies between its operands. */
static uint64_t read(const coll_action *a)
{
    return (coll_i_has(COLL_I_READS_SRC, a) ? set_of(a->src, a->count) : 0) |
           (a->kind == COLL_DO_REDUCE
                ? set_of(a->via, (a->inputs - (size_t)1) * a->stride + a->count)
                : 0);
}

/* Do two actions keep their order, as messages of one direction and peer, or meetings of a group? */
static bool one_channel(const coll_action *a, const coll_action *o)
{
    const bool to_all = a->kind == COLL_DO_MULTICAST || o->kind == COLL_DO_MULTICAST;
    if (coll_i_has(COLL_I_SENDS, a) && coll_i_has(COLL_I_SENDS, o))
        return to_all || a->peer == o->peer;
    return a->peer == o->peer &&
           ((coll_i_has(COLL_I_RECEIVES, a) && coll_i_has(COLL_I_RECEIVES, o)) ||
            (a->kind == COLL_DO_NETWORK_REDUCE && o->kind == COLL_DO_NETWORK_REDUCE));
}

/* ---- actions at random ------------------------------------------------------------------- */

static coll_ref some_ref(bool may_be_in, size_t count)
{
    const coll_space space =
        may_be_in ? (coll_space)chance(COLL_SPACES) : (coll_space)(1 + chance(COLL_SPACES - 1));
    return COLL_AT(space, chance((uint32_t)(ELEMENTS - count + 1)));
}

static coll_action some_action(void)
{
    const size_t count = 1 + chance(3);
    const coll_network_group group = {chance(2), 2};
    const uint32_t peer = chance(PEERS), inputs = 1 + chance(3);
    coll_action a;
    switch (chance(COLL_KINDS)) {
    case COLL_DO_SEND:
        coll_act_send(&a, peer, some_ref(true, count), count);
        break;
    case COLL_DO_RECV:
        coll_act_recv(&a, peer, some_ref(false, count), count);
        break;
    case COLL_DO_RECV_REDUCE:
        coll_act_recv_reduce(&a, peer, some_ref(false, count), some_ref(true, count),
                             some_ref(false, count), count);
        if (chance(2))
            a.via = a.dst;
        break;
    case COLL_DO_COPY:
        coll_act_copy(&a, some_ref(false, count), some_ref(true, count), count);
        break;
    case COLL_DO_REDUCE:
        coll_act_reduce(&a, some_ref(false, count), some_ref(true, count),
                        some_ref(true, count + (inputs - 1) * (count + 1)), count);
        a.inputs = (uint16_t)inputs;
        a.stride = count + 1;
        break;
    case COLL_DO_NOTIFY:
        coll_act_notify(&a, peer, some_ref(true, count), count);
        break;
    case COLL_DO_AWAIT:
        coll_act_await(&a, peer, some_ref(false, count), count);
        break;
    case COLL_DO_MULTICAST:
        coll_act_multicast(&a, some_ref(true, count), count);
        break;
    default:
        coll_act_network_reduce(&a, group, some_ref(false, count), some_ref(true, count),
                                count);
        break;
    }
    if (!coll_i_has(COLL_I_WRITES_DST, &a)) /* what a kind does not use may be anything */
        a.dst = some_ref(false, count);
    if (!coll_i_has(COLL_I_READS_SRC, &a))
        a.src = some_ref(false, count);
    return a;
}

/* ---- the life of the window -------------------------------------------------------------- */

static void begin(uint32_t window)
{
    memset(&r, 0, sizeof r);
    memset(slots, 0xFF, sizeof slots); /* of no older action anything may stay */
    r.slots = slots;
    r.size = (uint8_t)window;
    r.free = coll_i_window_all(&r);
}

/* Admits an action, and checks what it waits for. */
static uint32_t enter(const coll_action *a)
{
    const uint32_t live = coll_i_window_all(&r) & ~r.free;
    const bool merges = a->kind == COLL_DO_RECV_REDUCE;
    uint32_t before[WINDOW], gate = 0, hold = 0, channel = 0, behind = 0, sends = 0, k;
    const coll_slot *slot;
    for (uint32_t j = 0; j < r.size; j++) {
        const coll_action *o = &acts[j];
        const uint64_t its = written(o) | staged(o);
        bool stages, combines;
        before[j] = slots[j].dependents;
        if (!(live & bit_of(j)))
            continue;
        stages = (staged(a) & (its | read(o))) != 0;
        combines = (written(a) & (its | read(o))) != 0 || (read(a) & its) != 0;
        gate |= (merges ? stages : combines) ? bit_of(j) : 0;
        hold |= merges && combines ? bit_of(j) : 0;
        sends |= coll_i_has(COLL_I_SENDS, o) ? bit_of(j) : 0;
        if (one_channel(a, o)) {
            channel |= bit_of(j);
            behind |= slots[j].order;
        }
    }
    k = coll_i_window_admit(&r, a);
    slot = &slots[k];
    acts[k] = *a;
    CHECK(k < r.size && !(live & bit_of(k)));
    CHECK_EQ(r.free, coll_i_window_all(&r) & ~live & ~bit_of(k));
    CHECK(r.pending & bit_of(k));
    CHECK_EQ(slot->gate, gate);
    CHECK_EQ(slot->hold, hold);
    CHECK_EQ(slot->order, channel & ~behind & ~r.staged);
    CHECK_EQ(slot->dependents, 0);
    CHECK_EQ((slot->act.flags & COLL_I_WINDOW_STAGE) != 0, (hold & sends) != 0);
    CHECK_EQ((r.apart & bit_of(k)) != 0,
             a->kind == COLL_DO_REDUCE || (merges && a->via != a->dst));
    for (uint32_t j = 0; j < r.size; j++)
        if (live & bit_of(j))
            CHECK_EQ(slots[j].dependents,
                     before[j] | ((gate | hold | slot->order) & bit_of(j) ? bit_of(k) : 0u));
    return k;
}

/* The masks of the live slots without one bit; and all whose masks changed are to be looked at. */
static void check_left(const coll_slot *before, uint32_t k, bool ends)
{
    const uint32_t live = coll_i_window_all(&r) & ~r.free;
    for (uint32_t j = 0; j < r.size; j++) {
        const coll_slot *was = &before[j], *is = &slots[j];
        if (!(live & bit_of(j)))
            continue;
        CHECK_EQ(is->gate, was->gate & ~(ends ? bit_of(k) : 0u));
        CHECK_EQ(is->hold, was->hold & ~(ends ? bit_of(k) : 0u));
        CHECK_EQ(is->order, was->order & ~bit_of(k));
        if (is->gate != was->gate || is->hold != was->hold || is->order != was->order)
            CHECK(r.ready & bit_of(j));
    }
    CHECK_EQ(r.ready & r.free, 0);
}

/* Something happens to slot k, if it may. */
static void live_on(uint32_t k)
{
    const coll_slot *slot = &slots[k];
    const bool merges = slot->act.kind == COLL_DO_RECV_REDUCE;
    const bool waits = slot->gate != 0 || (slot->order & r.pending) != 0;
    coll_slot before[WINDOW];
    memcpy(before, slots, sizeof before);
    if (r.pending & bit_of(k)) {
        CHECK_EQ(coll_i_window_may_start(&r, k), !waits);
        r.flying |= bit_of(k); /* of a message in pieces one is on its way */
        CHECK(!coll_i_window_may_start(&r, k));
        r.flying &= ~bit_of(k);
        if (!waits) {
            r.pending &= ~bit_of(k);
            r.flying |= bit_of(k);
            CHECK(!coll_i_window_may_start(&r, k));
        }
    } else if (merges && !(r.staged & bit_of(k)) && (slot->hold != 0 || chance(2))) {
        r.flying &= ~bit_of(k);
        coll_i_window_stage(&r, k);
        CHECK(r.staged & bit_of(k));
        check_left(before, k, false);
    } else if (slot->hold == 0) {
        coll_i_window_retire(&r, k);
        CHECK(r.free & bit_of(k));
        CHECK_EQ((r.pending | r.flying | r.staged | r.ready) & bit_of(k), 0);
        check_left(before, k, true);
    }
    r.ready &= ~bit_of(chance(r.size));
}

TEST(what_waits_for_what)
{
    static const uint32_t windows[] = {1, 2, 3, 5, 8, 17, 31, 32};
    for (uint32_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        uint32_t idle = 0;
        begin(windows[i]);
        for (uint32_t entered = 0; entered < 1500 || r.free != coll_i_window_all(&r);) {
            const uint32_t free_before = r.free, k = chance(r.size);
            if (r.free != 0 && entered < 1500 && chance(3) == 0) {
                const coll_action a = some_action();
                (void)enter(&a);
                entered++;
            } else if (!(r.free & bit_of(k))) {
                live_on(k);
            }
            idle = r.free == free_before ? idle + 1 : 0;
            if (!CHECK(idle < 100000)) /* else it waits in a circle */
                return;
        }
    }
}

/* A message is staged if its sum waits for a send, and not for anything else. */
TEST(what_is_staged)
{
    coll_action copy, send, merge;
    const coll_ref x = COLL_AT(COLL_OUT, 0), y = COLL_AT(COLL_OUT, 1);
    coll_act_copy(&copy, x, y, 1);
    coll_act_send(&send, 1, x, 1);
    coll_act_recv_reduce(&merge, 2, x, x, x, 1);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t k;
        begin(4);
        if (i & 1)
            (void)enter(&copy);
        if (i & 2)
            (void)enter(&send);
        k = enter(&merge);
        CHECK_EQ(slots[k].act.flags & COLL_I_WINDOW_STAGE, i & 2 ? COLL_I_WINDOW_STAGE : 0);
    }
}

int main(void)
{
    RUN(what_waits_for_what);
    RUN(what_is_staged);
    return check_done();
}
