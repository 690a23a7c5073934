/* coll/lab/model/parameters.h — the parameters of a model in words:
 * `nbl:alpha=54us,beta=1.54,c2=0.25`
 *
 * Every model says in a table what it wants to know of a machine (coll_model: hockney.h, loggp.h,
 * littlefield.h …). The values go into a structure of doubles, in the unit that the table names.
 *
 *   coll_nbl_costs costs;
 *   coll_sentence why;
 *   if (!coll_parameters_read(&coll_nbl_model, "nbl:detla,f4=3.7", &costs, &why))
 *       puts(why.text);    // nbl has no preset or parameter "detla"; did you mean "delta"?
 *
 * Where the user chooses the model too, coll_model_of finds it by the word before the colon:
 *
 *   const coll_model *const models[] = {&coll_loggp_model, &coll_nbl_model};
 *   const coll_model *model = coll_model_of("model", models, 2, text, &why);
 *
 * A word is NAME, or NAME:ITEM,ITEM…; the first item may be a preset, which sets all values; the
 * others are KEY=VALUE and change one each. Numbers are decimal, may have the unit behind them or
 * another one of the same kind (54us, 54000ns; 1.54us/element), and whole numbers may end with k,
 * M or G, powers of 1024. A parameter that is absent and has no default value, one that is given
 * twice, negative or otherwise out of its range, and one that is unknown are refused with one
 * sentence.
 *
 * Hosted: needs stdio, stdlib and string.
 */
#ifndef COLL_LAB_MODEL_PARAMETERS_H
#define COLL_LAB_MODEL_PARAMETERS_H

#include "../../select/names.h"

#include <stdlib.h>

enum {
    COLL_PARAMETER_MAX = 31,   /* parameters of a model, at most */
    COLL_PARAMETER_BYTES = 256 /* of a parameter that is a word, with its end */
};

/* What a parameter is, in the structure. */
typedef enum coll_parameter_type {
    COLL_PARAMETER_NUMBER, /* a double */
    COLL_PARAMETER_WHOLE,  /* a double whose value is a whole number */
    COLL_PARAMETER_WORD    /* char[COLL_PARAMETER_BYTES]: the name of a file, say */
} coll_parameter_type;

/* A parameter of a model: what it is called, and where it lies. */
typedef struct coll_parameter {
    const char *name;
    const char *unit; /* of what is stored: "us", "ns/byte"; "" if it has none */
    coll_parameter_type type;
    size_t offset;                     /* in the structure */
    double least, most, default_value; /* usual < least: it must be given */
    const char *meaning;
} coll_parameter;

/* The default value of what must be given. */
#define COLL_PARAMETER_NEEDED (-1.0)
/* The most of what has no limit. */
#define COLL_PARAMETER_ANY 1e300

/* A machine that the source of the model measured. */
typedef struct coll_preset {
    const char *name;
    const void *costs; /* the whole structure */
    const char *meaning;
} coll_preset;

/* What a model wants to know. */
typedef struct coll_model {
    const char *name, *summary, *source;
    size_t bytes;                     /* of the structure */
    const coll_parameter *parameters; /* its parameters */
    size_t n_parameters;
    const coll_preset *presets; /* machines that were measured */
    size_t n_presets;
} coll_model;

/* ---- units ------------------------------------------------------------------------------- */

/* How many of its base, picoseconds or bytes, a unit of `length` bytes is; 0: it is none that is
 * known. */
COLL_INLINE double coll_i_unit_factor(const char *unit, size_t length, const char **base)
{
    static const struct coll_i_unit {
        const char *name, *base;
        double factor;
    } units[] = {{"ps", "ps", 1},    {"ns", "ps", 1e3},    {"us", "ps", 1e6}, {"µs", "ps", 1e6},
                 {"ms", "ps", 1e9},  {"s", "ps", 1e12},    {"B", "B", 1},     {"byte", "B", 1},
                 {"bytes", "B", 1},  {"kB", "B", 1e3},     {"MB", "B", 1e6},  {"GB", "B", 1e9},
                 {"KiB", "B", 1024}, {"MiB", "B", 1048576}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i].name) == length && memcmp(units[i].name, unit, length) == 0) {
            *base = units[i].base;
            return units[i].factor;
        }
    return 0;
}

