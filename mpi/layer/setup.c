/* mpi/layer/setup.c — MPI_Init, MPI_Finalize, and the lock */
#define _GNU_SOURCE /* sched_getaffinity */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "coll/comm/published.h"
#include "layer.h"

struct settings settings;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void lock(void)
{
    if (settings.threads)
        pthread_mutex_lock(&mutex);
}

void unlock(void)
{
    MPI_Comm comm;
    int error;
    while (jobs_tell(&comm, &error)) {
        if (settings.threads)
            pthread_mutex_unlock(&mutex);
        (void)PMPI_Comm_call_errhandler(comm, error);
        lock();
    }
    if (settings.threads)
        pthread_mutex_unlock(&mutex);
}

/* Are there more ranks on a node than processors that they may use? Launchers bind ranks: each
 * may use but one, of its own. */
static bool is_crowded(MPI_Comm node)
{
    cpu_set_t mine, cpus;
    int ranks = 1;
    CPU_ZERO(&mine);
    (void)sched_getaffinity(0, sizeof mine, &mine);
    cpus = mine;
    if (node != MPI_COMM_NULL) {
        PMPI_Comm_size(node, &ranks);
        PMPI_Allreduce(&mine, &cpus, sizeof mine, MPI_BYTE, MPI_BOR, node);
    }
    return ranks > CPU_COUNT(&cpus);
}

/* Does it hold on any rank? */
static bool anywhere(bool here)
{
    int all = here;
    PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return all != 0;
}

/* Does the library let others run while it waits? Open MPI does if it is told to, or else if its
 * launcher finds more ranks than processors. (MPI_T would say, but to ask takes as long as
 * MPI_Init.) */
static bool library_yields(void)
{
#ifdef OPEN_MPI
    const char *told = getenv("OMPI_MCA_mpi_yield_when_idle");
    const char *found = getenv("OMPI_MCA_mpi_oversubscribe");
    return told ? strcmp(told, "1") == 0 : found && strcmp(found, "1") == 0;
#else
    return false;
#endif
}

/* Each collective call of the library's here costs a program that starts: milliseconds, where its
 * ranks share processors. */
static void begin(int level)
{
    MPI_Comm node = MPI_COMM_NULL; /* the ranks that share memory with this one */
    void *value;
    int found = 0;
    settings.threads = level == MPI_THREAD_MULTIPLE;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
    settings.tags = found && *(int *)value < TAGS_MOST ? *(int *)value : TAGS_MOST;
    PMPI_Comm_dup(MPI_COMM_SELF, &settings.self);
    PMPI_Comm_set_errhandler(settings.self, MPI_ERRORS_RETURN);
    if (PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) !=
        MPI_SUCCESS)
        node = MPI_COMM_NULL;
    settings.oversubscribed = is_crowded(node);
    settings.dedicated = !anywhere(settings.oversubscribed);
    settings.turns = settings.oversubscribed && !library_yields();
    failures_classes();
    control_init();
    jobs_init();
    ops_init();
    types_init();
    nodes_init(node);
    if (node != MPI_COMM_NULL)
        PMPI_Comm_free(&node);
    if (settings.top && !late_publish())
        fprintf(stderr,
                "coll: COLL_TOP: there is no room for a page in " COLL_PAGE_FOLDER "\n");
    lock();
    comms_init();
    unlock();
    trace_start();
    settings.ready = true;
}

EXPORT int MPI_Init(int *argc, char ***argv)
{
    int error, level = MPI_THREAD_SINGLE; /* the user may have set another */
    tools_look();
    error = PMPI_Init(argc, argv);
    if (error == MPI_SUCCESS) {
        PMPI_Query_thread(&level);
        begin(level);
    }
    return error;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int error;
    tools_look();
    error = PMPI_Init_thread(argc, argv, required, provided);
    if (error == MPI_SUCCESS)
        begin(*provided);
    return error;
}

/* Have ranks died? All survivors know the same when they are through; if so, they leave the library as it is:
 * its MPI_Finalize would wait for the dead. */
static bool outlives_others(void)
{
    uint64_t flags = 0;
    bool lost = false;
    struct comm *world;
    lock();
    world = comm_of(MPI_COMM_WORLD, false);
    if (world && world->pact) {
        (void)agreement_on(world, &flags);
        for (uint32_t i = 0; i < world->p; i++)
            lost = lost || failures_is_lost(world, i);
    }
    unlock();
    return lost;
}

/* The end of a survivor: this process is on its own from here on. */
static int end_alone(void)
{
    if (settings.verbose)
        report_end();
    if (settings.trace)
        fprintf(stderr, "coll: COLL_TRACE: there is no trace, as a rank has died\n");
    settings.ready = false;
    settings.over = settings.outlived = true;
    pool_end();
    nodes_end();
    late_unpublish();
    (void)fflush(NULL);
    return MPI_SUCCESS;
}

EXPORT int MPI_Finalized(int *flag)
{
    if (!settings.outlived)
        return PMPI_Finalized(flag);
    *flag = 1;
    return MPI_SUCCESS;
}

EXPORT int MPI_Finalize(void)
{
    if (settings.ready && outlives_others())
        return end_alone();
    if (settings.ready) {
        if (settings.verbose)
            report_end();
        trace_end();
        settings.ready = false;
        settings.over = true;
        comms_end();
        jobs_end();
        types_end();
        pool_end();
        nodes_end();
        late_unpublish();
        control_end();
        PMPI_Comm_free(&settings.self);
    }
    return PMPI_Finalize();
}
