/* tools/sources.c — see sources.h */
#include "sources.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

struct source_name {
    const char *name;
    size_t item;
};

void *source_memory(void *memory)
{
    if (!memory)
        refuse("there is not enough memory for this");
    return memory;
}

/* ---- C, as far as it matters --------------------------------------------------------------- */

const char *source_skip(const char *at)
{
    const char quote = *at;
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (quote != '"' && quote != '\'')
        return at + 1;
    for (at++; *at && *at != quote; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

size_t source_word(const char *at)
{
    size_t n = 0;
    if (!isalpha((unsigned char)*at) && *at != '_')
        return 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_')
        n++;
    return n;
}

/* The next character at `at` that is code; identifiers and numbers are one. */
static const char *past(const char *at)
{
    const size_t n = source_word(at);
    if (n > 0)
        return at + n;
    if (isdigit((unsigned char)*at)) {
        while (isalnum((unsigned char)*at) || *at == '.' || *at == '_')
            at++;
        return at;
    }
    return source_skip(at);
}

static bool is(const char *at, size_t n, const char *word)
{
    return strlen(word) == n && strncmp(at, word, n) == 0;
}

static char *copy(const char *from, size_t n)
{
    char *text = source_memory(malloc(n + 1));
    memcpy(text, from, n);
    text[n] = 0;
    return text;
}

/* The end of a line of the preprocessor, behind its line feed. */
static const char *line_end(const char *at)
{
    for (; *at && *at != '\n'; at++)
        if (at[0] == '\\' && at[1] == '\n')
            at++;
        else if (at[0] == '/' && at[1] == '*')
            at = source_skip(at) - 1;
    return *at ? at + 1 : at;
}

/* The end of a declaration or function. */
static const char *code_end(const char *at)
{
    unsigned depth = 0;
    bool body = false, parameters = false;
    const char *begin = at;
    while (*at) {
        if (*at == '#' && at > begin && at[-1] == '\n') {
            at = line_end(at);
            continue;
        }
        if (*at == '{' && depth == 0)
            body = parameters;
        if (*at == ')' && depth == 1)
            parameters = true;
        else if (!isspace((unsigned char)*at) && depth == 0 && *at != '/')
            parameters = parameters && source_word(at) > 0; /* an attribute behind them */
        if (strchr("({[", *at))
            depth++;
        if (strchr(")}]", *at))
            depth--;
        if (depth == 0 && (*at == ';' || (*at == '}' && body)))
            return at + 1;
        at = past(at);
    }
    return at;
}

/* ---- what an item defines ------------------------------------------------------------------ */

static void name_add(struct source_item *item, const char *at, size_t n)
{
    if (item->n_names == SOURCE_NAMES)
        refuse("there are too many names in one declaration: %.60s",
               item->text + item->comment);
    item->names[item->n_names++] = copy(at, n);
}

/* Tag, name and enumerators of a type. */
static void name_type(struct source_item *item)
{
    const char *at = item->text + item->comment, *last = NULL, *pointer = NULL;
    size_t n_last = 0, n_pointer = 0;
    unsigned depth = 0;
    bool tag = false, values = false, first = false;
    while (*at) {
        const size_t n = source_word(at);
        if (n > 0) {
            if (tag && depth == 0)
                name_add(item, at, n);
            tag = is(at, n, "struct") || is(at, n, "union") || is(at, n, "enum");
            values = values || (depth == 0 && is(at, n, "enum"));
            if (values && first && depth == 1)
                name_add(item, at, n);
            if (depth == 0 && !tag)
                last = at, n_last = n;
            first = false;
        } else if (*at == '*' && at[-1] == '(' && !pointer && depth == 1) {
            pointer = at + 1;
            n_pointer = source_word(pointer);
        } else if (!isspace((unsigned char)*at) && !(*at == '/' && at[1] == '*')) {
            first = *at == '{' || *at == ',';
            tag = false;
            depth += strchr("({[", *at) != NULL;
            depth -= strchr(")}]", *at) != NULL;
        }
        at = past(at);
    }
    if (pointer && n_pointer > 0)
        name_add(item, pointer, n_pointer);
    else if (last)
        name_add(item, last, n_last);
}

/* The last identifier in front of a parenthesis, before the body. */
static void name_function(struct source_item *item)
{
    const char *name = NULL;
    size_t n_name = 0;
    unsigned depth = 0;
    for (const char *at = item->text + item->comment; *at && (*at != '{' || depth);
         at = past(at)) {
        const size_t n = source_word(at);
        if (n > 0 && depth == 0 && at[n] == '(')
            name = at, n_name = n;
        depth += strchr("({[", *at) != NULL;
        depth -= strchr(")}]", *at) != NULL;
    }
    if (!name)
        refuse("this is no C that can be taken apart: %.60s", item->text + item->comment);
    name_add(item, name, n_name);
    item->function = true;
}

static void name_code(struct source_item *item)
{
    const char *at = item->text + item->comment;
    const size_t n = source_word(at);
    if (is(at, n, "COLL_ALGORITHM") || is(at, n, "COLL_COMPOSITE")) {
        at += n + 1;
        name_add(item, at, source_word(at));
    } else if (is(at, n, "COLL_CONST") || is(at, n, "COLL_TABLE")) {
        at += n + 1 + strcspn(at + n + 1, ",") + 1;
        at += strspn(at, " \n");
        name_add(item, at, source_word(at));
    } else if (is(at, n, "typedef") || is(at, n, "struct") || is(at, n, "union") ||
               is(at, n, "enum")) {
        name_type(item);
    } else {
        name_function(item);
    }
}

/* ---- reading ------------------------------------------------------------------------------- */

void sources_open(struct sources *all, const char *include)
{
    static const struct sources none;
    FILE *file;
    *all = none;
    all->folder = source_memory(malloc(strlen(include) + sizeof "/coll/config.h"));
    sprintf(all->folder, "%s/coll/config.h", include);
    file = fopen(all->folder, "r");
    if (!file)
        refuse("there is no coll/config.h in %s", include);
    fclose(file);
    *strrchr(all->folder, '/') = 0;
}

char *sources_text(const struct sources *all, const char *path)
{
    char *name = source_memory(malloc(strlen(all->folder) + strlen(path) + 2)), *text;
    FILE *file;
    long bytes = -1;
    sprintf(name, "%s/%s", all->folder, path);
    file = fopen(name, "r");
    if (file && fseek(file, 0, SEEK_END) == 0)
        bytes = ftell(file);
    if (bytes < 0)
        refuse("%s cannot be read", name);
    rewind(file);
    text = source_memory(malloc((size_t)bytes + 1));
    text[fread(text, 1, (size_t)bytes, file)] = 0;
    fclose(file);
    free(name);
    return text;
}

static struct source_item *item_add(struct sources *all, size_t file, enum source_kind kind,
                                    const char *from, const char *code, const char *end)
{
    static const struct source_item none;
    struct source_item *item;
    while (from < code && *from == '\n')
        from++;
    all->items = source_memory(realloc(all->items, (all->n_items + 1) * sizeof *all->items));
    item = &all->items[all->n_items++];
    *item = none;
    item->file = file;
    item->kind = kind;
    item->text = copy(from, (size_t)(end - from));
    item->comment = (size_t)(code - from);
    if (all->edit)
        item->text = all->edit(all->files[file].path, item->text, all->arg);
    return item;
}

/* Resolves `name` from a header of folder `path`, "../" included. */
static char *resolve(const char *path, const char *name, size_t n)
{
    char *to = source_memory(malloc(strlen(path) + n + 2));
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    memcpy(to, path, length);
    for (; strncmp(name, "../", 3) == 0; name += 3, n -= 3)
        while (length > 0 && to[--length] != '/')
            ;
    if (length > 0)
        to[length++] = '/';
    memcpy(to + length, name, n);
    to[length + n] = 0;
    return to;
}

static bool is_whole(const char *path)
{
    return strcmp(path, "config.h") == 0 || strcmp(path, "types.h") == 0 ||
           strcmp(path, "reduce.h") == 0 || strncmp(path, "reduce/", 7) == 0 ||
           strcmp(path, "softfloat.h") == 0;
}

/* Takes a line of the preprocessor, from the comment before it. */
static void read_line(struct sources *all, size_t file, const char *from, const char *at,
                      const char *end)
{
    const char *word = at + 1 + strspn(at + 1, " "), *name;
    const size_t n = source_word(word);
    name = word + n + strspn(word + n, " ");
    if (is(word, n, "include") && *name == '"') {
        char *path = resolve(all->files[file].path, name + 1, strcspn(name + 1, "\""));
        sources_read(all, path);
        free(path);
    } else if (is(word, n, "define") && !is_whole(all->files[file].path)) {
        struct source_item *item = item_add(all, file, ITEM_MACRO, from, at, end);
        name_add(item, name, source_word(name));
    } else {
        item_add(all, file, is(word, n, "include") ? ITEM_SYSTEM : ITEM_CONDITION, from, at,
                 end);
    }
}

void sources_read(struct sources *all, const char *path)
{
    const size_t file = all->n_files;
    const bool whole = is_whole(path);
    char *text;
    const char *at, *from, *last;
    for (size_t i = 0; i < all->n_files; i++)
        if (strcmp(all->files[i].path, path) == 0)
            return;
    text = sources_text(all, path);
    all->files = source_memory(realloc(all->files, (all->n_files + 1) * sizeof *all->files));
    all->files[all->n_files].path = copy(path, strlen(path));
    all->files[all->n_files].head = NULL;
    all->files[all->n_files++].wanted = false;
    at = source_skip(text);
    all->files[file].head = copy(text, (size_t)(at - text));
    at += strspn(at, "\n");
    at = line_end(line_end(at)); /* the guard */
    last = strrchr(text, '#');   /* and its end */
    for (from = at; at < last;) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (*at == '/' && (at[1] == '*' || at[1] == '/')) {
            at = source_skip(at);
        } else if (*at == '#') {
            const char *end = line_end(at);
            read_line(all, file, from, at, end);
            from = at = end;
        } else if (whole) { /* up to the next include */
            const char *end = at;
            while (end < last && !(*end == '#' && strncmp(end, "#include", 8) == 0))
                end = *end == '\n' || !*end ? end + 1 : past(end);
            item_add(all, file, ITEM_WHOLE, from, at, end);
            from = at = end;
        } else {
            const char *end = code_end(at);
            name_code(item_add(all, file, ITEM_CODE, from, at, end));
            from = at = end;
        }
    }
    free(text);
}

/* ---- what is wanted ------------------------------------------------------------------------ */

static int compare_names(const void *a, const void *b)
{
    const struct source_name *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->item > y->item) - (x->item < y->item);
}

