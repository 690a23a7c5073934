/* coll/lab/verify/values.h — what an element holds, symbolically
 *
 * A value is an element of somebody's input, or a formal combination of such elements of equal
 * index: the index in the low half of a 64-bit word, the number of a structure in the high
 * half. A structure is a binary tree whose leaves are ranks; equal trees have equal numbers
 * (hash-consing), so comparing two results down to their parentheses is comparing two integers.
 * Use lab/verify.h.
 */
#ifndef COLL_LAB_VERIFY_VALUES_H
#define COLL_LAB_VERIFY_VALUES_H

#include "report.h"

typedef uint64_t coll_i_value;

/* Structure numbers: nothing was written here; this is not the algorithm's to touch; rank r's
 * own element is COLL_I_LEAF + r; from COLL_I_NODE on, combinations. */
enum { COLL_I_UNSET = 0, COLL_I_GAP = 1, COLL_I_LEAF = 2, COLL_I_NODE = 1 << 26 };

/* What is left where a message was staged: nothing that may be read, though it was written. */
#define COLL_I_STALE ((coll_i_value)1)

COLL_INLINE coll_i_value coll_i_value_of(uint32_t structure, size_t index)
{
    return (coll_i_value)structure << 32 | (uint32_t)index;
}

COLL_INLINE uint32_t coll_i_structure(coll_i_value value)
{
    return (uint32_t)(value >> 32);
}

typedef struct coll_i_node {
    uint32_t left, right;
    uint32_t first,
        last; /* leaves, where they are consecutive and in order; else first > last */
    uint32_t conditions; /* leaves; UINT32_MAX: that many or more */
    uint32_t complete;   /* n: the leaves are the ranks below n, each once. 0: not known */
} coll_i_node;

typedef struct coll_i_structures {
    coll_i_memory nodes, table; /* table: node index + 1 by hash */
    uint32_t n, slots;
    bool out_of_memory;
    coll_i_memory seen, stack; /* of coll_i_complete_ranks */
} coll_i_structures;

COLL_INLINE coll_i_node coll_i_node_at(const coll_i_structures *st, uint32_t structure)
{
    coll_i_node leaf;
    if (structure >= COLL_I_NODE)
        return ((const coll_i_node *)st->nodes.at)[structure - COLL_I_NODE];
    leaf.left = leaf.right = 0;
    leaf.first = leaf.last = structure - COLL_I_LEAF;
    leaf.conditions = 1;
    leaf.complete = leaf.first == 0 ? 1 : 0;
    return leaf;
}

COLL_INLINE uint32_t *coll_i_structure_slot(const coll_i_structures *st, uint32_t left,
                                            uint32_t right)
{
    const coll_i_node *nodes = (const coll_i_node *)st->nodes.at;
    uint32_t *table = (uint32_t *)st->table.at;
    const uint64_t mix = ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15u;
    uint32_t i = (uint32_t)(mix >> 32) & (st->slots - 1);
    while (table[i] != 0 &&
           (nodes[table[i] - 1].left != left || nodes[table[i] - 1].right != right))
        i = (i + 1) & (st->slots - 1);
    return &table[i];
}

/* Forgets all structures: their numbers mean nothing any more. */
COLL_INLINE void coll_i_structures_clear(coll_i_structures *st)
{
    st->n = 0;
    st->out_of_memory = false;
    if (!st->table.at)
        st->slots = 0;
    else
        memset(st->table.at, 0, st->slots * sizeof(uint32_t));
}

COLL_INLINE bool coll_i_structures_grow(coll_i_structures *st)
{
    const uint32_t slots = st->slots ? 2 * st->slots : 1024;
    const coll_i_node *nodes = (const coll_i_node *)st->nodes.at;
    if (!coll_i_reserve_new(&st->table, slots * sizeof(uint32_t)))
        return false;
    st->slots = slots;
    memset(st->table.at, 0, slots * sizeof(uint32_t));
    for (uint32_t i = 0; i < st->n; i++)
        *coll_i_structure_slot(st, nodes[i].left, nodes[i].right) = i + 1;
    return true;
}

