#!/bin/sh
# Firmware runs: examples/firmware, and examples/04_freestanding.c alone, are linked without a C library for a Cortex-M0,
# a Cortex-M3 and an RV32IMAC core, and run in QEMU; the three as one ring, and a ring of the Cortex-M3 with the one
# file that coll amalgamate makes. A board that is missing, a bad wire, and firmware that is wrong are noticed.
. "$(dirname "$0")/gate.sh"
need make make
need arm-none-eabi-gcc gcc-arm-none-eabi
need riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf
[ -x "$COLL_COMMAND" ] || missing 'the command coll was not built'
firmware=$COLL_SOURCE/examples/firmware

# image FOLDER [FILE | VARIABLE=VALUE]…: makes the file of that folder, or all.
image() {
    folder=$1
    shift
    make -C "$firmware" OUT="$folder" "$@"
}

# alone FOLDER BOARD: BOARD-alone.elf ends with 0.
alone() {
    "$firmware/qemu.sh" "$2" "$1/$2-alone.elf"
    code=$?
    echo "$2 ended with $code"
    [ $code -eq 0 ]
}

# ring FOLDER BOARD…: all boards find that their sums are right.
ring() {
    "$firmware/ring.sh" "$@" >said 2>&1
    code=$?
    cat said
    [ $code -eq 0 ] && [ "$(grep -c ': done, 100 sums of integers and of floats are right' said)" -eq $(($# - 1)) ]
}

all=$gate_scratch/all one=$gate_scratch/one bad=$gate_scratch/bad
accept image "$all" -j 2
accept "$COLL_COMMAND" amalgamate --include "$COLL_SOURCE/include" --executor --algorithms ring --types i32,f32 -o coll_ring.h
accept image "$one" "$one/mps2-ring.elf" COLL="$gate_scratch" MORE='-DCOLL_ONE_FILE=\"coll_ring.h\"'
accept image "$one" "$one/microbit-ring.elf" MORE=-Og # a debug build, where compilers like to call memcpy
for program in wrong hang fault; do
    accept image "$bad/$program" "$bad/$program/microbit-alone.elf" ALONE="$gate_bad/firmware/$program.c"
done
reject 'undefined reference to .malloc' image "$bad" "$bad/microbit-alone.elf" ALONE="$gate_bad/firmware/libc.c"
reject 'left for the stack' image "$bad" "$bad/microbit-alone.elf" ALONE="$gate_bad/firmware/large.c"

need qemu-system-arm qemu-system-arm
need qemu-system-riscv32 qemu-system-misc
for board in microbit mps2 fe310; do
    accept alone "$all" $board
done
accept ring "$one" mps2 mps2
accept ring "$all" microbit mps2 fe310
cat said
arm-none-eabi-size "$all/microbit-ring.elf"

reject 'ended with 5' alone "$bad/wrong" microbit
reject 'ended with 99' alone "$bad/fault" microbit
export SECONDS_MAX=1
reject 'ended with 124' alone "$bad/hang" microbit
SECONDS_MAX=60
export MS=100 # rank 0 has begun then, however slow it is
reject 'recv_reduce from rank 2, 0 of 132 bytes: in flight' ring "$all" microbit mps2 -
MS=20000
export FILTER='dd bs=1 conv=ucase'
reject 'microbit, rank 0 of 3: the transport failed' ring "$all" microbit mps2 fe310
FILTER='dd bs=1 skip=1'
reject 'microbit, rank 0 of 3: a message has another size' ring "$all" microbit mps2 fe310
done_gate
