# What the tests of the command `coll` share: sourced with $coll, the command, and $sub, the subcommand whose
# arguments run and refuses are given, or nothing. Leaves $scratch, which is removed at the end.
set -u
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
checks=0 failed=0
said=coll${sub:+ $sub}

fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
    cat "$scratch/out" "$scratch/err"
}

# run CODE ARGUMENT…: the command ends with this code, and says something on stderr only if it is not 0,
# but for how far a proof has come, which it says where one takes long.
run() {
    code=$1
    shift
    checks=$((checks + 1))
    "$coll" ${sub:+"$sub"} "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    is=$?
    [ $is -eq "$code" ] || { fail "$said $* ends with $is instead of $code" && return 1; }
    [ "$code" -ne 0 ] || ! grep -v -q ' of [0-9]*, [0-9]* plans proven$\| of [0-9]* simulations$' "$scratch/err" || { fail "$said $* complains" && return 1; }
}

# does ARGUMENT…: the subcommand ends well, in two minutes; it may say on stderr how far it is.
does() {
    checks=$((checks + 1))
    timeout 120 "$coll" "$sub" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null ||
        { fail "$said $* ends with $?" && return 1; }
}

# has PATTERN FILE, in $scratch
has() {
    checks=$((checks + 1))
    grep -q -e "$1" "$scratch/$2" || fail "$2 has no $1"
}

# refuses SENTENCE ARGUMENT…: ends with 2, prints nothing, and says this one sentence; with a subcommand,
# behind its name.
refuses() {
    sentence=${sub:+$said: }$1
    shift
    run 2 "$@" || return
    [ ! -s "$scratch/out" ] || fail "$said $* prints something before it refuses"
    [ "$(cat "$scratch/err")" = "$sentence" ] || fail "$said $* does not say: $sentence"
}

done_checks() {
    echo "$checks checks, $failed failed"
    [ $failed -eq 0 ]
    exit
}
