/* coll/transports/threads.h — one rank a thread, messages through shared memory (hosted)
 *
 *   coll_threads *world = coll_threads_create(p);
 *   in the thread of rank r:
 *       run.transport = &coll_threads_transport;
 *       run.ctx = coll_threads_rank(world, r);
 *       coll_request_start(&request, &run); coll_request_wait(&request);
 *   coll_threads_destroy(world);             // when all threads are done with it
 *
 * Each ordered pair of ranks that talks has a ring of cells, of one writer and one reader. A
 * message of up to COLL_THREADS_INLINE bytes lies in its cell, and its send is done at once. A
 * longer one stays in the sender's buffer: the receiver copies it from there, or reduces
 * straight out of it (borrow), and then tells the sender. A full ring is COLL_AGAIN. A reader
 * that looks for one tag sets messages of other tags aside, so that collectives which run at
 * the same time never block each other.
 *
 * Waiting spins for about a microsecond, if there are as many cores as ranks, and then yields
 * the processor, so that more ranks than cores, and other programs beside them, work well. One
 * thread at a time may use a rank.
 *
 * Memory: 8 bytes per pair of ranks; about 64·COLL_THREADS_CELLS bytes more when a pair first
 * talks; 64 bytes for an operation in flight and 96 for a message set aside, all used again and
 * freed by destroy. Needs the __atomic functions of gcc or clang, malloc and sched_yield.
 */
#ifndef COLL_TRANSPORTS_THREADS_H
#define COLL_TRANSPORTS_THREADS_H

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../topo.h"
#include "../transport.h"

/* Cells of a ring: a power of two. */
#ifndef COLL_THREADS_CELLS
#define COLL_THREADS_CELLS 32
#endif

enum {
    COLL_THREADS_INLINE = 48, /* bytes of the longest message that its cell holds */
    COLL_THREADS_LINE = 64,   /* what two threads must not share by accident */
    COLL_THREADS_ABORTS = 16  /* tags that may be aborted; one more, and all tags are */
};

/* Life of a long send. Only these words, a cell's `full` and the table of aborted tags are
 * touched by two threads at once. */
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
    struct coll_i_threads_op *next; /* among the free, or the cancelled */
    unsigned char pad[COLL_THREADS_LINE - 16 - 4 * sizeof(void *)];
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

/* What a rank has allocated; the memory follows, on a line of its own. */
typedef struct coll_i_threads_block {
    struct coll_i_threads_block *next;
} coll_i_threads_block;

struct coll_threads;

/* One rank, the ctx of its transport: touched by its thread alone. */
typedef struct coll_i_threads_rank {
    struct coll_threads *world;
    uint32_t rank;
    coll_i_threads_op *free_ops, *cancelled;
    coll_i_threads_aside *free_asides;
    coll_i_threads_block *owned;
    unsigned char pad[2 * COLL_THREADS_LINE - 6 * sizeof(void *)];
} coll_i_threads_rank;

