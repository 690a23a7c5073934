/* coll/nic/queue_words.h — the queue of a host and its NIC: memory that both see, word by word
 *
 * All of it are words of 32 bits, little endian, at the same places for both; no pointers. Each word has one
 * writer at a time, so neither side locks anything.
 *
 *   words           written by  what
 *   16              NIC         what it has; but ASLEEP, which is the host's
 *   4·channels      host        bells: a post each, in turn; the NIC writes 0 when it has taken one
 *   channels        NIC         answers: how the last call of a channel ended
 *   channels        NIC         work: an operation that the host is to do for a channel's call
 *   18·channels     host        where the buffers of a channel are, before it posts
 *
 *   a post    verb 3 bits · collective 5 · operator 4 · type 5 · channel 8 · line 7, the low ones first
 *   an answer status 8 · reason 8 · number of the call 16
 *   a work    operation 24 · number of the work 8
 *
 * A channel has one call at a time, and so at most four posts that are not taken: bells never run out. The n-th
 * call of a channel is the same collective on all ranks, whatever they do on others meanwhile.
 *
 * The host's side is host_queue.h, the NIC's firmware.h.
 */
#ifndef COLL_NIC_QUEUE_WORDS_H
#define COLL_NIC_QUEUE_WORDS_H

#include "nic_program.h"

/* How a word of the queue is read, with all that was written before it, and written, after all that was; and
 * what has a write come before a later read. Processors without atomic operations have whole words. */
#ifndef COLL_NIC_WORD_LOAD
#if defined(__GCC_ATOMIC_INT_LOCK_FREE) && __GCC_ATOMIC_INT_LOCK_FREE == 2
#define COLL_NIC_WORD_LOAD(at)         __atomic_load_n((at), __ATOMIC_ACQUIRE)
#define COLL_NIC_WORD_STORE(at, value) __atomic_store_n((at), (value), __ATOMIC_RELEASE)
#define COLL_NIC_WORD_FENCE()          __atomic_thread_fence(__ATOMIC_SEQ_CST)
#elif defined(__GNUC__) || defined(__clang__)
#define COLL_NIC_WORD_LOAD(at)         coll_i_nic_load_word(at)
#define COLL_NIC_WORD_STORE(at, value) coll_i_nic_store_word((at), (value))
#define COLL_NIC_WORD_FENCE()          __atomic_thread_fence(__ATOMIC_SEQ_CST)
COLL_INLINE uint32_t coll_i_nic_load_word(const uint32_t *at)
{
    const uint32_t word = *(const volatile uint32_t *)at;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return word;
}

COLL_INLINE void coll_i_nic_store_word(uint32_t *at, uint32_t word)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
    *(volatile uint32_t *)at = word;
}
#else
#error "define COLL_NIC_WORD_LOAD, …_STORE and …_FENCE: acquire, release, and a full fence"
#endif
#endif

/* The most that a post can name. */
enum { COLL_NIC_CHANNELS_MOST = 256, COLL_NIC_LINES_MOST = 128 };

/* Of the head. */
enum {
    COLL_I_NIC_MAGIC = 0x31514e43, /* "CNQ1" */
    COLL_I_NIC_HEAD_MAGIC = 0,     /* written last */
    COLL_I_NIC_HEAD_CHANNELS,
    COLL_I_NIC_HEAD_LINES,
    COLL_I_NIC_HEAD_OPS,
    COLL_I_NIC_HEAD_COUNTERS,
    COLL_I_NIC_HEAD_RECEIVES,
    COLL_I_NIC_HEAD_RANKS,
    COLL_I_NIC_HEAD_RANK,
    COLL_I_NIC_HEAD_STRAYS, /* posts that nobody could be told of */
    COLL_I_NIC_HEAD_ASLEEP, /* the host is to be woken */
    COLL_I_NIC_HEAD_WORDS = 16,
    COLL_I_NIC_BELLS = 4, /* for each channel */
    COLL_I_NIC_AREAS = 4, /* of a record: IN, OUT, SCRATCH, the descriptor … */
    COLL_I_NIC_AREA_DESCRIPTOR = 3,
    COLL_I_NIC_RECORD_USE = 0,
    COLL_I_NIC_RECORD_ELEM_BYTES,
    COLL_I_NIC_RECORD_AREAS, /* … of 4 words: where it begins in the NIC's reach, and its bytes */
    COLL_I_NIC_RECORD_WORDS = 18, /* for each channel */
    COLL_I_NIC_QUEUE_WORDS = COLL_I_NIC_BELLS + 2 + COLL_I_NIC_RECORD_WORDS
};

