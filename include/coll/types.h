/* coll/types.h — the vocabulary: status codes, collectives, element types, operators
 *
 * Everything here is a number with a name and a text. Nothing allocates, blocks or fails.
 */
#ifndef COLL_TYPES_H
#define COLL_TYPES_H

#include "config.h"

/* Status: 0 done, > 0 in progress, < 0 an error that ends the call. One line a code: name,
 * value, text. */
#define COLL_STATUS_LIST(X)                                                                    \
    X(COLL_OK, 0, "done")                                                                      \
    X(COLL_AGAIN, 1, "nothing happened yet; call again")                                       \
    X(COLL_STARTED, 2, "started; test its handle until it is done")                            \
    X(COLL_ERR_NULL, -1, "a pointer that is needed is NULL")                                   \
    X(COLL_ERR_RANKS, -2, "the number of ranks must be at least 1")                            \
    X(COLL_ERR_RANK, -3, "the rank is not below the number of ranks")                          \
    X(COLL_ERR_ROOT, -4, "the root is not below the number of ranks")                          \
    X(COLL_ERR_COLLECTIVE, -5, "the algorithm does not solve this collective")                 \
    X(COLL_ERR_PARAM, -6, "a parameter of the algorithm is outside of its range")              \
    X(COLL_ERR_OVERFLOW, -7, "counts or offsets exceed what this machine can address")         \
    X(COLL_ERR_TYPE, -8, "unknown element type, or elements of 0 bytes")                       \
    X(COLL_ERR_OP, -9, "the operator is unknown or not defined on this element type")          \
    X(COLL_ERR_ORDER, -10,                                                                     \
      "the algorithm reorders operands, so it needs a commutative operator")                   \
    X(COLL_ERR_IN_PLACE, -11, "the algorithm or collective cannot work in place")              \
    X(COLL_ERR_COUNTS, -12,                                                                    \
      "the tables of counts and displacements are missing on this rank, the collective has "   \
      "none, or COLL_IRREGULAR is 0")                                                          \
    X(COLL_ERR_WINDOW, -13, "the window has fewer slots than the algorithm needs, or over 32") \
    X(COLL_ERR_SCRATCH, -14, "the scratch memory is smaller than coll_plan_scratch says")      \
    X(COLL_ERR_SHARED, -15, "the algorithm needs shared memory that the caller did not give")  \
    X(COLL_ERR_TRANSPORT, -16, "the transport lacks send, recv or test")                       \
    X(COLL_ERR_CAPABILITY, -17, "the transport lacks a capability that the algorithm needs")   \
    X(COLL_ERR_BUSY, -18, "a collective is running that this call must not disturb")           \
    X(COLL_ERR_MEMORY, -19, "the memory given by the caller is used up")                       \
    X(COLL_ERR_SIZE, -20, "a message has another size than its receiver expects")              \
    X(COLL_ERR_PEER, -21, "another rank failed in this collective")                            \
    X(COLL_ERR_CANCELLED, -22, "the collective was cancelled")                                 \
    X(COLL_ERR_DEADLOCK, -23, "no rank can make progress any more")                            \
    X(COLL_ERR_STATE, -24, "the request is not in the state that this call needs")             \
    X(COLL_ERR_UNKNOWN, -25, "no such name")                                                   \
    X(COLL_ERR_SHAPE, -26, "the number of ranks does not fit the algorithm's geometry")        \
    X(COLL_ERR_GROUP, -27,                                                                     \
      "a group has no ranks, repeats one, reaches outside, is not in ascending order, or is "  \
      "not the whole transport")                                                               \
    X(COLL_ERR_IO, -28, "the transport failed")                                                \
    X(COLL_ERR_FORMAT, -29, "the bytes are not a descriptor of this version")                  \
    X(COLL_ERR_TAG, -30,                                                                       \
      "the communicator has too few tags left: free persistent calls or communicators, "       \
      "or give it more; or the tag is not below the transport's number of tags")               \
    X(COLL_ERR_COMPOSED, -31, "a composite plan, or a replay, cannot be packed")               \
    X(COLL_ERR_LAYOUT, -32, "the algorithm needs blocks that lie one right behind the other")  \
    X(COLL_ERR_GRAPH, -33, "the neighbours are missing, or are none of the ranks")             \
    X(COLL_ERR_BUILD, -34,                                                                     \
      "the algorithm is composite: coll_plan_build or coll_comm_nodes makes its plan")         \
    X(COLL_ERR_NODES, -35,                                                                     \
      "the nodes do not hold all ranks, or the algorithm works on only one")                   \
    X(COLL_ERR_ROUTE, -36, "the graph has no route of this rank for the algorithm")            \
    X(COLL_ERR_PROMISE, -37,                                                                   \
      "the algorithm does not promise the same bits, or the fixed order, that is wanted")      \
    X(COLL_ERR_PLACE, -38,                                                                     \
      "a buffer is not in the memory that its rank promised to send from")                     \
    X(COLL_ERR_MISMATCH, -39, "the ranks' arguments differ; coll_compare_text says how")

