/* examples/13_any_network.c — one program, and the transport that its argument names: tcp (if nothing is said), ucx,
 * ofi, join or shm
 *
 * Two hosts, one command:
 *
 *   mpiexec.hydra -hosts host1:4,host2:4 -n 8 build/examples/13_any_network tcp     TCP
 *   mpiexec.hydra -hosts host1:4,host2:4 -n 8 build/examples/13_any_network ucx     UCX
 *   mpiexec.hydra -hosts host1:4,host2:4 -n 8 build/examples/13_any_network ofi     libfabric
 *   mpiexec.hydra -hosts host1:4,host2:4 -n 8 build/examples/13_any_network join    shared memory of each, and TCP
 *   coll launch -n 4 build/examples/13_any_network shm                              shared memory: one host alone
 *
 * docs/several-nodes.md has other ways to start it. ucx and ofi are there where the libraries were when this was
 * compiled: cc -DCOLL_WITH_UCX -DCOLL_WITH_OFI 13_any_network.c $(pkg-config --cflags --libs ucx libfabric)
 *
 * Each rank brings its number and a one; rank 0 says what the sums are. Started by itself, the program is the only
 * rank.
 */
#include <stdio.h>
#include <string.h>

#include "coll/comm/multi_node.h"
#include "networks.h"

/* ---- whatever it is ---------------------------------------------------------------------- */

static coll_status add_up(const end *me, double *sum)
{
    static unsigned char
        memory[1 << 16]; /* scratch of running calls, and plans of several nodes */
    const double mine[2] = {me->rank, 1};
    coll_comm comm;
    coll_status status =
        coll_comm_init(&comm, me->transport, me->ctx, me->rank, me->p, memory, sizeof memory);
    if (status == COLL_OK && me->nodes)
        status = coll_comm_nodes(&comm, me->nodes);
    if (status == COLL_OK)
        status = coll_allreduce(&comm, mine, sum, 2, COLL_F64, COLL_SUM);
    if (status == COLL_OK)
        status = coll_comm_free(&comm);
    return status;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "tcp";
    const struct network *its = network_named("13_any_network", name);
    char why[JOINED_WHY], where[32] = "";
    double sum[2];
    coll_status status;
    end me;
    memset(&me, 0, sizeof me);
    if (!its)
        return 2;
    if (!its->open(&me, why)) {
        fprintf(stderr, "13_any_network: %s\n", why);
        return 1;
    }
    status = add_up(&me, sum);
    if (me.nodes)
        snprintf(where, sizeof where, " on %u host%s", coll_nodes_count(me.nodes),
                 coll_nodes_count(me.nodes) == 1 ? "" : "s");
    if (status != COLL_OK)
        fprintf(stderr, "rank %u: %s\n", me.rank, coll_status_text(status));
    else if (me.rank == 0)
        printf("%u rank%s over %s%s: the sums are %.0f and %.0f\n", me.p, me.p == 1 ? "" : "s",
               name, where, sum[0], sum[1]);
    its->close(me.ctx);
    return status == COLL_OK && sum[1] == me.p && 2 * sum[0] == (double)me.p * (me.p - 1) ? 0
                                                                                          : 1;
}
