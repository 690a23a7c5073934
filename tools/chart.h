/* tools/chart.h — lines over sizes, both axes logarithmic, as SVG in a page: for few lines, each with its name
 *
 *   struct chart chart = {"size of the vector, bytes", "time, us", bytes, n_bytes, {{"ring", us}, …}, 2};
 *   chart_draw(&chart, file);
 */
#ifndef COLL_TOOLS_CHART_H
#define COLL_TOOLS_CHART_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CHART_LINES = 5, CHART_POINTS = 32 };

struct chart {
    const char *across, *up; /* what the axes are, with units */
    const uint64_t *x;       /* positive, in order … */
    size_t n;                /* … so many, at most CHART_POINTS */
    struct chart_line {
        char name[64];
        double y[CHART_POINTS]; /* not positive: there is no point */
    } line[CHART_LINES];        /* the first one is drawn thicker */
    size_t lines;
};

/* Draws it, in colours that the colour-blind tell apart and dashes that print tells apart. */
void chart_draw(const struct chart *chart, FILE *to);

#endif /* COLL_TOOLS_CHART_H */
