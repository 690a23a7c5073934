/* tools/loaded.h — the algorithms of a header that is none of the table's: found, compiled and
 * loaded
 *
 *   struct loaded loaded;
 *   loaded_make(&loaded, "my.h");
 *   … loaded.algorithms, loaded.n …
 *
 * A shared object of the header alone is compiled with COLL_CC, CC or cc, and loaded into this
 * program, so that all of it works on them. What is written for that is gone when loaded_make
 * returns, or when the program ends before.
 */
#ifndef COLL_TOOLS_LOADED_H
#define COLL_TOOLS_LOADED_H

#include "coll/plan.h"

enum { LOADED_MOST = 256 };

struct loaded {
    const char *file;
    const coll_algorithm *algorithms[LOADED_MOST]; /* in the order of the file */
    size_t n;
    double seconds; /* that the compiler took */
};

/* Makes them, or refuses what cannot be: a header without algorithms, or one that does not
 * compile. */
void loaded_make(struct loaded *loaded, const char *file);

#endif /* COLL_TOOLS_LOADED_H */
