/* examples/firmware/start.c — from reset to main, and what a debugger does for a program */
#include "board.h"

int main(void);

/* Of sections.ld. */
extern uint32_t board_data_from[], board_data[], board_data_end[], board_bss[], board_bss_end[],
    board_stack_top[];

enum { PAINT = 0x5a5a5a5a };

/* Writes .data and .bss, and paints the stack below this function. `volatile` keeps the compiler from
 * making calls of memcpy and memset out of the loops. */
void board_start(void)
{
    const uint32_t *from = board_data_from;
    volatile uint32_t *to = board_data;
    while (to < board_data_end)
        *to++ = *from++;
    for (to = board_bss; to < board_bss_end;)
        *to++ = 0;
    while (to < (uint32_t *)__builtin_frame_address(0) - 32)
        *to++ = PAINT;
    board_init();
    board_exit(main());
}

uint32_t board_stack_used(void)
{
    const volatile uint32_t *at = board_bss_end;
    while (at < board_stack_top && *at == PAINT)
        at++;
    return (uint32_t)((uintptr_t)board_stack_top - (uintptr_t)at);
}

/* ---- semihosting ------------------------------------------------------------------------- */

enum { SYS_WRITE0 = 0x04, SYS_GET_CMDLINE = 0x15, SYS_EXIT_EXTENDED = 0x20 };

static uintptr_t ask(uintptr_t operation, const void *argument)
{
#if defined(__riscv)
    register uintptr_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;
    __asm__ volatile(".balign 16\n"
                     ".option push\n"
                     ".option norvc\n"
                     "slli zero, zero, 0x1f\n"
                     "ebreak\n"
                     "srai zero, zero, 7\n"
                     ".option pop\n"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
#else
    register uintptr_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
#endif
}

void board_exit(int code)
{
    const uintptr_t application_exit = 0x20026;
    uintptr_t block[2];
    block[0] = application_exit;
    block[1] = (uintptr_t)code;
    for (;;)
        (void)ask(SYS_EXIT_EXTENDED, block);
}

void board_print(const char *text)
{
    (void)ask(SYS_WRITE0, text);
}

void board_print_number(uint32_t number)
{
    char digits[11];
    uint32_t at = sizeof digits - 1;
    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    board_print(&digits[at]);
}

uint32_t board_arguments(uint32_t *numbers, uint32_t most)
{
    char line[80];
    uintptr_t block[2];
    uint32_t n = 0, number = 0;
    bool inside = false;
    block[0] = (uintptr_t)line;
    block[1] = sizeof line;
    if (ask(SYS_GET_CMDLINE, block) != 0)
        return 0;
    for (const char *at = line; n < most; at++) {
        if (*at >= '0' && *at <= '9') {
            number = number * 10 + (uint32_t)(*at - '0');
            inside = true;
        } else {
            if (inside)
                numbers[n++] = number;
            inside = false;
            number = 0;
        }
        if (*at == '\0')
            break;
    }
    return n;
}
