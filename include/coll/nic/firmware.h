/* coll/nic/firmware.h — the NIC's side of a queue: takes posts, runs programs over a transport, tells of the end
 *
 *   coll_nic_firmware_options options;
 *   coll_nic_firmware_init_options(&options, rank, p, &transport, ctx);
 *   options.channels = 8;                           // calls at once
 *   options.lines = 16;                             // programs that it keeps …
 *   options.limits.ops = 256;                       // … each of at most so many operations, …
 *   options.ops = my_ops;                           // what it can reduce, as of coll_op_builtin
 *   options.words = …; options.reach = …;           // the queue, and the host's memory, where the NIC sees them
 *   bytes = coll_nic_firmware_bytes(&options);
 *   status = coll_nic_firmware_open(&firmware, &options, memory, bytes);
 *   for (;;)
 *       if (coll_nic_firmware_progress(&firmware) == COLL_AGAIN)
 *           …                                       // nothing to do: wait for a while
 *
 * Nothing of what the host writes is trusted (intake.h). What cannot be is refused with a reason (queue_words.h), and
 * a program that is wrong spoils no memory but its own call's. A call that fails, or is refused, ends on all
 * ranks, as its tag is aborted; then its channel is closed, until all hosts name the same next use of it.
 *
 * A program stays in its line until another one is put there. A channel that runs the program of its last call
 * again only arms its counters anew. Messages of a channel have a tag of their own, so hosts may post calls on several
 * channels in any order.
 *
 * Memory: the caller's, coll_nic_firmware_bytes. Nothing here allocates, blocks or waits.
 */
#ifndef COLL_NIC_FIRMWARE_H
#define COLL_NIC_FIRMWARE_H

#include "intake.h"

