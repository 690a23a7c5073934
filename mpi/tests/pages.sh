#!/bin/sh
# Memory that long messages are sent from is moved to huge pages, unless COLL_HUGE=0, and holds what it held.
#   pages.sh LIBRARY
. "$(dirname "$0")/run/mpi.sh"
program=$programs/tests/pages
need "$program"
# What a rank sends to the other one is half of its memory: two huge pages.
while read -r kib settings; do
    layered 2 $settings "$program"
    ended 0
    state=$(sed -n 's/.*; they //p' "$work/out")
    prints '0 bytes are wrong; of 4096 KiB that were sent huge pages hold '
    case $state in
    'are possible') prints " hold $kib; " ;;
    'are not possible') prints ' hold 0; ' ;;
    *) prints '; they come by themselves' ;;
    esac
done <<'T'
4096 COLL_SHM=1
0 COLL_SHM=1 COLL_HUGE=0
4096 COLL_SHM=0 COLL_NEAR=0
0 COLL_SHM=0 COLL_NEAR=0 COLL_HUGE=0
T
done_tests
