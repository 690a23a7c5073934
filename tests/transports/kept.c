/* Memory that is kept, over a library that only counts (coll/transports/tagged/registered.h): ranges that overlap,
 * nest and are kept several times; what cannot be registered; operations in a range that is forgotten. */
#include "support/chance.h"
#include "support/check.h"

#include "coll/transports/tagged/registered.h"

enum { BYTES = 4096, RANGES = 64, STEPS = 20000 };

static unsigned char memory[BYTES];
static unsigned char pins[1 << 16]; /* by number: is that registration there? */
static uintptr_t n_pins;
static bool refuses;

static void *pin(coll_i_tagged *net, void *where, size_t bytes, bool writes)
{
    (void)net, (void)where, (void)bytes, (void)writes;
    if (refuses || n_pins == sizeof pins)
        return NULL;
    pins[n_pins] = 1;
    return &pins[n_pins++];
}

static void unpin(coll_i_tagged *net, void *registered)
{
    (void)net;
    CHECK_EQ(*(unsigned char *)registered, 1);
    *(unsigned char *)registered = 0;
}

static coll_i_tagged_library library;
static coll_i_tagged net;

static void begin(bool registers)
{
    memset(&library, 0, sizeof library);
    memset(&net, 0, sizeof net);
    library.pin = pin;
    library.unpin = unpin;
    net.library = &library;
    net.keeps = true;
    net.registers = registers;
    n_pins = 0;
    refuses = false;
}

/* All is given back. */
static void end(void)
{
    coll_i_tagged_forget_all(&net);
    CHECK_EQ(net.pinned, 0);
    for (uintptr_t i = 0; i < n_pins; i++)
        CHECK_EQ(pins[i], 0);
}

static uint32_t pinned(void)
{
    uint32_t n = 0;
    for (uintptr_t i = 0; i < n_pins; i++)
        n += pins[i];
    CHECK_EQ(net.pinned, n);
    return n;
}

/* An operation on part of the memory. */
static coll_i_tagged_op operation(size_t first, size_t bytes, bool writes)
{
    coll_i_tagged_op op;
    memset(&op, 0, sizeof op);
    op.kind = writes ? COLL_I_TAGGED_RECV_DATA : COLL_I_TAGGED_SEND;
    op.buf = memory + first;
    op.bytes = bytes;
    return op;
}

/* Ranges at random, kept and forgotten at random: whether one has a buffer is what looking through all says. */
TEST(ranges)
{
    struct {
        size_t first, bytes;
        bool writes;
        unsigned keeps;
    } all[RANGES];
    uint64_t random = 7;
    uint32_t found = 0, missed = 0;
    begin(false);
    for (uint32_t i = 0; i < RANGES; i++) {
        all[i].first = chance_of(&random, 64) * (i % 8 == 0 ? 1 : 16);
        all[i].bytes = 1 + chance_of(&random, i % 8 == 0 ? 3000 : 200);
        all[i].writes = chance_of(&random, 2) != 0;
        all[i].keeps = 0;
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t i = chance_of(&random, RANGES);
        const size_t first = chance_of(&random, BYTES / 2), bytes = 1 + chance_of(&random, 300);
        const bool writes = chance_of(&random, 2) != 0;
        const coll_i_tagged_kept *its;
        bool is = false;
        if (chance_of(&random, 3) != 0 && all[i].keeps != 0) {
            coll_i_tagged_forget(&net, memory + all[i].first, all[i].bytes, all[i].writes);
            all[i].keeps--;
        } else if (all[i].keeps < 3) {
            coll_i_tagged_keep(&net, memory + all[i].first, all[i].bytes, all[i].writes);
            all[i].keeps++;
        }
        for (uint32_t k = 0; k < RANGES; k++)
            is = is ||
                 (all[k].keeps != 0 && all[k].first <= first &&
                  first + bytes <= all[k].first + all[k].bytes && (all[k].writes || !writes));
        its = coll_i_tagged_kept_find(&net, memory + first, bytes, writes);
        if (!CHECK((its != NULL) == is) || (its && !CHECK(its->registered != NULL)))
            break;
        found += is;
        missed += !is;
    }
    CHECK(found > 500);
    CHECK(missed > 500);
    for (uint32_t i = 0; i < RANGES; i++)
        while (all[i].keeps-- > 0)
            coll_i_tagged_forget(&net, memory + all[i].first, all[i].bytes, all[i].writes);
    CHECK_EQ(net.n_kept, 0);
    CHECK_EQ(pinned(), 0);
    end();
}

