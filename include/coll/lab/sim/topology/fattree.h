/* coll/lab/sim/topology/fattree.h — k-ary n-trees, with missing nodes, with fewer links upwards
 *
 *   fattree:k=4,n=3                64 nodes below three levels of switches, all links there are
 *   fattree:k=4,n=4,missing=5/9    nodes 5 and 9 have no rank
 *   fattree:k=4,n=3,route=hash     ports upwards by a hash of both ends (ECMP); route=adaptive: by load
 *   fattree:k=4,n=3,failed=1.3.0   without link 0 of subtree 3 of level 1
 *   fattree:k=16,n=2,up=8          each switch has 16 links downwards and 8 upwards: 2 : 1
 *
 * The k^l nodes of a subtree of level l have up^l links upwards, and as many down (k^l of a full
 * tree). A message climbs to the first subtree that both ends have in common, and comes down on
 * the other side by the links of the same numbers. At each switch on the way up it takes the port
 * that the low digits, base k, of its source's number say (route=source), or of its
 * destination's: so that a full tree carries every shift and every XOR of the nodes' numbers
 * without two messages on one link.
 *
 * Source  Petrini, Vanneschi 1997 (k-ary n-trees); Heller 1995; Kumar 2004; Leiserson 1985
 */
#ifndef COLL_LAB_SIM_TOPOLOGY_FATTREE_H
#define COLL_LAB_SIM_TOPOLOGY_FATTREE_H

#include "../outages.h"

/* size: k, n, up, by destination. */

/* The lowest level whose subtrees have both ends. */
COLL_INLINE uint32_t coll_i_fattree_level(const coll_topology *t, uint32_t from, uint32_t to)
{
    uint32_t level = 0;
    for (; from != to; level++) {
        from /= t->size[0];
        to /= t->size[0];
    }
    return level;
}

COLL_INLINE uint32_t coll_i_fattree_hops(const coll_topology *t, uint32_t from, uint32_t to)
{
    return 2 * coll_i_fattree_level(t, from, to);
}

/* The first link upwards of a subtree of level `level`; all links upwards of one level are before
 * those of the next. *of: links of one subtree of the level. */
COLL_INLINE uint32_t coll_i_fattree_first(const coll_topology *t, uint32_t level, uint32_t tree,
                                          uint32_t *of)
{
    uint32_t first = 0, trees = t->ends;
    *of = 1;
    for (uint32_t l = 0; l < level; l++) {
        first += trees * *of;
        trees /= t->size[0];
        *of *= t->size[2];
    }
    return first + tree * *of;
}

/* Which of its port numbers, digits base `up`, a message has that goes up `levels` levels. */
COLL_INLINE uint32_t coll_i_fattree_ports(const coll_topology *t, uint32_t from, uint32_t to,
                                          uint32_t levels)
{
    uint32_t digits = t->size[3] ? to : from, number = 0, place = 1;
    for (uint32_t l = 0; l < levels; l++) {
        number += digits % t->size[0] % t->size[2] * place;
        place *= t->size[2];
        digits /= t->size[0];
    }
    return number;
}

/* Link number i of a way up to level `top`, by port numbers of which the low digits count. Links
 * upwards come first, those downwards after all of them. */
COLL_INLINE uint32_t coll_i_fattree_by(const coll_topology *t, uint32_t from, uint32_t to,
                                       uint32_t top, uint32_t ports, uint32_t i)
{
    const uint32_t level = i < top ? i : 2 * top - 1 - i;
    uint32_t tree = i < top ? from : to, of, first;
    for (uint32_t l = 0; l < level; l++)
        tree /= t->size[0];
    first = coll_i_fattree_first(t, level, tree, &of);
    return first + ports % of + (i < top ? 0 : t->links / 2);
}

COLL_INLINE uint32_t coll_i_fattree_link(const coll_topology *t, uint32_t from, uint32_t to,
                                         uint32_t i)
{
    const uint32_t top = coll_i_fattree_level(t, from, to);
    const uint32_t level = i < top ? i : 2 * top - 1 - i;
    return coll_i_fattree_by(t, from, to, top, coll_i_fattree_ports(t, from, to, level), i);
}

/* One for each choice of ports: up^(top − 1). */
COLL_INLINE uint32_t coll_i_fattree_ways(const coll_topology *t, uint32_t from, uint32_t to)
{
    uint32_t ways = 1;
    for (uint32_t top = coll_i_fattree_level(t, from, to); top > 1; top--)
        ways *= t->size[2];
    return ways;
}

/* Way number w has the port numbers of the first one, and w more. */
COLL_INLINE uint32_t coll_i_fattree_way_link(const coll_topology *t, uint32_t from, uint32_t to,
                                             uint32_t way, uint32_t i)
{
    const uint32_t top = coll_i_fattree_level(t, from, to);
    const uint32_t first = coll_i_fattree_ports(t, from, to, top > 0 ? top - 1 : 0);
    return coll_i_fattree_by(t, from, to, top, first + way, i);
}

/* Link number[2] of subtree number[1] of level number[0], up and down. */
COLL_INLINE bool coll_i_fattree_numbered(const coll_topology *t, const uint32_t number[3],
                                         uint32_t links[2])
{
    uint32_t trees = t->ends, of, first;
    if (number[0] >= t->size[1])
        return false;
    for (uint32_t l = 0; l < number[0]; l++)
        trees /= t->size[0];
    first = coll_i_fattree_first(t, number[0], number[1] < trees ? number[1] : 0, &of);
    links[0] = first + number[2];
    links[1] = links[0] + t->links / 2;
    return number[1] < trees && number[2] < of;
}

