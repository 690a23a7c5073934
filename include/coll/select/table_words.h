/* coll/select/table_words.h — collectives, algorithms, parameters and what is used inside, in words
 *
 *   coll_collective which; coll_pick pick; coll_sentence why;
 *   if (!coll_collective_named("bcast", &which, &why) ||
 *       !coll_algorithm_named(which, "knomial", &pick, &why) ||
 *       !coll_param_read(&pick, "segment=64k", true, &why))
 *       puts(why.text);
 *
 * Parameters that are numbers of elements (segment, buffer, block, overlap) are in bytes in rules, as these
 * are for all element types: 8192, 64k; with an e behind them they are elements all the same: 64e.
 */
#ifndef COLL_SELECT_TABLE_WORDS_H
#define COLL_SELECT_TABLE_WORDS_H

#include "../algos/registry.h"
#include "../select.h"
#include "names.h"

/* ---- collectives ------------------------------------------------------------------------- */

/* The collective of this name. false: there is none, `why` says which there are. */
COLL_INLINE bool coll_collective_named(const char *word, coll_collective *collective,
                                       coll_sentence *why)
{
    const char *names[COLL_COLLECTIVES];
    size_t i;
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        names[c] = coll_collective_name((coll_collective)c);
    i = coll_name_index("collective", word, names, COLL_COLLECTIVES, why);
    if (i == COLL_NO_NAME)
        return false;
    *collective = (coll_collective)i;
    return true;
}

/* Takes the beginning of *at, up to one of `ends` or to the end of the text, without blanks
 * around it; *at is then behind it, or NULL at the end. false: it is longer than the word. */
COLL_INLINE bool coll_i_word_take(const char **at, const char *ends, char *word, size_t bytes)
{
    const size_t whole = strcspn(*at, ends);
    const char *from = *at;
    size_t length = whole;
    *at = from[whole] ? from + whole + 1 : NULL;
    for (; length > 0 && strchr(" \t\r\n", *from); length--)
        from++;
    while (length > 0 && strchr(" \t\r\n", from[length - 1]))
        length--;
    if (length >= bytes)
        return false;
    memcpy(word, from, length);
    word[length] = '\0';
    return true;
}

enum { COLL_I_WORD = 64 };

/* Reads a list of collectives, `allreduce,bcast`, or `all`, into a mask of COLL_BIT. Nothing at
 * all is no collective. */
COLL_INLINE bool coll_collectives_read(const char *text, uint32_t *mask, coll_sentence *why)
{
    *mask = 0;
    while (text) {
        char word[COLL_I_WORD];
        coll_collective collective;
        const char *rest = text;
        if (!coll_i_word_take(&rest, ",", word, sizeof word))
            return coll_refuse(why, "there is no collective \"%.60s…\"", text);
        text = rest;
        if (coll_name_is(word, "all")) {
            *mask = COLL_BIT(COLL_COLLECTIVES) - 1;
        } else if (word[0]) {
            if (!coll_collective_named(word, &collective, why))
                return false;
            *mask |= COLL_BIT(collective);
        }
    }
    return true;
}

/* ---- words of before --------------------------------------------------------------------- */

/* Words that tables had in earlier versions, which are still read, and the words of today. */
typedef struct coll_old_word {
    const char *before, *now; /* what it was called, and is */
} coll_old_word;

/* Words that rules may have from before. */
COLL_TABLE(coll_old_word, coll_old_words, {
    {"within", "intra"}, {"across", "inter"}, {"fabric", "in_network"}, {"meet", "shm_flat"}});

/* How many there are. */
#define COLL_OLD_WORDS (sizeof coll_old_words / sizeof coll_old_words[0])

/* The word of today for this one, which is itself unless it is an old one; bit i of *old is then
 * set for coll_old_words[i]. */
COLL_INLINE const char *coll_word_now(const char *word, uint32_t *old)
{
    for (size_t i = 0; i < COLL_OLD_WORDS; i++)
        if (coll_name_is(word, coll_old_words[i].before)) {
            *old |= 1u << i;
            return coll_old_words[i].now;
        }
    return word;
}

