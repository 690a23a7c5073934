#!/bin/sh
# coll top: the ranks of a job, its late one named; dead ranks, jobs that are over.
#   top.sh [COLL [EXAMPLE]]   the command, $COLL_COMMAND by default; examples/20_published of the build
coll=${1:-$COLL_COMMAND}
example=${2:-${COLL_BUILD:-.}/examples/20_published}
sub=top
. "$(dirname "$0")/run/command.sh"
[ -d /dev/shm ] || { echo 'skipped: there is no /dev/shm' && exit 77; }
if [ ! -x "$example" ]; then
    echo "skipped: $example was not built"
    [ "${COLL_REQUIRE_ALL:-}" != 1 ] || exit 1
    exit 77
fi
launcher='' page=''

# Which pages there are.
pages() {
    for its in /dev/shm/coll-top.*; do
        [ ! -e "$its" ] || echo "${its##*.}"
    done
}

# Starts a job of this command, and finds its page.
begin() {
    pages >"$scratch/before"
    "$coll" launch --top -n 4 "$@" >"$scratch/job" 2>&1 &
    launcher=$!
    page=''
    while [ -z "$page" ] && kill -0 $launcher 2>/dev/null; do
        page=$(pages | grep -v -x -F -f "$scratch/before" | head -n 1)
        sleep 0.1
    done
}

# until_has PATTERN: its table comes to have this, while the job runs.
until_has() {
    checks=$((checks + 1))
    while kill -0 $launcher 2>/dev/null; do
        "$coll" top --once "$page" >"$scratch/out" 2>"$scratch/err" || break
        ! grep -q -e "$1" "$scratch/out" || return 0
        sleep 0.2
    done
    fail "the table has \"$1\""
}

# The last rank is late: it is named, and the others are shown to wait.
begin "$example" 30
until_has 'call 2, allreduce: rank 3 has not called it; its last call was number 1, bcast$'
has "^job $page, 4 ranks$" out
for rank in 0 1 2; do
    has "^ *$rank *[0-9]* *2  allreduce  *1  for [0-9.]* s, message 1 from rank [0-3]$" out
done
has '^ *3 *[0-9]* *1  bcast  *1  is over$' out
run 0 --once
has "^job $page, 4 ranks$" out
run 0 --once 0000000000000000
has '^there is no job 0000000000000000$' out
kill -TERM $launcher
wait $launcher 2>/dev/null

# Nobody is there any more: the page that they left is removed.
run 0 --once "$page"
has "^there is no job $page$" out
checks=$((checks + 1))
[ ! -e "/dev/shm/coll-top.$page" ] || fail 'the page is gone'

# A job that ends well leaves nothing, and one that is not asked to publishes nothing.
begin "$example" 0
wait $launcher
checks=$((checks + 2))
grep -q -x 'rank 0 of 4: done, the sum is 4' "$scratch/job" || fail "the job ends well: $(cat "$scratch/job")"
[ -z "$page" ] || [ ! -e "/dev/shm/coll-top.$page" ] || fail 'nothing is left behind'

# coll run tells its repetitions. While a rank is stopped, the others are shown to wait.
begin "$coll" run allreduce ring --count 10 --transport shm --repeat 5000000
until_has '^ *3 *[0-9]* *[0-9]*  allreduce  *10  '
has "^job $page, 4 ranks$" out
stopped=$(sed -n 's/^ *3 *\([0-9][0-9]*\) .*/\1/p' "$scratch/out")
kill -STOP "$stopped"
until_has '^ *0 *[0-9]* *[0-9]*  allreduce  *10  for [1-9][0-9.]* s'
kill -CONT "$stopped"
kill -TERM $launcher
wait $launcher 2>/dev/null
begin "$coll" run allreduce ring --count 10 --transport shm
wait $launcher
checks=$((checks + 2))
grep -q '^result  *right on all ranks' "$scratch/job" || fail "coll run ends well: $(cat "$scratch/job")"
[ -z "$page" ] || [ ! -e "/dev/shm/coll-top.$page" ] || fail 'coll run leaves nothing behind'

refuses 'there is no option --twice; coll top --help lists the options' --twice
echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
