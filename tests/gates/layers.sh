#!/bin/sh
# Who may include what: layers.rules, and no header includes itself, however indirectly. Of the command's sources
# NAME.c and NAME.h are one module, and no module needs itself either.
. "$(dirname "$0")/gate.sh"

# check FOLDER: every header of FOLDER/coll.
check() {
    status=0
    : >edges
    headers "$1/coll" | awk -v folder="$1/coll" -f "$gate_rules/layers.awk" "$gate_rules/layers.rules" - || status=1
    if ! tsort edges >/dev/null; then # names the headers of the cycle
        echo "headers include each other in a cycle"
        status=1
    fi
    return $status
}

# modules FOLDER: the modules of a flat folder.
modules() {
    (cd "$1" && grep -H '^#include "[a-z_]*\.h"' ./*.[ch]) |
        sed 's,^\./\([a-z_]*\)\.[ch]:#include "\([a-z_]*\)\.h".*,\1 \2,' | awk '$1 != $2' >edges
    [ -s edges ] || { echo "no module includes another" && return 1; }
    tsort edges >/dev/null || { echo "modules need each other in a cycle" && return 1; }
}

accept check "$COLL_SOURCE/include"
accept modules "$COLL_SOURCE/tools"
reject 'executor.h may not include algos/ring.h' check "$gate_bad/layers/executor_includes_algo"
reject 'algos/ring.h may not include transport.h' check "$gate_bad/layers/algo_includes_transport"
reject 'plan.h may not include <string.h>' check "$gate_bad/layers/core_includes_libc"
reject 'cycle' check "$gate_bad/layers/cycle"
reject 'comm.h may not include lab/verify.h' check "$gate_bad/layers/core_includes_hosted"
reject 'select.h may not include algos/registry.h' check "$gate_bad/layers/rules_include_registry"
reject 'stray.h has no rule' check "$gate_bad/layers/stray"
reject 'modules need each other' modules "$gate_bad/layers/modules"
done_gate
