/* coll/lab/import.h — schedules that others wrote: read, proven or refuted, and run as any plan
 *
 *   coll_import schedule;
 *   coll_import_options options = {0};
 *   coll_sentence why;
 *   result = coll_import_read(&schedule, text, bytes, &options, &why);
 *   if (result == COLL_IMPORT_REFUSED)
 *       puts(why.text);                            // line 12: "count" is missing
 *   else if (result == COLL_IMPORT_WRONG || !coll_import_prove(&schedule))
 *       puts(schedule.report.sentence);            // rank 3, step 1: …
 *   … schedule.plans[rank], for show, a simulation, an engine …
 *   coll_import_release(&schedule);
 *
 *   header                 reads
 *   import/import_json.h   JSON as coll_export_json writes it, whoever wrote it
 *   import/import_msccl.h  XML for the executors of MSCCL: thread blocks side by side
 *   import/import_goal.h   GOAL: messages and their order, without data
 *   import/imported.h      (what comes of it)
 *
 * The text is in memory, need not end with a zero, and may hold anything: numbers, nesting and references are
 * checked, and what is wrong is said in a sentence with the number of the line. docs/formats.md says what is proven
 * of each format. Hosted: allocates.
 */
#ifndef COLL_LAB_IMPORT_H
#define COLL_LAB_IMPORT_H

#include "import/import_goal.h"
#include "import/import_json.h"
#include "import/import_msccl.h"

/* Reads a text, whose first character tells its format. Whatever comes of it, *it is to be released. */
COLL_INLINE coll_import_result coll_import_read(coll_import *it, const char *text, size_t bytes,
                                                const coll_import_options *options,
                                                coll_sentence *why)
{
    size_t at = 0;
    memset(it, 0, sizeof *it);
    if (options)
        it->options = *options;
    it->report.ok = true;
    it->report.step = COLL_NO_STEP;
    why->text[0] = '\0';
    while (at < bytes &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))
        at++;
    it->format = at < bytes && text[at] == '{'   ? COLL_IMPORT_JSON
                 : at < bytes && text[at] == '<' ? COLL_IMPORT_MSCCL
                                                 : COLL_IMPORT_GOAL;
    if (it->format == COLL_IMPORT_JSON)
        return coll_i_import_json(it, text, bytes, why);
    if (it->format == COLL_IMPORT_MSCCL)
        return coll_i_import_msccl(it, text, bytes, why);
    return coll_i_import_goal(it, text, bytes, why);
}

/* Elements of all ranks; SIZE_MAX: more than can be counted. */
COLL_INLINE size_t coll_i_import_elements(const coll_import *it)
{
    size_t sum = 0;
    for (uint32_t rank = 0; rank < it->p; rank++) {
        const coll_extents extents = coll_plan_extents(&it->plans[rank], rank);
        const size_t more[] = {extents.in, extents.out,
                               coll_plan_scratch(&it->plans[rank], rank),
                               coll_plan_shared(&it->plans[rank])};
        for (unsigned i = 0; i < 4; i++)
            sum = more[i] > SIZE_MAX - sum ? SIZE_MAX : sum + more[i];
    }
    return sum;
}

/* Finds the least window and sends in flight with which the plans end; the plans have them then, or 32, which need
 * not suffice: *window is 0. */
COLL_INLINE bool coll_i_import_window(coll_import *it, coll_verifier *v, coll_report *report)
{
    coll_report bounds;
    memset(&bounds, 0, sizeof bounds);
    bounds.ok = true;
    if (report->window == 0 && coll_i_check_window(&v->world, &v->data, 0, 0, &bounds)) {
        report->window = bounds.window;
        report->sends = bounds.sends;
    }
    for (uint32_t rank = 0; report->window > 0 && rank < it->p; rank++) {
        it->plans[rank].window = (uint16_t)report->window;
        it->plans[rank].sends = (uint16_t)report->sends;
    }
    return report->window > 0;
}

/* Proves what was read, as coll_verify does; it->report says what came of it, and where in the text. What thread
 * blocks compute does not depend on who runs when, as they have no races. */
COLL_INLINE bool coll_import_prove(coll_import *it)
{
    const size_t most = it->options.most ? it->options.most : (size_t)1 << 28;
    coll_verify_options options;
    coll_verifier verifier;
    if (it->format == COLL_IMPORT_GOAL)
        return it->report.ok;
    memset(&options, 0, sizeof options);
    coll_verifier_init(&verifier);
    options.plan_of = coll_import_plan_of;
    options.arg = it;
    options.verifier = &verifier;
    options.skip = it->format == COLL_IMPORT_MSCCL ? COLL_VERIFY_NO_WINDOW : 0;
    options.skip |= COLL_VERIFY_NO_PURITY; /* the actions lie in tables */
    if (coll_i_import_elements(it) > most)
        return coll_i_found(
            &it->report, COLL_FOUND_NO_MEMORY, 0, COLL_NO_STEP,
            "the ranks have more than %zu elements together: take a smaller count", most);
    coll_verify(NULL, &options, &it->report);
    if (it->report.ok)
        (void)coll_i_import_window(it, &verifier, &it->report);
    coll_i_import_say_where(it, &it->report);
    it->report.ranks = NULL;
    coll_verifier_release(&verifier);
    return it->report.ok;
}

#endif /* COLL_LAB_IMPORT_H */
