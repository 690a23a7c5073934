/* Firmware that finds something wrong. */
int main(void)
{
    return 5;
}
