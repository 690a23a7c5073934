#!/bin/sh
# coll sim: what it prints, agrees with itself and with the formulas; the trace and the picture; and a sentence for
# everything that is wrong.
coll=$COLL_COMMAND
sub=sim
. "$(dirname "$0")/run/command.sh"
loggp=loggp:L=1us,o=200,g=300,G=0.5
cd "$scratch" || exit 1

# says LINE ARGUMENT…: succeeds, and prints this line.
says() {
    line=$1
    shift
    run 0 "$@" || return
    grep -q -x -F -e "$line" "$scratch/out" || fail "coll sim $* does not print '$line'"
}

# ---- numbers ---------------------------------------------------------------------------------
# 1024 ranks, 8 bytes: 10 messages of 1407 ns, as LogGOPSim says.
says 'makespan   14.07 us' bcast binomial -p 1024 --count 1 --model loggp:L=1us,o=200,g=100,G=1
says 'messages   1023, of 8184 bytes' bcast binomial -p 1024 --count 1 --model loggp:L=1us,o=200,g=100,G=1
says 'makespan   9.4 us' bcast binomial -p 16 --count 1k --type u8 --model hockney:alpha=1.326us,beta=1
says 'makespan   6.02 us' bcast multicast -p 16 --count 64 --model moody:host_f64_add
says 'makespan   12.4 us' allreduce in_network -p 8 --count 100 --nodes 2 --model hockney:alpha=1us,beta=1 \
    --memory shm:a=1us,b=1,a_fabric=12,b_fabric=0.5ns/byte
rails='dpml:a=1.5us,b=0.1,a_shm=0.2us,b_shm=0.1,c=0.1,gap=0.05us,wire=0.1'
says 'makespan   845.1608 us' allreduce dpml -p 256 -n 128k --nodes 16 --param leaders=8 --model $rails
says 'makespan   634.6456 us' allreduce dpml -p 256 -n 128k --nodes 16 --rails 0,1 --param leaders=8 --model $rails
says 'busiest    out of rail 0 of node 0: 16 messages, 2097152 bytes, taken 210.5152 us, waited for 377.316 us' \
    allreduce dpml -p 256 -n 128k --nodes 16 --rails 0,1 --param leaders=8 --model $rails
says 'busiest    out of node 0: 4 messages, 8000 bytes, taken 0.84 us, waited for 0 us' \
    allreduce dpml -p 8 -n 1000 --nodes 1,7 --model dpml:omni_path
says 'hops       3 in all, 2 at the most' gather linear -p 3 --count 1 --model $loggp --topology mesh:3
says 'busiest    (1) to (0): 2 messages, 16 bytes, taken 0.008 us, waited for 0.004 us' \
    gather linear -p 3 --count 1 --model $loggp --topology mesh:3
says '           (2) to (1): 1 message, 8 bytes, taken 0.004 us, waited for 0 us' \
    gather linear -p 3 --count 1 --model $loggp --topology mesh:3 --links 9
says 'makespan   4 us' bcast linear -p 7 --count 1000 --type u8 --model hockney:alpha=1us,beta=1 --ports 3
says 'hops       6 in all, 3 at the most' bcast linear -p 4 --count 1 --model $loggp --topology mesh:2x2,failed=0-1
says 'hops       6 in all, 3 at the most' bcast linear -p 4 --count 1 --model $loggp --topology mesh:4 --map cyclic:4
# The closed form of the model, in the same words.
run 0 allreduce dpml -p 64 --nodes 8 --count 8k --param leaders=4 --model dpml:infiniband
run 0 reduce fnomial -p 31 --param f=4 --count 1 --model moody:nic_f64_add
wanted=$("$coll" model moody:nic_f64_add P=31 M=1 f=4 | sed -n 's/^reduce fnomial  *\([0-9.]*\) us .*/\1/p')
awk -v wanted="$wanted" '/^makespan/ { off = $2 / wanted - 1; exit off * off > .05 * .05 }' out || fail "not $wanted us"
# The same seed gives the same, another one something else.
run 0 allreduce ring -p 32 --count 64 --model $loggp --noise noise:frequency=1000,duration=50us --skew 5us --seed 3
grep -v '^simulated' out >first
run 0 allreduce ring -p 32 --count 64 --model $loggp --noise noise:frequency=1000,duration=50us --skew 5us --seed 3
grep -v '^simulated' out | cmp -s - first || fail 'one seed gives two results'
run 0 allreduce ring -p 32 --count 64 --model $loggp --noise noise:frequency=1000,duration=50us --skew 5us --seed 4
grep -v '^simulated' out | cmp -s - first && fail 'two seeds give one result'
# What everything else does.
run 0 alltoallv pairwise -p 8 --count 5 --seed 2 --model $loggp
run 0 gatherv linear -p 8 --layout uneven --root-tables --model $loggp
run 0 neighbor_alltoall mesh_combining -p 9 --graph torus:3x3 --model $loggp --topology torus:3x3
run 0 allgather kshift -p 60 --count 100 --model $loggp --topology fattree:k=4,n=3,missing=5/9/20/63
run 0 allreduce two_level -p 24 --nodes 7,9,8 --model $loggp --memory shm:a=1us,b=1,sync=1us,node=0.5,c=2
run 0 allreduce fnomial -p 64 --model moody:host_f64_add --nic moody:nic_f64_add --placement hybrid
run 0 allreduce fnomial -p 64 --model moody:host_f64_add --nic moody:nic_f64_add
# NICs with a memory and a bus: tests/lab/sim/adapter.c has the timelines.
elan=moody:host_f64_add,L=2.1
says 'makespan   6.04 us' reduce fnomial -p 2 --count 1 --model $elan --nic nic:elan3_f64_add --placement host
says 'makespan   13.22 us' reduce fnomial -p 2 --count 1 --model $elan --nic nic:elan3_f64_add
says 'NICs       at the most 960 bytes in a memory; 18 messages refused, which waited for 2124.18 us' \
    reduce fnomial -p 32 --count 8 --param f=32 --model $elan --nic nic:elan3_f64_add,memory=1KiB
