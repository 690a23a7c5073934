#!/bin/sh
# --import: what coll export writes is proven, shown, simulated and run; a mistake is named by rank and step; and a
# sentence for what cannot be.
coll=$COLL_COMMAND
sub=verify
. "$(dirname "$0")/run/command.sh"
cd "$scratch" || exit 1

# prints LINE ARGUMENT…: the subcommand succeeds, and prints this line.
prints() {
    line=$1
    shift
    run 0 "$@" || return
    grep -q -x -F -e "$line" "$scratch/out" || fail "coll $sub $* does not print '$line'"
}

# wrong LINE ARGUMENT…: the proof fails, with this line.
wrong() {
    line=$1
    shift
    run 1 "$@"
    grep -q -F -e "$line" "$scratch/out" || fail "coll $sub $* does not print '$line'"
}

"$coll" export msccl allreduce ring -p 4 -o ring.xml
"$coll" export json allreduce ring -p 4 --count 8 -o ring.json
"$coll" export goal allreduce ring -p 4 --count 8 --reduce 250 -o ring.goal
prints 'ring.xml: allreduce, allreduce_ring: 4 ranks, count 4' --import ring.xml
prints '  proven, in whatever order its thread blocks run' --import ring.xml
prints '  24 messages, 6 in the longest chain; as a sequence it needs a window of 2, or 1 send in flight' --import ring.json
prints '  24 messages' --import ring.goal

sed '0,/type="rcs"/s//type="r"/' ring.xml >wrong.xml
wrong 'FAILED: rank 1, step 6: thread block 0 ' --import wrong.xml
sed '0,/"offset": 2}/s//"offset": 4}/' ring.json >wrong.json
wrong 'FAILED: rank ' --import wrong.json
sed '0,/recv 16b/s//recv 8b/' ring.goal >wrong.goal
wrong 'expects 8 bytes from rank 3, which sends 16' --import wrong.goal

refuses 'none.xml cannot be read: No such file or directory' --import none.xml
refuses '--import FILE says what is done, and is proven alone: leave the rest out' allreduce --import ring.xml
echo hello >words
refuses 'words, line 1: this is neither JSON ({), nor XML for MSCCL (<), nor GOAL (num_ranks)' --import words

sub=show said='coll show'
run 0 --import ring.goal
run 0 --import ring.xml
refuses 'ALGORITHM is missing; coll show --help shows the usage' allreduce
refuses 'COLLECTIVE is missing; coll show --help shows the usage'

sub=sim said='coll sim'
# The same as of the algorithm.
run 0 allreduce ring -p 4 --count 1k --model loggp:L=1us,o=200,g=300,G=0.5
grep '^makespan' out >is
run 0 --import ring.xml --count 1k --model loggp:L=1us,o=200,g=300,G=0.5
grep '^makespan' out | cmp -s - is || fail 'a schedule that was read takes another time than the algorithm'
refuses 'ring.goal is GOAL, which says nothing of data: coll verify and coll show read it' --import ring.goal --model hockney:alpha=1us,beta=1
refuses '--import FILE says what is done: leave COLLECTIVE and ALGORITHM out' allreduce ring --import ring.xml --model hockney:alpha=1us,beta=1

sub=run said='coll run'
run 0 --import ring.xml --count 400 --repeat 2
run 0 --import ring.json --repeat 2 --transport loopback
refuses 'ring.xml cuts what it moves in 4 chunks: --count is a multiple of that, not 6' --import ring.xml --count 6
refuses 'ring.json is for elements of 8 bytes, not of 4: give --type' --import ring.json --type f32
done_checks
