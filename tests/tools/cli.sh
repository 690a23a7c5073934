#!/bin/sh
# The command coll: every subcommand, every sentence of refusal with its exit code, the JSON, and a few pictures.
#   cli.sh [COLL]        the command to test; $COLL_COMMAND by default
coll=${1:-$COLL_COMMAND}
sub=
. "$(dirname "$0")/run/command.sh"
unset COLUMNS

# says PATTERN ARGUMENT…: succeeds, and prints a line that matches.
says() {
    pattern=$1
    shift
    run 0 "$@" || return
    grep -q -e "$pattern" "$scratch/out" || fail "coll $* does not print '$pattern'"
}

# picture ARGUMENT… <<'END': what the command prints from the picture on, without the totals.
picture() {
    cat >"$scratch/wanted"
    run 0 "$@" || return
    sed -n '/^   r[ao]/,/^$/p' "$scratch/out" | sed 's/ *$//; /^$/d' >"$scratch/drawn"
    diff "$scratch/wanted" "$scratch/drawn" >"$scratch/err" || fail "coll $* draws something else"
}

# ---- help and version ------------------------------------------------------------------------
says '^coll [0-9]*\.[0-9]*\.[0-9]*$' --version
for subcommand in list show verify try run model regimes sim calibrate tune select export launch amalgamate; do
    says "^  $subcommand " --help
    says "^usage: coll $subcommand " $subcommand --help
    [ $subcommand = launch ] || says '^  --help' $subcommand nonsense --help # its own options come first
done
says '^  -p, --ranks P' show -h

# ---- list ------------------------------------------------------------------------------------
says '^allreduce$' list
says '^  ring ' list allreduce
says 'segment=0  elements of a segment' list bcast
says '^| allreduce | ring |' list --markdown
says '^  {"collective": "allreduce", "algorithm": "ring", "window": 2, "sends": 1' list --json
says '^reduce_scatter_block$' list reduce-scatter-block
says '^ *also: binomial (f=2), knomial$' list bcast
says '^| bcast | chain | .* | pipeline (chains=1) |$' list --markdown
says '^ *algos/ring.h coll_ring_allreduce$' list allreduce
says '^ *algos/two_level_blocks.h coll_two_level_gatherv$' list gatherv
says '"header": "algos/fence.h", "symbol": "coll_fence_bcast"}' list bcast --json
says '"names": \[{"name": "flat", "fixed": {}}\]' list bcast --json
run 0 list scan
grep -q '^bcast' "$scratch/out" && fail 'coll list scan lists bcast'
if command -v python3 >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    for what in '' allreduce barrier; do
        run 0 list $what --json
        python3 -c 'import json, sys
rows = json.load(sys.stdin)
assert rows and all(set(r) == {"collective", "algorithm", "window", "sends", "traits", "parameters", "names", "source",
    "header", "symbol"} for r in rows)' \
            <"$scratch/out" >"$scratch/err" 2>&1 || fail "coll list $what --json is not what it should be"
    done
fi

# ---- show ------------------------------------------------------------------------------------
"$coll" list --markdown | awk -F' *[|] *' 'NR > 2 { print $2, $3, $5 }' >"$scratch/rows"
while read -r collective algorithm traits; do
    shape= ranks=6
    case $traits in *needs-power-of-two*) ranks=8 ;; esac
    case $collective in neighbor_*) shape='--graph torus:2x3' ;; esac
    case $traits in *uses-nodes*) shape="$shape --nodes 4" ;; esac
    # shellcheck disable=SC2086
    says "^$collective, ${algorithm}[ :].*$ranks ranks" show "$collective" "$algorithm" -p $ranks $shape
done <"$scratch/rows"
says '^bcast, fnomial f=3 segment=2 order=0: 9 ranks, 4 elements, root 2$' show bcast fnomial -p 9 --count 4 --root 2 --param f=3 --param segment=2
says '^bcast, fnomial f=2 segment=3 order=0: 8 ranks' show bcast binomial -p 8 --param segment=3
says '^reduce, chain chains=1 segment=2: 5 ranks' show reduce pipeline -p 5 --param segment=2 --param chains=1
says '^gather, linear: 4 ranks' show gather flat -p 4
says '^gather, fnomial f=3: 4 ranks' show gather fnomial -p 4 --param k=3
says '^barrier, fnomial f=5: 6 ranks' show barrier knomial -p 6 --param f=5
says '^  step 0    send IN\[3\] to rank 1$' show allreduce ring -p 4
says 'receive 1 element from rank 3, OUT\[2\] = IN\[2\] ⊕ it$' show allreduce ring -p 4
says 'receive 2 elements from rank 2, adding them to OUT\[0..1\]' show reduce fnomial -p 4 -n 2
says '^  step 0    notify rank 1$' show barrier dissemination -p 3
says '^            wait for rank 2$' show barrier dissemination -p 3
says 'nothing: there are no elements to move' show gatherv linear -p 3 --counts 1,0,2
says 'blocks of up to 5 elements' show allgatherv ring -p 3 --counts 1,5,2
says 'operands in rank order' show reduce fnomial -p 4 --non-commutative
says 'in place' show allreduce ring -p 4 --in-place
says '^rounds    6,' show allreduce ring -p 4
says '^depth     1 message ' show reduce linear -p 5
says '^messages  24 in all, at most 6 sent by a rank$' show allreduce ring -p 4
says '^elements  24 sent in all, at most 6 by a rank$' show allreduce ring -p 4
says '^scratch   at most [0-9]* elements a rank$' show allreduce ring -p 4 --in-place
says '^window    at least 2 actions in flight$' show allreduce ring -p 4
says '^in order  at least 1 send in flight$' show allreduce ring -p 4
says '^The steps of 64 ranks are more than 200 lines' show allreduce ring -p 64
says 'more rounds; --all draws them$' show allreduce ring -p 64
says '^rank 63   →0 ←62' show allgather ring -p 64
says '^The picture is drawn for up to 64 ranks' show bcast fnomial -p 65 --rank 7
says '^More than 4096 ranks' show bcast fnomial -p 1000000 --rank 999999
says '^  step 0    receive OUT\[0\] from rank 4294967292$' show bcast fnomial -p 4294967295 -n 1 --rank 4294967293
run 0 show allreduce fnomial -p 4 --rank 2
grep -q '^rank 1$' "$scratch/out" && fail 'coll show --rank 2 prints rank 1'
for layout in uneven gaps one empty; do
    says '^window' show gatherv linear -p 5 --layout $layout --root-tables --root 3
    says '^window' show alltoallv pairwise -p 5 --layout $layout --in-place
    says '^window' show alltoallw pairwise -p 5 --layout $layout
