#!/bin/sh
# coll sim --workload: one call is what coll sim says of it, calls follow each other, who is late makes others wait, and
# a sentence with the line for everything that is wrong in a file.
coll=$COLL_COMMAND
sub=sim
. "$(dirname "$0")/run/command.sh"
loggp=loggp:L=1us,o=200,g=300,G=0.5
cd "$scratch" || exit 1

# file LINE…: the workload.
file() { printf '%s\n' "$@" >load; }

# says LINE ARGUMENT…: simulates the workload, and prints this line.
says() {
    line=$1
    shift
    run 0 --workload load --model $loggp "$@" || return
    grep -q -x -F -e "$line" out || fail "coll sim --workload of $(tr '\n' ';' <load) does not print '$line'"
}

# Each row of one call.
for call in 'allreduce ring' 'bcast fnomial f=3 root=5' 'reduce kary k=4 segment=16' 'alltoall pairwise' 'scan linear' \
    'allgather ring' 'barrier dissemination' 'neighbor_alltoall linear graph=ring' 'allreduce two_level inter=ring'; do
    # shellcheck disable=SC2086
    set -- $call
    case $1 in barrier) count='' ;; *) count=count=100 ;; esac
    file "$call $count"
    options=$(echo "$call" | sed -e 's/ root=/ --root /' -e 's/ graph=/ --graph /' -e 's/ inter=/ --inner inter=/' -e 's/ \([a-z]*=[0-9]\)/ --param \1/g')
    # shellcheck disable=SC2086
    "$coll" sim $options ${count:+-n 100} -p 12 --nodes 4 --model $loggp >one
    # The same, with noise and another seed.
    says "$(grep '^makespan' one)" -p 12 --nodes 4
    # shellcheck disable=SC2086
    "$coll" sim $options ${count:+-n 100} -p 12 --model $loggp --noise noise:frequency=20000,duration=5us --topology mesh:3x4 >one
    says "$(grep '^makespan' one)" -p 12 --noise noise:frequency=20000,duration=5us --topology mesh:3x4
done

# A dissemination among 2^k ranks keeps them in step: each takes 3 messages of 1.4 us.
file 'barrier dissemination' 'compute 10us' 'repeat 3' 'barrier dissemination' 'end'
says 'makespan   26.8 us' -p 8
says 'ranks      compute 10 us in the mean, are in calls 16.8 us, and wait 0 us of these for the last one to come' -p 8
file 'repeat 2' 'repeat 3 # six' 'compute 1ms' '' '    repeat 2' 'barrier dissemination' 'end' 'end' 'barrier linear' 'end'
run 0 --workload load -p 8 --model $loggp
grep -q '^load: 8 ranks, 14 calls$' out && grep -q '^ *6 *12 ' out && grep -q '^ *9 *2 ' out || fail 'repeats do not repeat'
# Rank 3 is late: the others wait for that long, and it for nobody.
file 'compute 5us rank 3 100us' 'barrier dissemination'
says 'makespan   109.4 us' -p 8
says 'ranks      compute 17.5 us in the mean, are in calls 90.275 us, and wait 87.5 us of these for the last one to come' -p 8
says '         2        1          4.4       90.275         87.5  barrier, dissemination f=2: 8 ranks' -p 8
# All messages are there when it comes: it sends and receives three.
says '         3          105          1.2            0        1' -p 8
says '         0            5        103.3          100        0' -p 8
# The root of a broadcast does not wait for a leaf that is late; its message is there when that comes.
file 'compute 0us rank 1 100us' 'bcast linear count=1'
says '         0            0          0.2          0.2        0' -p 2
says '         1          100       0.2035            0        1' -p 2
file 'compute 0us ramp 70us' 'barrier linear'
says '         4           40         33.7           30        0' -p 8
says '         7           70          4.6            0        1' -p 8
# Chance: within its bounds; the same for one seed, and other for another one.
for pattern in random imbalance exponential; do
    file 'repeat 2' "compute 10us $pattern 10us" 'barrier dissemination' 'end'
    run 0 --workload load -p 64 --model $loggp --json --seed 5
    cp out five
    run 0 --workload load -p 64 --model $loggp --json --seed 5
    cmp -s out five || fail "$pattern: one seed gives two results"
    run 0 --workload load -p 64 --model $loggp --json --seed 6
    cmp -s out five && fail "$pattern: two seeds give one result"
    checks=$((checks + 1))
    sed -n 's/.*"computing_us": \([0-9.]*\).*/\1/p' five | awk -v pattern=$pattern '
        { n++; sum += $1; if ($1 < 20 || (pattern != "exponential" && $1 > 40)) bad = 1 }
        END { exit bad || n != 64 || sum / n < 26 || sum / n > 48 }' || fail "$pattern is out of its bounds"
done
# What is computed and what is called is all that a rank does.
file 'compute 1us random 9us' 'allreduce ring count=64' 'compute 3us exponential 2us' 'allreduce fnomial count=1'
run 0 --workload load -p 16 --model $loggp --noise noise:frequency=20000,duration=5us --json
checks=$((checks + 1))
awk '/"makespan_us"/ { split($0, a, /[:,]/); makespan = a[2] }
    /"computing_us"/ { split($0, a, /[:,]/); sum = a[2] + a[4]; if (sum > most) most = sum; if (a[6] > a[4]) bad = 1 }
    END { exit bad || (most - makespan) ^ 2 > 1e-12 * makespan ^ 2 }' out || fail 'times do not add up'
