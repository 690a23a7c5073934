/* examples/cg.c — a conjugate-gradient solver that communicates through coll alone
 *
 *   cc -O2 -Iinclude examples/cg.c examples/cg/[a-z]*.c -o cg -lpthread -lm
 *   ./cg --grid 32,32,32 --ranks 4                HPCG's 27-point problem
 *   ./cg matrix.mtx --ranks 4 --check             any symmetric positive definite matrix, Matrix Market format
 *
 * The rows of the matrix are spread over P ranks, threads here, that share no vector. An
 * iteration is an allgatherv of the search vector, a product with the matrix, and allreduces of
 * one and of two sums: the pattern of HPCG and of the codes for which networks learned to
 * reduce. It prints how the residual falls, how good the answer is, the time inside each
 * collective, and the commands that show the schedules it used.
 *
 *   cg.c                        the command line and the report
 *   cg/ranks.c                  P ranks as threads: all communication is here
 *   cg/replay.c                 the same operator order in one thread, for --check
 *   cg/solver.c                 the numerical part of one rank
 *   cg/csr.c, matrix_market.c   the matrix
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cg/matrix_market.h"
#include "cg/ranks.h"

static const char usage[] =
    "usage: cg FILE.mtx | --grid NX,NY,NZ  [options]\n"
    "\n"
    "Solves A x = b by conjugate gradients, b chosen so that the answer is all ones.\n"
    "\n"
    "  FILE.mtx               a symmetric positive definite matrix in Matrix Market format\n"
    "  --grid NX,NY,NZ        the 27-point problem of HPCG on a grid\n"
    "  --ranks P              ranks, one thread each (1 to 1024; default 4)\n"
    "  --tolerance T          end when |r| <= T |b| (default 1e-9)\n"
    "  --max-iterations N     give up after N iterations (default 500)\n"
    "  --algorithm COLLECTIVE=NAME[:PARAMETER=VALUE,...]\n"
    "                         for allreduce or allgatherv, instead of the library's choice\n"
    "  --reproducible         the same bits for every number of ranks; prints all\n"
    "                         digits of every residual\n"
    "  --check                compare with the answer of one rank, and, unless "
    "--reproducible,\n"
    "                         with that of one thread that adds up in the same order\n"
    "  --help                 this text\n"
    "\n"
    "Exit code: 0 solved, 1 not solved or check failed, 2 bad arguments or bad file.\n";

/* Prints one sentence and ends with exit code 2. */
static void __attribute__((noreturn, format(printf, 1, 2))) refuse(const char *format, ...)
{
    va_list args;
    fprintf(stderr, "cg: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(2);
}

/* ---- residuals ----------------------------------------------------------------------------- */

/* Iterations 0, 1, 2, 5, 10, 20, 50, 100 … */
static bool is_landmark(size_t iteration)
{
    while (iteration >= 10 && iteration % 10 == 0)
        iteration /= 10;
    return iteration <= 2 || iteration == 5;
}

static void print_residual(void *arg, size_t iteration, double relative)
{
    (void)arg;
    if (iteration == 0)
        printf("\niteration  relative residual\n");
    if (is_landmark(iteration)) {
        printf("%9zu  %.3e\n", iteration, relative);
        fflush(stdout);
    }
}

/* With all digits, after each iteration: what runs on other numbers of ranks can be compared with. */
static void print_residual_exactly(void *arg, size_t iteration, double relative)
{
    (void)arg;
    if (iteration == 0)
        printf("\niteration  relative residual\n");
    printf("%9zu  %.16e\n", iteration, relative);
}

/* ---- the command line --------------------------------------------------------------------- */

typedef struct options {
    const char *path;
    uint32_t grid[3]; /* 0, 0, 0: a file */
    bool check;
    ranks_job job;
} options;

/* The number from text on, up to a character of `ends`, where *text is left. */
static uint64_t number(const char *what, const char **text, const char *ends, uint64_t least,
                       uint64_t most)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(*text, &end, 10);
    if (**text < '0' || **text > '9' || (*end != '\0' && !strchr(ends, *end)) || errno != 0 ||
        value < least || value > most)
        refuse("%s wants a number from %llu to %llu, not \"%s\"", what,
               (unsigned long long)least, (unsigned long long)most, *text);
    *text = end;
    return value;
}