done
for graph in ring mesh tube torus stencil clipped sparse dense mesh:3x2 torus:1x6 stencil:2x3 clipped:3x2x1; do
    for collective in neighbor_allgather neighbor_alltoallv; do
        says '^window' show $collective linear -p 6 --graph $graph
    done
    says '^window' show neighbor_alltoall node_combining -p 6 --graph $graph --nodes 2
    says '^window' show neighbor_alltoallw linear -p 6 --graph ${graph%:*} --layout gaps
done
says '^neighbor_alltoall, linear: 6 ranks, 1 element a block, torus:2x3$' show neighbor_alltoall linear -p 6 --graph torus:2x3
says '^messages  162 in all, at most 6 sent by a rank$' show neighbor_alltoall mesh_combining -p 27 --graph stencil:3x3x3
says '^messages  702 in all, at most 26 sent by a rank$' show neighbor_alltoall linear -p 27 --graph stencil:3x3x3
for group in affine:9:2 missing:9:4 shuffled:9:5 0,1,4,8; do
    says "^allgather, ring: 4 ranks, 1 element a block, placed by $group\$" show allgather ring -p 4 --group $group
    says '^window' show alltoallv prefix -p 4 --layout gaps --group $group
done
says '^rank 2 (4 outside)$' show allgather prefix -p 3 --param machine=5 --group missing:5:4
says '^  step 3    send IN\[0\] to rank 0$' show allgather prefix -p 3 --param machine=5 --group missing:5:4
for places in dealt:2:0 uneven:2:1 alone:2:1 random:2:0 0,1,1,0,1; do
    says "^barrier, two_level: 5 ranks, on [2-3] nodes, placed by $places\$" show barrier two_level -p 5 --places $places
    says '^window' show allgather two_level -p 5 --places $places
done
says 'root 3 (1 outside), on 2 nodes, placed by 0,1,0,1,0$' show bcast fnomial -p 5 --root 1 --places 0,1,0,1,0
says 'root 1, on 2 nodes$' show bcast fnomial -p 5 --root 1 --places 0,0,0,1,1
run 0 show allgatherv ring -p 4 --seed 9
cp "$scratch/out" "$scratch/again"
run 0 show allgatherv ring -p 4 --seed 9
cmp -s "$scratch/out" "$scratch/again" || fail 'the same seed gives other blocks'

picture show allreduce node_leader -p 6 --nodes 2 <<'END'
   rank   0     1     2     3     4     5
round 1   ⊕─────●     ⊕─────●     ⊕─────●
round 2   ◆═════╪═════◆═════╪═════◆     │
round 3   ●─────▶     ●─────▶     ●─────▶
          ●─▶ message   ●─⊕ message that its receiver combines   ◆═◆ meeting in the network
END
picture show barrier in_network -p 3 <<'END'
   rank   0     1     2
round 1   ◆═════◆═════◆
          ◆═◆ meeting in the network
END
says '^rank 16      ⊕17 ◆      →17   *$' show allreduce node_leader -p 64 --nodes 2
says '→3 sends to rank 3 .* ◆ meets others$' show allreduce node_leader -p 64 --nodes 2
picture show bcast fnomial -p 8 <<'END'
   rank   0     1     2     3     4     5     6     7
round 1   ●─────┼─────┼─────┼─────▶     │     │     │
round 2   ●─────┼─────▶     │     ●─────┼─────▶     │
round 3   ●─────▶     ●─────▶     ●─────▶     ●─────▶
          ●─▶ message
END
picture show allreduce ring -p 3 <<'END'
   rank   0     1     2
round 1   ●─────⊕     │
          │     ●─────⊕
          ⊕─────┼─────●
round 2   ●─────⊕     │
          │     ●─────⊕
          ⊕─────┼─────●
round 3   ●─────▶     │
          │     ●─────▶
          ◀─────┼─────●
round 4   ●─────▶     │
          │     ●─────▶
          ◀─────┼─────●
          ●─▶ message   ●─⊕ message that its receiver combines
END
picture show allreduce recursive_doubling -p 4 <<'END'
   rank   0     1     2     3
round 1   ⊕─────⊕     ⊕─────⊕
round 2   ⊕─────┼─────⊕     │
          │     ⊕─────┼─────⊕
          ●─⊕ message that its receiver combines
END
picture show barrier fnomial -p 4 --param f=4 <<'END'
   rank   0     1     2     3
round 1   ◀┄┄┄┄┄●     │     │
round 2   ◀┄┄┄┄┄┼┄┄┄┄┄●     │
round 3   ◀┄┄┄┄┄┼┄┄┄┄┄┼┄┄┄┄┄●
round 4   ●┄┄┄┄┄▶     │     │
round 5   ●┄┄┄┄┄┼┄┄┄┄┄▶     │
round 6   ●┄┄┄┄┄┼┄┄┄┄┄┼┄┄┄┄┄▶
          ●┄▶ notification
END
picture show reduce fnomial -p 20 --param f=5 <<'END'
   round  1      2      3      4      5      6      7
rank 0       ⊕1     ⊕2     ⊕3     ⊕4     ⊕5     ⊕10    ⊕15
rank 1    →0
rank 2           →0
rank 3                  →0
rank 4                         →0
rank 5       ⊕6     ⊕7     ⊕8     ⊕9  →0
rank 6    →5
rank 7           →5
rank 8                  →5
rank 9                         →5
rank 10      ⊕11    ⊕12    ⊕13    ⊕14        →0
rank 11   →10
rank 12          →10
rank 13                 →10
rank 14                        →10
rank 15      ⊕16    ⊕17    ⊕18    ⊕19               →0
rank 16   →15
rank 17          →15
rank 18                 →15
rank 19                        →15
          →3 sends to rank 3   ←3 receives from it   ⊕3 receives and combines
END

