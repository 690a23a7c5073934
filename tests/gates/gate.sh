# tests/gates/gate.sh — what the gates share; sourced, never run
#
# A gate checks the tree, and then shows that it would have noticed: it runs the same check on bad
# inputs kept in bad/, each of which must be rejected, for the reason that it was written for.
#
#   need clang clang                  a tool and its Debian package; missing: the gate is skipped,
#                                     or fails where COLL_REQUIRE_ALL=1
#   accept COMMAND…                   must succeed; its output is shown if not
#   reject PATTERN COMMAND…           must fail and say something that matches PATTERN
#   done_gate                         ends the gate
#
# Environment, set by tests/CMakeLists.txt: COLL_SOURCE, COLL_BUILD, COLL_CC, COLL_CMAKE, COLL_CTEST.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
export LC_ALL=C

gate_name=$(basename "$0" .sh)${1:+.$1}
gate_rules=$COLL_SOURCE/tests/gates
gate_bad=$gate_rules/bad
gate_scratch=$COLL_BUILD/gates/$gate_name
gate_log=$gate_scratch/log
gate_accepted=0 gate_rejected=0 gate_failed=0
rm -rf "$gate_scratch"
mkdir -p "$gate_scratch"
cd "$gate_scratch" || exit 1

need() {
    command -v "$1" >/dev/null 2>&1 && return
    missing "$1 is not installed; on Debian: apt-get install $2"
}

missing() {
    if [ "${COLL_REQUIRE_ALL:-}" = 1 ] || [ $gate_failed -gt 0 ]; then
        echo "FAILED: $1"
        exit 1
    fi
    echo "skipped: $1"
    exit 77
}

accept() {
    gate_accepted=$((gate_accepted + 1))
    "$@" >"$gate_log" 2>&1 && return
    echo "FAILED: $*"
    cat "$gate_log"
    gate_failed=$((gate_failed + 1))
}

reject() {
    gate_pattern=$1
    shift
    gate_rejected=$((gate_rejected + 1))
    if "$@" >"$gate_log" 2>&1; then
        echo "FAILED: a bad input passed: $*"
    elif grep -E -q -e "$gate_pattern" "$gate_log"; then
        return
    else
        echo "FAILED: a bad input was rejected, but not because of '$gate_pattern': $*"
        cat "$gate_log"
    fi
    gate_failed=$((gate_failed + 1))
}

done_gate() {
    echo "$gate_accepted checks of the tree, $gate_rejected bad inputs, $gate_failed failed"
    [ "$gate_rejected" -gt 0 ] || echo "FAILED: no bad input was tried"
    [ "$gate_failed" -eq 0 ] && [ "$gate_accepted" -gt 0 ] && [ "$gate_rejected" -gt 0 ]
    exit
}

# syntax COMPILER OPTION… -- FILE…: the files are correct. All in one process of clang, which takes longer to start than
# to read most of them; -### says how its driver would start it, and without -disable-free it gives back memory.
syntax() {
    options=
    while [ "$1" != -- ]; do
        options="$options '$1'"
        shift
    done
    shift
    case $options in
    " 'clang"*)
        options=$(eval "$options -### -fsyntax-only $1" 2>&1 |
            awk -v file=" \"$1\"" '/ "-cc1" / { sub(/ "-disable-free"/, ""); print substr($0, 1, length($0) - length(file)) }')
        ;;
    *) options="$options -fsyntax-only" ;;
    esac
    eval "$options \"\$@\""
}

# The headers below a folder, relative to it; own_headers leaves out those that include another library's
# (cmake/foreign.txt), core_headers those that layers.rules calls hosted.
headers() {
    (cd "$1" && find . -name '*.h' | sed 's,^\./,,' | sort)
}

own_headers() {
    headers "$1" | awk 'NR == FNR { if (!/^#/) place[$2]; next }
        { for (one in place) if (index($0, one ".") == 1 || index($0, one "/") == 1) next; print }' "$COLL_SOURCE/cmake/foreign.txt" -
}

# foreign_headers FOLDER COMMAND…: the command for each library of cmake/foreign.txt that is found, with the folder of its
# header and the headers below FOLDER that include it. What is not found is said; with COLL_REQUIRE_ALL=1 the gate fails.
foreign_headers() {
    foreign_below=$1
    shift
    grep -v '^#' "$COLL_SOURCE/cmake/foreign.txt" >"$gate_scratch/foreign"
    while read -r foreign_header foreign_place; do
        case $foreign_header in
        mpi.h) foreign_folders=${COLL_MPI_H:-none} ;;
        *) foreign_folders=$(echo "#include <$foreign_header>" | cc -E -x c - >/dev/null 2>&1 && echo /usr/include || echo none) ;;
        esac
        if [ "$foreign_folders" = none ]; then
            [ "${COLL_REQUIRE_ALL:-}" != 1 ] || missing "$foreign_header is not found"
            echo "not compiled: $foreign_place, as $foreign_header is not found"
            continue
        fi
        headers "$foreign_below" | grep "^$foreign_place[./]" >"$gate_scratch/foreign.headers"
        for foreign_folder in $foreign_folders; do
            # shellcheck disable=SC2046
            "$@" "$foreign_folder" $(cat "$gate_scratch/foreign.headers")
        done
    done <"$gate_scratch/foreign"
}

core_headers() {
    headers "$1/coll" | awk -v core=1 -f "$gate_rules/layers.awk" "$gate_rules/layers.rules" - | sed 's,^,coll/,'
}
