/* coll/transports/node/costs_file.h — ranks that share memory: a machine's costs in a file
 *
 *   coll-node-costs 1
 *   machine 2 processors, AMD EPYC, x86_64, Linux 6.1.0-18-amd64
 *   line_ns 80
 *   …                                      one line for each value of coll_node_costs, in any order
 *
 * A machine's own file lies in $XDG_CACHE_HOME/coll, or ~/.cache/coll, and is named after what the
 * machine is. It is written beside its place and renamed, so nobody reads half of it. A file that is
 * not this user's, that others may write, is a link, too long, of another machine or malformed is
 * none.
 *
 * Use threads.h or shm.h.
 */
#ifndef COLL_TRANSPORTS_NODE_COSTS_FILE_H
#define COLL_TRANSPORTS_NODE_COSTS_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../idle.h"
#include "costs.h"

#if defined(O_NOFOLLOW) && defined(O_CLOEXEC) /* strict C99 hides them */
#define COLL_I_NODE_NO_LINK (O_NOFOLLOW | O_CLOEXEC)
#else
#define COLL_I_NODE_NO_LINK 0
#endif

enum {
    COLL_NODE_MACHINE = 256,       /* bytes of a machine's description */
    COLL_I_NODE_COSTS_TEXT = 2048, /* … of such a file, with the last 0 … */
    COLL_I_NODE_COSTS_PATH = 1024, /* … and of its path */
    COLL_I_NODE_BUSY_S = 60 /* so long nobody measures again where others had the processors */
};

/* ---- what the machine is ------------------------------------------------------------------ */

/* Reads the beginning of a file as text; false: it cannot be read. */
COLL_INLINE bool coll_i_node_read_text(const char *path, char *text, size_t room)
{
    const int fd = open(path, O_RDONLY);
    size_t n = 0;
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0 && n < room - 1) {
        got = read(fd, text + n, room - 1 - n);
        if (got > 0)
            n += (size_t)got;
        else if (got < 0 && errno == EINTR)
            got = 1;
    }
    text[n] = 0;
    if (fd >= 0)
        (void)close(fd);
    return got >= 0;
}

/* Writes what /proc/cpuinfo calls the processors; "processors": it does not say. */
COLL_INLINE void coll_i_node_model(char *model, size_t room)
{
    static const char *const keys[] = {"\nmodel name", "\ncpu model", "\nuarch", "\nCPU part"};
    char text[4096];
    (void)snprintf(model, room, "processors");
    if (!coll_i_node_read_text("/proc/cpuinfo", text, sizeof text))
        return;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *line = strstr(text, keys[i]), *from = line ? strchr(line, ':') : NULL;
        size_t n = from ? strcspn(from + 1, "\n") : 0;
        if (n > 1 && n < room) {
            memcpy(model, from + 2, n - 1);
            model[n - 1] = 0;
            return;
        }
    }
}

/* Writes a line, COLL_NODE_MACHINE bytes, that says what this machine is, as far as this thread may use
 * it: its processors and the kernel. */
COLL_INLINE void coll_node_machine(char *line)
{
    uint64_t mine[COLL_PROCESSORS_WORDS] = {0};
    struct utsname its;
    char model[128];
    coll_processors_add(mine);
    coll_i_node_model(model, sizeof model);
    if (uname(&its) != 0)
        memset(&its, 0, sizeof its);
    (void)snprintf(line, COLL_NODE_MACHINE, "%u processors, %s, %.16s, %.16s %.64s",
                   (unsigned)coll_processors_count(mine), model, its.machine, its.sysname,
                   its.release);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
}

/* ---- reading and writing ------------------------------------------------------------------ */

/* Reads the number behind a name; false: there is none, or it is too large. */
COLL_INLINE bool coll_i_node_number(const char *text, size_t n, uint32_t *value)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        sum = sum * 10 + (uint32_t)(text[i] - '0');
    }
    *value = sum;
    return n > 0 && n <= 9;
}

/* Takes a line with a value; false: it is none, or the value was there before (`seen`). */
COLL_INLINE bool coll_i_node_take_cost(coll_node_costs *costs, const char *line, size_t n,
                                       uint32_t *seen)
{
    for (uint32_t i = 0; i < COLL_NODE_COSTS; i++) {
        const char *name;
        uint32_t *const value = coll_node_cost(costs, i, &name);
        const size_t length = strlen(name);
        if (n <= length || memcmp(line, name, length) != 0 || line[length] != ' ')
            continue;
        if (*seen >> i & 1)
            return false;
        *seen |= (uint32_t)1 << i;
        return coll_i_node_number(line + length + 1, n - length - 1, value);
    }
    return false;
}

/* Reads costs out of a text. `machine`: which it must be of; NULL: any. False: they are not there, all of
 * them once and nothing else. */
COLL_INLINE bool coll_node_costs_read(coll_node_costs *costs, const char *text,
                                      const char *machine)
{
    static const char first[] = "coll-node-costs 1\n", of[] = "machine ";
    uint32_t seen = 0;
    size_t n;
    if (strncmp(text, first, sizeof first - 1) != 0)
        return false;
    text += sizeof first - 1;
    if (strncmp(text, of, sizeof of - 1) != 0)
        return false;
    text += sizeof of - 1;
    n = strcspn(text, "\n");
    if (text[n] != '\n' || (machine && (strlen(machine) != n || memcmp(text, machine, n) != 0)))
        return false;
    for (text += n + 1; *text; text += n + 1) {
        n = strcspn(text, "\n");
        if (text[n] != '\n' || !coll_i_node_take_cost(costs, text, n, &seen))
            return false;
    }
    return seen == ((uint32_t)1 << COLL_NODE_COSTS) - 1 && coll_node_costs_are_well(costs);
}

