/* Bad: an inner name hides an outer one. */
#ifndef COLL_SHADOW_H
#define COLL_SHADOW_H

static inline int coll_sum_below(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int n = i;
        sum += n;
    }
    return sum;
}

#endif /* COLL_SHADOW_H */
