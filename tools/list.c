/* tools/list.c — coll list: the registry as text, as JSON, or as the table of docs/algorithms.md */
#include <stdio.h>
#include <string.h>

#include "coll/algos/registry.h"
#include "coll/plan/composite.h"
#include "commands.h"
#include "json.h"
#include "names.h"
#include "options.h"
#include "rows.h"

/* Calls `print` for each algorithm of each collective, or of one. */
typedef void (*row_printer)(coll_collective collective, const coll_algorithm *algorithm,
                            size_t row);

static void each_row(const char *only, row_printer print)
{
    const coll_collective one = only ? collective_named(only) : COLL_COLLECTIVES;
    size_t n, row = 0;
    const coll_algorithm *const *algorithms = algorithms_known(&n);
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        for (size_t i = 0; i < n; i++)
            if ((!only || c == (unsigned)one) &&
                coll_is(algorithms[i]->collectives, (coll_collective)c))
                print((coll_collective)c, algorithms[i], row++);
}

/* The names of the traits, each between `before` and `after`. Returns how many. */
static unsigned print_traits(uint32_t traits, const char *before, const char *after,
                             const char *between)
{
    unsigned n = 0;
#define PRINT_TRAIT(trait, text)                                                               \
    if (traits & (uint32_t)(trait))                                                            \
        printf("%s%s%s%s", n++ ? between : "", before, text, after);
    COLL_TRAIT_LIST(PRINT_TRAIT)
#undef PRINT_TRAIT
    return n;
}

/* Calls `print` for each other name of an algorithm. Returns how many there are. */
typedef void (*alias_printer)(const coll_alias *alias, const coll_algorithm *a, unsigned n);

static unsigned each_alias(coll_collective collective, const coll_algorithm *a,
                           alias_printer print)
{
    unsigned n = 0;
    for (size_t i = 0; i < COLL_ALIAS_COUNT; i++)
        if (coll_is(coll_aliases[i].collectives, collective) &&
            strcmp(coll_aliases[i].algorithm, a->name) == 0)
            print(&coll_aliases[i], a, n++);
    return n;
}

static void print_alias(const coll_alias *alias, const coll_algorithm *a, unsigned n)
{
    printf("%s%s", n ? ", " : "", alias->name);
    if (alias->first)
        printf(" (%s=%u)", a->params[0].name, alias->first);
}

/* ---- text -------------------------------------------------------------------------------- */

/* A bound that stands for "no bound" is not worth its digits. */
static void print_most(uint32_t most)
{
    if (most >= UINT32_MAX / 2)
        printf("…");
    else
        printf("%u", most);
}

static void print_alias_text(const coll_alias *alias, const coll_algorithm *a, unsigned n)
{
    if (n == 0)
        printf("  %-20s also: ", "");
    print_alias(alias, a, n);
}

static void print_text(coll_collective collective, const coll_algorithm *a, size_t row)
{
    static coll_collective last = COLL_COLLECTIVES;
    const struct origin *origin = origin_of(a);
    if (collective != last)
        printf("%s%s\n", row ? "\n" : "", coll_collective_name(collective));
    last = collective;
    printf("  %-20s ", a->name);
    if (print_traits(a->traits, "", "", ", ") == 0)
        printf("any operator, any p");
    printf("; window %u, in order %u\n  %-20s %s\n", a->window, a->sends, "", a->source);
    if (origin)
        printf("  %-20s %s %s\n", "", origin->header, origin->symbol);
    for (uint32_t i = 0; i < a->n_params; i++) {
        const coll_param *param = &a->params[i];
        printf("  %-20s %s=%u  %s; %u..", "", param->name, param->default_value, param->meaning,
               param->least);
        print_most(param->most);
        printf("\n");
    }
    if (a->traits & COLL_NEEDS_BUILD) {
        const coll_composite *composite = coll_composite_of(a);
        printf("  %-20s inside:", "");
        for (uint32_t i = 0; i < composite->n_defaults; i++)
            printf("%s %s=%s", i ? "," : "", coll_level_name(composite->defaults[i].level),
                   composite->defaults[i].algorithm->name);
        printf("\n");
    }
    if (each_alias(collective, a, print_alias_text) > 0)
        printf("\n");
}

