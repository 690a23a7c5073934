#!/bin/sh
# Bare metal: one header of plan, executor and ring, made by coll amalgamate, and a program that uses it are linked
# for a Cortex-M0+ without a C library; and so is a program with a communicator. Says how many bytes that is.
. "$(dirname "$0")/gate.sh"
need arm-none-eabi-gcc gcc-arm-none-eabi
[ -x "$COLL_COMMAND" ] || missing "the command coll is not built"
target='-mthumb -mcpu=cortex-m0plus'

# link SOURCE LIMIT [ENTRY]: compiles it, links it with the compiler's runtime only, and prints its size.
link() {
    # shellcheck disable=SC2086
    arm-none-eabi-gcc $target -std=c99 -Os -ffreestanding -ffunction-sections -fdata-sections -Wall -Wextra -Werror \
        -I. -I"$COLL_SOURCE/include" -c "$1" -o bare.o &&
        arm-none-eabi-gcc $target -nostdlib -Wl,--gc-sections -Wl,-e,"${3:-start}" bare.o -lgcc -o bare.elf || return 1
    arm-none-eabi-size bare.elf
    bytes=$(arm-none-eabi-size bare.elf | awk 'NR == 2 { print $1 }')
    echo "code and constants: $bytes bytes"
    [ "$bytes" -le "$2" ]
}

accept "$COLL_COMMAND" amalgamate --include "$COLL_SOURCE/include" --executor --algorithms ring -o coll_ring.h
accept link "$COLL_SOURCE/tests/gates/modes/firmware.c" 5500
cat "$gate_log"
accept link "$COLL_SOURCE/bench/size/comm.c" 50000 coll_size_allreduce
reject 'undefined reference to .malloc' link "$gate_bad/modes/firmware.c" 5500
reject 'code and constants' link "$COLL_SOURCE/tests/gates/modes/firmware.c" 1024
done_gate
