#!/bin/sh
# The library reads the tables that coll select --as writes for it, and chooses by them: its results are right with a
# table of ours and with the built-in rules, and a table with an algorithm that it does not have is refused.
#   tables.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/tables
need "$program"

cat >rules.table <<'END'
bcast      bytes ..<1k    fnomial:f=4                   # of MPICH the nonblocking call alone has this one
bcast      bytes 1k..<16k kary:k=3,segment=1k
bcast      bytes 16k..<64k  scatter_allgather:f=2
bcast      bytes 64k..    pipeline:segment=16k
reduce     bytes ..<1k    fnomial:f=3
reduce     bytes 1k..<16k kary:k=2,segment=1k
reduce     bytes 16k..    rabenseifner
allreduce  bytes ..<1k    recursive_multiplying:k=3
allreduce  bytes 1k..<16k rabenseifner
allreduce  bytes 16k..    ring
allgather,allgatherv  bytes ..<1k     bruck:k=2
allgather             bytes 1k..<16k  recursive_doubling
allgather,allgatherv  bytes 16k..     ring
alltoall   bytes ..<256   bruck:k=2
alltoall   bytes 256..<8k throttled:batch=4
alltoall   bytes 8k..     pairwise
alltoallv  throttled
barrier    dissemination
gather,scatter  binomial
reduce_scatter,reduce_scatter_block  bytes ..<16k  recursive_halving
reduce_scatter  bytes 16k..  ring
reduce_scatter_block         butterfly
scan,exscan recursive_doubling
END

# with FILE COMMAND…: the rest of the line with the table in the library's settings.
with() {
    file=$1
    shift
    case $library in
    mpich) plain 4 MPIR_CVAR_DEVICE_COLLECTIVES=none MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE="$file" "$@" ;;
    openmpi) plain 4 OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_dynamic_rules_filename="$file" "$@" ;;
    esac
}

format='openmpi_rules --non-commutative'
[ "$library" = openmpi ] || format=mpich_json
"$COLL_COMMAND" select --as $format -p 8 --table rules.table -o "$work/mine" 2>notes || fail "a table is written: $(cat notes)"
"$COLL_COMMAND" select --as $format -p 8 -o "$work/built-in" 2>notes || fail "the built-in rules are written: $(cat notes)"
for table in mine built-in; do
    with "$work/$table" "$program"
    ended 0
    prints ' checks, 0 failed'
done

# The rule for a short allreduce on 4 ranks, and only that, with an algorithm that there is not
with "$work/mine" "$program" allreduce
prints 'allreduce: right'
case $library in
mpich)
    sed 's/Iallreduce_intra_tsp_recexch_multiple_buffer/Iallreduce_intra_no_such/' \
        mine >other
    with "$work/other" "$program" allreduce
    check 'MPICH refuses an algorithm that it does not have' [ "$code" -ne 0 ]
    # … and a table without the collective that is called
    sed 's/"collective=iallreduce"/"collective=iexscan"/' mine >other
    with "$work/other" "$program" allreduce
    check 'MPICH finds allreduce in no other place' [ "$code" -ne 0 ]
    ;;
openmpi)
    awk '/# allreduce$/ { of = 1 } of && /# recursive_doubling/ { $2 = 99; of = 0 } 1' mine >other
    with "$work/other" "$program" allreduce
    prints 'allreduce: refused'
    ;;
esac
done_tests
