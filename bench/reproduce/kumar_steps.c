/* bench/reproduce/kumar_steps.c — Kumar 2004, slides 25 and 26: barriers that keep nodes in step, and
 * what is left of a processor
 */
#include "papers.h"
#include "report.h"
#include "slide_23.h"

/* MB/s of a node each way whose nodes begin at random times up to so many microseconds, in the mean
 * of three draws. every: stages from barrier to barrier of k-prefix-lb; 0: k-prefix. */
static double in_step(uint32_t P, uint32_t every, double skew_us)
{
    const uint32_t draws = skew_us > 0 ? 3 : 1;
    double MB_per_s = 0;
    for (uint32_t seed = 1; seed <= draws; seed++) {
        const quadrics_chance chance = {NULL, coll_time_of(skew_us * 1e6), seed};
        const uint32_t params[COLL_PARAM_MAX] = {8, every};
        coll_problem problem;
        coll_plan plan;
        coll_problem_init(&problem, COLL_ALLGATHER, P, (size_t)quadrics_bytes / 8, 8);
        if (coll_plan_init(&plan, coll_find(COLL_ALLGATHER, every ? "kprefix_lb" : "kprefix"),
                           &problem, every ? params : NULL) != COLL_OK)
            return 0;
        MB_per_s += (P - 1.0) * quadrics_bytes * 1e6 /
                    (double)quadrics_measure(&plan, quadrics_whole, QUADRICS_KEPT, chance).ps /
                    draws;
    }
    return MB_per_s;
}

static void slide_25(void)
{
    report_section("Slide 25: k-prefix and k-prefix-lb, simulated");
    report_text(
        "The slide's figure is lost; it says that barriers after a few steps synchronise the "
        "nodes. Messages of 64 KB, k = 8, the barriers of `kprefix_lb`, which cost their "
        "messages of no bytes. A node is out of step if it begins late.");
    report_picture("kumar_25", "k-prefix and k-prefix-lb on 128 nodes that begin out of step",
                   "nodes begin within, µs", "bandwidth of a node each way, MB/s",
                   "set yrange [0:*]");
    for (uint32_t every = 0; every <= 32; every = every ? 2 * every : 8) {
        char label[60] = "k-prefix";
        if (every > 0)
            snprintf(label, sizeof label, "a barrier every %u stages", every);
        report_curve(label, REPORT_LINKED);
        for (double skew = 0; skew <= 4000; skew += 1000)
            report_point(skew, in_step(128, every, skew));
    }
    report_basis(SCORES_OWN);
    for (uint32_t P = 64; P <= 256; P *= 2)
        for (int late = 0; late < 2; late++) {
            const double without = in_step(P, 0, 1000 * late),
                         often = in_step(P, 8, 1000 * late),
                         seldom = in_step(P, 32, 1000 * late);
            char what[80];
            snprintf(what, sizeof what, "%u nodes, %s", P,
                     late ? "which begin within 1 ms" : "which begin together");
            report_says(what, "barriers cost less the fewer there are",
                        without > seldom && seldom > often,
                        "%.0f MB/s without, %.0f every 32 stages, %.0f every 8", without,
                        seldom, often);
        }
    report_cannot(
        "that k-prefix-lb pays off",
        "In the simulator k-prefix is ahead in all cases. A late node delays those that wait "
        "for its block, by as much with barriers as without; what messages of two stages take "
        "from each other on the links is less than a barrier. The talk's nodes had noise and "
        "queues that are not here.");
}

/* The processor's part of the cost equation: it starts messages, and takes part in barriers. */
static double busy_us(const coll_kumar_costs *c, const coll_kumar_terms *t)
{
    return t->messages * c->alpha_us + t->barriers * c->alpha_b_us;
}

static void slide_26(void)
{
    static const char *const names[] = {"MPI", "ring", "prefix", "k-prefix", "k-prefix-lb"};
    const coll_kumar_costs *c = &coll_kumar_lemieux;
    double busy[5], share[5];
    report_section("Slide 26: the processor's overhead, 256 nodes");
    report_text(
        "The slide has no numbers. By the cost equation with the numbers of slide 27 a "
        "processor is busy for α in each message and α_b in each barrier; buses and NICs move "
        "the data, so the rest is left to a program whose collective is nonblocking. "
        "k-prefix-lb "
        "has a barrier every 8 messages.");
    report_picture("kumar_26", "The processor's overhead by the cost equation, 256 nodes",
                   "message, bytes", "share of the time that the processor is busy, %",
                   "set logscale x\nset format x '%.0s%c'\nset yrange [0:*]");
    for (int a = 0; a <= COLL_KUMAR_KPREFIX_LB; a++) {
        const coll_kumar_terms t = coll_kumar_terms_of((coll_kumar_algorithm)a, 256, 8, 8);
        busy[a] = busy_us(c, &t);
        share[a] = 100 * busy[a] / coll_kumar_us(c, &t, quadrics_bytes);
        report_curve(names[a], REPORT_LINE);
        for (double m = 100; m <= 1e6; m *= 1.3)
            report_point(m, 100 * busy[a] / coll_kumar_us(c, &t, m));
    }
    report_basis(SCORES_OWN);
    for (int a = 0; a <= COLL_KUMAR_KPREFIX_LB; a++)
        report_says(names[a], "a metric to be looked at", busy[a] >= busy[0],
                    "busy for %.2f ms, %.1f %% of the time of messages of 64 KB",
                    busy[a] / 1000, share[a]);
    report_says("of the two fastest, k-prefix and prefix",
                "k-prefix leaves more to the program",
                busy[COLL_KUMAR_KPREFIX] < busy[COLL_KUMAR_PREFIX], "%.2f against %.2f ms",
                busy[COLL_KUMAR_KPREFIX] / 1000, busy[COLL_KUMAR_PREFIX] / 1000);
}

void reproduce_kumar_steps(void)
{
    slide_25();
    slide_26();
}
