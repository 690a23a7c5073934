/* bench/networks.c — coll's transports between machines, as contestants of bench/networks.sh
 *
 *   networks tcp BOARD            a rank over transports/tcp.h, however it is started (transports/bootstrap.h)
 *   networks ucx BOARD            … ucx.h; ofi: ofi.h, where this machine had the libraries when it was compiled
 *   networks join BOARD           … join.h: shared memory of each machine, TCP between them; also without what is
 *                                 known of the machines (flat), and by dpml and mixed alone
 *   networks has ucx              ends with 0 if it can do that
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "../examples/joined.h"
#include "coll/table.h"
#include "peers/members.h"
#if COLL_WITH_UCX
#include "coll/transports/ucx.h"
#endif
#if COLL_WITH_OFI
#include "coll/transports/ofi.h"
#endif

enum {
    SHARED = 64 << 20
}; /* that calls of the longest vectors find room in, again and again */

static int fail(const char *why)
{
    fprintf(stderr, "networks: %s\n", why);
    return 1;
}

/* Maps the board if it is one for so many ranks. */
static peers_board *board_of(const char *path, uint32_t p)
{
    peers_board *board = peers_open(path, false);
    if (board->p == p)
        return board;
    fprintf(stderr, "networks: there are %u ranks, and %u on the board\n", (unsigned)p,
            (unsigned)board->p);
    exit(1);
}

#define PLAY(network, WHO)                                                                     \
    static int play_##network(const char *path)                                                \
    {                                                                                          \
        const peers_way way = {WHO, NULL, NULL, NULL};                                         \
        char why[COLL_TCP_WHY];                                                                \
        coll_##network *its = coll_##network##_launched(NULL, why);                            \
        if (!its)                                                                              \
            return fail(why);                                                                  \
        peers_play(board_of(path, coll_##network##_size(its)), coll_##network##_rank(its),     \
                   &coll_##network##_transport, its, &way, 1, NULL);                           \
        coll_##network##_close(its);                                                           \
        return 0;                                                                              \
    }

PLAY(tcp, PEERS_TCP)
#if COLL_WITH_UCX
PLAY(ucx, PEERS_UCX)
#endif
#if COLL_WITH_OFI
PLAY(ofi, PEERS_OFI)
#endif

/* Rules that name one algorithm for some collectives, before the built-in ones for the others. */
static const coll_rule_list *rules_of(coll_table *table, void *memory, size_t bytes,
                                      const char *text)
{
    coll_table_init(table, memory, bytes);
    if (!coll_table_read(table, "rules", text)) {
        (void)fail(table->error.text);
        exit(1);
    }
    table->list.next = &coll_rules_built_in;
    return &table->list;
}

static int play_join(const char *path)
{
    static char memory[2][COLL_TABLE_BYTES(4)];
    static joined me;
    const char *rank = getenv("COLL_RANK");
    coll_table dpml, mixed;
    char why[JOINED_WHY];
    /* before it attaches shared memory, which sees how many ranks share a processor */
    peers_settle(rank ? (uint32_t)atoi(rank) : 0, peers_open(path, false)->p);
    if (!joined_launched(&me, SHARED, why))
        return fail(why);
    /* with the parameters that select/inter_node.h has for these sizes */
    const coll_rule_list *of_dpml = rules_of(&dpml, memory[0], sizeof memory[0],
                                             "allreduce bytes ..<1k dpml:leaders=1\n"
                                             "allreduce bytes 1k..<4k dpml:leaders=2\n"
                                             "allreduce bytes 4k..<16k dpml:leaders=4\n"
                                             "allreduce dpml:leaders=8\n");
    const coll_rule_list *of_mixed = rules_of(&mixed, memory[1], sizeof memory[1],
                                              "bcast bytes ..<64k mixed:k=0,segment=0\n"
                                              "bcast mixed:k=1\n"
                                              "allgather mixed\n");
    const peers_way ways[] = {{PEERS_JOIN, NULL, &me.nodes, NULL},
                              {PEERS_FLAT, NULL, NULL, NULL},
                              {PEERS_DPML, of_dpml, &me.nodes, "dpml"},
                              {PEERS_MIXED, of_mixed, &me.nodes, "mixed"}};
    peers_play(board_of(path, me.p), me.rank, coll_join_transport(&me.join), &me.join, ways,
               sizeof ways / sizeof ways[0], NULL);
    joined_close(&me);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*play)(const char *board);
    } all[] = {
        {"tcp", play_tcp},
#if COLL_WITH_UCX
        {"ucx", play_ucx},
#endif
#if COLL_WITH_OFI
        {"ofi", play_ofi},
#endif
        {"join", play_join},
    };
    const bool asks = argc == 3 && strcmp(argv[1], "has") == 0;
    for (size_t i = 0; argc == 3 && i < sizeof all / sizeof all[0]; i++)
        if (strcmp(argv[asks ? 2 : 1], all[i].name) == 0)
            return asks ? 0 : all[i].play(argv[2]);
    if (asks)
        return 1;
    fprintf(stderr, "bench/networks.sh runs this program\n");
    return 2;
}
