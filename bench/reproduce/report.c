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

enum { PICTURES = 64, CURVES = 24 };

static FILE *md;
static FILE *script; /* of the picture that is being written */
static char label[CURVES][80], style[CURVES][96];
static int curves, pictures, rows, statements, broken;
static char picture[PICTURES][64];
static bool in_table, failed;

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

static void picture_end(void)
{
    int colour = 0;
    if (!script)
        return;
    if (curves > 0)
        fprintf(script, "END\n");
    fprintf(script, "plot ");
    for (int i = 0; i < curves; i++) {
        colour += label[i][0] != '\0' || i == 0;
        fprintf(script, "%s$c%d using 1:2%s lc %d title \"%s\"", i ? ", \\\n     " : "", i,
                style[i], colour, label[i]);
    }
    fprintf(script, "\n");
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
    curves = 0;
    fprintf(script,
            "set terminal svg size 800,500 background 'white' noenhanced\nset output '%s.svg'\n"
            "set title \"%s\"\nset xlabel \"%s\"\nset ylabel \"%s\"\nset key outside\nset "
            "grid\n%s%s",
            name, title, x, y, more ? more : "", more ? "\n" : "");
    fprintf(md, "\n![%s](%s.svg)\n", title, name);
    in_table = false;
}

void report_curve(const char *name, const char *drawn)
{
    if (curves == CURVES || !script) {
        failed = true;
        return;
    }
    if (curves > 0)
        fprintf(script, "END\n");
    snprintf(label[curves], sizeof label[0], "%s", name);
    snprintf(style[curves], sizeof style[0], "%s%s", drawn[0] == ':' ? "" : " with ", drawn);
    fprintf(script, "$c%d << END\n", curves++);
}

void report_point(double x, double y)
{
    if (isfinite(x) && isfinite(y))
        fprintf(script, "%.9g %.9g\n", x, y);
    else
        fprintf(script, "\n");
}

/* ---- text -------------------------------------------------------------------------------- */

void report_begin(const char *folder)
{
    if (chdir(folder) != 0)
        stop("entered", folder);
    md = create("report.md");
    fprintf(md, "# What the papers say, and what we have\n\n"
                "Written by `make reproduce`. A row compares a printed number with ours; a row "
                "whose number is a sentence says whether that holds. Curves are drawn from the "
                "scripts beside them.\n");
}

static void table(void)
{
    picture_end();
    if (!in_table)
        fprintf(md, "\n| paper | number | ours | ratio |\n|---|---|---|---|\n");
    in_table = true;
}

void report_chapter(const char *title)
{
    picture_end();
    in_table = false;
    fprintf(md, "\n## %s\n", title);
}

void report_section(const char *title)
{
    picture_end();
    in_table = false;
    fprintf(md, "\n### %s\n", title);
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

void report_row(const char *what, double paper, double ours, const char *unit)
{
    table();
    fprintf(md, "| %s | %.4g%s%s | %.4g%s%s | %.3f |\n", what, paper, unit[0] ? " " : "", unit,
            ours, unit[0] ? " " : "", unit, ours / paper);
    rows++;
}

void report_says(const char *what, const char *paper, bool holds, const char *format, ...)
{
    va_list arguments;
    table();
    fprintf(md, "| %s | %s | ", what, paper);
    va_start(arguments, format);
    vfprintf(md, format, arguments);
    va_end(arguments);
    fprintf(md, " | %s |\n", holds ? "holds" : "**does not hold**");
    statements++;
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
    finish(md);
    for (int i = 0; i < pictures; i++)
        drawn += draw(picture[i]) ? 1 : 0;
    printf("%d numbers and %d statements compared, %d do not hold; %d of %d pictures drawn\n",
           rows, statements, broken, drawn, pictures);
    if (drawn < pictures)
        printf("pictures are drawn by gnuplot, on Debian: apt-get install gnuplot-nox; their "
               "scripts "
               "are there\n");
    return !failed && broken == 0;
}
