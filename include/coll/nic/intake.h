/* coll/nic/intake.h — what a NIC checks before it takes a program, or runs one
 *
 * Nothing that a host writes is trusted. A descriptor has its sum, against damage; what its program touches
 * is checked as it is read, each byte once, into the NIC's own memory. A call's buffers are where the host says it, as
 * long as its program needs them, and inside the memory that the NIC reaches. Use firmware.h.
 */
#ifndef COLL_NIC_INTAKE_H
#define COLL_NIC_INTAKE_H

#include "nic_descriptor.h"
#include "queue_words.h"
#include "transport_wire.h"

/* What a NIC has, and is. */
typedef struct coll_nic_firmware_options {
    uint32_t rank, p;                /* of the transport */
    uint32_t channels, lines;        /* calls at once, and programs that are kept */
    coll_nic_limits limits;          /* of a program: ops, counters, receives */
    const coll_transport *transport; /* with failure->cancel */
    void *ctx;                       /* the transport's */
    const coll_op *ops; /* predefined operators that it has, n_ops of them, the caller's */
    uint32_t n_ops;     /* see ops */
    void *words;        /* the queue: COLL_NIC_QUEUE_BYTES(channels), aligned to 4 */
    void *reach;        /* the host's memory … */
    size_t reach_bytes; /* … and how much of it */
    void (*interrupt)(void *interrupt_ctx); /* wakes a host that sleeps; NULL: it never does */
    void *interrupt_ctx;                    /* the interrupt's */
} coll_nic_firmware_options;

/* A program that is kept. */
typedef struct coll_nic_line {
    coll_nic_program program;
    coll_nic_outline outline; /* what it is of; COLL_COLLECTIVES: there is none */
    coll_nic_memory memory;   /* of the program */
    uint32_t loads;           /* programs that were here so far; 0: none is */
    uint32_t users;           /* calls that run it */
    bool reduces;             /* it needs an operator */
} coll_nic_line;

struct coll_nic_firmware;

/* A channel, and its call. */
typedef struct coll_nic_channel {
    coll_nic_machine machine;           /* that runs it … */
    coll_nic_port port;                 /* … and over what */
    struct coll_nic_firmware *firmware; /* its own */
    uint32_t *counters;                 /* of the machine */
    uint8_t *states;                    /* … likewise */
    uint32_t index;                     /* which channel */
    uint32_t line, loads;   /* which program the machine is open for; loads 0: none */
    uint32_t number;        /* of its last call */
    uint32_t use, runs;     /* and how many calls of this use have run */
    uint32_t work, work_op; /* number of the last work of the host, and its operation */
    bool running;           /* it has a call */
    bool closed;            /* one of this use has failed */
    bool working;           /* the host works for it */
} coll_nic_channel;

/* A NIC. */
typedef struct coll_nic_firmware {
    const coll_nic_firmware_options *options; /* the caller's, unchanged while it is open */
    coll_nic_line *lines;                     /* options->lines of them */
    coll_nic_channel *channels;               /* options->channels of them */
    uint32_t *words;                          /* the queue */
    uint32_t taken;                           /* posts so far */
    uint32_t running;                         /* calls */
    uint32_t tag, uses; /* of the first channel; how often channels may be opened */
    uint32_t strays;    /* posts that nobody could be told of */
    bool claimed;       /* tags are */
} coll_nic_firmware;

/* ---- what a post names ------------------------------------------------------------------- */

/* A buffer, or a descriptor, that the host has named. */
typedef struct coll_i_nic_area {
    unsigned char *at; /* NULL: it has 0 bytes, or is not in the memory that the NIC reaches */
    size_t bytes;
} coll_i_nic_area;

