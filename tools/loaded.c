/* tools/loaded.c — see loaded.h */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2 */
#endif
#include "loaded.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coll/plan/composite.h"
#include "headers.h"
#include "memory.h"
#include "options.h"
#include "progress.h"

/* What must be alike in the headers that an algorithm is compiled with and in this program. */
#define STAMP(X)                                                                               \
    X(COLL_VERSION_MAJOR, COLL_VERSION_MINOR, COLL_VERSION_PATCH, COLL_STEP_MAX,               \
      COLL_COLLECTIVES, COLL_DO_NETWORK_REDUCE, COLL_NEEDS_INTER_GROUP,                        \
      sizeof(coll_algorithm), sizeof(coll_composite), sizeof(coll_plan), sizeof(coll_problem), \
      sizeof(coll_action))
#define VALUES(...)   __VA_ARGS__
#define WORDS_OF(...) #__VA_ARGS__

enum { SYMBOL = 96, COMPILER_WORDS = 16 };

/* What the compiler writes, which is removed at the end of this process and of no child of it. */
static struct {
    char folder[PATH_MAX];
    pid_t owner; /* 0: nothing is there */
} work;

static const char *path_of(const char *name)
{
    static char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%s", work.folder, name);
    return path;
}

static void drop(void)
{
    if (work.owner != getpid())
        return;
    unlink(path_of("rows.c"));
    unlink(path_of("rows.so"));
    rmdir(work.folder);
    work.owner = 0;
}

static void drop_and_end(int number)
{
    drop();
    signal(number, SIG_DFL);
    raise(number);
}

static void make_folder(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
    const char *parent = getenv("TMPDIR");
    parent = parent && *parent ? parent : "/tmp";
    if ((size_t)snprintf(work.folder, sizeof work.folder, "%s/coll-try-XXXXXX", parent) >=
            sizeof work.folder ||
        !mkdtemp(work.folder))
        refuse("no folder can be made in %s: %s; TMPDIR names another place", parent,
               strerror(errno));
    work.owner = getpid();
    atexit(drop);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], drop_and_end);
}

/* ---- the records of a header ------------------------------------------------------------- */

/* The word at *at, and *at behind it; false: there is another one. */
static bool take_word(const char **at, const char *word)
{
    const size_t n = strlen(word);
    const char *c = *at + strspn(*at, " \t");
    if (strncmp(c, word, n) != 0 || isalnum((unsigned char)c[n]) || c[n] == '_')
        return false;
    *at = c + n;
    return true;
}

/* Takes `COLL_ALGORITHM(NAME,`, `COLL_STATIC_ALGORITHM(NAME,`, `COLL_COMPOSITE(NAME,`, or a record without them, as in
 * `COLL_CONST(coll_algorithm, NAME,` and `static const coll_composite NAME =`, from the beginning
 * of a line. Writes an expression for its address; false: the
 * line is none, or one of an algorithm that is private. */
static bool take_record(const char *line, char *expression, bool *private)
{
    char symbol[SYMBOL];
    size_t n;
    bool composite = take_word(&line, "COLL_COMPOSITE"), macro = true;
    if (composite || take_word(&line, "COLL_ALGORITHM") ||
        take_word(&line, "COLL_STATIC_ALGORITHM")) {
        if (*line++ != '(')
            return false;
    } else {
        macro = take_word(&line, "COLL_CONST") && *line++ == '(';
        if (!macro && (!take_word(&line, "static") || !take_word(&line, "const")))
            return false;
        composite = take_word(&line, "coll_composite");
        if (!composite && !take_word(&line, "coll_algorithm"))
            return false;
        line += macro && *line == ',' ? 1 : 0;
    }
    line += strspn(line, " \t");
    for (n = 0; n + 1 < sizeof symbol && (isalnum((unsigned char)line[n]) || line[n] == '_');
         n++)
        symbol[n] = line[n];
    symbol[n] = '\0';
    line += n;
    line += strspn(line, " \t");
    if (n == 0 || *line != (macro ? ',' : '='))
        return false;
    *private = strncmp(symbol, "coll_i_", 7) == 0;
    snprintf(expression, SYMBOL + 16, "&%s%s", symbol, composite ? ".algorithm" : "");
    return true;
}

/* Writes the unit that is compiled. */
static void write_rows(struct loaded *loaded, const char *path)
{
    FILE *header = fopen(path, "r"), *rows;
    char *line = NULL, expression[SYMBOL + 16];
    size_t room = 0, n_private = 0;
    if (!header)
        refuse("%s cannot be read: %s", loaded->file, strerror(errno));
    rows = fopen(path_of("rows.c"), "w");
    if (!rows)
        refuse("%s cannot be written: %s", path_of("rows.c"), strerror(errno));
    fprintf(rows,
            "#include \"%s\"\n#include \"coll/plan/composite.h\"\n"
            "extern const unsigned long coll_try_stamp[];\n"
            "const unsigned long coll_try_stamp[] = {%s};\n"
            "extern const coll_algorithm *const coll_try_rows[];\n"
            "const coll_algorithm *const coll_try_rows[] = {\n",
            path, STAMP(WORDS_OF));
    while (getline(&line, &room, header) >= 0) {
        bool private;
        if (!take_record(line, expression, &private))
            continue;
        n_private += private;
        if (private)
            continue;
        if (loaded->n == LOADED_MOST)
            refuse("%s has more than %d algorithms", loaded->file, LOADED_MOST);
        loaded->n++;
        fprintf(rows, "    %s,\n", expression);
    }
    fprintf(rows, "    0};\n");
    free(line);
    fclose(header);
    if (ferror(rows) | fclose(rows))
        refuse("%s could not be written", path_of("rows.c"));
    if (loaded->n == 0)
        refuse("%s defines no algorithm%s: a line of it must begin "
               "\"COLL_ALGORITHM(NAME,\", or COLL_COMPOSITE",
               loaded->file, n_private ? " but private ones, coll_i_…" : "");
}

