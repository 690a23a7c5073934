/* tools/data.c — see data.h */
#include "data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/lab/sim/basics.h"
#include "coll/softfloat.h"
#include "memory.h"

enum { PATTERN = 0xA5 };

/* ---- one element ------------------------------------------------------------------------- */

/* Bits that are set with a probability of about 1/p, so that neither all nor none of p operands
 * have one. */
static uint64_t rare_bits(const struct data *d, uint32_t rank, uint64_t index)
{
    uint64_t bits = UINT64_MAX;
    for (uint32_t i = 0; i < coll_log2_ceil(d->job->p) + 1; i++)
        bits &= coll_i_mixed(d->seed + 1 + i, rank, index);
    return bits;
}

static bool is_float(coll_type type)
{
    return (type >= COLL_F16 && type <= COLL_F64) || type == COLL_F8_E4M3 ||
           type == COLL_F8_E5M2;
}

static bool is_pair(coll_type type)
{
    return type >= COLL_I16_I32 && type <= COLL_F64_I32;
}

/* The type of the parts of a complex number; COLL_TYPES: it is none. */
static coll_type part_of(coll_type type)
{
    return type == COLL_CF32 ? COLL_F32 : type == COLL_CF64 ? COLL_F64 : COLL_TYPES;
}

/* Largest power of two up to which all integers have a representation. */
static uint64_t exact_integers(coll_type type)
{
    return type == COLL_F64 || type == COLL_CF64   ? (uint64_t)1 << 53
           : type == COLL_F32 || type == COLL_CF32 ? (uint64_t)1 << 24
           : type == COLL_F16                      ? (uint64_t)1 << 11
           : type == COLL_F8_E4M3                  ? (uint64_t)1 << 4
           : type == COLL_F8_E5M2                  ? (uint64_t)1 << 3
                                                   : (uint64_t)1 << 8;
}

/* An operand of a sum or product of which no partial result is rounded. Of sums: integers, and
 * from as few ranks as are exact together. Of products: signs, and powers of two from at most
 * eight ranks, as 2⁸ is an E4M3 and 2⁹ is not. */
static double exact_operand(const struct data *d, uint32_t rank, uint64_t index,
                            uint64_t random)
{
    const uint64_t p = d->job->p,
                   most = d->which == COLL_PROD ? 7 : exact_integers(d->type) / 2;
    const uint64_t stride = (p - 1) / most + 1;
    const bool takes_part = (rank + index) % stride == 0;
    const uint64_t operands = (p - 1) / stride + 1;
    if (d->which == COLL_PROD)
        return (random & 1 ? 1.0 : -1.0) * (!takes_part ? 1.0 : random & 2 ? 2.0 : 0.5);
    {
        const uint64_t bound = exact_integers(d->type) / operands;
        const uint64_t range = bound < 1000 ? bound : 1000;
        return takes_part ? (double)(random % (2 * range + 1)) - (double)range : 0.0;
    }
}

static void store_float(coll_type type, double value, void *to)
{
    const float single = (float)value;
    uint32_t bits;
    uint16_t half;
    uint8_t byte;
    memcpy(&bits, &single, sizeof bits);
    half = type == COLL_F16 ? coll_f16_from_f32(bits) : coll_bf16_from_f32(bits);
    byte = type == COLL_F8_E4M3 ? coll_f8_e4m3_from_f32(bits) : coll_f8_e5m2_from_f32(bits);
    if (type == COLL_F64)
        memcpy(to, &value, sizeof value);
    else if (type == COLL_F32)
        memcpy(to, &single, sizeof single);
    else if (coll_type_bytes(type) == 1)
        memcpy(to, &byte, sizeof byte);
    else
        memcpy(to, &half, sizeof half);
}

/* Of products: a real or an imaginary number. */
static void store_complex(const struct data *d, uint32_t rank, uint64_t index, uint64_t random,
                          unsigned char *to)
{
    const double value = exact_operand(d, rank, index, random);
    const double other = exact_operand(d, rank, index, coll_i_mixed(random, rank, index));
    const bool product = d->which == COLL_PROD, turned = product && value < 0 && (random & 4);
    const coll_type part = part_of(d->type);
    store_float(part, turned ? 0 : value, to);
    store_float(part, turned ? value : product ? 0 : other, to + d->elem_bytes / 2);
}