static void sort_names(struct sources *all)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n_items; i++)
        n += all->items[i].n_names;
    all->names = source_memory(malloc((n + 1) * sizeof *all->names));
    for (size_t i = 0; i < all->n_items; i++)
        for (size_t k = 0; k < all->items[i].n_names; k++) {
            all->names[all->n_names].name = all->items[i].names[k];
            all->names[all->n_names++].item = i;
        }
    qsort(all->names, all->n_names, sizeof *all->names, compare_names);
}

static bool want_word(struct sources *all, const char *word, size_t n);

/* Wants an item, and all that is named in it. */
static void want_item(struct sources *all, size_t i)
{
    struct source_item *item = &all->items[i];
    struct source_file *file = &all->files[item->file];
    if (item->wanted)
        return;
    item->wanted = true;
    for (const char *at = item->text + item->comment; *at; at = past(at)) {
        const size_t n = source_word(at);
        if (n > 0)
            want_word(all, at, n);
    }
    if (file->wanted)
        return;
    file->wanted = true;
    for (size_t k = 0; k < all->n_items; k++)
        if (all->items[k].file == item->file &&
            (all->items[k].kind == ITEM_CONDITION || all->items[k].kind == ITEM_SYSTEM ||
             all->items[k].kind == ITEM_WHOLE))
            want_item(all, k);
}

