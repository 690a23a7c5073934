/* coll/transports/conformance/kit.h — the conformance kit: its checks, its memory, its sentences
 *
 * Use ../conformance.h.
 */
#ifndef COLL_TRANSPORTS_CONFORMANCE_KIT_H
#define COLL_TRANSPORTS_CONFORMANCE_KIT_H

#include "../../transport.h"

/* The checks, in the order in which they run: what a transport does wrong in one that is basic is not
 * blamed on a later one. Name, word, what the contract says. */
#define COLL_CONFORMANCE_LIST(X)                                                               \
    X(CALLBACKS, callbacks, "send, recv and test are there, and records have what they need")  \
    X(DELIVERY, delivery, "a message arrives whole")                                           \
    X(ORDER, order,                                                                            \
      "messages of one peer and tag arrive in the order in which they were sent")              \
    X(MATCHING, matching, "receives of one peer and tag are matched in the order started")     \
    X(SIZES, sizes, "messages of any size up to max_bytes arrive, wherever they lie")          \
    X(EMPTY, empty, "a message of 0 bytes is one, and its buffer may be NULL")                 \
    X(BUFFERS, buffers, "nothing is written but the bytes of a receive")                       \
    X(REUSE, reuse, "buffers and handle are the caller's again when an operation is done")     \
    X(SEND_FIRST, send_first, "a send does not wait until its receiver receives")              \
    X(REFUSAL, refusal, "COLL_AGAIN means that nothing was taken")                             \
    X(DEPTH, depth, "many messages of several tags are in flight at once")                     \
    X(TAGS, tags, "messages are matched by tag, and the last tag is one of its own")           \
    X(TAGS_APART, tags_apart, "messages and receives of one tag never hold up another's")      \
    X(SLOW_PEER, slow_peer, "a rank that does nothing does not hold up the others")            \
    X(COPY, copy, "copy copies")                                                               \
    X(REDUCE, reduce,                                                                          \
      "reduce combines a with b, in this order, into dst, which may be a or b")                \
    X(ACQUIRE, acquire, "an acquired message is the one due, and stays until its release")     \
    X(ARRIVAL, arrival,                                                                        \
      "the message that is due is combined as it arrives, its operands in their order")        \
    X(MULTICAST, multicast, "a multicast reaches all others, in order with sends")             \
    X(NETWORK_REDUCE, network_reduce,                                                          \
      "all members of a group get the reduction in rank order")                                \
    X(SHARED, shared, "all ranks see the same part of SHARED")                                 \
    X(TURNS, turns, "a part of SHARED is used again when all have left it")                    \
    X(EVENTS, events, "what happens while a rank is armed makes its descriptor readable")      \
    X(DEAD, dead, "no rank is dead that takes part")                                           \
    X(CANCEL_RECV, cancel_recv, "a receive that was cancelled writes nothing")                 \
    X(CANCEL_SEND, cancel_send, "a send that was cancelled reads nothing")                     \
    X(ABORT, abort, "operations of aborted tags end with COLL_ERR_PEER, others go on")         \
    X(SIZE_ERROR, size_error, "a message of another size than expected is COLL_ERR_SIZE")      \
    X(USES, uses,                                                                              \
      "uses of a tag are one channel, and a message of another use is COLL_ERR_SIZE")          \
    X(CLAIMS, claims, "claimed tags are the same on all ranks, nobody else's, and clean")      \
    X(KEPT, kept, "memory that is kept, or forgotten, holds messages as any other does")       \
    X(PUTS, puts,                                                                              \
      "what is put is there when it is counted, in order, and nothing else is written")

#define COLL_I_CONFORMANCE_ENUM(name, word, text) COLL_CONFORMANCE_##name,
/* The checks of the kit. */
typedef enum coll_conformance_check {
    COLL_CONFORMANCE_LIST(COLL_I_CONFORMANCE_ENUM)
        COLL_CONFORMANCE_CHECKS /* how many there are */
} coll_conformance_check;

/* What became of a check on a rank. */
typedef enum coll_conformance_result {
    COLL_CONFORMANCE_NOT_RUN, /* not yet, or it was skipped */
    COLL_CONFORMANCE_PASSED,
    COLL_CONFORMANCE_NOT_THERE, /* the transport, or its tags or ranks, have nothing to be checked */
    COLL_CONFORMANCE_FAILED
} coll_conformance_result;

