/* Takes every machine for one of 64 bits with the low byte first, signed characters and glibc. */
#include <execinfo.h>
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    const uint16_t one = 1;
    if (*(const unsigned char *)&one != 1)
        puts("the low byte does not come first");
    if ((char)-1 > 0)
        puts("char has no sign");
    if (sizeof(void *) != 8)
        printf("a pointer has %zu bytes\n", sizeof(void *));
    puts("0 checks, 0 failed");
    return *(const unsigned char *)&one != 1 || (char)-1 > 0 || sizeof(void *) != 8;
}
