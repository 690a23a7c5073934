/* The transport of processes: segments and what is refused; messages of all lengths and tags in one
 * thread; every row of the registry; ranks that are processes. */
#include "check.h"

#include <string.h>
#include <sys/resource.h>

#include "coll/comm.h"
#include "coll/registry.h"
#include "processes.h"
#include "rig.h"

#include "kinds.h"
#include "pages.h"

/* ---- segments ---------------------------------------------------------------------------- */

static char why[COLL_SHM_WHY];

/* Was the sentence this one? */
static bool said(const char *sentence)
{
    const bool same = strcmp(why, sentence) == 0;
    if (!same)
        printf("    \"%s\" instead of \"%s\"\n", why, sentence);
    why[0] = 0;
    return same;
}

static const char *own_name(void)
{
    static char name[40];
    (void)snprintf(name, sizeof name, "/coll-test-%ld", (long)getpid());
    return name;
}

TEST(what_is_no_segment)
{
    FILE *const file = tmpfile();
    int fd = coll_shm_create(NULL, 3, 100, why);
    coll_shm *a, *b;
    coll_i_ipc_segment *segment;
    CHECK(fd >= 0);
    CHECK(!coll_shm_attach(fd, 3, 3, 100, why));
    CHECK(said("rank 3 is not below the number of ranks, 3"));
    CHECK(!coll_shm_attach(fd, 1, 4, 100, why));
    CHECK(said("the segment is for 3 ranks, not for 4"));
    CHECK(!coll_shm_attach(fd, 1, 3, 101, why));
    CHECK(said("the segment has 100 shared bytes, not 101"));
    CHECK(!coll_shm_attach(fileno(file), 1, 3, 100, why));
    CHECK(said("the file is not a segment"));
    CHECK(fwrite(own_name(), 1, 1, file) == 1 && fflush(file) == 0);
    for (int i = 0; i < 1000; i++)
        (void)fputs("nonsense", file);
    (void)fflush(file);
    CHECK(!coll_shm_attach(fileno(file), 1, 3, 100, why));
    CHECK(said("the file is not a segment"));
    a = coll_shm_attach(fd, 1, 3, 100, why);
    CHECK(a != NULL);
    CHECK(!coll_shm_attach(fd, 1, 3, 100, why));
    CHECK(said("rank 1 of the segment is attached already"));
    CHECK(!coll_shm_join(a, 5, why));
    CHECK(said("rank 0 has not attached to the segment in time"));
    coll_shm_detach(a);
    CHECK(!coll_shm_attach(fd, 1, 3, 100, why));
    CHECK(said("rank 1 of the segment was attached before, and has ended"));
    b = coll_shm_attach(fd, 0, 3, 100, NULL);
    CHECK(b != NULL);
    b->segment->layout++;
    CHECK(!coll_shm_attach(fd, 2, 3, 100, why));
    CHECK(said("the segment was made by another version of the library: build all programs of "
               "a run alike"));
    segment = b->segment;
    segment->layout--;
    segment->p = 2;
    segment->shared_bytes = (uint64_t)1 << 40;
    CHECK(!coll_shm_attach(fd, 1, 2, (size_t)1 << 40, why));
    CHECK(said("the segment is damaged"));
    coll_shm_detach(b);
    coll_shm_detach(NULL);
    (void)close(fd);
    (void)fclose(file);
}

TEST(what_cannot_be_made)
{
    const struct rlimit small = {1 << 16, 1 << 16};
    struct rlimit usual;
    CHECK_EQ(coll_shm_create(NULL, 0, 0, why), -1);
    CHECK(said("a segment has 1 to 65536 ranks, and less than 64 TB; not 0, 0"));
    CHECK_EQ(coll_shm_create(NULL, 2, (size_t)1 << 45, why), -1);
    CHECK(said("this machine has no 35184372088832 bytes of memory to share"));
    CHECK_EQ(coll_shm_create("/no/such/name", 2, 0, why), -1);
    CHECK(strncmp(why, "the segment /no/such/name cannot be made: ", 42) == 0);
    CHECK_EQ(coll_shm_open("/no/such/name", 0, why), -1);
    CHECK_EQ(coll_shm_open(own_name(), 3, why), -1);
    CHECK(strncmp(why, "nobody has made the segment /coll-test-", 39) == 0);
    (void)getrlimit(RLIMIT_FSIZE, &usual);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0 || usual.rlim_max < small.rlim_max);
    CHECK_EQ(coll_shm_create(own_name(), 2, 1 << 20, why), -1);
    CHECK(strncmp(why, "there is no space for a segment of ", 35) == 0);
    CHECK_EQ(coll_shm_open(own_name(), 0, NULL), -1); /* nothing is left of it */
}

TEST(names)
{
    const char *const name = own_name();
    int fd = coll_shm_create(name, 2, 0, why), other;
    coll_shm *a, *b;
    CHECK(fd >= 0);
    CHECK_EQ(coll_shm_create(name, 2, 0, why), -1);
    CHECK(strstr(why, "is in use: choose another name") != NULL);
    other = coll_shm_open(name, 0, why);
    CHECK(other >= 0);
    a = coll_shm_attach(fd, 0, 2, 0, why);
    (void)close(fd);
    CHECK_EQ(coll_shm_create(name, 2, 0, why), -1); /* a rank is there */
    b = coll_shm_attach(other, 1, 2, 0, why);
    CHECK(a && b);
    coll_shm_detach(a);
    coll_shm_detach(b);
    (void)close(other);
    CHECK_EQ(coll_shm_open(name, 0, why), -1);
    CHECK(strstr(why, "was left by a run that crashed, and nobody makes it anew") != NULL);
    fd = coll_shm_create(name, 5, 0, why); /* replaces it */
    CHECK(fd >= 0);
    a = coll_shm_attach(fd, 4, 5, 0, why);
    CHECK(a != NULL);
    coll_shm_detach(a);
    coll_shm_unlink(name);
    (void)close(fd);
    CHECK_EQ(coll_shm_open(name, 0, why), -1);
}

