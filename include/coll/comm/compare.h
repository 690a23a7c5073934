/* coll/comm/compare.h — ranks compare the arguments of a call before data move: a mode for finding mistakes
 *
 *   static coll_compare compare;                     // at a fixed place, as long as the communicator
 *   static coll_compared all[P];                     // one for each of its ranks
 *   status = coll_comm_compare(&comm, &compare, all, P);            // on all ranks
 *   …
 *   status = coll_allreduce(&comm, x, y, n, COLL_F64, COLL_SUM);    // as ever
 *   if (status == COLL_ERR_MISMATCH) {
 *       char text[400];
 *       (void)coll_compare_text(&compare, text, sizeof text);
 *       puts(text);
 *   }
 *
 *   call 17, allreduce: rank 2 gives 999 elements, the others 1000
 *   call 18: ranks 1 and 5 call bcast, the others allreduce
 *
 * Before each blocking call, an allreduce of 16 bytes says whether all ranks are about to make the same one:
 * collective, root, element type, operator, count, an algorithm that was forced. If not, an allgather tells all
 * ranks what each of them has; the call is not made, ends with COLL_ERR_MISMATCH on all ranks, and the
 * communicator stays usable. Without this mode such calls may end with wrong results, an error on one rank,
 * or not at all.
 *
 * What is compared and what is not:
 *   - Nonblocking and persistent calls do not wait, so nothing is exchanged for them where they are made. The
 *     next blocking call notices that those before it differ, and on which ranks. Starts of persistent calls
 *     are not seen.
 *   - Of allgatherv and reduce_scatter the tables of counts are compared, as one number; of gatherv and scatterv
 *     each rank's count with that in the root's table (compare_counts.h). Otherwise a rank that only sends, to a
 *     root that expects another count, would end with COLL_OK. Of alltoallv and alltoallw and along graphs only
 *     what all ranks give alike is compared.
 *   - A user's operator is compared by whether it is commutative, an opaque type by its size.
 *   - A rank that makes no call at all is waited for, as ever (coll_wait_until, coll_dump).
 *
 * A comparison takes as long as an allreduce of 16 bytes. The arena must have room for it:
 * coll_compare_bytes. Opt in: comm.h does not include this header.
 */
#ifndef COLL_COMM_COMPARE_H
#define COLL_COMM_COMPARE_H

#include "../executor/pending.h"
#include "around.h"
#include "compare_counts.h"

/* What ranks have to give alike. */
typedef enum coll_compare_field {
    COLL_COMPARE_BEFORE, /* the calls before this one, as far as they were not compared */
    COLL_COMPARE_COLLECTIVE,
    COLL_COMPARE_ROOT,
    COLL_COMPARE_TYPE,
    COLL_COMPARE_OPERATOR,
    COLL_COMPARE_COUNT,
    COLL_COMPARE_ALGORITHM, /* one that was forced, and its parameters */
    COLL_COMPARE_FIELDS     /* all are alike */
} coll_compare_field;

/* A rank's arguments. coll_compared_value reads them. */
typedef struct coll_compared {
    uint64_t word[2];
} coll_compared;

/* Compares the calls of one communicator. Read found; the rest is private. */
typedef struct coll_compare {
    coll_i_around around;     /* the first member */
    coll_compare_field found; /* what differed in the last call that was compared */
    coll_compared *all;       /* … if something did: of each rank */
    uint32_t p;
    uint64_t calls;  /* that were made, this one included */
    uint16_t before; /* of those that were not compared, a number for all of them */
    coll_op_entry op;
    coll_operator number; /* of that */
    coll_i_expected
        expected; /* if counts of a gatherv or scatterv differ: the first rank whose does */
} coll_compare;

/* ---- arguments as 16 bytes --------------------------------------------------------------- */

