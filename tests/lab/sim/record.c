/* tests/lab/sim/record.c — what is recorded of a simulation, and that traces and pictures show it
 * */
#include "support/simulated.h"

static coll_sim_record record;
static coll_sim sim;

/* Records an allreduce of p ranks. */
static void run(uint32_t p, size_t most)
{
    const coll_plan plan = sim_plan(COLL_ALLREDUCE, "recursive_doubling", p, 4, 0);
    const coll_loggp_costs costs = {1000, 200, 100, 1, 0, 1e18, 2};
    coll_cost_model model;
    coll_sim_loggp loggp;
    coll_sim_options options;
    coll_sim_loggp_init(&model, &loggp, &costs);
    coll_sim_options_init(&options, &model);
    coll_sim_record_init(&record, most);
    options.see = coll_sim_record_see;
    options.arg = &record;
    CHECK_STATUS(coll_sim_run(&sim, &plan, false, &options), COLL_OK);
}

TEST(what_is_recorded)
{
    coll_time busy[8] = {0};
    run(8, 1000);
    CHECK(!record.full);
    CHECK_EQ(record.flights.n, sim.messages);
    CHECK_EQ(record.flights.n, 24);
    CHECK_EQ(record.spans.n, 3 * 24); /* sent, taken in, combined */
    for (size_t i = 0; i < record.flights.n; i++) {
        const coll_sim_flight *flight = coll_sim_flight_at(&record, i);
        CHECK_EQ(flight->bytes, 32);
        CHECK_EQ(flight->end - flight->start, 1200000);
        CHECK(flight->from < 8 && flight->to < 8 && flight->from != flight->to);
    }
    for (size_t i = 0; i < record.spans.n; i++) {
        const coll_sim_span *span = coll_sim_span_at(&record, i);
        busy[span->rank] += span->end - span->start;
        CHECK(span->end <= sim.makespan);
    }
    for (uint32_t r = 0; r < 8; r++)
        CHECK_EQ(busy[r], coll_sim_busy(&sim, r));
    coll_sim_record_free(&record);
    run(8, 30);
    CHECK(record.full);
    CHECK_EQ(record.flights.n + record.spans.n, 30);
    coll_sim_record_free(&record);
}

/* How often a text occurs in a file. */
static unsigned count(FILE *file, const char *text)
{
    static char all[1 << 18];
    unsigned n = 0;
    size_t bytes;
    rewind(file);
    bytes = fread(all, 1, sizeof all - 1, file);
    all[bytes] = '\0';
    for (const char *at = all; (at = strstr(at, text)) != NULL; at++)
        n++;
    return n;
}

TEST(traces_and_pictures)
{
    FILE *trace = tmpfile(), *svg = tmpfile();
    if (!CHECK(trace && svg))
        return;
    run(4, 1000);
    coll_sim_trace(&record, &sim, "a \"name\"", trace);
    CHECK_EQ(count(trace, "\"name\":\"a \\\"name\\\"\""), 4);
    CHECK_EQ(count(trace, "\"ph\":\"X\""), record.spans.n + 4); /* and the collective */
    CHECK_EQ(count(trace, "\"ph\":\"s\""), sim.messages);
    CHECK_EQ(count(trace, "\"ph\":\"f\""), sim.messages);
    CHECK_EQ(count(trace, "process_name"), 4);
    CHECK_EQ(count(trace, "\"ts\":1.200000"), 8); /* the first messages, and their ends */
    coll_sim_svg(&record, &sim, "a < b & c", svg);
    CHECK_EQ(count(svg, "<svg"), 1);
    CHECK_EQ(count(svg, "</svg>"), 1);
    CHECK_EQ(count(svg, "a &lt; b &amp; c"), 1);
    CHECK(count(svg, "<path") >= sim.messages + 4);
    CHECK_EQ(count(svg, "<rect"), 3 * sim.messages + 4);
    coll_sim_record_free(&record);
    fclose(trace);
    fclose(svg);
}

int main(void)
{
    coll_sim_init(&sim);
    RUN(what_is_recorded);
    RUN(traces_and_pictures);
    coll_sim_free(&sim);
    return check_done();
}
