/* tools/names.c — looking names up */
#include "names.h"

#include "options.h"

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