/* Where a field is: in which word (bits 16 and up), from which bit on (8 to 15), how many bits. */
COLL_INLINE uint32_t coll_i_compare_place_of(coll_compare_field field)
{
    static const uint32_t places[COLL_COMPARE_FIELDS] = {0x00010, 0x01005, 0x02818, 0x10010,
                                                         0x01505, 0x11030, 0x01a0e};
    return places[field];
}

COLL_INLINE uint64_t coll_i_compare_mask(uint32_t place)
{
    return ((uint64_t)1 << (place & 255)) - 1;
}

/* A field of a rank's arguments. */
COLL_INLINE uint64_t coll_compared_value(const coll_compared *one, coll_compare_field field)
{
    const uint32_t place = coll_i_compare_place_of(field);
    return one->word[place >> 16] >> (place >> 8 & 255) & coll_i_compare_mask(place);
}

/* Writes a field. Bits that have no place are folded into those below. */
COLL_INLINE void coll_i_compared_set(coll_compared *one, coll_compare_field field,
                                     uint64_t value)
{
    const uint32_t place = coll_i_compare_place_of(field), bits = place & 255;
    while (value >> bits != 0)
        value = (value & coll_i_compare_mask(place)) ^ value >> bits;
    one->word[place >> 16] |= value << (place >> 8 & 255);
}

/* A number for a forced algorithm and its parameters; 0: none. */
COLL_INLINE uint64_t coll_i_compare_algorithm(const coll_choice *choice)
{
    uint64_t number = UINT64_C(0xcbf29ce484222325);
    if (!choice->algorithm)
        return 0;
    for (const char *at = choice->algorithm->name; *at; at++)
        number = coll_i_compare_mix(number, (unsigned char)*at);
    for (uint32_t i = 0; i < choice->algorithm->n_params && i < COLL_PARAM_MAX; i++)
        number = coll_i_compare_mix(number, choice->param[i]);
    return number;
}

/* Operators as numbers below 32. */
enum { COLL_I_COMPARE_NO_OP = 29, COLL_I_COMPARE_USER_OP, COLL_I_COMPARE_USER_OP_IN_ORDER };

COLL_INLINE uint32_t coll_i_compare_op(const coll_comm *comm, const coll_args *args)
{
    coll_op op;
    if (!coll_is(COLL_REDUCING, args->collective))
        return COLL_I_COMPARE_NO_OP;
    if (args->op < COLL_USER_OP)
        return args->op;
    return coll_i_comm_user_op(comm, args->op, args->type, &op) != COLL_OK || op.commutative
               ? COLL_I_COMPARE_USER_OP
               : COLL_I_COMPARE_USER_OP_IN_ORDER;
}

/* Types as 16 bits: their number, or, above half of them, the bytes of an opaque one. */
enum { COLL_I_COMPARE_OPAQUE = 0x8000 };

COLL_INLINE uint32_t coll_i_compare_type(const coll_args *args)
{
    const uint32_t type = args->type, bytes = type & 0x7fffffffu;
    if (args->collective == COLL_BARRIER || args->collective == COLL_ALLTOALLW ||
        args->collective == COLL_NEIGHBOR_ALLTOALLW)
        return 0;
    return type == bytes
               ? type % COLL_I_COMPARE_OPAQUE
               : COLL_I_COMPARE_OPAQUE | (bytes ^ bytes >> 15) % COLL_I_COMPARE_OPAQUE;
}

/* What a call gives that others have to give alike. */
COLL_INLINE void coll_i_compare_args(const coll_comm *comm, const coll_args *args,
                                     uint16_t before, coll_compared *one)
{
    one->word[0] = one->word[1] = 0;
    coll_i_compared_set(one, COLL_COMPARE_BEFORE, before);
    coll_i_compared_set(one, COLL_COMPARE_COLLECTIVE, (uint64_t)args->collective);
    if ((unsigned)args->collective >= COLL_COLLECTIVES)
        return;
    coll_i_compared_set(one, COLL_COMPARE_ROOT,
                        coll_is(COLL_ROOTED, args->collective) ? args->root : 0);
    coll_i_compared_set(one, COLL_COMPARE_TYPE, coll_i_compare_type(args));
    coll_i_compared_set(one, COLL_COMPARE_OPERATOR, coll_i_compare_op(comm, args));
    coll_i_compared_set(one, COLL_COMPARE_COUNT,
                        coll_i_compare_count(args, comm->rank, comm->p));
    coll_i_compared_set(one, COLL_COMPARE_ALGORITHM,
                        coll_i_compare_algorithm(&comm->choice[args->collective]));
}

