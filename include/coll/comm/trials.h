/* coll/comm/trials.h — problems that come again, their candidates, and what these take
 *
 * An entry waits, tries, and has settled or ended. What it does next depends on what all ranks know alone: the
 * calls that were made so far, and, after the trials, numbers that all ranks have from one allreduce.
 *
 * Use settle.h.
 */
#ifndef COLL_COMM_TRIALS_H
#define COLL_COMM_TRIALS_H

#include "request.h"

enum {
    COLL_SETTLE_MOST = 8,   /* candidates of a problem */
    COLL_SETTLE_REPEATS = 9 /* timed calls of a turn, at most */
};

/* How trials are made: the same on all ranks, but for the clock. */
typedef struct coll_settle_options {
    coll_clock clock; /* of this rank alone, in any unit; it never goes back */
    const coll_rule_list *alternatives; /* the caller's; NULL: the communicator's own rules */
    uint32_t after;                     /* calls before the first trial (2) */
    uint32_t repeats;                   /* timed calls of a turn (3) */
    uint32_t passes;                    /* turns of each candidate (3) */
    uint32_t gain;                      /* percent that another one must save (5) */
    uint32_t again; /* calls after which trials are repeated; 0: never (0) */
    bool rounding;  /* sums may be rounded differently from call to call (false) */
} coll_settle_options;

/* Where a problem is on its way. */
typedef enum coll_settle_state {
    COLL_SETTLE_FREE, /* the entry has no problem */
    COLL_SETTLE_WAITS,
    COLL_SETTLE_TRIES,
    COLL_SETTLE_SETTLED,
    COLL_SETTLE_ENDED /* by a failed call, or there is nothing to choose: the rules' choice stays */
} coll_settle_state;

/* A candidate, and what is known of it. */
typedef struct coll_settle_candidate {
    const coll_rule *rule;           /* NULL: what the communicator's rules choose */
    const coll_algorithm *algorithm; /* NULL: it was not tried yet */
    uint32_t param[COLL_PARAM_MAX];  /* of the algorithm */
    uint32_t
        number; /* from 1 on, of all that cover the problem; what was left out had one, too */
    uint64_t took; /* least median of a turn; once settled, the largest one of all ranks */
} coll_settle_candidate;

/* A problem. Read all but `key`. */
typedef struct coll_settle_entry {
    uint32_t key[5];                             /* what makes it this problem */
    coll_settle_state state;                     /* trials are to come, are made, are over */
    coll_settle_candidate one[COLL_SETTLE_MOST]; /* candidates … */
    uint32_t n;                                  /* … so many */
    uint32_t now;    /* the candidate that blocking calls take while it tries … */
    uint32_t chosen; /* … and the one that all take once it has settled */
    uint32_t pass;   /* turns of all that are over */
    uint32_t calls;  /* in this turn, or since it waits or has settled */
    uint64_t sample[COLL_SETTLE_REPEATS]; /* times of this turn, by size */
} coll_settle_entry;

/* All problems of a communicator. */
typedef struct coll_settle {
    coll_settle_options options; /* as they were given */
    const coll_rule_list *rules; /* of the communicator, for which the entries hold */
    coll_settle_entry *entries;  /* the caller's … */
    uint32_t n;                  /* … so many */
    const coll_settle_entry
        *runs;           /* whose candidate `now` the next call takes, whatever its state */
    coll_rule_list list; /* a candidate, then the rules */
} coll_settle;

/* The values in brackets, and no clock, which is to be set. */
COLL_INLINE void coll_settle_options_init(coll_settle_options *options)
{
    options->clock.now = NULL;
    options->clock.arg = NULL;
    options->alternatives = NULL;
    options->after = 2;
    options->repeats = 3;
    options->passes = 3;
    options->gain = 5;
    options->again = 0;
    options->rounding = false;
}

/* ---- problems ------------------------------------------------------------------------------- */