enum { COLL_CONFORMANCE_SENTENCE = 320 }; /* bytes of the longest sentence */

/* What is to be checked, on one rank. */
typedef struct coll_conformance_task {
    const coll_transport *transport;
    void *ctx;
    uint32_t rank, p;
    size_t longest;    /* bytes of the longest message tried, the same on all ranks; 0: 4096 */
    uint32_t depth;    /* messages in flight to one peer, the same on all ranks; 0: 64 */
    uint32_t patience; /* rounds without progress that are a hang; 0: 100000, at least 256 */
    uint32_t skip;     /* mask of 1u << check, the same on all ranks */
    void *memory; /* … of coll_conformance_bytes; without cancel it outlives the transport */
    size_t bytes;
} coll_conformance_task;

/* What an operation is. */
typedef enum coll_i_conformance_kind {
    COLL_I_CONFORMANCE_SENDS,
    COLL_I_CONFORMANCE_RECEIVES,
    COLL_I_CONFORMANCE_ACQUIRES,
    COLL_I_CONFORMANCE_MULTICASTS,
    COLL_I_CONFORMANCE_COPIES,
    COLL_I_CONFORMANCE_REDUCES,
    COLL_I_CONFORMANCE_ARRIVES, /* a recv_reduce */
    COLL_I_CONFORMANCE_MEETS,   /* a network_reduce */
    COLL_I_CONFORMANCE_PUTS,
    COLL_I_CONFORMANCE_LANDS,  /* waits until message `number` was put into its buffer */
    COLL_I_CONFORMANCE_KEEPS,  /* a buffer that stays as it is */
    COLL_I_CONFORMANCE_ENTERS, /* takes a use of SHARED, and enters it */
    COLL_I_CONFORMANCE_LOOKS,  /* reads a word of it */
    COLL_I_CONFORMANCE_LEAVES,
    COLL_I_CONFORMANCE_CANCELS, /* the operation `of` */
    COLL_I_CONFORMANCE_ABORTS,  /* `count` tags */
    COLL_I_CONFORMANCE_PAUSES,  /* for `after` rounds */
    COLL_I_CONFORMANCE_SLEEPS,  /* until the receive `of` is done, which nobody else tests */
    COLL_I_CONFORMANCE_FORGETS /* `bytes` at `a` that were kept, to be written if `count` is not 0 */
} coll_i_conformance_kind;

enum { COLL_I_CONFORMANCE_PENDING, COLL_I_CONFORMANCE_FLYING, COLL_I_CONFORMANCE_ENDED };

/* What a buffer must hold when the phase ends. */
enum {
    COLL_I_CONFORMANCE_ANYTHING,
    COLL_I_CONFORMANCE_BLANK,   /* what it had when its receive was started */
    COLL_I_CONFORMANCE_MESSAGE, /* … of its key */
    COLL_I_CONFORMANCE_SPENT    /* what was written to it after its send was done */
};

/* Flags: when an operation starts, and who waits for it. */
enum {
    COLL_I_CONFORMANCE_AFTER_STARTED = 1, /* all before it were started */
    COLL_I_CONFORMANCE_AFTER_DONE = 2,    /* … have ended, but those … */
    COLL_I_CONFORMANCE_ASIDE = 4,         /* … that nobody waits for before the phase ends */
    COLL_I_CONFORMANCE_MAY_STAY = 8,      /* it may be in flight then, and is cancelled */
    COLL_I_CONFORMANCE_TRIED = 16         /* its handle was handed to the transport */
};

/* How it may end. */
enum {
    COLL_I_CONFORMANCE_WELL = 1,
    COLL_I_CONFORMANCE_BY_SIZE = 2,
    COLL_I_CONFORMANCE_BY_PEER = 4,
    COLL_I_CONFORMANCE_REFUSED = 8,
    COLL_I_CONFORMANCE_ANYHOW = 16
};

