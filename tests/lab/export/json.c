/* JSON: every row of the registry, read back without any knowledge of the plan. What is read is
 * the plan's actions, in the order of the executor, and gives the right result however its
 * actions are interleaved; without any one of its dependences, it does not. */
#include "support/check.h"
#include "coll/plan/compose.h"
#include "coll/lab/export/json.h"
#include "coll/algos/registry.h"
#include "support/exported_json.h"
#include "support/orders.h"
#include "support/player.h"

#include "support/kinds.h" /* after the rig, whose functions have locals of these names */

/* ---- reading ----------------------------------------------------------------------------- */

/* A list of actions older than `before`; false: it is none. */
static bool read_list(const json *j, uint32_t action, const char *name, uint32_t before,
                      uint32_t **list, uint32_t *n)
{
    const uint32_t of = json_get(j, action, name);
    if (!json_is(j, of, '['))
        return false;
    *list = (uint32_t *)malloc((j->values[of].number + 1) * sizeof **list);
    *n = 0;
    for (uint32_t i = j->values[of].first; i != JSON_NONE; i = j->values[i].next) {
        if (!json_is(j, i, '0') || j->values[i].number >= before)
            return false;
        (*list)[(*n)++] = (uint32_t)j->values[i].number;
    }
    return true;
}

static bool read_ref(const json *j, uint32_t action, const char *name, coll_ref *ref)
{
    const uint32_t of = json_get(j, action, name);
    for (int space = 0; space < COLL_SPACES; space++)
        if (json_says(j, of, "space", coll_space_name((coll_space)space))) {
            *ref = COLL_AT(space, json_number(j, of, "offset"));
            return json_number(j, of, "offset") != UINT64_MAX && j->values[of].number == 2;
        }
    return false;
}

/* Reads action number `id`; false: there is one member too few, or too many. */
static bool read_action(const json *j, uint32_t action, uint32_t id, play_action *x)
{
    coll_action *a = &x->act;
    unsigned kind = 0, members = 5; /* id, kind, count, after, behind */
    while (kind < COLL_KINDS && !json_says(j, action, "kind", coll_kind_name((coll_kind)kind)))
        kind++;
    if (kind == COLL_KINDS || json_number(j, action, "id") != id)
        return false;
    coll_i_act(a, (coll_kind)kind, 0, json_number(j, action, "count"));
    if (json_get(j, action, "peer") != JSON_NONE) {
        a->peer = (uint32_t)json_number(j, action, "peer");
        members++;
    }
    if (kind == COLL_DO_NETWORK_REDUCE) {
        a->peer = (uint32_t)json_number(j, action, "group");
        a->stride = json_number(j, action, "members");
        a->flags = json_is(j, json_get(j, action, "meets"), 't') ? COLL_NETWORK_BARRIER : 0;
        members += 3;
    }
    members += read_ref(j, action, "dst", &a->dst);
    members += read_ref(j, action, "src", &a->src);
    members += read_ref(j, action, "via", &a->via);
    if (kind == COLL_DO_REDUCE) {
        a->inputs = (uint16_t)json_number(j, action, "inputs");
        a->stride = json_number(j, action, "stride");
        members += 2;
    }
    if (kind == COLL_DO_RECV_REDUCE) {
        const uint32_t left = json_get(j, action, "message_left");
        a->flags = json_is(j, left, 't') ? COLL_LEFT : 0;
        members += 2;
        if (!read_list(j, action, "combine_after", id, &x->combine_after, &x->n_combine_after))
            return false;
    }
    return read_list(j, action, "after", id, &x->after, &x->n_after) &&
           read_list(j, action, "behind", id, &x->behind, &x->n_behind) &&
           j->values[action].number == members;
}

static bool read_rank(const json *j, uint32_t rank, play_rank *me)
{
    static const char *const extents[] = {"in", "out", "scratch", "shared"};
    const uint32_t steps = json_get(j, rank, "steps");
    for (int space = 0; space < COLL_SPACES; space++) {
        me->extent[space] = json_number(j, rank, extents[space]);
        if (me->extent[space] > 1000000)
            return false;
    }
    if (!json_is(j, steps, '['))
        return false;
    for (uint32_t s = j->values[steps].first; s != JSON_NONE; s = j->values[s].next)
        for (uint32_t i = json_is(j, s, '[') ? j->values[s].first : JSON_NONE; i != JSON_NONE;
             i = j->values[i].next) {
            me->actions =
                (play_action *)realloc(me->actions, (me->n + 1) * sizeof *me->actions);
            memset(&me->actions[me->n], 0, sizeof *me->actions);
            me->n++;
            if (!read_action(j, i, me->n - 1, &me->actions[me->n - 1]))
                return false;
        }
    return true;
}

