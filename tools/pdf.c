/* tools/pdf.c — see pdf.h */
#include "pdf.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"

extern char **environ;

void pdf_open(struct pdf *pdf, const char *path)
{
    if (strcmp(path, "-") == 0)
        refuse("--pdf writes a file, not \"-\"");
    output_open(&pdf->out, path);
    pdf->svg = tmpfile();
    if (!pdf->svg)
        refuse("a temporary file cannot be written: %s", strerror(errno));
}

/* Runs the converter between both files. Returns an errno, or -1 if it fails. */
static int convert(int from, int to)
{
    char program[] = "rsvg-convert", format[] = "--format=pdf";
    char *const arguments[] = {program, format, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status, error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawnp(&child, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return error;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

bool pdf_close(struct pdf *pdf)
{
    int error;
    if (fflush(pdf->svg) != 0 || ferror(pdf->svg) || lseek(fileno(pdf->svg), 0, SEEK_SET) != 0)
        refuse("a temporary file could not be written: %s", strerror(errno));
    fflush(NULL);
    error = convert(fileno(pdf->svg), fileno(pdf->out.file));
    fclose(pdf->svg);
    if (error == ENOENT)
        refuse("rsvg-convert, which makes PDF of pictures, is missing; on Debian: apt-get "
               "install librsvg2-bin; --svg FILE needs nothing");
    if (error > 0)
        refuse("rsvg-convert could not be started: %s", strerror(error));
    if (error != 0)
        refuse("rsvg-convert failed, so %s is not written", pdf->out.path);
    return output_close(&pdf->out);
}
