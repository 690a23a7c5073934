/* examples/firmware/fe310.c — SiFive HiFive1: FE310 with an RV32IMAC core (QEMU: sifive_e)
 *
 * Registers: SiFive FE310-G000 Manual v3p2, chapters 9 (CLINT) and 18 (UART).
 */
#include "board.h"

#define MTIME 0x0200bff8u
#define UART  0x10013000u

enum { TXDATA = 0, RXDATA = 4, TXCTRL = 8, RXCTRL = 12, DIV = 24 }; /* offsets */
enum { ON = 1 };
#define FULL_OR_EMPTY 0x80000000u

const char board_name[] = "fe310";
const uint32_t board_hz = 10000000; /* QEMU's; the board's is 32768 */

void board_init(void)
{
    BOARD_REGISTER(UART + DIV) = 16000000 / 115200 - 1;
    BOARD_REGISTER(UART + TXCTRL) = ON;
    BOARD_REGISTER(UART + RXCTRL) = ON;
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

bool board_put(uint8_t byte)
{
    if (BOARD_REGISTER(UART + TXDATA) & FULL_OR_EMPTY)
        return false;
    BOARD_REGISTER(UART + TXDATA) = byte;
    return true;
}

/* Polled: the UART keeps eight bytes, which take 0.7 ms. */
bool board_get(uint8_t *byte)
{
    const uint32_t word = BOARD_REGISTER(UART + RXDATA);
    *byte = (uint8_t)word;
    return !(word & FULL_OR_EMPTY);
}

void board_wait(void)
{
}

void board_fault(void);

__attribute__((aligned(4))) void board_fault(void)
{
    board_exit(99);
}

/* Where the processor begins, at the start of the flash. */
__asm__(".section .vectors, \"ax\"\n"
        ".option arch, +zicsr\n"
        "la sp, board_stack_top\n"
        "la t0, board_fault\n"
        "csrw mtvec, t0\n"
        "j board_start\n"
        ".text\n");
