/* tests/support/msccl_run.h — an executor of MSCCL programs on data, in any order that is allowed
 *
 * It does what the executors' kernel does: the steps of a block one after the other, each after
 * the flags of the blocks that it waits for have come so far; a flag moves at awaited steps alone,
 * and reductions to one place that follow each other are one step, as the parser has it. A
 * connection holds so many chunks, or so many messages. Which block moves is drawn at random, and
 * each step spoils what it writes when it begins, so that a missing dependence shows.
 */
#ifndef COLL_TESTS_EXPORT_MSCCL_RUN_H
#define COLL_TESTS_EXPORT_MSCCL_RUN_H

#include "exported.h"
#include "msccl_xml.h"

/* A step of the kernel: with all that the parser took for one. */
typedef struct run_step {
    xml_step of;
    int sources[64], n_sources; /* of a reduction */
    int waits[64], n_waits;     /* pairs: a block, a step */
    int number;                 /* what its flag says: the last of the steps that it is */
} run_step;

typedef struct run_block {
    run_step *steps;
    int n, at, moved; /* the step that runs, and how many chunks of it are over */
    bool began;
    int flag;        /* the last awaited step that has ended, or −1 */
    uint64_t *early; /* what the step's source held when it began, or NULL */
} run_block;

typedef struct run_connection {
    uint64_t *data; /* all that was ever sent */
    int sent, received, messages_sent, messages_received;
} run_connection;

typedef struct run {
    const xml_algo *algo;
    run_block **blocks;          /* of each GPU */
    uint64_t **memory;           /* 3 of each GPU */
    run_connection *connections; /* p × p × channels */
    int per;                     /* elements of a chunk */
    int room;                    /* chunks of a connection; negative: messages */
    coll_combine combine;
    uint64_t seed;
    /* A step that comes last, and one of the same GPU that comes before it, when nothing else can
     * move or, eager, as soon as it may. held_gpu −1: none. */
    int held_gpu, held_block, held_step, younger_block, younger_step;
    bool eager, held_begins; /* the held step begins before it is held */
    bool wrong;
} run;

/* ---- as the parser has it ---------------------------------------------------------------- */

static inline void run_block_make(run_block *to, const xml_block *from)
{
    int buffer = -1, place = -1, source = -1, reductions = 0;
    to->steps = (run_step *)calloc((size_t)from->n, sizeof *to->steps);
    to->n = 0;
    for (int s = 0; s < from->n; s++) {
        const xml_step *step = &from->steps[s];
        run_step *now = &to->steps[to->n];
        bool goes_on = false;
        if (step->type == XML_RE) {
            goes_on = buffer == step->dst_buffer && place == step->dst &&
                      source == step->src_buffer && step->block < 0;
            if (!goes_on)
                buffer = place = -1;
        }
        if (goes_on)
            now = &to->steps[--to->n];
        if (step->block >= 0) {
            now->waits[2 * now->n_waits] = step->block;
            now->waits[2 * now->n_waits++ + 1] = step->after;
        }
        if (step->type == XML_NOP)
            continue;
        now->of = *step;
        now->number = s;
        if (step->type != XML_RE) {
            buffer = place = source = -1;
        } else {
            now->sources[now->n_sources++] = step->src;
            reductions++;
            if (step->awaited || reductions == 16) {
                buffer = place = -1;
            } else {
                buffer = step->dst_buffer;
                place = step->dst;
                source = step->src_buffer;
            }
        }
        to->n++;
    }
}

static inline void run_init(run *r, const xml_algo *algo, int per)
{
    const size_t p = (size_t)algo->p;
    memset(r, 0, sizeof *r);
    r->algo = algo;
    r->per = per;
    r->held_gpu = -1;
    r->blocks = (run_block **)calloc(p, sizeof *r->blocks);
    r->memory = (uint64_t **)calloc(3 * p, sizeof *r->memory);
    r->connections =
        (run_connection *)calloc(p * p * (size_t)algo->channels, sizeof *r->connections);
    for (int g = 0; g < algo->p; g++) {
        const xml_gpu *gpu = &algo->gpus[g];
        r->blocks[g] = (run_block *)calloc((size_t)gpu->n + 1, sizeof **r->blocks);
        for (int b = 0; b < gpu->n; b++)
            run_block_make(&r->blocks[g][b], &gpu->blocks[b]);
        for (int m = 0; m < 3; m++)
            r->memory[3 * g + m] =
                (uint64_t *)calloc((size_t)(gpu->chunks[m] * per + 1), sizeof(uint64_t));
    }
}

static inline void run_clear(run *r)
{
    const int n = r->algo->p * r->algo->p * r->algo->channels;
    for (int i = 0; i < n; i++)
        free(r->connections[i].data);
    memset(r->connections, 0, (size_t)n * sizeof *r->connections);
    for (int g = 0; g < r->algo->p; g++)
        for (int b = 0; b < r->algo->gpus[g].n; b++) {
            run_block *block = &r->blocks[g][b];
            free(block->early);
            block->early = NULL;
            block->at = block->moved = 0;
            block->began = false;
            block->flag = -1;
        }
}

