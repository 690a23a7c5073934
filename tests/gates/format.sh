#!/bin/sh
# Every C file is formatted as .clang-format says. Another major version of the tool formats a little
# differently, so this one is asked for.
. "$(dirname "$0")/gate.sh"
version=14
tool=clang-format-$version
command -v "$tool" >/dev/null || tool=clang-format
need "$tool" "clang-format-$version"
case $("$tool" --version) in
*"version $version."*) ;;
*) missing "$("$tool" --version) is not version $version; on Debian: apt-get install clang-format-$version" ;;
esac

# check LIST: every file of the list, of which there must be one.
check() {
    [ -s "$1" ] && xargs -0 "$tool" --style="file:$COLL_SOURCE/.clang-format" --dry-run -Werror <"$1"
}

find "$COLL_SOURCE/include" "$COLL_SOURCE/tests" "$COLL_SOURCE/tools" "$COLL_SOURCE/examples" "$COLL_SOURCE/bench" "$COLL_SOURCE/mpi" \
    -path "$gate_bad" -prune -o -name '*.[ch]' -print0 >files
accept check files
printf '%s\0' "$gate_bad/format/misformatted.c" >bad
reject 'clang-format-violations' check bad
done_gate
