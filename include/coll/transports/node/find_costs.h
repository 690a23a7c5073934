/* coll/transports/node/find_costs.h — ranks that share memory: finds what the machine takes
 *
 *   coll_node_costs costs;
 *   if (!coll_node_costs_find(&costs, why)) …           // why is a sentence
 *
 * The machine's file has it (costs_file.h). If there is none, it is measured (measure_costs.h), and kept
 * there; where nothing can be kept, the usual values hold, as no job is to measure again and again, and
 * so they do for a minute where a measurement did not end, as others had the processors.
 *
 *   COLL_MACHINE=off       the usual values, and no file is read or written
 *   COLL_MACHINE=FILE      what this file says, of whatever machine
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_FIND_COSTS_H
#define COLL_TRANSPORTS_NODE_FIND_COSTS_H

#include "costs_file.h"
#include "measure_costs.h"

enum { COLL_NODE_COSTS_WHY = 200 }; /* bytes of a sentence about an error */

/* Finds the costs of this machine. False: COLL_MACHINE names a file that has none, as `why`,
 * COLL_NODE_COSTS_WHY bytes or NULL, says. May measure, which takes a tenth of a second, at most
 * one. */
COLL_INLINE bool coll_node_costs_find(coll_node_costs *costs, char *why)
{
    char machine[COLL_NODE_MACHINE], path[COLL_I_NODE_COSTS_PATH];
    const char *asked = getenv("COLL_MACHINE");
    *costs = coll_node_costs_usual();
    if (asked && strcmp(asked, "off") == 0)
        return true;
    if (asked && *asked) {
        if (coll_node_costs_load(costs, asked, NULL))
            return true;
        if (why)
            (void)snprintf(why, COLL_NODE_COSTS_WHY,
                           "COLL_MACHINE=%.100s is no file of a machine's costs: remove it, to "
                           "have it made anew, or give \"off\"",
                           asked);
        return false;
    }
    coll_node_machine(machine);
    if (!coll_i_node_costs_path(path, sizeof path, machine) ||
        coll_node_costs_load(costs, path, machine) || coll_i_node_was_busy(path))
        return true;
    if (coll_node_costs_measure(costs)) {
        (void)coll_node_costs_store(costs, path, machine);
        coll_i_node_set_busy(path, false);
    } else {
        coll_i_node_set_busy(path, true);
    }
    return true;
}

#endif /* COLL_TRANSPORTS_NODE_FIND_COSTS_H */
