/* coll/transports/node/costs.h — ranks that share memory: what this machine's copies, lines and system
 * calls take, and what follows from that
 *
 *   coll_node_costs costs = coll_node_costs_usual();        // or coll_node_costs_find: find_costs.h
 *   size_t from = coll_node_kernel_from(&costs, COLL_NODE_ONE_WAY, huge);
 *
 * Two processes that have private buffers move a long message through slots that both map, in two
 * copies that two processors make one behind the other, or have the kernel make one copy. Which is
 * faster differs from machine to machine by factors of two to five, in both directions, and on a
 * virtual one from hour to hour. So no transport has a length of its own: each asks these functions,
 * of a few values that somebody measured. All ranks of a node must have the same values.
 *
 * Arithmetic alone: no system call, no library function.
 *
 * What was measured, and what forced values cost: docs/internals/shared-memory.md.
 */
#ifndef COLL_TRANSPORTS_NODE_COSTS_H
#define COLL_TRANSPORTS_NODE_COSTS_H

#include "../../config.h"

/* What a machine takes, in nanoseconds (ns) and, for a byte of long copies, picoseconds (ps). Of a value
 * that is 0 nothing is known but what its line says. */
typedef struct coll_node_costs {
    uint32_t line_ns;  /* a cache line, from the processor that wrote it to one that reads it */
    uint32_t look_ns;  /* a look at something that has not come, and a pause */
    uint32_t yield_ns; /* a processor given to another rank, and had back */
    uint32_t copy_ps;  /* a byte of a copy within the caches of one processor */
    uint32_t slot_ps;  /* a byte from one processor to the other through slots … */
    uint32_t swap_ps;  /* … while as many go the other way */
    uint32_t kernel_ns; /* a copy that the kernel makes, however short; 0: it makes none */
    uint32_t small_ps;  /* a byte of it, out of small pages that another processor wrote … */
    uint32_t small_swap_ps; /* … while that one reads as many … */
    uint32_t huge_ps;       /* … out of huge pages; 0: there are none … */
    uint32_t huge_swap_ps;  /* … while that one reads as many */
    uint32_t move_ns;       /* an extent of 2 MiB moved to a huge page */
} coll_node_costs;

enum {
    COLL_NODE_COSTS = 12,             /* values of the record */
    COLL_NODE_COST_MOST = 1000000000, /* the largest that one may have */
    COLL_NODE_PART_LEAST = 1 << 14,   /* bytes of a part (coll_node_part_bytes) … */
    COLL_NODE_PART_MOST = 1 << 17,
    COLL_NODE_HUGE_EXTENT = 1 << 21 /* bytes that move_ns is of */
};

/* How a message travels, as far as it matters what copies cost. */
typedef enum coll_node_direction {
    COLL_NODE_ONE_WAY, /* one of two ranks sends: through slots, both copy at the same time */
    COLL_NODE_ONE_COMBINED, /* … and the other one combines what comes, straight out of a slot */
    COLL_NODE_BOTH_WAYS,    /* both send: through slots each copies twice */
    COLL_NODE_BOTH_COMBINED
} coll_node_direction;

/* The values where nobody measured: of two processors of a virtual machine, between which a line takes
 * little and the kernel's copy much. */
COLL_INLINE coll_node_costs coll_node_costs_usual(void)
{
    const coll_node_costs usual = {80, 37, 1500, 12, 40, 150, 1000, 75, 115, 40, 76, 700000};
    return usual;
}

/* One value of the record, 0 … COLL_NODE_COSTS − 1, to be read or written; and its name. */
COLL_INLINE uint32_t *coll_node_cost(coll_node_costs *costs, uint32_t which, const char **name)
{
    static const char *const names[COLL_NODE_COSTS] = {
        "line_ns",   "look_ns",  "yield_ns",      "copy_ps", "slot_ps",      "swap_ps",
        "kernel_ns", "small_ps", "small_swap_ps", "huge_ps", "huge_swap_ps", "move_ns"};
    uint32_t *const values[COLL_NODE_COSTS] = {
        &costs->line_ns,       &costs->look_ns, &costs->yield_ns,     &costs->copy_ps,
        &costs->slot_ps,       &costs->swap_ps, &costs->kernel_ns,    &costs->small_ps,
        &costs->small_swap_ps, &costs->huge_ps, &costs->huge_swap_ps, &costs->move_ns};
    *name = names[which];
    return values[which];
}

