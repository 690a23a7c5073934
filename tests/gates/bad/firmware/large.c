/* Firmware that leaves no room for a stack. */
static volatile char all[16 * 1024 - 512];

int main(void)
{
    return all[0];
}