/* The number of left ⊕ right. */
COLL_INLINE uint32_t coll_i_structure_of(coll_i_structures *st, uint32_t left, uint32_t right)
{
    const coll_i_node a = coll_i_node_at(st, left), b = coll_i_node_at(st, right);
    coll_i_node *node;
    uint32_t *slot;
    if (2 * st->n >= st->slots && !coll_i_structures_grow(st)) {
        st->out_of_memory = true;
        return COLL_I_UNSET;
    }
    slot = coll_i_structure_slot(st, left, right);
    if (*slot != 0)
        return COLL_I_NODE + *slot - 1;
    if (!coll_i_reserve(&st->nodes, (st->n + (size_t)1) * sizeof(coll_i_node))) {
        st->out_of_memory = true;
        return COLL_I_UNSET;
    }
    node = (coll_i_node *)st->nodes.at + st->n;
    node->left = left;
    node->right = right;
    if (a.first <= a.last && b.first <= b.last && a.last + 1 == b.first) {
        node->first = a.first;
        node->last = b.last;
    } else {
        node->first = 1;
        node->last = 0;
    }
    node->conditions =
        a.conditions > UINT32_MAX - b.conditions ? UINT32_MAX : a.conditions + b.conditions;
    node->complete = node->first == 0 ? node->last + 1 : 0;
    *slot = ++st->n;
    return COLL_I_NODE + st->n - 1;
}

/* dst[i] = a[i] ⊕ b[i]. Returns count, or the first i where the two cannot be combined. */
COLL_INLINE size_t coll_i_combine_values(coll_i_structures *st, coll_i_value *dst,
                                         const coll_i_value *a, const coll_i_value *b,
                                         size_t count)
{
    uint64_t pair = UINT64_MAX, both = 0; /* the last two structures, and what they gave */
    for (size_t i = 0; i < count; i++) {
        const uint64_t wanted = (a[i] >> 32 << 32) | b[i] >> 32;
        if ((uint32_t)a[i] != (uint32_t)b[i])
            return i;
        if (wanted != pair) {
            const uint32_t left = coll_i_structure(a[i]), right = coll_i_structure(b[i]);
            if (left < COLL_I_LEAF || right < COLL_I_LEAF)
                return i;
            pair = wanted;
            both = (uint64_t)coll_i_structure_of(st, left, right) << 32;
        }
        dst[i] = both | (uint32_t)a[i];
    }
    return count;
}

/* The first i at which there is nothing to read, or count. */
COLL_INLINE size_t coll_i_first_unset(const coll_i_value *values, size_t count)
{
    const coll_i_value least = coll_i_value_of(COLL_I_LEAF, 0);
    size_t i = 0;
    bool unset = false;
    for (; i < count; i++)
        unset |= values[i] < least;
    if (!unset)
        return count;
    for (i = 0; values[i] >= least; i++)
        ;
    return i;
}

/* The first i that must not be written, or count. */
COLL_INLINE size_t coll_i_first_gap(const coll_i_value *values, size_t count)
{
    size_t i = 0;
    while (i < count && coll_i_structure(values[i]) != COLL_I_GAP)
        i++;
    return i;
}

/* Fills values[0 … count) with elements index, index + 1 … of a rank's input. */
COLL_INLINE void coll_i_fill_values(coll_i_value *values, size_t count, uint32_t rank,
                                    size_t index)
{
    const coll_i_value first = coll_i_value_of(COLL_I_LEAF + rank, index);
    for (size_t i = 0; i < count; i++)
        values[i] = first + i;
}

/* Are the leaves of a structure the ranks 0 … n−1, each once, in any order? Exact: walks the
 * tree unless the answer is known. */
COLL_INLINE bool coll_i_complete_ranks(coll_i_structures *st, uint32_t structure, uint32_t n)
{
    const coll_i_node node = coll_i_node_at(st, structure);
    unsigned char *seen;
    uint32_t *stack, top = 0;
    bool once = true;
    if (node.complete != 0 || node.conditions != n)
        return node.complete == n;
    seen = (unsigned char *)coll_i_reserve_new(&st->seen, n);
    stack = (uint32_t *)coll_i_reserve_new(&st->stack, (n + (size_t)1) * sizeof(uint32_t));
    if (!seen || !stack) {
        st->out_of_memory = true;
        return true;
    }
    memset(seen, 0, n);
    stack[top++] = structure;
    while (top > 0 && once) { /* at most n leaves are open at any time */
        const uint32_t at = stack[--top];
        if (at >= COLL_I_NODE) {
            const coll_i_node inner = coll_i_node_at(st, at);
            stack[top++] = inner.right;
            stack[top++] = inner.left;
        } else if (at - COLL_I_LEAF < n && !seen[at - COLL_I_LEAF]) {
            seen[at - COLL_I_LEAF] = 1;
        } else {
            once = false;
        }
    }
    if (once && structure >= COLL_I_NODE)
        ((coll_i_node *)st->nodes.at)[structure - COLL_I_NODE].complete = n;
    return once;
}

