/* mpi/layer/again.h — the direct way: calls that block and were made before
 *
 * A short call takes little longer than the messages of which it is made, so what the layer does
 * around them counts by the instruction. A call that blocks and was made before, with other buffers
 * at most, needs nearly nothing: it is recognised in the entry itself, where most of what is
 * compared is in registers, and the job that was made of it then, which lies ready, is started
 * (job_rush in jobs.c). If all that it does is over at once, as it is where the library may wait
 * for short messages, that was it: it was never held, counted or listed. If not, it is a job like
 * others from there on.
 */
#ifndef COLL_LAYER_AGAIN_H
#define COLL_LAYER_AGAIN_H

#include "layer.h"

/* Calls are remembered in sets, as caches do: some that share one are kept beside each other. */
enum {
    SETS_BITS = 2,
    IN_A_SET = 4,
    REMEMBERED = IN_A_SET << SETS_BITS,
    WRITTEN = 16,
    TABLES = 6
};

struct repeats {
    uint64_t key[REMEMBERED]; /* of the calls; where there is none, `filled` says so */
    unsigned char next[1 << SETS_BITS]; /* which of each set gives way next */
    struct repeat {
        struct call call; /* but for its buffers */
        bool in_in_place, out_in_place, filled, checked;
        bool fits[2];         /* calls that block, and others: their plans may differ */
        uint32_t n_in, n_out; /* blocks of what this rank has */
        bool has_in, has_out; /* data; and the library refuses a call without it: */
        bool in_needed, out_needed;
        ptrdiff_t in_low, out_low; /* where the data begins, from the buffers on */
        struct table {
            size_t which, bytes; /* in tables_of; of its entries */
        } table[TABLES];         /* of the program's: n_tables, … */
        uint32_t n_tables;
        void *copies;             /* … one behind the other; NULL: it has none */
        void *tables, *workspace; /* that the plan uses; of the pool */
        coll_prepared prepared;
        uint32_t rank; /* this one's number in its plan */
        bool quick; /* all of its messages are short; what this rank does is written out … */
        coll_action actions[WRITTEN]; /* … as it is at most so many actions */
        size_t bytes;                 /* that the program sees, for the report */
        struct job *idle; /* made of such a call, has run, and is ready again; or NULL */
    } call[REMEMBERED];
};

/* Writes where the program's tables lie, NULL where it has none. */
COLL_HOT_INLINE void tables_of(const struct call *call, const void *at[TABLES])
{
    at[0] = call->in.counts;
    at[1] = call->in.displs;
    at[2] = call->in.types;
    at[3] = call->out.counts;
    at[4] = call->out.displs;
    at[5] = call->out.types;
}

/* Are the tables, as of tables_of, what they were? It is not given the call, which would have to be
 * in memory then, whether it has tables or not. */
bool repeat_same_tables(const void *const at[TABLES], const struct repeat *repeat);

/* Names a call, but for its tables' contents; few others have the same, and they take each other's
 * place. The upper bits name its set: multiples of the golden ratio, which is what is added for its
 * root, spread the roots of calls in a row evenly over the sets. */
COLL_HOT_INLINE uint64_t repeat_key(const struct call *call)
{
    const uintptr_t type = (uintptr_t)call->in.type, op = (uintptr_t)call->op,
                    counts = (uintptr_t)call->in.counts + 2 * (uintptr_t)call->out.counts;
    const uint64_t sizes = (uint64_t)call->in.count + 3 * (uint64_t)call->out.count;
    const uint64_t mixed = type + op + counts + sizes * 0xD6E8FEB86659FD93u +
                           (uint64_t)call->root + ((uint64_t)call->what << 8);
    return mixed * 0x9E3779B97F4A7C15u;
}

/* The first of a call's set. */
COLL_HOT_INLINE uint32_t repeat_set(uint64_t key)
{
    return (uint32_t)(key >> (64 - SETS_BITS)) * IN_A_SET;
}

/* Where a call of this key is remembered; NULL: nowhere. */
COLL_HOT_INLINE struct repeat *repeat_find(struct repeats *repeats, uint64_t key)
{
    const uint32_t set = repeat_set(key);
    for (uint32_t i = set; i < set + IN_A_SET; i++)
        if (repeats->key[i] == key)
            return &repeats->call[i];
    return NULL;
}

