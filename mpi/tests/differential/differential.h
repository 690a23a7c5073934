/* mpi/tests/differential/differential.h — what the parts of the differential tester share
 *
 *   differential.c    options, the loop over cases, what happens to a case that hangs
 *   communicators.c   a few communicators of every kind for a case
 *   types.c           datatypes that hold the same elements in many ways
 *   operators.c       operators, the types that they take, and values for them
 *   sides.c           the buffers of one side of a call, with guards, counts and displacements
 *   operation.c       a random call
 *   call.c            … of MPI in all its forms, and of PMPI
 *   reference.c       … and by its definition, for what libraries do wrong
 *   messages.c        ordinary messages
 *   completion.c      requests of all kinds completed in any order, in any way
 *   cases.c           one call, and many at a time
 *
 * Every call is made twice with the same arguments and equal contents of all buffers: as PMPI, to learn
 * what the library makes of them, and as MPI, which is what is tested.
 */
#ifndef DIFFERENTIAL_H
#define DIFFERENTIAL_H

#include <mpi.h>

#include "random.h"

#if MPI_VERSION >= 4
#define LARGE_COUNTS 1 /* and persistent collectives */
#else
#define LARGE_COUNTS 0
#endif

enum { MANY = 64, TEXT = 1024 };

#define COLLECTIVES(X)                                                                         \
    X(barrier)                                                                                 \
    X(bcast)                                                                                   \
    X(reduce)                                                                                  \
    X(allreduce)                                                                               \
    X(gather)                                                                                  \
    X(gatherv)                                                                                 \
    X(scatter)                                                                                 \
    X(scatterv)                                                                                \
    X(allgather)                                                                               \
    X(allgatherv)                                                                              \
    X(alltoall)                                                                                \
    X(alltoallv)                                                                               \
    X(alltoallw)                                                                               \
    X(reduce_scatter)                                                                          \
    X(reduce_scatter_block)                                                                    \
    X(scan)                                                                                    \
    X(exscan)                                                                                  \
    X(neighbor_allgather)                                                                      \
    X(neighbor_allgatherv)                                                                     \
    X(neighbor_alltoall)                                                                       \
    X(neighbor_alltoallv)                                                                      \
    X(neighbor_alltoallw)

#define NAMED(name) is_##name,
enum collective { COLLECTIVES(NAMED) COLLECTIVE_COUNT };
#undef NAMED

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORM_COUNT };

extern const char *const collective_names[], *const form_names[];

extern struct options {
    uint64_t seed;
    long first, cases;           /* cases first … first+cases−1 */
    uint32_t collectives, forms; /* masks */
    bool large_counts, floats, by_definition, plain;
    size_t bytes; /* of a buffer, about */
    int asked;    /* percent of buffers that are memory of MPI_Alloc_mem */
    int verbose;
} options;

extern int world_rank, world_size;

/* ---- communicators ---------------------------------------------------------------------- */

struct communicator {
    MPI_Comm comm; /* MPI_COMM_NULL on ranks that are not in it */
    int rank, size;
    bool mine; /* to be freed */
    bool topology, cartesian;
    int in, out; /* neighbours */
    int sources[MANY], destinations[MANY];
    bool parallel,
        uneven; /* some rank has two edges to one other; more of one kind than of the other */
    char text[64];
};

/* Makes one of world or of parent, by the stream of all ranks. */
void communicator_make(struct communicator *c, const struct communicator *parent,
                       struct stream *s);
/* Which of the edges between two ranks their k-th one is. */
int edge_of(const struct communicator *c, bool sending, int k);
void communicator_free(struct communicator *c);

/* ---- types ------------------------------------------------------------------------------ */

/* How values of a predefined type are written. */
enum values { BYTES, INTEGER, LOGICAL, REAL, QUAD, COMPLEX, QUAD_COMPLEX, PAIR };

struct base {
    const char *name;
    MPI_Datatype type;
    enum values values;
    size_t size;        /* of a value; of the first of a pair */
    size_t second;      /* pairs: where the second is */
    bool real;          /* … and what they are: numbers are reals */
    bool both;          /* … the second is like the first; otherwise it is an int */
    int ragged;         /* as of elements */
    bool natural;       /* unsigned */
    uint32_t operators; /* mask of those that the library takes */
};

extern struct base bases[];
extern int base_count;

/* What elements a call moves. */
struct elements {
    bool
        uniform; /* one layout everywhere; else each rank has its own, to send and to receive */
    bool mixed;  /* basic types of several kinds */
    MPI_Datatype base;
    bool mine;    /* to be freed */
    int most;     /* layouts hold a divisor of this; 0: nothing */
    int unit;     /* counts are multiples of this many elements */
    size_t bytes; /* of a unit */
    int ragged; /* 1: long doubles, whose last bytes need not travel; 2: with an int behind; 3: longer than
                what Open MPI can unpack by parts: laid out without gaps, all of them */
    uint64_t key; /* of the counts of pairs */
    char text[48];
};

/* A datatype that holds `elements` of them, in order. */
struct layout {
    MPI_Datatype type;
    int elements;
    bool mine; /* to be freed */
    char text[48];
};

/* The bases that this library has. */
void types_begin(void);
void elements_draw(struct elements *e, struct stream *s);
/* Makes the bytes equal that need not be. */
void elements_level(const struct elements *e, unsigned char *at, size_t n);
/* Makes a layout of them, fit for span items one behind the other; by the rank's own stream,
 * unless they are uniform. */
void layout_make(struct layout *l, const struct elements *e, int span, struct stream *s);

