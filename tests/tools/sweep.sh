#!/bin/sh
# coll sweep: lines in an order that no number of processes changes, the same numbers as coll sim, means and intervals,
# a file that goes on where it ended, and a sentence for everything that is wrong.
coll=$COLL_COMMAND
sub=sweep
. "$(dirname "$0")/run/command.sh"
loggp=loggp:L=1us,o=200,g=300,G=0.5
noise=noise:frequency=10000,duration=5us
cd "$scratch" || exit 1

# ---- lines -----------------------------------------------------------------------------------
run 0 bcast fnomial,linear -p 4,6 -n 1..4 --param f=2,3 --model $loggp --jobs 1
cp out one
# With a line of what is refused, each combination has one, in the order of the axes.
wanted='fnomial,f=2,4,1 fnomial,f=2,4,2 fnomial,f=2,4,4 fnomial,f=2,6,1 fnomial,f=2,6,2 fnomial,f=2,6,4
fnomial,f=3,4,1 fnomial,f=3,4,2 fnomial,f=3,4,4 fnomial,f=3,6,1 fnomial,f=3,6,2 fnomial,f=3,6,4
linear,,4,1 linear,,4,2 linear,,4,4 linear,,6,1 linear,,6,2 linear,,6,4'
checks=$((checks + 1))
[ "$(sed '1,2d; s/"[^"]*"//' one | cut -d, -f2,3,8,9 | tr '\n' ' ')" = "$(echo "$wanted" | tr '\n' ' ')" ] ||
    fail 'the lines have another order'
run 0 bcast fnomial,linear -p 4,6 -n 1..4 --param f=2,3 --model $loggp --jobs 7
cmp -s out one || fail '7 processes print something else than one'
# What coll sim says of each.
while IFS=, read -r algorithm parameter p n us; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086
    "$coll" sim bcast "$algorithm" ${parameter:+--param $parameter} -p "$p" -n "$n" --model $loggp >simulated
    grep -q -x -F "makespan   $us us" simulated || fail "coll sim says something else of $algorithm $parameter $p $n"
done <<END
$(sed '1,2d; s/"[^"]*"//' one | cut -d, -f2,3,8,9,12)
END
# All algorithms of a collective, those that are refused too.
run 0 allreduce all -p 6 --model $loggp
[ "$(wc -l <out)" -eq $(($("$coll" list --markdown | grep -c '^| allreduce ') + 2)) ] || fail 'not all algorithms of allreduce'
has ',0,,,,,,,"nothing reduces in this network: give it --memory shm:…,a_fabric=…, or a dpml with a_fabric"$' out
run 0 barrier dissemination -p 2..64 -n 1..1k --model $loggp
[ "$(wc -l <out)" -eq 8 ] || fail 'a barrier has counts'
run 0 allgather ring -p 4..12+4 --model $loggp --topology mesh:3x4 --topology torus:3x4
[ "$(sed 1,2d out | cut -d'"' -f3 | cut -d, -f2,5 | tr '\n' ' ')" = 'mesh:3x4,4 mesh:3x4,8 mesh:3x4,12 torus:3x4,4 torus:3x4,8 torus:3x4,12 ' ] ||
    fail 'two topologies of three sizes are other lines'

# ---- means -----------------------------------------------------------------------------------
# Mean, least and most of four seeds, and half of an interval of 3.1824 standard errors, of three degrees of freedom.
run 0 allreduce ring -p 16 -n 1k --model $loggp --noise $noise --seeds 4 --seed 7
cp out four
for seed in 7 8 9 10; do
    "$coll" sim allreduce ring -p 16 -n 1k --model $loggp --noise $noise --seed $seed | sed -n 's/^makespan   \(.*\) us$/\1/p'
done >makespans
checks=$((checks + 1))
sed '1,2d; s/"[^"]*"//g' four | cut -d, -f11-15 | tr , ' ' | cat makespans - | awk '
    NF == 1 { n++; sum += $1; x[n] = $1; if (n == 1 || $1 < least) least = $1; if ($1 > most) most = $1 }
    NF == 5 {
        mean = sum / n
        for (i = 1; i <= n; i++) squares += (x[i] - mean) ^ 2
        half = 3.1824 * sqrt(squares / (n - 1)) / sqrt(n)
        bad = half <= 0 || $1 != n || ($2 / mean - 1) ^ 2 > 1e-14 || ($3 / half - 1) ^ 2 > 1e-6 || ($4 - least) ^ 2 > 1e-12 || ($5 - most) ^ 2 > 1e-12
    }
    END { exit bad || n != 4 || half == 0 }' || fail 'not the mean of four seeds, or not its interval'

# ---- a file ----------------------------------------------------------------------------------
set -- bcast fnomial,linear -p 4..16 -n 1..8 --model $loggp --noise $noise --seeds 2
run 0 "$@"
cp out wanted
run 0 "$@" -o whole
cmp -s whole wanted || fail '-o writes something else'
[ ! -s out ] || fail '-o prints, too'
# However much of it is there, it becomes the same file.
size=$(wc -c <wanted)
for bytes in 0 1 100 300 $((size / 2)) $((size - 1)) "$size"; do
    head -c "$bytes" wanted >part
    run 0 "$@" -o part
    cmp -s part wanted || fail "a file of $bytes bytes is not continued"
done
# What is there stays: a number that the simulator would not say.
sed '3s/,2,[0-9.]*,/,2,77,/; 5,$d' wanted >part
run 0 "$@" -o part
[ "$(cut -d, -f1-30 part | sed -n 4,99p)" = "$(sed -n 4,99p wanted)" ] && grep -q ',2,77,' part || fail 'lines that were there are written again'
another='holds something else than this sweep, which its first line would say: name another file, or remove it'
refuses "whole $another" bcast fnomial -p 4..16 -n 1..8 --model $loggp -o whole
cmp -s whole wanted || fail 'a refusal changes the file'
echo 'my diary' >diary
refuses "diary $another" "$@" -o diary
sed '4s/fnomial/linear/' wanted >part
refuses 'line 4 of part is not what this sweep writes there: name another file, or remove it' "$@" -o part
cat wanted wanted >part
refuses 'line 27 of part is not what this sweep writes there: name another file, or remove it' "$@" -o part
refuses 'no/such cannot be written: No such file or directory' "$@" -o no/such
if [ -w /dev/full ]; then
    "$coll" sweep "$@" >/dev/full 2>err
    [ $? -ne 0 ] && grep -q 'could not be written\|cannot be written' err || fail 'a full disk goes unnoticed'
fi

# ---- a picture -------------------------------------------------------------------------------
if command -v gnuplot >/dev/null 2>&1 || [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
    run 0 bcast fnomial,linear -p 4..16 -n 8 --param f=2,3 --model $loggp --plot picture.svg
    grep -q '<svg' picture.svg && grep -q 'fnomial f=3' picture.svg && grep -q 'time, us' picture.svg || fail 'not the picture'
    run 0 bcast fnomial -p 16 -n 8 --param f=2..16 --model $loggp -o over_f --plot picture.svg
    cp picture.svg first.svg
    run 0 bcast fnomial -p 16 -n 8 --param f=2..16 --model $loggp -o over_f --plot picture.svg
    cmp -s picture.svg first.svg || fail 'what is read again is drawn in another way'
fi
refuses '--plot draws over ranks or over counts: give -p or -n one number' bcast linear -p 2,4 -n 1,2 --model $loggp --plot a.svg
refuses '--plot draws over ranks, counts or a parameter: give one of -p, -n and --param several numbers' \
    bcast linear -p 2 -n 1 --model $loggp --plot a.svg
refuses 'nobody reads a picture of more than 8 lines: give fewer algorithms, parameters or machines' \
    allreduce -p 2,4 --model $loggp --plot a.svg
refuses "a picture's name ends with .svg, .pdf or .png, not \"a.gif\"" bcast linear -p 2,4 --model $loggp --plot a.gif

# ---- a table ---------------------------------------------------------------------------------
run 0 bcast fnomial,linear -p 4,6 -n 1,1k --param f=2,3 --model $loggp -o whole.csv --table
[ "$(wc -l <out)" -eq 5 ] && [ "$(grep -o '[*]' out | wc -l)" -ge 4 ] || fail 'not a table of three rows'
has '^ *ranks  *4  *4  *6  *6$' out
has '^ *elements  *1  *1024  *1  *1024$' out
cp out table
run 0 bcast fnomial,linear -p 4,6 -n 1,1k --param f=2,3 --model $loggp --table
cmp -s out table || fail 'the table is another one without --output'
# Its numbers are those of the CSV, to four digits, and the least of each column is marked.
checks=$((checks + 1))
sed '1,2d; s/"[^"]*"//' whole.csv | cut -d, -f2,3,8,9,12 | awk -F, '
    NR == FNR { at = $1 ($2 == "" ? "" : " " $2); us[at, ++n[at]] = $5; next }
    FNR > 2 {
        gsub(/[*]/, " *")
        split($0, words, " +")
        at = words[1] (words[2] ~ /=/ ? " " words[2] : "")
        k = 0
        for (i = words[2] ~ /=/ ? 3 : 2; i in words; i++)
            if (words[i] == "*")
                marked[k] = shown[k, at]
            else {
                k++
                shown[k, at] = words[i]
                if ((words[i] / us[at, k] - 1) ^ 2 > 1e-6) bad = 1
                if (!(k in least) || words[i] + 0 < least[k] + 0) least[k] = words[i]
            }
        if (k != 4) bad = 1
    }
    END { for (k = 1; k <= 4; k++) if (marked[k] != least[k]) bad = 1; exit bad }' - table || fail 'the table has other numbers than the CSV'
run 0 allreduce ring,in_network -p 4 --model $loggp --table
has '^in_network *-$' out
refuses 'nobody reads a table of more than 12 columns: give shorter grids to -p and -n' bcast linear -p 4 -n 1..4096 --model $loggp --table

# ---- what is wrong ---------------------------------------------------------------------------
grid='is a grid of numbers from 1 to 4294967295 such as 1,3,16..64 (the double one each time) or 4..20+4, not'
refuses 'COLLECTIVE,… is missing; coll sweep --help shows the usage'
refuses '-p P, the numbers of ranks, is missing: -p 16..1024' bcast linear --model $loggp
refuses "-p $grid \"0\"" bcast linear -p 0 --model $loggp
refuses "-p $grid \"4,,5\"" bcast linear -p 4,,5 --model $loggp
refuses "-p $grid \"8..4\"" bcast linear -p 8..4 --model $loggp
refuses "-p $grid \"4..8+0\"" bcast linear -p 4..8+0 --model $loggp
refuses '-p has 8 twice in "4..16,8"' bcast linear -p 4..16,8 --model $loggp
refuses '--model is missing: hockney, loggp, plogp, nbl, moody, dpml, or @FILE of coll calibrate; coll model explains them' bcast linear -p 4
refuses 'beta of hockney is missing: beta=… is the transfer of a byte, in ns/byte' bcast linear -p 4 --model hockney:alpha=1us
refuses 'there is no collective "bcst"; did you mean "bcast"?' bcst linear -p 4 --model $loggp
refuses '--param is NAME=VALUES such as k=2,4 or k=2..16, not "k"' bcast linear -p 4 --model $loggp --param k
refuses 'none of the algorithms has a parameter k; coll list COLLECTIVE ALGORITHM tells which it has' \
    bcast linear -p 4 --model $loggp --param k=2
refuses 'nothing is random here, so all --seeds give the same: give --noise or --skew' bcast linear -p 4 --model $loggp --seeds 3
refuses "--model $loggp is given twice" bcast linear -p 4 --model $loggp --model $loggp
# Nothing can be simulated: that is said, beside the lines.
run 2 allreduce in_network -p 4 --model $loggp
[ "$(cat err)" = 'coll sweep: no combination can be simulated; the last column says why' ] || fail 'nothing is not enough'
done_checks
