/* examples/firmware/mps2.c — Arm MPS2 with image AN385: a Cortex-M3 (QEMU: mps2-an385)
 *
 * Registers: Cortex-M System Design Kit, Technical Reference Manual, 4.3 (APB UART); Armv7-M
 * Architecture Reference Manual, B3.3 (SysTick), B3.4 (NVIC).
 */
#include "board.h"

#define UART    0x40004000u
#define SYSTICK 0xe000e010u
#define NVIC    0xe000e100u

enum { DATA = 0, STATE = 4, CTRL = 8, INTCLEAR = 12, BAUDDIV = 16 }; /* offsets of the UART … */
enum { CONTROL = 0, RELOAD = 4, CURRENT = 8 };                       /* … and of SysTick */
enum { TX_FULL = 1, RX_FULL = 2, TX_ON = 1, RX_ON = 2, RX_INTERRUPT = 8, RX_CLEAR = 2 };
enum { HZ = 25000000, TICK = HZ / 1000, UART_RX_IRQ = 0 };

const char board_name[] = "mps2";
const uint32_t board_hz = HZ;
static board_fifo received;
static volatile uint32_t ticks; /* milliseconds */

/* Takes what came while there is room. Without room the byte stays in the UART, until the program looks
 * for one. */
static void take(void)
{
    BOARD_REGISTER(UART + INTCLEAR) = RX_CLEAR;
    while (board_fifo_has_room(&received) && (BOARD_REGISTER(UART + STATE) & RX_FULL))
        board_fifo_push(&received, BOARD_REGISTER(UART + DATA));
}

static void tick(void)
{
    ticks++;
}

void board_init(void)
{
    BOARD_REGISTER(SYSTICK + RELOAD) = TICK - 1;
    BOARD_REGISTER(SYSTICK + CURRENT) = 0;
    BOARD_REGISTER(SYSTICK + CONTROL) = 7; /* the processor's clock, with interrupt */
    BOARD_REGISTER(UART + BAUDDIV) = HZ / 115200;
    BOARD_REGISTER(UART + CTRL) = TX_ON | RX_ON | RX_INTERRUPT;
    BOARD_REGISTER(NVIC) = 1u << UART_RX_IRQ;
}

uint64_t board_now(void)
{
    uint32_t before, part;
    do {
        before = ticks;
        part = TICK - 1 - BOARD_REGISTER(SYSTICK + CURRENT);
    } while (before != ticks);
    return (uint64_t)before * TICK + part;
}

bool board_put(uint8_t byte)
{
    if (BOARD_REGISTER(UART + STATE) & TX_FULL)
        return false;
    BOARD_REGISTER(UART + DATA) = byte;
    return true;
}

bool board_get(uint8_t *byte)
{
    __asm__ volatile("cpsid i" ::: "memory");
    take();
    __asm__ volatile("cpsie i" ::: "memory");
    return board_fifo_pop(&received, byte);
}

/* With interrupts off wfi still ends at one, so that none slips in between the look and the sleep. */
void board_wait(void)
{
    __asm__ volatile("cpsid i" ::: "memory");
    if (received.in == received.out)
        __asm__ volatile("wfi" ::: "memory");
    __asm__ volatile("cpsie i" ::: "memory");
}

static void fault(void)
{
    board_exit(99);
}

extern uint32_t board_stack_top[];

static const struct {
    void *stack;
    void (*handler[15 + UART_RX_IRQ + 1])(void);
} vectors __attribute__((section(".vectors"), used)) = {
    board_stack_top,
    {[0] = board_start, [1] = fault, [2] = fault, [14] = tick, [15 + UART_RX_IRQ] = take}};
