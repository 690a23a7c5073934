/* coll/lab/export/action_words.h — an action in words
 *
 *   coll_write_action(&to, &action);     // receive 2 elements from rank 3, adding them to OUT[2..3]
 *
 * For people: what `coll show` prints, and what stands in the nodes of a drawing.
 */
#ifndef COLL_LAB_EXPORT_ACTION_WORDS_H
#define COLL_LAB_EXPORT_ACTION_WORDS_H

#include "writer.h"

/* OUT[4..7], or OUT[4] for a single element. */
COLL_INLINE void coll_i_write_place(coll_writer *to, coll_ref ref, size_t count)
{
    const size_t first = coll_ref_offset(ref);
    coll_i_write(to, "%s[%zu", coll_space_name(coll_ref_space(ref)), first);
    if (count > 1)
        coll_i_write(to, "..%zu", first + count - 1);
    coll_i_write_text(to, "]");
}

COLL_INLINE void coll_i_write_elements(coll_writer *to, size_t count)
{
    coll_i_write(to, "%zu element%s", count, count == 1 ? "" : "s");
}

COLL_INLINE void coll_i_write_recv_reduce(coll_writer *to, const coll_action *a)
{
    const char *them = a->count == 1 ? "it" : "them";
    coll_i_write_text(to, "receive ");
    coll_i_write_elements(to, a->count);
    coll_i_write(to, " from rank %u, ", a->peer);
    if (a->dst == a->src && !(a->flags & COLL_LEFT)) {
        coll_i_write(to, "adding %s to ", them);
        coll_i_write_place(to, a->dst, a->count);
    } else {
        coll_i_write_place(to, a->dst, a->count);
        coll_i_write_text(to, " = ");
        if (a->flags & COLL_LEFT)
            coll_i_write(to, "%s ⊕ ", them);
        coll_i_write_place(to, a->src, a->count);
        if (!(a->flags & COLL_LEFT))
            coll_i_write(to, " ⊕ %s", them);
    }
    if (a->via != a->dst) {
        coll_i_write_text(to, ", staged in ");
        coll_i_write_place(to, a->via, a->count);
    }
}

COLL_INLINE void coll_i_write_reduce(coll_writer *to, const coll_action *a)
{
    coll_i_write_text(to, "combine ");
    coll_i_write_place(to, a->dst, a->count);
    coll_i_write_text(to, " = ");
    coll_i_write_place(to, a->src, a->count);
    for (uint32_t i = 0; i < a->inputs && i < 3; i++) {
        const bool last = i == 2 && a->inputs > 3;
        const uint32_t input = last ? a->inputs - 1u : i;
        coll_i_write_text(to, last ? " ⊕ … ⊕ " : " ⊕ ");
        coll_i_write_place(to, a->via + input * a->stride, a->count);
    }
}

/* What a token orders, where that is memory that others see. */
COLL_INLINE void coll_i_write_token(coll_writer *to, const char *word, coll_ref ref,
                                    size_t count)
{
    if (coll_ref_space(ref) != COLL_SHARED)
        return;
    coll_i_write_text(to, word);
    coll_i_write_place(to, ref, count);
}

COLL_INLINE void coll_i_write_network_reduce(coll_writer *to, const coll_action *a)
{
    const char *group = a->peer == COLL_GROUP_ALL     ? "all ranks"
                        : a->peer == COLL_GROUP_NODES ? "the first ranks of the nodes"
                                                      : "the first ranks of the sockets";
    if (a->flags & COLL_NETWORK_BARRIER) {
        coll_i_write(to, "meet %s in the network", group);
        return;
    }
    coll_i_write_text(to, "let the network reduce ");
    coll_i_write_place(to, a->src, a->count);
    coll_i_write(to, " of %s to ", group);
    coll_i_write_place(to, a->dst, a->count);
}

/* Writes what an action does, without the end of a line. */
COLL_INLINE void coll_write_action(coll_writer *to, const coll_action *a)
{
    switch ((coll_kind)a->kind) {
    case COLL_DO_SEND:
        coll_i_write_text(to, "send ");
        coll_i_write_place(to, a->src, a->count);
        coll_i_write(to, " to rank %u", a->peer);
        break;
    case COLL_DO_RECV:
        coll_i_write_text(to, "receive ");
        coll_i_write_place(to, a->dst, a->count);
        coll_i_write(to, " from rank %u", a->peer);
        break;
    case COLL_DO_RECV_REDUCE:
        coll_i_write_recv_reduce(to, a);
        break;
    case COLL_DO_COPY:
        coll_i_write_text(to, "copy ");
        coll_i_write_place(to, a->src, a->count);
        coll_i_write_text(to, " to ");
        coll_i_write_place(to, a->dst, a->count);
        break;
    case COLL_DO_REDUCE:
        coll_i_write_reduce(to, a);
        break;
    case COLL_DO_NOTIFY:
        coll_i_write(to, "notify rank %u", a->peer);
        coll_i_write_token(to, " of ", a->src, a->count);
        break;
    case COLL_DO_AWAIT:
        coll_i_write(to, "wait for rank %u", a->peer);
        coll_i_write_token(to, " and ", a->dst, a->count);
        break;
    case COLL_DO_MULTICAST:
        coll_i_write_text(to, "send ");
        coll_i_write_place(to, a->src, a->count);
        coll_i_write_text(to, " to all other ranks");
        break;
    case COLL_DO_NETWORK_REDUCE:
        coll_i_write_network_reduce(to, a);
        break;
    case COLL_KINDS:
        break;
    }
}

#endif /* COLL_LAB_EXPORT_ACTION_WORDS_H */
