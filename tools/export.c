/* tools/export.c — coll export: a plan in a format of others */
#include "coll/lab/export.h"

#include <string.h>

#include "coll/lab/sim/machine.h"
#include "coll/select/names.h"
#include "commands.h"
#include "imported.h"
#include "job.h"
#include "names.h"
#include "output.h"

enum { STEPS = 64, STEPS_MAX = 32767 }; /* of a thread block of MSCCL */
enum { MOST = 1 << 24 };                /* steps of all ranks, some GB of text */

/* What the user says besides the job; numbers that are not given are UINT64_MAX. */
struct wish {
    uint64_t reduce, copy, cpu, steps;
    const char *model;        /* goal: in words … */
    coll_sim_machine machine; /* … and read */
    const char *protocol;
    uint64_t rank; /* c … */
    const char *name;
    coll_nic_limits nic;
};

static coll_export_result export_json(coll_export *out, struct wish *wish)
{
    (void)wish;
    return coll_export_json(out);
}

static uint64_t or_none(uint64_t number)
{
    return number == UINT64_MAX ? 0 : number;
}

/* What a computation takes in the simulator, where nobody else wants the processor or the memory. */
static uint64_t model_ps(void *arg, uint32_t rank, const coll_action *a, size_t elem_bytes)
{
    const coll_cost_model *model = (const coll_cost_model *)arg;
    coll_cost cost;
    coll_i_cost_clear(&cost);
    if (model->compute)
        model->compute(model, rank, a, elem_bytes, &cost);
    return coll_later(cost.cpu + cost.flow, cost.done);
}

static coll_export_result export_goal(coll_export *out, struct wish *wish)
{
    coll_goal_options options = {or_none(wish->reduce), or_none(wish->copy),
                                 (uint8_t)or_none(wish->cpu), NULL, &wish->machine.model};
    if (wish->model)
        options.compute_ps = model_ps;
    return coll_export_goal(out, &options);
}

static coll_export_result export_dot(coll_export *out, struct wish *wish)
{
    (void)wish;
    return coll_export_dot(out);
}

static coll_export_result export_msccl(coll_export *out, struct wish *wish)
{
    static const char *const protocols[] = {"Simple", "LL", "LL128"};
    const char *word = wish->protocol ? wish->protocol : protocols[0];
    const coll_msccl_options options = {protocols[name_index("protocol", word, protocols, 3)],
                                        wish->steps == UINT64_MAX ? STEPS
                                                                  : (uint32_t)wish->steps};
    return coll_export_msccl(out, &options);
}

static coll_export_result export_c(coll_export *out, struct wish *wish)
{
    coll_c_options options;
    coll_c_options_init(&options);
    if (wish->name)
        options.name = wish->name;
    if (wish->rank != UINT64_MAX)
        options.rank = (uint32_t)wish->rank;
    options.limits = wish->nic;
    return coll_export_c(out, &options);
}

