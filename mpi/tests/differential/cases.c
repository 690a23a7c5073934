/* mpi/tests/differential/cases.c — calls one by one, and many at a time among ordinary messages */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "differential.h"

enum { COMMUNICATORS = 3 };

static struct communicator world(void)
{
    return (struct communicator){
        .comm = MPI_COMM_WORLD, .rank = world_rank, .size = world_size, .text = "world"};
}

static int communicators_make(struct communicator *c, struct stream *s)
{
    const int n = 1 + below(s, COMMUNICATORS);
    c[0] = world();
    if (chance(s, 5)) {
        c[0].comm = MPI_COMM_SELF;
        c[0].rank = 0;
        c[0].size = 1;
        snprintf(c[0].text, sizeof c[0].text, "self");
    }
    const struct communicator all = world();
    for (int i = 1; i < n; i++)
        communicator_make(&c[i], chance(s, 70) ? &all : &c[below(s, i)], s);
    return n;
}

/* ---- one by one -------------------------------------------------------------------------- */

void blocking_case(long number)
{
    struct stream s = stream_of(options.seed, (uint64_t)number, 1);
    struct communicator c[COMMUNICATORS];
    const int communicators = communicators_make(c, &s);
    for (int n = 1 + below(&s, 6); n > 0; n--) {
        const struct communicator *on = &c[below(&s, communicators)];
        const uint64_t key = draw(&s);
        struct operation o;
        if (on->comm == MPI_COMM_NULL || !operation_draw(&o, on, 1u << BLOCKING, key))
            continue;
        say("what is expected of %s", o.text);
        operation_fill(&o, 0);
        operation_expect(&o);
        say("%s", o.text);
        operation_call(&o);
        operation_check(&o);
        operation_free(&o);
    }
    for (int i = 0; i < communicators; i++)
        communicator_free(&c[i]);
}

/* ---- many at a time ------------------------------------------------------------------------ */

struct batch {
    struct communicator c[COMMUNICATORS];
    int communicators;
    struct operation operations[OPERATIONS];
    int n;
    struct message messages[MESSAGES];
    int n_messages;
    struct set set;
};

/* Draws operations and messages. */
static void batch_draw(struct batch *b, struct stream *s)
{
    const uint32_t forms = 1u << NONBLOCKING | (LARGE_COUNTS ? 1u << PERSISTENT : 0);
    for (int n = 1 + below(s, OPERATIONS); n > 0; n--) {
        const struct communicator *on = &b->c[below(s, b->communicators)];
        const uint64_t key = draw(s);
        if (on->comm != MPI_COMM_NULL &&
            operation_draw(&b->operations[b->n], on, forms & options.forms, key))
            b->n++;
    }
    for (int n = below(s, MESSAGES + 1); n > 0; n--) {
        const struct communicator *on = &b->c[below(s, b->communicators)];
        struct stream key = stream_of(draw(s), 0, 0);
        if (on->comm != MPI_COMM_NULL)
            message_make(&b->messages[b->n_messages++], on, n, &key);
    }
}

static int enter(struct set *set, const struct message *m, bool persistent)
{
    set->received[set->n] = m;
    set->persistent[set->n] = persistent;
    set->pending[set->n] = !persistent;
    set->left += !persistent;
    return set->n++;
}

/* Enters operation i. */
static void begin(struct batch *b, int i, struct stream *own)
{
    struct operation *o = &b->operations[i];
    operation_call(o);
    b->set.requests[enter(&b->set, NULL, o->form == PERSISTENT)] = o->request;
    if (o->form == NONBLOCKING && chance(own, 30))
        operation_free_types(o);
}

/* Makes the persistent ones, in the one order that all ranks have, since that may wait for other ranks;
 * then starts the others: those of a communicator in their order, those of different ones in any. */
static void batch_begin(struct batch *b, struct stream *own)
{
    bool begun[OPERATIONS] = {false};
    int left = b->n, messages = 0;
    for (int i = 0; i < b->n; i++)
        if (b->operations[i].form == PERSISTENT) {
            begin(b, i, own);
            begun[i] = true;
            left--;
        }
    while (left > 0 || messages < b->n_messages) {
        const int pick = below(own, COMMUNICATORS + 1);
        if (pick == COMMUNICATORS && messages < b->n_messages) {
            const struct message *m = &b->messages[messages];
            const int at = enter(&b->set, NULL, m->persistent);
            enter(&b->set, m, m->persistent);
            message_begin(m, &b->set.requests[at], &b->set.requests[at + 1]);
            messages++;
        }
        for (int i = 0; i < b->n && pick < COMMUNICATORS; i++)
            if (!begun[i] && b->operations[i].on == &b->c[pick]) {
                begin(b, i, own);
                begun[i] = true;
                left--;
                break;
            }
    }
}

/* Starts the persistent ones in an order of this rank's own, some alone, some together. */
static void batch_start(struct set *set, struct stream *own)
{
    int order[REQUESTS], n = 0;
    for (int i = 0; i < set->n; i++)
        if (set->persistent[i])
            order[n++] = i;
    shuffle(own, order, n);
    for (int at = 0; at < n;) {
        MPI_Request some[REQUESTS];
        const int k = 1 + below(own, n - at);
        for (int i = 0; i < k; i++) {
            some[i] = set->requests[order[at + i]];
            set->pending[order[at + i]] = true;
            set->left++;
        }
        if (k == 1 && chance(own, 80))
            MPI_Start(&some[0]);
        else
            MPI_Startall(k, some);
        for (int i = 0; i < k; i++)
            set->requests[order[at + i]] = some[i];
        at += k;
    }
}

