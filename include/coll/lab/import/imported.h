/* coll/lab/import/imported.h — a schedule that was read: the actions of each rank, as plans that any reader of
 * plans takes
 *
 * The algorithm's step function looks its actions up: each rank's plan points to the list of its own. What cannot be
 * a plan, as its messages do not match, is refuted by the reader, with the same report as a proof. Use lab/import.h.
 */
#ifndef COLL_LAB_IMPORT_IMPORTED_H
#define COLL_LAB_IMPORT_IMPORTED_H

#include "../verify.h"
#include "source_text.h"

/* What a text is. */
typedef enum coll_import_format {
    COLL_IMPORT_JSON,  /* as coll_export_json writes it */
    COLL_IMPORT_MSCCL, /* XML for the executors of MSCCL */
    COLL_IMPORT_GOAL   /* programs of sends and receives, without data */
} coll_import_format;

/* How a reading ended. */
typedef enum coll_import_result {
    COLL_IMPORTED,
    COLL_IMPORT_REFUSED, /* it is no such text, or too much: the sentence says why */
    COLL_IMPORT_WRONG    /* it cannot run: the report says where, and why */
} coll_import_result;

/* How it is read; zeroed: as it stands. */
typedef struct coll_import_options {
    size_t chunk;      /* MSCCL: elements of a chunk; 0: one */
    size_t elem_bytes; /* MSCCL: of an element; 0: 8 */
    const char *name;  /* of the algorithm, where the text has none; NULL: its format */
    bool in_place;     /* MSCCL: where a file is for both, take the one in place */
    size_t most;       /* elements of all ranks together that are proven; 0: 2^28 */
} coll_import_options;

/* Where a step stands in the text. */
typedef struct coll_i_place {
    uint32_t line;
    uint32_t block, step; /* MSCCL: of a thread block; COLL_I_NONE: of none */
} coll_i_place;

/* The actions of a rank. */
typedef struct coll_i_imported_rank {
    coll_i_memory actions, starts, places; /* all; of each step the first; … and its place */
    size_t n, steps;
    size_t extent[COLL_SPACES];
    coll_i_memory
        table[2]; /* blocks of IN and OUT of a v-collective: counts, then displacements … */
    size_t blocks[2];        /* … of so many blocks; SIZE_MAX: it has no such table */
    coll_i_memory listed[2]; /* neighbours: sources, destinations */
    size_t neighbors[2];     /* SIZE_MAX: it has no such list */
    coll_graph graph;
} coll_i_imported_rank;

/* A schedule that was read, and plans of it. Make it by coll_import_read; release it. */
typedef struct coll_import {
    coll_import_format format; /* that it was read in */
    uint32_t p;                /* ranks */
    coll_plan *plans;          /* of each rank; where the reading was not refused, or wrong */
    coll_algorithm algorithm;
    coll_problem problem; /* that of rank 0 */
    bool both;            /* MSCCL: the file is for calls in place, and for others */
    bool custom;          /* it does not say what comes out, as a program in GOAL does not */
    uint64_t
        ambiguous; /* GOAL: messages of one tag and size that are in no order: matched as they stand */
    coll_report report; /* of COLL_IMPORT_WRONG; later of coll_import_prove */
    /* Private: */
    coll_import_options options;
    coll_i_imported_rank *ranks;
    coll_i_memory nodes;
    char name[64];
} coll_import;

/* ---- the plans --------------------------------------------------------------------------- */

COLL_INLINE const coll_i_imported_rank *coll_i_imported(const coll_plan *plan)
{
    return (const coll_i_imported_rank *)plan->inner;
}

COLL_INLINE size_t coll_i_imported_steps(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return coll_i_imported(plan)->steps;
}

COLL_INLINE unsigned coll_i_imported_step(const coll_plan *plan, uint32_t rank, size_t s,
                                          coll_action *out)
{
    const coll_i_imported_rank *of = coll_i_imported(plan);
    const size_t *starts = (const size_t *)of->starts.at;
    const size_t end = s + 1 < of->steps ? starts[s + 1] : of->n;
    (void)rank;
    for (size_t i = starts[s]; i < end; i++)
        coll_i_action_assign(out++, (const coll_action *)of->actions.at + i);
    return (unsigned)(end - starts[s]);
}

COLL_INLINE size_t coll_i_imported_scratch(const coll_plan *plan, uint32_t rank)
{
    (void)rank;
    return coll_i_imported(plan)->extent[COLL_SCRATCH];
}

COLL_INLINE size_t coll_i_imported_shared(const coll_plan *plan)
{
    return coll_i_imported(plan)->extent[COLL_SHARED];
}

