/* coll/lab/certify/local_proof.h — the checker of certificates: one rank against what is claimed
 *
 * A certificate claims of every message what it carries. The checker runs the program of one rank:
 * it takes the claim for what the rank receives, and demands it of what the rank sends. It asks the
 * partner's program whether the message is there on the other side, in the same pieces, and in the
 * same order; and it demands a level of each action, which no action of the rank's program lowers
 * and every message raises. If this holds of all ranks of a plan, then
 *
 *   - sends and receives match one to one, channel by channel, in order: a rank's peers are remembered;
 *     or levels rise from step to step, and a receive is one above its send
 *   - the levels order all actions, so no circle of them waits for itself: all programs end
 *   - by induction over the levels, every message carries what is claimed of it
 *   - so every rank ends with what the checker saw at its end: the result
 *
 * A rank's program may be taken in parts, each from what is claimed that it holds before a step to what
 * is claimed after: then all parts together are the program.
 *
 * The checker believes no claim: one that is wrong fails at the rank that sends, and its family of
 * algorithms may get it from anywhere. It knows plans, actions and sets, and no algorithm.
 */
#ifndef COLL_LAB_CERTIFY_LOCAL_PROOF_H
#define COLL_LAB_CERTIFY_LOCAL_PROOF_H

#include "local_memory.h"

/* ---- the other end ----------------------------------------------------------------------- */

/* Pieces of one message within a step: actions i … end−1. */
COLL_INLINE bool coll_i_moves(const coll_action *a)
{
    return coll_i_has_peer(a) && a->count > 0;
}

COLL_INLINE unsigned coll_i_pieces_end(const coll_action *a, unsigned i, unsigned n)
{
    unsigned end = i + 1;
    while (end < n && coll_i_moves(&a[end]) && a[end].peer == a[i].peer &&
           coll_i_has(COLL_I_SENDS, &a[end]) == coll_i_has(COLL_I_SENDS, &a[i]))
        end++;
    return end;
}

/* Has this rank the other end of a peer's action that should be in its present step? */
COLL_INLINE bool coll_i_step_answers(const coll_i_local *l, uint32_t peer, size_t step,
                                     const coll_action *theirs)
{
    const bool sends = coll_i_has(COLL_I_SENDS, theirs);
    for (unsigned i = 0; i < l->n_own; i++)
        if (coll_i_moves(&l->own[i]) && l->own[i].peer == peer &&
            coll_i_has(COLL_I_SENDS, &l->own[i]) != sends)
            return true;
    return !l->of->claims->there || l->of->claims->there(l->of, peer, step, theirs) != l->step;
}

/* Has a step of the peer exactly the other ends of `pieces` actions from *mine on? 1: yes, and *other is the
 * first; 0: none of them; −1: others. */
COLL_INLINE int coll_i_step_meets(coll_i_local *l, uint32_t peer, size_t step,
                                  const coll_action *mine, unsigned pieces,
                                  const coll_action **other)
{
    const bool sends = coll_i_has(COLL_I_SENDS, mine);
    const coll_action *a = l->other;
    unsigned found = 0;
    if (l->peer != peer || l->peer_step != step) {
        l->n_peer_step = l->of->plan->algorithm->step(l->of->plan, peer, step, l->other);
        l->peer = peer;
        l->peer_step = step;
    }
    for (unsigned i = 0; i < l->n_peer_step; i++) {
        if (!coll_i_moves(&a[i]) || a[i].peer != l->rank)
            continue;
        if (coll_i_has(COLL_I_SENDS, &a[i]) == sends) {
            if (!coll_i_step_answers(l, peer, step, &a[i]))
                return -1;
            continue;
        }
        if (found == pieces || coll_i_is_token(&a[i]) != coll_i_is_token(mine) ||
            (!coll_i_is_token(mine) && a[i].count != mine[found].count))
            return -1;
        if (found++ == 0)
            *other = &a[i];
    }
    return found == 0 ? 0 : found == pieces ? 1 : -1;
}

