/* coll/comm/communicator.h — who talks: ranks, tags, scratch memory, operators of one rank's
 * communicator
 *
 *   coll_comm comm;
 *   coll_comm_init(&comm, &my_transport, my_context, rank, p, memory, sizeof memory);
 *   coll_comm_set_cache(&comm, cache, sizeof cache);   // of COLL_CACHE_BYTES(n); or none
 *   … comm.h …
 *   coll_comm_free(&comm);
 *
 * A communicator is caller's memory, at a fixed place, of one rank and used by one thread at a
 * time. One that is made from a transport is a root communicator: communicators made from it by
 * coll_comm_create share its transport, its memory and its list of running calls, so that whoever
 * waits moves all of them on. Calls are made in comm.h.
 *
 * Tags. Two collectives that run at once must have different tags, and all ranks must give the
 * same tag to the same one, without a word between them. So a tag may only depend on what all
 * ranks of a communicator do in the same order. A communicator has a range of tags of its own:
 *   - Its first `turns` tags go round among blocking and nonblocking calls, in the order of the
 *     calls. When a tag comes round while the older call still runs on this rank, the younger
 *     one is queued behind it, and started by whatever makes progress. Skipping that tag would
 *     be wrong, as only this rank knows that the older call still runs. Behind it, the tag is
 *     safe even if other ranks still run the older call: channels keep their order. Calls that
 *     have the same tag one after the other are told apart by its use (transport.h): what an earlier
 *     one left over, as ranks did not agree on counts, is COLL_ERR_SIZE at a rank when its tag
 *     comes round, and never data. Over a transport without uses it may be taken for data; there,
 *     of many tags, an eighth goes round, so that it comes late.
 *   - The others are allocated by first fit, from the lower end one to each persistent call, from
 *     the upper end a range to each communicator made by coll_comm_create. All ranks make and free
 *     these in the same order, so they find the same numbers.
 *
 * Failure. A communicator fails as a whole, for good, and on all ranks (comm.h says when): the rank on
 * which it does has the transport abort all of its tags but those of communicators that were made
 * from it and still exist here. So these go on; but communicators that have tags in common fail
 * together: those of a split into groups (coll_comm_create), and, over a transport without tags,
 * all. So does one that coll_comm_create gives the tags of a failed one after that was freed. A new
 * root communicator does not: its tags are clean, and of no other one's that exists (`claim` of
 * transport.h). Over a transport without claims all root communicators have the same tags: there may be
 * one at a time, and none after one that failed.
 *
 * A transport without tags carries one collective at a time: a call is COLL_ERR_BUSY until the
 * one before it has been waited for, or tested until it was done.
 */
#ifndef COLL_COMM_COMMUNICATOR_H
#define COLL_COMM_COMMUNICATOR_H

#include "../plan.h"
#include "../reduce.h"
#include "../select.h"
#include "../transport.h"
#include "arena.h"
#include "prepared.h"

#if !COLL_IRREGULAR
#error "communicators have collectives with tables of counts: define COLL_IRREGULAR as 1"
#endif

/* What an operator does to a rank's operand before the ranks' are combined, and to a result after
 * that (scaled.h). Programs that do not ask for it are without the code. */
typedef struct coll_i_scaling {
    /* to[i] = factor · from[i]; `to` may be `from`. NULL: operands stay as they are. */
    void (*multiply)(const struct coll_i_scaling *scaling, void *to, const void *from,
                     size_t count);
    /* x[i] = x[i] / n. NULL: results stay as they are. */
    void (*divide)(void *x, size_t count, uint32_t n);
} coll_i_scaling;

/* A user's operator: the caller's memory, as long as the communicator exists. */
typedef struct coll_op_entry {
    coll_op op;
    const coll_i_scaling *scaling; /* or NULL */
    coll_type type;                /* the elements that it combines */
    coll_operator number;          /* by which calls name it */
    struct coll_op_entry *next;
} coll_op_entry;

