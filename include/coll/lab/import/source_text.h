/* coll/lab/import/source_text.h — a text that is read from its beginning to its end, line by line counted
 *
 * Nothing is read behind the end, no zero is needed there, and the first mistake ends the reading: its sentence
 * begins with the number of the line. Private.
 */
#ifndef COLL_LAB_IMPORT_SOURCE_TEXT_H
#define COLL_LAB_IMPORT_SOURCE_TEXT_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../select/names.h"

typedef struct coll_i_source_text {
    const char *at, *end;
    uint32_t line; /* from 1 */
    bool bad;      /* a mistake was found, and said */
    coll_sentence *why;
} coll_i_source_text;

/* A piece of it. */
typedef struct coll_i_lexeme {
    const char *at;
    size_t n;
} coll_i_lexeme;

COLL_INLINE void coll_i_text_init(coll_i_source_text *t, const char *text, size_t bytes,
                                  coll_sentence *why)
{
    t->at = text;
    t->end = text + bytes;
    t->line = 1;
    t->bad = false;
    t->why = why;
}

/* Writes the first sentence; returns false. */
COLL_INLINE COLL_I_PRINTF(2, 3) bool coll_i_text_fail(coll_i_source_text *t, const char *format,
                                                      ...)
{
    va_list arguments;
    int n;
    if (t->bad)
        return false;
    t->bad = true;
    n = snprintf(t->why->text, sizeof t->why->text, "line %" PRIu32 ": ", t->line);
    va_start(arguments, format);
    vsnprintf(t->why->text + n, sizeof t->why->text - (size_t)n, format, arguments);
    va_end(arguments);
    return false;
}

COLL_INLINE bool coll_i_text_ended(const coll_i_source_text *t)
{
    return t->at == t->end;
}

/* Takes a character. */
COLL_INLINE char coll_i_text_step(coll_i_source_text *t)
{
    const char c = *t->at++;
    t->line += c == '\n' ? 1 : 0;
    return c;
}

/* Passes blanks, and line feeds if `lines`. */
COLL_INLINE void coll_i_text_blanks(coll_i_source_text *t, bool lines)
{
    while (t->at < t->end &&
           (*t->at == ' ' || *t->at == '\t' || *t->at == '\r' || (lines && *t->at == '\n')))
        (void)coll_i_text_step(t);
}

/* Takes these characters, if they come next; they have no line feed. */
COLL_INLINE bool coll_i_text_take(coll_i_source_text *t, const char *word)
{
    const size_t n = strlen(word);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

/* Passes all up to and with these characters; false: they do not come. */
COLL_INLINE bool coll_i_text_pass(coll_i_source_text *t, const char *word)
{
    while (t->at < t->end) {
        if (coll_i_text_take(t, word))
            return true;
        (void)coll_i_text_step(t);
    }
    return false;
}

/* Letters, digits and what names have besides. */
COLL_INLINE coll_i_lexeme coll_i_text_name(coll_i_source_text *t)
{
    coll_i_lexeme word;
    word.at = t->at;
    while (t->at < t->end &&
           ((*t->at >= 'a' && *t->at <= 'z') || (*t->at >= 'A' && *t->at <= 'Z') ||
            (*t->at >= '0' && *t->at <= '9') || *t->at == '_'))
        t->at++;
    word.n = (size_t)(t->at - word.at);
    return word;
}

COLL_INLINE bool coll_i_lexeme_is(coll_i_lexeme word, const char *name)
{
    return strlen(name) == word.n && memcmp(word.at, name, word.n) == 0;
}

/* Which of n names the word is; n: none of them. */
COLL_INLINE uint32_t coll_i_lexeme_index(coll_i_lexeme word, const char *const *names,
                                         uint32_t n)
{
    uint32_t i = 0;
    while (i < n && !coll_i_lexeme_is(word, names[i]))
        i++;
    return i;
}

/* As many of its bytes as a sentence has room for. */
COLL_INLINE int coll_i_lexeme_shown(coll_i_lexeme word)
{
    return word.n < 40 ? (int)word.n : 40;
}

/* The digits of a word as a number of at most `most`; false: it is none. */
COLL_INLINE bool coll_i_lexeme_number(coll_i_lexeme word, uint64_t most, uint64_t *number)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < word.n; i++) {
        const uint64_t digit = (uint64_t)(unsigned char)word.at[i] - '0';
        if (digit > 9 || digit > most || sum > (most - digit) / 10)
            return false;
        sum = 10 * sum + digit;
    }
    *number = sum;
    return word.n > 0;
}

/* Takes digits; says what is wrong with what comes next. */
COLL_INLINE bool coll_i_text_number(coll_i_source_text *t, const char *what, uint64_t most,
                                    uint64_t *number)
{
    coll_i_lexeme word;
    word.at = t->at;
    while (t->at < t->end && *t->at >= '0' && *t->at <= '9')
        t->at++;
    word.n = (size_t)(t->at - word.at);
    return coll_i_lexeme_number(word, most, number) ||
           coll_i_text_fail(t, "%s is a whole number from 0 to %" PRIu64 ", not \"%.*s\"", what,
                            most, coll_i_lexeme_shown(word), word.at);
}

#endif /* COLL_LAB_IMPORT_SOURCE_TEXT_H */
