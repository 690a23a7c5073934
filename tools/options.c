/* tools/options.c — reads a command line from a table, and prints the table as help */
#include "options.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/select/names.h"

static const char *current; /* name of the subcommand; NULL: none so far */

void refuse(const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "coll%s%s: ", current ? " " : "", current ? current : "");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(2);
}

const char *command_name(void)
{
    return current ? current : "";
}

int output_end(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "coll%s%s: the output could not be written\n", current ? " " : "",
            current ? current : "");
    return 1;
}

static bool is_operand(const struct option *o)
{
    return o->kind == OPTION_OPERAND || o->kind == OPTION_OPTIONAL || o->kind == OPTION_MORE ||
           o->kind == OPTION_REST;
}

/* The row that takes the rest of the command line, or NULL. */
static const struct option *rest_of(const struct command *c)
{
    for (size_t i = 0; i < c->n_options; i++)
        if (c->options[i].kind == OPTION_REST)
            return &c->options[i];
    return NULL;
}

/* ---- help -------------------------------------------------------------------------------- */

static void print_help(const struct command *c)
{
    size_t options = 0;
    printf("coll %s — %s\n\nusage: coll %s", c->name, c->summary, c->name);
    if (rest_of(c)) /* its own options come after it */
        printf(" [option]…");
    for (size_t i = 0; i < c->n_options; i++) {
        const struct option *o = &c->options[i];
        if (o->kind == OPTION_OPERAND)
            printf(" %s", o->name);
        else if (o->kind == OPTION_REST)
            printf(" %s [argument]…", o->name);
        else if (o->kind == OPTION_OPTIONAL)
            printf(" [%s]", o->name);
        else if (o->kind == OPTION_MORE)
            printf(" [%s]…", o->name);
        else
            options++;
    }
    printf("%s\n\n", options && !rest_of(c) ? " [option]…" : "");
    for (size_t i = 0; i < c->n_options; i++) {
        const struct option *o = &c->options[i];
        char left[64];
        int n = 0;
        if (is_operand(o)) {
            n = snprintf(left, sizeof left, "%s", o->name);
        } else {
            if (o->letter)
                n = snprintf(left, sizeof left, "-%c, ", o->letter);
            n += snprintf(left + n, sizeof left - (size_t)n, "--%s%s%s", o->name,
                          o->value ? " " : "", o->value ? o->value : "");
        }
        printf("  %-26s %s\n", left, o->help);
    }
    printf("  %-26s print this\n", "--help");
    if (c->notes)
        printf("\n%s\n", c->notes);
}

/* ---- values ------------------------------------------------------------------------------ */

/* How the user wrote the option. */
static const char *written(const struct option *o, const char *argument)
{
    static char text[64];
    if (argument[1] == '-')
        snprintf(text, sizeof text, "--%s", o->name);
    else
        snprintf(text, sizeof text, "-%c", o->letter);
    return text;
}

bool number_take(const char **text, char separator, uint64_t *number)
{
    const char *end = *text;
    char word[32];
    size_t length;
    while (*end && *end != separator)
        end++;
    length = (size_t)(end - *text);
    if (length >= sizeof word || (*end && !end[1]))
        return false;
    memcpy(word, *text, length);
    word[length] = '\0';
    *text = *end ? end + 1 : end;
    return coll_number_read(word, number);
}

static void store_number(const struct option *o, const char *name, const char *value)
{
    uint64_t number = 0;
    if (!coll_number_read(value, &number) || number < o->least || number > o->most)
        refuse("%s is a whole number from %" PRIu64 " to %" PRIu64 ", not \"%s\"", name,
               o->least, o->most, value);
    *(uint64_t *)o->into = number;
}

static void store_range(const struct option *o, const char *name, const char *value)
{
    const char *dots = strstr(value, "..");
    char first[32];
    struct option_range *range = (struct option_range *)o->into;
    const size_t n = dots ? (size_t)(dots - value) : strlen(value);
    bool good = n < sizeof first;
    if (good) {
        memcpy(first, value, n);
        first[n] = '\0';
        good = coll_number_read(first, &range->first) &&
               coll_number_read(dots ? dots + 2 : first, &range->last);
    }
    if (!good || range->first < o->least || range->last > o->most || range->first > range->last)
        refuse("%s is a range such as 1..64, within %" PRIu64 "..%" PRIu64 ", not \"%s\"", name,
               o->least, o->most, value);
}

