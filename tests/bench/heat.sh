#!/bin/sh
# bench/heat.sh: cells, colours, order and sentences; and the maps that peers.sh, networks.sh and mpi.sh draw of programs that measure
# nothing.
set -u
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
checks=0 failed=0

fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
    cat out err
}

# ends CODE COMMAND…
ends() {
    code=$1
    shift
    checks=$((checks + 1))
    "$@" >out 2>err
    is=$?
    [ $is -eq "$code" ] || fail "$* ends with $is instead of $code"
}

# has FILE LINE: whole lines.
has() {
    checks=$((checks + 1))
    grep -q -x -F -e "$2" "$1" || fail "$1 has no line $2"
}

# drawn PICTURE TEXT…: both kinds are there, and the texts are in the first.
drawn() {
    checks=$((checks + 1))
    picture=$1
    shift
    [ "$gnuplot" = no ] && return
    grep -q '^%PDF' "$picture.pdf" || fail "$picture.pdf is no picture"
    for text in "$@"; do
        grep -q -F ">$text<" "$picture.svg" || fail "$picture.svg does not say $text"
    done
}

gnuplot=yes
if ! command -v gnuplot >/dev/null 2>&1; then
    gnuplot=no
    [ "${COLL_REQUIRE_ALL:-}" = 1 ] && { echo 'FAILED: gnuplot is missing'; exit 1; }
    echo 'skipped: pictures are not drawn; on Debian: apt-get install gnuplot-nox'
fi

# ---- heat.sh ----------------------------------------------------------------------------------
heat=$COLL_SOURCE/bench/heat.sh
cat >cells <<'CSV'
two ranks,barrier,0,1
two ranks,bcast,1024,
two ranks,it's_bcast,1024,8.0
two ranks,it's_bcast,8,0.125
four ranks,allreduce,2097152,123.4
four ranks,barrier,0,1.414
CSV
ends 0 sh "$heat" "a map's" 2 'Times as fast' <cells
sed -n '/^\$map0/,/^END/p' "a map's.gnuplot" >map0
sed -n '/^\$map1/,/^END/p' "a map's.gnuplot" >map1
printf '%s\n' '$map0 << END' '0 0 0.0000 0 1.00' '1 1 -2.0000 16777215 0.12' '2 1 2.0000 16777215 8.00' END | cmp -s - map0 ||
    fail "other cells: $(cat map0)"
printf '%s\n' '$map1 << END' '0 0 0.4998 0 1.41' '3 2 2.0000 16777215 123' END | cmp -s - map1 || fail "other cells: $(cat map1)"
has "a map's.gnuplot" "set xtics scale 0 ('no data' 0, '8 B' 1, '1 KiB' 2, '2 MiB' 3)"
has "a map's.gnuplot" "set ytics scale 0 ('barrier' 0, 'it''s_bcast' 1, 'allreduce' 2)"
has "a map's.gnuplot" 'set cbrange [-2:2]'
drawn "a map's" 'Times as fast' 'two ranks' 'four ranks' '2 MiB' "it's_bcast" '0.12' '123'
ends 2 sh "$heat" bad 2 title <<'CSV'
two ranks,bcast,8,fast
CSV
has err 'bench/heat.sh: line 1 is no MAP,ROW,BYTES,RATIO: two ranks,bcast,8,fast'
echo 'two ranks,bcast,8,' >nothing
ends 2 sh "$heat" bad 2 title <nothing
has err 'bench/heat.sh: no line has a ratio'
ends 2 sh "$heat" bad
has err 'usage: bench/heat.sh PICTURE COLUMNS TITLE <CSV'
if [ $gnuplot = yes ]; then
    mkdir empty
    ln -s "$(command -v awk)" empty/awk
    sh=$(command -v sh)
    ends 0 env PATH="$scratch/empty" "$sh" "$heat" undrawn 2 title <cells
    has out 'no picture, only its script undrawn.gnuplot: gnuplot is missing (apt-get install gnuplot-nox)'
