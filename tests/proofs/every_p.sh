#!/bin/sh
# Some families are proven for every number of ranks (docs/proofs.md): Coq accepts the proofs, nothing in them is
# assumed, and the schedules that they are about do what the library's do. With the argument `all`, all is compared.
set -u
source=${COLL_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$source/tests/support/missing.sh"
need coqc coq
need ocamlfind ocaml-findlib
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0

fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
    [ ! -s out ] || tail -n 20 out
}

# proves FILE: Coq accepts it.
proves() {
    coqc -q -R . CollProofs "$1.v" >out 2>&1
}

# compares ARGUMENT…: what the library does, as actions.c writes it, is what is proven.
compares() {
    ./actions "$@" | ./compare >out 2>&1
}

cp "$source"/tests/proofs/*.v "$source/tests/proofs/run/compare.ml" .
families='Ring Dissemination Doubling Binomial'
for file in Network Actions $families Extract; do
    proves $file || { fail "$file.v is not proven" && exit 1; }
done

# Of each theorem: what it rests on.
for file in Network Actions $families; do
    sed -n "s/^Theorem \([a-z_0-9]*\).*/Print Assumptions $file.\1./p" $file.v
done >theorems
{
    echo "From CollProofs Require Network Actions $families."
    cat theorems
} >Assumptions.v
proves Assumptions || fail 'the assumptions cannot be listed'
theorems=$(wc -l <theorems)
closed=$(grep -c '^Closed under the global context$' out)
[ "$theorems" -eq "$closed" ] && [ "$theorems" -ge 11 ] || fail "$theorems theorems, of which $closed assume nothing"

ocamlfind ocamlopt -w -a schedules.mli schedules.ml compare.ml -o compare >out 2>&1 ||
    { fail 'compare.ml is not compiled' && exit 1; }
"${COLL_CC:-cc}" -std=c99 -O1 -Wall -Wextra -I"$source/include" -I"$source/tests" "$source/tests/proofs/run/actions.c" \
    -o actions >out 2>&1 || { fail 'actions.c is not compiled' && exit 1; }
if [ "${1:-}" = all ]; then
    compares all || fail 'the library does something else'
else
    compares sample "${COLL_SEED:-1}" || fail 'the library does something else'
fi
cat out

# It would notice: another action of the library, another one of a schedule, an axiom.
[ $failed -eq 0 ] || exit 1
rows=$(grep -c ' programs and ' out)
row=0
while [ $row -lt "$rows" ]; do
    compares wrong $row && fail "another peer in row $row passes"
    grep -q 'p = 23, .*the library does' out || fail "another peer in row $row is not found"
    row=$((row + 1))
done
# changed FILE FROM TO: there is no proof of another schedule; FROM is a text of the file.
changed() {
    awk -v from="$2" -v to="$3" '{
        at = index($0, from)
        if (at) { $0 = substr($0, 1, at - 1) to substr($0, at + length(from)); found = 1 }
        print
    } END { exit !found }' "$1.v" >Changed.v || fail "$1.v has no '$2'"
    proves Changed && fail "$1.v is proven with $3 instead of $2"
}
changed Dissemination '(distance f s)) (Scratch, 1 + s)' '(distance f s)) (Scratch, 2 + s)'
changed Doubling '(In, 0) (sum m 0) true' '(In, 0) (sum m 0) false'
changed Ring 'minus p r (t + 2)' 'minus p r (t + 3)'
{
    cat Dissemination.v
    echo 'Axiom assumed : 0 = 1. Theorem nonsense : 1 = 0. Proof. symmetry. exact assumed. Qed.'
    echo 'Print Assumptions nonsense.'
} >Changed.v
{ proves Changed && grep -q '^assumed' out; } || fail 'an axiom is not seen'

echo "$theorems theorems, $failed failed"
[ $failed -eq 0 ]