COLL_INLINE void coll_i_nic_read_area(const coll_nic_channel *c, uint32_t area,
                                      coll_i_nic_area *found)
{
    const coll_nic_firmware_options *o = c->firmware->options;
    const uint32_t *words = coll_i_nic_record(c->firmware->words, o->channels, c->index) +
                            COLL_I_NIC_RECORD_AREAS + 4 * area;
    const uint64_t at = coll_i_nic_word(&words[0]) | (uint64_t)coll_i_nic_word(&words[1]) << 32;
    const uint64_t n = coll_i_nic_word(&words[2]) | (uint64_t)coll_i_nic_word(&words[3]) << 32;
    found->at = NULL;
    found->bytes = 0;
    if (n == 0 || at > o->reach_bytes || n > o->reach_bytes - at)
        return;
    found->at = (unsigned char *)o->reach + (size_t)at;
    found->bytes = (size_t)n;
}

/* Can the NIC run a program that it has unpacked? */
COLL_INLINE coll_nic_reason coll_i_nic_inspect(const coll_nic_firmware *f, coll_nic_line *line)
{
    const coll_nic_program *program = &line->program;
    line->reduces = false;
    if (program->rank != f->options->rank)
        return COLL_NIC_WHY_RANK;
    if (coll_nic_refusal(&program->needs, &f->options->limits))
        return COLL_NIC_WHY_SIZE;
    for (uint32_t i = 0; i < program->needs.ops; i++) {
        const coll_nic_op *op = &program->ops[i];
        if ((op->kind == COLL_NIC_SEND || op->kind == COLL_NIC_RECV) &&
            op->peer == f->options->rank)
            return COLL_NIC_WHY_PROGRAM;
        if (op->kind == COLL_NIC_NETWORK)
            return COLL_NIC_WHY_NETWORKS;
        if (op->kind == COLL_NIC_SIGNAL)
            return COLL_NIC_WHY_SIGNALS;
        if (op->kind == COLL_NIC_REDUCE)
            line->reduces = true;
    }
    return program->signals != 0 ? COLL_NIC_WHY_SIGNALS : COLL_NIC_WHY_NOTHING;
}

/* Puts the channel's descriptor into a line. */
COLL_INLINE coll_nic_reason coll_i_nic_load(const coll_nic_channel *c,
                                            const coll_nic_post *post)
{
    coll_nic_firmware *f = c->firmware;
    coll_nic_line *line;
    coll_i_nic_area descriptor;
    coll_nic_reason reason;
    coll_status status;
    if (post->line >= f->options->lines)
        return COLL_NIC_WHY_LINE;
    line = &f->lines[post->line];
    if (line->users > 0)
        return COLL_NIC_WHY_IN_USE;
    coll_i_nic_read_area(c, COLL_I_NIC_AREA_DESCRIPTOR, &descriptor);
    if (!descriptor.at)
        return COLL_NIC_WHY_BUFFER;
    line->outline.collective = COLL_COLLECTIVES; /* what was here is gone */
    status = coll_nic_undescribe(&line->program, &line->outline, descriptor.at,
                                 descriptor.bytes, f->options->p, &line->memory);
    reason = status == COLL_OK           ? coll_i_nic_inspect(f, line)
             : status == COLL_ERR_MEMORY ? COLL_NIC_WHY_SIZE
             : line->outline.collective != COLL_COLLECTIVES
                 ? COLL_NIC_WHY_PROGRAM /* the sum is right */
                 : COLL_NIC_WHY_DESCRIPTOR;
    if (reason != COLL_NIC_WHY_NOTHING)
        line->outline.collective = COLL_COLLECTIVES;
    line->loads++;
    return reason;
}

/* Sets a space of the channel's machine. False: it is not all there. */
COLL_INLINE bool coll_i_nic_aim(coll_nic_channel *c, coll_space space, size_t elements)
{
    coll_nic_machine *m = &c->machine;
    coll_i_nic_area area;
    const size_t lowest = m->elem_bytes & (0 - m->elem_bytes), align = lowest < 8 ? lowest : 8;
    size_t bytes;
    coll_i_nic_read_area(c, (uint32_t)space, &area);
    if (!coll_multiply(elements, m->elem_bytes, &bytes) || bytes > area.bytes ||
        ((uintptr_t)area.at & (align - 1)) != 0)
        return false;
    if (space == COLL_IN)
        m->in = area.at;
    else if (space == COLL_OUT)
        m->out = area.at;
    else
        m->scratch = area.at;
    return true;
}

