/* bench/reproduce/moody_noise.c — Moody 2003, section 5.4: what the operating system does to
 * reductions on hosts, and not to those on NICs
 */
#include "coll/lab/sim/noise.h"

#include "elan.h"
#include "papers.h"
#include "report.h"

enum { RUNS = 4000, BIN_US = 4, BINS = 60 };

/* The axis of shares begins here, in %. */
#define FOOT .02

/* Of the hosts. Fitted to the host's standard deviation, and to how many of its reductions are
 * within 20 us. */
static const double noise_hz = 14, noise_us = 200;
/* The barrier before a reduction lets all go within this time. */
static const double barrier_us = 1;

static double us[RUNS]; /* of the runs, sorted */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* A number that looks random, 0 ≤ x < 1. */
static double chance(uint64_t run, uint64_t what)
{
    return coll_i_fraction(coll_i_mixed(run, what, 0));
}

/* Of a sum of doubles, and of 32-bit integers. */
static const struct sum {
    const char *name;
    const coll_moody_costs *host, *nic;
    double better; /* the host's mean is so many % above the NIC's, on 1812 processors */
} f64_add = {"f64 add", &coll_moody_host_f64_add, &coll_moody_nic_f64_add, 39},
  i32_add = {"i32 add", &coll_moody_host_i32_add, &coll_moody_nic_i32_add, 121};

/* 4-nomial sums of one element on P nodes, each run with a noise of its own that is under way. */
static void runs(const struct sum *sum, elan_place place, uint32_t P, unsigned n)
{
    static elan at;
    static coll_time start[ELAN_RANKS];
    const coll_plan plan = elan_plan(P, 1, "fnomial", 4, 0);
    coll_sim_options options;
    coll_noise noise;
    elan_init(&at, sum->host, sum->nic, place, &plan);
    options = elan_options(&at);
    options.noise = &noise;
    options.skew = start;
    for (unsigned i = 0; i < n; i++) {
        coll_time first;
        coll_noise_init(&noise, noise_hz, noise_us, COLL_NOISE_FIXED, i + 1);
        first = noise.period + (coll_time)(chance(i, 0) * (double)noise.period);
        for (uint32_t rank = 0; rank < P; rank++)
            start[rank] = first + coll_time_of(chance(i, rank + 1) * barrier_us * 1e6);
        us[i] = simulated_plan_us(&plan, &options) - coll_time_us(first);
    }
    qsort(us, n, sizeof us[0], by_size);
}

/* Mean and standard deviation without the highest 1 %, as in table 5.1. */
static double mean_us(unsigned n, double *deviation)
{
    double mean = 0, squares = 0;
    n -= n / 100;
    for (unsigned i = 0; i < n; i++)
        mean += us[i] / n;
    for (unsigned i = 0; i < n; i++)
        squares += (us[i] - mean) * (us[i] - mean) / n;
    *deviation = sqrt(squares);
    return mean;
}

/* The largest share of the runs that lies within so many microseconds, in %. */
static double within(double spread)
{
    unsigned most = 0;
    for (unsigned i = 0, first = 0; i < RUNS; i++) {
        while (us[i] - us[first] > spread)
            first++;
        most = i - first + 1 > most ? i - first + 1 : most;
    }
    return 100.0 * most / RUNS;
}

/* And the mean that the paper prints, at the foot. */
static void distribution(const char *label, double printed_us)
{
    report_curve(label, REPORT_STEPS);
    for (unsigned bin = 0, i = 0; bin < BINS; bin++) {
        unsigned in = 0;
        for (; i < RUNS && us[i] < (bin + 1.0) * BIN_US; i++)
            in++;
        report_point(bin * BIN_US, in > 0 ? 100.0 * in / RUNS : FOOT);
    }
    report_curve("", REPORT_PAPER);
    report_point(printed_us, FOOT);
}