/* Reads a file into programs. */
static bool read_file(const json *j, play *g)
{
    const uint32_t problem = json_get(j, 0, "problem"), ranks = json_get(j, 0, "ranks");
    uint32_t nodes = json_get(j, problem, "nodes"), r = 0, node = 0;
    bool well = json_says(j, 0, "format", "coll-schedule") &&
                json_number(j, 0, "version") == COLL_JSON_VERSION && json_is(j, ranks, '[') &&
                json_is(j, nodes, '[');
    memset(g, 0, sizeof *g);
    g->seed = 1;
    if (!well || json_number(j, problem, "ranks") != j->values[ranks].number)
        return false;
    g->p = (uint32_t)j->values[ranks].number;
    g->ranks = (play_rank *)calloc(g->p, sizeof *g->ranks);
    nodes = j->values[nodes].first;
    for (uint32_t i = j->values[ranks].first; i != JSON_NONE; i = j->values[i].next, r++) {
        const uint32_t next = j->values[nodes].next;
        if (next != JSON_NONE && j->values[next].number == r) {
            nodes = next;
            node++;
        }
        g->ranks[r].node = node;
        well = well && json_number(j, i, "rank") == r && read_rank(j, i, &g->ranks[r]);
    }
    play_init(g);
    return well;
}

/* ---- checking ---------------------------------------------------------------------------- */

/* Are the fields the same that the kind has? */
static bool same_action(const coll_action *a, const coll_action *b)
{
    const bool strided = a->kind == COLL_DO_REDUCE || a->kind == COLL_DO_NETWORK_REDUCE;
    return a->kind == b->kind && a->flags == b->flags && a->inputs == b->inputs &&
           a->peer == b->peer && a->count == b->count &&
           (!coll_i_has(COLL_I_WRITES_DST, a) || a->dst == b->dst) &&
           (!coll_i_has(COLL_I_READS_SRC, a) || a->src == b->src) &&
           (!coll_i_has(COLL_I_KIND(REDUCE) | COLL_I_KIND(RECV_REDUCE), a) ||
            a->via == b->via) &&
           (!strided || a->stride == b->stride);
}

/* Are the actions those of the plan, and the order that of the executor? */
static bool is_plan(const play_rank *me, const coll_plan *plan, uint32_t rank)
{
    order_node *nodes;
    const uint32_t n = order_nodes(plan, rank, &nodes);
    orders is, want;
    bool same = me->n == (n ? nodes[n - 1].action + 1 : 0);
    for (uint32_t v = 0; v < n && same; v++)
        same = same_action(&me->actions[nodes[v].action].act, &nodes[v].act);
    order_init(&is, n);
    order_by_pairs(&want, nodes, n);
    for (uint32_t v = 0; v < n && same; v++) {
        const play_action *x = &me->actions[nodes[v].action];
        const bool merges = nodes[v].half == 2;
        if (merges)
            order_edge(&is, v, v - 1, true);
        for (uint32_t k = 0; k < (merges ? x->n_combine_after : x->n_after); k++)
            order_edge(&is, v, order_last(nodes, merges ? x->combine_after[k] : x->after[k]),
                       true);
        for (uint32_t k = 0; k < (merges ? 0 : x->n_behind); k++)
            order_edge(&is, v, order_first(nodes, x->behind[k]), false);
    }
    same = same && order_same(&is, &want);
    order_free(&is);
    order_free(&want);
    free(nodes);
    return same;
}

static unsigned long files, lost;

/* Without an entry of a list of action i: the order is another, and if that shows in data, what
 * the entry names can be held back so that the result is wrong. */
static void lose_one(play *g, rig *it, uint32_t rank, uint32_t i, uint32_t *list, uint32_t *n,
                     uint32_t k, bool shows)
{
    const uint32_t older = list[k], last = list[*n - 1];
    bool right = true;
    list[k] = last;
    (*n)--;
    CHECK(!is_plan(&g->ranks[rank], &it->ranks[rank].plan, rank));
    g->held_rank = rank;
    g->held = older;
    g->younger = i;
    for (uint32_t seed = 1; seed <= 256 && right && shows; seed++) {
        g->seed = seed;
        g->held_from = seed % 4;
        g->eager = (seed & 4) != 0;
        right = play_rig(g, it);
    }
    g->held_rank = COLL_RANK_NONE;
    lost++;
    if (shows && !CHECK(!right))
        printf("    %s %s, %u ranks: rank %u, action %u after %u\n",
               coll_collective_name(it->problem.collective), it->ranks[0].plan.algorithm->name,
               g->p, rank, i, older);
    (*n)++;
    list[k] = older;
    list[*n - 1] = k + 1 == *n ? older : last;
}

