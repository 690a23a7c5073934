#!/bin/sh
# COLL_TRACE: what ranks called is written once, by rank 0, as a trace or a picture.
#   traces.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
cpi=$programs/cpi late=$programs/tests/late
need "$cpi"
need "$late"

# calls NAME RANK: how many calls of this collective the trace has of a rank.
calls() {
    grep -c -F "{\"name\":\"$1\",\"cat\":\"collective\",\"ph\":\"X\",\"pid\":$2," "$work/trace"
}

# whole FILE: it is JSON, as far as this machine can tell.
whole() {
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["traceEvents"]' "$1"
    else
        [ "$(tail -n 1 "$1")" = ']}' ]
    fi
}

# Each rank's calls, whoever's messages they go by, and also those that are the library's own.
for how in COLL_SHM=1 COLL_SHM=0 COLL_PPN=2 COLL_OFF=reduce COLL_OFF=all COLL_DEADLINE=1m; do
    layered 3 COLL_TRACE="$work/trace" "$how" "$cpi" 1000
    ended 0
    silent coll:
    check 'it is whole' whole "$work/trace"
    for rank in 0 1 2; do
        check "rank $rank broadcasts once" [ "$(calls bcast $rank)" = 1 ]
        check "rank $rank reduces once" [ "$(calls reduce $rank)" = 1 ]
    done
    check 'it tells bytes' grep -q '"name":"reduce".*"args":{"bytes":8}' "$work/trace"
done

# The last of four ranks is a second late, so the others' calls take that long, by one clock.
layered 4 COLL_TRACE="$work/trace" "$late" absent
ended 0
took() {
    sed -n "s/^{\"name\":\"allreduce\",.*\"pid\":$1,.*\"dur\":\([0-9]*\)\..*/\1/p" "$work/trace"
}
began() {
    sed -n "s/^{\"name\":\"allreduce\",.*\"pid\":$1,.*\"ts\":\([0-9]*\)\..*/\1/p" "$work/trace"
}
check 'rank 0 waits for it' [ "$(took 0)" -ge 900000 ]
check 'rank 3 calls after the others' [ "$(began 3)" -ge "$(($(began 0) + 900000))" ]
check 'rank 0 is done after rank 3 has called' [ "$(($(began 0) + $(took 0)))" -ge "$(began 3)" ]

# A picture.
layered 3 COLL_TRACE="$work/picture.svg" "$cpi" 1000
ended 0
check 'it is a picture' grep -q '<svg' "$work/picture.svg"
check 'it is whole' [ "$(tail -n 1 "$work/picture.svg")" = '</svg>' ]
check 'it says of what' grep -q '6 collectives of 3 ranks' "$work/picture.svg"

# Bounded memory: the latest calls are there, and what is not is told.
layered 3 COLL_TRACE="$work/trace" COLL_TRACE_CALLS=1 "$cpi" 1000
ended 0
says "coll: COLL_TRACE: $work/trace has the latest 3 of 6 calls; the 3 older ones were dropped"
check 'the latest is there' [ "$(calls reduce 1)" = 1 ]
check 'the older one is not' [ "$(calls bcast 1)" = 0 ]

# Of short calls each Nth, the same ones on all ranks.
layered 3 COLL_TRACE="$work/trace" COLL_TRACE_EVERY=2 "$cpi" 1000
ended 0
for rank in 0 1 2; do
    check "the second call of rank $rank is there" [ "$(calls reduce $rank)" = 1 ]
    check "the first one is not" [ "$(calls bcast $rank)" = 0 ]
done

# refused SENTENCE
refused() {
    check 'it ends with an error' [ "$code" -ne 0 ]
    says "coll: $1"
    check 'the program did not run' [ "$(grep -c 'pi is' "$work/out")" -eq 0 ]
}
layered 2 COLL_TRACE="$work/none/trace" "$cpi" 1000
refused "COLL_TRACE: $work/none/trace cannot be written: No such file or directory"
layered 2 COLL_TRACE_CALLS=many "$cpi" 1000
refused 'COLL_TRACE_CALLS is a number of calls from 1 to 4194304, not "many"'
layered 2 COLL_TRACE_EVERY=0 "$cpi" 1000
refused 'COLL_TRACE_EVERY is a number of calls from 1 to 4194304, not "0"'
done_tests
