/* bench/reproduce/report.h — the report of make reproduce: rows of paper against ours, and curves
 *
 *   report_chapter("Moody 2003: NIC-based reduction");
 *   report_section("Figure 5.3: …");
 *   report_row("best degree, 1 element", 4, 4, "", 0);
 *   report_missed("a mean", 73, 30, "us", -59);
 *   report_fit("post and tell of a NIC", "section 5.2.2: half of the meetings is left");
 *   report_basis(SCORES_FITTED);
 *   report_says("NIC beats host", "below 0.80 us", ours < .8, "at %g us", ours);
 *   report_picture("moody_5_3", "Trees of 31 nodes", "degree", "time, µs", "set logscale y");
 *   report_curve("1 element", REPORT_LINE); report_point(x, y); …
 *   report_curve("", REPORT_SIMULATED); report_point(x, y); …
 */
#ifndef COLL_BENCH_REPRODUCE_REPORT_H
#define COLL_BENCH_REPRODUCE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "scores.h"

/* Begins report.md in a folder that exists. */
void report_begin(const char *folder);
/* Ends it, draws the pictures, and prints a summary of each paper. False: something could not be
 * written, a statement does not hold, or a number has left its tolerance. */
bool report_end(void);

/* Begins a paper, whose rows, statements and fits are summed up when it ends. */
void report_chapter(const char *title);
/* Begins a section, whose rows are predicted until report_basis says otherwise. */
void report_section(const char *title);
/* What the next rows and statements rest on. */
void report_basis(scores_basis basis);
/* Parameters of the chapter that were fitted or chosen, and to what: for its list. */
void report_fit(const char *parameters, const char *to);
/* A paragraph. */
void report_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line of the table paper | number | ours | off by | verdict | basis. Ours may be off by
 * `tolerance` %, which is at most 15. */
void report_row(const char *what, double paper, double ours, const char *unit,
                double tolerance);
/* A number that is not reproduced: ours is known to be off by `off` %. The report fails if it is no
 * longer, by 2 % of the paper's number, even if it has come closer. */
void report_missed(const char *what, double paper, double ours, const char *unit, double off);
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
