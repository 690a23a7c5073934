#!/bin/sh
# Who may include what: layers.rules, and no header includes itself, however indirectly. Of the command's sources
# NAME.c and NAME.h are one module, and no module needs itself either.
. "$(dirname "$0")/gate.sh"

# check FOLDER: every header of FOLDER/coll.
check() {
    status=0
    : >edges
    headers "$1/coll" >list
    while read -r header; do
        rule=$(rule_of "$header")
        if [ -z "$rule" ]; then
            echo "$header has no rule in tests/gates/layers.rules"
            status=1
        fi
        includes_of "$1/coll" "$header" >includes
        while read -r include; do
            case $include in
            *.h) echo "$header $include" >>edges ;;
            esac
            if ! allowed "$rule" "$include"; then
                echo "$header may not include $include"
                status=1
            fi
        done <includes
    done <list
    if ! tsort edges >/dev/null; then # names the headers of the cycle
        echo "headers include each other in a cycle"
        status=1
    fi
    return $status
}

# What a header includes: <system.h> as written, others by their path below include/coll.
includes_of() {
    sed -n 's/^[ \t]*#[ \t]*include[ \t]*\([<"][^>"]*[>"]\).*/\1/p' "$1/$2" | while read -r include; do
        name=${include#?}
        name=${name%?}
        case $include in
        '<coll/'* | '"coll/'*) echo "${name#coll/}" ;;
        '<'*) echo "$include" ;;
        *) (cd "$1/$(dirname "$2")" && realpath -m --relative-to="$1" "$name") ;;
        esac
    done
}

allowed() {
    case $1,$2 in
    'hosted '*,'<'*) return 0 ;;
    esac
    set -f
    for word in ${1#*:}; do
        # shellcheck disable=SC2254
        case !$2 in
        $word) set +f && return 1 ;;
        esac
        # shellcheck disable=SC2254
        case $2 in
        '<'*) [ "$word" = "$2" ] && { set +f; return 0; } ;;
        $word) set +f && return 0 ;;
        esac
    done
    set +f
    return 1
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
