/* mpi/tests/preload/yield.c — preloaded, it lets MPICH over UCX wait politely
 *
 * MPICH never gives up the processor while it waits, so with more ranks than cores every blocked rank
 * burns its time slice: a barrier takes tens of milliseconds. Its waits all end in
 * ucp_worker_progress, which tells whether anything moved. Where nothing did, let others run.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    if (!progress)
        *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned moved = progress(worker);
    if (!moved)
        sched_yield();
    return moved;
}
