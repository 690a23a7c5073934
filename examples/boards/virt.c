/* examples/boards/virt.c — QEMU's RISC-V machine `virt`: RV32IMAC, for want of a board with Ethernet that QEMU has
 *
 * Registers: QEMU's documentation of `virt`; RISC-V ACLINT (MTIME); National Semiconductor PC16550D data sheet, chapter 8.
 */
#include "../firmware/riscv.h"
#include "nic.h"

const char board_name[] = "virt";
const uint32_t board_hz = 10000000;

/* The UART, an NS16550A: byte registers. */
#define UART(offset) (*(volatile uint8_t *)(0x10000000u + (offset)))

enum { DATA = 0, LINE_STATE = 5, RX_THERE = 1, TX_FREE = 0x20 };

void board_init(void)
{
}

bool board_put(uint8_t byte)
{
    if (!(UART(LINE_STATE) & TX_FREE))
        return false;
    UART(DATA) = byte;
    return true;
}

bool board_get(uint8_t *byte)
{
    if (!(UART(LINE_STATE) & RX_THERE))
        return false;
    *byte = UART(DATA);
    return true;
}

void board_wait(void)
{
    nic_wait();
}
