/* tools/picture_svg.c — see picture_svg.h */
#include "picture_svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pdf.h"

enum { LABELS = 32, ARROWS = 128, LEFT = 64, TOP = 56, BELOW = 84, RIGHT = 24, LEAST = 480 };

/* Where things are, in pixels. */
struct place {
    FILE *to;
    uint32_t p, rounds;
    double row, column;
};

static double x_of(const struct place *at, double round)
{
    return LEFT + round * at->column;
}

static double y_of(const struct place *at, double rank)
{
    return TOP + (rank + 0.5) * at->row;
}

static double within(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

/* Every how many numbers there is a label. */
static uint32_t label_step(uint32_t n)
{
    uint32_t step = 1;
    while (n / step > LABELS)
        step *= 2;
    return step;
}

/* ---- parts ------------------------------------------------------------------------------- */

static void write_head(const struct place *at, const struct rounds *r, const struct job *job)
{
    const coll_plan *plan = job_plan(job, 0);
    const double width = within(x_of(at, at->rounds) + RIGHT, LEAST, 1e9),
                 height = TOP + at->row * at->p + BELOW;
    FILE *to = at->to;
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rounds\" width=\"%.0f\" "
            "height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"11\">\n",
            width, height, width, height);
    fprintf(to, "<style>\n.rounds path{stroke-width:%.2f}\n", within(at->row / 8, 0.2, 1));
    fputs(".rounds .data{stroke:#0072b2;fill:none}.rounds .sum{stroke:#d55e00;fill:none}\n"
          ".rounds .token{stroke:#009e73;fill:none;stroke-dasharray:3 2}\n"
          ".rounds .meet{stroke:#000;fill:#000}\n"
          "</style>\n<defs>\n",
          to);
    for (unsigned i = 0; i < 3; i++)
        fprintf(to,
                "<marker id=\"%s\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"6\" "
                "markerHeight=\"6\" orient=\"auto\">%s fill=\"%s\"/></marker>\n",
                i == 0   ? "a"
                : i == 1 ? "b"
                         : "c",
                i == 1 ? "<circle cx=\"3\" cy=\"3\" r=\"2.6\"" : "<path d=\"M0 0L6 3L0 6z\"",
                i == 0   ? "#0072b2"
                : i == 1 ? "#d55e00"
                         : "#009e73");
    fprintf(to,
            "</defs>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text x=\"%d\" y=\"20\" font-size=\"14\">%s %s",
            LEFT, coll_collective_name(job->collective), job->algorithm->name);
    for (uint32_t i = 0; i < job->algorithm->n_params; i++)
        fprintf(to, " %s=%" PRIu32, job->algorithm->params[i].name, plan->param[i]);
    fprintf(to, ", %" PRIu32 " rank%s", job->p, job->p == 1 ? "" : "s");
    fprintf(to,
            "</text>\n<text x=\"%d\" y=\"38\" fill=\"#444\">%" PRIu32
            " round%s, %zu message%s, "
            "%zu elements sent, %" PRIu32 " in the longest chain of messages</text>\n",
            LEFT, r->rounds, r->rounds == 1 ? "" : "s", r->n, r->n == 1 ? "" : "s", r->elements,
            r->chain);
}

static void write_axes(const struct place *at)
{
    const double bottom = TOP + at->row * at->p;
    const uint32_t ranks = label_step(at->p), rounds = label_step(at->rounds);
    FILE *to = at->to;
    fputs("<g stroke=\"#ddd\">\n", to);
    for (uint32_t rank = 0; rank < at->p; rank += ranks)
        fprintf(to, "<path d=\"M%d %.1fH%.1f\"/>\n", LEFT, y_of(at, rank),
                x_of(at, at->rounds));
    for (uint32_t round = 0; round <= at->rounds; round += rounds)
        fprintf(to, "<path d=\"M%.1f %dV%.1f\"/>\n", x_of(at, round), TOP, bottom);
    fputs("</g>\n<g fill=\"#000\">\n", to);
    for (uint32_t rank = 0; rank < at->p; rank += ranks)
        fprintf(to, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%" PRIu32 "</text>\n",
                LEFT - 6, y_of(at, rank) + 4, rank);
    for (uint32_t round = 0; round < at->rounds; round += rounds)
        fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%" PRIu32 "</text>\n",
                x_of(at, round + 0.5), bottom + 16, round + 1);
    fprintf(
        to,
        "<text x=\"16\" y=\"%.1f\" text-anchor=\"middle\" transform=\"rotate(-90 16 "
        "%.1f)\">rank</text>\n<text x=\"%d\" y=\"%.1f\">round (a rank sends one message and "
        "receives one)</text>\n</g>\n",
        (TOP + bottom) / 2, (TOP + bottom) / 2, LEFT, bottom + 36);
}

