/* tests/nic/rename.c — programs of a group's ranks get the numbers that these have among the NICs */
#include "support/nic_ranks.h"

enum { GROUP = P / 2 };

/* Two groups that share no NIC, neither in the order of the NICs. */
static const uint32_t tables[2][GROUP] = {{4, 0, 2}, {5, 3, 1}};

static bool talks(const coll_nic_op *op)
{
    return op->kind == COLL_NIC_SEND || op->kind == COLL_NIC_RECV ||
           op->kind == COLL_NIC_SIGNAL;
}

/* What of an operation must stay. */
static bool is_as_before(const coll_nic_op *a, const coll_nic_op *b)
{
    return a->kind == b->kind && a->token == b->token && a->inputs == b->inputs &&
           a->trigger == b->trigger && a->done == b->done && a->threshold == b->threshold &&
           a->number == b->number && a->count == b->count && a->dst == b->dst &&
           a->src == b->src && a->via == b->via && a->stride == b->stride;
}

/* Lowers what the ranks of a group do in a plan, and gives the programs to their NICs. */
static void lower_group(const uint32_t *table, const coll_algorithm *algorithm,
                        coll_collective collective, bool unexpected)
{
    static size_t before[MEMORY / P / sizeof(size_t)];
    coll_problem problem;
    coll_nic_limits limits;
    coll_group group;
    uint32_t signals = 0;
    coll_nic_limits_init(&limits);
    limits.unexpected = unexpected;
    coll_problem_init(&problem, collective, GROUP, COUNT, sizeof(int32_t));
    problem.flags = collective == COLL_ALLREDUCE ? COLL_FLAG_COMMUTATIVE : 0;
    problem.root = collective == COLL_BCAST ? 1 : 0;
    CHECK_STATUS(coll_plan_init(&all.plan, algorithm, &problem, NULL), COLL_OK);
    coll_group_table(&group, table, NULL);
    CHECK_STATUS(coll_plan_place(&all.plan, &group), COLL_OK);
    for (uint32_t r = 0; r < GROUP; r++) {
        coll_nic_program *program = &all.programs[table[r]];
        coll_schedule schedule;
        coll_nic_memory memory;
        const coll_nic_op *was = (const coll_nic_op *)before;
        memset(&schedule, 0, sizeof schedule);
        memory.at = all.memory[table[r]];
        memory.bytes = sizeof all.memory[table[r]];
        memory.used = 0;
        CHECK_STATUS(coll_schedule_write(&schedule, &all.plan, r, all.actions, (size_t)OPS),
                     COLL_OK);
        CHECK_STATUS(coll_nic_lower(program, &all.plan, &schedule, &limits, &memory), COLL_OK);
        memcpy(before, memory.at, memory.used);
        CHECK_EQ(program->rank, r);
        coll_nic_rename(program, &memory, &all.plan.group);
        CHECK_EQ(program->rank, table[r]);
        signals += program->signals;
        for (uint32_t i = 0; i < program->needs.ops; i++) {
            CHECK(is_as_before(&program->ops[i], &was[i]));
            CHECK_EQ(program->ops[i].peer, talks(&was[i]) ? table[was[i].peer] : was[i].peer);
        }
        for (uint32_t i = 0; i < program->signals; i++) {
            bool member = false;
            for (uint32_t k = 0; k < GROUP; k++)
                member = member || (k != r && program->signal_peers[i] == table[k]);
            CHECK(member);
        }
    }
    CHECK_EQ(signals > 0, !unexpected);
}

/* Both groups at once on their NICs, epoch after epoch: each has the sums of its own. */
TEST(two_groups_of_one_machine)
{
    for (size_t a = 0; a < sizeof sums / sizeof *sums; a++)
        for (int unexpected = 0; unexpected < 2; unexpected++) {
            CHECK_STATUS(coll_op_builtin(&all.op, COLL_SUM, COLL_I32), COLL_OK);
            for (int g = 0; g < 2; g++)
                lower_group(tables[g], sums[a], COLL_ALLREDUCE, unexpected != 0);
            open_all(&coll_nic_loopback);
            all.world.unexpected = unexpected != 0;
            for (uint32_t epoch = 1; epoch <= 3; epoch++) {
                fill(epoch);
                CHECK_STATUS(coll_nic_world_start(&all.world, NULL), COLL_OK);
                for (uint32_t r = 0; r < P; r++) {
                    const uint32_t *table = tables[r & 1];
                    const uint32_t ranks = table[0] + table[1] + table[2];
                    for (uint32_t i = 0; i < COUNT; i++)
                        CHECK_EQ(all.out[r][i],
                                 (int32_t)(GROUP * (1000 * epoch + i) + 10 * ranks));
                }
            }
        }
}

/* A root is a rank of the plan: 1, which is NIC 0 of the one group and NIC 3 of the other. */
TEST(roots_of_groups)
{
    for (int unexpected = 0; unexpected < 2; unexpected++) {
        for (int g = 0; g < 2; g++)
            lower_group(tables[g], &coll_fnomial_bcast, COLL_BCAST, unexpected != 0);
        open_all(&coll_nic_loopback);
        all.world.unexpected = unexpected != 0;
        fill(7);
        CHECK_STATUS(coll_nic_world_start(&all.world, NULL), COLL_OK);
        for (uint32_t r = 0; r < P; r++)
            for (uint32_t i = 0; i < COUNT; i++)
                CHECK_EQ(all.out[r][i], (int32_t)(7000 + 10 * tables[r & 1][1] + i));
    }
}

/* With the names of others, programs are described, and read back, as those of their NICs. */
TEST(what_a_descriptor_names)
{
    static size_t room[MEMORY / P / sizeof(size_t)];
    unsigned char bytes[4096];
    const coll_nic_bounds bounds = {P, {COUNT, COUNT, 8 * COUNT, 0}};
    lower_group(tables[0], &coll_ring_allreduce, COLL_ALLREDUCE, false);
    for (uint32_t r = 0; r < GROUP; r++) {
        coll_nic_program back;
        coll_nic_memory memory;
        size_t used;
        memory.at = room;
        memory.bytes = sizeof room;
        CHECK_STATUS(coll_nic_pack(&all.programs[tables[0][r]], bytes, sizeof bytes, &used),
                     COLL_OK);
        if (!CHECK_STATUS(coll_nic_unpack(&back, bytes, used, &bounds, &memory), COLL_OK))
            continue;
        CHECK_EQ(back.rank, tables[0][r]);
        for (uint32_t i = 0; i < back.needs.ops; i++)
            CHECK_EQ(back.ops[i].peer, all.programs[tables[0][r]].ops[i].peer);
    }
}

int main(void)
{
    RUN(two_groups_of_one_machine);
    RUN(roots_of_groups);
    RUN(what_a_descriptor_names);
    return check_done();
}
