#!/bin/sh
# coll show --svg and --pdf: a picture that is XML, has a line for each message and a label for each axis; and a sentence for what
# cannot be drawn.
coll=$COLL_COMMAND
sub=show
. "$(dirname "$0")/run/command.sh"
cd "$scratch" || exit 1

# draws DATA SUM TOKEN MEET ARGUMENT…: a picture of so many messages, combined ones, notifications, and ranks that meet.
draws() {
    wanted="$1 $2 $3 $4"
    shift 4
    run 0 "$@" --svg picture.svg || return
    is=''
    for class in data sum token; do
        is="$is$(grep -c "<path class=\"$class\" d=\"[^h]*L" picture.svg) "
    done
    is="$is$(grep -c '<circle class="meet".*r="3"/>' picture.svg)"
    [ "$is" = "$wanted" ] || fail "coll show $* draws $is instead of $wanted"
    if command -v xmllint >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
        xmllint --noout picture.svg 2>err || fail "coll show $* draws no XML"
    fi
    grep -q '>rank</text>' picture.svg && grep -q '>round (a rank sends' picture.svg || fail 'an axis has no label'
}

draws 15 15 0 0 allreduce fnomial -p 16
draws 15 0 0 0 bcast kary -p 16
draws 0 0 24 0 barrier dissemination -p 8
draws 0 0 0 0 bcast linear -p 1
# Ranks that meet, and the dot of the legend.
draws 0 0 0 9 allreduce in_network -p 8
draws 0 10240 0 0 allreduce recursive_doubling -p 1024
grep -q '>allreduce recursive_doubling, 1024 ranks</text>' picture.svg || fail 'no title'
[ "$(grep -c 'text-anchor="end"' picture.svg)" -eq 32 ] || fail 'not every 32nd rank has a label'
# The text is the same with a picture as without.
run 0 allreduce ring -p 6 --svg picture.svg
cp out with
run 0 allreduce ring -p 6
cmp -s out with || fail 'a picture changes the text'
# A message goes from its sender's row to its receiver's, in its round: rows of 28, rounds of 90 pixels.
run 0 bcast linear -p 3 --svg picture.svg
grep -q '<path class="data" d="M73.0 70.0L145.0 98.0" marker-end="url(#a)"/>' picture.svg || fail 'rank 0 sends to rank 1'
grep -q '<path class="data" d="M163.0 70.0L235.0 126.0" marker-end="url(#a)"/>' picture.svg || fail 'rank 0 sends to rank 2'
refuses 'a picture shows at most 1024 ranks, not 1025' bcast linear -p 1025 --svg picture.svg
refuses 'there is too much to show, more than 131072 messages: show fewer ranks or segments' alltoall pairwise -p 400 --svg picture.svg
refuses 'reductions by the network are drawn for at most 64 ranks, not 65' allreduce in_network -p 65 --svg picture.svg
refuses '--svg writes a file, not "-"' bcast linear -p 3 --svg -
if command -v rsvg-convert >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    run 0 allreduce ring -p 6 --pdf picture.pdf
    cmp -s out with || fail 'a picture as PDF changes the text'
    [ "$(head -c 5 picture.pdf)" = %PDF- ] && tail -c 8 picture.pdf | grep -q '%%EOF' || fail 'no PDF'
    run 0 bcast linear -p 3 --svg picture.svg --pdf picture.pdf
fi
mkdir empty
echo mine >kept.pdf
(PATH=$scratch/empty && run 2 bcast linear -p 3 --pdf kept.pdf)
[ "$(cat err)" = 'coll show: rsvg-convert, which makes PDF of pictures, is missing; on Debian: apt-get install librsvg2-bin; --svg FILE needs nothing' ] ||
    fail 'it is not said that rsvg-convert is missing'
[ "$(cat kept.pdf)" = mine ] || fail 'a file is lost where rsvg-convert is missing'
refuses '--pdf writes a file, not "-"' bcast linear -p 3 --pdf -
refuses '--svg and --pdf write different files, not both a.pdf' bcast linear -p 3 --svg a.pdf --pdf a.pdf
refuses 'no/such.svg cannot be written: No such file or directory' bcast linear -p 3 --svg no/such.svg
done_checks
