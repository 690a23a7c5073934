# Who may include what. Reads layers.rules, then a list of headers of `folder`, one a line; writes what is not
# allowed, and each include of a header as two words into `edges`. With core=1: writes the headers that are not hosted.

# A pattern of the shell's as a regular expression.
function expression(pattern) {
    gsub(/[.]/, "[.]", pattern)
    gsub(/[*]/, ".*", pattern)
    return "^" pattern "$"
}

function allowed(rule, include,    n, word, i) {
    if (hosted[rule] && include ~ /^</) return 1
    n = split(may[rule], word, " ")
    for (i = 1; i <= n; i++) {
        if (word[i] ~ /^!/ && include ~ expression(substr(word[i], 2))) return 0
        if (word[i] == include || (include !~ /^</ && include ~ expression(word[i]))) return 1
    }
    return 0
}

# What a line of a header includes: <system.h> as written, others by their path below the folder.
function included(header, line,    name, part, n, i, path) {
    name = substr(line, 2)
    sub(/[>"].*/, "", name)
    if (sub(/^coll\//, "", name)) return name
    if (line ~ /^</) return "<" name ">"
    sub(/[^\/]*$/, "", header)
    n = split(header name, part, "/")
    for (i = 1; i <= n; i++)
        if (part[i] == "..") sub(/\/?[^\/]*$/, "", path)
        else if (part[i] != "" && part[i] != ".") path = path (path == "" ? "" : "/") part[i]
    return path
}

function complain(text) {
    print text
    complaints++
}

FILENAME ~ /layers[.]rules$/ {
    if (/^#/ || NF == 0) next
    hosted[++rules] = sub(/^hosted /, "")
    pattern[rules] = expression(substr($0, 1, index($0, ":") - 1))
    may[rules] = substr($0, index($0, ":") + 1)
    next
}

{
    for (rule = 1; rule <= rules && $0 !~ pattern[rule]; rule++) {}
    if (core) {
        if (!hosted[rule]) print
        next
    }
    if (rule > rules) complain($0 " has no rule in tests/gates/layers.rules")
    while ((getline line < (folder "/" $0)) > 0) {
        if (!sub(/^[ \t]*#[ \t]*include[ \t]*/, "", line) || line !~ /^[<"][^>"]*[>"]/) continue
        include = included($0, line)
        if (include !~ /^</) print $0, include >"edges"
        if (!allowed(rule, include)) complain($0 " may not include " include)
    }
    close(folder "/" $0)
}

END { exit complaints > 0 }
