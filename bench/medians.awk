# bench/medians.awk — of lines of CSV whose first four columns name a cell: one line a cell, with the median of
# each other column over the lines that have something there. Needs median.awk
BEGIN { FS = "," }
{
    cell = $1 "," $2 "," $3 "," $4
    if (!(cell in seen))
        order[++cells] = cell
    seen[cell]
    for (i = 5; i <= NF; i++)
        if ($i != "")
            value[cell, i] = value[cell, i] " " $i
    columns = NF
}
END {
    for (c = 1; c <= cells; c++) {
        line = order[c]
        for (i = 5; i <= columns; i++)
            line = line "," median(value[order[c], i])
        print line
    }
}
