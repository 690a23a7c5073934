/* Bad: calls the mathematical library. */
#ifndef COLL_SQRT_H
#define COLL_SQRT_H
#ifndef COLL_INLINE
#define COLL_INLINE static inline
#endif

double sqrt(double x);

COLL_INLINE double coll_root(double x)
{
    return sqrt(x);
}

#endif /* COLL_SQRT_H */
