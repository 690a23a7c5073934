/* tools/certified.c — see certified.h */
#include "certified.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coll/algos/registry.h"
#include "names.h"
#include "options.h"
#include "progress.h"

static void head(void)
{
    printf("%-20s %-21s %-9s %16s %9s %9s %9s\n", "collective", "algorithm", "argument", "p",
           "plans", "ranks", "seconds");
}

/* Proves one row and prints its line. */
static bool prove_row(coll_certificate *row)
{
    const double start = seconds_now();
    char range[32];
    const bool proven = coll_certify(row);
    snprintf(range, sizeof range, "%u..%u", row->p_first, row->p_last);
    printf("%-20s %-21s %-9s %16s %9" PRIu64 " %9" PRIu64 " %9.2f  %s\n",
           coll_collective_name(row->collective), row->algorithm->name,
           coll_argument_name(coll_argument_of(row->collective, row->algorithm)), range,
           row->plans, row->ranks, seconds_now() - start, proven ? "certified" : "FAILED");
    if (!proven)
        printf("  p = %u, rank %u, step %zu: %s\n", row->report.p, row->report.rank,
               row->report.step, row->report.what);
    fflush(stdout);
    return proven;
}

static int end(uint64_t rows, uint64_t failed, double start)
{
    printf("%" PRIu64 " line%s of the table", rows, rows == 1 ? "" : "s");
    if (failed)
        printf(", of which %" PRIu64 " FAILED\n", failed);
    else
        printf(" certified in %.1f s\n", seconds_now() - start);
    return failed ? 1 : 0;
}

/* ---- a file ------------------------------------------------------------------------------ */

/* Of each row a line: what is claimed, by which argument, of which p and of which ranks, and what the claims are,
 * in a digest of all messages that were checked. */
#define CERTIFICATE_HEAD "coll certificates 1\n"
#define CERTIFICATE_LINE                                                                       \
    "%31s %31s %15s p %u..%u whole %u plans %" SCNu64 " ranks %" SCNu64 " claims %" SCNx64

static void write_row(FILE *to, const coll_certificate *row)
{
    fprintf(to,
            "%s %s %s p %u..%u whole %u plans %" PRIu64 " ranks %" PRIu64 " claims %016" PRIx64
            "\n",
            coll_collective_name(row->collective), row->algorithm->name,
            coll_argument_name(coll_argument_of(row->collective, row->algorithm)), row->p_first,
            row->p_last, row->whole, row->plans, row->ranks, row->claims);
}

int certified_prove(const struct certify *what)
{
    const double start = seconds_now();
    uint64_t rows = 0, failed = 0;
    size_t n;
    const coll_algorithm *const *algorithms = algorithms_known(&n);
    FILE *to = what->into ? fopen(what->into, "w") : NULL;
    if (what->into && !to)
        refuse("%s cannot be written: %s", what->into, strerror(errno));
    if (to)
        fputs(CERTIFICATE_HEAD, to);
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        for (size_t i = 0; i < n; i++) {
            coll_certificate row;
            const coll_collective collective = (coll_collective)c;
            if ((what->one != COLL_COLLECTIVES && what->one != collective) ||
                (what->only && strcmp(what->only, algorithms[i]->name) != 0) ||
                !coll_is(algorithms[i]->collectives, collective) ||
                coll_argument_of(collective, algorithms[i]) == COLL_ARGUMENT_NONE)
                continue;
            coll_certificate_init(&row, collective, algorithms[i]);
            row.p_first = what->p_first;
            row.p_last = what->p_last;
            row.whole = what->whole;
            row.workers = what->jobs;
            if (rows++ == 0)
                head();
            if (!prove_row(&row))
                failed++;
            else if (to)
                write_row(to, &row);
        }
    if (rows == 0)
        refuse("there is no certificate of that: coll verify --certify without names has all "
               "that there are, and coll verify without --certify proves all algorithms among "
               "fewer ranks");
    if (to && (ferror(to) | fclose(to)))
        refuse("%s cannot be written: %s", what->into, strerror(errno));
    return end(rows, failed, start);
}

/* A line of a file as a row to be proven, and what it says came of that. */
static void read_row(const char *file, unsigned number, const char *line, coll_certificate *row,
                     coll_certificate *said)
{
    char collective[32], algorithm[32], argument[16];
    coll_certificate_init(row, COLL_BARRIER, NULL);
    if (sscanf(line, CERTIFICATE_LINE, collective, algorithm, argument, &row->p_first,
               &row->p_last, &row->whole, &said->plans, &said->ranks, &said->claims) != 9 ||
        row->p_first < 1 || row->p_last < row->p_first || row->p_last > COLL_CERTIFY_MOST)
        refuse("%s, line %u: this is no certificate", file, number);
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        if (strcmp(collective, coll_collective_name((coll_collective)c)) == 0) {
            row->collective = (coll_collective)c;
            row->algorithm = coll_find(row->collective, algorithm);
        }
    if (!row->algorithm ||
        strcmp(argument,
               coll_argument_name(coll_argument_of(row->collective, row->algorithm))) != 0 ||
        strcmp(argument, "none") == 0)
        refuse("%s, line %u: there is no argument \"%s\" for %s, %s", file, number, argument,
               collective, algorithm);
}

int certified_check(const char *file, uint32_t jobs)
{
    const double start = seconds_now();
    uint64_t rows = 0, failed = 0;
    unsigned number = 1;
    char line[256];
    FILE *from = fopen(file, "r");
    if (!from)
        refuse("%s cannot be read: %s", file, strerror(errno));
    if (!fgets(line, sizeof line, from) || strcmp(line, CERTIFICATE_HEAD) != 0)
        refuse("%s does not begin with the line \"coll certificates 1\": give a file that coll "
               "verify --certificate wrote",
               file);
    while (fgets(line, sizeof line, from)) {
        coll_certificate row, said;
        read_row(file, ++number, line, &row, &said);
        row.workers = jobs;
        if (rows++ == 0)
            head();
        if (!prove_row(&row)) {
            failed++;
        } else if (row.plans != said.plans || row.ranks != said.ranks ||
                   row.claims != said.claims) {
            printf("  line %u of %s claims something else\n", number, file);
            failed++;
        }
    }
    fclose(from);
    if (rows == 0)
        refuse("%s has no certificates", file);
    return end(rows, failed, start);
}
