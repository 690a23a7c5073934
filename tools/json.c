/* tools/json.c — see json.h */
#include "json.h"

#include "coll/export/json.h"

void json_string(const char *text)
{
    coll_writer to;
    coll_writer_init(&to, stdout);
    coll_json_string(&to, text);
}
