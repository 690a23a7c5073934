#!/bin/sh
# Every algorithm that the layer can run, forced in turn: random cases by it and by the library itself.
#   every.sh LIBRARY
# Run k takes the k-th algorithm of each collective. Nodes of two ranks (COLL_PPN) make composed ones do something.
. "$(dirname "$0")/run/mpi.sh"
differential=$programs/tests/differential
need "$differential"
need "$COLL_COMMAND"

# What the layer can never run, by trait:
#   needs-shared needs-multicast needs-fabric-reduce   it has messages alone
#   needs-counts   of gatherv and scatterv, MPI tells the counts to the root alone
#   needs-route    it gives graphs no routes
never='needs-(shared|multicast|fabric-reduce|counts|route)'

# COLLECTIVE ALGORITHM NUMBER
"$COLL_COMMAND" list --markdown | awk -F ' *[|] *' -v never="$never" '
    NR > 2 && $5 !~ never { print $2, $3, ++n[$2] }' >"$work/rows"
check 'there are algorithms' [ "$(wc -l <"$work/rows")" -gt 100 ]
runs=$(awk '$3 > n { n = $3 } END { print n }' "$work/rows")

for k in $(seq "$runs"); do
    forced=$(awk -v k="$k" '$3 == k { printf "%s%s:%s", sep, $1, $2; sep = ";" }' "$work/rows")
    only=$(awk -v k="$k" '$3 == k { printf "%s%s", sep, $1; sep = "," }' "$work/rows")
    cases=$(awk -v k="$k" '$3 == k { n += 5 } END { print n < 12 ? 12 : n }' "$work/rows")
    layered 5 COLL_VERBOSE=1 COLL_PPN=2 COLL_ALGORITHM="$forced" OMPI_MCA_op=^avx "$differential" --only "$only" \
        --cases "$cases" --seed "$k" --bytes 65536
    ended 0
    prints "$cases cases on 5 ranks, seed $k: 0 differences"
    grep -E '^coll: [a-z_]+, [0-9]+ ranks, ' "$work/err" | grep -F '(COLL_ALGORITHM)' >>"$work/chosen"
done

# Each was really used.
while read -r collective algorithm k; do
    check "$collective by $algorithm was tried" \
        grep -q -E "^coll: $collective, [2-9] ranks, [0-9]+ bytes: $algorithm(:[^ ]*)? \(" "$work/chosen"
done <"$work/rows"
done_tests