/* Another user may neither open nor replace a segment. Needs to be root. */
TEST(permission)
{
    const char *const name = own_name();
    const int fd = coll_shm_create(name, 2, 0, NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        if (geteuid() != 0 || setuid(65534) != 0)
            _exit(0);
        _exit(coll_shm_open(name, 0, why) == -1 && strstr(why, "cannot be opened: ") &&
                      coll_shm_create(name, 2, 0, why) == -1 && strstr(why, "cannot be made: ")
                  ? 0
                  : 1);
    }
    CHECK_EQ(process_end(pid, PROCESSES_PATIENCE), 0);
    coll_shm_unlink(name);
    (void)close(fd);
}

/* ---- messages ---------------------------------------------------------------------------- */

static uint32_t random_state;

static uint32_t chance(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(random_state ^ random_state >> 15) * below >> 32);
}

enum { TAGS = 4, DEEP = 64, LONGEST = 3 * COLL_SHM_SLOT };
enum {
    DIRECT = COLL_I_IPC_DIRECT,
    IN_PLACE = COLL_I_IPC_IN_PLACE,
    WHOLE = COLL_I_IPC_WHOLE,
    PULLS = DIRECT | WHOLE,
    ALL_WAYS = DIRECT | IN_PLACE | WHOLE,
    FROM_HUGE = COLL_I_IPC_FROM_HUGE /* comes with WHOLE, where the system has it */
};

/* Messages under way, of each tag, oldest first. */
typedef struct flow {
    unsigned char *data[DEEP];
    size_t bytes[DEEP];
    coll_handle handle[DEEP];
    coll_status status[DEEP];
    unsigned n;
} flow;

static size_t some_bytes(const coll_shm *shm)
{
    static const size_t sizes[] = {0,
                                   1,
                                   48,
                                   49,
                                   COLL_NODE_INLINE,
                                   COLL_NODE_INLINE + 1,
                                   1000,
                                   COLL_SHM_SLOT,
                                   COLL_SHM_SLOT + 1,
                                   LONGEST};
    return sizes[chance(shm->ways ? 10 : 8)];
}

/* How far behind the beginning of its memory a message lies, and what it says. */
static size_t lead(size_t bytes)
{
    return bytes * 5 % COLL_NODE_LINE;
}

static void write_message(unsigned char *memory, size_t bytes)
{
    const uint32_t first = chance(256);
    for (size_t i = 0; i < bytes; i++)
        memory[lead(bytes) + i] = (unsigned char)(first + i * 31 + i / 256);
}

/* Memory of a sender for messages: pieces of LONGEST bytes of the segment, if it has such. */
static unsigned char *pieces[TAGS * DEEP];
static unsigned n_pieces;

static unsigned char *message_memory(const coll_shm *shm, size_t bytes)
{
    const bool anywhere = !(shm->ways & IN_PLACE) || bytes <= shm->node.medium;
    if (shm->ways == 0 || ((shm->ways & PULLS || anywhere) && chance(2)))
        return (unsigned char *)malloc(bytes + COLL_NODE_LINE);
    return n_pieces > 0 ? pieces[--n_pieces] : (unsigned char *)malloc(bytes + COLL_NODE_LINE);
}

static void message_free(const coll_shm *shm, unsigned char *memory)
{
    if (coll_i_node_is_shared(&shm->node, memory, 1))
        pieces[n_pieces++] = memory;
    else
        free(memory);
}

/* Takes the oldest message of a tag, in one way or the other. */
static void take_one(const coll_transport *t, coll_shm *a, coll_shm *b, uint32_t tag, flow *f)
{
    static unsigned char got[LONGEST + COLL_NODE_LINE];
    unsigned char *const into = got + chance(COLL_NODE_LINE);
    const size_t bytes = f->bytes[0];
    coll_handle h;
    const void *message = into;
    coll_status status;
    const bool lent = f->status[0] == COLL_OK || /* it is in a cell, or a slot */
                      coll_i_node_is_shared(&a->node, f->data[0], bytes);
    const bool borrows = chance(2) && (t->max_lent == 0 || bytes <= t->max_lent);
    if (borrows && !lent)
        CHECK_STATUS(t->borrow(b, 0, tag, bytes, &message, &h), COLL_ERR_CAPABILITY);
    if (borrows && lent)
        status = t->borrow(b, 0, tag, bytes, &message, &h);
    else
        status = t->recv(b, 0, tag, into, bytes, &h);
    CHECK_STATUS(status, COLL_OK);
    CHECK(status != COLL_OK || memcmp(message, f->data[0] + lead(bytes), bytes) == 0);
    if (borrows && lent && status == COLL_OK)
        t->give_back(b, &h);
    if (f->status[0] == COLL_STARTED)
        CHECK_STATUS(t->test(a, &f->handle[0]), COLL_OK);
    message_free(a, f->data[0]);
    f->n--;
    memmove(f->data, f->data + 1, f->n * sizeof *f->data);
    memmove(f->bytes, f->bytes + 1, f->n * sizeof *f->bytes);
    memmove(f->handle, f->handle + 1, f->n * sizeof *f->handle);
    memmove(f->status, f->status + 1, f->n * sizeof *f->status);
}

static unsigned long offers;

static void counting_offer(coll_i_node_rank *me, const void *message, size_t bytes)
{
    offers++;
    CHECK(bytes > me->medium && !coll_i_node_is_shared(me, message, bytes));
    coll_i_ipc_offer(me, message, bytes);
}

