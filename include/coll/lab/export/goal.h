/* coll/lab/export/goal.h — a plan as GOAL text, for LogGOPSim and its kin
 *
 *   coll_goal_options options = {0};            // reductions and copies take no time
 *   options.reduce_ps = 250;                    // picoseconds a byte; or what a model says:
 *   options.compute_ps = mine;                  // of each action, see below
 *   result = coll_export_goal(&job, &options);
 *
 * GOAL (group operation assembly language) is a program of sends, receives and computations for
 * each rank, with an order on them and without data:
 *
 *   num_ranks 2
 *   rank 0 {
 *   l0: send 8b to 1 tag 0
 *   l1: recv 8b from 1 tag 0
 *   l2: calc 2
 *   l2 requires l1
 *   }
 *   …
 *
 * What is written
 *   SEND, RECV      send, recv, of as many bytes
 *   RECV_REDUCE     recv, and a calc that requires it
 *   COPY, REDUCE    calc: bytes times picoseconds a byte, in nanoseconds, rounded up; or what
 *                   the options' function says
 *   NOTIFY, AWAIT   send, recv, of one byte: GOAL has no message without any
 * MULTICAST and NETWORK_REDUCE are refused, as GOAL has neither.
 *
 * The order is that of program.h and so exactly what the executor may do: requires (after the
 * other's end) where actions touch the same elements, irequires (after its start) from message
 * to message of a channel. The window of an executor is not written down, a GOAL program is
 * taken for one that holds it whole. Messages of a channel, one rank to another, are told apart
 * by their tags, which are their numbers, so that no simulator can swap them; the order of
 * starts is there for what it costs.
 *
 * Source  Hoefler, Siebert, Lumsdaine 2009 (ICPP; group operation assembly language); Hoefler,
 *         Schneider, Lumsdaine 2010 (LogGOPSim, HPDC)
 */
#ifndef COLL_LAB_EXPORT_GOAL_H
#define COLL_LAB_EXPORT_GOAL_H

#include "program.h"
#include "writer.h"

/* What computations take in GOAL; zeroed: no time. */
typedef struct coll_goal_options {
    uint64_t reduce_ps; /* picoseconds a byte of a reduction's operands but one takes */
    uint64_t copy_ps;   /* … of a copy */
    uint8_t cpu; /* stream of the computations; messages have 0. Streams do not share time */
    /* Instead of both numbers, where it is not NULL: picoseconds that a COPY, a REDUCE, or the
     * combining of a RECV_REDUCE takes on a rank, as a cost model of the simulator has them. It
     * is called once for each, and knows its own state by `arg`. */
    uint64_t (*compute_ps)(void *arg, uint32_t rank, const coll_action *a, size_t elem_bytes);
    void *arg;
} coll_goal_options;

#define COLL_I_GOAL_TAGS 0x80000000u /* −1 means any tag */

/* Nanoseconds of an action's computation, rounded up; false: more than 64 bits hold. */
COLL_INLINE bool coll_i_goal_time(const coll_plan *plan, const coll_action *a,
                                  const coll_goal_options *options, uint64_t *ns)
{
    const bool copies = a->kind == COLL_DO_COPY;
    const uint64_t ps = copies ? options->copy_ps : options->reduce_ps;
    const uint64_t operands = a->kind == COLL_DO_REDUCE ? a->inputs : 1;
    const uint64_t bytes = (uint64_t)a->count * plan->problem.elem_bytes;
    *ns = 0;
    if (ps == 0 || (copies && a->dst == a->src))
        return true;
    if (operands > UINT64_MAX / bytes || ps > (UINT64_MAX - 999) / (bytes * operands))
        return false;
    *ns = (bytes * operands * ps + 999) / 1000;
    return true;
}