/* Bytes of a queue of so many channels; a constant expression. It is aligned to 4 bytes. */
#define COLL_NIC_QUEUE_BYTES(channels)                                                         \
    (4 * ((size_t)COLL_I_NIC_HEAD_WORDS + (size_t)(channels)*COLL_I_NIC_QUEUE_WORDS))

/* ---- words ------------------------------------------------------------------------------- */

COLL_INLINE uint32_t coll_i_nic_order_bytes(uint32_t word)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return word << 24 | (word & 0xff00u) << 8 | (word >> 8 & 0xff00u) | word >> 24;
#else
    return word;
#endif
}

COLL_INLINE uint32_t coll_i_nic_word(const uint32_t *at)
{
    return coll_i_nic_order_bytes(COLL_NIC_WORD_LOAD(at));
}

COLL_INLINE void coll_i_nic_word_set(uint32_t *at, uint32_t word)
{
    COLL_NIC_WORD_STORE(at, coll_i_nic_order_bytes(word));
}

/* Where the parts of a queue of so many channels begin. */
COLL_INLINE uint32_t *coll_i_nic_bell(uint32_t *words, uint32_t channels, uint32_t post)
{
    return words + COLL_I_NIC_HEAD_WORDS + post % (COLL_I_NIC_BELLS * channels);
}

COLL_INLINE uint32_t *coll_i_nic_answer(uint32_t *words, uint32_t channels, uint32_t channel)
{
    return words + COLL_I_NIC_HEAD_WORDS + COLL_I_NIC_BELLS * channels + channel;
}

COLL_INLINE uint32_t *coll_i_nic_work(uint32_t *words, uint32_t channels, uint32_t channel)
{
    return coll_i_nic_answer(words, channels, channels + channel);
}

COLL_INLINE uint32_t *coll_i_nic_record(uint32_t *words, uint32_t channels, uint32_t channel)
{
    return coll_i_nic_answer(words, channels, 2 * channels + channel * COLL_I_NIC_RECORD_WORDS);
}

/* ---- posts ------------------------------------------------------------------------------- */

/* What a post asks for. RUN and LOAD may come together. */
typedef enum coll_nic_verb {
    COLL_NIC_RUN = 1,     /* run the program of a line on a channel's buffers */
    COLL_NIC_LOAD = 2,    /* take a program into a line, from the channel's descriptor */
    COLL_NIC_GIVE_UP = 4, /* end the channel's call */
    COLL_NIC_WORKED = 5   /* the host has done the channel's work; the line is its number */
} coll_nic_verb;

/* No operator, and elements that are only moved. */
enum { COLL_NIC_NO_OPERATOR = 15, COLL_NIC_MOVED = 31 };

/* A post, field by field. */
typedef struct coll_nic_post {
    uint32_t verb; /* coll_nic_verb, or COLL_NIC_RUN | COLL_NIC_LOAD */
    uint32_t collective;
    uint32_t op;      /* a predefined operator, or COLL_NIC_NO_OPERATOR */
    uint32_t type;    /* a type that has a name, or COLL_NIC_MOVED */
    uint32_t channel; /* which call of the host … */
    uint32_t line;    /* … and which program of the NIC; WORKED: number of the work */
} coll_nic_post;

/* The word of a post, never 0. */
COLL_INLINE uint32_t coll_nic_post_word(const coll_nic_post *post)
{
    return (post->verb & 7) | (post->collective & 31) << 3 | (post->op & 15) << 8 |
           (post->type & 31) << 12 | (post->channel & 255) << 17 | (post->line & 127) << 25;
}

/* Reads a post from its word. */
COLL_INLINE void coll_nic_post_read(coll_nic_post *post, uint32_t word)
{
    post->verb = word & 7;
    post->collective = word >> 3 & 31;
    post->op = word >> 8 & 15;
    post->type = word >> 12 & 31;
    post->channel = word >> 17 & 255;
    post->line = word >> 25;
}

/* ---- answers ----------------------------------------------------------------------------- */

