/* The plans of the layer's calls are proven: those of the rules for messages of the library, for ranks of
 * one node and for several nodes, also where ranks are dealt out to nodes in turn. One process; MPI is
 * not begun. */
#include <stdlib.h>

#include "support/check.h"
#include "coll/select/inter_node.h"
#include "coll/table.h"
#include "coll/select/intra_node.h"
#include "layer/plans.c"
#include "layer/tuned.c"
#include "support/rules.h"

struct settings settings;

static rules_proof proof;
static size_t shared_bytes;           /* of a node */
static unsigned capabilities;         /* of a node's memory */
static void *workspaces[ASKED_RANKS]; /* what plans point to */
static uint32_t tables[5 * ASKED_RANKS + 1],
    turns; /* in which ranks are dealt out; 0: they are not */

/* ---- what plans.c asks for --------------------------------------------------------------- */

void *pool_take(size_t bytes)
{
    return malloc(bytes);
}

void pool_give(void *block)
{
    free(block);
}

unsigned nodes_offers(const struct comm *comm, const coll_problem *problem, bool blocks)
{
    (void)blocks;
    if (comm->one_node)
        return capabilities;
    return coll_nodes_count(&problem->nodes) > 1 ? capabilities & COLL_NEEDS_SHARED : 0;
}

bool nodes_hold(const coll_plan *plan)
{
    return coll_plan_fits_shared(plan, shared_bytes);
}

bool control_asked_for(const coll_rule *rule)
{
    (void)rule;
    return turns == 2; /* as if the user had asked for all of them */
}

coll_status control_passed_over(const coll_problem *problem, const coll_conditions *conditions,
                                coll_workspace *workspace, const coll_rule *taken)
{
    (void)problem, (void)conditions, (void)workspace, (void)taken;
    return COLL_OK;
}

void report_choice(const coll_problem *problem, const coll_rule *rule, coll_status against)
{
    (void)problem, (void)rule, (void)against;
}

/* ---- plans ------------------------------------------------------------------------------- */

/* Has the ranks' places found, of nodes that are as large as those of the problem. */
static void find_places(const coll_problem *problem, struct comm *comm)
{
    uint32_t *node = tables, next = 0;
    coll_rank_order_init(&comm->places);
    if (coll_nodes_count(&problem->nodes) == 1)
        return;
    for (uint32_t rank = 0; rank < comm->p; rank++)
        node[rank] = coll_node_of(&problem->nodes, comm->p, rank).index;
    for (uint32_t rank = 0; turns && rank < comm->p; rank++) { /* 0 2 4 … 1 3 5 … */
        node[rank] = coll_node_of(&problem->nodes, comm->p, next).index;
        next = next + 2 < comm->p ? next + 2 : 1;
    }
    coll_rank_order_of(&comm->places, node, comm->p, tables + comm->p);
}

/* Is it a plan of what was asked for, whose group says which ranks its numbers are? */
static coll_status check_plan(const struct job *job, const rules_question *question,
                              const coll_problem *wanted)
{
    const coll_plan *plan = &job->prepared->plan;
    const coll_problem *of = &plan->problem;
    if (of->collective != wanted->collective || of->p != wanted->p ||
        of->flags != wanted->flags || of->count != wanted->count ||
        of->elem_bytes != wanted->elem_bytes)
        return COLL_ERR_COLLECTIVE;
    if (coll_is(COLL_ROOTED, of->collective) &&
        coll_group_outer(&plan->group, of->root) != wanted->root)
        return COLL_ERR_ROOT;
    if (coll_group_outer(&plan->group, job->run.rank) != job->comm->rank ||
        ((plan->traits & COLL_NEEDS_BUILD) && job->run.rank != question->rank))
        return COLL_ERR_RANK;
    return nodes_hold(plan) ? COLL_OK : COLL_ERR_SHARED;
}

/* By plan_for: of the rank whose place is asked for, if the ranks' places are their numbers there. */
static coll_status by_layer(void *arg, const rules_question *question, coll_plan *plan,
                            const coll_rule **rule)
{
    static struct comm comm;
    coll_problem problem = *question->problem, placed;
    struct job job;
    coll_status status;
    (void)arg, (void)rule;
    memset(&comm, 0, sizeof comm);
    memset(&job, 0, sizeof job);
    comm.p = problem.p;
    turns = (uint32_t)(proof.it.count % 3);
    find_places(&problem, &comm);
    coll_problem_init(&placed, problem.collective, problem.p, 0, 1);
    problem.nodes = placed.nodes; /* they are not known yet */
    placed = problem;
    comm.rank = question->rank;
    if (coll_problem_place(&placed, &comm.places) && comm.places.rank)
        comm.rank = comm.places.rank[question->rank];
    if (coll_is(COLL_ROOTED, problem.collective) && problem.collective != COLL_BCAST &&
        comm.rank != problem.root)
        problem.flags &= ~(uint32_t)COLL_FLAG_IN_PLACE;
    comm.one_node = question->lists == settings.node_rules && comm.places.nodes.count == 0;
    coll_group_identity(&comm.group);
    comm.placed = comm.group;
    if (comm.places.rank)
        coll_group_places(&comm.placed, &comm.places);
    capabilities = question->conditions->capabilities & ~(unsigned)COLL_NEEDS_PACKED;
    shared_bytes = proof.it.count % 2 ? 1 << 16 : SIZE_MAX / 2;
    settings.packs = question->conditions->capabilities & COLL_NEEDS_PACKED ? ~0u : 0;
    settings.dedicated = question->lists == settings.spread_rules;
    free(workspaces[question->rank]);
    job.comm = &comm;
    job.prepared = &job.own;
    job.how = BLOCKING;
    status =
        plan_for(&job, &problem, !(question->conditions->requirements & COLL_GIVES_IDENTICAL));
    workspaces[question->rank] = job.workspace;
    *plan = job.own.plan;
    return status == COLL_OK ? check_plan(&job, question, &problem) : status;
}

static void prove(const char *name, const coll_rule_list *lists)
{
    rules_prove(&proof, name, lists);
    printf("    %s: %llu problems and %llu plans so far\n", name,
           (unsigned long long)proof.problems, (unsigned long long)proof.plans);
}

TEST(plans_are_proven)
{
    const size_t bytes = COLL_TABLE_BYTES(100);
    coll_table tuned;
    coll_table_init(&tuned, malloc(bytes), bytes);
    CHECK(coll_table_read(&tuned, "tuned.h", tuned_rules));
    tuned.list.next = &coll_rules_built_in;
    rules_begin(&proof);
    proof.select = by_layer;
    proof.requirements = COLL_GIVES_IDENTICAL;
    proof.p_most = 32;
    proof.beyond = 64;
    settings.rules = &tuned.list;
    settings.spread_rules = &coll_rules_of_nodes;
    settings.node_rules = coll_node_rules(false, true);
    prove("messages", settings.rules);
    prove("nodes", settings.spread_rules);
    prove("a node", settings.node_rules);
    settings.node_rules = coll_node_rules(true, false);
    prove("a node with few processors", settings.node_rules);
    CHECK(proof.plans > 1000);
    CHECK_EQ(proof.findings, 0);
    proof.n_seen = 0; /* that each rule is reached select/proof.c sees */
    rules_end(&proof);
    free(tuned.rules);
    for (uint32_t rank = 0; rank < ASKED_RANKS; rank++)
        free(workspaces[rank]);
}

int main(void)
{
    RUN(plans_are_proven);
    return check_done();
}
