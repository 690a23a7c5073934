/* coll/comm/board.h — what each rank tells of itself, where all others can read it: 64 bytes a rank
 *
 *   static uint64_t memory[8 * P];                   // zero, and in common: of threads, or mapped by processes
 *   coll_board board;                                // each rank's own
 *   coll_board_init(&board, memory, rank, P);
 *
 * A rank writes its own line alone and never waits; who reads gets what was written at one time. For explain.h.
 * Needs the __atomic functions of gcc or clang.
 */
#ifndef COLL_COMM_BOARD_H
#define COLL_COMM_BOARD_H

#include "../config.h"

enum { COLL_BOARD_WORDS = 8 }; /* of 64 bits, a rank */

/* What a rank tells. */
typedef struct coll_told {
    uint64_t word[COLL_BOARD_WORDS - 1];
} coll_told;

/* A rank's view of what all tell. Private. */
typedef struct coll_board {
    uint64_t *memory; /* of all lines */
    uint32_t rank, p;
} coll_board;

/* Makes a rank's view of memory of COLL_BOARD_WORDS · p words that is zero before any rank tells something, and
 * stays the caller's. */
COLL_INLINE void coll_board_init(coll_board *board, uint64_t *memory, uint32_t rank, uint32_t p)
{
    board->memory = memory;
    board->rank = rank;
    board->p = p;
}

/* This rank tells. The first word of its line is odd while it writes. */
COLL_INLINE void coll_board_tell(const coll_board *board, const coll_told *mine)
{
    uint64_t *line = board->memory + (size_t)board->rank * COLL_BOARD_WORDS;
    const uint64_t version = __atomic_load_n(line, __ATOMIC_RELAXED);
    __atomic_store_n(line, version + 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < COLL_BOARD_WORDS - 1; i++)
        __atomic_store_n(line + 1 + i, mine->word[i], __ATOMIC_RELEASE);
    __atomic_store_n(line, version + 2, __ATOMIC_RELEASE);
}

/* What a rank told last. False: nothing so far, or it was stopped while it wrote. */
COLL_INLINE bool coll_board_ask(const coll_board *board, uint32_t rank, coll_told *its)
{
    enum { TRIES = 10000 };
    const uint64_t *line = board->memory + (size_t)rank * COLL_BOARD_WORDS;
    for (uint32_t tries = 0; tries < TRIES; tries++) {
        const uint64_t version = __atomic_load_n(line, __ATOMIC_ACQUIRE);
        if (version % 2 != 0)
            continue;
        for (uint32_t i = 0; i < COLL_BOARD_WORDS - 1; i++)
            its->word[i] = __atomic_load_n(line + 1 + i, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(line, __ATOMIC_RELAXED) == version)
            return version != 0;
    }
    return false;
}

#endif /* COLL_COMM_BOARD_H */
