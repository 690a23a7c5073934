/* coll/lab/sim/routing.h — which way a message takes over a topology
 *
 * Of several shortest ways a message takes, by the topology's `route`,
 *
 *   fixed      the first one
 *   hash       the one that a hash of seed, source and destination says: ECMP, equal-cost multi-path
 *   adaptive   the one on which its head would arrive first if nobody else came on the way, the first
 *              of several. Of more than COLL_SIM_WAYS, so many are looked at, which a hash chooses.
 *
 * Messages that are under way from one rank to another at the same time take the same way, so that
 * none passes another (a flowlet). If a link of the way failed, the message takes the next way of which
 * all links work. If there is none, it takes a shortest detour where ends are linked to each other
 * (meshes, tori); on a fat tree there is no other way, as the ports of the way up are those of the way
 * down. Failed links have loads that are never free.
 *
 * Source  Hopps 2000, RFC 2992 (ECMP by hash); Kandula et al. 2007 (flowlets); Dally, Towles 2004,
 *         chapters 8 to 10
 *
 * Use lab/sim.h.
 */
#ifndef COLL_LAB_SIM_ROUTING_H
#define COLL_LAB_SIM_ROUTING_H

#include "simulation.h"

enum { COLL_SIM_WAYS = 64 };

/* A message on its way. */
typedef struct coll_i_sim_travel {
    uint32_t hop, hops; /* links it has passed, of so many */
    uint32_t way;       /* of those that the topology has */
    uint32_t next;      /* another one of its sender; COLL_RANK_NONE: there is none */
    double slow;        /* its bytes take so many times as long as those of a stream */
    coll_time tail;     /* its last byte has not arrived before */
    uint32_t *detour;   /* its links, where it takes no shortest way; or NULL */
} coll_i_sim_travel;

COLL_INLINE coll_i_sim_travel *coll_i_sim_travel_at(const coll_sim *sim, uint32_t i)
{
    return (coll_i_sim_travel *)sim->travels.at + i;
}

/* Memory for the travel of message i; NULL: there is none. */
COLL_INLINE coll_i_sim_travel *coll_i_sim_travel_new(coll_sim *sim, uint32_t i)
{
    coll_i_sim_travel *travel;
    if (!coll_i_array_reserve(&sim->travels, (size_t)i + 1, sizeof *travel))
        return NULL;
    for (; sim->travels.n <= i; sim->travels.n++)
        coll_i_sim_travel_at(sim, (uint32_t)sim->travels.n)->detour = NULL;
    travel = coll_i_sim_travel_at(sim, i);
    free(travel->detour);
    travel->detour = NULL;
    travel->hop = travel->way = 0;
    travel->tail = 0;
    return travel;
}

COLL_INLINE void coll_i_sim_travels_free(coll_sim *sim)
{
    for (uint32_t i = 0; i < sim->travels.n; i++)
        free(coll_i_sim_travel_at(sim, i)->detour);
    coll_i_array_free(&sim->travels);
}

/* ---- one of several ways ----------------------------------------------------------------- */

COLL_INLINE uint32_t coll_i_sim_way_link(const coll_topology *t, uint32_t from, uint32_t to,
                                         uint32_t way, uint32_t i)
{
    return way == 0 ? t->link(t, from, to, i) : t->way_link(t, from, to, way, i);
}

/* Do all links of a way work? */
COLL_INLINE bool coll_i_sim_way_works(const coll_sim *sim, uint32_t from, uint32_t to,
                                      uint32_t way, uint32_t hops)
{
    const coll_topology *t = sim->options.topology;
    for (uint32_t i = 0; i < hops; i++)
        if (sim->loads[coll_i_sim_way_link(t, from, to, way, i)].free == COLL_NEVER)
            return false;
    return true;
}