typedef struct coll_i_conformance_op {
    coll_handle handle;
    uint8_t kind, state, flags, ends, holds;
    uint32_t peer, tag, number; /* number: which message of its tag */
    uint32_t key;               /* what is in the message */
    uint32_t after;             /* round of the phase before which it does not start */
    uint32_t refusals;          /* times that it was told COLL_AGAIN */
    uint32_t
        count; /* elements; tags that are aborted together; the use of SHARED; a put's counter */
    uint32_t its_tag,
        its_bytes;      /* of the message that does not fit; a put's region and offset */
    size_t bytes;       /* of its buffer */
    unsigned char *buf; /* in memory of its own, with guards; or NULL */
    const unsigned char *a, *b; /* operands; a message that was acquired */
    struct coll_i_conformance_op
        *of; /* to cancel; of a receive: not tested before this one is started */
} coll_i_conformance_op;

/* The kit on one rank. */
typedef struct coll_conformance {
    coll_conformance_task task; /* what is run */
    coll_status status; /* COLL_AGAIN: it goes on; COLL_OK; COLL_ERR_IO: see the sentence */
    uint32_t check;     /* the one that runs, or has failed */
    uint32_t phase;     /* of the check */
    uint32_t round;     /* of the phase */
    uint32_t idle;      /* rounds in which nothing happened */
    uint32_t silence;   /* rounds in which a slow peer does nothing */
    bool begun;         /* the phase has its operations */
    bool guarded,
        spent;        /* what is written beside buffers is looked for; buffers are used again */
    uint32_t again;   /* times that a send of the check was told COLL_AGAIN */
    uint32_t refused; /* operations of it that ended with COLL_ERR_CAPABILITY, … */
    uint32_t done;    /* … and with COLL_OK */
    uint32_t missed;  /* messages, one after the other, of which a sleeper was not told */
    bool asleep;      /* the rank is armed: nothing of the transport may be called */
    bool (*readable)(int descriptor); /* NULL: nobody knows */
    uint32_t home;              /* the tag by which ranks tell each other how far they are */
    uint32_t claim[2][2];       /* tags that are claimed: the first, and how many */
    coll_region region;         /* that is exposed … */
    uint32_t counters[2], puts; /* … its counters, and how many puts are to come */
    coll_op sum, chain;         /* a commutative operator, and one that is not */
    coll_i_conformance_op *ops;
    uint32_t n_ops, most_ops;                 /* operations, and for how many there is memory */
    unsigned char *arena;                     /* memory of the buffers … */
    size_t room, used;                        /* … its bytes, and those in use */
    size_t longest;                           /* bytes of the longest message */
    uint8_t results[COLL_CONFORMANCE_CHECKS]; /* coll_conformance_result of each check */
    uint32_t length;                          /* bytes of the sentence */
    char sentence[COLL_CONFORMANCE_SENTENCE]; /* what is wrong */
} coll_conformance;

/* ---- names ------------------------------------------------------------------------------- */

/* The word for a check. */
COLL_INLINE const char *coll_conformance_name(coll_conformance_check check)
{
#define COLL_I_CONFORMANCE_WORD(name, word, text)                                              \
    case COLL_CONFORMANCE_##name:                                                              \
        return #word;
    switch (check) {
        COLL_CONFORMANCE_LIST(COLL_I_CONFORMANCE_WORD)
    case COLL_CONFORMANCE_CHECKS:
        break;
    }
    return "unknown check";
}

/* What it checks, in words. */
COLL_INLINE const char *coll_conformance_text(coll_conformance_check check)
{
#define COLL_I_CONFORMANCE_TEXT(name, word, text)                                              \
    case COLL_CONFORMANCE_##name:                                                              \
        return text;
    switch (check) {
        COLL_CONFORMANCE_LIST(COLL_I_CONFORMANCE_TEXT)
    case COLL_CONFORMANCE_CHECKS:
        break;
    }
    return "unknown check";
}

/* One word on a result, never NULL. */
COLL_INLINE const char *coll_conformance_result_text(coll_conformance_result result)
{
    switch (result) {
    case COLL_CONFORMANCE_PASSED:
        return "passed";
    case COLL_CONFORMANCE_NOT_THERE:
        return "not there";
    case COLL_CONFORMANCE_FAILED:
        return "failed";
    case COLL_CONFORMANCE_NOT_RUN:
        break;
    }
    return "not run";
}

/* ---- sentences --------------------------------------------------------------------------- */

COLL_INLINE void coll_i_conformance_say(coll_conformance *kit, const char *text)
{
    while (*text && kit->length + 1 < COLL_CONFORMANCE_SENTENCE)
        kit->sentence[kit->length++] = *text++;
    kit->sentence[kit->length] = 0;
}