# ---- verify ----------------------------------------------------------------------------------
says '^allreduce  *ring .* proven$' verify allreduce ring -p 1..6
says '^reduce  *chain .* proven$' verify reduce pipeline -p 1..3
says '^[0-9]* plans of [0-9]* lines of the table proven in' verify allgatherv -p 3..4 --jobs 2
says '^3 plans of 1 line of the table proven in' verify barrier linear -p 3
says 'proven$' verify bcast linear -p 5 --exhaustive --random 1 --seed 3
says '^  bcast linear p=5 root=2 count=4 in-place$' verify bcast linear -p 5 --list
[ "$(grep -c '^  ' "$scratch/out")" = "$(sed -n 's/ plans of 1 line .*//p' "$scratch/out")" ] || fail 'coll verify --list does not list each plan once'
says 'proven; NIC: [0-9]* plans, [0-9]* operations in [0-9]* bytes, 2 counters, 1 receives$' verify allreduce ring -p 4 --nic --nic-counters 2
says 'proven; NIC: ' verify barrier dissemination -p 5 --nic --nic-posted --nic-receives 1
says 'proven; NIC: [0-9]* plans, [0-9]* operations in [0-9]* bytes, [0-9]* counters, 0 receives$' verify allreduce ring -p 4 --nic --nic-puts
refuses 'coll verify: --nic-posted, --nic-puts, --nic-counters and --nic-receives say what a NIC has: give --nic, too' verify barrier linear -p 2 --nic-posted
refuses 'coll verify: with --nic-puts no receive is posted: leave --nic-posted and --nic-receives out' verify barrier linear -p 2 --nic --nic-puts --nic-receives 3
says 'proven; crashes: [0-9]* points (all [0-9]*, some [0-9]*, none [0-9]*), [0-9]* runs, [0-9]* with leftovers, OK is right$' verify allreduce ring -p 4 --crash
says '^a rank stops at [0-9]* points, and in [0-9]* runs of the engines, in which every survivor ends$' verify reduce linear -p 1..4 --crash --crash-work 100
says ', 0 runs, 0 with leftovers, OK is uniform$' verify barrier in_network -p 3 --crash --crash-work 0
refuses 'coll verify: crashes are followed among at most 64 ranks: give -p A..B with B at most 64' verify barrier linear -p 65 --crash
refuses 'coll verify: --crash-work says how much is run at the points of crashes: give --crash, too' verify barrier linear -p 2 --crash-work 1
refuses 'coll verify: --random makes plans of more ranks than the 64 whose crashes are followed: leave it out with --crash' verify barrier linear -p 2 --crash --random 1
run 0 verify -p 1..3 -j 1
grep -q FAILED "$scratch/out" && fail 'a proof failed'
[ "$(grep -c ' proven$' "$scratch/out")" -eq "$("$coll" list --markdown | tail -n +3 | wc -l)" ] || fail 'an algorithm was not proven'

# ---- run -------------------------------------------------------------------------------------
while read -r collective algorithm traits; do
    ranks=5
    case $traits in *needs-power-of-two*) ranks=4 ;; esac
    for transport in threads loopback; do
        says '^result     right on all ranks' run "$collective" "$algorithm" -p $ranks --transport $transport --repeat 2
        case $collective in
        barrier | neighbor_*) ;;
        *) says '^result     right on all ranks' run "$collective" "$algorithm" -p 4 --count 33 --in-place --transport $transport --repeat 2 --seed 7 ;;
        esac
    done
    # Over TCP, but for what needs a network that multicasts or reduces.
    "$coll" run "$collective" "$algorithm" -p $ranks --transport tcp --repeat 2 >"$scratch/out" 2>"$scratch/err"
    if grep -q '^result     right on all ranks' "$scratch/out"; then
        by_tcp=$((${by_tcp:-0} + 1))
    else
        grep -q 'the transport lacks a capability' "$scratch/err" || fail "coll run $collective $algorithm over TCP"
    fi
done <"$scratch/rows"
[ "$by_tcp" -ge 170 ] || fail "$by_tcp algorithms are right over TCP"
for type in i8 i16 i32 i64 u8 u16 u32 u64 f8_e4m3 f8_e5m2 f16 bf16 f32 f64; do
    for op in sum prod min max; do
        says '^result     right' run allreduce fnomial -p 3 --count 50 --type $type --op $op --repeat 1
    done
done
for op in band bor bxor land lor lxor; do
    says '^result     right' run reduce linear -p 20 --root 3 --type u16 --op $op --repeat 1 --transport loopback
done
for type in cf32 cf64; do
    for op in sum prod; do
        says '^result     right' run allreduce fnomial -p 13 --count 50 --type $type --op $op --repeat 1
    done
done
for type in i8 u16 i64 f8_e4m3 f16 bf16 f32 f64 cf64; do
    says '^result     right' run allreduce ring -p 5 --count 50 --type $type --op avg --repeat 2
done
for row in 'reduce fnomial --root 2' 'reduce_scatter pairwise --in-place' 'scan linear' 'exscan linear --in-place'; do
    # shellcheck disable=SC2086
    says '^result     right' run $row -p 4 --count 9 --op avg --repeat 3 --transport loopback
done
refuses 'coll run: avg is not defined on i32_i32; it is on i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, cf32, cf64, f8_e4m3, f8_e5m2' \
    run allreduce ring -p 2 --type i32_i32 --op avg
refuses 'coll run: min is not defined on cf32; it is on i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, f8_e4m3, f8_e5m2' \
    run allreduce ring -p 2 --type cf32 --op min
for type in i16_i32 i32_i32 i64_i32 f32_i32 f64_i32; do
    says '^result     right' run scan linear -p 6 --count 9 --type $type --op maxloc --repeat 1
done
says '^result     right' run reduce_scatter ring -p 3 --counts 4,0,7 --window 2
says '^result     right' run allreduce fnomial -p 300 --type bf16 --transport loopback --repeat 1
says '^time       least .* median ' run allreduce ring -p 2 --count 1k
for buffers in 1 3 7; do # as many as there are repetitions, fewer, and more
    says '^result     right' run allreduce fnomial -p 3 --count 50 --repeat 3 --buffers $buffers
    says '^result     right' run alltoall pairwise -p 3 --in-place --repeat 3 --buffers $buffers --transport loopback
done
refuses 'coll run: --buffers is a whole number from 1 to 4096, not "0"' run allreduce ring -p 2 --buffers 0
says '^allreduce  *double_tree  *right, median ' run allreduce all -p 6 --count 40 --repeat 2
says '^20[0-9] right, 0 wrong, ' run all all -p 4 --nodes 2 --repeat 2 --transport loopback
says '^1[89][0-9] right, 0 wrong, ' run all all -p 5 --nodes 2 --repeat 2 --transport join
says 'a thread a rank, by TCP between nodes' run allreduce dpml -p 6 --nodes 1,3,2 --repeat 2 --transport join
# What the last repetition did: each message that was sent was received, whatever the ranks are.
traced() { # SENDS ARGUMENT…
    sends=$1
    shift
    rm -f "$scratch/trace.json" "$scratch/run.svg"
    says '^result     right on all ranks' "$@" --trace "$scratch/trace.json" --svg "$scratch/run.svg"
    for event in '"ph":"s"' '"ph":"f"' '"name":"send to '; do
        [ "$(grep -c "$event" "$scratch/trace.json")" = "$sends" ] || fail "the trace of $* has not $sends times $event"
    done
    [ "$(grep -c '"cat":"collective"' "$scratch/trace.json")" = 4 ] || fail "the trace of $* has not 4 calls"
    grep -q '>allgather ring, 4 ranks: ' "$scratch/run.svg" || fail "the picture of $* has no title"
}
for transport in threads tcp loopback; do
    traced 12 run allgather ring -p 4 --count 10 --transport $transport
