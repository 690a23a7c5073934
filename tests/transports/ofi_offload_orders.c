/* Programs as pieces of deferred work, run in any order in which a NIC may run them: results are those of the counter
 * machines of nic.h. Nothing here calls libfabric. */
#include <stdlib.h>
#include <string.h>

#include "coll/algos/registry.h"
#include "coll/nic.h"
#include "coll/reduce.h"
#include "coll/transports/ofi_offload/translate.h"
#include "support/check.h"

enum { MOST = 9, EPOCHS = 3, MEMORY = 1 << 20, MESSAGES = 4096, AT_ONCE = 7 };
enum { WAITS, RUNS, OVER };

/* A message on its way. */
typedef struct message {
    uint32_t from, to, number, epoch;
    size_t bytes;
    unsigned char *data;
} message;

/* A rank: its program, and its program in pieces. */
typedef struct piecewise {
    coll_nic_program program;
    coll_i_offload_translation t;
    size_t memory[MEMORY / sizeof(size_t)];
    unsigned char *space[COLL_I_OFFLOAD_SPACES], *wanted;
    size_t bytes[COLL_SPACES];
    uint64_t *counters;
    uint8_t *states; /* of all pieces, of all epochs */
} piecewise;

static struct {
    uint32_t p, messages;
    coll_plan plan;
    coll_op op;
    coll_ofi_nic nic;
    piecewise ranks[MOST];
    message on_the_way[MESSAGES];
    coll_nic_machine machines[MOST];
    coll_nic_endpoint ends[MOST];
    uint32_t *counters[MOST];
    uint8_t *states[MOST];
    uint64_t random;
    bool nested; /* a send has triggered a send, or a receive a receive */
} all;

static uint32_t any(uint32_t n)
{
    return coll_i_nic_any(&all.random, n);
}

/* ---- making it --------------------------------------------------------------------------- */

static bool lower(uint32_t rank, uint32_t receives)
{
    piecewise *me = &all.ranks[rank];
    coll_nic_memory memory = {me->memory, sizeof me->memory, 0};
    coll_schedule schedule;
    coll_nic_limits limits;
    coll_counts counts;
    coll_action *actions;
    coll_status status;
    coll_nic_limits_init(&limits);
    limits.receives = receives;
    if (coll_plan_count(&all.plan, rank, &counts) != COLL_OK)
        return false;
    actions = malloc((counts.total + 1) * sizeof *actions);
    status = coll_schedule_write(&schedule, &all.plan, rank, actions, counts.total);
    if (status == COLL_OK)
        status = coll_nic_lower(&me->program, &all.plan, &schedule, &limits, &memory);
    free(actions);
    return status == COLL_OK && coll_i_offload_translate(&me->t, &all.nic, &me->program,
                                                         sizeof(double), AT_ONCE) == NULL;
}

static void make_memory(uint32_t rank)
{
    piecewise *me = &all.ranks[rank];
    const coll_extents extents = coll_plan_extents(&all.plan, rank);
    me->bytes[COLL_IN] = extents.in * sizeof(double);
    me->bytes[COLL_OUT] = extents.out * sizeof(double);
    me->bytes[COLL_SCRATCH] = coll_plan_scratch(&all.plan, rank) * sizeof(double);
    for (unsigned s = 0; s < COLL_SHARED; s++)
        me->space[s] = calloc(1, me->bytes[s] + 1);
    me->wanted = calloc(1, me->bytes[COLL_OUT] + 1);
    me->space[COLL_I_OFFLOAD_WORD] = calloc(2, sizeof(uint64_t));
    me->counters = calloc(me->t.needs.counters, sizeof *me->counters);
    me->states = calloc((size_t)EPOCHS * me->t.needs.works, 1);
    all.counters[rank] = calloc(me->program.needs.counters + 1, sizeof(uint32_t));
    all.states[rank] = calloc(me->program.needs.ops, 1);
}

static void free_all(void)
{
    for (uint32_t r = 0; r < all.p; r++) {
        piecewise *me = &all.ranks[r];
        coll_i_offload_forget(&me->t);
        for (unsigned s = 0; s < COLL_I_OFFLOAD_SPACES; s++)
            free(me->space[s]);
        free(me->wanted);
        free(me->counters);
        free(me->states);
        free(all.counters[r]);
        free(all.states[r]);
        memset(me, 0, sizeof *me);
        all.counters[r] = NULL;
        all.states[r] = NULL;
    }
}

static void fill(uint32_t rank)
{
    piecewise *me = &all.ranks[rank];
    double *in = (double *)(void *)me->space[COLL_IN],
           *out = (double *)(void *)me->space[COLL_OUT];
    for (size_t i = 0; i < me->bytes[COLL_IN] / sizeof *in; i++)
        in[i] = (double)(rank * 1009 + i * 7 + 1) / 3;
    for (size_t i = 0; i < me->bytes[COLL_OUT] / sizeof *out; i++)
        out[i] = all.plan.problem.collective == COLL_BCAST && rank == 0 ? (double)i / 3 : -1;
}

