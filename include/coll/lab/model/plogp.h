/* coll/lab/model/plogp.h — parameterised LogP: overheads and gap of a message as a table over its
 * size
 *
 * A message of m bytes occupies its sender for os(m), its receiver for or(m), and the network of
 * each for g(m); its last byte is there L + g(m) after it was sent, and L contains the sender's
 * overhead. smcc(m) is what a shared-memory collective of m bytes takes within a node (atcom.h),
 * c(m) what combining m bytes with m others takes, in proportion to the size below the first row, and
 * copy(m) what copying them takes.
 * Between the rows of the table values lie on straight lines; below the first row they are the
 * row's, and above the last, which has more than 0 bytes, they grow in proportion to the size.
 *
 * A table is text, a row a line, sizes growing; the last columns may be left out, and are 0 then:
 *
 *   L 12            # us
 *   # bytes  os_us  or_us  g_us  smcc_us  c_us  copy_us
 *   1024     2      3      20    6        0.3
 *   64k      30     40     1000  400      20
 *
 * The file of a machine (machine_file.h) has the same rows, behind plogp.L and plogp.row.
 *
 * Data that its sender has just written lies in the sender's cache, and is slower to read than
 * data that nobody wrote: 6 times at 16 KiB between two processors of one machine. So a model has
 * two tables where that matters: plogp:table=clean.txt,dirty=dirty.txt.
 *
 * Source: Kielmann, Bal, Verstoep 2000; Wu 2005, sections 4.2.4 and 4.5.1.
 */
#ifndef COLL_LAB_MODEL_PLOGP_H
#define COLL_LAB_MODEL_PLOGP_H

#include "hockney.h"

enum {
    COLL_PLOGP_ROWS = 64,
    COLL_TABLE_BYTES = 256 * 1024 /* of the file of a table, or of a machine */
};

/* No time is longer, so that what lies between rows, or above them, is a number. */
#define COLL_PLOGP_MOST 1e30

/* The columns of the table: overheads, gap, a collective in shared memory, combining, copying. */
typedef enum coll_plogp_column {
    COLL_PLOGP_OS,
    COLL_PLOGP_OR,
    COLL_PLOGP_G,
    COLL_PLOGP_SMCC,
    COLL_PLOGP_C,
    COLL_PLOGP_COPY,
    COLL_PLOGP_COLUMNS
} coll_plogp_column;

/* A row of the table. */
typedef struct coll_plogp_row {
    /* Size of a message, and the microseconds of each column. */
    double bytes, us[COLL_PLOGP_COLUMNS];
} coll_plogp_row;

/* A latency, and a table over the size. */
typedef struct coll_plogp_costs {
    double L_us;                         /* latency */
    uint32_t n;                          /* rows */
    coll_plogp_row row[COLL_PLOGP_ROWS]; /* by growing size */
} coll_plogp_costs;

/* os(m), or(m), g(m), smcc(m) or, from the first row on, c(m). */
COLL_INLINE double coll_plogp_us(const coll_plogp_costs *m, coll_plogp_column column,
                                 double bytes)
{
    const coll_plogp_row *row = m->row;
    uint32_t i = 1;
    double us;
    if (bytes <= row[0].bytes)
        return row[0].us[column];
    while (i < m->n && row[i].bytes < bytes)
        i++;
    if (i == m->n)
        return row[i - 1].us[column] * (bytes / row[i - 1].bytes);
    us = row[i - 1].us[column] + (row[i].us[column] - row[i - 1].us[column]) *
                                     (bytes - row[i - 1].bytes) /
                                     (row[i].bytes - row[i - 1].bytes);
    return us > 0 ? us : 0; /* not a little less, by rounding */
}

/* Combining so many bytes. */
COLL_INLINE double coll_plogp_combine_us(const coll_plogp_costs *m, double bytes)
{
    const coll_plogp_row *first = &m->row[0];
    return bytes < first->bytes ? first->us[COLL_PLOGP_C] * (bytes / first->bytes)
                                : coll_plogp_us(m, COLL_PLOGP_C, bytes);
}

/* Reads a line, without its comment, of `words` numbers; *latency: it begins with L. */
COLL_INLINE bool coll_i_plogp_line(const char *line, size_t length, double *value,
                                   size_t *words, bool *latency)
{
    static const coll_parameter number = {"", "", COLL_PARAMETER_NUMBER, 0, 0, COLL_PLOGP_MOST,
                                          0,  ""};
    static const coll_parameter size = {
        "", "bytes", COLL_PARAMETER_WHOLE, 0, 0, COLL_PARAMETER_ANY, 0, ""};
    *words = 0;
    *latency = false;
    for (size_t at = 0; at < length;) {
        char word[40];
        size_t n = 0;
        while (at < length && strchr(" \t\r", line[at]))
            at++;
        for (; at < length && !strchr(" \t\r", line[at]) && n + 1 < sizeof word; at++)
            word[n++] = line[at];
        word[n] = '\0';
        if (*words == 0 && !*latency && strcmp(word, "L") == 0)
            *latency = true;
        else if (n > 0 && (*words == COLL_PLOGP_COLUMNS + 1 ||
                           !coll_i_parameter_number(*words == 0 && !*latency ? &size : &number,
                                                    word, &value[*words])))
            return false;
        else
            *words += n > 0 ? 1 : 0;
    }
    return true;
}

