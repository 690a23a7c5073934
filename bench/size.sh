#!/bin/sh
# bench/size.sh — bytes, and instructions, of the library on microcontrollers
#
#   bench/size.sh                     Cortex-M0+ and M4, -Os, arm-none-eabi-gcc: CSV
#   bench/size.sh CC FLAGS...         the same with any other compiler
#   bench/size.sh --table NAME        one of the tables of docs/microcontroller.md: code, knobs, compilers, runtime,
#                                     headers, memory, time, loops; of docs/nic.md, nic; of docs/boards.md, ethernet; or,
#                                     of docs/collectives-on-boards.md, tools, flash, calls, floats
#   bench/size.sh --update FILE [NAME…]   writes them, all or some, into FILE, between <!-- size.sh NAME --> and <!-- end -->
#
# One translation unit (size/allreduce.c) holds an engine of the executor, one algorithm, one operator, and a function that
# starts and progresses an allreduce; everything is linked at once, unused functions removed, nothing but
# the compiler's own runtime resolved. CSV on stdout: with the window engine (8 slots) and the in-order
# engine (one send in flight), with and without the checks of what is asked for (COLL_CHECKS in config.h).
# `bss` is what one running allreduce keeps: engine, plan and operations; the buffers are the caller's.
# The tables `memory`, `time`, `loops` and `calls` are of programs that run in QEMU (examples/firmware).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
firmware=$here/../examples/firmware

algorithms='coll_recursive_doubling_allreduce:coll/algos/recursive_multiplying.h
coll_ring_allreduce:coll/algos/ring.h
coll_fnomial_allreduce:coll/algos/fnomial.h'
m0='arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb'
m4='arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb'
rv='riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32'

need()
{
    command -v "$1" >/dev/null && return
    echo "size.sh: $1 is missing; apt-get install $2" >&2
    exit 2
}

# object ALGORITHM:HEADER window|in_order|comm CC FLAGS…: $work/allreduce.o
object()
{
    algorithm=${1%%:*} header=${1#*:}
    case $2 in
    window) option=-DIN_ORDER=0 source=allreduce.c ;;
    in_order) option=-DIN_ORDER=1 source=allreduce.c ;;
    comm) option='' source=comm.c ;;
    esac
    shift 2
    "$@" -std=c99 -ffreestanding -ffunction-sections -fdata-sections $option \
        -DALGORITHM="$algorithm" -DHEADER="\"$header\"" -I"$here/../include" -c "$here/size/$source" -o "$work/allreduce.o"
}

# text FILE CC…: bytes of code and constants.
text()
{
    "$(size_of "$2")" "$1" | awk 'NR == 2 { print $1 }'
}

size_of()
{
    case $1 in
    *-gcc) echo "${SIZE:-${1%gcc}size}" ;;
    *) echo "${SIZE:-size}" ;;
    esac
}

# program ALGORITHM:HEADER ENGINE CC FLAGS…: $work/allreduce.elf
program()
{
    object "$@"
    shift 2
    "$@" -nostdlib -Wl,--gc-sections -Wl,-e,coll_size_allreduce -Wl,-u,coll_size_allreduce \
        "$work/allreduce.o" -lgcc -o "$work/allreduce.elf"
}

# linked ALGORITHM:HEADER ENGINE CC FLAGS…: bytes of code and constants with the compiler's runtime.
linked()
{
    program "$@" 2>"$work/said" || { cat "$work/said" >&2 && exit 1; }
    text "$work/allreduce.elf" "$3"
}

# ---- CSV -----------------------------------------------------------------------------------

# one LABEL ALGORITHM:HEADER CHECKS ENGINE CC FLAGS...
one()
{
    label=$1 pair=$2 checks=$3 engine=$4
    shift 4
    program "$pair" "$engine" "$@" -Os -DCOLL_CHECKS="$checks"
    set -- $("$(size_of "$1")" "$work/allreduce.o" | tail -1) $("$(size_of "$1")" "$work/allreduce.elf" | tail -1)
    echo "$label,$engine,${pair%%:*},$checks,$1,$7,$2,$3"
}

