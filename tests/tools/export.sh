#!/bin/sh
# coll export: every row in every format or refused with the sentence that is documented, files that are
# there whole or not at all, and options that have no meaning.
coll=$COLL_COMMAND
sub=export
. "$(dirname "$0")/run/command.sh"

# ---- every row -------------------------------------------------------------------------------
multicast='GOAL has no multicast: export an algorithm without the trait needs-multicast, or as JSON'
network='GOAL has no reduction by the network: export an algorithm without the traits needs-network-reduce and needs-network-barrier, or as JSON'
msccl_sizes='MSCCL has no blocks of different sizes: export'
msccl_tokens='MSCCL has neither messages without data nor memory that ranks share: export an algorithm without notifications, or as JSON'
msccl_multicast='MSCCL has no multicast: export an algorithm without the trait needs-multicast, or as JSON'
msccl_fabric='MSCCL has no reduction by the network: export an algorithm without the trait needs-network-reduce, or as JSON'

shared='a table has no memory that ranks share: export an algorithm without the trait needs-shared, or as JSON'

# msccl COLLECTIVE ALGORITHM TRAITS P: exports it, or is refused with the sentence for it.
msccl() {
    case $1 in
    barrier) refuses 'MSCCL has no messages without data, and so no barrier: export it as JSON' msccl $1 $2 -p $4 ;;
    gatherv | scatterv | allgatherv | alltoallv) refuses "$msccl_sizes ${1%v}" msccl $1 $2 -p $4 ;;
    alltoallw) refuses "$msccl_sizes alltoall" msccl $1 $2 -p $4 ;;
    reduce_scatter) refuses "$msccl_sizes reduce_scatter_block" msccl $1 $2 -p $4 ;;
    scan | exscan | neighbor_*) refuses "the executors of MSCCL do not know $1: export it as JSON" msccl $1 $2 -p $4 ;;
    *) case $2,$3 in
        throttled,*) [ $4 -eq 5 ] && run 0 msccl $1 $2 -p 5 || refuses "$msccl_tokens" msccl $1 $2 -p $4 ;;
        *needs-shared*) refuses "$msccl_tokens" msccl $1 $2 -p $4 ;;
        *needs-multicast*) refuses "$msccl_multicast" msccl $1 $2 -p $4 ;;
        *needs-network-reduce*) refuses "$msccl_fabric" msccl $1 $2 -p $4 --nodes 2 ;;
        *) run 0 msccl $1 $2 -p $4 ;;
        esac ;;
    esac
}

"$coll" list --markdown | awk -F' *[|] *' 'NR > 2 { print $2, $3, $5 }' >"$scratch/rows"
while read -r collective algorithm traits; do
    ps='5 8'
    case $traits in *needs-power-of-two*) ps=8 ;; esac
    for p in $ps; do
        run 0 json "$collective" "$algorithm" -p $p
        run 0 dot "$collective" "$algorithm" -p $p
        msccl "$collective" "$algorithm" "$traits" $p
        case $traits in
        *needs-shared*) refuses "$shared" c "$collective" "$algorithm" -p $p ;;
        *) run 0 c "$collective" "$algorithm" -p $p ;;
        esac
        case $traits in
        *needs-multicast*) refuses "$multicast" goal "$collective" "$algorithm" -p $p --reduce 250 ;;
        *needs-network-barrier*) refuses "$network" goal "$collective" "$algorithm" -p $p --reduce 250 ;;
        *needs-network-reduce*) refuses "$network" goal "$collective" "$algorithm" -p $p --nodes 2 --reduce 250 ;;
        *) run 0 goal "$collective" "$algorithm" -p $p --reduce 250 ;;
        esac
    done
done <"$scratch/rows"
[ "$checks" -gt 1300 ] || fail 'the list of rows is short'

