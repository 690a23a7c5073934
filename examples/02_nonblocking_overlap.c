/* examples/02_nonblocking_overlap.c — computing while collectives run
 *
 * Four ranks train something: each computes gradients bucket by bucket, and every bucket must
 * be summed over the ranks. As soon as a bucket is computed, its allreduce starts; it moves on
 * while the next bucket is computed, whenever that calls coll_progress. All buckets are under
 * way together, and are waited for in whatever order. The sums are compared with those of
 * blocking calls, bit by bit.
 *
 *   cc -O2 -Iinclude examples/02_nonblocking_overlap.c -o 02 -lpthread && ./02
 */
#include "on_threads.h"

enum { BUCKETS = 8, COUNT = 20000, CHUNK = 1000 };

/* The gradient of this rank; calls coll_progress every now and then if there is a comm. */
static void compute(uint32_t rank, int bucket, float *gradient, coll_comm *comm)
{
    for (int i = 0; i < COUNT; i++) {
        float x = 0.25f + (float)((i * 7 + bucket * 13 + (int)rank * 5) % 100) / 200.0f;
        for (int k = 0; k < 20; k++) /* the logistic map: costs time and never settles */
            x = 3.7f * x * (1.0f - x);
        gradient[i] = x;
        if (comm && i % CHUNK == 0)
            coll_progress(comm);
    }
}

static int rank_main(coll_comm *comm)
{
    float *blocking = malloc(BUCKETS * COUNT * sizeof *blocking);
    float *overlapped = malloc(BUCKETS * COUNT * sizeof *overlapped);
    coll_request request[BUCKETS];
    int failed = !blocking || !overlapped || coll_barrier(comm) != COLL_OK;

    double start = on_threads_now();
    for (int b = 0; b < BUCKETS && !failed; b++) {
        float *bucket = blocking + b * COUNT;
        compute(comm->rank, b, bucket, NULL);
        failed |=
            coll_allreduce(comm, COLL_IN_PLACE, bucket, COUNT, COLL_F32, COLL_SUM) != COLL_OK;
    }
    const double seconds_blocking = on_threads_now() - start;

    start = on_threads_now();
    for (int b = 0; b < BUCKETS && !failed; b++) {
        float *bucket = overlapped + b * COUNT;
        compute(comm->rank, b, bucket, comm);
        failed |= coll_iallreduce(comm, COLL_IN_PLACE, bucket, COUNT, COLL_F32, COLL_SUM,
                                  &request[b]) != COLL_OK;
    }
    for (int b = BUCKETS - 1; b >= 0 && !failed; b--)
        failed |= coll_wait(&request[b]) != COLL_OK;
    const double seconds_overlapped = on_threads_now() - start;

    if (!failed)
        failed = memcmp(blocking, overlapped, BUCKETS * COUNT * sizeof *blocking) != 0;
    if (comm->rank == 0)
        printf(
            "%d buckets of %d floats on %u ranks: blocking %.2f ms, overlapped %.2f ms; %s\n",
            BUCKETS, COUNT, comm->p, seconds_blocking * 1e3, seconds_overlapped * 1e3,
            failed ? "WRONG" : "same bits");
    free(blocking);
    free(overlapped);
    return failed;
}

int main(void)
{
    return on_threads(4, rank_main);
}
