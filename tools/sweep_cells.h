/* tools/sweep_cells.h — what coll sweep simulates: the axes of its grid, and the cells in order
 *
 * The last axis changes fastest: collective, algorithm, parameters, model, topology, noise, skew, ranks, count.
 */
#ifndef COLL_TOOLS_SWEEP_CELLS_H
#define COLL_TOOLS_SWEEP_CELLS_H

#include "ask.h"
#include "grid.h"
#include "job.h"
#include "simulated.h"

enum { SWEEP_WORD = 160, SWEEP_MOST = 1 << 20 };

/* What the user says, and what it comes to. */
struct sweep {
    /* in words */
    const char *collectives, *algorithms, *ranks, *counts, *type;
    struct option_words models, topologies, noises, skews;
    struct ask ask;      /* params, inner, nodes, …: of all cells */
    struct simulated on; /* memory, nic, placement: of all cells */
    uint64_t seeds, seed;

    /* as they are read */
    size_t elem_bytes;
    struct grid p, count;
    struct sweep_param {
        char name[32];
        struct grid values;
    } param[OPTION_WORDS_MAX];
    size_t n_params;
    struct sweep_cell *cells;
    size_t n;
};

/* A point of the grid: indices of the axes. */
struct sweep_cell {
    coll_collective collective;
    const char *algorithm;            /* as the user wrote it, or the table has it */
    uint16_t param[OPTION_WORDS_MAX]; /* of its values, and 1; 0: it has none of this name */
    uint16_t model, topology, noise, skew, p, count;
};

#define SWEEP_NOTHING                                                                          \
    {                                                                                          \
        .algorithms = "all", .counts = "1", .type = "f64", .ask = ASK_NOTHING,                 \
        .seeds = UINT64_MAX, .seed = UINT64_MAX                                                \
    }

/* Reads the words and makes the cells, or refuses what no cell could be. */
void sweep_make(struct sweep *sweep);

/* Writes what says which cell it is, "a,b,…,", as the columns are that sweep_key_columns names. */
void sweep_key(const struct sweep *sweep, size_t i, FILE *to);
extern const char sweep_key_columns[];

/* Writes the whole sweep in a line without its end: the same words if the cells are the same. */
void sweep_print(const struct sweep *sweep, FILE *to);

/* The job and the machine of a cell, for a seed; or refuses. */
void sweep_job(const struct sweep *sweep, size_t i, uint64_t seed, struct job *job,
               struct simulated *on);

void sweep_free(struct sweep *sweep);

#endif /* COLL_TOOLS_SWEEP_CELLS_H */
