#!/bin/sh
# cmake/abi.sh ARCHIVE FOLDER CC [FILE]: the text of abi.txt. ARCHIVE has all bodies, FOLDER coll/linked.h and types.h.
set -eu
[ $# -lt 4 ] || exec >"$4"
LC_ALL=C
export LC_ALL
cat <<'END'
# The ABI of libcoll.so: the names that it exports, and, on 64-bit ELF, the bytes of the public structures.
# Whoever changes it writes this file again, and adds to CHANGELOG.md: cmake --build build --target abi
END
nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }' | grep '^coll_' | grep -v '^coll_i_' | sort -u
sizes=$(mktemp)
trap 'rm -f "$sizes"' EXIT
{
    printf '#include <stdio.h>\n#include "coll/linked.h"\nint main(void) {\n'
    sed 's/TYPE(\(.*\))/printf("\1 %zu\\n", sizeof(\1));/' "$2/types.h"
    echo '}'
} | "$3" -x c -I "$2" - -o "$sizes"
"$sizes" | sort
