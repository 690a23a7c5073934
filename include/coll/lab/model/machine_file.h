/* coll/lab/model/machine_file.h — the file of a machine: what was measured, and the models' parameters
 * that follow from it
 *
 *   coll_machine_file *machine = …;                    // large: not on a stack
 *   if (!coll_machine_file_load(machine, "here.machine", &why))
 *       puts(why.text);                                // here.machine, line 7: …
 *   coll_machine_file_write(machine, stdout);          // the same text again
 *
 * `coll calibrate` writes it (lab/tune.h), and whatever takes a model in words takes @FILE:
 *
 *   @here.machine             its table of overheads and gaps: plogp:table=here.machine
 *   loggp:@here.machine,c=0   its parameters of LogGP, but for c
 *
 * It is text, a value a line; # begins a comment, and blanks separate words:
 *
 *   coll-machine 1                         the first line: what it is, and its version
 *   machine.transport threads              how and where it was measured; see below
 *   loggp.L 0.31us                         MODEL.PARAMETER VALUE, with the units of coll model
 *   plogp.L 0.1                            a table, as plogp.h has it: us
 *   plogp.row 1024 0.2 0.1 0.4 0 0.06 0.03
 *   measured roundtrip 1024 620ns 610ns 640ns 40 2
 *
 * that is: a quantity, where it was measured (bytes, ranks …), its median, the ends of the median's
 * interval of confidence, how many values there were, and how many of them were outliers. A quantity
 * may have a variant behind a dot: copy.2, combine.sum_f64.
 *
 * Source of the models: their headers. Hosted: stdio, stdlib and string.
 */
#ifndef COLL_LAB_MODEL_MACHINE_FILE_H
#define COLL_LAB_MODEL_MACHINE_FILE_H

#include "dpml_model.h"
#include "kumar.h"
#include "littlefield.h"
#include "loggp.h"
#include "moody.h"
#include "noise_model.h"
#include "plogp.h"
#include "shm_model.h"

/* A median that was measured, and the interval that holds it in 95 of 100 cases. */
typedef struct coll_estimate {
    double median;        /* in the quantity's unit */
    double low, high;     /* the ends of the interval */
    uint32_t n, outliers; /* values, and those of them that are far from the others */
} coll_estimate;

/* What is measured. */
typedef enum coll_quantity {
    COLL_MEASURED_ROUNDTRIP,
    COLL_MEASURED_OS,
    COLL_MEASURED_OR,
    COLL_MEASURED_GAP,
    COLL_MEASURED_LINKS,
    COLL_MEASURED_PAIRS,
    COLL_MEASURED_DISTANCE,
    COLL_MEASURED_SERIAL,
    COLL_MEASURED_COPY,
    COLL_MEASURED_COMBINE,
    COLL_MEASURED_BARRIER,
    COLL_MEASURED_NOISE,
    COLL_MEASURED_CLOCK,
    COLL_QUANTITIES
} coll_quantity;

enum { COLL_VARIANT_BYTES = 24, COLL_MEASURED_MOST = 1024, COLL_MACHINE_MODELS = 9 };

/* A quantity's name in the file, and what it is. */
typedef struct coll_quantity_row {
    const char *name, *at, *unit; /* units: of where, and of the value */
    const char *meaning;
} coll_quantity_row;

/* All quantities, in the order of coll_quantity. */
COLL_TABLE(coll_quantity_row, coll_quantity_rows, {
    {"roundtrip", "bytes", "ns", "there, and an empty message back"},
    {"os", "bytes", "ns", "the call that sends"},
    {"or", "bytes", "ns", "receiving a message that is there"},
    {"gap", "bytes", "ns", "between messages to one rank, many in a row"},
    {"links", "", "ns", "so many links of a rank at once, a message on each"},
    {"pairs", "", "ns", "so many pairs of ranks at once, a message each"},
    {"distance", "", "ns", "all ranks send a message to the one so far away"},
    {"serial", "", "ns", "a rank receives so many messages, one after the other"},
    {"copy", "bytes", "ns", "a copy by each of so many ranks at once"},
    {"combine", "bytes", "ns", "combining two vectors"},
    {"barrier", "", "ns", "a barrier of so many ranks, of empty messages"},
    {"noise", "", "", "what interrupts the processor of a rank"},
    {"clock", "", "", "a rank's clock beside that of rank 0"}});

