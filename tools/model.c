/* tools/model.c — coll model: the closed forms, listed, explained, or evaluated */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/lab/sim.h"
#include "commands.h"
#include "formulas.h"
#include "json.h"
#include "memory.h"

/* What coll sim takes besides models. */
static const coll_model *const machines[] = {
    &coll_shm_model,        &coll_nic_model,          &coll_noise_model,
    &coll_traffic_model,    &coll_mesh_topology,      &coll_torus_topology,
    &coll_fattree_topology, &coll_dragonfly_topology, &coll_nodes_topology};
enum { MACHINES = sizeof machines / sizeof machines[0] };

static void print_rows(const coll_model *model)
{
    for (size_t i = 0; i < model->n_parameters; i++) {
        const coll_parameter *row = &model->parameters[i];
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", row->name, row->unit[0] ? ", " : "", row->unit);
        printf("  %-18s %s", left, row->meaning);
        if (row->type != COLL_PARAMETER_WORD && row->default_value >= row->least &&
            row->default_value < 1e18)
            printf("; %g if it is not given", row->default_value);
        printf("\n");
    }
}

static void print_models(void)
{
    for (size_t i = 0; i < SUBJECTS; i++)
        printf("%-9s  %s\n           %s\n", subjects[i].model->name, subjects[i].model->summary,
               subjects[i].model->source);
    printf("\nWithout formulas, for coll sim\n");
    for (size_t i = 0; i < MACHINES; i++)
        printf("%-9s  %s\n           %s\n", machines[i]->name, machines[i]->summary,
               machines[i]->source);
}

static void print_machine(const coll_model *model)
{
    printf("%s — %s\n%s\n\nThe machine\n", model->name, model->summary, model->source);
    print_rows(model);
    if (model->n_presets)
        printf("\nPresets\n");
    for (size_t i = 0; i < model->n_presets; i++)
        printf("  %-18s %s\n", model->presets[i].name, model->presets[i].meaning);
}

static void print_model(const struct subject *s)
{
    const coll_model *model = s->model;
    print_machine(model);
    printf("\nThe question\n");
    print_rows(s->arguments);
    printf("\nFormulas\n");
    for (size_t i = 0; i < s->n_formulas; i++)
        printf("  %-30s %-12s %s\n", s->formulas[i].name, s->formulas[i].unit,
               s->formulas[i].source);
}

/* The models that the file of a machine has values of. */
static void print_file(const char *path)
{
    coll_machine_file *machine = memory_of(1, sizeof *machine);
    coll_sentence why;
    if (!coll_machine_file_load(machine, path, &why))
        refuse("%s", why.text);
    printf("%s: %.0f rank%s over %s, %u measured values\n\n", path, machine->origin.ranks,
           machine->origin.ranks > 1 ? "s" : "", machine->origin.transport, machine->n);
    for (size_t i = 1; i < COLL_MACHINE_MODELS; i++) {
        char text[COLL_MACHINE_WORDS];
        if (!machine->given[i])
            continue;
        if (!coll_i_machine_model(machine, coll_i_machine_parts[i].model->name, path, "", text,
                                  sizeof text, &why))
            refuse("%s", why.text);
        printf("%s\n", text);
    }
    if (machine->plogp.n > 0)
        printf("plogp:table=%s\n", path);
    free(machine);
}

/* ---- answers ----------------------------------------------------------------------------- */

static bool applies(const struct formula *formula, const struct request *r, double *value)
{
    *value = formula->value(r->costs, &r->question);
    return isfinite(*value);
}

static void print_answers(const struct request *r)
{
    char text[600];
    coll_parameters_text(r->subject->model, &r->words, text, sizeof text);
    printf("%s\n", text);
    coll_parameters_text(r->subject->arguments, &r->question, text, sizeof text);
    printf("%s\n\n", text);
    for (size_t i = 0; i < r->subject->n_formulas; i++) {
        const struct formula *formula = &r->subject->formulas[i];
        double value;
        if (!applies(formula, r, &value))
            printf("%-30s %12s %-12s %s\n", formula->name, "-", formula->unit, formula->source);
        else if (formula->names)
            printf("%-30s %12s %-12s %s\n", formula->name, formula->names[(size_t)value], "",
                   formula->source);
        else
            printf("%-30s %12.7g %-12s %s\n", formula->name, value, formula->unit,
                   formula->source);
    }
}

static void print_json_rows(const coll_model *model, const void *values)
{
    for (size_t i = 0; i < model->n_parameters; i++) {
        const coll_parameter *row = &model->parameters[i];
        const char *at = (const char *)values + row->offset;
        printf("%s", i ? ", " : "");
        json_string(row->name);
        printf(": ");
        if (row->type == COLL_PARAMETER_WORD)
            json_string(at);
        else
            printf("%.17g", *(const double *)(const void *)at);
    }
}

static void print_json(const struct request *r)
{
    printf("{\"model\": ");
    json_string(r->subject->model->name);
    printf(", \"machine\": {");
    print_json_rows(r->subject->model, &r->words);
    printf("}, \"question\": {");
    print_json_rows(r->subject->arguments, &r->question);
    printf("}, \"answers\": [");
    for (size_t i = 0; i < r->subject->n_formulas; i++) {
        const struct formula *formula = &r->subject->formulas[i];
        double value;
        printf("%s\n  {\"formula\": ", i ? "," : "");
        json_string(formula->name);
        printf(", \"value\": ");
        if (!applies(formula, r, &value))
            printf("null");
        else if (formula->names)
            json_string(formula->names[(size_t)value]);
        else
            printf("%.17g", value);
        printf(", \"unit\": ");
        json_string(formula->unit);
        printf(", \"source\": ");
        json_string(formula->source);
        printf("}");
    }
    printf("\n]}\n");
}

int model_main(int argc, char **argv)
{
    const char *name = NULL;
    struct option_words items = {.n = 0};
    bool json = false;
    const struct option options[] = {
        OPTIONAL(
            "MODEL",
            "which one, and perhaps its machine, as in nbl:delta; @FILE: what coll calibrate "
            "wrote; without it, all",
            &name),
        MORE("KEY=VALUE", "of the machine or the question; without any, what the model is",
             &items),
        FLAG("json", "print the answers as an object in JSON", &json),
    };
    const struct command model = {
        "model", "evaluate the formulas that tell what a collective costs",
        "A machine is a preset, or its values: coll model MODEL lists them. Numbers may have "
        "a\n"
        "unit behind them, 54us or 0.25ns/byte, and whole ones end with k, M or G.",
        options, sizeof options / sizeof options[0]};
    options_read(&model, argc, argv);
    if (!name) {
        if (json)
            refuse("--json prints the answers of one model; coll model lists the models");
        print_models();
    } else if (name[0] == '@' && items.n == 0) {
        if (json)
            refuse("--json prints answers, so it needs a question; coll model %.60s tells what "
                   "the "
                   "file has",
                   name);
        print_file(name + 1);
    } else if (items.n == 0 && !strchr(name, ':')) {
        if (json)
            refuse(
                "--json prints answers, so it needs a question; coll model %.60s explains it",
                name);
        size_t i = 0;
        while (i < MACHINES && strcmp(machines[i]->name, name) != 0)
            i++;
        if (i < MACHINES)
            print_machine(machines[i]);
        else
            print_model(subject_named(name));
    } else {
        struct request r;
        request_read(&r, model_words(name), &items, false);
        if (json)
            print_json(&r);
        else
            print_answers(&r);
    }
    return 0;
}