/* Says what old words are called now; false if there are none among them. */
COLL_INLINE bool coll_old_words_text(uint32_t old, coll_sentence *text)
{
    size_t n = 0;
    text->text[0] = '\0';
    for (size_t i = 0; i < COLL_OLD_WORDS; i++)
        if ((old >> i) & 1u)
            n += (size_t)snprintf(text->text + n, sizeof text->text - n,
                                  n ? ", \"%s\" \"%s\"" : "\"%s\" is called \"%s\" now",
                                  coll_old_words[i].before, coll_old_words[i].now);
    return n > 0;
}

/* ---- algorithms -------------------------------------------------------------------------- */

/* An algorithm and its parameters, as the user chose them. */
typedef struct coll_pick {
    const coll_algorithm *algorithm;
    const coll_alias *alias;        /* the other name by which it goes; NULL: its own */
    uint32_t param[COLL_PARAM_MAX]; /* in its order; COLL_DEFAULT */
    uint32_t in_bytes;              /* bit i: param[i] is in bytes */
    uint32_t old;                   /* bit i: it was called coll_old_words[i].before */
} coll_pick;

/* The names by which algorithms for a collective go; of COLL_REGISTRY_COUNT + COLL_ALIAS_COUNT at
 * most. */
COLL_INLINE size_t coll_algorithm_names(coll_collective collective, const char **names)
{
    size_t n = 0;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        if (coll_is(coll_registry[i]->collectives, collective))
            names[n++] = coll_registry[i]->name;
    for (size_t i = 0; i < COLL_ALIAS_COUNT; i++)
        if (coll_is(coll_aliases[i].collectives, collective))
            names[n++] = coll_aliases[i].name;
    return n;
}

/* Starts a pick with the algorithm of this name for this collective; false: there is none. */
COLL_INLINE bool coll_i_pick(coll_collective collective, const char *name, coll_pick *pick)
{
    pick->alias = coll_find_alias(collective, name);
    pick->algorithm = coll_find(collective, pick->alias ? pick->alias->algorithm : name);
    for (uint32_t i = 0; i < COLL_PARAM_MAX; i++)
        pick->param[i] = COLL_DEFAULT;
    if (pick->alias && pick->alias->first)
        pick->param[0] = pick->alias->first;
    pick->in_bytes = pick->old = 0;
    return pick->algorithm != NULL;
}

/* The algorithm that goes by a word, with the parameters that this fixes. */
COLL_INLINE bool coll_algorithm_named(coll_collective collective, const char *word,
                                      coll_pick *pick, coll_sentence *why)
{
    const char *names[COLL_REGISTRY_COUNT + COLL_ALIAS_COUNT];
    const size_t n = coll_algorithm_names(collective, names);
    char what[64], list[320];
    const char *now;
    uint32_t old = 0;
    size_t i;
    now = coll_word_now(word, &old);
    for (i = 0; i < n && !coll_name_is(now, names[i]); i++)
        ;
    if (i < n && coll_i_pick(collective, names[i], pick)) {
        pick->old = old;
        return true;
    }
    for (i = 0; i < COLL_REGISTRY_COUNT; i++)
        if (coll_name_is(now, coll_registry[i]->name)) {
            coll_names_list(names, n, list, sizeof list);
            return coll_refuse(why, "%s does not solve %s; %s do%s", coll_registry[i]->name,
                               coll_collective_name(collective), list, n == 1 ? "es" : "");
        }
    snprintf(what, sizeof what, "algorithm for %s called", coll_collective_name(collective));
    coll_name_index(what, word, names, n, why);
    return false;
}

/* ---- parameters -------------------------------------------------------------------------- */

/* Is the parameter a number of elements? */
COLL_INLINE bool coll_param_is_size(const coll_param *param)
{
    return coll_name_is(param->name, "segment") || coll_name_is(param->name, "buffer") ||
           coll_name_is(param->name, "block") || coll_name_is(param->name, "overlap");
}

/* The index of the parameter of this name, or n_params. The radix is k, also where it is called f. */
COLL_INLINE uint32_t coll_param_index(const coll_algorithm *algorithm, const char *word)
{
    uint32_t i = 0;
    while (i < algorithm->n_params && !coll_name_is(word, algorithm->params[i].name))
        i++;
    if (i == algorithm->n_params && i > 0 && coll_name_is(word, "k") &&
        coll_name_is("f", algorithm->params[0].name))
        return 0;
    return i;
}

