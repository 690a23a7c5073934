#!/bin/sh
# tools/help.sh COMMAND FOLDER — writes the man page of `coll` and its completions: coll.1, coll.bash, _coll, coll.fish
#
# All of it is what `coll --help`, `coll SUBCOMMAND --help` and `coll list` print; options.h has the one table of options.
set -eu
export LC_ALL=C
command=$1 folder=$2
mkdir -p "$folder"
{
    "$command" --version | sed 's/^coll /version /'
    "$command" --help | sed 's/^/main /'
    "$command" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' | while read -r verb; do
        "$command" "$verb" --help | sed "s/^/$verb /"
    done
    "$command" list --markdown | sed -n 's/^| \([a-z_]*\) | \([a-z_]*\) |.*/algorithm \1 \2/p' | grep -v ' collective '
} >"$folder/help.txt"
awk -v folder="$folder" -f "${0%.sh}.awk" "$folder/help.txt"
rm "$folder/help.txt"
