/* coll/lab/export/c_tables.h — NIC programs as constant tables in C: for firmware without a planner
 *
 *   coll_c_options options;
 *   coll_c_options_init(&options);
 *   result = coll_export_c(&job, &options);
 *
 * Each rank's plan is lowered (nic/lower.h), and written as a constant coll_nic_program that lies in flash; a counter
 * machine (nic/counter_machine.h) runs it over six functions of a NIC, or over any transport
 * (nic/transport_wire.h). The text is C99 and C++11, with one branch of #if for each rank, or has only the rank
 * that is asked for:
 *
 *   enum { NAME_RANKS, NAME_COUNT, NAME_ELEM_BYTES };       what all ranks have in common
 *   enum { NAME_IN, NAME_OUT, NAME_SCRATCH };               elements of this rank's buffers
 *   enum { NAME_OPS, NAME_COUNTERS };                       bytes of states, and counters, of a machine
 *   static const coll_nic_program NAME;
 *
 * What the library needs of a table is in flash; of RAM, the machine, 1 byte an operation and 4 a counter.
 */
#ifndef COLL_LAB_EXPORT_C_TABLES_H
#define COLL_LAB_EXPORT_C_TABLES_H

#include <stdlib.h>

#include "../../executor/schedule.h"
#include "../../nic/lower.h"
#include "writer.h"

/* How tables are made. */
typedef struct coll_c_options {
    const char *name; /* an identifier of C, as which all names begin */
    uint32_t
        rank; /* whose; COLL_RANK_NONE: all, and the macro NAME_RANK says which is compiled */
    coll_nic_limits limits; /* what the NIC has */
} coll_c_options;

/* Tables of all ranks, named coll_program, for a NIC without limits. */
COLL_INLINE void coll_c_options_init(coll_c_options *options)
{
    options->name = "coll_program";
    options->rank = COLL_RANK_NONE;
    coll_nic_limits_init(&options->limits);
}

/* Is it a name that C and C++ take? Keywords are not looked for. */
COLL_INLINE bool coll_c_is_name(const char *word)
{
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t n = strspn(word, letters);
    return n > 0 &&
           n + strspn(word + n, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                                "UVWXYZ_") ==
               strlen(word);
}

/* A rank's program, and the memory that it lies in. */
typedef struct coll_i_c_program {
    coll_nic_program program;
    void *memory;
    coll_status status;
    size_t scratch, shared;
    coll_extents extents;
} coll_i_c_program;

/* Lowers, in memory that grows as needed. status COLL_ERR_MEMORY: there is not so much. */
COLL_INLINE void coll_i_c_lower(coll_i_c_program *its, const coll_plan *plan, uint32_t rank,
                                const coll_nic_limits *limits)
{
    coll_nic_memory memory = {NULL, 1 << 16, 0};
    coll_action *actions = NULL;
    coll_schedule schedule;
    coll_counts counts;
    its->memory = NULL;
    its->status = coll_plan_count(plan, rank, &counts);
    if (its->status != COLL_OK)
        return;
    actions = (coll_action *)malloc((counts.total + 1) * sizeof *actions);
    its->status = actions ? coll_schedule_write(&schedule, plan, rank, actions, counts.total)
                          : COLL_ERR_MEMORY;
    while (its->status == COLL_OK) {
        free(its->memory);
        its->memory = memory.at = malloc(memory.bytes);
        its->status = memory.at
                          ? coll_nic_lower(&its->program, plan, &schedule, limits, &memory)
                          : COLL_ERR_MEMORY;
        if (its->status != COLL_ERR_MEMORY || !memory.at)
            break;
        memory.bytes = memory.used > 2 * memory.bytes ? memory.used : 2 * memory.bytes;
        its->status = COLL_OK;
    }
    free(actions);
    its->scratch = coll_plan_scratch(plan, rank);
    its->shared = coll_plan_shared(plan);
    its->extents = coll_plan_extents(plan, rank);
}

/* ---- the text ---------------------------------------------------------------------------- */

COLL_INLINE void coll_i_c_ref(coll_writer *to, coll_ref ref)
{
    static const char *const spaces[] = {"COLL_IN", "COLL_OUT", "COLL_SCRATCH", "COLL_SHARED"};
    coll_i_write(to, ", COLL_AT(%s, %llu)", spaces[coll_ref_space(ref)],
                 (unsigned long long)coll_ref_offset(ref));
}

