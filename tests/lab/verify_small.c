/* What ships on bare metal is proven: algorithms of the log-step and ring families in the code of fewest bytes, without
 * division. Argument: the most ranks (12). */
#undef COLL_EXTERN /* it has bodies of its own */
#define COLL_SMALL         1
#define COLL_DIVIDES       0
#define COLL_FAST_DIVISION 0
#include "coll/algos/bine.h"
#include "coll/algos/bine_butterfly.h"
#include "coll/algos/bruck.h"
#include "coll/algos/bruck_alltoall.h"
#include "coll/algos/butterfly.h"
#include "coll/algos/chain.h"
#include "coll/algos/circulant.h"
#include "coll/algos/circulant_bcast.h"
#include "coll/algos/dissemination.h"
#include "coll/algos/double_tree.h"
#include "coll/algos/fnomial.h"
#include "coll/algos/fnomial_gather.h"
#include "coll/algos/kary.h"
#include "coll/algos/mesh_tree.h"
#include "coll/algos/rabenseifner.h"
#include "coll/algos/rabenseifner_reduce.h"
#include "coll/algos/recursive_doubling_exscan.h"
#include "coll/algos/recursive_halving.h"
#include "coll/algos/recursive_multiplying.h"
#include "coll/algos/recursive_multiplying_allgather.h"
#include "coll/algos/recursive_multiplying_barrier.h"
#include "coll/algos/recursive_multiplying_scan.h"
#include "coll/algos/ring.h"
#include "coll/algos/swing.h"
#include "coll/lab/verify_grid.h"
#include "support/check.h"

static const coll_algorithm *const families[] = {
    &coll_fnomial_barrier,
    &coll_fnomial_bcast,
    &coll_fnomial_reduce,
    &coll_fnomial_allreduce,
    &coll_fnomial_gather,
    &coll_kary_barrier,
    &coll_kary_bcast,
    &coll_kary_reduce,
    &coll_kary_allreduce,
    &coll_bine_bcast,
    &coll_bine_reduce,
    &coll_bine_tree_allreduce,
    &coll_bine_allreduce,
    &coll_bine_reduce_scatter,
    &coll_chain_bcast,
    &coll_chain_reduce,
    &coll_chain_allreduce,
    &coll_mesh_tree_bcast,
    &coll_mesh_tree_reduce,
    &coll_mesh_tree_allreduce,
    &coll_double_tree_allreduce,
    &coll_dissemination_barrier,
    &coll_recursive_multiplying_barrier,
    &coll_recursive_multiplying_allreduce,
    &coll_recursive_doubling_allreduce,
    &coll_recursive_multiplying_allgather,
    &coll_recursive_multiplying_scan,
    &coll_recursive_doubling_exscan,
    &coll_recursive_halving_reduce_scatter,
    &coll_butterfly_reduce_scatter,
    &coll_rabenseifner_allreduce,
    &coll_rabenseifner_reduce,
    &coll_swing_allreduce,
    &coll_bruck_allgather,
    &coll_bruck_alltoall,
    &coll_circulant_allgather,
    &coll_circulant_bcast,
    &coll_ring_allgather,
    &coll_ring_reduce_scatter,
    &coll_ring_allreduce,
};

static uint32_t most = 12;

TEST(families_are_right)
{
    coll_grid_options options;
    coll_grid_result result;
    coll_grid_options_init(&options, families, sizeof families / sizeof families[0]);
    options.p_most = most;
    options.workers = 2;
    if (!coll_verify_grid(&options, &result))
        printf("%s\n%s\n", result.failure.report.sentence, result.failure.reproduction);
    CHECK(result.ok);
    printf("%llu plans of %zu rows\n", (unsigned long long)result.plans, result.rows);
    CHECK(result.rows >= sizeof families / sizeof families[0]);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        most = (uint32_t)strtoul(argv[1], NULL, 10);
    RUN(families_are_right);
    return check_done();
}
