/* Bad: in C a structure tag alone is not a type. */
#ifndef COLL_CPP_ONLY_H
#define COLL_CPP_ONLY_H

struct coll_pair {
    int a, b;
};

static inline int coll_first(coll_pair pair)
{
    return pair.a;
}

#endif /* COLL_CPP_ONLY_H */