/* A value that was measured. */
typedef struct coll_measured {
    coll_quantity quantity;           /* what */
    char variant[COLL_VARIANT_BYTES]; /* "": there is none */
    double at;                        /* where: bytes, ranks … */
    coll_estimate is;                 /* the value */
} coll_measured;

/* How and where a machine was measured. */
typedef struct coll_machine_origin {
    char transport[COLL_PARAMETER_BYTES], data[COLL_PARAMETER_BYTES];
    double ranks, processors;
    double seconds; /* how long it took */
} coll_machine_origin;

COLL_TABLE(coll_parameter, coll_i_origin_parameters, {
    {"transport", "", COLL_PARAMETER_WORD, offsetof(coll_machine_origin, transport), 0, 0,
     COLL_PARAMETER_NEEDED, "what carried the messages"},
    {"data", "", COLL_PARAMETER_WORD, offsetof(coll_machine_origin, data), 0, 0,
     COLL_PARAMETER_NEEDED, "written, kept or purged: their state before each repetition"},
    {"ranks", "", COLL_PARAMETER_WHOLE, offsetof(coll_machine_origin, ranks), 1, 4294967295.0,
     COLL_PARAMETER_NEEDED, "how many ranks there were"},
    {"processors", "", COLL_PARAMETER_WHOLE, offsetof(coll_machine_origin, processors), 0,
     4294967295.0, 0, "how many processors rank 0 may run on; 0: not known"},
    {"seconds", "s", COLL_PARAMETER_NUMBER, offsetof(coll_machine_origin, seconds), 0,
     COLL_PARAMETER_ANY, 0, "how long it took"}});

COLL_CONST(coll_model, coll_machine_origin_model, {
    "machine",
    "how and where a machine was measured",
    "",
    sizeof(coll_machine_origin),
    coll_i_origin_parameters,
    sizeof coll_i_origin_parameters / sizeof coll_i_origin_parameters[0],
    NULL,
    0});

/* A machine: all that its file says. */
typedef struct coll_machine_file {
    coll_machine_origin origin;                 /* how and where it was measured */
    coll_hockney_costs hockney;                 /* of each model, where `given` is not 0 … */
    coll_loggp_costs loggp;                     /* … */
    coll_nbl_costs nbl;                         /* … */
    coll_moody_costs moody;                     /* … */
    coll_dpml_costs dpml;                       /* … */
    coll_kumar_costs kumar;                     /* … */
    coll_shm_costs shm;                         /* … */
    coll_noise_words noise;                     /* … */
    uint32_t given[COLL_MACHINE_MODELS];        /* of each, a bit a parameter */
    coll_plogp_costs plogp;                     /* of no rows: there is none */
    uint32_t n;                                 /* of what was measured */
    coll_measured measured[COLL_MEASURED_MOST]; /* all of it */
} coll_machine_file;

/* A model of the file, and where its values are. */
typedef struct coll_i_machine_part {
    const coll_model *model;
    size_t offset;
} coll_i_machine_part;

COLL_TABLE(coll_i_machine_part, coll_i_machine_parts, {
    {&coll_machine_origin_model, offsetof(coll_machine_file, origin)},
    {&coll_hockney_model, offsetof(coll_machine_file, hockney)},
    {&coll_loggp_model, offsetof(coll_machine_file, loggp)},
    {&coll_nbl_model, offsetof(coll_machine_file, nbl)},
    {&coll_moody_model, offsetof(coll_machine_file, moody)},
    {&coll_dpml_model, offsetof(coll_machine_file, dpml)},
    {&coll_kumar_model, offsetof(coll_machine_file, kumar)},
    {&coll_shm_model, offsetof(coll_machine_file, shm)},
    {&coll_noise_model, offsetof(coll_machine_file, noise)}});

COLL_INLINE void *coll_i_machine_costs(coll_machine_file *m, size_t part)
{
    return (char *)m + coll_i_machine_parts[part].offset;
}