csv()
{
    echo "target,engine,algorithm,checks,text_bytes,text_bytes_linked_with_runtime,data_bytes,bss_bytes"
    for pair in $algorithms; do
        for engine in window in_order; do
            for checks in 1 0; do
                if [ $# -gt 0 ]; then
                    one "$(basename "$1")" "$pair" "$checks" "$engine" "$@"
                    continue
                fi
                one cortex-m0plus "$pair" "$checks" "$engine" $m0
                one cortex-m4 "$pair" "$checks" "$engine" $m4
            done
        done
    done
}

# ---- tables --------------------------------------------------------------------------------

ring=coll_ring_allreduce:coll/algos/ring.h

table_code()
{
    echo '| allreduce | Cortex-M0+ | | Cortex-M4 | | RV32IMAC | |'
    echo '|---|--:|--:|--:|--:|--:|--:|'
    echo '| | window | in order | window | in order | window | in order |'
    for pair in $algorithms; do
        name=${pair#coll_}
        row="| \`${name%%_allreduce:*}\` |"
        for target in "$m0" "$m4" "$rv"; do
            for engine in window in_order; do
                row="$row $(linked "$pair" $engine $target -Os) |"
            done
        done
        echo "$row"
    done
    echo "| \`coll_allreduce\` of \`comm.h\` | $(linked :coll/comm.h comm $m0 -Os) | | $(linked :coll/comm.h comm $m4 -Os) | | | |"
}

# What a knob adds to a ring on a Cortex-M0+, or takes from it.
table_knobs()
{
    echo '| knob | window | in order |'
    echo '|---|--:|--:|'
    for engine in window in_order; do
        eval "base_$engine=$(linked $ring $engine $m0 -Os)"
    done
    # shellcheck disable=SC2154
    echo "| none: the defaults of \`-ffreestanding\` | $base_window | $base_in_order |"
    for knob in COLL_CHECKS=0 COLL_SMALL=0 COLL_IRREGULAR=1 COLL_DESCRIPTIONS=1 COLL_ZERO_COPY=1 COLL_ARRIVAL=1 COLL_IN_NETWORK=1 COLL_COPY_WORDS=1 DUMP=3 DUMP=2 DUMP=1; do
        window=$(($(linked $ring window $m0 -Os -D$knob) - base_window))
        in_order=$(($(linked $ring in_order $m0 -Os -D$knob) - base_in_order))
        case $knob in
        DUMP=1) label='no knob: `coll_engine_dump`, `coll_in_order_dump`' ;;
        DUMP=3) label='no knob: `coll_status_text`' ;;
        DUMP=2) label='no knob: `coll_engine_pending`, `coll_in_order_pending`' ;;
        *) label="\`-D$knob\`" ;;
        esac
        printf '| %s | %+d | %+d |\n' "$label" $window $in_order
    done
}

table_compilers()
{
    echo '| compiler | window | in order |'
    echo '|---|--:|--:|'
    for compiler in "$m0 -Os" "$m0 -O2" "$m0 -Og" 'clang --target=thumbv6m-none-eabi -Os' 'clang --target=thumbv6m-none-eabi -Oz'; do
        row="| \`$compiler\` |"
        for engine in window in_order; do
            object $ring $engine $compiler
            row="$row $(text "$work/allreduce.o" size) |"
        done
        echo "$row"
    done
}

