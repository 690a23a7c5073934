#!/bin/sh
# Documents say what is true.
#   - The table of algorithms is what `coll list --markdown` prints.
#   - Each C or C++ program compiles and runs; each command is run, and what is shown below one is what it prints, but for
#     times. A line of nothing but … stands for any number of lines.
#   - What stands below <!-- from PATH --> stands in that file; the commands below <!-- run by PATH --> are that test's.
#   - Links lead to files and headings; prose has at most 100 columns, the README at most 150 lines.
. "$(dirname "$0")/gate.sh"

check_table() {
    sed -n '/^<!-- coll list --markdown -->$/,/^<!-- end -->$/p' "$1" | sed '1d;$d' >table
    "$COLL_COMMAND" list --markdown >list
    [ -s list ] && diff table list || { echo "the table of algorithms is not that of coll list --markdown"; return 1; }
}

# ---- programs, commands and quotations --------------------------------------------------------------

# same SHOWN PRINTED [loose]: its lines, in order, where … is passed over; with `loose`, spaces before a line do not count.
same() {
    awk -v loose="${3:-}" '
        function clean(line) {
            sub(/ +$/, "", line)
            sub(/^simulated .*/, "simulated", line)
            gsub(/[0-9.]+ m?s$/, "s", line)
            gsub(/(in|IN) [0-9.]+ m?s( |$)/, "in s ", line)
            sub(/ [0-9.]+  proven$/, "  proven", line)
            sub(/ [0-9.]+  FAILED$/, "  FAILED", line)
            if (loose)
                sub(/^ +/, "", line)
            return line
        }
        FNR == NR { shown[++n] = clean($0); next }
        { printed[++m] = clean($0) }
        END {
            while (m > 0 && printed[m] == "") m--
            while (n > 0 && shown[n] == "") n--
            exit !match_from(1, 1, loose)
        }
        # shown from i on is printed from j on, or, with `later`, from some line behind it
        function match_from(i, j, later,    k, l) {
            for (; j <= m + 1; j++) {
                k = i
                l = j
                while (k <= n && shown[k] !~ /^ *…$/ && l <= m && shown[k] == printed[l]) {
                    k++
                    l++
                }
                if (k > n && (loose || l > m)) return 1
                if (k <= n && shown[k] ~ /^ *…$/) return match_from(k + 1, l, 1)
                if (!later) return 0
            }
            return 0
        }' "$1" "$2"
}

# compile COMPILER PROGRAM LIBRARY…
compile() {
    compiler=$1 program=$2
    shift 2
    "$compiler" -Wall -Wextra -Iinclude "$program" -o program "$@" && timeout 60 ./program >/dev/null </dev/null
}

# The program that no command has compiled.
compile_pending() {
    [ -z "$pending" ] || compile "$compiler_of_pending" "$pending" -pthread ||
        { echo "$document:$pending_line: the program does not work"; bad=1; }
    pending=
}

run_command() {
    command=$(sed 's/   *#.*//' "$1")
    for word in $command; do
        case $word in
        *.c | *.cc | *.cpp) [ -e "$word" ] || [ -z "$pending" ] || { cp "$pending" "$word" && pending=; } ;;
        esac
    done
    case $command in
    *mpiexec*) return 0 ;; # mpi/tests
    *--plot* | */plot*) command -v gnuplot >/dev/null || { echo "not run, as gnuplot is missing: $command"; return 0; } ;;
    *'dot -T'*) command -v dot >/dev/null || { echo "not run, as dot is missing: $command"; return 0; } ;;
    esac
    fails=; [ "$3" = - ] || fails=$(grep -c 'FAILED$' "$3")
    timeout 120 sh -c "$command" >out 2>err </dev/null || [ "${fails:-0}" -gt 0 ] ||
        { echo "$document:$2: fails: $command"; cat out err; return 1; }
    [ "$3" = - ] || same "$3" out && return
    if sort "$3" >shown.sorted && sort out >out.sorted && same shown.sorted out.sorted; then
        return # of ranks that come in any order
    fi
    echo "$document:$2: not the output of: $command"
    diff "$3" out
    return 1
}

# check_document FILE: in a folder that looks like the tree after it was built, with the tree beside it in ../coll.
check_document() {
    document=${1#"$COLL_SOURCE/"}
    rm -rf "$gate_scratch/here"
    mkdir "$gate_scratch/here"
    for entry in "$COLL_SOURCE"/*; do
        [ "${entry##*/}" = build ] || ln -s "$entry" "$gate_scratch/here"
    done
    ln -s "$COLL_BUILD" "$gate_scratch/here/build"
    cp "$gate_scratch/my.table" "$gate_scratch/here"
    (
        cd "$gate_scratch/here" || exit 1
        awk -f "$gate_rules/documents.awk" "$1" >items
        bad=0 pending=
        while read -r kind file line rest; do
            case $kind in
            quote)
                [ -f "$COLL_SOURCE/$rest" ] && same "$file" "$COLL_SOURCE/$rest" loose ||
                    { echo "$document:$line: this is not in $rest"; bad=1; } ;;
            c | c++)
                compile_pending
                if grep -q '\<main(' "$file"; then
                    pending_line=$line compiler_of_pending=cc pending=program.c
                    [ "$kind" = c ] || { compiler_of_pending=c++ pending=program.cc; }
                    cp "$file" "$pending"
                else
                    echo "$document:$line: no program, and not <!-- from PATH -->"
                    bad=1
                fi ;;
            test) [ -f "$COLL_SOURCE/$rest" ] || { echo "$document:$line: there is no test $rest"; bad=1; } ;;
            make)
                grep -q "^$rest:" Makefile || { echo "$document:$line: the Makefile has no $rest"; bad=1; } ;;
            run) run_command "$file" "$line" "$rest" || bad=1 ;;
            esac
        done <items
        compile_pending
        exit $bad
    )
}

