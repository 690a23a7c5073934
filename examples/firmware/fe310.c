/* examples/firmware/fe310.c — SiFive HiFive1: FE310 with an RV32IMAC core (QEMU: sifive_e)
 *
 * Registers: SiFive FE310-G000 Manual v3p2, chapters 9 (CLINT) and 18 (UART).
 */
#include "board.h"
#include "riscv.h"

#define UART 0x10013000u

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