/* An algorithm that the caller chose for a collective; NULL: the rules choose. */
typedef struct coll_choice {
    const coll_algorithm *algorithm;
    uint32_t param[COLL_PARAM_MAX];
} coll_choice;

struct coll_comm;
struct coll_args;
struct coll_recovery;
struct coll_settle;

/* How a communicator makes plans of composite algorithms: programs that do not ask
 * for it (multi_node.h) are without the code. */
typedef struct coll_i_comm_builder {
    /* Bytes of memory for such a plan; 0: the problem gets none. */
    size_t (*bytes)(const struct coll_comm *comm, const coll_problem *problem);
    /* Chooses, and makes the plan, in this memory if it is such a one. */
    coll_status (*plan)(const struct coll_comm *comm, const coll_problem *problem,
                        const coll_conditions *conditions, void *memory, coll_plan *plan);
} coll_i_comm_builder;

/* What stands around a communicator's calls: tries algorithms in calls that come again (settle.h), notes calls
 * (trace_calls.h), compares the ranks' arguments (compare.h). Programs that do not ask for it are without the
 * code. */
typedef struct coll_i_comm_settler {
    /* coll_run */
    coll_status (*run)(struct coll_comm *comm, const struct coll_args *args);
    /* Before a call's plan is sought: may change `rules` and `settled` until it is there. */
    void (*choose)(struct coll_comm *comm, const struct coll_args *args);
} coll_i_comm_settler;

struct coll_request;

/* Who looks at a communicator's waits that take long: programs that do not ask for it (explain.h) are without the
 * code. */
typedef struct coll_i_comm_watch {
    /* In a wait, each time that nothing has happened. */
    void (*waits)(const struct coll_i_comm_watch *watch, struct coll_request *request);
    /* A call of the communicator is over, and off the list. */
    void (*over)(const struct coll_i_comm_watch *watch);
    void *of;
} coll_i_comm_watch;

/* A communicator of one rank. Read rank, p and status; the rest is private. */
typedef struct coll_comm {
    struct coll_comm *root_comm; /* whose transport, arena, operators and calls these are */
    const coll_transport *transport;
    void *ctx;          /* the transport's */
    coll_status status; /* COLL_OK; or why it failed, which all calls return then … */
    coll_misfit misfit; /* … with COLL_ERR_SIZE over a transport that knows about what */
    uint32_t rank, p;   /* COLL_RANK_NONE: this rank is no member */
    coll_group group;   /* its ranks as ranks of the transport */
    coll_choice choice[COLL_COLLECTIVES]; /* forced algorithms */
    const coll_rule_list *rules;          /* that choose where the caller did not */
    const coll_nodes *nodes;              /* several; NULL: all ranks are on one */
    uint32_t share, shares; /* of a part of SHARED its node has this one of so many; 0: none */
    const coll_i_comm_builder *builder; /* or NULL */
    const coll_i_comm_settler *settler; /* or NULL … */
    struct coll_settle *settle;         /* … with this */
    const coll_i_comm_watch *watch;     /* or NULL */
    uint32_t settled; /* which candidate of settle.h the rules of this moment are; 0: none */
    coll_cache cache; /* of calls that were made before */

    uint32_t first_tag, turns, turn; /* calls take first_tag + turn, turn < turns, in turn … */
    uint32_t use;     /* … + this: the transport's tags · how often it went round */
    uint32_t made;    /* persistent calls and communicators so far */
    bool claimed;     /* the tags are those of a claim (transport.h) */
    coll_spans tags;  /* the others, of persistent calls: behind these … */
    coll_spans subs;  /* … and of communicators: counted from the last one down */
    coll_span range;  /* its tags in its parent's `subs` */
    coll_piece table; /* its group's table in the root communicator's arena, if it needed one */
    struct coll_comm *parent; /* from which it was made, or NULL */

    /* of the root communicator alone */
    coll_arena arena;
    coll_piece cached; /* memory of its cache, if an allocator was set before there was one */
    struct coll_request *requests; /* started and not yet reported as done, oldest first */
    coll_op_entry *ops;            /* operators of the user, the last one first */
    uint32_t n_ops;                /* operators ever added */
    bool tells;    /* a call is over that has a function to be told (request.h) */
    uint32_t idle; /* rounds of progress, one after the other, in which nothing happened */
    uint32_t kept; /* persistent calls that the transport keeps the memory of (request.h) */
    struct coll_recovery
        *recoveries; /* whose ranks may need an answer of this one (recover.h) … */
    void (*serve)(struct coll_comm *root_comm); /* … which this gives; NULL: there are none */
} coll_comm;

