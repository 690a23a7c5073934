#!/bin/sh
# The mutation tool itself, on a small project of its own; and that equivalent.txt has no stale entries.
command -v python3 >/dev/null || { echo "skipped: no python3"; [ "${COLL_REQUIRE_ALL:-}" = 1 ] && exit 1; exit 77; }
exec python3 -B "$COLL_SOURCE/tests/mutation/selftest.py"