/* ---- the exchange ------------------------------------------------------------------------ */

/* Is it a gatherv or scatterv, whose numbers for counts are added up? */
COLL_INLINE bool coll_i_compare_adds(const coll_compared *one)
{
    return coll_i_compare_is_table_of_root(
        (coll_collective)coll_compared_value(one, COLL_COMPARE_COLLECTIVE));
}

/* ⊕: the same, or, of two that differ, what no rank has; it stays what it is. Numbers that add up are added. */
COLL_INLINE void coll_i_compare_combine(void *dst, const void *a, const void *b, size_t count,
                                        void *arg)
{
    coll_compared one, other;
    (void)arg;
    for (size_t i = 0; i < count; i++) {
        COLL_COPY(&one, (const coll_compared *)a + i, sizeof one);
        COLL_COPY(&other, (const coll_compared *)b + i, sizeof other);
        if (one.word[0] == other.word[0] && coll_i_compare_adds(&one) &&
            coll_compared_value(&one, COLL_COMPARE_TYPE) ==
                coll_compared_value(&other, COLL_COMPARE_TYPE))
            one.word[1] += other.word[1] - coll_compared_value(&other, COLL_COMPARE_TYPE);
        else if (one.word[0] != other.word[0] || one.word[1] != other.word[1])
            one.word[0] = one.word[1] = UINT64_MAX;
        COLL_COPY((coll_compared *)dst + i, &one, sizeof one);
    }
}

/* Is it what no rank has, or a sum of counts that should be zero? There is no collective 31. */
COLL_INLINE bool coll_i_compare_differs(const coll_compared *one)
{
    return coll_compared_value(one, COLL_COMPARE_COLLECTIVE) == 31 ||
           (coll_i_compare_adds(one) && coll_compared_value(one, COLL_COMPARE_COUNT) != 0);
}

/* The allreduce that finds out, or the allgather that tells. */
COLL_INLINE void coll_i_compare_call(const coll_compare *compare, coll_compared *own,
                                     bool tells, coll_args *args)
{
    if (tells)
        coll_i_args_init(args, COLL_ALLGATHER, own, compare->all, 1,
                         COLL_OPAQUE(sizeof(coll_compared)));
    else
        coll_i_args_init(args, COLL_ALLREDUCE, COLL_IN_PLACE, own, 1,
                         COLL_OPAQUE(sizeof(coll_compared)));
    args->op = compare->number;
}

/* Runs one of them, or asks what it takes of the arena (bytes), by what the built-in rules choose: choices
 * of the ranks may be what differs. */
COLL_INLINE coll_status coll_i_compare_exchange(coll_comm *comm, const coll_args *args,
                                                size_t *bytes)
{
    coll_choice *choice = &comm->choice[args->collective];
    const coll_algorithm *chosen = choice->algorithm;
    const coll_rule_list *rules = comm->rules;
    const coll_i_comm_settler *settler = comm->settler;
    coll_request request;
    coll_status status;
    choice->algorithm = NULL;
    comm->rules = &coll_rules_built_in;
    comm->settler = NULL;
    status = bytes ? coll_comm_bytes(comm, args, bytes) : coll_post(comm, args, &request);
    choice->algorithm = chosen;
    comm->rules = rules;
    if (status == COLL_OK && !bytes)
        status = coll_wait(&request);
    comm->settler = settler;
    return status;
}

