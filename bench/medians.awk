# bench/medians.awk — of lines of CSV whose first four columns name a cell: one line a cell, with the median of
# each other column over the lines that have something there
function median(list,    n, i, j, v, a) {
    n = split(list, a, " ")
    for (i = 2; i <= n; i++) {
        v = a[i] + 0
        for (j = i - 1; j > 0 && a[j] + 0 > v; j--)
            a[j + 1] = a[j]
        a[j + 1] = v
    }
    return n == 0 ? "" : n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
}
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
