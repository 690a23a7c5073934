/* coll/comm/reliable_tree.h — the tree of collectives that survive f crashes, and its correction
 *
 * A position is a rank's place among q members, counted from the root, which is position 0. With
 * k = f + 1 and m = ⌊(q − 1) / k⌋, positions 1 … k·m are in k *classes*: x is in class (x − 1) mod
 * k, as its number ⌊(x − 1) / k⌋. Each class is a binomial tree of m positions, whose number 0 is a
 * child of the root. The positions behind k·m, fewer than k, are children of the root, too, and
 * have no children.
 *
 *   f = 1, q = 10: class 0 is 1 3 5 7, class 1 is 2 4 6 8        0 ─ 9
 *                                                                ├ 1 ─ 3
 *                                                                │   └ 5 ─ 7
 *                                                                └ 2 ─ 4
 *                                                                    └ 6 ─ 8
 *
 * k consecutive positions in 1 … k·m are of k classes. A crash concerns one class; so of f crashes
 * at most f classes suffer, and one class has every message that it would have without them, down
 * to the last of its members. Two things follow:
 *   - Broadcast: a position that its tree does not reach finds one that has the value among the f
 *     positions before it. That is its *correction*. The tops of the classes, 1 … k, need none:
 *     their parent is the root.
 *   - Reduction: the k positions of one number are a *group*. If its members tell each other their
 *     contributions first (up-correction), each class holds all of them, and the root can take any
 *     class in which nobody is missing.
 *
 * Laws (tests/comm/reliable_tree.c checks each for all q ≤ 64 and f < q)
 *   (1) parents and children are the same edges, and every position hangs off the root
 *   (2) who asks is in a class, and the f positions before it are, too, each in another class
 *   (3) whichever f positions crash, but the root: the tree reaches every other one that does not
 *       ask, and one that asks or one of the f before it; and with f − 1 before it that would not
 *       be so
 *   (4) the groups are all positions in classes, and each has one of every class
 *   (5) no position is further than ⌊log₂ m⌋ + 1 from the root
 *
 * Source  Küttler, Härtig et al.: Corrected trees for reliable group communication, PPoPP 2019:
 *         subtrees that are interleaved on a ring, and a correction along the ring. Küttler,
 *         Härtig: Fault-tolerant Reduce and Allreduce operations based on correction, arXiv
 *         2602.22445, 2026: groups of f + 1, and up-correction. Here the members of the last group,
 *         where it is not full, are children of the root, and only who lacks the value asks for it.
 */
#ifndef COLL_COMM_RELIABLE_TREE_H
#define COLL_COMM_RELIABLE_TREE_H

#include "../plan/topo.h"

/* The shape for q members and f crashes. */
typedef struct coll_i_reliable_tree {
    uint32_t q;       /* positions */
    uint32_t classes; /* f + 1 */
    uint32_t levels;  /* members of a class: m */
} coll_i_reliable_tree;

/* The shape for q ≥ 1 members of which f < 2³¹ may crash. */
COLL_INLINE coll_i_reliable_tree coll_i_reliable_tree_of(uint32_t q, uint32_t f)
{
    coll_i_reliable_tree tree;
    tree.q = q;
    tree.classes = f + 1;
    tree.levels = (q - 1) / tree.classes;
    return tree;
}

/* Is a position in a class? */
COLL_INLINE bool coll_i_reliable_in_class(const coll_i_reliable_tree *tree, uint32_t x)
{
    return x != 0 && x <= tree->classes * tree->levels;
}

/* Does a position in a class ask those before it, if it has no value? */
COLL_INLINE bool coll_i_reliable_asks(const coll_i_reliable_tree *tree, uint32_t x)
{
    return x > tree->classes && coll_i_reliable_in_class(tree, x);
}

/* The place of a position in the binomial tree of its class. */
COLL_INLINE coll_fnomial coll_i_reliable_place(const coll_i_reliable_tree *tree, uint32_t x)
{
    return coll_fnomial_of(tree->levels, &coll_fast_divisor_two, (x - 1) / tree->classes);
}

/* The parent of a position that is not the root. */
COLL_INLINE uint32_t coll_i_reliable_parent(const coll_i_reliable_tree *tree, uint32_t x)
{
    if (!coll_i_reliable_asks(tree, x))
        return 0;
    return coll_i_reliable_place(tree, x).parent * tree->classes + (x - 1) % tree->classes + 1;
}

/* Children of the root that are in no class. */
COLL_INLINE uint32_t coll_i_reliable_extras(const coll_i_reliable_tree *tree)
{
    return tree->q - 1 - tree->classes * tree->levels;
}

/* How many children a position has. */
COLL_INLINE uint32_t coll_i_reliable_children(const coll_i_reliable_tree *tree, uint32_t x)
{
    if (x == 0)
        return coll_i_reliable_extras(tree) + (tree->levels > 0 ? tree->classes : 0);
    return coll_i_reliable_in_class(tree, x) ? coll_i_reliable_place(tree, x).children : 0;
}

/* Child number i, by the size of its subtree, the smallest first. */
COLL_INLINE uint32_t coll_i_reliable_child(const coll_i_reliable_tree *tree, uint32_t x,
                                           uint32_t i)
{
    const uint32_t extras = coll_i_reliable_extras(tree);
    if (x != 0)
        return x + ((uint32_t)1 << i) * tree->classes;
    return i < extras ? tree->classes * tree->levels + 1 + i : 1 + i - extras;
}

/* The first position of the group of one that is in a class. */
COLL_INLINE uint32_t coll_i_reliable_group(const coll_i_reliable_tree *tree, uint32_t x)
{
    return x - (x - 1) % tree->classes;
}

#endif /* COLL_COMM_RELIABLE_TREE_H */
