/* coll/transports/threads/world.h — the threads transport: its ranks, their memory, aborted tags
 *
 * Use threads.h. Hosted, as all of the transport.
 */
#ifndef COLL_TRANSPORTS_THREADS_WORLD_H
#define COLL_TRANSPORTS_THREADS_WORLD_H

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../topo.h"
#include "../../transport.h"

/* Cells of a ring: a power of two. */
#ifndef COLL_THREADS_CELLS
#define COLL_THREADS_CELLS 32
#endif

enum {
    COLL_THREADS_INLINE = 48, /* bytes of the longest message that its cell holds */
    COLL_THREADS_LINE = 64,   /* what two threads must not share by accident */
    COLL_THREADS_ABORTS = 16  /* tags that may be aborted; one more, and all tags are */
};

/* Life of a long send. Only these words, a cell's `full`, the table of aborted tags and what the
 * world's lock protects are touched by two threads at once. */
enum {
    COLL_I_THREADS_POSTED,    /* nobody reads it yet */
    COLL_I_THREADS_READING,   /* the receiver reads the sender's buffer */
    COLL_I_THREADS_DONE,      /* the receiver has it */
    COLL_I_THREADS_CANCELLED, /* the sender gave up before the receiver came */
    COLL_I_THREADS_FORGOTTEN  /* the receiver knows that */
};

/* An operation in flight: a receive, or a long send. */
typedef struct coll_i_threads_op {
    uint32_t state; /* of a send */
    uint32_t peer, tag;
    bool receives;
    const void *buf; /* of a send */
    void *into;      /* of a receive */
    size_t bytes;
    struct coll_i_threads_op *chain; /* the next send of a multicast, or NULL */
    struct coll_i_threads_op *next;  /* among the free, or the cancelled */
    unsigned char pad[COLL_THREADS_LINE - 16 - 5 * sizeof(void *)];
} coll_i_threads_op;

/* Values of `full`. */
enum {
    COLL_I_THREADS_EMPTY,
    COLL_I_THREADS_SHORT,   /* the payload is the message */
    COLL_I_THREADS_LONG,    /* the payload names the send */
    COLL_I_THREADS_BORROWED /* a short message that the receiver reads in place */
};

typedef union coll_i_threads_payload {
    coll_i_threads_op *op;
    unsigned char bytes[COLL_THREADS_INLINE];
} coll_i_threads_payload;

typedef struct coll_i_threads_cell {
    uint32_t full, tag;
    uint64_t bytes;
    coll_i_threads_payload payload;
} coll_i_threads_cell;

/* A message that was set aside. The first of each tag is in the ring's list, and leads the
 * others of its tag. */
typedef struct coll_i_threads_aside {
    coll_i_threads_cell cell;
    struct coll_i_threads_aside *next;  /* of the same tag */
    struct coll_i_threads_aside *last;  /* of the same tag; valid in the first */
    struct coll_i_threads_aside *other; /* the first of another tag */
} coll_i_threads_aside;

/* Messages from one rank to another. */
typedef struct coll_i_threads_ring {
    /* the sender's */
    uint32_t tail;
    unsigned char pad[COLL_THREADS_LINE - sizeof(uint32_t)];
    /* the receiver's */
    uint32_t head;
    uint32_t waiting; /* receives in flight */
    coll_i_threads_aside *aside;
    unsigned char pad2[COLL_THREADS_LINE - 2 * sizeof(uint32_t) - sizeof(void *)];
    coll_i_threads_cell cells[COLL_THREADS_CELLS];
} coll_i_threads_ring;

/* What a rank brings to a reduction of a team. */
typedef struct coll_i_threads_operand {
    coll_status status; /* COLL_AGAIN; then how the reduction ended */
    bool met;           /* all operands are there: it waits no longer */
    uint32_t tag;
    coll_team team;
    const coll_op *op;
    void *dst;
    const void *src;
    size_t count, elem_bytes;
    struct coll_i_threads_operand *next; /* of its rank, waiting or free; or of one reduction */
} coll_i_threads_operand;

/* What a rank has allocated; the memory follows, on a line of its own. */
typedef struct coll_i_threads_block {
    struct coll_i_threads_block *next;
} coll_i_threads_block;

struct coll_threads;

