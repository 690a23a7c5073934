/* Bad: reads behind the end of what was allocated. AddressSanitizer must say so. */
#include <stdlib.h>

int main(int argc, char **argv)
{
    char *volatile bytes = malloc(4);
    (void)argv;
    return bytes[3 + argc];
}