# The compiler's functions that programs with an engine need, and what they take of a ring with the in-order engine.
table_runtime()
{
    echo "| target | of the compiler's runtime | bytes |"
    echo '|---|---|--:|'
    for target in "$m0" "$m4" "$rv"; do
        names=''
        for pair in $algorithms; do
            for engine in window in_order; do
                object "$pair" $engine $target -Os
                names="$names $(${target%%gcc*}nm -u "$work/allreduce.o" | awk '{ print $NF }')"
            done
        done
        program $ring in_order $target -Os -Wl,-Map="$work/map"
        bytes=0
        for section in $(awk '/^Linker script and memory map/ { on = 1 } / \.[a-zA-Z]/ { name = $1 }
            on && /libgcc\.a\(/ && name ~ /^\.(text|rodata|ARM\.ex)/ { print $(NF - 1) }' "$work/map"); do
            bytes=$((bytes + section))
        done
        echo "| \`${target#* }\` | $(echo $names | tr ' ' '\n' | sort -u | sed 's/.*/`&`/' | tr '\n' ' ')| $bytes |"
    done
}

# Which headers a program with an engine and a ring includes.
table_headers()
{
    echo '| program | headers | lines | bytes |'
    echo '|---|--:|--:|--:|'
    for header in coll/executor.h coll/executor/in_order.h coll/comm.h; do
        printf '#include "%s"\n' "$header" coll/algos/ring.h >"$work/all.c"
        $m0 -ffreestanding -DCOLL_IRREGULAR=1 -I"$here/../include" -MM "$work/all.c" | tr ' \\' '\n\n' | grep 'include/coll/' >"$work/list"
        # shellcheck disable=SC2046
        echo "| \`$header\`, \`coll/algos/ring.h\` | $(wc -l <"$work/list") | $(cat $(cat "$work/list") | wc -l) | $(cat $(cat "$work/list") | wc -c) |"
    done
}

# The counter machine of nic.h, alone and with what takes programs from their bytes; and a NIC's side of the queue.
table_nic()
{
    echo '| | Cortex-M0+ | Cortex-M4 | RV32IMAC |'
    echo '|---|--:|--:|--:|'
    for unpack in 0 1 2; do
        case $unpack in
        0) row='| counter machine |' ;;
        1) row='| the same, and `coll_nic_unpack` |' ;;
        2) row='| all of `firmware.h`, without a transport and operators |' ;;
        esac
        for target in "$m0" "$m4" "$rv"; do
            $target -Os -std=c99 -ffreestanding -ffunction-sections -fdata-sections -DUNPACK=$unpack -I"$here/../include" \
                -c "$here/size/nic.c" -o "$work/nic.o"
            $target -nostdlib -Wl,--gc-sections -Wl,-e,coll_size_nic -Wl,-u,coll_size_nic "$work/nic.o" -lgcc \
                -o "$work/nic.elf" 2>/dev/null
            row="$row $(text "$work/nic.elf" "$target") |"
        done
        echo "$row"
    done
}

# A board on an Ethernet: transports/ethernet.h alone, and with three collectives.
table_ethernet()
{
    m3='arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb'
    echo '| | Cortex-M0+ | Cortex-M3 | RV32IMAC |'
    echo '|---|--:|--:|--:|'
    for options in -DCOLLECTIVES=0 -DCOLLECTIVES=1 '-DCOLLECTIVES=1 -DCOLL_CHECKS=0'; do
        case $options in
        *CHECKS*) what='the same, `COLL_CHECKS=0`' ;;
        *=0) what='the transport, with multicast' ;;
        *) what='transport, engine, three collectives, sums of `f64`' ;;
        esac
        code="| $what |" ram='| … RAM |'
        for target in "$m0" "$m3" "$rv"; do
            $target -Os -std=c99 -ffreestanding -ffunction-sections -fdata-sections -DCOLL_IN_NETWORK=1 -DCOLL_SOFT_FLOAT=1 \
                $options -I"$here/../include" -c "$here/size/ethernet.c" -o "$work/ethernet.o"
            $target -nostdlib -Wl,--gc-sections -Wl,-e,coll_size_ethernet -Wl,-u,coll_size_ethernet "$work/ethernet.o" \
                -lgcc -o "$work/ethernet.elf" 2>"$work/said" || { cat "$work/said" >&2 && exit 1; }
            set -- $("$(size_of "${target%% *}")" "$work/ethernet.elf" | tail -1)
            code="$code $1 |" ram="$ram $(($2 + $3)) |"
        done
        echo "$code"
        echo "$ram"
    done
}

