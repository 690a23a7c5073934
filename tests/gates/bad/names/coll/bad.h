/* Bad: one name of each kind that the rules forbid. */
#ifndef COLL_OTHER_H
#define COLL_OTHER_H

#define LEAST 1

#ifndef COLL_INLINE
#define COLL_INLINE static inline
#endif

typedef struct coll_pair_t {
    int a, b;
} coll_pair_t;

enum { limit = 8 };

static const int half = 4;

COLL_INLINE int helper_of(int value)
{
    return value + half + LEAST;
}

COLL_INLINE int coll_dunder__of(int value)
{
    return value;
}

#endif /* COLL_OTHER_H */