done
traced 12 run allgather ring -p 4 --count 10 --nodes 2 --transport join
traced 12 launch -n 4 "$coll" run allgather ring --count 10 --transport tcp
refuses 'coll run: --trace and --svg write files, not "-"' run allgather ring -p 4 --trace -
refuses 'coll run: all goes with --ranks, --count, --nodes, --type, --transport, --repeat, --buffers and --seed alone' \
    run allgather all -p 4 --trace "$scratch/trace.json"
# Ranks that are processes: what needs memory in common, or a network that reduces, is not there.
says '; a process a rank, by TCP$' launch -n 3 "$coll" run scan linear -p 3 --count 9 --transport tcp
says '^result     right on all ranks' launch -n 3 "$coll" run reduce_scatter ring --counts 4,0,7 --transport tcp
says '^allreduce  *in_network  *not here: the transport lacks a capability' launch -n 3 "$coll" run allreduce all --transport tcp
says '^1[89][0-9] right, 0 wrong, [1-9][0-9]* not here$' launch -n 4 "$coll" run all all --count 3 --transport tcp
says '; a process a rank, by shared memory$' launch -n 3 "$coll" run scan linear -p 3 --count 9 --transport shm
says '^21[0-9] right, 0 wrong, 0 not here$' launch -n 4 "$coll" run all all --count 3 --transport shm
says '^result     right on all ranks' launch -n 3 "$coll" run allreduce shm --count 70k --repeat 20 --buffers 2 --transport shm
says '^allreduce  *dpml  *not here: the transport lacks a capability' launch -n 4 "$coll" run allreduce all --nodes 2 --transport shm
refuses 'coll run: by shm each rank is a process: coll launch -n P coll run …' run allreduce ring -p 2 --transport shm
says '^bandwidth  .*the largest buffer of a rank, 8.192 kB' run allreduce ring -p 2 --count 1k
says ' f=5 segment=8 order=0: 9 ranks, 64 elements; f64, sum; a thread a rank$' run allreduce fnomial -p 9 --count 64 --param f=5 --param segment=8

# ---- what is used inside ---------------------------------------------------------------------
says 'inside: inter=recursive_doubling' list allreduce
says '^allreduce, dpml leaders=4 inter=fnomial,f=5: 6 ranks' show allreduce dpml -p 6 --nodes 2 --inner inter=fnomial,f=5
says 'proven$' verify allreduce dpml -p 1..4 --inner inter=ring
run 1 verify allreduce dpml -p 4 --inner intra=ring
grep -q 'no plan can be made' "$scratch/out" || fail 'coll verify does not say what is refused'
says 'right on all ranks' run allreduce dpml-pipelined -p 6 --nodes 3,1,2 --inner inter=ring --repeat 2
says '^allreduce, dpml leaders=4: 8 ranks, 8 elements, on 2 nodes of up to 2 rails$' show allreduce dpml -p 8 --nodes 4 --rails 0,1
says ', on 8 nodes in 4 groups$' show allreduce two_level -p 16 --nodes 2 --groups 2 --inner inter=two_level
says 'right on all ranks' run allreduce dpml -p 16 --nodes 4 --groups 3,1 --rails 2 --inner inter=two-level --repeat 2
says 'right on all ranks' run bcast two-level -p 13 --nodes uneven --groups uneven --inner inter=multi-leader --repeat 2
says '^allreduce, two_level' show allreduce two_level -p 9 --nodes 2 --groups 2 --rails 0,2,2,1,2
refuses 'coll show: ring is not composite, so --inner has no meaning' show allreduce ring -p 4 --inner inter=fnomial
refuses 'coll show: --inner is written ROLE=NAME, not "ring"' show allreduce dpml -p 4 --inner ring
refuses 'coll show: there is no level "above"; there are intra, inter' show allreduce dpml -p 4 --inner above=ring
refuses 'coll show: there is no algorithm to use inside called "rong"; did you mean "ring"?' show allreduce dpml -p 4 --inner inter=rong
refuses 'coll show: --param f is given twice' show bcast fnomial -p 4 --param f=2 --param f=3
refuses 'coll show: the parameter f of fnomial is given twice' show bcast fnomial -p 4 --param f=2 --param k=2
refuses 'coll show: --inner inter is given twice' show allreduce dpml -p 4 --inner inter=ring --inner inter=fnomial
refuses 'coll show: --ranks is given twice' show bcast fnomial -p 4 --ranks 4
refuses 'coll show: there is no parameter "g"; there are f, segment, order' show allreduce dpml -p 4 --inner inter=fnomial,g=1
refuses 'coll show: a parameter is written NAME=NUMBER, not "f"' show allreduce dpml -p 4 --inner inter=fnomial,f
refuses 'coll show: the parameter f of fnomial is a whole number from 2 to 2147483647, not "1"' show allreduce dpml -p 4 --inner inter=fnomial,f=1
refuses 'coll show: two_level is composite, so it is used inside one only as inter=two_level' show allreduce dpml -p 4 --inner intra=two-level
refuses 'coll show: two_level is composite, so it needs --groups of nodes to be used among them' show allreduce dpml -p 4 --inner inter=two-level
refuses 'coll run: allreduce dpml is impossible: the algorithm does not solve this collective' run allreduce dpml -p 4 --inner inter=pairwise

# ---- model, regimes --------------------------------------------------------------------------
says '^moody  *a parent receives' model
says '^  nic_f64_add  *sum of doubles by the NIC$' model moody
says '^fattree  *a k-ary n-tree$' model
says '^  distribution  *fixed, uniform or exponential$' model noise
for machine in shm noise mesh torus fattree dragonfly nodes; do
    says '^The machine$' model $machine
