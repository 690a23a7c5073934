#!/bin/sh
# Every header alone, included twice (by clang and clang++, which read them all in one process: whether a header needs another
# one is the same for gcc), and, by an older and a newer standard, all together, in both orders and in two units of one
# program, all without a warning. Those that include another library's header (cmake/foreign.txt) are compiled alone, where
# it is found. Argument: the compiler, gcc, g++, clang or clang++.
. "$(dirname "$0")/gate.sh"
compiler=$1

case $compiler in
gcc) language=c standards='c99 c11' extra= levels=-Og ;;
g++) language=c++ standards='c++11 c++20' extra= levels=-Og ;;
clang) language=c standards='c99 c11' extra=-Wreserved-identifier levels=-O0 ;;
clang++) language=c++ standards='c++11 c++20' extra=-Wreserved-identifier levels=-O0 ;;
esac
need "$compiler" "$(echo "$compiler" | sed 's/clang++/clang/')"
flags="-x $language -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror $extra"

# check FOLDER HEADER STANDARD: the header alone.
check() {
    printf '#include "%s"\n#include "%s"\n' "$2" "$2" >alone.src
    # shellcheck disable=SC2086
    syntax "$compiler" $flags -std="$3" -I"$1" -- alone.src
}

own_headers "$COLL_SOURCE/include" | sed 's/.*/#include "&"/' >all.src
sort -r all.src >reverse.src
echo 'int main(void) { return 0; }' >>all.src
case $compiler in
clang*)
    mkdir alone
    for header in $(own_headers "$COLL_SOURCE/include"); do
        alone=$((${alone:-1000} + 1))
        printf '#include "%s"\n#include "%s"\n' "$header" "$header" >alone/$alone.src
    done
    # shellcheck disable=SC2086
    accept syntax "$compiler" $flags -std="${standards%% *}" -I"$COLL_SOURCE/include" -- alone/*.src
    ;;
esac
for standard in $standards; do
    # All together, in both orders. Without -O1, gcc would keep the table of algorithms, which nobody uses here.
    for unit in all reverse; do
        # shellcheck disable=SC2086
        accept "$compiler" $flags -O1 -std="$standard" -I"$COLL_SOURCE/include" -c $unit.src -o $unit.o
    done
    accept "$compiler" all.o reverse.o -pthread -lm -o all
done
# Once more with every function emitted: some warnings come from the flow of data. gcc finds them while it
# optimises, more of them where little is inlined, clang before. With -O2 the build compiles all bodies so.
# flow FOLDER SOURCE LEVEL
flow() {
    # shellcheck disable=SC2086
    "$compiler" $flags -std="${standards%% *}" $3 -I"$1" \
        '-DCOLL_INLINE=__attribute__((used)) static' -c "$2" -o flow.o
}
echo '#include "uninitialized.h"' >flow.src
for level in $levels; do
    accept flow "$COLL_SOURCE/include" all.src $level
    reject 'uninitialized' flow "$gate_bad/headers" flow.src $level
done

# foreign FOLDER HEADER…: headers that include another library's, each by itself, with every function emitted.
foreign() {
    foreign_include=$1
    shift
    for header in "$@"; do
        printf '#include "%s"\n#include "%s"\n' "$header" "$header" >foreign.src
        for standard in $standards; do
            # shellcheck disable=SC2086
            accept "$compiler" $flags -std="$standard" -isystem "$foreign_include" -I"$COLL_SOURCE/include" \
                '-DCOLL_INLINE=__attribute__((used)) static' -O1 -c foreign.src -o foreign.o
        done
    done
}
foreign_headers "$COLL_SOURCE/include" foreign

# A knob with a value for which structures would be too small is refused.
knob() {
    # shellcheck disable=SC2086
    "$compiler" $flags -std="${standards%% *}" -I"$COLL_SOURCE/include" "-D$1" -fsyntax-only knob.src
}
echo '#include "coll/config.h"' >knob.src
accept knob COLL_STEP_MAX=4
for value in COLL_STEP_MAX=3 COLL_PARAM_MAX=3 COLL_WINDOW=0 COLL_WINDOW=33 COLL_CACHED_CALLS=0 COLL_CACHED_BLOCKS=0; do
    reject 'out of its range' knob $value
done

bad=$gate_bad/headers
for standard in $standards; do
    reject 'conversion' check "$bad" conversion.h "$standard"
    reject 'shadow' check "$bad" shadow.h "$standard"
    reject 'coll_missing' check "$bad" not_self_contained.h "$standard"
    reject 'redefinition' check "$bad" unguarded.h "$standard"
    case $extra in
    *reserved*) reject 'reserved' check "$bad" reserved.h "$standard" ;;
    esac
done
case $language in
c++) reject 'invalid conversion|cannot initialize' check "$bad" c_only.h c++11 ;;
c) reject 'unknown type|must use' check "$bad" cpp_only.h c99 ;;
esac
done_gate
