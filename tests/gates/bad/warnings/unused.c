/* Bad: a variable that nothing uses. */
int main(void)
{
    int unused = 1;
    return 0;
}
