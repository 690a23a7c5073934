/* tools/words.h — an action in words */
#ifndef COLL_TOOLS_WORDS_H
#define COLL_TOOLS_WORDS_H

#include "coll/action.h"

/* Prints one line without its end, such as: send OUT[4..7] to rank 1 */
void print_action(const coll_action *a);

#endif /* COLL_TOOLS_WORDS_H */
