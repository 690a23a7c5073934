/* tests/lab/sim/executor.c — the simulator starts every action when the executor does
 *
 * The executor (executor.h) runs over a transport with a clock: a message takes a time that depends
 * on its ends and its size, copies and reductions one that depends on their size, and its sender
 * is done after another one, or when it is received. The simulator has the same costs, and no
 * processor that anything would have to wait for. Both note what starts, and when.
 */
#include "support/rig.h"
#include "support/clocked.h"
#include "coll/algos/registry.h"

static notes simulated;

/* ---- the executor ------------------------------------------------------------------------ */

/* Runs the executors of all ranks through time. */
static bool run(rig *it, uint32_t window)
{
    bool moved, running;
    memset(&world, 0, sizeof world);
    for (uint32_t k = 0; k < CHANNEL; k++)
        for (uint32_t group = 0; group < COLL_NETWORK_GROUPS; group++)
            world.meetings[k][group].over = COLL_NEVER;
    world.p = it->p;
    ran.n = 0;
    for (uint32_t r = 0; r < it->p; r++) {
        endpoints[r] = r;
        it->ranks[r].run.ctx = &endpoints[r];
    }
    if (!CHECK_STATUS(rig_start(it, &clocked_transport, window), COLL_OK))
        return false;
    do {
        do {
            moved = running = false;
            for (uint32_t r = 0; r < it->p; r++) {
                coll_engine *engine = &it->ranks[r].engine;
                if (engine->status != COLL_AGAIN)
                    continue;
                if (coll_engine_progress(engine) < COLL_OK)
                    return CHECK_STATUS(engine->status, COLL_OK);
                moved = moved || engine->window.idle == 0;
                running = running || engine->status == COLL_AGAIN;
            }
        } while (moved);
    } while (running && tick());
    return CHECK(!running);
}

/* ---- the simulator ----------------------------------------------------------------------- */

static void model_send(const coll_cost_model *model, const coll_message *m, coll_cost *cost)
{
    (void)model;
    cost->done = send_time(m->bytes);
    cost->wire = wire_time(m->from, m->to == COLL_RANK_NONE ? m->from : m->to);
}

static void model_receive(const coll_cost_model *model, const coll_message *m, coll_cost *cost)
{
    (void)model;
    cost->done = data_time(m->bytes);
}

static void model_compute(const coll_cost_model *model, uint32_t rank, const coll_action *a,
                          size_t elem_bytes, coll_cost *cost)
{
    (void)model, (void)rank;
    if (a->kind == COLL_DO_RECV_REDUCE)
        cost->done = work_time(a->count * elem_bytes);
    else if (a->kind == COLL_DO_REDUCE)
        cost->done = a->inputs * work_time(a->count * elem_bytes);
    else if (a->kind == COLL_DO_COPY && a->dst != a->src)
        cost->done = work_time(a->count * elem_bytes);
}

static coll_time model_fabric(const coll_cost_model *model, coll_network_group group,
                              uint64_t bytes)
{
    (void)model, (void)group;
    return meet_time(bytes);
}

static void see(void *arg, const coll_seen *seen)
{
    const coll_action *a = seen->action;
    const uint64_t bytes = a && !coll_i_is_token(a) ? a->count * sizeof(uint64_t) : 0;
    (void)arg;
    if (seen->what == COLL_SEEN_SEND)
        note_add(&simulated, seen->start, seen->rank, SENDS,
                 a->kind == COLL_DO_MULTICAST ? COLL_RANK_NONE : a->peer, bytes);
    else if (seen->what == COLL_SEEN_BEGIN && coll_i_has(COLL_I_RECEIVES, a))
        note_add(&simulated, seen->start, seen->rank, RECEIVES, a->peer, bytes);
    else if (seen->what == COLL_SEEN_BEGIN && a->kind == COLL_DO_NETWORK_REDUCE)
        note_add(&simulated, seen->start, seen->rank, MEETS, a->peer, bytes);
    else if (seen->what == COLL_SEEN_COMPUTE && a->kind == COLL_DO_COPY && a->dst != a->src)
        note_add(&simulated, seen->start, seen->rank, COPIES, 0, bytes);
    else if (seen->what == COLL_SEEN_COMPUTE && a->kind == COLL_DO_RECV_REDUCE)
        note_add(&simulated, seen->start, seen->rank, REDUCES, 0, bytes);
    else if (seen->what == COLL_SEEN_COMPUTE && a->kind == COLL_DO_REDUCE)
        for (uint32_t i = 0; i < a->inputs; i++)
            note_add(&simulated, seen->start + i * work_time(bytes), seen->rank, REDUCES, 0,
                     bytes);
}