#define COLL_I_ENUM(name, value, text) name = value,
/* How a call ended, or goes on. */
typedef enum coll_status { COLL_STATUS_LIST(COLL_I_ENUM) COLL_I_STATUS_LAST = -64 } coll_status;

/* One line on a status, never NULL; static storage. */
COLL_INLINE const char *coll_status_text(coll_status status)
{
#define COLL_I_CASE(name, value, text)                                                         \
    case name:                                                                                 \
        return text;
    switch (status) {
        COLL_STATUS_LIST(COLL_I_CASE)
    case COLL_I_STATUS_LAST:
        break;
    }
    return "unknown status";
}

/* Collectives, with MPI's meaning: name, text. */
#define COLL_COLLECTIVE_LIST(X)                                                                \
    X(COLL_BARRIER, "barrier")                                                                 \
    X(COLL_BCAST, "bcast")                                                                     \
    X(COLL_REDUCE, "reduce")                                                                   \
    X(COLL_ALLREDUCE, "allreduce")                                                             \
    X(COLL_GATHER, "gather")                                                                   \
    X(COLL_GATHERV, "gatherv")                                                                 \
    X(COLL_SCATTER, "scatter")                                                                 \
    X(COLL_SCATTERV, "scatterv")                                                               \
    X(COLL_ALLGATHER, "allgather")                                                             \
    X(COLL_ALLGATHERV, "allgatherv")                                                           \
    X(COLL_ALLTOALL, "alltoall")                                                               \
    X(COLL_ALLTOALLV, "alltoallv")                                                             \
    X(COLL_REDUCE_SCATTER, "reduce_scatter")                                                   \
    X(COLL_REDUCE_SCATTER_BLOCK, "reduce_scatter_block")                                       \
    X(COLL_SCAN, "scan")                                                                       \
    X(COLL_EXSCAN, "exscan")                                                                   \
    X(COLL_ALLTOALLW, "alltoallw")                                                             \
    X(COLL_NEIGHBOR_ALLGATHER, "neighbor_allgather")                                           \
    X(COLL_NEIGHBOR_ALLGATHERV, "neighbor_allgatherv")                                         \
    X(COLL_NEIGHBOR_ALLTOALL, "neighbor_alltoall")                                             \
    X(COLL_NEIGHBOR_ALLTOALLV, "neighbor_alltoallv")                                           \
    X(COLL_NEIGHBOR_ALLTOALLW, "neighbor_alltoallw")

#define COLL_I_NAME(name, text) name,
/* Which collective. */
typedef enum coll_collective {
    COLL_COLLECTIVE_LIST(COLL_I_NAME) COLL_COLLECTIVES /* how many there are */
} coll_collective;

/* A set of collectives is a mask of these. */
#define COLL_BIT(collective) (1u << (unsigned)(collective))

/* Mask of collectives with a root. */
#define COLL_ROOTED                                                                            \
    (COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_GATHER) |                    \
     COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTER) | COLL_BIT(COLL_SCATTERV))
/* Mask of collectives that combine. */
#define COLL_REDUCING                                                                          \
    (COLL_BIT(COLL_REDUCE) | COLL_BIT(COLL_ALLREDUCE) | COLL_BIT(COLL_REDUCE_SCATTER) |        \
     COLL_BIT(COLL_REDUCE_SCATTER_BLOCK) | COLL_BIT(COLL_SCAN) | COLL_BIT(COLL_EXSCAN))
