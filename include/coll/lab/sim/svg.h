/* coll/lab/sim/svg.h — a record as a picture: ranks downwards, time to the right, messages as lines
 *
 * A row for each rank, up to its end, with what its processor sends, receives and computes as boxes
 * of three colours, and a line from the start of each message to where it is taken in. With more
 * than 64 ranks rows are thinner, and some are numbered. Use lab/sim.h; needs stdio.
 */
#ifndef COLL_LAB_SIM_SVG_H
#define COLL_LAB_SIM_SVG_H

#include "record.h"
#include "simulate.h"

#include <stdio.h>

typedef struct coll_i_svg {
    FILE *file;
    double scale; /* units of the picture a ps */
    double row, left, top;
    bool halves; /* of rows: what goes out above, what comes in below */
} coll_i_svg;

/* What is drawn. */
typedef struct coll_i_svg_shown {
    const coll_sim_record *record;
    uint32_t p;
    coll_time end;                                      /* of all */
    coll_time (*finish)(const void *of, uint32_t rank); /* of a rank */
    const void *of;
    const char *title;
    bool halves;
} coll_i_svg_shown;

COLL_INLINE double coll_i_svg_x(const coll_i_svg *svg, coll_time time)
{
    return svg->left + (double)time * svg->scale;
}

/* The middle of a rank's row. */
COLL_INLINE double coll_i_svg_y(const coll_i_svg *svg, uint32_t rank)
{
    return svg->top + (rank + 0.5) * svg->row;
}

COLL_INLINE void coll_i_svg_text(const coll_i_svg *svg, double x, double y, const char *anchor,
                                 const char *text)
{
    fprintf(svg->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", svg->file);
        else if (*text == '>')
            fputs("&gt;", svg->file);
        else if (*text == '&')
            fputs("&amp;", svg->file);
        else
            fputc(*text, svg->file);
    }
    fputs("</text>\n", svg->file);
}

/* 1, 2 or 5 times a power of ten, of which at most ten are in `all`. */
COLL_INLINE double coll_i_svg_step(double all)
{
    double step = 1;
    while (step * 10 < all)
        step *= 10;
    while (step > 1e-6 && step >= all)
        step /= 10;
    return all / step > 5 ? step : all / step > 2 ? step / 2 : step / 5;
}

/* Vertical lines with their times below. */
COLL_INLINE void coll_i_svg_axis(const coll_i_svg *svg, coll_time end, double bottom)
{
    const double us = coll_time_us(end), step = coll_i_svg_step(us);
    char text[64];
    fputs("<g stroke=\"#ddd\">\n", svg->file);
    for (double t = 0; t <= us * 1.0001; t += step)
        fprintf(svg->file, "<path d=\"M%.1f %.1fV%.1f\"/>\n", svg->left + t * 1e6 * svg->scale,
                svg->top, bottom);
    fputs("</g>\n", svg->file);
    for (double t = 0; t <= us * 1.0001; t += step) {
        snprintf(text, sizeof text, "%g%s", t, t > 0 ? "" : " us");
        coll_i_svg_text(svg, svg->left + t * 1e6 * svg->scale, bottom + 14, "middle", text);
    }
}

COLL_INLINE void coll_i_svg_spans(const coll_i_svg *svg, const coll_sim_record *record,
                                  coll_sim_sight what, const char *colour)
{
    const bool whole = !svg->halves || what == COLL_SEEN_BEGIN;
    const double half = svg->row * (what == COLL_SEEN_BEGIN ? 0.44 : 0.36);
    const double above = !whole && what == COLL_SEEN_RECEIVE ? 0 : half;
    fprintf(svg->file, "<g fill=\"%s\">\n", colour);
    for (size_t i = 0; i < record->spans.n; i++) {
        const coll_sim_span *span = coll_sim_span_at(record, i);
        if (span->what != what || span->end == span->start)
            continue;
        fprintf(svg->file, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>\n",
                coll_i_svg_x(svg, span->start), coll_i_svg_y(svg, span->rank) - above,
                (double)(span->end - span->start) * svg->scale, whole ? 2 * half : half);
    }
    fputs("</g>\n", svg->file);
}

