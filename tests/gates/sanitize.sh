#!/bin/sh
# The unit tests in a build with sanitizers. Argument: address (AddressSanitizer and UBSan, all unit
# tests) or thread (ThreadSanitizer, the tests that use threads).
. "$(dirname "$0")/gate.sh"
case $1 in
address)
    sanitizers=address,undefined label=unit
    package='libasan, libubsan (gcc) or libclang-rt-dev (clang)'
    ;;
thread)
    sanitizers=thread label=threads
    package='libtsan (gcc) or libclang-rt-dev (clang)'
    ;;
esac

echo 'int main(void) { return 0; }' >empty.c
"$COLL_CC" -fsanitize=$sanitizers empty.c -o empty 2>"$gate_log" ||
    missing "$COLL_CC has no $sanitizers sanitizer; on Debian: apt-get install $package"

# Older ThreadSanitizers cannot live with the address space randomisation of newer kernels.
calm=
if ! ./empty 2>"$gate_log"; then
    calm="setarch $(uname -m) -R"
    $calm ./empty 2>"$gate_log" || missing "programs with the $sanitizers sanitizer do not start here: $(cat "$gate_log")"
fi

# Every test is linked with all bodies of the library: the usual linker takes three times as long as gold.
linker=
! "$COLL_CC" -fuse-ld=gold empty.c -o gold 2>/dev/null || linker=-fuse-ld=gold

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=second_deadlock_stack=1

run_bad() {
    "$COLL_CC" -g -O1 -pthread -fsanitize=$sanitizers -fno-sanitize-recover=all "$gate_bad/sanitize/$1" -o bad || exit 1
    $calm ./bad
}
case $1 in
address)
    reject 'heap-buffer-overflow' run_bad overflow.c
    reject 'runtime error: shift exponent' run_bad undefined.c
    ;;
thread) reject 'data race' run_bad race.c ;;
esac

# The tests themselves, in a build of their own; only the tests that will run are built.
accept "$COLL_CMAKE" -S "$COLL_SOURCE" -B build -DCMAKE_C_COMPILER="$COLL_CC" -DCMAKE_C_FLAGS_RELEASE='-O1 -g1' \
    -DCMAKE_EXE_LINKER_FLAGS=$linker \
    -DCOLL_SANITIZE=$sanitizers -DCOLL_TESTS=$label -DCOLL_BUILD_GATES=OFF \
    -DCOLL_BUILD_TOOLS=OFF -DCOLL_BUILD_EXAMPLES=OFF -DCOLL_BUILD_BENCH=OFF -DCOLL_BUILD_MPI=OFF
[ $gate_failed -eq 0 ] && accept "$COLL_CMAKE" --build build --parallel 2
cd build || exit 1
[ $gate_failed -eq 0 ] && accept $calm "$COLL_CTEST" --output-on-failure --no-tests=error --parallel 2 -L "$label"
grep -E '^ *[0-9]+/|tests passed' "$gate_log"
done_gate
