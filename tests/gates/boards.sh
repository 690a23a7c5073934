#!/bin/sh
# Boards on one Ethernet: examples/boards, linked without a C library for a Cortex-M3 with a LAN9118, an RV32IMAC with
# virtio-net and a Cortex-M0 on a serial line. Racks of four and of eight, mixed, and with lost, repeated and reordered frames,
# have the bits of this machine's floats in all collectives. A board that is missing, one that cuts messages in
# another way, and a wrong result are noticed. Boards as the network cards of four processes (HOSTS) have the same bits, with
# what their hosts lower; they refuse what is wrong, and one that loses its power ends the calls of all.
. "$(dirname "$0")/gate.sh"
need make make
need arm-none-eabi-gcc gcc-arm-none-eabi
need riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf
boards=$COLL_SOURCE/examples/boards

# image FOLDER [FILE | VARIABLE=VALUE]…: makes the file of that folder, or all.
image() {
    folder=$1
    shift
    make -C "$boards" OUT="$folder" CC="$COLL_CC" "$@"
}

# rack FOLDER BOARD…: all results of all boards are as on this machine.
rack() {
    "$boards/run.sh" "$@" >said 2>&1
    code=$?
    cat said
    [ $code -eq 0 ] && grep -q "^$(($# - 1)) boards: all [1-9][0-9]* results have the bits" said
}

all=$gate_scratch/all other=$gate_scratch/other wrong=$gate_scratch/wrong dead=$gate_scratch/dead
accept image "$all" -j 2
accept image "$other" BOARDS=mps2 MORE='-UCOLL_ETHERNET_MOST -DCOLL_ETHERNET_MOST=256'
need qemu-system-arm qemu-system-arm
need qemu-system-riscv32 qemu-system-misc

export MS=20000 RETRY=20 # a board that starts late on a loaded machine is not dead
accept rack "$all" mps2 mps2 mps2 mps2
cat said
accept rack "$all" mps2 mps2 mps2 mps2 mps2 mps2 mps2 mps2
cat said
RETRY=150 # a serial line takes 50 ms for a frame
accept rack "$all" mps2 virt microbit virt
cat said
RETRY=20
export LOST=50 REPEATED=20 REORDERED=50
accept rack "$all" mps2 virt mps2 virt
cat said
arm-none-eabi-size "$all"/*-rack.elf
export HOSTS=1
accept rack "$all" mps2 virt mps2 virt
cat said
unset LOST REPEATED REORDERED RETRY
export MS=6000 LOSES=2
accept rack "$all" mps2 virt mps2 virt
cat said
accept grep -q 'rank 2, the board of rank 2 is off: the card is gone' said
accept grep -q 'rank 3, the board of rank 2 is off: \(another rank failed\|the transport failed\)' said
accept test "$(grep -c '^rank ., [a-z 0-9]*: ' said)" = 10 # six mistakes, and what four hosts say of the board
export MS=500
unset LOSES
reject 'rank 0: BARRIER .*: the transport failed' rack "$all" mps2 -
mkdir "$dead"
cp "$all/switch" "$all/reference" "$all/host" "$dead"
cp "$all/mps2-rack.elf" "$dead/mps2-card.elf" # a program that opens no queue
reject 'rank 0: mps2: the card does not start' rack "$dead" mps2
unset HOSTS
reject 'rank 0: BARRIER .*: the transport failed' rack "$all" mps2 -
unset MS
cp "$all/virt-rack.elf" "$other"
reject 'a message has another size' rack "$other" mps2 virt
mkdir "$wrong"
cp "$all/virt-rack.elf" "$all/switch" "$wrong"
printf '#!/bin/sh\n"%s" "$@" | sed "/^rank 1: SCAN/s/.$/x/"\n' "$all/reference" >"$wrong/reference"
chmod +x "$wrong/reference"
reject 'expected  rank 1: SCAN by binary_tree_scan, .*x' rack "$wrong" virt virt
done_gate
