/* coll/transports/node/world.h — ranks that share memory: its cells and channels, and what a
 * rank keeps for itself
 *
 * One mechanism for threads (threads.h) and for processes (shm.h). What two ranks touch lies in
 * shared memory and names other places there by their distance from `base`, which is 0 in one
 * address space; all else is a rank's own memory. Nothing that comes out of shared memory is
 * used as an index or an address before it was checked.
 *
 * Use threads.h or shm.h. Hosted, as all of the transports of a node.
 */
#ifndef COLL_TRANSPORTS_NODE_WORLD_H
#define COLL_TRANSPORTS_NODE_WORLD_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "../../plan/topo.h"
#include "../../transport.h"
#include "../idle.h"
#include "costs.h"

/* Cells of a channel: a power of two. So far a rank may run ahead, and where ranks share processors
 * so often one is left to another. */
#ifndef COLL_NODE_CELLS
#define COLL_NODE_CELLS 64
#endif

enum {
    COLL_NODE_LINE = 64,      /* what two ranks must not share by accident */
    COLL_NODE_INLINE = 112,   /* bytes of the longest message that its cell holds: two lines */
    COLL_NODE_PAIRED = 16,    /* … and of the longest two of which fit into a line */
    COLL_NODE_SLOTS = 8,      /* of a lane, each for a message of medium length */
    COLL_NODE_NARROW = 2048,  /* bytes of a slot of the narrow lane */
    COLL_NODE_STREAM = 16384, /* … of the longest message of a stream that goes through one */
    COLL_NODE_LAG = 8,        /* messages in cells that a reader takes before it says so */
    COLL_NODE_PARTS = 4,      /* of SHARED, used in turn: a power of two */
    COLL_NODE_ABORTS =
        16, /* tags, or ranges of tags, less than a root communicator's, that may be
                            * aborted; one more, and all tags of that communicator are */
    COLL_NODE_YIELDS = 16384, /* tests in a row that find nothing before a rank sleeps */
    /* bytes of the shortest message of private memory that a reduction reads in parts: shorter ones stay
     * in the caches when they are received */
    COLL_NODE_READ = 1 << 20,
    COLL_NODE_MISSES = 1024, /* tests that find nothing before a rank looks after its peers */
    COLL_I_NODE_TO_ALL = 1   /* in the place of a message in a slot: several ranks read it */
};

/* ---- in shared memory -------------------------------------------------------------------- */

/* In the place of a message that is read where it lies. */
#define COLL_I_NODE_LIES ((uint64_t)1 << 63)

/* A message. The reader knows by `turn`, the last thing that is written, that it is there. */
typedef struct coll_i_node_entry {
    uint32_t turn;
    uint32_t tag;
    uint64_t bytes;
    union {
        unsigned char bytes[COLL_NODE_PAIRED]; /* a short message, or how it begins */
        uint64_t slot; /* in a slot: where, an even number, + COLL_I_NODE_TO_ALL */
        uint64_t sent; /* elsewhere: where its coll_i_node_sent is, + COLL_I_NODE_LIES */
    } payload;
} coll_i_node_entry;

/* Two lines of memory, which only their sender writes, the second one for a message of more than 48
 * bytes; so one line goes from cache to cache, or two, and nothing comes back. Messages of up to
 * COLL_NODE_PAIRED bytes that stream, so that their reader is behind, go in pairs. */
typedef struct coll_i_node_cell {
    coll_i_node_entry first;  /* its turn is the number of the cell in its channel, from 1 on */
    coll_i_node_entry second; /* behind such a short one the next, with one of these turns … */
    unsigned char rest[COLL_NODE_LINE]; /* … else how the first goes on, here, too */
} coll_i_node_cell;

enum {
    COLL_I_NODE_NONE, /* the next message is in the next cell */
    COLL_I_NODE_OPEN, /* it is to come here … */
    COLL_I_NODE_HERE, /* … and has … */
    COLL_I_NODE_PAST  /* … or is in the next cell all the same: it is too long */
};