# Graphviz draws each node once.
if command -v dot >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    for plan in 'bcast fnomial -p 8' 'allreduce ring -p 4' 'allreduce in_network -p 4' 'bcast multicast -p 5' \
        'allreduce dpml -p 4 --nodes 2' 'barrier dissemination -p 5' 'allgather ring -p 1'; do
        # shellcheck disable=SC2086
        run 0 dot $plan
        checks=$((checks + 1))
        dot -Tsvg "$scratch/out" >"$scratch/svg" 2>"$scratch/err" && [ ! -s "$scratch/err" ] &&
            [ "$(grep -c 'class="node"' "$scratch/svg")" -eq "$(grep -c '^ *[a-z]*[0-9_]* \[label\|^ *network[0-9_]* \[' "$scratch/out")" ] ||
            fail "dot does not draw coll export dot $plan"
    done
fi

# Any reader of XML reads MSCCL's; the buffers and steps of GPU 1 of a ring are known.
if command -v xmllint >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    run 0 msccl allreduce ring -p 4
    checks=$((checks + 1))
    [ "$(xmllint --xpath '//gpu[@id=1]/tb[@send=2 and @recv=0]/step/@type' "$scratch/out" 2>"$scratch/err" | tr -d ' \n')" = \
        'type="s"type="rrs"type="rrs"type="rrcs"type="rcs"type="rcs"type="r"' ] || fail 'xmllint reads another ring'
fi

# Compiled tables give the sums, as C and as C++; each rank of a file with all of them compiles, and no other.
# sums ALGORITHM OPTION…
sums() {
    for rank in 0 1 2 3 4; do
        run 0 c allreduce "$@" -p 5 -n 7 --type i32 --rank $rank --name rank$rank -o "$scratch/rank$rank.h"
    done
    for language in 'c -std=c99' 'c++ -std=c++11'; do
        checks=$((checks + 1))
        # shellcheck disable=SC2086
        { ${COLL_CC:-cc} -x $language -Wall -Wextra -Wconversion -Wpedantic -Werror -I"$COLL_SOURCE/include" -I"$scratch" \
            "$COLL_SOURCE/tests/tools/run/c_tables.c" -o "$scratch/tables" && "$scratch/tables"; } >"$scratch/out" 2>"$scratch/err" ||
            fail "the tables of $* do not give the sums ($language)"
    done
}
sums ring
sums recursive_doubling --nic-counters 3
sums fnomial --param f=3 --nic-posted
sums rabenseifner --nic-receives 1
run 0 c allreduce ring -p 4 -o "$scratch/all.h"
echo '#include "all.h"' >"$scratch/one.c"
for rank in 0 3 4; do
    checks=$((checks + 1))
    ${COLL_CC:-cc} -std=c99 -fsyntax-only -Dcoll_program_RANK=$rank -I"$COLL_SOURCE/include" "$scratch/one.c" 2>"$scratch/err"
    [ $? -eq $((rank == 4)) ] || fail "rank $rank of 4 in a file with all"
done
grep -q 'define coll_program_RANK as the rank of this program' "$scratch/err" || fail 'a rank that is not there is not named'
refuses 'rank 0: the program needs more counters than the NIC has: take an algorithm with fewer messages that come in any order, or a NIC that keeps unexpected messages' \
    c alltoall pairwise -p 8 --nic-posted --nic-counters 2
refuses "'7up' is no identifier of C: take letters, digits and _" c bcast linear -p 4 --name 7up
refuses 'there is no rank 4 of 4: --rank is below --ranks' c bcast linear -p 4 --rank 4
refuses '--rank is for c, not for json' json bcast linear -p 4 --rank 0
refuses '--name is for c, not for dot' dot bcast linear -p 4 --name a
refuses '--nic-posted is for c, not for goal' goal bcast linear -p 4 --nic-posted
refuses '--nic-counters is for c, not for json' json bcast linear -p 4 --nic-counters 4
refuses '--nic-receives is for c, not for json' json bcast linear -p 4 --nic-receives 4

# ---- options ---------------------------------------------------------------------------------
run 0 goal allreduce ring -p 4 --count 8 --type f32 --reduce 1500 --cpu 2
grep -q '^l2: calc 12 cpu 2$' "$scratch/out" || fail 'two elements of 4 bytes do not take 12 ns'
refuses 'allreduce combines data, and GOAL says how long that takes: give the --model that coll sim takes, or --reduce picoseconds a byte, which may be 0' \
    goal allreduce ring -p 4
