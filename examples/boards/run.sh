#!/bin/sh
# examples/boards/run.sh — boards on one Ethernet, each in a QEMU of its own
#
#   run.sh FOLDER BOARD…
#
# Runs FOLDER/BOARD-rack.elf of each BOARD, as rank 0, 1, …; `-` is a board that is missing. FOLDER/switch is
# between them, on the loopback interface. FOLDER/reference says what the results are on this machine.
#   LOST, REPEATED, REORDERED   of 1000 frames (0), as SEED wants (1)
#   MS       milliseconds after which a silent board is dead (5000)
#   RETRY    milliseconds after which a message is sent again (MS / 250, or with a microbit, whose line takes 50 ms for
#            a frame, MS / 33)
#   BYTES    of a buffer: collectives that need more are left out (8192, or 1024 with a microbit)
#   HOSTS    1: each board is the network card of a process, FOLDER/host, and runs FOLDER/BOARD-card.elf
#   LOSES    … and of this rank the board loses its power at the end
# Shows the last line of each board, and what is not as on this machine. The exit code is that of the first board that
# failed, or 1 if a result differs.
folder=$1 here=$(dirname "$0")
shift
work=$(mktemp -d) ranks=$# rank=0 boards='' switch='' worst=0 small=8192 ms=${MS:-5000}
# shellcheck disable=SC2086
trap 'kill $boards $switch 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

retry=$((ms / 250)) cards=''
[ "${HOSTS:-0}" = 0 ] || cards=cards
case " $* " in
*' microbit '*) small=1024 retry=$((ms / 33)) ;;
esac
bytes=${BYTES:-$small} retry=${RETRY:-$retry}
mkfifo "$work/hold"
"$folder/switch" "${LOST:-0}" "${REPEATED:-0}" "${REORDERED:-0}" "${SEED:-1}" <"$work/hold" >"$work/ports" 2>"$work/switch" &
switch=$!
exec 9>"$work/hold"
udp=''
while [ -z "$udp" ]; do
    kill -0 $switch 2>/dev/null || { cat "$work/switch" >&2 && exit 1; }
    sleep 0.02
    read -r udp tcp <"$work/ports"
done

# start BOARD: as rank $rank.
start() {
    socket=socket,udp=127.0.0.1:$udp,localaddr=127.0.0.1:0 wire=-
    case $1 in
    mps2) QEMU_OPTIONS="-nic $socket" ;;
    virt) QEMU_OPTIONS="-netdev $socket,id=wire -device virtio-net-device,netdev=wire" ;;
    microbit) QEMU_OPTIONS='' wire=tcp:127.0.0.1:$tcp ;;
    esac
    export QEMU_OPTIONS
    if [ -n "$cards" ]; then
        exec "$folder/host" "$work/$rank.memory" "${LOSES:--}" "$bytes" "$here/../firmware/qemu.sh" "$1" "$folder/$1-card.elf" \
            $rank $ranks $ms "$retry" $(($$ % 65536))
    fi
    exec "$here/../firmware/qemu.sh" "$1" "$folder/$1-rack.elf" $wire $rank $ranks $ms "$retry" \
        $(($$ % 65536)) "$bytes"
}

for board; do
    if [ "$board" != - ]; then
        start "$board" >"$work/$rank.said" 2>&1 9>&- &
        boards="$boards$! "
    fi
    rank=$((rank + 1))
done
for board in $boards; do
    wait "$board"
    code=$?
    boards=${boards#* }
    [ $worst -ne 0 ] || worst=$code
done
exec 9>&-
wait $switch || worst=$?
switch=''

# shellcheck disable=SC2086
"$folder/reference" $ranks "$bytes" $cards | sort >"$work/wanted"
result='^rank .*: [0-9a-f]\{8\}$'
cat "$work"/*.said | grep "$result" | sort >"$work/came"
cat "$work"/*.said | grep -v "$result"
cat "$work/switch"
if diff "$work/wanted" "$work/came" >"$work/differ"; then
    echo "$ranks boards: all $(wc -l <"$work/came") results have the bits of this machine's"
elif [ $worst -eq 0 ]; then
    sed -n 's/^> /got       /p; s/^< /expected  /p' "$work/differ"
    worst=1
fi
exit $worst