COLL_INLINE void coll_i_svg_draw(const coll_i_svg_shown *shown, FILE *file)
{
    static const struct coll_i_colour {
        coll_sim_sight what;
        const char *colour, *name;
    } colours[] = {{COLL_SEEN_SEND, "#e69f00", "sends"},
                   {COLL_SEEN_RECEIVE, "#56b4e9", "receives"},
                   {COLL_SEEN_COMPUTE, "#009e73", "computes"}};
    const coll_sim_record *record = shown->record;
    const uint32_t p = shown->p;
    const coll_time end = shown->end;
    const double thin = 896. / p > 2 ? 896. / p : 2;
    const double width = 1200, row = p <= 16 ? 28 : p <= 40 ? 20 : p <= 64 ? 14 : thin;
    uint32_t apart = 1; /* from one row with a number to the next */
    coll_i_svg svg;
    double bottom;
    char text[32];
    svg.file = file;
    svg.row = row;
    svg.left = 64;
    svg.top = 46;
    svg.halves = shown->halves;
    svg.scale = (width - svg.left - 36) / (end > 0 ? (double)end : 1);
    bottom = svg.top + p * row;
    while (apart * row < 12)
        apart *= 2;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, bottom + 26);
    coll_i_svg_text(&svg, svg.left, 16, "start", shown->title);
    for (unsigned i = 0; i < 3; i++) {
        const double x = svg.left + 90 * i;
        fprintf(file, "<rect x=\"%.0f\" y=\"24\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x,
                colours[i].colour);
        coll_i_svg_text(&svg, x + 15, 33, "start", colours[i].name);
    }
    coll_i_svg_axis(&svg, end, bottom);
    fputs("<g stroke=\"#bbb\">\n", file);
    for (uint32_t rank = 0; rank < p; rank++)
        fprintf(file, "<path d=\"M%.1f %.1fH%.2fm0 %.1fv%.1f\"/>\n", svg.left,
                coll_i_svg_y(&svg, rank), coll_i_svg_x(&svg, shown->finish(shown->of, rank)),
                row * -0.36, row * 0.72);
    fputs("</g>\n", file);
    for (uint32_t rank = 0; rank < p; rank += apart) {
        snprintf(text, sizeof text, "%u", rank);
        coll_i_svg_text(&svg, svg.left - 8, coll_i_svg_y(&svg, rank) + 4, "end", text);
    }
    if (svg.halves)
        coll_i_svg_spans(&svg, record, COLL_SEEN_BEGIN, "#eee");
    for (unsigned i = 0; i < 3; i++)
        coll_i_svg_spans(&svg, record, colours[i].what, colours[i].colour);
    fputs("<g stroke=\"#333\" stroke-width=\"0.7\" stroke-opacity=\"0.7\">\n", file);
    for (size_t i = 0; i < record->flights.n; i++) {
        const coll_sim_flight *flight = coll_sim_flight_at(record, i);
        if (flight->end != COLL_NEVER)
            fprintf(file, "<path d=\"M%.2f %.1fL%.2f %.1f\"/>\n",
                    coll_i_svg_x(&svg, flight->start), coll_i_svg_y(&svg, flight->from),
                    coll_i_svg_x(&svg, flight->end), coll_i_svg_y(&svg, flight->to));
    }
    fputs("</g>\n</svg>\n", file);
}

COLL_INLINE coll_time coll_i_svg_finish(const void *of, uint32_t rank)
{
    return coll_sim_finish((const coll_sim *)of, rank);
}

/* Writes the picture of a simulation that was recorded. Whether all of it was written the file's
 * error flag says. */
COLL_INLINE void coll_sim_svg(const coll_sim_record *record, const coll_sim *sim,
                              const char *title, FILE *file)
{
    coll_i_svg_shown shown;
    shown.record = record;
    shown.p = sim->p;
    shown.end = sim->makespan;
    shown.finish = coll_i_svg_finish;
    shown.of = sim;
    shown.title = title;
    shown.halves = false;
    coll_i_svg_draw(&shown, file);
}

#endif /* COLL_LAB_SIM_SVG_H */