/* How often each rank below p is a leaf, saturated at UINT32_MAX, in an array that lives until
 * the next call; NULL: no memory. A structure's operands have smaller numbers, so one sweep
 * downwards suffices. */
COLL_INLINE const uint32_t *coll_i_count_ranks(coll_i_structures *st, uint32_t structure,
                                               uint32_t p)
{
    uint32_t *times = (uint32_t *)coll_i_reserve_new(&st->seen, p * sizeof(uint32_t));
    uint32_t *weight =
        (uint32_t *)coll_i_reserve_new(&st->stack, (st->n + (size_t)1) * sizeof(uint32_t));
    uint32_t i;
    if (!times || !weight)
        return NULL;
    memset(times, 0, p * sizeof(uint32_t));
    memset(weight, 0, (st->n + (size_t)1) * sizeof(uint32_t));
    if (structure < COLL_I_NODE) {
        times[structure - COLL_I_LEAF] = 1;
        return times;
    }
    weight[structure - COLL_I_NODE] = 1;
    for (i = structure - COLL_I_NODE + 1; i-- > 0;) {
        const coll_i_node node = coll_i_node_at(st, COLL_I_NODE + i);
        const uint32_t operand[2] = {node.left, node.right};
        for (int k = 0; k < 2 && weight[i] != 0; k++) {
            uint32_t *sum = operand[k] >= COLL_I_NODE ? &weight[operand[k] - COLL_I_NODE]
                                                      : &times[operand[k] - COLL_I_LEAF];
            *sum = *sum > UINT32_MAX - weight[i] ? UINT32_MAX : *sum + weight[i];
        }
    }
    return times;
}

/* Writes a structure, say "(0 1 (2 3))" for (0 ⊕ 1) ⊕ (2 ⊕ 3): parentheses only around what is
 * not taken from left to right. Cut where it is too long. */
COLL_INLINE void coll_i_structure_words(const coll_i_structures *st, uint32_t structure,
                                        char *text, size_t bytes)
{
    enum { DEPTH = 64, CLOSE = 0, CUT = 1 };
    uint32_t todo[DEPTH];
    size_t at = 0, top = 0;
    todo[top++] = structure;
    text[0] = '\0';
    while (top > 0 && at + 16 < bytes) {
        uint32_t next = todo[--top];
        if (next == CLOSE) {
            at += (size_t)snprintf(text + at, bytes - at, ")");
            continue;
        }
        if (at > 0 && text[at - 1] != '(')
            text[at++] = ' ';
        if (next == CUT) {
            at += (size_t)snprintf(text + at, bytes - at, "...");
        } else if (next < COLL_I_NODE) {
            at += (size_t)snprintf(text + at, bytes - at, "%u", next - COLL_I_LEAF);
        } else {
            at += (size_t)snprintf(text + at, bytes - at, "(");
            if (top + 3 <= DEPTH)
                todo[top++] = CLOSE;
            for (; next >= COLL_I_NODE && top + 2 <= DEPTH;
                 next = coll_i_node_at(st, next).left)
                todo[top++] = coll_i_node_at(st, next).right;
            if (top < DEPTH)
                todo[top++] = next >= COLL_I_NODE ? (uint32_t)CUT : next;
        }
    }
    if (top > 0)
        snprintf(text + at, bytes - at, " ...");
}

/* Writes what a value is, for a sentence. */
COLL_INLINE void coll_i_value_words(const coll_i_structures *st, coll_i_value value, char *text,
                                    size_t bytes)
{
    const uint32_t structure = coll_i_structure(value);
    char conditions[96];
    if (structure < COLL_I_LEAF) {
        snprintf(text, bytes, "%s",
                 structure == COLL_I_GAP ? "not the algorithm's"
                 : value == COLL_I_STALE ? "what a message was staged in"
                                         : "nothing: it was never written");
    } else if (structure < COLL_I_NODE) {
        snprintf(text, bytes, "element %u of rank %u", (uint32_t)value,
                 structure - COLL_I_LEAF);
    } else {
        coll_i_structure_words(st, structure, conditions, sizeof conditions);
        snprintf(text, bytes, "element %u reduced over ranks %s", (uint32_t)value, conditions);
    }
}

COLL_INLINE void coll_i_structures_release(coll_i_structures *st)
{
    coll_i_release(&st->nodes);
    coll_i_release(&st->table);
    coll_i_release(&st->seen);
    coll_i_release(&st->stack);
    st->n = st->slots = 0;
}

#endif /* COLL_LAB_VERIFY_VALUES_H */
