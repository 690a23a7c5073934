/* coll/lab/sim/topology/dragonfly.h — groups of routers, all linked to each other, and the groups
 * too
 *
 *   dragonfly:a=4,h=2,t=2         4 routers a group with 2 links to other groups and 2 places each:
 *                                 9 groups, 72 places
 *   dragonfly:a=4,h=2,t=2,g=5     5 groups, which share the links between them
 *
 * A message goes to the router of its group that has a link to the other group, over it, and to its
 * own router there: at most three links between routers (minimal routing). Port q of the a·h
 * ports of a group to others leads 1 + q mod (g − 1) groups on. Of several ports to a group, the
 * destination's number chooses.
 *
 * Source  Kim, Dally, Scott, Abts 2008, doi:10.1145/1394608.1382129
 */
#ifndef COLL_LAB_SIM_TOPOLOGY_DRAGONFLY_H
#define COLL_LAB_SIM_TOPOLOGY_DRAGONFLY_H

#include "../outages.h"

/* size: a, h, t, g. Links between the routers of groups come first: a of each router, the one to
 * itself is not used; then h of each router to other groups. */

typedef struct coll_i_dragonfly_route {
    uint32_t links[3], n;
} coll_i_dragonfly_route;

/* How many ports of a group lead `on` groups on. */
COLL_INLINE uint32_t coll_i_dragonfly_ports(const coll_topology *t, uint32_t on)
{
    const uint32_t all = t->size[0] * t->size[1], others = t->size[3] - 1;
    return all / others + (on - 1 < all % others ? 1 : 0);
}

COLL_INLINE coll_i_dragonfly_route coll_i_dragonfly_find(const coll_topology *t, uint32_t from,
                                                         uint32_t to)
{
    const uint32_t a = t->size[0], h = t->size[1], g = t->size[3];
    const uint32_t global = g * a * a; /* the first link between groups */
    uint32_t at = from / t->size[2];
    const uint32_t end = to / t->size[2], group = at / a, other = end / a;
    coll_i_dragonfly_route route = {{0, 0, 0}, 0};
    if (group != other) {
        const uint32_t on = (other + g - group) % g, back = g - on;
        const uint32_t there = coll_i_dragonfly_ports(t, on),
                       here = coll_i_dragonfly_ports(t, back);
        const uint32_t m = to % (there < here ? there : here);
        const uint32_t out = on - 1 + m * (g - 1), in = back - 1 + m * (g - 1);
        if (at != group * a + out / h)
            route.links[route.n++] = at * a + out / h;
        route.links[route.n++] = global + group * a * h + out;
        at = other * a + in / h;
    }
    if (at != end)
        route.links[route.n++] = at * a + end % a;
    return route;
}

COLL_INLINE uint32_t coll_i_dragonfly_hops(const coll_topology *t, uint32_t from, uint32_t to)
{
    return coll_i_dragonfly_find(t, from, to).n;
}

COLL_INLINE uint32_t coll_i_dragonfly_link(const coll_topology *t, uint32_t from, uint32_t to,
                                           uint32_t i)
{
    return coll_i_dragonfly_find(t, from, to).links[i];
}

COLL_INLINE void coll_i_dragonfly_name(const coll_topology *t, uint32_t link, char *text,
                                       size_t bytes)
{
    const uint32_t a = t->size[0], global = t->size[3] * a * a;
    if (link < global)
        snprintf(text, bytes, "router %u to %u of group %u", link / a % a, link % a,
                 link / a / a);
    else
        snprintf(text, bytes, "port %u of group %u", (link - global) % (a * t->size[1]),
                 (link - global) / (a * t->size[1]));
}

/* g groups of a routers with h links to other groups and t places; 2 ≤ g ≤ a·h + 1. */
COLL_INLINE void coll_topology_dragonfly(coll_topology *t, uint32_t a, uint32_t h,
                                         uint32_t places, uint32_t g)
{
    memset(t, 0, sizeof *t);
    t->size[0] = a;
    t->size[1] = h;
    t->size[2] = places;
    t->size[3] = g;
    t->ends = a * places * g;
    t->links = g * a * (a + h);
    t->hops = coll_i_dragonfly_hops;
    t->link = coll_i_dragonfly_link;
    t->name = coll_i_dragonfly_name;
    t->cost.byte_ps = -1;
}

/* ---- in words ---------------------------------------------------------------------------- */

COLL_TABLE(coll_parameter, coll_i_dragonfly_parameters, {
    {"a", "", COLL_PARAMETER_WHOLE, offsetof(coll_topology_words, a), 1, 256,
     COLL_PARAMETER_NEEDED, "routers of a group"},
    {"h", "", COLL_PARAMETER_WHOLE, offsetof(coll_topology_words, h), 1, 256,
     COLL_PARAMETER_NEEDED, "links of a router to other groups"},
    {"t", "", COLL_PARAMETER_WHOLE, offsetof(coll_topology_words, t), 1, 256,
     COLL_PARAMETER_NEEDED, "places of a router"},
    {"g", "", COLL_PARAMETER_WHOLE, offsetof(coll_topology_words, g), 0, 65537, 0,
     "groups; 0: as many as there can be, a·h + 1"},
    {"missing", "", COLL_PARAMETER_WORD, offsetof(coll_topology_words, missing), 0, 0, 0,
     "places without a rank, such as 5/9"},
    COLL_I_LINK_PARAMETERS});

COLL_CONST(coll_model, coll_dragonfly_topology, {
    "dragonfly",
    "groups of routers, all linked to each other",
    "Kim, Dally, Scott, Abts 2008",
    sizeof(coll_topology_words),
    coll_i_dragonfly_parameters,
    sizeof coll_i_dragonfly_parameters / sizeof coll_i_dragonfly_parameters[0],
    NULL,
    0});

/* Reads the words of such a topology. false: `why` is a sentence. */
COLL_INLINE bool coll_dragonfly_topology_read(coll_topology *t, const char *text,
                                              coll_sentence *why)
{
    coll_topology_words words;
    uint32_t g;
    if (!coll_parameters_read(&coll_dragonfly_topology, text, &words, why))
        return false;
    g = (uint32_t)(words.g > 0 ? words.g : words.a * words.h + 1);
    if (g < 2 || g > words.a * words.h + 1)
        return coll_refuse(why, "g of dragonfly is from 2 to a·h + 1, %g, not %u",
                           words.a * words.h + 1, g);
    if (words.a * words.a * g > 1e8 || words.a * words.t * g > 1e8)
        return coll_refuse(why, "%.60s has more places than can be simulated", text);
    coll_topology_dragonfly(t, (uint32_t)words.a, (uint32_t)words.h, (uint32_t)words.t, g);
    coll_topology_costs(t, &words);
    return coll_topology_missing(t, words.missing, why);
}

#endif /* COLL_LAB_SIM_TOPOLOGY_DRAGONFLY_H */
