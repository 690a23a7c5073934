/* tests/registry.c — the table of algorithms: complete, and every name found */
#include <string.h>

#include "check.h"
#include "coll/registry.h"
#include "same_record.h"

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
            CHECK_EQ(params[0], alias->first ? alias->first : row->params[0].usual);
            CHECK(row->params[0].least <= params[0] && params[0] <= row->params[0].most);
            for (uint32_t k = 1; k < row->n_params; k++)
                CHECK_EQ(params[k], row->params[k].usual);
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
            CHECK(param->least <= param->usual && param->usual <= param->most);
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
                             COLL_NEEDS_MULTICAST | COLL_NEEDS_FABRIC_REDUCE | COLL_NEEDS_BUILD;
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
        size_t takes_all = 0;
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
            if (coll_is(coll_registry[i]->collectives, (coll_collective)c) &&
                !(coll_registry[i]->traits & refuses) && !coll_registry[i]->check)
                takes_all++;
        CHECK(takes_all > 0);
    }
}

int main(void)
{
    RUN(every_row_is_found_by_its_name);
    RUN(other_names_are_not_found);
    RUN(other_names_lead_to_rows);
    RUN(rows_are_complete);
    RUN(every_collective_is_solved);
    return check_done();
}
