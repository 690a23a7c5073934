/* tools/plot.h — pictures by gnuplot, which is asked for only when a picture is
 *
 *   FILE *script = plot_open(&plot, "regimes.svg");   // writes regimes.svg.gnuplot
 *   fprintf(script, "plot x\n");
 *   plot_close(&plot);                                // runs gnuplot on it
 */
#ifndef COLL_TOOLS_PLOT_H
#define COLL_TOOLS_PLOT_H

#include <stdio.h>

struct plot {
    FILE *script;
    char name[512]; /* of the script */
};

/* Begins a script whose output is the picture `path`, of a kind that its end tells: .svg, .pdf
 * or .png. Refuses others, and files that cannot be written. */
FILE *plot_open(struct plot *plot, const char *path);

/* Writes text as gnuplot quotes it. */
void plot_quoted(FILE *script, const char *text);

/* Runs gnuplot; refuses if it is missing or fails. The script stays. */
void plot_close(struct plot *plot);

#endif /* COLL_TOOLS_PLOT_H */