/* Bytes of about the same size are one class: their highest three bits. */
COLL_INLINE uint32_t coll_i_settle_class(size_t bytes)
{
    uint32_t shift = 0;
    while (bytes >= 8) {
        bytes >>= 1;
        shift++;
    }
    return shift << 3 | (uint32_t)bytes;
}

/* Writes what makes problems the same; false: such a call is not tried. Of what all ranks know
 * alone: a user's operators have numbers of each rank's own, and the root may work in place. */
COLL_INLINE bool coll_i_settle_key(const coll_comm *comm, const coll_args *args, uint32_t *key)
{
    const uint32_t known =
        COLL_BIT(COLL_BARRIER) | COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_REDUCE) |
        COLL_BIT(COLL_ALLREDUCE) | COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER) |
        COLL_BIT(COLL_ALLGATHER) | COLL_BIT(COLL_ALLTOALL) |
        COLL_BIT(COLL_REDUCE_SCATTER_BLOCK) | COLL_BIT(COLL_SCAN) | COLL_BIT(COLL_EXSCAN);
    const coll_collective it = args->collective;
    const bool rooted = (unsigned)it < COLL_COLLECTIVES && coll_is(COLL_ROOTED, it);
    size_t bytes;
    if ((unsigned)it >= COLL_COLLECTIVES || !coll_is(known, it) || comm->choice[it].algorithm ||
        comm->p < 2)
        return false;
    key[0] = (uint32_t)it | (!rooted && args->in == COLL_IN_PLACE ? 256u : 0u);
    key[1] = key[2] = key[3] = key[4] = 0;
    if (it == COLL_BARRIER)
        return true;
    if (!coll_multiply(args->count, coll_type_bytes(args->type), &bytes))
        return false;
    key[1] = args->type;
    key[2] = coll_is(COLL_REDUCING, it) ? args->op : 0;
    key[3] = rooted ? args->root : 0;
    key[4] = coll_i_settle_class(bytes);
    if (key[2] >= COLL_USER_OP) {
        coll_op op;
        if (coll_i_comm_user_op(comm, args->op, args->type, &op) != COLL_OK)
            return false;
        key[2] = COLL_USER_OP + (op.commutative ? 1u : 0u) + (op.exact ? 2u : 0u);
    }
    return true;
}

COLL_INLINE bool coll_i_settle_same(const coll_settle_entry *entry, const uint32_t *key)
{
    for (unsigned i = 0; i < 5; i++)
        if (entry->key[i] != key[i])
            return false;
    return true;
}

/* The entry of a call. `makes`: a new one, if it has none and there is a free one. NULL: it is not
 * tried. */
COLL_INLINE coll_settle_entry *coll_i_settle_find(coll_settle *settle, const coll_comm *comm,
                                                  const coll_args *args, bool makes)
{
    uint32_t key[5], at;
    if (settle->n == 0 || !coll_i_settle_key(comm, args, key))
        return NULL;
    if (settle->rules != comm->rules) { /* all that was found is of no use */
        for (uint32_t i = 0; i < settle->n; i++)
            settle->entries[i].state = COLL_SETTLE_FREE;
        settle->rules = comm->rules;
    }
    at = (key[0] + 3 * key[1] + 7 * key[2] + 11 * key[3] + 13 * key[4]) % settle->n;
    for (uint32_t i = 0; i < settle->n; i++) {
        coll_settle_entry *entry = &settle->entries[at];
        if (entry->state == COLL_SETTLE_FREE && makes) {
            for (unsigned k = 0; k < 5; k++)
                entry->key[k] = key[k];
            entry->state = COLL_SETTLE_WAITS;
            entry->n = entry->now = entry->chosen = entry->pass = entry->calls = 0;
            return entry;
        }
        if (entry->state == COLL_SETTLE_FREE)
            return NULL;
        if (coll_i_settle_same(entry, key))
            return entry;
        at = at + 1 < settle->n ? at + 1 : 0;
    }
    return NULL;
}