/* Is the other end there, after the one before of this direction? Writes the peer's step. */
COLL_INLINE bool coll_i_local_meet(coll_i_local *l, const coll_action *mine, unsigned pieces,
                                   size_t *there, coll_action *other)
{
    const coll_i_theorem *of = l->of;
    const uint32_t peer = mine->peer;
    const bool receives = coll_i_has(COLL_I_RECEIVES, mine);
    const coll_action *found = NULL;
    unsigned k = 0;
    int met = 0;
    if (peer >= of->in.p || peer == l->rank)
        return coll_i_refute(l, "the peer is the rank itself, or does not exist");
    {
        const size_t steps = of->plan->algorithm->steps(of->plan, peer);
        const size_t hint =
            of->claims->there ? of->claims->there(of, l->rank, l->step, mine) : 0;
        size_t s = hint, end = of->claims->there ? hint + 1 : steps;
        for (end = end < steps ? end : steps; s < end; s++) {
            const int here = coll_i_step_meets(l, peer, s, mine, pieces, &found);
            if (here < 0 || (here > 0 && met > 0))
                return coll_i_refute(l, "at the other end the message has other sizes, or is "
                                        "there twice, or has no answer");
            if (here > 0) {
                *there = s;
                *other = *found;
            }
            met |= here;
        }
    }
    if (met == 0)
        return coll_i_refute(l, receives ? "nobody sends what it waits for"
                                         : "nobody receives what it sends");
    if (of->claims->there && of->claims->there(of, peer, *there, other) != l->step)
        return coll_i_refute(l, "two messages have one other end");
    if (of->claims->since) /* levels tell the order */
        return true;
    while (k < l->n_peers && (l->met[k].peer != peer || l->met[k].receives != receives))
        k++;
    if (k == COLL_I_PEERS_MOST)
        return coll_i_refute(l, "too many peers: this family cannot be certified so");
    if (k < l->n_peers && (!of->claims->there || *there <= l->met[k].there))
        return coll_i_refute(l, "messages to one peer change their order");
    if (k == l->n_peers)
        l->n_peers++;
    l->met[k].peer = peer;
    l->met[k].receives = receives;
    l->met[k].there = *there;
    return true;
}

/* ---- a rank's program -------------------------------------------------------------------- */

/* No action is below those before it, and a receive is above its send; by one, if levels are all that tells the
 * order of messages to one peer. */
COLL_INLINE bool coll_i_local_level(coll_i_local *l, const coll_action *a, size_t there,
                                    const coll_action *other)
{
    const coll_i_theorem *of = l->of;
    const bool receives = coll_i_has(COLL_I_RECEIVES, a);
    const uint64_t level = of->claims->when(of, l->rank, l->step, a);
    if (level < l->level || (receives && of->claims->when(of, a->peer, there, other) >= level))
        return coll_i_refute(l, "ranks may wait for each other in a circle");
    if (of->claims->since &&
        of->claims->when(of, a->peer, there, other) != (receives ? level - 1 : level + 1))
        return coll_i_refute(l, "messages to one peer may change their order");
    l->level = level;
    return true;
}

/* Does a step begin above all before it? */
COLL_INLINE bool coll_i_local_rises(coll_i_local *l)
{
    const coll_i_theorem *of = l->of;
    const uint64_t since = of->claims->since ? of->claims->since(of, l->rank, l->step) : 0;
    if (of->claims->since && since <= l->level)
        return coll_i_refute(l, "messages to one peer may change their order");
    l->level = since > l->level ? since : l->level;
    return true;
}

/* Adds a message to the digest: a multiplicative hash of all that is claimed, who sends it and when. */
COLL_INLINE void coll_i_digest(coll_i_local *l, const coll_i_claim *m)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t h = ((uint64_t)l->of->in.p << 32 | l->rank) * odd;
    h = (h ^ h >> 29 ^ ((uint64_t)l->step << 40 | m->count)) * odd;
    h = (h ^ h >> 29 ^ ((uint64_t)m->is.element << 32 | m->is.first)) * odd;
    h = (h ^ h >> 29 ^ ((uint64_t)m->is.stride << 32 | m->is.ranks)) * odd;
    l->of->digest += h ^ h >> 32;
}

COLL_INLINE bool coll_i_local_send(coll_i_local *l, const coll_action *a, unsigned pieces)
{
    coll_i_claim sent, claimed;
    sent.count = 0;
    for (unsigned i = 0; i < pieces; i++) {
        const size_t count = coll_i_is_token(&a[i]) ? 1 : a[i].count;
        coll_contributions is;
        if (coll_i_is_token(
                &a[i])) { /* the rank itself, and who is behind the tokens that it names */
            if (l->n_named == 0 || a[i].src != l->named || a[i].count < l->n_named) {
                l->named = a[i].src;
                l->n_named = 0;
                l->named_are = coll_i_given(l->of, l->rank, 1);
            }
            if (!coll_i_local_tokens(l, l->named + l->n_named, a[i].count - l->n_named,
                                     &l->named_are))
                return coll_i_refute(l, "a notification is of ranks that are no run");
            l->n_named = a[i].count;
            is = l->named_are;
        } else if (!coll_i_local_read(l, a[i].src, count, &is)) {
            return false;
        }
        if (i == 0)
            sent.is = is;
        else if (!coll_i_contributions_append(&l->of->in, &sent.is, sent.count, &is, count))
            return coll_i_refute(l, "the pieces of a message do not follow each other");
        sent.count += count;
    }
    if (l->learns) {
        if (l->step >= COLL_I_LEARNED_MOST)
            return coll_i_refute(l, "too many steps: this family cannot be certified so");
        l->of->learn[l->step] = sent;
        l->of->learned = (uint32_t)l->step + 1;
        return true;
    }
    if (!l->of->claims->message(l->of, l->rank, a->peer, l->step, &claimed))
        return coll_i_refute(l, "no such message is claimed");
    coll_i_digest(l, &claimed);
    return (claimed.count == sent.count &&
            coll_i_contributions_same(&claimed.is, &sent.is, sent.count)) ||
           coll_i_refute(l, "the message is not what is claimed of it");
}

