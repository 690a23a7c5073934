/* coll/comm/reliable.h — broadcast, reduce and allreduce that are right though f ranks crash
 *
 *   static uint64_t room[COLL_RELIABLE_BYTES(P, F, sizeof x) / 8 + 1];
 *   coll_reliable reliable;                                     // of a recovery (recover.h)
 *   status = coll_reliable_init(&reliable, &recovery, F, room, sizeof room);
 *   …
 *   status = coll_reliable_allreduce(&reliable, x, y, n, COLL_F64, COLL_SUM);
 *   for (r = 0; r < p; r++)
 *       ranks += coll_reliable_has(&reliable, r);               // whose contributions are in y
 *   … coll_reliable_free(&reliable); coll_recovery_free(&recovery); …
 *
 * Guarantee. A call ends with the same status on all ranks that do not crash, and on one that
 * crashes after it has returned: it is uniform. COLL_OK means, in a call in which any number of
 * ranks crash:
 *   bcast      every rank that lives has the root's value
 *   reduce     the root has the contributions of all ranks that live, each once; that of a rank
 *              that crashed may be in or not: coll_reliable_has says so, on the root
 *   allreduce  likewise, and every rank that lives has this value, of the same contributions
 * If no more than f ranks crash, a call is COLL_OK, unless the root of a bcast or reduce is among
 * them. It is COLL_ERR_PEER on all survivors where the root crashes too early, or more than f ranks
 * do and their results suffer. So an error may come of more than f crashes, a wrong result never.
 *
 * f is counted anew in each call: ranks that were lost before it (coll_recovery_is_lost, the same
 * on all ranks) do not take part, and the tree is that of the others. After COLL_ERR_PEER all ranks
 * may call again.
 *
 * How. The tree and why it is enough are in reliable_tree.h. A bcast goes down the tree, and who
 * was not reached asks the f positions before it. A reduce goes round in groups of f + 1, and up
 * the tree; the root takes a class in which nobody is missing. An allreduce is both, from the first
 * rank that lives, and once more from the next one if that crashes. At the end, all survivors agree
 * (agree.h) on whether all have what they should: only the agreement makes a result one. It is no
 * second consensus, and so what it needs is what coll_comm_agree needs, of the transport and of the
 * program: ranks that returned may have to answer, in whatever they call next.
 *
 * Every message that a rank expects is sent, or its sender is dead: no call leaves one over.
 * Messages are numbered besides, and the agreement compares what the call is: where ranks call
 * different things and do not wait for each other for ever, as with all collectives, they all end
 * with an error, for good.
 *
 * Cost, with q ranks that live, m = ⌊(q − 1) / (f + 1)⌋ ≥ 1, and no crash: q − 1 values for a
 * bcast, and f · (f + 1) · (m − 1) heads, of some 40 bytes, that ask for nothing; q − 1 +
 * f · (f + 1) · m values for a reduce. A value of more than 64 bytes comes behind a head. The
 * longest chain is ⌊log₂ m⌋ + 1 values and a head for a bcast, ⌊log₂ m⌋ + 2 values for a reduce.
 * The agreement comes to that: 2 · ⌈log₂ p⌉ rounds.
 */
#ifndef COLL_COMM_RELIABLE_H
#define COLL_COMM_RELIABLE_H

#include "reliable_attempt.h"

/* Bytes of memory for the reliable calls of p ranks that survive f crashes, with reductions of up
 * to so many bytes: a constant expression. Broadcasts may be of any size. */
#define COLL_RELIABLE_BYTES(p, f, bytes)                                                       \
    (COLL_I_RELIABLE_FIXED(p, f) + 2 * COLL_I_RELIABLE_ROUND(bytes))

/* Why there can be no reliable calls that survive f crashes, in a sentence; NULL: there can. */
COLL_INLINE const char *coll_reliable_lacks(const coll_recovery *recovery, uint32_t f)
{
    if (!recovery)
        return "the recovery is NULL: prepare one by coll_recovery_init";
    if (f >= recovery->comm->p)
        return "f, the crashes survived, must be below the number of ranks: somebody has to be "
               "left";
    if (!coll_i_recovery_fits(recovery->comm,
                              COLL_I_RELIABLE_WORDS(recovery->comm->p) * sizeof(uint64_t)))
        return "the transport's messages are too short (max_bytes) for one that names all "
               "ranks";
    return NULL;
}