COLL_INLINE void coll_i_c_counter(coll_writer *to, uint16_t counter)
{
    if (counter == COLL_NIC_NONE)
        coll_i_write_text(to, ", COLL_NIC_NONE");
    else
        coll_i_write(to, ", %u", (unsigned)counter);
}

/* An operation, in the order of the members of coll_nic_op. */
COLL_INLINE void coll_i_c_op(coll_writer *to, const coll_nic_op *op)
{
    static const char *const kinds[COLL_NIC_KINDS] = {"SEND",    "RECV",   "COPY", "REDUCE",
                                                      "NETWORK", "SIGNAL", "ADD",  "END"};
    coll_i_write(to, "    {COLL_NIC_%s, %u, %u", kinds[op->kind], op->token, op->inputs);
    coll_i_c_counter(to, op->trigger);
    coll_i_c_counter(to, op->done);
    coll_i_write(to, ", %lu, %lu, %lu, %llu", (unsigned long)op->threshold,
                 (unsigned long)op->peer, (unsigned long)op->number,
                 (unsigned long long)op->count);
    coll_i_c_ref(to, op->dst);
    coll_i_c_ref(to, op->src);
    coll_i_c_ref(to, op->via);
    coll_i_write(to, ", %llu},\n", (unsigned long long)op->stride);
}

/* Numbers between braces, one at least, as C has no empty arrays. */
COLL_INLINE void coll_i_c_numbers(coll_writer *to, const uint32_t *numbers, uint32_t n)
{
    coll_i_write_text(to, "{");
    for (uint32_t i = 0; i < n; i++)
        coll_i_write(to,
                     i % 16 == 15 ? "%lu,\n    "
                     : i + 1 < n  ? "%lu, "
                                  : "%lu",
                     (unsigned long)numbers[i]);
    coll_i_write_text(to, n == 0 ? "0};\n" : "};\n");
}

COLL_INLINE void coll_i_c_program_text(coll_writer *to, const char *name,
                                       const coll_i_c_program *its)
{
    const coll_nic_program *p = &its->program;
    coll_i_write_text(to, "enum {\n");
#define COLL_I_C_NUMBER(what, number)                                                          \
    (coll_i_write_text(to, "    "), coll_i_write_text(to, name),                               \
     coll_i_write(to, "_" what " = %llu,\n", (unsigned long long)(number)))
    COLL_I_C_NUMBER("IN", its->extents.in);
    COLL_I_C_NUMBER("OUT", its->extents.out);
    COLL_I_C_NUMBER("SCRATCH", its->scratch);
    COLL_I_C_NUMBER("OPS", p->needs.ops);
    COLL_I_C_NUMBER("COUNTERS", p->needs.counters);
#undef COLL_I_C_NUMBER
    coll_i_write_text(to, "};\nstatic const coll_nic_op ");
    coll_i_write_text(to, name);
    coll_i_write_text(to, "_ops[] = {\n");
    for (uint32_t i = 0; i < p->needs.ops; i++)
        coll_i_c_op(to, &p->ops[i]);
    coll_i_write_text(to, "};\nstatic const uint32_t ");
    coll_i_write_text(to, name);
    coll_i_write_text(to, "_counts[] = ");
    coll_i_c_numbers(to, p->counts, p->needs.counters);
    coll_i_write_text(to, "static const uint32_t ");
    coll_i_write_text(to, name);
    coll_i_write_text(to, "_signal_peers[] = ");
    coll_i_c_numbers(to, p->signal_peers, p->signals + p->arrivals);
    coll_i_write_text(to, "static const coll_nic_program ");
    coll_i_write_text(to, name);
    coll_i_write_text(to, " = {");
    coll_i_write_text(to, name);
    coll_i_write_text(to, "_ops, ");
    coll_i_write_text(to, name);
    coll_i_write_text(to, "_counts, ");
    coll_i_write_text(to, name);
    coll_i_write(to, "_signal_peers, %lu, %lu, %lu, {%lu, %lu, %lu, %lu}};\n",
                 (unsigned long)p->signals, (unsigned long)p->arrivals, (unsigned long)p->rank,
                 (unsigned long)p->needs.ops, (unsigned long)p->needs.counters,
                 (unsigned long)p->needs.receives, (unsigned long)p->needs.actions);
}