/* One rank, the ctx of its transport: touched by its thread alone, but for `operands`. */
typedef struct coll_i_threads_rank {
    struct coll_threads *world;
    uint32_t rank;
    coll_i_threads_op *free_ops, *cancelled;
    coll_i_threads_aside *free_asides;
    coll_i_threads_operand *free_operands;
    coll_i_threads_operand
        *operands; /* that wait for others, oldest first; by the world's lock */
    coll_i_threads_block *owned;
    unsigned char pad[2 * COLL_THREADS_LINE - 8 * sizeof(void *)];
} coll_i_threads_rank;

typedef struct coll_threads {
    uint32_t p;
    uint32_t spins;     /* tests in a row that find nothing before a thread yields */
    uint32_t n_aborted; /* more than COLL_THREADS_ABORTS: all tags */
    uint64_t aborted[COLL_THREADS_ABORTS]; /* tag + 1; 0: unused */
    coll_i_threads_rank *ranks;
    coll_i_threads_ring **rings; /* that from s to d is rings[s·p + d], NULL until they talk */
    uint32_t lock;               /* who changes 0 to 1 has it */
} coll_threads;

/* ---- the world --------------------------------------------------------------------------- */

/* Makes a world of p ranks; NULL if there is no memory, or p is 0. */
COLL_INLINE coll_threads *coll_threads_create(uint32_t p)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t pairs, bytes;
    coll_threads *world;
    if (p == 0 || !coll_multiply(p, p, &pairs) || !coll_multiply(pairs, sizeof(void *), &bytes))
        return NULL;
    world = (coll_threads *)calloc(1, sizeof *world);
    if (!world)
        return NULL;
    world->p = p;
    world->spins = cores > 0 && p <= (unsigned long)cores ? 30 : 0;
    world->ranks = (coll_i_threads_rank *)calloc(p, sizeof *world->ranks);
    world->rings = (coll_i_threads_ring **)calloc(pairs, sizeof *world->rings);
    if (!world->ranks || !world->rings) {
        free(world->ranks);
        free(world->rings);
        free(world);
        return NULL;
    }
    for (uint32_t r = 0; r < p; r++) {
        world->ranks[r].world = world;
        world->ranks[r].rank = r;
    }
    return world;
}

/* Frees the world, which no thread may use any more. NULL is fine. */
COLL_INLINE void coll_threads_destroy(coll_threads *world)
{
    if (!world)
        return;
    for (uint32_t r = 0; r < world->p; r++)
        while (world->ranks[r].owned) {
            coll_i_threads_block *block = world->ranks[r].owned;
            world->ranks[r].owned = block->next;
            free(block);
        }
    free(world->ranks);
    free(world->rings);
    free(world);
}

/* The ctx of a rank for coll_threads_transport; NULL if there is no such rank. */
COLL_INLINE void *coll_threads_rank(coll_threads *world, uint32_t rank)
{
    return world && rank < world->p ? &world->ranks[rank] : NULL;
}

/* Drops all messages, and makes the tags of failed collectives usable again. Call it when no
 * request is running and no other thread uses the world. */
COLL_INLINE void coll_threads_recover(coll_threads *world)
{
    const size_t pairs = (size_t)world->p * world->p;
    for (size_t i = 0; i < pairs; i++) {
        coll_i_threads_ring *ring = world->rings[i];
        coll_i_threads_rank *reader = &world->ranks[i % world->p];
        if (!ring)
            continue;
        ring->head = ring->tail = ring->waiting = 0;
        for (uint32_t k = 0; k < COLL_THREADS_CELLS; k++)
            ring->cells[k].full = COLL_I_THREADS_EMPTY;
        while (ring->aside) {
            coll_i_threads_aside *first = ring->aside;
            ring->aside = first->other;
            first->last->next = reader->free_asides;
            reader->free_asides = first;
        }
    }
    for (uint32_t r = 0; r < world->p; r++) {
        coll_i_threads_rank *rank = &world->ranks[r];
        for (coll_i_threads_op *op = rank->cancelled; op; op = op->next)
            op->state = COLL_I_THREADS_FORGOTTEN;
        while (rank->operands) {
            coll_i_threads_operand *first = rank->operands;
            rank->operands = first->next;
            first->next = rank->free_operands;
            rank->free_operands = first;
        }
    }
    for (uint32_t i = 0; i < COLL_THREADS_ABORTS; i++)
        world->aborted[i] = 0;
    world->n_aborted = 0;
}