/* Memory of so many bytes, at this alignment, from what is left. */
COLL_INLINE void *coll_i_reliable_take(unsigned char **left, size_t bytes, size_t align)
{
    unsigned char *at = *left;
    at += (align - (uintptr_t)at % align) % align;
    *left = at + bytes;
    return at;
}

/* Prepares reliable calls that survive f crashes each, among the ranks of a recovery. Collective,
 * like coll_recovery_init, but sends nothing: all ranks call it at the same place among their calls
 * with the recovery, with the same f and bytes. It takes one tag of the recovery's. `memory`, of
 * COLL_RELIABLE_BYTES(…) bytes, and the recovery stay the caller's, at their place, until
 * coll_reliable_free.
 * Errors, the same on all ranks: COLL_ERR_PARAM: f is not below the number of ranks;
 * COLL_ERR_CAPABILITY: messages are too short (coll_reliable_lacks says both in a sentence);
 * COLL_ERR_TAG; COLL_ERR_MEMORY. COLL_ERR_NULL is this rank's own: the others will wait for it in
 * their first call. */
COLL_INLINE coll_status coll_reliable_init(coll_reliable *r, coll_recovery *recovery,
                                           uint32_t f, void *memory, size_t bytes)
{
    unsigned char *left = (unsigned char *)memory;
    coll_comm *spare;
    coll_status status;
    uint32_t p;
    if (!r || !recovery || !memory)
        return COLL_ERR_NULL;
    spare = &recovery->spare;
    p = recovery->comm->p;
    if (coll_reliable_lacks(recovery, f))
        return f >= p ? COLL_ERR_PARAM : COLL_ERR_CAPABILITY;
    if (bytes < COLL_I_RELIABLE_FIXED(p, f))
        return COLL_ERR_MEMORY;
    status = coll_i_comm_take_tags(&spare->tags, &spare->subs, 1, &r->span);
    if (status != COLL_OK)
        return status;
    r->recovery = recovery;
    r->first = spare->first_tag + spare->turns + (uint32_t)r->span.at;
    r->tag = r->first + coll_i_comm_first_use(spare);
    r->f = f;
    r->set = (uint32_t)COLL_I_AGREE_SET(p);
    r->status = COLL_OK;
    r->number = 0;
    r->room = (bytes - COLL_I_RELIABLE_FIXED(p, f)) / 2 / COLL_I_RELIABLE_ALIGN *
              COLL_I_RELIABLE_ALIGN;
    r->sum = (unsigned char *)coll_i_reliable_take(&left, r->room, COLL_I_RELIABLE_ALIGN);
    r->came = (unsigned char *)coll_i_reliable_take(&left, r->room, COLL_I_RELIABLE_ALIGN);
    r->sends = (coll_i_reliable_send *)coll_i_reliable_take(
        &left, COLL_I_RELIABLE_SENDS(f) * sizeof *r->sends, COLL_I_RELIABLE_ALIGN);
    r->heard = (uint64_t *)coll_i_reliable_take(
        &left, COLL_I_RELIABLE_WORDS(p) * sizeof(uint64_t), sizeof(uint64_t));
    for (uint32_t i = 0; i < COLL_I_RELIABLE_SENDS(f); i++)
        r->sends[i].head = (uint64_t *)coll_i_reliable_take(
            &left, COLL_I_RELIABLE_WORDS(p) * sizeof(uint64_t), sizeof(uint64_t));
    r->who =
        (uint64_t *)coll_i_reliable_take(&left, r->set * sizeof(uint64_t), sizeof(uint64_t));
    r->member =
        (uint32_t *)coll_i_reliable_take(&left, p * sizeof *r->member, sizeof(uint32_t));
    r->gone = (bool *)coll_i_reliable_take(&left, p * sizeof *r->gone, sizeof(bool));
    for (uint32_t i = 0; i < r->set; i++)
        r->who[i] = 0;
    for (uint32_t i = 0; i < p; i++)
        r->gone[i] = false;
    r->n_sends = 0;
    r->receiving = r->moved = false;
    r->part = COLL_I_RELIABLE_IDLE;
    return COLL_OK;
}