/* A machine of which nothing is known. */
COLL_INLINE void coll_machine_file_clear(coll_machine_file *m)
{
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < COLL_MACHINE_MODELS; i++)
        coll_parameters_begin(coll_i_machine_parts[i].model, coll_i_machine_costs(m, i),
                              &m->given[i]);
}

/* Adds a value that was measured; variant may be "". Without room it is left out. */
COLL_INLINE void coll_machine_add(coll_machine_file *m, coll_quantity quantity,
                                  const char *variant, double at, const coll_estimate *is)
{
    coll_measured *to = &m->measured[m->n];
    if (m->n == COLL_MEASURED_MOST)
        return;
    to->quantity = quantity;
    snprintf(to->variant, sizeof to->variant, "%.*s", COLL_VARIANT_BYTES - 1, variant);
    to->at = at;
    to->is = *is;
    m->n++;
}

/* The value of a quantity that was measured there; NULL: none was. */
COLL_INLINE const coll_estimate *coll_machine_find(const coll_machine_file *m,
                                                   coll_quantity quantity, const char *variant,
                                                   double at)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->measured[i].quantity == quantity &&
            strcmp(m->measured[i].variant, variant) == 0 && m->measured[i].at >= at &&
            m->measured[i].at <= at)
            return &m->measured[i].is;
    return NULL;
}

/* ---- lines --------------------------------------------------------------------------------------- */

enum { COLL_I_MACHINE_WORDS = 8, COLL_I_MACHINE_WORD = 2 * COLL_PARAMETER_BYTES };

/* The words of a line; `line` is where it is in the file. */
typedef struct coll_i_machine_line {
    char word[COLL_I_MACHINE_WORDS][COLL_I_MACHINE_WORD];
    uint32_t n;
} coll_i_machine_line;

/* Cuts a line into words. false: it has too many, or one that is too long. */
COLL_INLINE bool coll_i_machine_split(const char *text, coll_i_machine_line *line)
{
    const size_t length = strcspn(text, "\n#");
    size_t at = 0;
    line->n = 0;
    for (;;) {
        size_t n = 0;
        while (at < length && strchr(" \t\r", text[at]))
            at++;
        if (at == length)
            return true;
        if (line->n == COLL_I_MACHINE_WORDS)
            return false;
        while (at < length && !strchr(" \t\r", text[at])) {
            if (n + 1 == COLL_I_MACHINE_WORD)
                return false;
            line->word[line->n][n++] = text[at++];
        }
        line->word[line->n++][n] = '\0';
    }
}

/* A number that was measured, 0 or more, with its unit or none. */
COLL_INLINE bool coll_i_measured_number(const char *text, const char *unit, double *value)
{
    coll_parameter row = {"", "", COLL_PARAMETER_NUMBER, 0, 0, COLL_PARAMETER_ANY, 0, ""};
    row.unit = unit;
    return coll_i_parameter_number(&row, text, value);
}

