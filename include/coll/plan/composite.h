/* coll/plan/composite.h — algorithms that are made of others: what they use inside, and memory for it
 *
 *   size_t tables[…];                               // coll_kit_tables(&problem) of them
 *   coll_kit kit;                                   // at a fixed place, as long as the plan
 *   coll_kit_init(&kit, rank, tables, n);
 *   coll_plan plan;
 *   status = coll_plan_build(&plan, &coll_dpml_allreduce.algorithm, &problem, NULL, &kit);
 *
 *   const coll_use ring = {COLL_INTER, &coll_ring_allreduce, NULL};
 *   kit.uses = &ring; kit.n_uses = 1;               // before: across the nodes, not the default one
 *
 * An algorithm with the trait COLL_NEEDS_BUILD works in levels: it runs some algorithm among the
 * ranks of a node, some algorithm among leaders of the nodes, and so on. A role is a level, and
 * each role may be played by any algorithm of the collective that the level has to solve. Such an
 * algorithm is a record with a recipe behind it; all readers of plans treat its plan as any other,
 * but for one thing: a plan is made for one rank, and on any other it has no steps, as the ranks
 * of different nodes do different things.
 *
 * A recipe writes this rank's stages into the kit: inner plans, placed among the ranks and the
 * spaces of the outer plan, one after the other. Compositions of one's own are in compose.h.
 * coll_plan_build makes a plan of any algorithm, and needs no kit where there is no recipe.
 * Nothing here allocates, blocks or communicates.
 */
#ifndef COLL_PLAN_COMPOSITE_H
#define COLL_PLAN_COMPOSITE_H

#include "../plan.h"

/* ---- what is used inside ----------------------------------------------------------------- */

/* Levels: among the ranks of a node, and among leaders of the nodes. */
typedef enum coll_role { COLL_INTRA, COLL_INTER, COLL_ROLES } coll_role;

COLL_INLINE const char *coll_role_name(coll_role role)
{
    return role == COLL_INTRA ? "intra" : role == COLL_INTER ? "inter" : "unknown role";
}

/* An algorithm that plays a role, for the collectives that it solves. */
typedef struct coll_use {
    coll_role role;
    const coll_algorithm *algorithm;
    const uint32_t *params; /* in its order; NULL: the default ones */
} coll_use;

struct coll_kit;

/* An algorithm that is made of others. */
typedef struct coll_recipe {
    coll_algorithm algorithm; /* first: a record with COLL_NEEDS_BUILD is part of a recipe */
    /* Makes the stages. The plan is that of the record and the problem, without an inside. */
    coll_status (*build)(coll_plan *plan, struct coll_kit *kit);
    const coll_use *defaults; /* what plays the roles unless the caller says otherwise */
    uint32_t n_defaults;
} coll_recipe;

COLL_INLINE const coll_recipe *coll_recipe_of(const coll_algorithm *algorithm)
{
    return (const coll_recipe *)(const void *)algorithm;
}

/* ---- stages ------------------------------------------------------------------------------ */

/* Which ranks of the outer plan are those of a stage. */
typedef enum coll_i_seats {
    COLL_I_RUN,     /* first, first + 1, … */
    COLL_I_FIRSTS,  /* of each node the first; of the node `node` rank `first` */
    COLL_I_LASTS,   /* of each node the last */
    COLL_I_LEADERS, /* of each node the leader whose number is that of the part */
    COLL_I_NO_SEATS
} coll_i_seats;

/* An inner plan at its place, or one action. A stage may consist of parts, which come one after
 * the other, each among the leaders of its number; and a part of pieces of equal size, which
 * run side by side in batches: the first action of all pieces of a batch, then the second … A
 * rank's action in one piece so comes when it comes in any other, so messages match as they do
 * in one piece alone, whatever the algorithm. */
typedef struct coll_stage {
    const coll_plan *plan; /* NULL: `act` */
    coll_action act;
    uint32_t rank; /* this rank in it */
    uint32_t team; /* number of the team that its ranks are */
    coll_i_seats seats;
    uint32_t first, node;       /* of the seats */
    coll_ref base[COLL_SPACES]; /* where the spaces begin, of the first part's first piece */
    uint32_t part;              /* number of the first part */
    uint32_t pieces;            /* of a part … */
    size_t all;                 /* … and of all together: the last part may have fewer */
    size_t piece;               /* elements of IN and OUT from one piece to the next */
    uint32_t batch;             /* pieces of a batch, 1 to 4 */
    bool barrier;               /* it is part of one: tokens before its own come first */
    /* from here on set by coll_plan_build */
    size_t steps, slot;                  /* SCRATCH of a piece */
    coll_fast_divisor by_part, by_batch; /* division by the steps of a part, and of a batch */
} coll_stage;

