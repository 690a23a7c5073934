#!/bin/sh
# Names that the headers give: their own path first; coll_ or COLL_ in front, no _t behind, no double underscore; guards
# COLL_<PATH>_H. The compiler's own debug information says what is defined, so nothing escapes.
. "$(dirname "$0")/gate.sh"
need gcc gcc
need readelf binutils

# defined FILE: names of types, enumerators, functions and variables at file scope of a unit.
defined() {
    gcc -std=gnu11 -g3 -O0 -fno-eliminate-unused-debug-types -fno-eliminate-unused-debug-symbols -I"$folder" \
        '-DCOLL_INLINE=__attribute__((used)) static' -c "$1" -o names.o || return 1
    readelf --debug-dump=info --wide names.o | awk '
        function flush() {
            if (wanted && !declared && name != "") print name
            wanted = declared = 0
            name = ""
        }
        /^ *<[0-9a-f]+><[0-9a-f]+>: Abbrev/ {
            flush()
            sub(/^ *</, "")
            depth = $0 + 0
            wanted = (depth == 1 && /typedef|structure_type|union_type|enumeration_type|subprogram|variable/) ||
                (depth == 2 && /enumerator/)
        }
        /DW_AT_name/ { name = $NF }
        /DW_AT_declaration/ { declared = 1 }
        END { flush() }'
}

# check FOLDER: all headers of FOLDER/coll.
check() {
    folder=$1 status=0
    for header in $(headers "$folder"); do
        head -n 1 "$folder/$header" | grep -q -F "/* $header — " ||
            { echo "$header: its first line does not begin with its path" && status=1; }
        guard=$(echo "$header" | tr 'a-z/.' 'A-Z__')
        [ "$(grep -m1 '^#ifndef' "$folder/$header")" = "#ifndef $guard" ] ||
            { echo "$header: its guard is not $guard" && status=1; }
        sed -n 's/^[ \t]*#[ \t]*define[ \t]*\([A-Za-z0-9_]*\).*/\1/p' "$folder/$header" |
            grep -v '^COLL_[A-Z0-9_]*$' | sed "s,.*,$header: macro & is not COLL_…," >macros
        [ -s macros ] && cat macros && status=1
    done
    # What the toolchain's headers define themselves is none of ours, nor the intrinsics (_mm_…) that are
    # only there where they are used.
    headers "$folder" | sed 's,.*,#include "&",' >ours.c
    (cd "$folder" && find . -name '*.h' -exec cat {} +) | grep -h '^[ \t]*#[ \t]*include[ \t]*<[^c]\|^#define _' | sort -u >theirs.c
    defined ours.c | sort -u >ours || status=1
    defined theirs.c | sort -u >theirs || status=1
    comm -23 ours theirs >names
    [ -s names ] || { echo "no names were found" && status=1; }
    grep -v -E '^(coll|COLL|_mm)_' names | sed 's/.*/& does not begin with coll_ or COLL_/' >complaints
    grep -E '.__|_t$' names | sed 's/.*/& ends with _t or has a double underscore/' >>complaints
    [ -s complaints ] && cat complaints && status=1
    return $status
}

accept check "$COLL_SOURCE/include"
for word in 'first line does not begin with its path' 'guard is not COLL_BAD_H' 'macro LEAST' '^coll_pair_t' '^limit' '^half' '^helper_of' '^coll_dunder__of'; do
    reject "$word" check "$gate_bad/names"
done
done_gate
