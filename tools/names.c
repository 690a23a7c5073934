/* tools/names.c — looking names up */
#include "names.h"

#include "options.h"

static const coll_algorithm *const *known = NULL; /* NULL: those of the table */
static size_t n_known;
static const char *known_from = "";

const coll_algorithm *const *algorithms_known(size_t *n)
{
    *n = known ? n_known : COLL_REGISTRY_COUNT;
    return known ? known : coll_registry;
}

const char *algorithms_from(void)
{
    return known_from;
}

void algorithms_set(const coll_algorithm *const *algorithms, size_t n, const char *from)
{
    known = algorithms;
    n_known = n;
    known_from = from;
}

size_t name_index(const char *what, const char *word, const char *const *names, size_t n)
{
    coll_sentence why;
    const size_t i = coll_name_index(what, word, names, n, &why);
    if (i == COLL_NO_NAME)
        refuse("%s", why.text);
    return i;
}

coll_collective collective_named(const char *word)
{
    coll_collective collective;
    coll_sentence why;
    if (!coll_collective_named(word, &collective, &why))
        refuse("%s", why.text);
    return collective;
}

void algorithm_named(coll_collective collective, const char *word, coll_pick *pick)
{
    coll_sentence why;
    for (size_t i = 0; known && i < n_known; i++)
        if ((collective == COLL_COLLECTIVES || coll_is(known[i]->collectives, collective)) &&
            coll_name_is(word, known[i]->name)) {
            pick->algorithm = known[i];
            pick->alias = NULL;
            pick->in_bytes = 0;
            for (uint32_t k = 0; k < COLL_PARAM_MAX; k++)
                pick->param[k] = COLL_DEFAULT;
            return;
        }
    if (!coll_algorithm_named(collective, word, pick, &why))
        refuse("%s", why.text);
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