/* What is kept twice is registered once, until it is forgotten twice; what is not known is not forgotten. */
TEST(counts)
{
    begin(false);
    coll_i_tagged_keep(&net, memory, 100, true);
    coll_i_tagged_keep(&net, memory, 100, true);
    CHECK_EQ(net.pins, 1);
    coll_i_tagged_keep(&net, memory, 100, false);
    CHECK_EQ(pinned(), 2);
    coll_i_tagged_forget(&net, memory, 99, true);
    coll_i_tagged_forget(&net, memory + 1, 99, true);
    coll_i_tagged_forget(&net, memory, 100, true);
    CHECK_EQ(pinned(), 2);
    coll_i_tagged_forget(&net, memory, 100, true);
    CHECK_EQ(pinned(), 1);
    CHECK(coll_i_tagged_kept_find(&net, memory, 100, true) == NULL);
    CHECK(coll_i_tagged_kept_find(&net, memory, 100, false) != NULL);
    coll_i_tagged_forget(&net, memory, 100, true);
    CHECK_EQ(pinned(), 1);
    end();
    begin(false);
    net.keeps = false; /* the library needs nothing */
    coll_i_tagged_keep(&net, memory, 100, true);
    coll_i_tagged_forget(&net, memory, 100, true);
    CHECK_EQ(net.pins, 0);
    end();
}

/* What could not be registered is none of the operation's business, and is tried again by the next keep. */
TEST(refusals)
{
    coll_i_tagged_op op = operation(10, 20, true);
    begin(true);
    refuses = true;
    coll_i_tagged_keep(&net, memory, 100, true);
    CHECK_EQ(net.n_kept, 1);
    CHECK(!coll_i_tagged_register(&net, &op));
    refuses = false;
    CHECK(coll_i_tagged_register(&net, &op));
    CHECK(op.kept == NULL);
    coll_i_tagged_unregister(&net, &op);
    coll_i_tagged_keep(&net, memory, 100, true);
    CHECK(coll_i_tagged_register(&net, &op));
    CHECK(op.kept != NULL);
    coll_i_tagged_unregister(&net, &op);
    CHECK_EQ(net.pins, 2);
    coll_i_tagged_forget(&net, memory, 100, true);
    CHECK_EQ(pinned(), 1);
    coll_i_tagged_forget(&net, memory, 100, true);
    CHECK_EQ(pinned(), 0);
    end();
}

/* A range that is forgotten stays registered for the operations in it, but new ones do not find it. */
TEST(operations_in_flight)
{
    coll_i_tagged_op first = operation(0, 50, false), second = operation(50, 50, true),
                     third = operation(0, 100, false), beyond = operation(99, 2, false);
    begin(true);
    coll_i_tagged_keep(&net, memory, 100, true);
    CHECK(coll_i_tagged_register(&net, &first));
    CHECK(coll_i_tagged_register(&net, &second));
    CHECK(coll_i_tagged_register(&net, &beyond));
    CHECK(first.kept != NULL && first.kept == second.kept && beyond.kept == NULL);
    CHECK_EQ(net.pins, 2);
    coll_i_tagged_unregister(&net, &beyond);
    coll_i_tagged_forget(&net, memory, 100, true);
    CHECK_EQ(pinned(), 1);
    CHECK(coll_i_tagged_register(&net, &third));
    CHECK(third.kept == NULL);
    coll_i_tagged_unregister(&net, &first);
    CHECK_EQ(pinned(), 2);
    coll_i_tagged_unregister(&net, &second);
    CHECK_EQ(pinned(), 1);
    coll_i_tagged_unregister(&net, &third);
    coll_i_tagged_keep(&net, memory, 100, false);
    CHECK(coll_i_tagged_register(&net, &first));
    CHECK(coll_i_tagged_register(&net, &second)); /* which writes */
    CHECK(first.kept != NULL && second.kept == NULL);
    coll_i_tagged_forget_all(&net); /* the rank ends */
    CHECK_EQ(pinned(), 2);
    coll_i_tagged_unregister(&net, &first);
    coll_i_tagged_unregister(&net, &second);
    end();
}

int main(void)
{
    RUN(ranges);
    RUN(counts);
    RUN(refusals);
    RUN(operations_in_flight);
    return check_done();
}