/* Reads NAME=NUMBER into the pick. `rule`: sizes are in bytes, unless there is an e behind them. */
COLL_INLINE bool coll_param_read(coll_pick *pick, const char *word, bool rule,
                                 coll_sentence *why)
{
    const coll_algorithm *algorithm = pick->algorithm;
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : 0;
    char name[COLL_I_WORD], number[COLL_I_WORD];
    const coll_param *param;
    uint64_t value = 0, least, most;
    size_t digits;
    uint32_t i;
    bool size, bytes;
    if (!equals || length >= sizeof name)
        return coll_refuse(why, "a parameter is written NAME=NUMBER, not \"%.60s\"", word);
    if (algorithm->n_params == 0)
        return coll_refuse(why, "%s has no parameters", algorithm->name);
    memcpy(name, word, length);
    name[length] = '\0';
    i = coll_param_index(algorithm, name);
    if (i == algorithm->n_params) {
        const char *names[COLL_PARAM_MAX] = {NULL};
        for (uint32_t k = 0; k < algorithm->n_params; k++)
            names[k] = algorithm->params[k].name;
        coll_name_index("parameter", name, names, algorithm->n_params, why);
        return false;
    }
    param = &algorithm->params[i];
    size = coll_param_is_size(param);
    digits = strlen(equals + 1);
    bytes = size && rule;
    if (size && digits > 0 && equals[digits] == 'e') {
        digits--;
        bytes = false;
    }
    least = bytes && param->least > 0 ? 1 : param->least;
    most = bytes || (param->most == COLL_DEFAULT && param->default_value != COLL_DEFAULT)
               ? COLL_DEFAULT - 1
               : param->most;
    if (digits < sizeof number) {
        memcpy(number, equals + 1, digits);
        number[digits] = '\0';
    }
    if (digits >= sizeof number || !coll_number_read(number, &value) || value < least ||
        value > most)
        return coll_refuse(why,
                           "the parameter %s of %s is a whole number %sfrom %llu to %llu, not "
                           "\"%.60s\"",
                           param->name, algorithm->name, bytes ? "of bytes " : "",
                           (unsigned long long)least, (unsigned long long)most, equals + 1);
    if (i == 0 && pick->alias && pick->alias->first) {
        if (value != pick->alias->first)
            return coll_refuse(why, "%s is %s with %s=%u", pick->alias->name, algorithm->name,
                               param->name, pick->alias->first);
    } else if (pick->param[i] != COLL_DEFAULT)
        return coll_refuse(why, "the parameter %s of %s is given twice", param->name,
                           algorithm->name);
    pick->param[i] = (uint32_t)value;
    pick->in_bytes &= ~(1u << i);
    pick->in_bytes |= bytes && value > 0 ? 1u << i : 0;
    return true;
}

/* The values of a pick whose parameters are in elements, for coll_plan_init. */
COLL_INLINE void coll_pick_params(const coll_pick *pick, uint32_t *param)
{
    for (uint32_t i = 0; i < pick->algorithm->n_params; i++)
        param[i] = pick->param[i] == COLL_DEFAULT ? pick->algorithm->params[i].default_value
                                                  : pick->param[i];
}

/* ---- what is used inside ----------------------------------------------------------------- */

enum { COLL_BINDINGS_MAX = 64 };

/* Algorithms for the levels of a composite one. It stays in place as long as they are
 * used, as they point into it. */
typedef struct coll_bindings {
    coll_binding binding[COLL_BINDINGS_MAX]; /* their parameters lie in param */
    uint32_t param[COLL_BINDINGS_MAX][COLL_PARAM_MAX];
    uint32_t n;   /* bindings */
    uint32_t old; /* bit i: one was called coll_old_words[i].before */
} coll_bindings;

/* The level of this name. */
COLL_INLINE bool coll_level_named(const char *word, coll_level *level, coll_sentence *why)
{
    const char *names[COLL_LEVELS];
    uint32_t old = 0;
    size_t i;
    word = coll_word_now(word, &old);
    for (unsigned r = 0; r < COLL_LEVELS; r++)
        names[r] = coll_level_name((coll_level)r);
    i = coll_name_index("level", word, names, COLL_LEVELS, why);
    if (i == COLL_NO_NAME)
        return false;
    *level = (coll_level)i;
    return true;
}

/* The name of algorithms, whatever they solve, that may be bound to a level: composite ones only
 * between nodes, which must have groups then (coll_beyond). */
