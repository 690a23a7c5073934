/* Bad: a value is read that nobody wrote. */
#ifndef COLL_UNINITIALIZED_H
#define COLL_UNINITIALIZED_H

COLL_INLINE int coll_sum_below(int n)
{
    int sum;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}

#endif /* COLL_UNINITIALIZED_H */