/* What the counter machines make of it. */
static bool machines_run(void)
{
    coll_nic_world world;
    coll_nic_world_init(&world, all.machines, all.ends, all.p);
    for (uint32_t r = 0; r < all.p; r++) {
        coll_nic_machine *m = &all.machines[r];
        fill(r);
        if (coll_nic_open(m, &all.ranks[r].program, &coll_nic_loopback, &all.ends[r],
                          all.counters[r], all.states[r]) != COLL_OK)
            return false;
        m->op = &all.op;
        m->in = all.ranks[r].space[COLL_IN];
        m->out = all.ranks[r].space[COLL_OUT];
        m->scratch = all.ranks[r].space[COLL_SCRATCH];
        m->elem_bytes = sizeof(double);
    }
    if (coll_nic_world_start(&world, NULL) != COLL_OK)
        return false;
    for (uint32_t r = 0; r < all.p; r++)
        memcpy(all.ranks[r].wanted, all.ranks[r].space[COLL_OUT], all.ranks[r].bytes[COLL_OUT]);
    return true;
}

/* ---- a NIC that takes its time ------------------------------------------------------------ */

static bool is_queued(const coll_i_offload_step *step, uint32_t epoch)
{
    return step->when == COLL_I_OFFLOAD_ALL ||
           (step->when == COLL_I_OFFLOAD_LAST) == (epoch + 1 == EPOCHS);
}

static uint64_t threshold_of(const piecewise *me, const coll_i_offload_step *step,
                             uint32_t epoch)
{
    return (uint64_t)epoch * me->t.counts[step->trigger] + step->threshold;
}

/* Adds to a counter. What it triggers in doing so must not be of the same kind, where there are relays. */
static void count(piecewise *me, const coll_i_offload_step *step)
{
    const uint64_t now = ++me->counters[step->done];
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++)
        for (uint32_t i = 0; i < me->t.needs.works; i++) {
            const coll_i_offload_step *next = &me->t.steps[i];
            if (next->trigger == step->done && next->kind == step->kind &&
                step->kind <= COLL_I_OFFLOAD_RECV && is_queued(next, epoch) &&
                threshold_of(me, next, epoch) == now)
                all.nested = true;
        }
}

/* Moves the message that a receive waits for. False: it is not here. */
static bool receive_it(piecewise *me, uint32_t rank, const coll_i_offload_step *step,
                       uint32_t epoch)
{
    for (uint32_t i = 0; i < all.messages; i++) {
        message *m = &all.on_the_way[i];
        if (m->to != rank || m->from != step->peer || m->number != step->number ||
            m->epoch != epoch)
            continue;
        CHECK_EQ(m->bytes, step->bytes);
        memcpy(me->space[step->local] + step->local_at, m->data, m->bytes);
        free(m->data);
        *m = all.on_the_way[--all.messages];
        return true;
    }
    return false;
}

static void send_it(const piecewise *me, uint32_t rank, const coll_i_offload_step *step,
                    uint32_t epoch)
{
    message *m = &all.on_the_way[all.messages++];
    if (all.messages == MESSAGES)
        abort();
    m->from = rank;
    m->to = step->peer;
    m->number = step->number;
    m->epoch = epoch;
    m->bytes = step->bytes;
    m->data = malloc(step->bytes + 1);
    memcpy(m->data, me->space[step->local] + step->local_at, step->bytes);
}

/* Completes a piece, which touches memory as late as it can. False: it waits for a message. */
static bool complete(uint32_t rank, uint32_t i, uint32_t epoch)
{
    piecewise *me = &all.ranks[rank];
    const coll_i_offload_step *step = &me->t.steps[i];
    unsigned char *local = me->space[step->local] + step->local_at,
                  *remote = me->space[step->remote] + step->remote_at;
    if (step->kind == COLL_I_OFFLOAD_RECV && !receive_it(me, rank, step, epoch))
        return false;
    if (step->kind == COLL_I_OFFLOAD_SEND)
        send_it(me, rank, step, epoch);
    else if (step->kind == COLL_I_OFFLOAD_READ)
        memcpy(local, remote, step->bytes);
    else if (step->kind == COLL_I_OFFLOAD_ATOMIC)
        all.op.combine(remote, remote, local, step->bytes / sizeof(double), NULL);
    me->states[epoch * me->t.needs.works + i] = OVER;
    count(me, step);
    return true;
}

