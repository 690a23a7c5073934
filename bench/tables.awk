# bench/tables.awk — the times of bench/tables.sh: a CSV, geometric means, slow cells. Lines of the file "ruled" are
# LIBRARY,RANKS,COLLECTIVE,BYTES for which the table has a rule; others LIBRARY,RANKS,COLLECTIVE,BYTES,US,WITH. Needs median.awk.
FILENAME ~ /ruled$/ { ruled[$0] = 1; next }
{
    key = $1 "," $2 "," $3 "," $4
    times[key, $6] = times[key, $6] " " $5
    if (!(key in seen)) {
        seen[key] = 1
        order[++cells] = key
    }
}
END {
    print "library,ranks,collective,bytes,own_us,table_us,ratio,ruled" >csv
    for (c = 1; c <= cells; c++) {
        key = order[c]
        own = median(times[key, 0])
        with = median(times[key, 1])
        split(key, part, ",")
        is = key in ruled
        printf "%s,%.3f,%.3f,%.4f,%d\n", key, own, with, own / with, is >csv
        if (!is) continue
        group = part[1] ", " part[2] " ranks"
        sum[group] += log(own / with); of[group]++
        if (own / with < 0.9) slow[++slower] = sprintf("    %s: %.2f", key, own / with)
    }
    print "Times faster with the table, geometric means over the cells for which it has a rule:"
    for (group in of) printf "    %-20s %5.2f over %d cells\n", group, exp(sum[group] / of[group]), of[group] | "sort"
    close("sort")
    print "Cells below 0.9: " slower + 0
    for (i = 1; i <= slower; i++) print slow[i]
}
