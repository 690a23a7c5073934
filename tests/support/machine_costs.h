/* Files of costs of quite different machines, so that messages travel in every way: COLL_MACHINE names them.
 *
 *   char path[COSTS_PATH];
 *   costs_force(path, COSTS_KERNEL);      // in this process, and those that it starts
 *   …
 *   costs_forget(path);
 */
#ifndef COLL_TESTS_MACHINE_COSTS_H
#define COLL_TESTS_MACHINE_COSTS_H

#include "coll/transports/node/find_costs.h"

enum { COSTS_PATH = 80 };

typedef enum costs_of {
    COSTS_USUAL,
    COSTS_KERNEL, /* the kernel copies all that it may, in both directions */
    COSTS_SLOTS,  /* it copies nothing: it is slow */
    COSTS_LONG,   /* it copies what is longer than 100,000 bytes */
    COSTS_PARTS,  /* a call is dear, a byte is cheap */
    COSTS_KINDS
} costs_of;

static inline coll_node_costs costs_like(costs_of kind)
{
    coll_node_costs costs = coll_node_costs_usual();
    if (kind == COSTS_KERNEL || kind == COSTS_PARTS || kind == COSTS_LONG) {
        costs.kernel_ns = kind == COSTS_LONG ? 99000 : kind == COSTS_PARTS ? 3000 : 10;
        costs.line_ns = kind == COSTS_LONG ? 500 : 10;
        costs.copy_ps = 1;
        costs.slot_ps = costs.swap_ps = 1011 + (kind == COSTS_LONG) * 1100;
        costs.small_ps = costs.small_swap_ps = costs.huge_ps = costs.huge_swap_ps = 11;
    } else if (kind == COSTS_SLOTS) {
        costs.small_ps = costs.small_swap_ps = costs.huge_ps = costs.huge_swap_ps = 9000;
    }
    return costs;
}

/* Writes a new file with costs; false: it cannot. */
static inline bool costs_write(char *path, const coll_node_costs *costs)
{
    int fd;
    (void)snprintf(path, COSTS_PATH, "/tmp/coll-costs-XXXXXX");
    fd = mkstemp(path);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0 && coll_node_costs_store(costs, path, "another machine");
}

/* Has transports that are made from now on find these costs; false: they cannot. */
static inline bool costs_force(char *path, costs_of kind)
{
    const coll_node_costs costs = costs_like(kind);
    return costs_write(path, &costs) && setenv("COLL_MACHINE", path, 1) == 0;
}

static inline void costs_forget(const char *path)
{
    (void)unlink(path);
    (void)setenv("COLL_MACHINE", "off", 1);
}

#endif /* COLL_TESTS_MACHINE_COSTS_H */