if command -v python3 >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    python3 -c 'import json, sys; j = json.load(sys.stdin); assert len(j["by_rank"]) == 16 and len(j["lines"]) == 2' <out || fail 'no JSON'
fi
# The example.
run 0 --workload "$COLL_SOURCE/examples/workloads/conjugate_gradient.workload" -p 16 --model $loggp
grep -q '16 ranks, 153 calls$' out || fail 'the example has other calls'

# ---- what is wrong ---------------------------------------------------------------------------
# wrong SENTENCE LINE…: the file is refused with this, behind its name.
wrong() {
    sentence_of_file=$1
    shift
    file "$@"
    refuses "load, line $sentence_of_file" --workload load -p 8 --model $loggp
}
wrong '1: there is no collective "allredce"; did you mean "allreduce"?; or compute, repeat, end' 'allredce ring'
wrong '2: which algorithm of allreduce? coll list allreduce names them' '# nothing' allreduce
wrong '1: there is no algorithm for allreduce called "rng"; did you mean "ring"?' 'allreduce rng'
wrong '1: after the algorithm stand words such as count=64, not "64"' 'allreduce ring 64'
wrong '1: count is a whole number from 0 to 4611686018427387902, not "x"' 'allreduce ring count=x'
wrong '1: root is a whole number from 0 to 7, not "8"' 'bcast linear root=8'
wrong '1: there is no parameter "j"; there are k, segment' 'bcast kary j=3'
wrong '1: a time is one from 0 to 1000 s such as 5us, not "5kg"' 'compute 5kg'
wrong '1: compute is written compute TIME, as compute 50us' compute
wrong '1: there is no pattern "randm"; did you mean "random"?' 'compute 1us randm 2us'
wrong '1: ramp is written with one time, as random 10us' 'compute 1us ramp'
wrong '1: rank is written rank R TIME, as rank 3 100us' 'compute 1us rank 100us'
wrong '1: a rank is a whole number from 0 to 7, not "9"' 'compute 1us rank 9 100us'
wrong '2: there is no repeat that this ends' 'barrier linear' end
wrong '4: the repeat of line 2 has no end' 'barrier linear' 'repeat 3' 'barrier linear'
wrong '1: how often something is repeated is a whole number from 1 to 1000000000, not "0"' 'repeat 0'
wrong '2: all repeats together are more than 4G times' 'repeat 1000000' 'repeat 1000000'
wrong '1: alltoall bruck is impossible: counts or offsets exceed what this machine can address' 'alltoall bruck count=4611686018427387901'

# ---- pictures --------------------------------------------------------------------------------
# All calls in one picture and one trace, with what ranks compute between them: of 8 ranks 3 computations and 4 calls
# each, 2 of 24 messages and 2 of 7.
file 'compute 5us random 5us' 'repeat 2' 'compute 3us ramp 6us' 'allreduce recursive_doubling' 'bcast fnomial root=3' end
run 0 --workload load -p 8 --model $loggp
sed '/^simulated/d' out >plain
run 0 --workload load -p 8 --model $loggp --svg load.svg --trace load.json
sed '/^simulated/d' out | cmp -s - plain || fail 'a picture changes the report'
if command -v xmllint >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    xmllint --noout load.svg 2>err || fail 'the picture is no XML'
    [ "$(xmllint --xpath 'count(//*[local-name()="g"][last()]/*)' load.svg 2>err)" = 62 ] || fail 'not 62 messages are drawn'
fi
grep -q ">load, 8 ranks: $(sed -n 's/^makespan  *//p' out)<" load.svg || fail 'the picture has another makespan'
[ "$(grep -c '"name":"allreduce recursive_doubling","cat":"collective"' load.json)" -eq 16 ] || fail 'not 16 allreduces in the trace'
[ "$(grep -c '"name":"compute","cat":"compute"' load.json)" -eq 24 ] || fail 'not 24 computations in the trace'
[ "$(grep -c '"name":"message".*"ph":"s"' load.json)" -eq 62 ] || fail 'not 62 messages in the trace'

file '# nothing'
refuses 'load has no call of a collective' --workload load -p 8 --model $loggp
refuses 'there cannot be read: No such file or directory' --workload there -p 8 --model $loggp
refuses '--workload FILE says which collectives, of what: leave them out here' bcast linear --workload load -p 8 --model $loggp
refuses '--workload FILE says which collectives, of what: leave them out here' --count 3 --workload load -p 8 --model $loggp
refuses 'when ranks begin is said in the workload: compute 0us random 5us, not --skew' --workload load -p 8 --model $loggp --skew 5us
refuses '--links tells of one collective, not of a workload' --workload load -p 8 --model $loggp --links 2
refuses '--trace and --svg write files, not "-"' --workload load -p 8 --model $loggp --svg -
refuses 'a picture shows at most 1024 ranks, not 1025' --workload load -p 1025 --model $loggp --svg a.svg
refuses '-p P, the number of ranks, is missing' --workload load --model $loggp
done_checks
