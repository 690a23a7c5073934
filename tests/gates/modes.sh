#!/bin/sh
# The build modes (config.h): inline functions, COLL_EXTERN with one COLL_IMPLEMENTATION. All headers compile in
# each without a warning, a program of two files runs, and files that call the library stay small. Argument: the
# compiler: gcc, g++, clang, clang++, or x86_64-w64-mingw32-gcc or -g++ for the core headers, whose programs are not run.
. "$(dirname "$0")/gate.sh"
compiler=$1
listed=core_headers run=:
case $compiler in
*-mingw32-*) need "$compiler" "${compiler##*-}-mingw-w64-x86-64" ;;
*) need "$compiler" "$(echo "$compiler" | sed 's/clang++/clang/')" && listed=own_headers run= ;;
esac
case $compiler in
*++) language=c++ standard=c++11 other=$(echo "$compiler" | sed 's/clang++$/clang/; s/g++$/gcc/') ;;
*) language=c standard=gnu99 other=$compiler ;;
esac
flags="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -D_GNU_SOURCE"
folder=$COLL_SOURCE/tests/gates/modes
extern=-DCOLL_EXTERN

# object NAME SOURCE OPTION…: NAME.o, in the language of the compiler.
object() {
    name=$1 source=$2
    shift 2
    # shellcheck disable=SC2086
    "$compiler" -x $language -std=$standard $flags "$@" -I"$COLL_SOURCE/include" -c "$source" -o "$name.o"
}

# program NAME…: links objects, and runs what that makes.
program() {
    "$compiler" $(printf '%s.o ' "$@") -o program.exe -pthread && $run ./program.exe
}

# small LIMIT NAME: bytes of code and constants.
small() {
    bytes=$(size "$2.o" | awk 'NR == 2 { print $1 + $2 }')
    echo "$2: $bytes bytes"
    [ "$bytes" -le "$1" ]
}

$listed "$COLL_SOURCE/include" | sed 's/.*/#include "&"/' >all.src
accept object all all.src -fsyntax-only
accept object all all.src -fsyntax-only $extern
accept object all all.src -fsyntax-only $extern -DCOLL_IMPLEMENTATION

accept object main "$folder/main.c" -O0
accept object part "$folder/part.c" -O1
accept program main part
accept object main "$folder/main.c" -O0 $extern
accept object part "$folder/part.c" -O2 $extern
accept object bodies "$folder/bodies.c" -O0 $extern
accept program main part bodies
if [ "$other" != "$compiler" ]; then # the bodies in C, for a program in C++
    # shellcheck disable=SC2086
    accept "$other" -std=gnu99 $flags -O0 $extern -I"$COLL_SOURCE/include" -c "$folder/bodies.c" -o c.o
    accept program main part c
fi

# What a file pays that includes the headers, and that makes one call.
echo '#include "coll/comm.h"' >nothing.src
accept object nothing nothing.src -O0
accept small 1024 nothing
accept object declared "$folder/call.c" -O2 $extern
accept small 1024 declared
accept object inline "$folder/call.c" -O2
accept small 40960 inline

reject 'undefined' program main part
cp bodies.o again.o
reject 'multiple definition|duplicate symbol' program main part bodies again
reject 'bytes' small 1024 inline
if [ $language = c ]; then
    echo '#include "constant.h"' >constant.src
    reject 'static.* used in' object constant constant.src -O0 $extern -I"$gate_bad/modes"
fi
done_gate