/* Adds a step, which has no actions yet. False: no memory. */
COLL_INLINE bool coll_i_imported_step_add(coll_i_imported_rank *r, uint32_t line,
                                          uint32_t block, uint32_t step)
{
    size_t *starts =
        (size_t *)coll_i_reserve(&r->starts, (r->steps + (size_t)1) * sizeof(size_t));
    coll_i_place *places =
        (coll_i_place *)coll_i_reserve(&r->places, (r->steps + (size_t)1) * sizeof *places);
    if (!starts || !places)
        return false;
    starts[r->steps] = r->n;
    places[r->steps].line = line;
    places[r->steps].block = block;
    places[r->steps++].step = step;
    return true;
}

/* Adds an action to the last step; NULL: no memory. */
COLL_INLINE coll_action *coll_i_imported_add(coll_i_imported_rank *r)
{
    coll_action *actions =
        (coll_action *)coll_i_reserve(&r->actions, (r->n + (size_t)1) * sizeof *actions);
    if (!actions)
        return NULL;
    memset(&actions[r->n], 0, sizeof *actions);
    return &actions[r->n++];
}

/* Zeroed ranks. False: no memory. */
COLL_INLINE bool coll_i_import_ranks(coll_import *it, uint32_t p)
{
    coll_i_imported_rank *ranks = (coll_i_imported_rank *)realloc(it->ranks, p * sizeof *ranks);
    if (!ranks)
        return false;
    memset(ranks + it->p, 0, (p - it->p) * sizeof *ranks);
    for (uint32_t rank = it->p; rank < p; rank++)
        for (unsigned side = 0; side < 2; side++)
            ranks[rank].blocks[side] = ranks[rank].neighbors[side] = SIZE_MAX;
    it->ranks = ranks;
    it->p = p;
    return true;
}

/* What the algorithm's record says; its traits come later. */
COLL_INLINE void coll_i_import_record(coll_import *it, coll_collective collective,
                                      coll_i_lexeme name)
{
    const size_t n = name.n < sizeof it->name - 1 ? name.n : sizeof it->name - 1;
    memset(&it->algorithm, 0, sizeof it->algorithm);
    memcpy(it->name, name.at, n);
    it->name[n] = '\0';
    it->algorithm.name = it->name;
    it->algorithm.source = "as it was read";
    it->algorithm.collectives = COLL_BIT(collective);
    it->algorithm.window = 32;
    it->algorithm.sends = UINT16_MAX;
    it->algorithm.steps = coll_i_imported_steps;
    it->algorithm.step = coll_i_imported_step;
    it->algorithm.scratch = coll_i_imported_scratch;
    it->algorithm.shared = coll_i_imported_shared;
}

/* Makes the plan of a rank of its problem. */
COLL_INLINE coll_status coll_i_import_plan(coll_import *it, uint32_t rank,
                                           const coll_problem *problem)
{
    const coll_status status = coll_plan_init(&it->plans[rank], &it->algorithm, problem, NULL);
    it->plans[rank].inner = &it->ranks[rank];
    return status == COLL_OK ? coll_plan_check_rank(&it->plans[rank], rank) : status;
}

/* The plan of a rank, of a coll_import: for coll_verify_options and coll_export. */
COLL_INLINE const coll_plan *coll_import_plan_of(void *import, uint32_t rank)
{
    return &((coll_import *)import)->plans[rank];
}

/* ---- where ------------------------------------------------------------------------------- */

/* Adds to a report's sentence where its step stands in the text. */
COLL_INLINE void coll_i_import_say_where(const coll_import *it, coll_report *report)
{
    const coll_i_imported_rank *r;
    const coll_i_place *place;
    const size_t n = strlen(report->sentence);
    if (report->ok || report->rank >= it->p)
        return;
    r = &it->ranks[report->rank];
    if (report->step >= r->steps)
        return;
    place = (const coll_i_place *)r->places.at + report->step;
    if (place->block == COLL_I_NONE)
        snprintf(report->sentence + n, sizeof report->sentence - n, " (line %" PRIu32 ")",
                 place->line);
    else
        snprintf(report->sentence + n, sizeof report->sentence - n,
                 " (thread block %" PRIu32 ", step %" PRIu32 ", line %" PRIu32 ")",
                 place->block, place->step, place->line);
}

/* Frees what the reading took; *it may be read into again. */
COLL_INLINE void coll_import_release(coll_import *it)
{
    for (uint32_t rank = 0; rank < it->p; rank++) {
        coll_i_release(&it->ranks[rank].actions);
        coll_i_release(&it->ranks[rank].starts);
        coll_i_release(&it->ranks[rank].places);
        for (unsigned side = 0; side < 2; side++) {
            coll_i_release(&it->ranks[rank].table[side]);
            coll_i_release(&it->ranks[rank].listed[side]);
        }
    }
    free(it->ranks);
    free(it->plans);
    coll_i_release(&it->nodes);
    memset(it, 0, sizeof *it);
}

#endif /* COLL_LAB_IMPORT_IMPORTED_H */