/* The most tags that go round among a communicator's calls; without uses, of many tags an eighth does, so
 * that what was left over comes round late. */
#define COLL_I_TURNS 32u

COLL_INLINE uint32_t coll_i_comm_turns(const coll_transport *transport, uint32_t tags)
{
    if (tags < 2 * COLL_I_TURNS)
        return (tags + 1) / 2;
    return coll_i_use_step(transport) == 0 && tags / 8 > COLL_I_TURNS ? tags / 8 : COLL_I_TURNS;
}

/* The first use of the tags of a persistent call, or of a communicator: most likely none of those that
 * went before it there was left at the same one. All ranks know how many were made. */
COLL_INLINE uint32_t coll_i_comm_first_use(coll_comm *parent)
{
    enum { APART = 61 };
    return parent->made++ * APART * coll_i_use_step(parent->transport);
}

COLL_INLINE void coll_i_comm_tags(coll_comm *comm, uint32_t first, uint32_t tags, uint32_t use)
{
    comm->first_tag = first;
    comm->turns = coll_i_comm_turns(comm->transport, tags);
    comm->turn = 0;
    comm->use = use;
    comm->made = 0;
    coll_spans_init(&comm->tags, tags - comm->turns);
    coll_spans_init(&comm->subs, tags - comm->turns);
}

/* Takes tags from one end, of `spans`, as far as what was taken from the other leaves them. */
COLL_INLINE coll_status coll_i_comm_take_tags(coll_spans *spans, const coll_spans *others,
                                              uint32_t tags, coll_span *span)
{
    if (coll_spans_take(spans, tags, span) != COLL_OK)
        return COLL_ERR_TAG;
    if (coll_spans_end(others) <= spans->count - (span->at + tags))
        return COLL_OK;
    coll_spans_give(spans, span);
    return COLL_ERR_TAG;
}

/* Aborts all tags but those of communicators that were made from this one. */
COLL_INLINE void coll_i_comm_abort_tags(const coll_comm *comm)
{
    const coll_failure *failure = comm->transport->failure;
    const size_t all = comm->turns + comm->subs.count;
    size_t end = all; /* of those that are not aborted yet */
    if (!failure || !failure->abort)
        return;
    for (const coll_span *sub = comm->subs.first; sub; sub = sub->next) {
        const size_t begin = all - sub->at;
        if (begin < end)
            failure->abort(comm->ctx, comm->first_tag + (uint32_t)begin,
                           (uint32_t)(end - begin));
        end = begin - sub->count;
    }
    failure->abort(comm->ctx, comm->first_tag,
                   end > 0 ? (uint32_t)end : 1); /* 0: there are no tags */
}

/* The communicator has failed, if it has not before. `tells`: the other ranks do not know. */
COLL_INLINE void coll_i_comm_spoil(coll_comm *comm, coll_status status, bool tells)
{
    if (comm->status < 0)
        return;
    comm->status = status;
    if (tells)
        coll_i_comm_abort_tags(comm);
}

