/* examples/boards/host.c — a Linux process whose network card is a board: it posts words, and its board runs the collectives
 *
 *   host WINDOW LOSES BYTES QEMU BOARD IMAGE RANK RANKS MILLISECONDS RETRY SESSION
 *
 * QEMU … are a command that runs the board; WINDOW is the file of its memory, which must not be there yet. run.sh
 * starts a process for each rank, with HOSTS=1. The process has no network.
 *
 * Three calls run at once, which each rank posts in an order of its own, until each job of jobs.h has run on each
 * channel. It prints a line for each job: rank, what it was, and the checksum of its result, as a board that runs plans itself
 * does (rack.c). Then one rank makes each mistake that a card has to refuse, and the calls of all others end with an error,
 * too; after each the channel is opened anew. At last the board of rank LOSES (`-`: nobody's) loses its power: calls end, and
 * the other ranks go on among themselves.
 *
 * Exit code 0: everything was as it should be. 1: it was not. 2: the arguments are wrong.
 */
#include "calls.h"

static uint32_t bytes, loses;

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "rank %u: %s: %s\n", (unsigned)me.rank, what, why);
    return false;
}

/* ---- jobs -------------------------------------------------------------------------------- */

/* The jobs of hosts; how many. */
static uint32_t list(uint32_t *ours)
{
    static job_call call;
    uint32_t n = 0;
    for (uint32_t i = 0; i < JOBS; i++)
        if (job_is_for(i, true) && job_fits(&call, i, me.p, bytes))
            ours[n++] = i;
    return n;
}

/* The result of a channel's job is what it was before, or is told. */
static bool tell(uint32_t channel, uint32_t number)
{
    static uint32_t sums[JOBS];
    static bool known[JOBS];
    const uint32_t sum = job_sum(&me.job[channel]);
    if (known[number] && sums[number] != sum)
        return fail(jobs[number].name, "another result than before");
    if (!known[number])
        printf("rank %u: %s: %08x\n", (unsigned)me.rank, jobs[number].name, (unsigned)sum);
    known[number] = true;
    sums[number] = sum;
    return true;
}

/* Three calls at once, of jobs whose lines are not the same. */
static bool together(const uint32_t *ours, uint32_t n, uint32_t round)
{
    uint32_t number[CARD_CHANNELS];
    for (uint32_t k = 0; k < CARD_CHANNELS; k++) {
        const uint32_t c = (k + me.rank) % CARD_CHANNELS;
        coll_status status;
        number[c] = ours[(round + c * (n / CARD_CHANNELS)) % n];
        status = calls_post(c, number[c]);
        if (status != COLL_OK)
            return fail(jobs[number[c]].name, coll_status_text(status));
    }
    for (uint32_t c = 0; c < CARD_CHANNELS; c++) {
        const coll_status status = calls_finish(c);
        if (status != COLL_OK)
            return fail(jobs[number[c]].name, calls_why(c, status));
        if (!tell(c, number[c]))
            return false;
    }
    return true;
}

/* ---- mistakes ---------------------------------------------------------------------------- */

/* What a host may do wrong with a request for the barrier, and what its card answers. */
typedef enum mistake { WORD, EMPTY, LINE, DAMAGE, RANK, SHORT, MISTAKES } mistake;
static const struct {
    const char *name;
    coll_nic_reason why;
} mistakes[MISTAKES] = {{"a word that names no collective", COLL_NIC_WHY_WORD},
                        {"a line without a program", COLL_NIC_WHY_EMPTY},
                        {"a line that the card has not", COLL_NIC_WHY_LINE},
                        {"a damaged descriptor", COLL_NIC_WHY_DESCRIPTOR},
                        {"the program of another rank", COLL_NIC_WHY_RANK},
                        {"a buffer that is too short", COLL_NIC_WHY_BUFFER}};
enum { BARRIER = 0, SUM = 4 }; /* jobs */
/* Uses of channel 0: the first one is of calls that end well, some of which another rank may still be in. */
enum { FIRST_MISTAKE = 1, LATE = FIRST_MISTAKE + MISTAKES, WELL_AGAIN };

