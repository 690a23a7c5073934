# Cuts a document into what can be run or compared, each in a file of its own, ITEM.1 and so on, and prints a line
# for each: KIND FILE LINE REST.
#
#   quote FILE LINE PATH   the block below <!-- from PATH -->
#   c++ FILE LINE, c …     another fenced block of this language
#   run FILE LINE OUTPUT   a command of an indented block; OUTPUT: the file of what is shown below it, or -
#   make FILE LINE TARGET  likewise, of make
#   test FILE LINE PATH    a block below <!-- run by PATH -->, which is the test that runs its commands
#
# A line of an indented block is a command if it begins with $ or with a word of `commands`; one ends with \ if it
# goes on. What is shown of its output stands below an empty line, up to the next $ or line of text.
BEGIN { commands = "^(build/|coll |cc |cp |sed |make |\\./)" }

function item(kind, text, rest,    file) {
    file = "ITEM." ++items
    printf "%s", text >file
    close(file)
    print kind, file, at, rest
}

function output(    file) {
    sub(/\n+$/, "\n", shown)
    if (command == "")
        return
    if (shown != "") {
        file = "ITEM." ++items
        printf "%s", shown >file
        close(file)
    }
    if (command ~ /^make /)
        item("make", command "\n", target(command))
    else
        item("run", command "\n", shown == "" ? "-" : file)
    command = shown = ""
}

# The first word behind make that is no option or assignment; "all".
function target(line,    words, n, i) {
    n = split(line, words, " ")
    for (i = 2; i <= n; i++)
        if (words[i] !~ /^-|=|^&&|^#/)
            return words[i]
    return "all"
}

# A line of an indented block, without its four spaces.
function line_of_block(line,    bare) {
    bare = line
    sub(/^ +/, "", bare)
    if (continued) {
        sub(/ *\\$/, "", command)
        command = command " " bare
    } else if (bare ~ /^\$ / || (!below && bare ~ commands)) {
        output()
        sub(/^\$ /, "", bare)
        at = FNR
        command = bare
        below = 0
    } else if (command == "") {
        return
    } else if (line == "" && !below) {
        below = 1
    } else if (below) {
        shown = shown line "\n"
    } else {
        output() # text right below a command
        return
    }
    continued = command ~ /\\$/ && !below
}

function end_of_block() {
    if (quoted != "")
        item(kind, text, quoted)
    output()
    block = below = continued = 0
    quoted = text = ""
}

/^```/ && !fence {
    if (block)
        end_of_block()
    fence = 1
    language = substr($0, 4)
    text = ""
    at = FNR
    next
}
/^```/ {
    fence = 0
    if (quoted != "")
        item(kind, text, quoted)
    else if (language == "c" || language == "c++")
        item(language, text)
    quoted = text = ""
    next
}
fence { text = text $0 "\n"; next }

block && (/^    / || $0 == "") {
    text = text substr($0, 5) "\n"
    if (quoted == "")
        line_of_block(substr($0, 5))
    next
}
block { end_of_block() }
/^<!-- from [^ ]+ -->$/ { kind = "quote"; quoted = $3; next }
/^<!-- run by [^ ]+ -->$/ { kind = "test"; quoted = $4; next }
/^    / && (empty || quoted != "") {
    block = 1
    at = FNR
    text = substr($0, 5) "\n"
    if (quoted == "")
        line_of_block(substr($0, 5))
    next
}
{ empty = $0 == "" }
END { if (block) end_of_block() }
