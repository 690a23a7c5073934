/* tools/sources.h — the headers of the library, cut into what can be left out
 *
 *   struct sources all;
 *   sources_open(&all, "/usr/include");
 *   sources_read(&all, "plan.h");           // and what it includes, in front of it
 *   sources_want(&all, "coll_plan_init");   // and whatever that uses
 *   sources_write(&all, file);
 *
 * An item is a function, a constant, a type or a macro, with the comment before it. It is written
 * if it is wanted; a file's conditionals are, if anything of the file is. Identifiers are all
 * that this knows of C, so what macros paste together is written whole: config.h, types.h,
 * reduce.h and its parts, softfloat.h.
 */
#ifndef COLL_TOOLS_SOURCES_H
#define COLL_TOOLS_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { SOURCE_NAMES = 64 };

enum source_kind { ITEM_CODE, ITEM_MACRO, ITEM_CONDITION, ITEM_SYSTEM, ITEM_WHOLE };

struct source_item {
    size_t file;
    enum source_kind kind;
    char *text;                /* with the comment before it */
    size_t comment;            /* as many bytes of it */
    char *names[SOURCE_NAMES]; /* that it defines */
    size_t n_names;
    bool function, wanted, empty; /* empty: a conditional around nothing */
};

struct source_file {
    char *path, *head; /* below the folder; its first comment */
    bool wanted;
};

struct source_name;

struct sources {
    char *folder; /* …/coll */
    struct source_item *items;
    struct source_file *files;
    size_t n_items, n_files;
    struct source_name *names; /* of all items, sorted; made when the first one is wanted */
    size_t n_names;
    /* Changes the text of an item before it is read, or NULL. */
    char *(*edit)(const char *path, char *text, void *arg);
    void *arg;
};

/* `include`: the folder that has coll/; refuses the request if that is not there. */
void sources_open(struct sources *all, const char *include);
/* All text of a header, to be freed. */
char *sources_text(const struct sources *all, const char *path);
void sources_read(struct sources *all, const char *path);
/* False: nothing of this name was read. */
bool sources_want(struct sources *all, const char *name);
/* All functions of a header that are for users, or those of a folder: "transports/threads/". */
void sources_want_public(struct sources *all, const char *path);
void sources_write(struct sources *all, FILE *file);

/* Memory, or the end of the program. */
void *source_memory(void *memory);

/* The end of the comment, literal or character at `at`. */
const char *source_skip(const char *at);
/* Length of the identifier at `at`; 0: there is none. */
size_t source_word(const char *at);

#endif /* COLL_TOOLS_SOURCES_H */
