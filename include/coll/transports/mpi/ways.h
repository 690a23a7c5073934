/* coll/transports/mpi/ways.h — coll over MPI: which way of a message is the fastest, measured
 *
 * Between processes of a node messages go in short pieces, in the library's own fragments, or by
 * one copy that the kernel makes (point_to_point.h). Which is the fastest depends on how long a cache line
 * takes from one processor to the other, thus on the machine and, where it is a virtual one, on the
 * hour: Open MPI's fragments took from half the time of the kernel's copy to five times as long, and
 * MPICH's pieces up to four times. So the ways are tried once, which takes a millisecond or two;
 * but not MPICH's where ranks share processors, as it waits without yielding.
 *
 * Use ../mpi.h.
 */
#ifndef COLL_TRANSPORTS_MPI_WAYS_H
#define COLL_TRANSPORTS_MPI_WAYS_H

#include "point_to_point.h"

/* Bytes of the long message that is tried; and of the time of the kernel's copy, which is much the
 * same at any hour, so many tenths must be enough for memory, and for pieces. Through memory MPICH may
 * take longer than that in an exchange: one way it is faster, and a reduction begins before all is
 * here; but not than a copy out of huge pages (from 64 KiB to 4 MiB its collectives are 1.7 to 2.6
 * times slower than those by such copies, and 1.3 to 1.7 than those through memory). */
#ifdef OPEN_MPI
enum {
    COLL_MPI_TRIED = 1 << 18,
    COLL_I_MPI_ENOUGH = 6,
    COLL_I_MPI_HUGE_ENOUGH = 6,
    COLL_I_MPI_PIECES_ENOUGH = 6
};
#else
enum {
    COLL_MPI_TRIED = COLL_MPI_NEAR_MOST,
    COLL_I_MPI_ENOUGH = 14,
    COLL_I_MPI_HUGE_ENOUGH = 6,
    COLL_I_MPI_PIECES_ENOUGH = 8
};
#endif

/* What the ranks of a node agree on about messages there. */
typedef struct coll_mpi_ways {
    bool near;       /* long ones go through the memory of the node */
    size_t cut;      /* up to so many bytes they go in pieces, COLL_MPI_PIECE: none does */
    double times[2]; /* seconds in which two ranks exchange COLL_MPI_TRIED bytes by the kernel's
                      * copy, and through memory; 0: nothing was measured */
} coll_mpi_ways;

/* Where ranks share processors pieces cost turns: more than a few do not pay. */
COLL_INLINE coll_mpi_ways coll_mpi_usual_ways(bool near, bool oversubscribed)
{
    coll_mpi_ways ways = {
        near, oversubscribed ? (size_t)COLL_MPI_SHORT : (size_t)COLL_MPI_CUT, {0, 0}};
    return ways;
}

/* The ranks of a context, which share the memory of a node, are to use these ways: to be said on all
 * of them, while nothing is in flight. Returns MPI's error code. */
COLL_INLINE int coll_mpi_set_ways(coll_mpi *mpi, const coll_mpi_ways *ways)
{
    int error = MPI_SUCCESS;
#ifdef OPEN_MPI
    const int line = 64, lengths[2] = {COLL_MPI_BLOCK - line, line}, at[2] = {line, 0};
    if (ways->near && mpi->block == MPI_DATATYPE_NULL) {
        error = PMPI_Type_indexed(2, lengths, at, MPI_BYTE, &mpi->block);
        if (error == MPI_SUCCESS)
            error = PMPI_Type_commit(&mpi->block);
    }
#endif
    mpi->near = ways->near && error == MPI_SUCCESS;
    mpi->cut = ways->cut;
    return error;
}

/* Seconds in which the first two ranks, of which this is one, exchange so many bytes; the memory is
 * twice that. */
