/* tools/imported.c — see imported.h */
#include "imported.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "memory.h"

/* All of a file. */
static char *text_of(const char *file, size_t *bytes)
{
    FILE *from = fopen(file, "rb");
    char *text = NULL;
    size_t room = 0, n;
    *bytes = 0;
    if (!from)
        refuse("%s cannot be read: %s", file, strerror(errno));
    do {
        if (*bytes == room) {
            room = 2 * room + 65536;
            text = memory_must(realloc(text, room));
        }
        n = fread(text + *bytes, 1, room - *bytes, from);
        *bytes += n;
        if (*bytes > IMPORTED_MOST)
            refuse("%s has more than %zu bytes", file, IMPORTED_MOST);
    } while (n > 0);
    if (ferror(from))
        refuse("%s cannot be read: %s", file, strerror(errno));
    fclose(from);
    return text;
}

coll_import_result imported_read(coll_import *it, const char *file, uint64_t count,
                                 size_t elem_bytes, bool in_place)
{
    coll_import_options options = {.elem_bytes = elem_bytes, .in_place = in_place};
    coll_import_result result;
    coll_sentence why;
    size_t bytes;
    char *text = text_of(file, &bytes);
    result = coll_import_read(it, text, bytes, &options, &why);
    if (result == COLL_IMPORTED && count != UINT64_MAX && count != it->problem.count) {
        const size_t chunks = it->problem.count;
        if (it->format != COLL_IMPORT_MSCCL)
            refuse("%s has %zu elements, and no other number: leave --count out", file, chunks);
        if (chunks == 0 || count == 0 || count % chunks != 0)
            refuse("%s cuts what it moves in %zu chunks: --count is a multiple of that, not "
                   "%" PRIu64,
                   file, chunks, count);
        options.chunk = count / chunks;
        coll_import_release(it);
        result = coll_import_read(it, text, bytes, &options, &why);
    }
    free(text);
    if (result == COLL_IMPORT_REFUSED)
        refuse("%s, %s", file, why.text);
    return result;
}

void imported_has_data(const coll_import *it, const char *file)
{
    if (it->format == COLL_IMPORT_GOAL)
        refuse("%s is GOAL, which says nothing of data: coll verify and coll show read it",
               file);
}

void imported_check(const struct ask *ask)
{
    if (ask->collective || ask->algorithm)
        refuse("--import FILE says what is done: leave COLLECTIVE and ALGORITHM out");
    if (ask->p != UINT64_MAX || ask->root != UINT64_MAX || ask->params.n || ask->inner.n ||
        ask->non_commutative || ask->nodes.nodes || ask->nodes.rails || ask->nodes.groups ||
        ask->graph || ask->counts || ask->layout || ask->group || ask->places ||
        ask->root_tables)
        refuse("--import goes with --count and --in-place alone, of what is asked for: the "
               "schedule says the rest");
}

/* What was proven, in words. */
static const char *proven_words(const coll_import *it)
{
    if (it->format == COLL_IMPORT_GOAL)
        return "messages match, and all ranks end, also where sends wait for their receivers; "
               "GOAL says nothing of data";
    if (it->custom)
        return "messages match, all ranks end, and thread blocks have no races; what comes out "
               "it does not say";
    return it->format == COLL_IMPORT_MSCCL ? "proven, in whatever order its thread blocks run"
                                           : "proven";
}

static void print_head(const coll_import *it, const char *file)
{
    const coll_problem *of = &it->problem;
    printf("%s: %s, %s: %u rank%s", file,
           it->custom ? "custom" : coll_collective_name(of->collective), it->algorithm.name,
           of->p, of->p == 1 ? "" : "s");
    if (!it->custom && of->collective != COLL_BARRIER)
        printf(", count %zu", of->count);
    printf("%s\n", of->flags & COLL_FLAG_IN_PLACE ? ", in place" : "");
}

static void print_proven(const coll_import *it)
{
    printf("  %s\n  %" PRIu64 " message%s", proven_words(it), it->report.messages,
           it->report.messages == 1 ? "" : "s");
    if (it->report.rounds > 0)
        printf(", %u in the longest chain", it->report.rounds);
    if (it->report.window > 0)
        printf("; as a sequence it needs a window of %u, or %u send%s in flight",
               it->report.window, it->report.sends, it->report.sends == 1 ? "" : "s");
    printf("\n");
    if (it->ambiguous > 0)
        printf("  %" PRIu64 " messages have tag and size of others and no order with them: "
               "matched as they stand\n",
               it->ambiguous);
}

int imported_verify(const char *file)
{
    bool good = true, both = false;
    for (int in_place = 0; in_place <= (both ? 1 : 0) && good; in_place++) {
        coll_import it;
        const coll_import_result result =
            imported_read(&it, file, UINT64_MAX, 8, in_place != 0);
        both = it.both;
        if (result == COLL_IMPORTED)
            print_head(&it, file);
        else
            printf("%s\n", file);
        good = result == COLL_IMPORTED && coll_import_prove(&it);
        if (good)
            print_proven(&it);
        else
            printf("  FAILED: %s\n", it.report.sentence);
        coll_import_release(&it);
    }
    return good ? 0 : 1;
}
