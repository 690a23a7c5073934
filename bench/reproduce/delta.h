/* bench/reproduce/delta.h — Littlefield 1992 in the simulator: vector combining on a mesh of nodes
 * whose links share what a node can move
 *
 * A window of sixteen actions has room for all that a pipeline does in a step; the tree has one
 * message at a time.
 */
#ifndef COLL_BENCH_REPRODUCE_DELTA_H
#define COLL_BENCH_REPRODUCE_DELTA_H

#include "coll/lab/sim/nbl_costs.h"
#include "coll/lab/sim/topology/torus.h"

#include "simulated.h"

/* N elements on W × H nodes in blocks of S; tree has one block. */
static inline double delta_us(const coll_nbl_costs *m, coll_nbl_algorithm algorithm, uint32_t W,
                              uint32_t H, uint64_t N, uint64_t S)
{
    static const char *const rows[] = {"tree", "snake", "fence"};
    const coll_problem problem = simulated_problem(COLL_ALLREDUCE, W * H, (size_t)N);
    const uint32_t size[2] = {W, H};
    uint32_t params[COLL_PARAM_MAX] = {0};
    coll_sim_options options;
    coll_cost_model model;
    coll_topology mesh;
    coll_sim_nbl at;
    params[0] = W;
    params[1] = (uint32_t)S;
    coll_sim_nbl_init(&model, &at, m);
    coll_topology_mesh(&mesh, size, 2, false);
    options = simulated_options(&model);
    options.topology = &mesh;
    options.window = algorithm == COLL_NBL_TREE ? 1 : 16;
    return simulated_us(&problem, rows[algorithm], params, &options);
}

/* The block that the formula finds best; 0: there are too few elements. */
static inline uint64_t delta_block(const coll_nbl_costs *m, coll_nbl_algorithm algorithm,
                                   uint32_t W, uint32_t H, uint64_t N)
{
    return algorithm == COLL_NBL_TREE    ? N
           : algorithm == COLL_NBL_SNAKE ? coll_nbl_snake_best_block(m, W * H, N)
                                         : coll_nbl_fence_best_block(m, W, H, N);
}

/* With that block; infinite, if there is none. */
static inline double delta_best_us(const coll_nbl_costs *m, coll_nbl_algorithm algorithm,
                                   uint32_t W, uint32_t H, uint64_t N)
{
    const uint64_t S = delta_block(m, algorithm, W, H, N);
    return S > 0 ? delta_us(m, algorithm, W, H, N, S) : HUGE_VAL;
}

#endif /* COLL_BENCH_REPRODUCE_DELTA_H */