/* Of one channel, one line, without limits, and without operators. */
COLL_INLINE void coll_nic_firmware_init_options(coll_nic_firmware_options *options,
                                                uint32_t rank, uint32_t p,
                                                const coll_transport *transport, void *ctx)
{
    options->rank = rank;
    options->p = p;
    options->channels = options->lines = 1;
    coll_nic_limits_init(&options->limits);
    options->limits.ops = 64;
    options->limits.counters = 16;
    options->transport = transport;
    options->ctx = ctx;
    options->ops = NULL;
    options->n_ops = 0;
    options->words = NULL;
    options->reach = NULL;
    options->reach_bytes = 0;
    options->interrupt = NULL;
    options->interrupt_ctx = NULL;
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Lays out memory for lines and channels; without room only counts bytes. */
COLL_INLINE bool coll_i_nic_lay_out(coll_nic_firmware *f, const coll_nic_firmware_options *o,
                                    coll_nic_memory *memory)
{
    const uint32_t ops = o->limits.ops, counters = o->limits.counters;
    bool well = true;
    f->lines = (coll_nic_line *)coll_i_nic_take(memory, o->lines, sizeof *f->lines);
    f->channels = (coll_nic_channel *)coll_i_nic_take(memory, o->channels, sizeof *f->channels);
    for (uint32_t i = 0; i < o->lines; i++) {
        coll_nic_memory own;
        own.used = 0;
        own.bytes = 0;
        own.at = NULL;
        (void)coll_i_nic_take(&own, ops, sizeof(coll_nic_op));
        (void)coll_i_nic_take(&own, 2 * (size_t)counters, sizeof(uint32_t));
        own.bytes = own.used;
        own.used = 0;
        own.at = coll_i_nic_take(memory, own.bytes, 1);
        well = well && own.at;
        if (!well)
            continue;
        f->lines[i].memory.at = own.at;
        f->lines[i].memory.bytes = own.bytes;
        f->lines[i].memory.used = 0;
    }
    for (uint32_t i = 0; i < o->channels; i++) {
        uint32_t *at = (uint32_t *)coll_i_nic_take(memory, counters, sizeof *at);
        uint8_t *states = (uint8_t *)coll_i_nic_take(memory, ops, sizeof *states);
        coll_nic_flight *flights =
            (coll_nic_flight *)coll_i_nic_take(memory, ops, sizeof *flights);
        well = well && f->lines && f->channels && at && states && flights;
        if (!well)
            continue;
        f->channels[i].counters = at;
        f->channels[i].states = states;
        f->channels[i].port.flights = flights;
    }
    return well;
}

/* Bytes of memory that a NIC of these options needs, aligned as of malloc; SIZE_MAX / 2: too many. */
COLL_INLINE size_t coll_nic_firmware_bytes(const coll_nic_firmware_options *options)
{
    coll_nic_firmware f;
    coll_nic_memory memory;
    memory.at = NULL;
    memory.bytes = memory.used = 0;
    (void)coll_i_nic_lay_out(&f, options, &memory);
    return memory.used;
}

/* ---- answers ----------------------------------------------------------------------------- */

/* Wakes the host if it asked for that, after what it is to see has been written. */
COLL_INLINE void coll_i_nic_wake(const coll_nic_firmware *f)
{
    COLL_NIC_WORD_FENCE();
    if (f->options->interrupt && coll_i_nic_word(&f->words[COLL_I_NIC_HEAD_ASLEEP]) != 0)
        f->options->interrupt(f->options->interrupt_ctx);
}

/* The tag of a channel, whatever use of it. */
COLL_INLINE uint32_t coll_i_nic_tag(const coll_nic_channel *c)
{
    return c->firmware->tag + c->use * c->firmware->options->channels + c->index;
}

/* Tells the host how a channel's call ended. One that fails closes the channel, on all ranks. */
COLL_INLINE void coll_i_nic_tell(coll_nic_channel *c, coll_status status,
                                 coll_nic_reason reason, bool runs)
{
    const coll_nic_firmware *f = c->firmware;
    const coll_failure *failure = f->options->transport->failure;
    if (status < 0 && runs) {
        if (!c->closed && failure->abort)
            failure->abort(f->options->ctx, coll_i_nic_tag(c), 1);
        c->closed = true;
    }
    coll_i_nic_word_set(coll_i_nic_answer(f->words, f->options->channels, c->index),
                        coll_i_nic_answer_word(status, reason, c->number));
    coll_i_nic_wake(f);
}

/* The call that a channel runs has ended. */
COLL_INLINE void coll_i_nic_finish(coll_nic_channel *c)
{
    coll_nic_firmware *f = c->firmware;
    c->running = c->working = false;
    f->running--;
    f->lines[c->line].users--;
    if (c->machine.status < 0)
        c->loads = 0; /* counters of the ranks do not agree any more */
    coll_i_nic_tell(c, c->machine.status, COLL_NIC_WHY_NOTHING, true);
}

/* ---- what the host does ------------------------------------------------------------------ */

/* One operation of a call at a time. */
COLL_INLINE coll_status coll_i_nic_ask_host(void *ctx, uint32_t op)
{
    coll_nic_channel *c = (coll_nic_channel *)ctx;
    coll_nic_firmware *f = c->firmware;
    if (c->working)
        return COLL_AGAIN;
    c->working = true;
    c->work_op = op;
    c->work = (c->work + 1) & 0xff;
    coll_i_nic_word_set(coll_i_nic_work(f->words, f->options->channels, c->index),
                        op | c->work << 24);
    coll_i_nic_wake(f);
    return COLL_STARTED;
}

COLL_INLINE void coll_i_nic_forget_work(void *ctx, uint32_t op)
{
    (void)op;
    ((coll_nic_channel *)ctx)->working = false;
}

/* The host has worked for a channel. */
COLL_INLINE void coll_i_nic_worked(coll_nic_channel *c, uint32_t number)
{
    if (!c->running || !c->working || (c->work & 127) != number) {
        c->firmware->strays++;
        return;
    }
    c->working = false;
    c->port.flying--;
    coll_nic_complete(&c->machine, c->work_op, COLL_OK);
}

/* ---- taking posts ------------------------------------------------------------------------ */

/* Begins the call of a post. */
COLL_INLINE void coll_i_nic_begin_call(coll_nic_channel *c, const coll_nic_post *post)
{
    coll_nic_firmware *f = c->firmware;
    const coll_transport *t = f->options->transport;
    const bool runs = (post->verb & COLL_NIC_RUN) != 0;
    const bool open = !runs || coll_i_nic_is_open(c);
    coll_nic_reason reason = COLL_NIC_WHY_NOTHING;
    c->number = (c->number + 1) & 0xffff;
    if (post->collective >= COLL_COLLECTIVES ||
        (post->op >= COLL_OPERATORS && post->op != COLL_NIC_NO_OPERATOR) ||
        (post->type >= COLL_TYPES && post->type != COLL_NIC_MOVED))
        reason = COLL_NIC_WHY_WORD;
    if (reason == COLL_NIC_WHY_NOTHING && (post->verb & COLL_NIC_LOAD) != 0)
        reason = coll_i_nic_load(c, post);
    if (reason == COLL_NIC_WHY_NOTHING && !open)
        reason = COLL_NIC_WHY_CLOSED;
    if (reason == COLL_NIC_WHY_NOTHING && runs)
        reason = coll_i_nic_prepare(c, post);
    if (reason != COLL_NIC_WHY_NOTHING || !runs) {
        coll_i_nic_tell(c, coll_nic_reason_status(reason), reason, runs);
        return;
    }
    c->port.tag = coll_i_nic_tag(c) + coll_i_use_step(t) * c->runs++;
    c->running = true;
    f->running++;
    f->lines[c->line].users++;
    coll_nic_port_run(&c->port, &c->machine, (coll_collective)post->collective);
    (void)coll_nic_start(&c->machine);
}

/* Takes a post. */
COLL_INLINE void coll_i_nic_take_post(coll_nic_firmware *f, uint32_t word)
{
    coll_nic_post post;
    coll_nic_channel *c;
    coll_nic_post_read(&post, word);
    c = post.channel < f->options->channels ? &f->channels[post.channel] : NULL;
    if (!c || post.verb == 0 || post.verb > COLL_NIC_WORKED ||
        (post.verb < COLL_NIC_GIVE_UP && c->running))
        f->strays++;
    else if (post.verb == COLL_NIC_WORKED)
        coll_i_nic_worked(c, post.line);
    else if (post.verb == COLL_NIC_GIVE_UP)
        (void)coll_nic_cancel(&c->machine, COLL_ERR_CANCELLED); /* if it runs */
    else
        coll_i_nic_begin_call(c, &post);
    coll_i_nic_word_set(&f->words[COLL_I_NIC_HEAD_STRAYS], f->strays);
}

/* ---- the loop ---------------------------------------------------------------------------- */

/* Takes what was posted, moves all calls on, and tells of those that have ended. COLL_OK: something happened;
 * COLL_AGAIN: nothing did. */
COLL_INLINE coll_status coll_nic_firmware_progress(coll_nic_firmware *f)
{
    const uint32_t bells = COLL_I_NIC_BELLS * f->options->channels;
    coll_status moved = COLL_AGAIN;
    for (uint32_t i = 0; i < bells; i++) {
        uint32_t *bell = coll_i_nic_bell(f->words, f->options->channels, f->taken);
        const uint32_t word = coll_i_nic_word(bell);
        if (word == 0)
            break;
        f->taken = (f->taken + 1) % bells;
        coll_i_nic_word_set(bell, 0);
        coll_i_nic_take_post(f, word);
        moved = COLL_OK;
    }
    for (uint32_t i = 0; f->running > 0 && i < f->options->channels; i++) {
        coll_nic_channel *c = &f->channels[i];
        uint32_t started;
        if (!c->running)
            continue;
        started = c->machine.started;
        if (coll_nic_port_poll(&c->port) == COLL_OK)
            moved = COLL_OK;
        if (coll_nic_progress(&c->machine) != COLL_AGAIN) {
            coll_i_nic_finish(c);
            moved = COLL_OK;
        } else if (c->machine.started != started) {
            moved = COLL_OK;
        }
    }
    if (moved == COLL_AGAIN && f->options->transport->progress) /* peers may need an answer */
        f->options->transport->progress(f->options->ctx);
    return moved;
}

/* Opens a NIC, and its queue for the host, in memory of the caller's, coll_nic_firmware_bytes of it, which stays
 * the NIC's as everything in the options does. All ranks of a transport do it in the same order, as with
 * communicators. COLL_ERR_CAPABILITY: the transport cannot cancel (failure); COLL_ERR_TAG: it has fewer
 * tags than there are channels; COLL_ERR_COUNTS: more channels, lines or operations than a post can name. */
COLL_INLINE coll_status coll_nic_firmware_open(coll_nic_firmware *f,
                                               const coll_nic_firmware_options *options,
                                               void *memory, size_t bytes)
{
    const coll_nic_firmware_options *o = options;
    coll_nic_memory all;
    coll_status status;
    uint32_t tags = 0;
    if (!f || !o || !memory || !o->words || !o->reach || (!o->ops && o->n_ops != 0))
        return COLL_ERR_NULL;
    if (o->channels == 0 || o->channels > COLL_NIC_CHANNELS_MOST || o->lines == 0 ||
        o->lines > COLL_NIC_LINES_MOST || o->limits.ops == 0 || o->limits.ops > 1 << 24 ||
        o->limits.counters >= COLL_NIC_NONE)
        return COLL_ERR_COUNTS;
    if (o->rank >= o->p)
        return COLL_ERR_RANK;
    status = coll_transport_check(o->transport);
    if (status != COLL_OK)
        return status;
    if (!o->transport->failure || !o->transport->failure->cancel)
        return COLL_ERR_CAPABILITY;
    all.at = memory;
    all.bytes = bytes;
    all.used = 0;
    if (!coll_i_nic_lay_out(f, o, &all))
        return COLL_ERR_MEMORY;
    f->tag = 0;
    f->claimed = o->transport->tag_ranges && o->transport->tag_ranges->claim;
    tags = o->transport->tags != 0 ? o->transport->tags : 1;
    if (f->claimed) {
        status = o->transport->tag_ranges->claim(o->ctx, &f->tag, &tags);
        if (status != COLL_OK)
            return status;
    }
    f->options = o;
    f->words = (uint32_t *)o->words;
    f->taken = f->running = f->strays = 0;
    f->uses = tags / o->channels;
    for (uint32_t i = 0; i < o->lines; i++) {
        f->lines[i].loads = f->lines[i].users = 0;
        f->lines[i].outline.collective = COLL_COLLECTIVES;
    }
    for (uint32_t i = 0; i < o->channels; i++) {
        coll_nic_channel *c = &f->channels[i];
        coll_nic_port_init(&c->port, o->transport, o->ctx, f->tag + i, c->port.flights);
        c->port.host = coll_i_nic_ask_host;
        c->port.forget = coll_i_nic_forget_work;
        c->port.host_ctx = c;
        c->machine.status = COLL_OK;
        c->firmware = f;
        c->index = i;
        c->line = c->loads = c->number = c->use = c->runs = c->work = c->work_op = 0;
        c->running = c->closed = c->working = false;
    }
    if (f->uses == 0) {
        if (f->claimed)
            o->transport->tag_ranges->unclaim(o->ctx, f->tag);
        return COLL_ERR_TAG;
    }
    for (size_t i = 0; i < COLL_NIC_QUEUE_BYTES(o->channels) / 4; i++)
        coll_i_nic_word_set(&f->words[i], 0);
    coll_i_nic_word_set(&f->words[COLL_I_NIC_HEAD_CHANNELS], o->channels);
    coll_i_nic_word_set(&f->words[COLL_I_NIC_HEAD_LINES], o->lines);
    coll_i_nic_word_set(&f->words[COLL_I_NIC_HEAD_OPS], o->limits.ops);
    coll_i_nic_word_set(&f->words[COLL_I_NIC_HEAD_COUNTERS], o->limits.counters);
    coll_i_nic_word_set(&f->words[COLL_I_NIC_HEAD_RECEIVES], o->limits.receives);
    coll_i_nic_word_set(&f->words[COLL_I_NIC_HEAD_RANKS], o->p);
    coll_i_nic_word_set(&f->words[COLL_I_NIC_HEAD_RANK], o->rank);
    coll_i_nic_word_set(&f->words[COLL_I_NIC_HEAD_MAGIC], COLL_I_NIC_MAGIC);
    return COLL_OK;
}

/* Ends all calls with COLL_ERR_CANCELLED, and gives the tags back. The transport stays open. */
COLL_INLINE void coll_nic_firmware_close(coll_nic_firmware *f)
{
    for (uint32_t i = 0; i < f->options->channels; i++)
        if (f->channels[i].running) {
            (void)coll_nic_cancel(&f->channels[i].machine, COLL_ERR_CANCELLED);
            coll_i_nic_finish(&f->channels[i]);
        }
    if (f->claimed)
        f->options->transport->tag_ranges->unclaim(f->options->ctx, f->tag);
    f->claimed = false;
}

#endif /* COLL_NIC_FIRMWARE_H */
