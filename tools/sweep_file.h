/* tools/sweep_file.h — a file of results that grows line by line, and is continued where it ends
 *
 *   size_t done = sweep_file_open(&file, path, head, take, arg);   // lines that were there
 *   for (i = done; i < n; i++) { … print a line to file.to …; sweep_file_flush(&file); }
 *   sweep_file_close(&file);
 *
 * Its first lines, the head, say what it holds; a file with another head is refused, so is one that another process
 * writes. A last line without an end is written again.
 */
#ifndef COLL_TOOLS_SWEEP_FILE_H
#define COLL_TOOLS_SWEEP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sweep_file {
    FILE *to;
    const char *path; /* NULL: the standard output */
};

/* Is given each whole line that was there, from line 0 after the head; false: it does not belong there. */
typedef bool sweep_file_take(void *arg, size_t i, const char *line);

/* Opens the file, NULL or "-": the standard output, and writes the head where it is new; or refuses. Returns how many
 * lines are there. */
size_t sweep_file_open(struct sweep_file *file, const char *path, const char *head,
                       sweep_file_take *take, void *arg);

/* What is printed so far gets there; refuses if it does not. */
void sweep_file_flush(struct sweep_file *file);
void sweep_file_close(struct sweep_file *file);

#endif /* COLL_TOOLS_SWEEP_FILE_H */
