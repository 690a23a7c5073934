/* coll/nic/host_queue.h — the host's side of a NIC that runs collectives: it posts a word, and is told of the end
 *
 *   coll_nic_call calls[CHANNELS];
 *   coll_nic_queue queue;
 *   status = coll_nic_queue_open(&queue, words, bytes, calls, CHANNELS, memory, memory_bytes);
 *   coll_nic_queue_limits(&queue, &limits);        // lower programs for these (lower.h)
 *   … coll_nic_describe, into that memory …
 *   coll_nic_request request;
 *   coll_nic_request_init(&request, COLL_ALLREDUCE, COLL_SUM, COLL_F64);
 *   request.line = 3;                              // of the NIC's memory; the host knows what it put where
 *   request.descriptor = …;                        // only if that is not what is there already
 *   request.in = x; …                              // inside the memory
 *   status = coll_nic_queue_post(&queue, channel, &request);
 *   while ((status = coll_nic_queue_test(&queue, channel)) == COLL_AGAIN)
 *       …                                          // other channels have calls of their own meanwhile
 *   if (status < 0) puts(coll_nic_queue_why(&queue, channel));
 *
 * `words` is the queue (queue_words.h), COLL_NIC_QUEUE_BYTES(channels) of it, which the NIC opens (firmware.h).
 * `memory` is what the NIC reaches of the host's: all buffers and descriptors of calls lie in it, and what goes to
 * the NIC are offsets. A call that ends, however it does, gives its buffers back. The n-th call of a channel is the
 * same collective on all ranks; calls on several channels may be posted in any order.
 *
 * A call that fails closes its channel on all ranks, whose calls there end with errors, too. When all know, they
 * open it anew by request.use, a higher number than before, the same on all ranks.
 *
 * Of a program some operations may be placed on the host (nic_place.h): it does them in coll_nic_queue_test. Time is
 * the caller's: after coll_nic_queue_give_up the NIC ends the call with COLL_ERR_CANCELLED. Nothing here
 * allocates, blocks or waits; one thread at a time may use a queue.
 */
#ifndef COLL_NIC_HOST_QUEUE_H
#define COLL_NIC_HOST_QUEUE_H

#include "counter_machine.h"
#include "queue_words.h"

/* What is asked for. The buffers are those of coll_task; what a rank does not need may be NULL, of 0 bytes. */
typedef struct coll_nic_request {
    coll_collective collective;
    coll_operator op; /* COLL_NIC_NO_OPERATOR where nothing is reduced */
    coll_type type;
    uint32_t line;           /* of the NIC's memory: where the program is, or goes */
    uint32_t use;            /* of the channel, see above; 0 at first */
    bool run;                /* false: the program is only put into the line */
    const void *in;          /* as of coll_task, inside the memory that the NIC reaches … */
    void *out;               /* … likewise … */
    void *scratch;           /* … and working memory */
    size_t in_bytes;         /* of in … */
    size_t out_bytes;        /* … of out … */
    size_t scratch_bytes;    /* … and of scratch */
    const void *descriptor;  /* goes into the line; NULL: the line has it … */
    size_t descriptor_bytes; /* … of so many bytes */
    /* Where operations are placed on the host: the program, and the operator; until the end. Else NULL. */
    const coll_nic_program *program;
    const coll_op *combine; /* see program */
} coll_nic_request;

/* What the host knows of a channel. */
typedef struct coll_nic_call {
    coll_nic_machine
        work; /* op, buffers, elem_bytes and program of what the host does; the rest is not used */
    uint32_t number; /* of its last call, 16 bits */
    uint32_t worked; /* number of the last work that was seen, 8 bits */
    bool running;    /* it has a call … */
    bool given_up;   /* … which the NIC is to end */
} coll_nic_call;

/* A host's side. */
typedef struct coll_nic_queue {
    uint32_t *words;       /* see queue_words.h */
    coll_nic_call *calls;  /* of channels */
    uint32_t channels;     /* how many */
    uint32_t posts;        /* so far */
    unsigned char *memory; /* what the NIC reaches, as the host sees it … */
    size_t bytes;          /* … and how much */
} coll_nic_queue;

