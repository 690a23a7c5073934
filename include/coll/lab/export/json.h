/* coll/lab/export/json.h — a plan as JSON: complete, and meant to be read by programs
 *
 *   result = coll_export_json(&job);
 *
 * One object; docs/formats.md explains each member. Whoever reads it can run the collective
 * without this library: it has the problem, the memory that each rank needs, every action, and
 * for each what it must come after.
 *
 *   {"format": "coll-schedule", "version": 1, "library": "0.1.0",
 *    "plan": {"collective": "allreduce", "algorithm": "ring", …},
 *    "problem": {"ranks": 3, "root": null, "count": 6, "elem_bytes": 8, …},
 *    "ranks": [
 *    {"rank": 0, "in": 6, "out": 6, "scratch": 2, "shared": 0, "steps": [
 *     [{"id": 0, "kind": "send", "peer": 1, "count": 2, "src": {"space": "IN", "offset": 0},
 *       "after": [], "behind": []}],
 *     …
 *
 * Everything but the numbers that JSON readers take for others, above 2⁵³, can be said.
 */
#ifndef COLL_LAB_EXPORT_JSON_H
#define COLL_LAB_EXPORT_JSON_H

#include "../../plan/phase.h"
#include "../../plan/graph.h"
#include "program.h"
#include "writer.h"

enum { COLL_JSON_VERSION = 1 };

/* Kinds that read or write what is at via. */
#define COLL_I_HAS_VIA (COLL_I_KIND(RECV_REDUCE) | COLL_I_KIND(REDUCE))

#define COLL_I_JSON_LIMIT ((uint64_t)1 << 53)

/* ---- what JSON can say ------------------------------------------------------------------- */

COLL_INLINE bool coll_i_json_says(uint64_t number)
{
    return number <= COLL_I_JSON_LIMIT;
}

COLL_INLINE bool coll_i_json_says_layout(const coll_layout *layout, uint32_t blocks)
{
    for (uint32_t i = 0; layout->counts && i < blocks; i++)
        if (!coll_i_json_says(layout->counts[i]) || !coll_i_json_says(layout->displs[i]))
            return false;
    return true;
}

COLL_INLINE coll_export_result coll_i_json_too_large(coll_export *job)
{
    return coll_i_refuse(job, "a count or an offset is above 2^53, where readers of JSON lose "
                              "digits: export fewer elements");
}

COLL_INLINE coll_export_result coll_i_json_asks(coll_export *job, const coll_plan *plan,
                                                const coll_action *a, const void *arg)
{
    (void)plan, (void)arg;
    if (!coll_i_json_says(a->count) ||
        (coll_i_has(COLL_I_WRITES_DST, a) && !coll_i_json_says(coll_ref_offset(a->dst))) ||
        (coll_i_has(COLL_I_READS_SRC, a) && !coll_i_json_says(coll_ref_offset(a->src))) ||
        (coll_i_has(COLL_I_HAS_VIA, a) && !coll_i_json_says(coll_ref_offset(a->via))) ||
        (a->kind == COLL_DO_REDUCE && !coll_i_json_says(a->stride)))
        return coll_i_json_too_large(job);
    return COLL_EXPORTED;
}

COLL_INLINE coll_export_result coll_i_json_check(coll_export *job)
{
    const uint32_t p = coll_i_export_plan(job, 0)->problem.p;
    for (uint32_t rank = 0; rank < p; rank++) {
        const coll_plan *plan = coll_i_export_plan(job, rank);
        const coll_problem *of = &plan->problem;
        const coll_extents extents = coll_plan_extents(plan, rank);
        if (!coll_i_json_says(of->count) || !coll_i_json_says(of->elem_bytes) ||
            !coll_i_json_says(extents.in) || !coll_i_json_says(extents.out) ||
            !coll_i_json_says(coll_plan_scratch(plan, rank)) ||
            !coll_i_json_says(coll_plan_shared(plan)) ||
            !coll_i_json_says_layout(&of->in, coll_in_blocks(of)) ||
            !coll_i_json_says_layout(&of->out, coll_out_blocks(of)))
            return coll_i_json_too_large(job);
    }
    return coll_i_export_ask(job, coll_i_json_asks, NULL);
}

/* ---- the plan ---------------------------------------------------------------------------- */

COLL_INLINE void coll_i_json_traits(coll_writer *to, uint32_t traits)
{
    const char *between = "";
    coll_i_write_text(to, "[");
#define COLL_I_JSON_TRAIT(trait, text)                                                         \
    if (traits & (uint32_t)(trait)) {                                                          \
        coll_i_write_text(to, between);                                                        \
        coll_write_quoted(to, text);                                                           \
        between = ", ";                                                                        \
    }
    COLL_TRAIT_LIST(COLL_I_JSON_TRAIT)
#undef COLL_I_JSON_TRAIT
    coll_i_write_text(to, "]");
}

