/* Bad: uses a type that it does not include. */
#ifndef COLL_NOT_SELF_CONTAINED_H
#define COLL_NOT_SELF_CONTAINED_H

static inline int coll_is_set(coll_missing value)
{
    return value != 0;
}

#endif /* COLL_NOT_SELF_CONTAINED_H */
