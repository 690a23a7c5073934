/* tools/plot.c — see plot.h */
#define _POSIX_C_SOURCE 200809L
#include "plot.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "options.h"

extern char **environ;

void plot_quoted(FILE *script, const char *text)
{
    fputc('\'', script);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', script);
        fputc(*text, script);
    }
    fputc('\'', script);
}

FILE *plot_open(struct plot *plot, const char *path)
{
    const char *dot = strrchr(path, '.');
    const char *terminal = dot && strcmp(dot, ".svg") == 0
                               ? "svg size 900,600 background 'white'"
                           : dot && strcmp(dot, ".pdf") == 0 ? "pdfcairo size 9,6"
                           : dot && strcmp(dot, ".png") == 0 ? "pngcairo size 900,600"
                                                             : NULL;
    if (!terminal)
        refuse("a picture's name ends with .svg, .pdf or .png, not \"%s\"", path);
    if (snprintf(plot->name, sizeof plot->name, "%s.gnuplot", path) >= (int)sizeof plot->name)
        refuse("the name of the picture is too long");
    plot->script = fopen(plot->name, "w");
    if (!plot->script)
        refuse("%s cannot be written: %s", plot->name, strerror(errno));
    fprintf(plot->script, "set encoding utf8\nset terminal %s\nset output ", terminal);
    plot_quoted(plot->script, path);
    fputc('\n', plot->script);
    return plot->script;
}

void plot_close(struct plot *plot)
{
    char gnuplot[] = "gnuplot";
    char *const arguments[] = {gnuplot, plot->name, NULL};
    pid_t child;
    int status, error;
    const bool good = !ferror(plot->script);
    if (fclose(plot->script) != 0 || !good)
        refuse("%s could not be written", plot->name);
    fflush(stdout);
    error = posix_spawnp(&child, gnuplot, NULL, NULL, arguments, environ);
    if (error == ENOENT)
        refuse(
            "gnuplot is missing, so there is only its script, %s; on Debian: apt-get install "
            "gnuplot-nox",
            plot->name);
    if (error != 0)
        refuse("gnuplot could not be started: %s", strerror(error));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        refuse("gnuplot failed on %s", plot->name);
}
