/* examples/firmware/board.h — what the programs of this folder ask of a board
 *
 * A board is three files: BOARD.c has its UART, clock and vectors, BOARD.ld its memory, and start.c, the
 * same for all, what comes before main. Output, arguments and the exit code go to a debugger
 * (semihosting), or to QEMU, which answers as one.
 *
 *   microbit   BBC micro:bit: nRF51822, Cortex-M0, 16 KiB of RAM     bytes come by interrupt
 *   mps2       Arm MPS2 with image AN385: Cortex-M3                  … and waiting sleeps
 *   fe310      SiFive HiFive1: FE310, RV32IMAC, 16 KiB of RAM        the program polls
 *
 * They were tried in QEMU, where a UART needs no pins: on the boards, choose them (PSEL… of the nRF51, GPIO
 * IOF of the FE310), with RTS and CTS.
 */
#ifndef COLL_EXAMPLES_FIRMWARE_BOARD_H
#define COLL_EXAMPLES_FIRMWARE_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOARD_REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

/* ---- BOARD.c ----------------------------------------------------------------------------- */

extern const char board_name[];
extern const uint32_t board_hz; /* ticks of the clock a second */

void board_init(void);         /* before main: UART and clock */
uint64_t board_now(void);      /* ticks since then */
bool board_put(uint8_t byte);  /* to the UART; false: it is still busy with the last one */
bool board_get(uint8_t *byte); /* from the UART; false: nothing came */
void board_wait(void); /* until an interrupt, for a millisecond at most; or not at all */

/* ---- start.c ----------------------------------------------------------------------------- */

void board_start(void) __attribute__((noreturn)); /* from the reset vector, with a stack */
void board_exit(int code) __attribute__((noreturn));
void board_print(const char *text);
void board_print_number(uint32_t number);
/* The numbers that the debugger gives as arguments: how many there are, of at most `most`. */
uint32_t board_arguments(uint32_t *numbers, uint32_t most);
/* Bytes of stack that were ever used. */
uint32_t board_stack_used(void);

/* ---- bytes from an interrupt handler to the program --------------------------------------- */

enum { BOARD_FIFO_BYTES = 64 };

typedef struct board_fifo { /* the handler writes `in`, the program `out` */
    volatile uint8_t byte[BOARD_FIFO_BYTES];
    volatile uint8_t in, out;
} board_fifo;

static inline bool board_fifo_has_room(const board_fifo *fifo)
{
    return (uint8_t)(fifo->in - fifo->out) < BOARD_FIFO_BYTES;
}

static inline void board_fifo_push(board_fifo *fifo, uint32_t byte)
{
    fifo->byte[fifo->in % BOARD_FIFO_BYTES] = (uint8_t)byte;
    fifo->in++;
}

static inline bool board_fifo_pop(board_fifo *fifo, uint8_t *byte)
{
    if (fifo->in == fifo->out)
        return false;
    *byte = fifo->byte[fifo->out % BOARD_FIFO_BYTES];
    fifo->out++;
    return true;
}

#endif /* COLL_EXAMPLES_FIRMWARE_BOARD_H */