# ---- links and columns ------------------------------------------------------------------------------

# Prose alone: without code, tables and what is generated.
prose() {
    awk '/^```/ { fence = !fence; next } /^<!-- coll list/ { made = 1 } /^<!-- end -->/ { made = 0 }
        !fence && !made && !/^    / && !/^\|/ { print FNR ":" $0 }' "$1"
}

check_columns() {
    ! prose "$1" | sed 's/[\x80-\xBF]//g' | awk -v name="${1#"$COLL_SOURCE/"}" '
        { line = $0; sub(/^[0-9]+:/, "", line) }
        length(line) > 100 { sub(/:.*/, ""); print name ":" $0 ": " length(line) " columns, more than 100" }' | grep .
}

# The anchors of a document's headings, as GitHub makes them.
anchors() {
    awk '/^```/ { fence = !fence } !fence && /^#+ / {
        sub(/^#+ +/, ""); gsub(/\]\([^)]*\)/, ""); $0 = tolower($0)
        gsub(/[^a-z0-9 _\200-\377-]/, ""); gsub(/\342\200[\220-\257]/, ""); gsub(/ /, "-"); print }' "$1"
}

check_links() {
    awk '/^```/ { fence = !fence } !fence && !/^    /' "$1" | grep -o -E '\]\([^) ]+\)' | sed 's/^](//; s/)$//' |
        grep -v '^[a-z]*:' | sort -u | while read -r link; do
        file=${link%%#*} anchor=
        case $link in *'#'*) anchor=${link#*#} ;; esac
        [ -z "$file" ] && file=$1 || file=$(dirname "$1")/$file
        if [ ! -e "$file" ]; then
            echo "${1#"$COLL_SOURCE/"} links to ${link%%#*}, which does not exist"
        elif [ -n "$anchor" ] && ! anchors "$file" | grep -q -x -e "$anchor"; then
            echo "${1#"$COLL_SOURCE/"} links to $link, a heading that does not exist"
        fi
    done >found
    cat found
    [ ! -s found ]
}

check_length() {
    [ "$(wc -l <"$1")" -le 150 ] || { echo "${1##*/} has $(wc -l <"$1") lines; at most 150"; return 1; }
}

# ---- all of them ------------------------------------------------------------------------------------

[ -x "$COLL_COMMAND" ] || missing 'the command coll was not built'
ln -s "$COLL_SOURCE" "$gate_scratch/coll"
mkdir bin && printf '#!/bin/sh\nexec %s "$@"\n' "$COLL_CC" >bin/cc && chmod +x bin/cc
export PATH="$gate_scratch/bin:$COLL_BUILD:$PATH"
sed -n '/^    # collectives /,/^$/p' "$COLL_SOURCE/docs/selection.md" >my.table # what the documents call so

accept check_table "$COLL_SOURCE/docs/algorithms.md"
accept check_length "$COLL_SOURCE/README.md"
for document in "$COLL_SOURCE"/*.md "$COLL_SOURCE"/docs/*.md "$COLL_SOURCE"/docs/internals/*.md "$COLL_SOURCE"/tests/mutation/*.md; do
    accept check_links "$document"
    case $document in
    */tests/*) continue ;;
    esac
    accept check_columns "$document"
    accept check_document "$document"
done

bad=$gate_bad/readme
reject 'table of algorithms' check_table "$bad/bad.md"
reject 'bad.md:3: not the output of' check_document "$bad/bad.md"
reject 'bad.md:7: the program does not work' check_document "$bad/bad.md"
reject 'not the output of' check_document "$bad/unmarked.md"
reject 'below.md:3: fails: build/coll nothing' check_document "$bad/below.md"
reject 'below.md:8: no program, and not' check_document "$bad/below.md"
reject 'below.md:13: this is not in include/coll/types.h' check_document "$bad/below.md"
reject 'below.md:17: the Makefile has no prove' check_document "$bad/below.md"
reject 'below.md:33: there is no test tests/nowhere.sh' check_document "$bad/below.md"
reject 'below.md:27: not the output of: ./sum' check_document "$bad/below.md"
reject 'links.md links to nowhere.md, which' check_links "$bad/links.md"
reject 'links.md links to bad.md#nothing, a heading' check_links "$bad/links.md"
reject 'links.md links to #nothing-either, a heading' check_links "$bad/links.md"
reject 'links.md:6: 101 columns' check_columns "$bad/links.md"
yes 'A line.' | head -n 151 >long.md
reject 'has 151 lines' check_length long.md
done_gate
