/* A program that links the library: threads add up vectors, and what they do is proven first. */
#include <coll/linked.h>
#include <pthread.h>

enum { P = 4, COUNT = 3 };

#ifdef PRIVATE /* which is none of the library's names */
uint32_t coll_i_loop_buckets(uint32_t messages);
#endif

static coll_threads *world;
static int right[P];

static void *run(void *arg)
{
    const uint32_t rank = (uint32_t)(uintptr_t)arg;
    double x[COUNT] = {(double)rank, 1, 0.5}, sum[COUNT], memory[64];
    coll_comm comm;
    coll_status status =
        coll_comm_init(&comm, &coll_threads_transport, coll_threads_rank(world, rank), rank, P,
                       memory, sizeof memory);
    if (status == COLL_OK)
        status = coll_allreduce(&comm, x, sum, COUNT, COLL_F64, COLL_SUM);
    right[rank] = status == COLL_OK && sum[0] == 6 && sum[1] == 4 && sum[2] == 2;
    return NULL;
}

int main(void)
{
    pthread_t thread[P];
    int wrong = coll_bytes_of("coll_comm") != sizeof(coll_comm) ||
                coll_bytes_of("coll_com") != 0 ||
                coll_find(COLL_ALLREDUCE, "ring") != &coll_ring_allreduce;
#ifdef PRIVATE
    wrong += (int)coll_i_loop_buckets(1);
#endif
    world = coll_threads_create(P);
    for (uintptr_t i = 0; i < P; i++)
        pthread_create(&thread[i], NULL, run, (void *)i);
    for (int i = 0; i < P; i++)
        pthread_join(thread[i], NULL);
    coll_threads_destroy(world);
    for (int i = 0; i < P; i++)
        wrong += !right[i];
    return wrong;
}
