# Reads lines "file<tab>text", where the text has (...) for a version, and ^ in front if it begins a line: says which
# files of ROOT, in the first line with this text, have another version than VERSION, or none.
BEGIN { FS = "\t" }
/^#/ || NF != 2 { next }
{
    found = ""
    before = after = $2
    sub(/\(\.\.\.\).*/, "", before)
    sub(/.*\(\.\.\.\)/, "", after)
    first = sub(/^\^/, "", before) # of the line
    file = ROOT "/" $1
    while (found == "" && (getline line < file) > 0)
        if ((at = index(line, before)) == 1 || (at && !first)) {
            rest = substr(line, at + length(before))
            if ((end = after == "" ? length(rest) + 1 : index(rest, after)) > 0)
                found = substr(rest, 1, end - 1)
        }
    close(file)
    if (found != VERSION) {
        print $1 " says version \"" found "\", the library is " VERSION
        wrong++
    }
    files++
}
END { exit wrong > 0 || files == 0 }
