#!/bin/sh
# coll amalgamate: what it writes compiles without a warning in C99 and C++11 and in each build mode, holds what
# was asked for and no more, and an example runs with it. Argument: the compiler, gcc, g++, clang or clang++.
. "$(dirname "$0")/gate.sh"
compiler=$1
need "$compiler" "$(echo "$compiler" | sed 's/clang++/clang/')"
[ -x "$COLL_COMMAND" ] || missing "the command coll is not built"
case $compiler in
*++) language=c++ standard=c++11 ;;
*) language=c standard=c99 ;;
esac
flags="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"

headers=$COLL_SOURCE/include

# make NAME OPTION…: NAME.h, and NAME.src, which includes it.
make() {
    name=$1
    shift
    echo "#include \"$name.h\"" >"$name.src"
    "$COLL_COMMAND" amalgamate --include "$headers" "$@" -o "$name.h"
}

# compile NAME OPTION…
compile() {
    name=$1
    shift
    # shellcheck disable=SC2086
    "$compiler" -x $language -std=$standard $flags "$@" -c "$name.src" -o "$name.o"
}

# example NAME SOURCE: an example with NAME.h instead of the headers, run.
example() {
    {
        echo "#include \"$1.h\""
        grep -v '^#include "coll/' "$COLL_SOURCE/examples/$2.c"
    } >example.src
    case $language in # C++ warns of members that an example leaves out
    c) "$compiler" -x c -std=gnu11 -Wall -Wextra -Werror -O1 example.src -o example ;;
    c++) "$compiler" -x c++ -std=c++20 -Wall -O1 example.src -o example ;;
    esac && ./example
}

lacks() {
    ! grep -n -E -e "$2" "$1.h"
}

accept make two --collectives allreduce,bcast --algorithms ring,fnomial --types f64,i32 --transport threads
accept make ring --executor --algorithms ring --transport loopback
accept make boards --executor --algorithms ring --types f64 --transport ethernet
accept make engine --executor --algorithms fnomial,dissemination
accept make sums --collectives allreduce --types f64
accept make nearby --collectives neighbor_alltoall,alltoallv --transport shm
accept make all
for name in two ring boards engine sums nearby all; do
    accept compile $name -O0
    accept compile $name -fsyntax-only -DCOLL_EXTERN
    accept compile $name -fsyntax-only -DCOLL_EXTERN -DCOLL_IMPLEMENTATION
done
for name in ring boards engine sums; do
    accept compile $name -O0 -ffreestanding -DCOLL_IRREGULAR=1
done

accept example sums 01_custom_transport
accept example ring 04_freestanding

accept grep -q 'SPDX-License-Identifier: BSD-3-Clause' ring.h
accept grep -q '&coll_ring_allreduce' two.h
accept grep -q 'coll_ibcast(' two.h
accept lacks two 'rabenseifner_allreduce|coll_alltoall\(|sum_f32,|#include "'
accept lacks ring 'coll_comm_init|coll_rule|coll_op_builtin\(|#include "'
cp two.h first.h
accept make two --collectives allreduce,bcast --algorithms ring,fnomial --types f64,i32 --transport threads
accept cmp two.h first.h

reject 'coll_rabenseifner_allreduce' lacks sums 'coll_rabenseifner_allreduce'
reject 'no collective "allreduc"' make bad --collectives allreduc
reject 'no algorithm' make bad --algorithms rung
reject 'needs --algorithms' make bad --executor
reject 'none of these collectives' make bad --collectives bcast --algorithms pairwise
reject 'none of these algorithms is for bcast' make bad --collectives allreduce,bcast --algorithms rabenseifner
reject 'composite' make bad --collectives allreduce --algorithms two_level
reject 'no transport "tcp"' make bad --transport tcp
reject 'no element type "f63"' make bad --types f63
reject 'behind the comma' make bad --collectives bcast,
headers=$gate_scratch
reject 'no coll/config.h in' make bad
COLL_INCLUDE=$gate_scratch
export COLL_INCLUDE
reject 'there is no coll/plan.h in it' "$COLL_COMMAND" amalgamate
done_gate