/* An operator on a type: all of the buffers, line 0, run. */
COLL_INLINE void coll_nic_request_init(coll_nic_request *request, coll_collective collective,
                                       coll_operator op, coll_type type)
{
    request->collective = collective;
    request->op = op;
    request->type = type;
    request->line = request->use = 0;
    request->run = true;
    request->in = NULL;
    request->out = request->scratch = NULL;
    request->in_bytes = request->out_bytes = request->scratch_bytes = 0;
    request->descriptor = NULL;
    request->descriptor_bytes = 0;
    request->program = NULL;
    request->combine = NULL;
}

/* Joins the queue at `words`. `calls` are at least as many as it has channels, and the caller's, as the queue and
 * the memory are, until nobody uses it any more. COLL_AGAIN: the NIC has not opened it yet. COLL_ERR_FORMAT: it
 * is no queue of this version; COLL_ERR_MEMORY: it has more channels than there are calls, or bytes. */
COLL_INLINE coll_status coll_nic_queue_open(coll_nic_queue *queue, void *words, size_t bytes,
                                            coll_nic_call *calls, uint32_t n, void *memory,
                                            size_t memory_bytes)
{
    uint32_t *at = (uint32_t *)words;
    uint32_t magic;
    if (!queue || !words || !calls || !memory)
        return COLL_ERR_NULL;
    if (bytes < COLL_NIC_QUEUE_BYTES(1))
        return COLL_ERR_MEMORY;
    magic = coll_i_nic_word(&at[COLL_I_NIC_HEAD_MAGIC]);
    if (magic != COLL_I_NIC_MAGIC)
        return magic == 0 ? COLL_AGAIN : COLL_ERR_FORMAT;
    queue->words = at;
    queue->calls = calls;
    queue->channels = coll_i_nic_word(&at[COLL_I_NIC_HEAD_CHANNELS]);
    queue->posts = 0;
    queue->memory = (unsigned char *)memory;
    queue->bytes = memory_bytes;
    if (queue->channels == 0 || queue->channels > COLL_NIC_CHANNELS_MOST)
        return COLL_ERR_FORMAT;
    if (queue->channels > n || bytes < COLL_NIC_QUEUE_BYTES(queue->channels))
        return COLL_ERR_MEMORY;
    for (uint32_t c = 0; c < queue->channels; c++) {
        calls[c].number = coll_i_nic_word(coll_i_nic_answer(at, queue->channels, c)) >> 16;
        calls[c].running = calls[c].given_up = false;
    }
    return COLL_OK;
}

/* What the NIC has: for coll_nic_lower, and coll_nic_refusal. */
COLL_INLINE void coll_nic_queue_limits(const coll_nic_queue *queue, coll_nic_limits *limits)
{
    coll_nic_limits_init(limits);
    limits->ops = coll_i_nic_word(&queue->words[COLL_I_NIC_HEAD_OPS]);
    limits->counters = coll_i_nic_word(&queue->words[COLL_I_NIC_HEAD_COUNTERS]);
    limits->receives = coll_i_nic_word(&queue->words[COLL_I_NIC_HEAD_RECEIVES]);
}

/* How many lines the NIC has, for programs. */
COLL_INLINE uint32_t coll_nic_queue_lines(const coll_nic_queue *queue)
{
    return coll_i_nic_word(&queue->words[COLL_I_NIC_HEAD_LINES]);
}

/* Which rank the NIC is … */
COLL_INLINE uint32_t coll_nic_queue_rank(const coll_nic_queue *queue)
{
    return coll_i_nic_word(&queue->words[COLL_I_NIC_HEAD_RANK]);
}

/* … and of how many. */
COLL_INLINE uint32_t coll_nic_queue_ranks(const coll_nic_queue *queue)
{
    return coll_i_nic_word(&queue->words[COLL_I_NIC_HEAD_RANKS]);
}

/* How many posts the NIC could answer to nobody: not 0 only if something else wrote to the queue. */
COLL_INLINE uint32_t coll_nic_queue_strays(const coll_nic_queue *queue)
{
    return coll_i_nic_word(&queue->words[COLL_I_NIC_HEAD_STRAYS]);
}

/* ---- posting ----------------------------------------------------------------------------- */

