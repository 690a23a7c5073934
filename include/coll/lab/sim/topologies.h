/* coll/lab/sim/topologies.h — all topologies, by their names
 *
 *   coll_topology topology;
 *   coll_sentence why;
 *   if (!coll_topology_read(&topology, "mesh:16x32,hop=40ns", &why) ||
 *       !coll_topology_fits(&topology, "mesh:16x32", p, &why))
 *       puts(why.text);
 *   …
 *   coll_topology_free(&topology);
 *
 * flat has no links: nothing is in the way of anything.
 */
#ifndef COLL_LAB_SIM_TOPOLOGIES_H
#define COLL_LAB_SIM_TOPOLOGIES_H

#include "topology/dragonfly.h"
#include "topology/fattree.h"
#include "topology/sockets.h"
#include "topology/torus.h"

COLL_INLINE uint32_t coll_i_flat_hops(const coll_topology *t, uint32_t from, uint32_t to)
{
    (void)t, (void)from, (void)to;
    return 0;
}

/* Reads "flat". false: `why` is a sentence. */
COLL_INLINE bool coll_flat_topology_read(coll_topology *t, const char *text, coll_sentence *why)
{
    if (strcmp(text, "flat") != 0)
        return coll_refuse(why, "flat has no parameters, not \"%.60s\"", text);
    memset(t, 0, sizeof *t);
    t->ends = UINT32_MAX;
    t->hops = coll_i_flat_hops;
    return true;
}

COLL_CONST(coll_model, coll_flat_topology, {
    "flat", "no links: nothing is in the way of anything", "", 0, NULL, 0, NULL, 0});

typedef struct coll_i_topology_row {
    const coll_model *model;
    bool (*read)(coll_topology *t, const char *text, coll_sentence *why);
} coll_i_topology_row;

COLL_TABLE(coll_i_topology_row, coll_i_topologies, {
    {&coll_flat_topology, coll_flat_topology_read},
    {&coll_mesh_topology, coll_mesh_topology_read},
    {&coll_torus_topology, coll_mesh_topology_read},
    {&coll_fattree_topology, coll_fattree_topology_read},
    {&coll_dragonfly_topology, coll_dragonfly_topology_read},
    {&coll_nodes_topology, coll_nodes_topology_read}});
enum { COLL_TOPOLOGIES = sizeof coll_i_topologies / sizeof coll_i_topologies[0] };

/* Reads a topology from words; false, and what is wrong with them. coll_topology_free gives the memory
 * of one back that has missing places or failed links. */
COLL_INLINE bool coll_topology_read(coll_topology *topology, const char *text,
                                    coll_sentence *why)
{
    const coll_model *models[COLL_TOPOLOGIES], *model;
    for (unsigned i = 0; i < COLL_TOPOLOGIES; i++)
        models[i] = coll_i_topologies[i].model;
    model = coll_model_of("topology", models, COLL_TOPOLOGIES, text, why);
    memset(topology, 0, sizeof *topology);
    for (unsigned i = 0; model && i < COLL_TOPOLOGIES; i++)
        if (models[i] == model && coll_i_topologies[i].read(topology, text, why))
            return true;
    coll_topology_free(topology);
    return false;
}

#endif /* COLL_LAB_SIM_TOPOLOGIES_H */
