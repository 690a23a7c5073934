/* bench/reproduce/moody_skew.c — Moody 2003, figures 2.1 and 3.1: hosts with a spare processor and
 * without, serial reductions, and nodes that come late
 */
#include "elan.h"
#include "papers.h"
#include "report.h"

static const coll_moody_costs *const host = &coll_moody_host_f64_add;
static const coll_moody_costs *const nic = &coll_moody_nic_f64_add;

/* ---- figure 2.1 -------------------------------------------------------------------------- */

enum { RUNS = 100 };

/* A mean of runs on hosts, in microseconds; disturbed: by the noise that moody_noise.c fits to table
 * 5.1. Each run begins at a time of its own. */
static double on_hosts_us(coll_collective collective, uint32_t P, bool disturbed)
{
    static elan at;
    static coll_time start[ELAN_RANKS];
    const coll_problem problem = simulated_problem(collective, P, collective == COLL_REDUCE);
    const uint32_t degree[COLL_PARAM_MAX] = {4};
    const coll_plan plan = simulated_plan(&problem, "fnomial", degree);
    const unsigned runs = disturbed ? RUNS : 1;
    double mean = 0;
    coll_sim_options options;
    coll_noise noise;
    elan_init(&at, host, nic, ELAN_HOST, &plan);
    options = elan_options(&at);
    options.skew = start;
    for (unsigned i = 0; i < runs; i++) {
        coll_noise_init(&noise, 14, 200, COLL_NOISE_FIXED, i + 1);
        if (disturbed)
            options.noise = &noise;
        for (uint32_t rank = 0; rank < P; rank++)
            start[rank] = noise.period + coll_time_of(coll_i_fraction(coll_i_mixed(i, 0, 0)) *
                                                      (double)noise.period);
        mean += (simulated_plan_us(&plan, &options) - coll_time_us(start[0])) / runs;
    }
    return mean;
}

static void figure_2_1(void)
{
    static const struct {
        coll_collective collective;
        const char *name;
    } collectives[] = {{COLL_BARRIER, "barrier"}, {COLL_REDUCE, "reduce"}};
    double more[2][2] = {{0, 0}, {0, 0}}; /* on 16, 1024 nodes */
    report_section("Figure 2.1: one process a node and two, simulated");
    report_text(
        "With one process a node the second processor takes what the operating system does; "
        "with "
        "two, a process shares its processor with it. So hosts without noise stand for one "
        "process, and those with the noise that was fitted to table 5.1 for two. The figure's "
        "numbers are lost. Mean of %d runs, trees of degree 4.",
        RUNS);
    report_picture("moody_2_1", "Barrier and reduce on hosts; dotted: one process a node",
                   "nodes", "latency, µs", "set logscale x 2\nset yrange [0:*]");
    for (int c = 0; c < 2; c++)
        for (int two = 1; two >= 0; two--) {
            char label[60];
            snprintf(label, sizeof label, "%s, two processes", collectives[c].name);
            report_curve(two ? label : "", two ? REPORT_LINE : REPORT_DOTTED);
            for (uint32_t P = 4; P <= 1024; P *= 4) {
                const double us = on_hosts_us(collectives[c].collective, P, two);
                report_point(P, us);
                if (P == 16 || P == 1024)
                    more[c][P == 1024] += two ? us : -us;
            }
        }
    for (int c = 0; c < 2; c++)
        report_says(collectives[c].name, "deviates drastically as nodes are added",
                    more[c][1] > 2 * more[c][0] && more[c][1] > 10,
                    "%.1f us more on 16 nodes, %.1f us on 1024", more[c][0], more[c][1]);
}

/* ---- figure 3.1 -------------------------------------------------------------------------- */

static double serial_us(const coll_moody_costs *nics, elan_place place, uint32_t P,
                        uint32_t elements)
{
    /* the tree of degree P is the serial one */
    return elan_fnomial_us(host, nics, place, P, P, elements);
}

