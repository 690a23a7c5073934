/* Plans with neither tables nor graphs (COLL_IRREGULAR=0, the default on bare metal): what they are for is as it was,
 * and the rest is refused. */
#undef COLL_EXTERN /* it has bodies of its own */
#define COLL_IRREGULAR 0
#include "coll/algos/fnomial.h"
#include "coll/algos/fnomial_gather.h"
#include "coll/algos/linear_gather.h"
#include "coll/algos/linear_neighbor.h"
#include "coll/algos/pairwise.h"
#include "coll/algos/ring.h"
#include "coll/executor/in_order.h"
#include "support/check.h"

enum { P = 5, COUNT = 3 };

static coll_plan plan;
static coll_problem problem;

static coll_status plan_for(const coll_algorithm *algorithm, coll_collective collective)
{
    problem.collective = collective;
    return coll_plan_init(&plan, algorithm, &problem, NULL);
}

static void begin(void)
{
    coll_problem_init(&problem, COLL_BCAST, P, COUNT, sizeof(int));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    problem.root = 2;
}

static void check_extents(uint32_t rank, size_t in, size_t out)
{
    const coll_extents extents = coll_plan_extents(&plan, rank);
    CHECK(extents.fits);
    CHECK_EQ(extents.in, in);
    CHECK_EQ(extents.out, out);
}

TEST(extents)
{
    CHECK_EQ(sizeof coll_i_holds, COLL_COLLECTIVES);
    begin();
    CHECK_STATUS(plan_for(&coll_fnomial_barrier, COLL_BARRIER), COLL_OK);
    check_extents(2, 0, 0);
    CHECK_STATUS(plan_for(&coll_fnomial_bcast, COLL_BCAST), COLL_OK);
    check_extents(2, COUNT, COUNT);
    check_extents(0, 0, COUNT);
    CHECK_STATUS(plan_for(&coll_fnomial_reduce, COLL_REDUCE), COLL_OK);
    check_extents(2, COUNT, COUNT);
    check_extents(0, COUNT, 0);
    CHECK_STATUS(plan_for(&coll_fnomial_gather, COLL_GATHER), COLL_OK);
    check_extents(2, COUNT, P * COUNT);
    check_extents(0, COUNT, 0);
    CHECK_STATUS(plan_for(&coll_linear_scatter, COLL_SCATTER), COLL_OK);
    check_extents(2, P * COUNT, COUNT);
    check_extents(0, 0, COUNT);
    CHECK_STATUS(plan_for(&coll_ring_allgather, COLL_ALLGATHER), COLL_OK);
    check_extents(1, COUNT, P * COUNT);
    CHECK_STATUS(plan_for(&coll_pairwise_alltoall, COLL_ALLTOALL), COLL_OK);
    check_extents(1, P * COUNT, P * COUNT);
    CHECK_STATUS(plan_for(&coll_ring_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK), COLL_OK);
    check_extents(1, P * COUNT, COUNT);
    problem.flags |= COLL_FLAG_IN_PLACE;
    CHECK_STATUS(plan_for(&coll_ring_reduce_scatter, COLL_REDUCE_SCATTER_BLOCK), COLL_OK);
    check_extents(1, 0, P * COUNT);
    CHECK_STATUS(plan_for(&coll_linear_scatter, COLL_SCATTER), COLL_OK);
    check_extents(2, P * COUNT, 0);
    CHECK_STATUS(plan_for(&coll_fnomial_gather, COLL_GATHER), COLL_OK);
    check_extents(2, 0, P * COUNT);
    check_extents(0, COUNT, 0);
}

TEST(refused)
{
    static const size_t table[P] = {1, 2, 3, 4, 5};
    static coll_graph graph;
    begin();
    CHECK_STATUS(plan_for(&coll_ring_allgather, COLL_ALLGATHERV), COLL_ERR_COUNTS);
    CHECK_STATUS(plan_for(&coll_ring_reduce_scatter, COLL_REDUCE_SCATTER), COLL_ERR_COUNTS);
    CHECK_STATUS(plan_for(&coll_linear_scatter, COLL_SCATTERV), COLL_ERR_COUNTS);
    CHECK_STATUS(plan_for(&coll_linear_neighbor, COLL_NEIGHBOR_ALLTOALL), COLL_ERR_GRAPH);
    problem.out.counts = problem.out.displs = table;
    CHECK_STATUS(plan_for(&coll_ring_allgather, COLL_ALLGATHER), COLL_ERR_COUNTS);
    CHECK_STATUS(plan_for(&coll_ring_allgather, COLL_ALLGATHERV), COLL_ERR_COUNTS);
    begin();
    problem.in.counts = problem.in.displs = table;
    CHECK_STATUS(plan_for(&coll_pairwise_alltoall, COLL_ALLTOALLV), COLL_ERR_COUNTS);
    begin();
    problem.graph = &graph;
    CHECK_STATUS(plan_for(&coll_fnomial_bcast, COLL_BCAST), COLL_ERR_GRAPH);
}

/* No rank has more than what coll_plan_init has looked at. */
TEST(overflow)
{
    begin();
    problem.count = SIZE_MAX / 8;
    CHECK_STATUS(plan_for(&coll_fnomial_bcast, COLL_BCAST), COLL_ERR_OVERFLOW);
    CHECK_STATUS(plan_for(&coll_fnomial_barrier, COLL_BARRIER), COLL_OK);
    problem.count = SIZE_MAX / 32;
    CHECK_STATUS(plan_for(&coll_fnomial_gather, COLL_GATHER), COLL_ERR_OVERFLOW);
    CHECK_STATUS(plan_for(&coll_ring_allgather, COLL_ALLGATHER), COLL_ERR_OVERFLOW);
}

int main(void)
{
    RUN(extents);
    RUN(refused);
    RUN(overflow);
    return check_done();
}