run 0 goal reduce linear -p 2 -n 1 --reduce 0
grep -q '^l1: calc 0$' "$scratch/out" || fail '--reduce 0 is not no time'
# What a model says: loggp combines a byte in c; the memory of a node copies, and combines, in times of its own.
run 0 goal allreduce ring -p 4 -n 4k --reduce 250 -o "$scratch/by_number"
run 0 goal allreduce ring -p 4 -n 4k --model loggp:L=1us,o=200,g=300,G=0.5,c=0.25 -o "$scratch/by_model"
cmp -s "$scratch/by_number" "$scratch/by_model" || fail 'c=0.25 is not 250 ps a byte'
run 0 goal reduce linear -p 3 -n 1000 --type u8 --model hockney:alpha=1us,beta=1,gamma=0.1
[ "$(grep -c ': calc 100$' "$scratch/out")" -eq 2 ] || fail 'hockney does not combine 1000 bytes in 100 ns'
run 0 goal allreduce ring -p 4 -n 4k --model loggp:L=1us,o=200,g=300,G=0.5,c=0.25
"$coll" verify --import "$scratch/by_model" >"$scratch/out" 2>&1 || fail 'a file with the times of a model is not read'
refuses '--model says what --reduce and --copy say: leave out one or the others' \
    goal allreduce ring -p 4 --model hockney:alpha=1us,beta=1 --reduce 1
refuses '--model is for goal, not for json' json bcast linear -p 4 --model hockney:alpha=1us,beta=1
refuses 'beta of hockney is missing: beta=… is the transfer of a byte, in ns/byte' \
    goal allreduce ring -p 4 --model hockney:alpha=1us
run 0 goal bcast linear -p 4 --type i8 -n 1k
grep -q '^l0: send 1024b to 1 tag 0$' "$scratch/out" || fail 'not 1024 bytes'
run 0 json alltoallv pairwise -p 4 --layout gaps
run 0 json gatherv linear -p 4 --layout uneven --root-tables
run 0 json allreduce dpml -p 6 --nodes 2 --inner inter=ring
grep -q '"inside": \[.*"algorithm": "ring"' "$scratch/out" || fail 'what is inside is not said'
refuses 'there is no format "gaol"; did you mean "goal"?' gaol bcast linear -p 4
refuses 'FORMAT is missing; coll export --help shows the usage'
refuses 'COLLECTIVE is missing; coll export --help shows the usage' json
refuses '--reduce is for goal, not for json' json bcast linear -p 4 --reduce 1
refuses '--copy is for goal, not for json' json bcast linear -p 4 --copy 0
refuses '--cpu is for goal, not for json' json bcast linear -p 4 --cpu 1
refuses '--cpu is a whole number from 0 to 255, not "256"' goal bcast linear -p 4 --cpu 256
refuses 'there is no element type "f65"; did you mean "f64"?' goal bcast linear -p 4 --type f65
refuses 'a computation takes more nanoseconds than GOAL can hold: take fewer picoseconds a byte' \
    goal bcast linear -p 2 -n 3 --copy 18446744073709551614
refuses 'a count or an offset is above 2^53, where readers of JSON lose digits: export fewer elements' \
    json bcast linear -p 2 -n 9007199254740993
run 0 msccl bcast binomial -p 8 --root 3 --protocol LL128
grep -q '^<algo name="broadcast_fnomial_root3" proto="LL128" ' "$scratch/out" || fail 'neither root nor protocol'
run 0 msccl allreduce ring -p 32 --steps 65
refuses 'a thread block of rank 0 has 63 steps, and the executor takes 40: export fewer ranks or segments, or say that it takes more' \
    msccl allreduce ring -p 32 --steps 40
refuses 'rank 0 needs more than 128 thread blocks: export fewer ranks, or an algorithm with fewer partners' msccl alltoall ring -p 80
refuses 'there are more than 32767 chunks, of 1 element: export a count that the ranks divide' \
    msccl allreduce ring -p 2 -n 40001 --steps 32767
