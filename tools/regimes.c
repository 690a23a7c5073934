/* tools/regimes.c — coll regimes: the fastest algorithm over counts and machine sizes, as a table and
 * as a picture */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "formulas.h"
#include "memory.h"
#include "names.h"
#include "plot.h"

/* ---- who competes ------------------------------------------------------------------------ */

/* A formula, perhaps with one argument of the question set to a value. */
struct contestant {
    const char *label, *formula;
    size_t field; /* offset in struct question, or NO_FIELD */
    double value;
};

#define NO_FIELD SIZE_MAX
#define PLAIN(label, formula)                                                                  \
    {                                                                                          \
        label, formula, NO_FIELD, 0                                                            \
    }
#define WITH(label, formula, field, value)                                                     \
    {                                                                                          \
        label, formula, offsetof(struct question, field), value                                \
    }

enum { CONTESTANTS = 8 };

struct contest {
    const char *model, *collective, *count; /* what is counted */
    const char *takes[3]; /* of what can be asked besides ranks and counts; else NULL */
    /* Makes the question one of a machine of p ranks and of a count. */
    void (*ask)(struct question *q, uint64_t p, double count);
    struct contestant contestant[CONTESTANTS]; /* up to the first without a label */
};

static void ask_bytes(struct question *q, uint64_t p, double count)
{
    q->P = (double)p;
    q->n = count;
    q->segment = q->segment < count ? q->segment : count;
}

/* The mesh of p nodes that is nearest to a square. */
static void ask_mesh(struct question *q, uint64_t p, double count)
{
    uint64_t H = 1;
    for (uint64_t i = 2; i * i <= p; i++)
        if (p % i == 0)
            H = i;
    q->W = (double)(p / H);
    q->H = (double)H;
    q->N = count;
}

static void ask_elements(struct question *q, uint64_t p, double count)
{
    q->P = (double)p;
    q->M = count;
}

static void ask_nodes(struct question *q, uint64_t p, double count)
{
    q->ppn = q->ppn < (double)p ? q->ppn : (double)p;
    q->h = ceil((double)p / q->ppn);
    q->n = count;
}

static void ask_messages(struct question *q, uint64_t p, double count)
{
    q->P = (double)p;
    q->m = count;
}

static const struct contest contests[] = {
    {"hockney",
     "allreduce",
     "bytes",
     {NULL},
     ask_bytes,
     {PLAIN("recursive_doubling", "allreduce recursive_doubling"),
      PLAIN("rabenseifner", "allreduce rabenseifner"), PLAIN("ring", "allreduce ring")}},
    {"hockney",
     "bcast",
     "bytes",
     {"segment"},
     ask_bytes,
     {PLAIN("binomial", "bcast binomial"), PLAIN("scatter_ring", "bcast scatter_ring"),
      PLAIN("chain", "bcast chain")}},
    {"hockney",
     "allgather",
     "bytes",
     {NULL},
     ask_bytes,
     {PLAIN("bruck", "allgather bruck"), PLAIN("ring", "allgather ring")}},
    {"loggp",
     "allreduce",
     "bytes",
     {NULL},
     ask_bytes,
     {PLAIN("fnomial", "allreduce fnomial"), PLAIN("rabenseifner", "allreduce rabenseifner"),
      PLAIN("ring", "allreduce ring")}},
    {"plogp",
     "bcast",
     "bytes",
     {"segment"},
     ask_bytes,
     {PLAIN("flat", "bcast flat"), PLAIN("chain", "bcast chain"),
      PLAIN("binary", "bcast binary"), PLAIN("binomial", "bcast binomial")}},
    {"nbl",
     "allreduce",
     "elements",
     {"S"},
     ask_mesh,
     {PLAIN("tree", "allreduce tree"), PLAIN("snake", "allreduce snake"),
      PLAIN("fence", "allreduce fence")}},
    {"moody",
     "reduce",
     "elements",
     {NULL},
     ask_elements,
     {WITH("f=2", "reduce fnomial", f, 2), WITH("f=3", "reduce fnomial", f, 3),
      WITH("f=4", "reduce fnomial", f, 4), WITH("f=5", "reduce fnomial", f, 5),
      WITH("f=6", "reduce fnomial", f, 6), PLAIN("serial", "reduce serial")}},
    {"dpml",
     "allreduce",
     "bytes",
     {"ppn", "k"},
     ask_nodes,
     {WITH("1 leader", "allreduce dpml", l, 1), WITH("2 leaders", "allreduce dpml", l, 2),
      WITH("4 leaders", "allreduce dpml", l, 4), WITH("8 leaders", "allreduce dpml", l, 8),
      WITH("16 leaders", "allreduce dpml", l, 16),
      PLAIN("recursive_doubling", "allreduce recursive_doubling")}},
    {"kumar",
     "allgather",
     "bytes a message",
     {"k", "every"},
     ask_messages,
     {PLAIN("linear", "allgather linear"), PLAIN("ring", "allgather ring"),
      PLAIN("prefix", "allgather prefix"), PLAIN("kprefix", "allgather kprefix"),
      PLAIN("kprefix_lb", "allgather kprefix_lb")}}};
