#!/bin/sh
# The site is built without a warning: every public name of the headers is described, every page is listed, and
# links lead somewhere. It has no script or style from elsewhere.
. "$(dirname "$0")/gate.sh"
need doxygen doxygen
need mkdocs mkdocs

# build TREE: the site of a tree, in site/.
build() {
    (cd "$1" && timeout 250 sh docs/site/build.sh "$gate_scratch/site")
}

# Nothing is loaded from another place.
local_only() {
    ! grep -r -l -E '<(script|img)[^>]* src="https?:|<link[^>]* href="https?:' --include='*.html' "$1"
}

# A small tree: the pages of ours, and one header.
small() {
    rm -rf tree
    mkdir -p tree/include/coll
    cp -R "$COLL_SOURCE/docs" tree/docs
    printf 'A page.\n' >tree/README.md
    sed -i 's/\](\(\.\.\/\)*\.\.\/[^)]*)/](architecture.md)/g' tree/docs/*.md
    sed -i 's/\](\(\.\.\/\)*\.\.\/[^)]*)/](mpi-layer.md)/g' tree/docs/internals/*.md
    cp "$1" tree/include/coll
}

accept build "$COLL_SOURCE"
accept local_only "$gate_scratch/site/site"
echo '<script src="https://elsewhere/x.js"></script>' >elsewhere.html
reject 'elsewhere' local_only "$gate_scratch"

small "$gate_bad/docs/undocumented.h"
reject 'coll_undocumented.* is not documented' build tree
small "$COLL_SOURCE/include/coll/config.h"
echo '[nowhere](nowhere.md)' >>tree/docs/limits.md
reject 'nowhere.md' build tree
small "$COLL_SOURCE/include/coll/config.h"
echo '# A page that is not listed' >tree/docs/unlisted.md
reject 'does not list unlisted.md' build tree
done_gate
