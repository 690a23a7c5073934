/* tests/support/pages.h — which pages memory has */
#ifndef COLL_TESTS_PAGES_H
#define COLL_TESTS_PAGES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* KiB in huge pages of the mapping, or mappings, that hold some of these bytes; −1: nobody tells. */
static inline long huge_kib(const void *memory, size_t bytes)
{
    const unsigned long least = (unsigned long)(uintptr_t)memory, most = least + bytes;
    FILE *file = fopen("/proc/self/smaps", "r");
    unsigned long from = 0, to = 0, first, end;
    long kib = 0, sum = 0;
    char line[512];
    if (!file)
        return -1;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &first, &end) == 2) {
            from = first;
            to = end;
        } else if ((sscanf(line, "AnonHugePages: %ld kB", &kib) == 1 ||
                    sscanf(line, "ShmemPmdMapped: %ld kB", &kib) == 1) &&
                   from < most && to > least) {
            sum += kib;
        }
    }
    (void)fclose(file);
    return sum;
}

/* Does memory begin in a mapping whose name has this part? */
static inline int is_mapped_of(const void *memory, const char *part)
{
    FILE *file = fopen("/proc/self/maps", "r");
    unsigned long from, to;
    char line[512];
    int found = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && (uintptr_t)memory >= from &&
            (uintptr_t)memory < to)
            found = strstr(line, part) != NULL;
    if (file)
        (void)fclose(file);
    return found;
}

#endif /* COLL_TESTS_PAGES_H */
