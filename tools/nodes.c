/* tools/nodes.c — see nodes.h */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>

#include "coll/select/names.h"
#include "coll/lab/verify_grid.h"
#include "memory.h"
#include "options.h"

/* What is cut into nodes or groups, in words. */
struct cut {
    const char *option, *of, *part, *text;
    uint32_t p; /* how many */
};

/* Reads how many there are in each part, at most p, and writes the first of each. */
static uint32_t read_parts(const struct cut *cut, uint32_t *first)
{
    const char *text = cut->text;
    uint32_t n = 0;
    for (first[0] = 0; *text; n++) {
        const char *from = text;
        uint64_t some;
        if (!number_take(&text, ',', &some) || some == 0)
            refuse("%s is the %s of every %s, or of each, such as 4 or 3,1,2, or \"uneven\", "
                   "not \"%.40s\"",
                   cut->option, cut->of, cut->part, from);
        if (n == cut->p || some > cut->p - first[n])
            refuse("%s has more than %u %s", cut->option, cut->p, cut->of);
        first[n + 1] = first[n] + (uint32_t)some;
    }
    return n;
}

/* Writes the nodes, or groups, and returns the case of the grid that has the same, or 0. */
static uint32_t place(const struct cut *cut, coll_nodes *nodes, uint32_t **first)
{
    uint64_t some;
    uint32_t n;
    if (coll_number_read(cut->text, &some) && some > 0) {
        some = some < cut->p ? some : cut->p;
        coll_nodes_even(nodes, cut->p, (uint32_t)some);
        return (uint32_t)some;
    }
    *first = memory_of(2 * (size_t)cut->p + 1, sizeof **first);
    if (strcmp(cut->text, "uneven") == 0) {
        coll_i_grid_uneven(nodes, cut->p, *first);
        return COLL_GRID_NODES_UNEVEN;
    }
    n = read_parts(cut, *first);
    if (n == 0 || (*first)[n] != cut->p)
        refuse("%s has %u %s, and there are %u", cut->option, (*first)[n], cut->of, cut->p);
    coll_nodes_table(nodes, n, *first, NULL);
    return 0;
}

uint32_t nodes_place(coll_problem *problem, const struct nodes_words *words,
                     struct nodes_memory *memory)
{
    const struct cut nodes = {"--nodes", "ranks", "node", words->nodes, problem->p};
    uint32_t kind;
    if (!words->nodes && (words->rails || words->groups))
        refuse("%s says more about nodes: give --nodes, too",
               words->rails ? "--rails" : "--groups");
    if (!words->nodes)
        return 0;
    kind = place(&nodes, &problem->nodes, &memory->first);
    if (!words->rails && !words->groups)
        return kind;
    memory->beyond.rail = NULL;
    memory->beyond.groups = NULL;
    if (words->rails) {
        memory->rail = memory_of(problem->p, 1);
        if (!coll_i_rails_write(memory->rail, &problem->nodes, problem->p, words->rails))
            refuse("--rails is how many a node has, from 1 to %d, or those of its ranks, from "
                   "0 to "
                   "%d, such as 0,1, not \"%.40s\"",
                   COLL_RAILS_MOST, COLL_RAILS_MOST - 1, words->rails);
        memory->beyond.rail = memory->rail;
    }
    if (words->groups) {
        const struct cut groups = {"--groups", "nodes", "group", words->groups,
                                   coll_nodes_count(&problem->nodes)};
        (void)place(&groups, &memory->groups, &memory->group_first);
        memory->beyond.groups = &memory->groups;
    }
    problem->nodes.beyond = &memory->beyond;
    return kind;
}

void nodes_print(const coll_nodes *nodes, uint32_t p, FILE *to)
{
    const uint32_t rails = coll_rails_count(nodes, p);
    if (nodes->count == 0)
        return;
    fprintf(to, ", on %u node%s", nodes->count, nodes->count == 1 ? "" : "s");
    if (rails > 1)
        fprintf(to, " of up to %u rails", rails);
    if (nodes->beyond && nodes->beyond->groups)
        fprintf(to, " in %u group%s", nodes->beyond->groups->count,
                nodes->beyond->groups->count == 1 ? "" : "s");
}

void nodes_free(struct nodes_memory *memory)
{
    free(memory->first);
    free(memory->group_first);
    free(memory->rail);
}
