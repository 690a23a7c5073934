#!/bin/sh
# What is committed: no built files, no paths of somebody's machine, no reminders of unfinished work,
# one header of a name, algorithms of at most 250 lines. Other long files are named, without failing.
. "$(dirname "$0")/gate.sh"

# check FOLDER: every file that `files` lists.
check() {
    cd "$1" || return 1
    files >"$gate_scratch/list"
    grep -v -x 'tests/gates/tree.sh' "$gate_scratch/list" | tr '\n' '\000' >"$gate_scratch/others"
    {
        grep -E '^build/|\.(o|a|so|exe|pyc)$' "$gate_scratch/list" | sed 's/$/ is a built file/'
        xargs -0 grep -l -a -P '\x00' <"$gate_scratch/others" | sed 's/$/ is not text/'
        xargs -0 grep -n -H -E '(^|[^A-Za-z0-9_./-])/(home|root|work|Users)/' <"$gate_scratch/others" | sed 's/^/names a path of one machine: /'
        xargs -0 grep -n -H -w -E 'TODO|FIXME|XXX' <"$gate_scratch/others" | sed 's/^/is unfinished: /'
        same_names
        long_algorithms
    } >"$gate_scratch/found"
    cat "$gate_scratch/found"
    [ ! -s "$gate_scratch/found" ]
}

# Headers of the library whose file has the name of another one.
same_names() {
    grep '^include/.*\.h$' "$gate_scratch/list" | sed 's,.*/,,' | sort | uniq -d | sed 's/$/ is the name of several headers/'
}

# Files of algos/ of more than 250 lines. What several algorithms share is in algos/kit/. May be longer:
#   registry.h   the table of all algorithms, a line a row, and what finds one in it
long_algorithms() {
    grep '^include/coll/algos/.*\.h$' "$gate_scratch/list" | grep -v -x 'include/coll/algos/registry.h' | while read -r file; do
        lines=$(wc -l <"$file")
        [ "$lines" -le 250 ] || echo "$file has $lines lines; a file of algos/ has at most 250"
    done
}

need git git
cd "$COLL_SOURCE" && git rev-parse --git-dir >/dev/null 2>&1 || missing 'this is no git repository'
files() {
    git ls-files | grep -v -e '^tests/gates/bad/' -e '^tests/fuzz/corpus/'
}
accept check "$COLL_SOURCE"
cd "$COLL_SOURCE" && files | grep '\.[ch]$' | xargs wc -l | awk '$1 > 600 && $2 != "total" { print "long: " $2 ", " $1 " lines" }'
cd "$gate_scratch" || exit 1

files() {
    ls
}
mkdir binary && printf '\177ELF\000' >binary/program && : >binary/ring.o
reject 'program is not text' check "$gate_scratch/binary"
reject 'ring.o is a built file' check "$gate_scratch/binary"
reject 'names a path of one machine' check "$gate_bad/tree"
reject 'is unfinished' check "$gate_bad/tree"
files() {
    printf 'include/coll/%s\n' plan/tree.h algos/tree.h
}
same=$gate_scratch/same
for folder in plan algos; do
    mkdir -p "$same/include/coll/$folder" && : >"$same/include/coll/$folder/tree.h"
done
reject 'tree.h is the name of several' check "$same"
files() {
    echo include/coll/algos/kit/long.h
}
long=$gate_scratch/long
mkdir -p "$long/include/coll/algos/kit" && yes '/* a line */' | head -n 250 >"$long/include/coll/algos/kit/long.h"
accept check "$long"
echo '/* one more */' >>"$long/include/coll/algos/kit/long.h"
reject 'long.h has 251 lines; a file of algos/ has at most 250' check "$long"
done_gate
