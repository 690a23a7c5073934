/* tests/gates/modes/main.c — a program of two files: both include the library, and see the same
 * constants */
#include "coll/comm.h"
#include "coll/transports/loopback.h"

#include "part.h"

static coll_comm comm[P];
static coll_request call[P];
static coll_loopback_rank end[P];
static double x[P][COUNT], memory[P][4 * COUNT];
static uint64_t room[2048];

/* A call whose operator the compiler does not know. */
static coll_status begin_here(coll_comm *its, double *data, coll_operator op,
                              coll_request *its_call)
{
    return coll_iallreduce(its, COLL_IN_PLACE, data, COUNT, COLL_F64, op, its_call);
}

int main(int argc, char **argv)
{
    static coll_loopback world;
    coll_status status = coll_loopback_init(&world, P, 4 * COLL_WINDOW, room, sizeof room);
    (void)argv;
    for (uint32_t r = 0; r < P && status == COLL_OK; r++) {
        status = coll_loopback_attach(&world, r, &end[r]);
        if (status == COLL_OK)
            status = coll_comm_init(&comm[r], &coll_loopback_transport, &end[r], r, P,
                                    memory[r], sizeof memory[r]);
        for (int i = 0; i < COUNT; i++)
            x[r][i] = (double)r + i;
        if (status == COLL_OK)
            status =
                r % 2 ? begin(&comm[r], x[r], &call[r])
                      : begin_here(&comm[r], x[r], argc == 1 ? COLL_SUM : COLL_MAX, &call[r]);
    }
    for (uint32_t r = 0, over = 0; over < P && status >= 0; r = (r + 1) % P) {
        status = coll_test(&call[r]);
        over = status == COLL_OK ? over + 1 : 0;
    }
    if (status < 0)
        return 1;
    for (uint32_t r = 0; r < P; r++)
        for (int i = 0; i < COUNT; i++)
            if (x[r][i] != P * (P - 1) / 2 + P * i)
                return 2;
#if defined(COLL_EXTERN) || defined(__cplusplus)
    if (ring() != &coll_ring_allreduce)
        return 3;
#endif
    return 0;
}
