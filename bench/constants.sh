#!/bin/sh
# bench/constants.sh — what a constant of the transports within a node decides: calls with a third of it, and with three
# times as much
#
#   bench/constants.sh [--ranks 2,4] [--rounds 3] [NAME…]      all that the list below has, or these
#
# A constant that is a power of two becomes a quarter, and four times as much. Prints a line for each, as
# docs/internals/constants.md has them: the geometric mean, over bench/peers' collectives and sizes, of the time with the
# less, and with the more, divided by that without a change, and how many of a hundred cells take a quarter more time. `none`
# changes nothing: what noise is. All three programs play on one board (bench/peers/board.h), in turns within each
# cell. The constants of threads.h and mpi/ are of other programs, and not here.
#
# CC and CFLAGS as usual.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
ranks=2,4 rounds=3
while [ $# -gt 1 ]; do
    case $1 in
    --ranks) ranks=$2 ;;
    --rounds) rounds=$2 ;;
    *) break ;;
    esac
    shift 2
done
case ${1:-} in -*) echo "usage: bench/constants.sh [--ranks P,P] [--rounds N] [NAME...]" >&2; exit 2 ;; esac

# NAME|FILE below include/coll|TEXT that stands there once, before its|VALUE|LESS|MORE
list='slot|transports/shm/segment.h|        |32768, /* bytes of the longest|8192, /*|131072, /*
earned|transports/huge.h|COLL_HUGE_EARNED = |8 << 20|2 << 20|32 << 20
soon|transports/huge.h|COLL_HUGE_SOON = |2 << 20|1 << 19|8 << 20
later|transports/huge.h|COLL_HUGE_LATER = |256 << 20|64 << 20|1 << 30
read|transports/node/world.h|COLL_NODE_READ = |1 << 20|1 << 18|4 << 20
narrow|transports/node/world.h|COLL_NODE_NARROW = |2048|512|8192
stream|transports/node/world.h|COLL_NODE_STREAM = |16384|4096|32768
cells|transports/node/world.h|define COLL_NODE_CELLS |64|16|256
slots|transports/node/world.h|COLL_NODE_SLOTS = |8|3|24
lag|transports/node/world.h|COLL_NODE_LAG = |8|2|32
yields|transports/node/world.h|COLL_NODE_YIELDS = |16384|5461|49152
misses|transports/node/world.h|COLL_NODE_MISSES = |1024|341|3072
caches|transports/node/copies.h|define COLL_NODE_CACHES (|32u|8u|128u
place|transports/node/copies.h|COLL_I_NODE_PLACE = |1 << 14|1 << 12|1 << 16
at_once|transports/node/copies.h|AT_ONCE = |1024|256|4096
ahead|transports/node/inbox.h|AHEAD = |3|1|9
behind|transports/node/messages.h|AHEAD = |2|1|6
glances|transports/node/waiting.h|COLL_I_NODE_GLANCES = |8|3|24
luck|transports/node/waiting.h|COLL_I_NODE_LUCK = |16|5|48
loss|transports/node/waiting.h|COLL_I_NODE_LOSS = |4|1|12
try|transports/node/waiting.h|COLL_I_NODE_TRY = |32|11|96
away|transports/node/waiting.h|COLL_I_NODE_AWAY = |100|33|300
turns|transports/node/waiting.h|COLL_I_NODE_TURNS = |16|5|48
absent|transports/node/waiting.h|COLL_I_NODE_ABSENT = |64|21|192
chunk|executor/task.h|CHUNK = |2048|512|8192
long|executor/task.h|LONG = |1 << 19|1 << 17|1 << 21
none|transports/node/world.h|COLL_NODE_LAG = |8|8|8'

work=$(mktemp -d "/dev/shm/coll-constants-$$-XXXXXX")
jobs=
leave() {
    set +e
    # shellcheck disable=SC2086
    [ -z "$jobs" ] || kill $jobs 2>/dev/null
    rm -rf "$work"
}
trap leave EXIT
trap 'exit 1' INT TERM
stop() { echo "bench/constants.sh: $1" >&2; exit 1; }

# program NAME [FILE TEXT VALUE OTHER]: bench/peers with another value.
program() {
    rm -rf "$work/include"
    cp -r "$here/include" "$work/include"
    if [ $# -gt 1 ]; then
        awk -v text="$3$4" -v other="$3$5" '
            (at = index($0, text)) > 0 { found++; $0 = substr($0, 1, at - 1) other substr($0, at + length(text)) }
            { print }
            END { exit found != 1 }' "$here/include/coll/$2" >"$work/include/coll/$2" ||
            stop "$2 does not have \"$3$4\" once: mend the list in this script"
    fi
    # shellcheck disable=SC2086
    ${CC:-cc} -std=gnu11 ${CFLAGS:--O3 -DNDEBUG} -DCOLL_ONE_REGISTRY=1 -I"$work/include" "$here/bench/peers.c" \
        "$here/cmake/registry.c" -o "$work/$1" -lpthread -lm || stop "bench/peers.c cannot be built with $2 at $5"
}

program processes
[ $# -gt 0 ] || set -- $(echo "$list" | cut -d'|' -f1)
echo '| constant | ranks | less | more | slower cells, of 100: less | more |'
echo '|---|--:|--:|--:|--:|--:|'
for name; do
    line=$(echo "$list" | grep "^$name|") || stop "there is no constant \"$name\" in the list"
    IFS='|' read -r _ file text value less more <<END
$line
END
    program less "$file" "$text" "$value" "$less"
    program more "$file" "$text" "$value" "$more"
    for p in $(echo "$ranks" | tr , ' '); do
        "$work/processes" create "$work/board" "$p" "$rounds" processes,less,more
        jobs=
        for one in processes less more; do
            "$work/$one" "$one" "$work/board" &
            jobs="$jobs $!"
        done
        for pid in $jobs; do
            wait "$pid" || stop "a program failed, see above"
        done
        jobs=
        "$work/processes" report "$work/board" | awk -F, -v name="$name" -v p="$p" '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $(at["processes_us"]) > 0 {
                split("less more", kind, " ")
                for (k = 1; k <= 2; k++) {
                    x = log($(at[kind[k] "_us"]) / $(at["processes_us"]))
                    sum[k] += x
                    slower[k] += x > log(1.25)
                }
                n++
            }
            END {
                printf "| `%s` | %d | %.2f | %.2f | %.0f | %.0f |\n", name, p, exp(sum[1] / n), exp(sum[2] / n),
                    100 * slower[1] / n, 100 * slower[2] / n
            }'
    done
done