done
says '^best degree  *4  *of all$' model moody:nic_f64_add P=31 M=1
says '^best degree  *2  *of all$' model moody nic_f64_add P=31 M=8
says '^reduce fnomial by both  *9.38 us ' model moody:nic_i32_add P=3 M=1 f=2 host=host_i32_add
says '^c of equal growth  *0.82 us ' model moody:nic_f64_add P=31 M=1 f=2 host=host-f64-add
says '^fastest  *snake ' model nbl:delta_nominal N=500000 W=16 H=16
says '^allreduce snake  *- us' model nbl:delta N=2 W=4 H=4
says '^nbl:alpha=54,beta=1.54,f2=2,f3=3,f4=4,f6=6,c2=0.25,c3=0$' model nbl N=9 W=4 H=4 alpha=54000ns beta=1.54us/element c2=.25
says '^allreduce rabenseifner  *44348 ns ' model loggp:L=1us,o=200,g=300,G=1,P=1024,n=8k
says '^leaders  *16 ' model dpml:omni_path h=64 ppn=28 n=8k
says '^leaders  *4 ' model dpml:infiniband h=64 ppn=28 n=8k
says '^zone of leaders  *B ' model dpml:omni_path h=64 ppn=28 n=8k
says '^allreduce recursive_doubling  *40 us' model dpml:infiniband,a=1,b=0,c=0 h=1M ppn=1M n=1
says '^leaders  *1 ' model dpml:infiniband,c=0,b=0 h=4000000000 ppn=4000000000 n=1
says '^allreduce node_leader  *3.622 us' model dpml:infiniband h=16 ppn=28 n=4
says '^allreduce node_leader  *3.12084 us' model dpml:infiniband h=16 ppn=28 n=4 cross=1
says '^bcast chain  *143724 us' model plogp table=ibm P=8 n=8M segment=64k overlap=64k
says '^segment of chain  *524288 bytes' model plogp table=ibm P=8 n=8M
says '^chain, with penalty  *205134.5 us' model plogp table=ibm P=8 n=8M segment=64k overlap=64k ovp=.5
says '^prefix  *287.50.. MB/s a node' model kumar lemieux P=64 m=1M
if command -v python3 >/dev/null 2>&1; then
    run 0 model dpml:omni_path h=64 ppn=28 n=8k --json
    python3 -c 'import json, sys
answer = json.load(sys.stdin)
assert answer["model"] == "dpml" and answer["machine"]["gap"] == 0.01 and answer["question"]["ppn"] == 28
assert {r["formula"]: r["value"] for r in answer["answers"]}["leaders"] == 16
assert any(r["value"] is None for r in answer["answers"])' <"$scratch/out" >"$scratch/err" 2>&1 || fail 'coll model --json is not what it should be'
fi
refuses 'coll model: there is no model "nbll"; did you mean "nbl"?' model nbll
refuses 'coll model: alpha of nbl is missing: alpha=… is the start-up of a message, in us' model nbl N=1 W=1 H=1
refuses 'coll model: W of nbl is missing: W=… is the width of the mesh' model nbl:delta
refuses 'coll model: f4 of nbl is a number from 0 on, not "-1"' model nbl:delta,f4=-1 N=1 W=1 H=1
refuses 'coll model: W of nbl is a whole number from 1 to 65535, not "0"' model nbl:delta N=1 W=0 H=1
refuses 'coll model: nbl has no "Q"; it has delta, delta_standard, delta_nominal, alpha, beta, f2, f3, f4, f6, c2, c3, W, H, N, S' model nbl:delta Q=1
refuses 'coll model: nbl has no "n"; did you mean "N"?' model nbl:delta n=5
refuses 'coll model: host is a preset of moody' model moody:nic_f64_add P=3 M=1 host=x
refuses 'coll model: the degree f is at least 2, or 0 for the best' model moody:nic_f64_add P=3 M=1 f=1
refuses 'coll model: a node has at most ppn leaders, l' model dpml:infiniband h=64 ppn=28 n=8k l=29
refuses 'coll model: a segment is at most n' model hockney:alpha=1,beta=1 P=8 n=1k segment=2k
refuses 'coll model: a segment is at most n' model plogp table=ibm P=8 n=1k segment=2k
refuses 'coll model: overlap is at most a segment' model plogp table=ibm P=8 n=1M segment=2k overlap=4k
refuses 'coll model: the table no/such.txt cannot be read' model plogp table=no/such.txt P=8 n=1 segment=1
refuses 'coll model: --json prints the answers of one model; coll model lists the models' model --json
refuses 'coll model: --json prints answers, so it needs a question; coll model nbl explains it' model nbl --json

says '^ *4096  snake     snake$' regimes --model nbl:delta_nominal -p 16..32 -n 1..4k
says '^ *mesh  4x4       8x4$' regimes --model nbl:delta -p 16..32 -n 1..1
says '^ *8192  16 leaders$' regimes --model dpml:omni_path ppn=28 -p 1792 -n 8k
says '^ *8192  4 leaders$' regimes --model dpml:infiniband ppn=28 -p 1792 -n 8k
for model in hockney:alpha=5,beta=1 loggp:loggopsim moody:nic_f64_add kumar:lemieux; do
    says '^ *1024  [a-z]' regimes --model $model -p 7..100 --steps 3
done
says 'binomial' regimes --model hockney:alpha=5,beta=1 --collective bcast
refuses 'coll regimes: --model is missing; coll model lists the models' regimes
says '^ *8388608  chain  *binary$' regimes --model plogp:table=ibm -p 32..64 -n 8M
says '^ *8388608  binary$' regimes --model plogp:table=ibm segment=64k -p 1024 -n 8M
refuses 'coll regimes: N of nbl is not asked for here: sizes are -p and -n, and what is compared stands in the table' regimes --model nbl:delta N=5
refuses 'coll regimes: there is no contest of hockney for "bcst"; did you mean "bcast"?' regimes --model hockney --collective bcst
refuses 'coll regimes: ppn of dpml is missing: ppn=… is the processes of a node' regimes --model dpml:infiniband
refuses 'coll regimes: a picture'\''s name ends with .svg, .pdf or .png, not "x.gif"' regimes --model nbl:delta --plot x.gif
refuses "coll regimes: $scratch/no/x.svg.gnuplot cannot be written: No such file or directory" regimes --model nbl:delta --plot "$scratch/no/x.svg"
if command -v gnuplot >/dev/null 2>&1; then
    for picture in "$scratch/it's a.svg" "$scratch/b.png" "$scratch/b.pdf"; do
        run 0 regimes --model nbl:delta --plot "$picture"
        [ -s "$picture" ] && [ -s "$picture.gnuplot" ] || fail "coll regimes does not draw $picture"
    done
