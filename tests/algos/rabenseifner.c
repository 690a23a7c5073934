/* tests/algos/rabenseifner.c — the laws of coll/algos/rabenseifner.h and rabenseifner_reduce.h */
#include "coll/algos/rabenseifner.h"
#include "coll/algos/rabenseifner_reduce.h"

#include "support/core.h"

static coll_plan rabenseifner(coll_collective collective, uint32_t p, uint32_t k, size_t count,
                              uint32_t flags, uint32_t root)
{
    return plan_with(collective == COLL_REDUCE ? &coll_rabenseifner_reduce
                                               : &coll_rabenseifner_allreduce,
                     collective, p, count, flags, root, &k);
}

/* Where piece i of a vector begins. */
static size_t piece_at(const core *of, size_t count, uint32_t i)
{
    return count / of->size * i + (i < count % of->size ? i : count % of->size);
}

/* Elements of an interval of pieces. */
static size_t elements_of(const core *of, size_t count, coll_mirrors m)
{
    return piece_at(of, count, m.first + m.span) - piece_at(of, count, m.first);
}

/* A rank by its role in a reduce: the root is never idle. */
static uint32_t role_of(const core *of, uint32_t rank, uint32_t root)
{
    return core_idle(of, root) && rank / 2 == root / 2 ? rank ^ 1 : rank;
}

/* Law 1: also of counts below the number of pieces. */
TEST(pieces_tile_the_vector)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++)
            for (size_t count = 0; count <= 2 * p + 1; count += 1 + p / 3) {
                const core of = core_of(p, core_radices[i]);
                const coll_plan plan = rabenseifner(COLL_ALLREDUCE, p, of.k, count, 0, 0);
                size_t pieces = 0, times[130] = {0};
                for (uint32_t number = 0; number < of.size && of.rounds > 0; number++) {
                    const coll_i_halving h =
                        coll_i_butterfly_round(&plan, COLL_I_DIGITS, number, of.rounds - 1);
                    const coll_block piece = coll_i_halving_part(&plan, &h, h.x.digit);
                    const coll_mirrors m = core_mirrors(&of, number, of.rounds);
                    CHECK_EQ(piece.offset, piece_at(&of, count, m.first));
                    CHECK_EQ(piece.count, elements_of(&of, count, m));
                    CHECK(piece.count <= count / of.size + 1);
                    pieces += piece.count;
                    for (size_t k = 0; k < piece.count; k++)
                        CHECK_EQ(times[piece.offset + k]++, 0);
                }
                CHECK_EQ(pieces, of.rounds > 0 ? count : 0);
            }
}

/* Law 2: step s of halving is a turn of a round; the same turn of gathering, which is elsewhere
 * in the list, has the messages the other way round. */
TEST(parts_come_back)
{
    for (uint32_t p = 2; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++) {
            const core of = core_of(p, core_radices[i]);
            const size_t count = 3 * (size_t)p + 1, halves = core_steps(&of, true);
            const coll_plan plan =
                rabenseifner(COLL_ALLREDUCE, p, of.k, count, COLL_FLAG_IN_PLACE, 0);
            core_check_partners(&plan, &of, halves + of.messages);
            for (uint32_t rank = 0; rank < p; rank++) {
                size_t step = 0, back = halves + of.messages;
                for (uint32_t t = 0; t < of.rounds && !core_idle(&of, rank); t++) {
                    uint64_t given[64][3], kept[2] = {0, 0};
                    memset(given, 0, sizeof given);
                    back -= of.radix[t] - 1;
                    for (uint32_t turn = 0; turn + 1 < of.radix[t]; turn++, step++) {
                        coll_action acts[COLL_STEP_MAX];
                        const unsigned n = core_step(&plan, &of, rank, step, acts);
                        const coll_action *send = core_message(acts, n, true);
                        given[send->peer][0]++;
                        given[send->peer][1] = send->src;
                        given[send->peer][2] = send->count;
                        kept[1] = core_message(acts, n, false)->count;
                    }
                    step += of.radix[t] > 2 ? 1 : 0;
                    for (uint32_t turn = 0; turn + 1 < of.radix[t]; turn++) {
                        coll_action acts[COLL_STEP_MAX];
                        const unsigned n = core_step(&plan, &of, rank, back + turn, acts);
                        const coll_action *send = core_message(acts, n, true);
                        const coll_action *recv = core_message(acts, n, false);
                        CHECK_EQ(given[recv->peer][0]--, 1);
                        CHECK_EQ(given[recv->peer][1], recv->dst);
                        CHECK_EQ(given[recv->peer][2], recv->count);
                        CHECK(turn == 0 || kept[0] == send->src);
                        CHECK_EQ(send->count, kept[1]);
                        kept[0] = send->src;
                    }
                }
            }
        }
}