/* Random messages of several tags, received in a random order of tags. */
static void exchange(uint32_t ways, unsigned steps)
{
    static flow flows[TAGS];
    coll_shm *end[2];
    const coll_transport *t;
    unsigned full = 0;
    unsigned long pulled_later = 0; /* messages */
    if (!CHECK(ends_make(end, 2, 0, ways)))
        return;
    t = coll_shm_transport(end[0]);
    CHECK_EQ(end[0]->ways & ALL_WAYS, ways);
    offers = 0;
    if (end[0]->node.offer)
        end[0]->node.offer = counting_offer;
    for (n_pieces = 0; n_pieces < TAGS * DEEP; n_pieces++)
        CHECK((pieces[n_pieces] =
                   (unsigned char *)coll_shm_alloc(end[0], LONGEST + COLL_NODE_LINE)) != NULL);
    for (unsigned step = 0; step < steps; step++) {
        const uint32_t tag = chance(TAGS);
        flow *f = &flows[tag];
        end[0]->node.crowded = step / 1000 % 2; /* then they stream, as nothing comes back */
        if (f->n < DEEP && chance(100) < 55) {
            const size_t bytes = some_bytes(end[0]);
            f->data[f->n] = message_memory(end[0], bytes);
            write_message(f->data[f->n], bytes);
            f->bytes[f->n] = bytes;
            f->status[f->n] =
                t->send(end[0], 1, tag, f->data[f->n] + lead(bytes), bytes, &f->handle[f->n]);
            CHECK(f->status[f->n] >= 0);
            pulled_later += f->status[f->n] == COLL_STARTED &&
                            !coll_i_node_is_shared(&end[0]->node, f->data[f->n], bytes);
            if (f->status[f->n] == COLL_AGAIN) {
                full++;
                message_free(end[0], f->data[f->n]);
            } else {
                f->n++;
            }
        } else if (f->n > 0) {
            take_one(t, end[0], end[1], tag, f);
        }
    }
    for (uint32_t tag = 0; tag < TAGS; tag++)
        while (flows[tag].n > 0)
            take_one(t, end[0], end[1], tag, &flows[tag]);
    CHECK(full > 0);
    CHECK((pulled_later > 0) == ((ways & PULLS) != 0));
    CHECK_EQ(offers, end[0]->ways & FROM_HUGE ? pulled_later : 0);
    ends_free(end, 2);
}

TEST(messages)
{
    random_state = 7;
    for (uint32_t ways = 0; ways <= ALL_WAYS; ways++)
        exchange(ways, ways & WHOLE ? 10000 : 20000);
}

/* What a channel says is not believed. */
TEST(nonsense)
{
    static unsigned char buf[COLL_SHM_SLOT + 1];
    coll_shm *end[2];
    coll_handle h;
    const coll_transport *t;
    if (!CHECK(ends_make(end, 2, 0, DIRECT)))
        return;
    t = coll_shm_transport(end[0]);
    for (int other = 0; other < 2; other++) {
        unsigned char *const message = (unsigned char *)coll_shm_alloc(end[0], sizeof buf);
        coll_i_node_sent *sent;
        const void *lent;
        CHECK_STATUS(t->send(end[0], 1, 1, message, sizeof buf, &h), COLL_STARTED);
        sent = ((coll_i_node_op *)h.word[0])->sent;
        CHECK(sent->shared && sent->address == (uintptr_t)message - end[0]->node.base);
        sent->address = other ? end[0]->node.end - sizeof buf + 1 : UINT64_MAX - 10;
        CHECK_STATUS(t->borrow(end[1], 0, 1, sizeof buf, &lent, &h), COLL_ERR_CAPABILITY);
        CHECK_STATUS(t->recv(end[1], 0, 1, buf, sizeof buf, &h), COLL_ERR_IO);
    }
    for (size_t bytes = sizeof buf - 1; bytes <= sizeof buf; bytes++) {
        coll_i_node_link *link;
        CHECK(t->send(end[0], 1, 0, buf, bytes, &h) >= 0);
        link = end[0]->node.links[1];
        link->out->cells[(link->tail - 1) % COLL_NODE_CELLS].first.payload.sent =
            bytes == sizeof buf ? end[0]->node.end | COLL_I_NODE_LIES
                                : end[0]->node.end - COLL_NODE_LINE + 2;
        CHECK_STATUS(t->recv(end[1], 0, 0, buf, bytes, &h), COLL_ERR_IO);
        CHECK_STATUS(t->recv(end[1], 0, 1, buf, bytes, &h), COLL_ERR_IO);
        if (bytes < sizeof buf) /* the reader may skip it only by a word of its own */
            coll_i_node_pop(end[1]->node.links[0], true);
    }
    end[0]->node.channels[2] = UINT64_MAX;
    CHECK_STATUS(t->send(end[1], 0, 0, buf, 1, &h), COLL_ERR_MEMORY);
    end[0]->segment->heap = UINT64_MAX - 100;
    end[0]->node.channels[2] = 0;
    CHECK_STATUS(t->send(end[1], 0, 0, buf, 1, &h), COLL_ERR_MEMORY);
    ends_free(end, 2);
}

/* A process that ends has no memory any more while it still holds its lock: it is lost. */
TEST(memory_that_is_gone)
{
    static unsigned char buf[COLL_SHM_SLOT + 1];
    const coll_transport *t;
    coll_shm *end[2];
    coll_handle h;
    pid_t pid;
    if (!CHECK(ends_make(end, 2, 0, WHOLE)))
        return;
    t = coll_shm_transport(end[0]);
    CHECK_STATUS(t->send(end[0], 1, 0, buf, sizeof buf, &h), COLL_STARTED);
    pid = fork();
    if (pid == 0)
        _exit(0);
    CHECK_EQ(process_end(pid, PROCESSES_PATIENCE), 0);
    end[1]->members[0].pid = (int32_t)pid;
    CHECK_STATUS(t->recv(end[1], 0, 0, buf, sizeof buf, &h), COLL_ERR_PEER);
    CHECK_EQ(coll_shm_lost(end[1]), 0);
    ends_free(end, 2);
}

