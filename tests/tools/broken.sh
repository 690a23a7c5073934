#!/bin/sh
# The command coll with algorithms that are wrong: its proofs must fail and its runs must find the wrong
# results, with exit code 1 and the command that shows the case.
set -u
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cc=${COLL_CC:-cc}
# Without -Og, gcc would keep the table of algorithms in each file that does not use it.
"$cc" -std=gnu11 -D_GNU_SOURCE -Og -I"$COLL_SOURCE/include" -include "$COLL_SOURCE/tests/tools/broken.h" \
    "$COLL_SOURCE"/tools/*.c -o "$scratch/coll" -lpthread -lm -ldl || exit 1
checks=0 failed=0

# finds PATTERN ARGUMENT…: ends with 1, and says something that matches.
finds() {
    pattern=$1
    shift
    checks=$((checks + 1))
    "$scratch/coll" "$@" >"$scratch/log" 2>&1
    is=$?
    [ $is -eq 1 ] && grep -q -e "$pattern" "$scratch/log" && return
    failed=$((failed + 1))
    echo "FAILED: coll $* ends with $is, and should say: $pattern"
    cat "$scratch/log"
}

for transport in threads loopback; do
    finds 'the result of repetition 1 is wrong: rank 1 has OUT\[2\] = .*, and it should be' run bcast short -p 3 --transport $transport
    finds 'the result of repetition 1 is wrong: rank 0 has OUT\[0\] = .*, and it should be' run allreduce selfish -p 4 --transport $transport --in-place
    finds 'a rank left the barrier before all had come' run barrier open -p 4 --transport loopback
    finds 'is wrong: rank 2 has OUT' run gatherv idle -p 4 --root 2 --counts 1,2,3,4 --transport $transport
done
finds 'is wrong: rank 1 has OUT\[2\] = .*, and it should be' launch -n 3 "$scratch/coll" run bcast short -p 3 --transport tcp
finds 'wrong: that of rank 2 is, at least' launch -n 3 "$scratch/coll" run bcast short -p 3 --transport tcp
finds 'rank 0 failed in repetition 1: no rank can make progress any more' run allreduce silent -p 4 --transport loopback
finds 'After round 0 nothing moves any more: rank 3 waits for rank 0, say' show allreduce silent -p 4

finds '^bcast  *short .* FAILED$' verify bcast short -p 1..4
finds '^  rank .* OUT\[0\]' verify bcast short -p 1..4
# A report says it, and simulates nothing.
finds '>this plan<.*>FAILED</span>: rank 1, .* OUT\[' report bcast short -p 3
finds '^<p>A plan that is wrong is neither simulated nor compared.</p>$' report bcast short -p 3
finds '; coll show bcast short -p 2 --count 1 --root 0</td>' report bcast short -p 3
finds '^<p>There is no picture: the ranks wait for each other.</p>$' report allreduce silent -p 4
finds '^  coll show bcast short -p 2 --count 1 --root 0$' verify bcast short -p 2
finds '^  coll show allreduce selfish -p 3 --count 1$' verify allreduce selfish -p 3
finds '^  coll show barrier open -p 2$' verify barrier -p 1..5
finds '^  coll show gatherv idle -p 5 --count 6 --layout uneven --root 0$' verify gatherv -p 5
finds '^  coll show scan astray -p 4' verify scan -p 4
finds ', of which 8 FAILED$' verify -p 1..3

# Nothing writes beyond the actions that a step may have.
crowded='rank 0, step 0: yields 4096 actions; COLL_STEP_MAX is 4'
for what in 'show' 'show --rank 3' 'show --all' 'run' 'run --transport loopback' 'sim --model hockney:alpha=1us,beta=1' 'export dot'; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086
    set -- $what
    name=$1
    [ "$name" != export ] || { name="export $2" && shift; }
    shift
    # shellcheck disable=SC2086
    "$scratch/coll" $name alltoall crowded -p 4096 "$@" >"$scratch/log" 2>&1
    is=$?
    [ $is -eq 2 ] && [ "$(cat "$scratch/log")" = "coll ${name% *}: $crowded" ] && continue
    failed=$((failed + 1))
    echo "FAILED: coll $what alltoall crowded ends with $is, and should say: $crowded"
    cat "$scratch/log"
done

# It was not installed, so it finds no headers.
checks=$((checks + 1))
"$scratch/coll" try "$COLL_SOURCE/include/coll/algos/ring.h" >"$scratch/log" 2>&1
is=$?
sentence='the headers of coll are not where this command was installed; COLL_INCLUDE=FOLDER names the folder that has coll/plan.h'
[ $is -eq 2 ] && [ "$(cat "$scratch/log")" = "coll try: $sentence" ] ||
    { failed=$((failed + 1)) && echo "FAILED: coll try finds headers, or does not say: $sentence"; }
checks=$((checks + 1))
COLL_INCLUDE=$COLL_SOURCE/include "$scratch/coll" try "$COLL_SOURCE/include/coll/algos/ring.h" --quick >"$scratch/log" 2>&1 ||
    { failed=$((failed + 1)) && echo "FAILED: coll try with COLL_INCLUDE" && cat "$scratch/log"; }

# The command that a failure names is one that works.
"$scratch/coll" verify -p 1..3 | sed -n 's/^  coll show //p' >"$scratch/shown"
while read -r arguments; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086
    "$scratch/coll" show $arguments >"$scratch/log" 2>&1
    case $?:$arguments in
    0:* | 1:*silent* | 2:*astray* | 2:*crowded*) ;;
    *) failed=$((failed + 1)) && echo "FAILED: coll show $arguments" && cat "$scratch/log" ;;
    esac
done <"$scratch/shown"
[ "$(wc -l <"$scratch/shown")" -eq 8 ] || { echo 'FAILED: a failure names no command' && failed=$((failed + 1)); }

echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