/* Ends reliable calls: collective over the survivors, and before coll_recovery_free; sends nothing.
 * COLL_ERR_BUSY: one is under way. */
COLL_INLINE coll_status coll_reliable_free(coll_reliable *r)
{
    if (!r)
        return COLL_ERR_NULL;
    if (r->part != COLL_I_RELIABLE_IDLE)
        return COLL_ERR_BUSY;
    coll_spans_give(&r->recovery->spare.tags, &r->span);
    r->status = COLL_ERR_STATE;
    return COLL_OK;
}

/* Is the contribution of a rank in the result of the last reduce, on its root, or of the last
 * allreduce, on all ranks? After COLL_OK. */
COLL_INLINE bool coll_reliable_has(const coll_reliable *r, uint32_t rank)
{
    return r && rank < r->recovery->comm->p && coll_i_agree_has(r->who, rank);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* What is agreed on, as bits: nobody's value is missing; nobody gave up; and behind these what the
 * call is, once as it is and once with all bits inverted. */
enum { COLL_I_RELIABLE_ALL_HAVE = 1, COLL_I_RELIABLE_ALL_FIT = 2, COLL_I_RELIABLE_BITS = 31 };

/* What a rank brings to the agreement at the end of an attempt. */
COLL_INLINE uint64_t coll_i_reliable_flags(const coll_reliable *r)
{
    const uint64_t call =
        (coll_i_reliable_what(r, COLL_I_RELIABLE_AGREE) ^ (uint64_t)r->bytes << 40) *
        UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t bits = call >> (64 - COLL_I_RELIABLE_BITS);
    uint64_t flags = bits << 2 | ~bits << (2 + COLL_I_RELIABLE_BITS);
    if (r->has)
        flags |= COLL_I_RELIABLE_ALL_HAVE;
    if (r->given_up == COLL_OK)
        flags |= COLL_I_RELIABLE_ALL_FIT;
    return flags;
}

/* Has nobody given up, and have all made the same call? Each bit of it is then 1 either as it is,
 * or inverted. */
COLL_INLINE bool coll_i_reliable_agrees(uint64_t flags)
{
    const uint64_t all = ((uint64_t)1 << COLL_I_RELIABLE_BITS) - 1;
    return (flags & COLL_I_RELIABLE_ALL_FIT) != 0 &&
           (((flags >> 2) ^ (flags >> (2 + COLL_I_RELIABLE_BITS))) & all) == all;
}

/* The survivors have agreed: what comes of the call. COLL_AGAIN: another attempt has begun. */
COLL_INLINE coll_status coll_i_reliable_judge(coll_reliable *r, uint64_t flags)
{
    const bool rooted = !coll_recovery_is_lost(r->recovery, r->root);
    r->part = COLL_I_RELIABLE_IDLE;
    if (!coll_i_reliable_agrees(flags)) {
        r->status = r->given_up != COLL_OK                   ? r->given_up
                    : (flags & COLL_I_RELIABLE_ALL_FIT) != 0 ? COLL_ERR_STATE
                                                             : COLL_ERR_PEER;
        return r->status;
    }
    if ((flags & COLL_I_RELIABLE_ALL_HAVE) != 0)
        return rooted || r->collective != COLL_REDUCE ? COLL_OK : COLL_ERR_PEER;
    if (rooted || r->collective != COLL_ALLREDUCE || coll_i_reliable_lost(r) - r->before > r->f)
        return COLL_ERR_PEER;
    for (r->root = 0; coll_recovery_is_lost(r->recovery, r->root);)
        r->root++;
    coll_i_reliable_begin(r);
    return COLL_AGAIN;
}

/* Moves the call on that is under way, and all others that share the root communicator. COLL_AGAIN:
 * it is not over. COLL_OK: it is, and well, or there is none; any other status as the head of this
 * file says, or as coll_comm_agree: then this rank can take part in no more calls. */
COLL_INLINE coll_status coll_reliable_test(coll_reliable *r)
{
    coll_status status = COLL_OK;
    uint64_t flags = 0;
    if (!r)
        return COLL_ERR_NULL;
    if (r->part == COLL_I_RELIABLE_IDLE)
        return r->status;
    if (r->part != COLL_I_RELIABLE_AGREE) {
        const bool moved = coll_i_reliable_move(r);
        if (r->part != COLL_I_RELIABLE_AGREE) {
            coll_progress(coll_i_reliable_comm(r)); /* which answers those that still agree */
            if (moved)
                coll_i_reliable_comm(r)->root_comm->idle = 0;
            return COLL_AGAIN;
        }
        flags = coll_i_reliable_flags(r);
        status = coll_i_recovery_begin(r->recovery, flags, r->misses);
    }
    if (status == COLL_OK)
        status = coll_agree_test(r->recovery, &flags);
    if (status == COLL_AGAIN)
        return status;
    if (status == COLL_OK)
        return coll_i_reliable_judge(r, flags);
    r->part = COLL_I_RELIABLE_IDLE;
    r->status = status;
    return status;
}

/* Blocks until the call is over that is under way: as coll_reliable_test. */
COLL_INLINE coll_status coll_reliable_wait(coll_reliable *r)
{
    coll_status status;
    while ((status = coll_reliable_test(r)) == COLL_AGAIN) {
        const coll_comm *root_comm = coll_i_reliable_comm(r)->root_comm;
        if (root_comm->transport->wait)
            root_comm->transport->wait(root_comm->ctx, root_comm->idle);
    }
    return status;
}

/* What is wrong with a call. `alike`: all ranks find it. */
COLL_INLINE coll_status coll_i_reliable_check(coll_reliable *r, const coll_args *args,
                                              bool *alike)
{
    const coll_comm *comm = coll_i_reliable_comm(r);
    const bool reduces = args->collective != COLL_BCAST;
    const bool gets = args->collective != COLL_REDUCE || comm->rank == args->root;
    coll_problem problem;
    coll_status status;
    *alike = true;
    if (args->root >= comm->p)
        return COLL_ERR_ROOT;
    if (coll_type_bytes(args->type) == 0)
        return COLL_ERR_TYPE;
    if (!coll_multiply(args->count, coll_type_bytes(args->type), &r->bytes))
        return COLL_ERR_OVERFLOW;
    if (reduces && r->bytes > r->room)
        return COLL_ERR_MEMORY;
    *alike = args->op < COLL_USER_OP;
    problem.flags = 0;
    status = coll_i_args_op(comm, args, &problem, &r->op);
    if (status != COLL_OK)
        return status;
    *alike = reduces && !r->op.commutative;
    if (*alike)
        return COLL_ERR_ORDER;
    if (args->in == COLL_IN_PLACE || (reduces && gets && args->in == args->out && r->bytes > 0))
        return COLL_ERR_IN_PLACE;
    if (r->bytes > 0 && ((reduces && !args->in) || (gets && !args->out)))
        return COLL_ERR_NULL;
    return COLL_OK;
}

/* Begins a call. */
COLL_INLINE coll_status coll_i_reliable_post(coll_reliable *r, const coll_args *args)
{
    coll_status status;
    bool alike;
    if (!r)
        return COLL_ERR_NULL;
    if (r->status != COLL_OK)
        return r->status;
    if (r->part != COLL_I_RELIABLE_IDLE || r->recovery->agree.state == COLL_I_AGREE_BRIEF ||
        r->recovery->agree.state == COLL_I_AGREE_LONG)
        return COLL_ERR_BUSY;
    status = coll_i_reliable_check(r, args, &alike);
    if (status != COLL_OK && alike)
        return status;
    r->collective = args->collective;
    r->in = args->in;
    r->out = args->out;
    r->count = args->count;
    r->root = args->root;
    r->before = coll_i_reliable_lost(r);
    if (coll_recovery_is_lost(r->recovery, coll_i_reliable_comm(r)->rank))
        return COLL_ERR_PEER;
    if (r->collective == COLL_ALLREDUCE)
        for (r->root = 0; coll_recovery_is_lost(r->recovery, r->root);)
            r->root++;
    if (coll_recovery_is_lost(r->recovery, r->root))
        return COLL_ERR_PEER; /* as all find */
    if (status != COLL_OK) {
        r->collective = COLL_BCAST; /* nothing of its buffers is touched */
        coll_i_reliable_begin(r);
        coll_i_reliable_give_up(r, status);
        return COLL_OK; /* all ranks hear of it: coll_reliable_test says so */
    }
    coll_i_reliable_begin(r);
    return COLL_OK;
}

/* Begins a broadcast of `count` elements at buf from the root, which coll_reliable_test or _wait
 * ends. COLL_ERR_BUSY: a call or an agreement of the recovery is under way. Errors that all ranks
 * find alike are returned here, and nothing has happened: COLL_ERR_ROOT, _TYPE, _OVERFLOW, _MEMORY
 * (the vector of a reduction is longer than the memory was made for), _OP, _ORDER (the operator
 * does not commute); COLL_ERR_PEER: the root is lost. A rank's own, COLL_ERR_NULL and
 * COLL_ERR_IN_PLACE, end the call on all ranks, by coll_reliable_test, and so every later one. */
COLL_INLINE coll_status coll_reliable_ibcast(coll_reliable *r, void *buf, size_t count,
                                             coll_type type, uint32_t root)
{
    coll_args args;
    coll_i_moving(&args, COLL_BCAST, NULL, buf, count, type, root);
    return coll_i_reliable_post(r, &args);
}

/* … a reduction of `in` to `out` on the root; others may have NULL there. `in` and `out` do not
 * overlap. */
COLL_HOT_INLINE coll_status coll_reliable_ireduce(coll_reliable *r, const void *in, void *out,
                                                  size_t count, coll_type type,
                                                  coll_operator op, uint32_t root)
{
    coll_args args;
    coll_i_reducing(&args, COLL_REDUCE, in, out, count, type, op, root);
    return coll_i_reliable_post(r, &args);
}

/* … a reduction of `in` to `out` on all ranks, which do not overlap. */
COLL_HOT_INLINE coll_status coll_reliable_iallreduce(coll_reliable *r, const void *in,
                                                     void *out, size_t count, coll_type type,
                                                     coll_operator op)
{
    coll_args args;
    coll_i_reducing(&args, COLL_ALLREDUCE, in, out, count, type, op, 0);
    return coll_i_reliable_post(r, &args);
}

/* Broadcasts `count` elements at buf from the root to all ranks that live. The guarantee is at the
 * head of this file; errors are those of coll_reliable_ibcast and coll_reliable_test. After an
 * error buf is undefined on all ranks but the root. */
COLL_INLINE coll_status coll_reliable_bcast(coll_reliable *r, void *buf, size_t count,
                                            coll_type type, uint32_t root)
{
    const coll_status status = coll_reliable_ibcast(r, buf, count, type, root);
    return status == COLL_OK ? coll_reliable_wait(r) : status;
}

/* Combines the contributions `in` of all ranks that live, in any order, into `out` on the root. */
COLL_HOT_INLINE coll_status coll_reliable_reduce(coll_reliable *r, const void *in, void *out,
                                                 size_t count, coll_type type, coll_operator op,
                                                 uint32_t root)
{
    const coll_status status = coll_reliable_ireduce(r, in, out, count, type, op, root);
    return status == COLL_OK ? coll_reliable_wait(r) : status;
}

/* Combines the contributions `in` of all ranks that live, in any order, into `out` on all of them:
 * the same bits everywhere. After an error `out` is undefined. */
COLL_HOT_INLINE coll_status coll_reliable_allreduce(coll_reliable *r, const void *in, void *out,
                                                    size_t count, coll_type type,
                                                    coll_operator op)
{
    const coll_status status = coll_reliable_iallreduce(r, in, out, count, type, op);
    return status == COLL_OK ? coll_reliable_wait(r) : status;
}

#endif /* COLL_COMM_RELIABLE_H */