/* ---- collectives ------------------------------------------------------------------------- */

/* Runs a rig's ranks one after the other in this thread. */
static void visit_row(rig *it, const char *what, void *arg)
{
    coll_shm **const end = (coll_shm **)arg;
    uint32_t running = it->p;
    rig_fill(it);
    for (uint32_t r = 0; r < it->p; r++) {
        rig_rank *me = &it->ranks[r];
        me->run.transport = coll_shm_transport(end[r]);
        me->run.ctx = end[r];
        me->run.tag = it->problem.flags;
        if ((me->plan.traits & COLL_NEEDS_FABRIC_REDUCE) &&
            !coll_fabric_takes(me->run.transport, &it->problem))
            return;
        (void)coll_request_init(&me->request, me->slots, me->plan.window + it->p % 3);
        CHECK_STATUS(coll_request_start(&me->request, &me->run), COLL_OK);
    }
    for (unsigned long rounds = 0; running > 0 && rounds < 1000000; rounds++) {
        running = 0;
        for (uint32_t r = 0; r < it->p; r++)
            running += coll_request_progress(&it->ranks[r].request) == COLL_AGAIN;
    }
    for (uint32_t r = 0; r < it->p; r++)
        CHECK_STATUS(it->ranks[r].request.status, COLL_OK);
    if (!CHECK(rig_right(it)))
        printf("    %s %s p=%u count=%zu\n", what, it->ranks[0].plan.algorithm->name, it->p,
               it->problem.count);
}

TEST(every_row)
{
    static const uint32_t ranks[] = {1, 2, 5, 8};
    for (unsigned k = 0; k < 4; k++) {
        coll_shm *end[PROCESSES_MOST];
        if (!CHECK(ends_make(end, ranks[k], 0, k & 1 ? DIRECT : 0)))
            return;
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
            CHECK(rig_each(coll_registry[i], ranks[k], (i + k) & 1 ? 3 : 70, visit_row, end));
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (ranks[k] <= kinds_ranks(kinds[i]))
                CHECK(rig_each(kinds[i], ranks[k], k == 2 ? 9000 : 70, visit_row, end));
        ends_free(end, ranks[k]);
    }
}

/* How a rank talks, by the ways that all agree on, and where ranks share processors. */
TEST(vtables)
{
    static coll_shm shm;
    for (uint32_t ways = 0; ways <= (ALL_WAYS | FROM_HUGE); ways++)
        for (int crowded = 0; crowded < 2; crowded++) {
            const coll_transport *t;
            shm.ways = ways;
            shm.node.crowded = crowded;
            t = coll_shm_transport(&shm);
            CHECK(t == (ways & IN_PLACE                    ? &coll_i_ipc_in_place
                        : ways & DIRECT                    ? &coll_i_ipc_direct
                        : ways & WHOLE && !crowded         ? &coll_i_ipc_roomy
                        : ways & WHOLE && ways & FROM_HUGE ? &coll_i_ipc_crowded
                                                           : &coll_i_ipc_staged));
        }
    CHECK(coll_i_ipc_in_place.max_bytes == 0 && coll_i_ipc_direct.max_bytes == 0);
    CHECK_EQ(coll_i_ipc_staged.whole, 0);
}

static unsigned long pulls, pulled[COLL_COLLECTIVES];

static coll_status counting_pull(coll_i_node_rank *me, uint32_t peer, void *into, uint64_t from,
                                 size_t bytes)
{
    pulls++;
    CHECK(bytes > COLL_SHM_SLOT);
    return coll_i_ipc_pull(me, peer, into, from, bytes);
}

static void visit_whole(rig *it, const char *what, void *arg)
{
    pulls = 0;
    visit_row(it, what, arg);
    pulled[it->problem.collective] += pulls;
}

/* Of the collectives that the vtable names, and of no other, the kernel copies long messages. */
TEST(whole_messages)
{
    for (uint32_t crowded = 0; crowded < 2; crowded++) {
        const coll_transport *const t = crowded ? &coll_i_ipc_crowded : &coll_i_ipc_roomy;
        const uint32_t p = 2 + crowded;
        coll_shm *end[PROCESSES_MOST];
        memset(pulled, 0, sizeof pulled);
        if (!CHECK(ends_make(end, p, 0, WHOLE)))
            return;
        for (uint32_t r = 0; r < p; r++) {
            end[r]->ways |= FROM_HUGE;
            end[r]->node.crowded = crowded != 0;
            end[r]->node.pull = counting_pull;
            CHECK(coll_shm_transport(end[r]) == t);
        }
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
            CHECK(rig_each(coll_registry[i], p, 9000, visit_whole, end));
        for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
            if (!coll_is(COLL_PAIRED, (coll_collective)c) && /* whose blocks are short here */
                !CHECK((pulled[c] > 0) == coll_is(t->whole, (coll_collective)c)))
                printf("    %s, %u ranks: %lu\n", coll_collective_name((coll_collective)c), p,
                       pulled[c]);
        ends_free(end, p);
    }
}

/* ---- processes --------------------------------------------------------------------------- */

static int allreduces(coll_shm *shm, void *arg)
{
    enum { MOST = 100000, ALL = 4 * MOST };
    static double mine[ALL];
    double *const x = shm->ways & IN_PLACE ? (double *)coll_shm_alloc(shm, sizeof mine) : mine;
    double *const sum = x + MOST, *const memory = sum + MOST;
    const uint32_t rank = shm->node.rank, p = shm->node.p;
    coll_comm comm;
    (void)arg;
    if (!x || coll_comm_init(&comm, coll_shm_transport(shm), shm, rank, p, memory,
                             2 * MOST * sizeof *memory) != COLL_OK)
        return 1;
    for (size_t n = 1; n <= MOST; n *= 10)
        for (int round = 0; round < 5; round++) {
            for (size_t i = 0; i < n; i++)
                x[i] = (double)(rank + i);
            if (coll_allreduce(&comm, x, sum, n, COLL_F64, COLL_SUM) != COLL_OK)
                return 2;
            for (size_t i = 0; i < n; i++)
                if (sum[i] != (double)(p * (p - 1) / 2 + p * i))
                    return 3;
        }
    return coll_comm_free(&comm) == COLL_OK ? 0 : 4;
}