static void parse_grid(options *o, const char *text)
{
    for (unsigned i = 0; i < 3; i++) {
        o->grid[i] = (uint32_t)number("--grid", &text, i < 2 ? "," : "", 1, 65535);
        if (i < 2 && *text++ != ',')
            refuse("--grid wants three numbers, such as 32,32,32");
    }
    const uint64_t plane = (uint64_t)o->grid[0] * o->grid[1];
    if (plane > (UINT32_MAX - 1) / o->grid[2])
        refuse("--grid %u,%u,%u has more than 4294967294 points", o->grid[0], o->grid[1],
               o->grid[2]);
}

static void parse_parameters(const coll_algorithm *algorithm, uint32_t *param, const char *text)
{
    while (*text != '\0') {
        const size_t name = strcspn(text, "=");
        uint32_t i = 0;
        while (i < algorithm->n_params && (strlen(algorithm->params[i].name) != name ||
                                           memcmp(algorithm->params[i].name, text, name) != 0))
            i++;
        if (i == algorithm->n_params)
            refuse("%s has no parameter \"%.*s\"", algorithm->name, (int)name, text);
        text += name;
        if (*text++ != '=')
            refuse("%s of %s wants a value, as in %s=%u", algorithm->params[i].name,
                   algorithm->name, algorithm->params[i].name,
                   algorithm->params[i].default_value);
        param[i] = (uint32_t)number(algorithm->params[i].name, &text, ",",
                                    algorithm->params[i].least, algorithm->params[i].most);
        if (*text == ',')
            text++;
    }
}

static void parse_algorithm(options *o, const char *text)
{
    static const coll_collective collectives[] = {COLL_ALLGATHERV, COLL_ALLREDUCE};
    coll_choice *const choices[] = {&o->job.gather, &o->job.sum};
    char name[64];
    for (unsigned i = 0; i < 2; i++) {
        const char *collective = coll_collective_name(collectives[i]);
        const size_t n = strlen(collective);
        if (strncmp(text, collective, n) != 0 || text[n] != '=')
            continue;
        const size_t length = strcspn(text + n + 1, ":");
        snprintf(name, sizeof name, "%.*s", (int)length, text + n + 1);
        coll_choice *choice = choices[i];
        choice->algorithm = coll_resolve(collectives[i], name, choice->param);
        if (!choice->algorithm)
            refuse("there is no %s algorithm \"%s\"; coll list shows all", collective, name);
        if (!(choice->algorithm->traits & COLL_GIVES_IDENTICAL))
            refuse(
                "%s %s may give ranks different bits, and they would disagree on when to stop",
                collective, name);
        text += n + 1 + length;
        if (*text == ':')
            parse_parameters(choice->algorithm, choice->param, text + 1);
        return;
    }
    refuse("--algorithm wants allreduce=NAME or allgatherv=NAME, not \"%s\"", text);
}

static double parse_tolerance(const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0) || !(value < 1))
        refuse("--tolerance wants a number from 0 to 1, not \"%s\"", text);
    return value;
}

/* The value of option argv[*i], after = or as the next argument; NULL if argv[*i] is another
 * option. */
static const char *value_of(const char *name, int argc, char **argv, int *i)
{
    const size_t n = strlen(name);
    if (strncmp(argv[*i], name, n) != 0)
        return NULL;
    if (argv[*i][n] == '=')
        return argv[*i] + n + 1;
    if (argv[*i][n] != '\0')
        return NULL;
    if (*i + 1 == argc)
        refuse("%s wants a value; --help explains", name);
    return argv[++*i];
}

