/* tools/picture_svg.h — who talks to whom over time, as a picture for a paper: SVG, labelled, in colours that the
 * colour-blind tell apart and lines that print tells apart */
#ifndef COLL_TOOLS_PICTURE_SVG_H
#define COLL_TOOLS_PICTURE_SVG_H

#include "rounds.h"

enum { PICTURE_SVG_RANKS = 1024, PICTURE_SVG_MESSAGES = 1 << 17 };

/* Refuses so many ranks, and names of no file. Before anything is printed. */
void picture_svg_check(const char *path, uint32_t p);

/* Writes the picture of complete rounds: ranks downwards, rounds to the right, a line for each message. Refuses too
 * many of them. False: it was said on stderr that the file could not be written. */
bool picture_svg(const struct rounds *rounds, const struct job *job, const char *path);

#endif /* COLL_TOOLS_PICTURE_SVG_H */