typedef struct coll_threads {
    uint32_t p;
    uint32_t spins;     /* tests in a row that find nothing before a thread yields */
    uint32_t n_aborted; /* more than COLL_THREADS_ABORTS: all tags */
    uint64_t aborted[COLL_THREADS_ABORTS]; /* tag + 1; 0: unused */
    coll_i_threads_rank *ranks;
    coll_i_threads_ring **rings; /* that from s to d is rings[s·p + d], NULL until they talk */
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
    for (uint32_t r = 0; r < world->p; r++)
        for (coll_i_threads_op *op = world->ranks[r].cancelled; op; op = op->next)
            op->state = COLL_I_THREADS_FORGOTTEN;
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

/* ---- sending ----------------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_threads_send(void *ctx, uint32_t peer, uint32_t tag,
                                            const void *buf, size_t bytes, coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    coll_i_threads_ring *ring;
    coll_i_threads_cell *cell;
    if (peer >= me->world->p)
        return COLL_ERR_RANK;
    if (coll_i_threads_aborted(me->world, tag))
        return COLL_ERR_PEER;
    ring = coll_i_threads_ring_of(me, me->rank, peer);
    if (!ring)
        return COLL_ERR_MEMORY;
    cell = &ring->cells[ring->tail & (COLL_THREADS_CELLS - 1)];
    if (__atomic_load_n(&cell->full, __ATOMIC_ACQUIRE) != COLL_I_THREADS_EMPTY)
        return COLL_AGAIN;
    cell->tag = tag;
    cell->bytes = bytes;
    if (bytes <= COLL_THREADS_INLINE) {
        if (bytes != 0)
            memcpy(cell->payload.bytes, buf, bytes);
        __atomic_store_n(&cell->full, COLL_I_THREADS_SHORT, __ATOMIC_RELEASE);
    } else {
        coll_i_threads_op *op = coll_i_threads_take_op(me);
        if (!op)
            return COLL_ERR_MEMORY;
        op->state = COLL_I_THREADS_POSTED;
        op->receives = false;
        op->tag = tag;
        op->buf = buf;
        h->word[0] = (uintptr_t)op;
        cell->payload.op = op;
        __atomic_store_n(&cell->full, COLL_I_THREADS_LONG, __ATOMIC_RELEASE);
    }
    ring->tail++;
    return bytes <= COLL_THREADS_INLINE ? COLL_OK : COLL_STARTED;
}

/* ---- receiving --------------------------------------------------------------------------- */

/* A message that the receiver has found: still in its cell, or aside. */
typedef struct coll_i_threads_found {
    coll_i_threads_cell *cell;
    coll_i_threads_aside *aside; /* the cell's, or NULL */
} coll_i_threads_found;

/* Frees the head cell of the ring. */
COLL_INLINE void coll_i_threads_pop(coll_i_threads_ring *ring)
{
    coll_i_threads_cell *cell = &ring->cells[ring->head++ & (COLL_THREADS_CELLS - 1)];
    __atomic_store_n(&cell->full, COLL_I_THREADS_EMPTY, __ATOMIC_RELEASE);
}

/* Takes the first message of the tag that *link points to from those aside. */
COLL_INLINE void coll_i_threads_unlink(coll_i_threads_aside **link)
{
    coll_i_threads_aside *first = *link, *second = first->next;
    if (second) {
        second->last = first->last;
        second->other = first->other;
    }
    *link = second ? second : first->other;
}

/* Where the ring's list has, or would have, the messages of a tag that are aside. */
COLL_INLINE coll_i_threads_aside **coll_i_threads_find(coll_i_threads_ring *ring, uint32_t tag)
{
    coll_i_threads_aside **link = &ring->aside;
    while (*link && (*link)->cell.tag != tag)
        link = &(*link)->other;
    return link;
}

COLL_INLINE bool coll_i_threads_is_cancelled(const coll_i_threads_cell *cell)
{
    return cell->full == COLL_I_THREADS_LONG &&
           __atomic_load_n(&cell->payload.op->state, __ATOMIC_ACQUIRE) ==
               COLL_I_THREADS_CANCELLED;
}

/* Moves the message in the head cell aside; drops it if nobody will ever want it. */
COLL_INLINE coll_status coll_i_threads_set_aside(coll_i_threads_rank *me,
                                                 coll_i_threads_ring *ring)
{
    const coll_i_threads_cell *cell = &ring->cells[ring->head & (COLL_THREADS_CELLS - 1)];
    coll_i_threads_aside *aside = me->free_asides, **first;
    const bool cancelled =
        cell->full == COLL_I_THREADS_LONG &&
        __atomic_load_n(&cell->payload.op->state, __ATOMIC_ACQUIRE) == COLL_I_THREADS_CANCELLED;
    if (cancelled)
        __atomic_store_n(&cell->payload.op->state, COLL_I_THREADS_FORGOTTEN, __ATOMIC_RELEASE);
    if (!cancelled &&
        (cell->full == COLL_I_THREADS_LONG || !coll_i_threads_aborted(me->world, cell->tag))) {
        if (aside)
            me->free_asides = aside->next;
        else
            aside = (coll_i_threads_aside *)coll_i_threads_new(me, sizeof *aside);
        if (!aside)
            return COLL_ERR_MEMORY;
        aside->cell = *cell;
        aside->next = NULL;
        first = coll_i_threads_find(ring, cell->tag);
        if (*first) {
            (*first)->last->next = aside;
            (*first)->last = aside;
        } else {
            aside->last = aside;
            aside->other = NULL;
            *first = aside;
        }
    }
    coll_i_threads_pop(ring);
    return COLL_OK;
}

/* Done with a message that was found: it goes away. */
COLL_INLINE void coll_i_threads_consume(coll_i_threads_rank *me, coll_i_threads_ring *ring,
                                        const coll_i_threads_found *found)
{
    if (!found->aside) {
        coll_i_threads_pop(ring);
        return;
    }
    coll_i_threads_unlink(coll_i_threads_find(ring, found->cell->tag));
    found->aside->next = me->free_asides;
    me->free_asides = found->aside;
}

/* Finds the oldest message of a tag. COLL_OK: there it is; if it is long, its sender waits for
 * this reader, who must set its state to DONE. A sender aborts a tag before it cancels, so
 * nobody takes the message after a cancelled one for it. */
COLL_INLINE coll_status coll_i_threads_match(coll_i_threads_rank *me, coll_i_threads_ring *ring,
                                             uint32_t tag, size_t bytes,
                                             coll_i_threads_found *found)
{
    while (!coll_i_threads_aborted(me->world, tag)) {
        uint32_t state = COLL_I_THREADS_POSTED;
        found->aside = ring->aside ? *coll_i_threads_find(ring, tag) : NULL;
        found->cell = found->aside ? &found->aside->cell
                                   : &ring->cells[ring->head & (COLL_THREADS_CELLS - 1)];
        if (!found->aside) {
            const uint32_t full = __atomic_load_n(&found->cell->full, __ATOMIC_ACQUIRE);
            if (full == COLL_I_THREADS_EMPTY || full == COLL_I_THREADS_BORROWED)
                return COLL_AGAIN;
            if (found->cell->tag != tag) {
                const coll_status status = coll_i_threads_set_aside(me, ring);
                if (status < 0)
                    return status;
                continue;
            }
        }
        if (found->cell->bytes != bytes && !coll_i_threads_is_cancelled(found->cell))
            return COLL_ERR_SIZE;
        if (found->cell->full != COLL_I_THREADS_LONG ||
            __atomic_compare_exchange_n(&found->cell->payload.op->state, &state,
                                        COLL_I_THREADS_READING, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return COLL_OK;
        __atomic_store_n(&found->cell->payload.op->state, COLL_I_THREADS_FORGOTTEN,
                         __ATOMIC_RELEASE);
        coll_i_threads_consume(me, ring, found); /* cancelled: look for the next, or why */
    }
    return COLL_ERR_PEER;
}

COLL_INLINE coll_status coll_i_threads_take(coll_i_threads_rank *me, coll_i_threads_ring *ring,
                                            uint32_t tag, void *into, size_t bytes)
{
    coll_i_threads_found found;
    const coll_status status = coll_i_threads_match(me, ring, tag, bytes, &found);
    if (status != COLL_OK)
        return status;
    if (bytes > COLL_THREADS_INLINE) {
        coll_i_threads_op *op = found.cell->payload.op;
        coll_i_threads_consume(me, ring, &found);
        memcpy(into, op->buf, bytes);
        __atomic_store_n(&op->state, COLL_I_THREADS_DONE, __ATOMIC_RELEASE);
    } else {
        if (bytes != 0)
            memcpy(into, found.cell->payload.bytes, bytes);
        coll_i_threads_consume(me, ring, &found);
    }
    return COLL_OK;
}

COLL_INLINE coll_status coll_i_threads_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                            size_t bytes, coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    coll_i_threads_ring *ring;
    coll_i_threads_op *op;
    if (peer >= me->world->p)
        return COLL_ERR_RANK;
    ring = coll_i_threads_ring_of(me, peer, me->rank);
    if (!ring)
        return COLL_ERR_MEMORY;
    if (ring->waiting == 0) { /* else the message may belong to a receive that came before */
        const coll_status status = coll_i_threads_take(me, ring, tag, buf, bytes);
        if (status != COLL_AGAIN)
            return status;
    }
    op = coll_i_threads_take_op(me);
    if (!op)
        return COLL_ERR_MEMORY;
    op->receives = true;
    op->peer = peer;
    op->tag = tag;
    op->into = buf;
    op->bytes = bytes;
    ring->waiting++;
    h->word[0] = (uintptr_t)op;
    return COLL_STARTED;
}

COLL_INLINE coll_status coll_i_threads_borrow(void *ctx, uint32_t peer, uint32_t tag,
                                              size_t bytes, const void **message,
                                              coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    coll_i_threads_ring *ring;
    coll_i_threads_found found;
    coll_status status;
    if (peer >= me->world->p)
        return COLL_ERR_RANK;
    ring = coll_i_threads_ring_of(me, peer, me->rank);
    if (!ring)
        return COLL_ERR_MEMORY;
    status = coll_i_threads_match(me, ring, tag, bytes, &found);
    if (status != COLL_OK)
        return status;
    h->word[0] = (uintptr_t)found.cell->payload.op;
    h->word[1] = 0;
    if (bytes > COLL_THREADS_INLINE) {
        *message = found.cell->payload.op->buf;
        coll_i_threads_consume(me, ring, &found);
        return COLL_OK;
    }
    *message = found.cell->payload.bytes;
    h->word[0] = (uintptr_t)found.cell;
    h->word[1] = found.aside ? 2 : 1;
    if (found.aside)
        coll_i_threads_unlink(coll_i_threads_find(ring, tag));
    else
        ring->head++;
    __atomic_store_n(&found.cell->full, COLL_I_THREADS_BORROWED, __ATOMIC_RELAXED);
    return COLL_OK;
}

COLL_INLINE void coll_i_threads_give_back(void *ctx, coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    if (h->word[1] == 0) {
        __atomic_store_n(&((coll_i_threads_op *)h->word[0])->state, COLL_I_THREADS_DONE,
                         __ATOMIC_RELEASE);
    } else if (h->word[1] == 1) {
        __atomic_store_n(&((coll_i_threads_cell *)h->word[0])->full, COLL_I_THREADS_EMPTY,
                         __ATOMIC_RELEASE);
    } else {
        coll_i_threads_aside *aside = (coll_i_threads_aside *)h->word[0];
        aside->next = me->free_asides;
        me->free_asides = aside;
    }
}

/* ---- both -------------------------------------------------------------------------------- */

COLL_INLINE coll_status coll_i_threads_test(void *ctx, coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    coll_i_threads_op *op = (coll_i_threads_op *)h->word[0];
    if (op->receives) {
        coll_i_threads_ring *ring = coll_i_threads_ring_of(me, op->peer, me->rank);
        const coll_status status = coll_i_threads_take(me, ring, op->tag, op->into, op->bytes);
        if (status != COLL_OK)
            return status;
        ring->waiting--;
    } else if (__atomic_load_n(&op->state, __ATOMIC_ACQUIRE) != COLL_I_THREADS_DONE) {
        return coll_i_threads_aborted(me->world, op->tag) ? COLL_ERR_PEER : COLL_AGAIN;
    }
    coll_i_threads_release(me, op);
    return COLL_OK;
}

/* Waits only for a receiver that is reading the message at this moment. */
COLL_INLINE void coll_i_threads_cancel(void *ctx, coll_handle *h)
{
    coll_i_threads_rank *me = (coll_i_threads_rank *)ctx;
    coll_i_threads_op *op = (coll_i_threads_op *)h->word[0];
    uint32_t state = COLL_I_THREADS_POSTED;
    if (op->receives) {
        coll_i_threads_ring_of(me, op->peer, me->rank)->waiting--;
    } else if (__atomic_compare_exchange_n(&op->state, &state, COLL_I_THREADS_CANCELLED, false,
                                           __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        op->next = me->cancelled; /* the receiver may still look at it */
        me->cancelled = op;
        return;
    }
    while (!op->receives && state != COLL_I_THREADS_DONE) {
        (void)sched_yield();
        state = __atomic_load_n(&op->state, __ATOMIC_ACQUIRE);
    }
    coll_i_threads_release(me, op);
}

COLL_INLINE void coll_i_threads_wait(void *ctx, uint32_t idle)
{
    if (idle > ((coll_i_threads_rank *)ctx)->world->spins) {
        (void)sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause" ::: "memory");
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

/* The vtable; ctx is what coll_threads_rank returns. */
static const coll_transport coll_threads_transport = {coll_i_threads_send,
                                                      coll_i_threads_recv,
                                                      coll_i_threads_test,
                                                      coll_i_threads_cancel,
                                                      coll_i_threads_abort,
                                                      coll_i_threads_wait,
                                                      coll_i_threads_borrow,
                                                      coll_i_threads_give_back,
                                                      NULL, /* copy */
                                                      NULL, /* reduce */
                                                      NULL, /* multicast */
                                                      NULL, /* fabric_reduce */
                                                      0,    /* any length */
                                                      UINT32_MAX};

#endif /* COLL_TRANSPORTS_THREADS_H */