static inline void run_free(run *r)
{
    run_clear(r);
    for (int g = 0; g < r->algo->p; g++) {
        for (int b = 0; b < r->algo->gpus[g].n; b++)
            free(r->blocks[g][b].steps);
        free(r->blocks[g]);
        for (int m = 0; m < 3; m++)
            free(r->memory[3 * g + m]);
    }
    free(r->blocks);
    free(r->memory);
    free(r->connections);
}

/* ---- a step ------------------------------------------------------------------------------ */

static inline uint64_t *run_at(run *r, int gpu, int buffer, int chunk)
{
    return r->memory[3 * gpu + buffer] + (size_t)(chunk * r->per);
}

static inline run_connection *run_connection_of(run *r, int from, int to, int channel)
{
    return &r->connections[(from * r->algo->p + to) * r->algo->channels + channel];
}

static inline bool run_reads(int type)
{
    return type != XML_R && type != XML_RCS;
}

static inline bool run_writes(int type)
{
    return type != XML_S && type != XML_RRS;
}

static inline bool run_receives(int type)
{
    return type >= XML_R && type <= XML_RRCS;
}

static inline bool run_sends(int type)
{
    return type == XML_S || type == XML_RCS || type == XML_RRS || type == XML_RRCS;
}

/* May the step begin: have the flags come so far? */
static inline bool run_may_begin(const run *r, int gpu, const run_step *step)
{
    for (int i = 0; i < step->n_waits; i++)
        if (r->blocks[gpu][step->waits[2 * i]].flag < step->waits[2 * i + 1])
            return false;
    return true;
}

/* The source is read now or chunk by chunk, and what is to be written is spoiled. */
static inline void run_begin(run *r, int gpu, run_block *block, const run_step *step)
{
    const xml_step *x = &step->of;
    const size_t elements = (size_t)(x->count * r->per);
    const bool same = x->type == XML_RE || (x->src_buffer == x->dst_buffer && x->src == x->dst);
    block->began = true;
    if (run_reads(x->type) && x->type != XML_RE && chance_of(&r->seed, 2)) {
        block->early = (uint64_t *)malloc((elements + 1) * sizeof(uint64_t));
        memcpy(block->early, run_at(r, gpu, x->src_buffer, x->src),
               elements * sizeof(uint64_t));
    }
    if (!run_writes(x->type) || (same && !block->early))
        return;
    for (size_t i = 0; i < elements; i++)
        run_at(r, gpu, x->dst_buffer, x->dst)[i] = RIG_POISON ^ chance_bits(&r->seed);
}

/* Is there a chunk to receive, and room for one to send? */
static inline bool run_may_move(run *r, int gpu, const xml_block *of, const run_block *block,
                                const xml_step *x)
{
    if (run_receives(x->type)) {
        const run_connection *c = run_connection_of(r, of->recv, gpu, of->channel);
        if (c->received == c->sent)
            return false;
    }
    if (run_sends(x->type)) {
        const run_connection *c = run_connection_of(r, gpu, of->send, of->channel);
        if (r->room > 0
                ? c->sent - c->received >= r->room
                : block->moved == 0 && c->messages_sent - c->messages_received >= -r->room)
            return false;
    }
    return true;
}

/* The next chunk of a step. */
static inline void run_move(run *r, int gpu, const xml_block *of, run_block *block,
                            const run_step *step)
{
    const xml_step *x = &step->of;
    const size_t per = (size_t)r->per, bytes = per * sizeof(uint64_t);
    const int k = block->moved;
    uint64_t *value = (uint64_t *)malloc(bytes), *dst = NULL;
    if (run_writes(x->type))
        dst = run_at(r, gpu, x->dst_buffer, x->dst + k);
    if (run_receives(x->type)) {
        run_connection *c = run_connection_of(r, of->recv, gpu, of->channel);
        memcpy(value, c->data + (size_t)c->received++ * per, bytes);
        c->messages_received += k + 1 == x->count;
    }
    if (run_reads(x->type)) {
        const uint64_t *src = block->early ? block->early + (size_t)k * per
                                           : run_at(r, gpu, x->src_buffer, x->src + k);
        if (run_receives(x->type))
            r->combine(value, src, value, per, NULL);
        else
            memcpy(value, src, bytes);
    }
    if (x->type == XML_RE) {
        memcpy(value, dst, bytes);
        for (int i = 0; i < step->n_sources; i++)
            r->combine(value, value, run_at(r, gpu, x->src_buffer, step->sources[i] + k), per,
                       NULL);
    }
    if (dst)
        memcpy(dst, value, bytes);
    if (run_sends(x->type)) {
        run_connection *c = run_connection_of(r, gpu, of->send, of->channel);
        c->data = (uint64_t *)realloc(c->data, ((size_t)c->sent + 1) * bytes);
        memcpy(c->data + (size_t)c->sent++ * per, value, bytes);
        c->messages_sent += k == 0;
    }
    free(value);
    block->moved++;
}

