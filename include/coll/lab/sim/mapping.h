/* coll/lab/sim/mapping.h — which rank is on which place of a topology
 *
 *   block        rank r is on place r
 *   cyclic:N     ranks are dealt out in turn to runs of N places: with 3 runs, ranks 0, 1 and 2 are on
 *                the first place of each, 3, 4 and 5 on the second
 *   random:S     the p first places in an order that seed S says
 *   @FILE        the place of each rank, rank by rank, as words of the file
 *
 * Places are those that are not missing, counted from 0.
 */
#ifndef COLL_LAB_SIM_MAPPING_H
#define COLL_LAB_SIM_MAPPING_H

#include "outages.h"

/* Deals p ranks out in turn to runs of so many places. O(p). */
COLL_INLINE void coll_mapping_cyclic(uint32_t *place, uint32_t p, uint32_t run)
{
    uint32_t rank = 0;
    for (uint32_t first = 0; first < run; first++)
        for (uint64_t at = first; at < p; at += run)
            place[rank++] = (uint32_t)at;
}

/* Puts p ranks on the first p places in an order that the seed says (Durstenfeld 1964). O(p). */
COLL_INLINE void coll_mapping_random(uint32_t *place, uint32_t p, uint64_t seed)
{
    for (uint32_t rank = 0; rank < p; rank++)
        place[rank] = rank;
    for (uint32_t left = p; left > 1; left--) {
        const uint32_t other = (uint32_t)(coll_i_mixed(seed, left, p) % left);
        const uint32_t its = place[left - 1];
        place[left - 1] = place[other];
        place[other] = its;
    }
}

/* Are the places below `room`, and each another one? */
COLL_INLINE bool coll_i_mapping_check(const uint32_t *place, uint32_t p, uint32_t room,
                                      coll_sentence *why)
{
    uint8_t *taken = (uint8_t *)calloc(room / 8 + 1, 1);
    bool good = taken != NULL || coll_refuse(why, "there is not enough memory for this");
    for (uint32_t rank = 0; good && rank < p; rank++) {
        const uint32_t at = place[rank];
        if (at >= room)
            good = coll_refuse(why, "rank %u is to be on place %u, and there are %u", rank, at,
                               room);
        else if (taken[at / 8] >> at % 8 & 1)
            good = coll_refuse(why, "rank %u is to be on place %u, where another rank is", rank,
                               at);
        else
            taken[at / 8] = (uint8_t)(taken[at / 8] | 1u << at % 8);
    }
    free(taken);
    return good;
}

COLL_INLINE bool coll_i_mapping_file(uint32_t *place, uint32_t p, uint32_t room,
                                     const char *path, coll_sentence *why)
{
    char *text = coll_text_load("mapping", path, COLL_OUTAGES_FILE, why);
    const char *at = text ? text + strspn(text, " \t\r\n") : NULL;
    uint32_t n = 0;
    bool good = text != NULL;
    for (; good && *at; n++) {
        uint32_t its;
        if (coll_i_outage_item(&at, "", 1, &its) == 0)
            good = coll_refuse(
                why, "a mapping has the place of each rank, a number, not \"%.20s\"", at);
        else if (n < p)
            place[n] = its;
    }
    if (good && n != p)
        good = coll_refuse(why, "the mapping %.200s has %u places, and there are %u ranks",
                           path, n, p);
    free(text);
    return good && coll_i_mapping_check(place, p, room, why);
}

/* Writes the places of p ranks, of `room` ≥ p that there are; false: `why` is a sentence. */
COLL_INLINE bool coll_mapping_read(uint32_t *place, uint32_t p, uint32_t room, const char *text,
                                   coll_sentence *why)
{
    static const char *const names[] = {"block", "cyclic", "random"};
    const size_t name = strcspn(text, ":");
    uint32_t number = 0;
    char word[32];
    const char *at = text + name + 1;
    size_t how;
    if (text[0] == '@')
        return coll_i_mapping_file(place, p, room, text + 1, why);
    snprintf(word, sizeof word, "%.*s", (int)(name < 31 ? name : 31), text);
    how = coll_name_index("mapping", word, names, 3, why);
    if (how == COLL_NO_NAME)
        return false;
    if ((how == 0) != (text[name] == '\0') ||
        (how > 0 &&
         (coll_i_outage_item(&at, "", 1, &number) == 0 || *at || (how == 1 && number == 0))))
        return coll_refuse(
            why,
            "a mapping is block, cyclic:N with runs of N places, random:SEED, or "
            "@FILE, not \"%.60s\"",
            text);
    if (how == 2)
        coll_mapping_random(place, p, number);
    else
        coll_mapping_cyclic(place, p, how == 1 ? number : 1);
    return true;
}

#endif /* COLL_LAB_SIM_MAPPING_H */