static void store(const struct option *o, const char *name, const char *value)
{
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)o->into = true;
        break;
    case OPTION_NUMBER:
        store_number(o, name, value);
        break;
    case OPTION_RANGE:
        store_range(o, name, value);
        break;
    case OPTION_OPERAND:
    case OPTION_OPTIONAL:
    case OPTION_WORD:
        *(const char **)o->into = value;
        break;
    case OPTION_REST: /* options_read */
        break;
    case OPTION_MORE:
    case OPTION_EACH:
    case OPTION_WORDS: {
        struct option_words *words = (struct option_words *)o->into;
        const size_t key = o->kind == OPTION_EACH ? strlen(value) : strcspn(value, "=");
        if (words->n == OPTION_WORDS_MAX)
            refuse("%s is given more than %d times", name, OPTION_WORDS_MAX);
        for (size_t i = 0; i < words->n && o->kind != OPTION_MORE; i++)
            if (strncmp(words->word[i], value, key + 1) == 0)
                refuse("%s %.*s is given twice", name, (int)key, value);
        words->word[words->n++] = value;
        break;
    }
    }
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Bytes of the first character, which is ASCII or UTF-8. */
static int character_length(const char *text)
{
    int n = 1;
    while (((unsigned char)text[n] & 0xC0u) == 0x80)
        n++;
    return n;
}

/* The option that an argument names; *value is what follows in the same argument, or NULL. */
static const struct option *find(const struct command *c, const char *argument,
                                 const char **value)
{
    const char *names[32];
    size_t n = 0;
    *value = NULL;
    if (argument[1] != '-') {
        for (size_t i = 0; i < c->n_options; i++)
            if (!is_operand(&c->options[i]) && c->options[i].letter == argument[1]) {
                *value = argument[2] ? argument + 2 : NULL;
                return &c->options[i];
            }
        refuse("there is no option -%.*s; coll %s --help lists the options",
               character_length(argument + 1), argument + 1, c->name);
    }
    {
        const char *name = argument + 2, *equals = strchr(name, '=');
        const size_t length = equals ? (size_t)(equals - name) : strlen(name);
        const char *near;
        char word[64];
        *value = equals ? equals + 1 : NULL;
        for (size_t i = 0; i < c->n_options; i++) {
            const struct option *o = &c->options[i];
            if (is_operand(o))
                continue;
            if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
                return o;
            if (n < sizeof names / sizeof names[0])
                names[n++] = o->name;
        }
        snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), name);
        near = coll_name_nearest(word, names, n);
        if (near)
            refuse("there is no option --%s; did you mean --%s?", word, near);
        refuse("there is no option --%.*s; coll %s --help lists the options", (int)length, name,
               c->name);
    }
}

/* Does the argument look like an option rather than a value? A negative number is a value, a
 * bad one. */
static bool is_option(const char *argument)
{
    return argument[0] == '-' && argument[1] != '\0' &&
           !(argument[1] >= '0' && argument[1] <= '9');
}

/* Is the next argument the value of this one? */
static bool takes_value(const struct command *c, const char *argument)
{
    const char *value;
    return is_option(argument) && find(c, argument, &value)->kind != OPTION_FLAG && !value;
}

static void take_operand(const struct command *c, const char *word, size_t position)
{
    for (size_t i = 0, at = 0; i < c->n_options; i++)
        if (is_operand(&c->options[i]) &&
            (at++ == position || c->options[i].kind == OPTION_MORE)) {
            store(&c->options[i], c->options[i].name, word);
            return;
        }
    refuse("nothing is expected where \"%s\" stands; coll %s --help shows the usage", word,
           c->name);
}

void options_read(const struct command *c, int argc, char **argv)
{
    const struct option *rest = rest_of(c);
    size_t operands = 0, needed = 0;
    uint64_t given = 0; /* a bit an option */
    bool only_operands = false;
    current = c->name;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(c);
            exit(output_end(0));
        }
        if (rest && !is_option(argv[i]) && (i == 1 || !takes_value(c, argv[i - 1])))
            break;
    }
    for (int i = 1; i < argc; i++) {
        const char *value;
        const struct option *o;
        if (!only_operands && strcmp(argv[i], "--") == 0) {
            only_operands = true;
            continue;
        }
        if (rest && (only_operands || !is_option(argv[i]))) {
            *(char ***)rest->into = argv + i;
            operands++;
            break;
        }
        if (only_operands || !is_option(argv[i])) {
            take_operand(c, argv[i], operands++);
            continue;
        }
        o = find(c, argv[i], &value);
        {
            const char *name = written(o, argv[i]);
            const uint64_t bit = (uint64_t)1 << (o - c->options);
            if (o->kind != OPTION_WORDS && o->kind != OPTION_EACH && given & bit)
                refuse("%s is given twice", name);
            given |= bit;
            if (o->kind == OPTION_FLAG && value)
                refuse("%s takes no value", name);
            if (o->kind != OPTION_FLAG && !value) {
                if (i + 1 == argc || is_option(argv[i + 1]))
                    refuse("%s needs a value, %s", name, o->value);
                value = argv[++i];
            }
            store(o, name, value);
        }
    }
    for (size_t i = 0; i < c->n_options; i++)
        if ((c->options[i].kind == OPTION_OPERAND || c->options[i].kind == OPTION_REST) &&
            needed++ >= operands)
            refuse("%s is missing; coll %s --help shows the usage", c->options[i].name,
                   c->name);
}
