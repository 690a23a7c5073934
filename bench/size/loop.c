/* bench/size/loop.c — instructions an element of a loop, on a board of examples/firmware in QEMU; for
 * bench/size.sh
 *
 * LOOP is a coll_combine, ELEMENT the bytes of its elements. QEMU is started with -icount shift=0: an
 * instruction takes 1 ns. Prints tenths of instructions an element.
 */
#include "coll/reduce.h"

#include "../../examples/firmware/board.h"

enum { COUNT = 256, RUNS = 40 };

#ifndef LOOP
#define LOOP    coll_sum_i32
#define ELEMENT 4
#endif

/* The library's copy on bare metal (COLL_COPY): by bytes, or by words (COLL_COPY_WORDS). */
static void copy(void *dst, const void *a, const void *b, size_t count, void *arg)
{
    (void)b, (void)arg;
    coll_i_copy(dst, a, count);
}

/* Bits of floats between 2⁻⁴ and 2⁴, of either sign. */
static void fill(uint32_t *x, uint32_t seed)
{
    for (uint32_t i = 0; i < COUNT * ELEMENT / 4; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = ELEMENT == 8 && i % 2 == 0 ? seed
               : ELEMENT == 8 ? (seed & 0x800fffffu) | (1019u + (seed >> 21) % 8) << 20
                              : (seed & 0x807fffffu) | (123u + (seed >> 24) % 8) << 23;
    }
}

int main(void)
{
    static uint64_t a[COUNT * ELEMENT / 8], b[COUNT * ELEMENT / 8], c[COUNT * ELEMENT / 8];
    static const coll_combine loops[] = {copy, LOOP};
    const coll_combine volatile loop = loops[1];
    uint64_t began;
    fill((uint32_t *)(void *)a, 1);
    fill((uint32_t *)(void *)b, 2);
    began = board_now();
    for (int i = 0; i < RUNS; i++)
        loop(c, a, b, COUNT, NULL);
    board_print_number(
        (uint32_t)((board_now() - began) * 10000 / (board_hz / 1000000) / (RUNS * COUNT)));
    board_print("\n");
    return 0;
}
