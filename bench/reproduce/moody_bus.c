/* bench/reproduce/moody_bus.c — Moody 2003 with NICs that have a bus and a memory: crossings,
 * combining and messages that wait are events, instead of constants for the whole operation
 */
#include "coll/lab/sim/simulate.h"

#include "elan.h"
#include "papers.h"
#include "report.h"

/* What is reduced, by hosts and by NICs. */
static const struct operation {
    const char *name;
    const coll_moody_costs *host, *nic;
} i32_add = {"i32 add", &coll_moody_host_i32_add, &coll_moody_nic_i32_add},
  f64_max = {"f64 max", &coll_moody_host_f64_max, &coll_moody_nic_f64_max},
  f64_add = {"f64 add", &coll_moody_host_f64_add, &coll_moody_nic_f64_add};
static const struct operation *const operations[] = {&i32_add, &f64_max, &f64_add};

static coll_nic_load root; /* of the last simulation */

/* Microseconds of a plan of hosts and NICs; memory_bytes 0: as much as an Elan has. */
static double card_us(const struct operation *op, elan_place place, const coll_plan *plan,
                      double memory_bytes)
{
    static coll_sim sim;
    static elan at;
    coll_sim_options options;
    elan_init(&at, op->host, op->nic, place, plan);
    if (memory_bytes > 0)
        at.adapter.memory = (uint64_t)memory_bytes;
    options = elan_options(&at);
    if (coll_sim_run(&sim, plan, false, &options) != COLL_OK)
        return HUGE_VAL; /* too little memory */
    root = *coll_sim_nic(&sim, 0);
    return coll_time_us(sim.makespan);
}

static double card_fnomial_us(const struct operation *op, elan_place place, uint32_t P,
                              uint32_t f, uint32_t M)
{
    return elan_fnomial_us(op->host, op->nic, place, P, f, M);
}

/* The same by constants: half of a meeting before a rank begins, and half behind its end. */
static double constant_us(const struct operation *op, elan_place place, uint32_t P, uint32_t f,
                          uint32_t M)
{
    static uint8_t on_nic[ELAN_RANKS];
    const coll_plan plan = elan_plan(P, M, "fnomial", f, 0);
    coll_sim_moody at;
    coll_cost_model model;
    coll_sim_options options;
    memset(on_nic, place == ELAN_NIC, sizeof on_nic);
    at.host = op->host;
    at.nic = op->nic;
    at.on_nic = on_nic;
    coll_sim_moody_init(&model, &at);
    options = simulated_options(&model);
    return simulated_plan_us(&plan, &options);
}

/* Where nothing waits for a bus or for room, events and constants must agree. */
static void against_constants(void)
{
    double nics = 0, hosts = 0;
    for (unsigned i = 0; i < sizeof operations / sizeof operations[0]; i++)
        for (uint32_t M = 1; M <= 8; M *= 2)
            for (uint32_t P = 2; P <= 1024; P *= P < 32 ? 2 : 32) {
                const struct operation *op = operations[i];
                const double n = card_fnomial_us(op, ELAN_NIC, P, 4, M),
                             h = card_fnomial_us(op, ELAN_HOST, P, 4, M);
                const double off_n = fabs(constant_us(op, ELAN_NIC, P, 4, M) - n);
                const double off_h = fabs(constant_us(op, ELAN_HOST, P, 4, M) - h);
                nics = off_n > nics ? off_n : nics;
                hosts = off_h > hosts ? off_h : hosts;
            }
    report_basis(SCORES_OWN);
    report_says("against constants, all types, sizes and nodes", "the same, as nothing waits",
                nics < 1e-5 && hosts < 1e-5, "NICs within %.2g us, hosts within %.2g us", nics,
                hosts);
    report_basis(SCORES_PREDICTED);
}

/* Growth with the nodes, sizes and types. */
static void figure_5_4(void)
{
    report_section("Figure 5.4 over types and sizes, simulated");
    against_constants();
    for (unsigned i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        const struct operation *op = operations[i];
        const double grows_host = card_fnomial_us(op, ELAN_HOST, 4096, 2, 1) -
                                  card_fnomial_us(op, ELAN_HOST, 2, 2, 1),
                     grows_nic = card_fnomial_us(op, ELAN_NIC, 4096, 2, 1) -
                                 card_fnomial_us(op, ELAN_NIC, 2, 2, 1);
        char what[60];
        snprintf(what, sizeof what, "%s, one element, from 2 to 4096 nodes", op->name);
        report_says(what, op == &f64_add ? "the host scales better" : "the NIC scales better",
                    (grows_nic < grows_host) == (op != &f64_add), "%+.2f us, %+.2f us on hosts",
                    grows_nic, grows_host);
    }
    report_picture("moody_5_4_events", "Binomial trees on 1024 nodes; dotted: the host",
                   "elements", "latency, µs", "set logscale xy 2");
    for (unsigned i = 0; i < sizeof operations / sizeof operations[0]; i++)
        for (int place = ELAN_NIC; place >= ELAN_HOST; place--) {
            char label[40];
            snprintf(label, sizeof label, "%s, NIC", operations[i]->name);
            report_curve(place == ELAN_NIC ? label : "",
                         place == ELAN_NIC ? REPORT_LINE : REPORT_DOTTED);
            for (uint32_t M = 1; M <= 8; M *= 2)
                report_point(M, card_fnomial_us(operations[i], (elan_place)place, 1024, 2, M));
        }
}

