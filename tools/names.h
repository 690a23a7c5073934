/* tools/names.h — what the user calls things, looked up; an unknown name is refused with the
 * nearest one */
#ifndef COLL_TOOLS_NAMES_H
#define COLL_TOOLS_NAMES_H

#include "coll/select/table_words.h"

/* The index of `word` among the names, where - and _ are one; if it is not there, refuses it as
 * an unknown `what`. */
size_t name_index(const char *what, const char *word, const char *const *names, size_t n);

/* The algorithms that subcommands know: those of the table, until others are set. Of those the
 * words of algorithm_named are looked for first. `from` is what a command line that finds them
 * has before its subcommand, such as "try FILE ", or "". All must stay in place. */
const coll_algorithm *const *algorithms_known(size_t *n);
const char *algorithms_from(void);
void algorithms_set(const coll_algorithm *const *algorithms, size_t n, const char *from);

coll_collective collective_named(const char *word);
/* The algorithm, with the parameters that the word fixes. Each file that includes the registry has
 * its own copy of it: algorithms are compared by name. */
void algorithm_named(coll_collective collective, const char *word, coll_pick *pick);
coll_type type_named(const char *word);
coll_operator operator_named(const char *word);

#endif /* COLL_TOOLS_NAMES_H */
