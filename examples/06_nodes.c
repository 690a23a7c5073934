/* examples/06_nodes.c — ranks on several nodes: collectives in levels
 *
 * A runtime knows which of its ranks share a node. It says so once for a communicator, and the calls go
 * within the nodes first, and between their leaders: here 24 ranks, as if they were on nodes of 14, 4
 * and 6. (They are threads of one machine, so nothing is faster for it here.)
 *
 *   cc -O2 -Iinclude examples/06_nodes.c -o 06 -lpthread && ./06
 */
#include "coll/comm/multi_node.h"
#include "on_threads.h"

enum { P = 24, NODES = 3 };

/* The nodes' first ranks, and p. The same on all ranks, and in place as long as the communicator. */
static const uint32_t firsts[NODES + 1] = {0, 14, 18, P};

static int rank_main(coll_comm *comm)
{
    double x[2] = {comm->rank, 1}, sum[2] = {0, 0};
    coll_args args;
    coll_nodes nodes;
    coll_request request;
    size_t bytes = 0;
    int failed;

    coll_nodes_table(&nodes, NODES, firsts, NULL); /* coll_nodes_even: all of one size */
    failed = coll_comm_nodes(comm, &nodes) != COLL_OK;

    failed = failed ||
             coll_iallreduce(comm, x, sum, 2, COLL_F64, COLL_SUM, &request) != COLL_OK ||
             coll_wait(&request) != COLL_OK;
    failed |= sum[0] != P * (P - 1) / 2 || sum[1] != P;
    failed |= request.engine.task.plan->algorithm != &coll_two_level_allreduce.algorithm;

    coll_args_init(&args, COLL_ALLREDUCE); /* how much of the arena that took */
    args.in = x;
    args.out = sum;
    args.count = 2;
    args.type = COLL_F64;
    failed = failed || coll_comm_bytes(comm, &args, &bytes) != COLL_OK;
    if (comm->rank == 0 && !failed)
        printf("allreduce on %u ranks of %u nodes: %s, %zu bytes of the arena, right\n",
               comm->p, nodes.count, request.engine.task.plan->algorithm->name, bytes);
    return failed;
}

int main(void)
{
    return on_threads(P, rank_main);
}