static int allreduces_in_shared(coll_shm *shm, void *arg)
{
    unsigned char *const words = (unsigned char *)coll_shm_shared(shm);
    words[shm->node.rank] = (unsigned char)(shm->node.rank + 1);
    const int code = allreduces(shm, arg);
    for (uint32_t r = 0; r < shm->node.p; r++)
        if (words[r] != r + 1)
            return 5;
    return code;
}

TEST(processes)
{
    for (uint32_t p = 1; p <= 5; p += 2)
        for (uint32_t ways = 0; ways <= ALL_WAYS; ways++) {
            pid_t pid[PROCESSES_MOST];
            processes_start(pid, p, 4096, ways, allreduces_in_shared, NULL);
            CHECK(processes_end(pid, p));
        }
}

/* Reductions by the last rank to come, some at a time, begun in any order, and one given up. */
static int meets(coll_shm *shm, void *arg)
{
    enum { CALLS = 3, MOST = COLL_NODE_FABRIC / sizeof(int64_t), ROUNDS = 300 };
    static const size_t counts[CALLS] = {1, 7, MOST};
    static int64_t mine[2 * CALLS * MOST], scratch[64];
    int64_t *const x =
        shm->ways & IN_PLACE ? (int64_t *)coll_shm_alloc(shm, sizeof mine) : mine;
    int64_t *const sum = x + CALLS * MOST;
    const uint32_t rank = shm->node.rank, p = shm->node.p;
    static coll_call call[CALLS];
    coll_comm comm;
    coll_team all;
    coll_handle h;
    (void)arg;
    if (!x ||
        coll_comm_init(&comm, coll_shm_transport(shm), shm, rank, p, scratch, sizeof scratch) !=
            COLL_OK ||
        coll_comm_force(&comm, COLL_ALLREDUCE, &coll_fabric_allreduce, NULL) != COLL_OK)
        return 1;
    for (unsigned k = 0; k < CALLS; k++)
        if (coll_allreduce_init(&comm, x + k * MOST, sum + k * MOST, counts[k], COLL_I64,
                                COLL_SUM, &call[k]) != COLL_OK)
            return 2;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < CALLS * MOST; i++)
            x[i] = (int64_t)(rank + i + round);
        for (unsigned k = 0; k < CALLS; k++)
            if (coll_start(&call[(k + rank + round) % CALLS]) != COLL_OK)
                return 3;
        for (unsigned k = 0; k < CALLS; k++)
            if (coll_wait(&call[(k + 2 * rank) % CALLS]) != COLL_OK)
                return 4;
        for (unsigned k = 0; k < CALLS; k++)
            for (size_t i = k * MOST; i < k * MOST + counts[k]; i++)
                if (sum[i] != (int64_t)(p * (p - 1) / 2 + p * (i + round)))
                    return 5;
    }
    all.number = COLL_TEAM_ALL;
    all.members = p;
    if (p > 1 && rank == 0) {
        if (coll_shm_transport(shm)->fabric_reduce(shm, 5, all, NULL, NULL, NULL, 0, 0, &h) !=
            COLL_STARTED)
            return 6;
        coll_shm_transport(shm)->cancel(shm, &h);
    }
    for (unsigned k = 0; k < CALLS; k++)
        if (coll_free(&call[k]) != COLL_OK)
            return 7;
    return coll_allreduce(&comm, x, sum, MOST + 1, COLL_I64, COLL_SUM) == COLL_ERR_CAPABILITY &&
                   coll_comm_free(&comm) == COLL_OK
               ? 0
               : 8;
}

TEST(fabric_reduce)
{
    for (uint32_t p = 1; p <= 7; p += 3)
        for (uint32_t ways = 0; ways <= IN_PLACE; ways += IN_PLACE) {
            pid_t pid[PROCESSES_MOST];
            processes_start(pid, p, 0, ways, meets, NULL);
            CHECK(processes_end(pid, p));
        }
}