/* Law 1 of rabenseifner_reduce.h, for all roots. */
TEST(parts_climb_to_the_root)
{
    for (uint32_t p = 2; p <= 33; p++)
        for (size_t i = 0; i < CORE_RADICES; i++)
            for (uint32_t root = 0; root < p; root++) {
                const core of = core_of(p, core_radices[i]);
                const coll_plan plan =
                    rabenseifner(COLL_REDUCE, p, of.k, 3 * (size_t)p, 0, root);
                const size_t halves = core_steps(&of, true);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const uint32_t role = role_of(&of, rank, root);
                    const walk *w = walk_of(&plan, rank);
                    size_t sends = 0;
                    for (size_t k = 0; k < w->n; k++)
                        if (is_send(&w->act[k]) &&
                            (core_idle(&of, role) ||
                             w->step[k] >= halves + (core_folded(&of, role) ? 1 : 0))) {
                            sends++;
                            CHECK_EQ(k + 1, w->n);
                        }
                    CHECK_EQ(sends, rank == root ? 0 : 1);
                }
            }
}

TEST(costs_of_allreduce)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++)
            for (uint32_t flags = 0; flags <= COLL_FLAG_IN_PLACE; flags += COLL_FLAG_IN_PLACE) {
                const core of = core_of(p, core_radices[i]);
                const size_t count = 3 * (size_t)p + 1;
                const uint32_t folds = of.extra > 0 ? 2 : 0;
                const coll_plan plan = rabenseifner(COLL_ALLREDUCE, p, of.k, count, flags, 0);
                size_t all = 0;
                const coll_report cost = cost_of(&plan);
                CHECK_EQ(cost.rounds, 2 * of.messages + folds);
                for (uint32_t rank = 0; rank < p; rank++) {
                    const uint32_t number = core_number(&of, rank);
                    const bool idle = core_idle(&of, rank), folded = core_folded(&of, rank);
                    const size_t piece =
                        elements_of(&of, count, core_mirrors(&of, number, of.rounds));
                    size_t gathered = 0, slots = folded && flags ? count : 0;
                    for (uint32_t t = 0; t < of.rounds && !idle; t++) {
                        const coll_mirrors m = core_mirrors(&of, number, t + 1);
                        const size_t part = (of.radix[t] - 1) * elements_of(&of, count, m);
                        gathered += part;
                        if (part > slots && (of.radix[t] > 2 || t > 0 || folded || flags))
                            slots = part;
                    }
                    CHECK_EQ(cost.ranks[rank].messages,
                             idle ? 1 : 2 * of.messages + (folded ? 1 : 0));
                    CHECK_EQ(cost.ranks[rank].elements,
                             idle ? count : count - piece + gathered + (folded ? count : 0));
                    CHECK_EQ(coll_plan_scratch(&plan, rank), idle ? 0 : slots);
                    all += gathered;
                }
                CHECK_EQ(all, count * (of.size - 1)); /* what everyone receives */
            }
}

TEST(costs_of_reduce)
{
    for (uint32_t p = 1; p <= CHECK_RANKS; p++)
        for (size_t i = 0; i < CORE_RADICES; i++) {
            bool reached = false;
            for (uint32_t root = 0; root < p; root += 1 + p / 12) {
                const core of = core_of(p, core_radices[i]);
                const size_t count = 3 * (size_t)p + 1;
                const uint32_t folds = of.extra > 0 ? 1 : 0;
                const coll_plan plan = rabenseifner(COLL_REDUCE, p, of.k, count,
                                                    root % 2 ? COLL_FLAG_IN_PLACE : 0, root);
                const coll_report cost = cost_of(&plan);
                const uint32_t top = core_number(&of, role_of(&of, root, root));
                CHECK(cost.rounds <= of.messages + of.rounds + folds);
                reached = reached || cost.rounds == of.messages + of.rounds + folds;
                for (uint32_t rank = 0; rank < p; rank++) {
                    const uint32_t role = role_of(&of, rank, root);
                    const uint32_t number = core_number(&of, role);
                    const bool idle = core_idle(&of, role), folded = core_folded(&of, role);
                    const coll_mirrors end = core_mirrors(&of, number, of.rounds);
                    size_t sends = count - elements_of(&of, count, end), kept = count;
                    size_t slots = folded && rank == root && root % 2 ? count : 0;
                    for (uint32_t t = 0; t < of.rounds; t++) {
                        const coll_mirrors m = core_mirrors(&of, number, t + 1);
                        const size_t part = elements_of(&of, count, m);
                        const size_t more = (of.radix[t] - 1) * part;
                        if (more > slots &&
                            (of.radix[t] > 2 || t > 0 || folded || (rank == root && root % 2)))
                            slots = more;
                        kept = t == 0 && !folded ? part : kept;
                    }
                    for (uint32_t t = of.rounds; t-- > 0;)
                        if (core_digit(&of, number, t) != core_digit(&of, top, t)) {
                            sends += elements_of(&of, count, core_mirrors(&of, number, t + 1));
                            break;
                        }
                    CHECK_EQ(cost.ranks[rank].messages,
                             idle ? 1 : of.messages + (rank == root ? 0 : 1));
                    CHECK_EQ(cost.ranks[rank].elements, idle ? count : sends);
                    CHECK_EQ(coll_plan_scratch(&plan, rank), idle           ? 0
                                                             : rank == root ? slots
                                                                            : kept + slots);
                }
            }
            CHECK(reached);
        }
}

int main(void)
{
    RUN(pieces_tile_the_vector);
    RUN(parts_come_back);
    RUN(parts_climb_to_the_root);
    RUN(costs_of_allreduce);
    RUN(costs_of_reduce);
    return check_done();
}