/* How the file of a machine begins, and its lines for this model. */
#define COLL_I_MACHINE_HEAD "coll-machine 1"
#define COLL_I_PLOGP_KEY    "plogp."
#define COLL_I_PLOGP_ROW    "plogp.row"

/* Of the line of a machine's file what a table would have; NULL: it is about something else. */
COLL_INLINE const char *coll_i_plogp_of_machine(const char *line)
{
    const size_t key = strlen(COLL_I_PLOGP_KEY), row = strlen(COLL_I_PLOGP_ROW);
    if (strncmp(line, COLL_I_PLOGP_KEY, key) != 0)
        return NULL;
    return line + (strncmp(line, COLL_I_PLOGP_ROW, row) == 0 ? row : key);
}

/* Takes a line of a table. */
COLL_INLINE bool coll_i_plogp_take(coll_plogp_costs *m, const char *line, bool *latency_known)
{
    double value[COLL_PLOGP_COLUMNS + 1];
    size_t words;
    bool latency;
    if (!coll_i_plogp_line(line, strcspn(line, "\n#"), value, &words, &latency))
        return false;
    if (latency) {
        if (words != 1 || *latency_known)
            return false;
        m->L_us = value[0];
        *latency_known = true;
        return true;
    }
    if (words == 0)
        return true;
    if (words < 4 || m->n == COLL_PLOGP_ROWS ||
        (m->n > 0 && value[0] <= m->row[m->n - 1].bytes))
        return false;
    m->row[m->n].bytes = value[0];
    for (size_t i = 0; i + 1 < words; i++)
        m->row[m->n].us[i] = value[i + 1];
    m->n++;
    return true;
}

/* Reads a table, or that in the file of a machine; false, and a sentence, if it is none. */
COLL_INLINE bool coll_plogp_read(coll_plogp_costs *m, const char *text, coll_sentence *why)
{
    const bool machine = strncmp(text, COLL_I_MACHINE_HEAD, strlen(COLL_I_MACHINE_HEAD)) == 0;
    bool latency_known = false;
    memset(m, 0, sizeof *m);
    for (unsigned line = 1; *text; line++) {
        const char *at = machine ? coll_i_plogp_of_machine(text) : text;
        if (at && !coll_i_plogp_take(m, at, &latency_known))
            return coll_refuse(
                why,
                "line %u of the table is neither L and microseconds, once, nor bytes, "
                "os, or, g and perhaps smcc, c and copy, with more bytes than the line before",
                line);
        text += strcspn(text, "\n");
        text += *text ? 1 : 0;
    }
    if (m->n == 0 || !(m->row[m->n - 1].bytes > 0) || !latency_known)
        return coll_refuse(why, "the table lacks %s",
                           m->n == 0        ? "rows"
                           : !latency_known ? "a line L with the latency"
                                            : "a row of more than 0 bytes");
    return true;
}

/* ---- a table in words: plogp:table=FILE -------------------------------------------------- */

/* The costs as their parameters say them. */
typedef struct coll_plogp_words {
    char table[COLL_PARAMETER_BYTES];
    char dirty[COLL_PARAMETER_BYTES]; /* empty: there is one table for all */
    double c_ns_per_byte;             /* 0: what the table says */
} coll_plogp_words;

COLL_TABLE(coll_parameter, coll_i_plogp_parameters, {
    {"table", "", COLL_PARAMETER_WORD, offsetof(coll_plogp_words, table), 0, 0,
     COLL_PARAMETER_NEEDED, "the name of a file with a table (plogp.h), or ibm"},
    {"dirty", "", COLL_PARAMETER_WORD, offsetof(coll_plogp_words, dirty), 0, 0, 0,
     "another table, for data that its sender has just written"},
    {"c", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_plogp_words, c_ns_per_byte), 0,
     COLL_PARAMETER_ANY, 0, "combining a byte (0: what the table says)"}});

COLL_CONST(coll_model, coll_plogp_model, {
    "plogp",
    "overheads and gap of a message as a table over its size",
    "Kielmann, Bal, Verstoep 2000",
    sizeof(coll_plogp_words),
    coll_i_plogp_parameters,
    sizeof coll_i_plogp_parameters / sizeof coll_i_plogp_parameters[0],
    NULL,
    0});

/* 8 nodes of 16 processors of the IBM cluster in Wu 2005: what its tables 4.1 and 4.3 imply, the
 * times of its equations being the measured ones and their errors. L is ours. */