enum { CONTESTS = sizeof contests / sizeof contests[0] };

/* The contest of a model and a collective; without one, the model's first. */
static const struct contest *contest_of(const char *model, const char *collective)
{
    const char *names[CONTESTS];
    size_t row[CONTESTS], n = 0;
    char what[64];
    for (size_t i = 0; i < CONTESTS; i++)
        if (strcmp(contests[i].model, model) == 0) {
            names[n] = contests[i].collective;
            row[n++] = i;
        }
    snprintf(what, sizeof what, "contest of %s for", model);
    return &contests[row[collective ? name_index(what, collective, names, n) : 0]];
}

/* Refuses what is given of the question and would be ignored. */
static void check_given(const struct contest *contest, const struct request *r)
{
    for (size_t i = 0; i < r->subject->arguments->n_parameters; i++) {
        const char *name = r->subject->arguments->parameters[i].name;
        bool takes = false;
        for (size_t k = 0; k < 3 && contest->takes[k]; k++)
            takes = takes || strcmp(contest->takes[k], name) == 0;
        if (r->given >> i & 1 && !takes)
            refuse("%s of %s is not asked for here: sizes are -p and -n, and what is compared "
                   "stands in the table",
                   name, contest->model);
    }
}

static const struct formula *formula_named(const struct subject *s, const char *name)
{
    size_t i = 0;
    while (strcmp(s->formulas[i].name, name) != 0)
        i++;
    return &s->formulas[i];
}

/* The index of the fastest; the first of several. */
static size_t fastest(const struct contest *contest, const struct request *r, uint64_t p,
                      double count)
{
    double least = HUGE_VAL;
    size_t best = 0;
    for (size_t i = 0; i < CONTESTANTS && contest->contestant[i].label; i++) {
        const struct contestant *c = &contest->contestant[i];
        struct question q = r->question;
        double us;
        contest->ask(&q, p, count);
        if (c->field != NO_FIELD)
            *(double *)(void *)((char *)&q + c->field) = c->value;
        us = formula_named(r->subject, c->formula)->value(r->costs, &q);
        if (us < least) { /* not if it is NaN */
            least = us;
            best = i;
        }
    }
    return best;
}

/* ---- the grid ---------------------------------------------------------------------------- */

struct grid {
    uint64_t p[64];
    double count[1024];
    size_t n_p, n_counts;
    unsigned char *best; /* [count][p] */
};

static void grid_make(struct grid *g, const struct contest *contest, const struct request *r,
                      const struct option_range *p, const struct option_range *counts,
                      uint64_t steps)
{
    g->n_p = g->n_counts = 0;
    for (uint64_t v = p->first; v <= p->last; v *= 2)
        g->p[g->n_p++] = v;
    for (uint64_t i = 0;; i++) {
        const double at = floor((double)counts->first * pow(2, (double)i / (double)steps) + .5);
        if (at >= (double)counts->last ||
            g->n_counts + 1 == sizeof g->count / sizeof g->count[0])
            break;
        if (g->n_counts == 0 || at > g->count[g->n_counts - 1])
            g->count[g->n_counts++] = at;
    }
    g->count[g->n_counts++] = (double)counts->last;
    g->best = (unsigned char *)memory_of(g->n_p * g->n_counts, 1);
    for (size_t i = 0; i < g->n_counts; i++)
        for (size_t k = 0; k < g->n_p; k++)
            g->best[i * g->n_p + k] = (unsigned char)fastest(contest, r, g->p[k], g->count[i]);
}

static void print_table(const struct grid *g, const struct contest *contest)
{
    int width = 8;
    for (size_t i = 0; i < CONTESTANTS && contest->contestant[i].label; i++)
        if ((int)strlen(contest->contestant[i].label) > width)
            width = (int)strlen(contest->contestant[i].label);
    printf("%16s", "p");
    for (size_t k = 0; k < g->n_p; k++)
        printf("  %-*llu", k + 1 < g->n_p ? width : 0, (unsigned long long)g->p[k]);
    if (contest->ask == ask_mesh) {
        printf("\n%16s", "mesh");
        for (size_t k = 0; k < g->n_p; k++) {
            struct question q;
            char mesh[32];
            ask_mesh(&q, g->p[k], 0);
            snprintf(mesh, sizeof mesh, "%.0fx%.0f", q.W, q.H);
            printf("  %-*s", k + 1 < g->n_p ? width : 0, mesh);
        }
    }
    printf("\n%16s\n", contest->count);
    for (size_t i = 0; i < g->n_counts; i++) {
        printf("%16.0f", g->count[i]);
        for (size_t k = 0; k < g->n_p; k++)
            printf("  %-*s", k + 1 < g->n_p ? width : 0,
                   contest->contestant[g->best[i * g->n_p + k]].label);
        printf("\n");
    }
}

