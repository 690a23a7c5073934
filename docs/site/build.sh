#!/bin/sh
# docs/site/build.sh OUT — the site below OUT/site: the pages of docs/ and the API reference, without a network
#
# The README is its first page. Links from pages to headers become links to the reference, those to other files
# of the tree links to copies of them, or to lists of folders. Every warning of Doxygen or mkdocs is an error,
# and so is a page that mkdocs.yml does not list. Run it at the root of the tree.
set -eu
export LC_ALL=C.UTF-8
out=$1
here=docs/site
rm -rf "$out"
mkdir -p "$out/pages/api"
: >"$out/copies"

# fail: says what is in the log.
fail() {
    cat "$out/log" >&2
    exit 1
}

# convert PAGE AS UP: with links as above; UP leads from its folder to that of the site.
convert() {
    mkdir -p "$(dirname "$out/pages/$2")"
    awk -v folder="$(dirname "$1")/" -v up="$3" -v copies="$out/copies" -f "$here/links.awk" "$1" >"$out/pages/$2"
}

for page in docs/*.md docs/internals/*.md; do
    page=${page#docs/}
    grep -q ": $page$" "$here/mkdocs.yml" || { echo "mkdocs.yml does not list $page" >&2; exit 1; }
    case $page in
    */*) convert "docs/$page" "$page" ../ ;;
    *) convert "docs/$page" "$page" "" ;;
    esac
done
convert README.md index.md ""
sort -u "$out/copies" | while read -r file; do
    mkdir -p "$(dirname "$out/pages/source/$file")"
    if [ -d "$file" ]; then ls "$file"; else cat "$file"; fi >"$out/pages/source/$file.txt"
done

{ cat "$here/Doxyfile"; echo "OUTPUT_DIRECTORY = $out/pages/api"; } >"$out/Doxyfile"
doxygen "$out/Doxyfile" >"$out/log" 2>&1 || fail
[ ! -s "$out/log" ] || fail

theme='{name: mkdocs, highlightjs: false}'
if [ -d /usr/share/mkdocs/themes/material ]; then theme='{name: material, font: false, features: [navigation.sections]}'; fi
sed "s/^theme: THEME/theme: $theme/" "$here/mkdocs.yml" >"$out/mkdocs.yml"
mkdocs build --strict --config-file "$out/mkdocs.yml" >"$out/log" 2>&1 || fail
