#!/bin/sh
# All algorithms between nodes that are network namespaces, over UCX and libfabric.
networks=$COLL_BUILD/tests/coll-networks
if [ ! -x "$networks" ]; then
    echo 'skipped: UCX and libfabric are not installed; on Debian: apt-get install libucx-dev libfabric-dev'
    [ "${COLL_REQUIRE_ALL:-}" = 1 ] || exit 77
    exit 1
fi
for transport in ucx ofi; do
    COLL_COMMAND=$networks sh "$(dirname "$0")/algorithms.sh" $transport || exit
done