/* Writes where a buffer is to a record. False: it is not in what the NIC reaches. */
COLL_INLINE bool coll_i_nic_write_area(const coll_nic_queue *queue, uint32_t channel,
                                       uint32_t area, const void *buffer, size_t bytes)
{
    uint32_t *words = coll_i_nic_record(queue->words, queue->channels, channel) +
                      COLL_I_NIC_RECORD_AREAS + 4 * area;
    const uintptr_t skip = buffer ? (uintptr_t)buffer - (uintptr_t)queue->memory : 0;
    const uint64_t at = skip, n = bytes;
    if (bytes != 0 && (!buffer || skip > queue->bytes || bytes > queue->bytes - skip))
        return false;
    coll_i_nic_word_set(&words[0], bytes == 0 ? 0 : (uint32_t)at);
    coll_i_nic_word_set(&words[1], bytes == 0 ? 0 : (uint32_t)(at >> 32));
    coll_i_nic_word_set(&words[2], (uint32_t)n);
    coll_i_nic_word_set(&words[3], (uint32_t)(n >> 32));
    return true;
}

COLL_INLINE coll_status coll_i_nic_ring(coll_nic_queue *queue, const coll_nic_post *post)
{
    uint32_t *bell = coll_i_nic_bell(queue->words, queue->channels, queue->posts);
    if (coll_i_nic_word(bell) != 0)
        return COLL_AGAIN;
    coll_i_nic_word_set(bell, coll_nic_post_word(post));
    queue->posts = (queue->posts + 1) % (COLL_I_NIC_BELLS * queue->channels);
    return COLL_OK;
}

/* Posts a call on a channel that has none. After COLL_OK its buffers are the NIC's until coll_nic_queue_test has
 * told of the end. COLL_ERR_STATE: the channel has a call; COLL_ERR_PLACE: a buffer is not in the memory that the
 * NIC reaches; COLL_ERR_TYPE, COLL_ERR_OP: what has no number cannot be posted; COLL_AGAIN: the NIC does not
 * take posts. The request may go, but for what it points to. */
COLL_INLINE coll_status coll_nic_queue_post(coll_nic_queue *queue, uint32_t channel,
                                            const coll_nic_request *request)
{
    coll_nic_call *call;
    coll_nic_post post;
    coll_status status;
    size_t elem_bytes;
    uint32_t *record;
    if (!queue || !request)
        return COLL_ERR_NULL;
    if (channel >= queue->channels || request->line >= COLL_NIC_LINES_MOST)
        return COLL_ERR_COUNTS;
    call = &queue->calls[channel];
    elem_bytes = coll_type_bytes(request->type);
    if (call->running || (!request->run && !request->descriptor))
        return COLL_ERR_STATE;
    if (elem_bytes == 0)
        return COLL_ERR_TYPE;
    if (request->op >= COLL_OPERATORS && request->op != COLL_NIC_NO_OPERATOR)
        return COLL_ERR_OP;
    if (!coll_i_nic_write_area(queue, channel, COLL_IN, request->in, request->in_bytes) ||
        !coll_i_nic_write_area(queue, channel, COLL_OUT, request->out, request->out_bytes) ||
        !coll_i_nic_write_area(queue, channel, COLL_SCRATCH, request->scratch,
                               request->scratch_bytes) ||
        !coll_i_nic_write_area(queue, channel, COLL_I_NIC_AREA_DESCRIPTOR, request->descriptor,
                               request->descriptor ? request->descriptor_bytes : 0))
        return COLL_ERR_PLACE;
    record = coll_i_nic_record(queue->words, queue->channels, channel);
    coll_i_nic_word_set(&record[COLL_I_NIC_RECORD_USE], request->use);
    coll_i_nic_word_set(&record[COLL_I_NIC_RECORD_ELEM_BYTES], (uint32_t)elem_bytes);
    call->work.program = request->program;
    call->work.op = request->combine;
    call->work.in = request->in;
    call->work.out = request->out;
    call->work.scratch = request->scratch;
    call->work.shared = NULL;
    call->work.elem_bytes = elem_bytes;
    call->worked =
        coll_i_nic_word(coll_i_nic_work(queue->words, queue->channels, channel)) >> 24;
    post.verb = (request->run ? (uint32_t)COLL_NIC_RUN : 0) |
                (request->descriptor ? (uint32_t)COLL_NIC_LOAD : 0);
    post.collective = (uint32_t)request->collective;
    post.op = request->op;
    post.type = request->type < COLL_TYPES ? request->type : (uint32_t)COLL_NIC_MOVED;
    post.channel = channel;
    post.line = request->line;
    status = coll_i_nic_ring(queue, &post);
    if (status != COLL_OK)
        return status;
    call->number = (call->number + 1) & 0xffff;
    call->running = true;
    call->given_up = false;
    return COLL_OK;
}

