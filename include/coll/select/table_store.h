/* coll/select/table_store.h — a table's memory: rules from its beginning on, texts from its end
 *
 * See table.h.
 */
#ifndef COLL_SELECT_TABLE_STORE_H
#define COLL_SELECT_TABLE_STORE_H

#include "table_words.h"

/* Memory for so many rules with reasons of usual length. */
#define COLL_TABLE_BYTES(rules) ((rules) * (sizeof(coll_rule) + 128) + 64)

/* Rules in the caller's memory, read from text. */
typedef struct coll_table {
    coll_rule_list list; /* the rules so far; `next` is the caller's to set */
    coll_sentence error; /* after a false: what is wrong, where, and what would be right */
    coll_rule *rules;    /* those of the list */
    char *top;           /* memory from here on holds texts */
    unsigned lacks;     /* mask of COLL_NEEDS_…: algorithms that need one of them are refused;
                          * the caller's to set, 0 to begin with */
    const char *source; /* of what is being read */
    size_t line;        /* in it; 0: it has no lines */
    uint32_t old;       /* words of before that were read: coll_old_words_text says them */
} coll_table;

/* Makes an empty table in `bytes` bytes of the caller's memory, of any alignment, which it needs
 * as long as its rules are used. */
COLL_INLINE void coll_table_init(coll_table *table, void *memory, size_t bytes)
{
    const size_t align = sizeof(void *) > sizeof(size_t) ? sizeof(void *) : sizeof(size_t);
    const size_t skip = (align - (size_t)((uintptr_t)memory % align)) % align;
    table->rules = (coll_rule *)(void *)((char *)memory + (skip < bytes ? skip : bytes));
    table->top = (char *)memory + bytes;
    table->list.rules = table->rules;
    table->list.n = 0;
    table->list.next = NULL;
    table->error.text[0] = '\0';
    table->lacks = 0;
    table->source = "";
    table->line = 0;
    table->old = 0;
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Puts where it is before a sentence; false. */
COLL_INLINE bool coll_i_table_refuse(coll_table *table, const coll_sentence *why)
{
    if (table->line > 0)
        return coll_refuse(&table->error, "%.120s, line %zu: %s", table->source, table->line,
                           why->text);
    return coll_refuse(&table->error, "%.120s: %s", table->source, why->text);
}

/* Takes bytes behind the rules, of which there will be `rules` more; NULL: there are no so many. */
COLL_INLINE char *coll_i_table_take(coll_table *table, size_t rules, size_t bytes, size_t align)
{
    const size_t used = (table->list.n + rules) * sizeof(coll_rule);
    const size_t room = (size_t)(table->top - (char *)table->rules);
    const size_t skip =
        bytes <= room ? (size_t)(((uintptr_t)table->top - bytes) % align) : align;
    if (room < used || room - used < bytes + skip)
        return NULL;
    table->top -= bytes + skip;
    return table->top;
}

/* Copies what a pick uses inside behind the rules. */
COLL_INLINE bool coll_i_table_bindings(coll_table *table, const coll_bindings *from,
                                       coll_rule *rule)
{
    coll_binding *binding;
    uint32_t(*param)[COLL_PARAM_MAX];
    rule->bindings = NULL;
    rule->n_bindings = from->n;
    if (from->n == 0)
        return true;
    param = (uint32_t(*)[COLL_PARAM_MAX])(void *)coll_i_table_take(
        table, 1, from->n * sizeof *param, sizeof(uint32_t));
    binding = param ? (coll_binding *)(void *)coll_i_table_take(
                          table, 1, from->n * sizeof *binding, sizeof(void *))
                    : NULL;
    if (!binding)
        return false;
    for (uint32_t i = 0; i < from->n; i++) {
        memcpy(param[i], from->param[i], sizeof param[i]);
        binding[i] = from->binding[i];
        binding[i].params = param[i];
    }
    rule->bindings = binding;
    return true;
}

/* The reason of a rule: the comment behind it, or where it stands. */
COLL_INLINE const char *coll_i_table_why(coll_table *table, const char *comment)
{
    char place[160];
    size_t length;
    char *why;
    if (table->line > 0)
        snprintf(place, sizeof place, "%.120s, line %zu", table->source, table->line);
    else
        snprintf(place, sizeof place, "%.120s", table->source);
    if (!comment)
        comment = place;
    length = strlen(comment) + 1;
    why = coll_i_table_take(table, 0, length, 1);
    if (why)
        memcpy(why, comment, length);
    return why;
}

/* ---- rules ------------------------------------------------------------------------------- */

/* Reads what follows the name of the algorithm: K=V,K=V…, where K may be a level. */
COLL_INLINE bool coll_i_table_params(coll_pick *pick, coll_bindings *bindings, const char *text,
                                     coll_sentence *why)
{
    uint32_t level_old = 0;
    bindings->n = bindings->old = 0;
    while (text) {
        char word[4 * COLL_I_WORD], level[COLL_I_WORD];
        const coll_composite *composite = coll_composite_of(pick->algorithm);
        const char *all = text;
        uint32_t collectives = 0;
        unsigned r = 0;
        size_t length;
        if (!coll_i_word_take(&text, ",:", word, sizeof word))
            return coll_refuse(why, "a parameter is written NAME=NUMBER, not \"%.60s…\"", all);
        length = strcspn(word, "=");
        snprintf(level, sizeof level, "%.*s", length < sizeof level ? (int)length : 0, word);
        while (r < COLL_LEVELS &&
               !coll_name_is(coll_word_now(level, &level_old), coll_level_name((coll_level)r)))
            r++;
        if (r == COLL_LEVELS || word[length] == '\0') {
            if (!coll_param_read(pick, word, true, why))
                return false;
            continue;
        }
        if (!(pick->algorithm->traits & COLL_NEEDS_BUILD))
            return coll_refuse(why, "%s is not composite, so %s has no meaning",
                               pick->algorithm->name, level);
        for (uint32_t i = 0; i < composite->n_defaults; i++)
            if (composite->defaults[i].level == (coll_level)r)
                collectives |= composite->defaults[i].algorithm->collectives;
        if (!coll_bindings_read(bindings, (coll_level)r, word + length + 1, collectives, true,
                                why))
            return false;
    }
    bindings->old |= level_old;
    return true;
}

/* Is there what the algorithm needs? */
COLL_INLINE bool coll_i_table_capabilities(const coll_table *table,
                                           const coll_algorithm *algorithm, coll_sentence *why)
{
    const unsigned lacks = algorithm->traits & table->lacks;
    if (lacks == 0)
        return true;
    return coll_refuse(why, "%s needs %s, which %s not offered here", algorithm->name,
                       coll_capability_text(lacks), lacks & COLL_NEEDS_SHARED ? "is" : "are");
}

/* Adds the rules for some collectives: one for all that the name means one algorithm for. `like`
 * has all but what is added here. */
COLL_INLINE bool coll_i_table_rules(coll_table *table, const coll_rule *like, const char *text,
                                    coll_sentence *why)
{
    const size_t first = table->list.n;
    const char *params = text;
    char name[COLL_I_WORD];
    if (!coll_i_word_take(&params, ":", name, sizeof name))
        return coll_refuse(why, "there is no algorithm called \"%.60s…\"", text);
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
        coll_pick pick;
        coll_bindings bindings;
        coll_rule rule = *like, *at = table->rules + first;
        if (!coll_is(like->collectives, (coll_collective)c))
            continue;
        if (!coll_algorithm_named((coll_collective)c, name, &pick, why))
            return false;
        while (at < table->rules + table->list.n && at->algorithm != pick.algorithm)
            at++;
        if (at < table->rules + table->list.n) {
            at->collectives |= COLL_BIT(c);
            continue;
        }
        if (!coll_i_table_params(&pick, &bindings, params, why) ||
            !coll_i_table_capabilities(table, pick.algorithm, why))
            return false;
        for (uint32_t i = 0; i < bindings.n; i++)
            if (!coll_i_table_capabilities(table, bindings.binding[i].algorithm, why))
                return false;
        rule.collectives = COLL_BIT(c);
        rule.algorithm = pick.algorithm;
        rule.in_bytes = pick.in_bytes;
        memcpy(rule.param, pick.param, sizeof rule.param);
        table->old |= pick.old | bindings.old;
        if (!coll_i_table_take(table, 1, 0, 1) ||
            !coll_i_table_bindings(table, &bindings, &rule))
            return coll_refuse(why, "there is no room for more than %zu rules", table->list.n);
        table->rules[table->list.n++] = rule;
    }
    return true;
}

/* A rule without its algorithm: for all problems. */
COLL_INLINE void coll_i_rule_begin(coll_rule *rule)
{
    memset(rule, 0, sizeof *rule);
    rule->p_least = 1;
    rule->p_most = COLL_ANY_P;
    rule->bytes_most = SIZE_MAX;
}

#endif /* COLL_SELECT_TABLE_STORE_H */
