/* coll/lab/model/machine_words.h — what the file of a machine says, where a model stands in words
 *
 *   char words[COLL_MACHINE_WORDS];
 *   if (!coll_machine_words("loggp:@here.machine,c=0", words, sizeof words, &why))
 *       puts(why.text);
 *   // loggp:L=310,o=90,g=120,G=0.06,O=0,S=1e+18,c=0
 *
 * @FILE alone is plogp:table=FILE. What stands behind MODEL:@FILE takes the place of the file's value,
 * as it does behind a preset.
 */
#ifndef COLL_LAB_MODEL_MACHINE_WORDS_H
#define COLL_LAB_MODEL_MACHINE_WORDS_H

#include "machine_file.h"

enum { COLL_MACHINE_WORDS = 2048 };

/* Does an item of `rest`, ,KEY=VALUE,…, have this key? */
COLL_INLINE bool coll_i_machine_given(const char *rest, const char *key)
{
    const size_t length = strlen(key);
    for (; *rest == ','; rest += strcspn(rest, ",")) {
        rest++;
        if (strncmp(rest, key, length) == 0 && rest[length] == '=')
            return true;
    }
    return false;
}

/* The file's values of a model, but for those in `rest`. */
COLL_INLINE bool coll_i_machine_model(coll_machine_file *m, const char *name, const char *path,
                                      const char *rest, char *words, size_t bytes,
                                      coll_sentence *why)
{
    const char *names[COLL_MACHINE_MODELS];
    const coll_model *model;
    size_t part, n;
    bool first = true;
    for (part = 1; part < COLL_MACHINE_MODELS; part++) /* 0 is no model, but where it is from */
        names[part - 1] = coll_i_machine_parts[part].model->name;
    part = coll_name_index("model", name, names, COLL_MACHINE_MODELS - 1, why);
    if (part++ == COLL_NO_NAME)
        return false;
    model = coll_i_machine_parts[part].model;
    if (!m->given[part])
        return coll_refuse(why, "%.200s says nothing of %s", path, name);
    n = (size_t)snprintf(words, bytes, "%s", name);
    for (size_t i = 0; i < model->n_parameters && n < bytes; i++) {
        const coll_parameter *row = &model->parameters[i];
        const char *at = (const char *)coll_i_machine_costs(m, part) + row->offset;
        double number;
        if (!(m->given[part] >> i & 1) || coll_i_machine_given(rest, row->name))
            continue;
        n += (size_t)snprintf(words + n, bytes - n, "%s%s=", first ? ":" : ",", row->name);
        first = false;
        if (n >= bytes)
            break;
        memcpy(&number, at, sizeof number);
        n += row->type == COLL_PARAMETER_WORD ? (size_t)snprintf(words + n, bytes - n, "%s", at)
                                              : (size_t)snprintf(words + n, bytes - n, "%.*g",
                                                                 coll_i_digits(number), number);
    }
    if (n < bytes && rest[0])
        n += (size_t)snprintf(words + n, bytes - n, "%s%s", first ? ":" : ",", rest + 1);
    return n < bytes || coll_refuse(why, "\"%.60s…\" is too long for a model", words);
}

/* Writes the text of a model with what the file says, if it has @FILE in front of its items, else the
 * same text; false, and a sentence, if that is not possible: there is no such file, it is none of a
 * machine, or has no such model. */
COLL_INLINE bool coll_machine_words(const char *text, char *words, size_t bytes,
                                    coll_sentence *why)
{
    const char *colon = text[0] == '@' ? text : strchr(text, ':'), *at, *rest;
    char path[COLL_PARAMETER_BYTES], name[64];
    coll_machine_file *m;
    bool good;
    at = text[0] == '@' ? text : colon ? colon + 1 : "";
    if (at[0] != '@')
        return (size_t)snprintf(words, bytes, "%s", text) < bytes ||
               coll_refuse(why, "\"%.60s…\" is too long for a model", text);
    rest = at + strcspn(at, ",");
    if ((size_t)(rest - at) >= sizeof path || rest - at < 2)
        return coll_refuse(why,
                           "@ needs the name of a machine's file behind it, of up to %d bytes",
                           COLL_PARAMETER_BYTES - 2);
    memcpy(path, at + 1, (size_t)(rest - at) - 1);
    path[rest - at - 1] = '\0';
    snprintf(name, sizeof name, "%.*s", colon - text < 63 ? (int)(colon - text) : 63, text);
    m = (coll_machine_file *)malloc(sizeof *m);
    if (!m)
        return coll_refuse(why, "there is not enough memory for %.200s", path);
    good = coll_machine_file_load(m, path, why);
    if (good && (text[0] == '@' || coll_name_is(name, coll_plogp_model.name)))
        good = m->plogp.n == 0
                   ? coll_refuse(why, "%.200s says nothing of plogp", path)
                   : (size_t)snprintf(words, bytes, "plogp:table=%s%s", path, rest) < bytes;
    else if (good)
        good = coll_i_machine_model(m, name, path, rest, words, bytes, why);
    free(m);
    return good;
}

#endif /* COLL_LAB_MODEL_MACHINE_WORDS_H */
