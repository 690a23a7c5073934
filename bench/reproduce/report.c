/* bench/reproduce/report.c — see report.h */
#define _POSIX_C_SOURCE 200809L
#include "report.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PICTURES = 64, CURVES = 24, LABELS = 5, PAPERS = 8, FITS = 16 };
/* Of a number that is reproduced, at the most; and of one that is not, from what is known. %. */
enum { TOLERANCE_MOST = 15, TOLERANCE_MISSED = 2 };

static FILE *md;
static FILE *script;           /* of the picture that is being written */
static char plot[CURVES][240]; /* how each curve is drawn */
static int curves, labels, pictures, broken;
static bool simulated, printed; /* it has points of these kinds */
static char picture[PICTURES][64];
static bool in_table, failed;
static scores_basis basis_now; /* of the next rows */
static struct paper {
    char title[80];
    scores scores;
    struct fit {
        const char *parameters, *to;
    } fits[FITS];
    unsigned n_fits;
} papers[PAPERS];
static unsigned n_papers; /* the last one is that which is being written */

static void stop(const char *what, const char *name)
{
    fprintf(stderr, "reproduce: %s cannot be %s: %s\n", name, what, strerror(errno));
    exit(2);
}

static FILE *create(const char *name)
{
    FILE *file = fopen(name, "w");
    if (!file)
        stop("written", name);
    return file;
}

static void finish(FILE *file)
{
    if (ferror(file))
        failed = true;
    if (fclose(file) != 0)
        failed = true;
}

/* ---- the picture that is being written ---------------------------------------------------- */

/* Colours that the colour-blind tell apart; dashes and symbols that tell them apart in print. */
static const char styles[] = "set linetype 1 lc rgb '#0072b2' lw 2 dt solid pt 6\n"
                             "set linetype 2 lc rgb '#d55e00' lw 2 dt (12,5) pt 4\n"
                             "set linetype 3 lc rgb '#009e73' lw 2 dt (5,5) pt 8\n"
                             "set linetype 4 lc rgb '#aa4499' lw 2 dt (12,4,3,4) pt 12\n"
                             "set linetype 5 lc rgb '#000000' lw 1.2 dt solid pt 10\n";
/* The same filled. */
static const int filled[LABELS] = {7, 5, 9, 13, 11};

static void picture_end(void)
{
    if (!script)
        return;
    if (curves > 0)
        fprintf(script, "END\n");
    for (int i = 0; i < curves; i++)
        fprintf(script, "%s$c%d %s", i ? ", \\\n     " : "plot ", i, plot[i]);
    if (simulated)
        fprintf(script, ", \\\n     keyentry with points lc 'black' pt 6 title 'simulated'");
    if (printed)
        fprintf(script, ", \\\n     keyentry with points lc 'black' pt 7 title 'the paper'");
    fprintf(
        script,
        "\nset terminal pdfcairo size 8,5 background 'white' noenhanced\nset output '%s.pdf'\n"
        "replot\n",
        picture[pictures - 1]);
    finish(script);
    script = NULL;
}

void report_picture(const char *name, const char *title, const char *x, const char *y,
                    const char *more)
{
    char path[96];
    picture_end();
    if (pictures == PICTURES) {
        failed = true;
        return;
    }
    snprintf(picture[pictures], sizeof picture[0], "%s", name);
    snprintf(path, sizeof path, "%s.gnuplot", picture[pictures++]);
    script = create(path);
    curves = labels = 0;
    simulated = printed = false;
    fprintf(script,
            "set encoding utf8\nset terminal svg size 800,500 background 'white' noenhanced\n"
            "set output '%s.svg'\n%sset title \"%s\"\nset xlabel \"%s\"\nset ylabel \"%s\"\n"
            "set key outside Left reverse samplen 5\nset grid lc rgb '#cccccc' lw 0.5\n%s%s",
            name, styles, title, x, y, more ? more : "", more ? "\n" : "");
    fprintf(md, "\n![%s](%s.svg)\n", title, name);
    in_table = false;
}

/* Begins a curve; false: there is no room, or there are more labels than one tells apart. */
static bool begin(const char *label)
{
    labels += label[0] != '\0';
    if (curves == CURVES || labels > LABELS || labels == 0 || !script) {
        fprintf(
            stderr,
            "reproduce: the curve \"%s\" has no picture, or one with too many curves: a row "
            "or a text ends a picture\n",
            label);
        failed = true;
        return false;
    }
    fprintf(script, "%s$c%d << END\n", curves > 0 ? "END\n" : "", curves);
    return true;
}