static bool all_nonblocking(const struct batch *b, const struct communicator *c)
{
    for (int i = 0; i < b->n; i++)
        if (b->operations[i].on == c && b->operations[i].form == PERSISTENT)
            return false;
    return true;
}

void batch_case(long number)
{
    struct stream s = stream_of(options.seed, (uint64_t)number, 2);
    struct stream own = stream_of(options.seed, (uint64_t)number, 100 + (uint64_t)world_rank);
    struct batch *b = calloc(1, sizeof *b);
    const struct communicator all = world();
    b->communicators = communicators_make(b->c, &s);
    batch_draw(b, &s);
    const int rounds = 1 + below(&s, 3);
    const bool free_early = chance(&s, 30);
    for (int round = 0; round < rounds; round++) {
        const enum exchange kind = (enum exchange)below(&s, EXCHANGES);
        for (int i = 0; i < b->n; i++) {
            struct operation *o = &b->operations[i];
            if (round > 0 && o->form != PERSISTENT)
                continue;
            say("batch, what is expected of %s", o->text);
            operation_fill(o, round);
            operation_expect(o);
        }
        say("starting a batch of %d, and %d messages, round %d", b->n, b->n_messages, round);
        if (round == 0)
            batch_begin(b, &own);
        batch_start(&b->set, &own);
        for (int i = 1; i < b->communicators && round == 0; i++)
            if (free_early && b->c[i].mine && all_nonblocking(b, &b->c[i]))
                communicator_free(&b->c[i]);
        say("batch of %d, and %d messages, round %d, exchange %d before it", b->n,
            b->n_messages, round, kind);
        exchange(kind, true, &all, 99);
        say("completing a batch of %d, and %d messages, round %d, exchange %d", b->n,
            b->n_messages, round, kind);
        complete_all(&b->set, &own);
        say("batch of %d, and %d messages, round %d, exchange %d after it", b->n, b->n_messages,
            round, kind);
        exchange(kind, false, &all, 99);
        for (int i = 0; i < b->n; i++)
            if (round == 0 || b->operations[i].form == PERSISTENT)
                operation_check(&b->operations[i]);
        for (int i = 0; i < b->n_messages; i++)
            if (round == 0 || b->messages[i].persistent)
                message_check(&b->messages[i]);
    }
    int order[REQUESTS];
    permutation(&own, order, b->set.n);
    for (int i = 0; i < b->set.n; i++)
        if (b->set.persistent[order[i]])
            MPI_Request_free(&b->set.requests[order[i]]);
    for (int i = 0; i < b->n; i++)
        operation_free(&b->operations[i]);
    for (int i = 0; i < b->n_messages; i++)
        message_free(&b->messages[i]);
    for (int i = 0; i < b->communicators; i++)
        communicator_free(&b->c[i]);
    free(b);
}

/* ---- sums that depend on the order ---------------------------------------------------------- */

/* Any reals: all ranks have the same bits, and about what the library says. */
void floats_case(long number)
{
    enum { MOST = 5000 };
    static double in[MOST], out[MOST], library[MOST], others[MOST];
    static float in_f[MOST], out_f[MOST], library_f[MOST], others_f[MOST];
    struct stream s = stream_of(options.seed, (uint64_t)number, 3);
    struct stream own = stream_of(options.seed, (uint64_t)number, 1000 + (uint64_t)world_rank);
    const bool wide = chance(&s, 50), in_place = chance(&s, 30);
    const int n = 1 + below(&s, chance(&s, 50) ? 40 : MOST);
    const MPI_Datatype type = wide ? MPI_DOUBLE : MPI_FLOAT;
    const MPI_Op op = chance(&s, 80) ? MPI_SUM : MPI_PROD;
    say("allreduce of %d random %s%s", n, wide ? "doubles" : "floats",
        in_place ? " in place" : "");
    for (int i = 0; i < n; i++) {
        in[i] =
            ((double)(draw(&own) >> 11) / 4503599627370496.0 - 1) * (chance(&own, 5) ? 1e8 : 1);
        in_f[i] = (float)in[i];
    }
    void *const from = wide ? (void *)in : in_f, *const to = wide ? (void *)out : out_f;
    void *const by_library = wide ? (void *)library : library_f, *const by_others =
                                                                     wide ? (void *)others
                                                                          : others_f;
    const size_t bytes = (size_t)n * (wide ? sizeof *in : sizeof *in_f);
    PMPI_Allreduce(from, by_library, n, type, op, MPI_COMM_WORLD);
    memcpy(to, from, bytes);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : from, to, n, type, op, MPI_COMM_WORLD);

    memcpy(by_others, to, bytes);
    PMPI_Bcast(by_others, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (memcmp(by_others, to, bytes) != 0)
        complain("%s: rank %d has other bits than rank 0", doing, world_rank);
    for (int i = 0; i < n; i++) {
        const double is = wide ? out[i] : (double)out_f[i],
                     wanted = wide ? library[i] : (double)library_f[i];
        const double size = op == MPI_SUM ? 1e8 : fabs(wanted);
        if (!(fabs(is - wanted) <= size * world_size * (wide ? 1e-15 : 1e-6))) {
            complain("%s: element %d is %g, and %g by the library", doing, i, is, wanted);
            break;
        }
    }
}
