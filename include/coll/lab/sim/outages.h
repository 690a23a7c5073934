/* coll/lab/sim/outages.h — what of a topology is not there: places without a rank, links that failed
 *
 *   missing=5/9/16..31      places 5, 9, and 16 to 31
 *   failed=5-6/9-13         of a mesh or torus: the links between places 5 and 6, and between 9 and 13
 *   failed=1.3.0/2.0.5      of a fat tree: link 0 of subtree 3 of level 1, and link 5 of subtree 0 of
 *                           level 2, by the names that coll sim --links prints
 *   missing=@FILE           what the file has, items with slashes, spaces or ends of lines between them
 *
 * A link that failed has failed in both directions. The lists are allocated: coll_topology_free.
 */
#ifndef COLL_LAB_SIM_OUTAGES_H
#define COLL_LAB_SIM_OUTAGES_H

#include "topology.h"

enum { COLL_OUTAGES_FILE = 1 << 26 }; /* bytes of a list in a file, at most */

/* ---- lists ------------------------------------------------------------------------------- */

/* Is this between two items, or at the end? */
COLL_INLINE bool coll_i_outage_ends(char at)
{
    return at == '/' || at == ' ' || at == '\t' || at == '\r' || at == '\n' || at == '\0';
}

/* Reads an item of `most` numbers or fewer, with this between them, and goes on to the next. Returns
 * how many numbers; 0: it is none. */
COLL_INLINE unsigned coll_i_outage_item(const char **at, const char *between, unsigned most,
                                        uint32_t *number)
{
    const size_t gap = strlen(between);
    for (unsigned n = 0; n < most;) {
        char *after;
        const unsigned long long value =
            **at >= '0' && **at <= '9' ? strtoull(*at, &after, 10) : UINT64_MAX;
        if (value > UINT32_MAX)
            return 0;
        number[n++] = (uint32_t)value;
        *at = after;
        if (coll_i_outage_ends(**at)) {
            if (**at == '/' && coll_i_outage_ends((*at)[1]))
                return 0; /* nothing behind it */
            *at += **at ? 1 : 0;
            while (**at && **at != '/' && coll_i_outage_ends(**at))
                ++*at;
            return n;
        }
        if (strncmp(*at, between, gap) != 0)
            return 0;
        *at += gap;
    }
    return 0;
}

/* Makes room for one more in a list that has n and doubles. */
COLL_INLINE bool coll_i_outage_room(uint32_t **list, uint32_t n, coll_sentence *why)
{
    uint32_t *more;
    if (n > 0 && (n & (n - 1)) != 0)
        return true;
    more = (uint32_t *)realloc(*list, 2 * ((size_t)n + 1) * sizeof **list);
    if (!more)
        return coll_refuse(why, "there is not enough memory for this");
    *list = more;
    return true;
}

/* The text behind @, or NULL where it is in the words themselves; false: it cannot be read. */
COLL_INLINE bool coll_i_outage_text(const char *what, const char *text, char **loaded,
                                    coll_sentence *why)
{
    *loaded = text[0] == '@' ? coll_text_load(what, text + 1, COLL_OUTAGES_FILE, why) : NULL;
    return text[0] != '@' || *loaded;
}

/* ---- places without a rank --------------------------------------------------------------- */

COLL_INLINE bool coll_i_missing_list(coll_topology *t, const char *text, coll_sentence *why)
{
    const char *at = text + strspn(text, " \t\r\n");
    while (*at) {
        uint32_t place[2];
        const unsigned n = coll_i_outage_item(&at, "..", 2, place);
        const uint32_t last = n > 1 ? place[1] : place[0];
        if (n == 0 || last < place[0] || last >= t->ends ||
            (t->n_missing > 0 && place[0] <= t->missing[t->n_missing - 1]))
            return coll_refuse(why,
                               "missing is a list of growing numbers below %u such as "
                               "5/9/16..31, or @FILE, not \"%.60s\"",
                               t->ends, text);
        for (uint32_t end = place[0]; end <= last; end++) {
            if (!coll_i_outage_room(&t->missing, t->n_missing, why))
                return false;
            t->missing[t->n_missing++] = end;
        }
    }
    return t->n_missing < t->ends || coll_refuse(why, "all %u places are missing", t->ends);
}

