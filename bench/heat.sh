#!/bin/sh
# bench/heat.sh — draws heat maps: a row a collective, a column a size, in each cell its ratio
#
#   bench/heat.sh PICTURE COLUMNS TITLE <<CSV
#   processes,allreduce,8,1.92
#   CSV
#
# A line is MAP,ROW,BYTES,RATIO; one without a ratio is left out. Maps stand beside each other, COLUMNS in a line; they and the rows
# keep the order of their first lines. The colour is the ratio's logarithm: white is 1, the darkest blue 4 or more, the
# darkest red 1/4 or less. Writes PICTURE.gnuplot and, by gnuplot, PICTURE.svg and PICTURE.pdf.
set -eu
[ $# -eq 3 ] || { echo "usage: bench/heat.sh PICTURE COLUMNS TITLE <CSV" >&2; exit 2; }

awk -F, -v picture="$1" -v columns="$2" -v title="$3" '
    function quoted(text) { gsub(/\047/, "\047\047", text); return "\047" text "\047" }
    function size(bytes) {
        if (bytes == 0) return "no data"
        if (bytes % 1048576 == 0) return bytes / 1048576 " MiB"
        return bytes % 1024 == 0 ? bytes / 1024 " KiB" : bytes " B"
    }
    function number(ratio) { return sprintf(ratio < 9.995 ? "%.2f" : ratio < 99.95 ? "%.1f" : "%.0f", ratio) }
    NF != 4 || ($4 != "" && $4 !~ /^[0-9.]+(e[-+][0-9]+)?$/) {
        print "bench/heat.sh: line " NR " is no MAP,ROW,BYTES,RATIO: " $0 > "/dev/stderr"
        exit broken = 2
    }
    $4 != "" && $4 > 0 {
        if (!($1 in map)) maps[map[$1] = n_maps++] = $1
        if (!($2 in row)) rows[row[$2] = n_rows++] = $2
        if (!($3 in column)) { column[$3]; sizes[n_sizes++] = $3 }
        ratio[map[$1], row[$2], $3] = $4
    }
    END {
        if (broken) exit broken
        if (!n_maps) { print "bench/heat.sh: no line has a ratio" > "/dev/stderr"; exit 2 }
        for (i = 1; i < n_sizes; i++) # by size
            for (j = i; j > 0 && sizes[j - 1] + 0 > sizes[j] + 0; j--) { at = sizes[j]; sizes[j] = sizes[j - 1]; sizes[j - 1] = at }
        for (i = 0; i < n_rows; i++) if (length(rows[i]) > longest) longest = length(rows[i])
        if (columns > n_maps) columns = n_maps
        lines = int((n_maps + columns - 1) / columns)
        left = 7 * longest + 24; cell_x = 52; cell_y = 19; gap_x = 16; gap_y = 64; top = 40; bottom = 62 # pixels
        wide = left + columns * (n_sizes * cell_x + gap_x); high = top + lines * (n_rows * cell_y + gap_y) + bottom
        if (wide < 900) wide = 900
        print "set encoding utf8\nset datafile separator whitespace\nset style fill solid noborder\nunset key"
        for (m = 0; m < n_maps; m++) { # column, row, logarithm of the colour, colour of the number, number
            print "$map" m " << END"
            for (r = 0; r < n_rows; r++)
                for (s = 0; s < n_sizes; s++)
                    if ((m, r, sizes[s]) in ratio) {
                        x = ratio[m, r, sizes[s]]; y = log(x) / log(2)
                        y = y > 2 ? 2 : y < -2 ? -2 : y
                        print s, r, sprintf("%.4f", y), (y * y > 1.9 ? 16777215 : 0), number(x)
                    }
            print "END"
        }
        print "set palette defined (-2 \"#b2182b\", -1 \"#f4a582\", 0 \"#ffffff\", 1 \"#92c5de\", 2 \"#2166ac\")"
        printf "set cbrange [-2:2]\nset xrange [-0.5:%g]\nset yrange [%g:-0.5]\n", n_sizes - .5, n_rows - .5
        printf "set xtics scale 0 ("
        for (s = 0; s < n_sizes; s++) printf "%s%s %d", s ? ", " : "", quoted(size(sizes[s])), s
        print ")\nset cbtics (\"1/4 or less\" -2, \"1/2\" -1, \"1\" 0, \"2\" 1, \"4 or more\" 2)"
        print "set object 1 rectangle from graph 0,0 to graph 1,1 behind fillcolor \"#dddddd\""
        print "do for [kind in \"svg pdf\"] {"
        printf "if (kind eq \"svg\") { set terminal svg size %d,%d background \"white\" font \"sans,11\" noenhanced }\n", wide, high
        printf "else { set terminal pdfcairo size %.2f,%.2f background \"white\" font \"sans,9.5\" noenhanced }\n", wide / 100, high / 100
        print "set output " quoted(picture ".") ".kind\nset multiplot"
        for (m = 0; m < n_maps; m++) {
            x = left + m % columns * (n_sizes * cell_x + gap_x)
            y = high - top - int(m / columns) * (n_rows * cell_y + gap_y) - 20
            printf "set lmargin at screen %.5f\nset rmargin at screen %.5f\n", x / wide, (x + n_sizes * cell_x) / wide
            printf "set tmargin at screen %.5f\nset bmargin at screen %.5f\n", y / high, (y - n_rows * cell_y) / high
            if (m == 0) {
                printf "set label 1 %s at screen 0.5,%.5f center font \",13\"\n", quoted(title), 1 - 18 / high
                printf "set colorbox horizontal user origin screen %.5f,%.5f size screen %.5f,%.5f\n", left / wide, 40 / high, 300 / wide, 12 / high
                print "set cblabel \"times as fast\" offset 0,0.6"
                printf "set label 2 \"Sizes: bytes of the vector, or of one block. Grey: not measured.\" at screen %.5f,%.5f\n", (left + 400) / wide, 46 / high
            }
            printf "set title %s offset 0,-0.6\n", quoted(maps[m])
            if (m % columns)
                print "unset ytics"
            else {
                printf "set ytics scale 0 ("
                for (r = 0; r < n_rows; r++) printf "%s%s %d", r ? ", " : "", quoted(rows[r]), r
                print ")"
            }
            printf "plot $map%d using 1:2:(0.5):(0.5):3 with boxxyerror fc palette, \"\" using 1:2:5:4 with labels tc rgb variable\n", m
            if (m == 0) print "unset label\nunset colorbox"
        }
        print "unset multiplot\n}"
    }' >"$1.gnuplot"

command -v gnuplot >/dev/null || { echo "no picture, only its script $1.gnuplot: gnuplot is missing (apt-get install gnuplot-nox)"; exit 0; }
gnuplot "$1.gnuplot"
echo "$1.svg and $1.pdf drawn"
