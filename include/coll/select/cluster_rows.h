/* coll/select/cluster_rows.h — how the rows of select/clusters.h are written
 *
 * Use select/clusters.h.
 */
#ifndef COLL_SELECT_CLUSTER_ROWS_H
#define COLL_SELECT_CLUSTER_ROWS_H

#include "../select.h"

/* Of one collective: ranks, bytes and ranks of the largest node from, to; algorithm; its parameters; which of
 * these are in bytes. */
#define COLL_I_CLUSTER(collective, p_from, p_to, from, to, ppn_from, ppn_to, algorithm, a, b,  \
                       c, in_bytes)                                                            \
    {                                                                                          \
        COLL_BIT(collective), p_from, p_to, from, to, algorithm, {a, b, c, COLL_DEFAULT},      \
            in_bytes, "the fastest in simulations of such clusters", NULL, 0, ppn_from, ppn_to \
    }

#endif /* COLL_SELECT_CLUSTER_ROWS_H */