/* What the promise was, and where memory ends. */
TEST(in_place)
{
    static unsigned char elsewhere[COLL_SHM_SLOT + 1] = {7, [COLL_SHM_SLOT] = 8};
    static unsigned char copy[sizeof elsewhere];
    const size_t all = (size_t)2 * COLL_SHM_SPACE;
    coll_shm *end[2];
    coll_handle h, sent;
    const void *lent;
    unsigned char *first, *second;
    if (!CHECK(ends_make(end, 2, 0, IN_PLACE | WHOLE)))
        return;
    CHECK_STATUS(
        coll_shm_transport(end[0])->send(end[0], 1, 0, elsewhere, sizeof elsewhere, &sent),
        COLL_STARTED);
    CHECK_STATUS(coll_shm_transport(end[1])->borrow(end[1], 0, 0, sizeof elsewhere, &lent, &h),
                 COLL_ERR_CAPABILITY);
    CHECK_STATUS(coll_shm_transport(end[1])->recv(end[1], 0, 0, copy, sizeof copy, &h),
                 COLL_OK);
    CHECK(copy[0] == elsewhere[0] && copy[COLL_SHM_SLOT] == elsewhere[COLL_SHM_SLOT]);
    CHECK_STATUS(coll_shm_transport(end[0])->test(end[0], &sent), COLL_OK);
    ends_free(end, 2);
    if (!CHECK(ends_make(end, 2, 0, IN_PLACE)))
        return;
    CHECK_STATUS(
        coll_shm_transport(end[0])->send(end[0], 1, 0, elsewhere, sizeof elsewhere, &h),
        COLL_ERR_PLACE);
    CHECK_STATUS(
        coll_shm_transport(end[0])->send(end[0], 1, 0, elsewhere, sizeof elsewhere - 1, &h),
        COLL_OK);
    CHECK(!coll_shm_alloc(end[0], 0) && !coll_shm_alloc(end[0], SIZE_MAX) &&
          !coll_shm_alloc(end[0], all + 1));
    first = (unsigned char *)coll_shm_alloc(end[0], 5000);
    CHECK_STATUS(
        coll_shm_transport(end[0])->send(end[0], 1, 0, first, COLL_NODE_NARROW + 1, &h),
        COLL_STARTED);
    CHECK_STATUS(coll_shm_transport(end[0])->send(end[0], 1, 0, first, COLL_NODE_NARROW, &h),
                 COLL_OK);
    second = (unsigned char *)coll_shm_alloc(end[1], 1);
    CHECK(first && second && (uintptr_t)first % 4096 == 0 && (uintptr_t)second % 4096 == 0);
    CHECK_EQ((uintptr_t)second - end[1]->node.base,
             (uintptr_t)first - end[0]->node.base + 8192);
    CHECK(!coll_shm_alloc(end[0], all - 3 * 4096 + 1)); /* nothing is lost by that */
    end[1]->segment->space = end[1]->node.end - 4096;
    CHECK(coll_shm_alloc(end[0], 4096) && !coll_shm_alloc(end[1], 1));
    end[1]->segment->space = UINT64_MAX - 100;
    CHECK(!coll_shm_alloc(end[0], 200));
    end[1]->segment->space = end[0]->space; /* where others' memory is */
    CHECK(!coll_shm_alloc(end[0], 200));
    ends_free(end, 2);
}

/* ---- memory that programs ask for -------------------------------------------------------- */

enum { PAGE = COLL_I_IPC_PAGE };

static unsigned char *take(coll_shm *shm, size_t bytes, unsigned char first)
{
    unsigned char *const memory = (unsigned char *)coll_shm_alloc(shm, bytes);
    if (CHECK(memory != NULL))
        for (size_t i = 0; i < bytes; i++)
            memory[i] = (unsigned char)(first + i % 251);
    return memory;
}

static bool holds(const unsigned char *memory, size_t bytes, unsigned char first)
{
    size_t i = 0;
    while (i < bytes && memory[i] == (unsigned char)(first + i % 251))
        i++;
    return i == bytes;
}

/* Bytes of the segment that are there. */
static uint64_t held(const coll_shm *shm)
{
    struct stat its;
    CHECK(fstat(shm->fd, &its) == 0);
    return (uint64_t)its.st_blocks * 512;
}

static bool is_mapped(void *memory)
{
    return msync(memory, PAGE, MS_ASYNC) == 0;
}

/* What is free in a row is given out again, whole or in parts, whatever was freed first. */
TEST(space_is_used_again)
{
    static const unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    coll_shm *end[2];
    if (!CHECK(ends_make(end, 2, 0, IN_PLACE)))
        return;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        unsigned char *const before = take(end[0], 100, 1), *part[3], *whole, *after;
        for (unsigned k = 0; k < 3; k++)
            part[k] = take(end[0], PAGE * (k + 1), 2);
        after = take(end[0], PAGE, 3);
        for (unsigned k = 0; k < 3; k++)
            CHECK(coll_shm_free(end[0], part[orders[i][k]]));
        whole = take(end[0], 5 * PAGE + 1, 4);
        CHECK(whole == part[0] && part[2] == part[0] + 3 * PAGE);
        CHECK(holds(before, 100, 1) && holds(after, PAGE, 3));
        CHECK(coll_shm_free(end[0], whole));
        for (unsigned k = 3; k-- > 0;) /* the rest of each is there for the next */
            CHECK(take(end[0], PAGE * (k + 1), 5) == whole + PAGE * (k == 2   ? 0
                                                                     : k == 1 ? 3
                                                                              : 5));
        CHECK(holds(before, 100, 1) && holds(after, PAGE, 3));
        CHECK(coll_shm_free(end[0], whole) && coll_shm_free(end[0], whole + 3 * PAGE) &&
              coll_shm_free(end[0], whole + 5 * PAGE));
        CHECK(coll_shm_free(end[0], before) && coll_shm_free(end[0], after));
    }
    ends_free(end, 2);
}

/* Only what this rank has, and once. */
TEST(what_is_not_freed)
{
    coll_shm *end[2];
    unsigned char *mine, *its, *next, private_one[8];
    if (!CHECK(ends_make(end, 2, 0, IN_PLACE)))
        return;
    CHECK(!coll_shm_free(end[0], private_one));
    mine = take(end[0], 2 * PAGE, 1);
    its = take(end[1], PAGE, 2);
    next = take(end[0], PAGE, 3);
    CHECK(coll_shm_free(end[0], NULL) && coll_shm_free(end[1], NULL));
    CHECK(!coll_shm_free(end[0], mine + 1) && !coll_shm_free(end[0], mine + PAGE) &&
          !coll_shm_free(end[0], mine - PAGE) && !coll_shm_free(end[0], private_one));
    CHECK(!coll_shm_free(end[0], end[0]->segment) && !coll_shm_free(end[1], its + PAGE));
    CHECK(!coll_shm_free(end[0], (unsigned char *)end[0]->segment +
                                     (its - (unsigned char *)end[1]->segment)));
    CHECK(coll_shm_free(end[0], mine) && !coll_shm_free(end[0], mine));
    CHECK(holds(its, PAGE, 2) && holds(next, PAGE, 3));
    CHECK(take(end[0], 3 * PAGE, 4) > next); /* the other rank's page lies between */
    CHECK(take(end[0], 2 * PAGE, 4) == mine);
    ends_free(end, 2);
}

