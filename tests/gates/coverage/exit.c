/* Where lines are counted: a process that leaves by _exit, as those that tests fork, writes its counts, too.
 * Linked with -Wl,--wrap=_exit. */
extern void __gcov_dump(void);
extern void __real__exit(int code);
extern void __wrap__exit(int code);

void __wrap__exit(int code)
{
    __gcov_dump();
    __real__exit(code);
}
