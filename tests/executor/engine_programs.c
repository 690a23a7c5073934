/* The executor on random programs: actions of all kinds on overlapping refs, run by windows of
 * every size and in many orders, give what one processor would compute doing them one after the
 * other.
 *
 * A program is made as one sequence of events: a message from one rank to another, or a copy or
 * reduction on one. The rank that sends has its half at that place, and so has the receiver;
 * hence every window from 1 on must end, even with sends that wait for their receiver.
 */
#include "support/check.h"
#include "support/flaky.h"

enum { RANKS = 5, ELEMENTS = 12, STEPS = 64, EVENTS = 60 };

/* The actions of each rank, one a step, and the memory that the serial run leaves. */
typedef struct program {
    coll_action acts[RANKS][STEPS];
    size_t steps[RANKS];
    uint64_t memory[RANKS][3][ELEMENTS]; /* IN, OUT, SCRATCH */
    bool known[RANKS][3][ELEMENTS];      /* false: whatever a message was staged in */
} program;

static program made; /* of the moment: step functions have no other way to it */

static size_t program_steps(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    return made.steps[rank];
}

static unsigned program_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    (void)plan;
    *out = made.acts[rank][s];
    return 1;
}

static size_t program_scratch(const coll_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return ELEMENTS;
}

COLL_STATIC_ALGORITHM(algorithm, "program", "", COLL_BIT(COLL_ALLREDUCE), /* traits */ 0,
                      /* window */ 1, /* sends */ 1, COLL_NO_PARAMS, program_steps,
                      program_step, program_scratch);

/* ---- making ------------------------------------------------------------------------------ */

static uint64_t *at(uint32_t rank, coll_ref ref)
{
    return &made.memory[rank][coll_ref_space(ref)][coll_ref_offset(ref)];
}

/* Are all elements of the range known? Makes them so, or unknown, with `set` 1 or 0. */
static bool known(uint32_t rank, coll_ref ref, size_t count, int set)
{
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        bool *one = &made.known[rank][coll_ref_space(ref)][coll_ref_offset(ref) + i];
        all = all && *one;
        if (set >= 0)
            *one = set != 0;
    }
    return all;
}

/* A place for count elements; not in IN if it is to be written. */
static coll_ref place(bool writes, size_t count)
{
    const uint32_t space = writes ? 1 + chance(2) : chance(3);
    return COLL_AT(space, chance((uint32_t)(ELEMENTS - count + 1)));
}

static bool apart(coll_ref a, size_t a_count, coll_ref b, size_t b_count)
{
    return !coll_i_overlap(a, a_count, b, b_count);
}

static bool same_or_apart(coll_ref a, coll_ref b, size_t count)
{
    return a == b || apart(a, count, b, count);
}

static void append(uint32_t rank, const coll_action *a)
{
    made.acts[rank][made.steps[rank]++] = *a;
}

static void combine(uint64_t *dst, const uint64_t *a, const uint64_t *b, size_t count)
{
    uint64_t result[ELEMENTS];
    rig_compose(result, a, b, count, NULL);
    memcpy(dst, result, count * sizeof *dst);
}

/* A message, or a token, between two ranks. */
static void add_message(uint32_t from, uint32_t to)
{
    const size_t count = chance(5);
    const coll_ref src = place(false, count), dst = place(true, count);
    const coll_ref operand = chance(2) ? dst : place(false, count), via = place(true, count);
    const bool left = chance(2) != 0;
    uint64_t message[ELEMENTS];
    coll_action send, receive;
    if (chance(8) == 0) {
        coll_act_notify(&send, to, src, count + 1);
        coll_act_await(&receive, from, dst, count + 1);
        if (coll_ref_offset(src) + count + 1 <= ELEMENTS &&
            coll_ref_offset(dst) + count + 1 <= ELEMENTS) {
            append(from, &send);
            append(to, &receive);
        }
        return;
    }
    if (!known(from, src, count, -1))
        return;
    coll_act_send(&send, to, src, count);
    memcpy(message, at(from, src), count * sizeof *message);
    if (chance(2)) {
        coll_act_recv(&receive, from, dst, count);
        memcpy(at(to, dst), message, count * sizeof *message);
    } else {
        const bool fits = known(to, operand, count, -1) && same_or_apart(dst, operand, count) &&
                          same_or_apart(dst, via, count) && apart(operand, count, via, count);
        if (!fits && count > 0)
            return;
        coll_act_recv_reduce(&receive, from, dst, operand, via, count);
        receive.flags = left ? COLL_LEFT : 0;
        (void)known(to, via, count, 0);
        combine(at(to, dst), left ? message : at(to, operand), left ? at(to, operand) : message,
                count);
    }
    (void)known(to, dst, count, 1);
    append(from, &send);
    append(to, &receive);
}

/* A copy, or a reduction of up to three operands. */
static void add_local(uint32_t rank)
{
    const size_t count = chance(5), inputs = 1 + chance(3), stride = count + chance(2);
    const size_t span = (inputs - 1) * stride + count;
    const coll_ref dst = place(true, count), src = chance(2) ? dst : place(false, count);
    coll_action a;
    if (!known(rank, src, count, -1) || !same_or_apart(dst, src, count))
        return;
    if (chance(2)) {
        coll_act_copy(&a, dst, src, count);
        memmove(at(rank, dst), at(rank, src), count * sizeof(uint64_t));
    } else {
        coll_ref via;
        if (span > ELEMENTS || count == 0)
            return;
        via = place(false, span);
        if (!known(rank, via, span, -1) ||
            !(apart(dst, count, via, span) || (dst == via && inputs == 1)))
            return;
        coll_act_reduce(&a, dst, src, via, count);
        a.inputs = (uint16_t)inputs;
        a.stride = stride;
        combine(at(rank, dst), at(rank, src), at(rank, via), count);
        for (size_t i = 1; i < inputs; i++)
            combine(at(rank, dst), at(rank, dst), at(rank, via + i * stride), count);
    }
    (void)known(rank, dst, count, 1);
    append(rank, &a);
}

