# tests/support/missing.sh — for scripts that need what may not be there: sourced, never run

# missing SENTENCE: the test is skipped, or fails where nothing may be.
missing() {
    if [ "${COLL_REQUIRE_ALL:-}" = 1 ]; then
        echo "FAILED: $1"
        exit 1
    fi
    echo "skipped: $1"
    exit 77
}

# need COMMAND PACKAGE
need() {
    command -v "$1" >/dev/null || missing "$1 is not installed; on Debian: apt-get install $2"
}
