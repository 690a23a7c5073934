#!/bin/sh
# The libraries to link (cmake/library.cmake): they export what abi.txt lists and no more; programs in C, C++ and
# Python use them, found by find_package and by pkg-config; a file that includes coll/linked.h is read quickly.
. "$(dirname "$0")/gate.sh"
need nm binutils
[ -e "$COLL_BUILD/libcoll.a" ] || missing 'libcoll.so and libcoll.a were not built (COLL_BUILD_LIBRARY)'
abi=$COLL_SOURCE/cmake/abi.txt
consumer=$COLL_SOURCE/tests/gates/consumer

# compare LIST TEXT: abi.txt, but for its comments.
compare() {
    diff "$1" "$2" || { echo "the ABI is another one than cmake/abi.txt says"; return 1; }
}

exported() {
    nm "$@" | awk 'NF == 3 && $2 ~ /[A-Z]/ { sub(/@.*/, "", $3); if ($3 !~ /^COLL_/) print $3 }' | sort -u
}

# compile COMMAND…: a program that links what pkg-config says.
compile() {
    # shellcheck disable=SC2046
    "$@" "$consumer/linked.c" $(pkg-config $static --cflags --libs coll-linked) -o linked && ./linked
}

# declared NAMES: all of them, by coll/linked.h
declared() {
    echo '#include "coll/linked.h"' | "$COLL_CC" -E -x c -I "$COLL_BUILD/linked" - | tr -cs 'A-Za-z0-9_' '\n' | sort -u >words
    comm -23 "$1" words >missed
    sed 's/$/ is not declared/' missed
    [ ! -s missed ]
}

# header OPTION…
header() {
    "$@" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I"$COLL_BUILD/linked" -c "$consumer/linked.c" -o linked.o
}

grep -v '^#' "$abi" >abi
grep '^[a-z0-9_]*$' abi >names
accept sh "$COLL_SOURCE/cmake/abi.sh" "$COLL_BUILD/libcoll_bodies.a" "$COLL_BUILD/linked" "$COLL_CC"
if [ "$(getconf LONG_BIT)" = 64 ]; then
    grep -v '^#' "$gate_log" >said
    accept compare abi said
fi
exported -D --defined-only "$COLL_BUILD/libcoll.so" >shared
accept compare names shared
exported -g --defined-only "$COLL_BUILD/libcoll.a" >static
accept compare names static
sed '/^coll_allreduce$/d; s/^coll_comm .*/coll_comm 8/' abi >changed
reject '^< coll_comm 8' compare changed said
reject '^> coll_allreduce' compare changed said

accept declared names
printf 'coll_nobody\n' >nobody
reject 'coll_nobody is not declared' declared nobody
accept header "$COLL_CC" -std=c99
accept header "$COLL_CC" -std=c99 -DCOLL_EXTERN=1 -DCOLL_ONE_REGISTRY=1
reject 'have the sizes that it was built with' header "$COLL_CC" -DCOLL_WINDOW=8
command -v g++ >/dev/null && accept header g++ -x c++ -std=c++11
sh -c "time -p '$COLL_CC' -O2 -I'$COLL_BUILD/linked' -c '$consumer/linked.c' -o linked.o" 2>&1 |
    sed -n 's/^real/a file that includes coll\/linked.h compiles in seconds:/p'

accept "$COLL_CMAKE" --install "$COLL_BUILD" --prefix "$gate_scratch/installed"
library=$(dirname "$(find installed -name 'libcoll.so')")
accept "$COLL_CMAKE" -S "$consumer" -B package -DCMAKE_C_COMPILER="$COLL_CC" -DLINKED=ON \
    -DCMAKE_PREFIX_PATH="$gate_scratch/installed"
accept "$COLL_CMAKE" --build package
accept package/linked_shared
accept package/linked_static

LD_LIBRARY_PATH=$gate_scratch/$library
export LD_LIBRARY_PATH
if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH=$gate_scratch/$library/pkgconfig
    export PKG_CONFIG_PATH
    static=
    accept compile "$COLL_CC"
    ! command -v g++ >/dev/null || accept compile g++ -x c++
    static=--static
    accept compile "$COLL_CC" -static
    reject 'undefined reference.*coll_i_' compile "$COLL_CC" -DPRIVATE
fi

need python3 python3
sed -n '/^```python$/,/^```$/p' "$COLL_SOURCE/docs/linking.md" | sed '1d;$d' >sum.py
accept python3 sum.py
sed 's/coll_bytes_of/coll_size_of/' sum.py >bad.py
reject 'undefined symbol' python3 bad.py
done_gate