/* Messages from one rank to another. */
typedef struct coll_i_node_channel {
    uint32_t taken; /* cells that the reader is done with; read when they seem full */
    unsigned char pad[COLL_NODE_LINE - sizeof(uint32_t)];
    coll_i_node_cell cells[COLL_NODE_CELLS];
} coll_i_node_channel;

/* Life of a long message. */
enum {
    COLL_I_NODE_POSTED,    /* nobody reads it yet */
    COLL_I_NODE_READING,   /* the receiver reads the sender's buffer */
    COLL_I_NODE_DONE,      /* the receiver has it */
    COLL_I_NODE_CANCELLED, /* the sender gave up before the receiver came */
    COLL_I_NODE_FORGOTTEN  /* the receiver knows that */
};

typedef struct coll_i_node_sent {
    uint32_t state;
    uint32_t shared;  /* the message lies in shared memory … */
    uint64_t address; /* … at this distance; else at this address in the sender's memory */
    unsigned char pad[COLL_NODE_LINE - 16];
} coll_i_node_sent;

enum { COLL_I_NODE_SOME = 1, COLL_I_NODE_ALL = 2 };

/* What all ranks look at before they do anything. */
typedef struct coll_i_node_world {
    uint32_t aborts; /* COLL_I_NODE_SOME, COLL_I_NODE_ALL; 0: no tag is aborted */
    uint32_t unused;
    uint64_t whole;                     /* bit i: all tags of range i (transport.h) are */
    uint32_t left[COLL_CLAIMS];         /* ranks that have claimed a range and do so no more */
    uint64_t aborted[COLL_NODE_ABORTS]; /* first tag + 2³² · how many; 0: unused */
    unsigned char pad[COLL_NODE_LINE - 16];
} coll_i_node_world;

/* Uses of SHARED, from the first on, that a rank is done with: node/shared.h. */
typedef struct coll_i_node_turn {
    uint32_t done;
    unsigned char pad[COLL_NODE_LINE - sizeof(uint32_t)];
} coll_i_node_turn;

/* What a rank waits for: a hint to those that share its processor (node/waiting.h). */
typedef struct coll_i_node_watch {
    uint64_t at;   /* a word; 0: nothing */
    uint32_t seen; /* what it was when the rank looked */
    uint32_t peer; /* who is to change it; COLL_RANK_NONE: any rank may be */
    unsigned char pad[COLL_NODE_LINE - 16];
    /* In a line that no other processor looks at (node/turns.h): */
    uint32_t turn;  /* number of this rank's last turn on its processor */
    uint32_t turns; /* how many there were, if this is the lowest rank there */
    unsigned char pad2[COLL_NODE_LINE - 8];
} coll_i_node_watch;

/* ---- of one rank ------------------------------------------------------------------------- */

/* An operation in flight: a receive, or a long send. */
typedef struct coll_i_node_op {
    coll_i_node_sent *sent; /* NULL: a receive */
    uint32_t peer, tag;
    void *into; /* of a receive */
    size_t bytes;
    struct coll_i_node_op *chain; /* the next send of a multicast, or NULL */
    struct coll_i_node_op *next;  /* among the free, or the cancelled */
} coll_i_node_op;

/* An unexpected message: one that was set aside. The first of each tag is in the link's list, and leads the
 * others of its tag. */
typedef struct coll_i_node_unexpected {
    coll_i_node_cell cell;                /* the message is its first */
    unsigned char *medium;                /* room for a message of medium length, or NULL */
    struct coll_i_node_unexpected *next;  /* of the same tag; or among the free */
    struct coll_i_node_unexpected *last;  /* of the same tag; valid in the first */
    struct coll_i_node_unexpected *other; /* the first of another tag */
} coll_i_node_unexpected;

/* The slots of a channel: a narrow lane and a wide one. In wide slots short messages would lie far
 * apart, and soon miss the caches that hold what addresses translate to. */
typedef struct coll_i_node_lane {
    unsigned char *slots;           /* NULL until there are any */
    uint32_t next;                  /* a slot that is free */
    uint64_t last[COLL_NODE_SLOTS]; /* number of the cell that named it last, + 1; 0: none */
} coll_i_node_lane;