# image BOARD SOURCE OPTION…: runs a program of size/ on a board, and says what it prints.
image()
{
    board=$1 source=$2
    shift 2
    rm -f "$work/$board-alone.elf"
    make -s -C "$firmware" OUT="$work" COLL=../../include ALONE="$here/size/$source" MORE="$*" "$work/$board-alone.elf" >&2
    QEMU_OPTIONS='-icount shift=0' "$firmware/qemu.sh" "$board" "$work/$board-alone.elf" 2>&1
}

# bytes EXPRESSION: of a type, by the size of an array that the compiler makes.
bytes()
{
    printf '#include "coll/executor.h"\n#include "coll/executor/in_order.h"\nchar it[sizeof(%s)];\n' "$1" >"$work/bytes.c"
    $m0 -ffreestanding -I"$here/../include" -c "$work/bytes.c" -o "$work/bytes.o"
    arm-none-eabi-nm -S "$work/bytes.o" | awk '/ it$/ { print $2 }' | sed 's/^0*//; s/^/0x/' | xargs printf '%d\n'
}

# frame ENGINE DUMP: bytes on the stack of the function that runs an allreduce.
frame()
{
    object $ring "$1" $m0 -Os -fstack-usage -DDUMP="$2"
    awk -F'\t' '$1 ~ /:coll_size_allreduce$/ { print $2 }' "$work/allreduce.su"
}

table_memory()
{
    echo '| | window | in order |'
    echo '|---|--:|--:|'
    echo "| engine: \`coll_engine\`, \`coll_in_order\` | $(bytes coll_engine) | $(bytes coll_in_order) |"
    echo "| an action in flight: \`coll_slot\`, \`coll_outstanding\` | $(bytes coll_slot) | $(bytes coll_outstanding) |"
    echo "| plan: \`coll_plan\` | $(bytes coll_plan) | $(bytes coll_plan) |"
    echo "| all of that, with 4 slots; with a send in flight | $(($(bytes coll_engine) + 4 * $(bytes coll_slot) + $(bytes coll_plan))) \
| $(($(bytes coll_in_order) + 2 * $(bytes coll_outstanding) + $(bytes coll_plan))) |"
    for board in microbit mps2 fe310; do
        row="| stack on \`$board\` |"
        for engine in 0 1; do
            set -- $(image $board engine.c -DIN_ORDER=$engine -DLATER=1)
            row="$row $2 |"
        done
        echo "$row"
    done
    echo "| more of it in a function that calls \`coll_engine_dump\`, \`coll_in_order_dump\` \
| $(($(frame window 1) - $(frame window 0))) | $(($(frame in_order 1) - $(frame in_order 0))) |"
}

table_time()
{
    echo '| board | transport completes | window | in order |'
    echo '|---|---|--:|--:|'
    for board in microbit mps2 fe310; do
        for later in 0 1; do
            row="| \`$board\` | $([ $later = 0 ] && echo 'at once' || echo 'at the first test') |"
            for engine in 0 1; do
                set -- $(image $board engine.c -DIN_ORDER=$engine -DLATER=$later)
                row="$row $1 |"
            done
            echo "$row"
        done
    done
}

# loop LABEL FUNCTION ELEMENT [OPTION]: bytes on a Cortex-M0+, instructions an element on each board.
loop()
{
    label=$1 function=$2 element=$3 option=${4:-}
    row=
    for board in microbit mps2 fe310; do
        tenths=$(image $board loop.c -DLOOP="$function" -DELEMENT="$element" "$option")
        row="$row $((tenths / 10)).$((tenths % 10)) |"
    done
    case $function in
    coll_*)
        printf '#include "coll/reduce.h"\nextern coll_combine its;\ncoll_combine its = %s;\n' "$function" >"$work/loop.c"
        # shellcheck disable=SC2086
        $m0 -Os -std=c99 -ffreestanding -ffunction-sections -fdata-sections ${option:--DCOLL_SOFT_FLOAT=0} -I"$here/../include" \
            "$work/loop.c" -nostdlib -Wl,--gc-sections -Wl,-e,its -Wl,-u,its -lgcc -o "$work/loop.elf"
        bytes=$(text "$work/loop.elf" "$m0")
        ;;
    *) # of the library's function, where the compiler did not make it part of this one
        bytes=$(printf '%d' "0x$(arm-none-eabi-nm -S "$work/microbit-alone.elf" |
            awk -v name="$function" '$4 == name && !size || $4 == "coll_i_" name { size = $2 } END { print size }')")
        ;;
    esac
    echo "| $label | $bytes |$row"
}

