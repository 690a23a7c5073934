/* coll/undocumented.h — a public function that nobody describes */
#ifndef COLL_UNDOCUMENTED_H
#define COLL_UNDOCUMENTED_H

/* This one is described. */
static inline int coll_described(void)
{
    return 0;
}

static inline int coll_undocumented(void)
{
    return 0;
}

#endif /* COLL_UNDOCUMENTED_H */
