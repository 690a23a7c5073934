/* tests/fuzz/fuzz.h — what the targets of libFuzzer share
 *
 * A target is a file here with LLVMFuzzerTestOneInput, and a folder of the same name in corpus/. It hands
 * bytes to a reader of the library or of its programs, and must() says what holds of all that the reader
 * takes. run.sh builds and runs it.
 */
#ifndef COLL_TESTS_FUZZ_H
#define COLL_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the run as a crash does, with a sentence. */
#define must(held, ...)                                                                        \
    do {                                                                                       \
        if (!(held)) {                                                                         \
            fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                    \
            fprintf(stderr, __VA_ARGS__);                                                      \
            fprintf(stderr, "\n");                                                             \
            abort();                                                                           \
        }                                                                                      \
    } while (0)

/* The bytes in memory of exactly their size, so that reading beyond is noticed. */
static inline void *bytes_of(const void *data, size_t size)
{
    void *bytes = malloc(size ? size : 1);
    must(bytes, "no memory");
    if (size)
        memcpy(bytes, data, size);
    return bytes;
}

/* The same as a text, of at most `most` bytes. */
static inline char *text_of(const uint8_t *data, size_t size, size_t most)
{
    const size_t length = size < most ? size : most;
    char *text = malloc(length + 1);
    must(text, "no memory");
    if (length)
        memcpy(text, data, length);
    text[length] = '\0';
    return text;
}

/* Cuts the next line off a text; an empty one at its end. */
static inline char *line_of(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    *text = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return line;
}

/* A file with these bytes that has no name but this one; closed by fclose. */
static inline FILE *file_of(const uint8_t *data, size_t size, char *path, size_t bytes)
{
    FILE *file = tmpfile();
    must(file && fwrite(data, 1, size, file) == size && fflush(file) == 0, "no file");
    snprintf(path, bytes, "/proc/self/fd/%d", fileno(file));
    return file;
}

#endif /* COLL_TESTS_FUZZ_H */
