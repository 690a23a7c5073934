# mpi/tests/run/mpi.sh — what the tests that run under MPI share; sourced with the library's name, never run
#
#   need FILE                          a program of the build; missing: the test is skipped, or fails
#                                      where COLL_REQUIRE_ALL=1
#   plain P [NAME=VALUE…] PROGRAM…     P ranks with these settings
#   layered P [NAME=VALUE…] PROGRAM…   … with the layer preloaded
#   launch P COMMAND… [: P COMMAND…]…  ranks of several kinds
#   outlive                            from here on the launcher lets ranks live when another one ends
#   ended CODE, prints TEXT, says TEXT, silent TEXT   what the last run did: its exit code, output, complaints
#   check WHAT TEST…                   anything else that holds
#   done_tests                         ends the test
#
# $library is mpich or openmpi, $programs the folder of what is built for it, $work a folder to be in that is
# removed at the end; $work/out and $work/err have what the last run wrote.
set -u
export LC_ALL=C
library=${1:?give the name of a library: mpich or openmpi}
programs=$COLL_BUILD/mpi/$library
layer=$programs/libcollmpi.so
seconds=${seconds:-100}
checks=0 failures=0
unset COLL_ALGORITHM COLL_TABLE COLL_OFF COLL_VERBOSE COLL_PPN COLL_SHM COLL_NEAR COLL_HUGE COLL_ZERO_COPY COLL_IN_PLACE COLL_DEADLINE COLL_TOP COLL_ONE_SUM COLL_TRACE COLL_TRACE_CALLS COLL_TRACE_EVERY

missing() {
    [ "${COLL_REQUIRE_ALL:-}" != 1 ] || { echo "FAILED: $1" && exit 1; }
    echo "skipped: $1"
    exit 77
}

need() {
    [ -e "$1" ] || missing "$1 was not built"
}

[ -x "${COLL_MPIEXEC:-}" ] || missing "$library is not installed, or its mpiexec is not beside its compiler"
need "$layer"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

survival=''
outlive() {
    case $library in
    openmpi) survival="--enable-recovery --mca btl_vader_backing_directory $work" ;; # the dead leave files there
    *) survival=-disable-auto-cleanup ;;
    esac
}

# A run that fails ends at once: Open MPI gives its ranks a second or two to die, although nothing is left to do.
launch() {
    last="$*"
    case $library in
    openmpi)
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -k 5 "$seconds" "$COLL_MPIEXEC" --oversubscribe \
            --bind-to none --mca btl self,vader --mca odls_base_sigkill_timeout 0 $survival -n "$@" >"$work/out" 2>"$work/err" </dev/null
        ;;
    *)
        LD_PRELOAD="$together" timeout -k 5 "$seconds" "$COLL_MPIEXEC" $survival -n "$@" \
            >"$work/out" 2>"$work/err" </dev/null
        ;;
    esac
    code=$?
}

# MPICH does not yield while it waits, nor would it help those in sessions of their own.
polite='' together=''
if [ "$library" = mpich ] && [ -e "$programs/tests/yield.so" ]; then
    polite=$programs/tests/yield.so together=$programs/tests/session.so
fi

plain() {
    ranks=$1
    shift
    launch "$ranks" env LD_PRELOAD="$polite" "$@"
}

layered() {
    ranks=$1
    shift
    launch "$ranks" env LD_PRELOAD="$layer${polite:+:$polite}" "$@"
}

fail() {
    echo "does not hold: $*; of $last"
    sed 's/^/    /' "$work/out" "$work/err" | head -30
    failures=$((failures + 1))
}

check() {
    what=$1
    shift
    checks=$((checks + 1))
    "$@" || fail "$what"
}

ended() {
    check "it ends with $1 (it was $code)" [ "$code" -eq "$1" ]
}

prints() {
    check "the output has \"$1\"" grep -qF -e "$1" "$work/out"
}

says() {
    check "stderr has \"$1\"" grep -qF -e "$1" "$work/err"
}

silent() {
    check "stderr lacks \"$1\"" sh -c '! grep -qF -e "$1" "$2"' sh "$1" "$work/err"
}

done_tests() {
    echo "$checks checks, $failures failed"
    [ $checks -gt 0 ] && [ $failures -eq 0 ]
    exit
}
