#!/bin/sh
# A few mutants, always the same ones while their lines stay, must be killed or be listed as equivalent: of areas whose
# tests are quick, with a seed of which none runs into a limit.
command -v python3 >/dev/null || { echo "skipped: no python3"; [ "${COLL_REQUIRE_ALL:-}" = 1 ] && exit 1; exit 77; }
sample() {
    python3 -B "$COLL_SOURCE/tests/mutation/mutate.py" --seed 8 --jobs 2 --fail --scratch "$COLL_BUILD/mutation" "$@"
}
sample --areas algos,topo --each 4 && sample --areas executor,verifier --each 1
