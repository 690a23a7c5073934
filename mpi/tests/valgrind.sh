#!/bin/sh
# Valgrind's memcheck finds nothing that has to do with the layer.
#   valgrind.sh LIBRARY
# An error counts if its stack goes through the layer or the library below it, as does memory that is lost; an error
# in the tester, too, since there bytes show that the layer left undefined. What MPI libraries do wrong alone does
# not count, so their own collectives are not run: the tester compares with its definitions.
. "$(dirname "$0")/run/mpi.sh"
differential=$programs/tests/differential
overrun=$programs/tests/overrun
command -v valgrind >/dev/null || missing 'valgrind is not installed; on Debian: apt-get install valgrind'
need "$differential"
need "$overrun"
seconds=200

# checked RANKS PROGRAM…: runs it, and puts the records of all ranks that count into $work/found.
checked() {
    ranks=$1
    shift
    rm -f "$work"/log.*
    layered "$ranks" valgrind --leak-check=full --num-callers=40 --fullpath-after="$COLL_SOURCE/" \
        --suppressions="$COLL_SOURCE/mpi/tests/data/valgrind.supp" --log-file="$work/log.%p" "$@"
    check 'each rank has a log to its end' [ "$(cat "$work"/log.* | grep -c 'ERROR SUMMARY')" -eq "$ranks" ]
    cat "$work"/log.* | awk '
        function end() {
            if (record ~ /\((examples\/mpi|include\/coll)\// || (record !~ / lost in loss / && record ~ /\(tests\/mpi\//))
                print record
            record = ""
        }
        { sub(/^==[0-9]+== ?/, "") }
        /^$/ { end(); next }
        { record = record $0 "\n" }
        END { end() }' >"$work/found"
}

checked 2 "$overrun"
check 'a buffer that is too short is found' grep -q 'Invalid read' "$work/found"
checked 3 "$differential" --oracle definition --cases 40 --seed 6 --bytes 4096
ended 0
prints '40 cases on 3 ranks, seed 6: 0 differences'
check "nothing is found: $(head -20 "$work/found")" [ ! -s "$work/found" ]
done_tests