/* ---- markdown ---------------------------------------------------------------------------- */

/* Text inside a cell, where | would end it. */
static void print_cell(const char *text)
{
    for (; *text; text++)
        printf(*text == '|' ? "\\|" : "%c", *text);
}

static void print_markdown(coll_collective collective, const coll_algorithm *a, size_t row)
{
    const struct origin *origin = origin_of(a);
    if (row == 0)
        printf(
            "| collective | algorithm | parameters | traits | source | symbol | other names |\n"
            "|---|---|---|---|---|---|---|\n");
    printf("| %s | %s | ", coll_collective_name(collective), a->name);
    for (uint32_t i = 0; i < a->n_params; i++)
        printf("%s%s=%u", i ? ", " : "", a->params[i].name, a->params[i].default_value);
    printf(" | ");
    print_traits(a->traits, "", "", ", ");
    printf(" | ");
    print_cell(a->source);
    printf(" | ");
    if (origin)
        printf("[`%s`](../include/coll/%s)", origin->symbol, origin->header);
    printf(" | ");
    each_alias(collective, a, print_alias);
    printf(" |\n");
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void print_alias_json(const coll_alias *alias, const coll_algorithm *a, unsigned n)
{
    printf("%s{\"name\": ", n ? ", " : "");
    json_string(alias->name);
    printf(", \"fixed\": {");
    if (alias->first) {
        json_string(a->params[0].name);
        printf(": %u", alias->first);
    }
    printf("}}");
}

static void print_json_word(const char *word)
{
    if (word)
        json_string(word);
    else
        printf("null");
}

static void print_json(coll_collective collective, const coll_algorithm *a, size_t row)
{
    const struct origin *origin = origin_of(a);
    printf("%s  {\"collective\": ", row ? ",\n" : "");
    json_string(coll_collective_name(collective));
    printf(", \"algorithm\": ");
    json_string(a->name);
    printf(", \"window\": %u, \"sends\": %u, \"traits\": [", a->window, a->sends);
    print_traits(a->traits, "\"", "\"", ", ");
    printf("], \"parameters\": [");
    for (uint32_t i = 0; i < a->n_params; i++) {
        const coll_param *param = &a->params[i];
        printf("%s{\"name\": ", i ? ", " : "");
        json_string(param->name);
        printf(", \"least\": %u, \"most\": %u, \"default\": %u, \"meaning\": ", param->least,
               param->most, param->default_value);
        json_string(param->meaning);
        printf("}");
    }
    printf("], \"names\": [");
    each_alias(collective, a, print_alias_json);
    printf("], \"source\": ");
    json_string(a->source);
    printf(", \"header\": ");
    print_json_word(origin ? origin->header : NULL);
    printf(", \"symbol\": ");
    print_json_word(origin ? origin->symbol : NULL);
    printf("}");
}

int list_main(int argc, char **argv)
{
    const char *collective = NULL;
    bool json = false, markdown = false;
    const struct option options[] = {
        OPTIONAL("COLLECTIVE", "only this one; all by default", &collective),
        FLAG("json", "print an array of objects in JSON", &json),
        FLAG("markdown", "print a table in Markdown", &markdown),
    };
    const struct command list = {"list", "list the algorithms, their parameters and traits",
                                 NULL, options, sizeof options / sizeof options[0]};
    options_read(&list, argc, argv);
    if (json && markdown)
        refuse("--json and --markdown exclude each other");
    if (json)
        printf("[\n");
    each_row(collective, json ? print_json : markdown ? print_markdown : print_text);
    if (json)
        printf("\n]\n");
    return 0;
}