COLL_INLINE void coll_i_comm_clear(coll_comm *comm)
{
    coll_i_cache_init(&comm->cache, NULL, 0);
    for (unsigned i = 0; i < COLL_COLLECTIVES; i++)
        comm->choice[i].algorithm = NULL;
    comm->rules = &coll_rules_built_in;
    comm->nodes = NULL;
    comm->share = comm->shares = 0;
    comm->builder = NULL;
    comm->settler = NULL;
    comm->settle = NULL;
    comm->watch = NULL;
    comm->settled = 0;
    comm->range.at = comm->range.count = comm->table.span.count = 0;
    comm->parent = NULL;
    comm->claimed = false;
    comm->status = COLL_OK;
    (void)coll_misfit_note(&comm->misfit, COLL_RANK_NONE, 0, 0);
    coll_arena_init(&comm->arena, NULL, 0);
    comm->requests = NULL;
    comm->tells = false;
    comm->ops = NULL;
    comm->n_ops = comm->idle = comm->kept = 0;
    comm->recoveries = NULL;
    comm->serve = NULL;
}

/* Makes a root communicator of all p ranks of a transport, of which this is `rank`. `memory`, of
 * `bytes` bytes and any alignment, is where calls find their scratch (coll_comm_bytes says how
 * much); NULL and 0 suffice where none is needed. It, the transport and ctx stay the caller's
 * until coll_comm_free. All ranks make and free root communicators in the same order. COLL_ERR_TAG:
 * there are too many (COLL_CLAIMS_MOST); COLL_ERR_GROUP: these are not all ranks of the transport. */
COLL_INLINE coll_status coll_comm_init(coll_comm *comm, const coll_transport *transport,
                                       void *ctx, uint32_t rank, uint32_t p, void *memory,
                                       size_t bytes)
{
    const coll_in_network *network;
    const coll_node_memory *memory_of_node;
    uint32_t first = 0, tags;
    bool claimed = false;
    coll_status status;
    if (!comm || (!memory && bytes != 0))
        return COLL_ERR_NULL;
    status = coll_transport_check(transport);
    if (status != COLL_OK)
        return status;
    if (p == 0)
        return COLL_ERR_RANKS;
    if (rank >= p)
        return COLL_ERR_RANK;
    memory_of_node = transport->tags != 0 ? transport->node_memory : NULL;
    network = coll_i_transport_network(transport);
    if (network && network->ranks && network->ranks(ctx) != p)
        return COLL_ERR_GROUP;
    tags = transport->tags;
    if (transport->tag_ranges && transport->tag_ranges->claim && tags != 0) {
        status = transport->tag_ranges->claim(ctx, &first, &tags);
        if (status != COLL_OK)
            return status;
        claimed = coll_i_tags_are_among(first, tags, 0, transport->tags);
        if (!claimed) { /* the transport's tags were made less */
            transport->tag_ranges->unclaim(ctx, first);
            first = 0;
            tags = transport->tags;
        }
    }
    coll_i_comm_clear(comm);
    comm->claimed = claimed;
    comm->shares = memory_of_node && !memory_of_node->nodes;
    comm->root_comm = comm;
    comm->transport = transport;
    comm->ctx = ctx;
    comm->rank = rank;
    comm->p = p;
    coll_group_identity(&comm->group);
    coll_i_comm_tags(comm, first, tags, 0);
    coll_arena_init(&comm->arena, memory, bytes);
    return COLL_OK;
}

/* Writes how the ranks of `group`, in ranks of the parent, map to ranks of the transport. Two
 * maps that are not both affine need a table, in the arena. */
COLL_INLINE coll_status coll_i_comm_group(coll_comm *sub, const coll_comm *parent,
                                          const coll_group *group, uint32_t p)
{
    const coll_group *outer = &parent->group;
    uint32_t *table;
    coll_status status;
    if (!outer->table && !group->table) {
        coll_group_affine(&sub->group, outer->base + group->base * outer->stride,
                          group->stride * outer->stride);
        return COLL_OK;
    }
    status = coll_arena_take(&sub->root_comm->arena, p * sizeof *table, &sub->table);
    if (status != COLL_OK)
        return status;
    table = (uint32_t *)coll_arena_at(&sub->table);
    for (uint32_t i = 0; i < p; i++)
        table[i] = coll_group_outer(outer, coll_group_outer(group, i));
    coll_group_table(&sub->group, table, NULL);
    return COLL_OK;
}