/* ---- candidates ----------------------------------------------------------------------------- */

/* Adds the rules of a list that cover the problem, until there is no room. */
COLL_INLINE void coll_i_settle_add(coll_settle_entry *entry, const coll_rule_list *lists,
                                   const coll_problem *problem,
                                   const coll_conditions *conditions)
{
    const size_t bytes = coll_problem_bytes(problem);
    for (; lists; lists = lists->next)
        for (size_t i = 0; i < lists->n && entry->n < COLL_SETTLE_MOST; i++) {
            const coll_rule *rule = &lists->rules[i];
            if (coll_i_rule_covers(rule, problem, bytes) &&
                coll_i_conditions_check(conditions, rule->algorithm->traits,
                                        problem->collective) == COLL_OK)
                entry->one[entry->n++].rule = rule;
        }
}

/* Finds the candidates; false: there is nothing to be tried. The same on all ranks. */
COLL_INLINE bool coll_i_settle_begin(const coll_settle *settle, coll_settle_entry *entry,
                                     const coll_comm *comm, const coll_args *args)
{
    const coll_rule_list *lists = settle->options.alternatives;
    coll_conditions conditions;
    coll_problem problem;
    coll_op op;
    if (coll_i_args_problem(comm, args, &problem) != COLL_OK ||
        coll_i_args_op(comm, args, &problem, &op) != COLL_OK)
        return false;
    if (coll_is(COLL_REDUCING, args->collective) && !op.exact && !settle->options.rounding)
        return false;
    conditions.requirements = COLL_GIVES_IDENTICAL;
    conditions.capabilities =
        coll_i_comm_capabilities(comm, args, &problem, coll_i_comm_shared(comm));
    entry->n = 1;
    entry->one[0].rule = NULL;
    coll_i_settle_add(entry, lists ? lists : comm->rules, &problem, &conditions);
    for (uint32_t i = 0; i < entry->n; i++) {
        entry->one[i].algorithm = NULL;
        entry->one[i].number = i;
        entry->one[i].took = UINT64_MAX;
    }
    entry->now = entry->pass = entry->calls = 0;
    entry->state = COLL_SETTLE_TRIES;
    return entry->n > 1;
}

/* Is this the same plan as that of an earlier candidate? Of composite ones, which may use different
 * algorithms inside, only the rules tell. */
COLL_INLINE bool coll_i_settle_repeats(const coll_settle_entry *entry, const coll_plan *plan)
{
    for (uint32_t i = 0; i < entry->now; i++) {
        const coll_settle_candidate *one = &entry->one[i];
        const char *a = one->algorithm->name, *b = plan->algorithm->name;
        bool same = (plan->algorithm->traits & COLL_NEEDS_BUILD) == 0 ||
                    one->rule == entry->one[entry->now].rule;
        while (*a && *a == *b) {
            a++;
            b++;
        }
        same = same && *a == *b;
        for (uint32_t k = 0; k < plan->algorithm->n_params; k++)
            same = same && one->param[k] == plan->param[k];
        if (same)
            return true;
    }
    return false;
}

/* In its first call it is seen what a candidate is. One that the problem refused, so that the rules
 * chose, or that was there before, is left out. */
COLL_INLINE void coll_i_settle_meet(coll_settle_entry *entry, const coll_plan *plan)
{
    coll_settle_candidate *one = &entry->one[entry->now];
    if (entry->pass == 0 && coll_i_settle_repeats(entry, plan)) {
        entry->n--;
        for (uint32_t i = entry->now; i < entry->n; i++) {
            entry->one[i].rule = entry->one[i + 1].rule;
            entry->one[i].number = entry->one[i + 1].number;
        }
        entry->calls = 0; /* of the next one, which is at its place */
        return;
    }
    one->algorithm = plan->algorithm;
    for (uint32_t k = 0; k < COLL_PARAM_MAX; k++)
        one->param[k] = k < plan->algorithm->n_params ? plan->param[k] : 0;
    entry->calls = 1;
}