COLL_INLINE double coll_i_mpi_timed(coll_mpi *mpi, bool near, size_t cut, unsigned char *memory,
                                    size_t bytes)
{
    const unsigned how = near ? COLL_I_MPI_NEAR : 0;
    const double begin = PMPI_Wtime();
    coll_handle h[2];
    coll_status status[2];
    mpi->cut = cut;
    status[0] =
        coll_i_mpi_move(mpi, how | COLL_I_MPI_RECEIVED, 1 - mpi->rank, 0, memory, bytes, &h[0]);
    status[1] = coll_i_mpi_move(mpi, how, 1 - mpi->rank, 0, memory + bytes, bytes, &h[1]);
    while (mpi->flying > 0)
        coll_i_mpi_sweep(mpi, true);
    for (int i = 0; i < 2; i++)
        if (status[i] == COLL_STARTED)
            (void)coll_i_mpi_test(mpi, &h[i]);
    return PMPI_Wtime() - begin;
}

/* Writes the least such times of two ways, which take turns: the first by the kernel's copy, the
 * second through memory, or in pieces. */
COLL_INLINE void coll_i_mpi_compare(coll_mpi *mpi, bool near, unsigned char *memory,
                                    size_t bytes, double *times)
{
    for (int turn = 0; turn < 12; turn++) {
        const bool second = turn % 2;
        const double time =
            coll_i_mpi_timed(mpi, near && second, second ? COLL_MPI_CUT : 0, memory, bytes);
        times[second] = turn < 2 || time < times[second] ? time : times[second];
    }
}

/* Is the second one to be taken, if so many tenths of the first one's time are enough? */
COLL_INLINE bool coll_i_mpi_wins(const double *times, int enough)
{
    return 10 * times[1] < enough * times[0];
}

/* Finds out, in a context all of whose ranks share the memory of a node, and has it use what it
 * found; collective. */
COLL_INLINE coll_mpi_ways coll_mpi_find_ways(coll_mpi *mpi)
{
    coll_mpi_ways ways = coll_mpi_usual_ways(true, mpi->oversubscribed);
#ifdef OPEN_MPI
    const bool tries = true;
#else
    const bool tries = !mpi->oversubscribed;
#endif
    const bool measures = tries && mpi->rank < 2;
    void *room = measures ? malloc(2 * (size_t)COLL_HUGE_PAGE) : NULL;
    unsigned char *memory = /* of a huge page, whole */
        room ? (unsigned char *)room +
                   (COLL_HUGE_PAGE - (uintptr_t)room % COLL_HUGE_PAGE) % COLL_HUGE_PAGE
             : NULL;
    int good = (memory || !measures) && coll_mpi_set_ways(mpi, &ways) == MPI_SUCCESS, all = 0;
    (void)PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, mpi->comm);
    ways.near = false;
    if (memory)
        memset(memory, 0, 2 * COLL_MPI_TRIED);
    if (memory && mpi->pages)
        (void)coll_huge_move(memory);
    if (all && tries && mpi->p > 1) {
        if (measures) {
            double times[2];
            coll_i_mpi_compare(mpi, true, memory, COLL_MPI_TRIED, ways.times);
            ways.near = coll_i_mpi_wins(ways.times, mpi->pages ? COLL_I_MPI_HUGE_ENOUGH
                                                               : COLL_I_MPI_ENOUGH);
            size_t cut = ways.cut, least = COLL_MPI_PIECE;
            if (mpi->oversubscribed)
                least = COLL_MPI_SHORT;
            for (ways.cut = least; cut > least; cut /= 2) {
                const int enough = cut <= COLL_MPI_SHORT ? 10 : (int)COLL_I_MPI_PIECES_ENOUGH;
                coll_i_mpi_compare(mpi, false, memory, cut, times);
                if (coll_i_mpi_wins(times, enough) && ways.cut < cut)
                    ways.cut = cut;
            }
        }
        (void)PMPI_Bcast(&ways, sizeof ways, MPI_BYTE, 0, mpi->comm);
    }
    free(room);
    (void)coll_mpi_set_ways(mpi, &ways); /* makes nothing that was not made before */
    return ways;
}

#endif /* COLL_TRANSPORTS_MPI_WAYS_H */
