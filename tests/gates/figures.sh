#!/bin/sh
# The figures of docs/collectives-on-boards.md, and bytes of docs/nic.md and docs/boards.md, are those of the tree:
# bytes, and instructions that QEMU counts, are the same on any machine. They are of the compilers and the QEMU that
# the first page names; with others the gate is skipped.
# Argument: bytes or instructions.
. "$(dirname "$0")/gate.sh"
need make make
need arm-none-eabi-gcc gcc-arm-none-eabi
need riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf
need qemu-system-arm qemu-system-arm
need qemu-system-riscv32 qemu-system-misc
need clang clang
page=docs/collectives-on-boards.md

# table NAME FILE: a table of the page.
table() {
    awk -v begin="<!-- size.sh $1 -->" '$0 == begin { on = 1; next } /^<!-- end -->$/ { on = 0 } on && NF' "$2"
}

# made FILE NAME…: the tables of a page are those that the script makes; else says how they become so.
made() {
    file=$1
    shift
    for name; do
        sh "$COLL_SOURCE/bench/size.sh" --table "$name" >"made.$name" || return 1
        table "$name" "$file" >"kept.$name"
        diff "kept.$name" "made.$name" && continue
        echo "the table $name of docs/$(basename "$file") is not that of the tree: bench/size.sh --update writes it"
        return 1
    done
}

sh "$COLL_SOURCE/bench/size.sh" --table tools >tools
table tools "$COLL_SOURCE/$page" >named
cmp -s tools named || missing "the figures of $page are of other compilers: $(tr -s '\n ' ' ' <named); here are $(tr -s '\n ' ' ' <tools)"
case $1 in
bytes) # … and an edited figure is noticed
    accept made "$COLL_SOURCE/$page" flash floats
    accept made "$COLL_SOURCE/docs/nic.md" nic
    accept made "$COLL_SOURCE/docs/boards.md" ethernet
    sed 's/^| min | [0-9]* |/| min | 1 |/' "$COLL_SOURCE/$page" >wrong.md
    reject 'the table floats .*size.sh --update' made wrong.md floats
    ;;
instructions)
    accept made "$COLL_SOURCE/$page" calls
    table calls "$COLL_SOURCE/$page" | head -n 4 | sed 's/`dissemination` | 6 |/`dissemination` | 7 |/' |
        sed '1s/^/<!-- size.sh calls -->\n/' >wrong.md
    export COLL_SIZE_ROWS=1
    reject 'the table calls .*size.sh --update' made wrong.md calls
    ;;
esac
done_gate
