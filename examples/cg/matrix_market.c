/* examples/cg/matrix_market.c — reading matrices in the Matrix Market exchange format */
#include "matrix_market.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

/* An entry as the file has it, or mirrored. */
typedef struct entry {
    uint32_t row, column;
    double value;
    size_t line;
} entry;

typedef struct reader {
    FILE *file;
    const char *path;
    char *sentence; /* set once something is wrong */
    size_t sentence_bytes;
    char *text; /* the line, without its end */
    size_t text_bytes;
    size_t line; /* its number, from 1 */
    bool symmetric;
    uint32_t rows;
    size_t promised; /* entries, by the size line */
    entry *entries;
    size_t n, room;
} reader;

/* Writes the sentence; line 0 stands for the file as a whole. Always false. */
static bool __attribute__((format(printf, 3, 4)))
wrong(reader *in, size_t line, const char *format, ...)
{
    va_list args;
    int used = line ? snprintf(in->sentence, in->sentence_bytes, "%s:%zu: ", in->path, line)
                    : snprintf(in->sentence, in->sentence_bytes, "%s: ", in->path);
    if (used < 0 || (size_t)used >= in->sentence_bytes)
        return false;
    va_start(args, format);
    vsnprintf(in->sentence + used, in->sentence_bytes - (size_t)used, format, args);
    va_end(args);
    return false;
}

/* ---- lines and words ---------------------------------------------------------------------- */

/* The next line, without CR and LF. False at the end of the file, and, with a sentence, on
 * errors. */
static bool next_line(reader *in)
{
    errno = 0;
    ssize_t got = getline(&in->text, &in->text_bytes, in->file);
    if (got < 0)
        return ferror(in->file) ? wrong(in, in->line + 1, "cannot read: %s", strerror(errno))
                                : false;
    in->line++;
    if (strlen(in->text) != (size_t)got)
        return wrong(in, in->line, "the line holds a zero byte; this is not a text file");
    while (got > 0 && (in->text[got - 1] == '\n' || in->text[got - 1] == '\r'))
        in->text[--got] = '\0';
    return true;
}

/* The next line that is neither blank nor a comment. */
static bool next_data(reader *in)
{
    while (next_line(in)) {
        const char *first = in->text + strspn(in->text, " \t");
        if (*first != '\0' && *first != '%')
            return true;
    }
    return false;
}

/* Cuts the next word off *at; an empty one at the end of the line. */
static char *word(char **at)
{
    char *from = *at + strspn(*at, " \t");
    char *to = from + strcspn(from, " \t");
    *at = *to ? to + 1 : to;
    *to = '\0';
    return from;
}

/* A decimal number of at most `most`. */
static bool natural(const char *text, uint64_t most, uint64_t *number)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    *number = value;
    return *end == '\0' && errno == 0 && value <= most;
}

/* ---- the parts of the file ---------------------------------------------------------------- */

static bool read_banner(reader *in)
{
    if (!next_line(in))
        return *in->sentence ? false : wrong(in, 1, "the file is empty");
    char *at = in->text;
    if (strcasecmp(word(&at), "%%MatrixMarket") != 0)
        return wrong(in, 1, "the file does not begin with %%%%MatrixMarket");
    const char *object = word(&at), *format = word(&at), *field = word(&at),
               *symmetry = word(&at);
    if (strcasecmp(object, "matrix") != 0)
        return wrong(in, 1, "object \"%s\" is not supported, only matrix", object);
    if (strcasecmp(format, "coordinate") != 0)
        return wrong(in, 1, "format \"%s\" is not supported, only coordinate", format);
    if (strcasecmp(field, "real") != 0 && strcasecmp(field, "integer") != 0)
        return wrong(in, 1, "field \"%s\" is not supported, only real and integer", field);
    in->symmetric = strcasecmp(symmetry, "symmetric") == 0;
    if (!in->symmetric && strcasecmp(symmetry, "general") != 0)
        return wrong(in, 1, "symmetry \"%s\" is not supported, only symmetric and general",
                     symmetry);
    if (*word(&at) != '\0')
        return wrong(in, 1, "the first line has more than five words");
    return true;
}

static bool read_size(reader *in)
{
    uint64_t rows, columns, entries;
    if (!next_data(in))
        return *in->sentence ? false : wrong(in, in->line + 1, "the line of sizes is missing");
    char *at = in->text;
    const bool numbers = natural(word(&at), UINT64_MAX, &rows) &&
                         natural(word(&at), UINT64_MAX, &columns) &&
                         natural(word(&at), UINT64_MAX, &entries);
    if (!numbers || *word(&at) != '\0')
        return wrong(in, in->line, "expected three numbers: rows, columns, entries");
    if (rows != columns)
        return wrong(in, in->line,
                     "the matrix has %llu rows and %llu columns; it must be square",
                     (unsigned long long)rows, (unsigned long long)columns);
    if (rows == 0)
        return wrong(in, in->line, "the matrix has no rows");
    if (rows >= UINT32_MAX || entries >= SIZE_MAX / sizeof(entry) / 2)
        return wrong(in, in->line, "the matrix is too large");
    /* This also bounds the memory for the rows by the length of the file. */
    if (entries < rows)
        return wrong(in, in->line,
                     "not positive definite: %llu entries cannot fill a diagonal of %llu",
                     (unsigned long long)entries, (unsigned long long)rows);
    in->rows = (uint32_t)rows;
    in->promised = (size_t)entries;
    return true;
}

