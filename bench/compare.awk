# bench/compare.awk — two states of a benchmark: lines are launch, old or new, and a line of its CSV, whose head is among them
#
# keys: names of the columns that name a cell. values: those that are compared, where * stands for any beginning; kind: `time`, or
# `rate`, which is better if it is more. Prints the geometric mean of old/new and the worst cells; appends all to the file
# csv. Ends with 1 if one is below `mean` or `cell`, or if there is nothing to compare. Needs median.awk.
# The columns of a head: which name a cell, which are compared.
function read_head(    i, k, v, n_keys, n_values, key, value, pattern) {
    n_keys = split(keys, key, ",")
    n_values = split(values, value, ",")
    key_columns = value_columns = ""
    for (k = 1; k <= n_keys; k++)
        for (i = 3; i <= NF; i++)
            if ($i == key[k])
                key_columns = key_columns " " i
    for (i = 3; i <= NF; i++)
        for (v = 1; v <= n_values; v++) {
            pattern = value[v]
            sub(/^\*/, ".*", pattern)
            if ($i ~ "^" pattern "$") {
                value_columns = value_columns " " i
                title[i] = $i
                break
            }
        }
    several = split(value_columns, value, " ") > 1
    head_columns = NF
}
BEGIN {
    split(keys, first_key, ",")
    title_of_csv = benchmark
    gsub(",", " ", title_of_csv) # commas are between its arguments
}
$3 == first_key[1] { read_head(); next }
$3 ~ /^(mean of|worst)/ || NF < head_columns { next }
{
    n = split(key_columns, key, " ")
    name = ""
    for (k = 1; k <= n; k++)
        if ($(key[k]) != "")
            name = name (name == "" ? "" : " ") $(key[k])
    n = split(value_columns, column, " ")
    for (k = 1; k <= n; k++) {
        if ($(column[k]) + 0 <= 0)
            continue
        cell_name = name (several ? " " title[column[k]] : "")
        if (!(cell_name in seen))
            order[++cells] = cell_name
        seen[cell_name]
        run[cell_name, $2, $1] = $(column[k])
        if ($1 > launches)
            launches = $1
    }
}
END {
    for (c = 1; c <= cells; c++) {
        name = order[c]
        olds = news = ratios = ""
        has_old = has_new = 0
        for (l = 1; l <= launches; l++) {
            has_old += (name, "old", l) in run
            has_new += (name, "new", l) in run
            if (!((name, "old", l) in run) || !((name, "new", l) in run))
                continue
            x = run[name, "old", l]
            y = run[name, "new", l]
            olds = olds " " x
            news = news " " y
            ratios = ratios " " (kind == "rate" ? y / x : x / y)
        }
        if (ratios == "") {
            if (has_old)
                only_old++
            if (has_new)
                only_new++
            continue
        }
        n_both++
        both[n_both] = name
        ratio[n_both] = median(ratios)
        old_median[n_both] = median(olds)
        new_median[n_both] = median(news)
        sum += log(ratio[n_both])
        below += ratio[n_both] < cell
        if (csv != "")
            printf "%s,%s,%.4g,%.4g,%.4f\n", title_of_csv, name, old_median[n_both], new_median[n_both], ratio[n_both] >>csv
    }
    if (!n_both) {
        printf "\n%s: no cell is in both\n", benchmark
        exit 1
    }
    geometric = exp(sum / n_both)
    printf "\n%s: old/new %.3f in the geometric mean of %d cells; %d below %s\n", benchmark, geometric, n_both, below, cell
    if (only_old + only_new)
        printf "    %d cells are in old alone, %d in new alone\n", only_old, only_new
    if (worst == "all" || worst > n_both)
        worst = n_both
    for (w = 1; w <= worst; w++) {
        least = 0
        for (c = 1; c <= n_both; c++)
            if (!(c in printed) && (!least || ratio[c] < ratio[least]))
                least = c
        printed[least]
        printf "    %6.3f  %s: %s %.4g, then %.4g\n", ratio[least], both[least], kind, old_median[least], new_median[least]
    }
    exit geometric < mean || below > 0 ? 1 : 0
}
