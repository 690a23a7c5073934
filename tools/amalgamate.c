/* tools/amalgamate.c — coll amalgamate: one header of what a program uses */
#include <stdlib.h>
#include <string.h>

#include "coll/algos/registry.h"
#include "commands.h"
#include "headers.h"
#include "names.h"
#include "options.h"
#include "output.h"
#include "rows.h"
#include "sources.h"

enum { SYMBOL_MAX = 80 };

/* What is asked for. */
static struct amalgam {
    const char *collectives, *algorithms, *types, *transport, *include, *path;
    bool executor;
    uint32_t wanted;       /* collectives */
    bool type[COLL_TYPES]; /* element types, if some are named */
    const struct origin *origin[COLL_REGISTRY_COUNT];
    bool chosen[COLL_REGISTRY_COUNT];
} ask;

/* Calls `take` with each word between the commas. */
static void each_word(const char *list, void (*take)(const char *word))
{
    char word[SYMBOL_MAX];
    for (const char *at = list; *at;) {
        const size_t n = strcspn(at, ",");
        if (n == 0 || n >= sizeof word)
            refuse("a word is missing, or too long, in %s", list);
        memcpy(word, at, n);
        word[n] = 0;
        take(word);
        at += n;
        if (*at == ',' && !*++at)
            refuse("a word is missing behind the comma of %s", list);
    }
}

static void take_collective(const char *word)
{
    ask.wanted |= COLL_BIT(collective_named(word));
}

/* A type takes that of the same width along, as the loops of most operators are the same, and complex numbers
 * take their parts along. */
static void take_type(const char *word)
{
    const coll_type type = type_named(word);
    if (type >= COLL_TYPES)
        refuse("no operator is defined on %s", word);
    ask.type[type] = true;
    if (type <= COLL_I64)
        ask.type[type + COLL_U8] = true;
    else if (type <= COLL_U64)
        ask.type[type - COLL_U8] = true;
    else if (type == COLL_CF32 || type == COLL_CF64)
        ask.type[COLL_F32] = ask.type[COLL_F64] = ask.type[COLL_CF32] = ask.type[COLL_CF64] =
            true;
}

/* ---- which algorithms ----------------------------------------------------------------------- */

/* Where the rows of the registry are defined, in its order. */
static void find_rows(void)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++) {
        ask.origin[i] = origin_of(coll_registry[i]);
        if (!ask.origin[i])
            refuse(
                "this command was not built by CMake, so it does not know where algorithms are "
                "defined");
    }
}

static void take_algorithm(const char *word)
{
    bool found = false, known = false;
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
        uint32_t params[COLL_PARAM_MAX];
        const coll_algorithm *a = coll_resolve((coll_collective)c, word, params);
        known = known || a;
        for (size_t i = 0;
             a && coll_is(ask.wanted, (coll_collective)c) && i < COLL_REGISTRY_COUNT; i++)
            if (coll_registry[i] == a) {
                if ((a->traits & COLL_NEEDS_BUILD) && !ask.executor)
                    refuse("%s is composite: --executor takes it", word);
                found = ask.chosen[i] = true;
            }
    }
    if (!known) /* says which is the nearest */
        algorithm_named((coll_collective)COLL_LOWEST_BIT(ask.wanted), word, &(coll_pick){0});
    if (!found)
        refuse("%s is for none of these collectives", word);
}

/* All that the built-in rules name for these collectives. */
static void take_rules(const struct sources *all)
{
    char *text = sources_text(all, "select.h");
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++) {
        char name[SYMBOL_MAX + 2];
        snprintf(name, sizeof name, "&%s,", ask.origin[i]->symbol);
        ask.chosen[i] = (coll_registry[i]->collectives & ask.wanted) && strstr(text, name);
    }
    free(text);
}

/* ---- what is left of rules and operators ---------------------------------------------------- */

static bool is_chosen(const char *name, size_t n)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        if (ask.chosen[i] && strlen(ask.origin[i]->symbol) == n &&
            strncmp(ask.origin[i]->symbol, name, n) == 0)
            return true;
    return false;
}

static const char *constant_of(coll_collective collective)
{
#define CONSTANT(name, text) #name,
    static const char *const names[] = {COLL_COLLECTIVE_LIST(CONSTANT)};
#undef CONSTANT
    return names[collective];
}