/* Mask: any two ranks have counts of their own, which only they know. */
#define COLL_PAIRED (COLL_BIT(COLL_ALLTOALLV) | COLL_BIT(COLL_ALLTOALLW))
/* Mask of collectives in which every rank has something for every other. */
#define COLL_EXCHANGING (COLL_BIT(COLL_ALLTOALL) | COLL_PAIRED)

/* Mask of collectives along the edges of a graph. */
#define COLL_NEIGHBORLY                                                                        \
    (COLL_BIT(COLL_NEIGHBOR_ALLGATHER) | COLL_BIT(COLL_NEIGHBOR_ALLGATHERV) |                  \
     COLL_BIT(COLL_NEIGHBOR_ALLTOALL) | COLL_BIT(COLL_NEIGHBOR_ALLTOALLV) |                    \
     COLL_BIT(COLL_NEIGHBOR_ALLTOALLW))

/* Is a collective in a mask? */
COLL_INLINE bool coll_is(unsigned set, coll_collective collective)
{
    return ((set >> (unsigned)collective) & 1u) != 0;
}

/* The name of a collective, never NULL; static storage. */
COLL_INLINE const char *coll_collective_name(coll_collective collective)
{
#define COLL_I_NAME_CASE(name, text)                                                           \
    case name:                                                                                 \
        return text;
    switch (collective) {
        COLL_COLLECTIVE_LIST(COLL_I_NAME_CASE)
    case COLL_COLLECTIVES:
        break;
    }
    return "unknown collective";
}

/* Ranks that reduce together in the network (NETWORK_REDUCE): a number, and how many they are.
 * Every number has the same members all the time. COLL_GROUP_ALL are all ranks of the transport,
 * COLL_GROUP_NODES the first ranks of the nodes (coll_nodes), COLL_GROUP_SOCKETS the first ranks
 * of their sockets. */
typedef struct coll_network_group {
    uint32_t number, members; /* its number, and how many members it has */
} coll_network_group;

enum { COLL_GROUP_ALL, COLL_GROUP_NODES, COLL_GROUP_SOCKETS, COLL_NETWORK_GROUPS };

/* Is a rank of the transport in the group of this number, by what `of` says? Pure. */
typedef bool (*coll_is_member)(const void *of, uint32_t group, uint32_t rank);

/* Element types: name, text, bytes. A pair holds a value and the index that MINLOC and MAXLOC
 * carry, laid out as the C structures of reduce.h. CF32 and CF64 are complex: real part, then
 * imaginary part. F8_E4M3 and F8_E5M2 are the 8-bit floats of the OCP's specification. */
#define COLL_TYPE_LIST(X)                                                                      \
    X(COLL_I8, "i8", 1)                                                                        \
    X(COLL_I16, "i16", 2)                                                                      \
    X(COLL_I32, "i32", 4)                                                                      \
    X(COLL_I64, "i64", 8)                                                                      \
    X(COLL_U8, "u8", 1)                                                                        \
    X(COLL_U16, "u16", 2)                                                                      \
    X(COLL_U32, "u32", 4)                                                                      \
    X(COLL_U64, "u64", 8)                                                                      \
    X(COLL_F16, "f16", 2)                                                                      \
    X(COLL_BF16, "bf16", 2)                                                                    \
    X(COLL_F32, "f32", 4)                                                                      \
    X(COLL_F64, "f64", 8)                                                                      \
    X(COLL_I16_I32, "i16_i32", 8)                                                              \
    X(COLL_I32_I32, "i32_i32", 8)                                                              \
    X(COLL_I64_I32, "i64_i32", 16)                                                             \
    X(COLL_F32_I32, "f32_i32", 8)                                                              \
    X(COLL_F64_I32, "f64_i32", 16)                                                             \
    X(COLL_CF32, "cf32", 8)                                                                    \
    X(COLL_CF64, "cf64", 16)                                                                   \
    X(COLL_F8_E4M3, "f8_e4m3", 1)                                                              \
    X(COLL_F8_E5M2, "f8_e5m2", 1)

#define COLL_I_TYPE_NAME(name, text, bytes) name,
enum { COLL_TYPE_LIST(COLL_I_TYPE_NAME) COLL_TYPES };

/* One of the above, or COLL_OPAQUE(bytes) for elements that are only moved or that a user's
 * operator understands; bytes below 2³¹. */
