/* tests/nic/queue.c — hosts post, NICs run, hosts are told: collectives, several at once, errors, time-outs, work of the
 * host */
#include "support/nic_jobs.h"

/* A host posts a job; `slot`: with its descriptor, else the line has it. */
static coll_status post(uint32_t r, uint32_t channel, const job *it, uint32_t line,
                        uint32_t slot)
{
    coll_nic_request request;
    hosts_request(r, channel, &request, it->collective, it->op, COLL_I64, line);
    request.combine = &hosts.ops[it->op == COLL_MAX ? 2 : 1];
    request.program = &hosts.at[r].program[line < SLOTS ? line : 0];
    if (slot < SLOTS)
        hosts_bring(r, &request, slot);
    return coll_nic_queue_post(&hosts.at[r].queue, channel, &request);
}

TEST(collectives)
{
    for (uint32_t p = 1; p <= HOSTS; p++) {
        hosts_open(p);
        for (uint32_t k = 0; k < JOBS; k++) {
            describe(0, &jobs[k], false);
            for (uint32_t round = 0; round < 4; round++) {
                fill(round, 1);
                for (uint32_t r = 0; r < p; r++)
                    CHECK_STATUS(post(r, 1, &jobs[k], k % LINES, round == 0 ? 0 : SLOTS),
                                 COLL_OK);
                hosts_run();
                if (!CHECK(all_well(1)) || !CHECK(is_right(&jobs[k], round, 1)))
                    printf("    %s %s, p = %u, round %u\n",
                           coll_collective_name(jobs[k].collective), jobs[k].algorithm->name, p,
                           round);
            }
        }
        hosts_close();
    }
}

/* Hosts post on three channels, each in an order of its own. */
TEST(three_at_once)
{
    hosts_open(5);
    for (uint32_t round = 0; round < 60; round++) {
        const job *these[3];
        for (uint32_t c = 0; c < 3; c++) {
            these[c] = &jobs[(round + 3 * c) % JOBS];
            fill(round + c, c);
            describe(c, these[c], round % 2 != 0);
        }
        for (uint32_t r = 0; r < hosts.p; r++)
            for (uint32_t k = 0; k < 3; k++) {
                const uint32_t c = (k + r + round) % 3;
                CHECK_STATUS(post(r, c, these[c], c, c), COLL_OK);
                CHECK_STATUS(post(r, c, these[c], c, c), COLL_ERR_STATE); /* it has a call */
                if (chance_of(&hosts.random, 2))
                    (void)coll_nic_firmware_progress(&hosts.at[r].firmware);
            }
        hosts_run();
        for (uint32_t c = 0; c < 3; c++)
            CHECK(all_well(c) && is_right(these[c], round + c, c));
    }
    hosts_close();
}

/* A program that two channels run at once, each with its buffers. */
TEST(one_program_on_two_channels)
{
    hosts_open(4);
    describe(2, &jobs[0], false);
    for (uint32_t r = 0; r < hosts.p; r++) { /* only put there */
        coll_nic_request request;
        hosts_request(r, 3, &request, COLL_ALLREDUCE, COLL_SUM, COLL_I64, 2);
        hosts_bring(r, &request, 2);
        request.run = false;
        CHECK_STATUS(coll_nic_queue_post(&hosts.at[r].queue, 3, &request), COLL_OK);
    }
    hosts_run();
    CHECK(all_well(3));
    fill(1, 0);
    fill(2, 3);
    for (uint32_t r = 0; r < hosts.p; r++) {
        CHECK_STATUS(post(r, 0, &jobs[0], 2, SLOTS), COLL_OK);
        CHECK_STATUS(post(r, 3, &jobs[0], 2, SLOTS), COLL_OK);
    }
    hosts_run();
    CHECK(all_well(0) && is_right(&jobs[0], 1, 0));
    CHECK(all_well(3) && is_right(&jobs[0], 2, 3));
    hosts_close();
}

/* Operations that are placed on the host are done by it, and no others. */
TEST(the_host_works)
{
    hosts_open(4);
    for (uint32_t k = 0; k < JOBS; k++) {
        uint32_t placed = 0, worked = 0, before[HOSTS];
        describe(1, &jobs[k], true);
        fill(k, 2);
        for (uint32_t r = 0; r < hosts.p; r++) {
            before[r] = hosts.at[r].firmware.channels[2].work;
            CHECK_STATUS(post(r, 2, &jobs[k], 1, 1), COLL_OK);
            for (uint32_t i = 0; i < hosts.at[r].program[1].needs.ops; i++)
                placed += hosts.at[r].program[1].ops[i].kind == COLL_NIC_REDUCE ||
                          hosts.at[r].program[1].ops[i].kind == COLL_NIC_COPY;
        }
        hosts_run();
        CHECK(all_well(2) && is_right(&jobs[k], k, 2));
        for (uint32_t r = 0; r < hosts.p; r++)
            worked += (hosts.at[r].firmware.channels[2].work - before[r]) & 0xff;
        CHECK_EQ(worked, placed);
    }
    hosts_close();
}