says 'combined   31 times by NICs, 0 times by hosts for them' \
    reduce fnomial -p 32 --count 8 --param f=32 --model $elan --nic nic:elan3_f64_add,memory=1KiB
says 'combined   0 times by NICs, 63 times by hosts for them' \
    reduce fnomial -p 64 --count 16 --model $elan --nic nic:elan3_f64_add --placement action
says 'crossings  8 down and 56 up, which took a bus for 512 and 1433.6 us at the most; 48 messages sent without' \
    allgather prefix -p 8 --count 8k --model hockney:alpha=9us,beta=3.125 --nic nic:lemieux --placement host
run 0 allgather ring -p 8 --nodes 4 --model $loggp --memory shm:a=1us,b=1 --nic nic:bus=1us,keep=2 --placement host
run 0 reduce fnomial -p 4 --count 1 --model $elan --nic nic:elan3_f64_add --json
grep -q '"nics": {"high_bytes": 24, "refused": 0, "waited_us": 0, ' out || fail 'JSON has no NICs'
run 0 bcast scatter-ring -p 72 --count 1k --model $loggp --topology dragonfly:a=4,h=2,t=2
run 0 allreduce dpml -p 56 --nodes 28 --model dpml:omni_path
run 0 bcast chain -p 8 --count 64k --param segment=1k --model plogp:table=ibm --window 32
run 0 bcast fnomial -p 1 --model $loggp
says 'makespan   0 us' barrier fnomial -p 1 --model nbl:delta

# ---- files -----------------------------------------------------------------------------------
# A trace is JSON; its events lie within their rank's, and do not overlap on one line; the last ends with the makespan;
# every arrow begins and ends in an event.
if command -v python3 >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    cat >check.py <<'END'
import json, sys
from fractions import Fraction
trace = json.load(open(sys.argv[1]), parse_float=Fraction)
makespan, ranks = Fraction(sys.argv[2]), int(sys.argv[3])
spans, arrows = {}, {}
for e in trace["traceEvents"]:
    assert e["ph"] in "MXsf" and 0 <= e["pid"] < ranks, e
    if e["ph"] == "X":
        assert e["name"] and e["dur"] >= 0
        spans.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
    elif e["ph"] in "sf":
        arrows.setdefault(e["id"], []).append(e)
assert max(end for s in spans.values() for _, end in s) == makespan
whole = {pid: s[0][1] for (pid, tid), s in spans.items() if tid == 0}
assert len(whole) == ranks
for (pid, tid), of in spans.items():
    last = 0
    for start, end in sorted(of):
        assert last <= start <= end <= whole[pid], (pid, tid, start, end)
        last = end
for of in arrows.values():
    assert [e["ph"] for e in of] == ["s", "f"] and of[0]["ts"] <= of[1]["ts"], of
    for e in of:
        assert any(a <= e["ts"] <= b for a, b in spans[e["pid"], e["tid"]]), e
