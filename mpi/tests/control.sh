#!/bin/sh
# What the environment asks of the MPI layer: it is done, told, and refused with one sentence where it is not understood.
#   control.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
cpi=$programs/cpi dot=$programs/dot
need "$cpi"
need "$dot"

pi() {
    ended 0
    check 'π is right' grep -q -E "^pi is about 3\.14159[0-9]+, error [0-9.]+e-(0[7-9]|1[0-9]), $1 ranks, " "$work/out"
}

# like TEXT PATTERN: * in the pattern is any text.
like() {
    # shellcheck disable=SC2254
    case $1 in
    $2) ;;
    *) return 1 ;;
    esac
}

# refused SENTENCE: the last run ended with this alone.
refused() {
    ended 2
    check 'it says one sentence' [ "$(grep -c '^coll: ' "$work/err")" -eq 1 ]
    check "it refuses with \"coll: $1\"" like "$(grep '^coll: ' "$work/err")" "coll: $1"
    check 'the program did not run' [ "$(grep -c 'pi is' "$work/out")" -eq 0 ]
}

# ---- programs, with and without the layer -------------------------------------------------

for p in 1 2 3 5; do
    plain $p "$cpi" 1000
    pi $p
    layered $p "$cpi" 1000
    pi $p
    silent coll:
    plain $p "$dot"
    ended 0
    prints "$p ranks: done, scalar product"
    layered $p COLL_VERBOSE=0 "$dot"
    ended 0
    prints "$p ranks: done, scalar product"
    silent coll:
done

# ---- what is told --------------------------------------------------------------------------

# chose COLLECTIVE RANKS BYTES ALGORITHM WHY: the choice is told once.
chose() {
    check "it chose $4 for $1, as $5" [ "$(grep -c -x -F "coll: $1, $2 ranks, $3 bytes: $4 ($5)" "$work/err")" -eq 1 ]
}

# counted COLLECTIVE CALLS BYTES: the summary has a line of this, with seconds.
counted() {
    check "it counts $2 calls of $1 with $3 bytes" grep -q -E "^coll: $1 +$2 +$3 +[0-9]+\.[0-9]{6}$" "$work/err"
}

layered 3 COLL_VERBOSE=1 "$cpi" 1000
pi 3
check 'every choice has a reason' [ "$(grep -c -E '^coll: (bcast|reduce), 3 ranks, 8 bytes: [a-z_]+[^ ]* \(.+\)$' "$work/err")" -eq 2 ]
check 'the summary has a head' grep -q -E '^coll: rank 0 +calls +bytes +seconds$' "$work/err"
counted bcast 1 8
counted reduce 1 8

layered 3 COLL_VERBOSE=1 COLL_ALGORITHM='bcast:chain:chains=2,segment=8192;reduce:snake' "$cpi" 1000
pi 3
chose bcast 3 8 chain:chains=2,segment=8k COLL_ALGORITHM
chose reduce 3 8 snake COLL_ALGORITHM

cat >"$work/rules" <<'T'
# collectives  ranks   bytes   algorithm
bcast          p 2..3  bytes ..1k  kary:k=3   # for the test
bcast                              linear
reduce         p 5                 linear     # not for three
T
layered 3 COLL_VERBOSE=1 COLL_TABLE="$work/rules" "$cpi" 1000
pi 3
chose bcast 3 8 kary:k=3 'for the test'
silent 'not for three'
layered 3 COLL_VERBOSE=1 COLL_TABLE="$work/rules" COLL_ALGORITHM=bcast:bine "$cpi" 1000
pi 3
chose bcast 3 8 bine COLL_ALGORITHM

layered 5 COLL_VERBOSE=1 COLL_PPN=2 COLL_ALGORITHM='bcast,reduce:two_level' "$cpi" 1000
pi 5
chose bcast 5 8 two_level COLL_ALGORITHM
chose reduce 5 8 two_level COLL_ALGORITHM

# On several nodes rules of clusters are taken, unless ranks share processors.
need "$programs/tests/roomy.so"
layer=$layer:$programs/tests/roomy.so
layered 5 COLL_VERBOSE=1 COLL_PPN=2 "$cpi" 1000
pi 5
says 'coll: bcast, 5 ranks, 8 bytes: two_level (short: to each node once'
says 'coll: reduce, 5 ranks, 8 bytes: two_level (short: from each node once'
layer=$programs/libcollmpi.so
layered 5 COLL_VERBOSE=1 COLL_PPN=2 "$cpi" 1000
pi 5
silent 'two_level'