fi

# ---- peers.sh and mpi.sh ----------------------------------------------------------------------
mkdir -p build/bench build/mpi/mpich/bench bin
cat >build/bench/peers <<'SH'
#!/bin/sh
[ "$1" = report ] || exit 0
echo ranks,work,bytes,buffers,threads_us,floor_us,threads_x,mpich_layer_x
echo 2,barrier,0,reused,1.000,,2.500,
echo 2,bcast,8,reused,1.000,,0.500,3.250
echo 2,bcast,8,rotated,1.000,,4.750,
SH
printf '#!/bin/sh\nexit 0\n' >build/coll
chmod +x build/bench/peers build/coll
ends 0 env BUILD="$scratch/build" "$COLL_SOURCE/bench/peers.sh" --ranks 2 --launches 1
has out '    2 ranks, threads              1.81 over   3 cells (0.00 over 0)'
has out '    2 ranks, threads: bcast, 8 bytes, reused: 0.50'
has build/bench/peers.csv '2,bcast,8,reused,1.000,,0.500,3.250'
drawn build/bench/peers_2_reused threads 'MPICH: layer' '2.50' '3.25' '2 ranks, buffers reused: times as fast as the better of the MPI libraries'
drawn build/bench/peers_2_rotated '4.75'

cat >build/bench/peers <<'SH'
#!/bin/sh
[ "$1" = report ] || exit 0
echo ranks,work,bytes,buffers,openmpi_us,ucx_us,flat_us,dpml_us,ucx_x
echo 2,allreduce,8,reused,3.000,2.000,5.000,2.500,1.500
SH
printf '#!/bin/sh\n[ "$1 $2" != "has ofi" ]\n' >build/bench/networks
chmod +x build/bench/networks
ends 0 env BUILD="$scratch/build" "$COLL_SOURCE/bench/networks.sh" --transports ucx --ranks 2 --launches 1
has out '    2 ranks, beside openmpi       1.50 over   1 cells'
has out '    2 ranks, allreduce        8 bytes, reused: flat        5.0, dpml         2.5: 2.00'
drawn build/bench/networks_ucx_2_reused 'coll over UCX' '1.50'
ends 1 env BUILD="$scratch/build" "$COLL_SOURCE/bench/networks.sh" --transports ofi
has err 'bench/networks.sh: coll has no transport ofi here: install libucx-dev and libfabric-dev, and build again'
ends 2 env BUILD="$scratch/build" "$COLL_SOURCE/bench/networks.sh" --transports token_ring
has err "bench/networks.sh: there is no transport 'token_ring' to be measured: give tcp, ucx, ofi or join"
ends 1 env BUILD="$scratch/build" "$COLL_SOURCE/bench/networks.sh" --transports join --ranks 5
has err 'bench/peers.sh: nodes have two ranks each: --ranks wants even numbers, not 5'

cat >bin/mpiexec.mpich <<'SH'
#!/bin/sh
echo library,ranks,collective,bytes,layer_us,library_us,ratio,by_hand_us
echo "mpich,$2,allreduce,64,2.0,1.0,0.500,"
echo "mpich,$2,allreduce,4096,1.0,3.0,3.000,"
SH
printf '#!/bin/sh\n' >build/mpi/mpich/bench/collectives
chmod +x bin/mpiexec.mpich build/mpi/mpich/bench/collectives
ends 0 env BUILD="$scratch/build" PATH="$scratch/bin:$PATH" "$COLL_SOURCE/bench/mpi.sh" --ranks 2,4 --launches 1
has out 'Cells in which the layer takes more than 1.15 times the library'\''s time, of 4:'
has out 'mpich, 4 ranks: geometric mean of library/layer 1.22 over 2 cells'
drawn build/bench/mpi 'MPICH: 2 ranks' 'MPICH: 4 ranks' '0.50' '3.00' '4 KiB'

echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