/* Such slots for messages to all others: node/multicast_buffer.h. */
typedef struct coll_i_node_multicast_buffer {
    unsigned char *slots;
    uint64_t used;
    uint64_t *last; /* of each slot, for each rank: number of the cell that named it last */
} coll_i_node_multicast_buffer;

/* How many messages went one way since the last one that went the other way, up to a few. */
typedef struct coll_i_node_one_way {
    uint64_t other; /* how many had gone the other way then */
    uint32_t length;
} coll_i_node_one_way;

/* What a rank knows of the channels to and from one other. */
typedef struct coll_i_node_link {
    /* to it */
    coll_i_node_channel *out;
    uint64_t tail, taken; /* cells sent; of these, surely taken */
    bool open;            /* the second entry of the last one is for the next message */
    coll_i_node_lane lanes[2];
    coll_i_node_one_way out_stream;
    /* from it */
    coll_i_node_channel *in;
    uint64_t head;      /* cells of which all messages were taken out */
    uint64_t told;      /* of these, how many the sender may know of */
    bool second;        /* the next message is the second one of its cell */
    uint32_t waiting;   /* receives in flight */
    uint32_t zero_copy; /* messages that are acquired where they lie */
    uint32_t peer;      /* whom it leads to */
    bool missed; /* something was looked for and not there: a message, or that one was taken */
    bool lost;   /* the peer is, as this rank has found */
    uint32_t heard; /* in which turn of this rank the last message came (node/turns.h) */
    coll_i_node_one_way in_stream;
    coll_i_node_unexpected *unexpected;
} coll_i_node_link;

/* Its place among the turns of its processor: node/turns.h. */
typedef struct coll_i_node_order {
    uint32_t lowest, before; /* ranks there: the lowest, and who is to come before it */
    uint32_t place, company; /* how many there are below it, and in all */
    uint32_t turn, n_turns;  /* number of its last turn there, and how many it had anywhere */
    uint32_t tries, rest;    /* moves that it may still make; not before so many turns */
    bool moves;              /* it is in the wrong place */
    bool heard_all;          /* all others of the processor had something for it lately */
} coll_i_node_order;

/* What a rank has allocated; the memory follows, on a line of its own. */
typedef struct coll_i_node_block {
    struct coll_i_node_block *next;
} coll_i_node_block;

