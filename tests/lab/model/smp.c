/* tests/lab/model/smp.c — the cluster of Wu 2005 in the simulator: its network is that of its
 * table, its shared memory too, and copies hold messages up */
#include "../../../bench/reproduce/simulated.c"
#include "../../../bench/reproduce/smp.h"

#include "coll/lab/model/atcom.h"
#include "support/near.h"

/* The same without overheads. */
static coll_plogp_costs gaps;
static const smp_cluster idle = {&gaps, &smp_memory, true};

/* Between nodes alone, 8 MB in segments of 1 KB to 8 MB. The formula of the chain knows no
 * processors: those take segments in and send them on, which delays a segment by a few overheads, so
 * by 2 % at most; without overheads it is exact. */
TEST(between_nodes)
{
    const uint64_t bytes = 8 << 20;
    gaps = coll_plogp_ibm;
    for (uint32_t i = 0; i < gaps.n; i++)
        gaps.row[i].us[COLL_PLOGP_OS] = gaps.row[i].us[COLL_PLOGP_OR] = 0;
    for (uint64_t segment = 1 << 10; segment <= bytes; segment *= 2) {
        const double formula =
            coll_plogp_chain_us(&coll_plogp_ibm, SMP_NODES, (double)bytes, (double)segment);
        const uint32_t params[COLL_PARAM_MAX] = {1, (uint32_t)(segment / 8)};
        CHECK_NEAR(smp_inter_us(bytes, segment), formula, .022);
        CHECK_NEAR(smp_us(&idle, COLL_BCAST, SMP_NODES, 1, bytes, "chain", params), formula,
                   1e-6);
    }
}

TEST(within_a_node)
{
    for (uint64_t bytes = 1 << 12; bytes <= 8 << 20; bytes *= 2)
        CHECK_NEAR(smp_within_us(bytes),
                   coll_plogp_us(&coll_plogp_ibm, COLL_PLOGP_SMCC, (double)bytes), .06);
}

/* Short segments hide the copies, but for those of the last one: equation 4.4. Long ones wait for
 * them, for no longer than equation 4.6 says. */
TEST(copies_hold_long_messages_up)
{
    const uint64_t bytes = 8 << 20;
    for (uint64_t segment = 1 << 16; segment <= bytes; segment *= 2) {
        const coll_atcom_terms t = coll_atcom_chain(&coll_plogp_ibm, SMP_NODES, (double)bytes,
                                                    (double)segment, (double)segment);
        const double us = smp_mixed_us(bytes, segment, segment);
        if (segment <= SMP_EAGER)
            CHECK_NEAR(us, coll_atcom_complete_us(&t), .01);
        else
            CHECK(us > 1.1 * coll_atcom_complete_us(&t) && us < coll_atcom_penalty_us(&t));
    }
}

int main(void)
{
    RUN(between_nodes);
    RUN(within_a_node);
    RUN(copies_hold_long_messages_up);
    return check_done();
}
