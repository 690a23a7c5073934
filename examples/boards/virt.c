/* examples/boards/virt.c — QEMU's RISC-V machine `virt`: RV32IMAC, for want of a board with Ethernet that QEMU has
 *
 * Registers: QEMU's documentation of `virt`; RISC-V ACLINT (MTIME).
 */
#include "../firmware/riscv.h"
#include "nic.h"

const char board_name[] = "virt";
const uint32_t board_hz = 10000000;

void board_init(void)
{
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
