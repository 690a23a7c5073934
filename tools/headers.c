/* tools/headers.c — see headers.h */
#include "headers.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

/* Seen from the command, once it is installed; and of the tree that it is built in. */
#ifndef COLL_INCLUDE_FROM_BIN
#define COLL_INCLUDE_FROM_BIN "../include"
#endif
#ifndef COLL_INCLUDE_OF_TREE
#define COLL_INCLUDE_OF_TREE ""
#endif

static bool has_headers(const char *folder)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/coll/plan.h", folder);
    return *folder && access(path, R_OK) == 0;
}

const char *headers_folder(void)
{
    static char folder[PATH_MAX + sizeof COLL_INCLUDE_FROM_BIN + 2];
    const char *given = getenv("COLL_INCLUDE");
    ssize_t n;
    char *slash;
    if (given && *given) {
        if (!has_headers(given))
            refuse("COLL_INCLUDE is %s, and there is no coll/plan.h in it", given);
        return given;
    }
    n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    folder[n > 0 ? n : 0] = '\0';
    slash = strrchr(folder, '/');
    if (slash) {
        strcpy(slash + 1, COLL_INCLUDE_FROM_BIN);
        if (has_headers(folder))
            return folder;
    }
    if (has_headers(COLL_INCLUDE_OF_TREE))
        return COLL_INCLUDE_OF_TREE;
    refuse("the headers of coll are not where this command was installed; COLL_INCLUDE=FOLDER "
           "names the folder that has coll/plan.h");
}
