/* Spans and arenas: first fit, gaps that join, no overlap, alignment. */
#include <string.h>

#include "support/chance.h"
#include "support/check.h"
#include "coll/comm/arena.h"

TEST(spans_take_the_first_gap)
{
    coll_spans spans;
    coll_span a, b, c, d;
    coll_spans_init(&spans, 100);
    CHECK_STATUS(coll_spans_take(&spans, 30, &a), COLL_OK);
    CHECK_STATUS(coll_spans_take(&spans, 20, &b), COLL_OK);
    CHECK_STATUS(coll_spans_take(&spans, 50, &c), COLL_OK);
    CHECK_EQ(a.at, 0);
    CHECK_EQ(b.at, 30);
    CHECK_EQ(c.at, 50);
    CHECK_STATUS(coll_spans_take(&spans, 1, &d), COLL_ERR_MEMORY);
    CHECK_EQ(d.count, 0);
    coll_spans_give(&spans, &d); /* of nothing */
    coll_spans_give(&spans, &a);
    CHECK_STATUS(coll_spans_take(&spans, 31, &d), COLL_ERR_MEMORY);
    coll_spans_give(&spans, &b); /* joins a's gap */
    coll_spans_give(&spans, &b); /* once more: no effect */
    CHECK_STATUS(coll_spans_take(&spans, 50, &d), COLL_OK);
    CHECK_EQ(d.at, 0);
    coll_spans_give(&spans, &c);
    coll_spans_give(&spans, &d);
    CHECK(spans.first == NULL);
    CHECK_STATUS(coll_spans_take(&spans, 100, &a), COLL_OK);
    CHECK_STATUS(coll_spans_take(&spans, 0, &b), COLL_OK);
}

/* A span may hold anything before it is taken, and is of nothing where it cannot be, or is given
 * back. */
TEST(spans_in_any_memory)
{
    coll_spans spans;
    coll_span span;
    coll_spans_init(&spans, 3);
    for (size_t count = 0; count <= 4; count++) {
        memset(&span, 0xA5, sizeof span);
        CHECK_STATUS(coll_spans_take(&spans, count, &span),
                     count <= 3 ? COLL_OK : COLL_ERR_MEMORY);
        CHECK_EQ(span.at, 0);
        CHECK_EQ(span.count, count <= 3 ? count : 0);
        CHECK_EQ(coll_spans_end(&spans), span.count);
        coll_spans_give(&spans, &span);
        CHECK_EQ(span.count, 0);
        CHECK_EQ(coll_spans_end(&spans), 0);
    }
}

TEST(spans_never_overlap)
{
    enum { N = 24, COUNT = 200 };
    coll_spans spans;
    coll_span span[N];
    unsigned char owner[COUNT];
    uint64_t random = 1;
    memset(span, 0, sizeof span);
    memset(owner, 0, sizeof owner);
    coll_spans_init(&spans, COUNT);
    for (int round = 0; round < 20000; round++) {
        const uint32_t k = chance_of(&random, N);
        if (span[k].count) {
            for (size_t i = 0; i < span[k].count; i++)
                owner[span[k].at + i] = 0;
            coll_spans_give(&spans, &span[k]);
            continue;
        }
        const size_t count = 1 + chance_of(&random, 40);
        size_t gap = 0, at = 0; /* the lowest gap by a count of free numbers */
        while (at < COUNT && gap < count) {
            gap = owner[at] ? 0 : gap + 1;
            at++;
        }
        const coll_status status = coll_spans_take(&spans, count, &span[k]);
        CHECK_STATUS(status, gap == count ? COLL_OK : COLL_ERR_MEMORY);
        if (status != COLL_OK)
            continue;
        CHECK_EQ(span[k].at, at - count);
        memset(owner + span[k].at, 1, count);
    }
    for (const coll_span *s = spans.first; s && s->next; s = s->next)
        CHECK(s->at + s->count <= s->next->at);
}

TEST(arena_aligns_and_stays_inside)
{
    unsigned char memory[512];
    for (size_t skip = 0; skip < 2 * COLL_ARENA_ALIGN; skip++)
        for (size_t bytes = 0; bytes < 200; bytes += 7) {
            coll_arena arena;
            coll_piece piece[64];
            size_t n = 0, total = 0;
            coll_arena_init(&arena, memory + skip, bytes);
            while (coll_arena_take(&arena, 1 + n, &piece[n]) == COLL_OK) {
                unsigned char *at = coll_arena_at(&piece[n]);
                CHECK_EQ((uintptr_t)at % COLL_ARENA_ALIGN, 0);
                CHECK(at >= memory + skip && at + 1 + n <= memory + skip + bytes);
                total += coll_arena_bytes(1 + n);
                n++;
            }
            CHECK(total + coll_arena_bytes(1 + n) + COLL_ARENA_ALIGN - 1 > bytes);
            while (n > 0)
                coll_arena_give(&piece[--n]);
            CHECK(arena.units.first == NULL);
        }
}

/* Memory for one piece, at any alignment, has room for it, and not for one byte more than its unit. */
TEST(arena_of_one_piece)
{
    static unsigned char memory[COLL_ARENA_BYTES(1000) + COLL_ARENA_ALIGN];
    for (size_t at = 0; at < COLL_ARENA_ALIGN; at++)
        for (size_t bytes = 900; bytes <= 1000; bytes += 20) {
            coll_arena arena;
            coll_piece piece;
            coll_arena_init(&arena, memory + at, COLL_ARENA_BYTES(bytes));
            CHECK_STATUS(coll_arena_take(&arena, bytes, &piece), COLL_OK);
            coll_arena_give(&piece);
            CHECK_STATUS(coll_arena_take(&arena, bytes + COLL_ARENA_ALIGN, &piece),
                         COLL_ERR_MEMORY);
        }
}

TEST(arena_at_its_limits)
{
    coll_arena arena;
    coll_piece piece;
    coll_arena_init(&arena, NULL, 0);
    CHECK_STATUS(coll_arena_take(&arena, 0, &piece), COLL_OK);
    CHECK(coll_arena_at(&piece) == NULL);
    CHECK_STATUS(coll_arena_take(&arena, 1, &piece), COLL_ERR_MEMORY);
    CHECK_STATUS(coll_arena_take(&arena, SIZE_MAX, &piece), COLL_ERR_MEMORY);
    CHECK_EQ(coll_arena_bytes(0), 0);
    CHECK_EQ(coll_arena_bytes(1), COLL_ARENA_ALIGN);
    CHECK_EQ(coll_arena_bytes(COLL_ARENA_ALIGN), COLL_ARENA_ALIGN);
    CHECK(coll_arena_bytes(SIZE_MAX - 15) == SIZE_MAX - 15);
    CHECK(coll_arena_bytes(SIZE_MAX - 14) == SIZE_MAX);
    CHECK(coll_arena_bytes(SIZE_MAX) == SIZE_MAX);
}

int main(void)
{
    RUN(spans_take_the_first_gap);
    RUN(spans_in_any_memory);
    RUN(spans_never_overlap);
    RUN(arena_aligns_and_stays_inside);
    RUN(arena_of_one_piece);
    RUN(arena_at_its_limits);
    return check_done();
}
