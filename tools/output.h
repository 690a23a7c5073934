/* tools/output.h — a file that is there whole, or not at all
 *
 *   struct output out;
 *   output_open(&out, path);                 // NULL or "-": the standard output
 *   … write to out.file …
 *   if (!output_close(&out))                 // puts it in its place
 *       … it could not be written: it was said on stderr …
 *
 * What is written goes to a temporary file in the same folder, which takes the place of the old
 * one at the end. If the program ends before, by refuse() or by a signal, it is removed.
 */
#ifndef COLL_TOOLS_OUTPUT_H
#define COLL_TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *file;
    const char *path;
};

/* Opens, or refuses the request. One file at a time. */
void output_open(struct output *out, const char *path);

/* Closes. False: something went wrong, and a file that was there before still is. */
bool output_close(struct output *out);

#endif /* COLL_TOOLS_OUTPUT_H */
