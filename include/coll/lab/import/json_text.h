/* coll/lab/import/json_text.h — JSON, taken from a text member by member: no tree is made
 *
 *   coll_i_json_scope scope = {false, 0};
 *   while ((i = coll_i_json_member(t, &scope, names, 3)) != COLL_I_NONE)
 *       if (i == 0) …            // read the value of names[0]
 *   if (t->bad) …
 *
 * RFC 8259, with whole numbers up to 2^53 alone. Members of other names are passed over. Private.
 */
#ifndef COLL_LAB_IMPORT_JSON_TEXT_H
#define COLL_LAB_IMPORT_JSON_TEXT_H

#include "../verify/memory.h"
#include "source_text.h"

enum { COLL_I_JSON_DEPTH = 32 };
#define COLL_I_JSON_MOST ((uint64_t)1 << 53)

/* An object or array that is being read. */
typedef struct coll_i_json_scope {
    bool begun;
    uint32_t seen; /* bits of the names that were there */
} coll_i_json_scope;

/* Takes a character behind blanks, if it comes next. */
COLL_INLINE bool coll_i_json_take(coll_i_source_text *t, char c)
{
    const char word[2] = {c, '\0'};
    coll_i_text_blanks(t, true);
    return coll_i_text_take(t, word);
}

COLL_INLINE bool coll_i_json_expect(coll_i_source_text *t, char c)
{
    return coll_i_json_take(t, c) || coll_i_text_fail(t, "'%c' is missing", c);
}

/* What is between quotes, as it is written. */
COLL_INLINE bool coll_i_json_string(coll_i_source_text *t, coll_i_lexeme *word)
{
    if (!coll_i_json_take(t, '"'))
        return coll_i_text_fail(t, "a string is missing");
    word->at = t->at;
    while (t->at < t->end && *t->at != '"' && (unsigned char)*t->at >= 0x20) {
        if (*t->at == '\\' && t->end - t->at > 1 && (unsigned char)t->at[1] >= 0x20)
            t->at++;
        t->at++;
    }
    word->n = (size_t)(t->at - word->at);
    return coll_i_text_take(t, "\"") || coll_i_text_fail(t, "a string has no end");
}

COLL_INLINE bool coll_i_json_number(coll_i_source_text *t, const char *what, uint64_t most,
                                    uint64_t *number)
{
    coll_i_text_blanks(t, true);
    return coll_i_text_number(t, what, most, number);
}

COLL_INLINE bool coll_i_json_bool(coll_i_source_text *t, const char *what, bool *is)
{
    coll_i_text_blanks(t, true);
    *is = coll_i_text_take(t, "true");
    return *is || coll_i_text_take(t, "false") ||
           coll_i_text_fail(t, "%s is true or false", what);
}

COLL_INLINE bool coll_i_json_null(coll_i_source_text *t)
{
    coll_i_text_blanks(t, true);
    return coll_i_text_take(t, "null");
}

/* Passes a value over, whatever it is: objects and arrays are counted, not understood. */
COLL_INLINE bool coll_i_json_pass(coll_i_source_text *t)
{
    unsigned depth = 0;
    coll_i_lexeme word;
    do {
        coll_i_text_blanks(t, true);
        if (coll_i_text_ended(t))
            return coll_i_text_fail(t, "a value is missing");
        if (*t->at == '"') {
            if (!coll_i_json_string(t, &word))
                return false;
        } else if (*t->at == '{' || *t->at == '[') {
            t->at++;
            if (++depth > COLL_I_JSON_DEPTH)
                return coll_i_text_fail(t, "values are nested too deeply");
        } else if (*t->at == '}' || *t->at == ']') {
            if (depth == 0)
                return coll_i_text_fail(t, "a value is missing");
            t->at++;
            depth--;
        } else if (*t->at == ',' || *t->at == ':') {
            if (depth == 0)
                return coll_i_text_fail(t, "a value is missing");
            t->at++;
        } else {
            const char *begin = t->at;
            while (t->at < t->end && (*t->at == '-' || *t->at == '+' || *t->at == '.' ||
                                      (*t->at >= '0' && *t->at <= '9') ||
                                      (*t->at >= 'a' && *t->at <= 'z') || *t->at == 'E'))
                t->at++;
            if (t->at == begin)
                return coll_i_text_fail(t, "a value is missing");
        }
    } while (depth > 0);
    return true;
}

/* The next element of an array begins. False: it has ended, or there is a mistake. */
COLL_INLINE bool coll_i_json_element(coll_i_source_text *t, coll_i_json_scope *scope)
{
    if (t->bad || (!scope->begun && !coll_i_json_expect(t, '[')))
        return false;
    if (coll_i_json_take(t, ']'))
        return false;
    if (scope->begun && !coll_i_json_expect(t, ','))
        return false;
    scope->begun = true;
    return true;
}

/* Which of the names the next member of an object has; others are passed over. COLL_I_NONE: it has ended, or there
 * is a mistake. */
COLL_INLINE uint32_t coll_i_json_member(coll_i_source_text *t, coll_i_json_scope *scope,
                                        const char *const *names, uint32_t n)
{
    for (;;) {
        coll_i_lexeme word;
        uint32_t i;
        if (t->bad || (!scope->begun && !coll_i_json_expect(t, '{')) ||
            coll_i_json_take(t, '}') || (scope->begun && !coll_i_json_expect(t, ',')))
            return COLL_I_NONE;
        scope->begun = true;
        if (!coll_i_json_string(t, &word) || !coll_i_json_expect(t, ':'))
            return COLL_I_NONE;
        i = coll_i_lexeme_index(word, names, n);
        if (i == n) {
            if (!coll_i_json_pass(t))
                return COLL_I_NONE;
            continue;
        }
        if (scope->seen >> i & 1) {
            (void)coll_i_text_fail(t, "\"%s\" is there twice", names[i]);
            return COLL_I_NONE;
        }
        scope->seen |= 1u << i;
        return i;
    }
}

/* Was a member there? Says so if not. */
COLL_INLINE bool coll_i_json_needs(coll_i_source_text *t, const coll_i_json_scope *scope,
                                   const char *const *names, uint32_t i)
{
    return (scope->seen >> i & 1) || coll_i_text_fail(t, "\"%s\" is missing", names[i]);
}

#endif /* COLL_LAB_IMPORT_JSON_TEXT_H */