elif [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    fail 'gnuplot is missing'
fi
mkdir -p "$scratch/empty"
run_without_path() {
    (PATH=$scratch/empty && run 2 regimes --model nbl:delta --plot "$scratch/c.svg")
}
run_without_path
[ "$(cat "$scratch/err")" = "coll regimes: gnuplot is missing, so there is only its script, $scratch/c.svg.gnuplot; on Debian: apt-get install gnuplot-nox" ] ||
    fail 'no word about gnuplot'

# ---- select ----------------------------------------------------------------------------------
says '^allreduce of 64k bytes on 8 ranks: rabenseifner k=2$' select allreduce -p 8 --bytes 64k
says '^rule     allreduce  p 4..  bytes 4k..<1M  rabenseifner  # longer' select allreduce -p 8 --bytes 64k
says '^allreduce of 2M bytes on 8 ranks: ring$' select allreduce -p 8 --bytes 2M
says '^allreduce of 2M bytes on 8 ranks, operands in rank order: rabenseifner k=2$' select allreduce -p 8 --bytes 2M --non-commutative
says '^not      allreduce  p 3..  bytes 32k..  ring  # ' select allreduce -p 8 --bytes 2M --non-commutative
says '^         the algorithm reorders operands' select allreduce -p 8 --bytes 2M --non-commutative
says '^bcast of 8 bytes on 5 ranks, in place: chain chains=1 segment=4096$' select bcast -p 5 --bytes 8 --in-place --choice 'bcast:pipeline:segment=4k'
says '^rule     bcast  chain:chains=1,segment=4k  # --choice$' select bcast -p 5 --bytes 8 --choice 'bcast:pipeline:segment=4k'
says '^allreduce of 8 bytes on 8 ranks of 2 nodes: two_level$' select allreduce -p 8 --bytes 8 --nodes 4 --choice 'allreduce:two-level:inter=ring'
says '^         the algorithm does not promise the same bits' select allreduce -p 8 --bytes 8 --choice allreduce:swing_latency --identical
says '^allreduce .*: swing_latency$' select allreduce -p 8 --bytes 8 --choice allreduce:swing_latency
says '^         the transport lacks a capability' select allreduce -p 8 --bytes 8 --choice allreduce:shm
says '^allreduce .*: shm f=64 buffers=2 buffer=1024$' select allreduce -p 8 --bytes 8 --choice allreduce:shm --capabilities shared,network-reduce
says '^reduce_scatter of 8 bytes on 8 ranks: recursive_halving k=2$' select reduce_scatter -p 8 --bytes 8
for collective in $("$coll" list | grep '^[a-z]'); do
    case $collective in
    barrier | *v | *w) bytes= ;;
    *) bytes='--bytes 1k' ;;
    esac
    [ "$collective" = allgatherv ] && bytes='--bytes 1k'
    [ "$collective" = reduce_scatter ] && bytes='--bytes 1k'
    # shellcheck disable=SC2086
    says "^$collective.* on 6 ranks: " select "$collective" -p 6 $bytes
done
says '^rule     allreduce  ppn 12..  bytes 0..<4k  two_level' select allreduce -p 256 --nodes 16 --bytes 64
says '^rule     allreduce  recursive_doubling' select allreduce -p 256 --nodes 1 --bytes 64
run 0 select --print
sed 's/^# .*/# other words/' "$scratch/out" >"$scratch/table"
run 0 select --print --table "$scratch/table"
sed -n "/^# rules of several nodes/q; p" "$scratch/out" | tail -n +2 >"$scratch/again"
grep -v '^#' "$scratch/table" | cmp -s - "$scratch/again" || fail 'the rules are not read back as they were printed'
echo 'bcast p 2..4 bytes 100.. chain:chains=2 # as measured' >"$scratch/table"
says '^rule     bcast  p 2..4  bytes 100..  chain:chains=2  # as measured$' select bcast -p 4 --bytes 100 --table "$scratch/table"
says '^bcast .*: fnomial' select bcast -p 5 --bytes 100 --table "$scratch/table"
says '^bcast .*: linear$' select bcast -p 4 --bytes 100 --table "$scratch/table" --choice bcast:flat
run 0 select scan --print
grep -v '^# ' "$scratch/out" | grep -qv '^scan[ ,]' && fail 'coll select scan --print prints other rules'
echo 'bcast p 4..2 chain' >>"$scratch/table"
refuses "coll select: $scratch/table, line 2: the range p 4..2 ends before it begins" select bcast -p 4 --bytes 100 --table "$scratch/table"
refuses 'coll select: the table /nowhere cannot be read: No such file or directory' select --print --table /nowhere
refuses 'coll select: --choice: there is no algorithm for bcast called "chian"; did you mean "chain"?' select --print --choice bcast:chian
refuses 'coll select: COLLECTIVE is missing; coll select --help shows the usage' select -p 4
refuses 'coll select: --print goes with --choice, --table and --cluster alone' select bcast --print -p 4
refuses 'coll select: -p P, the number of ranks, is missing' select bcast --bytes 4
refuses 'coll select: --bytes N, of the vector or of a block, is missing' select bcast -p 4
refuses 'coll select: not all ranks know the sizes of gatherv, so --bytes has no meaning' select gatherv -p 4 --bytes 4
refuses 'coll select: barrier moves no elements, so it has no bytes' select barrier -p 4 --bytes 4
refuses 'coll select: allreduce has no root' select allreduce -p 4 --bytes 4 --root 1
refuses 'coll select: the root is a rank from 0 to 3, not 4' select bcast -p 4 --bytes 4 --root 4
refuses 'coll select: bcast has no operator' select bcast -p 4 --bytes 4 --non-commutative
refuses 'coll select: neighbor_alltoall cannot be in place' select neighbor_alltoall -p 4 --bytes 4 --in-place
refuses 'coll select: reduce gives no two ranks the same sum, so --identical has no meaning' select reduce -p 4 --bytes 4 --identical
refuses 'coll select: there is no capability "telepathy"; there are shared, multicast, network_reduce, network_barrier' select bcast -p 4 --bytes 4 --capabilities telepathy
refuses 'coll select: the tables of allgatherv are made for at most 16777216 ranks, and smaller blocks' select allgatherv -p 4000000000 --bytes 1

