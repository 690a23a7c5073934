# Lines of algos/ and plan/topo/ that were never executed, but for those of a list; and lines of the list that
# were, or are no more. Reads the list, then what gcov --stdout says of any number of objects: a line was
# executed if it was in one of them.
#
# The list has "algos/ring.h: the text of the line", once for each such line, with or without its number; what
# is blank or begins with # says why.
function trimmed(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }

FILENAME == ARGV[1] { if (!/^(#|[ \t]*$)/) { sub(/\.h:[0-9]+:/, ".h:"); listed[trimmed($0)]++ } next }

/^ *-: *0:Source:/ {
    header = ""
    if (match($0, /coll\/(algos|plan\/topo)\/[a-z0-9_\/]+\.h$/)) header = substr($0, RSTART + 5)
    if (header == "algos/registry.h") header = "" # a table, no algorithm
    next
}
header == "" { next }
match($0, /^ *[^: ]+: *[0-9]+:/) {
    place = substr($0, 1, RLENGTH)
    split(place, field, ":")
    count = trimmed(field[1])
    if (count == "-" || field[2] + 0 == 0) next
    line = header ":" field[2] + 0
    if (!(line in text)) order[++lines] = line
    text[line] = header ": " trimmed(substr($0, RLENGTH + 1))
    if (count !~ /^[#=%$]+/) executed[line] = 1
}

END {
    for (i = 1; i <= lines; i++) {
        line = order[i]
        if (line in executed || listed[text[line]]-- > 0) continue
        print "never executed by the proof: " line ": " substr(text[line], index(text[line], ": ") + 2)
        wrong++
    }
    for (entry in listed)
        if (listed[entry] > 0) { print "listed, but executed or gone: " entry; wrong++ }
    printf "%d lines of algos/ and plan/topo/, %d wrong\n", lines, wrong
    exit wrong > 0 || lines < 1000
}
