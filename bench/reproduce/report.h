/* bench/reproduce/report.h — the report of make reproduce: rows of paper against ours, and curves
 *
 *   report_chapter("Moody 2003", "NIC-based reduction");
 *   report_section("Figure 5.3: …");
 *   report_row("best degree, 1 element", 4, 4, "");
 *   report_says("NIC beats host", "below 0.80 us", ours < .8, "at %g us", ours);
 *   report_picture("moody_5_3", "time by degree", "degree", "us", "set logscale y");
 *   report_curve("measured", "points"); report_point(x, y); …
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

/* Begins a picture; `more` are further lines for gnuplot, or NULL. */
void report_picture(const char *name, const char *title, const char *x, const char *y,
                    const char *more);
/* Begins a curve of the picture, drawn in a style of gnuplot: "lines", "linespoints", "points", or,
 * where that needs more than x and y, with the rest of `using`: ":($1/2):($1*2) with xerror". One
 * without a label has the colour of the one before: points on a line. */
void report_curve(const char *label, const char *style);
void report_point(double x, double y);

#endif /* COLL_BENCH_REPRODUCE_REPORT_H */