/* measured QUANTITY AT MEDIAN LOW HIGH VALUES OUTLIERS */
COLL_INLINE bool coll_i_machine_measured(coll_machine_file *m, const coll_i_machine_line *line,
                                         coll_sentence *why)
{
    const char *names[COLL_QUANTITIES];
    coll_measured *is = &m->measured[m->n];
    char name[COLL_I_MACHINE_WORD];
    const char *dot = line->n > 1 ? strchr(line->word[1], '.') : NULL, *unit;
    size_t q;
    double n, outliers;
    for (q = 0; q < COLL_QUANTITIES; q++)
        names[q] = coll_quantity_rows[q].name;
    if (line->n != COLL_I_MACHINE_WORDS)
        return coll_refuse(why,
                           "measured needs a quantity, where, its median, low, high, how many "
                           "values and how many outliers");
    if (m->n == COLL_MEASURED_MOST)
        return coll_refuse(why, "there are more than %d measured values", COLL_MEASURED_MOST);
    memcpy(name, line->word[1], sizeof name);
    if (dot)
        name[dot - line->word[1]] = '\0';
    q = coll_name_index("quantity", name, names, COLL_QUANTITIES, why);
    if (q == COLL_NO_NAME)
        return false;
    if (dot && (strlen(dot + 1) >= COLL_VARIANT_BYTES || dot[1] == '\0'))
        return coll_refuse(why, "the variant of %s is a word of up to %d bytes", name,
                           COLL_VARIANT_BYTES - 1);
    unit = coll_quantity_rows[q].unit;
    is->quantity = (coll_quantity)q;
    memset(is->variant, 0, sizeof is->variant);
    if (dot)
        memcpy(is->variant, dot + 1, strlen(dot + 1));
    if (!coll_i_measured_number(line->word[2], coll_quantity_rows[q].at, &is->at) ||
        !coll_i_measured_number(line->word[3], unit, &is->is.median) ||
        !coll_i_measured_number(line->word[4], unit, &is->is.low) ||
        !coll_i_measured_number(line->word[5], unit, &is->is.high) ||
        !coll_i_measured_number(line->word[6], "", &n) ||
        !coll_i_measured_number(line->word[7], "", &outliers) || !(n < 4294967296.0) ||
        !(outliers <= n))
        return coll_refuse(why, "%s is measured in %s, at a number%s%s", name,
                           unit[0] ? unit : "numbers",
                           coll_quantity_rows[q].at[0] ? " of " : "", coll_quantity_rows[q].at);
    is->is.n = (uint32_t)n;
    is->is.outliers = (uint32_t)outliers;
    m->n++;
    return true;
}

/* MODEL.PARAMETER VALUE */
COLL_INLINE bool coll_i_machine_value(coll_machine_file *m, const coll_i_machine_line *line,
                                      coll_sentence *why)
{
    const char *names[COLL_MACHINE_MODELS], *dot = strchr(line->word[0], '.');
    char item[2 * COLL_I_MACHINE_WORD], model[COLL_I_MACHINE_WORD];
    size_t i;
    for (i = 0; i < COLL_MACHINE_MODELS; i++)
        names[i] = coll_i_machine_parts[i].model->name;
    if (!dot || line->n != 2)
        return coll_refuse(why,
                           "a line is MODEL.PARAMETER VALUE, plogp.row, or measured, not "
                           "\"%.60s%s%.60s%s\"",
                           line->word[0], line->n > 1 ? " " : "",
                           line->n > 1 ? line->word[1] : "", line->n > 2 ? " …" : "");
    memcpy(model, line->word[0], sizeof model);
    model[dot - line->word[0]] = '\0';
    i = coll_name_index("model", model, names, COLL_MACHINE_MODELS, why);
    if (i == COLL_NO_NAME)
        return false;
    snprintf(item, sizeof item, "%s=%s", dot + 1, line->word[1]);
    return coll_parameters_item(coll_i_machine_parts[i].model, item, coll_i_machine_costs(m, i),
                                &m->given[i], why);
}

/* ---- files --------------------------------------------------------------------------------------- */

/* Reads a machine from the text of a file, which `path` names in sentences; false, and a sentence that
 * says in which line something is wrong, and what. */
COLL_INLINE bool coll_machine_file_read(coll_machine_file *m, const char *text,
                                        const char *path, coll_sentence *why)
{
    const char *at = text;
    coll_i_machine_line words;
    coll_sentence what;
    bool table = false;
    coll_machine_file_clear(m);
    for (unsigned line = 1; *at || line == 1; line++) {
        bool good = coll_i_machine_split(at, &words);
        if (line == 1)
            good = (good && words.n == 2 && strcmp(words.word[0], "coll-machine") == 0 &&
                    strcmp(words.word[1], "1") == 0) ||
                   coll_refuse(&what, "the file of a machine begins with " COLL_I_MACHINE_HEAD);
        else if (coll_i_plogp_of_machine(at))
            good = table = true; /* is read below */
        else if (!good)
            (void)coll_refuse(&what, "a line has up to %d words of up to %d bytes",
                              COLL_I_MACHINE_WORDS, COLL_I_MACHINE_WORD - 1);
        else if (words.n > 0)
            good = strcmp(words.word[0], "measured") == 0
                       ? coll_i_machine_measured(m, &words, &what)
                       : coll_i_machine_value(m, &words, &what);
        if (!good)
            return coll_refuse(why, "%.200s, line %u: %s", path, line, what.text);
        at += strcspn(at, "\n");
        at += *at ? 1 : 0;
    }
    for (size_t i = 0; i < COLL_MACHINE_MODELS; i++)
        if ((m->given[i] || i == 0) &&
            !coll_parameters_end(coll_i_machine_parts[i].model, m->given[i], &what))
            return coll_refuse(why, "%.200s: %s", path, what.text);
    if (table && !coll_plogp_read(&m->plogp, text, &what))
        return coll_refuse(why, "%.200s: %s", path, what.text);
    return true;
}

