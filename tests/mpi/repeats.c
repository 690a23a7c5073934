/* tests/mpi/repeats.c — where the layer remembers calls (examples/mpi/layer/again.h)
 *
 *   mpiexec -n 1 repeats
 */
#include <string.h>

#include "layer/again.h"

#include "check.h"

static struct repeats all;

static uint32_t place(coll_collective what, int count, int root)
{
    struct call call;
    memset(&call, 0, sizeof call);
    call.what = what;
    call.in.type = call.out.type = MPI_FLOAT;
    call.in.count = call.out.count = count;
    call.root = root;
    return (uint32_t)(repeat_place(&all, &call) - all.call);
}

/* Programs whose root moves on with each call find all of them again. */
TEST(roots)
{
    for (int count = 0; count < 1000; count++) {
        uint32_t taken = 0;
        for (int root = 0; root < REMEMBERED / 2; root++) {
            const uint32_t at = place(COLL_BCAST, count, root);
            CHECK(at < REMEMBERED && !(taken >> at & 1));
            taken |= 1u << at;
        }
    }
}

int main(void)
{
    RUN(roots);
    return check_done();
}
