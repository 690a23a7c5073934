#!/bin/sh
# All algorithms between nodes that are network namespaces, over UCX and libfabric.
networks=$COLL_BUILD/tests/coll-networks
. "$(dirname "$0")/../support/missing.sh"
[ -x "$networks" ] || missing 'UCX and libfabric are not installed; on Debian: apt-get install libucx-dev libfabric-dev'
for transport in ucx ofi; do
    COLL_COMMAND=$networks sh "$(dirname "$0")/algorithms.sh" $transport || exit
done
