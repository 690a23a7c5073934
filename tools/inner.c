/* tools/inner.c — see inner.h */
#include "inner.h"

#include <stdio.h>
#include <string.h>

#include "coll/registry.h"
#include "names.h"

enum { WORD_MAX = 64 };

/* The index of the parameter in a record, or its number of parameters. */
static uint32_t param_index(const coll_algorithm *algorithm, const char *name)
{
    uint32_t i = 0;
    while (i < algorithm->n_params && strcmp(algorithm->params[i].name, name) != 0)
        i++;
    return i;
}

/* Sets a parameter of the uses from `first` on. */
static void set_param(struct inner *inner, uint32_t first, char *word)
{
    char *equals = strchr(word, '=');
    uint64_t value = 0;
    bool known = false;
    if (!equals || !number_of(equals + 1, &value))
        refuse("after the name in --inner come parameters as NAME=NUMBER, not \"%s\"", word);
    *equals = '\0';
    for (uint32_t k = first; k < inner->n; k++) {
        const coll_algorithm *algorithm = inner->use[k].algorithm;
        const uint32_t i = param_index(algorithm, word);
        if (i == algorithm->n_params)
            continue;
        if (value < algorithm->params[i].least || value > algorithm->params[i].most)
            refuse("the parameter %s of %s is a whole number from %u to %u, not \"%s\"", word,
                   algorithm->name, algorithm->params[i].least, algorithm->params[i].most,
                   equals + 1);
        inner->params[k][i] = (uint32_t)value;
        known = true;
    }
    if (!known)
        refuse("%s has no parameter %s", inner->use[first].algorithm->name, word);
}

/* The algorithms of all collectives that go by a name, with the parameters that it stands for. */
static void add_uses(struct inner *inner, coll_role role, const char *name)
{
    const char *names[COLL_REGISTRY_COUNT + COLL_ALIAS_COUNT];
    const uint32_t first = inner->n;
    size_t n = 0;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT + COLL_ALIAS_COUNT; i++) {
        const bool alias = i >= COLL_REGISTRY_COUNT;
        const char *one =
            alias ? coll_aliases[i - COLL_REGISTRY_COUNT].name : coll_registry[i]->name;
        size_t k = 0;
        while (k < n && strcmp(names[k], one) != 0)
            k++;
        if (k == n && (alias || !(coll_registry[i]->traits & COLL_NEEDS_BUILD)))
            names[n++] = one;
    }
    name = names[name_index("algorithm to use inside called", name, names, n)];
    for (unsigned c = 0; c < COLL_COLLECTIVES && inner->n < INNER_MAX; c++) {
        coll_use *use = &inner->use[inner->n];
        uint32_t *params = inner->params[inner->n], k = first;
        use->role = role;
        use->algorithm = coll_resolve((coll_collective)c, name, params);
        use->params = params;
        while (k < inner->n && inner->use[k].algorithm != use->algorithm)
            k++;
        if (k == inner->n && use->algorithm && !(use->algorithm->traits & COLL_NEEDS_BUILD))
            inner->n++;
    }
}

void inner_read(struct inner *inner, const struct option_words *words)
{
    inner->words = words;
    inner->n = 0;
    for (size_t w = 0; w < words->n; w++) {
        const char *roles[COLL_ROLES];
        const uint32_t first = inner->n;
        char word[WORD_MAX], *name, *next;
        size_t role;
        snprintf(word, sizeof word, "%s", words->word[w]);
        name = strchr(word, '=');
        if (!name || strlen(words->word[w]) >= sizeof word)
            refuse("--inner is written ROLE=NAME, not \"%s\"", words->word[w]);
        *name++ = '\0';
        for (unsigned i = 0; i < COLL_ROLES; i++)
            roles[i] = coll_role_name((coll_role)i);
        role = name_index("role", word, roles, COLL_ROLES);
        next = strchr(name, ',');
        if (next)
            *next++ = '\0';
        add_uses(inner, (coll_role)role, name);
        while (next) {
            char *param = next;
            next = strchr(param, ',');
            if (next)
                *next++ = '\0';
            set_param(inner, first, param);
        }
    }
}

void inner_print(const struct inner *inner, const char *before)
{
    for (size_t w = 0; w < inner->words->n; w++)
        printf("%s%s", before, inner->words->word[w]);
}