# ---- refusals --------------------------------------------------------------------------------
refuses 'coll: a subcommand is missing; coll --help lists them'
refuses 'coll: there is no subcommand "lsit"; did you mean "list"?' lsit
refuses 'coll: there is no subcommand "frobnicate"; there are list, show, verify, try, run, model, regimes, sim, sweep, report, select, calibrate, tune, launch, top, export, amalgamate' frobnicate
refuses 'coll: nothing is expected after --version' --version now
refuses 'coll list: there is no collective "allredue"; did you mean "allreduce"?' list allredue
refuses 'coll list: there is no option --jsn; did you mean --json?' list --jsn
refuses 'coll list: there is no option --colour; coll list --help lists the options' list --colour
refuses 'coll list: there is no option -z; coll list --help lists the options' list -z
refuses 'coll list: there is no option -é; coll list --help lists the options' list -éa
refuses 'coll list: nothing is expected where "bcast" stands; coll list --help shows the usage' list scan bcast
refuses 'coll list: --json and --markdown exclude each other' list --json --markdown
refuses 'coll list: --json takes no value' list --json=yes
refuses 'coll show: COLLECTIVE is missing; coll show --help shows the usage' show
refuses 'coll show: ALGORITHM is missing; coll show --help shows the usage' show bcast
refuses 'coll show: there is no algorithm for bcast called "fnomail"; did you mean "fnomial"?' show bcast fnomail -p 4
refuses 'coll show: -p P, the number of ranks, is missing' show bcast fnomial
refuses 'coll show: -p needs a value, P' show bcast fnomial -p
refuses 'coll show: --count needs a value, N' show bcast fnomial -p 4 --count --root 1
for p in 0 -3 99999999999 99999999999999999999999 four 4x 4.0 ''; do
    refuses "coll show: -p is a whole number from 1 to 4294967295, not \"$p\"" show bcast fnomial -p "$p"
done
refuses 'coll show: the root is a rank from 0 to 3, not 4' show bcast fnomial -p 4 --root 4
refuses 'coll show: allreduce has no root' show allreduce ring -p 4 --root 0
refuses 'coll show: --count is a whole number from 0 to 9223372036854775807, not "-1"' show bcast fnomial -p 4 --count -1
refuses 'coll show: bcast fnomial is impossible: counts or offsets exceed what this machine can address' show bcast fnomial -p 4 --count 9223372036854775807
refuses 'coll show: allgather ring is impossible: counts or offsets exceed what this machine can address' show allgather ring -p 4000000000 --count 4000000000
refuses 'coll show: the blocks exceed what this machine can address' show gatherv linear -p 4 --count 9223372036854775807
refuses 'coll show: binary is kary with k=2' show bcast binary -p 4 --param k=3
refuses 'coll show: there is no algorithm for bcast called "binmial"; did you mean "binomial"?' show bcast binmial -p 4
refuses 'coll show: there is no parameter "g"; there are f, segment, order' show bcast fnomial -p 4 --param g=3
refuses 'coll show: the parameter f of fnomial is a whole number from 2 to 2147483647, not "1"' show bcast fnomial -p 4 --param f=1
refuses 'coll show: the parameter f of fnomial is a whole number from 2 to 2147483647, not "two"' show bcast fnomial -p 4 --param f=two
refuses 'coll show: a parameter is written NAME=NUMBER, not "f"' show bcast fnomial -p 4 --param f
refuses 'coll show: ring has no parameters' show allreduce ring -p 4 --param f=2
refuses 'coll show: --rank is from 0 to 3, not 4' show bcast fnomial -p 4 --rank 4
refuses 'coll show: allreduce ring is impossible: the algorithm reorders operands, so it needs a commutative operator' show allreduce ring -p 4 --non-commutative
refuses 'coll show: bcast has no operator' show bcast linear -p 4 --non-commutative
refuses 'coll show: barrier moves no elements, so it has no count' show barrier linear -p 4 --count 3
refuses 'coll show: barrier has no buffers, so it cannot be in place' show barrier linear -p 4 --in-place
refuses 'coll show: nothing is expected where "more" stands; coll show --help shows the usage' show bcast fnomial -p 4 more
refuses 'coll show: --counts has 2 numbers, and there are 4 ranks' show gatherv linear -p 4 --counts 1,2
refuses 'coll show: --counts has more than 2 numbers' show gatherv linear -p 2 --counts 1,2,3
refuses 'coll show: --counts is a list of whole numbers such as 3,0,5, which "x" is not' show gatherv linear -p 2 --counts 1,x
refuses 'coll show: --counts is for gatherv, scatterv, allgatherv and reduce_scatter' show gather linear -p 2 --counts 1,2
refuses 'coll show: --counts is a list of whole numbers such as 3,0,5, which "2," is not' show gatherv linear -p 2 --counts 1,2,
refuses 'coll show: --counts and --seed exclude each other' show gatherv linear -p 2 --counts 1,2 --seed 3
refuses 'coll show: --seed is for collectives whose blocks may differ' show bcast linear -p 2 --seed 3
refuses 'coll show: --rails says more about nodes: give --nodes, too' show allreduce dpml -p 4 --rails 2
refuses 'coll show: --groups says more about nodes: give --nodes, too' show allreduce dpml -p 4 --groups 2
refuses 'coll show: --rails is how many a node has, from 1 to 16, or those of its ranks, from 0 to 15, such as 0,1, not "0,16"' \
    show allreduce dpml -p 4 --nodes 2 --rails 0,16
