/* Bad: a name that belongs to the implementation. */
#ifndef COLL_RESERVED_H
#define COLL_RESERVED_H

static inline int coll__one(int _Value)
{
    return _Value;
}

#endif /* COLL_RESERVED_H */
