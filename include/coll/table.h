/* coll/table.h — rules in words: which algorithm for which problem, as the user says
 *
 *   static char memory[COLL_TABLE_BYTES(100)];
 *   coll_table forced, tuned;
 *   coll_table_init(&forced, memory, sizeof memory);
 *   if (!coll_table_choose(&forced, "COLL_ALGORITHM", getenv("COLL_ALGORITHM")))
 *       fail(forced.error.text);       // COLL_ALGORITHM: there is no algorithm for bcast called …
 *   if (!coll_table_load(&tuned, "tuned.table"))
 *       fail(tuned.error.text);        // tuned.table, line 3: …
 *   forced.list.next = &tuned.list;
 *   tuned.list.next = &coll_rules_built_in;
 *   status = coll_select_from(&forced.list, &problem, …);
 *
 * A choice is for all problems of its collectives; several have ; between them:
 *
 *   allreduce:knomial:k=4;bcast:chain:segment=8k,chains=2;scan,exscan:linear
 *
 * A table has a rule a line. # begins a comment, which on the line of a rule says why. p is the
 * number of ranks; ppn, for problems of several nodes alone, that of the largest node; bytes what
 * coll_problem_bytes says of the vector or of one block; ranges have their ends in them, unless there
 * is < before the end, and an end that is left out is no limit. The first rule that fits is taken.
 *
 *   # collectives  ranks   bytes          algorithm and parameters
 *   barrier        ppn 2..                two_level
 *   allreduce      p 4..8  bytes 4k..1M   rabenseifner:k=2            # as measured on Tuesday
 *   allreduce              bytes 1M..     ring
 *   gather,scatter p 9..   bytes ..<2k    fnomial:k=3
 *   allreduce      p 64..  bytes ..64k    two_level:intra=linear,inter=recursive_multiplying/k=8
 *
 * Algorithms go by all names that `coll list` has, - and _ are one, numbers may end with k, M or
 * G, powers of 1024. Parameters that `coll list` has have their default values unless they are given; the radix is k,
 * also of algorithms that call it f. Sizes (segment, buffer, block, overlap) are in bytes, or with an e
 * behind them in elements. `intra` and `inter` say what a composite algorithm uses
 * inside, with its parameters behind slashes. select/table_write.h writes such lines.
 *
 * Hosted: needs errno, stdarg, stdio and string. Nothing here allocates.
 */
#ifndef COLL_TABLE_H
#define COLL_TABLE_H

#include "select/table_store.h"
#include "select/table_write.h"

#include <errno.h>

/* ---- choices ----------------------------------------------------------------------------- */

/* Adds the rules of a list of choices; `source` is what errors call it, the name of the
 * environment variable, say. NULL and an empty text have none. false: there is an error; rules
 * before it may have been added. */
COLL_INLINE bool coll_table_choose(coll_table *table, const char *source, const char *text)
{
    coll_sentence why;
    const char *reason = NULL;
    table->source = source;
    table->line = 0;
    while (text) {
        char choice[512], names[512];
        const char *algorithm = choice;
        coll_rule rule;
        coll_i_rule_begin(&rule);
        if (!coll_i_word_take(&text, ";\n", choice, sizeof choice)) {
            coll_refuse(&why, "a choice is longer than %zu bytes", sizeof choice - 1);
            return coll_i_table_refuse(table, &why);
        }
        if (!choice[0])
            continue;
        (void)coll_i_word_take(&algorithm, ":", names, sizeof names);
        if (!names[0] || !algorithm || !algorithm[0]) {
            coll_refuse(&why, "a choice is written COLLECTIVE:ALGORITHM, not \"%.60s\"",
                        choice);
            return coll_i_table_refuse(table, &why);
        }
        if (!coll_collectives_read(names, &rule.collectives, &why))
            return coll_i_table_refuse(table, &why);
        reason = reason ? reason : coll_i_table_why(table, NULL);
        rule.why = reason ? reason : "";
        if (!coll_i_table_rules(table, &rule, algorithm, &why))
            return coll_i_table_refuse(table, &why);
    }
    return true;
}

/* ---- tables ------------------------------------------------------------------------------ */

/* Reads A..B, A.., ..B, A..<B or A alone, of numbers from `least` to `most`. */
COLL_INLINE bool coll_i_range_read(const char *word, uint64_t least, uint64_t most,
                                   uint64_t *from, uint64_t *to)
{
    const char *dots = strstr(word, "..");
    const char *end = dots ? dots + 2 : word;
    const bool open = dots && *end == '<';
    char first[COLL_I_WORD];
    *from = least;
    *to = most;
    if (!word[0] || strlen(word) >= sizeof first || (dots && dots == word && !*end))
        return false;
    snprintf(first, sizeof first, "%.*s", dots ? (int)(dots - word) : (int)strlen(word), word);
    end += open;
    if (first[0] && !coll_number_read(first, from))
        return false;
    if ((*end || open) && (!coll_number_read(end, to) || (open && (*to)-- == 0)))
        return false;
    return *from >= least && *from <= most && *to <= most;
}

/* The words of a line, in turn. */
COLL_INLINE char *coll_i_line_word(char **at)
{
    char *word = *at + strspn(*at, " \t\r\n");
    const size_t length = strcspn(word, " \t\r\n");
    *at = word + length + (word[length] ? 1 : 0);
    word[length] = '\0';
    return word;
}

/* Reads `p RANGE`, `ppn RANGE` and `bytes RANGE`, as far as they are there; *word is then what
 * follows. */