/* Turns a number with this unit behind it, or none, into one with the unit `wanted`; false: they are
 * of different kinds. What is behind a slash must be the same. */
COLL_INLINE bool coll_i_unit_convert(const char *unit, const char *wanted, double *value)
{
    const char *of = "", *to = "";
    const size_t head = strcspn(unit, "/"), per = strcspn(wanted, "/");
    double from, into;
    if (unit[0] == '\0' || strcmp(unit, wanted) == 0)
        return true;
    from = coll_i_unit_factor(unit, head, &of);
    into = coll_i_unit_factor(wanted, per, &to);
    if (!(from > 0 && into > 0) || strcmp(of, to) != 0 ||
        strcmp(unit + head, wanted + per) != 0)
        return false;
    *value = *value * from / into;
    return true;
}

/* ---- files ------------------------------------------------------------------------------- */

/* The text of a file, a `what`, of less than `most` bytes: the caller's, to be freed. NULL, and a
 * sentence: it cannot be read, is too long, or is no text. */
COLL_INLINE char *coll_text_load(const char *what, const char *path, size_t most,
                                 coll_sentence *why)
{
    FILE *file = fopen(path, "r");
    char *text = file ? (char *)malloc(most) : NULL;
    const size_t n = text ? fread(text, 1, most - 1, file) : 0;
    const bool good = text && !ferror(file); /* a folder can be opened */
    if (file)
        fclose(file);
    if (good)
        text[n] = '\0';
    if (!good)
        (void)coll_refuse(why, "the %s %.200s cannot be read", what, path);
    else if (n == most - 1)
        (void)coll_refuse(why, "the %s %.200s is longer than %u KB", what, path,
                          (unsigned)(most / 1024));
    else if (strlen(text) != n)
        (void)coll_refuse(why, "the %s %.200s is no text", what, path);
    else
        return text;
    free(text);
    return NULL;
}

/* ---- values ------------------------------------------------------------------------------ */

COLL_INLINE double *coll_i_parameter_at(const coll_parameter *row, void *costs)
{
    return (double *)(void *)((char *)costs + row->offset);
}

/* "a number of us from 0 on", "a whole number from 1 to 64". */
COLL_INLINE void coll_i_parameter_range(const coll_parameter *row, char *text, size_t bytes)
{
    int n = snprintf(text, bytes, "a %snumber%s%s from %.12g ",
                     row->type == COLL_PARAMETER_WHOLE ? "whole " : "",
                     row->unit[0] ? " of " : "", row->unit, row->least);
    if (n > 0 && (size_t)n < bytes) {
        if (row->most < COLL_PARAMETER_ANY)
            snprintf(text + n, bytes - (size_t)n, "to %.12g", row->most);
        else
            snprintf(text + n, bytes - (size_t)n, "on");
    }
}

/* Reads a number with its unit, of the parameter's range; false: it is none. */
COLL_INLINE bool coll_i_parameter_number(const coll_parameter *row, const char *text,
                                         double *value)
{
    const size_t zeros = strspn(text, "0");
    uint64_t whole;
    char *unit;
    if (row->type == COLL_PARAMETER_WHOLE && coll_number_read(text, &whole)) {
        *value = (double)whole;
    } else {
        if (strspn(text, "0123456789.") == 0 || text[zeros] == 'x' || text[zeros] == 'X')
            return false; /* signs, spaces, names of infinities; strtod knows hexadecimal too */
        *value = strtod(text, &unit);
        if (unit == text || !coll_i_unit_convert(unit, row->unit, value) ||
            !(*value < COLL_PARAMETER_ANY) ||
            (row->type == COLL_PARAMETER_WHOLE &&
             !(*value < 1.8e19 && *value - (double)(uint64_t)*value <= 0)))
            return false;
    }
    return *value >= row->least && *value <= row->most;
}

/* ---- items ------------------------------------------------------------------------------- */

