/* tools/output.c — see output.h */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "options.h"

static char *temporary; /* to be removed, and what it is to become */
static char *final;

static void drop(void)
{
    if (temporary)
        unlink(temporary);
}

static void drop_and_end(int number)
{
    drop();
    signal(number, SIG_DFL);
    raise(number);
}

/* Opens a temporary file beside `path`, with the rights of the file that is there (NULL: none). */
static FILE *open_beside(const char *path, const struct stat *old)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
    const mode_t mask = umask(0);
    FILE *file = NULL;
    int fd;
    umask(mask);
    final = memory_must(old ? realpath(path, NULL) : strdup(path));
    temporary = memory_must(malloc(strlen(final) + sizeof ".XXXXXX"));
    strcpy(temporary, final);
    strcat(temporary, ".XXXXXX");
    fd = mkstemp(temporary);
    if (fd < 0) {
        free(temporary);
        temporary = NULL;
        return NULL;
    }
    atexit(drop);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], drop_and_end);
    if (fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask) == 0)
        file = fdopen(fd, "w");
    return file;
}

void output_open(struct output *out, const char *path)
{
    struct stat old;
    if (path && !*path)
        refuse("the name of the file is empty");
    out->path = path;
    if (!path || strcmp(path, "-") == 0) {
        out->path = NULL;
        out->file = stdout;
        return;
    }
    if (stat(path, &old) != 0)
        out->file = errno == ENOENT ? open_beside(path, NULL) : NULL;
    else if (S_ISDIR(old.st_mode))
        refuse("%s is a folder", path);
    else if (!S_ISREG(old.st_mode)) /* a device or a pipe stays what it is */
        out->file = fopen(path, "w");
    else
        out->file = access(path, W_OK) == 0 ? open_beside(path, &old) : NULL;
    if (!out->file)
        refuse("%s cannot be written: %s", path, strerror(errno));
}

bool output_close(struct output *out)
{
    bool well;
    if (!out->path)
        return true; /* main looks after the standard output */
    well = ferror(out->file) == 0;
    well = fclose(out->file) == 0 && well;
    if (temporary) {
        well = well && rename(temporary, final) == 0;
        if (!well)
            drop();
        free(temporary);
        free(final);
        temporary = NULL;
    }
    if (!well)
        fprintf(stderr, "coll: %s could not be written\n", out->path);
    return well;
}