/* One rank, the ctx of its transport. Only its thread touches it. */
typedef struct coll_i_node_rank {
    coll_i_node_world *world;
    uint64_t *channels; /* where that from s to d is: [s·p + d]; 0 until they talk */
    uintptr_t base;
    uint64_t end; /* shared memory ends so far from base */
    uint32_t rank, p;
    uint32_t medium;  /* bytes of the longest message that goes through a slot … */
    uint32_t lying;   /* … of one that does so though it lies in shared memory … */
    uint32_t longest; /* … and of one that may: what a slot holds */
    uint32_t part; /* bytes of others' own memory that a reduction reads at once; 0: none … */
    uint32_t read_from; /* … out of messages of at least so many */
    uint32_t spins;     /* looks in vain, in a row, before it matters who else runs here … */
    uint32_t patience;  /* … and before a processor of its own is given up */
    uint32_t misses, yields;
    coll_i_node_link **links; /* NULL until they talk */
    coll_i_node_op *free_receives, *free_sends, *cancelled;
    coll_i_node_unexpected *free_unexpected, *free_mediums;
    coll_i_node_multicast_buffer multicasts[2];
    coll_i_node_block *owned;
    struct coll_i_node_written *written; /* what this rank wrote last: node/copies.h … */
    uint64_t writes;                     /* … and how many bytes of such writes there were */
    coll_i_node_turn *turns;             /* of all ranks */
    unsigned char *shared;
    size_t part_bytes;       /* 0: there is no SHARED */
    uint32_t uses;           /* of SHARED that were asked for … */
    uint32_t done, all_done; /* … this rank is done with, and all are, as far as it knows … */
    uint64_t ended;          /* … and bit i: with use done + i */
    unsigned char *bounce;   /* `part` bytes, where these are read to; NULL: not yet */
    uint64_t spare;          /* a channel that the other end was faster to make, or 0 */
    uint64_t *regions; /* of all ranks: where their tables of these are, or 0: node/regions.h */
    uint64_t *operands; /* of all ranks: where the last one that it made is: node/reduction.h */
    struct coll_i_node_brought *brought; /* what this rank knows of its own */
    struct coll_i_node_member *group;    /* operands that it found, of all ranks */

    /* Waiting: node/waiting.h. */
    bool oversubscribed; /* there are more ranks than processors that they may run on */
    bool near;           /* a rank that this one waits for, or may, is on the same processor */
    bool far;            /* what was looked at last in vain is of a rank on another one */
    bool bets;           /* the rank keeps its processor though another can go on */
    uint32_t luck;       /* with such bets … */
    uint32_t refused;    /* … and how many were not made */
    uint32_t spun;       /* looks since something came, or the processor was somebody else's */
    uint32_t *cpus;      /* of all ranks: the processor, counted from 1; 0: not known yet */
    uint64_t spread; /* µs: when it looked last whether others are emptier: node/spread.h */
    coll_i_node_watch *watches; /* of all ranks: what they told */
    coll_i_node_watch watch;    /* what was looked at last in vain */
    coll_i_node_order order;

    /* Shared memory of so many bytes, zeroed, on a line of its own: its distance, or 0. */
    uint64_t (*carve)(struct coll_i_node_rank *me, size_t bytes);
    /* Copies from a peer's own memory; NULL: none has such. */
    coll_status (*pull)(struct coll_i_node_rank *me, uint32_t peer, void *into, uint64_t from,
                        size_t bytes);
    /* Its own memory is about to be sent from, and will be pulled from; or NULL. */
    void (*offer)(struct coll_i_node_rank *me, const void *message, size_t bytes);
    /* Looks whether the peers are alive, and aborts all tags if one is not; cheap. Is this one
     * gone? NULL: they live as long as this rank. */
    void (*check_liveness)(struct coll_i_node_rank *me);
    bool (*is_dead)(struct coll_i_node_rank *me, uint32_t peer);

    coll_claims claims; /* its root communicators' */
    uint64_t outlives;  /* bit i: the loss of a rank does not abort the tags of range i */
    coll_misfit misfit; /* the last one */
} coll_i_node_rank;

/* ---- memory ------------------------------------------------------------------------------ */

/* The next line of memory from here on. */
COLL_INLINE void *coll_i_node_line(void *at)
{
    return (unsigned char *)at +
           (COLL_NODE_LINE - (uintptr_t)at % COLL_NODE_LINE) % COLL_NODE_LINE;
}

/* Zeroed memory of this rank that begins on a line, or NULL. It lives as long as the rank. */
COLL_INLINE void *coll_i_node_new(coll_i_node_rank *me, size_t bytes)
{
    const size_t whole = sizeof(coll_i_node_block) + COLL_NODE_LINE + bytes;
    coll_i_node_block *block = (coll_i_node_block *)calloc(1, whole);
    if (!block)
        return NULL;
    block->next = me->owned;
    me->owned = block;
    return coll_i_node_line(block + 1);
}

COLL_INLINE void coll_i_node_free(coll_i_node_rank *me)
{
    while (me->owned) {
        coll_i_node_block *block = me->owned;
        me->owned = block->next;
        free(block);
    }
    free(me->links);
}

/* Shared memory at a distance that another rank wrote; NULL if it does not lie there. */
COLL_INLINE void *coll_i_node_shared(const coll_i_node_rank *me, uint64_t distance,
                                     size_t bytes)
{
    return distance == 0 || distance % COLL_NODE_LINE != 0 || distance > me->end ||
                   me->end - distance < bytes
               ? NULL
               : (void *)(me->base + (uintptr_t)distance);
}