/* Why a NIC refuses a post: name, status, text. */
#define COLL_NIC_REASON_LIST(X)                                                                \
    X(COLL_NIC_WHY_NOTHING, COLL_OK, "nothing was refused")                                    \
    X(COLL_NIC_WHY_WORD, COLL_ERR_FORMAT,                                                      \
      "the post names no collective, operator or type: both sides need one version")           \
    X(COLL_NIC_WHY_LINE, COLL_ERR_CAPABILITY,                                                  \
      "the NIC has fewer lines: take one below the number that the queue tells")               \
    X(COLL_NIC_WHY_EMPTY, COLL_ERR_STATE,                                                      \
      "there is no program in this line: post its descriptor first, or with the call")         \
    X(COLL_NIC_WHY_IN_USE, COLL_ERR_STATE,                                                     \
      "the program of this line is running: take another line, or wait for the call")          \
    X(COLL_NIC_WHY_DESCRIPTOR, COLL_ERR_FORMAT,                                                \
      "the descriptor is damaged, or of another version: write it again")                      \
    X(COLL_NIC_WHY_PROGRAM, COLL_ERR_FORMAT,                                                   \
      "the program leads beyond its buffers, counters or peers: lower it from a plan")         \
    X(COLL_NIC_WHY_RANK, COLL_ERR_RANK,                                                        \
      "the program is of another rank, or of more ranks than the NIC reaches")                 \
    X(COLL_NIC_WHY_SIZE, COLL_ERR_MEMORY,                                                      \
      "the program takes more than the NIC has: lower it with coll_nic_queue_limits")          \
    X(COLL_NIC_WHY_SIGNALS, COLL_ERR_CAPABILITY,                                               \
      "the program signals its receives, and this NIC keeps unexpected messages: lower it "    \
      "with coll_nic_queue_limits")                                                            \
    X(COLL_NIC_WHY_NETWORKS, COLL_ERR_CAPABILITY,                                              \
      "the program reduces in the network, which this NIC cannot: take another algorithm")     \
    X(COLL_NIC_WHY_COLLECTIVE, COLL_ERR_STATE,                                                 \
      "the program of this line is of another collective")                                     \
    X(COLL_NIC_WHY_OPERATOR, COLL_ERR_OP,                                                      \
      "the NIC has not this operator on this type: reduce on the host, or give it to the NIC") \
    X(COLL_NIC_WHY_TYPE, COLL_ERR_TYPE, "elements of this type have another number of bytes")  \
    X(COLL_NIC_WHY_BUFFER, COLL_ERR_SIZE,                                                      \
      "a buffer is shorter than the program needs, is not aligned to its elements, overlaps "  \
      "another, or is "                                                                        \
      "not in the memory that the NIC reaches")                                                \
    X(COLL_NIC_WHY_CLOSED, COLL_ERR_STATE,                                                     \
      "a call on this channel has failed: all ranks have to open it anew, for the same use")

#define COLL_I_NIC_REASON_NAME(name, status, text) name,
/* Why a NIC refuses a post. */
typedef enum coll_nic_reason {
    COLL_NIC_REASON_LIST(COLL_I_NIC_REASON_NAME) COLL_NIC_REASONS /* how many there are */
} coll_nic_reason;

/* A reason as a sentence that tells what to do, never NULL; static storage. */
COLL_INLINE const char *coll_nic_reason_text(coll_nic_reason reason)
{
#define COLL_I_NIC_REASON_TEXT(name, status, text)                                             \
    case name:                                                                                 \
        return text;
    switch (reason) {
        COLL_NIC_REASON_LIST(COLL_I_NIC_REASON_TEXT)
    case COLL_NIC_REASONS:
        break;
    }
    return "the NIC gives a reason that this version does not know";
}

/* The status of a call that was refused for a reason. */
COLL_INLINE coll_status coll_nic_reason_status(coll_nic_reason reason)
{
#define COLL_I_NIC_REASON_STATUS(name, status, text)                                           \
    case name:                                                                                 \
        return status;
    switch (reason) {
        COLL_NIC_REASON_LIST(COLL_I_NIC_REASON_STATUS)
    case COLL_NIC_REASONS:
        break;
    }
    return COLL_ERR_STATE;
}

COLL_INLINE uint32_t coll_i_nic_answer_word(coll_status status, coll_nic_reason reason,
                                            uint32_t number)
{
    return ((uint32_t)(int32_t)status & 255) | (uint32_t)reason << 8 | number << 16;
}

COLL_INLINE coll_status coll_i_nic_answer_status(uint32_t word)
{
    const uint32_t low = word & 255;
    return (coll_status)(low < 128 ? (int32_t)low : (int32_t)low - 256);
}

#endif /* COLL_NIC_QUEUE_WORDS_H */
