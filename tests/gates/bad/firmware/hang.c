/* Firmware that does not end. */
int main(void)
{
    for (;;)
        __asm__ volatile("" ::: "memory");
}
