/* coll/lab/sim/topology/torus.h — meshes and tori of up to six dimensions
 *
 *   mesh:16x32       512 places, 16 in a row; place y·16 + x is in column x of row y
 *   torus:4x4x4      each dimension wraps round
 *   mesh:4x4,failed=5-6            without the links between places 5 and 6
 *   torus:8x8,route=adaptive       of the orders of dimensions, the least loaded
 *
 * A message goes along the first dimension, then along the second, and so on (XY routing), in a
 * torus the shorter way round, upwards if both are as long. Every place has a link to each
 * neighbour.
 *
 * Source  Littlefield 1992, §2, figure 6; Dally, Seitz 1987 (dimension order)
 */
#ifndef COLL_LAB_SIM_TOPOLOGY_TORUS_H
#define COLL_LAB_SIM_TOPOLOGY_TORUS_H

#include "../outages.h"

/* Links from a to b in a dimension of `size`; *up: in the direction of growing numbers. */
COLL_INLINE uint32_t coll_i_mesh_distance(uint32_t a, uint32_t b, uint32_t size, bool wraps,
                                          bool *up)
{
    const uint32_t direct = b > a ? b - a : a - b;
    *up = b > a;
    if (!wraps || direct <= size - direct) {
        if (wraps && 2 * direct == size)
            *up = true;
        return direct;
    }
    *up = !*up;
    return size - direct;
}

COLL_INLINE uint32_t coll_i_mesh_hops(const coll_topology *t, uint32_t from, uint32_t to)
{
    uint32_t hops = 0;
    for (uint32_t d = 0; d < t->dimensions; d++) {
        bool up;
        hops +=
            coll_i_mesh_distance(from % t->size[d], to % t->size[d], t->size[d], t->wraps, &up);
        from /= t->size[d];
        to /= t->size[d];
    }
    return hops;
}

/* Link 2·(place·dimensions + d) + up leaves a place in dimension d. */
COLL_INLINE uint32_t coll_i_mesh_link(const coll_topology *t, uint32_t from, uint32_t to,
                                      uint32_t i)
{
    uint32_t at = from, stride = 1, a = from, b = to;
    for (uint32_t d = 0; d < t->dimensions; d++) {
        const uint32_t size = t->size[d], x = a % size, y = b % size;
        bool up;
        const uint32_t n = coll_i_mesh_distance(x, y, size, t->wraps, &up);
        if (i < n) {
            const uint32_t now = up ? (x + i) % size : (x + size - i % size) % size;
            at += now * stride - x * stride;
            return 2 * (at * t->dimensions + d) + (up ? 1 : 0);
        }
        i -= n;
        at += y * stride - x * stride;
        stride *= size;
        a /= size;
        b /= size;
    }
    return 0; /* there are not so many */
}

COLL_INLINE size_t coll_i_mesh_place(const coll_topology *t, uint32_t place, char *text,
                                     size_t bytes)
{
    size_t n = 0;
    for (uint32_t d = 0; d < t->dimensions && n < bytes; d++) {
        n += (size_t)snprintf(text + n, bytes - n, "%s%u", d ? "," : "(", place % t->size[d]);
        place /= t->size[d];
    }
    if (n < bytes)
        n += (size_t)snprintf(text + n, bytes - n, ")");
    return n;
}

COLL_INLINE void coll_i_mesh_name(const coll_topology *t, uint32_t link, char *text,
                                  size_t bytes)
{
    const uint32_t d = link / 2 % t->dimensions, from = link / 2 / t->dimensions;
    uint32_t stride = 1, to, x;
    size_t n;
    for (uint32_t i = 0; i < d; i++)
        stride *= t->size[i];
    x = from / stride % t->size[d];
    to = from + ((link & 1 ? x + 1 : x + t->size[d] - 1) % t->size[d]) * stride - x * stride;
    n = coll_i_mesh_place(t, from, text, bytes);
    if (n < bytes)
        n += (size_t)snprintf(text + n, bytes - n, " to ");
    if (n < bytes)
        coll_i_mesh_place(t, to, text + n, bytes - n);
}

/* ---- other ways -------------------------------------------------------------------------- */

/* One for each order of the dimensions in which both ends differ, and, where they are as far from each
 * other both ways round a ring, one for each of these. */
COLL_INLINE uint32_t coll_i_mesh_ways(const coll_topology *t, uint32_t from, uint32_t to)
{
    uint32_t ways = 1, differ = 0;
    for (uint32_t d = 0; d < t->dimensions; d++) {
        const uint32_t size = t->size[d];
        bool up;
        const uint32_t n = coll_i_mesh_distance(from % size, to % size, size, t->wraps, &up);
        if (n > 0)
            ways *= ++differ * (t->wraps && 2 * n == size ? 2 : 1);
        from /= size;
        to /= size;
    }
    return ways;
}

/* What a message has to go in a dimension. */
typedef struct coll_i_mesh_leg {
    uint32_t d, stride, size, from, to, n;
    bool up;
} coll_i_mesh_leg;

/* The link of leg l's step number i, out of place `at`, which has made none of them. */
COLL_INLINE uint32_t coll_i_mesh_leg_link(const coll_topology *t, const coll_i_mesh_leg *l,
                                          uint32_t at, uint32_t i)
{
    const uint32_t now = l->up ? (l->from + i) % l->size : (l->from + l->size - i) % l->size;
    return 2 * ((at + now * l->stride - l->from * l->stride) * t->dimensions + l->d) +
           (l->up ? 1 : 0);
}

