/* coll/lab/sim/nbl_costs.h — nodes whose links share what the node can move (NBL)
 *
 * A message takes the processors of both its ends for α, at the same time if both are free, and
 * then flows: β an element, f(L) times as slow while L messages flow in or out of one of its ends.
 * A node works in steps: it starts the messages that it can, one of each link, and then moves their
 * data together; so L messages take Lα + f(L)βS, which is what T(L) of the paper is. Combining
 * costs c2 an element, three vectors in one pass c3, any more c3 − c2 each, and nothing is combined
 * while data moves.
 *
 * A message that comes later joins those that flow if they have longer to go than its start takes.
 *
 * The paper lets all nodes make each step at the same time. Here a node makes it when it can, and
 * nodes keep in step by themselves.
 *
 * Source  Littlefield 1992, sections 2, 3.3
 */
#ifndef COLL_LAB_SIM_NBL_COSTS_H
#define COLL_LAB_SIM_NBL_COSTS_H

#include "../model/littlefield.h"
#include "cost.h"

/* Littlefield's costs, for elements of a size. */
typedef struct coll_sim_nbl {
    const coll_nbl_costs *costs;
    double element_bytes; /* of the elements that the costs speak of */
} coll_sim_nbl;

COLL_INLINE void coll_i_nbl_move(const coll_cost_model *model, const coll_message *m,
                                 coll_cost *cost)
{
    const coll_sim_nbl *at = (const coll_sim_nbl *)model->data;
    cost->cpu = cost->done = coll_time_of(at->costs->alpha_us * 1e6);
    cost->flow = coll_time_of((double)m->bytes / at->element_bytes *
                              at->costs->beta_us_per_element * 1e6);
}

COLL_INLINE void coll_i_nbl_compute(const coll_cost_model *model, uint32_t rank,
                                    const coll_action *a, size_t elem_bytes, coll_cost *cost)
{
    const coll_sim_nbl *at = (const coll_sim_nbl *)model->data;
    const unsigned more = a->kind == COLL_DO_REDUCE ? a->inputs - 1u : 0;
    const double c2 = at->costs->c2_us_per_element, c3 = at->costs->c3_us_per_element;
    (void)rank;
    if (a->kind != COLL_DO_COPY)
        cost->cpu = coll_time_of((double)a->count * (double)elem_bytes / at->element_bytes *
                                 (c2 + more * (c3 > c2 ? c3 - c2 : 0)) * 1e6);
}

COLL_INLINE uint32_t coll_i_nbl_share(const coll_cost_model *model, uint32_t rank)
{
    (void)model;
    return rank;
}

COLL_INLINE double coll_i_nbl_slow(const coll_cost_model *model, const coll_flowing *all,
                                   uint64_t bytes)
{
    const coll_sim_nbl *at = (const coll_sim_nbl *)model->data;
    (void)bytes;
    return coll_nbl_f(at->costs, all->messages);
}

/* Makes *model of the costs; both are the caller's and must stay. Elements have 8 bytes. */
COLL_INLINE void coll_sim_nbl_init(coll_cost_model *model, coll_sim_nbl *at,
                                   const coll_nbl_costs *costs)
{
    at->costs = costs;
    at->element_bytes = 8;
    coll_cost_model_init(model, at);
    model->send = coll_i_nbl_move;
    model->receive = coll_i_nbl_move;
    model->compute = coll_i_nbl_compute;
    model->share = coll_i_nbl_share;
    model->slow = coll_i_nbl_slow;
    model->step = coll_later(1, coll_time_of(costs->alpha_us * 1e6));
    model->byte_ps = costs->beta_us_per_element * 1e6 / at->element_bytes;
}

#endif /* COLL_LAB_SIM_NBL_COSTS_H */