# Multicasts and SHARED memory are of all ranks of a node.
for algorithm in multicast shm; do
    layered 3 COLL_VERBOSE=1 COLL_ALGORITHM=bcast:$algorithm "$cpi" 1000
    pi 3
    chose bcast 3 8 $algorithm COLL_ALGORITHM
done
layered 5 COLL_VERBOSE=1 COLL_PPN=2 COLL_ALGORITHM=bcast:multicast "$cpi" 1000
pi 5
says 'coll:     not what was asked for: the transport lacks a capability that the algorithm needs'

# Which way long messages take that are the library's.
layered 3 COLL_VERBOSE=1 COLL_SHM=0 COLL_NEAR=0 "$cpi" 1000
pi 3
says "coll: long messages within a node: the kernel's copy (COLL_NEAR)"
layered 3 COLL_VERBOSE=1 COLL_SHM=0 COLL_NEAR=1 "$cpi" 1000
pi 3
says "coll: long messages within a node: the library's memory (COLL_NEAR)"
layered 3 COLL_VERBOSE=1 COLL_SHM=0 "$cpi" 1000
pi 3
[ "$library" = mpich ] || check 'it tells what it measured' grep -q -E "^coll: long messages within a node: the (kernel|library)'s [a-z]+ \(262144 bytes each way by the kernel's copy: [0-9.]+ us, by the library's memory: [0-9.]+ us; in pieces up to [0-9]+ bytes\)$" "$work/err"
layered 3 COLL_VERBOSE=1 COLL_SHM=1 "$cpi" 1000
pi 3
silent 'long messages'

# What does not fit is told, and the answer is right all the same.
layered 3 COLL_VERBOSE=1 COLL_ALGORITHM=reduce:fence:width=7 "$cpi" 1000
pi 3
says "coll:     not what was asked for: the number of ranks does not fit the algorithm's geometry"
check 'told of one collective' [ "$(grep -c 'not what was asked for' "$work/err")" -eq 1 ]
counted reduce 1 8

# ---- the library's own ---------------------------------------------------------------------

digits() {
    sed -n 's/^pi is about \([0-9.]*\),.*/\1/p' "$work/out"
}
plain 3 "$cpi" 1000
own=$(digits)
layered 3 COLL_OFF=all COLL_VERBOSE=1 "$cpi" 1000
pi 3
check "$own is the library's own" [ "$(digits)" = "$own" ]
says "coll: bcast: the library's own, as COLL_OFF says"
says "coll: reduce: the library's own, as COLL_OFF says"
check 'nothing is counted' sh -c '! grep -E "^coll: [a-z_]+ +[0-9]+ +[0-9]" "$1"' sh "$work/err"
layered 3 COLL_OFF=bcast,scan COLL_VERBOSE=1 "$cpi" 1000
pi 3
says "coll: bcast: the library's own, as COLL_OFF says"
silent 'coll: reduce: the library'
counted reduce 1 8

# What had another name is read under it, and told once.
layered 3 COLL_IN_PLACE=0 "$cpi" 1000
pi 3
check 'the new name is told once' [ "$(grep -c -x 'coll: COLL_IN_PLACE is called COLL_ZERO_COPY now' "$work/err")" -eq 1 ]
layered 3 COLL_ALGORITHM='bcast:two-level:across=linear' "$cpi" 1000
pi 3
check 'the new words are told once' [ "$(grep -c -x 'coll: "across" is called "inter" now' "$work/err")" -eq 1 ]
layered 2 COLL_IN_PLACE=1 COLL_ZERO_COPY=0 "$cpi" 1000
pi 2
silent 'is called'

# ---- what is refused -----------------------------------------------------------------------

