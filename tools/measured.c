/* tools/measured.c — see measured.h */
#include "measured.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coll/table.h"
#include "memory.h"
#include "options.h"

enum { WHAT = 256 };

struct measured_line {
    char what[WHAT];
    double ns;
};

/* What was measured, in words. */
static void what_text(const coll_tuner_cell *cell, const coll_candidate *one, char *text)
{
    char algorithm[160];
    coll_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.algorithm = one->algorithm;
    for (uint32_t i = 0; i < one->algorithm->n_params; i++)
        rule.param[i] = one->param[i] == one->algorithm->params[i].default_value
                            ? COLL_DEFAULT
                            : one->param[i];
    (void)coll_rule_algorithm_text(&rule, algorithm, sizeof algorithm);
    snprintf(text, WHAT, "p %" PRIu32 "  %s  bytes %zu  %s", cell->problem.p,
             coll_collective_name(cell->problem.collective), coll_problem_bytes(&cell->problem),
             algorithm);
}

/* Reads a line; false: it is none, or was cut short. */
static bool line_read(const char *text, struct measured_line *line)
{
    const char *time = strstr(text, "  ns ");
    char end;
    if (!time || time - text >= WHAT || sscanf(time, " ns %lf%c", &line->ns, &end) != 2 ||
        end != '\n' || !(line->ns > 0))
        return false;
    memcpy(line->what, text, (size_t)(time - text));
    line->what[time - text] = '\0';
    return true;
}

static void keep(struct measured *all, const struct measured_line *line)
{
    if (all->n == all->room) {
        all->room = all->room ? 2 * all->room : 256;
        all->lines = memory_must(realloc(all->lines, all->room * sizeof *all->lines));
    }
    all->lines[all->n++] = *line;
}

void measured_open(struct measured *all, const char *path, const char *transport)
{
    char text[1024], head[64];
    bool first = true;
    *all = (struct measured){.file = fopen(path, "a+")};
    if (!all->file)
        refuse("%s cannot be opened to be added to", path);
    snprintf(head, sizeof head, "# coll tune over %s\n", transport);
    rewind(all->file);
    for (; fgets(text, sizeof text, all->file); first = false) {
        struct measured_line line = {.what = ""};
        if (first && strcmp(text, head) != 0)
            refuse("%s is no file of measurements over %s: its first line has to be %.*s", path,
                   transport, (int)strlen(head) - 1, head);
        if (line_read(text, &line))
            keep(all, &line);
    }
    if (first)
        fputs(head, all->file);
    fflush(all->file);
}

void measured_known(const struct measured *all, const coll_tuner_cell *cell,
                    coll_candidate *one)
{
    char what[WHAT];
    what_text(cell, one, what);
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->lines[i].what, what) == 0)
            coll_candidate_pass(one, all->lines[i].ns);
}

bool measured_about(const struct measured *all, size_t i, coll_collective *collective,
                    uint32_t *p, size_t *bytes)
{
    char name[64];
    if (sscanf(all->lines[i].what, "p %" SCNu32 "  %63s  bytes %zu", p, name, bytes) != 3)
        return false;
    for (*collective = 0; *collective < COLL_COLLECTIVES; ++*collective)
        if (strcmp(coll_collective_name(*collective), name) == 0)
            return true;
    return false;
}

void measured_add(const struct measured *all, const coll_tuner_cell *cell,
                  const coll_candidate *one, double ns)
{
    char what[WHAT];
    what_text(cell, one, what);
    fprintf(all->file, "%s  ns %.1f\n", what, ns);
    fflush(all->file);
}

void measured_close(struct measured *all)
{
    if (all->file)
        fclose(all->file);
    free(all->lines);
    *all = (struct measured){.file = NULL};
}
