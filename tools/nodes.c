/* tools/nodes.c — see nodes.h */
#include "nodes.h"

#include "coll/select/names.h"
#include "coll/lab/verify_grid.h"
#include "memory.h"
#include "options.h"

/* Reads the numbers of ranks of the nodes, at most p, and writes their first ranks. */
static uint32_t read_nodes(const char *text, uint32_t *first, uint32_t p)
{
    uint32_t n = 0;
    for (first[0] = 0; *text; n++) {
        const char *from = text;
        uint64_t ranks;
        if (!number_take(&text, ',', &ranks) || ranks == 0)
            refuse("--nodes is the ranks of every node, or of each, such as 4 or 3,1,2, or "
                   "\"uneven\", not \"%.40s\"",
                   from);
        if (n == p || ranks > p - first[n])
            refuse("--nodes has more than %u ranks", p);
        first[n + 1] = first[n] + (uint32_t)ranks;
    }
    return n;
}

uint32_t nodes_place(coll_problem *problem, const char *words, uint32_t **first)
{
    const uint32_t p = problem->p;
    uint64_t ppn;
    uint32_t n;
    if (!words)
        return 0;
    if (coll_number_read(words, &ppn) && ppn > 0) {
        ppn = ppn < p ? ppn : p;
        coll_nodes_even(&problem->nodes, p, (uint32_t)ppn);
        return (uint32_t)ppn;
    }
    *first = memory_of(2 * (size_t)p + 1, sizeof **first);
    if (strcmp(words, "uneven") == 0) {
        coll_i_grid_uneven(&problem->nodes, p, *first);
        return COLL_GRID_NODES_UNEVEN;
    }
    n = read_nodes(words, *first, p);
    if (n == 0 || (*first)[n] != p)
        refuse("--nodes has %u ranks, and there are %u", (*first)[n], p);
    coll_nodes_table(&problem->nodes, n, *first, NULL);
    return 0;
}
