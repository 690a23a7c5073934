/* tools/workload.c — reads workloads, see workload.h */
#include "workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "names.h"

enum { DEPTH = 16, LINE = 400, WORDS_MOST = 24 };

struct reading {
    struct workload *into;
    const struct ask *ask;
    size_t elem_bytes;
    uint32_t line;
    size_t open[DEPTH], depth; /* repeats without an end so far */
    uint64_t times;            /* how often what stands here runs */
};

static _Noreturn void wrong(const struct reading *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static _Noreturn void wrong(const struct reading *r, const char *format, ...)
{
    char text[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    refuse("%s, line %" PRIu32 ": %s", r->into->path, r->line, text);
}

static struct workload_step *add(struct reading *r, workload_kind kind)
{
    struct workload *w = r->into;
    struct workload_step *step = memory_of(1, sizeof *step);
    if ((w->n & (w->n - 1)) == 0)
        w->steps =
            memory_must(realloc(w->steps, (w->n > 0 ? 2 * w->n : 1) * sizeof(*w->steps)));
    w->steps[w->n++] = step;
    step->kind = kind;
    step->line = r->line;
    return step;
}

static double time_of(const struct reading *r, const char *word)
{
    static const coll_parameter row = {"a time", "us", COLL_PARAMETER_NUMBER, 0, 0, 1e9, 0, ""};
    double us;
    if (!coll_i_parameter_number(&row, word, &us))
        wrong(r, "a time is one from 0 to 1000 s such as 5us, not \"%.60s\"", word);
    return us;
}

/* A number below `end`. */
static uint64_t number_of(const struct reading *r, const char *what, const char *word,
                          uint64_t least, uint64_t end)
{
    uint64_t number = 0;
    if (!coll_number_read(word, &number) || number < least || number >= end)
        wrong(r, "%s is a whole number from %" PRIu64 " to %" PRIu64 ", not \"%.60s\"", what,
              least, end - 1, word);
    return number;
}

/* ---- lines ------------------------------------------------------------------------------- */

static void read_compute(struct reading *r, char **word, size_t n)
{
    static const char *const patterns[] = {"random", "exponential", "imbalance", "ramp",
                                           "rank"};
    struct workload_step *step = add(r, WORKLOAD_COMPUTE);
    coll_sentence why;
    size_t which;
    if (n < 2)
        wrong(r, "compute is written compute TIME, as compute 50us");
    step->us = time_of(r, word[1]);
    if (n == 2)
        return;
    which = coll_name_index("pattern", word[2], patterns, 5, &why);
    if (which == COLL_NO_NAME)
        wrong(r, "%s", why.text);
    step->pattern = (workload_pattern)(which + 1);
    if (n != (step->pattern == WORKLOAD_RANK ? 5u : 4u))
        wrong(r, "%s is written %s", patterns[which],
              step->pattern == WORKLOAD_RANK ? "rank R TIME, as rank 3 100us"
                                             : "with one time, as random 10us");
    if (step->pattern == WORKLOAD_RANK)
        step->rank = (uint32_t)number_of(r, "a rank", word[3], 0, r->into->p);
    step->more_us = time_of(r, word[n - 1]);
}

static void read_repeat(struct reading *r, char **word, size_t n)
{
    struct workload_step *step = add(r, WORKLOAD_REPEAT);
    if (n != 2)
        wrong(r, "repeat is written repeat N");
    if (r->depth == DEPTH)
        wrong(r, "there are more than %d repeats in each other", DEPTH);
    step->times = number_of(r, "how often something is repeated", word[1], 1, 1000000001);
    if (r->times > UINT32_MAX / step->times)
        wrong(r, "all repeats together are more than 4G times");
    r->times *= step->times;
    r->open[r->depth++] = r->into->n - 1;
}

static void read_end(struct reading *r, size_t n)
{
    struct workload_step *step = add(r, WORKLOAD_END), *begin;
    if (n != 1)
        wrong(r, "nothing stands after end");
    if (r->depth == 0)
        wrong(r, "there is no repeat that this ends");
    step->other = r->open[--r->depth];
    begin = r->into->steps[step->other];
    begin->other = r->into->n - 1;
    r->times /= begin->times;
}

/* One K=V of a call: of the problem, of what is used inside, or of the algorithm. */
static void read_item(const struct reading *r, struct ask *ask, coll_pick *pick, char *word)
{
    char *equals = strchr(word, '=');
    struct option_words *list = &ask->params;
    coll_sentence why;
    if (!equals)
        wrong(r, "after the algorithm stand words such as count=64, not \"%.60s\"", word);
    if (strncmp(word, "count=", 6) == 0) {
        ask->count = number_of(r, "count", equals + 1, 0, SIZE_MAX / 4);
        return;
    }
    if (strncmp(word, "root=", 5) == 0) {
        ask->root = number_of(r, "root", equals + 1, 0, r->into->p);
        return;
    }
    if (strncmp(word, "graph=", 6) == 0) {
        ask->graph = equals + 1;
        return;
    }
    for (unsigned level = 0; level < COLL_LEVELS; level++) {
        const char *name = coll_level_name((coll_level)level);
        if (strncmp(word, name, strlen(name)) == 0 && word[strlen(name)] == '=')
            list = &ask->inner;
    }
    if (list == &ask->params && !coll_param_read(pick, word, false, &why))
        wrong(r, "%s", why.text);
    if (list->n == OPTION_WORDS_MAX)
        wrong(r, "there are more than %d parameters", OPTION_WORDS_MAX);
    list->word[list->n++] = word;
}

static void read_call(struct reading *r, char *const *word, size_t n)
{
    struct workload_step *step = add(r, WORKLOAD_CALL);
    struct ask *ask = &step->ask;
    coll_collective collective;
    coll_sentence why;
    coll_status status;
    coll_pick pick;
    *ask = *r->ask;
    if (!coll_collective_named(word[0], &collective, &why))
        wrong(r, "%s; or compute, repeat, end", why.text);
    if (n < 2)
        wrong(r, "which algorithm of %s? coll list %s names them", word[0], word[0]);
    if (!coll_algorithm_named(collective, word[1], &pick, &why))
        wrong(r, "%s", why.text);
    for (size_t i = 2; i < n; i++)
        read_item(r, ask, &pick, word[i]);
    ask->collective = word[0];
    ask->algorithm = word[1];
    if (!coll_is(COLL_REDUCING, collective))
        ask->non_commutative = false;
    if (!coll_is(COLL_NEIGHBORLY, collective))
        ask->graph = NULL;
    ask->seeds_more = true;
    status = job_try(&step->job, ask, r->elem_bytes);
    if (status != COLL_OK)
        wrong(r, "%s %s is impossible: %s", word[0], word[1], coll_status_text(status));
    r->into->calls += r->times;
}

/* Cuts a line into its words, which lie in it. */
static void read_line(struct reading *r, char *text)
{
    char *word[WORDS_MOST];
    size_t n = 0;
    text[strcspn(text, "#\r\n")] = '\0';
    for (char *at = text; *(at += strspn(at, " \t")) != '\0';) {
        const size_t length = strcspn(at, " \t");
        const bool more = at[length] != '\0';
        if (n == WORDS_MOST)
            wrong(r, "there are more than %d words", WORDS_MOST);
        word[n++] = at;
        at[length] = '\0';
        at += length + more;
    }
    if (n == 0)
        return;
    if (strcmp(word[0], "compute") == 0)
        read_compute(r, word, n);
    else if (strcmp(word[0], "repeat") == 0)
        read_repeat(r, word, n);
    else if (strcmp(word[0], "end") == 0)
        read_end(r, n);
    else
        read_call(r, word, n);
}

void workload_read(struct workload *w, const char *path, const struct ask *ask,
                   size_t elem_bytes)
{
    struct reading r = {.into = w, .ask = ask, .elem_bytes = elem_bytes, .times = 1};
    FILE *file = fopen(path, "r");
    char line[LINE];
    memset(w, 0, sizeof *w);
    w->path = path;
    w->p = (uint32_t)ask->p;
    if (!file)
        refuse("%s cannot be read: %s", path, strerror(errno));
    while (fgets(line, sizeof line, file)) {
        char *text;
        const size_t before = w->n, length = strlen(line);
        r.line++;
        if (length + 1 == sizeof line && line[length - 1] != '\n')
            wrong(&r, "a line has at most %d characters", LINE - 2);
        text = memory_of(length + 1, 1); /* in which a call keeps its words */
        memcpy(text, line, length);
        read_line(&r, text);
        if (w->n > before && w->steps[before]->kind == WORKLOAD_CALL)
            w->steps[before]->words = text;
        else
            free(text);
    }
    if (ferror(file))
        refuse("%s cannot be read: %s", path, strerror(errno));
    fclose(file);
    r.line++;
    if (r.depth > 0)
        wrong(&r, "the repeat of line %" PRIu32 " has no end",
              w->steps[r.open[r.depth - 1]]->line);
    if (w->calls == 0)
        refuse("%s has no call of a collective", path);
}

void workload_free(struct workload *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->steps[i]->kind == WORKLOAD_CALL) {
            simulated_free(&w->steps[i]->on);
            job_free(&w->steps[i]->job);
        }
        free(w->steps[i]->words);
        free(w->steps[i]);
    }
    free(w->steps);
}
