/* coll/plan/algorithm.h — the record of an algorithm: what it solves, its parameters, its functions
 *
 * Use plan.h, or this part alone.
 */
#ifndef COLL_PLAN_ALGORITHM_H
#define COLL_PLAN_ALGORITHM_H

#include "../types.h"
#include "action.h"

struct coll_plan;

/* A parameter of an algorithm, and the values for which the verifier proves it. */
typedef struct coll_param {
    const char *name;
#if COLL_DESCRIPTIONS
    const char *meaning;
#endif
    uint32_t least, most, default_value;
#if COLL_DESCRIPTIONS
    /* Values that are proven besides the default one, the least, and some at random: at least one
     * for each way that a branch on the parameter may go. */
    uint32_t grid[4];
#endif
} coll_param;

/* A row of a table of parameters: name, meaning, least, most, default value, grid of four in braces. */
#define COLL_PARAM(...) COLL_I_PARAM(__VA_ARGS__)
#if COLL_DESCRIPTIONS
#define COLL_I_PARAM(name, meaning, least, most, default_value, ...)                           \
    {                                                                                          \
        name, meaning, least, most, default_value, __VA_ARGS__                                 \
    }
#define COLL_I_SOURCE(source) source
#else
#define COLL_I_PARAM(name, meaning, least, most, default_value, ...)                           \
    {                                                                                          \
        name, least, most, default_value                                                       \
    }
#define COLL_I_SOURCE(source) ""
#endif

/* What an algorithm needs and what it guarantees. */
enum {
    COLL_NEEDS_COMMUTATIVE = 1,     /* reorders operands */
    COLL_NEEDS_POWER_OF_TWO = 2,    /* of p */
    COLL_NEEDS_OUT_OF_PLACE = 4,    /* refuses COLL_FLAG_IN_PLACE */
    COLL_NEEDS_COUNTS = 8,          /* every rank must have the tables of a v-collective */
    COLL_NEEDS_SHARED = 16,         /* SHARED memory */
    COLL_NEEDS_MULTICAST = 32,      /* of the transport */
    COLL_NEEDS_NETWORK_REDUCE = 64, /* of the transport, with data */
    COLL_GIVES_IDENTICAL = 128,     /* all ranks get the same bits, even of inexact operators */
    COLL_GIVES_REPRODUCIBLE = 256,  /* … parenthesisation: on p and the parameters alone */
    COLL_NEEDS_PACKED = 512,        /* tables, if any, with each block right behind the last */
    COLL_USES_NODES = 1024,         /* works by nodes; others with SHARED need a single one */
    COLL_USES_GROUP = 2048,         /* may compute on the ranks of the transport */
    COLL_USES_PADDING = 4096,       /* may send and copy what nobody wrote; not to OUT */
    COLL_NEEDS_ROUTE = 8192,        /* of the graph: algos/kit/combining.h */
    COLL_NEEDS_BUILD = 16384,       /* is made of other algorithms: plan/composite.h */
    COLL_NEEDS_NETWORK_BARRIER = 32768, /* network_reduce of the transport, without data */
    COLL_NEEDS_FULL_ROWS = 65536,       /* param[0] is the width of a mesh, and divides p */
    COLL_NEEDS_LINE = 131072,      /* … of one row or column, unless the operator commutes */
    COLL_NEEDS_CARTESIAN = 262144, /* a graph with dimensions: a mesh or a stencil */
    COLL_NEEDS_INTER_GROUP = 524288, /* across, what reduces in the network: plan/composite.h */
    COLL_I_NEEDS_GROUP = COLL_NEEDS_NETWORK_REDUCE | COLL_NEEDS_NETWORK_BARRIER
};
/* The traits and their names, of which one is not a mask of others. */
#define COLL_TRAIT_LIST(X)                                                                     \
    X(COLL_NEEDS_COMMUTATIVE, "needs-commutative")                                             \
    X(COLL_NEEDS_POWER_OF_TWO, "needs-power-of-two")                                           \
    X(COLL_NEEDS_OUT_OF_PLACE, "needs-out-of-place")                                           \
    X(COLL_NEEDS_COUNTS, "needs-counts")                                                       \
    X(COLL_NEEDS_PACKED, "needs-packed")                                                       \
    X(COLL_NEEDS_BUILD, "needs-build")                                                         \
    X(COLL_NEEDS_SHARED, "needs-shared")                                                       \
    X(COLL_NEEDS_MULTICAST, "needs-multicast")                                                 \
    X(COLL_NEEDS_NETWORK_REDUCE, "needs-network-reduce")                                       \
    X(COLL_NEEDS_NETWORK_BARRIER, "needs-network-barrier")                                     \
    X(COLL_NEEDS_ROUTE, "needs-route")                                                         \
    X(COLL_NEEDS_FULL_ROWS, "needs-full-rows")                                                 \
    X(COLL_NEEDS_LINE, "needs-line-or-commutative")                                            \
    X(COLL_NEEDS_CARTESIAN, "needs-cartesian")                                                 \
    X(COLL_NEEDS_INTER_GROUP, "needs-inter-group")                                             \
    X(COLL_USES_NODES, "uses-nodes")                                                           \
    X(COLL_USES_GROUP, "uses-group")                                                           \
    X(COLL_USES_PADDING, "uses-padding")                                                       \
    X(COLL_GIVES_IDENTICAL, "identical")                                                       \
    X(COLL_GIVES_REPRODUCIBLE, "reproducible")

