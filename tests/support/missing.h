/* tests/support/missing.h — plans on a machine of which nodes are missing
 *
 *   static void visit(const missing *machine) { … machine->p, machine->table, machine->nodes … }
 *   missing_all(8, visit);                   // every set of nodes of machines of up to 8
 *   missing_random(64, 100, visit);          // some sets of nodes of machines of up to 64
 *   missing_large(visit);                    // some holes in machines of up to MISSING_LARGE
 *
 * missing_plan makes a plan and places it there, with blocks of equal size or tables.
 */
#ifndef COLL_TESTS_ALGOS_MISSING_H
#define COLL_TESTS_ALGOS_MISSING_H

#include "chance.h"
#include "walk.h"

enum { MISSING_MOST = 64, MISSING_LARGE = 300 };

typedef struct missing {
    uint32_t nodes, p;
    uint32_t table[MISSING_LARGE]; /* node of each rank, ascending */
} missing;

/* The machine whose node i exists if bit i of `there` is set. */
static inline missing missing_of(uint32_t nodes, uint64_t there)
{
    missing machine;
    machine.nodes = nodes;
    machine.p = 0;
    for (uint32_t node = 0; node < nodes; node++)
        if (there >> node & 1)
            machine.table[machine.p++] = node;
    return machine;
}

static inline void missing_all(uint32_t most, void (*visit)(const missing *machine))
{
    for (uint32_t nodes = 1; nodes <= most; nodes++)
        for (uint64_t there = 1; there >> nodes == 0; there++) {
            const missing machine = missing_of(nodes, there);
            visit(&machine);
        }
}

/* Half of the machines have few holes, the others any. */
static inline void missing_random(uint32_t most, unsigned sets,
                                  void (*visit)(const missing *machine))
{
    uint64_t random = 1;
    for (unsigned i = 0; i < sets; i++) {
        const uint32_t nodes = 1 + chance_of(&random, most);
        const uint64_t any = chance_bits(&random), few = chance_bits(&random);
        const uint64_t there = i % 2 ? any : ~(any & few & few >> 7);
        const missing machine = missing_of(nodes, there | (uint64_t)1 << i % nodes);
        visit(&machine);
    }
}

/* A few nodes are missing, or every other one, or all but a few. */
static inline void missing_large(void (*visit)(const missing *machine))
{
    for (uint32_t nodes = MISSING_LARGE - 45; nodes <= MISSING_LARGE; nodes += 15 * CHECK_SHARE)
        for (uint32_t which = 0; which < 3; which++) {
            missing machine;
            machine.nodes = nodes;
            machine.p = 0;
            for (uint32_t node = 0; node < nodes; node++) {
                const uint32_t hash = (node * 2654435761u) >> 24;
                if (which == 0 ? hash > 5 : which == 1 ? hash & 1 : hash < 5)
                    machine.table[machine.p++] = node;
            }
            visit(&machine);
        }
}

/* A plan of `count` elements a block on the machine's nodes, which the parameters must name. */
static inline coll_plan missing_plan(const coll_algorithm *algorithm,
                                     coll_collective collective, const missing *machine,
                                     size_t count, uint32_t flags, const uint32_t *params)
{
    coll_plan plan = plan_with(algorithm, collective, machine->p, count, flags, 0, params);
    coll_group group;
    coll_group_table(&group, machine->table, NULL);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
    return plan;
}

#endif /* COLL_TESTS_ALGOS_MISSING_H */