COLL_INLINE bool coll_i_line_ranges(char **at, char **word, coll_rule *rule, coll_sentence *why)
{
    static const char *const names[] = {"p", "ppn", "bytes"};
    uint32_t given = 0;
    for (;; *word = coll_i_line_word(at)) {
        const char *range;
        uint64_t from, to;
        uint32_t which = 0;
        while (which < 3 && strcmp(*word, names[which]) != 0)
            which++;
        if (which == 3)
            return true;
        range = coll_i_line_word(at);
        if (given & 1u << which)
            return coll_refuse(why, "%s is given twice", *word);
        given |= 1u << which;
        if (!coll_i_range_read(range, which < 2 ? 1 : 0, which < 2 ? COLL_ANY_P : SIZE_MAX,
                               &from, &to))
            return coll_refuse(
                why, "%s is a range such as %s, not \"%.60s\"", *word,
                which < 2 ? "4..8, 4.., ..8 or 4" : "4k..1M, 4k.., ..1M or 4k..<1M", range);
        if (from > to)
            return coll_refuse(why, "the range %s %s ends before it begins", *word, range);
        if (which == 0) {
            rule->p_least = (uint32_t)from;
            rule->p_most = (uint32_t)to;
        } else if (which == 1) {
            rule->ppn_least = (uint32_t)from;
            rule->ppn_most = (uint32_t)to;
        } else {
            rule->bytes_least = (size_t)from;
            rule->bytes_most = (size_t)to;
        }
    }
}

/* Adds the rules of a line, which is cut into words. */
COLL_INLINE bool coll_i_table_line(coll_table *table, char *line)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* that some editors write before a text */
    const bool marked = table->line == 1 && strncmp(line, mark, sizeof mark - 1) == 0;
    char *comment = strchr(line, '#'), *at = line + (marked ? sizeof mark - 1 : 0), *word;
    coll_sentence why;
    coll_rule rule;
    coll_i_rule_begin(&rule);
    if (comment) {
        size_t length;
        *comment++ = '\0';
        comment += strspn(comment, " \t\r\n");
        length = strlen(comment);
        while (length > 0 && strchr(" \t\r\n", comment[length - 1]))
            comment[--length] = '\0';
    }
    word = coll_i_line_word(&at);
    if (!word[0])
        return true;
    if (!coll_collectives_read(word, &rule.collectives, &why))
        return coll_i_table_refuse(table, &why);
    word = coll_i_line_word(&at);
    if (!coll_i_line_ranges(&at, &word, &rule, &why))
        return coll_i_table_refuse(table, &why);
    if (!word[0])
        coll_refuse(&why, "there is no algorithm behind the collectives and the ranges");
    else if (at[strspn(at, " \t\r\n")])
        coll_refuse(&why, "nothing but a comment is expected behind \"%.60s\"", word);
    else {
        rule.why = coll_i_table_why(table, comment && comment[0] ? comment : NULL);
        if (!rule.why)
            coll_refuse(&why, "there is no room for more than %zu rules", table->list.n);
        else if (coll_i_table_rules(table, &rule, word, &why))
            return true;
    }
    return coll_i_table_refuse(table, &why);
}

enum { COLL_I_LINE = 2048 };

COLL_INLINE bool coll_i_table_long(coll_table *table)
{
    coll_sentence why;
    coll_refuse(&why, "the line is longer than %d bytes", COLL_I_LINE - 2);
    return coll_i_table_refuse(table, &why);
}

/* Adds the rules of a table's text. false: there is an error; rules before it have been added. */
COLL_INLINE bool coll_table_read(coll_table *table, const char *source, const char *text)
{
    table->source = source;
    for (table->line = 1; *text; table->line++) {
        const size_t length = strcspn(text, "\n");
        char line[COLL_I_LINE];
        if (length >= sizeof line - 1)
            return coll_i_table_long(table);
        memcpy(line, text, length);
        line[length] = '\0';
        if (!coll_i_table_line(table, line))
            return false;
        text += length + (text[length] == '\n');
    }
    return true;
}

/* The next line of a file, into COLL_I_LINE bytes. Returns what ended it: '\n', EOF, 0 for a byte that
 * no text has, or any other one of a line that is too long. */
COLL_INLINE int coll_i_table_next(FILE *file, char *line)
{
    size_t n = 0;
    int c;
    while ((c = getc(file)) != EOF && c != '\n' && c != 0 && n < COLL_I_LINE - 2)
        line[n++] = (char)c;
    line[n] = '\0';
    return c;
}

COLL_INLINE bool coll_i_table_binary(coll_table *table)
{
    coll_sentence why;
    coll_refuse(&why, "the line has a byte of 0, so this is no text");
    return coll_i_table_refuse(table, &why);
}

/* The same of a file. */
COLL_INLINE bool coll_table_load(coll_table *table, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[COLL_I_LINE];
    bool good = true;
    int end = '\n';
    table->source = path;
    for (table->line = 1; file && good && end == '\n'; table->line += end == '\n') {
        end = coll_i_table_next(file, line);
        good = end == 0                    ? coll_i_table_binary(table)
               : end == '\n' || end == EOF ? coll_i_table_line(table, line)
                                           : coll_i_table_long(table);
    }
    if (!file || (good && ferror(file))) {
        coll_refuse(&table->error, "the table %.120s cannot be read: %s", path,
                    strerror(errno));
        good = false;
    }
    if (file)
        fclose(file);
    return good;
}

#endif /* COLL_TABLE_H */
