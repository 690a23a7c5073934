/* tests/gates/machines/everywhere.c — every row of the registry on real data, on the machine that it was built for */
#include "support/check.h"

#include "coll/algos/registry.h"
#include "support/rig.h"

static unsigned long runs;

static void visit(rig *it, const char *what, void *arg)
{
    (void)arg;
    for (uint32_t seed = 0; seed < 2; seed++) {
        coll_status status;
        rig_fill(it);
        status = rig_loopback(it, &coll_loopback_transport, 32, seed);
        if (status != COLL_OK || !rig_right(it))
            printf("    %s by %s, %u ranks: %s\n", what, it->ranks[0].plan.algorithm->name,
                   it->p, coll_status_text(status));
        CHECK_STATUS(status, COLL_OK);
        CHECK(rig_right(it));
        runs++;
    }
}

TEST(every_row)
{
    static const uint32_t ranks[] = {1, 2, 3, 5, 8};
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++)
            CHECK(rig_each(coll_registry[i], ranks[k], 5, visit, NULL));
    CHECK(runs > 5000);
}

/* The first byte of a number, so that the gate knows that it ran on the machine that it wanted. */
TEST(machine)
{
    const uint16_t one = 1;
    printf("%zu bits, %s byte first\n", 8 * sizeof(void *),
           *(const unsigned char *)&one == 1 ? "low" : "high");
    CHECK(one == 1);
}

int main(void)
{
    RUN(machine);
    RUN(every_row);
    return check_done();
}
