/* tools/grid.h — numbers of a grid, in words
 *
 *   8                one number
 *   16..1024         16, 32, 64 … and 1024: the double one each time, and the last one
 *   4..20+4          4, 8, 12, 16, 20
 *   1,3,16..64       all of them, in this order
 *
 * Numbers may end with k, M or G, as everywhere (options.h).
 */
#ifndef COLL_TOOLS_GRID_H
#define COLL_TOOLS_GRID_H

#include <stddef.h>
#include <stdint.h>

enum { GRID_MOST = 4096 };

/* Numbers of one axis. */
struct grid {
    uint64_t *at;
    size_t n;
};

/* Reads the words, or refuses them as those of `name`: numbers from `least` to `most`, none of them twice. The
 * caller frees `at`. */
void grid_read(struct grid *grid, const char *name, const char *words, uint64_t least,
               uint64_t most);

#endif /* COLL_TOOLS_GRID_H */
