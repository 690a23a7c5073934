/* coll/plan/action.h — what an algorithm's step yields: actions on refs
 *
 * A ref names a place without a pointer: a space and an element offset in one word, so that adding
 * n to a ref moves it n elements on, and refs of different spaces never overlap. An action is one
 * rank's send, receive, copy, reduction or notification. The actions of a rank in step order are a
 * sequential program: sends do not block, receives block, and messages between two ranks keep their
 * order. Nothing here runs anything.
 *
 *   kind           reads           writes    what happens
 *   SEND           src             –         count elements to peer
 *   RECV           –               dst       count elements from peer
 *   RECV_REDUCE    src             dst, via  dst = src ⊕ message from peer, staged at via
 *   COPY           src             dst       dst = src
 *   REDUCE         src, via + i·stride  dst  dst = src ⊕ via_0 ⊕ … ⊕ via_(inputs−1) in one pass
 *   NOTIFY         src             –         0 bytes to peer: what was written to src is ready
 *   AWAIT          –               dst       0 bytes from peer: dst may be read from here on
 *   MULTICAST      src             –         count elements to every other rank, which RECVs them
 *   NETWORK_REDUCE src             dst       dst = src ⊕ … ⊕ src of a group's ranks, by the network
 *
 * NETWORK_REDUCE combines in rank order: a rank's src is read when the rank comes, and its dst
 * written when all have come; with COLL_NETWORK_BARRIER it is a barrier of the group, and nothing
 * is reduced. COLL_LEFT turns RECV_REDUCE into dst = message ⊕ src. dst may equal src exactly
 * (and via, where inputs is 1), and overlaps no operand otherwise. A move of 0 elements is no
 * action: every executor skips it, at both ends alike. The ranges of NOTIFY, AWAIT and
 * COLL_NETWORK_BARRIER are never touched; outside of SHARED they are mere tokens that order
 * actions, and need no memory.
 */
#ifndef COLL_PLAN_ACTION_H
#define COLL_PLAN_ACTION_H

#include "topo/partition.h"

/* Where data lies. */
typedef enum coll_space {
    COLL_IN,      /* the caller's input, never written */
    COLL_OUT,     /* the caller's output */
    COLL_SCRATCH, /* private working memory */
    COLL_SHARED,  /* memory that the ranks of a node share */
    COLL_SPACES
} coll_space;

/* The name of a space, as above without its COLL_, never NULL; static storage. */
COLL_INLINE const char *coll_space_name(coll_space space)
{
    switch (space) {
    case COLL_IN:
        return "IN";
    case COLL_OUT:
        return "OUT";
    case COLL_SCRATCH:
        return "SCRATCH";
    case COLL_SHARED:
        return "SHARED";
    case COLL_SPACES:
        break;
    }
    return "unknown space";
}

/* A place: a space in the two highest bits, an element offset in the others. */
typedef size_t coll_ref;
/* Bits of an offset. */
#define COLL_REF_BITS (sizeof(size_t) * 8 - 2)
/* Offsets and counts, in elements, stay below this. */
#define COLL_REF_LIMIT ((size_t)1 << COLL_REF_BITS)

/* The ref of an element of a space. */
#define COLL_AT(space, offset) (((coll_ref)(space) << COLL_REF_BITS) + (coll_ref)(offset))

/* The space of a ref. */
COLL_INLINE coll_space coll_ref_space(coll_ref ref)
{
    return (coll_space)(ref >> COLL_REF_BITS);
}

/* The element offset of a ref. */
COLL_INLINE size_t coll_ref_offset(coll_ref ref)
{
    return ref & (COLL_REF_LIMIT - 1);
}

/* What an action does; the table above. */
typedef enum coll_kind {
    COLL_DO_SEND,
    COLL_DO_RECV,
    COLL_DO_RECV_REDUCE,
    COLL_DO_COPY,
    COLL_DO_REDUCE,
    COLL_DO_NOTIFY,
    COLL_DO_AWAIT,
    COLL_DO_MULTICAST,
    COLL_DO_NETWORK_REDUCE,
    COLL_KINDS /* how many there are */
} coll_kind;

/* The name of a kind, in small letters, never NULL; static storage. */
COLL_INLINE const char *coll_kind_name(coll_kind kind)
{
    switch (kind) {
    case COLL_DO_SEND:
        return "send";
    case COLL_DO_RECV:
        return "recv";
    case COLL_DO_RECV_REDUCE:
        return "recv_reduce";
    case COLL_DO_COPY:
        return "copy";
    case COLL_DO_REDUCE:
        return "reduce";
    case COLL_DO_NOTIFY:
        return "notify";
    case COLL_DO_AWAIT:
        return "await";
    case COLL_DO_MULTICAST:
        return "multicast";
    case COLL_DO_NETWORK_REDUCE:
        return "network_reduce";
    case COLL_KINDS:
        break;
    }
    return "unknown kind";
}