table_loops()
{
    echo '| loop | bytes | `microbit` | `mps2` | `fe310` |'
    echo '|---|--:|--:|--:|--:|'
    loop 'sum of `i32`' coll_sum_i32 4
    for type in f32:4 f64:8; do
        loop "sum of \`${type%:*}\`, \`softfloat.h\`" "coll_sum_${type%:*}" "${type#*:}" -DCOLL_SOFT_FLOAT=1
        loop "sum of \`${type%:*}\`, the compiler's" "coll_sum_${type%:*}" "${type#*:}" '-UCOLL_SOFT_FLOAT -DCOLL_SOFT_FLOAT=0'
    done
    loop 'copy, an element is a byte: `COLL_COPY` as it is' copy 1
    loop 'the same with `COLL_COPY_WORDS`, aligned' copy 1 -DCOLL_COPY_WORDS=1
}

# ---- a collective each ---------------------------------------------------------------------

# COLLECTIVE ALGORITHM, as in coll_ALGORITHM_COLLECTIVE, and its header.
collectives='barrier dissemination dissemination.h
barrier fnomial fnomial.h
bcast fnomial fnomial.h
bcast chain chain.h
reduce fnomial fnomial.h
allreduce recursive_doubling recursive_multiplying.h
allreduce ring ring.h
allreduce rabenseifner rabenseifner.h
allreduce fnomial fnomial.h
gather fnomial fnomial_gather.h
scatter linear linear_gather.h
allgather ring ring.h
allgather bruck bruck.h
alltoall pairwise pairwise.h
alltoall bruck bruck_alltoall.h
reduce_scatter_block ring ring.h
reduce_scatter_block recursive_halving recursive_halving.h
scan recursive_doubling recursive_multiplying_scan.h
exscan recursive_doubling recursive_doubling_exscan.h'
boards='microbit mps2 fe310'

# With which programs a page was made: its figures are of those.
table_tools()
{
    for cc in arm-none-eabi-gcc riscv64-unknown-elf-gcc; do
        echo "    $($cc --version | sed -n '1s/ (.*)//p')"
    done
    echo "    $(qemu-system-arm --version | sed -n '1s/\.[0-9]* (.*)//p')"
}

# The options that name a collective of the list above.
named()
{
    symbol=coll_$2_${1%_block}
    echo "-DALGORITHM=$symbol -DCOLLECTIVE=COLL_$(echo "$1" | tr a-z A-Z)"
}

# What a collective takes of a board's flash: linked, with the in-order engine, for any number of ranks.
table_flash()
{
    echo '| collective | algorithm | `microbit` | `mps2` | `fe310` |'
    echo '|---|---|--:|--:|--:|'
    echo "$collectives" | while read -r collective name header; do
        row="| $collective | \`$name\` |"
        for board in $boards; do
            # shellcheck disable=SC2046
            row="$row $(linked "coll_${name}_${collective%_block}:coll/algos/$header" in_order $(compiler_of "$board") -Os \
                $(named "$collective" "$name")) |"
        done
        echo "$row"
    done
}

# The compiler of a board of examples/firmware.
compiler_of()
{
    sed -n "s/^cc\.$1 *= *//p" "$firmware/Makefile"
}

