/* bench/reproduce/kumar.c — Kumar 2004, scaling collective multicast on fat-tree networks */
#include "coll/model/kumar.h"

#include "papers.h"
#include "report.h"

static const struct {
    const char *name;
    coll_kumar_algorithm algorithm;
    uint32_t P;
    double MB_per_s;
} slide_23[] = {
    {"MPI", COLL_KUMAR_DIRECT, 64, 123},        {"MPI", COLL_KUMAR_DIRECT, 128, 99},
    {"MPI", COLL_KUMAR_DIRECT, 144, 94},        {"MPI", COLL_KUMAR_DIRECT, 256, 95},
    {"prefix", COLL_KUMAR_PREFIX, 64, 260},     {"prefix", COLL_KUMAR_PREFIX, 128, 224},
    {"prefix", COLL_KUMAR_PREFIX, 256, 215},    {"k-prefix", COLL_KUMAR_KPREFIX, 64, 265},
    {"k-prefix", COLL_KUMAR_KPREFIX, 128, 259}, {"k-prefix", COLL_KUMAR_KPREFIX, 144, 261},
    {"k-prefix", COLL_KUMAR_KPREFIX, 256, 256}};
enum { CELLS = sizeof slide_23 / sizeof slide_23[0] };

static void table(void)
{
    const double bytes = 20e3;
    coll_kumar_costs fitted = coll_kumar_lemieux;
    coll_kumar_cell cells[CELLS];
    double worst;
    for (int i = 0; i < CELLS; i++) {
        cells[i].terms = coll_kumar_terms_of(slide_23[i].algorithm, slide_23[i].P, 8, 8);
        cells[i].MB_per_s = slide_23[i].MB_per_s;
    }
    worst = coll_kumar_fit(&fitted, cells, CELLS, bytes);
    report_section("Slide 23: MB/s of a node each way, after one fit of the cost equation");
    report_text(
        "The slide with the equation has lost it; ours is derived from the actions "
        "(`coll/model/kumar.h`). k is 8. The length of the messages is not told: at %.0f KB "
        "the fit gives the slide's cost of a barrier.",
        bytes / 1000);
    for (int i = 0; i < CELLS; i++) {
        char what[60];
        snprintf(what, sizeof what, "%s, %u nodes", slide_23[i].name, slide_23[i].P);
        report_row(what, slide_23[i].MB_per_s,
                   coll_kumar_MB_per_s(&fitted, &cells[i].terms, bytes), "MB/s");
    }
    report_says("every cell", "within 15 %", worst >= 0 && worst < .15, "within %.1f %%",
                100 * worst);
    report_row("barrier", 15, fitted.alpha_b_us, "us");
    report_row("network", 294, 1000 / fitted.beta_em_ns_per_byte, "MB/s");
    report_row("copy to the NIC", 294, 1000 / fitted.delta_ns_per_byte, "MB/s");
    report_picture("kumar_27", "All-to-all multicast by the fitted cost equation, 256 nodes",
                   "bytes of a message", "MB/s a node, each way", "set logscale x");
    for (int a = COLL_KUMAR_DIRECT; a <= COLL_KUMAR_KPREFIX; a++) {
        static const char *const names[] = {"MPI", "ring", "prefix", "k-prefix"};
        const coll_kumar_terms t = coll_kumar_terms_of((coll_kumar_algorithm)a, 256, 8, 8);
        report_curve(names[a], "lines");
        for (double m = 100; m <= 1e6; m *= 1.3)
            report_point(m, coll_kumar_MB_per_s(&fitted, &t, m));
    }
}

void reproduce_kumar(void)
{
    report_chapter("Kumar 2004: multicast on fat trees");
    table();
}
