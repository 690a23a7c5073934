/* coll/lab/sim/moody_costs.h — reductions on hosts, on their NICs, and on both
 *
 * A rank's part runs on the host's processor or on the NIC's (plan/placement.h); each has its
 * costs. On the host it begins C after the start. What C of the NIC is more, if it is, goes to
 * the meeting of the two, half of it before the rank begins, and half after it has ended. A
 * message sets out at once and is there after half of L of its sender's kind and half of L of its
 * receiver's (crossing the bus is what they differ by). It takes the receiving processor for r,
 * and combining it for c(elements). No noise disturbs NICs. A NIC may have its host combine what that combines
 * faster, though it has to be asked and to tell (nic/nic_place.h); it goes on with other messages meanwhile.
 *
 * Source  Moody 2003, §3.3.2, chapter 4; by operation §6.2
 */
#ifndef COLL_LAB_SIM_MOODY_COSTS_H
#define COLL_LAB_SIM_MOODY_COSTS_H

#include "../model/moody.h"
#include "adapter.h"

/* Hosts, NICs, and who runs where. */
typedef struct coll_sim_moody {
    const coll_moody_costs *host, *nic;
    const uint8_t *on_nic; /* a byte for each rank, COLL_SIM_ON_…; NULL: all are on hosts */
} coll_sim_moody;

COLL_INLINE bool coll_i_moody_on_nic(const coll_cost_model *model, uint32_t rank)
{
    const coll_sim_moody *at = (const coll_sim_moody *)model->data;
    return at->on_nic && at->on_nic[rank];
}

COLL_INLINE const coll_moody_costs *coll_i_moody_of(const coll_cost_model *model, uint32_t rank)
{
    const coll_sim_moody *at = (const coll_sim_moody *)model->data;
    return coll_i_moody_on_nic(model, rank) ? at->nic : at->host;
}

COLL_INLINE void coll_i_moody_send(const coll_cost_model *model, const coll_message *m,
                                   coll_cost *cost)
{
    const coll_moody_costs *from = coll_i_moody_of(model, m->from);
    const coll_moody_costs *to =
        m->to == COLL_RANK_NONE ? from : coll_i_moody_of(model, m->to); /* a multicast */
    cost->wire = coll_time_of((from->L_us + to->L_us) * 0.5e6);
}

COLL_INLINE void coll_i_moody_receive(const coll_cost_model *model, const coll_message *m,
                                      coll_cost *cost)
{
    cost->cpu = cost->done = coll_time_of(coll_i_moody_of(model, m->to)->r_us * 1e6);
}

COLL_INLINE void coll_i_moody_compute(const coll_cost_model *model, uint32_t rank,
                                      const coll_action *a, size_t elem_bytes, coll_cost *cost)
{
    const coll_sim_moody *at = (const coll_sim_moody *)model->data;
    const unsigned times = a->kind == COLL_DO_REDUCE ? a->inputs : a->kind != COLL_DO_COPY;
    (void)elem_bytes;
    if (at->on_nic && at->on_nic[rank] == COLL_SIM_ON_BOTH && times > 0 &&
        coll_moody_host_reduces(at->host, at->nic, (double)a->count)) {
        cost->done = coll_time_of(
            times * coll_moody_asked_us(at->host, at->nic, (double)a->count) * 1e6);
        return;
    }
    cost->cpu = coll_time_of(
        times * coll_moody_c_us(coll_i_moody_of(model, rank), (double)a->count) * 1e6);
}

/* Half of what the meeting of host and NIC costs. */
COLL_INLINE double coll_i_moody_meeting_us(const coll_cost_model *model, uint32_t rank)
{
    const coll_sim_moody *at = (const coll_sim_moody *)model->data;
    const double more = at->nic->C_us - at->host->C_us;
    return coll_i_moody_on_nic(model, rank) && more > 0 ? more / 2 : 0;
}

COLL_INLINE coll_time coll_i_moody_start(const coll_cost_model *model, uint32_t rank)
{
    return coll_time_of(
        (coll_i_moody_of(model, rank)->C_us - coll_i_moody_meeting_us(model, rank)) * 1e6);
}

COLL_INLINE coll_time coll_i_moody_end(const coll_cost_model *model, uint32_t rank)
{
    return coll_time_of(coll_i_moody_meeting_us(model, rank) * 1e6);
}

/* Makes *model of *at, which the caller has filled in and which must stay. */
COLL_INLINE void coll_sim_moody_init(coll_cost_model *model, const coll_sim_moody *at)
{
    coll_cost_model_init(model, at);
    model->send = coll_i_moody_send;
    model->receive = coll_i_moody_receive;
    model->compute = coll_i_moody_compute;
    model->start = coll_i_moody_start;
    model->end = coll_i_moody_end;
    model->on_nic = coll_i_moody_on_nic;
}

#endif /* COLL_LAB_SIM_MOODY_COSTS_H */
