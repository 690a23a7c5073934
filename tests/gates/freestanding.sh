#!/bin/sh
# The core needs nothing but a freestanding compiler: with every function emitted, an object of all core
# headers has no undefined symbol but those of the compiler's own runtime. Argument: the target.
. "$(dirname "$0")/gate.sh"
case $1 in
arm)
    need arm-none-eabi-gcc gcc-arm-none-eabi
    compilers='arm-none-eabi-gcc -mthumb -mcpu=cortex-m0plus
arm-none-eabi-gcc -mthumb -mcpu=cortex-m4'
    nm=arm-none-eabi-nm
    ;;
riscv)
    need riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf
    compilers='riscv64-unknown-elf-gcc
riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32'
    nm=riscv64-unknown-elf-nm
    ;;
gcc)
    need gcc gcc
    compilers=gcc
    nm=nm
    ;;
clang)
    need clang clang
    compilers='clang
clang --target=thumbv6m-none-eabi
clang --target=powerpc-none-eabi
clang --target=powerpc64-none-eabi'
    nm=nm
    ;;
esac

# What compilers bring along: integer and floating arithmetic that the processor lacks, switch tables.
runtime='__aeabi_[a-z0-9_]*|__gnu_[a-z0-9_]*|__[a-z]+[dst][if][dst]?[if]?[234]?|\.TOC\.'
library='__aeabi_mem(cpy|move|set|clr)[48]?'

# check COMPILER LEVEL FOLDER HEADER…
check() {
    compiler=$1 level=$2 folder=$3
    shift 3
    printf '#include "%s"\n' "$@" >all.c
    # shellcheck disable=SC2086
    $compiler -std=c99 -ffreestanding "$level" -Wall -Wextra -Werror -ffunction-sections -I"$folder" \
        -DCOLL_IRREGULAR=1 '-DCOLL_INLINE=__attribute__((used)) static' \
        '-DCOLL_HOT_INLINE=__attribute__((used)) static' -c all.c -o all.o || return 1
    $nm -u all.o | awk '{ print $NF }' >undefined
    {
        grep -E -x -v -e "$runtime" undefined
        grep -E -x -e "$library" undefined
    } >library
    if [ -s library ]; then
        echo "undefined in $compiler $level: $(sort -u library | tr '\n' ' ')"
        ${nm%nm}objdump -r all.o | awk '/^RELOCATION/ { place = $NF } NR == FNR { wanted[$1]; next }
            $NF in wanted { print "    " $NF " in " place }' library - | sort -u
        return 1
    fi
}

headers=$(core_headers "$COLL_SOURCE/include")
echo "$compilers" >compilers
levels='-O0 -Og -Os -O2' # of the first compiler
while read -r compiler; do
    for level in $levels; do
        # shellcheck disable=SC2086
        accept check "$compiler" $level "$COLL_SOURCE/include" $headers
        reject 'undefined.*malloc' check "$compiler" $level "$gate_bad/freestanding" malloc.h
        reject 'undefined.*mem(cpy|set)' check "$compiler" $level "$gate_bad/freestanding" memory.h
        case $compiler in # x86 has an instruction for that
        *-*) reject 'undefined.*memcpy' check "$compiler" $level "$gate_bad/freestanding" assign.h ;;
        esac
        reject 'undefined.*sqrt' check "$compiler" $level "$gate_bad/freestanding" sqrt.h
    done
    levels=-Os # of the others: what they call for copies depends on the target, and most is called with -Os
done <compilers
done_gate
