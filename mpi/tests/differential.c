/* mpi/tests/differential.c — random collectives by MPI and by PMPI, compared byte for byte
 *
 *   mpiexec -n 5 differential [OPTION…]
 *
 * With a layer over MPI preloaded this compares the layer with the library below it. See
 * differential/differential.h for its parts.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "differential/differential.h"

static const char usage[] =
    "usage: differential [OPTION]…\n"
    "  --seed N          another sequence of cases (default 1)\n"
    "  --cases N         so many (default 100)\n"
    "  --first N         the number of the first one (default 0)\n"
    "  --case N          that one alone\n"
    "  --only A,B…       these collectives\n"
    "  --forms A,B…      blocking, nonblocking, persistent, large, floats\n"
    "  --bytes N         of a buffer, about (default 262144)\n"
    "  --asked PERCENT   of buffers are memory of MPI_Alloc_mem (default 0)\n"
    "  --oracle library | definition   what to compare with (default library)\n"
    "  --plain           there is no layer: leave out what the library does wrong\n"
    "  --verbose         say every case\n";

struct options options = {.seed = 1,
                          .cases = 100,
                          .collectives = (1u << COLLECTIVE_COUNT) - 1,
                          .forms = (1u << FORM_COUNT) - 1,
                          .large_counts = true,
                          .floats = true,
                          .bytes = 262144};
int world_rank, world_size;
char doing[TEXT];
struct stream memories;
long failures;

static long case_number;

#define NAME(name) #name,
const char *const collective_names[] = {COLLECTIVES(NAME) NULL};
const char *const form_names[] = {"blocking", "nonblocking", "persistent",
                                  "large",    "floats",      NULL};

void complain(const char *format, ...)
{
    char text[TEXT * 2];
    va_list arguments;
    failures++;
    if (failures > 20)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printf("DIFFERENT on rank %d of %d, --seed %llu --case %ld: %s\n", world_rank, world_size,
           (unsigned long long)options.seed, case_number, text);
    fflush(stdout);
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(doing, TEXT, format, arguments);
    va_end(arguments);
    if (options.verbose)
        printf("case %ld: %s\n", case_number, doing);
}

/* A case that hangs or crashes says which one it is. Processor time counts, for machines that are slow;
 * and the clock, for ranks that sleep. */
static void ended(int signal_number)
{
    char text[TEXT * 2];
    const int n =
        snprintf(text, sizeof text, "%s on rank %d of %d, --seed %llu --case %ld: %s\n",
                 signal_number == SIGPROF || signal_number == SIGALRM ? "HANGS" : "CRASHES",
                 world_rank, world_size, (unsigned long long)options.seed, case_number, doing);
    if (write(STDOUT_FILENO, text, (size_t)n) < 0)
        _exit(4);
    signal(signal_number, SIG_DFL);
    if (signal_number == SIGPROF || signal_number == SIGALRM) {
        sleep(2); /* for the others to say where they are */
        abort();
    }
    raise(signal_number);
}

static void watch(void)
{
    const struct itimerval busy = {.it_value = {.tv_sec = 30}};
    alarm(150);
    setitimer(ITIMER_PROF, &busy, NULL);
}

/* Words of a list as a mask; stops with a sentence at an unknown one. */
static uint32_t mask(const char *list, const char *const *names)
{
    uint32_t bits = 0;
    while (*list) {
        const size_t n = strcspn(list, ",");
        int i = 0;
        while (names[i] && (strlen(names[i]) != n || strncmp(names[i], list, n) != 0))
            i++;
        if (!names[i]) {
            fprintf(stderr, "differential: \"%.*s\" is not one of", (int)n, list);
            for (i = 0; names[i]; i++)
                fprintf(stderr, " %s", names[i]);
            fprintf(stderr, "\n");
            exit(2);
        }
        bits |= 1u << i;
        list += n + (list[n] == ',');
    }
    return bits;
}

static void parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(name, "--verbose") == 0) {
            options.verbose = 1;
            continue;
        }
        if (strcmp(name, "--plain") == 0) {
            options.plain = true;
            continue;
        }
        if (!value) {
            fputs(usage, stderr);
            exit(2);
        }
        i++;
        if (strcmp(name, "--seed") == 0) {
            options.seed = strtoull(value, NULL, 10);
        } else if (strcmp(name, "--cases") == 0) {
            options.cases = strtol(value, NULL, 10);
        } else if (strcmp(name, "--first") == 0) {
            options.first = strtol(value, NULL, 10);
        } else if (strcmp(name, "--case") == 0) {
            options.first = strtol(value, NULL, 10);
            options.cases = 1;
        } else if (strcmp(name, "--bytes") == 0) {
            options.bytes = (size_t)strtoul(value, NULL, 10);
        } else if (strcmp(name, "--asked") == 0) {
            options.asked = atoi(value);
        } else if (strcmp(name, "--oracle") == 0) {
            options.by_definition = strcmp(value, "definition") == 0;
        } else if (strcmp(name, "--only") == 0) {
            options.collectives = mask(value, collective_names);
        } else if (strcmp(name, "--forms") == 0) {
            options.forms = mask(value, form_names);
            options.large_counts = options.forms >> 3 & 1;
            options.floats = options.forms >> 4 & 1;
            options.forms &= 7;
        } else {
            fprintf(stderr, "differential: unknown option %s\n%s", name, usage);
            exit(2);
        }
    }
#if !LARGE_COUNTS
    options.forms &= ~(1u << PERSISTENT);
    options.large_counts = false;
#endif
#ifdef MPICH_VERSION /* 4.0.2: its persistent collectives that are not active are waited for, forever */
    if (options.plain)
        options.forms &= ~(1u << PERSISTENT);
#endif
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    parse(argc, argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    types_begin();
    operators_begin();
    static const int deadly[] = {SIGPROF, SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        signal(deadly[i], ended);

    for (case_number = options.first; case_number < options.first + options.cases;
         case_number++) {
        struct stream s = stream_of(options.seed, (uint64_t)case_number, 0);
        const int kind = below(&s, 100);
        memories = stream_of(options.seed, (uint64_t)case_number, 1000 + (uint64_t)world_rank);
        const bool batches = options.forms >> NONBLOCKING, blocking = options.forms & 1;
        watch();
        if (options.floats && (kind < 10 || !options.forms))
            floats_case(case_number);
        else if (blocking && (kind < 60 || !batches))
            blocking_case(case_number);
        else if (batches)
            batch_case(case_number);
    }
    alarm(150);
    say("ending");
    PMPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("%ld cases on %d ranks, seed %llu: %ld differences\n", options.cases, world_size,
               (unsigned long long)options.seed, failures);
    MPI_Finalize();
    return failures ? 1 : 0;
}