/* A set of kinds is a mask of these; coll_i_has(mask, kind) asks it. */
#define COLL_I_KIND(name) (1u << COLL_DO_##name)
enum {
    COLL_I_SENDS = COLL_I_KIND(SEND) | COLL_I_KIND(NOTIFY) | COLL_I_KIND(MULTICAST),
    COLL_I_RECEIVES = COLL_I_KIND(RECV) | COLL_I_KIND(RECV_REDUCE) | COLL_I_KIND(AWAIT),
    COLL_I_TOKENS = COLL_I_KIND(NOTIFY) | COLL_I_KIND(AWAIT),
    COLL_I_READS_SRC = COLL_I_KIND(SEND) | COLL_I_KIND(RECV_REDUCE) | COLL_I_KIND(COPY) |
                       COLL_I_KIND(REDUCE) | COLL_I_KIND(NOTIFY) | COLL_I_KIND(MULTICAST) |
                       COLL_I_KIND(NETWORK_REDUCE),
    COLL_I_WRITES_DST = COLL_I_KIND(RECV) | COLL_I_KIND(RECV_REDUCE) | COLL_I_KIND(COPY) |
                        COLL_I_KIND(REDUCE) | COLL_I_KIND(AWAIT) | COLL_I_KIND(NETWORK_REDUCE)
};

/* Flags: the message of RECV_REDUCE is the left operand; NETWORK_REDUCE only meets. */
enum { COLL_LEFT = 1, COLL_NETWORK_BARRIER = 2 };

/* One action of a rank. coll_act_… write it; what a kind does not have is 0. */
typedef struct coll_action {
    uint8_t kind;    /* coll_kind */
    uint8_t flags;   /* COLL_LEFT, COLL_NETWORK_BARRIER */
    uint16_t inputs; /* REDUCE: operands at via */
    uint32_t peer;   /* group rank of the other end; NETWORK_REDUCE: number of the group */
    size_t count;    /* elements */
    coll_ref dst, src, via; /* where it writes, reads, and stages or finds operands */
    /* REDUCE: elements from one operand at via to the next; NETWORK_REDUCE: ranks of the group. */
    size_t stride;
} coll_action;

COLL_INLINE bool coll_i_has(unsigned kinds, const coll_action *a)
{
    return ((kinds >> a->kind) & 1u) != 0;
}

/* Are the action's ranges tokens, which are never touched? */
COLL_INLINE bool coll_i_is_token(const coll_action *a)
{
    return coll_i_has(COLL_I_TOKENS, a) || (a->flags & COLL_NETWORK_BARRIER) != 0;
}

/* Elements that the operands at via span. */
COLL_INLINE size_t coll_i_action_via_span(const coll_action *a)
{
    return a->kind == COLL_DO_REDUCE ? (size_t)(a->inputs - 1) * a->stride + a->count
                                     : a->count;
}

/* Do [a, a + a_count) and [b, b + b_count) meet? */
COLL_INLINE bool coll_i_overlap(coll_ref a, size_t a_count, coll_ref b, size_t b_count)
{
    return a - b < b_count || b - a < a_count;
}

/* Field by field: on bare metal, compilers call memcpy for the assignment of a structure this
 * large. */
COLL_INLINE void coll_i_action_assign(coll_action *to, const coll_action *from)
{
    if (COLL_SMALL) {
        coll_i_assign(to, from, sizeof *to);
        return;
    }
    to->kind = from->kind;
    to->flags = from->flags;
    to->inputs = from->inputs;
    to->peer = from->peer;
    to->count = from->count;
    to->dst = from->dst;
    to->src = from->src;
    to->via = from->via;
    to->stride = from->stride;
}

/* Places an action's refs elsewhere: space s of theirs begins at base[s]. */
COLL_HOT_INLINE void coll_i_action_place(coll_action *a, const coll_ref base[COLL_SPACES])
{
    a->dst = base[coll_ref_space(a->dst)] + coll_ref_offset(a->dst);
    a->src = base[coll_ref_space(a->src)] + coll_ref_offset(a->src);
    a->via = base[coll_ref_space(a->via)] + coll_ref_offset(a->via);
}

/* Has the action a peer? */
COLL_HOT_INLINE bool coll_i_has_peer(const coll_action *a)
{
    return coll_i_has((COLL_I_SENDS & ~COLL_I_KIND(MULTICAST)) | COLL_I_RECEIVES, a);
}

