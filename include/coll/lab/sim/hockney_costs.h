/* coll/lab/sim/hockney_costs.h — a start-up and so much a byte: α + n β, and γ a byte for what is
 * combined
 *
 * A message takes the sending port of the one rank and the receiving port of the other for α + n β,
 * both from the same time on if both are free; processors only combine. So a rank can send one
 * message and receive one at a time, as the textbook's estimates assume.
 *
 * Source  Hockney 1994; Thakur, Rabenseifner, Gropp 2005, section 3
 */
#ifndef COLL_LAB_SIM_HOCKNEY_COSTS_H
#define COLL_LAB_SIM_HOCKNEY_COSTS_H

#include "../model/hockney.h"
#include "cost.h"

/* The costs, in picoseconds. */
typedef struct coll_sim_hockney {
    double alpha, beta, gamma; /* ps */
} coll_sim_hockney;

COLL_INLINE void coll_i_hockney_move(const coll_cost_model *model, const coll_message *m,
                                     coll_cost *cost)
{
    const coll_sim_hockney *at = (const coll_sim_hockney *)model->data;
    cost->port = cost->done = coll_time_of(at->alpha + (double)m->bytes * at->beta);
}

COLL_INLINE void coll_i_hockney_compute(const coll_cost_model *model, uint32_t rank,
                                        const coll_action *a, size_t elem_bytes,
                                        coll_cost *cost)
{
    const coll_sim_hockney *at = (const coll_sim_hockney *)model->data;
    (void)rank;
    if (a->kind != COLL_DO_COPY)
        cost->cpu = coll_time_of(at->gamma * (double)coll_combined_bytes(a, elem_bytes));
}

/* Makes *model of the costs; *at is the caller's and must stay. */
COLL_INLINE void coll_sim_hockney_init(coll_cost_model *model, coll_sim_hockney *at,
                                       const coll_hockney_costs *costs)
{
    at->alpha = costs->alpha_us * 1e6;
    at->beta = costs->beta_ns_per_byte * 1000;
    at->gamma = costs->gamma_ns_per_byte * 1000;
    coll_cost_model_init(model, at);
    model->send = coll_i_hockney_move;
    model->receive = coll_i_hockney_move;
    model->compute = coll_i_hockney_compute;
    model->byte_ps = at->beta;
}

#endif /* COLL_LAB_SIM_HOCKNEY_COSTS_H */
