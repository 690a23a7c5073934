#!/bin/sh
# An installed library is found: by find_package, by pkg-config, and as a subdirectory of another
# project; also after the installed tree was moved, by C and by C++ programs.
. "$(dirname "$0")/gate.sh"
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
accept consume package -DCMAKE_PREFIX_PATH="$prefix"
accept grep -q "$prefix/include" package/compile_commands.json
accept consume subdirectory -DCOLL_FROM="$COLL_SOURCE"
reject 'compatible with the requested|compatible with *requested|requested version' consume future -DCMAKE_PREFIX_PATH="$prefix" -DWANTED=99.0
reject 'coll' consume nowhere -DCMAKE_PREFIX_PATH="$gate_scratch/first"
accept "$prefix/bin/coll" --help

need pkg-config pkg-config
export PKG_CONFIG_PATH="$prefix/share/pkgconfig"
by_pkg_config() {
    # shellcheck disable=SC2046
    "$@" $(pkg-config --cflags --libs coll) -o by_pkg_config && ./by_pkg_config
}
accept by_pkg_config "$COLL_CC" "$consumer/main.c"
if command -v g++ >/dev/null; then
    accept by_pkg_config g++ -x c++ "$consumer/main.c"
fi
PKG_CONFIG_PATH=$gate_scratch/first/share/pkgconfig
reject 'fatal error|No package' by_pkg_config "$COLL_CC" "$consumer/main.c"
done_gate