/* Makes a communicator of p ranks of `parent`, of which this is none so far, but for its group. */
COLL_INLINE coll_status coll_i_comm_make(coll_comm *sub, coll_comm *parent, uint32_t p,
                                         uint32_t tags)
{
    coll_i_comm_clear(sub);
    sub->root_comm = parent->root_comm;
    sub->parent = parent;
    sub->transport = parent->transport;
    sub->ctx = parent->ctx;
    sub->rules = parent->rules;
    COLL_COPY(&sub->cache, &parent->cache, sizeof sub->cache);
    sub->p = p;
    sub->rank = COLL_RANK_NONE;
    if (parent->transport->tags == 0)
        tags = 0;
    else if (tags == 0 ||
             coll_i_comm_take_tags(&parent->subs, &parent->tags, tags, &sub->range) != COLL_OK)
        return COLL_ERR_TAG;
    coll_i_comm_tags(sub,
                     parent->first_tag + parent->turns +
                         (uint32_t)(parent->subs.count - sub->range.at - tags),
                     tags, coll_i_comm_first_use(parent));
    return COLL_OK;
}

/* Makes a communicator of the p ranks of `parent` that `group` names, in this order. Collective
 * over the parent: all its ranks call this at the same place among their calls, each with the
 * group that it will be in. The groups that they pass at one time are the same or have no rank
 * in common (as in a split by colour). A rank that is in no group passes any one: it gets a
 * communicator in which it is no member (rank == COLL_RANK_NONE) and must make no call. `tags`,
 * the same on all ranks, are taken from the parent's until coll_comm_free: half of them, at
 * most 32, are calls that can run at once before the next one is queued; the rest serve
 * persistent calls and further communicators. Over a transport without tags it is ignored. The
 * group is copied, into the arena if it is a table; rules are inherited, and the cache is shared;
 * chosen algorithms, nodes and trials (settle.h) are not.
 * Errors: COLL_ERR_TAG if the parent has not so many tags left, which all ranks find; COLL_ERR_GROUP,
 * COLL_ERR_MEMORY, COLL_ERR_NULL: the parent has failed, as others may have made the
 * communicator; or that of a parent that failed before. */
COLL_INLINE coll_status coll_comm_create(coll_comm *sub, coll_comm *parent,
                                         const coll_group *group, uint32_t p, uint32_t tags)
{
    coll_status status;
    if (!parent)
        return COLL_ERR_NULL;
    if (parent->status < 0)
        return parent->status;
    status = sub && group ? coll_group_check(group, p, parent->p) : COLL_ERR_NULL;
    if (status != COLL_OK) {
        coll_i_comm_spoil(parent, status, true);
        return status;
    }
    status = coll_i_comm_make(sub, parent, p, tags);
    if (status != COLL_OK)
        return status;
    for (uint32_t i = 0; i < p; i++)
        if (coll_group_outer(group, i) == parent->rank)
            sub->rank = i;
    status = coll_i_comm_group(sub, parent, group, p);
    if (status != COLL_OK) {
        coll_spans_give(&parent->subs, &sub->range);
        coll_i_comm_spoil(parent, status, true);
    }
    return status;
}

/* Makes a second communicator of the same ranks, whose calls never meet those of the first.
 * Otherwise as coll_comm_create. */
COLL_INLINE coll_status coll_comm_dup(coll_comm *dup, coll_comm *parent, uint32_t tags)
{
    coll_group all;
    if (!parent)
        return COLL_ERR_NULL;
    coll_group_identity(&all);
    return coll_comm_create(dup, parent, &all, parent->p, tags);
}