static uint64_t integer_operand(const struct data *d, uint32_t rank, uint64_t index,
                                uint64_t random)
{
    switch (d->which) {
    case COLL_PROD:
        return random | 1; /* else products of many ranks are 0 */
    case COLL_BAND:
        return ~rare_bits(d, rank, index);
    case COLL_BOR:
        return rare_bits(d, rank, index);
    case COLL_LAND:
        return rare_bits(d, rank, index) & 1 ? 0 : random | 1;
    case COLL_LOR:
        return rare_bits(d, rank, index) & 1 ? random | 1 : 0;
    case COLL_LXOR:
        return random & 1 ? random : 0;
    default:
        return random;
    }
}

/* Bytes of the value of a pair; the index follows at the next multiple of 4 or, after 8 bytes,
 * at 8. */
static size_t pair_value_bytes(coll_type type)
{
    return type == COLL_I16_I32 ? 2 : type == COLL_I32_I32 || type == COLL_F32_I32 ? 4 : 8;
}

static size_t pair_index_at(coll_type type)
{
    return pair_value_bytes(type) == 8 ? 8 : 4;
}

/* Few different values, so that ties are common. */
static void store_pair(const struct data *d, uint32_t rank, uint64_t random, unsigned char *to)
{
    const int64_t value = (int64_t)(random % (d->job->p + (uint64_t)3)) - 2;
    const int32_t index = (int32_t)(coll_i_mixed(random, rank, 0) % INT32_MAX);
    memset(to, 0, d->elem_bytes);
    if (d->type == COLL_F64_I32) {
        store_float(COLL_F64, (double)value, to);
    } else if (d->type == COLL_F32_I32) {
        store_float(COLL_F32, (double)value, to);
    } else {
        const int16_t v16 = (int16_t)value;
        const int32_t v32 = (int32_t)value;
        const size_t bytes = pair_value_bytes(d->type);
        memcpy(to,
               bytes == 2   ? (const void *)&v16
               : bytes == 4 ? (const void *)&v32
                            : &value,
               bytes);
    }
    memcpy(to + pair_index_at(d->type), &index, sizeof index);
}

/* Element `index` of a rank's input. */
static void make_element(const struct data *d, uint32_t rank, uint64_t index, unsigned char *to)
{
    const uint64_t random = coll_i_mixed(d->seed, rank, index);
    if (!coll_is(COLL_REDUCING, d->job->collective)) {
        for (size_t i = 0; i < d->elem_bytes; i += 8) {
            const uint64_t word = random + i;
            memcpy(to + i, &word, d->elem_bytes - i < 8 ? d->elem_bytes - i : 8);
        }
    } else if (is_pair(d->type)) {
        store_pair(d, rank, random, to);
    } else if (part_of(d->type) != COLL_TYPES) {
        store_complex(d, rank, index, random, to);
    } else if (!is_float(d->type)) {
        const uint64_t value = integer_operand(d, rank, index, random);
        const uint8_t v8 = (uint8_t)value;
        const uint16_t v16 = (uint16_t)value;
        const uint32_t v32 = (uint32_t)value;
        memcpy(to,
               d->elem_bytes == 1   ? (const void *)&v8
               : d->elem_bytes == 2 ? (const void *)&v16
               : d->elem_bytes == 4 ? (const void *)&v32
                                    : &value,
               d->elem_bytes);
    } else if (d->which == COLL_SUM || d->which == COLL_PROD) {
        store_float(d->type, exact_operand(d, rank, index, random), to);
    } else {
        store_float(d->type, (double)(int64_t)(random % 200001) / 100.0 - 1000.0, to);
    }
}

static void make_input(const struct data *d, uint32_t rank, size_t first, size_t count,
                       void *to)
{
    for (size_t i = 0; i < count; i++)
        make_element(d, rank, first + i, (unsigned char *)to + i * d->elem_bytes);
}