static const struct format {
    const char *name;
    coll_export_result (*export)(coll_export *out, struct wish *wish);
} formats[] = {
    {"json", export_json},   {"goal", export_goal}, {"dot", export_dot},
    {"msccl", export_msccl}, {"c", export_c},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static const struct format *format_named(const char *word)
{
    const char *names[FORMATS];
    for (size_t i = 0; i < FORMATS; i++)
        names[i] = formats[i].name;
    return &formats[name_index("format", word, names, FORMATS)];
}

/* An option that only one format has. */
static void only_for(const struct format *format, const char *name, const char *option,
                     bool given)
{
    if (given && strcmp(format->name, name) != 0)
        refuse("--%s is for %s, not for %s", option, name, format->name);
}

static const coll_plan *plan_of(void *job, uint32_t rank)
{
    return job_plan((const struct job *)job, rank);
}

/* A program that combines in no time would be a simulation of something else, unless that is meant. */
static void check_reduce(const struct job *job, const struct format *format,
                         const struct wish *wish)
{
    if (strcmp(format->name, "goal") == 0 && wish->reduce == UINT64_MAX && !wish->model &&
        coll_is(COLL_REDUCING, job->collective))
        refuse("%s combines data, and GOAL says how long that takes: give the --model that "
               "coll sim "
               "takes, or --reduce picoseconds a byte, which may be 0",
               coll_collective_name(job->collective));
}

/* Reads the model whose computations GOAL is to have. */
static void read_model(const struct job *job, struct wish *wish)
{
    coll_sentence why;
    if (!wish->model)
        return;
    if (wish->reduce != UINT64_MAX || wish->copy != UINT64_MAX)
        refuse("--model says what --reduce and --copy say: leave out one or the others");
    coll_sim_machine_init(&wish->machine, &job->plans[0].problem.nodes, job->p);
    if (!coll_sim_machine_read(&wish->machine, wish->model, &why))
        refuse("%s", why.text);
}

/* Nobody wants a terabyte who has not said so. */
static void check_most(const struct job *job, uint64_t most)
{
    char number[24];
    uint64_t steps = 0;
    for (uint32_t rank = 0; rank < job->p && steps <= most; rank++) {
        const size_t more = coll_plan_steps(job_plan(job, rank), rank);
        steps = more > UINT64_MAX - steps ? UINT64_MAX : steps + more;
    }
    if (steps > most)
        refuse("%s %s has more than %s steps on %u ranks, of 100 bytes of text or more: export "
               "fewer ranks or segments, or say with --most how many it may be",
               coll_collective_name(job->collective), job->algorithm->name,
               coll_number_text(most, number), job->p);
}

int export_main(int argc, char **argv)
{
    struct ask ask = ASK_NOTHING;
    uint64_t most = MOST;
    static struct wish wish = {.reduce = UINT64_MAX,
                               .copy = UINT64_MAX,
                               .cpu = UINT64_MAX,
                               .steps = UINT64_MAX,
                               .rank = UINT64_MAX};
    uint64_t counters = UINT64_MAX, receives = UINT64_MAX;
    bool posted = false;
    const char *format_word, *type = "f64", *path = NULL;
    const struct option options[] = {
        OPERAND(
            "FORMAT",
            "json, goal (LogGOPSim), dot (Graphviz), msccl (NCCL, RCCL) or c (NIC programs)",
            &format_word),
        ASK_OPTIONS(ask),
        LAYOUT_OPTIONS(ask),
        NUMBER(0, "seed", "S", "random sizes for the blocks of a v-collective", &ask.seed, 0,
               UINT64_MAX - 1),
        WORD("type", "T", "element type (f64), of which the size counts", &type),
        {OPTION_WORD, 'o', "output", "FILE", "write this file", &path, 0, 0},
        NUMBER(0, "most", "N", "steps of all ranks at most (16M)", &most, 0, UINT64_MAX - 1),
        WORD("model", "MODEL", "goal: reduces and copies take what this model of coll sim says",
             &wish.model),
        NUMBER(0, "reduce", "PS",
               "goal: picoseconds a byte to reduce takes, where data is combined", &wish.reduce,
               0, UINT64_MAX - 1),
        NUMBER(0, "copy", "PS", "goal: picoseconds a byte to copy takes (0)", &wish.copy, 0,
               UINT64_MAX - 1),
        NUMBER(0, "cpu", "C", "goal: stream that reduces and copies (0, as messages)",
               &wish.cpu, 0, 255),
        WORD("protocol", "P", "msccl: Simple, LL or LL128 (Simple)", &wish.protocol),
        NUMBER(0, "steps", "N", "msccl: steps of a thread block, at most (64)", &wish.steps, 1,
               STEPS_MAX),
        NUMBER(0, "rank", "R", "c: of this rank alone (all)", &wish.rank, 0, UINT32_MAX - 1),
        WORD("name", "NAME", "c: what names begin with (coll_program)", &wish.name),
        FLAG("nic-posted", "c: the NIC keeps no message that meets no posted receive", &posted),
        NUMBER(0, "nic-counters", "N", "c: it has so many counters (no limit)", &counters, 1,
               UINT32_MAX),
        NUMBER(0, "nic-receives", "N", "c: it posts so many receives at one time (no limit)",
               &receives, 1, UINT32_MAX),
    };
    const struct command export = {
        "export", "write what an algorithm does in a format of others",
        "Without --count a vector has P elements, and a block one.\n"
        "Without --counts and --seed all blocks of a v-collective have --count elements.",
        options, sizeof options / sizeof options[0]};
    const struct format *format;
    struct output file;
    struct job job;
    coll_export out;
    coll_export_result result;
    bool closed;
    options_read(&export, argc, argv);
    format = format_named(format_word);
    only_for(format, "goal", "model", wish.model != NULL);
    only_for(format, "goal", "reduce", wish.reduce != UINT64_MAX);
    only_for(format, "goal", "copy", wish.copy != UINT64_MAX);
    only_for(format, "goal", "cpu", wish.cpu != UINT64_MAX);
    only_for(format, "msccl", "protocol", wish.protocol != NULL);
    only_for(format, "msccl", "steps", wish.steps != UINT64_MAX);
    only_for(format, "c", "rank", wish.rank != UINT64_MAX);
    only_for(format, "c", "name", wish.name != NULL);
    only_for(format, "c", "nic-posted", posted);
    only_for(format, "c", "nic-counters", counters != UINT64_MAX);
    only_for(format, "c", "nic-receives", receives != UINT64_MAX);
    coll_nic_limits_init(&wish.nic);
    wish.nic.unexpected = !posted;
    if (counters != UINT64_MAX)
        wish.nic.counters = (uint32_t)counters;
    if (receives != UINT64_MAX)
        wish.nic.receives = (uint32_t)receives;
    job_make(&job, &ask, coll_type_bytes(type_named(type)));
    if (job.import)
        imported_has_data(job.import, ask.import);
    check_reduce(&job, format, &wish);
    read_model(&job, &wish);
    check_most(&job, most);
    if (wish.rank != UINT64_MAX && wish.rank >= job.p)
        refuse("there is no rank %llu of %u: --rank is below --ranks",
               (unsigned long long)wish.rank, job.p);

    output_open(&file, path);
    coll_export_init(&out, NULL, file.file);
    out.plan_of = plan_of;
    out.arg = &job;
    result = format->export(&out, &wish);
    if (result == COLL_EXPORT_REFUSED || result == COLL_EXPORT_NO_MEMORY)
        refuse("%s", out.sentence);
    closed = output_close(&file);
    job_free(&job);
    return closed ? 0 : 1;
}
