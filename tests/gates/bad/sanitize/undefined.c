/* Bad: a shift further than the type is wide. UndefinedBehaviorSanitizer must say so. */
int main(int argc, char **argv)
{
    (void)argv;
    return (argc << (31 + argc)) != 0;
}