/* ---- trials --------------------------------------------------------------------------------- */

/* Puts a time among those of this turn, by size. */
COLL_INLINE void coll_i_settle_time(coll_settle_entry *entry, uint64_t took)
{
    uint32_t i = entry->calls - 1;
    if (entry->calls == 0 || entry->calls > COLL_SETTLE_REPEATS)
        return; /* another call of the problem was made while this one ran */
    for (; i > 0 && entry->sample[i - 1] > took; i--)
        entry->sample[i] = entry->sample[i - 1];
    entry->sample[i] = took;
    entry->calls++;
}

/* The median of the turn counts if it is the least so far. */
COLL_INLINE void coll_i_settle_turn(coll_settle_entry *entry,
                                    const coll_settle_options *options)
{
    coll_settle_candidate *one = &entry->one[entry->now];
    const uint64_t median = entry->sample[(options->repeats - 1) / 2];
    one->took = median < one->took ? median : one->took;
}

/* Has all ranks know the largest time of each candidate, and choose by that. */
COLL_INLINE coll_status coll_i_settle_agree(coll_settle *settle, coll_settle_entry *entry,
                                            coll_comm *comm)
{
    uint64_t took[COLL_SETTLE_MOST], best;
    coll_request request;
    coll_status status;
    coll_args args;
    for (uint32_t i = 0; i < entry->n; i++)
        took[i] = entry->one[i].took;
    coll_i_reducing(&args, COLL_ALLREDUCE, COLL_IN_PLACE, took, entry->n, COLL_U64, COLL_MAX,
                    0);
    status = coll_post(comm, &args, &request);
    if (status == COLL_OK)
        status = coll_wait(&request);
    if (status != COLL_OK)
        return status;
    best = took[entry->chosen];
    best -= best / 100 * settle->options.gain + best % 100 * settle->options.gain / 100;
    for (uint32_t i = 0; i < entry->n; i++) {
        entry->one[i].took = took[i];
        if (took[i] < best) {
            best = took[i];
            entry->chosen = i;
        }
    }
    entry->state = COLL_SETTLE_SETTLED;
    entry->calls = 0;
    return COLL_OK;
}

/* A call of a candidate is over. */
COLL_INLINE void coll_i_settle_next(coll_settle_entry *entry,
                                    const coll_settle_options *options)
{
    if (entry->now < entry->n) {
        if (entry->calls <= options->repeats)
            return;
        coll_i_settle_turn(entry, options);
        entry->calls = 0;
        entry->now++;
    }
    if (entry->now < entry->n)
        return;
    entry->now = 0;
    entry->calls = 0;
    entry->pass++;
    if (entry->n == 1) /* all others turned out to be the same */
        entry->state = COLL_SETTLE_ENDED;
}

/* A blocking call of a problem whose candidates are tried. */
COLL_INLINE coll_status coll_i_settle_try(coll_settle *settle, coll_settle_entry *entry,
                                          coll_comm *comm, const coll_args *args)
{
    const coll_clock *clock = &settle->options.clock;
    const bool timed = entry->calls > 0;
    const uint64_t start = timed ? clock->now(clock->arg) : 0;
    coll_request request;
    coll_status status;
    settle->runs = entry;
    status = coll_post(comm, args, &request);
    settle->runs = NULL;
    if (status == COLL_OK && !timed)
        coll_i_settle_meet(entry, coll_request_plan(&request));
    if (status == COLL_OK)
        status = coll_wait(&request);
    if (status == COLL_OK && timed)
        coll_i_settle_time(entry, clock->now(clock->arg) - start);
    if (status == COLL_OK)
        coll_i_settle_next(entry, &settle->options);
    else if (status != COLL_ERR_BUSY) /* it was not made */
        entry->state = COLL_SETTLE_ENDED;
    return status;
}

#endif /* COLL_COMM_TRIALS_H */
