#!/bin/sh
# The link of a node is taken down while ranks call over UCX and libfabric, each of which may not notice.
networks=$COLL_BUILD/tests/coll-networks
. "$(dirname "$0")/../support/missing.sh"
[ -x "$networks" ] || missing 'UCX and libfabric are not installed; on Debian: apt-get install libucx-dev libfabric-dev'
for transport in ucx ofi; do
    COLL_COMMAND=$networks sh "$(dirname "$0")/link.sh" $transport || exit
done
