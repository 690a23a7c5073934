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

/* All algorithms of a name, with their usual parameters. */
static void add_uses(struct inner *inner, coll_role role, const char *name)
{
    const char *names[COLL_REGISTRY_COUNT];
    size_t n = 0, which;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++) {
        size_t k = 0;
        while (k < n && strcmp(names[k], coll_registry[i]->name) != 0)
            k++;
        if (k == n && !(coll_registry[i]->traits & COLL_NEEDS_BUILD))
            names[n++] = coll_registry[i]->name;
    }
    which = name_index("algorithm to use inside called", name, names, n);
    for (size_t i = 0; i < COLL_REGISTRY_COUNT && inner->n < INNER_MAX; i++) {
        const coll_algorithm *algorithm = coll_registry[i];
        uint32_t *params = inner->params[inner->n];
        if (strcmp(algorithm->name, names[which]) != 0)
            continue;
        for (uint32_t k = 0; k < algorithm->n_params; k++)
            params[k] = algorithm->params[k].usual;
        inner->use[inner->n].role = role;
        inner->use[inner->n].algorithm = algorithm;
        inner->use[inner->n++].params = params;
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
