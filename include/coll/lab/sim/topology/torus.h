/* coll/lab/sim/topology/torus.h — meshes and tori of up to six dimensions
 *
 *   mesh:16x32       512 places, 16 in a row; place y·16 + x is in column x of row y
 *   torus:4x4x4      each dimension wraps round
 *
 * A message goes along the first dimension, then along the second, and so on (XY routing), in a
 * torus the shorter way round, upwards if both are as long. Every place has a link to each
 * neighbour.
 *
 * Source  Littlefield 1992, §2, figure 6; Dally, Seitz 1987 (dimension order)
 */
#ifndef COLL_LAB_SIM_TOPOLOGY_TORUS_H
#define COLL_LAB_SIM_TOPOLOGY_TORUS_H

#include "../topology.h"

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
    t->name = coll_i_mesh_name;
    t->cost.byte_ps = -1;
}

/* ---- in words ---------------------------------------------------------------------------- */

COLL_TABLE(coll_parameter, coll_i_mesh_parameters, {COLL_I_LINK_PARAMETERS});

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
    const bool wraps = strncmp(text, "torus", 5) == 0;
    uint32_t size[COLL_MESH_DIMENSIONS], n;
    coll_topology_words words;
    char rest[512];
    n = coll_topology_sizes(text, "16x32", 1, COLL_MESH_DIMENSIONS, size, rest, why);
    if (n == 0 || !coll_parameters_read(wraps ? &coll_torus_topology : &coll_mesh_topology,
                                        rest, &words, why))
        return false;
    coll_topology_mesh(t, size, n, wraps);
    coll_topology_costs(t, &words);
    return true;
}

#endif /* COLL_LAB_SIM_TOPOLOGY_TORUS_H */