static void make_program(uint32_t seed, uint32_t p)
{
    memset(&made, 0, sizeof made);
    random_state = (uint64_t)seed << 32 | p;
    for (uint32_t r = 0; r < p; r++)
        for (uint32_t space = 0; space < 3; space++)
            for (size_t k = 0; k < ELEMENTS; k++) {
                made.memory[r][space][k] = rig_value(r, space, k);
                made.known[r][space][k] = true;
            }
    for (uint32_t i = 0; i < EVENTS; i++) {
        const uint32_t from = chance(p), to = chance(p);
        if (from == to)
            add_local(from);
        else
            add_message(from, to);
    }
}

/* ---- running ----------------------------------------------------------------------------- */

static void fill(rig *it)
{
    rig_fill(it);
    for (uint32_t r = 0; r < it->p; r++) {
        rig_area *areas[3] = {&it->ranks[r].in, &it->ranks[r].out, &it->ranks[r].scratch};
        for (uint32_t space = 0; space < 3; space++)
            for (size_t k = 0; k < ELEMENTS; k++)
                areas[space]->raw[RIG_GUARD + k] = areas[space]->before[RIG_GUARD + k] =
                    rig_value(r, space, k);
    }
}

static bool agrees(const rig *it)
{
    for (uint32_t r = 0; r < it->p; r++) {
        const rig_area *areas[3] = {&it->ranks[r].in, &it->ranks[r].out, &it->ranks[r].scratch};
        for (uint32_t space = 0; space < 3; space++)
            for (size_t k = 0; k < ELEMENTS; k++)
                if (made.known[r][space][k] &&
                    areas[space]->raw[RIG_GUARD + k] != made.memory[r][space][k])
                    return false;
    }
    return rig_unharmed(it);
}

static void check_run(rig *it, const coll_transport *transport, uint32_t window, uint32_t seed)
{
    coll_status status;
    fill(it);
    status = rig_loopback(it, transport, window, seed);
    if (!CHECK(status == COLL_OK && agrees(it)))
        printf("    program %u of %u ranks, window %u: %s\n", seed, it->p, window,
               coll_status_text(status));
}

/* How many messages, or pieces of `most` bytes, the ranks send and receive; 0: none is cut. */
static unsigned long messages(uint32_t p, size_t most)
{
    unsigned long n = 0;
    for (uint32_t r = 0; r < p; r++)
        for (size_t s = 0; s < made.steps[r]; s++) {
            const coll_action *a = &made.acts[r][s];
            const bool token = coll_i_has(COLL_I_TOKENS, a);
            const size_t bytes = a->count * sizeof(uint64_t);
            if (a->count > 0 && coll_i_has(COLL_I_SENDS | COLL_I_RECEIVES, a))
                n += most == 0 || token ? 1 : (bytes + most - 1) / most;
        }
    return n;
}

TEST(random_programs)
{
    static const uint32_t windows[] = {1, 2, 3, 5, 16, 32};
    unsigned long copies = 0, borrows = 0, kept = 0, whole = 0, arrivals = 0;
    for (uint32_t seed = 1; seed <= 400; seed++) {
        const uint32_t p = 2 + seed % (RANKS - 1), cut = seed / 4 % 4;
        static flaky bad;
        coll_problem problem;
        rig it;
        coll_problem_init(&problem, COLL_ALLREDUCE, p, ELEMENTS, sizeof(uint64_t));
        make_program(seed, p);
        CHECK_STATUS(rig_init(&it, &algorithm, &problem, NULL), COLL_OK);
        for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++)
            check_run(&it, &coll_loopback_transport, windows[i], seed);
        flaky_init(&bad, &it, seed);
        for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
            flaky_again(&bad, &it, seed);
            bad.slowest = seed % 9;
            bad.hesitates = seed % 2 ? 0 : seed % 128;
            bad.refuses = seed % 3 ? 0 : 128;
            bad.keeps = seed % 7 ? 0 : seed % 256;
            bad.transport.max_bytes = cut > 1 ? 0 : 1 + seed % 29;
            bad.own.zero_copy.max_bytes = seed % 11 ? 0 : 1 + seed % 31;
            bad.transport.unsegmented =
                cut > 0 ? COLL_BIT(COLL_ALLREDUCE) : ~COLL_BIT(COLL_ALLREDUCE);
            bad.own.zero_copy.acquire = seed % 5 ? flaky_borrow : NULL;
            bad.own.zero_copy.release = seed % 5 ? flaky_give_back : NULL;
            bad.own.arrival.recv_reduce = seed % 6 == 1 ? flaky_recv_reduce : NULL;
            records_use(&bad.own, &bad.transport);
            bad.transport.reduce = seed % 5 ? NULL : flaky_reduce; /* or nothing is acquired */
            check_run(&it, &bad.transport, windows[i], seed);
            CHECK_EQ(bad.violations, 0);
            CHECK_EQ(bad.live, 0);
            CHECK_EQ(bad.messages, messages(p, flaky_most(&bad)));
            whole += bad.transport.max_bytes != 0 && flaky_most(&bad) == 0 ? bad.borrows : 0;
            copies += bad.copies;
            borrows += bad.borrows;
            kept += bad.kept;
            arrivals += bad.arrivals;
        }
        flaky_free(&bad, &it);
        rig_free(&it);
    }
    CHECK(copies > 1000 && borrows > 1000 && kept > 100 && whole > 100 && arrivals > 1000);
}

int main(void)
{
    RUN(random_programs);
    return check_done();
}
