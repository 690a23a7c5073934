#!/bin/sh
# The library on other machines: every row of the registry on real data, and what depends most on a machine, run by
# QEMU or by this processor. Argument: s390x (the high byte first), aarch64, i686 (32 bits), or musl (another C library).
. "$(dirname "$0")/gate.sh"
machine=$1 run=
case $machine in
s390x)
    compiler=s390x-linux-gnu-gcc run=qemu-s390x expected='64 bits, high byte first'
    need $compiler 'gcc-s390x-linux-gnu libc6-dev-s390x-cross'
    tests='nic/pack transports/tcp exact_sum'
    ;;
aarch64)
    compiler=aarch64-linux-gnu-gcc run=qemu-aarch64 expected='64 bits, low byte first'
    need $compiler 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross'
    tests='nic/pack softfloat exact_sum'
    ;;
i686)
    compiler=i686-linux-gnu-gcc expected='32 bits, low byte first'
    need $compiler 'gcc-i686-linux-gnu libc6-dev-i386-cross'
    tests='nic/pack reduce exact_sum comm/one_sum'
    ;;
musl)
    compiler=musl-gcc expected='64 bits, low byte first'
    need $compiler musl-tools
    tests='reduce transports/tcp transports/shm_space'
    ;;
*)
    missing "machines are s390x, aarch64, i686 and musl, not $machine"
    ;;
esac
[ -z "$run" ] || need $run qemu-user

# build NAME SOURCE: a program of one file.
build() {
    $compiler -std=gnu11 -O0 -D_GNU_SOURCE -Wall -Wextra -Werror -static -I"$COLL_SOURCE/include" -I"$COLL_SOURCE/tests" \
        "$2" -o "$1.exe" -pthread -lm
}

# runs NAME SOURCE [TEXT]: builds and runs it; it prints the text.
runs() {
    build "$1" "$2" || return 1
    timeout 250 $run "./$1.exe" >said
    code=$?
    cat said
    [ $code -eq 0 ] && grep -q -e "${3:-, 0 failed}" said
}

accept runs everywhere "$gate_rules/machines/everywhere.c" "$expected"
for test in $tests; do
    accept runs "$(basename "$test")" "$COLL_SOURCE/tests/$test.c"
done

# A program that takes every machine for this one.
bad=$gate_bad/machines/assumes.c
case $machine in
s390x) reject 'the low byte does not come first' runs assumes "$bad" ;;
aarch64) reject 'char has no sign' runs assumes "$bad" ;;
i686) reject 'a pointer has 4 bytes' runs assumes "$bad" ;;
musl) reject 'execinfo.h' runs assumes "$bad" ;;
esac
done_gate
