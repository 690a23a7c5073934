/* tools/groups.h — which ranks outside a plan's ranks are, from the words of --group, and nodes whose
 * ranks are no runs, from those of --places
 *
 *   missing:9:4      a choice of 9 ranks, as the proofs have them (lab/verify/groups.h): number 4
 *   0,3,5            these ranks, in this order
 *   dealt:3:0        ranks dealt out to 3 nodes in turn, as the proofs have them
 *   0,1,0,1          each rank's node
 */
#ifndef COLL_TOOLS_GROUPS_H
#define COLL_TOOLS_GROUPS_H

#include "coll/lab/verify/groups.h"

#define GROUP_OPTIONS(ask)                                                                     \
    WORD("group", "G", "ranks outside: affine:9:1, missing:9:4, shuffled:9:4 or 0,3,5",        \
         &(ask).group),                                                                        \
        WORD("places", "N",                                                                    \
             "each rank's node, if it lies anywhere: dealt:3:0, uneven:3:0, alone:3:0, "       \
             "random:3:0 or 0,1,0,1",                                                          \
             &(ask).places)

/* Makes the group, or the places, or refuses the words. Takes memory, which is that of *groups. */
void group_read(coll_i_groups *groups, const char *words, uint32_t p);
void places_read(coll_i_groups *groups, const char *words, uint32_t p);

#endif /* COLL_TOOLS_GROUPS_H */