/* Are these bytes and those apart? */
COLL_INLINE bool coll_i_nic_apart(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return a_bytes == 0 || b_bytes == 0 || x + a_bytes <= y || y + b_bytes <= x;
}

/* Do the buffers of a channel's machine not overlap, as far as its program uses them? */
COLL_INLINE bool coll_i_nic_are_apart(const coll_nic_machine *m, const coll_nic_line *line)
{
    const size_t in = line->outline.extent[COLL_IN] * m->elem_bytes,
                 out = line->outline.extent[COLL_OUT] * m->elem_bytes,
                 scratch = line->outline.extent[COLL_SCRATCH] * m->elem_bytes;
    return coll_i_nic_apart(m->in, in, m->out, out) &&
           coll_i_nic_apart(m->in, in, m->scratch, scratch) &&
           coll_i_nic_apart(m->out, out, m->scratch, scratch);
}

/* The operator of a post, or NULL. */
COLL_INLINE const coll_op *coll_i_nic_find_op(const coll_nic_firmware_options *o,
                                              const coll_nic_post *post)
{
    for (uint32_t i = 0; i < o->n_ops; i++) {
        coll_operator number;
        coll_type type;
        if (coll_op_predefined(&o->ops[i], &number, &type) && number == post->op &&
            type == post->type)
            return &o->ops[i];
    }
    return NULL;
}

/* Has a channel the use that its host names, and is it open? Before all else that is checked of a call: what is
 * refused then closes this use, and not the one before. */
COLL_INLINE bool coll_i_nic_is_open(coll_nic_channel *c)
{
    const coll_nic_firmware *f = c->firmware;
    const uint32_t use = coll_i_nic_word(
        coll_i_nic_record(f->words, f->options->channels, c->index) + COLL_I_NIC_RECORD_USE);
    if (use < c->use || use >= f->uses)
        return false;
    if (use > c->use) {
        c->use = use;
        c->runs = 0;
        c->closed = false;
        c->loads = 0;
    }
    return !c->closed;
}

/* Makes the machine of a channel, which is open, ready for a call. */
COLL_INLINE coll_nic_reason coll_i_nic_prepare(coll_nic_channel *c, const coll_nic_post *post)
{
    const coll_nic_firmware *f = c->firmware;
    const coll_nic_line *line;
    coll_nic_machine *m = &c->machine;
    const uint32_t *record = coll_i_nic_record(f->words, f->options->channels, c->index);
    const size_t elem_bytes = coll_i_nic_word(&record[COLL_I_NIC_RECORD_ELEM_BYTES]);
    const coll_op *op = coll_i_nic_find_op(f->options, post);
    if (post->line >= f->options->lines)
        return COLL_NIC_WHY_LINE;
    line = &f->lines[post->line];
    if (line->loads == 0 || line->outline.collective == COLL_COLLECTIVES)
        return COLL_NIC_WHY_EMPTY;
    if ((uint32_t)line->outline.collective != post->collective)
        return COLL_NIC_WHY_COLLECTIVE;
    if (elem_bytes == 0 ||
        (post->type < COLL_TYPES && coll_type_bytes(post->type) != elem_bytes))
        return COLL_NIC_WHY_TYPE;
    if (line->reduces && !op)
        return COLL_NIC_WHY_OPERATOR;
    if (c->loads == 0 || c->line != post->line || c->loads != line->loads) {
        (void)coll_nic_open(m, &line->program, &coll_nic_over_transport, &c->port, c->counters,
                            c->states);
        c->line = post->line;
        c->loads = line->loads;
    }
    m->op = op;
    m->elem_bytes = elem_bytes;
    for (int space = COLL_IN; space <= COLL_SCRATCH; space++)
        if (!coll_i_nic_aim(c, (coll_space)space, line->outline.extent[space]))
            return COLL_NIC_WHY_BUFFER;
    return coll_i_nic_are_apart(m, line) ? COLL_NIC_WHY_NOTHING : COLL_NIC_WHY_BUFFER;
}

#endif /* COLL_NIC_INTAKE_H */
