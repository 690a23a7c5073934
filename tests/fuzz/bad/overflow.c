/* A target with a mistake, which run.sh must find. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile char sink;
    char *bytes = bytes_of(data, size);
    if (size > 2 && bytes[0] == 'b' && bytes[1] == 'a' && bytes[2] == 'd')
        sink = bytes[size]; /* one byte too far */
    free(bytes);
    (void)sink;
    return 0;
}