void report_curve(const char *label, enum report_drawn drawn)
{
    static const char *const with[] = {"lines",  "lines",       "steps",
                                       "points", "linespoints", "points"};
    char symbol[16] = "";
    if (!begin(label))
        return;
    simulated = simulated || drawn == REPORT_SIMULATED;
    printed = printed || drawn == REPORT_PAPER;
    if (drawn == REPORT_PAPER)
        snprintf(symbol, sizeof symbol, " pt %d", filled[labels - 1]);
    snprintf(plot[curves++], sizeof plot[0], "using 1:2 with %s lt %d%s%s title \"%s\"",
             with[drawn], labels, symbol, drawn == REPORT_DOTTED ? " dt (1,4)" : "", label);
}

void report_cells(const char *label, double x, double y)
{
    static const int pattern[LABELS] = {3, 4, 5, 1, 2};
    if (!begin(label))
        return;
    snprintf(plot[curves++], sizeof plot[0],
             "using 1:2:($1/%.6g):($1*%.6g):($2/%.6g):($2*%.6g) with boxxyerror fs pattern %d "
             "lt %d dt solid lw 1 title \"%s\"",
             x, x, y, y, pattern[labels - 1], labels, label);
}

void report_point(double x, double y)
{
    if (!script)
        return;
    if (isfinite(x) && isfinite(y))
        fprintf(script, "%.9g %.9g\n", x, y);
    else
        fprintf(script, "\n");
}

/* ---- a paper's sum ----------------------------------------------------------------------- */

/* One basis as a line: numbers, how far they are off, statements. */
static void sum_of(FILE *to, const scores *of, scores_basis at, const char *format)
{
    const scores_of_basis *b = &of->basis[at];
    char numbers[220] = "none", held[40] = "none";
    if (b->numbers > 0)
        snprintf(numbers, sizeof numbers,
                 "%u of %u within their tolerances, off by %.1f %% in the median and %+.1f %% "
                 "at the most (%s)",
                 b->within, b->numbers, scores_median(of, at), b->worst, b->worst_what);
    if (b->statements > 0)
        snprintf(held, sizeof held, "%u of %u hold", b->hold, b->statements);
    if (b->numbers + b->statements > 0)
        fprintf(to, format, scores_names[at], numbers, held);
}

static void chapter_end(void)
{
    const struct paper *paper;
    if (n_papers == 0)
        return;
    paper = &papers[n_papers - 1];
    picture_end();
    fprintf(md, "\n### What of it is reproduced\n\n"
                "| basis | numbers | statements |\n|---|---|---|\n");
    for (int b = 0; b < SCORES_BASES; b++)
        sum_of(md, &paper->scores, (scores_basis)b, "| %s | %s | %s |\n");
    if (paper->n_fits > 0)
        fprintf(md, "\n| parameters that are not the paper's | fitted to, or chosen by "
                    "|\n|---|---|\n");
    for (unsigned i = 0; i < paper->n_fits; i++)
        fprintf(md, "| %s | %s |\n", paper->fits[i].parameters, paper->fits[i].to);
}

static struct paper *paper_now(void)
{
    if (n_papers == 0)
        report_chapter("");
    return &papers[n_papers - 1];
}

/* The sums on the standard output, and what was fitted. */
static void print_papers(void)
{
    for (unsigned i = 0; i < n_papers; i++) {
        printf("%s\n", papers[i].title);
        for (int b = 0; b < SCORES_BASES; b++)
            sum_of(stdout, &papers[i].scores, (scores_basis)b,
                   "  %-9s  numbers: %s; statements: %s\n");
        for (unsigned k = 0; k < papers[i].n_fits; k++)
            printf("  parameters %s: %s\n", papers[i].fits[k].parameters, papers[i].fits[k].to);
    }
}

/* ---- text -------------------------------------------------------------------------------- */

void report_begin(const char *folder)
{
    if (chdir(folder) != 0)
        stop("entered", folder);
    md = create("report.md");
    fprintf(md,
            "# What the papers say, and what we have\n\n"
            "Written by `make reproduce`. A row compares a printed number with ours, which may "
            "be off by its tolerance; what is not reproduced says by how much ours is known to "
            "be off. A row whose number is a sentence says whether that holds.\n\n"
            "Predicted: no parameter was fitted to the number. Fitted: one was. Assumed: the "
            "model assumes what is compared, so it cannot fail. Our own: simulation against "
            "formula, of which the paper has nothing. Each chapter ends with their sums and a "
            "list of what was fitted to what. Curves are drawn from the scripts beside "
            "them.\n");
}

static void table(void)
{
    picture_end();
    if (!in_table)
        fprintf(md, "\n| paper | number | ours | off by | verdict | basis "
                    "|\n|---|---|---|---|---|---|\n");
    in_table = true;
}