/* Moves a block by a little; false: it has to wait, or is over. */
static inline bool run_any_of(run *r, int gpu, int b)
{
    run_block *block = &r->blocks[gpu][b];
    const xml_block *of = &r->algo->gpus[gpu].blocks[b];
    const run_step *step = &block->steps[block->at];
    if (block->at == block->n)
        return false;
    if (!block->began) {
        if (!run_may_begin(r, gpu, step))
            return false;
        run_begin(r, gpu, block, step);
        return true;
    }
    if (!run_may_move(r, gpu, of, block, &step->of))
        return false;
    run_move(r, gpu, of, block, step);
    if (block->moved < step->of.count)
        return true;
    if (step->of.awaited)
        block->flag = step->number;
    free(block->early);
    block->early = NULL;
    block->began = false;
    block->moved = 0;
    block->at++;
    return true;
}

/* ---- running ----------------------------------------------------------------------------- */

/* Has a block come to a step, of which nothing has moved? */
static inline bool run_is_before(const run *r, int gpu, int b, int step)
{
    const run_block *block = &r->blocks[gpu][b];
    return block->at < block->n && block->steps[block->at].number >= step && block->moved == 0;
}

static inline bool run_holds(const run *r, int gpu, int b)
{
    return gpu == r->held_gpu &&
           ((b == r->held_block && run_is_before(r, gpu, b, r->held_step) &&
             (r->blocks[gpu][b].began || !r->held_begins)) ||
            (b == r->younger_block && run_is_before(r, gpu, b, r->younger_step)));
}

static inline bool run_any(run *r)
{
    const int p = r->algo->p;
    const int first = (int)chance_of(&r->seed, (uint32_t)p);
    if (r->held_gpu >= 0 && r->eager &&
        run_is_before(r, r->held_gpu, r->younger_block, r->younger_step) &&
        run_any_of(r, r->held_gpu, r->younger_block))
        return true;
    for (int k = 0; k < p; k++) {
        const int gpu = (first + k) % p, n = r->algo->gpus[gpu].n;
        const int from = (int)chance_of(&r->seed, (uint32_t)n);
        for (int b = 0; b < n; b++)
            if (!run_holds(r, gpu, (from + b) % n) && run_any_of(r, gpu, (from + b) % n))
                return true;
    }
    return r->held_gpu >= 0 && (run_any_of(r, r->held_gpu, r->younger_block) ||
                                run_any_of(r, r->held_gpu, r->held_block));
}

/* Runs to the end, `loops` times as for large data; false: the blocks wait for each other, or
 * chunks are left over. */
static inline bool run_all(run *r)
{
    bool all = true;
    run_clear(r);
    for (int g = 0; g < r->algo->p; g++)
        for (int i = 0; i < r->algo->gpus[g].chunks[2] * r->per; i++)
            r->memory[3 * g + 2][i] = RIG_POISON ^ chance_bits(&r->seed);
    while (run_any(r))
        ;
    for (int g = 0; g < r->algo->p; g++)
        for (int b = 0; b < r->algo->gpus[g].n; b++)
            all = all && r->blocks[g][b].at == r->blocks[g][b].n;
    for (int i = 0; i < r->algo->p * r->algo->p * r->algo->channels; i++)
        all = all && r->connections[i].sent == r->connections[i].received;
    return all;
}

/* Runs on a rig's data; is the result right? */
static inline bool run_rig(run *r, rig *it)
{
    bool well;
    rig_fill(it);
    r->combine = it->op.combine;
    for (uint32_t rank = 0; rank < it->p; rank++) {
        const rig_rank *me = &it->ranks[rank];
        const xml_gpu *gpu = &r->algo->gpus[rank];
        const size_t in = (size_t)(gpu->chunks[0] * r->per),
                     out = (size_t)(gpu->chunks[1] * r->per);
        if (me->in.count > in || me->out.count > out)
            return false;
        if (me->in.count)
            memcpy(r->memory[3 * rank], me->in.raw + RIG_GUARD, me->in.count * 8);
        if (me->out.count)
            memcpy(r->memory[3 * rank + 1], me->out.raw + RIG_GUARD, me->out.count * 8);
    }
    well = run_all(r);
    for (uint32_t rank = 0; rank < it->p && well; rank++) {
        const rig_rank *me = &it->ranks[rank];
        if (me->in.count)
            memcpy(me->in.raw + RIG_GUARD, r->memory[3 * rank], me->in.count * 8);
        if (me->out.count)
            memcpy(me->out.raw + RIG_GUARD, r->memory[3 * rank + 1], me->out.count * 8);
    }
    return well && rig_right(it);
}

#endif /* COLL_TESTS_EXPORT_MSCCL_RUN_H */
