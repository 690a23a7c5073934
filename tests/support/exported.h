/* tests/support/exported.h — a rig's plans as text of a format, and words of text to read */
#ifndef COLL_TESTS_EXPORT_EXPORTED_H
#define COLL_TESTS_EXPORT_EXPORTED_H

#include "check.h"
#include "coll/lab/export/writer.h"
#include "rig.h"

typedef struct exported {
    coll_export job;
    char *text;
    size_t bytes, room;
} exported;

static inline bool exported_write(void *arg, const char *text, size_t bytes)
{
    exported *to = (exported *)arg;
    if (to->bytes + bytes + 1 > to->room) {
        to->room = 2 * (to->bytes + bytes + 1);
        to->text = (char *)realloc(to->text, to->room);
    }
    memcpy(to->text + to->bytes, text, bytes);
    to->bytes += bytes;
    to->text[to->bytes] = '\0';
    return true;
}

static inline const coll_plan *exported_plan(void *arg, uint32_t rank)
{
    return &((rig *)arg)->ranks[rank].plan;
}

/* Ready to export what the rig runs. */
static inline void exported_init(exported *to, rig *it)
{
    memset(to, 0, sizeof *to);
    coll_export_init(&to->job, NULL, stdout);
    to->job.plan_of = exported_plan;
    to->job.arg = it;
    to->job.to.write = exported_write;
    to->job.to.arg = to;
}

#endif /* COLL_TESTS_EXPORT_EXPORTED_H */
