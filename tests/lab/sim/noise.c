/* tests/lab/sim/noise.c — interruptions: how many, how long, for whom */
#include "support/simulated.h"

static const double MS = 1e9; /* picoseconds */

/* ---- statistics -------------------------------------------------------------------------- */

/* Work of a second takes the time that the noise leaves longer, on any rank, whatever it starts. */
TEST(share_of_the_time)
{
    static const double hz[] = {10, 100, 1000}, us[] = {10, 250, 400};
    for (unsigned d = 0; d < 3; d++)
        for (unsigned i = 0; i < 3; i++) {
            const double share = hz[i] * us[i] * 1e-6;
            double sum = 0;
            coll_noise noise;
            coll_noise_init(&noise, hz[i], us[i], (coll_noise_distribution)d, 7);
            for (uint32_t rank = 0; rank < 20; rank++) {
                const coll_time start = rank * 12345678901u;
                const coll_time work = (coll_time)(1000 * MS);
                sum += (double)(coll_noise_end(&noise, rank, start, work) - start) /
                       (1000 * MS) / 20;
            }
            CHECK(sum > 1 + (share / (1 - share)) * (d ? .85 : .95));
            CHECK(sum < 1 + (share / (1 - share)) * (d ? 1.15 : 1.05));
        }
}

/* Mean and spread of the durations: 0, d/√3, d. */
TEST(distributions)
{
    static const double spread[] = {0, .57735, 1};
    for (unsigned d = 0; d < 3; d++) {
        const unsigned n = 20000;
        double sum = 0, squares = 0, first = 0, last = 0;
        coll_noise noise;
        coll_noise_init(&noise, 100, 100, (coll_noise_distribution)d, 1);
        for (unsigned i = 0; i < n; i++) {
            const coll_i_interruption at = coll_i_noise_in(&noise, 3, i);
            const double duration = (double)(at.end - at.start) * 1e-6;
            CHECK(at.start >= i * noise.period && at.end <= (i + 1) * noise.period);
            sum += duration;
            squares += duration * duration;
            first += at.start - i * noise.period < noise.period / 4;
            last += (i + 1) * noise.period - at.end < noise.period / 4;
        }
        sum /= n;
        CHECK(fabs(sum - 100) < 2.5);
        CHECK(fabs(sqrt(fabs(squares / n - sum * sum)) / 100 - spread[d]) < .03);
        CHECK(fabs(first / n - .25) < .02 && fabs(last / n - .25) < .02);
    }
}

/* Ranks and seeds differ; the same ones do not. */
TEST(ranks_and_seeds)
{
    coll_noise noise, other;
    unsigned differ = 0;
    coll_noise_init(&noise, 1000, 100, COLL_NOISE_FIXED, 1);
    coll_noise_init(&other, 1000, 100, COLL_NOISE_FIXED, 2);
    for (uint32_t rank = 0; rank < 100; rank++) {
        const coll_time start = coll_i_noise_in(&noise, rank, 5).start;
        CHECK_EQ(coll_i_noise_in(&noise, rank, 5).start, start);
        differ += start != coll_i_noise_in(&noise, rank + 1, 5).start;
        differ += start != coll_i_noise_in(&other, rank, 5).start;
        differ += start - 5 * noise.period !=
                  coll_i_noise_in(&noise, rank, 6).start - 6 * noise.period;
    }
    CHECK_EQ(differ, 300);
}

/* ---- one interruption -------------------------------------------------------------------- */

TEST(work_goes_on_afterwards)
{
    coll_i_interruption at;
    coll_noise noise;
    coll_noise_init(&noise, 1000, 100, COLL_NOISE_FIXED, 1);
    at = coll_i_noise_in(&noise, 0, 0);
    CHECK(at.start > 1000 && at.end == at.start + 100000000);
    CHECK_EQ(coll_noise_end(&noise, 0, at.start - 1000, 1000), at.start);
    CHECK_EQ(coll_noise_end(&noise, 0, at.start - 1000, 1001), at.end + 1);
    CHECK_EQ(coll_noise_end(&noise, 0, at.start, 1), at.end + 1);
    CHECK_EQ(coll_noise_end(&noise, 0, at.start + 5, 7), at.end + 7);
    CHECK_EQ(coll_noise_end(&noise, 0, at.end, 7), at.end + 7);
    CHECK_EQ(coll_noise_end(&noise, 0, at.start + 5, 0), at.start + 5);
}

/* ---- in the simulator -------------------------------------------------------------------- */