/* The first lines, which all ranks have in common. */
COLL_INLINE void coll_i_c_head(coll_writer *to, const coll_plan *plan,
                               const coll_c_options *options)
{
    const coll_problem *problem = &plan->problem;
    coll_i_write(to,
                 "/* %s by %s on %lu ranks: programs of counters and triggers, made by coll "
                 "export c */\n",
                 coll_collective_name(problem->collective), plan->algorithm->name,
                 (unsigned long)problem->p);
    coll_i_write_text(to, "#include \"coll/nic/nic_program.h\"\n\nenum { ");
    coll_i_write_text(to, options->name);
    coll_i_write(to, "_RANKS = %lu, ", (unsigned long)problem->p);
    coll_i_write_text(to, options->name);
    coll_i_write(to, "_COUNT = %llu, ", (unsigned long long)problem->count);
    coll_i_write_text(to, options->name);
    coll_i_write(to, "_ELEM_BYTES = %llu };\n", (unsigned long long)problem->elem_bytes);
}

/* Is a rank's program one that can be written? */
COLL_INLINE coll_export_result coll_i_c_check(coll_export *job, const coll_i_c_program *its,
                                              uint32_t rank, const coll_nic_limits *limits)
{
    const char *why;
    if (its->status == COLL_ERR_MEMORY)
        return coll_i_export_end(job, false);
    if (its->status != COLL_OK)
        return coll_i_refuse(job, "the plan of rank %u is not lowered: %s", rank,
                             coll_status_text(its->status));
    if (its->shared > 0)
        return coll_i_refuse(job, "a table has no memory that ranks share: export an algorithm "
                                  "without the trait needs-shared, or as JSON");
    why = coll_nic_refusal(&its->program.needs, limits);
    return why ? coll_i_refuse(job, "rank %u: %s", rank, why) : COLL_EXPORTED;
}

/* Writes one rank's program, or only looks whether that can be. */
COLL_INLINE coll_export_result coll_i_c_rank(coll_export *job, const coll_c_options *options,
                                             uint32_t rank, bool writes)
{
    const bool all = options->rank == COLL_RANK_NONE;
    coll_writer *to = &job->to;
    coll_i_c_program its;
    coll_export_result result;
    coll_i_c_lower(&its, coll_i_export_plan(job, rank), rank, &options->limits);
    result = coll_i_c_check(job, &its, rank, &options->limits);
    if (result == COLL_EXPORTED && writes) {
        if (all) {
            coll_i_write(to, "\n#%s ", rank == 0 ? "if" : "elif");
            coll_i_write_text(to, options->name);
            coll_i_write(to, "_RANK == %lu\n", (unsigned long)rank);
        } else {
            coll_i_write_text(to, "\n");
        }
        coll_i_c_program_text(to, options->name, &its);
    }
    free(its.memory);
    return result;
}

/* Writes the programs of all ranks, or of one, as C. Refused where a plan is not one for the NIC of the limits, or
 * uses memory that ranks share; nothing is written then. */
COLL_INLINE coll_export_result coll_export_c(coll_export *job, const coll_c_options *options)
{
    const bool all = options->rank == COLL_RANK_NONE;
    const coll_plan *plan = coll_i_export_plan(job, all ? 0 : options->rank);
    const uint32_t p = plan->problem.p, first = all ? 0 : options->rank,
                   last = all ? p - 1 : options->rank;
    coll_export_result result = coll_i_export_ask(job, NULL, NULL);
    if (!coll_c_is_name(options->name))
        return coll_i_refuse(job, "'%.40s' is no identifier of C: take letters, digits and _",
                             options->name);
    for (unsigned writes = 0; writes < 2; writes++) {
        if (writes && result == COLL_EXPORTED)
            coll_i_c_head(&job->to, plan, options);
        for (uint32_t rank = first; rank <= last && result == COLL_EXPORTED; rank++)
            result = coll_i_c_rank(job, options, rank, writes != 0);
    }
    if (result != COLL_EXPORTED)
        return result;
    if (all) {
        coll_i_write_text(&job->to, "\n#else\n#error \"define ");
        coll_i_write_text(&job->to, options->name);
        coll_i_write_text(&job->to, "_RANK as the rank of this program, a number\"\n#endif\n");
    }
    return coll_i_export_end(job, true);
}

#endif /* COLL_LAB_EXPORT_C_TABLES_H */
