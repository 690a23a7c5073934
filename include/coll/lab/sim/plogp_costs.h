/* coll/lab/sim/plogp_costs.h — parameterised LogP: overheads and gap of a message out of a table
 *
 * A message of m bytes takes the sending processor os(m) and the sending port g(m); it begins to
 * arrive L after its start, and takes the receiving port g(m) and, from then on, the processor
 * or(m). So its last byte is there L + g(m) after it was sent. Combining m bytes takes the processor
 * c(m), and copying them copy(m). A machine may have a second table, of which os, or and g are those of data that its sender
 * has just written: all that is not in IN (coll_message). L and c are those of the first.
 *
 * Source  Kielmann, Bal, Verstoep 2000; Wu 2005, section 4.2.4
 */
#ifndef COLL_LAB_SIM_PLOGP_COSTS_H
#define COLL_LAB_SIM_PLOGP_COSTS_H

#include "../model/plogp.h"
#include "cost.h"

COLL_INLINE coll_time coll_i_plogp_time(const coll_cost_model *model, coll_plogp_column column,
                                        const coll_message *m)
{
    return coll_time_of(
        coll_plogp_us((const coll_plogp_costs *)model->data, column, (double)m->bytes) * 1e6);
}

COLL_INLINE void coll_i_plogp_send(const coll_cost_model *model, const coll_message *m,
                                   coll_cost *cost)
{
    cost->cpu = cost->done = coll_i_plogp_time(model, COLL_PLOGP_OS, m);
    cost->port = coll_i_plogp_time(model, COLL_PLOGP_G, m);
    cost->wire = coll_time_of(((const coll_plogp_costs *)model->data)->L_us * 1e6);
}

COLL_INLINE void coll_i_plogp_receive(const coll_cost_model *model, const coll_message *m,
                                      coll_cost *cost)
{
    cost->cpu = coll_i_plogp_time(model, COLL_PLOGP_OR, m);
    cost->port = coll_i_plogp_time(model, COLL_PLOGP_G, m);
    cost->done = coll_later(cost->cpu, cost->port);
}

COLL_INLINE void coll_i_plogp_compute(const coll_cost_model *model, uint32_t rank,
                                      const coll_action *a, size_t elem_bytes, coll_cost *cost)
{
    const coll_plogp_costs *table = (const coll_plogp_costs *)model->data;
    double us = 0;
    (void)rank;
    if (a->kind != COLL_DO_COPY)
        us = coll_plogp_combine_us(table, (double)coll_combined_bytes(a, elem_bytes));
    else if (a->dst != a->src)
        us = coll_plogp_us(table, COLL_PLOGP_COPY, (double)a->count * (double)elem_bytes);
    cost->cpu = coll_time_of(us * 1e6);
}

/* Makes *model of the table, which is the caller's and must stay. On a topology, links are as fast
 * as the table's largest messages. */
COLL_INLINE void coll_sim_plogp_init(coll_cost_model *model, const coll_plogp_costs *table)
{
    const coll_plogp_row *last = &table->row[table->n - 1];
    coll_cost_model_init(model, table);
    model->send = coll_i_plogp_send;
    model->receive = coll_i_plogp_receive;
    model->compute = coll_i_plogp_compute;
    model->byte_ps = last->bytes > 0 ? last->us[COLL_PLOGP_G] / last->bytes * 1e6 : 0;
}

/* ---- two tables -------------------------------------------------------------------------- */

/* Messages of data that nobody has written, and of what their senders have. */
typedef struct coll_sim_plogp {
    const coll_plogp_costs *clean, *dirty; /* of IN; of all else */
} coll_sim_plogp;

/* What a message takes by its table. */
COLL_INLINE void coll_i_plogp_pair_move(const coll_cost_model *model, const coll_message *m,
                                        bool sends, coll_cost *cost)
{
    const coll_sim_plogp *at = (const coll_sim_plogp *)model->data;
    coll_cost_model one;
    coll_cost_model_init(&one, m->written ? at->dirty : at->clean);
    if (sends)
        coll_i_plogp_send(&one, m, cost);
    else
        coll_i_plogp_receive(&one, m, cost);
    if (sends)
        cost->wire = coll_time_of(at->clean->L_us * 1e6);
}

COLL_INLINE void coll_i_plogp_pair_send(const coll_cost_model *model, const coll_message *m,
                                        coll_cost *cost)
{
    coll_i_plogp_pair_move(model, m, true, cost);
}

COLL_INLINE void coll_i_plogp_pair_receive(const coll_cost_model *model, const coll_message *m,
                                           coll_cost *cost)
{
    coll_i_plogp_pair_move(model, m, false, cost);
}

COLL_INLINE void coll_i_plogp_pair_compute(const coll_cost_model *model, uint32_t rank,
                                           const coll_action *a, size_t elem_bytes,
                                           coll_cost *cost)
{
    coll_cost_model one;
    coll_cost_model_init(&one, ((const coll_sim_plogp *)model->data)->clean);
    coll_i_plogp_compute(&one, rank, a, elem_bytes, cost);
}

/* Makes *model of two tables; *at and the tables are the caller's and must stay. */
COLL_INLINE void coll_sim_plogp_pair_init(coll_cost_model *model, const coll_sim_plogp *at)
{
    coll_sim_plogp_init(model, at->clean);
    model->data = at;
    model->send = coll_i_plogp_pair_send;
    model->receive = coll_i_plogp_pair_receive;
    model->compute = coll_i_plogp_pair_compute;
}

#endif /* COLL_LAB_SIM_PLOGP_COSTS_H */
