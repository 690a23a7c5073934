/* tools/picture_svg.h — who talks to whom over time, as a picture for a paper: SVG, labelled, in colours that the
 * colour-blind tell apart and lines that print tells apart */
#ifndef COLL_TOOLS_PICTURE_SVG_H
#define COLL_TOOLS_PICTURE_SVG_H

#include <stdio.h>

#include "rounds.h"

enum { PICTURE_SVG_RANKS = 1024, PICTURE_SVG_MESSAGES = 1 << 17 };

/* Refuses so many ranks, and a name of no file, of --svg or NULL. Before anything is printed. */
void picture_svg_check(const char *path, uint32_t p);

/* Why these rounds are no picture, in a sentence; NULL: they are one. */
const char *picture_svg_refusal(const struct rounds *rounds, uint32_t p);

/* Writes the picture into an open file. Its styles and names are of this picture alone, so that it may stand in a page
 * with others. */
void picture_svg_draw(const struct rounds *rounds, const struct job *job, FILE *to);

/* Writes the picture of complete rounds: ranks downwards, rounds to the right, a line for each message. Refuses too
 * many of them. False: it was said on stderr that the file could not be written. */
bool picture_svg(const struct rounds *rounds, const struct job *job, const char *path);

/* … as PDF (pdf.h). */
bool picture_pdf(const struct rounds *rounds, const struct job *job, const char *path);

#endif /* COLL_TOOLS_PICTURE_SVG_H */
