/* coll/algos/kit/kprefix_partitions.h — partitions of k nodes, their lanes, and who plays each
 *
 * A partition has k lanes, one for each node number, of which some may be missing: those beyond the
 * last node, and those of missing nodes. A substitute plays a lane that is not there: a partition's
 * missing lanes fall in turn to the first 2^e of its n members, 2^e ≤ n < 2^(e+1).
 *
 *   k = 4, 7 nodes, node 2 missing     partition 0    lanes 0 1 · 3    played by 0 1 0 3
 *                                      partition 1    lanes 0 1 2 ·    played by 0 1 2 0
 *
 * Laws (tests/algos/kprefix.c): (3) of kprefix.h
 * Source  Kumar 2004 (k-prefix)
 */
#ifndef COLL_ALGOS_KIT_KPREFIX_PARTITIONS_H
#define COLL_ALGOS_KIT_KPREFIX_PARTITIONS_H

#include "../prefix.h"

/* The ranks first … first+n−1 on the nodes at … at+k−1. */
typedef struct coll_i_kprefix_part {
    uint32_t index, at, first, n;
    uint32_t missing; /* lanes that have substitutes: none where no ring brings them blocks */
    uint32_t turns;   /* e: they fall to the first 2^e members in turn */
} coll_i_kprefix_part;

/* The machine in partitions. */
typedef struct coll_i_kprefix {
    coll_i_machine machine;
    const coll_fast_divisor *by_k;
    uint32_t k, parts;
    bool even; /* all partitions have as many stages as a whole one */
} coll_i_kprefix;

COLL_HOT_INLINE coll_i_kprefix coll_i_kprefix_of(const coll_plan *plan, uint32_t nodes,
                                                 bool even)
{
    coll_i_kprefix it;
    it.machine = coll_i_machine_of(plan, nodes);
    it.by_k = &plan->radix;
    it.k = plan->param[0];
    it.parts = coll_divide(it.machine.nodes - 1, it.by_k) + 1;
    it.even = even;
    return it;
}

/* The partition of a rank. */
COLL_HOT_INLINE coll_i_kprefix_part coll_i_kprefix_part_of(const coll_i_kprefix *it,
                                                           uint32_t rank)
{
    coll_i_kprefix_part part;
    part.index = coll_divide(coll_i_machine_node(&it->machine, rank), it->by_k);
    part.at = part.index * it->k;
    part.first = coll_i_machine_below(&it->machine, part.at);
    part.n = coll_i_machine_below(&it->machine, part.index + 1 == it->parts ? it->machine.nodes
                                                                            : part.at + it->k) -
             part.first;
    part.missing = it->parts > 1 ? it->k - part.n : 0;
    part.turns = COLL_HIGHEST_BIT(part.n);
    return part;
}

COLL_HOT_INLINE uint32_t coll_i_kprefix_lane(const coll_i_kprefix *it,
                                             const coll_i_kprefix_part *part, uint32_t member)
{
    return coll_i_machine_node(&it->machine, part->first + member) - part->at;
}

/* The rank that plays a lane: its own, or the substitute. */
COLL_HOT_INLINE uint32_t coll_i_kprefix_player(const coll_i_kprefix *it,
                                               const coll_i_kprefix_part *part, uint32_t lane)
{
    const uint32_t node =
        part->at + lane < it->machine.nodes ? part->at + lane : it->machine.nodes;
    const uint32_t member = coll_i_machine_below(&it->machine, node) - part->first;
    if (member < part->n && coll_i_kprefix_lane(it, part, member) == lane)
        return part->first + member;
    return part->first + ((lane - member) & (((uint32_t)1 << part->turns) - 1));
}

/* The lane of the partition's missing number `gap`. */
COLL_INLINE uint32_t coll_i_kprefix_gap(const coll_i_kprefix *it,
                                        const coll_i_kprefix_part *part, uint32_t gap)
{
    uint32_t low = 0, high = part->n; /* members below that lane */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (coll_i_kprefix_lane(it, part, middle) - middle <= gap)
            low = middle + 1;
        else
            high = middle;
    }
    return gap + low;
}

/* The lane that a member plays as its number a; COLL_RANK_NONE: it has fewer. Ascending, for all
 * members of all partitions, so that several lanes between two ranks keep their order. */
COLL_HOT_INLINE uint32_t coll_i_kprefix_role(const coll_i_kprefix *it,
                                             const coll_i_kprefix_part *part, uint32_t member,
                                             uint32_t a)
{
    const uint32_t own = coll_i_kprefix_lane(it, part, member);
    uint32_t before, gap; /* roles in lanes below the own */
    if (part->missing == 0)
        return a == 0 ? own : COLL_RANK_NONE;
    before = member >> part->turns || own - member <= member
                 ? 0
                 : ((own - member - member - 1) >> part->turns) + 1;
    if (a == before)
        return own;
    gap = member + ((a < before ? a : a - 1) << part->turns);
    return member >> part->turns || gap >= part->missing ? COLL_RANK_NONE
                                                         : coll_i_kprefix_gap(it, part, gap);
}

#endif /* COLL_ALGOS_KIT_KPREFIX_PARTITIONS_H */