COLL_INLINE void coll_i_conformance_say_number(coll_conformance *kit, const char *before,
                                               size_t number)
{
    char digits[24];
    unsigned at = sizeof digits - 1;
    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    coll_i_conformance_say(kit, before);
    coll_i_conformance_say(kit, digits + at);
}

COLL_INLINE void coll_i_conformance_say_status(coll_conformance *kit, const char *before,
                                               int status)
{
    coll_i_conformance_say(kit, before);
    coll_i_conformance_say(kit, "\"");
    coll_i_conformance_say(kit, coll_status_text((coll_status)status));
    coll_i_conformance_say(kit, "\"");
}

/* The check fails; begins its sentence: which check, on which rank. */
COLL_INLINE void coll_i_conformance_fail(coll_conformance *kit)
{
    const coll_conformance_check check = (coll_conformance_check)kit->check;
    kit->status = COLL_ERR_IO;
    kit->results[kit->check] = COLL_CONFORMANCE_FAILED;
    kit->length = 0;
    coll_i_conformance_say(kit, coll_conformance_name(check));
    coll_i_conformance_say(kit, " (");
    coll_i_conformance_say(kit, coll_conformance_text(check));
    coll_i_conformance_say_number(kit, "): rank ", kit->task.rank);
}

/* … and what it does. */
COLL_INLINE void coll_i_conformance_fail_op(coll_conformance *kit,
                                            const coll_i_conformance_op *op)
{
    const char *what = ", pausing", *whom = NULL;
    coll_i_conformance_fail(kit);
    switch ((coll_i_conformance_kind)op->kind) {
    case COLL_I_CONFORMANCE_SENDS:
        what = ", send", whom = " to rank ";
        break;
    case COLL_I_CONFORMANCE_RECEIVES:
        what = ", recv", whom = " from rank ";
        break;
    case COLL_I_CONFORMANCE_ACQUIRES:
        what = ", acquire", whom = " from rank ";
        break;
    case COLL_I_CONFORMANCE_ARRIVES:
        what = ", recv_reduce", whom = " from rank ";
        break;
    case COLL_I_CONFORMANCE_MULTICASTS:
        what = ", multicast";
        break;
    case COLL_I_CONFORMANCE_COPIES:
        what = ", copy";
        break;
    case COLL_I_CONFORMANCE_REDUCES:
        what = ", reduce";
        break;
    case COLL_I_CONFORMANCE_MEETS:
        what = ", network_reduce";
        break;
    case COLL_I_CONFORMANCE_PUTS:
        what = ", put", whom = " to rank ";
        break;
    case COLL_I_CONFORMANCE_LANDS:
        what = ", what is put", whom = " by rank ";
        break;
    case COLL_I_CONFORMANCE_KEEPS:
        what = ", an operand";
        break;
    case COLL_I_CONFORMANCE_ENTERS:
        what = ", enter";
        break;
    case COLL_I_CONFORMANCE_LOOKS:
        what = ", in SHARED";
        break;
    case COLL_I_CONFORMANCE_LEAVES:
        what = ", leave";
        break;
    case COLL_I_CONFORMANCE_CANCELS:
        what = ", cancel";
        break;
    case COLL_I_CONFORMANCE_ABORTS:
        what = ", abort";
        break;
    case COLL_I_CONFORMANCE_PAUSES:
    case COLL_I_CONFORMANCE_SLEEPS:
    case COLL_I_CONFORMANCE_FORGETS:
        break;
    }
    coll_i_conformance_say(kit, what);
    if (op->kind <= COLL_I_CONFORMANCE_KEEPS) {
        coll_i_conformance_say_number(kit, " of ", op->bytes);
        coll_i_conformance_say(kit, " bytes");
    }
    if (whom) {
        coll_i_conformance_say_number(kit, whom, op->peer);
        coll_i_conformance_say_number(kit, ", tag ", op->tag);
        coll_i_conformance_say_number(kit, ", message ", op->number);
    }
    coll_i_conformance_say(kit, ": ");
}

/* ---- what messages hold ------------------------------------------------------------------ */

