/* coll/lab/sim/plogp_costs.h — parameterised LogP: overheads and gap of a message out of a table
 *
 * A message of m bytes takes the sending processor os(m) and the sending port g(m); it begins to
 * arrive L after its start, and takes the receiving port g(m) and, from then on, the processor
 * or(m). So its last byte is there L + g(m) after it was sent. What is combined costs nothing.
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

/* Makes *model of the table, which is the caller's and must stay. On a topology, links are as fast
 * as the table's largest messages. */
COLL_INLINE void coll_sim_plogp_init(coll_cost_model *model, const coll_plogp_costs *table)
{
    const coll_plogp_row *last = &table->row[table->n - 1];
    coll_cost_model_init(model, table);
    model->send = coll_i_plogp_send;
    model->receive = coll_i_plogp_receive;
    model->byte_ps = last->bytes > 0 ? last->us[COLL_PLOGP_G] / last->bytes * 1e6 : 0;
}

#endif /* COLL_LAB_SIM_PLOGP_COSTS_H */
