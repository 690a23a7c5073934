/* tools/options.h — what a subcommand understands, in one table: read from it, and explained
 * from it
 *
 *   const struct option options[] = {
 *       OPERAND("COLLECTIVE", "which collective", &name),
 *       NUMBER('p', "ranks", "P", "number of ranks", &p, 1, UINT32_MAX),
 *       FLAG("json", "print JSON", &json),
 *   };
 *   const struct command list = {"list", "list the algorithms", NULL, options, 3};
 *   options_read(&list, argc, argv);
 *
 * Values: -p 4, -p4, --ranks 4, --ranks=4. Numbers may end with k, M or G, powers of 1024. `--`
 * ends the options; one is given once, but for WORDS and EACH. --help prints what the table says and ends
 * with 0; what the table does not allow ends with 2 and a sentence.
 */
#ifndef COLL_TOOLS_OPTIONS_H
#define COLL_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum option_kind {
    OPTION_OPERAND,  /* a word without a dash, const char *; must be there */
    OPTION_OPTIONAL, /* the same; may be left out */
    OPTION_MORE,     /* option_words: all further ones */
    OPTION_REST,     /* char **: the first word without a dash and all that follows */
    OPTION_FLAG,     /* bool */
    OPTION_NUMBER,   /* uint64_t */
    OPTION_RANGE,    /* option_range: A..B, or A alone */
    OPTION_WORD,     /* const char * */
    OPTION_WORDS,    /* option_words: may be given several times, with other words before = */
    OPTION_EACH      /* option_words: may be given several times, with other words */
} option_kind;

struct option_range {
    uint64_t first, last;
};

enum { OPTION_WORDS_MAX = 24 };
struct option_words {
    const char *word[OPTION_WORDS_MAX];
    size_t n;
};

struct option {
    option_kind kind;
    char letter;       /* 0: none */
    const char *name;  /* without its dashes; of an operand: as the help writes it */
    const char *value; /* what the help calls the value; NULL for flags and operands */
    const char *help;
    void *into;           /* changed only if it is given */
    uint64_t least, most; /* of numbers and ranges */
};

struct command {
    const char *name, *summary;
    const char *notes; /* after the options in the help, or NULL */
    const struct option *options;
    size_t n_options;
};

/* Rows of the table. */
#define OPERAND(name, help, into)                                                              \
    {                                                                                          \
        OPTION_OPERAND, 0, name, NULL, help, into, 0, 0                                        \
    }
#define OPTIONAL(name, help, into)                                                             \
    {                                                                                          \
        OPTION_OPTIONAL, 0, name, NULL, help, into, 0, 0                                       \
    }
#define MORE(name, help, into)                                                                 \
    {                                                                                          \
        OPTION_MORE, 0, name, NULL, help, into, 0, 0                                           \
    }
#define REST(name, help, into)                                                                 \
    {                                                                                          \
        OPTION_REST, 0, name, NULL, help, into, 0, 0                                           \
    }
#define FLAG(name, help, into)                                                                 \
    {                                                                                          \
        OPTION_FLAG, 0, name, NULL, help, into, 0, 0                                           \
    }
#define WORD(name, value, help, into)                                                          \
    {                                                                                          \
        OPTION_WORD, 0, name, value, help, into, 0, 0                                          \
    }
#define WORDS(name, value, help, into)                                                         \
    {                                                                                          \
        OPTION_WORDS, 0, name, value, help, into, 0, 0                                         \
    }
#define EACH(name, value, help, into)                                                          \
    {                                                                                          \
        OPTION_EACH, 0, name, value, help, into, 0, 0                                          \
    }
#define NUMBER(letter, name, value, help, into, least, most)                                   \
    {                                                                                          \
        OPTION_NUMBER, letter, name, value, help, into, least, most                            \
    }
#define RANGE(letter, name, value, help, into, least, most)                                    \
    {                                                                                          \
        OPTION_RANGE, letter, name, value, help, into, least, most                             \
    }

/* Reads argv[1] … into what the table names; argv[0] is the subcommand. */
void options_read(const struct command *command, int argc, char **argv);

/* Takes a number off the front of *text, and the separator behind it; false: there is none, or
 * nothing behind the separator. */
bool number_take(const char **text, char separator, uint64_t *number);

/* The subcommand that was read last; "" before. */
const char *command_name(void);

/* What the command ends with: the code, or 1 and a sentence if what it printed could not be written. */
int output_end(int code);

/* Says on stderr, after the name of the command, what is wrong with the request, and ends with
 * exit code 2. */
_Noreturn void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* COLL_TOOLS_OPTIONS_H */
