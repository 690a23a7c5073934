/* tools/picture.h — who talks to whom over time, drawn in a terminal
 *
 * Few ranks: a column each, time downwards, an arrow for each message. More ranks, or more
 * arrows than fit a page: a row each, time to the right, and in a cell whom the rank sends to
 * and receives from.
 */
#ifndef COLL_TOOLS_PICTURE_H
#define COLL_TOOLS_PICTURE_H

#include "rounds.h"

enum { PICTURE_RANKS_MAX = 64 };

/* Draws complete rounds of up to PICTURE_RANKS_MAX ranks, at most `width` columns wide; `all`:
 * however long. */
void picture_draw(const struct rounds *rounds, uint32_t p, unsigned width, bool all);

#endif /* COLL_TOOLS_PICTURE_H */
