/* mpi/layer/tuned.h — rules for the point-to-point calls of MPI libraries, as a table
 * (coll/table.h); what they leave open the built-in rules say
 *
 *   const char rules[] =
 *   #include "tuned.h"      // those of the library whose mpi.h was included
 *       ;
 *
 * Measured between processes of one machine with two processors (bench/mpi). With more ranks than
 * processors each wait costs a change of process, so few rounds win, and with five ranks or more few
 * messages. A test (tests/select/proof.c) proves what each of them says for Open MPI and for MPICH.
 */
"barrier         p 3..8                  linear              # few messages\n"
    "scan,exscan     p 2                     linear              # one message\n"
    "alltoall        p 5..8                  pairwise            # straight to its rank\n"
    "reduce          p 5..8  bytes ..16k     linear              # one round\n"
    "allreduce       p 5..8  bytes ..16k     linear              # few messages\n"
#ifdef OPEN_MPI
    "bcast           p 3..8                  linear              # straight from the root\n"
    "allreduce       p 2     bytes 4k..<8k   ring                # halves are sent at once\n"
#else
    "bcast           p 4     bytes ..8k      fnomial             # the root sends once less\n"
    "bcast           p 3..4                  linear              # straight from the root\n"
#endif
    "allreduce       p 2     bytes 8k..<1M   recursive_doubling  # one round\n"
    "allreduce       p 2     bytes 1M..      ring                # each rank reduces its half\n"
#ifdef OPEN_MPI
    "allreduce       p 3..4  bytes ..16k     recursive_multiplying:k=8  # one round\n"
    "allreduce       p 3..8  bytes 16k..64k  fnomial:segment=64k # few messages\n"
    "allreduce       p 3..8  bytes 64k..1M   circulant           # the least traffic\n"
    "reduce          p 3..8  bytes 4k..512k  fnomial             # segments bring nothing "
    "here\n"
    "scan            p 3..4  bytes 4k..      linear              # few messages\n"
    "exscan          p 3..4  bytes 2M..      linear              # few messages\n"
    "scan,exscan     p 5..8  bytes 64k..     linear              # few messages\n"
    "scan,exscan     p ..8                   recursive_doubling  # segments bring nothing "
    "here\n"
#else
    "allreduce       p 3..4  bytes ..8k      recursive_multiplying:k=8  # one round\n"
    "allreduce       p 5..8  bytes 16k..<128k fnomial:segment=64k # segments go at once\n"
    "bcast           p 5..8  bytes 32k..     fnomial:segment=256k # few messages\n"
    "reduce          p 3..8  bytes 64k..1M   fnomial:segment=64k # segments go at once\n"
    "reduce          p ..8   bytes 1M..      chain:chains=1,segment=64k # segments go at once\n"
#endif
    "reduce          p 3..8  bytes ..4k      linear              # one round\n"
    "allreduce       p 3..8                  rabenseifner        # the least traffic\n"
    "allgather,allgatherv p 3..8             linear              # one round\n"
    "reduce_scatter,reduce_scatter_block p 3..8 bytes ..4k linear # one round\n"
    "reduce_scatter,reduce_scatter_block p 3..8 bytes 4k..512k pairwise # straight to its "
    "rank\n"