/* How much memory a root's NIC needs, and what less costs. */
static void memory(void)
{
    static const struct {
        const char *label;
        uint32_t f;
    } trees[] = {{"serial", 64}, {"degree 8", 8}, {"degree 4", 4}, {"degree 2", 2}};
    const uint64_t bytes = 64, operands = 2 * bytes; /* operand and result of the root */
    double lost[4];
    report_section("The memory of a NIC: 64 nodes, f64 add, 8 elements, simulated");
    report_text("A NIC combines slower than messages come, so they wait in its memory: the "
                "thesis gives "
                "each child a slot (appendix A), (f - 1) log_f P at the root. A message "
                "without room stays "
                "at its sender, and comes 2 L after there is room. All of this is predicted; "
                "the 64 MB of "
                "the Elan are never full.");
    for (unsigned i = 0; i < 4; i++) {
        const coll_plan plan = elan_plan(64, 8, "fnomial", trees[i].f, 0);
        const uint32_t slots = (trees[i].f - 1) * coll_log_ceil(trees[i].f, 64);
        char what[60];
        lost[i] = -card_us(&f64_add, ELAN_NIC, &plan, 0);
        snprintf(what, sizeof what, "%s: messages at a time at the root", trees[i].label);
        report_says(what, "at most its slots", root.high - operands <= slots * bytes,
                    "%u of %u", (unsigned)((root.high - operands) / bytes), slots);
        lost[i] += card_us(&f64_add, ELAN_NIC, &plan, (double)(operands + bytes));
    }
    report_basis(SCORES_OWN);
    report_says("room for one message instead of all of them", "not in the thesis",
                lost[0] > lost[1] && lost[1] > lost[2] && lost[2] > lost[3],
                "serial %+.1f us, degree 8 %+.1f us, 4 %+.1f us, 2 %+.1f us", lost[0], lost[1],
                lost[2], lost[3]);
    report_picture("moody_memory", "64 nodes, f64 add, 8 elements: with less memory",
                   "messages that a NIC has room for", "latency, µs", "set logscale x 2");
    for (unsigned i = 0; i < 4; i++) {
        const coll_plan plan = elan_plan(64, 8, "fnomial", trees[i].f, 0);
        report_curve(trees[i].label, REPORT_LINKED);
        for (uint32_t messages = 1; messages <= 64; messages *= 2)
            report_point(messages, card_us(&f64_add, ELAN_NIC, &plan,
                                           (double)(operands + messages * bytes)));
    }
}

/* Section 6.2: NICs gather, hosts reduce between. */
static void future_work(void)
{
    uint32_t ahead = 0;
    report_section("Section 6.2: NICs gather, and hosts reduce, simulated");
    report_picture("moody_6_2", "Binomial trees of 64 nodes, f64 add", "elements",
                   "latency, µs", "set logscale xy 2");
    for (int place = ELAN_HOST; place <= ELAN_ACTION; place++) {
        if (place == ELAN_BOTH)
            continue;
        report_curve(place == ELAN_HOST  ? "host"
                     : place == ELAN_NIC ? "NIC"
                                         : "NIC gathers, host reduces",
                     REPORT_LINKED);
        for (uint32_t M = 1; M <= 16; M *= 2)
            report_point(M, card_fnomial_us(&f64_add, (elan_place)place, 64, 2, M));
    }
    for (uint32_t M = 16; M >= 1; M--)
        if (card_fnomial_us(&f64_add, ELAN_ACTION, 64, 2, M) <
            card_fnomial_us(&f64_add, ELAN_NIC, 64, 2, M))
            ahead = M;
    report_basis(SCORES_OWN);
    report_says("gathers between reductions gain on NICs alone", "asked for", ahead > 0,
                "from %u elements on; 16 elements in %.1f us instead of %.1f us, hosts alone "
                "%.1f us",
                ahead, card_fnomial_us(&f64_add, ELAN_ACTION, 64, 2, 16),
                card_fnomial_us(&f64_add, ELAN_NIC, 64, 2, 16),
                card_fnomial_us(&f64_add, ELAN_HOST, 64, 2, 16));
}

void reproduce_moody_bus(void)
{
    figure_5_4();
    memory();
    future_work();
}
