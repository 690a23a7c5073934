/* tools/inner.h — what a composite algorithm uses inside: --inner ROLE=NAME
 *
 *   struct inner inner;
 *   inner_read(&inner, &words);             // inter=ring, intra=fnomial,f=4
 *   … inner.uses …
 *
 * A name stands for the algorithms of all collectives that have it, as a level may have several to
 * solve. Parameters follow the name; each algorithm takes those that it has.
 */
#ifndef COLL_TOOLS_INNER_H
#define COLL_TOOLS_INNER_H

#include <stdio.h>

#include "coll/select/table_words.h"
#include "options.h"

struct inner {
    const struct option_words *words;
    coll_bindings bindings;
};

#define INNER_OPTION(words)                                                                    \
    WORDS("inner", "LEVEL=NAME", "what is used inside: intra=NAME[,K=V], inter=NAME[,K=V]",    \
          &(words))

/* Reads the words, or refuses them. Both must stay in place. */
void inner_read(struct inner *inner, const struct option_words *words);

/* Writes the words, each after `before`. */
void inner_print(const struct inner *inner, const char *before, FILE *to);

#endif /* COLL_TOOLS_INNER_H */