void report_chapter(const char *title)
{
    if (n_papers == PAPERS) {
        failed = true;
        return;
    }
    chapter_end();
    snprintf(papers[n_papers++].title, sizeof papers[0].title, "%s", title);
    picture_end();
    in_table = false;
    basis_now = SCORES_PREDICTED;
    fprintf(md, "\n## %s\n", title);
}

void report_section(const char *title)
{
    picture_end();
    in_table = false;
    basis_now = SCORES_PREDICTED;
    fprintf(md, "\n### %s\n", title);
}

void report_basis(scores_basis next)
{
    basis_now = next;
}

void report_fit(const char *parameters, const char *to)
{
    struct paper *paper = paper_now();
    if (paper->n_fits == FITS) {
        failed = true;
        return;
    }
    paper->fits[paper->n_fits].parameters = parameters;
    paper->fits[paper->n_fits++].to = to;
}

void report_text(const char *format, ...)
{
    va_list arguments;
    picture_end();
    in_table = false;
    fprintf(md, "\n");
    va_start(arguments, format);
    vfprintf(md, format, arguments);
    va_end(arguments);
    fprintf(md, "\n");
}

static void row(const char *what, double paper, double ours, const char *unit,
                const char *verdict)
{
    table();
    fprintf(md, "| %s | %.4g%s%s | %.4g%s%s | %+.1f %% | %s | %s |\n", what, paper,
            unit[0] ? " " : "", unit, ours, unit[0] ? " " : "", unit, scores_off(paper, ours),
            verdict, scores_names[basis_now]);
}

void report_row(const char *what, double paper, double ours, const char *unit, double tolerance)
{
    char verdict[60];
    bool within = scores_number(&paper_now()->scores, basis_now, what, paper, ours, tolerance);
    if (tolerance > TOLERANCE_MOST) {
        fprintf(stderr, "reproduce: a tolerance of more than %d %%: %s\n", TOLERANCE_MOST,
                what);
        within = false;
    }
    snprintf(verdict, sizeof verdict, within ? "within %g %%" : "**not within %g %%**",
             tolerance);
    row(what, paper, ours, unit, verdict);
    if (!within) {
        fprintf(stderr, "reproduce: not within %g %%: %s: %g, ours %g\n", tolerance, what,
                paper, ours);
        broken++;
    }
}

void report_missed(const char *what, double paper, double ours, const char *unit, double off)
{
    const bool known = fabs(scores_off(paper, ours) - off) <= TOLERANCE_MISSED;
    (void)scores_number(&paper_now()->scores, basis_now, what, paper, ours, 0);
    row(what, paper, ours, unit,
        known ? "not reproduced" : "**not reproduced, and not as far off as known**");
    if (!known) {
        fprintf(stderr, "reproduce: known to be off by %g %%: %s: %g, ours %g, %+.1f %%\n", off,
                what, paper, ours, scores_off(paper, ours));
        broken++;
    }
}

void report_says(const char *what, const char *paper, bool holds, const char *format, ...)
{
    va_list arguments;
    table();
    fprintf(md, "| %s | %s | ", what, paper);
    va_start(arguments, format);
    vfprintf(md, format, arguments);
    va_end(arguments);
    fprintf(md, " | | %s | %s |\n", holds ? "holds" : "**does not hold**",
            scores_names[basis_now]);
    scores_statement(&paper_now()->scores, basis_now, holds);
    if (!holds) {
        fprintf(stderr, "reproduce: does not hold: %s: %s\n", what, paper);
        broken++;
    }
}

void report_cannot(const char *what, const char *why)
{
    report_text("Not reproduced: %s. %s", what, why);
}

/* ---- the end ----------------------------------------------------------------------------- */

/* Draws one picture; false: gnuplot is missing, or fails. */
static bool draw(const char *name)
{
    char gnuplot[] = "gnuplot", path[96];
    char *const arguments[] = {gnuplot, path, NULL};
    pid_t child;
    int status;
    snprintf(path, sizeof path, "%s.gnuplot", name);
    if (posix_spawnp(&child, gnuplot, NULL, NULL, arguments, environ) != 0)
        return false;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool report_end(void)
{
    int drawn = 0;
    picture_end();
    chapter_end();
    finish(md);
    for (int i = 0; i < pictures; i++)
        drawn += draw(picture[i]) ? 1 : 0;
    print_papers();
    printf("%d numbers and statements are not as they should be; %d of %d pictures drawn\n",
           broken, drawn, pictures);
    if (drawn < pictures)
        printf("pictures are drawn by gnuplot, on Debian: apt-get install gnuplot-nox; their "
               "scripts "
               "are there\n");
    return !failed && broken == 0;
}