static void figure_3_1(void)
{
    double straight = 0, each[4][2];
    report_section("Figure 3.1: serial reductions on 2 to 13 nodes, f64 add, simulated");
    report_text(
        "Of these the thesis takes L, r, c and C, so what a node more costs is assumed; "
        "that it is the same for each node, with 1 to 8 elements, is not.");
    report_picture("moody_3_1", "Serial reductions, f64 add; dotted: the host", "nodes",
                   "latency, µs", "set yrange [0:*]");
    for (uint32_t i = 0, M = 1; i < 4; i++, M *= 2)
        for (int place = ELAN_NIC; place >= ELAN_HOST; place--) {
            const double of_2 = serial_us(nic, (elan_place)place, 2, M),
                         more = (serial_us(nic, (elan_place)place, 13, M) - of_2) / 11;
            char label[40];
            snprintf(label, sizeof label, "%u element%s, NIC", M, M > 1 ? "s" : "");
            report_curve(place == ELAN_NIC ? label : "",
                         place == ELAN_NIC ? REPORT_LINE : REPORT_DOTTED);
            for (uint32_t P = 2; P <= 13; P++) {
                const double us = serial_us(nic, (elan_place)place, P, M);
                straight = fmax(straight, fabs(us - of_2 - (P - 2) * more));
                report_point(P, us);
            }
            each[i][place == ELAN_NIC] = more;
        }
    report_basis(SCORES_ASSUMED);
    for (uint32_t i = 0; i < 8; i++) {
        const coll_moody_costs *m = i < 4 ? host : nic;
        const uint32_t M = 1u << i % 4;
        char what[60];
        snprintf(what, sizeof what, "%s, %u element%s: what a node more costs",
                 i < 4 ? "host" : "NIC", M, M > 1 ? "s" : "");
        report_row(what, m->r_us + coll_moody_c_us(m, M), each[i % 4][i >= 4], "us", 1);
    }
    report_basis(SCORES_PREDICTED);
    report_says("latency over nodes", "a sharp linear trend", straight < .01,
                "within %.2g us of straight lines", straight);
}

/* ---- skew -------------------------------------------------------------------------------- */

/* From the last node's beginning to the end, in the mean of some draws, if nodes of 1024 begin at
 * random times up to so many microseconds. */
static double late_us(elan_place place, uint32_t degree, double skew_us)
{
    enum { DRAWS = 5, P = 1024 };
    static elan at;
    static coll_time start[ELAN_RANKS];
    const coll_plan plan = elan_plan(P, 1, "fnomial", degree, 0);
    double mean = 0;
    coll_sim_options options;
    elan_init(&at, host, nic, place, &plan);
    options = elan_options(&at);
    options.skew = start;
    for (unsigned i = 0; i < DRAWS; i++) {
        coll_time last = 0;
        for (uint32_t rank = 0; rank < P; rank++) {
            start[rank] =
                coll_time_of(coll_i_fraction(coll_i_mixed(i + 1, rank, 1)) * skew_us * 1e6);
            last = start[rank] > last ? start[rank] : last;
        }
        mean += (simulated_plan_us(&plan, &options) - coll_time_us(last)) / DRAWS;
    }
    return mean;
}

static void skew(void)
{
    static const struct {
        const char *label;
        elan_place place;
        uint32_t degree;
    } trees[] = {{"host, degree 2", ELAN_HOST, 2},
                 {"host, degree 4", ELAN_HOST, 4},
                 {"NIC, degree 2", ELAN_NIC, 2},
                 {"NIC, degree 4", ELAN_NIC, 4}};
    report_section("Nodes that come late: 1024 nodes, f64 add, simulated");
    report_text(
        "Time from when the last node begins. What comes early is combined while others "
        "are still awaited, so the less is left the more nodes are apart.");
    report_picture("moody_skew", "Sums of a double on 1024 nodes whose nodes begin apart",
                   "nodes begin within, µs", "from the last one's beginning, µs",
                   "set yrange [0:*]");
    report_basis(SCORES_OWN);
    for (int t = 0; t < 4; t++) {
        report_curve(trees[t].label, REPORT_LINKED);
        for (double within = 0; within <= 200; within += 25)
            report_point(within, late_us(trees[t].place, trees[t].degree, within));
    }
    for (int t = 0; t < 4; t++) {
        const double together = late_us(trees[t].place, trees[t].degree, 0),
                     apart = late_us(trees[t].place, trees[t].degree, 200);
        report_says(trees[t].label, "no number", apart < together,
                    "%.1f us after all begin together, %.1f us if within 200 us", together,
                    apart);
    }
}

void reproduce_moody_skew(void)
{
    figure_2_1();
    figure_3_1();
    skew();
}
