/* tools/progress.c — see progress.h */
#include "progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double next;  /* when to say something again; 0: nothing was said */
static bool visible; /* a line is on the terminal */

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_say(const char *format, ...)
{
    const double now = seconds_now();
    const bool terminal = isatty(STDERR_FILENO);
    va_list arguments;
    if (next == 0)
        next = now + (terminal ? 1 : 10);
    if (now < next)
        return;
    next = now + (terminal ? 0.2 : 10);
    if (terminal)
        fputs("\r\033[K", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (!terminal)
        fputc('\n', stderr);
    fflush(stderr);
    visible = terminal;
}

void progress_clear(void)
{
    if (visible)
        fputs("\r\033[K", stderr);
    visible = false;
}