static void table_5_1(void)
{
    double host, nic, of_host, of_nic, best, host_within;
    report_section("Table 5.1 and figure 5.5: noise, 900 nodes, f64 add, simulated");
    report_text(
        "%d runs. Every host is interrupted %g times a second for %g us, fitted to its "
        "standard deviation and to the share within 20 us; NICs are not. A barrier lets all "
        "nodes go within %g us, by which alone the NIC's runs differ. The means are too small "
        "as those of figure 5.6 are, whose formula the simulation without noise agrees with.",
        RUNS, noise_hz, noise_us, barrier_us);
    report_picture("moody_5_5", "Simulated sums of a double on 900 nodes; the paper: means",
                   "time of a sum, µs", "share of the runs, % in bins of 4 µs",
                   "set logscale y\nset yrange [0.02:100]");
    runs(&f64_add, ELAN_HOST, 900, RUNS);
    distribution("host", 89.30);
    host = mean_us(RUNS, &of_host);
    host_within = within(20);
    best = us[0];
    runs(&f64_add, ELAN_NIC, 900, RUNS);
    distribution("NIC", 73.67);
    nic = mean_us(RUNS, &of_nic);
    report_missed("host, mean", 89.30, host, "us", -18.8);
    report_row("host, the mean over the best", 3, host / best, "times", 5);
    report_missed("NIC, mean", 73.67, nic, "us", -34.7);
    report_row("NIC, within 4 us", 97, within(4), "%", 4);
    report_fit("the hosts' noise: interruptions a second, and how long",
               "table 5.1, standard deviation of the host; figure 5.5, its share within 20 us");
    report_basis(SCORES_FITTED);
    report_row("host, standard deviation", 65.26, of_host, "us", 2);
    report_row("host, within 20 us", 57, host_within, "%", 2);
    report_basis(SCORES_PREDICTED);
    report_says("the NIC's standard deviation", "at least 50 times smaller",
                50 * of_nic < of_host, "%.2f us against %.1f us", of_nic, of_host);
    report_says("the NIC's mean", "smaller than the host's", nic < host, "%.1f us, %.1f us",
                nic, host);
}

/* 1812 processors on 906 nodes. */
static void table_of_906(void)
{
    static const struct sum *const sums[] = {&i32_add, &f64_add};
    double better[2], unused;
    report_section("Section 5.4: 1812 processors, with noise, simulated");
    report_text(
        "One processor of each of the 906 nodes takes part, and the mean is of 300 runs; "
        "what the two of a node do with each other, the thesis has no costs for. The NIC's "
        "means are too small, as above, so the shares are too large.");
    for (int i = 0; i < 2; i++) {
        char what[60];
        runs(sums[i], ELAN_HOST, 906, 300);
        better[i] = mean_us(300, &unused);
        runs(sums[i], ELAN_NIC, 906, 300);
        better[i] = 100 * (better[i] / mean_us(300, &unused) - 1);
        snprintf(what, sizeof what, "%s: the host takes longer by", sums[i]->name);
        report_missed(what, sums[i]->better, better[i], "%", i == 0 ? 45.4 : 75.2);
    }
    report_says("the NIC gains more where it need not emulate", "yes", better[0] > better[1],
                "i32 add %.0f %%, f64 add, emulated, %.0f %%", better[0], better[1]);
}

/* Noise is met the more often the more nodes there are. */
static void figure_5_6(void)
{
    double gain[2] = {0, 0}, unused;
    report_section("Figure 5.6: over the number of nodes, with noise, simulated");
    report_picture("moody_5_6", "4-nomial sums of a double, mean of 300", "nodes", "time, µs",
                   "set logscale x 2\nset yrange [0:*]");
    for (int place = ELAN_HOST; place <= ELAN_NIC; place++) {
        report_curve(place == ELAN_HOST ? "host" : "NIC", REPORT_LINKED);
        for (uint32_t P = 4; P <= 1024; P *= 2) {
            runs(&f64_add, (elan_place)place, P, 300);
            report_point(P, mean_us(300, &unused));
            if (P == 4 || P == 1024)
                gain[P == 1024] =
                    mean_us(300, &unused) - (place == ELAN_NIC ? gain[P == 1024] : 0);
        }
        report_curve("", REPORT_PAPER);
        report_point(900, place == ELAN_HOST ? 89.30 : 73.67);
    }
    report_says("NIC against host, with the nodes", "behind on few, ahead on many",
                gain[0] > 0 && gain[1] < 0, "%+.1f us on 4, %+.1f us on 1024", gain[0],
                gain[1]);
}

void reproduce_moody_noise(void)
{
    table_5_1();
    table_of_906();
    figure_5_6();
}
