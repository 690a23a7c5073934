/* tests/plan/placement.c — leaves, intermediate ranks and roots; and a collective on hosts and
 * NICs */
#include "coll/plan/placement.h"

#include "coll/algos/registry.h"
#include "support/walk.h"
#include "support/rig.h"

static const coll_collective collectives[] = {COLL_BARRIER, COLL_BCAST, COLL_REDUCE,
                                              COLL_ALLREDUCE};

static coll_plan tree(const char *name, coll_collective collective, uint32_t p, uint32_t root,
                      uint32_t flags, const uint32_t *params)
{
    return plan_with(coll_find(collective, name), collective, p,
                     collective == COLL_BARRIER ? 0 : 10, flags, root, params);
}

/* How many ranks of a plan are this. */
static uint32_t how_many(const coll_plan *plan, coll_placement what)
{
    uint32_t n = 0;
    for (uint32_t rank = 0; rank < plan->problem.p; rank++)
        n += coll_placement_of(plan, rank) == what ? 1 : 0;
    return n;
}

/* A leaf has a parent alone to talk to; the others are told by the definition of the tree: rank v,
 * counted from the root, has children unless it is a leaf. */
TEST(f_nomial_trees)
{
    static const uint32_t degrees[] = {2, 3, 4, 7, 100};
    for (uint32_t p = 1; p <= 64; p++)
        for (size_t d = 0; d < sizeof degrees / sizeof *degrees; d++)
            for (size_t c = 0; c < 4; c++)
                for (uint32_t segment = 0; segment <= 3; segment += 3) {
                    const bool rooted = coll_is(COLL_ROOTED, collectives[c]);
                    const uint32_t params[COLL_PARAM_MAX] = {degrees[d], segment};
                    const uint32_t root = rooted ? p / 3 : 0;
                    const coll_plan plan =
                        tree("fnomial", collectives[c], p, root, COLL_FLAG_COMMUTATIVE, params);
                    const coll_fast_divisor f = coll_fast_divisor_of(degrees[d]);
                    for (uint32_t v = 0; v < p; v++) {
                        const uint32_t children = coll_fnomial_of(p, &f, v).children;
                        CHECK_EQ(coll_placement_of(&plan, (v + root) % p),
                                 v == 0         ? COLL_ROOT
                                 : children > 0 ? COLL_INTERMEDIATE
                                                : COLL_LEAF);
                    }
                    if (p <= 3)
                        CHECK_EQ(how_many(&plan, COLL_INTERMEDIATE), 0);
                }
}

TEST(other_trees)
{
    for (uint32_t p = 2; p <= 64; p++)
        for (size_t c = 0; c < 4; c++) {
            const coll_collective collective = collectives[c];
            coll_plan plan = tree("linear", collective, p, 0, 0, NULL);
            CHECK_EQ(how_many(&plan, COLL_ROOT), 1);
            CHECK_EQ(how_many(&plan, COLL_LEAF), p - 1);
            if (collective == COLL_BARRIER)
                continue;
            for (uint32_t segment = 0; segment <= 2; segment++) {
                const uint32_t line[2] = {1, segment},
                               columns[2] = {p % 2 ? p : p / 2, segment};
                plan = tree("snake", collective, p, 0, COLL_FLAG_COMMUTATIVE, line);
                CHECK_EQ(how_many(&plan, COLL_LEAF), 1);
                CHECK_EQ(how_many(&plan, COLL_INTERMEDIATE), p - 2);
                plan = tree("fence", collective, p, 0, COLL_FLAG_COMMUTATIVE, columns);
                CHECK_EQ(how_many(&plan, COLL_LEAF), p % 2 ? 1 : p / 2);
                CHECK_EQ(how_many(&plan, COLL_ROOT), 1);
            }
        }
    /* operands in rank order climb to rank 0, which hands the result to the root */
    const coll_plan plan = tree("fnomial", COLL_REDUCE, 8, 5, 0, NULL);
    CHECK_EQ(coll_placement_of(&plan, 0), COLL_INTERMEDIATE);
    CHECK_EQ(coll_placement_of(&plan, 5), COLL_ROOT);
    CHECK_EQ(coll_placement_of(&plan, 7), COLL_LEAF);
}

/* ---- two processors a rank --------------------------------------------------------------- */

/* A transport like loopback that counts what it is asked to send. */
static unsigned long nic_sends, host_sends;

static coll_status nic_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                            size_t bytes, coll_handle *h)
{
    nic_sends++;
    return coll_loopback_transport.send(ctx, peer, tag, buf, bytes, h);
}

static coll_status host_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                             size_t bytes, coll_handle *h)
{
    host_sends++;
    return coll_loopback_transport.send(ctx, peer, tag, buf, bytes, h);
}

/* A reduction whose intermediate ranks run on NICs, the others on hosts. */
TEST(hosts_and_nics)
{
    coll_transport nic = coll_loopback_transport, host = coll_loopback_transport;
    nic.send = nic_send;
    host.send = host_send;
    for (uint32_t p = 1; p <= 32; p++) {
        unsigned long intermediate = 0;
        coll_problem problem;
        rig it;
        coll_problem_init(&problem, COLL_REDUCE, p, 3, sizeof(uint64_t));
        problem.root = p - 1;
        problem.flags = COLL_FLAG_COMMUTATIVE;
        CHECK_STATUS(rig_init(&it, coll_find(COLL_REDUCE, "fnomial"), &problem, NULL), COLL_OK);
        rig_fill(&it);
        nic_sends = host_sends = 0;
        for (uint32_t rank = 0; rank < p; rank++) {
            rig_rank *me = &it.ranks[rank];
            const bool on_nic = coll_placement_of(&me->plan, rank) == COLL_INTERMEDIATE;
            intermediate += on_nic;
            me->run.transport = on_nic ? &nic : &host;
            CHECK_STATUS(coll_engine_init(&me->engine, me->slots, 8), COLL_OK);
            CHECK_STATUS(coll_engine_start(&me->engine, &me->run), COLL_OK);
        }
        CHECK_STATUS(coll_loopback_run(&it.world, it.requests, p), COLL_OK);
        CHECK(rig_right(&it));
        CHECK_EQ(nic_sends, intermediate);
        CHECK_EQ(nic_sends + host_sends, p - 1);
        rig_free(&it);
    }
}

int main(void)
{
    RUN(f_nomial_trees);
    RUN(other_trees);
    RUN(hosts_and_nics);
    return check_done();
}
