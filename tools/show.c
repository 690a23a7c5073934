/* tools/show.c — coll show: the steps of an algorithm in words, who talks to whom, and totals */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "coll/lab/export/action_words.h"
#include "commands.h"
#include "imported.h"
#include "job.h"
#include "picture.h"
#include "picture_svg.h"
#include "rounds.h"

enum {
    LINES_MAX = 200,        /* of all ranks' steps, that nobody would read more of */
    RANK_LINES_MAX = 400,   /* of one rank's, asked for by name */
    MESSAGES_MAX = 1 << 20, /* that are played */
    RANKS_MAX = 1 << 20,    /* that are asked for their scratch */
    WIDTH = 80,
    NARROWEST = 40
};

/* Columns of the terminal; of a pipe, what COLUMNS says or 80. */
static unsigned terminal_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    uint64_t width = WIDTH;
    if (columns && coll_number_read(columns, &width) && width >= NARROWEST && width <= 1000)
        return (unsigned)width;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
        size.ws_col >= NARROWEST)
        return size.ws_col;
    return WIDTH;
}

/* ---- words ------------------------------------------------------------------------------- */

static void print_action(const coll_action *a)
{
    coll_writer to;
    coll_writer_init(&to, stdout);
    coll_write_action(&to, a);
}

/* Prints up to `most` lines of a rank's steps; 0: all. Returns how many steps were left out. */
static size_t print_rank(const struct job *job, uint32_t rank, size_t most)
{
    const coll_plan *plan = job_plan(job, rank);
    const size_t steps = coll_plan_steps(plan, rank);
    size_t lines = 0;
    printf("rank ");
    job_print_rank(job, rank, stdout);
    printf("%s\n", steps == 0 ? "\n  nothing to do" : "");
    for (size_t s = 0; s < steps; s++) {
        coll_action acts[COLL_STEP_MAX];
        const unsigned n = job_step(plan, rank, s, acts);
        unsigned moves = 0;
        if (most && lines >= most)
            return steps - s;
        for (unsigned i = 0; i < n; i++) {
            if (acts[i].count == 0)
                continue;
            if (moves++ == 0)
                printf("  step %-4zu ", s);
            else
                printf("  %-10s", "");
            print_action(&acts[i]);
            putchar('\n');
            lines++;
        }
        if (moves == 0) {
            printf("  step %-4zu nothing: there are no elements to move\n", s);
            lines++;
        }
    }
    return 0;
}

/* Lines of all ranks' steps, up to `most`. */
static size_t count_lines(const struct job *job, size_t most)
{
    size_t lines = 0;
    for (uint32_t rank = 0; rank < job->p && lines <= most; rank++) {
        const coll_plan *plan = job_plan(job, rank);
        const size_t steps = coll_plan_steps(plan, rank);
        lines++;
        for (size_t s = 0; s < steps && lines <= most; s++) {
            coll_action acts[COLL_STEP_MAX];
            lines += job_step(plan, rank, s, acts);
        }
    }
    return lines;
}

static void print_steps(const struct job *job, uint64_t only, bool all)
{
    if (only != UINT64_MAX) {
        const size_t left = print_rank(job, (uint32_t)only, all ? 0 : RANK_LINES_MAX);
        if (left)
            printf("  … and %zu more steps; --all prints them\n", left);
    } else if (all || count_lines(job, LINES_MAX) <= LINES_MAX) {
        for (uint32_t rank = 0; rank < job->p; rank++)
            (void)print_rank(job, rank, 0);
    } else {
        printf(
            "The steps of %u ranks are more than %d lines: --rank R prints one rank's, --all "
            "prints all.\n",
            job->p, LINES_MAX);
    }
}

/* ---- totals --------------------------------------------------------------------- */