static void write_message(const struct place *at, const struct message *m)
{
    const char *kind = m->token ? "token" : m->combined ? "sum" : "data";
    fprintf(at->to, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"", kind,
            x_of(at, m->round - 0.9), y_of(at, m->from), x_of(at, m->round - 0.1),
            y_of(at, m->to));
    if (at->p <= ARROWS)
        fprintf(at->to, " marker-end=\"url(#%s)\"", m->token ? "c" : m->combined ? "b" : "a");
    fputs("/>\n", at->to);
}

/* A bar through the middle of the round, with a dot for each rank that takes part. */
static void write_meeting(const struct place *at, const struct meeting *m)
{
    const double x = x_of(at, m->round - 0.5);
    uint32_t first = COLL_RANK_NONE, last = 0;
    for (uint32_t rank = 0; rank < at->p; rank++)
        if (m->ranks >> rank & 1) {
            first = first == COLL_RANK_NONE ? rank : first;
            last = rank;
            fprintf(at->to, "<circle class=\"meet\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", x,
                    y_of(at, rank));
        }
    if (first != COLL_RANK_NONE)
        fprintf(at->to, "<path class=\"meet\" d=\"M%.1f %.1fV%.1f\"/>\n", x, y_of(at, first),
                y_of(at, last));
}

/* What there is of each kind. */
static void write_legend(const struct place *at, const struct rounds *r)
{
    static const char *const words[] = {"message", "message that its receiver combines",
                                        "notification"};
    static const char *const kinds[] = {"data", "sum", "token"}, *const ends[] = {"a", "b",
                                                                                  "c"};
    const double y = TOP + at->row * at->p + 56;
    double x = LEFT;
    bool there[3] = {false, false, false};
    for (size_t i = 0; i < r->n; i++)
        there[r->list[i].token ? 2 : r->list[i].combined ? 1 : 0] = true;
    for (unsigned i = 0; i < 3; i++) {
        if (!there[i])
            continue;
        fprintf(at->to,
                "<path class=\"%s\" d=\"M%.1f %.1fh30\" marker-end=\"url(#%s)\"/>\n"
                "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                kinds[i], x, y - 4, ends[i], x + 36, y, words[i]);
        x += 54 + 6.2 * (double)strlen(words[i]);
    }
    if (r->n_meetings > 0)
        fprintf(at->to,
                "<circle class=\"meet\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n"
                "<text x=\"%.1f\" y=\"%.1f\">in the network</text>\n",
                x + 6, y - 4, x + 16, y);
}

/* ---- the picture ------------------------------------------------------------------------- */

void picture_svg_check(const char *path, uint32_t p)
{
    if (path && strcmp(path, "-") == 0)
        refuse("--svg writes a file, not \"-\"");
    if (p > PICTURE_SVG_RANKS)
        refuse("a picture shows at most %d ranks, not %" PRIu32, PICTURE_SVG_RANKS, p);
}

const char *picture_svg_refusal(const struct rounds *r, uint32_t p)
{
    static char text[160];
    if (!r->complete || r->n > PICTURE_SVG_MESSAGES)
        snprintf(
            text, sizeof text,
            "there is too much to show, more than %d messages: show fewer ranks or segments",
            PICTURE_SVG_MESSAGES);
    else if (r->n_meetings > 0 && p > 64)
        snprintf(text, sizeof text,
                 "reductions by the network are drawn for at most 64 ranks, not %" PRIu32, p);
    else
        return NULL;
    return text;
}

void picture_svg_draw(const struct rounds *r, const struct job *job, FILE *to)
{
    struct place at = {to, job->p, r->rounds > 0 ? r->rounds : 1, 0, 0};
    at.row = within(640.0 / job->p, 1.5, 28);
    at.column = within(840.0 / at.rounds, 6, 90);
    write_head(&at, r, job);
    write_axes(&at);
    for (size_t i = 0; i < r->n; i++)
        write_message(&at, &r->list[i]);
    for (size_t i = 0; i < r->n_meetings; i++)
        write_meeting(&at, &r->meetings[i]);
    write_legend(&at, r);
    fputs("</svg>\n", to);
}

static void check_rounds(const struct rounds *r, uint32_t p)
{
    const char *refusal = picture_svg_refusal(r, p);
    if (refusal)
        refuse("%s", refusal);
}

bool picture_svg(const struct rounds *r, const struct job *job, const char *path)
{
    struct output out;
    check_rounds(r, job->p);
    output_open(&out, path);
    picture_svg_draw(r, job, out.file);
    return output_close(&out);
}

bool picture_pdf(const struct rounds *r, const struct job *job, const char *path)
{
    struct pdf pdf;
    check_rounds(r, job->p);
    pdf_open(&pdf, path);
    picture_svg_draw(r, job, pdf.svg);
    return pdf_close(&pdf);
}