enum {
    COLL_KIT_PLANS = 7,
    COLL_KIT_STAGES = 8,
    COLL_I_BATCH = 4,        /* pieces side by side at most, */
    COLL_I_BATCH_WINDOW = 16 /* … as long as they need no larger window */
};

/* Inner plans and stages of one rank's plan. */
typedef struct coll_kit {
    /* the caller's, until coll_plan_build */
    uint32_t rank;
    const coll_use *uses; /* the first that fits is taken; else a default one */
    uint32_t n_uses;
    size_t *tables;
    size_t room;
    /* made by coll_plan_build */
    uint32_t p, n_plans, n_stages;
    uint32_t wanted,
        found; /* masks of roles: that the recipe asked for; of `uses` that it took */
    coll_nodes nodes;
    coll_node at;              /* the rank's place */
    coll_fast_divisor leaders; /* of a node: division by their number … */
    size_t part;               /* … and the elements that each of them takes care of */
    uint32_t sockets;          /* of a node, at most: runs of nearly equal length */
    uint32_t runs; /* of a node, of equal length but the last: those of a stage within */
    size_t scratch, shared;
    coll_plan plans[COLL_KIT_PLANS];
    coll_stage stages[COLL_KIT_STAGES];
} coll_kit;

/* Entries of `tables` that a kit needs. O(nodes), or O(p) where every rank has a table of all
 * blocks. */
COLL_INLINE size_t coll_kit_tables(const coll_problem *problem)
{
    const uint32_t v = COLL_BIT(COLL_ALLGATHERV) | COLL_BIT(COLL_REDUCE_SCATTER);
    return 4 * ((size_t)coll_nodes_count(&problem->nodes) +
                coll_nodes_largest(&problem->nodes, problem->p)) +
           (coll_is(v, problem->collective) ? problem->p : 0);
}

/* Gives a kit its memory: `room` entries of tables, coll_kit_tables or more. */
COLL_INLINE void coll_kit_init(coll_kit *kit, uint32_t rank, size_t *tables, size_t room)
{
    kit->rank = rank;
    kit->uses = NULL;
    kit->n_uses = 0;
    kit->tables = tables;
    kit->room = room;
}

/* Bytes of memory, aligned for pointers, for a kit with its tables … */
COLL_INLINE size_t coll_kit_bytes(const coll_problem *problem)
{
    return sizeof(coll_kit) + coll_kit_tables(problem) * sizeof(size_t);
}

/* … and the kit in it. */
COLL_INLINE coll_kit *coll_kit_in(void *memory, const coll_problem *problem, uint32_t rank)
{
    coll_kit *kit = (coll_kit *)memory;
    coll_kit_init(kit, rank, (size_t *)(void *)(kit + 1), coll_kit_tables(problem));
    return kit;
}

/* ---- steps of a built plan --------------------------------------------------------------- */

COLL_INLINE const coll_kit *coll_i_kit(const coll_plan *plan)
{
    return (const coll_kit *)plan->inner;
}

COLL_HOT_INLINE uint32_t coll_i_stage_outer(const coll_kit *kit, const coll_stage *stage,
                                            uint32_t part, uint32_t rank)
{
    uint32_t first;
    if (stage->seats == COLL_I_RUN)
        return stage->first + rank;
    if (stage->seats == COLL_I_FIRSTS && rank == stage->node)
        return stage->first;
    if (stage->seats == COLL_I_LASTS)
        return coll_nodes_first(&kit->nodes, kit->p, rank + 1) - 1;
    first = coll_nodes_first(&kit->nodes, kit->p, rank);
    if (stage->seats == COLL_I_FIRSTS || part == 0)
        return first;
    return first + coll_leader(coll_nodes_first(&kit->nodes, kit->p, rank + 1) - first, part,
                               &kit->leaders);
}