/* Pages of long free blocks go back to the system, and the last addresses to all ranks. */
TEST(space_goes_back)
{
    const size_t kept = COLL_SHM_KEPT;
    coll_shm *end[2];
    uint64_t before, from;
    unsigned char *one, *two;
    if (!CHECK(ends_make(end, 2, 0, IN_PLACE)))
        return;
    before = held(end[0]);
    from = end[0]->segment->space;
    one = take(end[0], kept, 1);
    two = take(end[1], kept, 2);
    CHECK(held(end[0]) >= before + 2 * kept);
    CHECK(coll_shm_free(end[0], one)); /* not longer, so it stays */
    CHECK(held(end[0]) >= before + 2 * kept);
    CHECK(take(end[0], kept, 3) == one && coll_shm_free(end[0], one));
    CHECK(coll_shm_free(end[1], two));
    CHECK_EQ(end[0]->segment->space, from + 2 * kept);
    one = take(end[0], kept + 1, 4); /* does not fit, … */
    CHECK_EQ((uintptr_t)one - end[0]->node.base, from + 2 * kept);
    CHECK(coll_shm_free(end[0], one)); /* … and what follows is free now: nothing stays of it */
    CHECK_EQ(end[0]->segment->space, from + 2 * kept);
    CHECK(held(end[0]) < before + 2 * kept + PAGE);
    two = take(end[1], kept + 1, 5); /* its last block, made longer */
    CHECK_EQ((uintptr_t)two - end[1]->node.base, from + kept);
    CHECK(coll_shm_free(end[1], two));
    CHECK_EQ(end[0]->segment->space, from + kept);
    CHECK(held(end[0]) < before + kept + PAGE);
    one = take(end[0], COLL_HUGE_PAGE, 6); /* two neighbours are longer together */
    two = take(end[0], kept, 7);
    CHECK(coll_shm_free(end[0], two) && coll_shm_free(end[0], one));
    CHECK_EQ(end[0]->segment->space, from);
    CHECK(held(end[0]) < before + PAGE);
    ends_free(end, 2);
}

/* All of what is given out is there, wherever it comes from. */
TEST(space_is_there)
{
    const size_t more = COLL_SHM_KEPT + PAGE;
    coll_shm *end[2];
    uint64_t before;
    unsigned char *one, *two, *guard;
    if (!CHECK(ends_make(end, 2, 0, IN_PLACE)))
        return;
    CHECK(coll_shm_free(end[0], take(end[0], PAGE, 1)));
    before = held(end[0]);
    one = (unsigned char *)coll_shm_alloc(end[0], more); /* the last block, made longer */
    CHECK(held(end[0]) >= before + more - PAGE);
    two = (unsigned char *)coll_shm_alloc(end[0], PAGE);
    guard = (unsigned char *)coll_shm_alloc(end[0], PAGE);
    CHECK(coll_shm_free(end[0], one) && one && two == one + more && guard == two + PAGE);
    CHECK(held(end[0]) < before + more);
    before = held(end[0]);
    CHECK(coll_shm_alloc(end[0], more - 2 * PAGE) == one); /* a part of it */
    CHECK(held(end[0]) >= before + more - 2 * PAGE);
    CHECK(coll_shm_free(end[0], two)); /* the rest has no pages, but this has one */
    before = held(end[0]);
    CHECK(coll_shm_alloc(end[0], 3 * PAGE) == two - 2 * PAGE);
    CHECK(held(end[0]) >= before + 2 * PAGE);
    ends_free(end, 2);
}

/* Long blocks begin where a huge page may, and have such pages. What lies before them is for short
 * ones. */
TEST(space_in_huge_pages)
{
    const size_t huge = COLL_HUGE_PAGE;
    for (uint32_t ways = IN_PLACE; ways <= (IN_PLACE | WHOLE); ways += WHOLE) {
        coll_shm *end[2];
        unsigned char *before, *one, *two, *last;
        long kib;
        if (!CHECK(ends_make(end, 2, 0, ways)))
            return;
        CHECK_EQ((uintptr_t)end[0]->segment % huge, 0);
        before = take(end[0], 3 * PAGE, 1);
        one = take(end[0], 2 * huge + PAGE, 2);
        two = take(end[0], huge, 3);
        last = take(end[0], huge - PAGE, 4);
        CHECK_EQ((uintptr_t)before % huge, 0);
        CHECK(one == before + huge && two == one + 3 * huge && last == two - huge + PAGE);
        kib = huge_kib(one, 2 * huge);
        if (ways & WHOLE && coll_huge_is_possible()) /* unless it has none left */
            CHECK(kib >= 3 * (long)huge / 1024 || !coll_huge_move(one) || !coll_huge_move(two));
        CHECK(holds(before, 3 * PAGE, 1) && holds(one, 2 * huge + PAGE, 2) &&
              holds(two, huge, 3) && holds(last, huge - PAGE, 4));
        CHECK(coll_shm_free(end[0], one));
        CHECK(take(end[0], 3 * huge - 4 * PAGE, 7) == two + huge); /* only too early it fits */
        CHECK(take(end[0], 2 * huge, 5) == before + huge);
        CHECK(coll_shm_free(end[0], two) && coll_shm_free(end[0], last));
        CHECK(take(end[0], 2 * huge, 6) == before + 3 * huge);
        ends_free(end, 2);
    }
}

/* Two ranks take and free at random for long. They never have the same memory, and need not much more
 * than they have at a time. */
