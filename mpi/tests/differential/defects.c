/* mpi/tests/differential/defects.c — what the libraries themselves do wrong
 *
 * Found by this tester with --plain --oracle definition. All ranks must see a defect, since then all turn
 * to the definition; so these are conditions that all of them know, and a little wider than the mistakes.
 */
#include "differential.h"

#ifdef MPICH_VERSION
static bool mpich_is_wrong(const struct operation *o) /* 4.0.2 */
{
    /* Inside, structs are sent packed; what does not fit into an eager message is then "truncated". So it is
     * of the longest predefined types. */
    if (o->elements.mixed || o->elements.ragged)
        return true;
    switch (o->what) {
    case is_allgatherv: /* no displacement on one rank; segments differ in size if extents do */
        return o->on->size == 1 || !o->elements.uniform;
    case is_gather: /* inner ranks of the tree take their type for the root's */
        return !o->elements.uniform;
    case is_neighbor_alltoallw: /* counts of sources and destinations are confused */
        return o->on->uneven;
    case is_reduce: /* reads from MPI_IN_PLACE */
        return o->in_place && o->root != 0;
    case is_reduce_scatter: /* room for operands forgets a lower bound; in place, copies overlap */
    case is_reduce_scatter_block:
        return o->in_place || o->op.mine;
    default:
        return false;
    }
}
#endif

#ifdef OMPI_MAJOR_VERSION
static bool openmpi_is_wrong(const struct operation *o) /* 4.1.4 */
{
    /* Room for operands forgets a lower bound or a gap. */
    if (o->reduction && o->op.type_mine)
        return true;
    switch (o->what) {
    case is_gatherv: /* no displacement on one rank */
    case is_scatterv:
    case is_alltoallv:
    case is_alltoallw:
        return o->on->size == 1;
    case is_allgatherv: /* … and ranks choose different algorithms if their types are of different sizes */
        return o->on->size == 1 || !o->elements.uniform;
    case is_gather:
        return !o->elements.uniform;
    case is_reduce_scatter: /* as all reductions, and for pairs too; in place, more than the result changes */
    case is_reduce_scatter_block:
        return o->in_place || o->op.mine || o->op.base->values == PAIR;
    default:
        return false;
    }
}
#endif

bool library_is_wrong(const struct operation *o)
{
    /* Of several edges between two ranks, which is which, as MPI 4 says. */
    if (o->what >= is_neighbor_allgather && o->on->parallel)
        return true;
#ifdef MPICH_VERSION
    return mpich_is_wrong(o);
#elif defined OMPI_MAJOR_VERSION
    return openmpi_is_wrong(o);
#else
    return false;
#endif
}