/* One inner action in the words of the outer plan; base: where the spaces begin. */
COLL_HOT_INLINE void coll_i_stage_place(const coll_kit *kit, const coll_stage *stage,
                                        uint32_t part, const coll_ref base[COLL_SPACES],
                                        coll_action *a)
{
    if (coll_i_has_peer(a))
        a->peer = coll_i_stage_outer(kit, stage, part, a->peer);
    if (a->kind == COLL_DO_NETWORK_REDUCE && a->peer == COLL_TEAM_ALL)
        a->peer = stage->team;
    coll_i_action_place(a, base);
    if (stage->barrier)
        coll_i_name_tokens(a, COLL_AT(COLL_SCRATCH, 0));
}

/* x / d.by for any x. */
COLL_HOT_INLINE size_t coll_i_divide_steps(size_t x, const coll_fast_divisor *d)
{
    return x <= UINT32_MAX ? coll_divide((uint32_t)x, d) : x / d->by;
}

/* Step s of a stage in pieces. Of a batch of b pieces b steps yield what one inner step has for
 * each of them: its actions, each b times. */
COLL_INLINE unsigned coll_i_stage_pieces(const coll_kit *kit, const coll_stage *stage, size_t s,
                                         coll_action *out)
{
    static const uint32_t inverse[COLL_I_BATCH + 1] = {0, 256, 128, 86,
                                                       64}; /* of b, times 256 */
    const size_t part = coll_i_divide_steps(s, &stage->by_part);
    const size_t in_part = s - part * stage->by_part.by;
    const size_t batch = coll_i_divide_steps(in_part, &stage->by_batch);
    const size_t in_batch = in_part - batch * stage->by_batch.by;
    const size_t first = part * stage->pieces + batch * stage->batch; /* piece of the batch */
    const size_t in_this = stage->all - part * stage->pieces;
    const size_t pieces = in_this < stage->pieces ? in_this : stage->pieces;
    const size_t rest = pieces - batch * stage->batch;
    const uint32_t b = rest < stage->batch ? (uint32_t)rest : stage->batch;
    const size_t inner = b == 4   ? in_batch >> 2
                         : b == 2 ? in_batch >> 1
                         : b == 1 ? in_batch
                                  : in_batch / 3;
    coll_action acts[COLL_STEP_MAX];
    const unsigned n = coll_plan_step(stage->plan, stage->rank, inner, acts);
    uint32_t i = (uint32_t)(in_batch - inner * b) * n; /* of the n·b actions */
    for (unsigned k = 0; k < n; k++, i++) {
        const uint32_t which = (i * inverse[b]) >> 8, piece = i - which * b;
        coll_ref base[COLL_SPACES];
        base[COLL_IN] = stage->base[COLL_IN] + (first + piece) * stage->piece;
        base[COLL_OUT] = stage->base[COLL_OUT] + (first + piece) * stage->piece;
        base[COLL_SCRATCH] = stage->base[COLL_SCRATCH] + piece * stage->slot;
        base[COLL_SHARED] = stage->base[COLL_SHARED];
        coll_i_action_assign(&out[k], &acts[which]);
        coll_i_stage_place(kit, stage, stage->part + (uint32_t)part, base, &out[k]);
    }
    return n;
}

COLL_INLINE unsigned coll_i_kit_step(const coll_plan *plan, uint32_t rank, size_t s,
                                     coll_action *out)
{
    const coll_kit *kit = coll_i_kit(plan);
    const coll_stage *stage = kit->stages;
    unsigned n;
    (void)rank;
    while (s >= stage->steps)
        s -= stage++->steps;
    if (!stage->plan) {
        coll_i_action_assign(out, &stage->act);
        return 1;
    }
    if (stage->all > 1)
        return coll_i_stage_pieces(kit, stage, s, out);
    n = coll_plan_step(stage->plan, stage->rank, s, out);
    for (unsigned i = 0; i < n; i++)
        coll_i_stage_place(kit, stage, stage->part, stage->base, &out[i]);
    return n;
}

COLL_INLINE size_t coll_i_kit_steps(const coll_plan *plan, uint32_t rank)
{
    const coll_kit *kit = coll_i_kit(plan);
    size_t steps = 0;
    for (uint32_t i = 0; i < kit->n_stages && rank == kit->rank; i++)
        steps += kit->stages[i].steps;
    return steps;
}