/* Gives a communicator memory, of any alignment, in which it keeps the plans of its latest
 * calls, so that calls that are made again need none: COLL_CACHE_BYTES(n) bytes for n calls;
 * NULL and 0: none any more. Without a cache each call is planned anew. The memory stays the
 * caller's until the communicator, and those made from it later, which share the cache unless
 * they are given one of their own, are freed, or were given another. Has no effect on other
 * ranks. COLL_ERR_BUSY: calls are running by what is in the cache that it has. */
COLL_INLINE coll_status coll_comm_set_cache(coll_comm *comm, void *memory, size_t bytes)
{
    if (!comm || (!memory && bytes != 0))
        return COLL_ERR_NULL;
    if (coll_i_cache_busy(&comm->cache))
        return COLL_ERR_BUSY;
    coll_i_cache_forget(&comm->cache, comm);
    coll_i_cache_init(&comm->cache, memory, bytes);
    return COLL_OK;
}

/* Has a communicator and all that share its root communicator take memory from an allocator,
 * which is copied, where the arena has too little: scratch, tables, composite plans. A
 * communicator without a cache gets one, too, of COLL_CACHED_CALLS calls. What is taken is used
 * again, and given back by coll_comm_free of the root communicator. Has no effect on other
 * ranks. COLL_ERR_MEMORY: there is no memory for the cache; then all is as it was.
 * COLL_ERR_BUSY: it has an allocator. */
COLL_INLINE coll_status coll_comm_set_allocator(coll_comm *comm,
                                                const coll_allocator *allocator)
{
    coll_comm *root_comm;
    coll_status status = COLL_OK;
    if (!comm || !allocator || !allocator->alloc || !allocator->free)
        return COLL_ERR_NULL;
    root_comm = comm->root_comm;
    if (root_comm->arena.allocator.alloc)
        return COLL_ERR_BUSY;
    COLL_COPY(&root_comm->arena.allocator, allocator, sizeof *allocator);
    if (comm->cache.n == 0)
        status = coll_arena_take(&root_comm->arena, COLL_CACHE_BYTES(COLL_CACHED_CALLS),
                                 &root_comm->cached);
    if (status != COLL_OK)
        root_comm->arena.allocator.alloc = NULL;
    else if (comm->cache.n == 0)
        coll_i_cache_init(&comm->cache, coll_arena_at(&root_comm->cached),
                          COLL_CACHE_BYTES(COLL_CACHED_CALLS));
    return status;
}

/* Has all ranks of a communicator use this algorithm for this collective from the next call on,
 * with these parameters (NULL: the default ones); NULL as algorithm: the rules' choice again.
 * Every rank makes the same call. Whether the algorithm can do what a call asks for is checked
 * at that call. An allreduce without COLL_GIVES_IDENTICAL may give ranks floating-point sums that
 * differ in their last bits; rules never choose one. */
COLL_INLINE coll_status coll_comm_set_algorithm(coll_comm *comm, coll_collective collective,
                                                const coll_algorithm *algorithm,
                                                const uint32_t *params)
{
    coll_choice *choice;
    if (!comm)
        return COLL_ERR_NULL;
    if ((unsigned)collective >= COLL_COLLECTIVES ||
        (algorithm && !coll_is(algorithm->collectives, collective)))
        return COLL_ERR_COLLECTIVE;
    coll_i_cache_forget(&comm->cache, comm); /* plans are made anew */
    choice = &comm->choice[collective];
    choice->algorithm = algorithm;
    for (uint32_t i = 0; algorithm && i < algorithm->n_params && i < COLL_PARAM_MAX; i++)
        choice->param[i] = params ? params[i] : algorithm->params[i].default_value;
    return COLL_OK;
}

/* Has all calls that follow choose by these rules, where no algorithm is forced; NULL: by the
 * built-in ones. Every rank makes the same call. The lists stay the caller's as long as the
 * communicator, and those made from it later, exist. Rules of algorithms that need more than
 * calls have (which are composite, unless coll_comm_nodes of multi_node.h was called, say) and
 * allreduces without COLL_GIVES_IDENTICAL are passed over; where none is left, the call ends with
 * what was wrong with the last one, so let coll_rules_built_in be the last list. */
