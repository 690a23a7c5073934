#!/bin/sh
# A few mutants of each area, always the same ones while their lines stay, must be killed or be listed as equivalent.
command -v python3 >/dev/null || { [ "${COLL_REQUIRE_ALL:-}" = 1 ] && exit 1; echo "skipped: no python3"; exit 77; }
exec python3 -B "$COLL_SOURCE/tests/mutation/mutate.py" --each 2 --seed ci --jobs 2 --fail --scratch "$COLL_BUILD/mutation"
