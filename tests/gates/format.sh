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

check() {
    "$tool" --style="file:$COLL_SOURCE/.clang-format" --dry-run -Werror "$@"
}

cd "$COLL_SOURCE" || exit 1
find include tests tools examples bench -path tests/gates/bad -prune -o -name '*.[ch]' -print | sort >"$gate_scratch/files"
cd "$gate_scratch" || exit 1
while read -r file; do
    accept check "$COLL_SOURCE/$file"
done <files
reject 'clang-format-violations' check "$gate_bad/format/misformatted.c"
done_gate