/* The first field that differs between any two ranks. If no other one does, it is the counts that add up to another
 * number than zero. */
COLL_INLINE coll_compare_field coll_i_compare_find(const coll_compare *compare)
{
    const bool adds = coll_i_compare_adds(&compare->all[0]);
    for (uint32_t field = 0; field < COLL_COMPARE_FIELDS; field++)
        for (uint32_t r = 1; r < compare->p && !(adds && field == COLL_COMPARE_COUNT); r++)
            if (coll_compared_value(&compare->all[r], (coll_compare_field)field) !=
                coll_compared_value(&compare->all[0], (coll_compare_field)field))
                return (coll_compare_field)field;
    return adds ? COLL_COMPARE_COUNT : COLL_COMPARE_FIELDS;
}

/* All ranks know what each has, and differ in the counts of a gatherv or scatterv: the root tells them which rank's
 * is not what its table says. */
COLL_INLINE coll_status coll_i_compare_expect(coll_comm *comm, coll_compare *compare,
                                              const coll_args *args)
{
    coll_args exchange;
    coll_i_args_init(&exchange, COLL_BCAST, NULL, &compare->expected, 1,
                     COLL_OPAQUE(sizeof compare->expected));
    exchange.root = args->root;
    compare->expected.rank = compare->p;
    compare->expected.count = 0;
    for (uint32_t r = compare->p; comm->rank == args->root && r-- > 0;)
        coll_i_compare_expected(args, r,
                                coll_compared_value(&compare->all[r], COLL_COMPARE_COUNT),
                                &compare->expected);
    return coll_i_compare_exchange(comm, &exchange, NULL);
}

COLL_INLINE coll_status coll_i_compare_run(coll_comm *comm, const coll_args *args)
{
    coll_compare *compare = (coll_compare *)(void *)coll_i_around_of(comm);
    coll_compared own, sum;
    coll_status status;
    coll_args exchange;
    compare->found = COLL_COMPARE_FIELDS;
    compare->calls++;
    coll_i_compare_args(comm, args, compare->before, &own);
    sum.word[0] = own.word[0];
    sum.word[1] = own.word[1];
    coll_i_compare_call(compare, &sum, false, &exchange);
    status = coll_i_compare_exchange(comm, &exchange, NULL);
    if (status == COLL_OK && coll_i_compare_differs(&sum)) {
        coll_i_compare_call(compare, &own, true, &exchange);
        if (coll_i_compare_adds(&own)) { /* the count instead of its share of the sum */
            own.word[1] = coll_compared_value(&own, COLL_COMPARE_TYPE);
            coll_i_compared_set(&own, COLL_COMPARE_COUNT, coll_i_compare_own(args, comm->rank));
        }
        coll_i_cache_forget(&comm->cache,
                            comm); /* plans by an algorithm that was forced here alone */
        status = coll_i_compare_exchange(comm, &exchange, NULL);
        if (status == COLL_OK) {
            compare->found = coll_i_compare_find(compare);
            if (compare->found == COLL_COMPARE_COUNT && coll_i_compare_adds(&own))
                status = coll_i_compare_expect(comm, compare, args);
        }
        coll_i_cache_forget(&comm->cache, comm);
        if (status == COLL_OK)
            status = COLL_ERR_MISMATCH;
    }
    if (status == COLL_OK || status == COLL_ERR_MISMATCH)
        compare->before = 0;
    else if (status == COLL_ERR_BUSY)
        compare->calls--; /* it was not made */
    return status == COLL_OK ? coll_i_around_run(comm, &compare->around, args) : status;
}

/* A call that is not compared: it is counted among those before the next one that is. */
COLL_INLINE void coll_i_compare_choose(coll_comm *comm, const coll_args *args)
{
    coll_compare *compare = (coll_compare *)(void *)coll_i_around_of(comm);
    coll_compared own;
    uint64_t number;
    compare->calls++;
    coll_i_compare_args(comm, args, 0, &own);
    number = coll_i_compare_mix(compare->before + UINT64_C(1), own.word[0]);
    number = coll_i_compare_mix(number, own.word[1]);
    compare->before = (uint16_t)(number ^ number >> 16);
    coll_i_around_choose(comm, &compare->around, args);
}