static coll_status post_mistake(mistake which)
{
    enum { OTHER = JOBS };
    const uint32_t number = which == SHORT ? SUM : BARRIER;
    job_call *call = &me.job[0];
    coll_nic_request request;
    coll_status status = job_make(call, number, me.p, (me.rank + (which == RANK)) % me.p);
    if (status == COLL_OK)
        status = calls_describe(OTHER, &call->plan, call->task.rank);
    if (status != COLL_OK)
        return status;
    calls_request(&request, 0, &jobs[number], OTHER, SPARE);
    if (which == EMPTY || which == LINE || which == WORD)
        request.descriptor = NULL;
    if (which == WORD)
        request.collective = (coll_collective)31;
    if (which == LINE)
        request.line = CARD_LINES;
    if (which == DAMAGE)
        me.at->descriptor[OTHER][request.descriptor_bytes / 2] ^= 1;
    if (which == SHORT)
        request.out_bytes = 8;
    status = coll_nic_queue_post(&me.queue, 0, &request);
    me.words += status == COLL_OK;
    return status;
}

/* One rank makes a mistake, and its card says which; the calls of all others end, too. */
static bool err(mistake which)
{
    const bool mine = which % me.p == me.rank;
    coll_status status;
    me.use[0] = FIRST_MISTAKE + (uint32_t)which;
    status = mine ? post_mistake(which) : calls_post(0, which == SHORT ? SUM : BARRIER);
    if (status == COLL_OK)
        status = calls_finish(0);
    if (mine && (status != coll_nic_reason_status(mistakes[which].why) ||
                 strcmp(calls_why(0, status), coll_nic_reason_text(mistakes[which].why)) != 0))
        return fail(mistakes[which].name, calls_why(0, status));
    if (mine)
        printf("rank %u, %s: %s\n", (unsigned)me.rank, mistakes[which].name,
               calls_why(0, status));
    return mine || status == COLL_ERR_PEER || status == COLL_ERR_IO ||
           fail(mistakes[which].name, "the calls of the other ranks do not end");
}

/* Rank 0 does not call what the others call, until rank 1 has given it up. */
static bool be_late(void)
{
    coll_status status = COLL_OK;
    me.use[0] = LATE;
    if (me.rank != 0)
        status = calls_post(0, BARRIER);
    if (me.rank == 1) {
        if (status == COLL_OK)
            status = coll_nic_queue_give_up(&me.queue, 0);
        if (status == COLL_OK)
            status = calls_finish(0);
        if (status != COLL_ERR_CANCELLED)
            return fail("a call that is given up", calls_why(0, status));
        status = COLL_OK;
    }
    if (status == COLL_OK)
        status = calls_run(1, BARRIER);
    if (status != COLL_OK)
        return fail("a barrier", calls_why(1, status));
    if (me.rank == 0)
        status = calls_post(0, BARRIER);
    if (status == COLL_OK && me.rank != 1 && calls_finish(0) != COLL_ERR_PEER)
        return fail("a call that another rank has given up", calls_why(0, COLL_ERR_STATE));
    return status == COLL_OK || fail("a barrier", coll_status_text(status));
}

/* ---- a board is lost --------------------------------------------------------------------- */