/* ---- before ------------------------------------------------------------------------------ */

/* Is a rank's input in OUT? */
static bool input_in_out(const struct data *d, uint32_t rank)
{
    const coll_plan *plan = job_plan(d->job, rank);
    const coll_collective c = plan->problem.collective;
    return coll_in_place(plan) && c != COLL_SCATTER && c != COLL_SCATTERV &&
           (rank == plan->problem.root || !coll_is(COLL_ROOTED, c));
}

size_t data_input_count(const struct data *d, uint32_t rank)
{
    coll_plan plan = *job_plan(d->job, rank);
    plan.problem.flags &= ~(uint32_t)COLL_FLAG_IN_PLACE;
    return coll_plan_extents(&plan, rank).in;
}

/* Where in OUT the input begins, in elements, if it is there. */
static size_t input_offset(const struct data *d, uint32_t rank)
{
    const coll_plan *plan = job_plan(d->job, rank);
    const coll_collective c = plan->problem.collective;
    return c == COLL_GATHER || c == COLL_GATHERV || c == COLL_ALLGATHER || c == COLL_ALLGATHERV
               ? coll_out_block(plan, rank).offset
               : 0;
}

/* OUT as it is before the collective. */
static void fill_out(const struct data *d, uint32_t rank, void *out)
{
    const size_t count = coll_plan_extents(job_plan(d->job, rank), rank).out;
    memset(out, PATTERN, count * d->elem_bytes);
    if (input_in_out(d, rank))
        make_input(d, rank, 0, data_input_count(d, rank),
                   (unsigned char *)out + input_offset(d, rank) * d->elem_bytes);
}

void data_fill(const struct data *d, uint32_t rank, void *in, void *out)
{
    make_input(d, rank, 0, coll_plan_extents(job_plan(d->job, rank), rank).in, in);
    fill_out(d, rank, out);
}

/* ---- after ------------------------------------------------------------------------------- */

static double float_value(coll_type type, const unsigned char *at)
{
    uint32_t bits;
    uint16_t half = *at;
    double value;
    float single;
    if (coll_type_bytes(type) > 1)
        memcpy(&half, at, sizeof half);
    if (type == COLL_F64) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    bits = type == COLL_F16       ? coll_f32_from_f16(half)
           : type == COLL_F8_E4M3 ? coll_f32_from_f8_e4m3((uint8_t)half)
           : type == COLL_F8_E5M2 ? coll_f32_from_f8_e5m2((uint8_t)half)
                                  : coll_f32_from_bf16(half);
    memcpy(&single, type == COLL_F32 ? (const void *)at : &bits, sizeof single);
    return (double)single;
}

static void print_value(const struct data *d, const unsigned char *at, char *text, size_t bytes)
{
    const coll_type part = part_of(d->type);
    uint64_t word = 0;
    memcpy(&word, at, d->elem_bytes < 8 ? d->elem_bytes : 8);
    if (part != COLL_TYPES) {
        snprintf(text, bytes, "%.17g %+.17gi", float_value(part, at),
                 float_value(part, at + d->elem_bytes / 2));
    } else if (is_float(d->type)) {
        snprintf(text, bytes, "%.*g", d->type == COLL_F64 ? 17 : 9, float_value(d->type, at));
    } else if (d->type <= COLL_I64) {
        const unsigned unused = 64 - 8 * (unsigned)d->elem_bytes;
        snprintf(text, bytes, "%" PRId64, (int64_t)(word << unused) >> unused);
    } else if (d->type < COLL_F16) {
        snprintf(text, bytes, "%" PRIu64, word);
    } else {
        int32_t index;
        memcpy(&index, at + pair_index_at(d->type), sizeof index);
        snprintf(text, bytes, "(0x%" PRIx64 ", %" PRId32 ")",
                 pair_value_bytes(d->type) == 8
                     ? word
                     : word & (UINT64_MAX >> (64 - 8 * pair_value_bytes(d->type))),
                 index);
    }
}

