#!/bin/sh
# examples/firmware/qemu.sh — runs an image of a board in QEMU
#
#   qemu.sh BOARD IMAGE [WIRE [NUMBER…]]
#
# WIRE    the UART reads the named pipe WIRE.in and writes WIRE.out; tcp:HOST:PORT: it is connected with that; `-`: with
#         nothing
# NUMBER  arguments of the program
# What the program prints is on stderr; its exit code is the script's, 124 after SECONDS_MAX (60).
# QEMU_OPTIONS: more options of QEMU.
board=$1 image=$2 wire=${3:--} uart='' arguments=arg=program
[ $# -lt 3 ] && shift $# || shift 3
for number; do
    arguments=$arguments,arg=$number
done
case $wire in
-) ;;
tcp:*) uart="-serial $wire" ;;
*) uart="-chardev pipe,id=wire,path=$wire -serial chardev:wire" ;;
esac
case $board in
microbit) machine='qemu-system-arm -M microbit' ;;
mps2) machine='qemu-system-arm -M mps2-an385' ;;
fe310) machine='qemu-system-riscv32 -M sifive_e' ;;
virt) machine='qemu-system-riscv32 -M virt -bios none -global virtio-mmio.force-legacy=false' ;;
*) echo "qemu.sh: no board $board" >&2 && exit 2 ;;
esac
# shellcheck disable=SC2086
exec timeout "${SECONDS_MAX:-60}" $machine -kernel "$image" -display none -monitor none ${uart:--serial null} \
    -semihosting-config "enable=on,target=native,$arguments" ${QEMU_OPTIONS:-} </dev/null
