/* coll/select/names.h — words of users: looked up, guessed at, and refused with a sentence
 *
 *   const char *const names[] = {"ring", "torus"};
 *   coll_sentence why;
 *   size_t i = coll_name_index("graph", "tours", names, 2, &why);
 *   if (i == COLL_NO_NAME)
 *       puts(why.text);             // there is no graph "tours"; did you mean "torus"?
 *
 * In names - and _ are one. Hosted: needs stdarg, stdio and string.
 */
#ifndef COLL_SELECT_NAMES_H
#define COLL_SELECT_NAMES_H

#include "../config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What is wrong, and what would be right. Cut where it is longer. */
typedef struct coll_sentence {
    char text[480];
} coll_sentence;

/* Writes the sentence; false, so that a reader can return it. */
COLL_INLINE COLL_I_PRINTF(2, 3) bool coll_refuse(coll_sentence *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- names ------------------------------------------------------------------------------- */

/* Instead of an index: no such name. */
#define COLL_NO_NAME SIZE_MAX

enum { COLL_I_NAME_LONGEST = 31 };

COLL_INLINE char coll_i_name_fold(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '-' ? '_' : c;
}

/* Is the word this name? */
COLL_INLINE bool coll_name_is(const char *word, const char *name)
{
    while (*word && (*word == '-' ? '_' : *word) == *name) {
        word++;
        name++;
    }
    return *word == *name;
}

COLL_INLINE size_t coll_i_name_length(const char *word)
{
    size_t length = 0;
    while (length < COLL_I_NAME_LONGEST && word[length])
        length++;
    return length;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b; words are cut
 * at COLL_I_NAME_LONGEST. */
COLL_INLINE size_t coll_i_name_distance(const char *a, const char *b)
{
    const size_t m = coll_i_name_length(a), n = coll_i_name_length(b);
    size_t d[COLL_I_NAME_LONGEST + 1][COLL_I_NAME_LONGEST + 1];
    for (size_t i = 0; i <= m; i++)
        d[i][0] = i;
    for (size_t k = 0; k <= n; k++)
        d[0][k] = k;
    for (size_t i = 1; i <= m; i++)
        for (size_t k = 1; k <= n; k++) {
            const char x = coll_i_name_fold(a[i - 1]), y = coll_i_name_fold(b[k - 1]);
            size_t least = d[i - 1][k - 1] + (x != y);
            if (d[i - 1][k] + 1 < least)
                least = d[i - 1][k] + 1;
            if (d[i][k - 1] + 1 < least)
                least = d[i][k - 1] + 1;
            if (i > 1 && k > 1 && x == coll_i_name_fold(b[k - 2]) &&
                y == coll_i_name_fold(a[i - 2]) && d[i - 2][k - 2] + 1 < least)
                least = d[i - 2][k - 2] + 1;
            d[i][k] = least;
        }
    return d[m][n];
}

/* Is the word, of at least three letters, the beginning of the name? */
COLL_INLINE bool coll_i_name_begins(const char *name, const char *word)
{
    size_t i = 0;
    while (word[i] && coll_i_name_fold(word[i]) == coll_i_name_fold(name[i]))
        i++;
    return word[i] == '\0' && i >= 3;
}

/* The name that the word most likely misspells; NULL if none is near. */
COLL_INLINE const char *coll_name_nearest(const char *word, const char *const *names, size_t n)
{
    const char *best = NULL;
    /* one letter in three may be wrong, and in short words one */
    size_t least = strlen(word) / 3 + 1;
    for (size_t i = 0; i < n; i++) {
        const size_t away = coll_i_name_distance(word, names[i]);
        if (away <= least && away < strlen(names[i])) {
            best = names[i];
            if (away == 0)
                break;
            least = away - 1;
        }
    }
    for (size_t i = 0; i < n && !best; i++)
        if (coll_i_name_begins(names[i], word))
            best = names[i];
    return best;
}

/* Writes the names with commas between them; where there is no room for all, … is the last. */
COLL_INLINE void coll_names_list(const char *const *names, size_t n, char *text, size_t bytes)
{
    static const char more[] = ", …";
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        const size_t needed = strlen(names[i]) + (i ? 2 : 0) + (i + 1 < n ? sizeof more : 1);
        if (length + needed > bytes) {
            snprintf(text + length, bytes - length, "%s", i ? more : more + 2);
            return;
        }
        length +=
            (size_t)snprintf(text + length, bytes - length, "%s%s", i ? ", " : "", names[i]);
    }
}

/* The index of the word among the names; if it is not there, COLL_NO_NAME, and a sentence on an
 * unknown `what`. */
COLL_INLINE size_t coll_name_index(const char *what, const char *word, const char *const *names,
                                   size_t n, coll_sentence *why)
{
    char list[400];
    const char *near;
    for (size_t i = 0; i < n; i++)
        if (coll_name_is(word, names[i]))
            return i;
    near = coll_name_nearest(word, names, n);
    if (near) {
        coll_refuse(why, "there is no %s \"%.60s\"; did you mean \"%s\"?", what, word, near);
        return COLL_NO_NAME;
    }
    coll_names_list(names, n, list, sizeof list);
    coll_refuse(why, "there is no %s \"%.60s\"; there %s %s", what, word, n == 1 ? "is" : "are",
                list);
    return COLL_NO_NAME;
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* Reads a whole number, which may end with k, M or G, powers of 1024; false: it is none, or does
 * not fit 64 bits. */
COLL_INLINE bool coll_number_read(const char *text, uint64_t *number)
{
    static const char units[] = "kMG";
    uint64_t n = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9'; c++) {
        const unsigned digit = (unsigned)(*c - '0');
        if (n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    if (c == text)
        return false;
    if (*c) {
        const char *unit = strchr(units, *c);
        const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
        if (!unit || c[1] || n > UINT64_MAX >> shift)
            return false;
        n <<= shift;
    }
    *number = n;
    return true;
}

/* Writes a number as coll_number_read reads it, in the largest unit that divides it; returns
 * `text`, of 24 bytes or more. */
COLL_INLINE const char *coll_number_text(uint64_t number, char *text)
{
    static const char units[] = "kMG";
    unsigned unit = 0;
    while (unit < 3 && number != 0 && number % 1024 == 0) {
        number /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(text, 24, "%llu", (unsigned long long)number);
    else
        snprintf(text, 24, "%llu%c", (unsigned long long)number, units[unit - 1]);
    return text;
}

#endif /* COLL_SELECT_NAMES_H */