/* Reads the places that are missing; false: `why` is a sentence. */
COLL_INLINE bool coll_topology_missing(coll_topology *t, const char *text, coll_sentence *why)
{
    char *loaded;
    bool good;
    t->n_missing = 0;
    if (!coll_i_outage_text("list of missing places", text, &loaded, why))
        return false;
    good = coll_i_missing_list(t, loaded ? loaded : text, why);
    free(loaded);
    return good;
}

/* ---- links that failed ------------------------------------------------------------------- */

/* Adds a link. */
COLL_INLINE bool coll_topology_fail(coll_topology *t, uint32_t link, coll_sentence *why)
{
    if (!coll_i_outage_room(&t->failed, t->n_failed, why))
        return false;
    t->failed[t->n_failed++] = link;
    return true;
}

/* The links between two places; *some: there is one. */
COLL_INLINE bool coll_i_fail_between(coll_topology *t, uint32_t from, uint32_t to, bool *some,
                                     coll_sentence *why)
{
    for (uint32_t k = 0; from < t->ends && to < t->ends && k < t->degree; k++) {
        uint32_t link;
        if (t->neighbour(t, from, k, &link) != to)
            continue;
        if (!coll_topology_fail(t, link, why))
            return false;
        *some = true;
    }
    return true;
}

/* A link of a list of a topology whose places are linked to each other. */
COLL_INLINE bool coll_i_fail_pair(coll_topology *t, const char **at, const char *text,
                                  coll_sentence *why)
{
    uint32_t place[2];
    bool some = false;
    if (coll_i_outage_item(at, "-", 2, place) != 2)
        return coll_refuse(
            why,
            "failed is a list of links by the two places that they link, such as "
            "5-6/9-13, or @FILE, not \"%.60s\"",
            text);
    if (!coll_i_fail_between(t, place[0], place[1], &some, why) ||
        !coll_i_fail_between(t, place[1], place[0], &some, why))
        return false;
    return some || coll_refuse(why, "there is no link between places %u and %u that could fail",
                               place[0], place[1]);
}

/* A link of a list of a topology whose links have three numbers; `of` finds both directions. */
COLL_INLINE bool coll_i_fail_number(coll_topology *t, const char **at, const char *text,
                                    coll_sentence *why)
{
    uint32_t number[3], links[2];
    if (coll_i_outage_item(at, ".", 3, number) != 3)
        return coll_refuse(why,
                           "failed is a list of links by level, subtree and number, such as "
                           "1.3.0/2.0.5, or @FILE, not \"%.60s\"",
                           text);
    if (!t->numbered(t, number, links))
        return coll_refuse(why, "there is no link %u of subtree %u of level %u that could fail",
                           number[2], number[1], number[0]);
    return coll_topology_fail(t, links[0], why) && coll_topology_fail(t, links[1], why);
}

/* Reads the links that failed; false: `why` is a sentence. */
COLL_INLINE bool coll_topology_failed(coll_topology *t, const char *text, coll_sentence *why)
{
    char *loaded;
    bool good = true;
    const char *at;
    t->n_failed = 0;
    if (!coll_i_outage_text("list of failed links", text, &loaded, why))
        return false;
    at = loaded ? loaded : text;
    for (at += strspn(at, " \t\r\n"); good && *at;)
        good = t->neighbour ? coll_i_fail_pair(t, &at, loaded ? loaded : text, why)
                            : coll_i_fail_number(t, &at, loaded ? loaded : text, why);
    free(loaded);
    return good;
}

#endif /* COLL_LAB_SIM_OUTAGES_H */