/* Does a message lie in shared memory? */
COLL_INLINE bool coll_i_node_is_shared(const coll_i_node_rank *me, const void *message,
                                       size_t bytes)
{
    const uint64_t at = (uintptr_t)message - me->base;
    return at <= me->end && me->end - at >= bytes;
}

/* The channel from src to dst, one of which is this rank; NULL if there is no memory for it. */
COLL_INLINE coll_i_node_channel *coll_i_node_open(coll_i_node_rank *me, uint32_t src,
                                                  uint32_t dst)
{
    const size_t bytes = sizeof(coll_i_node_channel);
    uint64_t *const at = &me->channels[(size_t)src * me->p + dst];
    uint64_t there = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (there == 0) {
        const uint64_t mine = me->spare ? me->spare : me->carve(me, bytes);
        me->spare = 0;
        if (mine == 0)
            return NULL;
        if (__atomic_compare_exchange_n(at, &there, mine, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            there = mine;
        else
            me->spare = mine; /* the other end was faster */
    }
    return (coll_i_node_channel *)coll_i_node_shared(me, there, bytes);
}

/* The link to a rank; NULL if there is no memory for it. */
COLL_INLINE coll_i_node_link *coll_i_node_link_new(coll_i_node_rank *me, uint32_t peer)
{
    coll_i_node_link *link = (coll_i_node_link *)coll_i_node_new(me, sizeof(coll_i_node_link));
    if (link)
        link->peer = peer;
    return me->links[peer] = link;
}

/* … whose channel to that rank is open. */
COLL_INLINE coll_i_node_link *coll_i_node_link_to(coll_i_node_rank *me, uint32_t peer)
{
    coll_i_node_link *link = me->links[peer];
    if (!link)
        link = coll_i_node_link_new(me, peer);
    if (link && !link->out)
        link->out = coll_i_node_open(me, me->rank, peer);
    return link && link->out ? link : NULL;
}

/* … whose channel from that rank is open. */
COLL_INLINE coll_i_node_link *coll_i_node_link_from(coll_i_node_rank *me, uint32_t peer)
{
    coll_i_node_link *link = me->links[peer];
    if (!link)
        link = coll_i_node_link_new(me, peer);
    if (link && !link->in)
        link->in = coll_i_node_open(me, peer, me->rank);
    return link && link->in ? link : NULL;
}

/* Messages of up to so many bytes go through slots, and those that lie in shared memory of up to `lying`,
 * unless they stream. */
COLL_INLINE void coll_i_node_set_slots(coll_i_node_rank *me, uint32_t medium, uint32_t lying)
{
    const uint32_t stream = COLL_NODE_STREAM;
    me->medium = medium;
    me->lying = lying;
    me->longest = medium < stream ? stream : medium;
}

/* Is a message read where it lies? */
COLL_INLINE bool coll_i_node_is_read_there(const coll_i_node_rank *me, const void *message,
                                           size_t bytes)
{
    return bytes > COLL_NODE_INLINE &&
           bytes > (coll_i_node_is_shared(me, message, bytes) ? me->lying : me->medium);
}

/* Which lane messages of medium length take, and how many bytes a slot of it has: a line more than
 * its longest message. */
COLL_INLINE uint32_t coll_i_node_lane_of(size_t bytes)
{
    return bytes > COLL_NODE_NARROW ? 1 : 0;
}

COLL_INLINE uint32_t coll_i_node_wide(const coll_i_node_rank *me, uint32_t lane)
{
    const uint32_t narrow = COLL_NODE_NARROW;
    return (lane == 0 && me->longest > narrow ? narrow : me->longest) + COLL_NODE_LINE;
}

/* Where in a slot a message is put: in a wide one as far behind a line as in its sender's memory, and
 * often in its reader's. Else each access to one of them would touch two lines. */
COLL_INLINE unsigned char *coll_i_node_in_slot(unsigned char *slot, uint32_t lane,
                                               const void *message)
{
    return slot + (lane == 0 ? 0 : (uintptr_t)message % COLL_NODE_LINE / 2 * 2);
}

/* A lane's slots, made when they are needed first; NULL if there is no memory for them. */
COLL_INLINE unsigned char *coll_i_node_slots(coll_i_node_rank *me, coll_i_node_link *link,
                                             uint32_t number)
{
    coll_i_node_lane *lane = &link->lanes[number];
    if (!lane->slots) {
        const size_t bytes = (size_t)coll_i_node_wide(me, number) * COLL_NODE_SLOTS;
        lane->slots = (unsigned char *)coll_i_node_shared(me, me->carve(me, bytes), bytes);
    }
    return lane->slots;
}

/* An operation without a message of its own, for a receive; NULL: no memory. */
COLL_INLINE coll_i_node_op *coll_i_node_take_receive(coll_i_node_rank *me)
{
    coll_i_node_op *op = me->free_receives;
    if (!op)
        return (coll_i_node_op *)coll_i_node_new(me, sizeof *op);
    me->free_receives = op->next;
    return op;
}

COLL_INLINE void coll_i_node_release(coll_i_node_rank *me, coll_i_node_op *op)
{
    coll_i_node_op **list = op->sent ? &me->free_sends : &me->free_receives;
    op->next = *list;
    *list = op;
}

/* An operation for a long send; NULL: no memory. */
COLL_INLINE coll_i_node_op *coll_i_node_take_send(coll_i_node_rank *me)
{
    coll_i_node_op *op = me->free_sends, **link = &me->cancelled;
    while (!op && *link) {
        if (__atomic_load_n(&(*link)->sent->state, __ATOMIC_ACQUIRE) == COLL_I_NODE_FORGOTTEN) {
            op = *link;
            *link = op->next;
            coll_i_node_release(me, op);
        } else {
            link = &(*link)->next;
        }
    }
    if (!op) {
        enum { COUNT = 16 };
        const uint64_t sent = me->carve(me, COUNT * sizeof(coll_i_node_sent));
        op = sent ? (coll_i_node_op *)coll_i_node_new(me, COUNT * sizeof *op) : NULL;
        for (uint32_t i = 0; op && i < COUNT; i++) {
            op[i].sent = (coll_i_node_sent *)(me->base + (uintptr_t)sent) + i;
            coll_i_node_release(me, &op[i]);
        }
    }
    if ((op = me->free_sends) != NULL)
        me->free_sends = op->next;
    return op;
}

COLL_INLINE uint64_t coll_i_node_microseconds(void)
{
    struct timeval now;
    (void)gettimeofday(&now, NULL);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_usec;
}

/* ---- processors -------------------------------------------------------------------------- */

/* The processors of all ranks are known: are there less than ranks? How long a rank then waits with a
 * processor is a matter of time: of a switch there and back, or, with one of its own, of the microsecond
 * in which most answers come, and of 0.15 ms, less than which other programs do not run
 * (node/waiting.h). */
COLL_INLINE void coll_i_node_settle(coll_i_node_rank *me, const uint64_t *set,
                                    const coll_node_costs *costs)
{
    enum { AT_ONCE_NS = 1100, PATIENCE_NS = 150000 };
    me->oversubscribed = me->p > coll_processors_count(set);
    me->spins = coll_node_looks(costs, me->oversubscribed ? 2 * (uint64_t)costs->yield_ns
                                                          : (uint64_t)AT_ONCE_NS);
    me->patience = coll_node_looks(costs, PATIENCE_NS);
}

/* Readies a rank whose world, channels, base, end, medium and carve are there, the rest zero. It is
 * to settle before any messages. */
COLL_INLINE coll_status coll_i_node_rank_init(coll_i_node_rank *me, uint32_t rank, uint32_t p)
{
    me->rank = me->order.lowest = me->order.before = rank;
    me->order.company = 1;
    me->p = p;
    me->links = (coll_i_node_link **)calloc(p, sizeof *me->links);
    return me->links ? COLL_OK : COLL_ERR_MEMORY;
}

#endif /* COLL_TRANSPORTS_NODE_WORLD_H */
