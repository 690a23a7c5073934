/* tools/bind.c — see bind.h */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity */
#endif
#include "bind.h"

#include <sched.h>

void bind_rank(uint64_t rank)
{
    cpu_set_t all, one;
    int n = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    rank %= (uint64_t)CPU_COUNT(&all);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && (uint64_t)n++ == rank) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            (void)sched_setaffinity(0, sizeof one, &one);
        }
}