/* The content of a message; dst is UINT32_MAX for one to all. */
COLL_INLINE uint32_t coll_i_conformance_key(uint32_t src, uint32_t dst, uint32_t tag,
                                            uint32_t number)
{
    uint32_t x = (src + 1) * 0x9E3779B1u ^ (dst + 1) * 0x85EBCA77u ^ (tag + 1) * 0xC2B2AE3Du ^
                 (number + 1) * 0x27D4EB2Fu;
    x = (x ^ x >> 15) * 0x2C1B3C6Du;
    x = (x ^ x >> 12) * 0x297A2D39u;
    return x ^ x >> 15;
}

enum { COLL_I_CONFORMANCE_GUARD = 16, COLL_I_CONFORMANCE_BESIDE = 64 };
#define COLL_I_CONFORMANCE_SPENT_KEY 0x5BD1E995u
#define COLL_I_CONFORMANCE_GUARD_KEY 0x1B873593u

COLL_INLINE unsigned char coll_i_conformance_byte(uint32_t key, size_t at)
{
    const uint32_t i = (uint32_t)at;
    return (unsigned char)((key >> (i % 4 * 8)) + i / 4 * 29 + i / 1024 * 7);
}

/* Writes a content, or, with `flip` 255, bytes of which each differs from it. */
COLL_INLINE void coll_i_conformance_write(unsigned char *buf, size_t bytes, uint32_t key,
                                          unsigned flip)
{
    for (size_t i = 0; i < bytes; i++)
        buf[i] = (unsigned char)(coll_i_conformance_byte(key, i) ^ flip);
}

/* The first byte that is not of this content; `bytes` if all are. */
COLL_INLINE size_t coll_i_conformance_differs(const unsigned char *buf, size_t bytes,
                                              uint32_t key, unsigned flip)
{
    size_t i = 0;
    while (i < bytes && buf[i] == (unsigned char)(coll_i_conformance_byte(key, i) ^ flip))
        i++;
    return i;
}

/* ---- memory ------------------------------------------------------------------------------ */

COLL_INLINE uint32_t coll_i_conformance_depth(const coll_conformance_task *task)
{
    return task->depth ? task->depth : 64;
}

COLL_INLINE size_t coll_i_conformance_longest(const coll_conformance_task *task)
{
    const size_t most = task->transport->max_bytes;
    const size_t longest = task->longest ? task->longest : 4096;
    return most && most < longest ? most : longest;
}

/* The most operations of a phase. */
COLL_INLINE uint32_t coll_i_conformance_most(const coll_conformance_task *task)
{
    uint32_t most = 2 * coll_i_conformance_depth(task) + 24;
    for (uint32_t p = task->p; p > 0; p /= 2)
        most += 2;
    return most;
}

/* Bytes of its buffers: many short messages and a few long ones. */
COLL_INLINE size_t coll_i_conformance_room(const coll_conformance_task *task)
{
    return coll_i_conformance_most(task) * (size_t)(COLL_I_CONFORMANCE_BESIDE + 32) +
           6 * (coll_i_conformance_longest(task) + COLL_I_CONFORMANCE_BESIDE);
}

/* Bytes of memory that a rank needs: some 100 for a message of the depth, and six of the longest. */
COLL_INLINE size_t coll_conformance_bytes(const coll_conformance_task *task)
{
    return sizeof(void *) + coll_i_conformance_room(task) +
           coll_i_conformance_most(task) * sizeof(coll_i_conformance_op);
}

/* A buffer between guards; NULL: there is no room. */
COLL_INLINE unsigned char *coll_i_conformance_buffer(coll_conformance *kit, size_t bytes,
                                                     size_t skew)
{
    unsigned char *at = kit->arena + kit->used;
    if (bytes > kit->room - kit->used ||
        kit->room - kit->used - bytes < COLL_I_CONFORMANCE_BESIDE)
        return NULL;
    at += (16 - (uintptr_t)at % 16) % 16 + COLL_I_CONFORMANCE_GUARD + skew % 8;
    kit->used = (size_t)(at - kit->arena) + bytes + COLL_I_CONFORMANCE_GUARD;
    coll_i_conformance_write(at - COLL_I_CONFORMANCE_GUARD, COLL_I_CONFORMANCE_GUARD,
                             COLL_I_CONFORMANCE_GUARD_KEY, 0);
    coll_i_conformance_write(at + bytes, COLL_I_CONFORMANCE_GUARD, COLL_I_CONFORMANCE_GUARD_KEY,
                             0);
    return at;
}

#endif /* COLL_TRANSPORTS_CONFORMANCE_KIT_H */