/* When the head of a message that leaves now would be at the end of a way. */
COLL_INLINE coll_time coll_i_sim_way_end(const coll_sim *sim, uint32_t from, uint32_t to,
                                         uint32_t way, uint32_t hops)
{
    const coll_topology *t = sim->options.topology;
    coll_time head = sim->now;
    for (uint32_t i = 0; i < hops; i++) {
        const uint32_t link = coll_i_sim_way_link(t, from, to, way, i);
        if (sim->loads[link].free == COLL_NEVER)
            return COLL_NEVER;
        head = coll_later(head, sim->loads[link].free) + coll_topology_cost(t, link).hop;
    }
    return head;
}

/* The way on which a message would be there first. */
COLL_I_RARE uint32_t coll_i_sim_way_least(const coll_sim *sim, uint32_t from, uint32_t to,
                                          uint32_t ways, uint32_t hops)
{
    const uint32_t most = ways < COLL_SIM_WAYS ? ways : (uint32_t)COLL_SIM_WAYS;
    const uint64_t pair = (uint64_t)from << 32 | to;
    coll_time least = COLL_NEVER;
    uint32_t best = 0;
    for (uint32_t k = 0; k < most; k++) {
        const uint32_t way = ways == most || k == 0
                                 ? k
                                 : (uint32_t)(coll_i_mixed(sim->options.seed, pair, k) % ways);
        const coll_time end = coll_i_sim_way_end(sim, from, to, way, hops);
        if (end < least) {
            least = end;
            best = way;
        }
    }
    return best;
}

/* ---- round what failed ------------------------------------------------------------------- */

/* Finds a shortest way over links that work; NULL: there is none, or no memory. By breadth, from the
 * first end; of several links to a new end, the first. O(ends). */
COLL_I_RARE uint32_t *coll_i_sim_detour(coll_sim *sim, uint32_t from, uint32_t to,
                                        uint32_t *hops)
{
    const coll_topology *t = sim->options.topology;
    uint32_t *by = (uint32_t *)malloc((size_t)t->ends * 3 * sizeof *by), *path = NULL;
    uint32_t *before = by ? by + t->ends : NULL, *queue = by ? before + t->ends : NULL;
    uint32_t first = 0, n = 0;
    if (!by) {
        coll_i_sim_fail(sim, COLL_ERR_MEMORY, from);
        return NULL;
    }
    for (uint32_t end = 0; end < t->ends; end++)
        before[end] = COLL_RANK_NONE;
    before[from] = from;
    queue[n++] = from;
    while (first < n && before[to] == COLL_RANK_NONE) {
        const uint32_t at = queue[first++];
        for (uint32_t k = 0; k < t->degree; k++) {
            uint32_t link;
            const uint32_t end = t->neighbour(t, at, k, &link);
            if (end == COLL_RANK_NONE || before[end] != COLL_RANK_NONE ||
                sim->loads[link].free == COLL_NEVER)
                continue;
            before[end] = at;
            by[end] = link;
            queue[n++] = end;
        }
    }
    *hops = 0;
    for (uint32_t at = to; before[to] != COLL_RANK_NONE && at != from; at = before[at])
        ++*hops;
    if (*hops > 0)
        path = (uint32_t *)malloc(*hops * sizeof *path);
    if (*hops > 0 && !path)
        coll_i_sim_fail(sim, COLL_ERR_MEMORY, from);
    n = path ? *hops : 0;
    for (uint32_t at = to; n > 0; at = before[at])
        path[--n] = by[at];
    free(by);
    return path;
}

/* Another way for a message whose way has a link that failed; false: there is none. */
COLL_I_RARE bool coll_i_sim_go_round(coll_sim *sim, coll_i_sim_travel *travel, uint32_t from,
                                     uint32_t to, uint32_t ways)
{
    const coll_topology *t = sim->options.topology;
    for (uint32_t k = 1; k < ways; k++) {
        const uint32_t way = (travel->way + k) % ways;
        if (coll_i_sim_way_works(sim, from, to, way, travel->hops)) {
            travel->way = way;
            return true;
        }
    }
    if (t->neighbour)
        travel->detour = coll_i_sim_detour(sim, from, to, &travel->hops);
    return travel->detour != NULL;
}