COLL_INLINE bool coll_i_binding_named(const char *word, coll_level level, const char **name,
                                      uint32_t *old, coll_sentence *why)
{
    const char *names[COLL_REGISTRY_COUNT + COLL_ALIAS_COUNT];
    size_t n = 0, found;
    const char *built = NULL;
    word = coll_word_now(word, old);
    for (size_t i = 0; i < COLL_REGISTRY_COUNT + COLL_ALIAS_COUNT; i++) {
        const bool alias = i >= COLL_REGISTRY_COUNT;
        const char *one =
            alias ? coll_aliases[i - COLL_REGISTRY_COUNT].name : coll_registry[i]->name;
        size_t k = 0;
        while (k < n && !coll_name_is(names[k], one))
            k++;
        if (!alias && level != COLL_INTER && (coll_registry[i]->traits & COLL_NEEDS_BUILD))
            built = coll_name_is(word, one) ? one : built;
        else if (k == n)
            names[n++] = one;
    }
    for (size_t i = 0; i < n && built; i++)
        built = coll_name_is(word, names[i]) ? NULL : built;
    if (built)
        return coll_refuse(why, "%s is composite, so it is used inside one only as inter=%s",
                           built, built);
    found = coll_name_index("algorithm to use inside called", word, names, n, why);
    *name = found == COLL_NO_NAME ? NULL : names[found];
    return *name != NULL;
}

/* Adds the algorithms of a name for a level: NAME, then K=V for the parameters, with , or /
 * between. The name stands for the algorithms of all of `collectives` that have it, and each takes
 * those parameters that it has: in elements. `rule`: sizes have an e behind them to say so. */
COLL_INLINE bool coll_bindings_read(coll_bindings *bindings, coll_level level, const char *text,
                                    uint32_t collectives, bool rule, coll_sentence *why)
{
    coll_pick picks[COLL_COLLECTIVES];
    const uint32_t first = bindings->n;
    const char *name = NULL, *at = text;
    char word[COLL_I_WORD];
    uint32_t n = 0;
    if (!coll_i_word_take(&at, ",/", word, sizeof word))
        return coll_refuse(why, "there is no algorithm to use inside called \"%.60s…\"", text);
    if (!coll_i_binding_named(word, level, &name, &bindings->old, why))
        return false;
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
        uint32_t k = 0;
        if (!coll_is(collectives, (coll_collective)c) ||
            !coll_i_pick((coll_collective)c, name, &picks[n]) ||
            (level != COLL_INTER && (picks[n].algorithm->traits & COLL_NEEDS_BUILD)))
            continue;
        while (k < n && picks[k].algorithm != picks[n].algorithm)
            k++;
        n += k == n;
    }
    if (n == 0)
        return coll_refuse(why, "%s does not solve what there is to solve %s", name,
                           coll_level_name(level));
    if (n > COLL_BINDINGS_MAX - first)
        return coll_refuse(why, "more than %d algorithms are used inside", COLL_BINDINGS_MAX);
    while (at) {
        bool known = false;
        uint32_t most = 0; /* whose parameters are the most */
        char key[COLL_I_WORD];
        if (!coll_i_word_take(&at, ",/", word, sizeof word))
            return coll_refuse(why, "a parameter is written NAME=NUMBER, not \"%.60s…\"", text);
        snprintf(key, sizeof key, "%.*s", (int)strcspn(word, "="), word);
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t n_params = picks[k].algorithm->n_params;
            if (n_params > picks[most].algorithm->n_params)
                most = k;
            if (coll_param_index(picks[k].algorithm, key) == n_params)
                continue; /* another one has it */
            if (!coll_param_read(&picks[k], word, rule, why))
                return false;
            known = true;
            if (picks[k].in_bytes)
                return coll_refuse(why, "what is used inside has sizes in elements: %se", word);
        }
        if (!known)
            return coll_param_read(&picks[most], word, rule, why);
    }
    for (uint32_t k = 0; k < n; k++, bindings->n++) {
        coll_binding *binding = &bindings->binding[bindings->n];
        binding->level = level;
        binding->algorithm = picks[k].algorithm;
        binding->params = bindings->param[bindings->n];
        coll_pick_params(&picks[k], bindings->param[bindings->n]);
    }
    return true;
}

#endif /* COLL_SELECT_TABLE_WORDS_H */
