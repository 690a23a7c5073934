/* examples/mpi/layer/wide.h — the predefined operators on wider vectors */
#ifndef COLL_EXAMPLES_MPI_LAYER_WIDE_H
#define COLL_EXAMPLES_MPI_LAYER_WIDE_H

#include "coll/types.h"

/* Does this processor have them? */
bool wide_is_here(void);

/* As coll_op_builtin; only where they are here. */
coll_status wide_op(coll_op *op, coll_operator which, coll_type type);

#endif /* COLL_EXAMPLES_MPI_LAYER_WIDE_H */
