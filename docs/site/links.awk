# docs/site/links.awk — the links of a page of docs/ as the site has them; see build.sh

# The path that a link names, from the root of the tree.
function resolve(target,    path) {
    path = folder target
    while (sub(/(^|\/)[^\/.][^\/]*\/\.\.\//, "/", path))
        ;
    gsub(/\/\.\//, "/", path)
    sub(/^(\.?\/)+/, "", path)
    return path
}

# Doxygen's page on a header, of which no two have one name.
function page(path) {
    sub(/.*\//, "", path)
    gsub(/_/, "__", path)
    sub(/\.h$/, "_8h.html", path)
    return path
}

function link(target,    path) {
    if (target ~ /^[a-z]+:|^#/)
        return target
    path = resolve(target)
    if (sub(/^docs\//, "", path))
        return up path
    if (path ~ /^include\/coll\/.*\.h$/)
        return up "api/" page(path)
    print path >>copies
    return up "source/" path ".txt"
}

/^```/ { code = !code }

{
    if (!code && $0 !~ /^    /) {
        out = ""
        while (match($0, /\]\([^)]+\)/)) {
            out = out substr($0, 1, RSTART + 1) link(substr($0, RSTART + 2, RLENGTH - 3)) ")"
            $0 = substr($0, RSTART + RLENGTH)
        }
        $0 = out $0
    }
    print
}
