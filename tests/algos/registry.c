/* tests/algos/registry.c — the table of algorithms: complete, and every name found */
#include <string.h>

#include "support/check.h"
#include "coll/algos/registry.h"
#include "support/same_record.h"

TEST(every_row_is_found_by_its_name)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++) {
        const coll_algorithm *row = coll_registry[i];
        CHECK(row->collectives != 0);
        CHECK((row->collectives >> COLL_COLLECTIVES) == 0);
        for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
            const coll_collective collective = (coll_collective)c;
            if (coll_is(row->collectives, collective))
                CHECK(coll_find(collective, row->name) == row); /* so names are unique */
        }
    }
}

TEST(other_names_are_not_found)
{
    CHECK(coll_find(COLL_ALLREDUCE, "rin") == NULL);
    CHECK(coll_find(COLL_ALLREDUCE, "rings") == NULL);
    CHECK(coll_find(COLL_ALLREDUCE, "") == NULL);
    CHECK(coll_find(COLL_ALLREDUCE, NULL) == NULL);
    CHECK(coll_find(COLL_ALLREDUCE, "Ring") == NULL);
    CHECK(coll_find(COLL_BCAST, "ring") == NULL);
    CHECK(same_record(coll_find(COLL_ALLREDUCE, "ring"), &coll_ring_allreduce));
}

TEST(other_names_lead_to_rows)
{
    uint32_t params[COLL_PARAM_MAX];
    for (size_t i = 0; i < COLL_ALIAS_COUNT; i++)
        for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
            const coll_alias *alias = &coll_aliases[i];
            const coll_collective collective = (coll_collective)c;
            const coll_algorithm *row = coll_find(collective, alias->algorithm);
            CHECK(coll_find(collective, alias->name) == NULL);
            if (!coll_is(alias->collectives, collective)) {
                CHECK(coll_find_alias(collective, alias->name) == NULL);
                CHECK(coll_resolve(collective, alias->name, params) == NULL);
                continue;
            }
            CHECK(coll_find_alias(collective, alias->name) == alias); /* so names are unique */
            CHECK(coll_resolve(collective, alias->name, params) == row);
            if (!CHECK(row != NULL) || row->n_params == 0)
                continue;
            CHECK_EQ(params[0], alias->first ? alias->first : row->params[0].default_value);
            CHECK(row->params[0].least <= params[0] && params[0] <= row->params[0].most);
            for (uint32_t k = 1; k < row->n_params; k++)
                CHECK_EQ(params[k], row->params[k].default_value);
        }
    CHECK(same_record(coll_resolve(COLL_BCAST, "pipeline", params), &coll_chain_bcast));
    CHECK_EQ(params[0], 1);
    CHECK(same_record(coll_resolve(COLL_BCAST, "binary", params), &coll_kary_bcast));
    CHECK_EQ(params[0], 2);
    CHECK(same_record(coll_resolve(COLL_GATHER, "flat", params), &coll_linear_gather));
    CHECK(same_record(coll_resolve(COLL_ALLREDUCE, "ring", params), &coll_ring_allreduce));
    CHECK(coll_resolve(COLL_BCAST, "Pipeline", params) == NULL);
    CHECK(coll_resolve(COLL_BCAST, NULL, params) == NULL);
    CHECK(coll_find_alias(COLL_BCAST, "chain") == NULL);
}

TEST(rows_are_complete)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++) {
        const coll_algorithm *row = coll_registry[i];
        CHECK(row->steps != NULL && row->step != NULL);
        CHECK(row->source != NULL && strlen(row->source) > 4);
        CHECK(row->window >= 1 && row->window <= COLL_WINDOW);
        CHECK(row->n_params <= COLL_PARAM_MAX);
        CHECK((row->params != NULL) == (row->n_params > 0));
        for (uint32_t k = 0; k < row->n_params; k++) {
            const coll_param *param = &row->params[k];
            CHECK(strlen(param->name) > 0 && strlen(param->meaning) > 0);
            CHECK(param->least <= param->default_value && param->default_value <= param->most);
            for (uint32_t n = 0; n < 4; n++)
                CHECK(param->least <= param->grid[n] && param->grid[n] <= param->most);
        }
    }
}

/* Whatever the request, some algorithm takes it. */
TEST(every_collective_is_solved)
{
    const uint32_t refuses = COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_POWER_OF_TWO |
                             COLL_NEEDS_OUT_OF_PLACE | COLL_NEEDS_COUNTS | COLL_NEEDS_SHARED |
                             COLL_NEEDS_MULTICAST | COLL_I_NEEDS_GROUP | COLL_NEEDS_BUILD;
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
        size_t takes_all = 0;
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
            if (coll_is(coll_registry[i]->collectives, (coll_collective)c) &&
                !(coll_registry[i]->traits & refuses) && !coll_registry[i]->check)
                takes_all++;
        CHECK(takes_all > 0);
    }
}

/* ---- extreme sizes ----------------------------------------------------------------------- */

/* Does [ref, ref + count) lie in memory of which a rank has so many elements? */
static bool lies_in(const size_t room[COLL_SPACES], coll_ref ref, size_t count)
{
    const size_t at = coll_ref_offset(ref), has = room[coll_ref_space(ref)];
    return at <= has && count <= has - at;
}

