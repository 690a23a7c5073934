/* tools/chart.c — see chart.h */
#include "chart.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

#include "page.h"

enum { WIDTH = 900, HEIGHT = 420, LEFT = 70, RIGHT = 200, TOP = 16, BELOW = 52, APART = 15 };

static const struct look {
    const char *colour, *dash;
} looks[CHART_LINES] = {{"#d55e00", ""},
                        {"#0072b2", "7 3"},
                        {"#009e73", "2 3"},
                        {"#cc79a7", "9 3 2 3"},
                        {"#000000", "4 2"}};

struct axes {
    double x_least, x_most, y_least, y_most; /* logarithms */
};

static double x_of(const struct axes *at, double x)
{
    const double wide = at->x_most > at->x_least ? at->x_most - at->x_least : 1;
    return LEFT + (log10(x) - at->x_least) / wide * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct axes *at, double y)
{
    return HEIGHT - BELOW -
           (log10(y) - at->y_least) / (at->y_most - at->y_least) * (HEIGHT - BELOW - TOP);
}

/* Whole powers of ten around all points. False: there is none. */
static bool find_axes(const struct chart *chart, struct axes *at)
{
    double least = INFINITY, most = 0;
    for (size_t l = 0; l < chart->lines; l++)
        for (size_t i = 0; i < chart->n; i++)
            if (chart->line[l].y[i] > 0) {
                least = fmin(least, chart->line[l].y[i]);
                most = fmax(most, chart->line[l].y[i]);
            }
    if (chart->n == 0 || !(most > 0))
        return false;
    at->x_least = log10((double)chart->x[0]);
    at->x_most = log10((double)chart->x[chart->n - 1]);
    at->y_least = floor(log10(least) + 1e-9);
    at->y_most = ceil(log10(most) - 1e-9);
    at->y_most = at->y_most > at->y_least ? at->y_most : at->y_least + 1;
    return true;
}

static void write_bytes(FILE *to, uint64_t bytes)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti"};
    size_t unit = 0;
    while (unit < 4 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    fprintf(to, "%" PRIu64 "%s%s", bytes, unit ? " " : "", units[unit]);
}

static void write_axes(const struct chart *chart, const struct axes *at, FILE *to)
{
    const double bottom = HEIGHT - BELOW, right = WIDTH - RIGHT;
    fputs("<g stroke=\"#ddd\">\n", to);
    for (double d = at->y_least; d <= at->y_most; d++)
        fprintf(to, "<path d=\"M%d %.1fH%.1f\"/>\n", LEFT, y_of(at, pow(10, d)), right);
    for (size_t i = 0; i < chart->n; i++)
        fprintf(to, "<path d=\"M%.1f %dV%.1f\"/>\n", x_of(at, (double)chart->x[i]), TOP,
                bottom);
    fputs("</g>\n", to);
    for (double d = at->y_least; d <= at->y_most; d++)
        fprintf(to, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 6,
                y_of(at, pow(10, d)) + 4, pow(10, d));
    for (size_t i = 0; i < chart->n; i++) {
        fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                x_of(at, (double)chart->x[i]), bottom + 16);
        write_bytes(to, chart->x[i]);
        fputs("</text>\n", to);
    }
    fprintf(to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", (LEFT + right) / 2,
            HEIGHT - 12);
    page_text(to, chart->across);
    fprintf(to,
            "</text>\n<text x=\"16\" y=\"%.1f\" text-anchor=\"middle\" "
            "transform=\"rotate(-90 16 %.1f)\">",
            (TOP + bottom) / 2, (TOP + bottom) / 2);
    page_text(to, chart->up);
    fputs("</text>\n", to);
}

static void write_line(const struct chart *chart, const struct axes *at, size_t l, FILE *to)
{
    const struct chart_line *line = &chart->line[l];
    const char *colour = looks[l].colour;
    bool on = false;
    fprintf(to, "<path class=\"line\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"", colour,
            l == 0 ? "3" : "1.6");
    fprintf(to, "%s%s%s d=\"", looks[l].dash[0] ? " stroke-dasharray=\"" : "", looks[l].dash,
            looks[l].dash[0] ? "\"" : "");
    for (size_t i = 0; i < chart->n; i++) {
        if (line->y[i] > 0)
            fprintf(to, "%c%.1f %.1f", on ? 'L' : 'M', x_of(at, (double)chart->x[i]),
                    y_of(at, line->y[i]));
        on = line->y[i] > 0;
    }
    fputs("\"/>\n", to);
    for (size_t i = 0; i < chart->n; i++)
        if (line->y[i] > 0)
            fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\"/>\n",
                    x_of(at, (double)chart->x[i]), y_of(at, line->y[i]), l == 0 ? "4" : "3",
                    colour);
}

/* The height at which a line ends, beside which its name stands. */
static double end_of(const struct chart *chart, const struct axes *at, size_t l)
{
    for (size_t i = chart->n; i-- > 0;)
        if (chart->line[l].y[i] > 0)
            return y_of(at, chart->line[l].y[i]);
    return -1;
}

/* Names from above, none on another. */
static void write_names(const struct chart *chart, const struct axes *at, FILE *to)
{
    size_t order[CHART_LINES], n = 0;
    double floor_of_last = TOP;
    for (size_t l = 0; l < chart->lines; l++) {
        size_t i = n;
        if (end_of(chart, at, l) < 0)
            continue;
        n++;
        for (; i > 0 && end_of(chart, at, order[i - 1]) > end_of(chart, at, l); i--)
            order[i] = order[i - 1];
        order[i] = l;
    }
    for (size_t i = 0; i < n; i++) {
        const double end = end_of(chart, at, order[i]),
                     room = HEIGHT - BELOW - APART * (double)(n - 1 - i);
        double y = fmax(end, floor_of_last);
        y = fmin(y, room);
        floor_of_last = y + APART;
        fprintf(to,
                "<path stroke=\"%s\" fill=\"none\" d=\"M%d %.1fL%d %.1f\"/>\n<text x=\"%d\" "
                "y=\"%.1f\"%s>",
                looks[order[i]].colour, WIDTH - RIGHT + 5, end, WIDTH - RIGHT + 18, y,
                WIDTH - RIGHT + 22, y + 4, order[i] == 0 ? " font-weight=\"bold\"" : "");
        page_text(to, chart->line[order[i]].name);
        fputs("</text>\n", to);
    }
}

void chart_draw(const struct chart *chart, FILE *to)
{
    struct axes at;
    if (!find_axes(chart, &at))
        return;
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    write_axes(chart, &at, to);
    for (size_t l = chart->lines; l-- > 0;) /* the first one above the others */
        write_line(chart, &at, l, to);
    write_names(chart, &at, to);
    fputs("</svg>\n", to);
}
