/* tools/bind.h — ranks that stay on one processor */
#ifndef COLL_TOOLS_BIND_H
#define COLL_TOOLS_BIND_H

#include <stdint.h>

/* Gives this thread, a rank, a processor of its own, as long as there are some. */
void bind_rank(uint64_t rank);

#endif /* COLL_TOOLS_BIND_H */
