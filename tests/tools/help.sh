#!/bin/sh
# The man page and the completions of the command have each subcommand and each option that --help has, are correct
# as far as tools can tell, and complete a subcommand, a collective, an algorithm, an option and a file.
coll=$COLL_COMMAND sub=
. "$COLL_SOURCE/tests/tools/run/command.sh"
LC_ALL=C.UTF-8 sh "$COLL_SOURCE/tools/help.sh" "$coll" "$scratch/help" >"$scratch/out" 2>"$scratch/err" || fail "tools/help.sh"
cd "$scratch/help" || exit 1

# says FILE PATTERN: a line of the file matches.
says() {
    checks=$((checks + 1))
    grep -q -e "$2" "$1" || fail "$1 does not have $2"
}

"$coll" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' >../verbs
[ "$(wc -l <../verbs)" -ge 12 ] || fail "coll --help names few subcommands"
while read -r verb; do
    says coll.1 "^\.B $verb\$"
    says coll.bash "^    $verb) options="
    says _coll "^    $verb)\$"
    says coll.fish "__fish_use_subcommand -a $verb "
    "$coll" "$verb" --help | sed -n 's/^  \(-[a-z], \)*--\([a-z-]*\).*/\2/p' >../options
    for option in $(cat ../options); do
        says coll.1 "^.fB.*\\\\-\\\\-$(echo "$option" | sed 's/-/\\\\-/g')\\\\fR"
        says coll.bash "^    $verb) options='[^']*--$option[ ']"
        says _coll "[ ,{']--$option[}[]"
        says coll.fish "__fish_seen_subcommand_from $verb' -l $option "
    done
done <../verbs

# has TOOL PACKAGE: it is installed; else that is said.
has() {
    command -v "$1" >/dev/null && return
    echo "skipped: $1 is not installed; on Debian: apt-get install $2"
    [ "${COLL_REQUIRE_ALL:-}" != 1 ] || failed=$((failed + 1))
    return 1
}

# completes SHELL WORDS WANTED: the last word is completed to this among others.
completes() {
    checks=$((checks + 1))
    case $1 in
    bash) bash -c '. ./coll.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _coll; printf "%s\n" "${COMPREPLY[@]}"' bash $2 ;;
    fish) fish --no-config -c 'source coll.fish; complete -C "'"$2"'"' ;;
    esac >../out 2>../err
    cut -f 1 ../out | grep -q -x -e "$3" || fail "$1 does not complete \"$2\" to $3"
}

for shell in bash fish; do
    has $shell $shell || continue
    completes $shell 'coll ver' verify
    completes $shell 'coll show allr' allreduce
    completes $shell 'coll show bcast fn' fnomial
    completes $shell 'coll sim -p 4 allreduce rin' ring
    completes $shell 'coll sim bcast ring --top' --topology
    completes $shell 'coll export js' json
    completes $shell 'coll select --table coll.f' coll.fish
done
if has zsh zsh; then
    checks=$((checks + 1))
    zsh -f -c 'compadd() { print -l -- "$@" }; _arguments() { print -l -- "$@"; _coll_algorithms }
        words=(coll show bcast f) CURRENT=4; source ./_coll' >../out 2>../err
    grep -q -e '--rank\[' ../out && grep -q -x fnomial ../out || fail "zsh does not complete coll show bcast"
fi

# A date would change with each build.
if has mandoc mandoc; then
    checks=$((checks + 1))
    mandoc -T lint -W warning coll.1 >../out 2>../err
    ! grep -v 'missing date' ../out || fail "mandoc complains"
fi
if command -v groff >/dev/null; then # with man-db
    checks=$((checks + 1))
    groff -man -ww -z -K utf8 coll.1 >../out 2>&1
    [ ! -s ../out ] || fail "groff complains"
fi
done_checks
