/* tests/sim/admit.c — a window that the simulator's shapes fill (sim/admit.h) and one that
 * coll_i_admit fills: whatever starts, lands and ends, in both the same may start, combine and be
 * forgotten */
#include "check.h"
#include "coll/sim/admit.h"

enum { SLOTS = 16, PLACES = 6 };

static coll_i_slots pool;
static coll_i_sim_shapes shapes;
static uint64_t state = 1;

static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static coll_ref place(void)
{
    return COLL_AT(1 + random_below(2), random_below(PLACES));
}

static void make_action(coll_action *a, uint32_t peers, bool odd)
{
    const uint32_t peer = random_below(peers);
    const size_t count = 1 + random_below(2);
    const coll_ref dst = place(), src = place();
    switch (random_below(odd ? 8 : 6)) {
    case 0:
        coll_act_send(a, peer, src, count);
        break;
    case 1:
        coll_act_recv(a, peer, dst, count);
        break;
    case 2:
        coll_act_recv_reduce(a, peer, dst, src, random_below(2) ? dst : place(), count);
        break;
    case 3:
        coll_act_copy(a, dst, src, count);
        break;
    case 4:
        coll_act_reduce(a, dst, src, place(), count);
        a->inputs = (uint16_t)(1 + random_below(3));
        a->stride = count;
        break;
    case 5:
        coll_act_notify(a, peer, src, count);
        break;
    case 6:
        coll_act_multicast(a, src, count);
        break;
    default:
        coll_act_copy(a, dst + PLACES * random_below(100), src, count); /* of many shapes */
        break;
    }
}

static void make_window(coll_request *r, uint32_t window)
{
    memset(r, 0, sizeof *r);
    r->slots = coll_i_slots_take(&pool, coll_log2_ceil(window));
    r->window = (uint8_t)window;
    r->free = coll_i_all(r);
    coll_i_sim_notes_clear(r);
}

/* May slot k, which has not started, start; may it combine; does somebody wait for it? */
static uint32_t look(const coll_request *r, uint32_t k)
{
    const coll_slot *slot = &r->slots[k];
    return (coll_i_may_start(r, k) ? 1u : 0u) | (slot->gate == 0 && slot->hold == 0 ? 2u : 0u) |
           (slot->dependents != 0 ? 4u : 0u);
}

/* Starts, lands or ends what may, in both. */
static void go_on(coll_request *r, coll_request *like, uint32_t k)
{
    const uint32_t bit = (uint32_t)1 << k;
    const coll_slot *slot = &r->slots[k];
    const bool merges = slot->act.kind == COLL_DO_RECV_REDUCE;
    if (r->pending & bit) {
        if (!coll_i_may_start(r, k))
            return;
        r->pending &= ~bit;
        like->pending &= ~bit;
    } else if (coll_i_has(COLL_I_RECEIVES, &slot->act) && !(r->landed & bit) &&
               (slot->order != 0 || like->slots[k].order != 0)) {
        CHECK(slot->order != 0 && like->slots[k].order != 0);
    } else if (merges && !(r->landed & bit)) {
        coll_i_land(r, k);
        coll_i_land(like, k);
    } else if (!merges || slot->hold == 0) {
        coll_i_finish(r, k);
        coll_i_finish(like, k);
    }
}

static void run(uint32_t window, uint32_t peers, bool odd, uint32_t actions)
{
    coll_request r, like;
    make_window(&r, window);
    make_window(&like, window);
    for (uint32_t entered = 0; entered < actions;) {
        if (r.free != 0 && random_below(3) > 0) {
            coll_action a;
            make_action(&a, peers, odd);
            CHECK_EQ(coll_i_sim_enter(&shapes, &r, &a), coll_i_admit(&like, &a));
            entered++;
        }
        {
            const uint32_t k = random_below(window);
            if (!(r.free >> k & 1))
                go_on(&r, &like, k);
        }
        CHECK_EQ(r.free, like.free);
        for (uint32_t k = 0; k < window; k++)
            if (!(r.free >> k & 1))
                CHECK_EQ(look(&r, k), look(&like, k));
    }
}

TEST(the_same_may_start)
{
    for (uint32_t window = 9; window <= SLOTS; window++)
        for (uint32_t peers = 1; peers < 9; peers += 3) {
            coll_i_slots_clear(&pool);
            memset(&shapes, 0, sizeof shapes);
            run(window, peers, false, 300);
            coll_i_sim_shapes_refresh(&shapes);
            run(window, peers, true, 300);
        }
    CHECK_EQ(shapes.n, COLL_I_SIM_SHAPES); /* there were more than have numbers */
    coll_i_slots_free(&pool);
}

/* A window that grows knows what was in the smaller one. */
TEST(growing)
{
    coll_i_slots_clear(&pool);
    for (uint32_t round = 0; round < 300; round++) {
        coll_request r, like, grown;
        coll_action a;
        memset(&shapes, 0, sizeof shapes);
        make_window(&r, 8);
        make_window(&like, SLOTS);
        make_window(&grown, SLOTS);
        for (uint32_t k = 0; k < 8; k++) {
            make_action(&a, 3, false);
            CHECK_EQ(coll_i_sim_enter(&shapes, &r, &a), coll_i_admit(&like, &a));
        }
        memcpy(grown.slots, r.slots, 8 * sizeof *r.slots);
        grown.free &= ~coll_i_all(&r);
        grown.pending = r.pending;
        grown.apart = r.apart;
        coll_i_sim_notes_copy(&shapes, &grown, &r);
        for (uint32_t k = 8; k < SLOTS; k++) {
            make_action(&a, 3, false);
            CHECK_EQ(coll_i_sim_enter(&shapes, &grown, &a), coll_i_admit(&like, &a));
        }
        for (uint32_t i = 0; i < 200; i++) {
            const uint32_t k = random_below(SLOTS);
            if (!(grown.free >> k & 1))
                go_on(&grown, &like, k);
            for (uint32_t j = 0; j < SLOTS; j++)
                if (!(grown.free >> j & 1))
                    CHECK_EQ(look(&grown, j), look(&like, j));
        }
        coll_i_slots_clear(&pool);
    }
    coll_i_slots_free(&pool);
}

int main(void)
{
    RUN(the_same_may_start);
    RUN(growing);
    return check_done();
}
