/* A simulated machine is calibrated: what was put in comes out, on all ranks, and twice the same. */
#include "support/check.h"
#include "support/virtual.h"

typedef struct result {
    coll_machine_file *machine; /* of rank 0, or of each */
    coll_status status[VIRTUAL_RANKS];
    coll_bench_options options;
    bool all_alike;
} result;

static coll_machine_file *machines; /* of each rank, of one run */
static char first[1 << 18], second[1 << 18];

static void program(uint32_t rank, const coll_transport *transport, void *ctx,
                    const coll_bench_clock *clock, void *arg)
{
    result *r = (result *)arg;
    const uint32_t p = ((virtual_rank *)ctx)->world->p;
    coll_bench bench;
    coll_bench_options options = r->options;
    options.clock = *clock;
    r->status[rank] = coll_bench_init(&bench, transport, ctx, rank, p, 0, &options);
    if (r->status[rank] == COLL_OK)
        r->status[rank] = coll_calibrate(&bench, "virtual", 0, &machines[rank]);
    coll_bench_free(&bench);
}

/* Calibrates a machine of p ranks, and checks that no rank failed. */
static coll_machine_file *calibrated(uint32_t p, const coll_cost_model *model,
                                     const coll_noise *noise, const double *offsets_ns)
{
    static result r;
    const virtual_program calibrate = {program, &r};
    coll_bench_options_init(&r.options);
    r.options.largest = 1 << 16;
    r.options.least = 8;
    virtual_run(p, model, noise, offsets_ns, calibrate);
    for (uint32_t rank = 0; rank < p; rank++)
        CHECK_STATUS(r.status[rank], COLL_OK);
    return &machines[0];
}

/* A value within a part of what it should be. */
static void near_to(double is, double wanted, double part, const char *what)
{
    if (!CHECK(fabs(is - wanted) <= part * wanted + 1e-9))
        printf("    %s is %g, not %g\n", what, is, wanted);
}
#define NEAR(is, wanted, part) near_to(is, wanted, part, #is)

static size_t text_of(coll_machine_file *m, char *text, size_t bytes)
{
    FILE *file = tmpfile();
    size_t n;
    if (!CHECK(file != NULL))
        return 0;
    coll_machine_file_write(m, file);
    rewind(file);
    n = fread(text, 1, bytes - 1, file);
    text[n] = '\0';
    fclose(file);
    return n;
}

/* LogGP: whatever clocks of the ranks show. */
TEST(loggp_comes_out)
{
    static const coll_loggp_costs costs[] = {{1000, 200, 300, .5, 0, 1e18, .1},
                                             {25000, 1500, 4000, 8, 0, 1e18, 1},
                                             {50, 90, 120, .02, 0, 1e18, .01}};
    static const double offsets[] = {0, 1e9, -5e8, 77};
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        coll_sim_loggp at;
        coll_cost_model model;
        const coll_machine_file *m;
        coll_sim_loggp_init(&model, &at, &costs[i]);
        m = calibrated(4, &model, NULL, offsets);
        NEAR(m->loggp.L_ns, costs[i].L_ns, .02);
        NEAR(m->loggp.o_ns, costs[i].o_ns, .02);
        NEAR(m->loggp.g_ns, costs[i].g_ns, .02);
        NEAR(m->loggp.G_ns_per_byte, costs[i].G_ns_per_byte, .02);
        NEAR(m->loggp.c_ns_per_byte, costs[i].c_ns_per_byte, .02);
        NEAR(m->hockney.alpha_us, (costs[i].L_ns + 2 * costs[i].o_ns) / 1000, .02);
        NEAR(m->hockney.beta_ns_per_byte, costs[i].G_ns_per_byte, .02);
        NEAR(m->nbl.f2, 1, .02); /* a port for sending, and one for receiving */
        NEAR(m->nbl.f4, 3, .05); /* a processor that waits for the port takes nothing in */
        NEAR(m->nbl.f6, 5, .05);
    }
}

/* P-LogP, whose table is not a line. */
TEST(plogp_comes_out)
{
    coll_plogp_costs costs = coll_plogp_ibm;
    coll_cost_model model;
    const coll_machine_file *m;
    for (uint32_t i = 0; i < costs.n; i++)
        costs.row[i].us[COLL_PLOGP_C] = costs.row[i].bytes * .001;
    coll_sim_plogp_init(&model, &costs);
    m = calibrated(2, &model, NULL, NULL);
    NEAR(m->plogp.L_us, costs.L_us, .02);
    for (uint32_t i = 0; i < m->plogp.n; i++) {
        const coll_plogp_row *row = &m->plogp.row[i];
        NEAR(row->us[COLL_PLOGP_OS], coll_plogp_us(&costs, COLL_PLOGP_OS, row->bytes), .02);
        NEAR(row->us[COLL_PLOGP_G], coll_plogp_us(&costs, COLL_PLOGP_G, row->bytes), .02);
        if (row->bytes >= 1024)
            NEAR(row->us[COLL_PLOGP_C], row->bytes * .001, .02);
    }
}

