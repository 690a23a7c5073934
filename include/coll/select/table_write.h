/* coll/select/table_write.h — rules as text, which table.h reads back
 *
 *   char text[COLL_RULE_TEXT];
 *   for (size_t i = 0; i < list->n; i++) {
 *       coll_rule_text(&list->rules[i], text, sizeof text);
 *       puts(text);    // allreduce  p 4..  bytes 4k..<1M  rabenseifner  # longer: the least …
 *   }
 */
#ifndef COLL_SELECT_TABLE_WRITE_H
#define COLL_SELECT_TABLE_WRITE_H

#include "table_words.h"

enum { COLL_RULE_TEXT = 1024 }; /* bytes that hold a rule of usual length */

/* Text that grows as far as there is room; `n` is how long it would be. */
typedef struct coll_i_text {
    char *text;
    size_t bytes, n;
} coll_i_text;

COLL_INLINE COLL_I_PRINTF(2, 3) void coll_i_text_add(coll_i_text *to, const char *format, ...)
{
    const size_t room = to->n < to->bytes ? to->bytes - to->n : 0;
    va_list arguments;
    int n;
    va_start(arguments, format);
    n = vsnprintf(room ? to->text + to->n : NULL, room, format, arguments);
    va_end(arguments);
    to->n += n > 0 ? (size_t)n : 0;
}

/* NAME=VALUE; a size that is in elements has an e behind it. */
COLL_INLINE void coll_i_param_add(coll_i_text *to, const coll_param *param, uint32_t value,
                                  bool bytes)
{
    char number[24];
    if (bytes)
        coll_i_text_add(to, "%s=%s", param->name, coll_number_text(value, number));
    else
        coll_i_text_add(to, "%s=%lu%s", param->name, (unsigned long)value,
                        coll_param_is_size(param) && value > 0 ? "e" : "");
}

/* The parameters of what is used inside, each behind a slash. */
COLL_INLINE void coll_i_binding_add(coll_i_text *to, const coll_binding *binding)
{
    coll_i_text_add(to, "%s=%s", coll_level_name(binding->level), binding->algorithm->name);
    for (uint32_t i = 0; binding->params && i < binding->algorithm->n_params; i++) {
        if (binding->params[i] == binding->algorithm->params[i].default_value)
            continue;
        coll_i_text_add(to, "/");
        coll_i_param_add(to, &binding->algorithm->params[i], binding->params[i], false);
    }
}

/* Would this one be written as one before it? A name stands for all algorithms that have it. */
COLL_INLINE bool coll_i_binding_repeats(const coll_rule *rule, uint32_t k)
{
    char a[COLL_RULE_TEXT], b[COLL_RULE_TEXT];
    coll_i_text text = {a, sizeof a, 0};
    coll_i_binding_add(&text, &rule->bindings[k]);
    for (uint32_t i = 0; i < k; i++) {
        coll_i_text other = {b, sizeof b, 0};
        coll_i_binding_add(&other, &rule->bindings[i]);
        if (strcmp(a, b) == 0)
            return true;
    }
    return false;
}

COLL_INLINE void coll_i_algorithm_add(coll_i_text *to, const coll_rule *rule)
{
    const char *between = ":";
    coll_i_text_add(to, "%s", rule->algorithm->name);
    for (uint32_t i = 0; i < rule->algorithm->n_params; i++) {
        if (rule->param[i] == COLL_DEFAULT)
            continue;
        coll_i_text_add(to, "%s", between);
        coll_i_param_add(to, &rule->algorithm->params[i], rule->param[i],
                         ((rule->in_bytes >> i) & 1u) != 0);
        between = ",";
    }
    for (uint32_t i = 0; i < rule->n_bindings; i++) {
        if (coll_i_binding_repeats(rule, i))
            continue;
        coll_i_text_add(to, "%s", between);
        coll_i_binding_add(to, &rule->bindings[i]);
        between = ",";
    }
}

/* Writes the algorithm and the parameters that are not the default ones, `fnomial:f=4,segment=64k`,
 * as a choice has them. Returns how long the text is, without its end; it is cut where there is no
 * room for that. */
COLL_INLINE size_t coll_rule_algorithm_text(const coll_rule *rule, char *text, size_t bytes)
{
    coll_i_text to = {text, bytes, 0};
    coll_i_algorithm_add(&to, rule);
    return to.n;
}

/* A range of bytes, without the end where there is none. */
COLL_INLINE void coll_i_bytes_add(coll_i_text *to, size_t from, size_t end)
{
    char number[24];
    coll_i_text_add(to, "  bytes %s", coll_number_text(from, number));
    if (end == from)
        return;
    coll_i_text_add(to, "..");
    if (end == SIZE_MAX)
        return;
    if (end % 1024 == 1023)
        coll_i_text_add(to, "<%s", coll_number_text((uint64_t)end + 1, number));
    else
        coll_i_text_add(to, "%s", coll_number_text(end, number));
}

/* A range of numbers of ranks, likewise. */
COLL_INLINE void coll_i_ranks_add(coll_i_text *to, const char *name, uint32_t from,
                                  uint32_t end)
{
    coll_i_text_add(to, "  %s %lu", name, (unsigned long)from);
    if (end != from && end != COLL_ANY_P)
        coll_i_text_add(to, "..%lu", (unsigned long)end);
    else if (end != from)
        coll_i_text_add(to, "..");
}

/* Writes a rule as a line of a table, without its end. Returns as above. */
COLL_INLINE size_t coll_rule_text(const coll_rule *rule, char *text, size_t bytes)
{
    coll_i_text to = {text, bytes, 0};
    const char *between = "";
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        if (coll_is(rule->collectives, (coll_collective)c)) {
            coll_i_text_add(&to, "%s%s", between, coll_collective_name((coll_collective)c));
            between = ",";
        }
    if (rule->p_least > 1 || rule->p_most != COLL_ANY_P)
        coll_i_ranks_add(&to, "p", rule->p_least, rule->p_most);
    if (rule->ppn_most > 0)
        coll_i_ranks_add(&to, "ppn", rule->ppn_least, rule->ppn_most);
    if (rule->bytes_least > 0 || rule->bytes_most != SIZE_MAX)
        coll_i_bytes_add(&to, rule->bytes_least, rule->bytes_most);
    coll_i_text_add(&to, "  ");
    coll_i_algorithm_add(&to, rule);
    if (rule->why && rule->why[0])
        coll_i_text_add(&to, "  # %s", rule->why);
    return to.n;
}

#endif /* COLL_SELECT_TABLE_WRITE_H */
