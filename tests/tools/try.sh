#!/bin/sh
# coll try: headers of the tree and of one's own; mistakes, crashes and what does not compile; every sentence; and
# nothing is left behind.
coll=$COLL_COMMAND
sub=try
. "$(dirname "$0")/run/command.sh"
cd "$scratch" || exit 1
mkdir left
export TMPDIR="$scratch/left"

# says PATTERN ARGUMENT…: succeeds, and prints a line that matches.
says() {
    pattern=$1
    shift
    run 0 "$@" || return
    grep -q -e "$pattern" out || fail "coll try $* does not print '$pattern'"
}

# finds PATTERN ARGUMENT…: ends with 1, and prints a line that matches.
finds() {
    pattern=$1
    shift
    run 1 "$@" || return
    grep -q -e "$pattern" out || fail "coll try $* does not print '$pattern'"
}

# ends LINE ARGUMENT…: cannot be met; the last line on stderr is this one, the compiler's may be before it.
ends() {
    line=$1
    shift
    run 2 "$@" || return
    [ "$(tail -1 err)" = "coll try: $line" ] || fail "coll try $* does not say: $line"
}

# header STEPS STEP: the rest of a header with one algorithm, a broadcast by the root, of these bodies.
header() {
    cat <<END
#ifndef COLL_MINE_H
#define COLL_MINE_H
#include "coll/plan.h"

COLL_INLINE size_t coll_mine_steps(const coll_plan *plan, uint32_t rank)
{
    $1
}

COLL_INLINE unsigned coll_mine_step(const coll_plan *plan, uint32_t rank, size_t s, coll_action *out)
{
    const uint32_t root = plan->problem.root;
    $2
}

COLL_ALGORITHM(coll_mine_bcast, "mine", "nobody 2026",
    COLL_BIT(COLL_BCAST), COLL_GIVES_IDENTICAL,
    /* window */ 1, /* sends */ 1, COLL_NO_PARAMS,
    coll_mine_steps, coll_mine_step);
#endif
END
}
steps='return rank == plan->problem.root ? plan->problem.p : 1;'
receives='if (rank != root) { coll_act_recv(out, root, COLL_AT(COLL_OUT, 0), plan->problem.count); return 1; }'
copies='if (s == root) { coll_act_copy(out, COLL_AT(COLL_OUT, 0), coll_input(plan), plan->problem.count); return 1; }'
sends='coll_act_send(out, (uint32_t)s, coll_input(plan), plan->problem.count); return 1;'

# ---- right ---------------------------------------------------------------------------------------
header "$steps" "$receives $copies $sends" >mine.h
says '^1 algorithm of mine.h, compiled in [0-9.]* s$' mine.h
grep -q '^bcast  *mine  *[0-9]*  *[0-9]\{3,\}  .* proven$' out || fail 'large plans are not proven'
grep -q '^[0-9]* plans of 1 line proven in [0-9.]* s$' out || fail 'there is no sum'
grep -q '^\$ coll try mine.h show bcast mine -p 6 --rank 2$' out || fail 'nothing is drawn'
grep -q '^round 5   ●─' out || fail 'there is no picture'
grep -q '^\$ coll try mine.h sim bcast mine -p 64 --model loggp' out || fail 'nothing is simulated'
grep -q '^makespan  ' out || fail 'there is no time'
says '^bcast  *mine  *[0-9]*  *16 .* proven$' mine.h --quick -j 1
# An edit is what is proven next.
cp mine.h edited.h
says 'proven$' edited.h --quick
sed -i 's/plan->problem.p : 1/plan->problem.p - 1 : 1/' edited.h
finds 'FAILED$' edited.h --quick
says '^bcast, mine: 3 ranks, 3 elements, root 0$' mine.h show bcast mine -p 3
says '^bcast  *mine .* proven$' mine.h --quick verify -p 1..4
says '^  mine  *identical; window 1, in order 1$' mine.h list
says '^makespan' mine.h sim bcast mine -p 9 --model hockney:alpha=1us,beta=1
says 'bcast, mine' mine.h run bcast mine -p 3 --repeat 2
says '"algorithm": "mine"' mine.h export json bcast mine -p 3
for record in 'static const coll_algorithm coll_mine_bcast = {' 'COLL_CONST(coll_algorithm, coll_mine_bcast, {'; do
    end='};' && [ "${record%%_*}" = COLL ] && end='});'
    sed -e "s/^COLL_ALGORITHM(coll_mine_bcast,/$record/" -e "s/^    coll_mine_steps, coll_mine_step);/    coll_mine_steps, coll_mine_step, NULL, NULL, NULL, NULL$end/" \
        mine.h >written_out.h
    says '^  mine  *identical; window 1, in order 1$' written_out.h list
done
sed 's/^COLL_ALGORITHM/COLL_STATIC_ALGORITHM/' mine.h >static.h
says '^  mine  *identical; window 1, in order 1$' static.h list
says '^bcast, fnomial' mine.h show bcast binomial -p 3 # beside those of the table
says '^3 algorithms' "$COLL_SOURCE/include/coll/algos/ring.h" --quick
says '^allreduce  *dpml_pipelined .* proven$' "$COLL_SOURCE/include/coll/algos/dpml.h" --quick
says '^makespan' "$COLL_SOURCE/include/coll/algos/in_network.h" --quick
says '^neighbor_allgather  *mesh_combining ' "$COLL_SOURCE/include/coll/algos/mesh_combining.h" --quick