/* ---- comparing --------------------------------------------------------------------------- */

/* Has a communicator compare arguments from the next call on, until it is freed; those made from it do not.
 * All ranks do so at the same place among their calls. `compare` and `all`, of p elements, stay the
 * caller's until then, and so does the operator by which it compares (coll_comm_add_op). After coll_comm_settle,
 * if there is one. COLL_ERR_RANKS: p is not the communicator's number of ranks; COLL_ERR_RANK: this rank is no
 * member. */
COLL_INLINE coll_status coll_comm_compare(coll_comm *comm, coll_compare *compare,
                                          coll_compared *all, uint32_t p)
{
    static const coll_op op = COLL_OP(coll_i_compare_combine, NULL, true, true);
    coll_status status;
    if (!comm || !compare || !all)
        return COLL_ERR_NULL;
    if (comm->rank >= comm->p)
        return COLL_ERR_RANK;
    if (p != comm->p)
        return COLL_ERR_RANKS;
    status = coll_comm_add_op(comm, &compare->op, &op, COLL_OPAQUE(sizeof(coll_compared)),
                              &compare->number);
    if (status != COLL_OK)
        return status;
    compare->found = COLL_COMPARE_FIELDS;
    compare->all = all;
    compare->p = p;
    compare->calls = 0;
    compare->before = 0;
    coll_i_around_put(comm, &compare->around, coll_i_compare_run, coll_i_compare_choose);
    return COLL_OK;
}

/* As coll_comm_bytes (args.h): what a comparison takes of the arena while it runs, beside the calls that run
 * then. After coll_comm_compare. */
COLL_INLINE coll_status coll_compare_bytes(coll_comm *comm, coll_compare *compare,
                                           size_t *bytes)
{
    coll_compared own;
    coll_args args;
    coll_status status;
    size_t its = 0;
    if (!comm || !compare || !bytes)
        return COLL_ERR_NULL;
    own.word[0] = own.word[1] = 0;
    coll_i_compare_call(compare, &own, false, &args);
    status = coll_i_compare_exchange(comm, &args, bytes);
    if (status != COLL_OK)
        return status;
    coll_i_compare_call(compare, &own, true, &args);
    status = coll_i_compare_exchange(comm, &args, &its);
    *bytes = its > *bytes ? its : *bytes;
    if (status != COLL_OK)
        return status;
    coll_i_args_init(&args, COLL_BCAST, NULL, &compare->expected, 1,
                     COLL_OPAQUE(sizeof compare->expected));
    status = coll_i_compare_exchange(comm, &args, &its);
    *bytes = its > *bytes ? its : *bytes;
    return status;
}

/* ---- words ------------------------------------------------------------------------------- */

/* How many ranks have the value of rank r. */
COLL_INLINE uint32_t coll_i_compare_alike(const coll_compare *compare, uint32_t r)
{
    const uint64_t value = coll_compared_value(&compare->all[r], compare->found);
    uint32_t n = 0;
    for (uint32_t i = 0; i < compare->p; i++)
        n += coll_compared_value(&compare->all[i], compare->found) == value;
    return n;
}

/* "rank 5", or "ranks 1, 2 and 5": those that have the value of rank r. */
COLL_INLINE void coll_i_compare_ranks(coll_i_pending_words *to, const coll_compare *compare,
                                      uint32_t r)
{
    enum { SHOWN = 8 };
    const uint64_t value = coll_compared_value(&compare->all[r], compare->found);
    const uint32_t all = coll_i_compare_alike(compare, r);
    uint32_t n = 0;
    for (uint32_t i = r; i < compare->p && n < SHOWN; i++)
        if (coll_compared_value(&compare->all[i], compare->found) == value) {
            coll_i_pending_number(to,
                                  n == 0         ? all > 1 ? "ranks " : "rank "
                                  : n + 1 == all ? " and "
                                                 : ", ",
                                  i);
            n++;
        }
    if (n < all) {
        coll_i_pending_number(to, " and ", all - n);
        coll_i_pending_text(to, " more");
    }
}

