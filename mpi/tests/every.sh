#!/bin/sh
# Every algorithm that the layer can run, forced in turn: random cases by it and by the library itself.
#   every.sh LIBRARY
# Run k takes the k-th algorithm of each collective. Nodes of two ranks (COLL_PPN) make composed ones do something.
. "$(dirname "$0")/run/mpi.sh"
differential=$programs/tests/differential
need "$differential"
need "$COLL_COMMAND"

# What the layer can never run, by trait:
#   needs-counts   of gatherv and scatterv, MPI tells the counts to the root alone
#   needs-route    it gives graphs no routes
# and of 5 ranks:
#   needs-power-of-two
never='needs-(counts|route|power-of-two)'

# COLLECTIVE ALGORITHM NUMBER KIND: multicasts and what the network does are of all ranks of one node, and so is
# SHARED memory, but of algorithms that work by nodes.
"$COLL_COMMAND" list --markdown | awk -F ' *[|] *' -v never="$never" '
    NR > 2 && $5 !~ never {
        kind = $5 ~ /needs-(multicast|network)/ || ($5 ~ /needs-shared/ && $5 !~ /uses-nodes/) ? "one" : "two"
        print $2, $3, ++n[kind $2], kind
    }' >"$work/rows"
check 'there are algorithms' [ "$(wc -l <"$work/rows")" -gt 100 ]

# try KIND PPN: those of a kind, on nodes of so many ranks.
try() {
    for k in $(seq "$(awk -v kind="$1" '$4 == kind && $3 > n { n = $3 } END { print n }' "$work/rows")"); do
        awk -v k="$k" -v kind="$1" '$3 == k && $4 == kind' "$work/rows" >"$work/these"
        forced=$(awk '{ printf "%s%s:%s", sep, $1, $2; sep = ";" }' "$work/these")
        only=$(awk '{ printf "%s%s", sep, $1; sep = "," }' "$work/these")
        cases=$(awk '{ n += 5 } END { print n < 12 ? 12 : n }' "$work/these")
        layered 5 COLL_VERBOSE=1 COLL_PPN="$2" COLL_ALGORITHM="$forced" OMPI_MCA_op=^avx "$differential" --only "$only" \
            --cases "$cases" --seed "$k" --bytes 65536
        ended 0
        prints "$cases cases on 5 ranks, seed $k: 0 differences"
        grep -E '^coll: [a-z_]+, [0-9]+ ranks, ' "$work/err" | grep -F '(COLL_ALGORITHM)' >>"$work/chosen"
    done
}
try two 2
try one 5

# Each was really used.
while read -r collective algorithm k kind; do
    check "$collective by $algorithm was tried" \
        grep -q -E "^coll: $collective, [2-9] ranks, [0-9]+ bytes: $algorithm(:[^ ]*)? \(" "$work/chosen"
done <"$work/rows"
done_tests