# ---- wrong ---------------------------------------------------------------------------------------
header "$steps" "$receives $copies coll_act_send(out, (uint32_t)s, coll_input(plan), plan->problem.count / 2); return 1;" >short.h
finds '^bcast  *mine .* FAILED$' short.h
grep -q '^  coll try short.h show bcast mine -p [2-8] --count [0-9]* --root [0-9]' out || fail 'no command shows the plan'
grep -q '^bcast, mine: [2-8] ranks' out || fail 'the plan that fails is not drawn'
grep -q '^1 of 1 line FAILED with up to 8 ranks, so no more are tried$' out || fail 'it does not end early'
shown=$(sed -n 's/^  coll try short.h show //p' out)
# shellcheck disable=SC2086
finds '^bcast, mine: ' short.h show $shown
header "$steps" "$receives $copies if (plan->problem.p > 20) coll_act_send(out, (uint32_t)s, coll_input(plan), 0); else $sends return 1;" >late.h
finds '^1 .*\|plans of 1 line, of which 1 FAILED$' late.h
header "$steps" "(void)s; for (unsigned i = 0; i < 9; i++) coll_act_recv(&out[i], root, COLL_AT(COLL_OUT, 0), 0); return 9;" >crowd.h
finds '^  rank [0-9]*, step 0: yields 9 actions; COLL_STEP_MAX is 4$' crowd.h
header "$steps" "$receives $copies if (plan->problem.p == 5 && s == 3) return *(volatile unsigned *)(s - 3); $sends" >crash.h
finds '^coll try: an algorithm ends the program with signal 11, Segmentation fault, in this plan or right after it:$' crash.h
grep -q '^  coll try crash.h show bcast mine -p 5 ' out || fail 'no command shows the plan that crashes'
finds '^coll try: an algorithm ends the program with signal 11' crash.h show bcast mine -p 5
header "if (plan->problem.p == 3) return *(volatile unsigned *)(size_t)rank; $steps" "$receives $copies $sends" >steps.h
finds '^coll try: an algorithm ends the program with signal 11' steps.h

# ---- what cannot be met --------------------------------------------------------------------------
refuses 'FILE.h is missing; coll try --help shows the usage'
refuses 'none.h cannot be read: No such file or directory' none.h
refuses '. is no file' .
refuses 'empty.h cannot be read: No such file or directory' empty.h
: >empty.h
refuses 'empty.h defines no algorithm: a line of it must begin "COLL_ALGORITHM(NAME,", or COLL_COMPOSITE' empty.h
sed 's/coll_mine_bcast/coll_i_mine/' mine.h >private.h
refuses 'private.h defines no algorithm but private ones, coll_i_…: a line of it must begin "COLL_ALGORITHM(NAME,", or COLL_COMPOSITE' private.h
refuses 'nothing is expected where "drawing" stands; coll try --help shows the usage' mine.h drawing
header "return nothing;" "return 0;" >worse.h
ends 'worse.h does not compile: see above' worse.h
grep -q "error: .nothing. undeclared\|undeclared identifier .nothing" err || fail 'the compiler says nothing'
mkdir 'a"b' && cp mine.h 'a"b/mine.h'
run 2 'a"b/mine.h'
grep -q '^coll try: a path with quotes, backslashes or line breaks cannot be included: ' err || fail 'quotes are taken'
compiler=$COLL_CC
export COLL_CC='no-such-compiler -O9'
refuses 'the compiler that COLL_CC names, no-such-compiler, cannot be started: No such file or directory' mine.h
COLL_CC= CC=neither
export CC
refuses 'the compiler that CC names, neither, cannot be started: No such file or directory' mine.h
export COLL_CC="$compiler -DNOTHING"
says '^1 algorithm' mine.h --quick
export COLL_INCLUDE="$scratch"
refuses "COLL_INCLUDE is $scratch, and there is no coll/plan.h in it" mine.h
mkdir -p other && cp -r "$COLL_SOURCE/include/coll" other/coll
sed -i 's/^#define COLL_STEP_MAX 4/#define COLL_STEP_MAX 6/' other/coll/config.h
export COLL_INCLUDE="$scratch/other"
refuses "mine.h was compiled with the headers in $scratch/other, or with those beside it, and they are not those of this command: build it again, or name its headers with COLL_INCLUDE=FOLDER" mine.h
unset COLL_INCLUDE
TMPDIR="$scratch/nowhere"
refuses "no folder can be made in $scratch/nowhere: No such file or directory; TMPDIR names another place" mine.h

checks=$((checks + 1))
[ -z "$(ls left)" ] || fail "files are left: $(ls left)"

# ---- installed -----------------------------------------------------------------------------------
if [ -f "$COLL_BUILD/cmake_install.cmake" ]; then
    TMPDIR="$scratch/left"
    checks=$((checks + 1))
    "$COLL_CMAKE" --install "$COLL_BUILD" --prefix "$scratch/installed" >out 2>err || fail 'it cannot be installed'
    mv installed moved
    sed -i 's/^#define COLL_STEP_MAX 4/#define COLL_STEP_MAX 5/' moved/include/coll/config.h # to tell them apart
    coll=$scratch/moved/bin/coll
    run 2 mine.h
    grep -q "headers in $scratch/moved/bin/../include, " err || fail 'the headers that were installed are not taken'
    sed -i 's/^#define COLL_STEP_MAX 5/#define COLL_STEP_MAX 4/' moved/include/coll/config.h
    says '^1 algorithm' mine.h --quick
fi

done_checks
