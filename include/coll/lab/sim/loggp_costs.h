/* coll/lab/sim/loggp_costs.h — LogGP(S), with the costs of LogGOPSim
 *
 * A send takes the processor o + (s−1)O and the sending port g + (s−1)G; its first byte arrives
 * o + L after its start. Taking a message in waits for the processor and the receiving port, takes
 * the one o + max((s−1)O, (s−1)G) and the other g + (s−1)G, whether or not the message is
 * expected, and ends with the processor's part. So a message alone costs 2o + L + max(O, G)(s−1).
 * One of more than S bytes keeps its sender's buffer until it is taken and its receive is there;
 * that this becomes known costs nothing. Where a rank has several ports, its adapter moves the
 * data by itself: the receiving processor then takes o + (s−1)O alone, and the data is there
 * as late as before. A message of no byte costs as much as one of one byte.
 *
 * Where a processor is saturated, times may differ from LogGOPSim's. That one gives the processor
 * to what entered its queue first: a message does when it is sent, an action when the one before it
 * starts. Here a rank's own actions come first (sim.h), so a pipeline takes what LogGP says:
 * H for each rank on the way, and 2o + (s−1)G for each further segment (docs/models.md).
 *
 * Source  Alexandrov et al. 1995; Hoefler, Schneider, Lumsdaine 2010, doi:10.1145/1851476.1851564
 */
#ifndef COLL_LAB_SIM_LOGGP_COSTS_H
#define COLL_LAB_SIM_LOGGP_COSTS_H

#include "../model/loggp.h"
#include "cost.h"

/* The costs, in picoseconds. */
typedef struct coll_sim_loggp {
    coll_time L, o, g; /* latency, overhead, gap */
    double G, O, c;    /* ps a byte */
} coll_sim_loggp;

COLL_INLINE void coll_i_loggp_send(const coll_cost_model *model, const coll_message *m,
                                   coll_cost *cost)
{
    const coll_sim_loggp *at = (const coll_sim_loggp *)model->data;
    const double more = m->bytes > 0 ? (double)(m->bytes - 1) : 0;
    cost->cpu = cost->done = at->o + coll_time_of(more * at->O);
    cost->port = at->g + coll_time_of(more * at->G);
    cost->wire = at->o + at->L;
}

COLL_INLINE void coll_i_loggp_receive(const coll_cost_model *model, const coll_message *m,
                                      coll_cost *cost)
{
    const coll_sim_loggp *at = (const coll_sim_loggp *)model->data;
    const double more = m->bytes > 0 ? (double)(m->bytes - 1) : 0;
    cost->port = coll_time_of(more * at->G);
    cost->cpu = cost->done = at->o + coll_later(coll_time_of(more * at->O), cost->port);
    if (model->ports > 1) /* which moves the data itself, so that several messages can come */
        cost->cpu = at->o + coll_time_of(more * at->O);
    cost->port += at->g;
}

COLL_INLINE void coll_i_loggp_compute(const coll_cost_model *model, uint32_t rank,
                                      const coll_action *a, size_t elem_bytes, coll_cost *cost)
{
    const coll_sim_loggp *at = (const coll_sim_loggp *)model->data;
    (void)rank;
    if (a->kind != COLL_DO_COPY)
        cost->cpu = coll_time_of(at->c * (double)coll_combined_bytes(a, elem_bytes));
}

/* Makes *model of the costs; *at is the caller's and must stay. */
COLL_INLINE void coll_sim_loggp_init(coll_cost_model *model, coll_sim_loggp *at,
                                     const coll_loggp_costs *costs)
{
    at->L = coll_time_of(costs->L_ns * 1000);
    at->o = coll_time_of(costs->o_ns * 1000);
    at->g = coll_time_of(costs->g_ns * 1000);
    at->G = costs->G_ns_per_byte * 1000;
    at->O = costs->O_ns_per_byte * 1000;
    at->c = costs->c_ns_per_byte * 1000;
    coll_cost_model_init(model, at);
    model->send = coll_i_loggp_send;
    model->receive = coll_i_loggp_receive;
    model->compute = coll_i_loggp_compute;
    model->byte_ps = at->G;
    model->eager = costs->S_bytes < 1.8e19 ? (uint64_t)costs->S_bytes : UINT64_MAX;
}

#endif /* COLL_LAB_SIM_LOGGP_COSTS_H */