/* ---- operators -------------------------------------------------------------------------- */

struct operator_ {
    MPI_Op op;
    MPI_Datatype type;
    bool mine, type_mine;    /* to be freed */
    const struct base *base; /* whose values it takes; NULL: any bytes will do */
    char text[64];
};

void operators_begin(void);
void operator_draw(struct operator_ *o, struct stream *s);
/* Writes n values for a predefined operator. */
void values_write(const struct base *base, unsigned char *at, size_t n, struct stream *s);
/* Makes bytes equal that need not be: padding, and the sign of a complex product that is 0. */
void values_level(const struct base *base, unsigned char *at, size_t n);

/* ---- sides ------------------------------------------------------------------------------ */

/* A buffer, and how it is passed. */
struct side {
    unsigned char *memory, *initial, *expected; /* bytes each */
    bool asked;                                 /* `memory` is MPI_Alloc_mem's */
    size_t bytes;
    size_t from, to; /* what lies between the guards */
    void *origin;    /* what is passed */
    MPI_Datatype type;
    int count, blocks;
    int *counts, *displs;
    MPI_Datatype *types;
    struct layout layouts[MANY];
    int layout_count;
    MPI_Count *counts_c;
    MPI_Aint *displs_c;
};

/* Nothing that may be looked at: arguments that are not significant. */
void side_none(struct side *side, struct stream *s);
/* blocks of so many elements each, one behind the other. */
void side_regular(struct side *side, const struct elements *e, int elements, int blocks,
                  struct stream *s);
/* One of a given type. */
void side_plain(struct side *side, MPI_Datatype type, int count);
/* … with counts for blocks of it, and room for `held`. */
void side_parts(struct side *side, MPI_Datatype type, const int *counts, int blocks, int held);
/* Blocks of elements[i] each, in any order, with gaps; of one type … */
void side_v(struct side *side, const struct elements *e, const int *elements, int blocks,
            struct stream *s);
/* … or each of its own. */
void side_w(struct side *side, const struct elements *e, const int *elements, int blocks,
            struct stream *s);
void side_fill(struct side *side, const struct operator_ *values, struct stream *s);
void side_free(struct side *side);
void side_free_types(struct side *side);

/* ---- operations ------------------------------------------------------------------------- */

struct operation {
    enum collective what;
    enum form form;
    bool large; /* its _c variant */
    bool in_place;
    int root;
    const struct communicator *on;
    MPI_Comm comm;
    struct side send, recv;
    struct elements elements; /* if it moves some */
    bool reduction;           /* … if it combines */
    struct operator_ op;
    int count;    /* of the vector, or of a block */
    uint64_t key; /* of the streams that fill it */
    MPI_Request request;
    char text[TEXT];
};

/* Draws one for a communicator of which this rank is a member; false if none of those that were
 * asked for runs on it. */
bool operation_draw(struct operation *o, const struct communicator *on, uint32_t forms,
                    uint64_t key);
void operation_fill(struct operation *o, int round);
/* Frees the types and the operator, as soon as nothing is started with them any more. */
void operation_free_types(struct operation *o);
void operation_free(struct operation *o);

/* Does what PMPI would, by ordinary messages. */
void operation_define(const struct operation *o);
/* Runs PMPI, or that where the library is known to be wrong; puts what comes out into expected, and
 * puts the buffers back. */
void operation_expect(struct operation *o);
bool library_is_wrong(const struct operation *o);
/* Calls MPI: blocking to its end, nonblocking and persistent up to a request. */
void operation_call(struct operation *o);
/* Compares all buffers with what was expected; complains once. */
bool operation_check(const struct operation *o);

/* ---- ordinary messages, and completing --------------------------------------------------- */

struct message {
    int to, from, tag, n;
    bool persistent, synchronous;
    int *sent, *received;
    MPI_Comm comm;
};

/* Both ends of a message around a ring; on all ranks from equal streams. */
void message_make(struct message *m, const struct communicator *on, int tag, struct stream *s);
/* Starts both, or makes both if they are persistent. */
void message_begin(const struct message *m, MPI_Request *send, MPI_Request *recv);
void message_check(const struct message *m);
void message_free(struct message *m);

/* What half of the ranks do before they complete their collectives, and the others afterwards: those
 * who wait inside must move their collectives on. */
enum exchange {
    BY_NOTHING,
    BY_RECV,
    BY_PROBE,
    BY_IPROBE,
    BY_MPROBE,
    BY_SEND,
    BY_SSEND,
    BY_SENDRECV,
    BY_REPLACE,
    BY_BARRIER,
    BY_ALLREDUCE,
    BY_DUP,
    BY_SPLIT,
    EXCHANGES
};
void exchange(enum exchange kind, bool first, const struct communicator *on, int tag);

enum { OPERATIONS = 20, MESSAGES = 4, REQUESTS = OPERATIONS + 2 * MESSAGES };

struct set {
    MPI_Request requests[REQUESTS];
    const struct message *received[REQUESTS]; /* what a request receives, to check its status */
    bool pending[REQUESTS], persistent[REQUESTS];
    int n, left;
};

/* Completes all, in an order of this rank's own. */
void complete_all(struct set *set, struct stream *s);

/* ---- running ---------------------------------------------------------------------------- */

/* What is being done, to be said if it hangs. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern char doing[];
extern struct stream memories; /* says whose memory a buffer of this rank is */
extern long failures;

/* Counts a failure and says it. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

void blocking_case(long number);
void batch_case(long number);
void floats_case(long number);

#endif