/* Asks the NIC to end a channel's call, which has been posted; it ends as coll_nic_queue_test says then, with
 * COLL_ERR_CANCELLED or as it did before the NIC heard of it. COLL_ERR_STATE: there is none. */
COLL_INLINE coll_status coll_nic_queue_give_up(coll_nic_queue *queue, uint32_t channel)
{
    coll_nic_post post;
    coll_status status;
    if (!queue)
        return COLL_ERR_NULL;
    if (channel >= queue->channels || !queue->calls[channel].running)
        return COLL_ERR_STATE;
    if (queue->calls[channel].given_up)
        return COLL_OK;
    post.verb = COLL_NIC_GIVE_UP;
    post.collective = post.op = post.type = post.line = 0;
    post.channel = channel;
    status = coll_i_nic_ring(queue, &post);
    queue->calls[channel].given_up = status == COLL_OK;
    return status;
}

/* ---- the end ----------------------------------------------------------------------------- */

/* Does what the NIC wants the host to do, and tells it. */
COLL_INLINE void coll_i_nic_do_work(coll_nic_queue *queue, uint32_t channel, uint32_t word)
{
    coll_nic_call *call = &queue->calls[channel];
    const coll_nic_program *program = call->work.program;
    const uint32_t i = word & 0xffffff;
    const coll_nic_op *op = program && i < program->needs.ops ? &program->ops[i] : NULL;
    coll_nic_post post;
    call->worked = word >> 24;
    if (!op || (op->kind != COLL_NIC_COPY && op->kind != COLL_NIC_REDUCE) ||
        (op->kind == COLL_NIC_REDUCE && !call->work.op)) {
        (void)coll_nic_queue_give_up(queue,
                                     channel); /* the host has another program than the NIC */
        return;
    }
    (void)coll_i_nic_compute(&call->work, op);
    post.verb = COLL_NIC_WORKED;
    post.collective = post.op = post.type = 0;
    post.channel = channel;
    post.line = call->worked & 127;
    (void)coll_i_nic_ring(queue, &post); /* there is room: queue_words.h */
}

/* Has the call of a channel ended? COLL_AGAIN: not yet; else how it, or the last one, did. Does what the program
 * has the host do. */
COLL_INLINE coll_status coll_nic_queue_test(coll_nic_queue *queue, uint32_t channel)
{
    coll_nic_call *call;
    uint32_t answer, work;
    if (!queue)
        return COLL_ERR_NULL;
    if (channel >= queue->channels)
        return COLL_ERR_COUNTS;
    call = &queue->calls[channel];
    answer = coll_i_nic_word(coll_i_nic_answer(queue->words, queue->channels, channel));
    if (call->running && answer >> 16 != call->number) {
        work = coll_i_nic_word(coll_i_nic_work(queue->words, queue->channels, channel));
        if (work >> 24 != call->worked && !call->given_up)
            coll_i_nic_do_work(queue, channel, work);
        return COLL_AGAIN;
    }
    call->running = false;
    return coll_i_nic_answer_status(answer);
}

/* Why the last call of a channel ended as it did, or that it has not, as a sentence, never NULL; static storage. */
COLL_INLINE const char *coll_nic_queue_why(const coll_nic_queue *queue, uint32_t channel)
{
    uint32_t answer;
    if (!queue || channel >= queue->channels)
        return coll_status_text(COLL_ERR_NULL);
    answer = coll_i_nic_word(coll_i_nic_answer(queue->words, queue->channels, channel));
    if (queue->calls[channel].running && answer >> 16 != queue->calls[channel].number)
        return "the NIC has not told of the end of the call";
    return (answer >> 8 & 255) != COLL_NIC_WHY_NOTHING
               ? coll_nic_reason_text((coll_nic_reason)(answer >> 8 & 255))
               : coll_status_text(coll_i_nic_answer_status(answer));
}

/* Before the host sleeps (true), it asks to be woken, then tests its channels once more, and sleeps if nothing
 * was there; false: it is awake. How the NIC wakes it is firmware.h's interrupt. */
COLL_INLINE void coll_nic_queue_sleeps(coll_nic_queue *queue, bool sleeps)
{
    coll_i_nic_word_set(&queue->words[COLL_I_NIC_HEAD_ASLEEP], sleeps ? 1 : 0);
    COLL_NIC_WORD_FENCE();
}

#endif /* COLL_NIC_HOST_QUEUE_H */
