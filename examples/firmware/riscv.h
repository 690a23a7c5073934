/* examples/firmware/riscv.h — what RISC-V boards have in common: time, faults, and where the processor begins
 *
 * For one file of an image. Registers: RISC-V ACLINT (MTIME), at the same address as the FE310's.
 */
#ifndef COLL_EXAMPLES_RISCV_H
#define COLL_EXAMPLES_RISCV_H

#include "board.h"

#define MTIME 0x0200bff8u

uint64_t board_now(void)
{
    uint32_t high, low;
    do {
        high = BOARD_REGISTER(MTIME + 4);
        low = BOARD_REGISTER(MTIME);
    } while (high != BOARD_REGISTER(MTIME + 4));
    return (uint64_t)high << 32 | low;
}

void board_fault(void);

__attribute__((aligned(4))) void board_fault(void)
{
    board_exit(99);
}

/* Where the processor begins, at the start of the memory that it starts from. */
__asm__(".section .vectors, \"ax\"\n"
        ".option arch, +zicsr\n"
        "la sp, board_stack_top\n"
        "la t0, board_fault\n"
        "csrw mtvec, t0\n"
        "j board_start\n"
        ".text\n");

#endif /* COLL_EXAMPLES_RISCV_H */
