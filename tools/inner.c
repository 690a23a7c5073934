/* tools/inner.c — see inner.h */
#include "inner.h"

#include <stdio.h>

void inner_read(struct inner *inner, const struct option_words *words)
{
    const uint32_t all = COLL_BIT(COLL_COLLECTIVES) - 1;
    inner->words = words;
    inner->bindings.n = inner->bindings.old = 0;
    for (size_t w = 0; w < words->n; w++) {
        const char *name = strchr(words->word[w], '=');
        char word[32];
        coll_level level;
        coll_sentence why;
        if (!name || (size_t)(name - words->word[w]) >= sizeof word)
            refuse("--inner is written ROLE=NAME, not \"%s\"", words->word[w]);
        snprintf(word, sizeof word, "%.*s", (int)(name - words->word[w]), words->word[w]);
        if (!coll_level_named(word, &level, &why) ||
            !coll_bindings_read(&inner->bindings, level, name + 1, all, false, &why))
            refuse("%s", why.text);
    }
}

void inner_print(const struct inner *inner, const char *before, FILE *to)
{
    for (size_t w = 0; w < inner->words->n; w++)
        fprintf(to, "%s%s", before, inner->words->word[w]);
}