static bool read_entry(reader *in, entry *e)
{
    uint64_t row, column;
    char *at = in->text, *end;
    const char *first = word(&at), *second = word(&at), *third = word(&at);
    if (*third == '\0')
        return wrong(in, in->line, "expected row, column and value");
    if (*word(&at) != '\0')
        return wrong(in, in->line, "more than row, column and value");
    if (!natural(first, in->rows, &row) || row == 0)
        return wrong(in, in->line, "row \"%s\" is not a number from 1 to %u", first, in->rows);
    if (!natural(second, in->rows, &column) || column == 0)
        return wrong(in, in->line, "column \"%s\" is not a number from 1 to %u", second,
                     in->rows);
    e->value = strtod(third, &end);
    if (*end != '\0')
        return wrong(in, in->line, "value \"%s\" is not a number", third);
    if (!isfinite(e->value))
        return wrong(in, in->line, "value \"%s\" is not finite", third);
    e->row = (uint32_t)row - 1;
    e->column = (uint32_t)column - 1;
    e->line = in->line;
    return true;
}

static bool append(reader *in, entry e)
{
    if (in->n == in->room) {
        const size_t room = in->room ? in->room * 2 : 1024;
        entry *larger = realloc(in->entries, room * sizeof *larger);
        if (!larger)
            return wrong(in, in->line, "no memory for %zu entries", room);
        in->entries = larger;
        in->room = room;
    }
    in->entries[in->n++] = e;
    return true;
}

static bool read_entries(reader *in)
{
    for (size_t i = 0; i < in->promised; i++) {
        entry e = {0, 0, 0, 0};
        if (!next_data(in))
            return *in->sentence
                       ? false
                       : wrong(in, in->line + 1, "the file ends after %zu of %zu entries", i,
                               in->promised);
        if (!read_entry(in, &e) || !append(in, e))
            return false;
        if (in->symmetric && e.row != e.column) {
            const entry mirrored = {e.column, e.row, e.value, e.line};
            if (!append(in, mirrored))
                return false;
        }
    }
    if (next_data(in))
        return wrong(in, in->line, "more than the %zu entries that the line of sizes says",
                     in->promised);
    return *in->sentence == '\0';
}

/* ---- from entries to rows ----------------------------------------------------------------- */

/* By place, and at one place in the order of the file, so that mirrored entries add up to the
 * same bits. */
static int by_place(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Sorts the entries, and adds up those at one place into the first of them. */
static bool merge_entries(reader *in)
{
    size_t kept = 0;
    qsort(in->entries, in->n, sizeof *in->entries, by_place);
    for (size_t i = 0; i < in->n; i++) {
        const entry e = in->entries[i];
        entry *last = kept ? &in->entries[kept - 1] : NULL;
        if (last && last->row == e.row && last->column == e.column) {
            last->value += e.value;
            if (!isfinite(last->value))
                return wrong(in, e.line, "the values at (%u, %u) add up to more than a double",
                             e.row + 1, e.column + 1);
        } else {
            in->entries[kept++] = e;
        }
    }
    in->n = kept;
    return true;
}

static bool make_rows(reader *in, csr *a)
{
    if (!csr_make(a, in->rows, in->n))
        return wrong(in, 0, "no memory for %u rows and %zu entries", in->rows, in->n);
    for (size_t k = 0; k < in->n; k++) {
        a->column[k] = in->entries[k].column;
        a->value[k] = in->entries[k].value;
        a->start[in->entries[k].row + 1] = k + 1;
    }
    for (size_t i = 0; i < a->rows; i++) /* rows without entries */
        if (a->start[i + 1] < a->start[i])
            a->start[i + 1] = a->start[i];
    return true;
}

/* Could it be symmetric positive definite? */
static bool check_matrix(reader *in, const csr *a)
{
    size_t diagonal = 0; /* rows whose diagonal entry was seen */
    for (size_t k = 0; k < in->n; k++) {
        const entry *e = &in->entries[k];
        if (e->row > diagonal || (e->row == diagonal && e->column > e->row))
            break;
        if (e->row == e->column) {
            diagonal++;
            if (!(e->value > 0))
                return wrong(in, e->line,
                             "not positive definite: diagonal entry (%u, %u) is %g", e->row + 1,
                             e->column + 1, e->value);
        }
    }
    if (diagonal < in->rows)
        return wrong(in, 0, "not positive definite: row %zu has no diagonal entry",
                     diagonal + 1);
    for (size_t k = 0; k < in->n && !in->symmetric; k++) {
        const entry *e = &in->entries[k];
        const double other = csr_at(a, e->column, e->row);
        if (!(fabs(e->value - other) <= 1e-12 * fmax(fabs(e->value), fabs(other))))
            return wrong(in, e->line, "not symmetric: (%u, %u) is %.17g, but (%u, %u) is %.17g",
                         e->row + 1, e->column + 1, e->value, e->column + 1, e->row + 1, other);
    }
    return true;
}

bool matrix_market_read(csr *a, const char *path, char *sentence, size_t bytes)
{
    reader in = {.path = path, .sentence = sentence, .sentence_bytes = bytes};
    *sentence = '\0';
    a->start = NULL;
    a->column = NULL;
    a->value = NULL;
    in.file = fopen(path, "r");
    if (!in.file)
        return wrong(&in, 0, "cannot open: %s", strerror(errno));
    bool good = read_banner(&in) && read_size(&in) && read_entries(&in) && merge_entries(&in) &&
                make_rows(&in, a);
    if (good && !check_matrix(&in, a)) {
        csr_free(a);
        good = false;
    }
    fclose(in.file);
    free(in.text);
    free(in.entries);
    return good;
}