/* Are these values that somebody can have measured? Only what the kernel does may be 0. */
COLL_INLINE bool coll_node_costs_are_well(const coll_node_costs *costs)
{
    coll_node_costs its = *costs;
    const char *name;
    for (uint32_t i = 0; i < COLL_NODE_COSTS; i++)
        if (*coll_node_cost(&its, i, &name) > COLL_NODE_COST_MOST)
            return false;
    return its.line_ns > 0 && its.look_ns > 0 && its.yield_ns > 0 && its.copy_ps > 0 &&
           its.slot_ps > 0 && its.swap_ps > 0 && (its.kernel_ns == 0 || its.small_ps > 0) &&
           (its.small_ps > 0) == (its.small_swap_ps > 0) &&
           (its.huge_ps > 0) == (its.huge_swap_ps > 0);
}

/* Bytes that a rank reads at once out of another one's memory, to combine them before they leave its
 * nearest caches: so many that the call takes a fifth of the time, but within those limits. A
 * power of two. */
COLL_INLINE size_t coll_node_part_bytes(const coll_node_costs *costs, bool huge)
{
    const uint32_t byte_ps = huge && costs->huge_ps ? costs->huge_ps : costs->small_ps;
    const uint64_t enough = byte_ps ? (uint64_t)costs->kernel_ns * 4000 / byte_ps : 0;
    size_t part = COLL_NODE_PART_LEAST;
    while (part < COLL_NODE_PART_MOST && part < enough)
        part *= 2;
    return part;
}

/* From how many bytes on is a message faster by the kernel's copy than through slots? SIZE_MAX: never.
 * `huge`: its memory lies on huge pages. To combine what came costs what a copy does, either way. A byte
 * must save a twentieth, as measurements are not better. */
COLL_INLINE size_t coll_node_kernel_from(const coll_node_costs *costs,
                                         coll_node_direction direction, bool huge)
{
    const bool both = direction >= COLL_NODE_BOTH_WAYS;
    const bool combined =
        direction == COLL_NODE_ONE_COMBINED || direction == COLL_NODE_BOTH_COMBINED;
    const bool out_of_huge = huge && costs->huge_ps;
    const uint64_t combine_ps = combined ? costs->copy_ps : 0;
    const uint64_t slot_ps = (both ? costs->swap_ps : costs->slot_ps) + combine_ps;
    const uint64_t copy_ps = both ? (out_of_huge ? costs->huge_swap_ps : costs->small_swap_ps)
                                  : (out_of_huge ? costs->huge_ps : costs->small_ps);
    const uint64_t kernel_ps = copy_ps + combine_ps;
    uint64_t start = (uint64_t)costs->kernel_ns + 2 * (uint64_t)costs->line_ns;
    if (costs->kernel_ns == 0 || copy_ps == 0 || 20 * kernel_ps >= 19 * slot_ps)
        return SIZE_MAX;
    start = start * 1000 / (slot_ps - kernel_ps);
    return start < SIZE_MAX ? (size_t)start + 1 : SIZE_MAX;
}

/* So many looks take about as long, at least one. */
COLL_INLINE uint32_t coll_node_looks(const coll_node_costs *costs, uint64_t ns)
{
    const uint64_t looks = costs->look_ns ? ns / costs->look_ns : ns;
    return looks < 1 ? 1 : looks < UINT32_MAX ? (uint32_t)looks : UINT32_MAX;
}

/* So many picoseconds a byte is read faster out of a huge page; 0: it is not. */
COLL_INLINE uint32_t coll_node_huge_gain_ps(const coll_node_costs *costs)
{
    return costs->huge_ps && costs->huge_ps < costs->small_ps ? costs->small_ps - costs->huge_ps
                                                              : 0;
}

#endif /* COLL_TRANSPORTS_NODE_COSTS_H */
