/* tools/ask.h — what show, run, sim and export are asked for: the options that they have in common
 *
 *   struct ask ask = ASK_NOTHING;
 *   const struct option options[] = {ASK_OPTIONS(ask), …};
 *   options_read(&command, argc, argv);
 *   job_make(&job, &ask, sizeof(double));     // job.h
 */
#ifndef COLL_TOOLS_ASK_H
#define COLL_TOOLS_ASK_H

#include "coll/types.h"
#include "inner.h"
#include "nodes.h"
#include "options.h"

/* What the user asks for, as written; numbers that are not given are UINT64_MAX. */
struct ask {
    const char *collective, *algorithm;
    const char *counts, *layout, *graph, *group, *places;
    const char *import; /* a file that has the schedule; NULL: an algorithm has */
    struct nodes_words nodes;
    uint64_t p, count, root, seed;
    struct option_words params, inner;
    bool in_place, non_commutative, root_tables;
    bool seeds_more; /* the seed is not that of blocks' sizes alone */
};

#define ASK_NOTHING                                                                            \
    {                                                                                          \
        .p = UINT64_MAX, .count = UINT64_MAX, .root = UINT64_MAX, .seed = UINT64_MAX           \
    }

#define ASK_OPTIONS(ask)                                                                       \
    OPTIONAL("COLLECTIVE", "which collective", &(ask).collective),                             \
        OPTIONAL("ALGORITHM", "one of its algorithms: coll list COLLECTIVE",                   \
                 &(ask).algorithm),                                                            \
        WORD("import", "FILE", "instead of these, a schedule: JSON, XML for MSCCL, GOAL",      \
             &(ask).import),                                                                   \
        NUMBER('p', "ranks", "P", "number of ranks", &(ask).p, 1, UINT32_MAX),                 \
        NUMBER('n', "count", "N", "elements of the vector, or of a block", &(ask).count, 0,    \
               SIZE_MAX / 2),                                                                  \
        NUMBER('r', "root", "R", "root of a rooted collective (0)", &(ask).root, 0,            \
               UINT32_MAX),                                                                    \
        WORDS("param", "K=V", "a parameter of the algorithm", &(ask).params),                  \
        INNER_OPTION((ask).inner), FLAG("in-place", "the input is in OUT", &(ask).in_place),   \
        FLAG("non-commutative", "operands must stay in rank order", &(ask).non_commutative),   \
        NODES_OPTIONS((ask).nodes),                                                            \
        WORD("graph", "G", "neighbours: ring, mesh, torus, stencil, sparse, ..., torus:4x3",   \
             &(ask).graph),                                                                    \
        WORD("counts", "A,B,...", "elements of each block of a v-collective", &(ask).counts)

#define LAYOUT_OPTIONS(ask)                                                                    \
    WORD("layout", "L", "blocks as the proofs have them: uneven, gaps, one, empty",            \
         &(ask).layout),                                                                       \
        FLAG("root-tables", "with --layout: only the root knows the sizes",                    \
             &(ask).root_tables)

/* Has a collective a table of IN, of OUT? */
bool has_in_table(coll_collective c);
bool has_out_table(coll_collective c);

/* Refuses the request unless it names a collective and an algorithm, or a schedule. */
void ask_named(const struct ask *ask);

/* Refuses options that are missing, or have no meaning for this collective or beside others. */
void ask_check(const struct ask *ask, coll_collective c);

#endif /* COLL_TOOLS_ASK_H */