/* What the ranks that have a value do, and what they have. */
COLL_INLINE void coll_i_compare_value(coll_i_pending_words *to, const coll_compare *compare,
                                      uint32_t r, bool many, bool verb)
{
    const coll_compared *one = &compare->all[r];
    const uint64_t value = coll_compared_value(one, compare->found);
    const coll_collective it =
        (coll_collective)coll_compared_value(one, COLL_COMPARE_COLLECTIVE);
    switch (compare->found) {
    case COLL_COMPARE_BEFORE:
        if (verb)
            coll_i_pending_text(to, " made other nonblocking or persistent calls before it");
        break;
    case COLL_COMPARE_COLLECTIVE:
        coll_i_pending_text(to, !verb ? " " : many ? " call " : " calls ");
        coll_i_pending_text(to, coll_collective_name(it));
        break;
    case COLL_COMPARE_ROOT:
        coll_i_pending_text(to, !verb ? "" : many ? " name" : " names");
        coll_i_pending_number(to, verb ? " root " : " ", (size_t)value);
        break;
    case COLL_COMPARE_TYPE:
        coll_i_pending_text(to, !verb ? "" : many ? " give elements of" : " gives elements of");
        if (value < COLL_I_COMPARE_OPAQUE) {
            coll_i_pending_text(to, " ");
            coll_i_pending_text(to, coll_type_name((coll_type)value));
        } else {
            coll_i_pending_number(to, " ", (size_t)(value - COLL_I_COMPARE_OPAQUE));
            coll_i_pending_text(to, " opaque bytes");
        }
        break;
    case COLL_COMPARE_OPERATOR:
        coll_i_pending_text(to, !verb ? " by " : many ? " combine by " : " combines by ");
        coll_i_pending_text(
            to, value < COLL_OPERATORS            ? coll_operator_name((coll_operator)value)
                : value == COLL_I_COMPARE_USER_OP ? "a commutative operator of the user"
                : value == COLL_I_COMPARE_USER_OP_IN_ORDER
                    ? "an operator of the user that is not commutative"
                    : "an unknown operator");
        break;
    case COLL_COMPARE_COUNT:
        coll_i_pending_text(to, !verb ? "" : many ? " give" : " gives");
        if (it == COLL_ALLGATHERV || it == COLL_REDUCE_SCATTER) {
            coll_i_pending_text(to, verb ? " another table of counts" : "");
            break;
        }
        coll_i_pending_number(to, " ", (size_t)value);
        coll_i_pending_text(to, !verb ? "" : value == 1 ? " element" : " elements");
        break;
    case COLL_COMPARE_ALGORITHM:
        coll_i_pending_text(to, !verb ? "" : many ? " have" : " has");
        coll_i_pending_text(to, value != 0 ? verb ? " forced an algorithm"
                                                  : " another, or other parameters"
                                : verb     ? " forced no algorithm"
                                           : " none");
        break;
    case COLL_COMPARE_FIELDS:
        break;
    }
}

/* Is this field one whose values say nothing, but that they differ? */
COLL_INLINE bool coll_i_compare_is_number(const coll_compare *compare, uint32_t r)
{
    const uint64_t it = coll_compared_value(&compare->all[r], COLL_COMPARE_COLLECTIVE);
    return compare->found == COLL_COMPARE_BEFORE ||
           (compare->found == COLL_COMPARE_COUNT &&
            (it == COLL_ALLGATHERV || it == COLL_REDUCE_SCATTER));
}

