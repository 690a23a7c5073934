/* bench/reproduce/dpml_scale.c — Bayatpour et al. 2017, what pipelining gains, and 10,240 processes */
#include "cluster.h"
#include "papers.h"
#include "report.h"

/* Sixteen leaders on 64 nodes of 28, simulated; pieces: of each partition. */
static double pipelined_us(const coll_dpml_costs *m, uint32_t pieces, double n)
{
    uint32_t params[COLL_PARAM_MAX] = {0};
    params[0] = 16;
    params[1] = pieces;
    return cluster_with_us(m, 64, 28, pieces > 1 ? "dpml_pipelined" : "dpml", NULL, params, n);
}

/* Section 4.2: gains are expected of a network that several messages of a process fill better. */
static void pipelining(void)
{
    static const struct {
        const char *name;
        const coll_dpml_costs *m;
    } networks[] = {{"InfiniBand", &coll_dpml_infiniband}, {"Omni-Path", &coll_dpml_omni_path}};
    report_section("Section 4.2: what pipelining gains, 64 x 28, 16 leaders, simulated");
    report_text("The paper expects no gain on InfiniBand, and prints none for Omni-Path. By "
                "its equation "
                "5 pipelining only adds start-ups; simulated, a piece is combined while the "
                "next one is "
                "on its way.");
    report_picture("dpml_pipelined", "DPML in pieces over DPML, 64 x 28, 16 leaders, simulated",
                   "vector, bytes", "time over that of one piece",
                   "set logscale x 2\nset format x '%.0b%B'\nset yrange [0:*]");
    for (int k = 0; k < 2; k++)
        for (uint32_t pieces = 2; pieces <= 4; pieces *= 2) {
            char label[60];
            snprintf(label, sizeof label, "%s, %u pieces", networks[k].name, pieces);
            report_curve(label, REPORT_LINKED);
            for (double n = 1 << 14; n <= 1 << 20; n *= 8)
                report_point(n, pipelined_us(networks[k].m, pieces, n) /
                                    pipelined_us(networks[k].m, 1, n));
        }
    for (int k = 0; k < 2; k++) {
        const double one = pipelined_us(networks[k].m, 1, 1 << 20),
                     four = pipelined_us(networks[k].m, 4, 1 << 20);
        report_basis(k == 0 ? SCORES_PREDICTED : SCORES_OWN);
        report_says(k == 0 ? "InfiniBand, 1 MB, 4 pieces" : "Omni-Path, 1 MB, 4 pieces",
                    k == 0 ? "not expected to be beneficial" : "no number",
                    k == 1 || four > .98 * one, "%.0f us, in one piece %.0f us", four, one);
    }
}

/* 160 nodes of 64 on cluster D, with the parameters of figures 1 and 7. */
static void figure_10(void)
{
    const coll_dpml_costs *m = &coll_dpml_knl_omni_path;
    double most = 0, most_of_one = 0;
    report_section("Figure 10: 10,240 processes on 160 nodes of cluster D");
    report_text(
        "\"By up to 207 %%\" and \"48 %%\" faster, read as 3.07 and 1.48 times, as figure 8 "
        "is. "
        "The parameters are those of cluster D as they are; the libraries' algorithms are not "
        "told: ours is the better of one leader and recursive doubling of all processes.");
    report_picture("dpml_10", "160 nodes x 64 processes of cluster D, by the formula",
                   "vector, bytes", "time, µs",
                   "set logscale x 2\nset format x '%.0b%B'\nset logscale y");
    for (int k = 0; k < 3; k++) {
        report_curve(k == 0   ? "DPML, best leaders"
                     : k == 1 ? "one leader"
                              : "no leaders",
                     REPORT_LINE);
        for (double n = 4; n <= 1 << 20; n *= 2) {
            const uint32_t best = coll_dpml_best_leaders(m, 160, 64, n, 16, true);
            const double ours = coll_dpml_us(m, 160, 64, best, n, 1),
                         one = coll_dpml_us(m, 160, 64, 1, n, 1),
                         flat = coll_dpml_recursive_doubling_us(m, 10240, n);
            report_point(n, k == 0 ? ours : k == 1 ? one : flat);
            most = n >= 1024 ? fmax(most, fmin(one, flat) / ours) : most;
            most_of_one = n >= 1024 ? fmax(most_of_one, one / ours) : most_of_one;
        }
    }
    report_missed("at most, times faster than MVAPICH2", 3.07, most, "times", -27.7);
    report_missed("at most, times faster than Intel MPI", 1.48, most, "times", 50.1);
    report_basis(SCORES_OWN);
    report_says("several leaders against one", "no number", most_of_one > most,
                "at most %.1f times faster", most_of_one);
}

void reproduce_dpml_scale(void)
{
    pipelining();
    figure_10();
}
