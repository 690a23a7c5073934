/* Models in words, a line each: their parameters, tables of plogp, noise, and what a simulated machine is
 * made of. What is read is read again from what is written, and costs times. */
#include "coll/lab/model.h"
#include "coll/lab/sim.h"
#include "coll/lab/sim/machine.h"
#include "coll/lab/sim/noise.h"
#include "fuzz.h"

static const coll_model *const models[] = {
    &coll_hockney_model, &coll_loggp_model, &coll_plogp_model,  &coll_nbl_model,
    &coll_moody_model,   &coll_dpml_model,  &coll_shm_model,    &coll_nic_model,
    &coll_noise_model,   &coll_kumar_model, &coll_traffic_model};
enum { MODELS = sizeof models / sizeof models[0] };

union costs {
    double align;
    char bytes[4096];
};

static void parameters(const char *text)
{
    static union costs costs, again;
    static char first[16384], second[16384];
    coll_sentence why = {""};
    const coll_model *model = coll_model_of("model", models, MODELS, text, &why);
    must(!model || model->bytes <= sizeof costs, "%s is too large", model->name);
    if (!model || !coll_parameters_read(model, text, &costs, &why)) {
        must(why.text[0], "refused without a sentence");
        return;
    }
    must(coll_parameters_text(model, &costs, first, sizeof first) < sizeof first, "too long");
    for (size_t i = 0; i < model->n_parameters;
         i++) /* a word may be absent, and is then empty */
        if (model->parameters[i].type == COLL_PARAMETER_WORD &&
            costs.bytes[model->parameters[i].offset] == '\0')
            return;
    must(coll_parameters_read(model, first, &again, &why), "%s: %s", first, why.text);
    (void)coll_parameters_text(model, &again, second, sizeof second);
    must(strcmp(first, second) == 0, "%s becomes %s", first, second);
}

static void machine(const char *text, const char *memory, const char *nic, uint32_t ends)
{
    static coll_sim_machine m;
    uint8_t on_nic[64] = {0, 1, 1, 0, 1};
    coll_nodes nodes;
    coll_sentence why;
    coll_nodes_even(&nodes, ends, 1 + ends / 3);
    if (strncmp(text, "plogp", 5) == 0 && strcmp(text, "plogp:table=ibm") != 0)
        return; /* it would open a file */
    coll_sim_machine_init(&m, &nodes, ends);
    if (!coll_sim_machine_read(&m, text, &why))
        return;
    if (nic[0] && !coll_sim_machine_nic(&m, nic, on_nic, &why))
        return;
    if (memory[0])
        (void)coll_sim_machine_share(&m, memory, &why);
}

static void noise(const char *text)
{
    coll_noise noise;
    coll_sentence why;
    if (!coll_noise_read(&noise, text, 1, &why))
        return;
    must(noise.period > 0, "periods of no time");
    for (coll_time work = 1; work < 20 * noise.period && work < COLL_TIME_LIMIT / 4; work *= 3)
        must(coll_noise_end(&noise, 3, 7 * work, work) >= 8 * work, "noise makes it faster");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static coll_plogp_costs table;
    char *text = text_of(data, size, 1 << 13), *at = text;
    coll_sentence why;
    const char *first, *second, *third;
    if (coll_plogp_read(&table, text, &why))
        for (double bytes = 0; bytes < 1e9; bytes = 7 * bytes + 1)
            must(coll_plogp_us(&table, COLL_PLOGP_G, bytes) >= 0, "less than no time");
    first = line_of(&at);
    second = line_of(&at);
    third = line_of(&at);
    parameters(first);
    if (!strchr(first, '@') && !strchr(second, '@')) { /* it would open a file */
        noise(first);
        machine(first, second, third, 1 + (uint32_t)(size % 40));
    }
    free(text);
    return 0;
}
