#!/bin/sh
# Names that the headers give: their own path first; coll_ or COLL_ in front, no _t behind, no double underscore; guards
# COLL_<PATH>_H. The compiler's own debug information says what is defined, so nothing escapes.
. "$(dirname "$0")/gate.sh"
need gcc gcc
need readelf binutils

# defined FILE: names of types, enumerators, functions and variables at file scope of a unit.
defined() {
    gcc -std=gnu11 -g -O0 -fno-eliminate-unused-debug-types -fno-eliminate-unused-debug-symbols -I"$folder" \
        '-DCOLL_INLINE=__attribute__((used)) static' -c "$1" -o names.o || return 1
    readelf --debug-dump=info --dwarf-depth=3 --wide names.o | awk '
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

# written FOLDER: first lines, guards and macros of all headers, as they are written.
written() {
    headers "$1" | (cd "$1" && awk '
        function complain(text) {
            print header ": " text
            complaints++
        }
        {
            header = guard = $0
            guard = toupper(guard)
            gsub(/[\/.]/, "_", guard)
            found = lines = 0
            while ((getline line < header) > 0) {
                if (lines++ == 0 && !index(line, "/* " header " — "))
                    complain("its first line does not begin with its path")
                if (line ~ /^#ifndef/ && !found++ && line != "#ifndef " guard)
                    complain("its guard is not " guard)
                if (sub(/^[ \t]*#[ \t]*define[ \t]*/, "", line) && match(line "(", /[^A-Za-z0-9_]/)) {
                    macro = substr(line, 1, RSTART - 1)
                    if (macro !~ /^COLL_[A-Z0-9_]*$/) complain("macro " macro " is not COLL_…")
                }
            }
            close(header)
            if (!lines || !found) complain("it has no first line or no guard")
        }
        END { exit complaints > 0 }')
}

# check FOLDER: all headers of FOLDER/coll.
check() {
    folder=$1 status=0
    written "$folder" || status=1
    # What the toolchain's headers define themselves is none of ours, nor the intrinsics (_mm_…) that are
    # only there where they are used, nor PMIx, which need not be there.
    own_headers "$folder" | sed 's,.*,#include "&",' >ours.c
    own_headers "$folder" | (cd "$folder" && xargs cat) | grep -h '^[ \t]*#[ \t]*include[ \t]*<[^c]\|^#define _' | grep -v '<pmix[.]h>' | sort -u >theirs.c
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
reject 'first line does not begin with its path' check "$gate_bad/names"
cp "$gate_log" said
for word in 'guard is not COLL_BAD_H' 'macro LEAST' '^coll_pair_t' '^limit' '^half' '^helper_of' '^coll_dunder__of'; do
    accept grep -e "$word" said
done
done_gate