/* ---- the way of a message ---------------------------------------------------------------- */

/* Another message that is under way from op->from to op->to; NULL: there is none. */
COLL_INLINE const coll_i_sim_travel *coll_i_sim_flowlet(const coll_sim *sim,
                                                        const coll_i_op *op)
{
    for (uint32_t i = sim->flights[op->from]; i != COLL_RANK_NONE;
         i = coll_i_sim_travel_at(sim, i)->next)
        if (coll_i_op_at(&sim->mail, i)->to == op->to)
            return coll_i_sim_travel_at(sim, i);
    return NULL;
}

/* Message i has arrived: the next one to its receiver may take another way. */
COLL_INLINE void coll_i_sim_land(coll_sim *sim, uint32_t i)
{
    uint32_t *at = &sim->flights[coll_i_op_at(&sim->mail, i)->from];
    while (*at != i)
        at = &coll_i_sim_travel_at(sim, *at)->next;
    *at = coll_i_sim_travel_at(sim, i)->next;
}

/* Chooses a way for message i, from one end to another, which has `hops` links. false: there is
 * none. */
COLL_I_RARE bool coll_i_sim_route(coll_sim *sim, uint32_t i, uint32_t from, uint32_t to)
{
    const coll_topology *t = sim->options.topology;
    const coll_i_op *op = coll_i_op_at(&sim->mail, i);
    coll_i_sim_travel *travel = coll_i_sim_travel_at(sim, i);
    const uint32_t ways = t->ways ? t->ways(t, from, to) : 1;
    const coll_i_sim_travel *before = sim->flights ? coll_i_sim_flowlet(sim, op) : NULL;
    if (before)
        travel->way = before->way;
    else if (t->route == COLL_ROUTE_HASH)
        travel->way = (uint32_t)(coll_i_mixed(sim->options.seed, from, to) % ways);
    else if (t->route == COLL_ROUTE_ADAPTIVE)
        travel->way = coll_i_sim_way_least(sim, from, to, ways, travel->hops);
    if (sim->flights) {
        travel->next = sim->flights[op->from];
        sim->flights[op->from] = i;
    }
    if (t->n_failed == 0 || coll_i_sim_way_works(sim, from, to, travel->way, travel->hops) ||
        coll_i_sim_go_round(sim, travel, from, to, ways))
        return true;
    sim->cut_off = op->to;
    coll_i_sim_fail(sim, COLL_ERR_PEER, op->from);
    return false;
}

/* The next link of message i. */
COLL_INLINE uint32_t coll_i_sim_next_link(const coll_sim *sim, const coll_i_sim_travel *travel,
                                          uint32_t from, uint32_t to)
{
    const coll_topology *t = sim->options.topology;
    return travel->detour ? travel->detour[travel->hop]
                          : coll_i_sim_way_link(t, from, to, travel->way, travel->hop);
}

/* Nothing is under way; false: there is no memory. */
COLL_INLINE bool coll_i_sim_routing_clear(coll_sim *sim)
{
    const coll_topology *t = sim->options.topology;
    free(sim->flights);
    sim->flights = NULL;
    sim->cut_off = COLL_RANK_NONE;
    for (uint32_t i = 0; t && sim->loads && i < t->n_failed; i++)
        sim->loads[t->failed[i]].free = COLL_NEVER;
    if (!t || t->route != COLL_ROUTE_ADAPTIVE)
        return true;
    sim->flights = (uint32_t *)malloc(sim->p * sizeof *sim->flights);
    for (uint32_t rank = 0; sim->flights && rank < sim->p; rank++)
        sim->flights[rank] = COLL_RANK_NONE;
    return sim->flights != NULL;
}

#endif /* COLL_LAB_SIM_ROUTING_H */