/* The host gets what is long enough. */
TEST(places)
{
    const coll_nic_rates slow = {10, 5000}, fast = {4000, 50};
    const size_t bytes = coll_nic_crossing_bytes(&slow, &fast, 6000000);
    coll_nic_memory memory;
    hosts_open(4);
    describe(0, &jobs[0], false);
    memory.at = hosts.at[1].lowered[0];
    CHECK_EQ(bytes, (6000000 + 4000 - 10) / (5000 - 50) + 1);
    CHECK_EQ(coll_nic_place(&hosts.at[1].program[0], &memory, 8, SIZE_MAX), 0);
    CHECK_EQ(coll_nic_place(&hosts.at[1].program[0], &memory, 8, 17),
             0); /* of 2 elements each */
    CHECK_EQ(coll_nic_place(&hosts.at[1].program[0], &memory, 8, 16), 1);
    CHECK_EQ(coll_nic_place(&hosts.at[1].program[0], &memory, 8, 0), 3);
    CHECK_EQ(coll_nic_crossing_bytes(&fast, &slow, 1), SIZE_MAX);
    CHECK_EQ(coll_nic_crossing_bytes(&slow, &slow, 1), SIZE_MAX);
    CHECK_EQ(coll_nic_crossing_bytes(&slow, &slow, 0), 0);
    hosts_close();
}

/* ---- errors ------------------------------------------------------------------------------ */

/* A rank never comes: the others give up, have their buffers back, and the channel is closed until all open it
 * anew. */
TEST(giving_up)
{
    coll_nic_request request;
    hosts_open(4);
    describe(0, &jobs[0], false);
    fill(1, 0);
    for (uint32_t r = 1; r < hosts.p; r++)
        CHECK_STATUS(post(r, 0, &jobs[0], 0, 0), COLL_OK);
    hosts_run();
    for (uint32_t r = 1; r < hosts.p; r++)
        CHECK_STATUS(coll_nic_queue_test(&hosts.at[r].queue, 0), COLL_AGAIN);
    CHECK_STATUS(coll_nic_queue_give_up(&hosts.at[2].queue, 0), COLL_OK);
    CHECK_STATUS(coll_nic_queue_give_up(&hosts.at[2].queue, 0), COLL_OK); /* once is enough */
    hosts_run();
    CHECK_STATUS(coll_nic_queue_test(&hosts.at[2].queue, 0), COLL_ERR_CANCELLED);
    CHECK_STATUS(coll_nic_queue_test(&hosts.at[1].queue, 0), COLL_ERR_PEER);
    CHECK_STATUS(coll_nic_queue_test(&hosts.at[3].queue, 0), COLL_ERR_PEER);
    CHECK_STATUS(post(0, 0, &jobs[0], 0, 0), COLL_OK); /* too late */
    CHECK_STATUS(post(2, 0, &jobs[0], 0, 0), COLL_OK);
    hosts_run();
    CHECK_STATUS(coll_nic_queue_test(&hosts.at[0].queue, 0), COLL_ERR_PEER);
    CHECK_STATUS(coll_nic_queue_test(&hosts.at[2].queue, 0), COLL_ERR_STATE);
    for (uint32_t use = 1; use < 4; use++) {
        fill(use, 0);
        for (uint32_t r = 0; r < hosts.p; r++) {
            hosts_request(r, 0, &request, COLL_ALLREDUCE, COLL_SUM, COLL_I64, 0);
            hosts_bring(r, &request, 0);
            request.use = use;
            CHECK_STATUS(coll_nic_queue_post(&hosts.at[r].queue, 0, &request), COLL_OK);
            if (use == 2) /* before the NIC has heard of it */
                CHECK_STATUS(coll_nic_queue_give_up(&hosts.at[r].queue, 0), COLL_OK);
        }
        hosts_run();
        for (uint32_t r = 0; r < hosts.p && use == 2; r++)
            CHECK(coll_nic_queue_test(&hosts.at[r].queue, 0) < 0);
        if (use != 2)
            CHECK(all_well(0) && is_right(&jobs[0], use, 0));
    }
    hosts_close();
}