/* One algorithm for one pattern. All functions are pure: they depend on their arguments alone, and
 * neither allocate nor keep state. `rank` is below p. Records are static: each translation unit has
 * its own copy, so they are told apart by name, not by address. */
typedef struct coll_algorithm {
    const char *name;
    const char *source;   /* author year, section or equation; "" without COLL_DESCRIPTIONS */
    uint32_t collectives; /* mask of COLL_BIT */
    uint32_t traits;      /* mask of COLL_NEEDS_…, COLL_USES_… and COLL_GIVES_… */
    uint16_t window;      /* least window with which it ends if sends wait for receivers */
    uint16_t sends; /* … and the least sends in flight with which the in-order engine does */
    uint32_t n_params;
    const coll_param *params; /* what they are */
    /* Fills the plan's derived numbers: those of the algorithm's family, and no others are read. Problem,
     * parameters and traits stand already. NULL: none. */
    void (*prepare)(struct coll_plan *plan);
    /* Number of steps of a rank. */
    size_t (*steps)(const struct coll_plan *plan, uint32_t rank);
    /* Writes the actions of step s < steps to `out` and returns how many; any s, in any order. */
    unsigned (*step)(const struct coll_plan *plan, uint32_t rank, size_t s, coll_action *out);
    /* Elements of SCRATCH; NULL: none. */
    size_t (*scratch)(const struct coll_plan *plan, uint32_t rank);
    /* Are p and the parameters legal together, and with the group if it is used? NULL: always,
     * within the ranges of `params`. */
    coll_status (*check)(const struct coll_plan *plan);
    /* Elements of SHARED, for the whole node; NULL: none. */
    size_t (*shared)(const struct coll_plan *plan);
    /* Which ranks of the transport reduce together in the network, `of` a plan; NULL: all ranks, or
     * nobody tells. */
    coll_is_member is_member;
} coll_algorithm;

/* The record of an algorithm, its fields in order. At the end, functions behind `step` that are NULL
 * are left out:
 *
 *   COLL_ALGORITHM(coll_ring_allreduce, "ring", "Patarasuk, Yuan 2009",
 *       COLL_BIT(COLL_ALLREDUCE), COLL_NEEDS_COMMUTATIVE,
 *       window, sends, COLL_NO_PARAMS,  // or COLL_PARAMS(n, array), COLL_PREPARED(n, array, prepare)
 *       steps, step[, scratch[, check[, shared[, is_member]]]]);
 *
 * With COLL_EXTERN it is a declaration, except where COLL_IMPLEMENTATION is (config.h). An algorithm
 * of one file alone, whose functions are static, is a COLL_STATIC_ALGORITHM.
 */
#define COLL_ALGORITHM(symbol, ...)                                                            \
    COLL_CONST(coll_algorithm, symbol, COLL_I_ALGORITHM(__VA_ARGS__, NULL, NULL, NULL, NULL, 0))
/* The same of an algorithm of one file alone. */
#define COLL_STATIC_ALGORITHM(symbol, ...)                                                     \
    static const coll_algorithm symbol COLL_I_UNUSED =                                         \
        COLL_I_ALGORITHM(__VA_ARGS__, NULL, NULL, NULL, NULL, 0)
/* An algorithm without parameters. */
#define COLL_NO_PARAMS 0, NULL, NULL
/* n parameters */
#define COLL_PARAMS(n, array) (n), (array), NULL
/* n parameters, and a function for the derived numbers */
#define COLL_PREPARED(n, array, prepare) (n), (array), (prepare)
#define COLL_I_ALGORITHM(name, source, collectives, traits, window, sends, n_params, params,   \
                         prepare, steps, step, scratch, check, shared, is_member, ...)         \
    {                                                                                          \
        name, COLL_I_SOURCE(source), collectives, traits, window, sends, n_params, params,     \
            prepare, steps, step, scratch, check, shared, is_member                            \
    }

#endif /* COLL_PLAN_ALGORITHM_H */