/* Writes the text of such a file; returns its length, or 0: there is not so much room. */
COLL_INLINE size_t coll_node_costs_write(const coll_node_costs *costs, const char *machine,
                                         char *text, size_t room)
{
    coll_node_costs its = *costs;
    int n = snprintf(text, room, "coll-node-costs 1\nmachine %s\n", machine);
    size_t at = n > 0 ? (size_t)n : room;
    for (uint32_t i = 0; i < COLL_NODE_COSTS && at < room; i++) {
        const char *name;
        const uint32_t value = *coll_node_cost(&its, i, &name);
        n = snprintf(text + at, room - at, "%s %u\n", name, (unsigned)value);
        at = n > 0 ? at + (size_t)n : room;
    }
    return at < room ? at : 0;
}

/* Reads such a file; false: there is none, or it is not to be trusted. */
COLL_INLINE bool coll_node_costs_load(coll_node_costs *costs, const char *path,
                                      const char *machine)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | COLL_I_NODE_NO_LINK);
    char text[COLL_I_NODE_COSTS_TEXT];
    coll_node_costs its;
    struct stat file;
    ssize_t n = -1;
    if (fd < 0)
        return false;
    if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
        (file.st_mode & (S_IWGRP | S_IWOTH)) == 0 && file.st_size < (off_t)sizeof text)
        n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (n < 0 || memchr(text, 0, (size_t)n))
        return false;
    text[n] = 0;
    if (!coll_node_costs_read(&its, text, machine))
        return false;
    *costs = its;
    return true;
}

/* Writes such a file, at once; false: it could not. */
COLL_INLINE bool coll_node_costs_store(const coll_node_costs *costs, const char *path,
                                       const char *machine)
{
    char text[COLL_I_NODE_COSTS_TEXT], beside[COLL_I_NODE_COSTS_PATH + 64];
    const size_t n = coll_node_costs_write(costs, machine, text, sizeof text);
    bool well;
    int fd;
    (void)snprintf(beside, sizeof beside, "%s.%ld.%lu", path, (long)getpid(),
                   (unsigned long)(uintptr_t)text);
    fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | COLL_I_NODE_NO_LINK, S_IRUSR | S_IWUSR);
    if (fd < 0 || n == 0) {
        if (fd >= 0)
            (void)close(fd);
        return false;
    }
    well = write(fd, text, n) == (ssize_t)n;
    well = close(fd) == 0 && well && rename(beside, path) == 0;
    if (!well)
        (void)unlink(beside);
    return well;
}

/* ---- machines that are busy ---------------------------------------------------------------- */

/* Beside the file: its time is that of a measurement that did not come to its end. */
COLL_INLINE void coll_i_node_busy_path(const char *path, char *busy)
{
    (void)snprintf(busy, COLL_I_NODE_COSTS_PATH + 8, "%s.busy", path);
}

/* Had others the processors when somebody wanted to measure lately? */
COLL_INLINE bool coll_i_node_was_busy(const char *path)
{
    char busy[COLL_I_NODE_COSTS_PATH + 8];
    struct stat its;
    time_t now = time(NULL);
    coll_i_node_busy_path(path, busy);
    return stat(busy, &its) == 0 && its.st_mtime <= now &&
           now - its.st_mtime < COLL_I_NODE_BUSY_S;
}

/* Notes it, or that it is over. */
COLL_INLINE void coll_i_node_set_busy(const char *path, bool is)
{
    char busy[COLL_I_NODE_COSTS_PATH + 8];
    coll_i_node_busy_path(path, busy);
    (void)unlink(busy);
    if (is) {
        const int fd =
            open(busy, O_WRONLY | O_CREAT | O_EXCL | COLL_I_NODE_NO_LINK, S_IRUSR | S_IWUSR);
        if (fd >= 0)
            (void)close(fd);
    }
}

/* ---- the machine's own file ---------------------------------------------------------------- */

/* Writes the path of this machine's file, and makes the folders that it is to lie in; false: nothing can be
 * kept there. A program that has rights of another user keeps nothing. */
COLL_INLINE bool coll_i_node_costs_path(char *path, size_t room, const char *machine)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool own = cache && *cache == '/';
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    struct stat its;
    char *at;
    int n;
    if (getuid() != geteuid() || getgid() != getegid() || (!own && (!home || *home != '/')))
        return false;
    n = snprintf(path, room, "%s%s", own ? cache : home, own ? "" : "/.cache");
    if (n < 0 || (size_t)n + sizeof "/coll/node-0123456789abcdef" > room)
        return false;
    (void)mkdir(path, S_IRWXU);
    memcpy(path + n, "/coll", sizeof "/coll");
    (void)mkdir(path, S_IRWXU);
    if (stat(path, &its) != 0 || !S_ISDIR(its.st_mode) || its.st_uid != geteuid() ||
        (its.st_mode & (S_IWGRP | S_IWOTH)) != 0 || access(path, W_OK) != 0)
        return false;
    for (; *machine; machine++)
        hash = (hash ^ (unsigned char)*machine) * 1099511628211u;
    at = path + n + sizeof "/coll" - 1;
    memcpy(at, "/node-", sizeof "/node-");
    at += sizeof "/node-" - 1;
    for (int shift = 60; shift >= 0; shift -= 4)
        *at++ = "0123456789abcdef"[hash >> shift & 15];
    *at = 0;
    return true;
}

#endif /* COLL_TRANSPORTS_NODE_COSTS_FILE_H */