static void parse(options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            exit(0);
        } else if (strcmp(argv[i], "--check") == 0) {
            o->check = true;
        } else if (strcmp(argv[i], "--reproducible") == 0) {
            o->job.reproducible = true;
        } else if ((value = value_of("--grid", argc, argv, &i)) != NULL) {
            parse_grid(o, value);
        } else if ((value = value_of("--ranks", argc, argv, &i)) != NULL) {
            o->job.ranks = (uint32_t)number("--ranks", &value, "", 1, 1024);
        } else if ((value = value_of("--tolerance", argc, argv, &i)) != NULL) {
            o->job.tolerance = parse_tolerance(value);
        } else if ((value = value_of("--max-iterations", argc, argv, &i)) != NULL) {
            o->job.max_iterations =
                (size_t)number("--max-iterations", &value, "", 0, 1000000000);
        } else if ((value = value_of("--algorithm", argc, argv, &i)) != NULL) {
            parse_algorithm(o, value);
        } else if (argv[i][0] == '-') {
            refuse("unknown option %s; --help lists them", argv[i]);
        } else if (o->path) {
            refuse("one matrix at a time: %s or %s", o->path, argv[i]);
        } else {
            o->path = argv[i];
        }
    }
    if (!o->path == !o->grid[0])
        refuse("give a matrix: a Matrix Market file or --grid NX,NY,NZ, one of them; --help "
               "explains");
    if (o->job.reproducible)
        o->job.residual = print_residual_exactly;
}

/* ---- the report --------------------------------------------------------------------------- */

static void print_end(const solver_result *result)
{
    const char *s = result->iterations == 1 ? "" : "s";
    switch (result->end) {
    case SOLVER_CONVERGED:
        printf("\nconverged after %zu iteration%s: |b - Ax|/|b| = %.3e, largest error %.3e\n",
               result->iterations, s, result->residual, result->largest_error);
        break;
    case SOLVER_TIRED:
        printf(
            "\nnot converged after %zu iteration%s: |b - Ax|/|b| = %.3e, largest error %.3e\n",
            result->iterations, s, result->residual, result->largest_error);
        break;
    case SOLVER_INDEFINITE:
        printf("\nthe matrix is not positive definite: p.Ap <= 0 after %zu iteration%s\n",
               result->iterations, s);
        break;
    case SOLVER_OVERFLOW:
        printf("\nthe numbers overflow after %zu iteration%s; the matrix is badly scaled\n",
               result->iterations, s);
        break;
    case SOLVER_NO_MEMORY:
        printf("\nno memory\n");
        break;
    case SOLVER_BROKEN:
        printf("\ncommunication failed: %s\n", coll_status_text(result->status));
        break;
    }
}

/* Additions, multiplications and divisions of a run. */
static double flops(const csr *a, const solver_result *result)
{
    const double n = (double)a->rows, product = 2 * (double)a->start[a->rows];
    return (double)result->iterations * (product + 13 * n) + product + 8 * n;
}

static void print_uses(const ranks_outcome *outcome)
{
    double mean = 0;
    printf("\n%-10s %8s %8s %12s %12s %10s %10s %7s\n", "collective", "elements", "calls",
           "messages", "bytes", "mean s", "max s", "share");
    for (unsigned use = 0; use < RANKS_USES; use++) {
        const ranks_use *u = &outcome->use[use];
        if (u->requests == 0)
            continue;
        const coll_problem *of = &u->plan.problem;
        printf("%-10s %8zu %8zu %12zu %12zu %10.4f %10.4f %6.1f%%\n",
               coll_collective_name(of->collective),
               of->collective == COLL_ALLGATHERV ? u->plan.largest : of->count, u->requests,
               u->messages * u->requests, u->bytes * u->requests, u->mean_seconds,
               u->most_seconds, 100 * u->mean_seconds / outcome->seconds);
        mean += u->mean_seconds;
    }
    printf("%-10s %8s %8s %12s %12s %10.4f %10s %6.1f%%\n", "all", "", "", "", "", mean, "",
           100 * mean / outcome->seconds);
}

static void print_commands(const ranks_outcome *outcome)
{
    printf("\nschedules used; the command coll shows them:\n");
    for (unsigned use = 0; use < RANKS_USES; use++) {
        const ranks_use *u = &outcome->use[use];
        const coll_plan *plan = &u->plan;
        if (u->requests == 0)
            continue;
        printf("  coll show %s %s -p %u --count %zu",
               coll_collective_name(plan->problem.collective), plan->algorithm->name,
               plan->problem.p,
               plan->problem.collective == COLL_ALLGATHERV ? plan->largest
                                                           : plan->problem.count);
        for (uint32_t i = 0; i < plan->algorithm->n_params; i++)
            printf(" --param %s=%u", plan->algorithm->params[i].name, plan->param[i]);
        printf("\n");
    }
}

