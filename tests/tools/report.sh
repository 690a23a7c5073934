#!/bin/sh
# coll report: one file that is XML, needs nothing else, and says what show, verify, model, sim and sweep say; bars in the
# order of times; a sentence for what cannot be.
coll=$COLL_COMMAND
sub=report
. "$(dirname "$0")/run/command.sh"
loggp=loggp:L=1us,o=200,g=300,G=0.5
cd "$scratch" || exit 1

# page ARGUMENT…: the command writes a page, page.html, with all sections, and nothing else.
page() {
    run 0 "$@" -o page.html || return
    [ ! -s out ] || fail "coll report $* prints besides"
    whole page.html "$@"
    for section in plan proof cost simulation comparison; do
        grep -q "^<section id=\"$section\">\$" page.html && grep -q "<a href=\"#$section\">" page.html ||
            fail "coll report $* has no section $section"
    done
}

# whole FILE …: it is XML, and asks for no other file.
whole() {
    if command -v xmllint >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
        xmllint --noout "$1" 2>err || fail "coll report $* writes no XML"
    fi
    ! grep -q '<script\|<link\|src=\|@import\|href="[^#]' "$1" || fail "coll report $* needs other files"
    grep -q '<title>' "$1" && grep -q '^</html>$' "$1" || fail "coll report $* is not whole"
}

# says WORDS: the page has this line, once its tags are gone.
says() {
    checks=$((checks + 1))
    sed 's/<[^>]*>/ /g; s/  */ /g; s/^ //; s/ $//; s/&amp;/\&/g; s/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g' page.html |
        grep -q -x -F -e "$1" || fail "the page does not say: $1"
}

# ---- what the other subcommands say ----------------------------------------------------------
page allreduce ring -p 6 -n 30 --model $loggp
says 'allreduce ring, 6 ranks'
says 'allreduce, ring: 6 ranks, 30 elements'
says "coll report allreduce ring -p 6 -n 30 --model $loggp -o page.html of $("$coll" --version)"
says 'traits needs-commutative, identical'
says 'header algos/ring.h, coll_ring_allreduce'
says "source $("$coll" list allreduce | grep -A 1 '^  ring ' | sed -n '2s/^ *//p')"
"$coll" show allreduce ring -p 6 -n 30 >shown
says "$(sed -n 's/^rounds  */rounds /p' shown)"
says "$(sed -n 's/^messages  */messages /p' shown)"
says 'step 0 send IN[25..29] to rank 1'
"$coll" show allreduce ring -p 6 -n 30 --svg shown.svg >/dev/null
sed 1d shown.svg >picture
checks=$((checks + 1))
grep -c -F -x -f picture page.html >lines
[ "$(cat lines)" -ge "$(wc -l <picture)" ] || fail 'the picture is another one'
plans=$("$coll" verify allreduce ring -p 1..8 | sed -n 's/^\([0-9]*\) plans of 1 line.*/\1/p')
checks=$((checks + 1))
grep -q "p = 1 to 8.*proven</span>: $plans plans, of up to 8 ranks" page.html || fail "not $plans plans"
"$coll" sim allreduce ring -p 6 -n 30 --model $loggp >simulated
says "$(sed -n 's/^makespan  */makespan /p' simulated)"
says "$(sed -n 's/^ranks end  */ranks end /p' simulated)"
says "$(sed -n 's/^messages  */messages /p' simulated)"
says "machine $(sed -n 2p simulated)"
formula=$("$coll" model $loggp P=6 n=240 | sed -n 's/^allreduce ring  *\([0-9.]*\) ns.*/\1/p')
checks=$((checks + 1))
grep -q "^<tr class=\"own\"><td>allreduce ring</td><td class=\"n\">$(awk "BEGIN { printf \"%g\", $formula / 1000 }")</td>" page.html ||
    fail "the formula does not say $formula ns"
