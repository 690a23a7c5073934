/* mpi/tests/repeats.c — where the layer remembers calls (mpi/layer/again.h)
 *
 *   mpiexec -n 1 repeats
 */
#include <string.h>

#include "layer/again.h"

#include "support/check.h"

static struct repeats all;

static uint64_t key_of(coll_collective what, int count, int root)
{
    struct call call;
    memset(&call, 0, sizeof call);
    call.what = what;
    call.in.type = call.out.type = MPI_FLOAT;
    call.in.count = call.out.count = count;
    call.root = root;
    return repeat_key(&call);
}

/* Programs whose root moves on with each call find all of them again. */
TEST(roots)
{
    for (int count = 0; count < 1000; count++) {
        memset(&all, 0, sizeof all);
        for (int root = 0; root < REMEMBERED / 2; root++)
            CHECK(repeat_room(&all, key_of(COLL_BCAST, count, root)));
        for (int root = 0; root < REMEMBERED / 2; root++)
            CHECK(repeat_find(&all, key_of(COLL_BCAST, count, root)));
    }
}

/* So do those that call two collectives in turns, whatever their sizes. */
TEST(turns)
{
    for (int count = 0; count < 1000; count++) {
        struct repeat *bcast, *barrier;
        memset(&all, 0, sizeof all);
        bcast = repeat_room(&all, key_of(COLL_BCAST, count, 0));
        barrier = repeat_room(&all, key_of(COLL_BARRIER, 0, 0));
        CHECK(bcast && barrier && bcast != barrier);
        CHECK(repeat_find(&all, key_of(COLL_BCAST, count, 0)) == bcast);
        CHECK(repeat_find(&all, key_of(COLL_BARRIER, 0, 0)) == barrier);
        CHECK(repeat_room(&all, key_of(COLL_BCAST, count, 0)) == bcast);
    }
}

/* A call that runs does not give way. */
TEST(running)
{
    struct repeat *kept;
    memset(&all, 0, sizeof all);
    kept = repeat_room(&all, key_of(COLL_BCAST, 1, 0));
    CHECK(kept);
    kept->prepared.users = 1;
    for (int count = 2; count < 1000; count++)
        CHECK(repeat_room(&all, key_of(COLL_BCAST, count, 0)) != kept);
    CHECK(repeat_find(&all, key_of(COLL_BCAST, 1, 0)) == kept);
    CHECK(!repeat_room(&all, key_of(COLL_BCAST, 1, 0)));
    for (int i = 0; i < REMEMBERED; i++)
        all.call[i].prepared.users = 1;
    CHECK(!repeat_room(&all, key_of(COLL_SCAN, 1, 0)));
}

/* A call that differs in one thing is another, wherever it is remembered; but for the buffers. */
TEST(recognised)
{
    static int counts[4], more[4];
    static float in[4], out[4];
    struct repeat repeat;
    struct call call, other;
    memset(&call, 0, sizeof call);
    call.what = COLL_REDUCE_SCATTER;
    call.in.buf = in;
    call.out.buf = out;
    call.in.count = call.out.count = 3;
    call.in.type = call.out.type = MPI_FLOAT;
    call.in.counts = call.out.counts = counts;
    call.op = MPI_SUM;
    call.root = 1;
    memset(&repeat, 0, sizeof repeat);
    repeat.call = call;
    repeat.has_in = repeat.has_out = repeat.in_needed = repeat.out_needed = true;
    CHECK(repeat_same(&repeat, &call));
#define OTHER(field, value)                                                                    \
    other = call;                                                                              \
    other.field = value;                                                                       \
    CHECK(!repeat_same(&repeat, &other))
    OTHER(what, COLL_SCAN);
    OTHER(wide, true);
    OTHER(in.count, 4);
    OTHER(out.count, 4);
    OTHER(in.count, 3 + ((MPI_Count)1 << 32));
    OTHER(in.type, MPI_INT);
    OTHER(out.type, MPI_INT);
    OTHER(in.counts, more);
    OTHER(out.counts, more);
    OTHER(op, MPI_MAX);
    OTHER(root, 2);
    OTHER(in.buf, MPI_IN_PLACE);
    OTHER(out.buf, MPI_IN_PLACE);
    OTHER(in.buf, NULL); /* these the library is to refuse */
    OTHER(out.buf, NULL);
    OTHER(in.buf, out);
#undef OTHER
    other = call;
    other.in.buf = in + 1;
    other.out.buf = out + 1;
    CHECK(repeat_same(&repeat, &other));
    repeat.in_needed = repeat.out_needed = false; /* there is no data */
    other.in.buf = other.out.buf = NULL;
    CHECK(repeat_same(&repeat, &other));
}

int main(void)
{
    RUN(roots);
    RUN(turns);
    RUN(running);
    RUN(recognised);
    return check_done();
}