/* The members that name a plan: what it solves, and how. */
COLL_INLINE void coll_i_json_plan(coll_writer *to, const coll_plan *plan)
{
    const coll_algorithm *algorithm = plan->algorithm;
    coll_i_write_text(to, "\"collective\": ");
    coll_write_quoted(to, coll_collective_name(plan->problem.collective));
    coll_i_write_text(to, ", \"algorithm\": ");
    coll_write_quoted(to, algorithm->name);
    coll_i_write_text(to, ", \"parameters\": {");
    for (uint32_t i = 0; i < algorithm->n_params; i++) {
        coll_i_write_text(to, i ? ", " : "");
        coll_write_quoted(to, algorithm->params[i].name);
        coll_i_write(to, ": %u", plan->param[i]);
    }
    coll_i_write_text(to, "}");
}

/* The plans that a rank's plan is made of, if any. */
COLL_INLINE void coll_i_json_inside(coll_writer *to, const coll_plan *plan)
{
    const coll_composition *of = coll_i_composition(plan);
    const char *between = "";
    if (!of)
        return;
    coll_i_write_text(to, ", \"inside\": [");
    for (uint32_t i = 0; i < of->n; i++) {
        const coll_plan *inner = of->phases[i].plan;
        if (!inner)
            continue;
        coll_i_write(to, "%s{", between);
        coll_i_json_plan(to, inner);
        coll_i_write(to, ", \"ranks\": %u, \"count\": %zu}", inner->problem.p,
                     inner->problem.count);
        between = ", ";
    }
    coll_i_write_text(to, "]");
}

COLL_INLINE void coll_i_json_head(coll_writer *to, const coll_plan *plan)
{
    const coll_problem *of = &plan->problem;
    coll_i_write(to, "{\"format\": \"coll-schedule\", \"version\": %d, \"library\": ",
                 COLL_JSON_VERSION);
    coll_i_write(to, "\"%d.%d.%d\",\n \"plan\": {", COLL_VERSION_MAJOR, COLL_VERSION_MINOR,
                 COLL_VERSION_PATCH);
    coll_i_json_plan(to, plan);
    coll_i_write_text(to, ", \"source\": ");
    coll_write_quoted(to, plan->algorithm->source);
    coll_i_write(to, ", \"window\": %u, \"traits\": ", plan->window);
    coll_i_json_traits(to, plan->traits);
    coll_i_write(to, "},\n \"problem\": {\"ranks\": %u, \"root\": ", of->p);
    if (coll_is(COLL_ROOTED, of->collective))
        coll_i_write(to, "%u", of->root);
    else
        coll_i_write_text(to, "null");
    coll_i_write(to, ", \"count\": %zu, \"elem_bytes\": %zu, \"in_place\": %s, ", of->count,
                 of->elem_bytes, coll_in_place(plan) ? "true" : "false");
    coll_i_write(to, "\"commutative\": %s, \"nodes\": [0",
                 of->flags & COLL_FLAG_COMMUTATIVE ? "true" : "false");
    for (uint32_t node = 1; node < coll_nodes_count(&of->nodes); node++)
        coll_i_write(to, ", %u", coll_nodes_first(&of->nodes, of->p, node));
    coll_i_write_text(to, "]},\n \"ranks\": [\n");
}

/* ---- a rank ------------------------------------------------------------------------------ */

COLL_INLINE void coll_i_json_layout(coll_writer *to, const char *name,
                                    const coll_layout *layout, uint32_t blocks)
{
    if (!layout->counts)
        return;
    coll_i_write(to, ", \"%s\": [", name);
    for (uint32_t i = 0; i < blocks; i++)
        coll_i_write(to, "%s{\"offset\": %zu, \"count\": %zu}", i ? ", " : "",
                     layout->displs[i], layout->counts[i]);
    coll_i_write_text(to, "]");
}

/* The neighbours of a rank; null: none there. */
COLL_INLINE void coll_i_json_neighbors(coll_writer *to, const coll_graph *graph, uint32_t rank,
                                       bool sources)
{
    const uint32_t n = sources ? graph->n_in : graph->n_out;
    coll_i_write(to, ", \"%s\": [", sources ? "sources" : "destinations");
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t peer = sources ? coll_graph_source(graph, rank, i)
                                      : coll_graph_destination(graph, rank, i);
        coll_i_write_text(to, i ? ", " : "");
        if (peer == COLL_RANK_NONE)
            coll_i_write_text(to, "null");
        else
            coll_i_write(to, "%u", peer);
    }
    coll_i_write_text(to, "]");
}

COLL_INLINE void coll_i_json_ref(coll_writer *to, const char *name, coll_ref ref)
{
    coll_i_write(to, ", \"%s\": {\"space\": \"%s\", \"offset\": %zu}", name,
                 coll_space_name(coll_ref_space(ref)), coll_ref_offset(ref));
}

/* The actions that a node has edges of one kind to; not the other half of its own action. */
COLL_INLINE void coll_i_json_edges(coll_writer *to, const coll_i_program *g,
                                   const coll_i_task *node, const char *name, uint32_t kind)
{
    const uint32_t *edges = coll_i_edges_of(g, node);
    const char *between = "";
    coll_i_write(to, ", \"%s\": [", name);
    for (uint32_t k = 0; k < node->n; k++) {
        const uint32_t action = coll_i_task_at(g, edges[k] / 2)->action;
        if ((edges[k] & COLL_I_BEHIND) != kind || action == node->action)
            continue;
        coll_i_write(to, "%s%u", between, action);
        between = ", ";
    }
    coll_i_write_text(to, "]");
}