COLL_INLINE uint32_t coll_i_mesh_way_link(const coll_topology *t, uint32_t from, uint32_t to,
                                          uint32_t way, uint32_t i)
{
    coll_i_mesh_leg leg[COLL_MESH_DIMENSIONS];
    uint32_t n = 0, at = from, stride = 1, a = from, b = to;
    for (uint32_t d = 0; d < t->dimensions; d++) {
        coll_i_mesh_leg *l = &leg[n];
        l->d = d;
        l->stride = stride;
        l->size = t->size[d];
        l->from = a % l->size;
        l->to = b % l->size;
        l->n = coll_i_mesh_distance(l->from, l->to, l->size, t->wraps, &l->up);
        if (l->n > 0 && t->wraps && 2 * l->n == l->size) {
            l->up = way % 2 == 0;
            way /= 2;
        }
        n += l->n > 0 ? 1 : 0;
        stride *= t->size[d];
        a /= t->size[d];
        b /= t->size[d];
    }
    for (; n > 0; n--) { /* which of those that are left is next */
        const uint32_t next = way % n;
        const coll_i_mesh_leg l = leg[next];
        way /= n;
        if (i < l.n)
            return coll_i_mesh_leg_link(t, &l, at, i);
        i -= l.n;
        at += l.to * l.stride - l.from * l.stride;
        for (uint32_t k = next; k + 1 < n; k++)
            leg[k] = leg[k + 1];
    }
    return 0; /* there are not so many */
}

/* Links downwards and upwards in the first dimension, then in the second … */
COLL_INLINE uint32_t coll_i_mesh_neighbour(const coll_topology *t, uint32_t end, uint32_t k,
                                           uint32_t *link)
{
    const uint32_t d = k / 2, size = t->size[d];
    uint32_t stride = 1, x;
    for (uint32_t i = 0; i < d; i++)
        stride *= t->size[i];
    x = end / stride % size;
    if (size == 1 || (!t->wraps && (k & 1 ? x + 1 == size : x == 0)))
        return COLL_RANK_NONE;
    *link = 2 * end * t->dimensions + k;
    return end + (k & 1 ? (x + 1) % size : (x + size - 1) % size) * stride - x * stride;
}

/* A mesh of these sizes; a torus, if it wraps round. Links cost nothing but what the model says. */
COLL_INLINE void coll_topology_mesh(coll_topology *t, const uint32_t *size, uint32_t dimensions,
                                    bool wraps)
{
    memset(t, 0, sizeof *t);
    t->ends = 1;
    for (uint32_t d = 0; d < dimensions; d++) {
        t->size[d] = size[d];
        t->ends *= size[d];
    }
    t->dimensions = dimensions;
    t->links = 2 * t->ends * dimensions;
    t->full = true;
    t->wraps = wraps;
    t->hops = coll_i_mesh_hops;
    t->link = coll_i_mesh_link;
    t->ways = coll_i_mesh_ways;
    t->way_link = coll_i_mesh_way_link;
    t->neighbour = coll_i_mesh_neighbour;
    t->degree = 2 * dimensions;
    t->name = coll_i_mesh_name;
    t->cost.byte_ps = -1;
}

/* ---- in words ---------------------------------------------------------------------------- */

COLL_TABLE(coll_parameter, coll_i_mesh_parameters, {
    {"route", "", COLL_PARAMETER_WORD, offsetof(coll_topology_words, route), 0, 0, 0,
     "dimensions, one after the other; or their order by hash, or adaptive"},
    {"failed", "", COLL_PARAMETER_WORD, offsetof(coll_topology_words, failed), 0, 0, 0,
     "links that do not work, by the places that they link, as 5-6/9-13, or @FILE"},
    COLL_I_LINK_PARAMETERS});

COLL_CONST(coll_model, coll_mesh_topology, {
    "mesh",
    "SIZExSIZE…: a mesh of up to six dimensions",
    "Littlefield 1992",
    sizeof(coll_topology_words),
    coll_i_mesh_parameters,
    sizeof coll_i_mesh_parameters /
        sizeof coll_i_mesh_parameters[0],
    NULL,
    0});

COLL_CONST(coll_model, coll_torus_topology, {
    "torus",
    "SIZExSIZE…: a mesh whose dimensions wrap round",
    "Dally, Seitz 1987",
    sizeof(coll_topology_words),
    coll_i_mesh_parameters,
    sizeof coll_i_mesh_parameters /
        sizeof coll_i_mesh_parameters[0],
    NULL,
    0});

/* Reads the words of such a topology. false: `why` is a sentence. */
COLL_INLINE bool coll_mesh_topology_read(coll_topology *t, const char *text, coll_sentence *why)
{
    static const char *const routes[] = {"dimensions", "hash", "adaptive"};
    const bool wraps = strncmp(text, "torus", 5) == 0;
    size_t route = 0;
    uint32_t size[COLL_MESH_DIMENSIONS], n;
    coll_topology_words words;
    char rest[512];
    n = coll_topology_sizes(text, "16x32", 1, COLL_MESH_DIMENSIONS, size, rest, why);
    if (n == 0 || !coll_parameters_read(wraps ? &coll_torus_topology : &coll_mesh_topology,
                                        rest, &words, why))
        return false;
    if (words.route[0])
        route = coll_name_index("route", words.route, routes, 3, why);
    if (route == COLL_NO_NAME)
        return false;
    coll_topology_mesh(t, size, n, wraps);
    coll_topology_costs(t, &words);
    t->route = (coll_routing)route;
    return coll_topology_failed(t, words.failed, why);
}

#endif /* COLL_LAB_SIM_TOPOLOGY_TORUS_H */
