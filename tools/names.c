/* tools/names.c — looking names up, and guessing what a misspelt one was meant to be */
#include "names.h"

#include <stdio.h>
#include <string.h>

#include "coll/registry.h"
#include "options.h"

enum { LONGEST = 31 };

static char fold(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '-' ? '_' : c;
}

static bool same(const char *a, const char *b)
{
    while (*a && (*a == '-' ? '_' : *a) == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b; words are cut
 * at LONGEST. */
static size_t distance(const char *a, const char *b)
{
    const size_t m = strnlen(a, LONGEST), n = strnlen(b, LONGEST);
    size_t d[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= m; i++)
        d[i][0] = i;
    for (size_t k = 0; k <= n; k++)
        d[0][k] = k;
    for (size_t i = 1; i <= m; i++)
        for (size_t k = 1; k <= n; k++) {
            const char x = fold(a[i - 1]), y = fold(b[k - 1]);
            size_t least = d[i - 1][k - 1] + (x != y);
            if (d[i - 1][k] + 1 < least)
                least = d[i - 1][k] + 1;
            if (d[i][k - 1] + 1 < least)
                least = d[i][k - 1] + 1;
            if (i > 1 && k > 1 && x == fold(b[k - 2]) && y == fold(a[i - 2]) &&
                d[i - 2][k - 2] + 1 < least)
                least = d[i - 2][k - 2] + 1;
            d[i][k] = least;
        }
    return d[m][n];
}

/* Is the word, of at least three letters, the beginning of the name? */
static bool begins(const char *name, const char *word)
{
    size_t i = 0;
    while (word[i] && fold(word[i]) == fold(name[i]))
        i++;
    return word[i] == '\0' && i >= 3;
}

const char *nearest(const char *word, const char *const *names, size_t n)
{
    const char *best = NULL;
    size_t least =
        strlen(word) / 3 + 1; /* one letter in three may be wrong, and in short words one */
    for (size_t i = 0; i < n; i++) {
        const size_t away = distance(word, names[i]);
        if (away <= least && away < strlen(names[i])) {
            best = names[i];
            if (away == 0)
                break;
            least = away - 1;
        }
    }
    for (size_t i = 0; i < n && !best; i++)
        if (begins(names[i], word))
            best = names[i];
    return best;
}

size_t name_index(const char *what, const char *word, const char *const *names, size_t n)
{
    char list[400] = "";
    size_t length = 0;
    const char *near;
    for (size_t i = 0; i < n; i++)
        if (same(word, names[i]))
            return i;
    near = nearest(word, names, n);
    if (near)
        refuse("there is no %s \"%s\"; did you mean \"%s\"?", what, word, near);
    for (size_t i = 0; i < n && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "",
                                   names[i]);
    refuse("there is no %s \"%s\"; there %s %s", what, word, n == 1 ? "is" : "are", list);
}

coll_collective collective_named(const char *word)
{
    const char *names[COLL_COLLECTIVES];
    for (unsigned i = 0; i < COLL_COLLECTIVES; i++)
        names[i] = coll_collective_name((coll_collective)i);
    return (coll_collective)name_index("collective", word, names, COLL_COLLECTIVES);
}

const coll_algorithm *algorithm_named(coll_collective collective, const char *word,
                                      const coll_alias **alias)
{
    const char *names[COLL_REGISTRY_COUNT + COLL_ALIAS_COUNT];
    char what[64];
    size_t n = 0;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        if (coll_is(coll_registry[i]->collectives, collective))
            names[n++] = coll_registry[i]->name;
    for (size_t i = 0; i < COLL_ALIAS_COUNT; i++)
        if (coll_is(coll_aliases[i].collectives, collective))
            names[n++] = coll_aliases[i].name;
    snprintf(what, sizeof what, "algorithm for %s called", coll_collective_name(collective));
    word = names[name_index(what, word, names, n)];
    *alias = coll_find_alias(collective, word);
    return coll_find(collective, *alias ? (*alias)->algorithm : word);
}

coll_type type_named(const char *word)
{
    const char *names[COLL_TYPES];
    for (coll_type i = 0; i < COLL_TYPES; i++)
        names[i] = coll_type_name(i);
    return (coll_type)name_index("element type", word, names, COLL_TYPES);
}

coll_operator operator_named(const char *word)
{
    const char *names[COLL_OPERATORS];
    for (coll_operator i = 0; i < COLL_OPERATORS; i++)
        names[i] = coll_operator_name(i);
    return (coll_operator)name_index("operator", word, names, COLL_OPERATORS);
}
