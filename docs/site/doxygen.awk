# docs/site/doxygen.awk — shows Doxygen the comments of a header: its INPUT_FILTER
#
# The headers have ordinary comments. The head of a file becomes its manual, a comment right above a
# declaration, a knob or a member, and one behind a member, becomes its description, and an algorithm's record and
# a row of a list (COLL_STATUS_LIST …) are described by what stands in them. Private names (coll_i_,
# COLL_I_) get nothing, nor do the members of a structure whose comment says that they are private. No line is
# added, so that warnings name the right one.

function escape(text) {
    gsub(/[\\@<>#%&]/, "\\\\&", text)
    return text
}

# The first string of text at or behind `from`, without its quotes; sets after.
function quoted(text, from,    rest) {
    rest = substr(text, from)
    if (!match(rest, /"[^"]*"/))
        return ""
    after = from + RSTART + RLENGTH - 1
    return substr(rest, RSTART + 1, RLENGTH - 2)
}

# Lines i … as one, up to the end of a statement.
function statement(i,    text) {
    for (text = line[i]; i < NR && text !~ /;/; i++)
        text = text " " line[i + 1]
    return text
}

BEGIN {
    private_type = "^ *(const |struct )*coll_i_"
    while ((getline entry < (ENVIRON["COLL_MEMBERS"] ? ENVIRON["COLL_MEMBERS"] : "docs/site/members.txt")) > 0)
        if (entry ~ /: /)
            means[substr(entry, 1, index(entry, ":") - 1)] = escape(substr(entry, index(entry, ":") + 2))
}

# The line at which the comment that begins in line i ends.
function end_of(i) {
    if (substr(line[i], index(line[i], "/*") + 2) ~ /\*\//)
        return i
    for (i++; i < NR && line[i] !~ /\*\//; i++)
        ;
    return i
}

# Makes the comment of lines i … j, from the mark on, a description; `open` is how Doxygen begins one.
function describe(i, j, open,    k, at) {
    for (at = k = index(line[i], "/*"); k; at += k)
        k = index(substr(line[i], at + 1), "/*")
    line[i] = substr(line[i], 1, at - 1) open escape(substr(line[i], at + 2))
    for (k = i + 1; k <= j; k++)
        line[k] = escape(line[k])
}

function head(    j, k, text) {
    j = end_of(1)
    text = line[1]
    sub(/^\/\* /, "/** @file ", text)
    sub(/ — /, " @brief ", text)
    line[1] = text
    for (k = 2; k <= j && line[k] !~ /^ \*$/; k++)
        line[k] = escape(line[k])
    if (k > j)
        return
    line[k + 1] = " * @verbatim" substr(line[k + 1], 3)
    line[j] = " * @endverbatim */"
}

# Is a declaration that begins in line i private, or none?
function is_private(i,    text) {
    text = line[i]
    if (text ~ /^#ifndef/)
        return text ~ /COLL_I_|_H$/ || line[i + 1] !~ /^#( *)(define|if)/
    if (text ~ /^#define/)
        return text ~ /^#define COLL_I_/
    if (text ~ /^$|^#|^\/\*|^}/)
        return 1
    while (text !~ /[({;=]/ && i < NR)
        text = text " " line[++i]
    sub(/[({;=].*/, "", text)
    gsub(/COLL_I_(ALIAS|RARE|UNUSED|PRINTF)/, "", text)
    return text ~ /(^|[ *])(coll_i_|COLL_I_)[a-zA-Z0-9_]*( |$)/ || line[i] ~ /^COLL_[A-Z_]+\([^)]*coll_i_/
}

# The members of a structure or an enumeration, from line i to line j, where it ends. Doxygen gives the comment
# behind several members to the last one alone, so each gets a declaration of its own.
function members(i, j, enumerators,    k, at, above, from) {
    for (from = i; i < j; i++) {
        at = index(line[i], "/*")
        if (!at) {
            if (line[i] ~ /;$/ || (enumerators && line[i] ~ /,$/)) { # an end of one
                if (!above)
                    single(from, i, "")
                above = 0
                from = i + 1
            } else if (line[i] ~ /^ *$|^#/) {
                from = i + 1
            }
            continue
        }
        k = end_of(i)
        if (line[i] ~ /^ *\/\* private \*\/$/) {
            line[i] = "/** @cond */"
            line[j] = "/** @endcond */ " line[j]
            return
        }
        if (line[i] ~ /^ *\/\*/) {
            from = k + 1
            above = line[i] !~ /\/\* ----/ && line[from] !~ /^ *$|^}|^#/
            if (above && line[from] ~ /^[^(\/]*,[^(\/]*;$/)
                single(from, from, text_of(i, k), 1)
            else if (above)
                describe(i, k, "/**")
        } else if (substr(line[i], 1, at - 1) ~ /; *$/ || enumerators) {
            if (line[from] ~ private_type) {
                line[from] = "/** @cond */ " line[from]
                line[k] = line[k] " /** @endcond */"
            } else {
                single(from, i, text_of(i, k))
                describe(i, k, "/**<")
            }
            from = k + 1
            above = 0
        }
        i = k
    }
}

# The words of the comment in lines i … j.
function text_of(i, j,    text) {
    for (text = substr(line[i], index(line[i], "/*") + 2); i < j; text = text " " line[++i])
        ;
    sub(/ *\*\/.*/, "", text)
    gsub(/ +\*? */, " ", text)
    return text
}

# What a member of this name is everywhere, or that the structure's comment speaks of it; "": neither.
function meaning(name) {
    if (name in means)
        return means[name]
    if (last ~ ("(^|[^A-Za-z_])" name "([^A-Za-z_]|$)"))
        return "see the structure"
    if (sub(/^n_/, "", name))
        return "number of " name
    return ""
}

# Splits a declaration of several members in lines i … j, all of which get `text`, the last one only if `every`; or, if
# that is empty, each what its name means everywhere.
function single(i, j, text, every,    all, n, part, type, k, name, out, tail) {
    for (k = i; k <= j; k++)
        all = all " " line[k]
    tail = index(line[j], "/*") ? substr(line[j], index(line[j], "/*")) : ""
    sub(/\/\*.*/, "", all)
    if (all ~ /[({=}]/ || all !~ /;/) { # a function, or an enumerator
        name = all
        if (text == "" && name ~ /^ *[a-z].*\(\*[a-z_]+\)\(/) {
            sub(/.*\(\*/, "", name)
            sub(/\).*/, "", name)
            if (meaning(name) != "")
                line[j] = line[j] " /**< " meaning(name) " */"
        }
        return
    }
    sub(/;.*/, "", all)
    if (line[i] ~ private_type) {
        line[i] = "/** @cond */ " line[i]
        line[j] = line[j] " /** @endcond */"
        return
    }
    n = split(all, part, /,/)
    type = part[1]
    sub(/[ *]*[A-Za-z_0-9]+(\[[^,]*\])*( *: *[0-9]+)? *$/, "", type)
    part[1] = substr(part[1], length(type) + 1)
    for (k = 1; k <= n; k++) {
        name = part[k]
        gsub(/^[ *]+/, "", name)
        sub(/[^A-Za-z0-9_].*/, "", name)
        out = out type part[k] ";"
        if (text != "" && (every || k < n))
            out = out " /**< " escape(text) " */"
        else if (text == "" && meaning(name) != "")
            out = out " /**< " meaning(name) " */"
    }
    if (n > 1)
        for (k = i; k < j; k++)
            line[k] = ""
    if (n > 1 || text == "")
        line[j] = out (tail == "" ? "" : " " tail)
}

# {…, offsetof(type, member), …, "text"} of a table of a model's parameters: what that member is.
function parameters(text,    at, type, member, words, k) {
    while ((at = index(text, "offsetof(coll_"))) {
        text = substr(text, at + 9)
        type = member = text
        sub(/,.*/, "", type)
        sub(/^[^,]*, */, "", member)
        sub(/\).*/, "", member)
        k = index(text, "\"}")
        words = substr(text, 1, k - 1)
        sub(/.*"/, "", words)
        if (member !~ /\[|\./ && !((type, member) in told))
            lists = lists "/** @var " type "::" member "\n * " escape(words) " */\n"
    }
}

# The declaration of the nonblocking or persistent form of a collective, with what it is.
function twin(text,    name, persistent) {
    name = text
    sub(/\(.*/, "", name)
    sub(/.* coll_/, "", name)
    persistent = sub(/_init$/, "", name)
    if (!persistent)
        sub(/^i/, "", name)
    return "/** " (persistent ? "The persistent" : "The nonblocking") " form of coll_" name "(); see comm.h. */ " text
}

{ line[NR] = $0 }

END {
    if (line[1] ~ /^\/\* /)
        head()
    for (i = end_of(1) + 1; i <= NR; i++) {
        if (line[i] ~ /^\/\* /) {
            k = end_of(i)
            last = line[k + 1] ~ /^typedef struct/ ? text_of(i, k) : ""
            if (line[i] !~ /^\/\* ----/ || (k > i && line[k + 1] != "")) {
                gsub(/ -----*$|^\/\* ---- /, "/* ", line[i])
                sub(/ ?\/\* $/, ".", line[i])
                if (!is_private(k + 1))
                    describe(i, k, "/**")
            }
            i = k
        } else if (line[i] ~ /^(typedef )?(struct|union|enum)( [A-Za-z0-9_]+)* \{/) {
            for (j = i; j < NR && line[j] !~ /^}/ && line[j] !~ /\{.*}.*;/; j++)
                ;
            if (line[i] !~ / coll_i_/ && last ~ /(^|[^A-Za-z])private[^A-Za-z]/) {
                line[i] = line[i] " /** @cond */"
                line[j] = "/** @endcond */ " line[j]
            } else if (line[i] !~ / coll_i_/)
                members(i + 1, j, line[i] ~ /enum/)
            i = j
            last = ""
        } else if (line[i] ~ /^#define COLL_[A-Z_]+_LIST\(X\)/) {
            for (text = ""; line[i] ~ /\\$/; i++)
                text = text substr(line[i + 1], 1, length(line[i + 1]) - 1)
            rows(text)
        } else if (line[i] ~ /^COLL_(HOT_)?INLINE coll_status coll_(i[a-z_]+|[a-z_]+_init)\(coll_comm \*/ && line[i - 1] == "") {
            line[i] = twin(line[i])
        } else if (line[i] ~ /^COLL_TABLE\(coll_parameter,/) {
            parameters(statement(i))
        } else if (line[i] ~ /^COLL_CONST\(coll_model, / && line[i - 1] !~ /\*\/$/) {
            text = statement(i)
            name = quoted(text, 1)
            line[i] = "/** Model \"" escape(name) "\": " escape(quoted(text, after)) ". */ " line[i]
        } else if (line[i] ~ /^COLL_(ALGORITHM|COMPOSITE)\(/ && line[i - 1] !~ /\*\/$/) {
            text = statement(i)
            name = quoted(text, 1)
            source = quoted(text, after)
            line[i] = "/** Algorithm \"" escape(name) "\"; source: " escape(source) ". */ " line[i]
        }
    }
    for (i = 1; i <= NR; i++)
        if (line[i] !~ /^#define COLL_[A-Z0-9_]+_H$/)
            print line[i]
        else
            print ""
    printf "%s", lists
}

# X(NAME, …, "text", …) of a list: descriptions of NAME, behind the file.
function rows(text,    part, n, k, name, words) {
    n = split(text, part, /X\(/)
    for (k = 2; k <= n; k++) {
        name = part[k]
        sub(/,.*/, "", name)
        words = quoted(part[k], 1)
        if (name ~ /^COLL_[A-Z0-9_]+$/ && words != "")
            lists = lists "/** @var " name "\n * " escape(words) " */\n"
    }
}