COLL_INLINE size_t coll_i_kit_scratch(const coll_plan *plan, uint32_t rank)
{
    return rank == coll_i_kit(plan)->rank ? coll_i_kit(plan)->scratch : 0;
}

COLL_INLINE size_t coll_i_kit_shared(const coll_plan *plan)
{
    return coll_i_kit(plan)->shared;
}

/* ---- for recipes ------------------------------------------------------------------------- */

/* The algorithm that plays a role for a collective; NULL: nobody does. */
COLL_INLINE const coll_use *coll_i_kit_use(const coll_plan *plan, coll_kit *kit, coll_role role,
                                           coll_collective collective)
{
    const coll_recipe *recipe = coll_recipe_of(plan->algorithm);
    kit->wanted |= 1u << role;
    for (uint32_t i = 0; i < kit->n_uses; i++)
        if (kit->uses[i].role == role &&
            coll_is(kit->uses[i].algorithm->collectives, collective)) {
            kit->found |= 1u << role;
            return &kit->uses[i];
        }
    for (uint32_t i = 0; i < recipe->n_defaults; i++)
        if (recipe->defaults[i].role == role &&
            coll_is(recipe->defaults[i].algorithm->collectives, collective))
            return &recipe->defaults[i];
    return NULL;
}

/* Makes the next inner plan. What it needs of the transport the outer plan needs. */
COLL_INLINE coll_status coll_i_kit_make(coll_plan *plan, coll_kit *kit,
                                        const coll_algorithm *algorithm, const uint32_t *params,
                                        const coll_problem *problem, coll_plan **inner)
{
    const unsigned needs = COLL_NEEDS_COMMUTATIVE | COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST |
                           COLL_I_NEEDS_TEAM | COLL_USES_PADDING;
    coll_plan *made = &kit->plans[kit->n_plans];
    const coll_status status = coll_plan_init(made, algorithm, problem, params);
    if (status != COLL_OK)
        return status;
    plan->traits |= made->traits & needs;
    if (plan->window < made->window)
        plan->window = made->window;
    kit->n_plans++;
    *inner = made;
    return COLL_OK;
}

/* The same, by the algorithm that plays a role. `team`: the stage's ranks are one. All ranks make
 * the same plans, also of stages that are not theirs, so that they agree on errors. */
COLL_INLINE coll_status coll_i_kit_play(coll_plan *plan, coll_kit *kit, coll_role role,
                                        const coll_problem *problem, bool team,
                                        coll_plan **inner)
{
    const unsigned all = COLL_NEEDS_MULTICAST | (team ? 0 : COLL_I_NEEDS_TEAM);
    const coll_use *use = coll_i_kit_use(plan, kit, role, problem->collective);
    if (!use)
        return COLL_ERR_COLLECTIVE;
    if ((use->algorithm->traits & all) && problem->p != plan->problem.p)
        return COLL_ERR_GROUP; /* it would meet ranks that are not in the stage */
    return coll_i_kit_make(plan, kit, use->algorithm, use->params, problem, inner);
}

/* The problem of a level: of `p` ranks and the outer one's elements and operator. Ranks of a node
 * share memory; those of different nodes do not. */
COLL_INLINE void coll_i_kit_problem(const coll_plan *plan, coll_role role,
                                    coll_collective collective, uint32_t p, size_t count,
                                    coll_problem *problem)
{
    coll_problem_init(problem, collective, p, count, plan->problem.elem_bytes);
    problem->flags = plan->problem.flags & COLL_FLAG_COMMUTATIVE;
    if (role == COLL_INTER)
        coll_nodes_even(&problem->nodes, p, 1);
}

/* The next stage: an inner plan (NULL: an action) in which this is `rank`, at the outer plan's
 * spaces. */
COLL_INLINE coll_stage *coll_i_kit_stage(coll_kit *kit, const coll_plan *inner, uint32_t rank,
                                         coll_i_seats seats, uint32_t first)
{
    coll_stage *stage = &kit->stages[kit->n_stages++];
    stage->plan = inner;
    stage->rank = rank;
    stage->team = COLL_TEAM_ALL;
    stage->seats = seats;
    stage->first = first;
    stage->node = COLL_RANK_NONE;
    for (unsigned space = 0; space < COLL_SPACES; space++)
        stage->base[space] = COLL_AT(space, 0);
    stage->part = 0;
    stage->pieces = stage->batch = 1;
    stage->all = 1;
    stage->piece = 0;
    stage->barrier = false;
    return stage;
}