static bool has_tokens(const play *g)
{
    for (uint32_t r = 0; r < g->p; r++)
        for (uint32_t i = 0; i < g->ranks[r].n; i++)
            if (coll_i_is_token(&g->ranks[r].actions[i].act))
                return true;
    return false;
}

/* Not in data show: tokens, messages that are mere tokens, what nobody needs, equal messages of one
 * channel, two of one channel of which the sum alone is wanted, and what is written again. */
static void lose_all(play *g, rig *it)
{
    const coll_plan *plan = &it->ranks[0].plan;
    const bool shows =
        !has_tokens(g) && !(plan->traits & (COLL_USES_PADDING | COLL_NEEDS_BUILD)) &&
        !(plan->problem.collective == COLL_REDUCE && plan->traits & COLL_NEEDS_MULTICAST) &&
        !(plan->problem.collective == COLL_EXSCAN &&
          strcmp(plan->algorithm->name, "recursive_multiplying") == 0) &&
        !coll_is(COLL_BIT(COLL_NEIGHBOR_ALLGATHER) | COLL_BIT(COLL_NEIGHBOR_ALLGATHERV),
                 plan->problem.collective);
    for (uint32_t r = 0; r < g->p; r++)
        for (uint32_t i = 0; i < g->ranks[r].n; i++) {
            play_action *x = &g->ranks[r].actions[i];
            for (uint32_t k = 0; k < x->n_after; k++)
                lose_one(g, it, r, i, x->after, &x->n_after, k, shows);
            for (uint32_t k = 0; k < x->n_behind; k++)
                lose_one(g, it, r, i, x->behind, &x->n_behind, k, shows);
            for (uint32_t k = 0; k < x->n_combine_after; k++)
                lose_one(g, it, r, i, x->combine_after, &x->n_combine_after, k, shows);
        }
}

static void visit(rig *it, const char *what, void *arg)
{
    const bool lossy = *(const bool *)arg;
    const coll_plan *plan = &it->ranks[0].plan;
    exported to;
    json j;
    play g;
    exported_init(&to, it);
    files++;
    if (!CHECK_EQ(coll_export_json(&to.job), COLL_EXPORTED) || !CHECK(json_read(&j, to.text)) ||
        !CHECK(read_file(&j, &g)) || !CHECK_EQ(g.p, it->p)) {
        printf("    %s %s: %.80s\n", what, plan->algorithm->name,
               j.at ? j.at : to.job.sentence);
        return;
    }
    CHECK(json_says(&j, json_get(&j, 0, "plan"), "algorithm", plan->algorithm->name));
    CHECK(json_says(&j, json_get(&j, 0, "plan"), "collective", what));
    for (uint32_t r = 0; r < g.p; r++)
        CHECK(is_plan(&g.ranks[r], &it->ranks[r].plan, r));
    for (uint32_t seed = 1; seed <= 3; seed++) {
        g.seed = seed;
        if (!CHECK(play_rig(&g, it)))
            printf("    %s %s, %u ranks\n", what, plan->algorithm->name, g.p);
    }
    if (lossy)
        lose_all(&g, it);
    play_free(&g);
    json_free(&j);
    free(to.text);
}

TEST(every_row)
{
    bool lossy = true;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
        CHECK(rig_each(coll_registry[i], 5, 7, visit, &lossy));
    lossy = false;
    for (size_t i = CHECK_SHARE / 2; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE)
        CHECK(rig_each(coll_registry[i], 8, 3, visit, &lossy));
    printf("    %lu files, %lu dependences lost and noticed\n", files, lost);
    CHECK(files > 300 / CHECK_SHARE && lost > 5000 / CHECK_SHARE);
}

/* Multicast, reductions by the network and shared memory in programs that no row has. */
TEST(every_kind)
{
    bool lossy = false;
    const unsigned long before = files;
    for (size_t i = 0; i < KINDS; i++)
        for (uint32_t p = 1; p <= kinds_ranks(kinds[i]); p++)
            CHECK(rig_each(kinds[i], p, 5, visit, &lossy));
    CHECK(files - before > 50);
}

