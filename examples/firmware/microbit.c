/* examples/firmware/microbit.c — BBC micro:bit: nRF51822 with a Cortex-M0 (QEMU: microbit)
 *
 * Registers: nRF51 Series Reference Manual 3.0, chapters 18 (TIMER) and 29 (UART).
 */
#include "board.h"

#define TIMER 0x40008000u
#define UART  0x40002000u
#define NVIC  0xe000e100u

enum { /* offsets */
       START = 0x000,
       STARTTX = 0x008,
       CAPTURE0 = 0x040,
       RXDRDY = 0x108,
       TXDRDY = 0x11c,
       INTENSET = 0x304,
       INTENCLR = 0x308,
       ENABLE = 0x500,
       BITMODE = 0x508,
       PRESCALER = 0x510,
       RXD = 0x518,
       TXD = 0x51c,
       BAUDRATE = 0x524,
       CC0 = 0x540
};
enum { UART_IRQ = 2, RXDRDY_BIT = 1 << 2, BAUD_115200 = 0x01d7e000 };

const char board_name[] = "microbit";
const uint32_t board_hz = 16000000;
static board_fifo received;
static bool sending;

/* Takes what came while there is room. Without room the byte stays in the UART, whose RTS then stops the
 * other side, and its interrupt is off until the program has made room. */
static void take(void)
{
    while (board_fifo_has_room(&received) && BOARD_REGISTER(UART + RXDRDY)) {
        BOARD_REGISTER(UART + RXDRDY) = 0;
        board_fifo_push(&received, BOARD_REGISTER(UART + RXD));
    }
    BOARD_REGISTER(UART + (board_fifo_has_room(&received) ? INTENSET : INTENCLR)) = RXDRDY_BIT;
}

void board_init(void)
{
    BOARD_REGISTER(TIMER + BITMODE) = 3; /* of 32 bits */
    BOARD_REGISTER(TIMER + PRESCALER) = 0;
    BOARD_REGISTER(TIMER + START) = 1;
    BOARD_REGISTER(UART + BAUDRATE) = BAUD_115200;
    BOARD_REGISTER(UART + ENABLE) = 4;
    BOARD_REGISTER(UART + START) = 1; /* STARTRX */
    BOARD_REGISTER(UART + STARTTX) = 1;
    BOARD_REGISTER(UART + INTENSET) = RXDRDY_BIT;
    BOARD_REGISTER(NVIC) = 1u << UART_IRQ;
}

/* The timer comes round every 268 seconds; somebody must look at it more often than that. */
uint64_t board_now(void)
{
    static uint32_t last, rounds;
    uint32_t now;
    BOARD_REGISTER(TIMER + CAPTURE0) = 1;
    now = BOARD_REGISTER(TIMER + CC0);
    rounds += now < last;
    last = now;
    return (uint64_t)rounds << 32 | now;
}

bool board_put(uint8_t byte)
{
    if (sending && !BOARD_REGISTER(UART + TXDRDY))
        return false;
    BOARD_REGISTER(UART + TXDRDY) = 0;
    BOARD_REGISTER(UART + TXD) = byte;
    sending = true;
    return true;
}

bool board_get(uint8_t *byte)
{
    __asm__ volatile("cpsid i" ::: "memory");
    take();
    __asm__ volatile("cpsie i" ::: "memory");
    return board_fifo_pop(&received, byte);
}

void board_wait(void)
{
}

static void fault(void)
{
    board_exit(99);
}

extern uint32_t board_stack_top[];

static const struct {
    void *stack;
    void (*handler[15 + UART_IRQ + 1])(void);
} vectors __attribute__((section(".vectors"), used)) = {
    board_stack_top, {[0] = board_start, [1] = fault, [2] = fault, [15 + UART_IRQ] = take}};
