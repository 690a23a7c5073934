#!/bin/sh
# examples/firmware/ring.sh — boards in a ring, each in a QEMU of its own
#
#   ring.sh FOLDER BOARD…
#
# Runs FOLDER/BOARD-ring.elf of each BOARD, as rank 0, 1, …; `-` is a board that is missing. The wires are
# named pipes: the UART of a rank reads RANK.in and writes RANK.out, which is the .in of the next.
#   MS       milliseconds after which a board gives up (20000)
#   FILTER   a command through which goes what comes to rank 0: a bad wire
# Shows what each board printed. The exit code is that of the first board that fails; it stops the others.
folder=$1 here=$(dirname "$0")
shift
wires=$(mktemp -d) ranks=$# rank=0 boards='' filter='' worst=0
# shellcheck disable=SC2086
trap 'kill $boards $filter 2>/dev/null; rm -rf "$wires"' EXIT
trap 'exit 130' INT TERM

while [ $rank -lt $ranks ]; do
    mkfifo "$wires/$rank.out"
    ln -s "$rank.out" "$wires/$(((rank + 1) % ranks)).in"
    rank=$((rank + 1))
done
if [ -n "${FILTER:-}" ]; then
    rm "$wires/0.in"
    mkfifo "$wires/0.in"
    sh -c "exec $FILTER" <>"$wires/$((ranks - 1)).out" 1<>"$wires/0.in" 2>/dev/null &
    filter=$!
fi

rank=0
for board; do
    if [ "$board" != - ]; then
        "$here/qemu.sh" "$board" "$folder/$board-ring.elf" "$wires/$rank" $rank $ranks "${MS:-20000}" \
            >"$wires/$rank.said" 2>&1 &
        boards="$boards$! "
    fi
    rank=$((rank + 1))
done
while [ -n "$boards" ]; do
    wait "${boards%% *}"
    code=$?
    boards=${boards#* }
    # shellcheck disable=SC2086
    if [ $code -ne 0 ] && [ $worst -eq 0 ]; then
        worst=$code
        [ -z "$boards" ] || kill $boards
    fi
done
cat "$wires"/*.said
exit $worst