/* Moody's letters, out of serial reductions. */
TEST(moody_comes_out)
{
    const coll_moody_costs *wanted = &coll_moody_nic_f64_add;
    coll_sim_moody at = {NULL, NULL, NULL};
    coll_cost_model model;
    const coll_machine_file *m;
    at.host = at.nic = wanted;
    coll_sim_moody_init(&model, &at);
    m = calibrated(5, &model, NULL, NULL);
    NEAR(m->moody.L_us, wanted->L_us, .02);
    NEAR(m->moody.r_us, wanted->r_us, .05);
    NEAR(m->moody.c1_us, wanted->c1_us, .02);
    NEAR(m->moody.c8_us, wanted->c8_us, .02);
    NEAR(m->moody.C_us, 0, 0); /* here nothing starts up */
}

/* Noise is found, and does not move the medians. */
TEST(noise_is_found)
{
    const coll_loggp_costs costs = {1000, 200, 300, .5, 0, 1e18, .1};
    coll_sim_loggp at;
    coll_cost_model model;
    coll_noise noise;
    const coll_machine_file *m;
    coll_noise_init(&noise, 2000, 20, COLL_NOISE_FIXED, 1);
    coll_sim_loggp_init(&model, &at, &costs);
    m = calibrated(3, &model, &noise, NULL);
    NEAR(m->noise.frequency_hz, 2000, .1);
    NEAR(m->noise.duration_us, 20, .1);
    CHECK(strcmp(m->noise.distribution, "fixed") == 0);
    NEAR(m->loggp.L_ns, costs.L_ns, .05);
    NEAR(m->loggp.G_ns_per_byte, costs.G_ns_per_byte, .05);
}

/* One rank has copies, reductions and noise, and no messages. */
TEST(one_rank_is_enough)
{
    const coll_hockney_costs costs = {1, 1, .25};
    coll_sim_hockney at;
    coll_cost_model model;
    const coll_machine_file *m;
    coll_sim_hockney_init(&model, &at, &costs);
    m = calibrated(1, &model, NULL, NULL);
    CHECK_EQ(m->plogp.n, 0);
    NEAR(coll_machine_find(m, COLL_MEASURED_COMBINE, "sum_f64", 65536)->median, 16384, .02);
    CHECK(coll_machine_find(m, COLL_MEASURED_ROUNDTRIP, "", 0) == NULL);
}

/* Two runs are the same, all ranks know the same but for clocks, and the file is read as it was written. */
TEST(runs_are_alike)
{
    const coll_loggp_costs costs = {700, 150, 260, .3, 0, 1e18, .05};
    static const double offsets[] = {0, 5e6, 0};
    coll_sim_loggp at;
    coll_cost_model model;
    coll_sentence why;
    coll_machine_file *m, *again;
    size_t n;
    coll_sim_loggp_init(&model, &at, &costs);
    m = calibrated(3, &model, NULL, offsets);
    n = text_of(m, first, sizeof first);
    CHECK(n > 1000 && n + 1 < sizeof first);
    CHECK_EQ(machines[1].n + 4, m->n);
    CHECK(memcmp(&machines[1].loggp, &m->loggp, sizeof m->loggp) == 0);
    again = calibrated(3, &model, NULL, offsets);
    CHECK_EQ(text_of(again, second, sizeof second), n);
    CHECK(strcmp(first, second) == 0);
    if (!CHECK(coll_machine_file_read(again, first, "first", &why)))
        printf("    %s\n", why.text);
    CHECK_EQ(text_of(again, second, sizeof second), n);
    CHECK(strcmp(first, second) == 0);
}

/* An error of the transport ends it on all ranks. */
static coll_status no_send(void *ctx, uint32_t peer, uint32_t tag, const void *buf,
                           size_t bytes, coll_handle *h)
{
    (void)ctx, (void)peer, (void)tag, (void)buf, (void)bytes, (void)h;
    return COLL_ERR_PEER;
}

static double still(void *arg)
{
    (void)arg;
    return 0;
}

TEST(errors_end_it)
{
    const coll_transport broken = {.send = no_send, .recv = virtual_recv, .test = virtual_test};
    const coll_transport none = {.send = no_send};
    coll_bench_options options;
    coll_bench bench;
    coll_machine_file *m = &machines[0];
    coll_bench_options_init(&options);
    options.largest = 1 << 16;
    CHECK_STATUS(coll_bench_init(&bench, &broken, NULL, 0, 2, 0, &options), COLL_ERR_NULL);
    options.clock.now = still;
    CHECK_STATUS(coll_bench_init(&bench, &none, NULL, 0, 2, 0, &options), COLL_ERR_TRANSPORT);
    CHECK_STATUS(coll_bench_init(&bench, &broken, NULL, 2, 2, 0, &options), COLL_ERR_RANK);
    options.peer = 2;
    CHECK_STATUS(coll_bench_init(&bench, &broken, NULL, 0, 2, 0, &options), COLL_ERR_RANK);
    options.peer = 1;
    CHECK_STATUS(coll_bench_init(&bench, &broken, NULL, 0, 2, 0, &options), COLL_OK);
    bench.status = COLL_ERR_PEER;
    CHECK_STATUS(coll_calibrate(&bench, "broken", 0, m), COLL_ERR_PEER);
    coll_bench_free(&bench);
}

int main(void)
{
    machines = (coll_machine_file *)calloc(VIRTUAL_RANKS, sizeof *machines);
    if (!machines)
        return 1;
    RUN(loggp_comes_out);
    RUN(plogp_comes_out);
    RUN(moody_comes_out);
    RUN(noise_is_found);
    RUN(one_rank_is_enough);
    RUN(runs_are_alike);
    RUN(errors_end_it);
    free(machines);
    return check_done();
}
