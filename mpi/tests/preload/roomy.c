/* mpi/tests/preload/dedicated.c — preloaded, it lets the layer find a processor for each of 64
 * ranks
 *
 * On several nodes it takes the rules of clusters only where no rank shares a processor, which a small
 * machine cannot show. The ranks' memory asks the system itself, and so still waits as it has to.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

__attribute__((visibility("default"))) int sched_getaffinity(pid_t pid, size_t bytes,
                                                             cpu_set_t *set);

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    (void)pid;
    memset(set, 0, bytes);
    for (size_t cpu = 0; cpu < 64; cpu++)
        CPU_SET_S(cpu, bytes, set);
    return 0;
}
