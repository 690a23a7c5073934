/* examples/10_mixed.c — a program in C and C++ that has the library once
 *
 * All files are compiled with COLL_EXTERN: they see declarations, so they stay small, and the bodies are in
 * one object. Which language that one is in does not matter.
 *
 *   10_mixed.c                  this one, in C
 *   10_mixed/extremes.cpp       a module in C++, called from here with the same communicator
 *   10_mixed/implementation.c   the bodies
 *
 *   cc  -DCOLL_EXTERN -Iinclude -c examples/10_mixed.c examples/10_mixed/implementation.c
 *   c++ -DCOLL_EXTERN -Iinclude -c examples/10_mixed/extremes.cpp
 *   c++ 10_mixed.o implementation.o extremes.o -lpthread && ./a.out
 */
#include "on_threads.h"

#include "10_mixed/extremes.h"

enum { P = 4, COUNT = 100 };

static int rank_main(coll_comm *comm)
{
    int32_t x[COUNT], sum = 0;
    extremes all = {0, 0};
    coll_status status;
    for (int i = 0; i < COUNT; i++) {
        x[i] = (int32_t)comm->rank * COUNT + (i * 37) % COUNT;
        sum += x[i];
    }
    status = extremes_of_all(comm, x, COUNT, &all);
    if (status == COLL_OK)
        status = coll_allreduce(comm, COLL_IN_PLACE, &sum, 1, COLL_I32, COLL_SUM);
    if (comm->rank == 0)
        printf("%s: from %d to %d, sum %d\n", coll_status_text(status), all.least, all.greatest,
               sum);
    return status != COLL_OK || all.least != 0 || all.greatest != P * COUNT - 1 ||
           sum != P * COUNT * (P * COUNT - 1) / 2;
}

int main(void)
{
    return on_threads(P, rank_main);
}