COLL_INLINE void coll_i_fattree_name(const coll_topology *t, uint32_t link, char *text,
                                     size_t bytes)
{
    const bool up = link < t->links / 2;
    uint32_t level = 0, of = 1, trees = t->ends, number = up ? link : link - t->links / 2;
    for (; number >= trees * of; level++) {
        number -= trees * of;
        trees /= t->size[0];
        of *= t->size[2];
    }
    snprintf(text, bytes, "%s %u of subtree %u of level %u", up ? "up" : "down", number % of,
             number / of, level);
}

/* `up` links upwards at each switch, at most k; k: a full tree. The tree has fewer than 2^27
 * nodes, and fewer than 2^32 links. */
COLL_INLINE void coll_topology_fattree(coll_topology *t, uint32_t k, uint32_t n, uint32_t up,
                                       bool by_destination)
{
    uint32_t of;
    memset(t, 0, sizeof *t);
    t->size[0] = k;
    t->size[1] = n;
    t->size[2] = up;
    t->size[3] = by_destination;
    t->ends = 1;
    for (uint32_t l = 0; l < n; l++)
        t->ends *= k;
    t->links = 2 * coll_i_fattree_first(t, n, 0, &of);
    t->hops = coll_i_fattree_hops;
    t->link = coll_i_fattree_link;
    t->ways = coll_i_fattree_ways;
    t->way_link = coll_i_fattree_way_link;
    t->numbered = coll_i_fattree_numbered;
    t->name = coll_i_fattree_name;
    t->cost.byte_ps = -1;
}

/* ---- in words ---------------------------------------------------------------------------- */

COLL_TABLE(coll_parameter, coll_i_fattree_parameters, {
    {"k", "", COLL_PARAMETER_WHOLE, offsetof(coll_topology_words, k), 2, 1024,
     COLL_PARAMETER_NEEDED, "links of a switch downwards"},
    {"n", "", COLL_PARAMETER_WHOLE, offsetof(coll_topology_words, n), 1, 26,
     COLL_PARAMETER_NEEDED, "levels of switches"},
    {"up", "", COLL_PARAMETER_WHOLE, offsetof(coll_topology_words, up), 0, 1024, 0,
     "links of a switch upwards; 0: k"},
    {"route", "", COLL_PARAMETER_WORD, offsetof(coll_topology_words, route), 0, 0, 0,
     "source or destination, whose digits choose the ports upwards; or hash, or adaptive"},
    {"missing", "", COLL_PARAMETER_WORD, offsetof(coll_topology_words, missing), 0, 0, 0,
     "nodes without a rank, such as 5/9/16..31, or @FILE"},
    {"failed", "", COLL_PARAMETER_WORD, offsetof(coll_topology_words, failed), 0, 0, 0,
     "links that do not work, by level, subtree and number, as 1.3.0/2.0.5, or @FILE"},
    COLL_I_LINK_PARAMETERS});

COLL_CONST(coll_model, coll_fattree_topology, {
    "fattree",
    "a k-ary n-tree",
    "Petrini, Vanneschi 1997; Kumar 2004",
    sizeof(coll_topology_words),
    coll_i_fattree_parameters,
    sizeof coll_i_fattree_parameters /
        sizeof coll_i_fattree_parameters[0],
    NULL,
    0});

/* Reads the words of such a topology. false: `why` is a sentence. */
COLL_INLINE bool coll_fattree_topology_read(coll_topology *t, const char *text,
                                            coll_sentence *why)
{
    static const char *const routes[] = {"source", "destination", "hash", "adaptive"};
    coll_topology_words words;
    uint64_t nodes = 1, links = 0, level;
    size_t route = 0;
    if (!coll_parameters_read(&coll_fattree_topology, text, &words, why))
        return false;
    for (unsigned l = 0; l < (unsigned)words.n && nodes < (uint64_t)1 << 27; l++)
        nodes *= (uint64_t)words.k;
    if (nodes >= (uint64_t)1 << 27)
        return coll_refuse(why, "%.60s has more places than can be simulated", text);
    if (words.up > words.k)
        return coll_refuse(why, "up of fattree is at most k, %g, not %g", words.k, words.up);
    if (words.up == 0)
        words.up = words.k;
    level = nodes;
    for (unsigned l = 0; l < (unsigned)words.n;
         l++, level = level / (uint64_t)words.k * (uint64_t)words.up)
        links += 2 * level;
    if (links > UINT32_MAX)
        return coll_refuse(why, "%.60s has more links than can be simulated", text);
    if (words.route[0])
        route = coll_name_index("route", words.route, routes, 4, why);
    if (route == COLL_NO_NAME)
        return false;
    coll_topology_fattree(t, (uint32_t)words.k, (uint32_t)words.n, (uint32_t)words.up,
                          route == 1);
    t->route = route < 2    ? COLL_ROUTE_FIXED
               : route == 2 ? COLL_ROUTE_HASH
                            : COLL_ROUTE_ADAPTIVE;
    coll_topology_costs(t, &words);
    return coll_topology_missing(t, words.missing, why) &&
           coll_topology_failed(t, words.failed, why);
}

#endif /* COLL_LAB_SIM_TOPOLOGY_FATTREE_H */