TEST(space_for_long)
{
    enum { MOST = 16, LARGEST = 64 * PAGE, STEPS = 20000, BOUND = 4 * 2 * MOST * LARGEST };
    static unsigned char *memory[2][MOST];
    static size_t bytes[2][MOST];
    coll_shm *end[2];
    uint64_t from;
    random_state = 3;
    if (!CHECK(ends_make(end, 2, 0, IN_PLACE)))
        return;
    from = end[0]->segment->space;
    for (unsigned step = 0; step < STEPS; step++) {
        const uint32_t rank = chance(2), i = chance(MOST);
        unsigned char **const at = &memory[rank][i];
        const unsigned char mark = (unsigned char)(rank * MOST + i);
        size_t *const n = &bytes[rank][i];
        if (*at) {
            CHECK((*at)[0] == mark && (*at)[*n / 2] == mark && (*at)[*n - 1] == mark);
            CHECK(coll_shm_free(end[rank], *at));
            *at = NULL;
        } else {
            *n = 1 + chance(1 + chance(LARGEST));
            *at = (unsigned char *)coll_shm_alloc(end[rank], *n);
            if (!CHECK(*at != NULL))
                break;
            (*at)[0] = (*at)[*n / 2] = (*at)[*n - 1] = mark;
        }
    }
    CHECK(end[0]->segment->space - from <= BOUND);
    ends_free(end, 2);
    memset(memory, 0, sizeof memory);
}

/* Memory that is freed for a little more each time: the last block grows. */
TEST(space_for_more)
{
    enum { STEPS = 2000 };
    coll_shm *end[2];
    uint64_t from;
    if (!CHECK(ends_make(end, 2, 0, IN_PLACE)))
        return;
    from = end[0]->segment->space;
    for (size_t n = 1; n <= STEPS; n++) {
        unsigned char *const memory = (unsigned char *)coll_shm_alloc(end[0], n * PAGE);
        if (CHECK(memory != NULL))
            memory[0] = memory[n * PAGE - 1] = 1;
        CHECK(coll_shm_free(end[0], memory));
    }
    CHECK(end[0]->segment->space - from <= (uint64_t)STEPS * PAGE);
    ends_free(end, 2);
}

/* What a rank has stays with it when it leaves, and nothing else. */
TEST(space_outlives)
{
    coll_shm *end[2];
    unsigned char *base, *one, *gap, *two;
    if (!CHECK(ends_make(end, 2, 0, IN_PLACE)))
        return;
    base = (unsigned char *)end[0]->segment;
    one = take(end[0], 2 * PAGE, 1);
    gap = take(end[0], PAGE, 2);
    two = take(end[0], PAGE, 3);
    CHECK(coll_shm_free(end[0], gap));
    ends_free(end, 2);
    CHECK(holds(one, 2 * PAGE, 1) && holds(two, PAGE, 3));
    CHECK(!is_mapped(base) && !is_mapped(one - PAGE) && !is_mapped(gap) &&
          !is_mapped(two + PAGE));
    CHECK(munmap(one, 2 * PAGE) == 0 && munmap(two, PAGE) == 0);
}

/* One that does not ask, or asks for slots, and none of them does it. */
TEST(one_that_does_not_ask)
{
    for (uint32_t ways = 0; ways <= ALL_WAYS; ways++) {
        const uint32_t huge = ways & WHOLE && coll_huge_is_possible() ? FROM_HUGE : 0;
        const int fd = coll_shm_create(NULL, 2, 0, NULL);
        coll_shm *a = coll_shm_attach(fd, 0, 2, 0, NULL),
                 *b = coll_shm_attach(fd, 1, 2, 0, NULL);
        pthread_t thread;
        void *joined;
        ask(a, ways);
        ask(b, ALL_WAYS);
        CHECK(pthread_create(&thread, NULL, ends_join, b) == 0 && ends_join(a));
        (void)pthread_join(thread, &joined);
        CHECK(joined && a->ways == (ways | huge) && b->ways == (ways | huge));
        CHECK(coll_shm_is_in_place(b) == (b->ways != 0));
        CHECK((b->node.pull != NULL) == ((ways & PULLS) != 0));
        CHECK((b->node.offer != NULL) == (huge != 0));
        coll_shm_detach(a);
        coll_shm_detach(b);
        (void)close(fd);
    }
}

/* Several segments at once, with ranks in different orders. */
TEST(several_segments)
{
    coll_shm *one[2], *two[2];
    coll_handle h;
    int x = 3, y = 0;
    CHECK(ends_make(one, 2, 0, 0) && ends_make(two, 2, 10, 0));
    CHECK_STATUS(coll_shm_transport(one[0])->send(one[0], 1, 0, &x, sizeof x, &h), COLL_OK);
    CHECK_STATUS(coll_shm_transport(two[1])->recv(two[1], 0, 0, &y, sizeof y, &h),
                 COLL_STARTED);
    coll_shm_transport(two[1])->cancel(two[1], &h);
    CHECK_STATUS(coll_shm_transport(one[1])->recv(one[1], 0, 0, &y, sizeof y, &h), COLL_OK);
    CHECK_EQ(y, 3);
    ends_free(one, 2);
    ends_free(two, 2);
}

int main(void)
{
    RUN(what_is_no_segment);
    RUN(names);
    RUN(permission);
    RUN(messages);
    RUN(nonsense);
    RUN(memory_that_is_gone);
    RUN(every_row);
    RUN(vtables);
    RUN(whole_messages);
    RUN(processes);
    RUN(fabric_reduce);
    RUN(in_place);
    RUN(space_is_used_again);
    RUN(what_is_not_freed);
    RUN(space_goes_back);
    RUN(space_is_there);
    RUN(space_in_huge_pages);
    RUN(space_for_long);
    RUN(space_for_more);
    RUN(space_outlives);
    RUN(one_that_does_not_ask);
    RUN(several_segments);
    RUN(what_cannot_be_made); /* the last: it lowers a limit */
    return check_done();
}