/* Sets the structure to the default values; *given: nothing yet. */
COLL_INLINE void coll_parameters_begin(const coll_model *model, void *costs, uint32_t *given)
{
    memset(costs, 0, model->bytes);
    for (size_t i = 0; i < model->n_parameters; i++)
        if (model->parameters[i].type != COLL_PARAMETER_WORD)
            *coll_i_parameter_at(&model->parameters[i], costs) =
                model->parameters[i].default_value;
    *given = 0;
}

/* The parameter of this name, or NULL. */
COLL_INLINE const coll_parameter *coll_parameter_named(const coll_model *model,
                                                       const char *name)
{
    for (size_t i = 0; i < model->n_parameters; i++)
        if (strcmp(model->parameters[i].name, name) == 0)
            return &model->parameters[i];
    return NULL;
}

/* A sentence on a key that the model does not have. */
COLL_INLINE bool coll_i_parameter_unknown(const coll_model *model, const char *key,
                                          coll_sentence *why)
{
    const char *names[COLL_PARAMETER_MAX + 16], *near;
    const char *what = model->n_presets ? "preset or parameter" : "parameter";
    char list[300];
    size_t n = 0;
    for (size_t i = 0; i < model->n_presets && i < 16; i++)
        names[n++] = model->presets[i].name;
    for (size_t i = 0; i < model->n_parameters; i++)
        names[n++] = model->parameters[i].name;
    near = coll_name_nearest(key, names, n);
    if (near)
        return coll_refuse(why, "%s has no %s \"%.60s\"; did you mean \"%s\"?", model->name,
                           what, key, near);
    coll_names_list(names, n, list, sizeof list);
    return coll_refuse(why, "%s has no %s \"%.60s\"; it has %s", model->name, what, key, list);
}

/* Takes a preset, which must come first. */
COLL_INLINE bool coll_i_parameter_preset(const coll_model *model, const char *name, void *costs,
                                         uint32_t *given, coll_sentence *why)
{
    size_t i = 0;
    while (i < model->n_presets && !coll_name_is(name, model->presets[i].name))
        i++;
    if (i == model->n_presets) {
        if (coll_parameter_named(model, name))
            return coll_refuse(why, "%s of %s needs a value: %s=…", name, model->name, name);
        return coll_i_parameter_unknown(model, name, why);
    }
    if (*given)
        return coll_refuse(why, "the preset %s of %s comes before everything else",
                           model->presets[i].name, model->name);
    memcpy(costs, model->presets[i].costs, model->bytes);
    *given = (uint32_t)1 << COLL_PARAMETER_MAX; /* nothing is absent */
    return true;
}

/* Takes one item, KEY=VALUE or the name of a preset. */
COLL_INLINE bool coll_parameters_item(const coll_model *model, const char *item, void *costs,
                                      uint32_t *given, coll_sentence *why)
{
    const char *equals = strchr(item, '=');
    const size_t length = equals ? (size_t)(equals - item) : 0;
    const coll_parameter *row;
    char key[COLL_PARAMETER_BYTES], range[120];
    uint32_t bit;
    if (!equals)
        return coll_i_parameter_preset(model, item, costs, given, why);
    snprintf(key, sizeof key, "%.*s", length < sizeof key ? (int)length : (int)sizeof key - 1,
             item);
    row = coll_parameter_named(model, key);
    if (!row)
        return coll_i_parameter_unknown(model, key, why);
    bit = (uint32_t)1 << (row - model->parameters);
    if (*given & bit)
        return coll_refuse(why, "%s of %s is given twice", key, model->name);
    *given |= bit;
    if (row->type == COLL_PARAMETER_WORD) {
        const size_t bytes = strlen(equals + 1);
        if (bytes > 0 && bytes < COLL_PARAMETER_BYTES) {
            memcpy((char *)costs + row->offset, equals + 1, bytes + 1);
            return true;
        }
        snprintf(range, sizeof range, "a word of up to %d bytes", COLL_PARAMETER_BYTES - 1);
    } else {
        double number;
        if (coll_i_parameter_number(row, equals + 1, &number)) {
            *coll_i_parameter_at(row, costs) = number;
            return true;
        }
        coll_i_parameter_range(row, range, sizeof range);
    }
    return coll_refuse(why, "%s of %s is %s, not \"%.60s\"", key, model->name, range,
                       equals + 1);
}

