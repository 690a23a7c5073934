#!/bin/sh
# Every algorithm between processes on several nodes is right, with short and with long messages.
#   algorithms.sh [TRANSPORT]     of coll run; tcp if nothing is said
transport=${1:-tcp}
coll=$COLL_COMMAND
. "$(dirname "$0")/lib/cluster.sh"
cluster_begin
cluster_make 3 1gbit

# are_right LEAST ARGUMENT…: the ranks run all rows of the table, of which so many can be run.
are_right() {
    least=$1
    shift
    cluster_start 2 "$coll" run all all --transport "$transport" "$@"
    cluster_wait 120
    all_end "coll run all all $*" 0 || return
    says 0 ' right, 0 wrong, '
    right=$(sed -n 's/^\([0-9]*\) right, .*/\1/p' "$scratch/rank.0")
    checks=$((checks + 1))
    [ "${right:-0}" -ge "$least" ] || fail "$right algorithms are right, and it should be $least"
}

are_right 160 --count 33 --repeat 3
are_right 150 --count 7 --repeat 2 --nodes 2
are_right 160 --count 10k --repeat 2 --type f32 --seed 5
cluster_done