/* ---- the picture ------------------------------------------------------------------------- */

/* The edge of a cell between two values on a logarithmic axis; beyond the last as far as before. */
static double edge(double a, double b)
{
    return sqrt(a * b);
}

static void draw(const struct grid *g, const struct contest *contest, const struct request *r,
                 const char *path)
{
    struct plot plot;
    char title[600];
    FILE *to = plot_open(&plot, path);
    /* Colours that the colour-blind tell apart, and patterns that tell areas apart in print. */
    static const struct {
        const char *colour;
        int pattern;
    } area[CONTESTANTS] = {{"#0072b2", 3}, {"#d55e00", 4}, {"#009e73", 5}, {"#aa4499", 1},
                           {"#e69f00", 7}, {"#000000", 6}, {"#56b4e9", 2}, {"#666666", 0}};
    bool first = true;
    coll_parameters_text(r->subject->model, &r->words, title, sizeof title);
    fprintf(to, "set logscale xy\nset xtics scale 0\nset xlabel '%s'\nset ylabel '%s, %s'\n",
            contest->ask == ask_mesh ? "nodes of the mesh" : "ranks",
            contest->ask == ask_messages ? "message" : "vector",
            contest->ask == ask_messages ? "bytes" : contest->count);
    fprintf(to, "set key outside title 'the fastest'\nset title ");
    plot_quoted(to, title);
    fprintf(to, " noenhanced\n$cells << END\n");
    for (size_t i = 0; i < g->n_counts; i++)
        for (size_t k = 0; k < g->n_p; k++) {
            const double y = g->count[i] > 0 ? g->count[i] : .5, x = (double)g->p[k];
            const double below = i > 0 ? edge(g->count[i - 1], y) : y / 1.2;
            const double above = i + 1 < g->n_counts ? edge(g->count[i + 1], y) : y * 1.2;
            fprintf(to, "%g %g %g %g %g %g %d\n", x, y, x / sqrt(2), x * sqrt(2),
                    below > 0 ? below : y / 1.2, above, g->best[i * g->n_p + k]);
        }
    fprintf(to, "END\nset xtics (");
    for (size_t k = 0; k < g->n_p; k++)
        fprintf(to, "%s%llu", k ? ", " : "", (unsigned long long)g->p[k]);
    fprintf(to, ")\nset autoscale fix\nplot ");
    for (size_t i = 0; i < CONTESTANTS && contest->contestant[i].label; i++) {
        fprintf(to,
                "%s$cells using 1:($7==%zu ? $2 : NaN):3:4:5:6 with boxxyerror fs pattern %d "
                "lc rgb '%s' title ",
                first ? "" : ", ", i, area[i].pattern, area[i].colour);
        plot_quoted(to, contest->contestant[i].label);
        fprintf(to, " noenhanced");
        first = false;
    }
    fprintf(to, "\n");
    plot_close(&plot);
}

int regimes_main(int argc, char **argv)
{
    const char *model = NULL, *collective = NULL, *picture = NULL;
    struct option_words items = {.n = 0};
    struct option_range p = {16, 1024}, counts = {1, 1 << 20};
    uint64_t steps = 1;
    const struct option options[] = {
        MORE("KEY=VALUE", "of the machine, or of what else its formulas ask for", &items),
        WORD("model", "MODEL", "whose formulas, and a machine: nbl:delta, loggp:@FILE", &model),
        WORD("collective", "C", "which contest, where a model has several", &collective),
        RANGE('p', "ranks", "A..B", "machine sizes: A, 2A, 4A … (16..1024)", &p, 2, 1 << 30),
        RANGE('n', "counts", "A..B", "elements or bytes: A, 2A, 4A … (1..1M)", &counts, 1,
              1 << 30),
        NUMBER(0, "steps", "N", "counts between one and the double one (1)", &steps, 1, 16),
        WORD("plot", "FILE", "draws it: a .svg, .pdf or .png by gnuplot, and FILE.gnuplot",
             &picture),
    };
    const struct command regimes = {
        "regimes", "show which algorithm is the fastest where, by such formulas",
        "Models with a contest: hockney (allreduce, bcast, allgather), loggp, plogp, nbl, "
        "moody,\n"
        "dpml (with ppn=…), kumar. coll model MODEL explains what each wants to know.",
        options, sizeof options / sizeof options[0]};
    struct request r;
    const struct contest *contest;
    struct grid grid;
    options_read(&regimes, argc, argv);
    if (!model)
        refuse("--model is missing; coll model lists the models");
    model = model_words(model);
    contest = contest_of(subject_named(model)->model->name, collective);
    request_read(&r, model, &items, true);
    check_given(contest, &r);
    if (contest->ask == ask_nodes && !(r.question.ppn >= 1))
        refuse("ppn of dpml is missing: ppn=… is the processes of a node");
    grid_make(&grid, contest, &r, &p, &counts, steps);
    if (picture)
        draw(&grid, contest, &r, picture);
    print_table(&grid, contest);
    free(grid.best);
    return 0;
}
