# tools/help.awk — a man page and completions from help.txt of help.sh: lines of what each subcommand says of itself,
# with its name in front

{
    verb = $1
    text = substr($0, length(verb) + 2)
}

verb == "version" { version = text; next }

verb == "algorithm" {
    split(text, word, " ")
    if (!(word[1] in algorithms))
        collectives = collectives (collectives ? " " : "") word[1]
    algorithms[word[1]] = algorithms[word[1]] (algorithms[word[1]] ? " " : "") word[2]
    next
}

verb == "main" {
    if (match(text, /^  [a-z]+ +/)) {
        name = text
        sub(/^  /, "", name)
        sub(/ .*/, "", name)
        verbs[++n_verbs] = name
        summary[name] = substr(text, RLENGTH + 1)
    } else if (text ~ /^Exit codes/) {
        codes = text
    }
    next
}

text ~ /^usage: / { usage[verb] = substr(text, 8); next }
text == "" { blank[verb]++; next }

# An operand or an option: two spaces, its name and value, at least one space, what it is.
blank[verb] == 2 && text ~ /^  [^ ]/ {
    k = ++n_rows[verb]
    match(text, /^  (-[a-z], )?[^ ]+( [^ ]+)? /)
    left = substr(text, 3, 26)
    if (substr(text, 29, 1) != " " || left ~ /[^ ]$/) { # longer than its column
        left = substr(text, 3, RLENGTH - 3)
    }
    sub(/ +$/, "", left)
    help[verb, k] = substr(text, length(left) + 3)
    sub(/^ +/, "", help[verb, k])
    value[verb, k] = short[verb, k] = ""
    if (left ~ /^-/) {
        if (left ~ /^-[a-z], /) {
            short[verb, k] = substr(left, 2, 1)
            left = substr(left, 5)
        }
        if (left ~ / /) {
            value[verb, k] = left
            sub(/^[^ ]+ /, "", value[verb, k])
            sub(/ .*/, "", left)
        }
        left = substr(left, 3)
        is_option[verb, k] = 1
    }
    row[verb, k] = left
    next
}

blank[verb] > 2 || text !~ /^coll / {
    notes[verb] = notes[verb] (notes[verb] ? "\n" : "") text
}

# ---- what is completed

# The words that an operand or a value of this name may be; "": a file, if is_file.
function words_for(name, help) {
    if (name == "COLLECTIVE")
        return collectives
    if (name == "FORMAT") { # "json, goal (LogGOPSim), … or msccl (…)"
        gsub(/ *\([^)]*\)/, "", help)
        gsub(/,| or /, " ", help)
        gsub(/ +/, " ", help)
        return help
    }
    return ""
}

function is_file(name) {
    return name ~ /^(FILE|FILE\.h|FOLDER|PROGRAM)$/
}

# ---- the man page

