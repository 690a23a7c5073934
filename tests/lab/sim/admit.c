/* tests/lab/sim/admit.c — a window that the simulator fills (lab/sim/admit.h) and one that
 * coll_i_window_admit fills: whatever starts, lands and ends, in both the same may start, combine and be
 * forgotten */
#include "support/chance.h"
#include "support/check.h"
#include "coll/lab/sim/admit.h"

enum { PLACES = 6 };

static coll_i_pool pool;

static coll_ref somewhere(void)
{
    return COLL_AT(1 + chance(2), chance(PLACES));
}

static void make_action(coll_action *a, uint32_t peers, bool odd)
{
    const uint32_t peer = chance(peers);
    const size_t count = 1 + chance(2);
    const coll_ref dst = somewhere(), src = somewhere();
    switch (chance(odd ? 8 : 6)) {
    case 0:
        coll_act_send(a, peer, src, count);
        break;
    case 1:
        coll_act_recv(a, peer, dst, count);
        break;
    case 2:
        coll_act_recv_reduce(a, peer, dst, src, chance(2) ? dst : somewhere(), count);
        break;
    case 3:
        coll_act_copy(a, dst, src, count);
        break;
    case 4:
        coll_act_reduce(a, dst, src, somewhere(), count);
        a->inputs = (uint16_t)(1 + chance(3));
        a->stride = count;
        break;
    case 5:
        coll_act_notify(a, peer, src, count);
        break;
    case 6:
        coll_act_multicast(a, src, count);
        break;
    default:
        coll_act_copy(a, dst + PLACES * chance(100), src, count); /* of many shapes */
        break;
    }
}

static void make_window(coll_window *r, uint32_t window)
{
    memset(r, 0, sizeof *r);
    r->slots = coll_i_slots_take(&pool, coll_log2_ceil(window));
    r->size = (uint8_t)window;
    r->free = coll_i_window_all(r);
}

/* May slot k, which has not started, start; may it combine; does somebody wait for it? */
static uint32_t look(const coll_window *r, uint32_t k)
{
    const coll_slot *slot = &r->slots[k];
    return (coll_i_window_may_start(r, k) ? 1u : 0u) |
           (slot->gate == 0 && slot->hold == 0 ? 2u : 0u) | (slot->dependents != 0 ? 4u : 0u);
}

/* Starts, lands or ends what may, in both. */
static void go_on(coll_window *r, coll_window *like, uint32_t k)
{
    const uint32_t bit = (uint32_t)1 << k;
    const coll_slot *slot = &r->slots[k];
    const bool merges = slot->act.kind == COLL_DO_RECV_REDUCE;
    if (r->pending & bit) {
        if (!coll_i_window_may_start(r, k))
            return;
        r->pending &= ~bit;
        like->pending &= ~bit;
    } else if (coll_i_has(COLL_I_RECEIVES, &slot->act) && !(r->staged & bit) &&
               (slot->order != 0 || like->slots[k].order != 0)) {
        CHECK(slot->order != 0 && like->slots[k].order != 0);
    } else if (merges && !(r->staged & bit)) {
        coll_i_window_stage(r, k);
        coll_i_window_stage(like, k);
    } else if (!merges || slot->hold == 0) {
        coll_i_window_retire(r, k);
        coll_i_window_retire(like, k);
    }
}

/* How many waits the one has fewer than the other. */
static uint32_t run(uint32_t window, uint32_t peers, bool odd, uint32_t actions)
{
    coll_window r, like;
    uint32_t fewer = 0;
    make_window(&r, window);
    make_window(&like, window);
    for (uint32_t entered = 0; entered < actions;) {
        if (r.free != 0 && chance(3) > 0) {
            coll_action a;
            uint32_t k;
            make_action(&a, peers, odd);
            k = coll_i_sim_enter(&r, &a, entered++);
            CHECK_EQ(k, coll_i_window_admit(&like, &a));
            CHECK_EQ(r.slots[k].gate & ~like.slots[k].gate, 0);
            CHECK_EQ(r.slots[k].hold & ~like.slots[k].hold, 0);
            fewer += r.slots[k].gate != like.slots[k].gate;
            fewer += r.slots[k].hold != like.slots[k].hold;
        }
        {
            const uint32_t k = chance(window);
            if (!(r.free >> k & 1))
                go_on(&r, &like, k);
        }
        CHECK_EQ(r.free, like.free);
        for (uint32_t k = 0; k < window; k++)
            if (!(r.free >> k & 1))
                CHECK_EQ(look(&r, k), look(&like, k));
    }
    return fewer;
}

TEST(the_same_may_start)
{
    uint32_t fewer = 0;
    for (uint32_t window = 1; window <= 32; window++)
        for (uint32_t peers = 1; peers < 9; peers += 3) {
            coll_i_pool_clear(&pool);
            fewer += run(window, peers, false, 300);
            fewer += run(window, peers, true, 300);
        }
    CHECK(fewer > 1000); /* waits that were left out */
    coll_i_pool_free(&pool);
}

int main(void)
{
    RUN(the_same_may_start);
    return check_done();
}
