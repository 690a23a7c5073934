/* mpi/bench/peers.c — the MPI library's own collectives, and those of the layer, as contestants of
 * bench/peers.sh
 *
 *   LD_PRELOAD=…/libcollmpi.so mpiexec -n 2 ./peers BOARD
 *   COLL_ZERO_COPY=1 LD_PRELOAD=…/libcollheap.so:… ./peers BOARD segment    // the layer alone
 *
 * Each of them has memory of its own, as the layer may move it to huge pages.
 */
#define _GNU_SOURCE
#include "../../bench/peers/board.h"

#include "calls.h"

/* So far from the memory of one the other's lies, in floats: with a huge page between them. */
enum { APART = (PEERS_ARENA + (2 << 20)) / sizeof(float) };

static void call(peers_member *me, uint32_t who, const peers_cell *cell, uint32_t root,
                 const float *in, float *out)
{
    const bool own = who == PEERS_MPICH || who == PEERS_OPENMPI;
    const int n = (int)peers_count(cell, me->board->p);
    if (cell->work != COLL_BARRIER && mpi.counts[0] != n)
        mpi_blocks(n);
    if (mpi_runners[cell->work](own, n, (int)root, in + (own ? APART : 0),
                                out + (own ? APART : 0)) != MPI_SUCCESS)
        MPI_Abort(mpi.world, 1);
}

int main(int argc, char **argv)
{
#ifdef OPEN_MPI
    const uint32_t both = COLL_BIT(PEERS_OPENMPI) | COLL_BIT(PEERS_OPENMPI_LAYER),
                   segment = COLL_BIT(PEERS_OPENMPI_SEGMENT);
#else
    const uint32_t both = COLL_BIT(PEERS_MPICH) | COLL_BIT(PEERS_MPICH_LAYER),
                   segment = COLL_BIT(PEERS_MPICH_SEGMENT);
#endif
    const bool alone = argc == 3 && strcmp(argv[2], "segment") == 0;
    peers_member me = {0};
    MPI_Init(&argc, &argv);
    mpi_begin();
    mpi_blocks(0);
    if (argc == 2 || alone) {
        me.mine = alone ? segment : both;
        me.board = peers_open(argv[1], false);
        me.rank = (uint32_t)mpi.rank;
        me.in = bench_memory(APART * sizeof(float) + PEERS_ARENA);
        me.out = bench_memory(APART * sizeof(float) + PEERS_ARENA);
        me.call = call;
        peers_take_turns(&me);
        free(me.in);
        free(me.out);
    } else if (mpi.rank == 0) {
        fprintf(stderr, "bench/peers.sh runs this program\n");
    }
    mpi_end();
    MPI_Finalize();
    return me.board ? 0 : 2;
}