COLL_CONST(coll_plogp_costs, coll_plogp_ibm, {
    30,
    10,
    {{1 << 10, {8, 8, 60, 22}},
     {1 << 14, {12, 12, 389, 128}},
     {1 << 15, {15, 15, 668, 241}},
     {1 << 16, {20, 20, 1071, 467}},
     {1 << 17, {30, 30, 1571, 919}},
     {1 << 18, {50, 50, 2632, 1824}},
     {1 << 19, {90, 90, 4318, 3630}},
     {1 << 20, {170, 170, 6790, 7250}},
     {1 << 21, {330, 330, 13600, 14500}},
     {1 << 23, {1300, 1300, 54400, 57900}}}});

/* Reads the file of this name; false, and a sentence, if that is not possible. */
COLL_INLINE bool coll_i_plogp_file(coll_plogp_costs *m, const char *name, coll_sentence *why)
{
    char *text;
    bool good;
    if (strcmp(name, "ibm") == 0) {
        memcpy(m, &coll_plogp_ibm, sizeof *m);
        return true;
    }
    text = coll_text_load("table", name, COLL_TABLE_BYTES, why);
    good = text && coll_plogp_read(m, text, why);
    free(text);
    return good;
}

/* Reads the table that the words name, with their cost of combining, if they say one; false, and a
 * sentence, if that is not possible. */
COLL_INLINE bool coll_plogp_load(coll_plogp_costs *m, const coll_plogp_words *words,
                                 coll_sentence *why)
{
    if (!coll_i_plogp_file(m, words->table, why))
        return false;
    for (uint32_t i = 0; i < m->n && words->c_ns_per_byte > 0; i++)
        m->row[i].us[COLL_PLOGP_C] = m->row[i].bytes * words->c_ns_per_byte / 1000;
    return true;
}

/* Reads the table of written data, if the words name one, into *m. As coll_plogp_load. */
COLL_INLINE bool coll_plogp_load_dirty(coll_plogp_costs *m, const coll_plogp_words *words,
                                       coll_sentence *why)
{
    return words->dirty[0] == '\0' || coll_i_plogp_file(m, words->dirty, why);
}

/* ---- trees of p ≥ 2 nodes, in k segments of m bytes -------------------------------------- */

/* One message: L + g(m). */
COLL_INLINE double coll_plogp_message_us(const coll_plogp_costs *m, double bytes)
{
    return m->L_us + coll_plogp_us(m, COLL_PLOGP_G, bytes);
}

/* Chain: the first segment passes p − 1 links, the others follow a gap apart. */
COLL_INLINE double coll_plogp_chain_us(const coll_plogp_costs *m, uint32_t p, double bytes,
                                       double segment)
{
    const double k = ceil(bytes / segment);
    return (p - 1.0) * coll_plogp_message_us(m, segment) +
           (k - 1) * coll_plogp_us(m, COLL_PLOGP_G, segment);
}

/* Flat: the root sends every segment to all others, L + (p − 1) k g. */
COLL_INLINE double coll_plogp_flat_us(const coll_plogp_costs *m, uint32_t p, double bytes,
                                      double segment)
{
    const double k = ceil(bytes / segment);
    return m->L_us + (p - 1.0) * k * coll_plogp_us(m, COLL_PLOGP_G, segment);
}

/* Binary: ⌊lg p⌋ levels, and two gaps a segment: ⌊lg p⌋ (L + 2 g) + (k − 1) 2 g. */
COLL_INLINE double coll_plogp_binary_us(const coll_plogp_costs *m, uint32_t p, double bytes,
                                        double segment)
{
    const double k = ceil(bytes / segment), g = coll_plogp_us(m, COLL_PLOGP_G, segment);
    return coll_log_floor(2, p) * (m->L_us + 2 * g) + (k - 1) * 2 * g;
}

/* Binomial: ⌈lg p⌉ phases, and as many gaps a segment: ⌈lg p⌉ (L + g) + (k − 1) ⌈lg p⌉ g. */
COLL_INLINE double coll_plogp_binomial_us(const coll_plogp_costs *m, uint32_t p, double bytes,
                                          double segment)
{
    const double k = ceil(bytes / segment), g = coll_plogp_us(m, COLL_PLOGP_G, segment);
    return coll_log_ceil(2, p) * (m->L_us + g + (k - 1) * g);
}

/* The segment that makes one of the trees above fastest, of the powers of two below the message and
 * the message itself; the longest of several. */
COLL_INLINE double coll_plogp_best_segment(const coll_plogp_costs *m, uint32_t p, double bytes,
                                           double (*tree_us)(const coll_plogp_costs *m,
                                                             uint32_t p, double bytes,
                                                             double segment))
{
    double best = bytes, least = tree_us(m, p, bytes, bytes), segment = 1;
    while (2 * segment < bytes)
        segment *= 2;
    for (; segment >= 1; segment /= 2) {
        const double us = tree_us(m, p, bytes, segment);
        if (us < least) {
            least = us;
            best = segment;
        }
    }
    return best;
}

#endif /* COLL_LAB_MODEL_PLOGP_H */