/* ---- memory of a rank -------------------------------------------------------------------- */

/* Zeroed memory that begins on a line, or NULL. It lives as long as the world. */
COLL_INLINE void *coll_i_threads_new(coll_i_threads_rank *me, size_t bytes)
{
    const size_t whole = sizeof(coll_i_threads_block) + COLL_THREADS_LINE + bytes;
    coll_i_threads_block *block = (coll_i_threads_block *)calloc(1, whole);
    unsigned char *at = (unsigned char *)(block + 1);
    if (!block)
        return NULL;
    block->next = me->owned;
    me->owned = block;
    return at + (COLL_THREADS_LINE - (uintptr_t)at % COLL_THREADS_LINE) % COLL_THREADS_LINE;
}

/* The ring from src to dst, one of which is this rank; NULL if there is no memory for it. */
COLL_INLINE coll_i_threads_ring *coll_i_threads_ring_of(coll_i_threads_rank *me, uint32_t src,
                                                        uint32_t dst)
{
    coll_i_threads_ring **const at = &me->world->rings[(size_t)src * me->world->p + dst];
    coll_i_threads_ring *ring = __atomic_load_n(at, __ATOMIC_ACQUIRE), *there = NULL;
    if (ring)
        return ring;
    ring = (coll_i_threads_ring *)coll_i_threads_new(me, sizeof *ring);
    if (ring && !__atomic_compare_exchange_n(at, &there, ring, false, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE)) {
        coll_i_threads_block *mine = me->owned; /* the other end was faster */
        me->owned = mine->next;
        free(mine);
        return there;
    }
    return ring;
}

COLL_INLINE void coll_i_threads_release(coll_i_threads_rank *me, coll_i_threads_op *op)
{
    op->next = me->free_ops;
    me->free_ops = op;
}

COLL_INLINE coll_i_threads_op *coll_i_threads_take_op(coll_i_threads_rank *me)
{
    coll_i_threads_op *op = me->free_ops, **link = &me->cancelled;
    while (!op && *link) {
        if (__atomic_load_n(&(*link)->state, __ATOMIC_ACQUIRE) == COLL_I_THREADS_FORGOTTEN) {
            op = *link;
            *link = op->next;
            coll_i_threads_release(me, op);
        } else {
            link = &(*link)->next;
        }
    }
    if (!op) {
        enum { COUNT = 16 };
        op = (coll_i_threads_op *)coll_i_threads_new(me, COUNT * sizeof *op);
        for (uint32_t i = 0; op && i < COUNT; i++)
            coll_i_threads_release(me, &op[i]);
    }
    if ((op = me->free_ops) != NULL)
        me->free_ops = op->next;
    return op;
}

/* ---- aborted tags ------------------------------------------------------------------------ */

COLL_INLINE bool coll_i_threads_aborted(coll_threads *world, uint32_t tag)
{
    const uint32_t n = __atomic_load_n(&world->n_aborted, __ATOMIC_ACQUIRE);
    if (n == 0)
        return false;
    for (uint32_t i = 0; i < COLL_THREADS_ABORTS; i++)
        if (__atomic_load_n(&world->aborted[i], __ATOMIC_RELAXED) == (uint64_t)tag + 1)
            return true;
    return n > COLL_THREADS_ABORTS;
}

COLL_INLINE void coll_i_threads_abort(void *ctx, uint32_t tag)
{
    coll_threads *world = ((coll_i_threads_rank *)ctx)->world;
    const uint64_t mine = (uint64_t)tag + 1;
    for (uint32_t i = 0; i < COLL_THREADS_ABORTS; i++) {
        uint64_t there = 0;
        if (__atomic_compare_exchange_n(&world->aborted[i], &there, mine, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            (void)__atomic_add_fetch(&world->n_aborted, 1, __ATOMIC_RELEASE);
            return;
        }
        if (there == mine)
            return;
    }
    __atomic_store_n(&world->n_aborted, COLL_THREADS_ABORTS + 1, __ATOMIC_RELEASE);
}

#endif /* COLL_TRANSPORTS_THREADS_WORLD_H */
