#!/bin/sh
# coll tune: finds rules over each transport, which are read back; goes on from what an earlier run has measured; and a
# sentence for everything that is wrong. How long anything takes decides nothing.
coll=$COLL_COMMAND
sub=tune
. "$(dirname "$0")/run/command.sh"
. "$(dirname "$0")/../support/missing.sh"
cd "$scratch" || exit 1

checks=$((checks + 1))
timeout 60 "$coll" calibrate --transport threads -p 2 --within 200ms --precision 50 --largest 64k \
    --output here.machine >out 2>err || fail 'nothing is calibrated'

# ---- tables ------------------------------------------------------------------------------------
for transport in threads tcp shm; do
    does --model @here.machine --transport $transport --ranks 3 --within 1s --collectives bcast,barrier \
        --largest 4k --output $transport.table
    has "^# coll tune over $transport, " $transport.table
    has '^barrier  p 3..4  [a-z_]*.*  # ' $transport.table
    has '^bcast  p 3..4  .*# ' $transport.table
    has ' choices simulated, ' err
    checks=$((checks + 1))
    "$coll" select bcast -p 3 --bytes 8 --table $transport.table >out 2>err || fail 'the rules are not read'
done
does --model @here.machine --transport join --nodes 2 --ranks 4 --within 500ms --collectives allreduce --largest 1k
has '^allreduce  p 3..6  ' out
does --model @here.machine --transport threads --ranks 2,4 --within 30s --collectives reduce --largest 1k --check 3 \
    --measured passes --near-ties ties --loss 50
has '^reduce  p 2' out
has '^# coll tune over threads, .*near ties' ties
has '^reduce  p 2.* # measured ' ties
checks=$((checks + 1))
"$coll" select reduce -p 2 --bytes 8 --table ties >chosen 2>&1 || fail 'the near ties are not read'
has '^in [1-6] unseen problems the table loses ' err
has '^# coll tune over threads$' passes
has '^p 4  reduce  bytes 8  [a-z_].*  ns [0-9.]*$' passes

# ---- an earlier run: what it has counts, and is kept ----------------------------------------------
cp passes before
printf 'p 2  reduce  bytes 8  fnomi' >>passes # it was cut short
does --model @here.machine --transport threads --ranks 2 --within 1ms --collectives reduce --largest 1k --measured passes
checks=$((checks + 1))
head -n "$(wc -l <before)" passes | cmp -s before - || fail 'what an earlier run has measured is changed'
has '^reduce  p [23]\.\.6  ' out # the other number of ranks, from the file
does --model @here.machine --transport threads --ranks 3 --within 100ms --collectives barrier --measured passes
! grep -q '^reduce' out || fail 'rules for what is not tuned'
checks=$((checks + 1))
if command -v gnuplot >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    does --model @here.machine --transport threads --ranks 2 --within 1s --collectives scan,exscan --largest 1k \
        --plot page.svg --output -
    has 'exscan, p = 2' page.svg
fi

{
    echo '# coll tune over threads'
    yes 'p 2  reduce  bytes 8  fnomial  ns 1.0' | head -n 32 # no more are asked for
} >known
does --model @here.machine --transport threads --ranks 2 --within 1ms --collectives reduce --largest 64 --measured known
has '^reduce  p 2.*fnomial  # measured 0.001 us at 8 bytes, as the built-in rules have it$' out
checks=$((checks + 1))
[ "$(grep -c 'bytes 8  fnomial ' known)" -eq 32 ] || fail 'what is known is measured again'

# ---- simulation alone ----------------------------------------------------------------------------
checks=$((checks + 1)) # the tables of the papers' machines: one is made again, and all are read
COLL_COMMAND=$coll sh "$COLL_SOURCE/bench/papers.sh" print infiniband >made 2>err || fail 'bench/papers.sh fails'
cmp -s made "$COLL_SOURCE/examples/tables/infiniband.table" ||
    fail 'examples/tables/infiniband.table is not what bench/papers.sh makes: bench/papers.sh make infiniband'
for table in "$COLL_SOURCE"/examples/tables/*.table; do
    checks=$((checks + 1))
    grep -q '^# coll tune --simulate, on ' "$table" || fail "$table does not say what machine it is for"
    "$coll" select allreduce -p 64 --bytes 64k --table "$table" >chosen 2>&1 || fail "$table is not read"
done
does --simulate --model loggp:L=1us,o=200,g=300,G=0.5 --ranks 12 --nodes 4 --collectives allreduce --largest 2k
has '^# coll tune --simulate, on loggp:L=1us,o=200,g=300,G=0.5: ' out
has '^allreduce  p 9..18  .*  # simulated ' out
has ' choices simulated, 0 measured; so nothing is sure of a real machine$' err
does --simulate --model hockney:alpha=9us,beta=3 --multicast --ranks 9 --collectives bcast --largest 64
has '^bcast  p 7..13  multicast  # simulated ' out

# ---- bad input -----------------------------------------------------------------------------------
refuses '--model @FILE is missing, a file of coll calibrate over the same transport' --transport threads --ranks 2
refuses 'the machine no/such/file cannot be read' --model @no/such/file --transport threads --ranks 2
refuses '--ranks P, the number of ranks, is missing' --model @here.machine --transport threads
refuses '--ranks P, the number of ranks, is missing' --simulate --model hockney:alpha=9us,beta=3
refuses '--simulate measures nothing: leave out --transport, --bind, --check, --measured, --within and --near-ties' \
    --simulate --model hockney:alpha=9us,beta=3 --transport threads --ranks 2
refuses '--simulate measures nothing: leave out --transport, --bind, --check, --measured, --within and --near-ties' \
    --simulate --model hockney:alpha=9us,beta=3 --within 3s --ranks 2
refuses '--memory, --nic, --placement, --topology, --noise, --skew and --multicast are of a machine on which --simulate goes' \
    --model @here.machine --transport threads --ranks 2 --topology flat
refuses '--ranks is a number of ranks from 2 to 4096, or up to 16 such with a comma between them, not "5000"' --simulate \
    --model hockney:alpha=9us,beta=3 --ranks 5000
refuses '--transport is missing: threads, shm, tcp, join, ucx or ofi' --model @here.machine --ranks 2
refuses '--ranks is a number of ranks from 2 to 1024, or up to 16 such with a comma between them, not "2,x"' \
    --model @here.machine --transport threads --ranks 2,x
refuses 'ranks by shm are processes, of which one run has one number: --measured keeps what each run finds' \
    --model @here.machine --transport shm --ranks 2,4
refuses 'only collectives whose blocks have one size are tuned; those with tables and those of neighbours go by the built-in rules' \
    --model @here.machine --transport threads --ranks 2 --collectives gatherv
refuses '--within is a time from 1ms to 1000000s such as 20s, not "soon"' --model @here.machine --transport threads \
    --ranks 2 --within soon
printf 'coll-machine 1\nmachine.transport a\nmachine.data kept\nmachine.ranks 1\n' >empty
refuses 'empty has no table of P-LogP, so nothing can be simulated by it' --model @empty --transport threads --ranks 2
printf 'something\n' >other
refuses 'other is no file of measurements over threads: its first line has to be # coll tune over threads' \
    --model @here.machine --transport threads --ranks 2 --measured other
checks=$((checks + 1))
[ "$(cat other)" = something ] || fail 'a file of something else is changed'
cd / || exit 1
done_checks