/* The ranks that are left add up numbers among themselves: a plan of p − 1 ranks, and its group. */
static bool go_on(void)
{
    enum { THEIRS = JOBS + 1 };
    static const job sum = {"the ranks that are left",
                            &coll_ring_allreduce,
                            COLL_ALLREDUCE,
                            COLL_I32,
                            600,
                            &job_add_i32};
    static uint32_t left[JOB_RANKS];
    static job_call call;
    const uint32_t n = me.p - 1, rank = me.rank - (me.rank > loses);
    int32_t *in = (int32_t *)(void *)me.at->in[2], *out = (int32_t *)(void *)me.at->out[2];
    coll_problem problem;
    coll_nic_request request;
    coll_status status;
    for (uint32_t i = 0; i < n; i++)
        left[i] = i + (i >= loses);
    coll_problem_init(&problem, sum.collective, n, sum.count, sizeof(int32_t));
    problem.flags = COLL_FLAG_COMMUTATIVE;
    status = coll_plan_init(&call.plan, sum.algorithm, &problem, NULL);
    coll_group_table(&call.plan.group, left, NULL);
    if (status == COLL_OK)
        status = calls_describe(THEIRS, &call.plan, rank);
    for (size_t i = 0; i < sum.count; i++) {
        in[i] = (int32_t)(me.rank * 1000 + i);
        out[i] = -1;
    }
    calls_request(&request, 2, &sum, THEIRS, SPARE);
    if (status == COLL_OK)
        status = calls_ring(2, &request, THEIRS);
    if (status == COLL_OK)
        status = calls_finish(2);
    if (status != COLL_OK)
        return fail(sum.name, calls_why(2, status));
    for (size_t i = 0; i < sum.count; i++) {
        size_t wanted = i * n;
        for (uint32_t k = 0; k < n; k++)
            wanted += left[k] * 1000;
        if (out[i] != (int32_t)wanted)
            return fail(sum.name, "the sum is wrong");
    }
    return true;
}

/* A board loses its power: the calls of all ranks end. */
static bool lose(void)
{
    coll_status status;
    if (me.rank == loses)
        card_off(&me.card);
    status = calls_run(1, SUM);
    if (status != COLL_ERR_PEER && status != COLL_ERR_IO)
        return fail("a board is off", calls_why(1, status));
    printf("rank %u, the board of rank %u is off: %s\n", (unsigned)me.rank, (unsigned)loses,
           calls_why(1, status));
    return me.rank == loses || me.p < 3 || go_on();
}

/* ------------------------------------------------------------------------------------------ */

static bool run(void)
{
    uint32_t ours[JOBS];
    const uint32_t n = list(ours);
    bool well = true;
    for (uint32_t round = 0; round < n && well; round++)
        well = together(ours, n, round);
    for (int which = 0; which < MISTAKES && well && me.p > 1; which++)
        well = err((mistake)which);
    well = well && (me.p == 1 || be_late());
    me.use[0] = WELL_AGAIN;
    for (uint32_t i = 0; i < n && well; i++) {
        const coll_status status = calls_run(0, ours[i]);
        well = status == COLL_OK ? tell(0, ours[i])
                                 : fail(jobs[ours[i]].name, calls_why(0, status));
    }
    return well && (loses >= me.p || lose());
}

int main(int argc, char **argv)
{
    bool well;
    if (argc != 12) {
        fprintf(stderr, "usage: host WINDOW LOSES BYTES QEMU BOARD IMAGE RANK RANKS "
                        "MILLISECONDS RETRY SESSION\n");
        return 2;
    }
    loses = *argv[2] == '-' ? COLL_RANK_NONE : (uint32_t)strtoul(argv[2], NULL, 10);
    bytes = (uint32_t)strtoul(argv[3], NULL, 10);
    me.rank = (uint32_t)strtoul(argv[7], NULL, 10);
    me.p = (uint32_t)strtoul(argv[8], NULL, 10);
    me.patience = 2 * (int)strtoul(argv[9], NULL, 10);
    if (me.p == 0 || me.p > JOB_RANKS || me.rank >= me.p || bytes < 8 || bytes > BUFFER ||
        me.patience < 2) {
        fprintf(stderr, "host: 1 to %d ranks, and buffers of 8 to %d bytes\n", JOB_RANKS,
                BUFFER);
        return 2;
    }
    well = calls_open(argv[1], argv + 4) || fail(argv[5], "the card does not start");
    well = well && run();
    if (me.card.board != 0 && me.card.line >= 0)
        well = card_leave(&me.card) == 0 && well;
    card_off(&me.card);
    if (well)
        printf("host of rank %u: %u words, %u with a descriptor; %u operations of the "
               "programs are its own\n",
               (unsigned)me.rank, me.words, me.descriptors, me.reduced);
    return well ? 0 : 1;
}
