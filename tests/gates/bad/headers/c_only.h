/* Bad: C++ does not convert void pointers by itself. */
#ifndef COLL_C_ONLY_H
#define COLL_C_ONLY_H

static inline unsigned char *coll_bytes_of(void *memory)
{
    unsigned char *bytes = memory;
    return bytes;
}

#endif /* COLL_C_ONLY_H */