# What a rank of eight spends on a call, of 16 words or blocks of 16 words, and keeps for it.
# COLL_SIZE_ROWS: only so many of the list, the first ones.
table_calls()
{
    echo '| collective | algorithm | actions | instructions a call | | | an action | | | stack | | | RAM |'
    echo '|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|'
    echo "| | | | $(echo "$boards $boards $boards" | sed 's/[a-z0-9]*/`&`/g; s/ / | /g') | |"
    echo "$collectives" | head -n "${COLL_SIZE_ROWS:-99}" | while read -r collective name header; do
        calls='' actions='' stacks=''
        for board in $boards; do
            # actions, instructions a call, an action, a plan, stack, RAM
            # shellcheck disable=SC2046
            set -- $(image "$board" collective.c $(named "$collective" "$name") \
                "-DHEADER='\"coll/algos/$header\"'" </dev/null)
            calls="$calls $2 |" actions="$actions $3 |" stacks="$stacks $5 |"
        done
        echo "| $collective | \`$name\` | $1 |$calls$actions$stacks $6 |"
    done
}

# float_bytes OPTION FUNCTION…: what these loops link on a Cortex-M0+.
float_bytes()
{
    option=$1
    shift
    echo '#include "coll/reduce.h"' >"$work/floats.c"
    echo "extern coll_combine const its[$#];" >>"$work/floats.c"
    echo "coll_combine const its[$#] = {$(echo "$*" | tr ' ' ',')};" >>"$work/floats.c"
    $m0 -Os -std=c99 -ffreestanding -ffunction-sections -fdata-sections "$option" -I"$here/../include" \
        "$work/floats.c" -nostdlib -Wl,--gc-sections -Wl,-e,its -Wl,-u,its -lgcc -o "$work/floats.elf" 2>/dev/null
    echo $(($(text "$work/floats.elf" "$m0") - 4 * $#)) # without the table of them
}

# Loops on floats, one by one and together: in integers, and by the compiler's runtime.
table_floats()
{
    echo '| operators | `f32`: `softfloat.h` | the compiler | `f64`: `softfloat.h` | the compiler |'
    echo '|---|--:|--:|--:|--:|'
    for ops in sum min max prod 'sum min max' 'sum prod min max'; do
        row="| $(echo "$ops" | sed 's/ /, /g') |"
        for type in f32 f64; do
            functions=$(for op in $ops; do echo "coll_${op}_$type"; done)
            for soft in 1 0; do
                # shellcheck disable=SC2086
                row="$row $(float_bytes -DCOLL_SOFT_FLOAT=$soft $functions) |"
            done
        done
        echo "$row"
    done
}

# Instructions an element of these loops.
table_floatloops()
{
    echo '| loop | bytes | `microbit` | `mps2` | `fe310` |'
    echo '|---|--:|--:|--:|--:|'
    for type in f32:4 f64:8; do
        for op in sum min max prod; do
            loop "$op of \`${type%:*}\`, \`softfloat.h\`" "coll_${op}_${type%:*}" "${type#*:}" -DCOLL_SOFT_FLOAT=1
            loop "$op of \`${type%:*}\`, the compiler's" "coll_${op}_${type%:*}" "${type#*:}" '-UCOLL_SOFT_FLOAT -DCOLL_SOFT_FLOAT=0'
        done
    done
}

# update FILE [NAME…]: writes the tables of these names into a file, or all that it has.
update()
{
    file=$1
    shift
    [ $# -gt 0 ] || set -- $(sed -n 's/^<!-- size.sh \([a-z]*\) -->$/\1/p' "$file")
    for name; do
        "table_$name" >"$work/table_$name"
    done
    awk -v work="$work" '
        skipping && /^<!-- end -->$/ { skipping = 0 }
        !skipping { print }
        /^<!-- size.sh [a-z]* -->$/ && (getline line < (work "/table_" $3)) > 0 {
            skipping = 1
            print ""
            do print line; while ((getline line < (work "/table_" $3)) > 0)
            print ""
        }' "$file" >"$work/updated"
    cat "$work/updated" >"$file"
}

case ${1:-} in
--*)
    need arm-none-eabi-gcc gcc-arm-none-eabi
    need riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf
    need qemu-system-arm qemu-system-arm
    need qemu-system-riscv32 qemu-system-misc
    need clang clang
    ;;
'') need arm-none-eabi-gcc gcc-arm-none-eabi ;;
esac
case ${1:-} in
--table) "table_$2" ;;
--update)
    shift
    update "$@"
    ;;
*) csv "$@" ;;
esac