COLL_INLINE coll_export_result coll_i_goal_asks(coll_export *job, const coll_plan *plan,
                                                const coll_action *a, const void *arg)
{
    const unsigned computes =
        COLL_I_KIND(COPY) | COLL_I_KIND(REDUCE) | COLL_I_KIND(RECV_REDUCE);
    uint64_t ns;
    if (a->kind == COLL_DO_MULTICAST)
        return coll_i_refuse(job, "GOAL has no multicast: export an algorithm without the "
                                  "trait needs-multicast, or as JSON");
    if (a->kind == COLL_DO_NETWORK_REDUCE)
        return coll_i_refuse(
            job, "GOAL has no reduction by the network: export an algorithm "
                 "without the traits needs-network-reduce and needs-network-barrier, or "
                 "as JSON");
    if (coll_i_has(computes, a) && !((const coll_goal_options *)arg)->compute_ps &&
        !coll_i_goal_time(plan, a, (const coll_goal_options *)arg, &ns))
        return coll_i_refuse(job, "a computation takes more nanoseconds than GOAL can hold: "
                                  "take fewer picoseconds a byte");
    return COLL_EXPORTED;
}

COLL_INLINE void coll_i_goal_node(coll_writer *to, const coll_plan *plan, uint32_t rank,
                                  const coll_i_task *node, const coll_goal_options *options)
{
    const coll_action *a = &node->act;
    const bool computes =
        node->half == COLL_I_MERGES || a->kind == COLL_DO_COPY || a->kind == COLL_DO_REDUCE;
    uint64_t number = 0;
    if (computes) {
        if (!options->compute_ps) {
            (void)coll_i_goal_time(plan, a, options, &number); /* asked before */
        } else if (a->kind != COLL_DO_COPY || a->dst != a->src) {
            number = options->compute_ps(options->arg, rank, a, plan->problem.elem_bytes);
            number = number / 1000 + (number % 1000 != 0);
        }
        coll_i_write(to, "calc %llu", (unsigned long long)number);
        if (options->cpu > 0)
            coll_i_write(to, " cpu %u", (unsigned)options->cpu);
        return;
    }
    number = coll_i_has(COLL_I_TOKENS, a) ? 1 : (uint64_t)a->count * plan->problem.elem_bytes;
    coll_i_write(to, "%s %llub %s %u tag %u", coll_i_has(COLL_I_SENDS, a) ? "send" : "recv",
                 (unsigned long long)number, coll_i_has(COLL_I_SENDS, a) ? "to" : "from",
                 a->peer, node->message % COLL_I_GOAL_TAGS);
}

/* Writes GOAL text. */
COLL_INLINE coll_export_result coll_export_goal(coll_export *job,
                                                const coll_goal_options *options)
{
    const coll_problem *of = &coll_i_export_plan(job, 0)->problem;
    coll_i_program program;
    bool memory = true;
    if (coll_i_export_ask(job, coll_i_goal_asks, options) != COLL_EXPORTED)
        return COLL_EXPORT_REFUSED;
    memset(&program, 0, sizeof program);
    coll_i_write(&job->to, "num_ranks %u\n", of->p);
    coll_i_write(&job->to, "// %s, %s, %zu elements of %zu bytes\n",
                 coll_collective_name(of->collective),
                 coll_i_export_plan(job, 0)->algorithm->name, of->count, of->elem_bytes);
    for (uint32_t rank = 0; rank < of->p && memory && !job->to.failed; rank++) {
        const coll_plan *plan = coll_i_export_plan(job, rank);
        memory = coll_i_program_make(&program, plan, rank, true);
        coll_i_write(&job->to, "rank %u {\n", rank);
        for (uint32_t i = 0; i < program.n && memory; i++) {
            const coll_i_task *node = coll_i_task_at(&program, i);
            const uint32_t *edges = coll_i_edges_of(&program, node);
            coll_i_write(&job->to, "l%u: ", i);
            coll_i_goal_node(&job->to, plan, rank, node, options);
            coll_i_write_text(&job->to, "\n");
            for (uint32_t k = 0; k < node->n; k++)
                coll_i_write(&job->to, "l%u %s l%u\n", i,
                             edges[k] & COLL_I_BEHIND ? "irequires" : "requires", edges[k] / 2);
        }
        coll_i_write_text(&job->to, "}\n");
    }
    coll_i_program_release(&program);
    return coll_i_export_end(job, memory);
}

#endif /* COLL_LAB_EXPORT_GOAL_H */
