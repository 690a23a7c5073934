#!/bin/sh
# The HPC Challenge under the layer, alone and with libcollheap.so: its own verification passes, and its collectives
# are coll's.
#   hpcc.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
[ "$library" = openmpi ] || { echo "skipped: Debian's hpcc is built on Open MPI, so $library cannot run it" && exit 77; }
hpcc=$(command -v hpcc) || missing 'hpcc is not installed; on Debian: apt-get install hpcc'
ldd "$hpcc" | grep -q 'libmpi\.so' || missing "$hpcc is not built on Open MPI"
cp "$COLL_SOURCE/mpi/tests/data/hpccinf.txt" "$work" || exit 1

seconds=120
result=$work/hpccoutf.txt
has() {
    check "the report has \"$1\"" grep -q -e "$1" "$result"
}

# coll_calls COLLECTIVE…: the summary counts calls of each.
coll_calls() {
    for collective; do
        check "$collective went through coll" grep -q -E "^coll: $collective +[1-9][0-9]* " "$work/err"
    done
}

# verified [NAME=VALUE…]: a run with these settings.
verified() {
    rm -f "$result"
    layered 4 COLL_VERBOSE=1 "$@" "$hpcc"
    ended 0
    check 'there is a report' [ -s "$result" ]
    has '^Success=1$'
    has '^CommWorldProcs=4$'
    has '^||Ax-b||.*PASSED'
    has 'Found 0 errors in .* locations (passed)'
    check 'no test failed' sh -c '! grep -E -e "FAILED|\\(failed\\)|[1-9][0-9]* tests completed and failed" "$1"' sh "$result"
    check 'PTRANS passed on every grid' [ "$(grep -c '^WALL .* PASSED ' "$result")" -ge 1 ]
    check 'both kinds of RandomAccess were verified over MPI' [ "$(grep -c 'Found 0 errors in .* locations (passed)' "$result")" -ge 4 ]
    check 'the transform over MPI is its own inverse' awk -F= '
        $1 == "MPIFFT_maxErr" { seen = 1; good = $2 >= 0 && $2 < 1e-12 }
        END { exit !(seen && good) }' "$result"
    says 'coll: rank 0'
    coll_calls bcast reduce allreduce barrier
}

verified
layer=$programs/libcollheap.so:$layer
verified COLL_ZERO_COPY=1
check 'its memory is the node'"'"'s' grep -q -E "^coll: malloc, the node's +[1-9][0-9]* " "$work/err"
done_tests
