#!/bin/sh
# coll calibrate: measures over each transport, and what it writes is read by coll sim, coll model and coll regimes; the
# page of pictures; and a sentence for everything that is wrong. How long anything takes decides nothing.
coll=$COLL_COMMAND
sub=calibrate
. "$(dirname "$0")/run/command.sh"
. "$(dirname "$0")/../support/missing.sh"
cd "$scratch" || exit 1

# ---- measuring -------------------------------------------------------------------------------
for transport in threads shm tcp join; do
    for ranks in 2 3; do
        does --transport $transport -p $ranks --within 200ms --precision 50 --largest 64k --output $transport.machine
        has '^coll-machine 1$' $transport.machine
        has "^machine.transport $transport\$" $transport.machine
        has "^machine.ranks $ranks\$" $transport.machine
        for line in hockney.alpha loggp.L loggp.G nbl.beta moody.r dpml.wire shm.b plogp.L 'plogp.row 65536' \
            'measured roundtrip 65536bytes' 'measured os 8bytes' 'measured or 8bytes' 'measured gap 8bytes' \
            'measured links.65536 2' 'measured pairs.8 1' 'measured distance.8 1' 'measured serial.1 8' \
            "measured copy.$ranks 65536bytes" 'measured combine.max_i32 32768bytes' "measured barrier $ranks" \
            'measured noise.per_s 0' 'measured clock.unsure_ns 1'; do
            has "^$line" $transport.machine
        done
    done
    # … is what the others take
    sub=
    run 0 sim allreduce ring -p 8 --count 1k --model @$transport.machine
    has "^plogp:table=$transport.machine," out
    run 0 sim bcast binomial -p 8 --count 1k --model loggp:@$transport.machine,L=5us
    has ',L=5us\|:L=5000,' out
    run 0 sim bcast binomial -p 8 --nodes 4 --model loggp:@$transport.machine --memory shm:@$transport.machine
    run 0 model @$transport.machine
    has '^moody:L=' out
    run 0 model @$transport.machine P=8 n=64k
    has '^bcast chain ' out
    run 0 model loggp:@$transport.machine P=8 n=64k
    has '^allreduce ring ' out
    run 0 regimes --model hockney:@$transport.machine
    has '^  *1048576  [a-z]' out
    sub=calibrate
done
does --transport threads -p 1 --within 100ms --precision 50 --largest 64k
has '^shm.a ' out
grep -q '^loggp' out && fail 'one rank has messages'
for data in kept purged; do
    does --transport threads -p 2 --within 100ms --precision 50 --largest 64k --data $data --cache 64k --bind
    has "^machine.data $data\$" out
done
does --transport join -p 4 --nodes 2 --within 100ms --precision 50 --largest 64k
has '^measured links.8 6 ' out
does --transport threads -p 3 --within 200ms --precision 50 --largest 64k --check
has '^allreduce  *ring  *65536 ' out
has '^median error ' out

# ---- an earlier file -------------------------------------------------------------------------
does --from threads.machine
has '^3 ranks over threads, ' err
if command -v gnuplot >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    does --from threads.machine --plot page.svg
    has 'messages, and LogGP fitted to them' page.svg
    has 'serial reductions' page.svg
fi

# ---- bad input -------------------------------------------------------------------------------
refuses '--transport is missing: threads, shm, tcp, join, ucx or ofi'
refuses '-p P, the number of ranks, is missing' --transport shm
refuses 'there is no transport "thread"; did you mean "threads"?' --transport thread -p 2
refuses '--within is a time from 1ms to 1000000s such as 20s, not "soon"' --transport threads -p 2 --within soon
refuses '--precision is a whole number from 1 to 50, not "0"' --transport threads -p 2 --precision 0
refuses 'there is no data "dirty"; there are written, kept, purged' --transport threads -p 2 --data dirty
refuses '--nodes is for --transport join, whose ranks are on several' --transport tcp -p 2 --nodes 2
refuses 'with 4 ranks a node, all 4 are on one: --transport threads' --transport join -p 4 --nodes 4
refuses '--from shows what a file has: it goes with --plot alone' --from x --transport threads
refuses 'the machine no/such/file cannot be read' --from no/such/file
printf 'coll-machine 1\nmachine.ranks many\n' >bad
refuses 'bad, line 2: ranks of machine is a whole number from 1 to 4294967295, not "many"' --from bad
printf 'coll-machine 1\nmachine.transport a\nmachine.data kept\nmachine.ranks 1\n' >empty
if command -v gnuplot >/dev/null 2>&1; then
    run 2 --from empty --plot page.svg
    has 'a picture shows what was measured' err
fi
run 2 --transport threads -p 2 --within 50ms --precision 50 --largest 64k --output no/such/file
has 'no/such/file cannot be written' err
sub=
refuses 'coll sim: bad, line 2: ranks of machine is a whole number from 1 to 4294967295, not "many"' \
    sim bcast linear -p 2 --model @bad
refuses 'coll sim: empty says nothing of plogp' sim bcast linear -p 2 --model @empty
refuses 'coll model: empty says nothing of loggp' model loggp:@empty P=2 n=1
refuses 'coll regimes: the machine none cannot be read' regimes --model loggp:@none
cd / || exit 1
done_checks
