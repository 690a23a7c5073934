/* cmake/linked.c — the function that libraries to link have beside those of the headers */
#include <string.h>

#include "coll/linked.h"

static const struct {
    const char *name;
    size_t bytes;
} types[] = {
#define TYPE(name) {#name, sizeof(name)},
#include "types.h"
};

size_t coll_bytes_of(const char *structure)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(structure, types[i].name) == 0)
            return types[i].bytes;
    return 0;
}
