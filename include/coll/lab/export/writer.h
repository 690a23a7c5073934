/* coll/lab/export/writer.h — where exported text goes, and the request that all formats have in
 * common
 *
 *   coll_export job;
 *   coll_export_init(&job, &plan, stdout);
 *   if (coll_export_json(&job) == COLL_EXPORT_REFUSED)
 *       puts(job.sentence);
 *
 * Where the ranks' tables differ, or plans are composite, each rank has a plan of its own:
 * give plan_of. Text goes to `to.write`, which need not be a file's.
 *
 * A plan that the format cannot express is refused before anything is written. The ranks in a
 * file are those of the plan: of a group (coll_plan_place) it says nothing. Allocates what one
 * rank's program needs, or all ranks' where that is said.
 */
#ifndef COLL_LAB_EXPORT_WRITER_H
#define COLL_LAB_EXPORT_WRITER_H

#include "../../plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- text -------------------------------------------------------------------------------- */

/* Where text goes: a function of the caller's. */
typedef struct coll_writer {
    bool (*write)(void *arg, const char *text, size_t bytes); /* false: it could not */
    void *arg;
    bool failed; /* once it could not: nothing more is written */
} coll_writer;

COLL_INLINE bool coll_i_write_file(void *file, const char *text, size_t bytes)
{
    return fwrite(text, 1, bytes, (FILE *)file) == bytes;
}

/* Writes to a file, which stays the caller's. */
COLL_INLINE void coll_writer_init(coll_writer *to, FILE *file)
{
    to->write = coll_i_write_file;
    to->arg = file;
    to->failed = false;
}

COLL_INLINE void coll_i_write_bytes(coll_writer *to, const char *text, size_t bytes)
{
    if (!to->failed && bytes > 0)
        to->failed = !to->write(to->arg, text, bytes);
}

COLL_INLINE void coll_i_write_text(coll_writer *to, const char *text)
{
    coll_i_write_bytes(to, text, strlen(text));
}

/* A short piece: up to 255 bytes; names and sentences go to coll_i_write_text. */
COLL_INLINE COLL_I_PRINTF(2, 3) void coll_i_write(coll_writer *to, const char *format, ...)
{
    char piece[256];
    va_list arguments;
    int n;
    va_start(arguments, format);
    n = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof piece)
        to->failed = true;
    else
        coll_i_write_bytes(to, piece, (size_t)n);
}

/* Text between quotes, as JSON and DOT have it. */
COLL_INLINE void coll_write_quoted(coll_writer *to, const char *text)
{
    coll_i_write_text(to, "\"");
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            coll_i_write(to, "\\%c", c);
        else if (c < 0x20)
            coll_i_write(to, "\\u%04x", (unsigned)c);
        else
            coll_i_write_bytes(to, text, 1);
    }
    coll_i_write_text(to, "\"");
}

/* ---- the request ------------------------------------------------------------------------- */

/* How an export ended. */
typedef enum coll_export_result {
    COLL_EXPORTED,
    COLL_EXPORT_REFUSED,   /* the format cannot express it: the sentence says what to do */
    COLL_EXPORT_NO_MEMORY, /* so far as the text goes, it is right */
    COLL_EXPORT_NOT_WRITTEN
} coll_export_result;

/* What is exported, and where to. */
typedef struct coll_export {
    const coll_plan *plan; /* of all ranks … */
    /* … unless this is not NULL: the plan of a rank, valid until the export ends. */
    const coll_plan *(*plan_of)(void *arg, uint32_t rank);
    void *arg;
    coll_writer to;
    char sentence[320]; /* why it was not exported; "" if it was */
} coll_export;

/* Exports a plan, the same on all ranks, to a file. Both stay the caller's. */
COLL_INLINE void coll_export_init(coll_export *job, const coll_plan *plan, FILE *to)
{
    job->plan = plan;
    job->plan_of = NULL;
    job->arg = NULL;
    coll_writer_init(&job->to, to);
    job->sentence[0] = '\0';
}

COLL_INLINE const coll_plan *coll_i_export_plan(const coll_export *job, uint32_t rank)
{
    return job->plan_of ? job->plan_of(job->arg, rank) : job->plan;
}

COLL_INLINE COLL_I_PRINTF(2, 3) coll_export_result
    coll_i_refuse(coll_export *job, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(job->sentence, sizeof job->sentence, format, arguments);
    va_end(arguments);
    return COLL_EXPORT_REFUSED;
}

/* How the export ended, where it was not refused. */
COLL_INLINE coll_export_result coll_i_export_end(coll_export *job, bool had_memory)
{
    if (!had_memory)
        coll_i_refuse(job, "there is not enough memory for this export");
    else if (job->to.failed)
        coll_i_refuse(job, "the export could not be written");
    return !had_memory      ? COLL_EXPORT_NO_MEMORY
           : job->to.failed ? COLL_EXPORT_NOT_WRITTEN
                            : COLL_EXPORTED;
}

/* What a format asks of an action: COLL_EXPORTED, or a refusal. */
typedef coll_export_result (*coll_i_export_asks)(coll_export *job, const coll_plan *plan,
                                                 const coll_action *a, const void *arg);

/* Asks every action of every rank; NULL: only whether the ranks' plans can run. */
COLL_INLINE coll_export_result coll_i_export_ask(coll_export *job, coll_i_export_asks asks,
                                                 const void *arg)
{
    const uint32_t p = coll_i_export_plan(job, 0)->problem.p;
    for (uint32_t rank = 0; rank < p; rank++) {
        const coll_plan *plan = coll_i_export_plan(job, rank);
        const coll_status status = coll_plan_check_rank(plan, rank);
        const size_t steps = status == COLL_OK && asks ? coll_plan_steps(plan, rank) : 0;
        if (status != COLL_OK)
            return coll_i_refuse(job, "the plan of rank %u cannot run: %s", rank,
                                 coll_status_text(status));
        for (size_t s = 0; s < steps; s++) {
            coll_action acts[COLL_STEP_MAX];
            const unsigned n = coll_plan_step(plan, rank, s, acts);
            for (unsigned i = 0; i < n; i++) {
                const coll_export_result result =
                    acts[i].count == 0 ? COLL_EXPORTED : asks(job, plan, &acts[i], arg);
                if (result != COLL_EXPORTED)
                    return result;
            }
        }
    }
    return COLL_EXPORTED;
}

#endif /* COLL_LAB_EXPORT_WRITER_H */
