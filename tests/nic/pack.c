/* tests/nic/pack.c — NIC programs as bytes: what is packed is unpacked as it was, and wrong bytes do no harm */
#include "support/nic_ranks.h"

static const coll_nic_bounds bounds = {P, {COUNT, COUNT, 8 * COUNT, 0}};

static bool are_same(const coll_nic_program *a, const coll_nic_program *b)
{
    bool same = a->rank == b->rank && a->signals == b->signals &&
                memcmp(&a->needs, &b->needs, sizeof a->needs) == 0;
    for (uint32_t c = 0; c < a->needs.counters && same; c++)
        same = a->counts[c] == b->counts[c] &&
               (c >= a->signals || a->signal_peers[c] == b->signal_peers[c]);
    for (uint32_t i = 0; i < a->needs.ops && same; i++) {
        const coll_nic_op *x = &a->ops[i], *y = &b->ops[i];
        same = x->kind == y->kind && x->token == y->token && x->inputs == y->inputs &&
               x->trigger == y->trigger && x->done == y->done && x->threshold == y->threshold &&
               x->peer == y->peer && x->number == y->number && x->count == y->count &&
               x->dst == y->dst && x->src == y->src && x->via == y->via &&
               x->stride == y->stride;
    }
    return same;
}

/* What was packed is unpacked as it was, and runs. */
TEST(packed_programs)
{
    static size_t room[P][MEMORY / P / sizeof(size_t)];
    unsigned char bytes[4096];
    for (size_t a = 0; a < sizeof sums / sizeof *sums; a++)
        for (int unexpected = 0; unexpected < 2; unexpected++) {
            size_t used = 0, more;
            make(sums[a], COLL_ALLREDUCE, unexpected != 0);
            for (uint32_t r = 0; r < P; r++) {
                const coll_nic_program original = all.programs[r];
                coll_nic_memory memory;
                memory.at = room[r];
                memory.bytes = sizeof room[r];
                CHECK_STATUS(coll_nic_pack(&original, NULL, 0, &used), COLL_ERR_MEMORY);
                CHECK(used <= 12 * original.needs.ops);
                CHECK_STATUS(coll_nic_pack(&original, bytes, used - 1, &more), COLL_ERR_MEMORY);
                CHECK_EQ(more, used);
                CHECK_STATUS(coll_nic_pack(&original, bytes, used, &more), COLL_OK);
                CHECK_EQ(more, used);
                CHECK_STATUS(coll_nic_unpack(&all.programs[r], bytes, used, &bounds, &memory),
                             COLL_OK);
                CHECK(are_same(&original, &all.programs[r]));
                memory.bytes = memory.used - 1;
                CHECK_STATUS(coll_nic_unpack(&all.programs[r], bytes, used, &bounds, &memory),
                             COLL_ERR_MEMORY);
                memory.bytes = memory.used;
                CHECK_STATUS(coll_nic_unpack(&all.programs[r], bytes, used, &bounds, &memory),
                             COLL_OK);
            }
            fill(5);
            CHECK_STATUS(coll_nic_world_start(&all.world, NULL), COLL_OK);
            CHECK(sums_are_right(5));
        }
}

/* Does a program stay within the bounds? */
static bool is_bounded(const coll_nic_program *program)
{
    for (uint32_t i = 0; i < program->needs.ops; i++) {
        const coll_nic_op *op = &program->ops[i];
        const coll_ref refs[3] = {op->dst, op->src, op->via};
        const bool has[3] = {coll_i_nic_writes(op), coll_i_nic_reads(op),
                             op->kind == COLL_NIC_REDUCE};
        if ((op->trigger != COLL_NIC_NONE && op->trigger >= program->needs.counters) ||
            (op->kind != COLL_NIC_END && op->done >= program->needs.counters) || op->peer >= P)
            return false;
        for (int k = 0; k < 3 && !op->token; k++) {
            const size_t count = k == 2 && has[2] ? coll_i_nic_span(op) : op->count;
            if (has[k] &&
                (count > bounds.extent[coll_ref_space(refs[k])] ||
                 coll_ref_offset(refs[k]) > bounds.extent[coll_ref_space(refs[k])] - count))
                return false;
        }
    }
    return true;
}

/* Bytes that are wrong are refused, or are another program that stays within the bounds. */
TEST(wrong_bytes)
{
    static size_t room[MEMORY / sizeof(size_t)];
    unsigned char bytes[4096];
    size_t used;
    uint64_t random = 3;
    uint32_t refused = 0, taken = 0;
    make(&coll_ring_allreduce, COLL_ALLREDUCE, false);
    for (uint32_t k = 0; k < 20000; k++) {
        const coll_nic_program *from = &all.programs[coll_i_nic_any(&random, P)];
        coll_nic_program program;
        coll_nic_memory memory;
        unsigned char *exact;
        coll_status status;
        memory.at = room;
        memory.bytes = sizeof room;
        CHECK_STATUS(coll_nic_pack(from, bytes, sizeof bytes, &used), COLL_OK);
        if (k % 3 == 0)
            used = coll_i_nic_any(&random, (uint32_t)used);
        else
            for (uint32_t n = 1 + k % 4; n > 0; n--)
                bytes[coll_i_nic_any(&random, (uint32_t)used)] =
                    (unsigned char)coll_i_nic_any(&random, 256);
        exact =
            (unsigned char *)malloc(used + 1); /* a sanitizer sees who reads beyond the end */
        memcpy(exact, bytes, used);
        status = coll_nic_unpack(&program, exact, used, &bounds, &memory);
        free(exact);
        if (status == COLL_OK) {
            taken++;
            CHECK(is_bounded(&program));
        } else {
            refused++;
            CHECK_STATUS(status, COLL_ERR_FORMAT);
        }
    }
    CHECK(refused > 10000 && taken > 100);
}

/* Without counters nothing can wait for one. */
TEST(no_counters)
{
    static const unsigned char bytes[] = {COLL_NIC_PACK_VERSION, 0, 1, 0, 0, 0, 0, COLL_NIC_END,
                                          /* trigger */ 5,
                                          /* threshold */ 0};
    static const coll_nic_bounds least = {2, {0, 0, 0, 0}};
    static size_t room[64];
    coll_nic_memory memory;
    coll_nic_program program;
    memory.at = room;
    memory.bytes = sizeof room;
    CHECK_STATUS(coll_nic_unpack(&program, bytes, sizeof bytes, &least, &memory),
                 COLL_ERR_FORMAT);
}

int main(void)
{
    RUN(packed_programs);
    RUN(wrong_bytes);
    RUN(no_counters);
    return check_done();
}