/* Rows whose algorithm is not chosen go, and each one that is gets a last row for all sizes. */
static char *edit_rules(char *text)
{
    char *to = source_memory(malloc(
             strlen(text) + COLL_COLLECTIVES * COLL_REGISTRY_COUNT * 3 * SYMBOL_MAX + 1)),
         *write = to;
    const char *at = strchr(strstr(text, "COLL_TABLE("), '{') + 1;
    memcpy(to, text, (size_t)(at - text));
    write += at - text;
    *write++ = '\n';
    while (*at && *at != '}') {
        const char *row = NULL, *name = NULL;
        unsigned depth = 0;
        for (; *at && (depth > 0 || (*at != ',' && *at != '}')); at = source_skip(at)) {
            row = row ? row : *at == '{' ? at : NULL;
            name = name ? name : *at == '&' ? at + 1 : NULL;
            depth += strchr("({[", *at) != NULL;
            depth -= strchr(")}]", *at) != NULL;
        }
        if (row && name && is_chosen(name, source_word(name)))
            write += sprintf(write, "    %.*s,\n", (int)(at - row), row);
        at += *at == ',';
    }
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
            if (ask.chosen[i] &&
                coll_is(ask.wanted & coll_registry[i]->collectives, (coll_collective)c))
                write += sprintf(write,
                                 "    {COLL_BIT(%s), 1, COLL_ANY_P, 0, SIZE_MAX, &%s,\n"
                                 "     COLL_DEFAULTS(\"no other rule is for this\")},\n",
                                 constant_of((coll_collective)c), ask.origin[i]->symbol);
    strcpy(write, at);
    free(text);
    return to;
}

/* Does the line define loops for a type that is not wanted? */
static bool is_unwanted(const char *line)
{
    static const char *const macros[] = {"COLL_I_KERNEL(", "COLL_I_LOC("};
    unsigned bits;
    if (sscanf(line, "COLL_I_INTEGER(%u)", &bits) == 1)
        return !ask.type[bits == 8    ? COLL_I8
                         : bits == 16 ? COLL_I16
                         : bits == 32 ? COLL_I32
                                      : COLL_I64];
    for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++) {
        const char *name = line + strlen(macros[i]);
        if (strncmp(line, macros[i], strlen(macros[i])) != 0)
            continue;
        name += strcspn(name, "_") + 1; /* the type, behind the operator */
        for (coll_type t = 0; t < COLL_TYPES; t++)
            if (strlen(coll_type_name(t)) == strcspn(name, ",") &&
                strncmp(name, coll_type_name(t), strcspn(name, ",")) == 0)
                return !ask.type[t];
    }
    return false;
}

static char *edit_operators(char *text)
{
    char *to = source_memory(malloc(strlen(text) + 1)), *write = to;
    for (const char *at = text; *at;) {
        const size_t n = strcspn(at, "\n") + (strchr(at, '\n') != NULL);
        char line[256];
        snprintf(line, sizeof line, "%.*s", (int)n, at);
        for (coll_type t = 0; t < COLL_TYPES; t++) {
            char entry[64], *there;
            snprintf(entry, sizeof entry, "COLL_I_OF(name##_%s)", coll_type_name(t));
            while (!ask.type[t] && (there = strstr(line, entry)) != NULL) {
                memmove(there + 4, there + strlen(entry), strlen(there + strlen(entry)) + 1);
                memcpy(there, "NULL", 4);
            }
        }
        if (n >= sizeof line)
            write += sprintf(write, "%.*s", (int)n, at);
        else if (!is_unwanted(line))
            write += sprintf(write, "%s", line);
        at += n;
    }
    *write = 0;
    free(text);
    return to;
}

static char *edit(const char *path, char *text, void *arg)
{
    (void)arg;
    /* operators on types none of which is wanted */
    if (ask.types && ((strcmp(path, "reduce/complex.h") == 0 && !ask.type[COLL_CF32]) ||
                      (strcmp(path, "reduce/f8.h") == 0 && !ask.type[COLL_F8_E4M3] &&
                       !ask.type[COLL_F8_E5M2])))
        *text = '\0';
    if (strncmp(path, "reduce", 6) == 0 && ask.types)
        return edit_operators(text);
    if (strcmp(path, "select.h") == 0 && strstr(text, "COLL_TABLE(coll_rule, "))
        return edit_rules(text);
    return text;
}

/* ---- the header ----------------------------------------------------------------------------- */

/* The functions of a collective: coll_NAME, coll_iNAME, coll_NAME_init. */
static void want_collective(struct sources *all, coll_collective collective)
{
    static const char *const forms[] = {"coll_%s", "coll_i%s", "coll_%s_init"};
    for (size_t i = 0; i < 3; i++) {
        char name[SYMBOL_MAX];
        snprintf(name, sizeof name, forms[i], coll_collective_name(collective));
        if (!sources_want(all, name))
            refuse("the headers have no %s", name);
    }
}

static void read_headers(struct sources *all)
{
    sources_read(all, "plan.h");
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        if (ask.chosen[i])
            sources_read(all, ask.origin[i]->header);
    sources_read(all, "executor/pending.h");
    if (ask.types || !ask.executor)
        sources_read(all, "reduce.h");
    if (!ask.executor) {
        sources_read(all, "comm.h");
        sources_read(all, "comm/dump.h");
        sources_read(all, "neighbor.h");
    }
    if (ask.transport) {
        char path[SYMBOL_MAX];
        snprintf(path, sizeof path, "transports/%s.h", ask.transport);
        sources_read(all, path);
    }
}