function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/…/, "...", text)
    gsub(/—/, "\\(em", text)
    gsub(/·/, "\\(pc", text)
    if (text ~ /^[.']/)
        text = "\\\\&" text
    return text
}

function man(    i, k, v, file, names, lines, n) {
    file = folder "/coll.1"
    print ".TH COLL 1 \"\" \"coll " roff(version) "\" \"User Commands\"" >file
    print ".SH NAME\ncoll \\- collective algorithms as pure step functions" >file
    print ".SH SYNOPSIS\n.B coll\n.I SUBCOMMAND\n.RI [ option ]..." >file
    print ".SH SUBCOMMANDS" >file
    for (i = 1; i <= n_verbs; i++)
        print ".TP\n.B " verbs[i] "\n" roff(summary[verbs[i]]) >file
    for (i = 1; i <= n_verbs; i++) {
        v = verbs[i]
        print ".SH \"" toupper(v) "\"\n.B " roff(usage[v]) >file
        for (k = 1; k <= n_rows[v]; k++) {
            if (is_option[v, k])
                names = (short[v, k] ? "\\-" short[v, k] ", " : "") "\\-\\-" roff(row[v, k]) "\\fR" \
                    (value[v, k] ? " \\fI" roff(value[v, k]) "\\fR" : "")
            else
                names = roff(row[v, k]) "\\fR"
            print ".TP\n\\fB" names "\n" roff(help[v, k]) >file
        }
        if (notes[v]) {
            n = split(notes[v], lines, "\n")
            print ".PP\n.nf" >file
            for (k = 1; k <= n; k++)
                print roff(lines[k]) >file
            print ".fi" >file
        }
    }
    sub(/^Exit codes: /, "", codes)
    print ".SH \"EXIT STATUS\"\n" roff(codes) >file
    close(file)
}

# ---- completions

function shell_list(v, options,    k, list) {
    for (k = 1; k <= n_rows[v]; k++)
        if (is_option[v, k] && (options == "all" || value[v, k]))
            list = list " --" row[v, k] (short[v, k] ? " -" short[v, k] : "")
    return substr(list, 2)
}

function file_options(v,    k, list) {
    for (k = 1; k <= n_rows[v]; k++)
        if (is_option[v, k] && is_file(value[v, k]))
            list = list " --" row[v, k] (short[v, k] ? " -" short[v, k] : "")
    return substr(list, 2)
}

# Patterns of case for words: a|b|c
function pattern(list) {
    gsub(/ /, "|", list)
    return list == "" ? "''" : list
}

function bash(    file, i, k, v, n, words, c) {
    file = folder "/coll.bash"
    print "# Completion of coll for bash; written by tools/help.sh\n_coll_algorithms() {\n    case $1 in" >file
    n = split(collectives, c, " ")
    for (i = 1; i <= n; i++)
        print "    " c[i] ") echo \"" algorithms[c[i]] "\" ;;" >file
    print "    esac\n}\n" >file
    print "_coll() {" >file
    print "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}" >file
    print "    local options= valued= files= i operands=() choices=" >file
    print "    COMPREPLY=()" >file
    print "    if [ \"$COMP_CWORD\" -eq 1 ]; then" >file
    for (i = 1; i <= n_verbs; i++)
        words = words verbs[i] " "
    print "        COMPREPLY=($(compgen -W '" words "--help --version' -- \"$word\"))\n        return\n    fi" >file
    print "    case $verb in" >file
    for (i = 1; i <= n_verbs; i++) {
        v = verbs[i]
        print "    " v ") options='" shell_list(v, "all") "' valued='" shell_list(v, "valued") "' files='" file_options(v) "' ;;" >file
    }
    print "    *) return ;;\n    esac" >file
    print "    for ((i = 2; i < COMP_CWORD; i++)); do" >file
    print "        case \" $valued \" in *\" ${COMP_WORDS[i]} \"*) i=$((i + 1)) ;;" >file
    print "        *) case ${COMP_WORDS[i]} in -*) ;; *) operands+=(\"${COMP_WORDS[i]}\") ;; esac ;; esac" >file
    print "    done" >file
    print "    case \" $files \" in *\" $before \"*) COMPREPLY=($(compgen -f -- \"$word\")) && return ;; esac" >file
    print "    case \" $valued \" in *\" $before \"*) return ;; esac" >file
    print "    case $word in -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) && return ;; esac" >file
    print "    case $verb.${#operands[@]} in" >file
    for (i = 1; i <= n_verbs; i++) {
        v = verbs[i]
        n = 0
        for (k = 1; k <= n_rows[v]; k++) {
            if (is_option[v, k])
                continue
            words = words_for(row[v, k], help[v, k])
            if (row[v, k] == "ALGORITHM")
                print "    " v "." n ") choices=$(_coll_algorithms \"${operands[" n - 1 "]}\") ;;" >file
            else if (words != "")
                print "    " v "." n ") choices='" words "' ;;" >file
            else if (is_file(row[v, k]))
                print "    " v "." n ") COMPREPLY=($(compgen -f -- \"$word\")) ;;" >file
            n++
        }
    }
    print "    esac" >file
    print "    [ -z \"$choices\" ] || COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n}" >file
    print "complete -F _coll coll" >file
    close(file)
}

# Text within '…[…]' of _arguments.
function zsh_text(text) {
    gsub(/'/, "'\\''", text)
    gsub(/\[/, "\\[", text)
    gsub(/\]/, "\\]", text)
    gsub(/:/, "\\:", text)
    return text
}

function zsh_action(name, help,    words) {
    words = words_for(name, help)
    return name == "ALGORITHM" ? "_coll_algorithms" : words != "" ? "(" words ")" : is_file(name) ? "_files" : " "
}

function zsh(    file, i, k, v, n, c, name, rest) {
    file = folder "/_coll"
    print "#compdef coll\n# Completion of coll for zsh; written by tools/help.sh\n" >file
    print "_coll_algorithms() {\n    local word\n    for word in $words; do\n        case $word in" >file
    n = split(collectives, c, " ")
    for (i = 1; i <= n; i++)
        print "        " c[i] ") compadd -- " algorithms[c[i]] "; return ;;" >file
    print "        esac\n    done\n}\n\n_coll() {\n    local -a verbs\n    verbs=(" >file
    for (i = 1; i <= n_verbs; i++)
        print "        '" verbs[i] ":" zsh_text(summary[verbs[i]]) "'" >file
    print "        --help --version)" >file
    print "    if ((CURRENT == 2)); then\n        _describe subcommand verbs\n        return\n    fi" >file
    print "    shift words\n    ((CURRENT--))\n    case $words[1] in" >file
    for (i = 1; i <= n_verbs; i++) {
        v = verbs[i]
        print "    " v ")\n        _arguments \\" >file
        n = 0
        for (k = 1; k <= n_rows[v]; k++) {
            rest = "[" zsh_text(help[v, k]) "]" (value[v, k] ? ":" zsh_text(value[v, k]) ":" zsh_action(value[v, k], help[v, k]) : "")
            if (!is_option[v, k]) {
                n++
                if (usage[v] ~ /\[argument\]…/)
                    name = "'*::" zsh_text(row[v, k]) ":_normal'"
                else
                    name = "'" (usage[v] ~ ("\\[" row[v, k] "\\]…") ? "*" : n) "::" zsh_text(row[v, k]) ":" zsh_action(row[v, k], help[v, k]) "'"
            } else if (short[v, k]) {
                name = "'(-" short[v, k] " --" row[v, k] ")'{-" short[v, k] ",--" row[v, k] "}'" rest "'"
            } else {
                name = "'--" row[v, k] rest "'"
            }
            print "            " name " \\" >file
        }
        print "            ;;" >file
    }
    print "    esac\n}\n\n_coll \"$@\"" >file
    close(file)
}

function fish_text(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/'/, "\\'", text)
    return "'" text "'"
}

function fish(    file, i, k, v, n, c, words, seen, of) {
    file = folder "/coll.fish"
    print "# Completion of coll for fish; written by tools/help.sh\ncomplete -c coll -f" >file
    for (i = 1; i <= n_verbs; i++)
        print "complete -c coll -n __fish_use_subcommand -a " verbs[i] " -d " fish_text(summary[verbs[i]]) >file
    print "complete -c coll -n __fish_use_subcommand -l help\ncomplete -c coll -n __fish_use_subcommand -l version" >file
    for (i = 1; i <= n_verbs; i++) {
        v = verbs[i]
        seen = "'__fish_seen_subcommand_from " v "'"
        for (k = 1; k <= n_rows[v]; k++) {
            words = words_for(row[v, k], help[v, k])
            if (is_option[v, k])
                print "complete -c coll -n " seen " -l " row[v, k] (short[v, k] ? " -s " short[v, k] : "") \
                    (value[v, k] ? is_file(value[v, k]) ? " -r -F" : " -x" : "") " -d " fish_text(help[v, k]) >file
            else if (row[v, k] == "ALGORITHM")
                of = of " " v
            else if (words != "")
                print "complete -c coll -n '__fish_seen_subcommand_from " v "; and not __fish_seen_subcommand_from " words "' -a '" words "'" >file
            else if (is_file(row[v, k]))
                print "complete -c coll -n " seen " -F" >file
        }
    }
    n = split(collectives, c, " ")
    for (i = 1; i <= n; i++)
        print "complete -c coll -n '__fish_seen_subcommand_from" of "; and __fish_seen_subcommand_from " c[i] "' -a '" algorithms[c[i]] "'" >file
    close(file)
}

END {
    man()
    bash()
    zsh()
    fish()
}
