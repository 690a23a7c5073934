/* tests/support/leaders.h — several leaders a node: their partitions, and what they do across the
 * nodes, by the definitions of dpml.h
 *
 *   leaders_across(&sum, &of, algorithm, root, &at);      // of one rank, apart
 */
#ifndef COLL_TESTS_ALGOS_LEADERS_H
#define COLL_TESTS_ALGOS_LEADERS_H

#include "levels.h"

/* Of each partition. */
static inline uint32_t leaders_pieces(const coll_grid_case *of)
{
    return of->algorithm->n_params > 1 ? of->param[1] : 1;
}

/* Elements of a piece, but for the last one. */
static inline size_t leaders_piece(const coll_grid_case *of)
{
    const size_t pieces = (size_t)of->param[0] * leaders_pieces(of);
    return (of->count + pieces - 1) / pieces;
}

/* Where leader number j's partition begins. */
static inline size_t leaders_part(const coll_grid_case *of, uint32_t j)
{
    const size_t at = j * leaders_pieces(of) * leaders_piece(of);
    return at < of->count ? at : of->count;
}

/* Batches that come one after the other: of the pieces of each of a rank's partitions, in order,
 * and a last one that is shorter. */
static inline uint32_t leaders_batches(const coll_grid_case *of, uint32_t first, uint32_t end)
{
    const size_t k = leaders_pieces(of), piece = leaders_piece(of), whole = of->count / piece;
    uint32_t n = 0;
    for (uint32_t j = first; j < end; j++) {
        const size_t left = whole > j * k ? whole - j * k : 0, pieces = left < k ? left : k;
        n += (uint32_t)((pieces + COLL_I_BATCH - 1) / COLL_I_BATCH);
        n += whole / k == j && whole * piece < of->count;
    }
    return n;
}

/* Adds what a rank does across the nodes, piece by piece. Batches of an allreduce take their
 * rounds one after the other: those of this rank, or, where others have others, all. */
static inline void leaders_across(level_sum *sum, const coll_grid_case *of,
                                  const coll_algorithm *algorithm, uint32_t root,
                                  const coll_node *at)
{
    const uint32_t l = of->param[0], first = coll_leaders_below(at->ranks, at->local, l);
    const uint32_t last = coll_leaders_below(at->ranks, at->local + 1, l);
    const size_t piece = leaders_piece(of), end = leaders_part(of, last);
    for (size_t i = leaders_part(of, first); i < end; i += piece) {
        coll_problem problem;
        const level_part *part;
        uint32_t rounds;
        coll_problem_init(&problem, of->collective, coll_nodes_count(&level_kit(0)->nodes),
                          end - i < piece ? end - i : piece, 8);
        problem.flags = COLL_FLAG_COMMUTATIVE;
        problem.root = root;
        part = level_apart(algorithm, &problem);
        level_add(sum, LEVEL_ACROSS, at->first + at->local, part, at->index);
        rounds = part->rounds;
        if (of->collective == COLL_ALLREDUCE)
            rounds *= level_even(of->p) ? leaders_batches(of, first, last)
                                        : leaders_batches(of, 0, l);
        if (sum->rounds[LEVEL_ACROSS] < rounds)
            sum->rounds[LEVEL_ACROSS] = rounds;
    }
}

#endif /* COLL_TESTS_ALGOS_LEADERS_H */
