/* coll/transports/conformance/contents.h — the conformance kit: what buffers must hold
 *
 * Use ../conformance.h.
 */
#ifndef COLL_TRANSPORTS_CONFORMANCE_CONTENTS_H
#define COLL_TRANSPORTS_CONFORMANCE_CONTENTS_H

#include "calls.h"

/* Is this the beginning of another message for this rank? Says which, if so. */
COLL_INLINE bool coll_i_conformance_recognizes(coll_conformance *kit,
                                               const coll_i_conformance_op *op,
                                               const unsigned char *came)
{
    const uint32_t tags = coll_i_conformance_tags(kit);
    const uint32_t tag[] = {op->tag, 0, 1, 2, 3, tags / 2, tags - 1};
    const size_t bytes = op->bytes < 16 ? op->bytes : 16;
    if (bytes < 4)
        return false;
    for (uint32_t k = 0; k < sizeof tag / sizeof tag[0]; k++) {
        for (uint32_t other = 0; other < kit->task.p; other++) {
            const uint32_t src = other == 0 ? op->peer : other <= op->peer ? other - 1 : other;
            for (uint32_t n = 0; n < kit->most_ops; n++) {
                const uint32_t key = coll_i_conformance_key(src, kit->task.rank, tag[k], n);
                if (key == op->key || coll_i_conformance_differs(came, bytes, key, 0) != bytes)
                    continue;
                coll_i_conformance_say_number(kit, "message ", n);
                if (tag[k] != op->tag)
                    coll_i_conformance_say_number(kit, " of tag ", tag[k]);
                if (src != op->peer)
                    coll_i_conformance_say_number(kit, " of rank ", src);
                coll_i_conformance_say(kit, " came instead");
                return true;
            }
        }
    }
    return false;
}

/* Has the message come that was due? */
COLL_INLINE bool coll_i_conformance_came(coll_conformance *kit, const coll_i_conformance_op *op,
                                         const unsigned char *came)
{
    const size_t at = came ? coll_i_conformance_differs(came, op->bytes, op->key, 0) : 0;
    size_t left;
    if (at == op->bytes)
        return true;
    coll_i_conformance_fail_op(kit, op);
    if (!came) {
        coll_i_conformance_say(kit,
                               "the address of the message is NULL, and it cannot be read");
        return false;
    }
    left = op->bytes - at;
    if (left >= 4 && coll_i_conformance_differs(came, op->bytes, COLL_I_CONFORMANCE_SPENT_KEY,
                                                0) == op->bytes) {
        coll_i_conformance_say(
            kit, "what the sender wrote to its buffer after its send was over came instead");
    } else if (!coll_i_conformance_recognizes(kit, op, came)) {
        const unsigned wanted = coll_i_conformance_byte(op->key, at);
        coll_i_conformance_say_number(kit, "byte ", at);
        if (came[at] == (wanted ^ 255u)) {
            coll_i_conformance_say(kit, " was not written");
        } else {
            coll_i_conformance_say_number(kit, " is ", came[at]);
            coll_i_conformance_say_number(kit, " instead of ", wanted);
        }
    }
    return false;
}

/* The operand of a rank, for element i. */
COLL_INLINE void coll_i_conformance_operand(coll_i_conformance_element *to, uint32_t rank,
                                            uint32_t number, uint32_t i)
{
    const uint32_t key = coll_i_conformance_key(rank, i, number, 0);
    to->a = key | 1;
    to->b = key >> 3;
}

/* dst[i] = a[i] ⊕ b[i] of the operator that is not commutative. */
COLL_INLINE void coll_i_conformance_chain(void *dst, const void *a, const void *b, size_t count,
                                          void *arg)
{
    coll_i_conformance_element *to = (coll_i_conformance_element *)dst;
    const coll_i_conformance_element *x = (const coll_i_conformance_element *)a;
    const coll_i_conformance_element *y = (const coll_i_conformance_element *)b;
    (void)arg;
    for (size_t i = 0; i < count; i++) {
        const uint32_t factor = x[i].a * y[i].a, offset = x[i].b * y[i].a + y[i].b;
        to[i].a = factor;
        to[i].b = offset;
    }
}

/* … of the other one. */
COLL_INLINE void coll_i_conformance_sum(void *dst, const void *a, const void *b, size_t count,
                                        void *arg)
{
    uint32_t *to = (uint32_t *)dst;
    const uint32_t *x = (const uint32_t *)a, *y = (const uint32_t *)b;
    (void)arg;
    for (size_t i = 0; i < 2 * count; i++)
        to[i] = x[i] + y[i];
}

/* Is element i of a reduction what it must be? `back` is with its operands in another order, `mine` this
 * rank's operand alone, or NULL. */
COLL_INLINE bool coll_i_conformance_is_element(coll_conformance *kit,
                                               const coll_i_conformance_op *op, uint32_t i,
                                               const coll_i_conformance_element *right,
                                               const coll_i_conformance_element *back,
                                               const coll_i_conformance_element *mine)
{
    const coll_i_conformance_element *came =
        (const coll_i_conformance_element *)(const void *)op->buf + i;
    if (came->a == right->a && came->b == right->b)
        return true;
    coll_i_conformance_fail_op(kit, op);
    coll_i_conformance_say_number(kit, "element ", i);
    coll_i_conformance_say(
        kit, came->a == back->a && came->b == back->b ? " has its operands in the wrong order"
             : mine && came->a == mine->a && came->b == mine->b ? " was not combined"
                                                                : " is wrong");
    return false;
}