# asks SENTENCE NAME=VALUE…
asks() {
    sentence=$1
    shift
    layered 2 "$@" "$cpi" 1000
    refused "$sentence"
}
asks 'COLL_ALGORITHM: a choice is written COLLECTIVE:ALGORITHM, not "nonsense"' COLL_ALGORITHM=nonsense
asks 'COLL_ALGORITHM: shm needs shared memory, which is not offered here' COLL_SHM=0 COLL_ALGORITHM=bcast:shm
asks 'COLL_ALGORITHM: in_network needs barriers in the network, which are not offered here' COLL_SHM=0 COLL_ALGORITHM=barrier:in_network
asks 'COLL_ALGORITHM: multicast needs multicasts, which are not offered here' COLL_SHM=0 COLL_ALGORITHM=bcast:multicast
asks 'COLL_ALGORITHM: in_network needs reductions in the network, which are not offered here' COLL_SHM=0 COLL_ALGORITHM=allreduce:in_network
asks 'COLL_VERBOSE is 0 or 1, not "loud"' COLL_VERBOSE=loud
asks 'COLL_PPN is a number of ranks from 1 on, not "two"' COLL_PPN=two
asks 'COLL_PPN is a number of ranks from 1 on, not "0"' COLL_PPN=0
asks 'COLL_PPN is a number of ranks from 1 on, not "-1"' COLL_PPN=-1
asks 'COLL_SHM is 0 or 1, not "yes"' COLL_SHM=yes
asks 'COLL_NEAR is 0 or 1, not "far"' COLL_NEAR=far
asks 'COLL_HUGE is 0 or 1, not "large"' COLL_HUGE=large
asks 'COLL_ZERO_COPY is 0 or 1, not "here"' COLL_ZERO_COPY=here
asks 'COLL_ALGORITHM: there is no collective "broadcast"; did you mean "bcast"?' COLL_ALGORITHM=broadcast:linear
asks 'COLL_ALGORITHM: there is no algorithm for bcast called "magic"; there are linear, *' COLL_ALGORITHM=bcast:magic
asks 'COLL_ALGORITHM: ring does not solve bcast; linear, * do' COLL_ALGORITHM=bcast:ring
asks 'COLL_ALGORITHM: there is no parameter "g"; there are f, segment, order' COLL_ALGORITHM=bcast:fnomial:g=4
asks 'COLL_ALGORITHM: the parameter f of fnomial is a whole number from 2 to *, not "four"' COLL_ALGORITHM=bcast:fnomial:k=four
asks 'COLL_ALGORITHM: a choice is written COLLECTIVE:ALGORITHM, not "reduce"' COLL_ALGORITHM=bcast:linear\;reduce
asks 'COLL_OFF: there is no collective "magic"; there are barrier, *' COLL_OFF=bcast,magic
asks "COLL_TABLE: the table $work/none cannot be read: No such file or directory" "COLL_TABLE=$work/none"
asks "COLL_TABLE: the table $work cannot be read: Is a directory" "COLL_TABLE=$work"
printf 'bcast linear\nbcast p 8..4 linear\n' >"$work/bad"
asks "COLL_TABLE: $work/bad, line 2: the range p 8..4 ends before it begins" "COLL_TABLE=$work/bad"
printf 'bcast shm\n' >"$work/bad"
asks "COLL_TABLE: $work/bad, line 1: shm needs shared memory, which is not offered here" COLL_SHM=0 "COLL_TABLE=$work/bad"

# Ranks must be asked for the same; one that does not understand stops all.
preload=LD_PRELOAD=$layer${polite:+:$polite}
launch 1 env "$preload" COLL_PPN=2 "$cpi" 1000 : -n 2 env "$preload" "$cpi" 1000
refused 'the ranks were started with different settings in COLL_ALGORITHM, COLL_TABLE, COLL_OFF, COLL_PPN, COLL_SHM, COLL_NEAR, COLL_ZERO_COPY, COLL_DEADLINE, COLL_TOP, COLL_ONE_SUM or COLL_TRACE'
launch 1 env "$preload" "$cpi" 1000 : -n 2 env "$preload" COLL_ALGORITHM=bcast:linear "$cpi" 1000
refused 'the ranks were started with different settings in COLL_ALGORITHM, COLL_TABLE, COLL_OFF, COLL_PPN, COLL_SHM, COLL_NEAR, COLL_ZERO_COPY, COLL_DEADLINE, COLL_TOP, COLL_ONE_SUM or COLL_TRACE'
launch 1 env "$preload" COLL_ZERO_COPY=1 "$cpi" 1000 : -n 2 env "$preload" "$cpi" 1000
refused 'the ranks were started with different settings in COLL_ALGORITHM, COLL_TABLE, COLL_OFF, COLL_PPN, COLL_SHM, COLL_NEAR, COLL_ZERO_COPY, COLL_DEADLINE, COLL_TOP, COLL_ONE_SUM or COLL_TRACE'
launch 2 env "$preload" "$cpi" 1000 : -n 1 env "$preload" COLL_PPN=x "$cpi" 1000
refused 'COLL_PPN is a number of ranks from 1 on, not "x"'
done_tests
