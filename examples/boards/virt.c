/* examples/boards/virt.c — QEMU's RISC-V machine `virt`: RV32IMAC, for want of a board with Ethernet that QEMU has
 *
 * Registers: QEMU's documentation of `virt`; RISC-V ACLINT (MTIME).
 */
#include "nic.h"

#define MTIME 0x0200bff8u

const char board_name[] = "virt";
const uint32_t board_hz = 10000000;

void board_init(void)
{
}

uint64_t board_now(void)
{
    uint32_t high, low;
    do {
        high = BOARD_REGISTER(MTIME + 4);
        low = BOARD_REGISTER(MTIME);
    } while (high != BOARD_REGISTER(MTIME + 4));
    return (uint64_t)high << 32 | low;
}

/* The UART is not used. */
bool board_put(uint8_t byte)
{
    (void)byte;
    return false;
}

bool board_get(uint8_t *byte)
{
    (void)byte;
    return false;
}

void board_wait(void)
{
    nic_wait();
}

void board_fault(void);

__attribute__((aligned(4))) void board_fault(void)
{
    board_exit(99);
}

/* Where the processor begins, at the start of the RAM. */
__asm__(".section .vectors, \"ax\"\n"
        ".option arch, +zicsr\n"
        "la sp, board_stack_top\n"
        "la t0, board_fault\n"
        "csrw mtvec, t0\n"
        "j board_start\n"
        ".text\n");