/* Writes a rank's place, field by field: compilers may call memcpy to assign a structure. */
COLL_INLINE void coll_i_node_write(coll_node *at, const coll_nodes *nodes, uint32_t p,
                                   uint32_t rank)
{
    const coll_node place = coll_node_of(nodes, p, rank);
    at->index = place.index;
    at->first = place.first;
    at->ranks = place.ranks;
    at->local = place.local;
}

/* Where every node has one rank, there is nothing to do within. */
COLL_INLINE bool coll_i_kit_flat(const coll_kit *kit)
{
    return coll_nodes_largest(&kit->nodes, kit->p) == 1;
}

/* Ranks of one of the parts of a node of m ranks among which stages within are: all of them, sockets,
 * or runs. Parts have two lengths at most. */
COLL_INLINE uint32_t coll_i_kit_part(const coll_kit *kit, uint32_t m, uint32_t which)
{
    const uint32_t sockets = kit->sockets < m ? kit->sockets : m;
    if (kit->runs > 1)
        return which == 0 ? m / kit->runs : m - (kit->runs - 1) * (m / kit->runs);
    return m / sockets + (which == 0 && m % sockets != 0 ? 1 : 0);
}

/* The most SHARED that a part of a node needs for a role: a larger one may need less. O(nodes). */
COLL_INLINE coll_status coll_i_kit_shared_most(coll_plan *plan, coll_kit *kit, coll_role role,
                                               coll_problem *of, size_t *shared)
{
    const coll_use *use = coll_i_kit_use(plan, kit, role, of->collective);
    const uint32_t ranks = of->p, root = of->root, nodes = coll_nodes_count(&kit->nodes);
    coll_status status = COLL_OK;
    *shared = 0;
    if (!use || !(use->algorithm->traits & COLL_NEEDS_SHARED))
        return COLL_OK;
    if (of->in.counts || of->out.counts)
        return COLL_ERR_SHARED; /* what it needs depends on tables that nobody has */
    of->root = 0;
    for (uint32_t i = 0, before = 0; i < 2 * nodes && status == COLL_OK; i++, before = of->p) {
        const uint32_t node = i >> 1;
        coll_plan *inner;
        size_t needed;
        of->p = coll_i_kit_part(kit,
                                coll_nodes_first(&kit->nodes, kit->p, node + 1) -
                                    coll_nodes_first(&kit->nodes, kit->p, node),
                                i & 1);
        if (of->p == before)
            continue;
        status = coll_i_kit_play(plan, kit, role, of, false, &inner);
        if (status != COLL_OK)
            continue;
        kit->n_plans--;
        needed = coll_plan_shared(inner);
        *shared = needed > *shared ? needed : *shared;
    }
    of->p = ranks;
    of->root = root;
    if (status != COLL_OK)
        return status;
    return coll_i_addressable(*shared, plan->problem.elem_bytes) ? COLL_OK : COLL_ERR_OVERFLOW;
}

/* A stage of all ranks of this rank's node, by the algorithm that plays the role. It has SHARED
 * of its own. */
COLL_INLINE coll_status coll_i_kit_intra(coll_plan *plan, coll_kit *kit, coll_problem *of,
                                         coll_stage **stage)
{
    size_t shared;
    coll_plan *inner;
    coll_status status = coll_i_kit_shared_most(plan, kit, COLL_INTRA, of, &shared);
    if (status == COLL_OK)
        status = coll_i_kit_play(plan, kit, COLL_INTRA, of, false, &inner);
    if (status != COLL_OK)
        return status;
    *stage = coll_i_kit_stage(kit, inner, kit->at.local, COLL_I_RUN, kit->at.first);
    (*stage)->base[COLL_SHARED] += kit->shared;
    kit->shared += shared;
    return COLL_OK;
}