COLL_INLINE coll_status coll_comm_rules(coll_comm *comm, const coll_rule_list *lists)
{
    if (!comm)
        return COLL_ERR_NULL;
    coll_i_cache_forget(&comm->cache, comm); /* plans are made anew */
    comm->rules = lists ? lists : &coll_rules_built_in;
    return COLL_OK;
}

/* Makes a user's operator on elements of one type known to a communicator and all that share
 * its root communicator, and writes the number by which calls name it. The entry is the caller's
 * memory until the root communicator is freed. `op` is copied. All ranks must agree on
 * op->commutative; the number may differ. */
COLL_INLINE coll_status coll_comm_add_op(coll_comm *comm, coll_op_entry *entry,
                                         const coll_op *op, coll_type type,
                                         coll_operator *number)
{
    coll_comm *root_comm;
    if (!comm || !entry || !op || !op->combine || !number)
        return COLL_ERR_NULL;
    if (coll_type_bytes(type) == 0)
        return COLL_ERR_TYPE;
    root_comm = comm->root_comm;
    if (root_comm->n_ops > UINT32_MAX - 1 - COLL_USER_OP)
        return COLL_ERR_OVERFLOW;
    coll_op_assign(&entry->op, op);
    entry->scaling = NULL;
    entry->type = type;
    entry->number = COLL_USER_OP + root_comm->n_ops++;
    entry->next = root_comm->ops;
    root_comm->ops = entry;
    *number = entry->number;
    return COLL_OK;
}

/* Forgets a user's operator, so that its entry is the caller's again; running calls keep their
 * copy. */
COLL_INLINE coll_status coll_comm_remove_op(coll_comm *comm, coll_operator number)
{
    if (!comm)
        return COLL_ERR_NULL;
    for (coll_op_entry **link = &comm->root_comm->ops; *link; link = &(*link)->next)
        if ((*link)->number == number) {
            *link = (*link)->next;
            return COLL_OK;
        }
    return COLL_ERR_OP;
}

/* NULL: there is no such operator on this type. */
COLL_INLINE const coll_op_entry *coll_i_comm_op_entry(const coll_comm *comm,
                                                      coll_operator number, coll_type type)
{
    const coll_op_entry *entry = comm->root_comm->ops;
    while (entry && (entry->number != number || entry->type != type))
        entry = entry->next;
    return entry;
}

COLL_INLINE coll_status coll_i_comm_user_op(const coll_comm *comm, coll_operator number,
                                            coll_type type, coll_op *op)
{
    const coll_op_entry *entry = coll_i_comm_op_entry(comm, number, type);
    if (!entry)
        return COLL_ERR_OP;
    coll_op_assign(op, &entry->op);
    return COLL_OK;
}

/* What a call's operator does to operands and results; NULL: nothing. */
COLL_INLINE const coll_i_scaling *coll_i_comm_scaling(const coll_comm *comm,
                                                      coll_operator number, coll_type type)
{
    const coll_op_entry *entry = coll_i_comm_op_entry(comm, number, type);
    return entry ? entry->scaling : NULL;
}

/* Writes the operator that a number means on elements of a type. */
COLL_INLINE coll_status coll_comm_op(const coll_comm *comm, coll_operator number,
                                     coll_type type, coll_op *op)
{
    return number < COLL_USER_OP ? coll_op_builtin(op, number, type)
                                 : coll_i_comm_user_op(comm, number, type, op);
}

/* Of a communicator that failed by COLL_ERR_SIZE on this rank, in a call that ran: which message did not
 * fit, in ranks of the transport. NULL: it did not fail so, or that is not known. */
COLL_INLINE const coll_misfit *coll_comm_misfit(const coll_comm *comm)
{
    const coll_misfit *its = &comm->misfit;
    return its->peer != COLL_RANK_NONE || its->expected != its->bytes ? its : NULL;
}

#endif /* COLL_COMM_COMMUNICATOR_H */