/* The action of a node; a RECV_REDUCE is said at its first. */
COLL_INLINE void coll_i_json_action(coll_writer *to, const coll_i_program *g, uint32_t index)
{
    const coll_i_task *node = coll_i_task_at(g, index);
    const coll_action *a = &node->act;
    coll_i_write(to, "{\"id\": %u, \"kind\": \"%s\"", node->action,
                 coll_kind_name((coll_kind)a->kind));
    if (coll_i_has_peer(a))
        coll_i_write(to, ", \"peer\": %u", a->peer);
    if (a->kind == COLL_DO_NETWORK_REDUCE)
        coll_i_write(to, ", \"group\": %u, \"members\": %zu, \"meets\": %s", a->peer, a->stride,
                     a->flags & COLL_NETWORK_BARRIER ? "true" : "false");
    coll_i_write(to, ", \"count\": %zu", a->count);
    if (coll_i_has(COLL_I_WRITES_DST, a))
        coll_i_json_ref(to, "dst", a->dst);
    if (coll_i_has(COLL_I_READS_SRC, a))
        coll_i_json_ref(to, "src", a->src);
    if (coll_i_has(COLL_I_HAS_VIA, a))
        coll_i_json_ref(to, "via", a->via);
    if (a->kind == COLL_DO_RECV_REDUCE)
        coll_i_write(to, ", \"message_left\": %s", a->flags & COLL_LEFT ? "true" : "false");
    if (a->kind == COLL_DO_REDUCE)
        coll_i_write(to, ", \"inputs\": %u, \"stride\": %zu", (unsigned)a->inputs, a->stride);
    coll_i_json_edges(to, g, node, "after", 0);
    coll_i_json_edges(to, g, node, "behind", COLL_I_BEHIND);
    if (a->kind == COLL_DO_RECV_REDUCE)
        coll_i_json_edges(to, g, coll_i_task_at(g, index + 1), "combine_after", 0);
    coll_i_write_text(to, "}");
}

COLL_INLINE void coll_i_json_steps(coll_writer *to, const coll_i_program *g, size_t steps)
{
    uint32_t i = 0;
    for (size_t s = 0; s < steps; s++) {
        const char *between = "";
        coll_i_write_text(to, s ? ",\n   [" : "\n   [");
        for (; i < g->n && coll_i_task_at(g, i)->step == s; i++) {
            if (coll_i_task_at(g, i)->half == COLL_I_MERGES)
                continue;
            coll_i_write_text(to, between);
            coll_i_json_action(to, g, i);
            between = ",\n    ";
        }
        coll_i_write_text(to, "]");
    }
}

COLL_INLINE void coll_i_json_rank(coll_writer *to, const coll_i_program *g,
                                  const coll_plan *plan, uint32_t rank)
{
    const coll_problem *of = &plan->problem;
    const coll_extents extents = coll_plan_extents(plan, rank);
    coll_i_write(to, "  {\"rank\": %u, \"in\": %zu, \"out\": %zu, ", rank, extents.in,
                 extents.out);
    coll_i_write(to, "\"scratch\": %zu, \"shared\": %zu", coll_plan_scratch(plan, rank),
                 coll_plan_shared(plan));
    coll_i_json_layout(to, "in_blocks", &of->in, coll_in_blocks(of));
    coll_i_json_layout(to, "out_blocks", &of->out, coll_out_blocks(of));
    if (of->graph) {
        coll_i_json_neighbors(to, of->graph, rank, true);
        coll_i_json_neighbors(to, of->graph, rank, false);
    }
    coll_i_json_inside(to, plan);
    coll_i_write_text(to, ", \"steps\": [");
    coll_i_json_steps(to, g, coll_plan_steps(plan, rank));
    coll_i_write_text(to, "]}");
}

/* Writes JSON. */
COLL_INLINE coll_export_result coll_export_json(coll_export *job)
{
    const uint32_t p = coll_i_export_plan(job, 0)->problem.p;
    coll_i_program program;
    bool memory = true;
    if (coll_i_json_check(job) != COLL_EXPORTED)
        return COLL_EXPORT_REFUSED;
    memset(&program, 0, sizeof program);
    coll_i_json_head(&job->to, coll_i_export_plan(job, 0));
    for (uint32_t rank = 0; rank < p && memory && !job->to.failed; rank++) {
        const coll_plan *plan = coll_i_export_plan(job, rank);
        memory = coll_i_program_make(&program, plan, rank, true);
        if (memory)
            coll_i_json_rank(&job->to, &program, plan, rank);
        coll_i_write_text(&job->to, rank + 1 < p ? ",\n" : "\n");
    }
    coll_i_write_text(&job->to, " ]}\n");
    coll_i_program_release(&program);
    return coll_i_export_end(job, memory);
}

#endif /* COLL_LAB_EXPORT_JSON_H */
