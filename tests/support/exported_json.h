/* tests/support/exported_json.h — reads JSON into a tree
 *
 *   json file;
 *   if (json_read(&file, text))
 *       … json_number(json_get(&file, 0, "version")) …
 *   json_free(&file);
 *
 * Values are numbers of a list; 0 is the whole text, JSON_NONE is missing. Strict: RFC 8259,
 * with whole numbers up to 2⁵³ alone, each name once in its object, and 16 levels.
 */
#ifndef COLL_TESTS_EXPORT_JSON_H
#define COLL_TESTS_EXPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_DEPTH = 16 };
#define JSON_NONE UINT32_MAX

typedef struct json_value {
    char type;             /* '{' '[' '"' '0' 't' 'f' 'n' */
    uint64_t number;       /* … or, of an object or an array, how many */
    const char *name;      /* in an object: between its quotes */
    const char *text;      /* of a string, likewise */
    size_t name_n, text_n; /* bytes of both */
    uint32_t first, next;  /* value inside; after this one */
} json_value;

typedef struct json {
    json_value *values;
    uint32_t n, room;
    const char *at; /* where reading is, or stopped */
} json;

static inline void json_free(json *j)
{
    free(j->values);
}

static inline void json_blank(json *j)
{
    j->at += strspn(j->at, " \t\r\n");
}

static inline bool json_take(json *j, char c)
{
    json_blank(j);
    if (*j->at != c)
        return false;
    j->at++;
    return true;
}

static inline bool json_quoted(json *j, const char **text, size_t *n)
{
    if (!json_take(j, '"'))
        return false;
    for (*text = j->at; *j->at != '"'; j->at++) {
        if ((unsigned char)*j->at < 0x20)
            return false;
        if (*j->at == '\\' && !strchr("\"\\/bfnrtu", *++j->at))
            return false;
    }
    *n = (size_t)(j->at++ - *text);
    return true;
}

static inline uint32_t json_new(json *j, char type)
{
    if (j->n == j->room) {
        j->room = 2 * j->room + 64;
        j->values = (json_value *)realloc(j->values, j->room * sizeof *j->values);
    }
    memset(&j->values[j->n], 0, sizeof *j->values);
    j->values[j->n].type = type;
    j->values[j->n].first = j->values[j->n].next = JSON_NONE;
    return j->n++;
}

static inline bool json_word(json *j, const char *word)
{
    const size_t n = strlen(word);
    if (strncmp(j->at, word, n) != 0)
        return false;
    j->at += n;
    (void)json_new(j, word[0]);
    return true;
}

static inline bool json_digits(json *j)
{
    const uint32_t value = json_new(j, '0');
    const size_t n = strspn(j->at, "0123456789");
    j->values[value].number = strtoull(j->at, NULL, 10);
    if (n == 0 || n > 16 || (n > 1 && *j->at == '0') || strchr(".eE", j->at[n]))
        return false;
    j->at += n;
    return j->values[value].number <= (uint64_t)1 << 53;
}

/* Is there another value of this name in the object? */
static inline bool json_twice(const json *j, uint32_t object, uint32_t value)
{
    const json_value *v = &j->values[value];
    for (uint32_t i = j->values[object].first; i != value; i = j->values[i].next)
        if (j->values[i].name_n == v->name_n &&
            memcmp(j->values[i].name, v->name, v->name_n) == 0)
            return true;
    return false;
}

static inline bool json_value_read(json *j, unsigned depth);

static inline bool json_inside(json *j, unsigned depth, char open, char close)
{
    const uint32_t of = json_new(j, open);
    uint32_t last = JSON_NONE;
    j->at++;
    if (json_take(j, close))
        return true;
    do {
        const char *name = NULL;
        size_t name_n = 0;
        const uint32_t value = j->n;
        if (open == '{' && (!json_quoted(j, &name, &name_n) || !json_take(j, ':')))
            return false;
        if (!json_value_read(j, depth + 1))
            return false;
        j->values[value].name = name;
        j->values[value].name_n = name_n;
        if (last == JSON_NONE)
            j->values[of].first = value;
        else
            j->values[last].next = value;
        last = value;
        j->values[of].number++;
        if (open == '{' && json_twice(j, of, value))
            return false;
    } while (json_take(j, ','));
    return json_take(j, close);
}

static inline bool json_value_read(json *j, unsigned depth)
{
    json_blank(j);
    if (depth == JSON_DEPTH)
        return false;
    switch (*j->at) {
    case '{':
        return json_inside(j, depth, '{', '}');
    case '[':
        return json_inside(j, depth, '[', ']');
    case '"': {
        const uint32_t value = json_new(j, '"');
        const char *text;
        size_t n;
        if (!json_quoted(j, &text, &n))
            return false;
        j->values[value].text = text;
        j->values[value].text_n = n;
        return true;
    }
    case 't':
        return json_word(j, "true");
    case 'f':
        return json_word(j, "false");
    case 'n':
        return json_word(j, "null");
    default:
        return json_digits(j);
    }
}

/* Reads one value and nothing else; the text must stay. */
static inline bool json_read(json *j, const char *text)
{
    memset(j, 0, sizeof *j);
    j->at = text;
    if (!json_value_read(j, 0))
        return false;
    json_blank(j);
    return *j->at == '\0';
}

/* The member of an object, or JSON_NONE. */
static inline uint32_t json_get(const json *j, uint32_t object, const char *name)
{
    uint32_t i = object == JSON_NONE ? JSON_NONE : j->values[object].first;
    while (i != JSON_NONE && (j->values[i].name_n != strlen(name) ||
                              memcmp(j->values[i].name, name, strlen(name)) != 0))
        i = j->values[i].next;
    return i;
}

static inline bool json_is(const json *j, uint32_t value, char type)
{
    return value != JSON_NONE && j->values[value].type == type;
}

/* A member that is a number; UINT64_MAX: it is none. */
static inline uint64_t json_number(const json *j, uint32_t object, const char *name)
{
    const uint32_t value = json_get(j, object, name);
    return json_is(j, value, '0') ? j->values[value].number : UINT64_MAX;
}

/* Is a member this string? */
static inline bool json_says(const json *j, uint32_t object, const char *name, const char *text)
{
    const uint32_t value = json_get(j, object, name);
    return json_is(j, value, '"') && j->values[value].text_n == strlen(text) &&
           memcmp(j->values[value].text, text, strlen(text)) == 0;
}

#endif /* COLL_TESTS_EXPORT_JSON_H */