/* ---- checks ------------------------------------------------------------------------------- */

/* How many doubles lie between a and b; both are finite. */
static uint64_t ulps(double a, double b)
{
    int64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    if (x < 0)
        x = INT64_MIN - x;
    if (y < 0)
        y = INT64_MIN - y;
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

/* Prints how the answers differ; returns whether they have the same bits. */
static bool compare(const char *with, const ranks_job *job, const double *x,
                    const solver_result *xr, const double *y, const solver_result *yr)
{
    uint64_t most = 0;
    double relative = 0;
    for (size_t i = 0; i < job->a->rows; i++) {
        const uint64_t apart = ulps(x[i], y[i]);
        if (most < apart)
            most = apart;
        if (relative < fabs(x[i] - y[i]) / fmax(fabs(x[i]), fabs(y[i])))
            relative = fabs(x[i] - y[i]) / fmax(fabs(x[i]), fabs(y[i]));
    }
    printf("check: %s: %zu iterations, here %zu; ", with, yr->iterations, xr->iterations);
    if (most == 0)
        printf("all %zu numbers have the same bits\n", job->a->rows);
    else
        printf("largest difference %llu ulp, %.1e relative\n", (unsigned long long)most,
               relative);
    return most == 0 && xr->end == yr->end && xr->iterations == yr->iterations;
}

/* Compares with one rank, whose bits must be the same in a reproducible run; otherwise with one
 * thread that adds up in the same order, whose bits must be. */
static bool check(const ranks_job *job, const ranks_outcome *was, const double *x)
{
    double *y = calloc(job->a->rows, sizeof *y);
    ranks_job alone = *job;
    bool good = true;
    if (!y) {
        printf("check: no memory\n");
        return false;
    }
    printf("\n");
    if (!job->reproducible) {
        const solver_result result = ranks_replay(job, was, y);
        good = compare("one thread, same operator order", job, x, &was->result, y, &result);
        if (!good)
            printf("check: FAILED: these answers must be the same\n");
    }
    alone.ranks = 1;
    alone.residual = NULL;
    const ranks_outcome one = ranks_run(&alone, y);
    const bool same = compare("one rank", job, x, &was->result, y, &one.result);
    if (job->reproducible && !same) {
        printf("check: FAILED: a reproducible answer must not depend on the number of ranks\n");
        good = false;
    }
    if (one.result.end != was->result.end) {
        printf("check: FAILED: one rank ends otherwise\n");
        good = false;
    }
    free(y);
    return good;
}

int main(int argc, char **argv)
{
    options o = {
        .job = {
            .tolerance = 1e-9, .max_iterations = 500, .ranks = 4, .residual = print_residual}};
    csr a;
    char sentence[512];
    parse(&o, argc, argv);
    if (o.path) {
        if (!matrix_market_read(&a, o.path, sentence, sizeof sentence))
            refuse("%s", sentence);
        printf("matrix    %s", o.path);
    } else {
        if (!csr_stencil27(&a, o.grid[0], o.grid[1], o.grid[2]))
            refuse("no memory for a grid of %u,%u,%u", o.grid[0], o.grid[1], o.grid[2]);
        printf("matrix    27-point problem on %u x %u x %u", o.grid[0], o.grid[1], o.grid[2]);
    }
    printf(": %zu rows, %zu entries\n", a.rows, a.start[a.rows]);
    printf("ranks     %u threads%s\n", o.job.ranks, o.job.reproducible ? ", reproducible" : "");
    o.job.a = &a;

    double *x = calloc(a.rows, sizeof *x);
    if (!x)
        refuse("no memory for %zu rows", a.rows);
    const ranks_outcome outcome = ranks_run(&o.job, x);
    const solver_result *result = &outcome.result;
    bool good = result->end == SOLVER_CONVERGED;
    print_end(result);
    printf("%.3f s, %.3f GFLOP/s\n", outcome.seconds,
           flops(&a, result) / outcome.seconds / 1e9);
    print_uses(&outcome);
    if (o.check && (good || result->end == SOLVER_TIRED))
        good = check(&o.job, &outcome, x) && good;
    print_commands(&outcome);
    free(x);
    csr_free(&a);
    return good ? 0 : 1;
}