/* A reduction, then a broadcast of its result: what it is made of is said. */
TEST(compositions)
{
    enum { P = 6, COUNT = 9 };
    coll_problem problem;
    coll_plan reduce, bcast, plan;
    coll_phase phases[2];
    coll_composition both;
    exported to;
    json j;
    play g;
    uint32_t rank, inside;
    coll_problem_init(&problem, COLL_REDUCE, P, COUNT, 8);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK_STATUS(coll_plan_init(&reduce, &coll_fnomial_reduce, &problem, NULL), COLL_OK);
    problem.collective = COLL_BCAST;
    problem.flags = COLL_FLAG_IN_PLACE;
    CHECK_STATUS(coll_plan_init(&bcast, &coll_kary_bcast, &problem, NULL), COLL_OK);
    coll_phase_init(&phases[0], &reduce);
    coll_phase_init(&phases[1], &bcast);
    coll_composition_init(&both, phases, 2);
    problem.collective = COLL_ALLREDUCE;
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK_STATUS(coll_plan_compose(&plan, &coll_sequence, &problem, &both), COLL_OK);
    exported_init(&to, NULL);
    to.job.plan_of = NULL;
    to.job.plan = &plan;
    CHECK_EQ(coll_export_json(&to.job), COLL_EXPORTED);
    if (CHECK(json_read(&j, to.text)) && CHECK(read_file(&j, &g))) {
        for (uint32_t r = 0; r < P; r++)
            CHECK(is_plan(&g.ranks[r], &plan, r));
        rank = j.values[json_get(&j, 0, "ranks")].first;
        inside = json_get(&j, rank, "inside");
        if (CHECK(json_is(&j, inside, '[')) && CHECK_EQ(j.values[inside].number, 2)) {
            inside = j.values[inside].first;
            CHECK(json_says(&j, inside, "algorithm", "fnomial"));
            CHECK(json_says(&j, j.values[inside].next, "collective", "bcast"));
            CHECK_EQ(json_number(&j, j.values[inside].next, "ranks"), P);
        }
        play_free(&g);
    }
    json_free(&j);
    free(to.text);
}

/* In two levels: a leader has a phase more than the other ranks of its node. */
enum { LEVELS = 6, PPN = 3 };
static coll_plan level_plans[LEVELS];

static const coll_plan *level_plan(void *arg, uint32_t rank)
{
    (void)arg;
    return &level_plans[rank];
}

TEST(composites)
{
    static coll_workspace workspace[LEVELS];
    static size_t tables[LEVELS][64];
    coll_problem problem;
    exported to;
    json j;
    coll_problem_init(&problem, COLL_ALLREDUCE, LEVELS, 9, 8);
    coll_nodes_even(&problem.nodes, LEVELS, PPN);
    for (uint32_t r = 0; r < LEVELS; r++) {
        coll_workspace_init(&workspace[r], r, tables[r], 64);
        CHECK_STATUS(coll_plan_build(&level_plans[r], &coll_two_level_allreduce.algorithm,
                                     &problem, NULL, &workspace[r]),
                     COLL_OK);
    }
    exported_init(&to, NULL);
    to.job.plan_of = level_plan;
    CHECK_EQ(coll_export_json(&to.job), COLL_EXPORTED);
    if (CHECK(json_read(&j, to.text))) {
        uint32_t rank = j.values[json_get(&j, 0, "ranks")].first;
        for (uint32_t r = 0; r < LEVELS; r++, rank = j.values[rank].next) {
            const uint32_t inside = json_get(&j, rank, "inside");
            if (!CHECK_EQ(j.values[inside].number, r % PPN == 0 ? 3 : 2) || r % PPN != 0)
                continue;
            CHECK(json_says(&j, j.values[j.values[inside].first].next, "algorithm",
                            "recursive_doubling"));
        }
    }
    json_free(&j);
    free(to.text);
}

/* Nothing is written once writing has failed, and it is told. */
static bool write_some(void *arg, const char *text, size_t bytes)
{
    size_t *left = (size_t *)arg;
    (void)text;
    CHECK(*left > 0);
    *left = bytes > *left ? 0 : *left - bytes;
    return *left > 0;
}

TEST(a_full_disk_is_told)
{
    coll_problem problem;
    coll_plan plan;
    coll_export job;
    coll_problem_init(&problem, COLL_ALLGATHER, 5, 3, 8);
    CHECK_STATUS(coll_plan_init(&plan, &coll_ring_allgather, &problem, NULL), COLL_OK);
    for (size_t room = 1; room < 5000; room += 97) {
        size_t left = room;
        coll_export_init(&job, &plan, stdout);
        job.to.write = write_some;
        job.to.arg = &left;
        CHECK_EQ(coll_export_json(&job), COLL_EXPORT_NOT_WRITTEN);
        CHECK(strcmp(job.sentence, "the export could not be written") == 0);
    }
}

int main(void)
{
    RUN(every_row);
    RUN(every_kind);
    RUN(compositions);
    RUN(composites);
    RUN(a_full_disk_is_told);
    return check_done();
}