/* Are two elements the same? What lies between the members of a pair does not count, nor does the sign of a
 * zero in a complex product, which depends on the grouping. */
static bool equal(const struct data *d, const unsigned char *a, const unsigned char *b)
{
    const coll_type part = part_of(d->type);
    const size_t half = d->elem_bytes / 2;
    if (part != COLL_TYPES)
        return !(float_value(part, a) < float_value(part, b)) &&
               !(float_value(part, a) > float_value(part, b)) &&
               !(float_value(part, a + half) < float_value(part, b + half)) &&
               !(float_value(part, a + half) > float_value(part, b + half));
    if (!is_pair(d->type))
        return memcmp(a, b, d->elem_bytes) == 0;
    return memcmp(a, b, pair_value_bytes(d->type)) == 0 &&
           memcmp(a + pair_index_at(d->type), b + pair_index_at(d->type), 4) == 0;
}

static bool compare(const struct data *d, uint32_t rank, const char *space, const void *is,
                    const void *wanted, size_t count, char *why, size_t why_bytes)
{
    const unsigned char *a = is, *b = wanted;
    if (count == 0 || memcmp(a, b, count * d->elem_bytes) == 0)
        return true;
    for (size_t i = 0; i < count; i++, a += d->elem_bytes, b += d->elem_bytes)
        if (!equal(d, a, b)) {
            char has[64], needs[64];
            print_value(d, a, has, sizeof has);
            print_value(d, b, needs, sizeof needs);
            snprintf(why, why_bytes, "rank %u has %s[%zu] = %s, and it should be %s", rank,
                     space, i, has, needs);
            return false;
        }
    return true;
}

/* What the ranks hold in common while their results are worked out one after the other. */
struct serial {
    unsigned char *sum;     /* of the ranks' inputs so far, or of all */
    unsigned char *operand; /* a rank's input */
    unsigned char *wanted;  /* a rank's OUT */
};

/* sum = sum ⊕ the input of a rank; the first rank's input begins it. */
static void add_rank(const struct data *d, const struct serial *s, uint32_t rank, size_t count)
{
    if (rank == 0) {
        make_input(d, rank, 0, count, s->sum);
        return;
    }
    make_input(d, rank, 0, count, s->operand);
    d->op.combine(s->sum, s->sum, s->operand, count, d->op.arg);
}

static void put(const struct data *d, const struct serial *s, coll_block to, uint32_t rank,
                size_t first)
{
    make_input(d, rank, first, to.count, s->wanted + to.offset * d->elem_bytes);
}

/* Block i of OUT of a neighbour collective. */
static void put_neighbor(const struct data *d, const struct serial *s, uint32_t rank,
                         uint32_t i)
{
    const coll_plan *plan = job_plan(d->job, rank);
    const coll_graph *graph = plan->problem.graph;
    const uint32_t from = coll_graph_source(graph, rank, i);
    size_t first = 0;
    if (from == COLL_RANK_NONE)
        return;
    if (plan->problem.collective != COLL_NEIGHBOR_ALLGATHER &&
        plan->problem.collective != COLL_NEIGHBOR_ALLGATHERV) {
        const coll_plan *theirs = job_plan(d->job, from);
        first = coll_in_block(theirs, coll_graph_origin(graph, rank, i, theirs->problem.graph))
                    .offset;
    }
    put(d, s, coll_out_block(plan, i), from, first);
}

void data_divide(const struct data *d, uint32_t rank, void *out)
{
    const coll_plan *plan = job_plan(d->job, rank);
    const coll_problem *of = &plan->problem;
    const coll_collective c = of->collective;
    const uint32_t operands = c == COLL_SCAN ? rank + 1 : c == COLL_EXSCAN ? rank : of->p;
    const bool scatters = c == COLL_REDUCE_SCATTER || c == COLL_REDUCE_SCATTER_BLOCK;
    const size_t count = c == COLL_REDUCE && rank != of->root ? 0
                         : scatters                           ? coll_in_block(plan, rank).count
                                                              : of->count;
    if (d->divide && operands > 1 && count > 0)
        d->divide(out, count, operands);
}

