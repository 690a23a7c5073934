/* tools/json.c — see json.h */
#include "json.h"

#include "coll/lab/export/writer.h"

void json_string(const char *text)
{
    coll_writer to;
    coll_writer_init(&to, stdout);
    coll_write_quoted(&to, text);
}