typedef uint32_t coll_type;
/* The type of elements of so many bytes that are only moved, or a user's operator's. */
#define COLL_OPAQUE(bytes) (0x80000000u | (uint32_t)(bytes))

/* Bytes of an element; 0 for a type that does not exist. */
COLL_INLINE size_t coll_type_bytes(coll_type type)
{
#define COLL_I_BYTES_CASE(name, text, bytes)                                                   \
    case name:                                                                                 \
        return bytes;
    if (type & 0x80000000u)
        return type & 0x7fffffffu;
    switch (type) {
        COLL_TYPE_LIST(COLL_I_BYTES_CASE)
    default:
        return 0;
    }
}

/* The name of a type, never NULL; static storage. */
COLL_INLINE const char *coll_type_name(coll_type type)
{
#define COLL_I_TYPE_CASE(name, text, bytes)                                                    \
    case name:                                                                                 \
        return text;
    switch (type) {
        COLL_TYPE_LIST(COLL_I_TYPE_CASE)
    default:
        return (type & 0x80000000u) ? "opaque" : "unknown type";
    }
}

/* Predefined operators. A user's operator gets a number from COLL_USER_OP on (see comm.h). */
#define COLL_OPERATOR_LIST(X)                                                                  \
    X(COLL_SUM, "sum")                                                                         \
    X(COLL_PROD, "prod")                                                                       \
    X(COLL_MIN, "min")                                                                         \
    X(COLL_MAX, "max")                                                                         \
    X(COLL_BAND, "band")                                                                       \
    X(COLL_BOR, "bor")                                                                         \
    X(COLL_BXOR, "bxor")                                                                       \
    X(COLL_LAND, "land")                                                                       \
    X(COLL_LOR, "lor")                                                                         \
    X(COLL_LXOR, "lxor")                                                                       \
    X(COLL_MINLOC, "minloc")                                                                   \
    X(COLL_MAXLOC, "maxloc")

enum { COLL_OPERATOR_LIST(COLL_I_NAME) COLL_OPERATORS, COLL_USER_OP = 0x100 };
/* A predefined operator, or one of coll_comm_add_op. */
typedef uint32_t coll_operator;

/* The name of an operator, never NULL; static storage. */
COLL_INLINE const char *coll_operator_name(coll_operator op)
{
    switch (op) {
        COLL_OPERATOR_LIST(COLL_I_NAME_CASE)
    default:
        return op >= COLL_USER_OP ? "user" : "unknown operator";
    }
}

/* dst[i] = a[i] ⊕ b[i] for count elements. dst may be a or b itself, never a shifted part of
 * them. */
typedef void (*coll_combine)(void *dst, const void *a, const void *b, size_t count, void *arg);

/* A reduction, as the executor applies it. ⊕ must be associative. */
typedef struct coll_op {
    coll_combine combine; /* combines elements */
    void *arg;            /* handed to combine */
    bool commutative;     /* a ⊕ b = b ⊕ a: operands may be reordered */
    bool exact; /* the result has the same bits however the operands are parenthesised */
    uint8_t number, type; /* of a predefined operator: 1 + coll_operator, coll_type; else 0 */
} coll_op;

/* Of an operator of the caller's, as an initializer: const coll_op op = COLL_OP(combine, arg, true, false); */
#define COLL_OP(combine, arg, commutative, exact)                                              \
    {                                                                                          \
        (combine), (arg), (commutative), (exact), 0, 0                                         \
    }

/* What hardware that reduces has to know: which predefined operator it is, on elements of which type.
 * False: it is a caller's own, and combine alone tells what it does. */
COLL_INLINE bool coll_op_predefined(const coll_op *op, coll_operator *number, coll_type *type)
{
    if (op->number == 0)
        return false;
    *number = op->number - 1u;
    *type = op->type;
    return true;
}

/* *to = *from. Field by field, as wherever the core copies a structure of more than two words:
 * on bare metal, compilers call memcpy for an assignment of the whole. */
COLL_INLINE void coll_op_assign(coll_op *to, const coll_op *from)
{
    to->combine = from->combine;
    to->arg = from->arg;
    to->commutative = from->commutative;
    to->exact = from->exact;
    to->number = from->number;
    to->type = from->type;
}

#endif /* COLL_TYPES_H */