/* Works out what a rank's OUT must hold. Returns how many elements of it are defined. */
static size_t want(const struct data *d, const struct serial *s, uint32_t rank)
{
    const coll_plan *plan = job_plan(d->job, rank);
    const coll_problem *of = &plan->problem;
    const size_t extent = coll_plan_extents(plan, rank).out, count = of->count;
    const size_t bytes = d->elem_bytes;
    coll_block block = {0, count};
    fill_out(d, rank, s->wanted);
    switch (of->collective) {
    case COLL_BCAST:
        put(d, s, block, of->root, 0);
        break;
    case COLL_GATHER:
    case COLL_GATHERV:
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
        for (uint32_t i = 0; extent > 0 && i < of->p; i++)
            put(d, s, coll_out_block(plan, i), i, 0);
        break;
    case COLL_SCATTER:
    case COLL_SCATTERV:
        block.count = extent;
        put(d, s, block, of->root, coll_in_block(plan, rank).offset);
        break;
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW:
        for (uint32_t i = 0; i < of->p; i++)
            put(d, s, coll_out_block(plan, i), i,
                coll_in_block(job_plan(d->job, i), rank).offset);
        break;
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
        memcpy(s->wanted, s->sum, extent * bytes);
        break;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        block = coll_in_block(plan, rank);
        memcpy(s->wanted, s->sum + block.offset * bytes, block.count * bytes);
        return block.count;
    case COLL_SCAN:
        add_rank(d, s, rank, count);
        memcpy(s->wanted, s->sum, count * bytes);
        break;
    case COLL_EXSCAN:
        if (rank > 0)
            memcpy(s->wanted, s->sum, count * bytes);
        add_rank(d, s, rank, count);
        break;
    case COLL_NEIGHBOR_ALLGATHER:
    case COLL_NEIGHBOR_ALLGATHERV:
    case COLL_NEIGHBOR_ALLTOALL:
    case COLL_NEIGHBOR_ALLTOALLV:
    case COLL_NEIGHBOR_ALLTOALLW:
        for (uint32_t i = 0; i < of->graph->n_in; i++)
            put_neighbor(d, s, rank, i);
        break;
    case COLL_BARRIER:
    case COLL_COLLECTIVES:
        break;
    }
    return extent;
}

bool data_check(const struct data *d, uint32_t first, uint32_t ranks, void *const *in,
                void *const *out, char *why, size_t why_bytes)
{
    const coll_collective c = d->job->collective;
    const bool scans = c == COLL_SCAN || c == COLL_EXSCAN;
    struct serial s;
    size_t most_in = 0, most_out = 0;
    bool right = true;
    for (uint32_t rank = 0; rank < d->job->p; rank++) {
        const size_t n = data_input_count(d, rank);
        const size_t m = coll_plan_extents(job_plan(d->job, rank), rank).out;
        most_in = n > most_in ? n : most_in;
        most_out = m > most_out ? m : most_out;
    }
    s.sum = memory_of(most_in, d->elem_bytes);
    s.operand = memory_of(most_in, d->elem_bytes);
    s.wanted = memory_of(most_out, d->elem_bytes);
    if (coll_is(COLL_REDUCING, c) && !scans)
        for (uint32_t rank = 0; rank < d->job->p; rank++)
            add_rank(d, &s, rank, most_in);
    for (uint32_t rank = scans ? 0 : first; rank < first + ranks && right; rank++) {
        const size_t n = want(d, &s, rank); /* of a scan, from the rank before */
        const size_t given = coll_plan_extents(job_plan(d->job, rank), rank).in;
        if (rank < first)
            continue;
        data_divide(d, rank, s.wanted);
        right = compare(d, rank, "OUT", out[rank - first], s.wanted, n, why, why_bytes);
        if (right && given > 0) {
            make_input(d, rank, 0, given, s.operand);
            right = compare(d, rank, "IN", in[rank - first], s.operand, given, why, why_bytes);
        }
    }
    free(s.sum);
    free(s.operand);
    free(s.wanted);
    return right;
}
