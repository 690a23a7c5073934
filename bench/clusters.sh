#!/bin/sh
# bench/clusters.sh — the rules of select/clusters.h: made by the simulator, and what they lose
#
#   bench/clusters.sh check [N [SEED]]   N problems (300) of each cluster that the making has not seen: what the rules
#                                        of the cluster, and those of select/inter_node.h, lose against the best
#   bench/clusters.sh make [NAME…]       writes include/coll/select/cluster_NAME.h again; some ten minutes each
#
# CC and CFLAGS as usual.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
select=$here/include/coll/select
names='ethernet roce infiniband crowded'

build()
{
    ${CC:-cc} -std=gnu11 ${CFLAGS:--O2} -DCOLL_ONE_REGISTRY=1 -I"$here/include" "$here/bench/clusters.c" \
        "$here/cmake/registry.c" -o "$work/clusters" -lm
}

# header NAME ROWS: the header of a cluster.
header()
{
    upper=$(echo "$1" | tr a-z A-Z)
    grep -o '&coll_[a-z_0-9]*' "$2" | sort -u | tr -d '&' | while read -r algorithm; do
        grep -lE "^COLL_(ALGORITHM|COMPOSITE)[A-Z_]*\($algorithm," "$here"/include/coll/algos/*.h || {
            echo "clusters.sh: no header in algos/ defines $algorithm" >&2
            exit 1
        }
    done | sed 's|.*/coll/|#include "../|; s|$|"|' | sort -u >"$work/includes"
    cat <<END
/* coll/select/cluster_$1.h — rules for several nodes of a cluster: $1
 *
 * Made by bench/clusters.sh, which says how. Use select/clusters.h, or this list alone.
 */
#ifndef COLL_SELECT_CLUSTER_${upper}_H
#define COLL_SELECT_CLUSTER_${upper}_H

$(cat "$work/includes")
#include "cluster_rows.h"

/* clang-format off */
COLL_TABLE(coll_rule, coll_cluster_${1}_rules, {
$(cat "$2")
});
/* clang-format on */

/* The rules of this cluster, then the built-in ones. */
COLL_CONST(coll_rule_list, coll_cluster_$1, {
    coll_cluster_${1}_rules, sizeof coll_cluster_${1}_rules / sizeof coll_cluster_${1}_rules[0],
    &coll_rules_built_in});

#endif /* COLL_SELECT_CLUSTER_${upper}_H */
END
}

case ${1-} in
check)
    build
    for name in $names; do
        "$work/clusters" check "$name" "${2:-300}" "${3:-1}"
    done
    ;;
make)
    shift
    build
    for name in ${*:-$names}; do
        "$work/clusters" measure "$name" >"$work/us"
        "$work/clusters" rules "$name" "$work/us" "$here/include/coll/algos/registry.h" >"$work/rows"
        header "$name" "$work/rows" >"$work/header"
        cp "$work/header" "$select/cluster_$name.h"
    done
    ;;
*)
    sed -n '2,$s/^# \{0,1\}//p;/^set/q' "$0" >&2
    exit 2
    ;;
esac
