/* examples/cg/matrix_market.h — reading matrices in the Matrix Market exchange format
 *
 * Read are square matrices in coordinate form, real or integer, symmetric or general. Lines may
 * end in CR LF; blank lines and lines that begin with % are skipped everywhere after the first.
 * A symmetric file may hold either triangle. Entries at the same place are added up, in their
 * order. A matrix that cannot be symmetric positive definite because it is not symmetric (to 12
 * digits) or has a diagonal entry that is missing, zero or negative, is refused. Format:
 * https://math.nist.gov/MatrixMarket/formats.html
 */
#ifndef COLL_EXAMPLES_CG_MATRIX_MARKET_H
#define COLL_EXAMPLES_CG_MATRIX_MARKET_H

#include "csr.h"

/* Reads the file into *a, which the caller frees. False: the sentence, in `bytes` bytes, says
 * where and why, as "file:line: reason", and *a holds nothing. */
bool matrix_market_read(csr *a, const char *path, char *sentence, size_t bytes);

#endif /* COLL_EXAMPLES_CG_MATRIX_MARKET_H */