static void print_totals(const struct job *job, const struct rounds *r)
{
    const coll_plan *plan = job_plan(job, 0);
    const uint32_t looked_at = job->p < RANKS_MAX ? job->p : RANKS_MAX;
    size_t scratch = 0;
    for (uint32_t rank = 0; rank < looked_at; rank++) {
        const size_t mine = coll_plan_scratch(job_plan(job, rank), rank);
        scratch = mine > scratch ? mine : scratch;
    }
    if (r->complete) {
        printf("rounds    %" PRIu32
               ", if a rank sends one message and receives one at a time\n",
               r->rounds);
        printf("depth     %" PRIu32
               " message%s in the longest chain, if it sends any number at once\n",
               r->chain, r->chain == 1 ? "" : "s");
        printf("messages  %zu in all, at most %zu sent by a rank\n", r->n, r->most_messages);
        if (r->elements > 0)
            printf("elements  %zu sent in all, at most %zu by a rank\n", r->elements,
                   r->most_elements);
    }
    if (scratch > 0)
        printf("scratch   at most %zu element%s a rank\n", scratch, scratch == 1 ? "" : "s");
    else
        printf("scratch   none\n");
    if (looked_at < job->p)
        printf("          (as far as the first %u ranks go)\n", looked_at);
    if (job->import && job->import->report.window == 0)
        return; /* GOAL, or one that an engine does not end */
    printf("window    at least %u action%s in flight\n", plan->window,
           plan->window == 1 ? "" : "s");
    printf("in order  at least %u send%s in flight\n", plan->sends,
           plan->sends == 1 ? "" : "s");
}

int show_main(int argc, char **argv)
{
    struct ask ask = ASK_NOTHING;
    uint64_t rank = UINT64_MAX;
    const char *svg = NULL, *pdf = NULL;
    bool all = false, good = true;
    const struct option options[] = {
        ASK_OPTIONS(ask),
        LAYOUT_OPTIONS(ask),
        GROUP_OPTIONS(ask),
        NUMBER(0, "seed", "S", "random sizes for the blocks of a v-collective", &ask.seed, 0,
               UINT64_MAX - 1),
        NUMBER(0, "rank", "R", "only this rank's steps", &rank, 0, UINT32_MAX),
        FLAG("all", "everything, however long", &all),
        WORD("svg", "FILE", "draw the picture into this file: ranks, rounds, messages", &svg),
        WORD("pdf", "FILE", "the same as PDF, by rsvg-convert", &pdf),
    };
    const struct command show = {
        "show", "show what an algorithm does, step by step and in a picture",
        "Without --count a vector has P elements, and a block one.\n"
        "Without --counts and --seed all blocks of a v-collective have --count elements.\n"
        "--places renumbers ranks, if a collective is the same in any order, so that those of "
        "a\n"
        "node follow each other. Ranks in steps and picture are the plan's.",
        options, sizeof options / sizeof options[0]};
    struct job job;
    struct rounds played;
    int code;
    options_read(&show, argc, argv);
    job_make(&job, &ask, sizeof(double));
    if (rank != UINT64_MAX && rank >= job.p)
        refuse("--rank is from 0 to %u, not %" PRIu64, job.p - 1, rank);
    if (svg || pdf)
        picture_svg_check(svg, job.p);
    if (svg && pdf && strcmp(svg, pdf) == 0)
        refuse("--svg and --pdf write different files, not both %s", svg);
    rounds_play(&played, &job, MESSAGES_MAX);
    if (svg && !played.stuck)
        good = picture_svg(&played, &job, svg);
    if (pdf && !played.stuck && good)
        good = picture_pdf(&played, &job, pdf);

    job_print(&job, stdout);
    printf("\n%s\n\n", job.algorithm->source);
    print_steps(&job, rank, all);
    printf("\n");
    if (played.stuck) {
        printf("After round %u nothing moves any more: rank %u waits for rank %u, say.\n\n",
               played.rounds, played.waits, played.awaited);
    } else if (!played.complete) {
        printf(
            "More than 4096 ranks or %d messages are not played, so there is no picture.\n\n",
            MESSAGES_MAX);
    } else if (job.p > PICTURE_RANKS_MAX) {
        printf("The picture is drawn for up to %d ranks.\n\n", PICTURE_RANKS_MAX);
    } else if (played.n > 0 || played.n_meetings > 0) {
        picture_draw(&played, job.p, terminal_width(), all);
        printf("\n");
    }
    print_totals(&job, &played);
    code = played.stuck || !good ? 1 : 0;
    rounds_free(&played);
    job_free(&job);
    return code;
}