static void want_all(struct sources *all)
{
    static const char *const engine[] =
        {"plan.h",          "plan/problem.h",      "plan/group.h",       "executor.h",
         "executor/task.h", "executor/in_order.h", "executor/pending.h", "transport.h"},
                             *const calls[] = {"select.h",    "comm/communicator.h",
                                               "comm/args.h", "comm/request.h",
                                               "comm/dump.h", "comm/arena.h"};
    for (size_t i = 0; i < sizeof engine / sizeof engine[0]; i++)
        sources_want_public(all, engine[i]);
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        if (ask.chosen[i] && !sources_want(all, ask.origin[i]->symbol))
            refuse("the headers of %s are not those of this command: they have no %s",
                   all->folder, ask.origin[i]->symbol);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0] && !ask.executor; i++)
        sources_want_public(all, calls[i]);
    for (unsigned c = 0; c < COLL_COLLECTIVES && !ask.executor; c++)
        if (coll_is(ask.wanted, (coll_collective)c))
            want_collective(all, (coll_collective)c);
    if (ask.transport) {
        char path[SYMBOL_MAX];
        snprintf(path, sizeof path, "transports/%s.h", ask.transport);
        sources_want_public(all, path);
        snprintf(path, sizeof path, "transports/%s/", ask.transport);
        sources_want_public(all, path);
    }
}

static void print_head(FILE *file, int argc, char **argv)
{
    fprintf(file,
            "/* coll %d.%d.%d in one file — collective algorithms\n"
            " *\n"
            " * SPDX-License-Identifier: BSD-3-Clause\n"
            " * Copyright (c) 2026, the coll authors\n"
            " *\n"
            " * Made by\n"
            " *   coll",
            COLL_VERSION_MAJOR, COLL_VERSION_MINOR, COLL_VERSION_PATCH);
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--include") == 0)
            i++; /* whose names are no matter of the text's */
        else if (strncmp(argv[i], "-o", 2) != 0 && strncmp(argv[i], "--include=", 10) != 0 &&
                 strncmp(argv[i], "--output", 8) != 0)
            fprintf(file, " %s", argv[i]);
    fprintf(file, "\n"
                  " * C99 or C++11. What another file of the same program includes has to be "
                  "this one, too.\n"
                  " */\n"
                  "#ifndef COLL_COLL_H\n"
                  "#define COLL_COLL_H\n");
}

int amalgamate_main(int argc, char **argv)
{
    const struct option options[] = {
        WORD("collectives", "LIST", "allreduce,bcast …; all, if not given", &ask.collectives),
        WORD("algorithms", "LIST", "ring,fnomial …; what the built-in rules name, if not given",
             &ask.algorithms),
        WORD("types", "LIST", "f64,i32 …: predefined operators on these alone", &ask.types),
        WORD("transport", "NAME", "loopback, threads, shm or ethernet", &ask.transport),
        FLAG("executor", "plans and the executor, without communicators and rules",
             &ask.executor),
        WORD("include", "FOLDER", "has coll/; if not given, as of coll try", &ask.include),
        {OPTION_WORD, 'o', "output", "FILE", "where to write it", &ask.path, 0, 0},
    };
    static const char *const transports[] = {"loopback", "threads", "shm", "ethernet"};
    const struct command command = {
        "amalgamate", "write one header of what a program uses",
        "Each algorithm that is named gets a rule for what no other "
        "rule is for.",
        options, sizeof options / sizeof options[0]};
    struct sources all;
    struct output out;
    options_read(&command, argc, argv);
    if (ask.executor && !ask.algorithms)
        refuse("--executor needs --algorithms");
    if (ask.transport)
        ask.transport = transports[name_index("transport", ask.transport, transports,
                                              sizeof transports / sizeof transports[0])];
    if (ask.collectives)
        each_word(ask.collectives, take_collective);
    else
        ask.wanted = COLL_BIT(COLL_COLLECTIVES) - 1;
    if (ask.types)
        each_word(ask.types, take_type);
    sources_open(&all, ask.include ? ask.include : headers_folder());
    find_rows();
    if (ask.algorithms)
        each_word(ask.algorithms, take_algorithm);
    else
        take_rules(&all);
    for (unsigned c = 0; c < COLL_COLLECTIVES && ask.collectives; c++) {
        bool served = !coll_is(ask.wanted, (coll_collective)c);
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
            served = served || (ask.chosen[i] &&
                                coll_is(coll_registry[i]->collectives, (coll_collective)c));
        if (!served)
            refuse("none of these algorithms is for %s",
                   coll_collective_name((coll_collective)c));
    }
    all.edit = edit;
    read_headers(&all);
    want_all(&all);
    output_open(&out, ask.path);
    print_head(out.file, argc, argv);
    sources_write(&all, out.file);
    fprintf(out.file, "\n#endif /* COLL_COLL_H */\n");
    return output_close(&out) ? 0 : 1;
}