static bool want_word(struct sources *all, const char *word, size_t n)
{
    size_t low = 0, high = all->n_names;
    bool found = false;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strncmp(all->names[middle].name, word, n);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < all->n_names && strncmp(all->names[low].name, word, n) == 0; low++)
        if (!all->names[low].name[n]) {
            found = true;
            want_item(all, all->names[low].item);
        }
    return found;
}

bool sources_want(struct sources *all, const char *name)
{
    if (!all->names) {
        sort_names(all);
        for (size_t i = 0; i < all->n_items; i++)
            if (all->items[i].kind == ITEM_WHOLE)
                want_item(all, i);
    }
    return want_word(all, name, strlen(name));
}

void sources_want_public(struct sources *all, const char *path)
{
    const size_t n = strlen(path);
    for (size_t i = 0; i < all->n_items; i++) {
        const struct source_item *item = &all->items[i];
        const char *its = all->files[item->file].path;
        if ((path[n - 1] == '/' ? strncmp(its, path, n) : strcmp(its, path)) != 0)
            continue;
        for (size_t k = 0; k < item->n_names; k++)
            if (item->kind == ITEM_CODE    ? strncmp(item->names[k], "coll_i_", 7) != 0
                : item->kind == ITEM_MACRO ? strncmp(item->names[k], "COLL_I_", 7) != 0
                                           : false)
                sources_want(all, item->names[k]);
    }
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Is this line of the preprocessor of this kind? */
static bool directive(const struct source_item *item, const char *word)
{
    const char *at = item->text + item->comment + 1;
    at += strspn(at, " ");
    return item->kind == ITEM_CONDITION && strncmp(at, word, strlen(word)) == 0;
}

/* Marks conditionals around nothing. */
static void mark_empty(struct sources *all)
{
    size_t *open = source_memory(malloc((all->n_items + 1) * sizeof *open)), depth = 0,
           content = 0;
    size_t *before = source_memory(malloc((all->n_items + 1) * sizeof *before));
    for (size_t i = 0; i < all->n_items; i++) {
        struct source_item *item = &all->items[i];
        if (!item->wanted)
            continue;
        if (directive(item, "if")) {
            open[depth] = i;
            before[depth++] = content;
        } else if (directive(item, "endif") && depth > 0) {
            const size_t first = open[--depth];
            for (size_t k = first; k <= i && content == before[depth]; k++)
                all->items[k].empty = true;
        } else if (!directive(item, "el")) {
            content++;
        }
    }
    free(open);
    free(before);
}

void sources_write(struct sources *all, FILE *file)
{
    size_t last = all->n_files;
    mark_empty(all);
    for (size_t i = 0; i < all->n_items; i++) {
        const struct source_item *item = &all->items[i];
        const size_t n = strlen(item->text);
        if (!item->wanted || item->empty)
            continue;
        if (item->file != last)
            fprintf(file, "\n/* ==== coll/%s */\n\n%s\n\n", all->files[item->file].path,
                    all->files[item->file].head);
        else if (item->kind == ITEM_CODE || item->comment > 0)
            fputc('\n', file);
        last = item->file;
        fputs(item->text, file);
        if (n == 0 || item->text[n - 1] != '\n')
            fputc('\n', file);
    }
}