/* After the last item: is anything absent? */
COLL_INLINE bool coll_parameters_end(const coll_model *model, uint32_t given,
                                     coll_sentence *why)
{
    for (size_t i = 0; i < model->n_parameters && !(given >> COLL_PARAMETER_MAX); i++) {
        const coll_parameter *row = &model->parameters[i];
        if (!(given >> i & 1) && row->default_value < row->least)
            return coll_refuse(why, "%s of %s is missing: %s=… is %s%s%s", row->name,
                               model->name, row->name, row->meaning,
                               row->unit[0] ? ", in " : "", row->unit);
    }
    return true;
}

/* ---- whole words ------------------------------------------------------------------------- */

/* Reads NAME or NAME:ITEM,ITEM… into the structure of model->bytes; the name is not looked at.
 * Returns false, and a sentence, if something is wrong. */
COLL_INLINE bool coll_parameters_read(const coll_model *model, const char *text, void *costs,
                                      coll_sentence *why)
{
    const char *at = strchr(text, ':');
    uint32_t given;
    coll_parameters_begin(model, costs, &given);
    while (at) {
        char item[2 * COLL_PARAMETER_BYTES];
        const size_t length = strcspn(++at, ",");
        if (length >= sizeof item)
            return coll_refuse(why, "\"%.60s…\" is too long for a parameter of %s", at,
                               model->name);
        memcpy(item, at, length);
        item[length] = '\0';
        if (!coll_parameters_item(model, item, costs, &given, why))
            return false;
        at = at[length] ? at + length : NULL;
    }
    return coll_parameters_end(model, given, why);
}

/* The row that the word up to its colon names; NULL, and a sentence, if there is no such `what`, a
 * model, say. At most 16 rows. */
COLL_INLINE const coll_model *coll_model_of(const char *what, const coll_model *const *models,
                                            size_t n, const char *text, coll_sentence *why)
{
    const char *names[16];
    char word[64];
    const size_t length = strcspn(text, ":");
    size_t i;
    snprintf(word, sizeof word, "%.*s", length < 63 ? (int)length : 63, text);
    for (i = 0; i < n && i < 16; i++)
        names[i] = models[i]->name;
    i = coll_name_index(what, word, names, i, why);
    return i == COLL_NO_NAME ? NULL : models[i];
}

/* Digits that a number needs to be read back as what it is. */
COLL_INLINE int coll_i_digits(double number)
{
    char text[40];
    int digits = 6;
    for (; digits < 17; digits++) {
        double back;
        snprintf(text, sizeof text, "%.*g", digits, number);
        back = strtod(text, NULL);
        if (back <= number && back >= number)
            break;
    }
    return digits;
}

/* Writes NAME:KEY=VALUE,… with all values but empty words, which coll_parameters_read reads back.
 * Returns the bytes that it needs, without the end. */
COLL_INLINE size_t coll_parameters_text(const coll_model *model, const void *costs, char *text,
                                        size_t bytes)
{
    size_t n = (size_t)snprintf(text, bytes, "%s", model->name);
    for (size_t i = 0; i < model->n_parameters; i++) {
        const coll_parameter *row = &model->parameters[i];
        const char *at = (const char *)costs + row->offset;
        const size_t room = n < bytes ? bytes - n : 0;
        char *to = room ? text + n : NULL;
        double number;
        if (row->type == COLL_PARAMETER_WORD && !*at) {
            continue;
        } else if (row->type == COLL_PARAMETER_WORD) {
            n += (size_t)snprintf(to, room, "%s%s=%s", i ? "," : ":", row->name, at);
        } else {
            memcpy(&number, at, sizeof number);
            n += (size_t)snprintf(to, room, "%s%s=%.*g", i ? "," : ":", row->name,
                                  coll_i_digits(number), number);
        }
    }
    return n;
}

#endif /* COLL_LAB_MODEL_PARAMETERS_H */
