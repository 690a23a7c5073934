/* tools/sweep_file.c — see sweep_file.h */
#define _POSIX_C_SOURCE 200809L
#include "sweep_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

static _Noreturn void cannot(const char *path, const char *what)
{
    refuse("%s cannot be %s: %s", path, what, strerror(errno));
}

/* One process writes it. */
static void lock(const struct sweep_file *file)
{
    struct flock whole;
    memset(&whole, 0, sizeof whole);
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (fcntl(fileno(file->to), F_SETLK, &whole) != 0 && (errno == EACCES || errno == EAGAIN))
        refuse("%s is being written by another process: wait for it, or name another file",
               file->path);
}

/* Is the head there? False: the file is empty, or ends within the head. */
static bool read_head(const struct sweep_file *file, const char *head)
{
    const size_t n = strlen(head);
    char *there = malloc(n + 1);
    size_t is;
    bool same;
    if (!there)
        refuse("there is not enough memory for this");
    is = fread(there, 1, n, file->to);
    same = strncmp(there, head, is) == 0;
    free(there);
    if (ferror(file->to))
        cannot(file->path, "read");
    if (!same)
        refuse("%s holds something else than this sweep, which its first line would say: name "
               "another file, or remove it",
               file->path);
    return is == n;
}

size_t sweep_file_open(struct sweep_file *file, const char *path, const char *head,
                       sweep_file_take *take, void *arg)
{
    size_t lines = 0, room = 0;
    ssize_t length;
    char *line = NULL;
    long good = 0;
    file->path = path && strcmp(path, "-") != 0 ? path : NULL;
    file->to = file->path ? fopen(path, "r+") : stdout;
    if (!file->to && errno == ENOENT)
        file->to = fopen(path, "w+");
    if (!file->to)
        cannot(path, "written");
    if (!file->path) {
        fputs(head, file->to);
        return 0;
    }
    lock(file);
    if (read_head(file, head)) {
        good = (long)strlen(head);
        while ((length = getline(&line, &room, file->to)) > 0 && line[length - 1] == '\n') {
            if (!take(arg, lines, line))
                refuse("line %zu of %s is not what this sweep writes there: name another file, "
                       "or remove it",
                       lines + 3, path);
            lines++;
            good += length;
        }
        free(line);
    }
    if (fseek(file->to, good, SEEK_SET) != 0 || ftruncate(fileno(file->to), good) != 0)
        cannot(path, "written");
    if (good == 0)
        fputs(head, file->to);
    return lines;
}

void sweep_file_flush(struct sweep_file *file)
{
    if (fflush(file->to) != 0)
        cannot(file->path ? file->path : "the output", "written");
}

void sweep_file_close(struct sweep_file *file)
{
    sweep_file_flush(file);
    if (file->path && fclose(file->to) != 0)
        cannot(file->path, "written");
}
