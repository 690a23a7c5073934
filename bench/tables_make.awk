# bench/tables_make.awk — rules out of the times of bench/tables.sh --make. Lines are RANKS,COLLECTIVE,BYTES,US,WHICH, bytes
# ascending, where WHICH is an algorithm, "own" what the library does by itself, and "base" what it does where a table
# has the collective and no rule for the cell. Needs median.awk.
#
# A cell gets the best algorithm if that beats what it has otherwise by a tenth, and in its slowest launch, too; a
# collective gets rules for these ranks if all of its cells together win by a twentieth.
function range_of(from, to) { return from to == "" ? "" : "bytes " from ".." to " " }
function slowest(list,    part, n, most) {
    for (n = split(list, part, " "); n > 0; n--) if (part[n] + 0 > most) most = part[n] + 0
    return most
}
BEGIN { FS = "," }
{
    cell = $1 "," $2
    if (!((cell, $3) in seen)) {
        seen[cell, $3] = 1
        if (!(cell in sizes)) order[++cells] = cell
        at[cell, ++sizes[cell]] = $3
    }
    if (!((cell, $3, $5) in times)) names[cell, $3] = names[cell, $3] " " $5
    times[cell, $3, $5] = times[cell, $3, $5] " " $4
}
END {
    for (c = 1; c <= cells; c++) {
        cell = order[c]
        gain = 0
        for (s = 1; s <= sizes[cell]; s++) {
            bytes = at[cell, s]
            own = median(times[cell, bytes, "own"])
            otherwise = (cell, bytes, "base") in times ? median(times[cell, bytes, "base"]) : own
            rule[s] = ""
            n = split(substr(names[cell, bytes], 2), name, " ")
            best = otherwise / 1.1
            took = otherwise
            for (i = 1; i <= n; i++) {
                if (name[i] == "own" || name[i] == "base") continue
                t = median(times[cell, bytes, name[i]])
                if (t < best && slowest(times[cell, bytes, name[i]]) < otherwise) { best = took = t; rule[s] = name[i] }
            }
            why[s] = sprintf("%.4g us, %.4g by itself", took, own)
            gain += log(own / took)
        }
        if (gain / sizes[cell] < log(1.05)) continue
        split(cell, part, ",")
        for (s = 1; s <= sizes[cell]; s++) {
            if (rule[s] == "") continue
            for (last = s; last < sizes[cell] && rule[last + 1] == rule[s];) last++
            range = part[2] == "barrier" ? "" : range_of(s == 1 ? "" : at[cell, s], last == sizes[cell] ? "" : "<" at[cell, last + 1])
            printf "%s p %d..%d %s%s # %s\n", part[2], part[1], part[1], range, rule[s], why[s]
            s = last
        }
    }
}
