/* tests/lab/model/against_sim_nodes.c — closed forms of nodes whose ranks share a memory, against
 * the simulator: DPML and ATCOM */
#include "coll/lab/model.h"

#include "support/near.h"
#include "support/simulated.h"

/* ---- DPML ------------------------------------------------------------------------------------ */

enum { DPML_RANKS = 64, DPML_PPN = 8, DPML_TABLES = 4 * DPML_RANKS };

/* An allreduce of `count` doubles by l leaders a node, with recursive doubling between nodes; in k
 * pieces, or 0: in one, by dpml. */
static double dpml_us(const coll_dpml_costs *costs, size_t count, uint32_t l, uint32_t k)
{
    static coll_plan plans[DPML_RANKS];
    static coll_workspace workspaces[DPML_RANKS];
    static size_t tables[DPML_RANKS][DPML_TABLES];
    const coll_binding inter = {COLL_INTER, sim_row(COLL_ALLREDUCE, "recursive_doubling"),
                                NULL};
    const uint32_t params[COLL_PARAM_MAX] = {l, k};
    const char *name = k > 0 ? "dpml_pipelined" : "dpml";
    coll_sim_machine machine;
    coll_sim_options options;
    coll_problem problem;
    coll_sentence why;
    coll_sim sim;
    double us;
    char words[400];
    coll_problem_init(&problem, COLL_ALLREDUCE, DPML_RANKS, count, sizeof(double));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    coll_nodes_even(&problem.nodes, DPML_RANKS, DPML_PPN);
    CHECK(coll_workspace_tables(&problem) <= DPML_TABLES);
    for (uint32_t r = 0; r < DPML_RANKS; r++) {
        coll_workspace_init(&workspaces[r], r, tables[r], DPML_TABLES);
        workspaces[r].bindings = &inter;
        workspaces[r].n_bindings = 1;
        CHECK_STATUS(coll_plan_build(&plans[r], sim_row(COLL_ALLREDUCE, name), &problem, params,
                                     &workspaces[r]),
                     COLL_OK);
    }
    (void)coll_parameters_text(&coll_dpml_model, costs, words, sizeof words);
    coll_sim_machine_init(&machine, &problem.nodes, DPML_RANKS);
    CHECK(coll_sim_machine_read(&machine, words, &why));
    coll_sim_options_init(&options, &machine.model);
    options.topology = machine.nics;
    options.window = 32;
    coll_sim_init(&sim);
    CHECK_STATUS(coll_sim_run(&sim, plans, true, &options), COLL_OK);
    us = coll_time_us(sim.makespan);
    coll_sim_free(&sim);
    return us;
}

/* Where all ranks are leaders, exactly. Where some are not, these wait until a leader has copied
 * its result to where they find it: a copy that the formula does not have. */
TEST(dpml)
{
    const coll_dpml_costs *m = &coll_dpml_infiniband;
    for (uint32_t l = 1; l <= DPML_PPN; l *= 2)
        for (size_t count = 1024; count <= 1 << 16; count *= 8) {
            const double n = 8 * (double)count;
            const double more =
                l < DPML_PPN ? m->a_shm_us + n / l * m->b_shm_ns_per_byte / 1000 : 0;
            CHECK_NEAR(dpml_us(m, count, l, 0),
                       coll_dpml_us(m, DPML_RANKS / DPML_PPN, DPML_PPN, l, n, 1) + more, .01);
        }
}

/* In one piece as dpml. In more, equation 5 lets nothing overlap but messages: simulated, a piece is
 * combined while the next is under way, so that at most all combining between nodes is hidden. */
TEST(dpml_pipelined)
{
    const coll_dpml_costs *m = &coll_dpml_infiniband;
    for (uint32_t k = 1; k <= 8; k *= 2)
        for (size_t count = 1024; count <= 1 << 16; count *= 8) {
            const double n = 8 * (double)count;
            const double us = dpml_us(m, count, DPML_PPN, k);
            const double formula =
                coll_dpml_us(m, DPML_RANKS / DPML_PPN, DPML_PPN, DPML_PPN, n, k);
            const double combining = coll_log_ceil(2, DPML_RANKS / DPML_PPN) * n / DPML_PPN *
                                     m->c_ns_per_byte / 1000;
            if (k == 1)
                CHECK_NEAR(us, formula, 1e-6);
            CHECK(us <= formula * (1 + 1e-6) && us >= formula - combining);
        }
}

/* ---- ATCOM ----------------------------------------------------------------------------------- */

enum { SMP_NODES = 8, SMP_RANKS = 4 };

/* A broadcast of `count` doubles by a row with four parameters, on nodes of ppn ranks. */
static double smp_us(const char *messages, const char *name, uint32_t nodes, uint32_t ppn,
                     size_t count, const uint32_t params[4])
{
    coll_sim_machine machine;
    coll_sim_options options;
    coll_problem problem;
    coll_sentence why;
    coll_plan plan;
    coll_sim sim;
    double us;
    coll_problem_init(&problem, COLL_BCAST, nodes * ppn, count, sizeof(double));
    coll_nodes_even(&problem.nodes, nodes * ppn, ppn);
    CHECK_STATUS(coll_plan_init(&plan, sim_row(COLL_BCAST, name), &problem, params), COLL_OK);
    coll_sim_machine_init(&machine, &problem.nodes, nodes * ppn);
    CHECK(coll_sim_machine_read(&machine, messages, &why));
    CHECK(coll_sim_machine_share(&machine, "shm:a=1us,b=1,node=0.5,sync=0.1us", &why));
    coll_sim_options_init(&options, &machine.model);
    options.window = 32;
    coll_sim_init(&sim);
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    us = coll_time_us(sim.makespan);
    coll_sim_free(&sim);
    return us;
}

/* Wholly overlapped, and copying a segment takes less than sending it. Equation 4.4 holds where no
 * segment comes while one is copied. Elsewhere a message waits until its coordinator's processor is
 * free: that is the penalty, which equation 4.6 bounds. */
TEST(atcom)
{
    static const char messages[] = "hockney:alpha=20us,beta=4";
    const size_t count = 1 << 17;
    for (uint32_t segment = 1024; 2 * segment <= count; segment *= 2) {
        const uint32_t chain[4] = {1, segment}, shm[4] = {64, 2, segment};
        const uint32_t mixed[4] = {1, 2, segment, segment};
        const double us = smp_us(messages, "mixed", SMP_NODES, SMP_RANKS, count, mixed);
        coll_atcom_terms t = {0, 0, 0, 0, 0, 0, 0, SMP_NODES};
        t.inter_us = smp_us(messages, "chain", SMP_NODES, 1, count, chain);
        t.smcc_overlap_us = t.penalty_us = smp_us(messages, "shm", 1, SMP_RANKS, segment, shm);
        t.segments = (double)(count / segment);
        CHECK(us >= coll_atcom_complete_us(&t) * .999 && us <= coll_atcom_penalty_us(&t));
        if (2 * segment == count)
            CHECK_NEAR(us, coll_atcom_complete_us(&t), .01);
    }
}

int main(void)
{
    RUN(dpml);
    RUN(dpml_pipelined);
    RUN(atcom);
    return check_done();
}