COLL_INLINE bool coll_i_local_receive(coll_i_local *l, const coll_action *a, unsigned pieces,
                                      size_t there)
{
    coll_i_claim claimed;
    size_t taken = 0;
    if (!l->of->claims->message(l->of, a->peer, l->rank, there, &claimed))
        return coll_i_refute(l, "no such message is claimed");
    for (unsigned i = 0; i < pieces; i++) {
        const size_t count = coll_i_is_token(&a[i]) ? 1 : a[i].count;
        coll_contributions is = coll_i_contributions_at(&l->of->in, &claimed.is, taken);
        if (count > claimed.count - taken)
            return coll_i_refute(l, "it receives more than is claimed");
        taken += count;
        if (a[i].kind == COLL_DO_RECV_REDUCE) {
            if (!coll_i_local_apart(l, &a[i]) || !coll_i_local_has(l, a[i].via, count))
                return false;
            if (a[i].via != a[i].dst && !coll_i_held_erase(&l->held, a[i].via, count))
                return coll_i_refute(l, "too many pieces: this family cannot be certified so");
            if (!coll_i_local_combine(l, &a[i], &is, (a[i].flags & COLL_LEFT) != 0))
                return false;
        } else if (!coll_i_local_write(l, a[i].dst, count, &is)) {
            return false;
        }
    }
    return taken == claimed.count || coll_i_refute(l, "it receives less than is claimed");
}

COLL_INLINE bool coll_i_local_step(coll_i_local *l)
{
    coll_action a[COLL_STEP_MAX], other;
    const coll_plan *plan = l->of->plan;
    const unsigned n = plan->algorithm->step(plan, l->rank, l->step, a);
    size_t there = 0;
    l->own = a;
    l->n_own = n;
    for (unsigned i = 0, end; i < n; i = end) {
        coll_contributions is;
        end = i + 1;
        if (coll_i_moves(&a[i])) {
            end = coll_i_pieces_end(a, i, n);
            if (!coll_i_local_meet(l, &a[i], end - i, &there, &other) ||
                !coll_i_local_level(l, &a[i], there, &other) ||
                !(coll_i_has(COLL_I_SENDS, &a[i])
                      ? coll_i_local_send(l, &a[i], end - i)
                      : coll_i_local_receive(l, &a[i], end - i, there)))
                return false;
        } else if (a[i].kind == COLL_DO_COPY && a[i].count > 0) {
            if (!coll_i_local_apart(l, &a[i]) ||
                !coll_i_local_read(l, a[i].src, a[i].count, &is) ||
                !coll_i_local_write(l, a[i].dst, a[i].count, &is))
                return false;
        } else if (a[i].kind == COLL_DO_REDUCE && a[i].count > 0) {
            if (!coll_i_local_reduce(l, &a[i]))
                return false;
        } else if (a[i].count > 0) {
            return coll_i_refute(l, "an action of a kind that cannot be certified");
        }
    }
    return true;
}

/* Does a rank hold before a step what is claimed of it? */
COLL_INLINE bool coll_i_local_holds(coll_i_local *l)
{
    coll_i_held claimed;
    claimed.in = l->held.in;
    claimed.n = 0;
    if (!l->of->claims->before(l->of, l->rank, l->step, &claimed))
        return coll_i_refute(l, "nothing is claimed of what it holds");
    for (unsigned i = 0; i < claimed.n; i++) {
        const coll_i_piece *piece = &claimed.piece[i];
        coll_contributions is;
        if (!coll_i_held_read(&l->held, piece->at, piece->count, &is) ||
            !coll_i_contributions_same(&is, &piece->is, piece->count))
            return coll_i_refute(l, "it does not hold what is claimed");
    }
    return true;
}

/* Proves steps first … end−1 of a rank: from its input, or from what is claimed that it holds then; to its
 * result, or to what is claimed. */
COLL_INLINE bool coll_i_local_prove(coll_i_local *l, uint32_t rank, size_t first, size_t end)
{
    l->rank = rank;
    l->step = first;
    coll_i_local_begin(l);
    if (first > 0 && !l->of->claims->before(l->of, rank, first, &l->held))
        return coll_i_refute(l, "nothing is claimed of what it holds");
    for (; l->step < end && l->step < l->steps; l->step++)
        if (!coll_i_local_rises(l) || !coll_i_local_step(l))
            return false;
    if (!coll_i_local_rises(l))
        return false;
    return end < l->steps ? coll_i_local_holds(l) : coll_i_local_end(l);
}

#endif /* COLL_LAB_CERTIFY_LOCAL_PROOF_H */