refuses 'coll show: --groups has 2 nodes, and there are 3' show allreduce dpml -p 6 --nodes 2 --groups 1,1
refuses 'coll show: --groups has more than 2 nodes' show allreduce dpml -p 4 --nodes 2 --groups 2,1
refuses 'coll show: --nodes is the ranks of every node, or of each, such as 4 or 3,1,2, or "uneven", not "2,"' show bcast two_level -p 4 --nodes 2,2,
refuses 'coll show: there is no group missing:3:0 of 4 ranks' show allgather ring -p 4 --group missing:3:0
refuses 'coll show: there is no group missing:5:5 of 4 ranks' show allgather ring -p 4 --group missing:5:5
refuses 'coll show: there is no group "mising"; did you mean "missing"?' show allgather ring -p 4 --group mising:5:0
refuses 'coll show: --group is how ranks are chosen and two numbers such as affine:9:1, or a list, not "missing:5"' show allgather ring -p 4 --group missing:5
refuses 'coll show: --group has 2 numbers, and there are 4 ranks' show allgather ring -p 4 --group 0,1
refuses 'coll show: --group has 5 numbers, and there are 4 ranks' show allgather ring -p 4 --group 4,3,2,1,0
refuses 'coll show: --group names a rank twice' show allgather ring -p 4 --group 0,1,2,1
refuses 'coll show: --group is a list of numbers below 4294967295, which "x,3" is not' show allgather ring -p 4 --group 0,1,x,3
refuses 'coll show: allgather prefix is impossible: a group has no ranks, repeats one, reaches outside, is not in ascending order, or is not the whole transport' show allgather prefix -p 4 --param machine=6 --group shuffled:6:2
refuses 'coll show: --places is how ranks lie and two numbers such as dealt:9:1, or a list, not "dealt:2"' show barrier two_level -p 4 --places dealt:2
refuses 'coll show: there is no kind of places "delt"; did you mean "dealt"?' show barrier two_level -p 4 --places delt:2:0
refuses 'coll show: --places needs a node' show barrier two_level -p 4 --places dealt:0:0
refuses 'coll show: --places has 3 numbers, and there are 4 ranks' show barrier two_level -p 4 --places 0,1,0
refuses 'coll show: --places excludes --nodes, --layout and --graph' show barrier two_level -p 4 --places dealt:2:0 --nodes 2
refuses 'coll show: --group and --places exclude each other' show barrier two_level -p 4 --places dealt:2:0 --group affine:9:0
refuses 'coll show: --count and --counts exclude each other' show gatherv linear -p 2 --counts 1,2 --count 2
refuses 'coll show: the tables of gatherv are made for at most 16777216 ranks here, not 4294967295' show gatherv linear -p 4294967295
refuses 'coll show: bcast has no neighbours, so --graph has no meaning' show bcast linear -p 4 --graph ring
refuses 'coll show: neighbor_alltoall cannot be in place' show neighbor_alltoall linear -p 4 --in-place
refuses 'coll show: there is no graph "tours"; did you mean "torus"?' show neighbor_alltoall linear -p 4 --graph tours
refuses 'coll show: 2x3 are not 4 ranks' show neighbor_alltoall linear -p 4 --graph torus:2x3
refuses 'coll show: dimensions are up to 8 numbers such as 4x3, not "2xx2"' show neighbor_alltoall linear -p 4 --graph torus:2xx2
refuses 'coll show: dimensions are up to 8 numbers such as 4x3, not "2x2x"' show neighbor_alltoall linear -p 4 --graph torus:2x2x
refuses 'coll show: dimensions are up to 8 numbers such as 4x3, not ""' show neighbor_alltoall linear -p 4 --graph torus:
refuses 'coll show: dimensions are for mesh, torus, stencil and clipped, not for ring' show neighbor_alltoall linear -p 4 --graph ring:4
refuses 'coll show: neighbor_alltoall mesh_combining is impossible: the neighbours are missing, or are none of the ranks' show neighbor_alltoall mesh_combining -p 4 --graph sparse
refuses 'coll show: --counts is for gatherv, scatterv, allgatherv and reduce_scatter' show neighbor_alltoallv linear -p 4 --counts 1,2,3,4
refuses 'coll show: the tables of alltoallv are made for at most 2048 ranks here, not 5000' show alltoallv pairwise -p 5000
refuses 'coll show: there is no layout "evn"; there are uneven, gaps, one, empty' show gatherv linear -p 4 --layout evn
refuses 'coll show: --layout is for collectives whose blocks may differ' show bcast linear -p 4 --layout gaps
refuses 'coll show: --layout excludes --counts and --seed' show gatherv linear -p 2 --layout gaps --seed 1
refuses 'coll show: --root-tables goes with --layout, for gatherv and scatterv' show gatherv linear -p 2 --root-tables
# shellcheck disable=SC2046
refuses 'coll show: --param is given more than 24 times' show bcast fnomial -p 4 $(seq -f '--param p%g=2' 25)
refuses 'coll run: there is no element type "f65"; did you mean "f64"?' run allreduce ring -p 4 --type f65
refuses 'coll run: there is no operator "summ"; did you mean "sum"?' run allreduce ring -p 4 --op summ
refuses 'coll run: band is not defined on f64; it is on i8, i16, i32, i64, u8, u16, u32, u64' run allreduce ring -p 4 --op band
refuses 'coll run: bcast has no operator, so --op has no meaning' run bcast linear -p 4 --op sum
refuses 'coll run: all collectives go with all algorithms: coll run all all' run all ring -p 4
refuses 'coll run: all goes with --ranks, --count, --nodes, --type, --transport, --repeat, --buffers and --seed alone' run all all -p 4 --root 1
refuses 'coll run: there is no transport "thread"; did you mean "threads"?' run allreduce ring -p 4 --transport thread
refuses 'coll run: the transport threads runs at most 4096 ranks here, not 5000' run allreduce ring -p 5000
refuses 'coll run: the transport loopback runs at most 16384 ranks here, not 99999' run allreduce ring -p 99999 --transport loopback
refuses 'coll run: ring needs a window of at least 2' run allreduce ring -p 4 --window 1
refuses 'coll run: --window is a whole number from 1 to 32, not "33"' run allreduce ring -p 4 --window 33
refuses 'coll run: --repeat is a whole number from 1 to 10000000, not "0"' run allreduce ring -p 4 --repeat 0
refuses 'coll verify: -p is a range such as 1..64, within 1..1048576, not "9..3"' verify -p 9..3
refuses 'coll verify: all ranks are run among at most 1024: give -p A..B with B at most 1024, or --certify' verify -p 1..2000
refuses 'coll verify: -p is a range such as 1..64, within 1..1048576, not "1.."' verify -p 1..
refuses 'coll verify: -p is a range such as 1..64, within 1..1048576, not "0..4"' verify -p 0..4
refuses 'coll verify: -p is a range such as 1..64, within 1..1048576, not "1..99999999999999999999"' verify -p 1..99999999999999999999
refuses 'coll verify: --jobs is a whole number from 1 to 64, not "0"' verify --jobs 0
refuses 'coll verify: ring does not solve scan; linear, binary_tree, recursive_doubling, recursive_multiplying, two_level, multi_leader, full_lane do' verify scan ring
run 2 run allreduce ring -p 4 --count 100G
grep -q '^coll run: the buffers of 4 ranks need .* GB, and this machine has .* GB$' "$scratch/err" || fail 'no word about memory'
if [ -w /dev/full ]; then
    checks=$((checks + 1))
    for what in list --help --version 'show --help' 'select --print'; do
        # shellcheck disable=SC2086
        "$coll" $what >/dev/full 2>"$scratch/err"
        [ $? -eq 1 ] || fail "coll $what does not notice a full disk"
        case $what in --*) name=coll ;; *) name="coll ${what%% *}" ;; esac
        [ "$(cat "$scratch/err")" = "$name: the output could not be written" ] || fail "coll $what says it otherwise"
    done
fi

done_checks