/* Reads the file of a machine; false, and a sentence. */
COLL_INLINE bool coll_machine_file_load(coll_machine_file *m, const char *path,
                                        coll_sentence *why)
{
    char *text = coll_text_load("machine", path, COLL_TABLE_BYTES, why);
    const bool good = text && coll_machine_file_read(m, text, path, why);
    free(text);
    return good;
}

COLL_INLINE void coll_i_machine_number(FILE *to, double number, const char *unit)
{
    fprintf(to, " %.*g%s", coll_i_digits(number), number, unit);
}

COLL_INLINE void coll_i_machine_write_part(coll_machine_file *m, size_t part, FILE *to)
{
    const coll_model *model = coll_i_machine_parts[part].model;
    if (m->given[part])
        fprintf(to, "\n# %s: %s\n", model->name, model->summary);
    for (size_t i = 0; i < model->n_parameters; i++) {
        const coll_parameter *row = &model->parameters[i];
        const char *at = (const char *)coll_i_machine_costs(m, part) + row->offset;
        if (!(m->given[part] >> i & 1))
            continue;
        fprintf(to, "%s.%s", model->name, row->name);
        if (row->type == COLL_PARAMETER_WORD)
            fprintf(to, " %s", at);
        else
            coll_i_machine_number(to, *coll_i_parameter_at(row, coll_i_machine_costs(m, part)),
                                  row->unit);
        fprintf(to, "\n");
    }
}

/* Writes the file of a machine. *m is as it was. */
COLL_INLINE void coll_machine_file_write(coll_machine_file *m, FILE *to)
{
    fprintf(to, COLL_I_MACHINE_HEAD "\n");
    for (size_t i = 0; i < COLL_MACHINE_MODELS; i++)
        coll_i_machine_write_part(m, i, to);
    if (m->plogp.n > 0) {
        fprintf(to, "\n# plogp: %s\nplogp.L", coll_plogp_model.summary);
        coll_i_machine_number(to, m->plogp.L_us, "");
        fprintf(to, "\n# us: bytes os or g smcc c copy\n");
    }
    for (uint32_t i = 0; i < m->plogp.n; i++) {
        fprintf(to, COLL_I_PLOGP_ROW " %.0f", m->plogp.row[i].bytes);
        for (int k = 0; k < COLL_PLOGP_COLUMNS; k++)
            coll_i_machine_number(to, m->plogp.row[i].us[k], "");
        fprintf(to, "\n");
    }
    if (m->n > 0)
        fprintf(to, "\n# measured: at, median, its interval of confidence, values, outliers\n");
    for (uint32_t i = 0; i < m->n; i++) {
        const coll_measured *is = &m->measured[i];
        const coll_quantity_row *row = &coll_quantity_rows[is->quantity];
        if (i == 0 || m->measured[i - 1].quantity != is->quantity)
            fprintf(to, "# %s: %s\n", row->name, row->meaning);
        fprintf(to, "measured %s%s%s", row->name, is->variant[0] ? "." : "", is->variant);
        coll_i_machine_number(to, is->at, row->at);
        coll_i_machine_number(to, is->is.median, row->unit);
        coll_i_machine_number(to, is->is.low, row->unit);
        coll_i_machine_number(to, is->is.high, row->unit);
        fprintf(to, " %u %u\n", is->is.n, is->is.outliers);
    }
}

#endif /* COLL_LAB_MODEL_MACHINE_FILE_H */
