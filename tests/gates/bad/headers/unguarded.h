/* Bad: has no include guard. */
static inline int coll_one(void)
{
    return 1;
}