/* A descriptor that is refused with the first call of a channel that is opened anew ends the calls of all. */
TEST(refused_when_opened_anew)
{
    coll_nic_request request;
    hosts_open(3);
    describe(0, &jobs[0], false);
    for (uint32_t use = 0; use < 3; use++) {
        fill(use, 0);
        for (uint32_t r = 0; r < hosts.p; r++) {
            host *h = &hosts.at[r];
            hosts_request(r, 0, &request, COLL_ALLREDUCE, COLL_SUM, COLL_I64, 0);
            hosts_bring(r, &request, 0);
            request.use = use;
            h->memory->descriptor[0][50] ^= r == 1 && use < 2;
            CHECK_STATUS(coll_nic_queue_post(&h->queue, 0, &request), COLL_OK);
        }
        hosts_run();
        hosts.at[1].memory->descriptor[0][50] ^= use < 2;
        for (uint32_t r = 0; r < hosts.p && use < 2; r++)
            CHECK_STATUS(coll_nic_queue_test(&hosts.at[r].queue, 0),
                         r == 1 ? COLL_ERR_FORMAT : COLL_ERR_PEER);
    }
    CHECK(all_well(0) && is_right(&jobs[0], 2, 0));
    hosts_close();
}

/* A line whose program runs is not overwritten. */
TEST(a_line_in_use)
{
    coll_nic_request request;
    host *h = &hosts.at[1];
    hosts_open(2);
    describe(0, &jobs[0], false);
    fill(1, 0);
    CHECK_STATUS(post(1, 0, &jobs[0], 0, 0), COLL_OK);
    hosts_run();
    hosts_request(1, 1, &request, COLL_ALLREDUCE, COLL_SUM, COLL_I64, 0);
    hosts_bring(1, &request, 0);
    request.run = false;
    CHECK_STATUS(coll_nic_queue_post(&h->queue, 1, &request), COLL_OK);
    hosts_run();
    CHECK_STATUS(coll_nic_queue_test(&h->queue, 1), COLL_ERR_STATE);
    CHECK(strstr(coll_nic_queue_why(&h->queue, 1), "is running") != NULL);
    CHECK_STATUS(post(0, 0, &jobs[0], 0, 0), COLL_OK);
    hosts_run();
    CHECK(all_well(0) && is_right(&jobs[0], 1, 0));
    CHECK_STATUS(coll_nic_queue_post(&h->queue, 1, &request), COLL_OK);
    hosts_run();
    CHECK_STATUS(coll_nic_queue_test(&h->queue, 1), COLL_OK);
    hosts_close();
}

/* A NIC that is closed ends its calls, and has nothing of them. */
TEST(closing)
{
    hosts_open(3);
    describe(0, &jobs[0], true);
    for (uint32_t r = 1; r < hosts.p; r++)
        CHECK_STATUS(post(r, 0, &jobs[0], 0, 0), COLL_OK);
    hosts_run();
    coll_nic_firmware_close(&hosts.at[1].firmware);
    CHECK_STATUS(coll_nic_queue_test(&hosts.at[1].queue, 0), COLL_ERR_CANCELLED);
    hosts_close();
}

/* A host is woken when it asked for that, and only then. */
TEST(sleeping)
{
    hosts_open(2);
    describe(0, &jobs[0], false);
    for (uint32_t round = 0; round < 3; round++) {
        const unsigned long before = hosts.at[1].woken;
        fill(round, 0);
        coll_nic_queue_sleeps(&hosts.at[1].queue, round == 1);
        for (uint32_t r = 0; r < hosts.p; r++)
            CHECK_STATUS(post(r, 0, &jobs[0], 0, 0), COLL_OK);
        hosts_run();
        CHECK(all_well(0));
        CHECK_EQ(hosts.at[1].woken - before, round == 1 ? 1 : 0);
    }
    hosts_close();
}

/* ---- words ------------------------------------------------------------------------------- */

TEST(words)
{
    for (uint32_t k = 1; k < 20000; k++) {
        const uint32_t word = (uint32_t)chance_bits(&hosts.random);
        coll_nic_post it;
        coll_nic_post_read(&it, word);
        CHECK(coll_nic_post_word(&it) == word);
    }
    for (int reason = 0; reason <= COLL_NIC_REASONS + 1; reason++) {
        CHECK(strlen(coll_nic_reason_text((coll_nic_reason)reason)) > 10);
        CHECK((coll_nic_reason_status((coll_nic_reason)reason) == COLL_OK) == (reason == 0));
    }
    for (int status = COLL_ERR_PLACE; status <= 0; status++)
        CHECK_EQ(coll_i_nic_answer_status(
                     coll_i_nic_answer_word((coll_status)status, COLL_NIC_WHY_WORD, 0xffff)),
                 status);
}

int main(void)
{
    RUN(collectives);
    RUN(three_at_once);
    RUN(one_program_on_two_channels);
    RUN(the_host_works);
    RUN(places);
    RUN(giving_up);
    RUN(refused_when_opened_anew);
    RUN(a_line_in_use);
    RUN(closing);
    RUN(sleeping);
    RUN(words);
    return check_done();
}