/* Is the action one of this rank, inside of its memory? */
static bool is_sane(const coll_action *a, uint32_t rank, uint32_t p,
                    const size_t room[COLL_SPACES])
{
    const bool data = !coll_i_is_token(a);
    size_t span = a->count, gaps;
    if (a->kind == COLL_DO_REDUCE) {
        if (a->inputs == 0 || !coll_multiply(a->inputs - (size_t)1, a->stride, &gaps) ||
            gaps > SIZE_MAX - span)
            return false;
        span += gaps;
    }
    return (!coll_i_has_peer(a) || (a->peer < p && a->peer != rank)) &&
           (!data || !coll_i_has(COLL_I_WRITES_DST, a) || lies_in(room, a->dst, a->count)) &&
           (!data || !coll_i_has(COLL_I_READS_SRC, a) || lies_in(room, a->src, a->count)) &&
           (!coll_i_has(COLL_I_KIND(RECV_REDUCE) | COLL_I_KIND(REDUCE), a) ||
            lies_in(room, a->via, span));
}

/* Are some steps of a rank, at the beginning, in the middle and at the end, inside of its memory? */
static bool steps_are_sane(const coll_plan *plan, uint32_t rank)
{
    const size_t steps = coll_plan_steps(plan, rank);
    const coll_extents extents = coll_plan_extents(plan, rank);
    const size_t room[COLL_SPACES] = {extents.in, extents.out, coll_plan_scratch(plan, rank),
                                      coll_plan_shared(plan)};
    for (unsigned i = 0; i < 16; i++) {
        const size_t s = i < 4    ? i
                         : i < 8  ? steps - (i - 3)
                         : i < 12 ? steps / 4 * (i - 8) + i
                                  : steps >> (i - 10);
        coll_action acts[COLL_STEP_MAX];
        const unsigned n = s < steps ? coll_plan_step(plan, rank, s, acts) : 0;
        for (unsigned k = 0; k < n; k++)
            if (acts[k].count > 0 && !is_sane(&acts[k], rank, plan->problem.p, room))
                return false;
    }
    return true;
}

/* Rows whose plans calls make by numbers alone. */
static bool is_plain(const coll_algorithm *row, coll_collective c)
{
    return coll_is(row->collectives, c) && !(row->traits & COLL_NEEDS_BUILD) &&
           !coll_is(COLL_NEIGHBORLY | COLL_PAIRED | COLL_BIT(COLL_GATHERV) |
                        COLL_BIT(COLL_SCATTERV) | COLL_BIT(COLL_ALLGATHERV) |
                        COLL_BIT(COLL_REDUCE_SCATTER),
                    c);
}

static void check_extremes(const coll_algorithm *row, coll_collective c, uint32_t p,
                           size_t count, const uint32_t *params)
{
    for (uint32_t flags = 0; flags < 4; flags++) {
        coll_problem problem;
        coll_plan plan;
        coll_problem_init(&problem, c, p, c == COLL_BARRIER ? 0 : count, 1);
        problem.root = p / 3;
        problem.flags = flags;
        if (coll_plan_init(&plan, row, &problem, params) != COLL_OK)
            continue;
        if (!CHECK(steps_are_sane(&plan, plan.problem.root) && steps_are_sane(&plan, 0) &&
                   steps_are_sane(&plan, p / 2) && steps_are_sane(&plan, p - 1)))
            printf("    %s %s, %u ranks, %zu elements, flags %u, parameters %u %u %u %u\n",
                   coll_collective_name(c), row->name, p, count, flags, plan.param[0],
                   plan.param[1], plan.param[2], plan.param[3]);
    }
}

/* A plan is refused, or its numbers do not wrap around. */
TEST(numbers_do_not_wrap)
{
    static const uint32_t ranks[] = {1,       2,        1000,           65537,
                                     1 << 20, 1u << 30, UINT32_MAX / 2, UINT32_MAX};
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
            for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++) {
                const coll_algorithm *row = coll_registry[i];
                const size_t blocks =
                    coll_is(COLL_EXCHANGING | COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER) |
                                COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_REDUCE_SCATTER_BLOCK),
                            (coll_collective)c)
                        ? ranks[k]
                        : 1;
                const size_t most = SIZE_MAX / 4 / blocks;
                if (!is_plain(row, (coll_collective)c) || SIZE_MAX / ranks[k] < 16)
                    continue; /* 32 bits: more ranks than elements */
                for (unsigned which = 0; which < 27; which++) { /* of each parameter a value */
                    uint32_t params[COLL_PARAM_MAX] = {0};
                    unsigned digits = which;
                    for (uint32_t n = 0; n < row->n_params; n++, digits /= 3)
                        params[n] = digits % 3 == 0   ? row->params[n].default_value
                                    : digits % 3 == 1 ? row->params[n].least
                                                      : row->params[n].most;
                    check_extremes(row, (coll_collective)c, ranks[k], 1, params);
                    check_extremes(row, (coll_collective)c, ranks[k], most, params);
                    check_extremes(row, (coll_collective)c, ranks[k], most / 8 + 1, params);
                    check_extremes(row, (coll_collective)c, ranks[k], most >> 16, params);
                    if (row->n_params == 0)
                        break;
                }
            }
}

int main(void)
{
    RUN(every_row_is_found_by_its_name);
    RUN(other_names_are_not_found);
    RUN(other_names_lead_to_rows);
    RUN(rows_are_complete);
    RUN(every_collective_is_solved);
    RUN(numbers_do_not_wrap);
    return check_done();
}
