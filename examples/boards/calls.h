/* examples/boards/calls.h — what a host does with its card: programs, words, and how calls end
 *
 * Each job of jobs.h has a line of the card's memory, which others may have, too: the host knows what is where, and
 * sends a descriptor only for what is not.
 */
#ifndef COLL_EXAMPLES_BOARDS_CALLS_H
#define COLL_EXAMPLES_BOARDS_CALLS_H

#define JOB_COMPOSITES 1
#include "jobs.h"
#include "power.h"

#include "coll/nic/host_queue.h"
#include "coll/nic/lower.h"
#include "coll/nic/nic_descriptor.h"
#include "coll/nic/nic_place.h"

enum {
    SPARE = CARD_LINES - 1, /* a line that is never filled */
    NOBODY = JOBS + 2,      /* of lines: their program is none */
    PROGRAMS = NOBODY,      /* jobs, and two others … */
    LOWERED = 1 << 16,
    DESCRIPTOR = 1 << 13,
    BUFFER = 1 << 13,
    LONG = 512 /* from so many bytes on the host reduces */
};

/* In the memory that the card reaches. */
typedef struct room {
    uint64_t in[CARD_CHANNELS][BUFFER / 8], out[CARD_CHANNELS][BUFFER / 8],
        scratch[CARD_CHANNELS][BUFFER / 8];
    unsigned char descriptor[PROGRAMS][DESCRIPTOR];
} room;
typedef char coll_i_room_fits[sizeof(room) <= CARD_MEMORY ? 1 : -1];

/* This rank. */
static struct {
    uint32_t rank, p;
    int patience; /* ms */
    card card;
    room *at;
    coll_nic_queue queue;
    coll_nic_call calls[CARD_CHANNELS];
    job_call job[CARD_CHANNELS]; /* what each of them is of */
    uint32_t use[CARD_CHANNELS];
    coll_nic_program programs[PROGRAMS];
    size_t lowered[PROGRAMS][LOWERED / sizeof(size_t)];
    size_t described[PROGRAMS];   /* bytes; 0: not yet */
    uint32_t in_line[CARD_LINES]; /* whose program */
    unsigned words, descriptors,
        reduced; /* posts, those with one, operations that are placed on the host */
} me;

/* Lowers what a rank of a plan does, for the card of this rank or another, and writes its descriptor. */
static inline coll_status calls_describe(uint32_t program, const coll_plan *plan, uint32_t rank)
{
    static coll_action actions[1024];
    coll_schedule schedule;
    coll_nic_limits limits;
    coll_nic_memory memory = {me.lowered[program], sizeof me.lowered[program], 0};
    coll_nic_program *it = &me.programs[program];
    coll_status status = coll_schedule_write(&schedule, plan, rank, actions, 1024);
    coll_nic_queue_limits(&me.queue, &limits);
    if (status == COLL_OK)
        status = coll_nic_lower(it, plan, &schedule, &limits, &memory);
    if (status == COLL_OK && coll_nic_refusal(&it->needs, &limits)) {
        fprintf(stderr, "host: %s\n", coll_nic_refusal(&it->needs, &limits));
        return COLL_ERR_CAPABILITY;
    }
    if (status != COLL_OK)
        return status;
    me.reduced += coll_nic_place(it, &memory, plan->problem.elem_bytes, LONG);
    coll_nic_rename(it, &memory, &plan->group);
    return coll_nic_describe(it, plan, rank, me.at->descriptor[program], DESCRIPTOR,
                             &me.described[program]);
}

/* A request for a program in a line, with a channel's buffers; with its descriptor, if that is not there. */
static inline void calls_request(coll_nic_request *request, uint32_t channel, const job *its,
                                 uint32_t program, uint32_t line)
{
    coll_nic_request_init(request, its->collective,
                          its->op ? COLL_SUM : (coll_operator)COLL_NIC_NO_OPERATOR, its->type);
    request->line = line;
    request->use = me.use[channel];
    request->program = &me.programs[program]; /* for what is the host's */
    request->combine = its->op;
    if (me.in_line[line] != program) {
        request->descriptor = me.at->descriptor[program];
        request->descriptor_bytes = me.described[program];
    }
    request->in = me.at->in[channel];
    request->out = me.at->out[channel];
    request->scratch = me.at->scratch[channel];
    request->in_bytes = request->out_bytes = request->scratch_bytes = BUFFER;
}