/* Pieces of a batch, where a part has so many. The window grows with them. */
COLL_INLINE uint32_t coll_i_kit_batch(coll_plan *plan, const coll_plan *inner, uint32_t pieces)
{
    const uint32_t fit = COLL_I_BATCH_WINDOW / inner->window;
    uint32_t batch = pieces;
    if (batch > COLL_I_BATCH)
        batch = COLL_I_BATCH;
    if (batch > fit)
        batch = fit > 0 ? fit : 1;
    if (plan->window < batch * inner->window)
        plan->window = batch * inner->window;
    return batch;
}

/* ---- making a plan ----------------------------------------------------------------------- */

/* Steps and SCRATCH of a stage; false: too many. */
COLL_INLINE bool coll_i_stage_finish(coll_kit *kit, coll_stage *stage)
{
    size_t scratch, one;
    stage->steps = 1;
    if (!stage->plan)
        return true;
    one = coll_plan_steps(stage->plan, stage->rank);
    stage->slot = coll_plan_scratch(stage->plan, stage->rank);
    if (!coll_multiply(one, stage->all, &stage->steps) ||
        !coll_multiply(stage->slot, stage->batch, &scratch) || one > UINT32_MAX / stage->pieces)
        return false;
    stage->by_part = coll_fast_divisor_of(one ? (uint32_t)one * stage->pieces : 1);
    stage->by_batch = coll_fast_divisor_of(one ? (uint32_t)one * stage->batch : 1);
    if (scratch > 0 && stage->all > 0)
        scratch += coll_ref_offset(stage->base[COLL_SCRATCH]);
    if (stage->all > 0 && kit->scratch < scratch)
        kit->scratch = scratch;
    return true;
}

/* Makes *plan as coll_plan_init does, also of algorithms that are made of others: for the rank
 * that the kit was given, which may be NULL for all other algorithms. Kit and tables stay in
 * place as long as the plan is used. Errors besides those of coll_plan_init, also of inner
 * plans: COLL_ERR_MEMORY too few tables; COLL_ERR_COLLECTIVE none of the algorithms in
 * kit->uses for a role solves what there is to solve in it; COLL_ERR_GROUP one reaches ranks
 * that are not its own; COLL_ERR_WINDOW. */
COLL_INLINE coll_status coll_plan_build(coll_plan *plan, const coll_algorithm *algorithm,
                                        const coll_problem *problem, const uint32_t *params,
                                        coll_kit *kit)
{
    const coll_recipe *recipe;
    coll_status status;
    uint32_t roles = 0;
    if (!algorithm || !(algorithm->traits & COLL_NEEDS_BUILD))
        return coll_plan_init(plan, algorithm, problem, params);
    if (!kit || (kit->n_uses > 0 && !kit->uses))
        return COLL_ERR_NULL;
    recipe = coll_recipe_of(algorithm);
    status = coll_i_plan_init(plan, algorithm, problem, params);
    if (status != COLL_OK)
        return status;
    if (kit->rank >= problem->p)
        return COLL_ERR_RANK;
    if (kit->room < coll_kit_tables(problem))
        return COLL_ERR_MEMORY;
    plan->inner = kit;
    plan->traits &= COLL_USES_NODES | COLL_NEEDS_BUILD | COLL_NEEDS_COUNTS | COLL_NEEDS_PACKED;
    plan->window = 1;
    kit->p = problem->p;
    coll_i_nodes_assign(&kit->nodes, &problem->nodes);
    coll_i_node_write(&kit->at, &kit->nodes, kit->p, kit->rank);
    kit->leaders = coll_fast_divisor_of(1);
    kit->sockets = kit->runs = 1;
    kit->n_plans = kit->n_stages = kit->wanted = kit->found = 0;
    kit->scratch = kit->shared = 0;
    status = recipe->build(plan, kit);
    if (status != COLL_OK)
        return status;
    for (uint32_t i = 0; i < recipe->n_defaults; i++)
        roles |= 1u << recipe->defaults[i].role;
    for (uint32_t i = 0; i < kit->n_uses; i++)
        if (!((roles & (kit->found | ~kit->wanted)) >> kit->uses[i].role & 1u))
            return COLL_ERR_COLLECTIVE;
    for (uint32_t i = 0; i < kit->n_stages; i++)
        if (!coll_i_stage_finish(kit, &kit->stages[i]))
            return COLL_ERR_OVERFLOW;
    return plan->window <= 32 ? COLL_OK : COLL_ERR_WINDOW;
}

#endif /* COLL_PLAN_COMPOSITE_H */