/* Are the elements of a reduction over operands 0 … n − 1 right? Is it another order, else? */
COLL_INLINE bool coll_i_conformance_reduced(coll_conformance *kit,
                                            const coll_i_conformance_op *op, uint32_t n)
{
    const coll_op *reduction = op->number % 2 ? &kit->sum : &kit->chain;
    for (uint32_t i = 0; i < op->count; i++) {
        coll_i_conformance_element forth, back, next;
        coll_i_conformance_operand(&forth, 0, op->number, i);
        coll_i_conformance_operand(&back, 0, op->number, i);
        for (uint32_t r = 1; r < n; r++) {
            coll_i_conformance_operand(&next, r, op->number, i);
            reduction->combine(&forth, &forth, &next, 1, NULL);
            reduction->combine(&back, &next, &back, 1, NULL);
        }
        if (!coll_i_conformance_is_element(kit, op, i, &forth, &back, NULL))
            return false;
    }
    return true;
}

/* Element i of a message. */
COLL_INLINE void coll_i_conformance_sent_element(coll_i_conformance_element *to, uint32_t key,
                                                 uint32_t i)
{
    for (size_t k = 0; k < sizeof *to; k++)
        ((unsigned char *)to)[k] = coll_i_conformance_byte(key, i * sizeof *to + k);
}

/* Is a message combined with this rank's operand, in the right order? */
COLL_INLINE bool coll_i_conformance_arrived(coll_conformance *kit,
                                            const coll_i_conformance_op *op)
{
    const coll_op *reduction = op->number % 2 ? &kit->sum : &kit->chain;
    const bool left = op->number / 2 % 2 != 0;
    for (uint32_t i = 0; i < op->count; i++) {
        coll_i_conformance_element mine, its, forth, back;
        coll_i_conformance_operand(&mine, kit->task.rank, op->number, i);
        coll_i_conformance_sent_element(&its, op->key, i);
        reduction->combine(left ? &back : &forth, &mine, &its, 1, NULL);
        reduction->combine(left ? &forth : &back, &its, &mine, 1, NULL);
        if (!coll_i_conformance_is_element(kit, op, i, &forth, &back, &mine))
            return false;
    }
    return true;
}

/* A message did not fit: does the transport say about which? */
COLL_INLINE bool coll_i_conformance_knows_misfit(coll_conformance *kit,
                                                 const coll_i_conformance_op *op)
{
    const uint32_t its_tag = op->its_tag ? op->its_tag : op->tag;
    coll_misfit its;
    const char *what = NULL;
    size_t said = 0, is = 0;
    if (!coll_i_conformance_misfit(kit, &its))
        return true;
    if (its.peer != op->peer)
        what = "peer", said = its.peer, is = op->peer;
    else if (its.tag != op->tag)
        what = "tag", said = its.tag, is = op->tag;
    else if (its.its_tag != its_tag)
        what = "its_tag", said = its.its_tag, is = its_tag;
    else if (its.expected != op->bytes)
        what = "expected", said = its.expected, is = op->bytes;
    else if (its.bytes != op->its_bytes)
        what = "bytes", said = its.bytes, is = op->its_bytes;
    if (!what)
        return true;
    coll_i_conformance_fail_op(kit, op);
    coll_i_conformance_say(kit, "misfit says that ");
    coll_i_conformance_say(kit, what);
    coll_i_conformance_say_number(kit, " is ", said);
    coll_i_conformance_say_number(kit, ", not ", is);
    return false;
}

/* Is nothing written beside a buffer, and nothing to what is another's or over? */
COLL_INLINE bool coll_i_conformance_is_whole(coll_conformance *kit,
                                             const coll_i_conformance_op *op)
{
    const bool blank = op->holds == COLL_I_CONFORMANCE_BLANK;
    const uint32_t key =
        op->holds == COLL_I_CONFORMANCE_SPENT ? COLL_I_CONFORMANCE_SPENT_KEY : op->key;
    size_t at;
    if (!op->buf || !kit->guarded)
        return true;
    if (coll_i_conformance_differs(op->buf - COLL_I_CONFORMANCE_GUARD, COLL_I_CONFORMANCE_GUARD,
                                   COLL_I_CONFORMANCE_GUARD_KEY,
                                   0) != COLL_I_CONFORMANCE_GUARD) {
        coll_i_conformance_fail_op(kit, op);
        coll_i_conformance_say(kit, "bytes in front of its buffer were written");
        return false;
    }
    at = coll_i_conformance_differs(op->buf + op->bytes, COLL_I_CONFORMANCE_GUARD,
                                    COLL_I_CONFORMANCE_GUARD_KEY, 0);
    if (at != COLL_I_CONFORMANCE_GUARD) {
        coll_i_conformance_fail_op(kit, op);
        coll_i_conformance_say_number(kit, "byte ", at);
        coll_i_conformance_say(kit, " behind its buffer was written");
        return false;
    }
    if (op->holds == COLL_I_CONFORMANCE_ANYTHING)
        return true;
    at = coll_i_conformance_differs(op->buf, op->bytes, key, blank ? 255 : 0);
    if (at == op->bytes)
        return true;
    coll_i_conformance_fail_op(kit, op);
    coll_i_conformance_say_number(kit, "byte ", at);
    coll_i_conformance_say(kit, blank ? " of its buffer was written, though no message came"
                                : op->holds == COLL_I_CONFORMANCE_SPENT
                                    ? " of its buffer was written after it was over"
                                : coll_i_conformance_receives(op)
                                    ? " of its buffer was written after it was done"
                                    : " of its buffer, which is only to be read, was written");
    return false;
}

#endif /* COLL_TRANSPORTS_CONFORMANCE_CONTENTS_H */
