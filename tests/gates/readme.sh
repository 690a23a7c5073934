#!/bin/sh
# Documents say what the command says: the table of algorithms is what `coll list --markdown` prints, and below a
# `build/coll …`, with $ or without, stands the output of just that, but for what a simulation took. The README's C
# program compiles, runs and prints no error.
. "$(dirname "$0")/gate.sh"

check_table() {
    sed -n '/^<!-- coll list --markdown -->$/,/^<!-- end -->$/p' "$1" | sed '1d;$d' >table
    "$COLL_COMMAND" list --markdown >list
    [ -s list ] && diff table list || { echo "the table of algorithms is not that of coll list --markdown"; return 1; }
}

# Commands that stand alone or last above an empty line and an indented block, and that block, up to the next line of text.
check_outputs() {
    awk '/^    / && empty && !/^    (\$ )?build\/coll / { print command }
        { empty = /^$/ && command != "" && !empty }
        !empty { command = /^    (\$ )?build\/coll / ? $0 : "" }' "$1" >commands
    [ -s commands ] || { echo "no command with its output"; return 1; }
    while IFS= read -r line; do
        # shellcheck disable=SC2086
        "$COLL_COMMAND" ${line#*build/coll } | sed 's/ *$//; s/^simulated .*/simulated/' >wanted
        awk -v line="$line" '
            shown && /^[^ ]/ { exit }
            shown { sub(/^    /, ""); sub(/^simulated .*/, "simulated"); print }
            $0 == line { shown = 1; getline }' "$1" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >printed
        diff printed wanted || { echo "not the output of:$line"; return 1; }
    done <commands
}

check_program() {
    sed -n '/^```c$/,/^```$/p' "$1" | sed '1d;$d' >program.c
    [ -s program.c ] && "$COLL_CC" -Wall -Wextra -I"$COLL_SOURCE/include" program.c -pthread -o program &&
        ./program >output && grep -q done output || { echo "the program does not work"; return 1; }
}

[ -x "$COLL_COMMAND" ] || missing 'the command coll was not built'
accept check_table "$COLL_SOURCE/docs/algorithms.md"
for document in README docs/selection docs/models; do
    accept check_outputs "$COLL_SOURCE/$document.md"
done
accept check_program "$COLL_SOURCE/README.md"
reject 'table of algorithms' check_table "$gate_bad/readme/bad.md"
reject 'not the output of' check_outputs "$gate_bad/readme/bad.md"
reject 'not the output of' check_outputs "$gate_bad/readme/unmarked.md"
reject 'does not work' check_program "$gate_bad/readme/bad.md"
done_gate