static bool simulate(const rig *it, uint32_t window)
{
    coll_plan plans[RANKS];
    coll_cost_model model;
    coll_sim_options options;
    coll_sim sim;
    bool ok;
    for (uint32_t r = 0; r < it->p; r++)
        plans[r] = it->ranks[r].plan;
    memset(&model, 0, sizeof model);
    model.send = model_send;
    model.receive = model_receive;
    model.compute = model_compute;
    model.in_network = model_fabric;
    model.eager = rendezvous ? 0 : UINT64_MAX;
    coll_sim_options_init(&options, &model);
    options.window = window;
    options.see = see;
    simulated.n = 0;
    coll_sim_init(&sim);
    ok = CHECK_STATUS(coll_sim_run(&sim, plans, true, &options), COLL_OK);
    coll_sim_free(&sim);
    return ok;
}

/* ---- both -------------------------------------------------------------------------------- */

typedef struct comparison {
    uint32_t window, other; /* slots of the executor; of the simulator so many more */
    unsigned plans, different;
    size_t notes;
} comparison;

static void compare(rig *it, const char *what, void *arg)
{
    comparison *c = (comparison *)arg;
    const uint32_t least = it->ranks[0].plan.window;
    const uint32_t window = c->window > least ? c->window : least;
    size_t i = 0;
    rig_fill(it);
    if (!run(it, window) || !simulate(it, window + c->other))
        return;
    qsort(ran.at, ran.n, sizeof(note), note_compare);
    qsort(simulated.at, simulated.n, sizeof(note), note_compare);
    while (i < ran.n && i < simulated.n && note_compare(&ran.at[i], &simulated.at[i]) == 0)
        i++;
    c->plans++;
    c->notes += ran.n;
    if (i == ran.n && i == simulated.n)
        return;
    if (c->different++ > 0 || c->other > 0)
        return;
    printf("    %s %s p=%u window %u: note %zu of %zu and %zu\n", what,
           it->ranks[0].plan.algorithm->name, it->p, window, i, ran.n, simulated.n);
    for (unsigned side = 0; side < 2; side++) {
        const notes *of = side ? &simulated : &ran;
        if (i < of->n)
            printf("    %s: at %llu rank %u kind %u peer %u count %llu\n",
                   side ? "simulator" : "executor", (unsigned long long)of->at[i].time,
                   of->at[i].rank, of->at[i].kind, of->at[i].peer,
                   (unsigned long long)of->at[i].count);
    }
}

static comparison compare_all(uint32_t p, size_t count, uint32_t window, uint32_t other)
{
    comparison c = {window, other, 0, 0, 0};
    for (size_t row = 0; row < COLL_REGISTRY_COUNT; row++)
        CHECK(rig_each(coll_registry[row], p, count, compare, &c));
    CHECK(c.plans > COLL_REGISTRY_COUNT && c.notes > c.plans);
    return c;
}

static void compare_windows(void)
{
    for (uint32_t window = 1; window <= 32; window = 2 * window + 2)
        CHECK_EQ(compare_all(8, 9, window, 0).different, 0);
    CHECK_EQ(compare_all(2, 17, 16, 0).different, 0);
    CHECK_EQ(compare_all(RANKS, 29, 16, 0).different, 0);
}

TEST(eager)
{
    rendezvous = false;
    compare_windows();
}

TEST(with_rendezvous)
{
    rendezvous = true;
    compare_windows();
}

/* That the comparison sees something: a simulator with one slot more is found out. */
TEST(a_larger_window_is_another_one)
{
    rendezvous = false;
    CHECK(compare_all(8, 9, 2, 1).different > 50);
}

int main(void)
{
    RUN(eager);
    RUN(with_rendezvous);
    RUN(a_larger_window_is_another_one);
    return check_done();
}