/* Do two messages of one direction go through the same channel? A multicast goes through all. */
COLL_HOT_INLINE bool coll_i_share_a_channel(const coll_action *a, const coll_action *b)
{
    return a->peer == b->peer ||
           (COLL_IN_NETWORK && (a->kind == COLL_DO_MULTICAST || b->kind == COLL_DO_MULTICAST));
}

/* ---- makers: each writes one action ------------------------------------------------------ */

COLL_INLINE void coll_i_act(coll_action *a, coll_kind kind, uint32_t peer, size_t count)
{
    a->kind = (uint8_t)kind;
    a->flags = 0;
    a->inputs = 0;
    a->peer = peer;
    a->count = count;
    a->dst = 0;
    a->src = 0;
    a->via = 0;
    a->stride = 0;
}

/* Writes a SEND of `count` elements at src to a peer. */
COLL_INLINE void coll_act_send(coll_action *a, uint32_t peer, coll_ref src, size_t count)
{
    coll_i_act(a, COLL_DO_SEND, peer, count);
    a->src = src;
}

/* Writes a RECV of `count` elements from a peer to dst. */
COLL_INLINE void coll_act_recv(coll_action *a, uint32_t peer, coll_ref dst, size_t count)
{
    coll_i_act(a, COLL_DO_RECV, peer, count);
    a->dst = dst;
}

/* One message, in the one direction or the other. */
COLL_INLINE void coll_act_move(coll_action *a, bool send, uint32_t peer, coll_ref at,
                               size_t count)
{
    if (send)
        coll_act_send(a, peer, at, count);
    else
        coll_act_recv(a, peer, at, count);
}

/* dst = src ⊕ message; set a->flags = COLL_LEFT afterwards for dst = message ⊕ src. */
COLL_INLINE void coll_act_recv_reduce(coll_action *a, uint32_t peer, coll_ref dst, coll_ref src,
                                      coll_ref via, size_t count)
{
    coll_i_act(a, COLL_DO_RECV_REDUCE, peer, count);
    a->dst = dst;
    a->src = src;
    a->via = via;
}

/* Writes a COPY of `count` elements from src to dst. */
COLL_INLINE void coll_act_copy(coll_action *a, coll_ref dst, coll_ref src, size_t count)
{
    coll_i_act(a, COLL_DO_COPY, 0, count);
    a->dst = dst;
    a->src = src;
}

/* dst = src ⊕ via; set a->inputs and a->stride afterwards for more operands. */
COLL_INLINE void coll_act_reduce(coll_action *a, coll_ref dst, coll_ref src, coll_ref via,
                                 size_t count)
{
    coll_i_act(a, COLL_DO_REDUCE, 0, count);
    a->inputs = 1;
    a->dst = dst;
    a->src = src;
    a->via = via;
}

/* Writes a NOTIFY: the peer may read what was written to `count` elements at src. */
COLL_INLINE void coll_act_notify(coll_action *a, uint32_t peer, coll_ref src, size_t count)
{
    coll_i_act(a, COLL_DO_NOTIFY, peer, count);
    a->src = src;
}

/* Writes an AWAIT of the peer's NOTIFY: `count` elements at dst may be read from here on. */
COLL_INLINE void coll_act_await(coll_action *a, uint32_t peer, coll_ref dst, size_t count)
{
    coll_i_act(a, COLL_DO_AWAIT, peer, count);
    a->dst = dst;
}

/* Writes a MULTICAST of `count` elements at src to all other ranks. */
COLL_INLINE void coll_act_multicast(coll_action *a, coll_ref src, size_t count)
{
    coll_i_act(a, COLL_DO_MULTICAST, 0, count);
    a->src = src;
}

/* Writes a NETWORK_REDUCE of a group, of `count` elements at src to dst. */
COLL_INLINE void coll_act_network_reduce(coll_action *a, coll_network_group group, coll_ref dst,
                                         coll_ref src, size_t count)
{
    coll_i_act(a, COLL_DO_NETWORK_REDUCE, group.number, count);
    a->stride = group.members;
    a->dst = dst;
    a->src = src;
}

/* A NETWORK_REDUCE without data. */
COLL_INLINE void coll_act_network_barrier(coll_action *a, coll_network_group group,
                                          coll_ref token)
{
    coll_act_network_reduce(a, group, token, token, 1);
    a->flags = COLL_NETWORK_BARRIER;
}

/* Widens a token of a barrier to all from `first` to its own: what those stand for comes first. */
COLL_INLINE void coll_i_name_tokens(coll_action *a, coll_ref first)
{
    if (a->kind != COLL_DO_NOTIFY && !(a->flags & COLL_NETWORK_BARRIER))
        return;
    a->count += a->src - first;
    a->src = first;
    if (a->flags & COLL_NETWORK_BARRIER)
        a->dst = first;
}

#endif /* COLL_PLAN_ACTION_H */
