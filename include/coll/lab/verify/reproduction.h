/* coll/lab/verify/reproduction.h — a case in words, all that is needed to prove it again
 *
 * Use lab/verify_grid.h, or this part alone.
 */
#ifndef COLL_LAB_VERIFY_REPRODUCTION_H
#define COLL_LAB_VERIFY_REPRODUCTION_H

#include "case.h"

/* Writes what is bound to a level: LEVEL=NAME,PARAMETER=VALUE, as --inner takes it; nothing, if that is what
 * usually does. Returns how long it is. */
COLL_INLINE size_t coll_grid_play_words(const coll_grid_case *of, coll_level level, char *text,
                                        size_t bytes)
{
    const coll_grid_play *play = &of->play[level];
    size_t n = 0;
    if (!play->algorithm)
        return 0;
    n = (size_t)snprintf(text, bytes, "%s=%s", coll_level_name(level), play->algorithm->name);
    for (uint32_t i = 0; i < play->algorithm->n_params && n < bytes; i++)
        n += (size_t)snprintf(text + n, bytes - n, ",%s=%u", play->algorithm->params[i].name,
                              play->param[i]);
    return n;
}

/* Writes a case as words, all that is needed to prove it again. */
COLL_INLINE void coll_grid_case_words(const coll_grid_case *of, char *text, size_t bytes)
{
    size_t n = (size_t)snprintf(text, bytes, "%s %s p=%u", coll_collective_name(of->collective),
                                of->algorithm->name, of->p);
    if (n < bytes && coll_is(COLL_ROOTED, of->collective))
        n += (size_t)snprintf(text + n, bytes - n, " root=%u", of->root);
    if (n < bytes && of->collective != COLL_BARRIER)
        n += (size_t)snprintf(text + n, bytes - n, " count=%zu", of->count);
    if (n < bytes && of->graph != COLL_GRID_NO_GRAPH)
        n +=
            (size_t)snprintf(text + n, bytes - n, " graph=%s", coll_grid_graph_name(of->graph));
    if (n < bytes && of->layout != COLL_GRID_PLAIN)
        n += (size_t)snprintf(text + n, bytes - n, " layout=%s%s",
                              coll_grid_layout_name(of->layout),
                              of->root_only ? " (tables at the root alone)" : "");
    if (n < bytes && of->nodes == COLL_GRID_NODES_UNEVEN)
        n += (size_t)snprintf(text + n, bytes - n, " nodes=uneven");
    else if (n < bytes && of->nodes != 0)
        n += (size_t)snprintf(text + n, bytes - n, " nodes=%u", of->nodes);
    if (n < bytes && of->rails != COLL_GRID_NO_RAILS)
        n += (size_t)snprintf(text + n, bytes - n, " rails=%s",
                              coll_grid_rails_words(of->rails));
    if (n < bytes && of->groups == COLL_GRID_NODES_UNEVEN)
        n += (size_t)snprintf(text + n, bytes - n, " groups=uneven");
    else if (n < bytes && of->groups != 0)
        n += (size_t)snprintf(text + n, bytes - n, " groups=%u", of->groups);
    if (n < bytes && of->places.kind != COLL_GRID_NO_PLACES)
        n += (size_t)snprintf(text + n, bytes - n, " places=%s:%u:%u",
                              coll_grid_places_name(of->places.kind), of->places.nodes,
                              of->places.which);
    if (n < bytes && of->group.kind != COLL_GRID_NO_GROUP)
        n += (size_t)snprintf(text + n, bytes - n, " group=%s:%u:%u",
                              coll_grid_group_name(of->group.kind), of->group.outer,
                              of->group.which);
    for (uint32_t i = 0; i < of->algorithm->n_params && n < bytes; i++)
        n += (size_t)snprintf(text + n, bytes - n, " %s=%u", of->algorithm->params[i].name,
                              of->param[i]);
    for (uint32_t i = 0; i < of->n_bindings && n < bytes; i++)
        n += (size_t)snprintf(text + n, bytes - n, " %s=%s",
                              coll_level_name(of->bindings[i].level),
                              of->bindings[i].algorithm->name);
    for (unsigned level = 0; level < COLL_LEVELS && n < bytes; level++) {
        n += (size_t)snprintf(text + n, bytes - n, of->play[level].algorithm ? " " : "");
        n += coll_grid_play_words(of, (coll_level)level, text + n, n < bytes ? bytes - n : 0);
    }
    if (n < bytes && coll_is(COLL_REDUCING, of->collective))
        n += (size_t)snprintf(text + n, bytes - n, " %s",
                              of->flags & COLL_FLAG_COMMUTATIVE ? "commutative"
                                                                : "non-commutative");
    if (n < bytes && (of->flags & COLL_FLAG_IN_PLACE))
        snprintf(text + n, bytes - n, " in-place");
}

#endif /* COLL_LAB_VERIFY_REPRODUCTION_H */
