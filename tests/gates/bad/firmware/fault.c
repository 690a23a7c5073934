/* Firmware that reads a word at an odd address. */
#include <stdint.h>

int main(void)
{
    static uint32_t words[2];
    volatile uintptr_t odd = (uintptr_t)words + 1;
    return (int)*(volatile uint32_t *)odd;
}
