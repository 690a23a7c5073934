/* bench/reproduce/report.h — the report of make reproduce: rows of paper against ours, and curves
 *
 *   report_chapter("Moody 2003", "NIC-based reduction");
 *   report_section("Figure 5.3: …");
 *   report_row("best degree, 1 element", 4, 4, "");
 *   report_says("NIC beats host", "below 0.80 us", ours < .8, "at %g us", ours);
 *   report_picture("moody_5_3", "Trees of 31 nodes", "degree", "time, µs", "set logscale y");
 *   report_curve("1 element", REPORT_LINE); report_point(x, y); …
 *   report_curve("", REPORT_SIMULATED); report_point(x, y); …
 */
#ifndef COLL_BENCH_REPRODUCE_REPORT_H
#define COLL_BENCH_REPRODUCE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

/* Begins report.md in a folder that exists. */
void report_begin(const char *folder);
/* Ends it, draws the pictures, and prints a summary. False: something could not be written, or a
 * statement does not hold. */
bool report_end(void);

void report_chapter(const char *title);
void report_section(const char *title);
/* A paragraph. */
void report_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line of the table paper | number | ours | ratio. */
void report_row(const char *what, double paper, double ours, const char *unit);
/* A line on a shape: what the paper says of it, whether that holds, and what we have. */
void report_says(const char *what, const char *paper, bool holds, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Something that cannot be reproduced, and why. */
void report_cannot(const char *what, const char *why);

/* Begins a picture, which is drawn as SVG and PDF; axes are named by quantity and unit, "time, µs".
 * `more` are further lines for gnuplot, or NULL. */
void report_picture(const char *name, const char *title, const char *x, const char *y,
                    const char *more);
/* Begins a curve of the picture, of which five at most have a label. A label changes colour, dashes and
 * symbol; a curve without one has those of the curve before. */
enum report_drawn {
    REPORT_LINE,
    REPORT_DOTTED,    /* the same, other dashes: a second line of a label */
    REPORT_STEPS,     /* a histogram */
    REPORT_SIMULATED, /* open symbols */
    REPORT_LINKED,    /* open symbols, and lines between them */
    REPORT_PAPER      /* filled symbols: what the paper prints */
};
void report_curve(const char *label, enum report_drawn drawn);
/* Begins an area of a map, whose points are cells that reach from 1/x to x times their value on one
 * axis, and from 1/y to y times on the other. */
void report_cells(const char *label, double x, double y);
void report_point(double x, double y);

#endif /* COLL_BENCH_REPRODUCE_REPORT_H */