/* Starts or completes one piece, any that may. False: nothing may. */
static bool step_one(uint32_t rank)
{
    piecewise *me = &all.ranks[rank];
    const uint32_t n = EPOCHS * me->t.needs.works, from = any(n);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t at = (from + k) % n, i = at % me->t.needs.works,
                       epoch = at / me->t.needs.works;
        const coll_i_offload_step *step = &me->t.steps[i];
        if (!is_queued(step, epoch) || me->states[at] == OVER)
            continue;
        if (me->states[at] == WAITS) {
            if (me->counters[step->trigger] < threshold_of(me, step, epoch))
                continue;
            me->states[at] = RUNS;
            return true;
        }
        if (complete(rank, i, epoch))
            return true;
    }
    return false;
}

/* Runs all epochs, each of which starts the next one. */
static void run(uint64_t seed)
{
    all.random = seed;
    for (uint32_t r = 0; r < all.p; r++) {
        fill(r);
        memset(all.ranks[r].counters, 0,
               all.ranks[r].t.needs.counters * sizeof *all.ranks[r].counters);
        memset(all.ranks[r].states, WAITS, (size_t)EPOCHS * all.ranks[r].t.needs.works);
        all.ranks[r].counters[all.ranks[r].t.start] = 1;
    }
    for (bool moved = true; moved;) {
        const uint32_t first = any(all.p);
        moved = false;
        for (uint32_t k = 0; k < all.p && !moved; k++)
            moved = step_one((first + k) % all.p);
    }
    CHECK_EQ(all.messages, 0);
    for (uint32_t r = 0; r < all.p; r++) {
        const piecewise *me = &all.ranks[r];
        CHECK_EQ(me->counters[me->t.end], 1);
        for (uint32_t c = 0; c < me->t.needs.counters; c++)
            CHECK(c == me->t.end || me->counters[c] == (uint64_t)EPOCHS * me->t.counts[c]);
        CHECK(memcmp(me->wanted, me->space[COLL_OUT], me->bytes[COLL_OUT]) == 0);
    }
}

/* ---- all of them ------------------------------------------------------------------------- */

static bool line(const coll_algorithm *algorithm, coll_collective collective, uint32_t p,
                 uint32_t receives)
{
    coll_problem problem;
    bool well = true;
    all.p = p;
    all.nic.p = p;
    all.nested = false;
    coll_problem_init(&problem, collective, p,
                      collective == COLL_BARRIER ? 0 : 24 * AT_ONCE + 2, sizeof(double));
    problem.flags = coll_is(COLL_REDUCING, collective) ? COLL_FLAG_COMMUTATIVE : 0;
    if (coll_plan_init(&all.plan, algorithm, &problem, NULL) != COLL_OK)
        return false;
    for (uint32_t r = 0; r < p; r++)
        well = well && lower(r, receives);
    for (uint32_t r = 0; r < p && well; r++)
        make_memory(r);
    well = well && CHECK(machines_run());
    for (uint64_t seed = 1; well && seed <= 3; seed++)
        run(seed * 77 + p);
    CHECK(!all.nested || !all.nic.relays);
    free_all();
    return well;
}

/* By a NIC that needs relays, and by one that does not. */
static void lines(bool relays, uint32_t receives)
{
    uint32_t ran = 0;
    all.nic.relays = relays;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
        for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
            for (uint32_t p = 1; p <= MOST; p += p < 5 ? 1 : 4)
                if (coll_is(coll_registry[i]->collectives, (coll_collective)c) &&
                    !coll_is(COLL_NEIGHBORLY | COLL_BIT(COLL_GATHERV) |
                                 COLL_BIT(COLL_SCATTERV) | COLL_BIT(COLL_ALLGATHERV) |
                                 COLL_BIT(COLL_REDUCE_SCATTER) | COLL_PAIRED,
                             (coll_collective)c) &&
                    line(coll_registry[i], (coll_collective)c, p, receives))
                    ran++;
    printf("    %u programs ran\n", (unsigned)ran);
    CHECK(ran > 300 / CHECK_SHARE);
}

TEST(with_relays)
{
    lines(true, UINT32_MAX);
    lines(true, 1);
}

TEST(without_relays)
{
    lines(false, UINT32_MAX);
}

int main(void)
{
    coll_i_offload_operator its;
    CHECK_STATUS(coll_op_builtin(&all.op, COLL_SUM, COLL_F64), COLL_OK);
    CHECK(coll_i_offload_operator_of(&all.op, &its) && its.op == FI_SUM &&
          its.type == FI_DOUBLE);
    all.nic.info = fi_allocinfo();
    all.nic.info->ep_attr->max_msg_size = SIZE_MAX;
    all.nic.info->domain_attr->cntr_cnt = all.nic.info->tx_attr->size =
        all.nic.info->rx_attr->size = UINT32_MAX;
    RUN(with_relays);
    RUN(without_relays);
    fi_freeinfo(all.nic.info);
    return check_done();
}