assert len(arrows) == int(sys.argv[4])
END
    while read -r arguments; do
        # shellcheck disable=SC2086
        run 0 $arguments --trace trace.json
        checks=$((checks + 1))
        # shellcheck disable=SC2046
        python3 check.py trace.json $(awk '/^makespan/ { m = $2 } /ranks,/ { match($0, /[0-9]+ ranks/); p = $0; sub(/.*: /, "", p); sub(/ .*/, "", p) }
            /^messages/ { n = $2; sub(/,/, "", n) } END { print m, p, n }' out) >err 2>&1 || fail "the trace of $arguments is wrong"
    done <<END
allreduce fnomial -p 16 --count 8 --model $loggp --noise noise:frequency=5000,duration=20us --skew 3us
allreduce recursive-doubling -p 8 --count 100 --model loggp:L=1us,o=200,g=300,G=0.5,c=2,S=64
alltoall throttled -p 9 --count 64 --model hockney:alpha=1us,beta=0.5,gamma=0.2
bcast snake -p 16 --count 4k --model nbl:delta
bcast chain -p 9 --count 64k --param segment=8k --model plogp:table=ibm
reduce fnomial -p 32 --model moody:host_f64_add --nic moody:nic_f64_add --placement hybrid
allreduce dpml -p 16 --nodes 4 --count 512 --model dpml:omni_path
allgather two_level -p 16 --nodes 4 --model hockney:alpha=1us,beta=0.5 --memory shm:a=1us,b=1,node=1
allgather ring -p 12 --count 512 --model $loggp --topology torus:3x4,hop=40ns
END
    run 0 allreduce ring -p 4 --count 8 --model $loggp --topology mesh:2x2 --json
    python3 -c 'import json, sys
r = json.load(sys.stdin)
assert r["parameters"] == {} and r["count"] == 8 and r["elem_bytes"] == 8 and r["window"] == 16 and r["seed"] == 1
assert r["topology"] == "mesh:2x2" and r["noise"] is None
assert r["messages"] == 24 and r["ranks"] == 4 and r["makespan_us"] == r["end"]["most_us"] and len(r["links"]) == 1' <out >err 2>&1 ||
        fail '--json prints something else'
fi
if command -v xmllint >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    run 0 allreduce fnomial -p 16 --count 8 --model loggp:L=1us,o=200,g=300,G=0.5,c=5 --svg picture.svg
    checks=$((checks + 1))
    # 16 ranks with a row each; 30 messages, each sent, taken in and 15 combined; background and 3 keys.
    [ "$(xmllint --xpath 'count(//*[local-name()="rect"])' picture.svg 2>err)" = $((30 + 30 + 15 + 4)) ] &&
        [ "$(xmllint --xpath 'count(//*[local-name()="g"][last()]/*)' picture.svg 2>err)" = 30 ] || fail 'the picture shows something else'
fi
run 0 bcast linear -p 4 --model $loggp --svg both.svg --trace both.json
[ -s both.svg ] && [ -s both.json ] || fail 'a file is missing'
if command -v rsvg-convert >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    run 0 bcast linear -p 4 --model $loggp --pdf picture.pdf
    [ "$(head -c 5 picture.pdf)" = %PDF- ] && tail -c 8 picture.pdf | grep -q '%%EOF' || fail 'no PDF'
fi
if [ -w /dev/full ]; then
    run 1 bcast linear -p 4 --model $loggp --trace /dev/full
    [ "$(cat err)" = 'coll: /dev/full could not be written' ] || fail 'a full disk goes unnoticed'
fi

# ---- bad input -------------------------------------------------------------------------------
refuses '--model is missing: hockney, loggp, plogp, nbl, moody, dpml, or @FILE of coll calibrate; coll model explains them' bcast linear -p 4
refuses '-p P, the number of ranks, is missing' bcast linear --model $loggp
refuses 'there is no model "logp"; did you mean "loggp"?' bcast linear -p 4 --model logp:L=1
refuses 'there is no model "kumar"; there are hockney, loggp, plogp, nbl, moody, dpml' bcast linear -p 4 --model kumar:lemieux
refuses 'L of loggp is a number of ns from 0 on, not "-1"' bcast linear -p 4 --model loggp:L=-1,o=1,g=1,G=1
refuses 'o of loggp is missing: o=… is the time a processor spends on a message, in ns' bcast linear -p 4 --model loggp:L=1,g=1,G=1
refuses 'L of loggp is given twice' bcast linear -p 4 --model loggp:L=1,L=2
refuses 'the table no/such.txt cannot be read' bcast linear -p 4 --model plogp:table=no/such.txt
refuses 'there is no topology "mush"; did you mean "mesh"?' bcast linear -p 4 --model $loggp --topology mush:2x2
refuses 'mesh:2x3 has 6 places, and there are 4 ranks' bcast linear -p 4 --model $loggp --topology mesh:2x3
refuses 'nodes:1x1x1 has 1 place, and there are 4 ranks' bcast linear -p 4 --model $loggp --topology nodes:1x1x1
refuses 'mesh has sizes such as 16x32, not "mesh:2x"' bcast linear -p 4 --model $loggp --topology mesh:2x
refuses 'fattree:k=4,n=1,missing=3 has 3 places without the missing ones, and there are 4 ranks' bcast linear -p 4 --model $loggp \
    --topology fattree:k=4,n=1,missing=3
refuses 'hop of mesh is a number of ns from 0 on, not "-4"' bcast linear -p 4 --model $loggp --topology mesh:2x2,hop=-4
refuses 'duration of noise is missing: duration=… is how long one takes, in the mean, in us' bcast linear -p 4 --model $loggp \
    --noise noise:frequency=100
refuses 'noise leaves no time: 1000 us, 1000 times a second, are a second' bcast linear -p 4 --model $loggp \
    --noise noise:frequency=1000,duration=1000
refuses '--skew is a time from 0 to 1000 s such as 5us, not "-5us"' bcast linear -p 4 --model $loggp --skew -5us
refuses '--skew is a time from 0 to 1000 s such as 5us, not "much"' bcast linear -p 4 --model $loggp --skew much
refuses 'there is no memory "ram"; did you mean "shm"?' bcast linear -p 4 --model $loggp --memory ram:a=1
refuses 'b of shm is missing: b=… is copying a byte, in ns/byte' bcast linear -p 4 --model $loggp --memory shm:a=1
refuses 'dpml has copies of its own, a_shm and b_shm' bcast linear -p 4 --model dpml:infiniband --memory shm:a=1,b=1
refuses 'dpml has no preset or parameter "cross"; it has infiniband, omni_path, knl_omni_path, a, b, a_shm, b_shm, c, gap, wire, a_fabric, b_fabric' \
    bcast linear -p 4 --model dpml:infiniband,cross=2
refuses 'nodes of nbl have one rank each, and so no memory to share' bcast linear -p 4 --model nbl:delta --memory shm:a=1,b=1
refuses '--links tells of the links of a --topology' bcast linear -p 4 --model $loggp --links 2
refuses 'dpml has links of its own, its NICs: without --topology, or with gap=0,wire=0' bcast linear -p 4 --nodes 2 \
    --model dpml:omni_path --topology mesh:2x2
refuses 'NICs go with hosts of moody, not of loggp' bcast linear -p 4 --model $loggp --nic moody:nic_f64_add
refuses 'memory of nic is a whole number of bytes from 1 to 1e+18, not "0"' reduce linear -p 4 --model $elan \
    --nic nic:elan3_f64_add,memory=0
refuses 'the NIC of rank 0 needs a memory of at least 192 bytes, for its operands and its longest message: give it memory=…' \
    reduce fnomial -p 4 --count 8 --model $elan --nic nic:elan3_f64_add,memory=191
refuses 'nic has no preset or parameter "memroy"; did you mean "memory"?' reduce linear -p 4 --model $elan --nic nic:memroy=3
refuses 'there is no model of NICs "nicc"; did you mean "nic"?' reduce linear -p 4 --model $elan --nic nicc:bus=1
refuses 'shared of nic is a whole number from 0 to 1, not "2"' reduce linear -p 4 --model $elan --nic nic:shared=2
refuses 'NICs with a memory and a bus go with hockney, loggp, plogp and moody, not with dpml' reduce linear -p 4 \
    --model dpml:infiniband --nic nic:bus=1us
refuses 'a NIC runs the part of one rank, and nodes have up to 2: --placement host, or nodes of one rank' \
    reduce linear -p 8 --nodes 2 --model $elan --nic nic:elan3_f64_add
refuses 'ranks that copy through a memory share a NIC: say which do, by --nodes' reduce linear -p 4 --model $elan \
    --nic nic:elan3_f64_add --placement host --memory shm:a=1,b=1
refuses '--placement says which ranks use their NICs, and --nic what those cost' bcast linear -p 4 --model moody:host_f64_add --placement all
refuses 'there is no placement "some"; there are all, hybrid, action, host' bcast linear -p 4 --model moody:host_f64_add --nic moody:nic_f64_add \
    --placement some
refuses 'ranks that share nodes are on places that follow each other: leave out --nodes, or missing=…' bcast linear -p 3 --nodes 1 \
    --model $loggp --topology fattree:k=4,n=1,missing=1
refuses 'ranks that share nodes are on places that follow each other: leave out --nodes, or --map' bcast linear -p 4 --nodes 2 \
    --model $loggp --topology mesh:2x2 --map random:1
refuses '--map puts ranks on the places of a topology: say which, by --topology' bcast linear -p 4 --model $loggp --map block
refuses '--traffic goes over the links of a topology: say which, by --topology' bcast linear -p 4 --model $loggp \
    --traffic traffic:load=0.3,bytes=4096
refuses '--traffic goes over links, and flat has none' bcast linear -p 4 --model $loggp --topology flat --traffic traffic:load=0.3,bytes=4096
refuses 'load of traffic is a number from 0 to 0.99, not "1"' bcast linear -p 4 --model $loggp --topology mesh:4 --traffic traffic:load=1,bytes=8
refuses 'there is no mapping "snake"; there are block, cyclic, random' bcast linear -p 4 --model $loggp --topology mesh:4 --map snake
refuses 'no way leads from rank 0 to rank 1: the links that failed cut them off from each other' bcast linear -p 4 \
    --model $loggp --topology mesh:4,failed=0-1
refuses '--ports is a whole number from 1 to 64, not "65"' bcast linear -p 4 --model $loggp --ports 65
refuses 'nbl has no ports to have several of; hockney, loggp, plogp and dpml have' bcast linear -p 4 --model nbl:delta --ports 2
refuses 'the nodes of dpml have ports where gap or wire is not 0' bcast linear -p 4 --model dpml:infiniband --ports 2
refuses 'nothing reduces in this network: give it --memory shm:…,a_fabric=…, or a dpml with a_fabric' allreduce in_network -p 4 --model $loggp
refuses '--window is a whole number from 1 to 32, not "33"' bcast linear -p 4 --model $loggp --window 33
refuses 'fnomial needs a window of at least 3' allreduce fnomial -p 4 --model $loggp --window 2
refuses 'it takes longer than 26 days, which is as far as the simulator counts' bcast fnomial -p 16 --model loggp:L=600000s,o=1,g=1,G=1
refuses 'a picture shows at most 1024 ranks, not 1025' bcast linear -p 1025 --model $loggp --svg x.svg
refuses 'it takes longer than 26 days, which is as far as the simulator counts' bcast linear -p 2 --model hockney:alpha=1e299,beta=0
refuses 'it takes longer than 26 days, which is as far as the simulator counts' bcast linear -p 4 --model hockney:alpha=1e299,beta=0 \
    --noise noise:frequency=1e9,duration=1e-4
refuses '--trace and --svg write different files, not both x.svg' bcast linear -p 4 --model $loggp --trace x.svg --svg x.svg
refuses 'the name of the file is empty' bcast linear -p 4 --model $loggp --trace ''
refuses '--svg and --pdf write different files, not both x.svg' bcast linear -p 4 --model $loggp --pdf x.svg --svg x.svg
refuses '--pdf writes a file, not "-"' bcast linear -p 4 --model $loggp --pdf -
refuses '--trace and --svg write files, not "-"' bcast linear -p 4 --model $loggp --trace -
refuses 'no/such/file cannot be written: No such file or directory' bcast linear -p 4 --model $loggp --trace no/such/file
refuses 'there is too much to show, more than 131072 messages and operations: simulate fewer ranks or segments' \
    bcast chain -p 4 --count 60000 --param segment=1 --model $loggp --svg x.svg
[ ! -e x.svg ] || fail 'a picture that was refused is there'

refuses 'the parameters of torus:16x16,failed=00000000000000000000000000000000000000000… are too long: put lists into files, as @FILE' bcast linear -p 4 \
    --model $loggp --topology "torus:16x16,failed=$(printf '%0500d' 1)"

# ---- the documents ---------------------------------------------------------------------------
# Below the command in docs/models.md is what it prints, but for the time that it took.
sed -n 's,^    build/coll sim \([^#&]*\).*,\1,p' "$COLL_SOURCE/docs/models.md" >printed
cd "$COLL_SOURCE" || exit 1 # where the files that they name are
[ "$(wc -l <"$scratch/printed")" -ge 2 ] || fail 'docs/models.md prints no commands'
while read -r arguments; do
    # shellcheck disable=SC2086
    run 0 $arguments
    checks=$((checks + 1))
    grep -v '^simulated' "$scratch/out" | sed 's/^\(.\)/    \1/' >"$scratch/wanted"
    awk 'NR == FNR { wanted[n++] = $0; next } $0 == wanted[at] { at++ } END { exit at < n }' "$scratch/wanted" "$COLL_SOURCE/docs/models.md" ||
        fail "docs/models.md does not print what coll sim $arguments does"
done <"$scratch/printed"
cd / || exit 1

done_checks