/* ---- the compiler ------------------------------------------------------------------------ */

/* Splits what the user calls the compiler at blanks. Returns the variable that it is from. */
static const char *find_compiler(char **words, size_t *n)
{
    static const char *const variables[] = {"COLL_CC", "CC"};
    const char *from = NULL, *text = "cc";
    for (size_t i = 0; i < 2 && !from; i++) {
        const char *value = getenv(variables[i]);
        if (value && value[strspn(value, " \t")]) {
            from = variables[i];
            text = value;
        }
    }
    *n = 0;
    for (char *word = strtok(memory_must(strdup(text)), " \t"); word;
         word = strtok(NULL, " \t")) {
        if (*n == COMPILER_WORDS)
            refuse("%s has more than %d words", from, COMPILER_WORDS);
        words[(*n)++] = word;
    }
    return from;
}

static void compile(const struct loaded *loaded, const char *include)
{
    static const char *const options[] = {"-std=c99", "-O1",     "-fPIC",      "-shared",
                                          "-Wall",    "-Wextra", "-Wpedantic", "-Wconversion",
                                          "-Wshadow", "-I"};
    enum { OPTIONS = sizeof options / sizeof options[0] };
    char *words[COMPILER_WORDS + OPTIONS + 5];
    char object[PATH_MAX + 16];
    const char *from;
    size_t n;
    int ends[2], error = 0, state = 0;
    pid_t child;
    from = find_compiler(words, &n);
    for (size_t i = 0; i < OPTIONS; i++)
        words[n++] = (char *)(uintptr_t)options[i];
    words[n++] = (char *)(uintptr_t)include;
    words[n++] = (char *)(uintptr_t) "-o";
    snprintf(object, sizeof object, "%s", path_of("rows.so"));
    words[n++] = object;
    words[n++] = memory_must(strdup(path_of("rows.c")));
    words[n] = NULL;
    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) != 0 || (child = fork()) < 0)
        refuse("no process can be started: %s", strerror(errno));
    if (child == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execvp(words[0], words);
        error = errno;
        _exit(write(ends[1], &error, sizeof error) > 0 ? 127 : 126);
    }
    close(ends[1]);
    if (read(ends[0], &error, sizeof error) != (ssize_t)sizeof error)
        error = 0;
    close(ends[0]);
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    if (error && from)
        refuse("the compiler that %s names, %s, cannot be started: %s", from, words[0],
               strerror(error));
    if (error)
        refuse("a C compiler is missing, cc: %s; CC names another one", strerror(error));
    if (state != 0)
        refuse("%s does not compile: see above", loaded->file);
    free(words[n - 1]);
}

/* ---- all of it --------------------------------------------------------------------------- */

static void *symbol_of(void *object, const char *name)
{
    void *symbol = dlsym(object, name);
    if (!symbol)
        refuse("what was compiled has no %s", name);
    return symbol;
}

void loaded_make(struct loaded *loaded, const char *file)
{
    const unsigned long stamp[] = {STAMP(VALUES)};
    const char *include = headers_folder();
    char *path = realpath(file, NULL);
    const coll_algorithm *const *rows;
    struct stat is;
    void *object;
    const double start = seconds_now();
    *loaded = (struct loaded){.file = file};
    if (!path || stat(path, &is) != 0)
        refuse("%s cannot be read: %s", file, strerror(errno));
    if (!S_ISREG(is.st_mode))
        refuse("%s is no file", file);
    if (strpbrk(path, "\"\\\n"))
        refuse("a path with quotes, backslashes or line breaks cannot be included: %s", path);
    make_folder();
    write_rows(loaded, path);
    compile(loaded, include);
    object = dlopen(path_of("rows.so"), RTLD_NOW | RTLD_LOCAL);
    if (!object)
        refuse("what was compiled cannot be loaded: %s", dlerror());
    drop();
    if (memcmp(symbol_of(object, "coll_try_stamp"), stamp, sizeof stamp) != 0)
        refuse("%s was compiled with the headers in %s, or with those beside it, and they are "
               "not those of this "
               "command: build it again, or name its headers with COLL_INCLUDE=FOLDER",
               file, include);
    rows = symbol_of(object, "coll_try_rows");
    memcpy(loaded->algorithms, rows, loaded->n * sizeof *rows);
    loaded->seconds = seconds_now() - start;
    free(path);
}
