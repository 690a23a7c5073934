/* tools/request.c — reads what formulas.h is asked */
#include <stdio.h>
#include <string.h>

#include "formulas.h"

const struct subject *subject_named(const char *word)
{
    const coll_model *models[SUBJECTS], *model;
    coll_sentence why;
    size_t i = 0;
    for (size_t k = 0; k < SUBJECTS; k++)
        models[k] = subjects[k].model;
    model = coll_model_of("model", models, SUBJECTS, word, &why);
    if (!model)
        refuse("%s", why.text);
    while (subjects[i].model != model)
        i++;
    return &subjects[i];
}

const char *model_words(const char *text)
{
    static char words[COLL_MACHINE_WORDS];
    coll_sentence why;
    if (!coll_machine_words(text, words, sizeof words, &why))
        refuse("%s", why.text);
    return words;
}

/* Neither the machine nor the question has this key. */
static _Noreturn void refuse_key(const struct subject *s, const char *key)
{
    const coll_model *const both[] = {s->model, s->arguments};
    const char *names[2 * COLL_PARAMETER_MAX + 16], *near;
    char list[400];
    size_t n = 0;
    for (size_t i = 0; i < s->model->n_presets; i++)
        names[n++] = s->model->presets[i].name;
    for (size_t b = 0; b < 2; b++)
        for (size_t i = 0; i < both[b]->n_parameters; i++)
            names[n++] = both[b]->parameters[i].name;
    near = coll_name_nearest(key, names, n);
    if (near)
        refuse("%s has no \"%.60s\"; did you mean \"%s\"?", s->model->name, key, near);
    coll_names_list(names, n, list, sizeof list);
    refuse("%s has no \"%.60s\"; it has %s", s->model->name, key, list);
}

/* An item is of the question if the question has its key, else of the machine. */
static void take(struct request *r, const char *item, uint32_t *machine)
{
    const char *equals = strchr(item, '=');
    coll_sentence why;
    char key[64];
    bool good;
    snprintf(key, sizeof key, "%.*s", equals && equals - item < 64 ? (int)(equals - item) : 0,
             item);
    if (equals && !coll_parameter_named(r->subject->arguments, key) &&
        !coll_parameter_named(r->subject->model, key))
        refuse_key(r->subject, key);
    good =
        coll_parameter_named(r->subject->arguments, key)
            ? coll_parameters_item(r->subject->arguments, item, &r->question, &r->given, &why)
            : coll_parameters_item(r->subject->model, item, &r->words, machine, &why);
    if (!good)
        refuse("%s", why.text);
}

void request_read(struct request *r, const char *text, const struct option_words *words,
                  bool partly)
{
    const char *at = strchr(text, ':');
    coll_sentence why;
    uint32_t machine;
    r->subject = subject_named(text);
    coll_parameters_begin(r->subject->model, &r->words, &machine);
    coll_parameters_begin(r->subject->arguments, &r->question, &r->given);
    while (at) {
        char item[2 * COLL_PARAMETER_BYTES];
        const size_t length = strcspn(++at, ",");
        if (length >= sizeof item)
            refuse("\"%.60s…\" is too long for a parameter of %s", at, r->subject->model->name);
        memcpy(item, at, length);
        item[length] = '\0';
        take(r, item, &machine);
        at = at[length] ? at + length : NULL;
    }
    for (size_t i = 0; i < words->n; i++)
        take(r, words->word[i], &machine);
    if (!coll_parameters_end(r->subject->model, machine, &why) ||
        (!partly && !coll_parameters_end(r->subject->arguments, r->given, &why)))
        refuse("%s", why.text);
    if (!partly && r->subject->wrong && r->subject->wrong(&r->question))
        refuse("%s", r->subject->wrong(&r->question));
    r->costs = &r->words;
    if (strcmp(r->subject->model->name, coll_plogp_model.name) == 0) {
        if (!coll_plogp_load(&r->plogp, &r->words.plogp_words, &why))
            refuse("%s", why.text);
        r->costs = &r->plogp;
    }
}
