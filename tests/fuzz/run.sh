#!/bin/sh
# Runs the targets of libFuzzer under AddressSanitizer and UBSan:
#
#   sh tests/fuzz/run.sh SECONDS [TARGET]
#
# so many seconds for each target, or for the one that is named. What is new in their corpora stays in
# build/fuzz/corpus (COLL_BUILD), as does what breaks a target, in build/fuzz; the sentence says where.
# COLL_FUZZ_SEED makes runs begin alike. Missing tools: exit code 77, or 1 where COLL_REQUIRE_ALL=1.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
source=${COLL_SOURCE:-$(cd "$here/../.." && pwd)}
build=${COLL_BUILD:-$source/build}/fuzz
clang=${COLL_CLANG:-clang}
seconds=${1:?give the seconds for each target, and perhaps a target}
shift

missing() {
    [ "${COLL_REQUIRE_ALL:-}" != 1 ] || { echo "FAILED: $1" && exit 1; }
    echo "skipped: $1"
    exit 77
}

compile() {
    "$clang" -std=gnu11 -D_GNU_SOURCE -DCOLL_ONE_REGISTRY=1 -g1 -O1 -fsanitize=fuzzer,address,undefined \
        -Werror=incompatible-pointer-types -fno-sanitize-recover=all -I"$source" -I"$source/include" -I"$source/tests" -I"$here" "$@"
}

mkdir -p "$build" || exit 1
cd "$build" || exit 1
command -v "$clang" >/dev/null 2>&1 || missing "clang is not installed; on Debian: apt-get install clang"
echo '#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) { return (void)data, (int)(size - size); }' >"empty.$$.c"
made=0
compile "empty.$$.c" -o "empty.$$" >"empty.$$.log" 2>&1 || made=$?
rm -f "empty.$$.c" "empty.$$"
[ $made -eq 0 ] || { cat "empty.$$.log" && rm -f "empty.$$.log" &&
    missing "clang has no libFuzzer; on Debian: apt-get install libclang-rt-14-dev"; }
rm -f "empty.$$.log"

# The table of algorithms is most of what there is to compile, and most targets have it.
if [ ! -e registry.o ] || [ -n "$(find "$source/include" "$source/cmake" -newer registry.o -name '*.[hc]')" ]; then
    compile -c "$source/cmake/registry.c" -o registry.o || exit 1
fi

# Inputs that take long are mistakes, too.
fuzz() {
    program=$1
    shift
    UBSAN_OPTIONS=print_stacktrace=1 "./$program" -seed="${COLL_FUZZ_SEED:-0}" -timeout=60 -rss_limit_mb=2048 \
        -artifact_prefix="$build/$program." -print_final_stats=1 "$@"
}

failed=0
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- bad $(cd "$here" && ls ./*.c | sed 's,^\./,,;s,\.c$,,')
for target; do
    if [ "$target" = bad ]; then # a mistake that must be found
        compile "$here/bad/overflow.c" -o bad || exit 1
        if fuzz bad -runs=1000000 >bad.log 2>&1 || ! grep -q heap-buffer-overflow bad.log; then
            cat bad.log
            echo "FAILED: the mistake in bad/overflow.c was not found"
            failed=1
        fi
        rm -f bad.crash-*
        continue
    fi
    compile "$here/$target.c" registry.o -o "$target" -lm || exit 1
    mkdir -p "corpus/$target"
    if fuzz "$target" -max_len=4096 -max_total_time="$seconds" "corpus/$target" "$here/corpus/$target" >"$target.log" 2>&1; then
        echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$target.log") executions, nothing found"
    else
        grep -v -e '^#[0-9]' -e '^INFO:' "$target.log" | head -60
        echo "FAILED: $target; once more: $build/$target FILE"
        failed=1
    fi
done
exit $failed