refuses 'the program of rank 0 is longer than the executors read: export fewer ranks or segments' \
    msccl bcast chain -p 4 -n 6000 --param segment=1 --steps 32767
refuses 'the executors of MSCCL combine operands in any order: export for an operator that commutes' \
    msccl reduce fnomial -p 4 --non-commutative
refuses 'the executors of MSCCL ask each rank whether it is in place: export bcast out of place' msccl bcast fnomial -p 4 --in-place
refuses "in place, NCCL leaves the result in the rank's own block, and this plan in the first: export reduce_scatter_block out of place" \
    msccl reduce_scatter_block ring -p 4 --in-place
refuses 'a chunk has at least one element: export more of them' msccl bcast fnomial -p 4 -n 0
refuses '--steps is for msccl, not for json' json bcast linear -p 4 --steps 9
refuses '--protocol is for msccl, not for dot' dot bcast linear -p 4 --protocol LL
refuses 'there is no protocol "simpel"; did you mean "Simple"?' msccl bcast linear -p 4 --protocol simpel
refuses '-o needs a value, FILE' json bcast linear -p 4 -o
most='export fewer ranks or segments, or say with --most how many it may be'
refuses "allreduce ring has more than 16M steps on 100000 ranks, of 100 bytes of text or more: $most" json allreduce ring -p 100000
refuses "bcast linear has more than 5 steps on 4 ranks, of 100 bytes of text or more: $most" goal bcast linear -p 4 --most 5
run 0 dot bcast linear -p 4 --most 7

# ---- files -----------------------------------------------------------------------------------
mkdir "$scratch/files"
cd "$scratch/files" || exit 1
run 0 json bcast linear -p 3
cp "$scratch/out" "$scratch/wanted"
run 0 json bcast linear -p 3 -o here.json
cmp -s here.json "$scratch/wanted" || fail '-o writes something else'
ln -s here.json link.json
echo old >here.json
chmod 640 here.json
run 0 json bcast linear -p 3 --output=link.json
[ -L link.json ] && cmp -s here.json "$scratch/wanted" || fail 'a link is replaced'
[ "$(stat -c %a here.json)" = 640 ] || fail 'the rights of the file change'
refuses "$multicast" goal bcast multicast -p 4 -o here.json
cmp -s here.json "$scratch/wanted" || fail 'a refusal changes the file that was there'
refuses "$multicast" goal bcast multicast -p 4 -o new.goal
refuses '. is a folder' json bcast linear -p 3 -o .
refuses 'no/such/file cannot be written: No such file or directory' json bcast linear -p 3 -o no/such/file
mkfifo pipe
cat pipe >"$scratch/through" &
run 0 json bcast linear -p 3 -o pipe
wait
[ -p pipe ] && cmp -s "$scratch/through" "$scratch/wanted" || fail 'a pipe is replaced'
run 0 json bcast linear -p 3 -o -
cmp -s "$scratch/out" "$scratch/wanted" || fail '- is not the output'
if [ -w /dev/full ]; then
    run 1 json bcast linear -p 3 -o /dev/full
    [ "$(cat "$scratch/err")" = 'coll: /dev/full could not be written' ] || fail 'a full disk goes unnoticed'
fi
"$coll" export json allgather ring -p 2000 -o big.json &
export=$!
while kill -0 $export 2>/dev/null && ! ls big.json.* >/dev/null 2>&1; do sleep 0.02; done
kill $export 2>/dev/null
wait $export
[ "$(ls)" = 'here.json
link.json
pipe' ] || fail "files are left over: $(ls)"

# ---- the documents ---------------------------------------------------------------------------
sed -n 's,^    build/coll export \([^#&]*\).*,\1,p' "$COLL_SOURCE/README.md" "$COLL_SOURCE/docs/formats.md" >"$scratch/printed"
[ "$(wc -l <"$scratch/printed")" -ge 3 ] || fail 'the documents print no commands'
while read -r arguments; do
    # shellcheck disable=SC2086
    run 0 $arguments
done <"$scratch/printed"
cd / || exit 1

done_checks
