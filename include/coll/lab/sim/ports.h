/* coll/lab/sim/ports.h — several ports a rank: who has which of them, and until when
 *
 * Of a rank with one port a side, `out` and `in` (state.h) are when they are free. Of one with N ports
 * they are when the first of N is, and all N are in a table: a message takes the first that is free,
 * and has the bandwidth of that one. Ports of a side are alike, so which of several free ones it is
 * makes no difference.
 *
 * Use lab/sim.h.
 */
#ifndef COLL_LAB_SIM_PORTS_H
#define COLL_LAB_SIM_PORTS_H

#include "simulation.h"

/* Ports of a side of a rank, at most. */
enum { COLL_PORTS_MOST = 64 };

/* The N ports for sending of a rank, or those for receiving. */
COLL_INLINE coll_time *coll_i_sim_ports_of(const coll_sim *sim, uint32_t rank, bool receives)
{
    return sim->ports + (2 * (size_t)rank + receives) * sim->options.model->ports;
}

/* Of n ports one that is taken until `old`, if there is one, is taken until `until` from now on.
 * Returns when the first of all is free. */
COLL_I_RARE coll_time coll_i_sim_ports_change(coll_time *port, uint32_t n, coll_time old,
                                              coll_time until)
{
    uint32_t at = 0;
    coll_time first = COLL_NEVER;
    while (at < n && port[at] != old)
        at++;
    if (at < n)
        port[at] = until;
    for (uint32_t i = 0; i < n; i++)
        first = port[i] < first ? port[i] : first;
    return first;
}

/* A port of a rank that was taken until `old` is now taken until `until`. */
COLL_HOT_INLINE void coll_i_sim_port_change(coll_sim *sim, uint32_t rank, bool receives,
                                            coll_time old, coll_time until)
{
    coll_time *port = receives ? &sim->ranks[rank].in : &sim->ranks[rank].out;
    *port = sim->ports ? coll_i_sim_ports_change(coll_i_sim_ports_of(sim, rank, receives),
                                                 sim->options.model->ports, old, until)
                       : until;
}

/* A message takes the port that is free first; COLL_NEVER: until it is known until when. */
COLL_HOT_INLINE void coll_i_sim_port_take(coll_sim *sim, uint32_t rank, bool receives,
                                          coll_time until)
{
    const coll_i_sim_rank *at = &sim->ranks[rank];
    coll_i_sim_port_change(sim, rank, receives, receives ? at->in : at->out, until);
}

/* If a message has a port until it is known until when, that is known now: `until`. */
COLL_INLINE void coll_i_sim_port_give(coll_sim *sim, uint32_t rank, bool receives,
                                      coll_time until)
{
    const coll_i_sim_rank *at = &sim->ranks[rank];
    if (sim->ports || (receives ? at->in : at->out) == COLL_NEVER)
        coll_i_sim_port_change(sim, rank, receives, COLL_NEVER, until);
}

/* All ports are free; false: there is no memory. */
COLL_INLINE bool coll_i_sim_ports_clear(coll_sim *sim)
{
    const uint32_t n = sim->options.model->ports;
    free(sim->ports);
    sim->ports = NULL;
    if (n > 1)
        sim->ports = (coll_time *)calloc(sim->p, 2 * n * sizeof *sim->ports);
    return n <= 1 || sim->ports;
}

#endif /* COLL_LAB_SIM_PORTS_H */