/* "rank 2 gives 999 elements, rank 0 expects 1000": of a gatherv; of a scatterv "… takes …, … sends". */
COLL_INLINE void coll_i_compare_say_expected(coll_i_pending_words *to,
                                             const coll_compare *compare)
{
    const coll_i_expected *one = &compare->expected;
    const coll_compared *its = &compare->all[one->rank < compare->p ? one->rank : 0];
    const bool gathers = coll_compared_value(its, COLL_COMPARE_COLLECTIVE) == COLL_GATHERV;
    const uint64_t count = coll_compared_value(its, COLL_COMPARE_COUNT);
    coll_i_pending_number(to, "rank ",
                          one->rank < compare->p
                              ? one->rank
                              : (size_t)coll_compared_value(its, COLL_COMPARE_ROOT));
    if (one->rank >= compare->p) {
        coll_i_pending_text(to, ", the root, has no table of counts");
        return;
    }
    coll_i_pending_number(to, gathers ? " gives " : " takes ", (size_t)count);
    coll_i_pending_text(to, count == 1 ? " element" : " elements");
    coll_i_pending_number(to, ", rank ", (size_t)coll_compared_value(its, COLL_COMPARE_ROOT));
    coll_i_pending_number(to, gathers ? " expects " : " sends ", (size_t)one->count);
}

/* Writes what differed in the last call that ended with COLL_ERR_MISMATCH, and on which ranks, in ranks of the
 * communicator, as text of `room` bytes with its end; returns the length of the whole, which may be longer. NULL
 * and 0 ask for that. The text is the same on all ranks. 0: nothing differed. */
COLL_INLINE size_t coll_compare_text(const coll_compare *compare, char *text, size_t room)
{
    enum { SHOWN = 4 };
    coll_i_pending_words to;
    uint32_t most = 0, shown = 0;
    coll_i_pending_begin(&to, text, room);
    if (compare->found >= COLL_COMPARE_FIELDS)
        return 0;
    for (uint32_t r = 1; r < compare->p; r++) /* what most ranks have */
        if (coll_i_compare_alike(compare, r) > coll_i_compare_alike(compare, most))
            most = r;
    coll_i_pending_number(&to, "call ", (size_t)compare->calls);
    if (compare->found > COLL_COMPARE_COLLECTIVE) {
        coll_i_pending_text(&to, ", ");
        coll_i_pending_text(&to, coll_collective_name((coll_collective)coll_compared_value(
                                     &compare->all[0], COLL_COMPARE_COLLECTIVE)));
    }
    coll_i_pending_text(&to, ": ");
    if (compare->found == COLL_COMPARE_COUNT && coll_i_compare_adds(&compare->all[0])) {
        coll_i_compare_say_expected(&to, compare);
        return to.length;
    }
    for (uint32_t r = 0; r < compare->p; r++) {
        const uint64_t value = coll_compared_value(&compare->all[r], compare->found);
        uint32_t first = 0;
        while (coll_compared_value(&compare->all[first], compare->found) != value)
            first++;
        if (first != r || value == coll_compared_value(&compare->all[most], compare->found))
            continue;
        if (shown++ == SHOWN) {
            coll_i_pending_text(&to, "others something else, ");
            break;
        }
        coll_i_compare_ranks(&to, compare, r);
        coll_i_compare_value(&to, compare, r, coll_i_compare_alike(compare, r) > 1, true);
        coll_i_pending_text(&to, coll_i_compare_is_number(compare, r) ? " than " : ", ");
    }
    if (shown > SHOWN)
        coll_i_pending_text(&to, "most");
    else if (coll_i_compare_alike(compare, most) > 1)
        coll_i_pending_text(&to, "the others");
    else
        coll_i_compare_ranks(&to, compare, most);
    if (!coll_i_compare_is_number(compare, most))
        coll_i_compare_value(&to, compare, most, coll_i_compare_alike(compare, most) > 1,
                             false);
    return to.length;
}

#endif /* COLL_COMM_COMPARE_H */