static bool odd_ranks(const coll_cost_model *model, uint32_t rank)
{
    (void)model;
    return rank & 1;
}

/* Interruptions delay what the processor does, a processor in the NIC has none, and a tree
 * amplifies them. */
TEST(processors_in_the_nic_are_exempt)
{
    const coll_loggp_costs costs = {1000, 200, 100, 1, 0, 1e18, 0};
    const coll_plan plan = sim_plan(COLL_ALLREDUCE, "recursive_doubling", 64, 1, 0);
    coll_cost_model model;
    coll_sim_loggp loggp;
    coll_sim_options options;
    coll_sim sim;
    coll_noise noise;
    coll_time calm, noisy[3];
    coll_sim_loggp_init(&model, &loggp, &costs);
    coll_sim_options_init(&options, &model);
    coll_sim_init(&sim);
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    calm = sim.makespan;
    coll_noise_init(&noise, 20000, 25, COLL_NOISE_FIXED, 3);
    options.noise = &noise;
    for (unsigned i = 0; i < 3; i++) {
        model.on_nic = i == 1 ? odd_ranks : NULL;
        if (i == 2)
            noise.seed++;
        CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
        noisy[i] = sim.makespan;
        CHECK(noisy[i] > calm + 5000000);
    }
    CHECK(noisy[1] <= noisy[0]);
    CHECK(noisy[2] != noisy[0]);
    CHECK(coll_sim_busy(&sim, 5) < 6 * 500000); /* what is lost is not work */
    coll_sim_free(&sim);
}

TEST(nothing_disturbs_nics)
{
    const coll_loggp_costs costs = {1000, 200, 100, 1, 0, 1e18, 0};
    const coll_plan plan = sim_plan(COLL_BCAST, "linear", 2, 1, 0);
    coll_cost_model model;
    coll_sim_loggp loggp;
    coll_sim_options options;
    coll_sim sim;
    coll_noise noise;
    coll_sim_loggp_init(&model, &loggp, &costs);
    coll_sim_options_init(&options, &model);
    coll_sim_init(&sim);
    coll_noise_init(&noise, 1000, 999, COLL_NOISE_FIXED, 3);
    options.noise = &noise;
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    CHECK(sim.makespan > 900000000);
    model.on_nic = odd_ranks; /* the receiver's */
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
    CHECK_EQ(sim.makespan, coll_noise_end(&noise, 0, 0, 200000) + 1000000 + 207000);
    coll_sim_free(&sim);
}

/* ---- words ------------------------------------------------------------------------------- */

static bool refused(const char *text, const char *because)
{
    coll_sentence why = {""};
    coll_noise noise;
    const bool held =
        !coll_noise_read(&noise, text, 1, &why) && strstr(why.text, because) != NULL;
    if (!held)
        printf("    %s: \"%s\"\n", text, why.text);
    return held;
}

TEST(words)
{
    coll_sentence why;
    coll_noise noise;
    CHECK(coll_noise_read(&noise, "noise:frequency=100,duration=250", 9, &why));
    CHECK_EQ(noise.period, 10000000000);
    CHECK_EQ(noise.distribution, COLL_NOISE_FIXED);
    CHECK_EQ(noise.seed, 9);
    CHECK(coll_noise_read(&noise, "noise:frequency=10Hz,duration=1ms,distribution=exponential",
                          1, &why));
    CHECK(noise.duration > 9.99e8 && noise.duration < 1.01e9);
    CHECK_EQ(noise.distribution, COLL_NOISE_EXPONENTIAL);
    CHECK(refused("noise:frequency=100", "duration of noise is missing"));
    CHECK(refused("noise:duration=5", "frequency of noise is missing"));
    CHECK(refused("noise:frequency=-1,duration=5", "frequency of noise is a number"));
    CHECK(refused("noise:frequency=1000,duration=1000", "no time"));
    CHECK(refused("noise:frequency=1,duration=1,distribution=normal", "\"normal\""));
    CHECK(refused("noise:frequency=1,duration=1,colour=pink", "colour"));
    CHECK(refused("nose:frequency=1,duration=1", "there is no noise \"nose\""));
}

int main(void)
{
    RUN(share_of_the_time);
    RUN(distributions);
    RUN(ranks_and_seeds);
    RUN(work_goes_on_afterwards);
    RUN(processors_in_the_nic_are_exempt);
    RUN(nothing_disturbs_nics);
    RUN(words);
    return check_done();
}
