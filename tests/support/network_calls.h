/* tests/support/network_calls.h — what every transport between machines is asked: the conformance kit, and
 * collectives
 *
 *   network = &mine;                    // network.h
 *   RUN(conformance);
 *   RUN(collectives);
 */
#ifndef COLL_TESTS_NETWORK_CALLS_H
#define COLL_TESTS_NETWORK_CALLS_H

#include "coll/transports/conformance.h"
#include "coll/transports/idle.h"
#include "network.h"

/* ---- the contract ------------------------------------------------------------------------ */

static void *drive(void *kit)
{
    (void)coll_conformance_run((coll_conformance *)kit, 1);
    return NULL;
}

static void conform(uint32_t p, size_t longest, uint32_t depth)
{
    static coll_conformance kits[NETWORK_MOST];
    void *args[NETWORK_MOST] = {NULL};
    const char *sentence;
    if (!begin(p, 0))
        return;
    for (uint32_t r = 0; r < p; r++) {
        coll_conformance_task task = {
            network->transport, ranks[r], r, p, longest, depth, 30000, 0, NULL, 0};
        task.bytes = coll_conformance_bytes(&task);
        task.memory = malloc(task.bytes);
        CHECK_STATUS(coll_conformance_init(&kits[r], &task), COLL_OK);
        coll_conformance_set_readable(&kits[r], coll_is_readable);
        args[r] = &kits[r];
    }
    on_threads(drive, args, p);
    sentence = coll_conformance_sentence(kits, p);
    if (!CHECK(*sentence == 0))
        for (uint32_t r = 0; r < p; r++)
            printf("    %s, p = %u: %s\n", network->name, (unsigned)p,
                   coll_conformance_sentence(&kits[r], 1));
    for (unsigned c = 0; c < COLL_CONFORMANCE_CHECKS && *sentence == 0; c++) {
        const coll_conformance_check check = (coll_conformance_check)c;
        const coll_conformance_result result = coll_conformance_result_of(kits, p, check);
        const bool absent =
            check == COLL_CONFORMANCE_COPY || check == COLL_CONFORMANCE_REDUCE ||
            check == COLL_CONFORMANCE_ACQUIRE || check == COLL_CONFORMANCE_ARRIVAL ||
            check == COLL_CONFORMANCE_MULTICAST || check == COLL_CONFORMANCE_NETWORK_REDUCE ||
            check == COLL_CONFORMANCE_SHARED || check == COLL_CONFORMANCE_TURNS ||
            (check == COLL_CONFORMANCE_EVENTS && !network->sleeps) ||
            (check == COLL_CONFORMANCE_KEPT && !network->transport->registration) ||
            (check == COLL_CONFORMANCE_PUTS &&
             (!network->transport->one_sided || network->stalls)) ||
            (check == COLL_CONFORMANCE_SLOW_PEER && p < 3) ||
            (check == COLL_CONFORMANCE_REFUSAL &&
             (!network->may_be_full || result == COLL_CONFORMANCE_NOT_THERE));
        if (!CHECK_EQ(result, absent ? COLL_CONFORMANCE_NOT_THERE : COLL_CONFORMANCE_PASSED))
            printf("    %s: %s\n", network->name, coll_conformance_name(check));
    }
    for (uint32_t r = 0; r < p; r++)
        free(kits[r].task.memory);
    end();
}

TEST(conformance)
{
    conform(2, 300000, 0);
    conform(2, 2000000, network->depth);
    if (network->stalls) /* with more ranks than processors */
        return;
    conform(3, 100000, 0);
    conform(5, 70000, 0);
}

/* ---- collectives ------------------------------------------------------------------------- */

typedef struct calls {
    void *ctx;
    uint32_t rank, p;
    coll_status status;
    char text[300];
} calls;

/* Calls of all lengths, and two communicators; none of the results is another rank's. */
static void *call_all(void *arg)
{
    enum { COUNT = 40000 };
    calls *me = (calls *)arg;
    static const size_t counts[] = {0, 1, 7, 1000, COUNT};
    unsigned char *memory = malloc(1 << 22);
    int32_t *in = malloc(COUNT * sizeof *in),
            *out = malloc((size_t)COUNT * NETWORK_MOST * sizeof *out);
    coll_comm comm, other;
    me->status =
        coll_comm_init(&comm, network->transport, me->ctx, me->rank, me->p, memory, 1 << 22);
    if (me->status == COLL_OK)
        me->status = coll_comm_dup(&other, &comm, 8);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0] && me->status == COLL_OK; c++) {
        const size_t n = counts[c];
        coll_request request;
        for (size_t i = 0; i < n; i++)
            in[i] = (int32_t)(i % 1000 * (me->rank + 1));
        me->status = coll_iallreduce(&other, in, out + COUNT, n, COLL_I32, COLL_SUM, &request);
        if (me->status == COLL_OK)
            me->status = coll_allreduce(&comm, in, out, n, COLL_I32, COLL_SUM);
        if (me->status == COLL_OK)
            me->status = coll_wait(&request);
        for (size_t i = 0; i < n && me->status == COLL_OK; i++)
            if (out[i] != (int32_t)(i % 1000 * me->p * (me->p + 1) / 2) ||
                out[COUNT + i] != out[i])
                me->status = COLL_ERR_STATE;
        if (me->status == COLL_OK)
            me->status = coll_allgather(&comm, in, out, n, COLL_I32);
        for (size_t i = 0; i < n * me->p && me->status == COLL_OK; i++)
            if (out[i] != (int32_t)(i % n % 1000 * (i / n + 1)))
                me->status = COLL_ERR_STATE;
        if (me->status == COLL_OK)
            me->status = coll_barrier(&comm);
    }
    if (network->describe)
        network->describe(me->ctx, me->text, sizeof me->text);
    if (me->status == COLL_OK)
        me->status = coll_comm_free(&other);
    if (me->status == COLL_OK)
        me->status = coll_comm_free(&comm);
    free(memory);
    free(in);
    free(out);
    return NULL;
}

TEST(collectives)
{
    for (uint32_t p = 1; p <= NETWORK_MOST; p += p == 1 ? 1 : 3) {
        static calls all[NETWORK_MOST];
        void *args[NETWORK_MOST] = {NULL};
        if (!begin(p, 0))
            return;
        for (uint32_t r = 0; r < p; r++) {
            all[r].ctx = ranks[r];
            all[r].rank = r;
            all[r].p = p;
            args[r] = &all[r];
        }
        on_threads(call_all, args, p);
        for (uint32_t r = 0; r < p; r++) {
            CHECK_STATUS(all[r].status, COLL_OK);
            if (network->settled)
                network->settled(ranks[r]);
        }
        if (p == 2 && network->describe)
            printf("    %s\n", all[0].text);
        end();
    }
}

#endif /* COLL_TESTS_NETWORK_CALLS_H */