# A bar for each that sweep simulates, with its time, the slowest last.
"$coll" sweep allreduce all -p 6 -n 30 --model $loggp >swept
sed -n 's/^<tr.*><td>\([a-z_]*\)<.td><td class="n">\([0-9.]*\)<.td><td><svg class="bar".*/\1 \2/p' page.html >bars
checks=$((checks + 1))
sed '1,2d; s/"[^"]*"//' swept | awk -F, '$11 == 1 && $2 !~ /^(shm|dpml|dpml_pipelined)$/ { printf "%s %.6g\n", $2, $12 }' | LC_ALL=C sort >wanted
LC_ALL=C sort bars | cmp -s - wanted || fail 'the bars are not what coll sweep says'
[ "$(cut -d' ' -f2 bars)" = "$(cut -d' ' -f2 bars | sort -g)" ] || fail 'the bars are in no order'
tail -n 1 bars | grep -q . && grep -q '<rect width="100.00" height="1"/>' page.html || fail 'no bar is full'
checks=$((checks + 1))
grep -q '<td>nothing reduces in this network: give it --memory' page.html || fail 'no refusal is told'
grep -q '>dpml<.th><td>it copies through the memory of a node, which takes no time here' page.html || fail 'copies are free'
[ "$(grep -c '<path class="line"' page.html)" -eq 5 ] || fail 'there are not five lines over sizes'
grep -q '>time, us</text>' page.html || fail 'an axis has no unit'

# The same page again, and on the standard output; whatever the number of processes.
cp page.html first
run 0 allreduce ring -p 6 -n 30 --model $loggp -o page.html --jobs 3
sed 's/ --jobs 3//' page.html | cmp -s - first || fail 'not the same page with three processes'
run 0 allreduce ring -p 6 -n 30 --model $loggp
sed 's/\(loggp:[^ <]*\)<.code> of/\1 -o page.html<\/code> of/' out | cmp -s - first || fail 'not the same page on the standard output'

# ---- other plans and machines ----------------------------------------------------------------
page bcast fnomial -p 32 --param f=4 --root 3 --topology mesh:4x8 --model $loggp
says 'f 4: degree of the tree: f-1 children a phase'
checks=$((checks + 1))
grep -q '>busiest links</th>' page.html || fail 'no link is told of'
page reduce fnomial -p 31 -n 1 --param f=4 --model moody:nic_f64_add
checks=$((checks + 1))
grep -q '^<tr class="own"><td>reduce fnomial</td><td class="n">28.94</td>' page.html || fail 'not the formula of Moody'
page allreduce dpml -p 8 --nodes 4 --prove 1..3
says 'machine loggp:L=1000,o=200,g=300,G=0.5,O=0,S=1e+18,c=0 shm:a=0.2us,b=0.1,a_fabric=2us,b_fabric=0.5 , an example: --model says another one'
! grep -q 'which takes no time' page.html || fail 'copies are free beside --memory'
page allreduce shm -p 4 --model $loggp --prove 1..3
says 'Copies through the memory of a node take no time on this machine: --memory shm:… says what they take.'
page barrier dissemination -p 5
says 'The model loggp has no formula for barrier; coll model lists those of all models.'
page bcast linear -p 1
page alltoallv pairwise -p 4 --prove 1..4
page neighbor_alltoall mesh_combining -p 9 --graph torus:3x3 --prove 1..4
page allreduce in_network -p 4 --prove 1..4
page bcast fnomial -p 2000 --prove 1..2 --jobs 2
says 'There is no picture: a picture shows at most 1024 ranks.'
# Names with what HTML has its own meaning for.
run 0 bcast linear -p 3 --model $loggp -o 'a<b>&"c".html'
cp 'a<b>&"c".html' page.html
whole page.html
says "coll report bcast linear -p 3 --model $loggp -o 'a<b>&\"c\".html' of $("$coll" --version)"

# ---- refusals --------------------------------------------------------------------------------
echo mine >kept
refuses 'COLLECTIVE is missing; coll report --help shows the usage'
refuses 'ALGORITHM is missing; coll report --help shows the usage' bcast
refuses '-p P, the number of ranks, is missing' bcast linear
refuses 'no/such.html cannot be written: No such file or directory' bcast linear -p 2 -o no/such.html
refuses 'allreduce ring is impossible: the algorithm reorders operands, so it needs a commutative operator' \
    allreduce ring -p 3 --non-commutative -o kept
refuses 'nothing reduces in this network: give it --memory shm:…,a_fabric=…, or a dpml with a_fabric' \
    allreduce in_network -p 4 --prove 1..2 --model $loggp -o kept
[ "$(cat kept)" = mine ] || fail 'a refusal changes a file'
done_checks