/* Where a call of this key is to be remembered, in place of one that was before; NULL: all that could
 * give way are in use. */
static inline struct repeat *repeat_room(struct repeats *repeats, uint64_t key)
{
    const uint32_t set = repeat_set(key);
    unsigned char *next = &repeats->next[set / IN_A_SET];
    struct repeat *repeat = repeat_find(repeats, key);
    for (uint32_t i = 0; !repeat && i < IN_A_SET; i++) {
        const uint32_t at = set + (*next)++ % IN_A_SET;
        if (repeats->call[at].prepared.users == 0) {
            repeats->key[at] = key;
            repeat = &repeats->call[at];
        }
    }
    return repeat && repeat->prepared.users == 0 ? repeat : NULL;
}

/* It mostly is, so all is compared, in one run of instructions, rather than left at the first
 * difference. Buffers that the library may refuse are looked at again. `wide` comes last: beside
 * `what` the compiler reads both at once, and the processor waits then, as the call's were written
 * one after the other just before. */
COLL_HOT_INLINE bool repeat_same(const struct repeat *repeat, const struct call *call)
{
    const struct call *of = &repeat->call;
    const bool in_in_place = call->in.buf == MPI_IN_PLACE,
               out_in_place = call->out.buf == MPI_IN_PLACE;
    uint64_t differ = (uint64_t)of->what ^ (uint64_t)call->what;
    differ |= (uint64_t)(of->in.count ^ call->in.count);
    differ |= (uint64_t)(of->out.count ^ call->out.count);
    differ |= (uintptr_t)of->in.type ^ (uintptr_t)call->in.type;
    differ |= (uintptr_t)of->out.type ^ (uintptr_t)call->out.type;
    differ |= (uintptr_t)of->op ^ (uintptr_t)call->op;
    differ |= (uint64_t)(of->root ^ call->root);
    differ |= (uintptr_t)of->in.counts ^ (uintptr_t)call->in.counts;
    differ |= (uintptr_t)of->out.counts ^ (uintptr_t)call->out.counts;
    differ |= (uint64_t)(repeat->in_in_place ^ in_in_place);
    differ |= (uint64_t)(repeat->out_in_place ^ out_in_place);
    differ |= (uint64_t)(repeat->in_needed & (!call->in.buf | (call->in.buf == call->out.buf)));
    differ |= (uint64_t)(repeat->out_needed & !call->out.buf);
    differ |= (uint64_t)(of->wide ^ call->wide);
    return differ == 0;
}

/* Is this the call that is remembered? */
COLL_HOT_INLINE bool repeat_is(const struct repeat *repeat, const struct call *call)
{
    const void *at[TABLES];
    tables_of(call, at);
    return COLL_LIKELY(repeat_same(repeat, call)) &&
           (!repeat->copies || COLL_LIKELY(repeat_same_tables(at, repeat)));
}

/* Gives a job the buffers of this call. */
COLL_HOT_INLINE void repeat_point(struct job *job, const struct repeat *repeat,
                                  const struct call *call)
{
    job->run.in = repeat->has_in ? (const char *)call->in.buf + repeat->in_low : NULL;
    job->run.out = repeat->has_out ? (char *)(uintptr_t)call->out.buf + repeat->out_low : NULL;
}

/* The idle job of a call that was made before, ready for job_rush; NULL: there is none, or there are
 * threads. */
COLL_HOT_INLINE struct job *job_again(const struct call *call)
{
    const struct comm *comm;
    const struct repeat *repeat;
    struct job *job;
    if (!COLL_LIKELY(!settings.threads))
        return NULL;
    comm = comm_last;
    if (!COLL_LIKELY(comm && comm->handle == call->comm && comm->repeats))
        return NULL;
    repeat = repeat_find(comm->repeats, repeat_key(call));
    job = repeat ? repeat->idle : NULL;
    if (!COLL_LIKELY(job && repeat->fits[0] && repeat_is(repeat, call)))
        return NULL;
    repeat_point(job, repeat, call);
    return job;
}

#endif /* COLL_LAYER_AGAIN_H */
