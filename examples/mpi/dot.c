/* examples/mpi/dot.c — a program that calls coll itself, over MPI's point-to-point calls
 *
 *   mpiexec -n 4 ./dot
 *
 * Each rank has a piece of two vectors; all learn their scalar product, and the root the
 * largest element of each rank. The collectives are coll's: MPI carries the messages.
 */
#include <stdio.h>
#include <stdlib.h>

#include "coll/coll.h"
#include "coll/transports/mpi.h"

enum { ELEMENTS = 1000 };

int main(int argc, char **argv)
{
    coll_mpi mpi;
    coll_comm comm;
    coll_status status;
    double x[ELEMENTS], y[ELEMENTS], product = 0, largest = 0, expected = 0, *all;
    char memory[4096];
    MPI_Init(&argc, &argv);
    coll_mpi_open(&mpi, MPI_COMM_WORLD);
    coll_comm_init(&comm, coll_mpi_table(&mpi), &mpi, mpi.rank, mpi.p, memory, sizeof memory);

    for (int i = 0; i < ELEMENTS; i++) {
        x[i] = mpi.rank + 1;
        y[i] = i;
        product += x[i] * y[i];
        largest = x[i] * y[i] > largest ? x[i] * y[i] : largest;
    }
    all = malloc(mpi.p * sizeof *all);
    status = coll_allreduce(&comm, COLL_IN_PLACE, &product, 1, COLL_F64, COLL_SUM);
    if (status == COLL_OK)
        status = coll_gather(&comm, &largest, all, 1, COLL_F64, 0);

    expected = (double)ELEMENTS * (ELEMENTS - 1) / 2 * mpi.p * (mpi.p + 1) / 2;
    if (mpi.rank == 0)
        printf("%u ranks: %s, scalar product %g (expected %g), largest %g … %g\n", mpi.p,
               coll_status_text(status), product, expected, all[0], all[mpi.p - 1]);
    free(all);
    coll_comm_free(&comm);
    coll_mpi_close(&mpi);
    MPI_Finalize();
    return status == COLL_OK && product == expected ? 0 : 1;
}
