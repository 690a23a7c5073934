/* examples/19_order_free_sum.c — the same sum on any number of ranks, by any algorithm
 *
 * A vector of which much cancels is distributed over 1 to 8 ranks and added up. An ordinary allreduce
 * gives other bits for other numbers of ranks, and here only the first six digits are right; an
 * order-free sum is the double nearest to the exact sum, every time.
 *
 *   cc -O2 -Iinclude examples/19_order_free_sum.c -o 18 -lpthread && ./18
 */
#include "coll/algos/ring.h"
#include "coll/algos/snake.h"
#include "coll/comm/order_free.h"
#include "on_threads.h"

enum { COUNT = 100000, ALGORITHMS = 3 };

static double x[COUNT];
static double ordinary[ALGORITHMS], order_free[ALGORITHMS]; /* of rank 0 */

static int rank_main(coll_comm *comm)
{
    static const coll_algorithm *const algorithms[ALGORITHMS] = {
        &coll_ring_allreduce, &coll_recursive_doubling_allreduce, &coll_snake_allreduce};
    const size_t first = (size_t)COUNT * comm->rank / comm->p;
    const size_t end = (size_t)COUNT * (comm->rank + 1) / comm->p;
    for (int a = 0; a < ALGORITHMS; a++) {
        double sum = 0, total = 0, exact = 0;
        if (coll_comm_set_algorithm(comm, COLL_ALLREDUCE, algorithms[a], NULL) != COLL_OK)
            return 1;
        for (size_t i = first; i < end; i++)
            sum += x[i];
        if (coll_allreduce(comm, &sum, &total, 1, COLL_F64, COLL_SUM) != COLL_OK ||
            coll_order_free_sum(comm, x + first, end - first, &exact, COLL_F64) != COLL_OK)
            return 1;
        if (comm->rank == 0) {
            ordinary[a] = total;
            order_free[a] = exact;
        }
    }
    return 0;
}

int main(void)
{
    double one = 0;
    int failed = 0;
    uint32_t random = 1;
    for (int i = 0; i < COUNT; i++) { /* great ones that cancel, and small ones */
        random = random * 1664525u + 1013904223u;
        x[i] = (i % 2 ? -1e12 : 1e12) / (double)(1 + (i / 2) % 1000) + (double)random * 1e-12;
    }
    printf("ranks  algorithm   ordinary              order-free\n");
    for (uint32_t p = 1; p <= 8 && !failed; p++) {
        static const char *const names[ALGORITHMS] = {"ring", "doubling", "snake"};
        failed = on_threads(p, rank_main);
        one = p == 1 ? order_free[0] : one;
        for (int a = 0; a < ALGORITHMS; a++) {
            printf("%5u  %-10s  %-20.13g  %.17g\n", p, names[a], ordinary[a], order_free[a]);
            failed |= memcmp(&order_free[a], &one, sizeof one) != 0;
        }
    }
    printf("%s\n", failed ? "WRONG" : "order-free sums: the same bits, 24 times");
    return failed;
}
