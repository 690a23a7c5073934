/* tests/bench/report.c — what make reproduce counts: tolerances, what is known not to be reproduced, the
 * sums of a paper, and that the program then fails or not */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

#include "../../bench/reproduce/report.c"
#include "../../bench/reproduce/scores.c"

static char out[8000], written[16000]; /* what a report has printed, and its report.md */

static void read_all(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, room - 1, file) : 0;
    text[n] = '\0';
    if (file)
        fclose(file);
    unlink(path);
}

/* A report of its own process: what it ends with. */
static int report(void (*body)(void))
{
    char folder[] = "/tmp/coll_report_XXXXXX", printed_to[80], report_md[80];
    pid_t child;
    int status = -1;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(printed_to, sizeof printed_to, "%s/out", folder);
    snprintf(report_md, sizeof report_md, "%s/report.md", folder);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        bool good = freopen(printed_to, "w", stdout) && freopen("/dev/null", "w", stderr);
        report_begin(folder);
        body();
        good = report_end() && good;
        fflush(NULL);
        _exit(good ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    read_all(printed_to, out, sizeof out);
    read_all(report_md, written, sizeof written);
    CHECK(rmdir(folder) == 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void all_well(void)
{
    report_chapter("A paper");
    report_section("Figure 1");
    report_row("a", 100, 103, "us", 5);
    report_row("b", 100, 99, "us", 1);
    report_says("c", "grows", true, "it does");
    report_missed("d", 10, 4, "", -60);
    report_fit("x and y", "figure 2");
    report_basis(SCORES_FITTED);
    report_row("e", 2, 2, "", 0);
    report_section("Figure 3"); /* is predicted again */
    report_row("f", 50, 50, "us", 0);
    report_chapter("Another paper");
    report_section("Table 1");
    report_basis(SCORES_ASSUMED);
    report_row("g", 1, 1, "", 0);
}

TEST(sums)
{
    CHECK_EQ(report(all_well), 0);
    CHECK(strstr(out,
                 "A paper\n"
                 "  predicted  numbers: 3 of 4 within their tolerances, off by 2.0 % in the "
                 "median and -60.0 % at the most (d); statements: 1 of 1 hold\n"
                 "  fitted     numbers: 1 of 1 within") != NULL);
    CHECK(strstr(out, "  parameters x and y: figure 2\n"
                      "Another paper\n"
                      "  assumed    numbers: 1 of 1 within") != NULL);
    CHECK(strstr(written, "| a | 100 us | 103 us | +3.0 % | within 5 % | predicted |\n") !=
          NULL);
    CHECK(strstr(written, "| d | 10 | 4 | -60.0 % | not reproduced | predicted |\n") != NULL);
    CHECK(strstr(written, "| c | grows | it does | | holds | predicted |\n") != NULL);
    CHECK(strstr(written, "| x and y | figure 2 |\n") != NULL);
}

static void too_far(void)
{
    report_row("a", 100, 106, "us", 5);
}

static void too_far_below(void)
{
    report_row("a", 100, 94, "us", 5);
}

static void not_a_number(void)
{
    report_row("a", 100, 0. / 0., "us", 5);
}

static void generous(void)
{
    report_row("a", 100, 101, "us", 20);
}

static void farther(void)
{
    report_missed("a", 100, 30, "us", -60);
}

static void closer(void)
{
    report_missed("a", 100, 50, "us", -60);
}

static void untrue(void)
{
    report_says("a", "falls", false, "it does not");
}

TEST(what_fails)
{
    static void (*const bodies[])(void) = {too_far, too_far_below, not_a_number, generous,
                                           farther, closer,        untrue};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        CHECK_EQ(report(bodies[i]), 1);
        CHECK(strstr(out, "1 numbers and statements are not as they should be") != NULL);
    }
}

TEST(medians)
{
    static scores of;
    CHECK(scores_median(&of, SCORES_FITTED) <= 0);
    CHECK(scores_number(&of, SCORES_FITTED, "first", 10, 11, 10)); /* in spite of rounding */
    CHECK(!scores_number(&of, SCORES_FITTED, "second", 10, 7, 29.9));
    CHECK(of.basis[SCORES_FITTED].numbers == 2 && of.basis[SCORES_FITTED].within == 1);
    CHECK(fabs(scores_median(&of, SCORES_FITTED) - 20) < 1e-9);
    CHECK(scores_number(&of, SCORES_FITTED, "third", -4, -4, 0));
    CHECK(fabs(scores_median(&of, SCORES_FITTED) - 10) < 1e-9);
    CHECK(fabs(of.basis[SCORES_FITTED].worst + 30) < 1e-9);
    CHECK(strcmp(of.basis[SCORES_FITTED].worst_what, "second") == 0);
    CHECK(of.basis[SCORES_PREDICTED].numbers == 0);
}

int main(void)
{
    RUN(sums);
    RUN(what_fails);
    RUN(medians);
    return check_done();
}
