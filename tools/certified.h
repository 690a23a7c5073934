/* tools/certified.h — certificates: proofs for ranges of p that no run of all ranks reaches
 *
 *   struct certify what = {COLL_COLLECTIVES, NULL, 1, 1048576, 256, 2, NULL};
 *   return certified_prove(&what);
 */
#ifndef COLL_TOOLS_CERTIFIED_H
#define COLL_TOOLS_CERTIFIED_H

#include "coll/lab/certify.h"

/* What is asked for. */
struct certify {
    coll_collective one; /* COLL_COLLECTIVES: all */
    const char *only;    /* an algorithm's name; NULL: all */
    uint32_t p_first, p_last, whole, jobs;
    const char *into; /* the file that the certificates are written to; NULL: none */
};

/* coll verify --certify: proves each row that has an argument, and prints a line. Returns the exit code. */
int certified_prove(const struct certify *what);

/* coll verify --check-certificate: proves anew what a file says is proven. Returns the exit code. */
int certified_check(const char *file, uint32_t jobs);

#endif /* COLL_TOOLS_CERTIFIED_H */
