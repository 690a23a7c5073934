#!/bin/sh
# An installed library is found, also after the installed tree was moved. Argument: cmake, for
# find_package and for use as a subdirectory, or pkg-config, for C and for C++.
. "$(dirname "$0")/gate.sh"
[ "$1" = cmake ] || need pkg-config pkg-config
consumer=$COLL_SOURCE/tests/gates/consumer
accept "$COLL_CMAKE" --install "$COLL_BUILD" --prefix "$gate_scratch/first"
mv first moved || exit 1
prefix=$gate_scratch/moved

# consume FOLDER OPTION…: configures, builds and runs the consumer.
consume() {
    build=$1
    shift
    "$COLL_CMAKE" -S "$consumer" -B "$build" -DCMAKE_C_COMPILER="$COLL_CC" "$@" &&
        "$COLL_CMAKE" --build "$build" && "$build/consumer"
}

# compile COMMAND…: compiles the consumer with what pkg-config says, and runs it.
compile() {
    # shellcheck disable=SC2046
    "$@" $(pkg-config --cflags --libs coll) -o consumer && ./consumer
}

case $1 in
cmake)
    accept consume package -DCMAKE_PREFIX_PATH="$prefix"
    accept grep -q "$prefix/include" package/compile_commands.json
    accept consume subdirectory -DCOLL_FROM="$COLL_SOURCE"
    accept "$prefix/bin/coll" --help
    accept "$prefix/bin/coll" amalgamate --executor --algorithms ring -o coll_ring.h
    reject 'compatible' consume future -DCMAKE_PREFIX_PATH="$prefix" -DWANTED=99.0
    reject 'not find a package configuration file|Could not find' \
        consume nowhere -DCMAKE_PREFIX_PATH="$gate_scratch/first"
    ;;
pkg-config)
    export PKG_CONFIG_PATH="$prefix/share/pkgconfig"
    version=$(sed -n 's/^#define COLL_VERSION_[A-Z]* //p' "$prefix/include/coll/config.h" | paste -s -d.)
    accept pkg-config --exact-version="$version" coll
    accept compile "$COLL_CC" "$consumer/main.c"
    ! command -v g++ >/dev/null || accept compile g++ -x c++ "$consumer/main.c"
    reject 'equire.* version' pkg-config --print-errors 'coll >= 99.0'
    PKG_CONFIG_PATH=$gate_scratch/first/share/pkgconfig
    reject 'fatal error|No package' compile "$COLL_CC" "$consumer/main.c"
    ;;
esac
done_gate
