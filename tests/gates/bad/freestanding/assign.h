/* Bad: a structure so large that compilers call memcpy to assign it. */
#ifndef COLL_ASSIGN_H
#define COLL_ASSIGN_H
#ifndef COLL_INLINE
#define COLL_INLINE static inline
#endif

typedef struct coll_table {
    unsigned char entry[1001];
} coll_table;

COLL_INLINE void coll_table_assign(coll_table *to, const coll_table *from)
{
    *to = *from;
}

#endif /* COLL_ASSIGN_H */