/* Writes a word for a request. */
static inline coll_status calls_ring(uint32_t channel, const coll_nic_request *request,
                                     uint32_t program)
{
    const coll_status status = coll_nic_queue_post(&me.queue, channel, request);
    if (status != COLL_OK)
        return status;
    me.words++;
    me.descriptors += request->descriptor != NULL;
    if (request->descriptor)
        me.in_line[request->line] = program;
    return COLL_OK;
}

/* Posts a job on a channel that has no call. */
static inline coll_status calls_post(uint32_t channel, uint32_t number)
{
    job_call *call = &me.job[channel];
    coll_nic_request request;
    coll_status status = job_make(call, number, me.p, me.rank);
    if (status == COLL_OK && me.described[number] == 0)
        status = calls_describe(number, &call->plan, me.rank);
    if (status != COLL_OK)
        return status;
    job_buffers(call, number, me.at->in[channel], me.at->out[channel], me.at->scratch[channel],
                BUFFER);
    calls_request(&request, channel, &jobs[number], number, number % SPARE);
    return calls_ring(channel, &request, number);
}

/* Waits for a channel's call. After the patience the card is to end it; if it does not, or is gone, its power is
 * taken, and the call has ended with COLL_ERR_PEER. Then, in any case, its buffers are this process's. */
static inline coll_status calls_finish(uint32_t channel)
{
    coll_status status = COLL_AGAIN;
    for (card_news news = CARD_SPOKE, before = news; status == COLL_AGAIN; before = news) {
        if (news == CARD_SILENT)
            (void)coll_nic_queue_give_up(&me.queue, channel);
        coll_nic_queue_sleeps(&me.queue, true);
        status = coll_nic_queue_test(&me.queue, channel);
        if (status != COLL_AGAIN)
            break;
        if (news != CARD_GONE)
            news = card_sleep(&me.card, me.patience);
        if (news == CARD_GONE || (news == CARD_SILENT && before == CARD_SILENT)) {
            card_off(&me.card);
            status = COLL_ERR_PEER;
        }
    }
    coll_nic_queue_sleeps(&me.queue, false);
    return status;
}

/* A job, alone. */
static inline coll_status calls_run(uint32_t channel, uint32_t number)
{
    const coll_status status = calls_post(channel, number);
    return status == COLL_OK ? calls_finish(channel) : status;
}

/* Why a channel's call ended, whoever of both has said it. */
static inline const char *calls_why(uint32_t channel, coll_status status)
{
    return me.card.board == 0  ? "the card is gone"
           : status == COLL_OK ? "nothing was wrong"
                               : coll_nic_queue_why(&me.queue, channel);
}

/* Switches the card on, and joins its queue. */
static inline bool calls_open(const char *file, char *const *command)
{
    coll_status status = COLL_AGAIN;
    if (!card_on(&me.card, file, command, me.patience))
        return false;
    me.at = (room *)(void *)me.card.window->memory;
    for (uint32_t i = 0; i < CARD_LINES; i++)
        me.in_line[i] = NOBODY;
    while (status == COLL_AGAIN && card_sleep(&me.card, me.patience) == CARD_SPOKE)
        status =
            coll_nic_queue_open(&me.queue, me.card.window->words, sizeof me.card.window->words,
                                me.calls, CARD_CHANNELS, me.at, CARD_MEMORY);
    return status == COLL_OK && coll_nic_queue_rank(&me.queue) == me.rank &&
           coll_nic_queue_ranks(&me.queue) == me.p && coll_nic_queue_lines(&me.queue) > SPARE;
}

#endif /* COLL_EXAMPLES_BOARDS_CALLS_H */
