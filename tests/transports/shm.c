/* The transport of processes: segments and what is refused; messages of all lengths and tags in one
 * thread; every row of the registry; ranks that are processes. */
#include "support/check.h"

#include <string.h>
#include <sys/resource.h>

#include "support/chance.h"
#include "coll/comm.h"
#include "coll/algos/registry.h"
#include "support/processes.h"
#include "support/records.h"
#include "support/rig.h"

#include "support/kinds.h"

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

/* What a program keeps of SHARED no call uses. */
TEST(what_is_kept)
{
    enum { BYTES = 4096 };
    static const size_t kept[] = {0, 1, 64, 65, 4000, BYTES, BYTES + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const int fd = coll_shm_create(NULL, 1, BYTES, why);
        coll_shm *shm = coll_shm_attach(fd, 0, 1, BYTES, why);
        const size_t line = COLL_NODE_LINE,
                     first = kept[i] > BYTES ? BYTES : (kept[i] + line - 1) / line * line;
        void *memory;
        uint32_t use;
        size_t part;
        CHECK(shm && coll_shm_join(shm, 1000, why));
        coll_shm_keep(shm, kept[i]);
        part = coll_shm_transport(shm)->node_memory->shared(shm, false, &use, &memory);
        CHECK_EQ(part, (BYTES - first) / COLL_NODE_PARTS / line * line);
        CHECK(part == 0 || memory == (unsigned char *)coll_shm_shared(shm) + first);
        coll_shm_detach(shm);
        (void)close(fd);
    }
}

TEST(what_cannot_be_made)
{
    struct rlimit default_value, small;
    CHECK_EQ(coll_shm_create(NULL, 0, 0, why), -1);
    CHECK(said("a segment has 1 to 65536 ranks, and less than 64 TB; not 0, 0"));
    CHECK_EQ(coll_shm_create(NULL, 2, (size_t)1 << 45, why), -1);
    CHECK(said("this machine has no 35184372088832 bytes of memory to share"));
    CHECK_EQ(coll_shm_create("/no/such/name", 2, 0, why), -1);
    CHECK(strncmp(why, "the segment /no/such/name cannot be made: ", 42) == 0);
    CHECK_EQ(coll_shm_open("/no/such/name", 0, why), -1);
    CHECK_EQ(coll_shm_open(own_name(), 3, why), -1);
    CHECK(strncmp(why, "nobody has made the segment /coll-test-", 39) == 0);
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &default_value), 0);
    small = default_value;
    small.rlim_cur = 1 << 16;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    CHECK_EQ(coll_shm_create(own_name(), 2, 1 << 20, why), -1);
    CHECK(strncmp(why, "there is no space for a segment of ", 35) == 0);
    CHECK_EQ(coll_shm_open(own_name(), 0, NULL), -1); /* nothing is left of it */
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &default_value), 0);
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

enum { TAGS = 4, DEEP = 64, LONGEST = 3 * COLL_SHM_SLOT };

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
    const bool anywhere = !(shm->ways & ZERO_COPY) || bytes <= shm->node.medium;
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
    const bool zero_copy = f->status[0] == COLL_OK || /* it is in a cell, or a slot */
                           coll_i_node_is_shared(&a->node, f->data[0], bytes);
    const bool borrows = chance(2) && (t->zero_copy->read || t->zero_copy->max_bytes == 0 ||
                                       bytes <= t->zero_copy->max_bytes);
    const bool reads = b->node.part > 0 && bytes >= b->node.read_from;
    if (borrows && !zero_copy && !reads)
        CHECK_STATUS(t->zero_copy->acquire(b, 0, tag, bytes, &message, &h),
                     COLL_ERR_CAPABILITY);
    if (borrows && (zero_copy || reads))
        status = t->zero_copy->acquire(b, 0, tag, bytes, &message, &h);
    else
        status = t->recv(b, 0, tag, into, bytes, &h);
    CHECK_STATUS(status, COLL_OK);
    if (borrows && reads && status == COLL_OK && !message) {
        for (size_t at = 0; at < bytes; at += t->zero_copy->part_bytes) {
            const size_t left = bytes - at, most = t->zero_copy->part_bytes;
            const void *part = NULL;
            CHECK(!zero_copy);
            CHECK_STATUS(t->zero_copy->read(b, &h, at, left < most ? left : most, &part),
                         COLL_OK);
            if (part)
                memcpy(into + at, part, left < most ? left : most);
        }
        message = into;
    }
    CHECK(status != COLL_OK || memcmp(message, f->data[0] + lead(bytes), bytes) == 0);
    if (borrows && (zero_copy || reads) && status == COLL_OK)
        t->zero_copy->release(b, &h);
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
    end[1]->node.read_from = LONGEST; /* the longest ones are read in parts */
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
        end[0]->node.oversubscribed =
            step / 1000 % 2; /* then they stream, as nothing comes back */
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
        const void *zero_copy;
        CHECK_STATUS(t->send(end[0], 1, 1, message, sizeof buf, &h), COLL_STARTED);
        sent = ((coll_i_node_op *)h.word[0])->sent;
        CHECK(sent->shared && sent->address == (uintptr_t)message - end[0]->node.base);
        sent->address = other ? end[0]->node.end - sizeof buf + 1 : UINT64_MAX - 10;
        CHECK_STATUS(t->zero_copy->acquire(end[1], 0, 1, sizeof buf, &zero_copy, &h),
                     COLL_ERR_CAPABILITY);
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
        if ((me->plan.traits & COLL_NEEDS_NETWORK_REDUCE) &&
            !coll_network_reduce_takes(me->run.transport, &it->problem))
            return;
        (void)coll_engine_init(&me->engine, me->slots, me->plan.window + it->p % 3);
        CHECK_STATUS(coll_engine_start(&me->engine, &me->run), COLL_OK);
    }
    for (unsigned long rounds = 0; running > 0 && rounds < 1000000; rounds++) {
        running = 0;
        for (uint32_t r = 0; r < it->p; r++)
            running += coll_engine_progress(&it->ranks[r].engine) == COLL_AGAIN;
    }
    for (uint32_t r = 0; r < it->p; r++)
        CHECK_STATUS(it->ranks[r].engine.status, COLL_OK);
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
    static coll_i_ipc_segment segment;
    shm.segment = &segment;
    segment.costs = coll_node_costs_usual();
    for (uint32_t ways = 0; ways <= (ALL_WAYS | FROM_HUGE); ways++)
        for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
            const coll_transport *const t = coll_shm_transport(&shm);
            const bool pulls = (ways & PULLS) != 0, whole = (ways & (DIRECT | ZERO_COPY)) != 0;
            shm.ways = ways;
            shm.node.oversubscribed = oversubscribed;
            shm.node.pull = pulls ? coll_i_ipc_pull : NULL;
            coll_i_ipc_choose(&shm);
            CHECK_EQ(t->max_bytes, whole ? 0 : COLL_SHM_SLOT);
            CHECK((t->whole_from != NULL) == (pulls && !whole));
            CHECK((t->zero_copy->read != NULL) == pulls);
            CHECK_EQ(t->zero_copy->max_bytes, pulls && !(ways & ZERO_COPY) ? COLL_SHM_SLOT : 0);
            CHECK(shm.node.part == t->zero_copy->part_bytes && (shm.node.part > 0) == pulls);
            CHECK_EQ(shm.node.lying, ways & ZERO_COPY ? COLL_NODE_NARROW : COLL_SHM_SLOT);
            for (uint32_t c = 0; c < COLL_COLLECTIVES && t->whole_from; c++) {
                const coll_collective its = (coll_collective)c;
                const bool never =
                    oversubscribed ? !coll_is(COLL_I_IPC_CROWDED, its) : its == COLL_BCAST;
                CHECK_EQ(t->whole_from[c],
                         never ? SIZE_MAX
                               : coll_node_kernel_from(
                                     &segment.costs,
                                     coll_i_ipc_direction(its, oversubscribed != 0),
                                     (ways & FROM_HUGE) != 0));
            }
        }
}

static unsigned long pulls, pulled[COLL_COLLECTIVES];

static coll_status counting_pull(coll_i_node_rank *me, uint32_t peer, void *into, uint64_t from,
                                 size_t bytes)
{
    pulls++;
    return coll_i_ipc_pull(me, peer, into, from, bytes);
}

static void visit_whole(rig *it, const char *what, void *arg)
{
    pulls = 0;
    visit_row(it, what, arg);
    pulled[it->problem.collective] += pulls;
}

/* Of the collectives whose long messages the vtable leaves whole, and of no other, the kernel copies them. */
TEST(whole_messages)
{
    for (uint32_t oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
        const uint32_t p = 2 + oversubscribed;
        const coll_transport *t = NULL;
        coll_shm *end[PROCESSES_MOST];
        memset(pulled, 0, sizeof pulled);
        if (!CHECK(ends_make(end, p, 0, WHOLE)))
            return;
        for (uint32_t r = 0; r < p; r++) {
            end[r]->ways |= FROM_HUGE;
            end[r]->node.oversubscribed = oversubscribed != 0;
            end[r]->node.pull = counting_pull;
            coll_i_ipc_choose(end[r]);
            t = coll_shm_transport(end[r]);
            CHECK(t->whole_from != NULL);
        }
        for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
            CHECK(rig_each(coll_registry[i], p, 9000, visit_whole, end));
        for (unsigned c = 0; c < COLL_COLLECTIVES && t; c++) {
            const bool may = t->whole_from[c] <= COLL_SHM_SLOT;
            if (!coll_is(COLL_PAIRED, (coll_collective)c) && /* whose blocks are short here */
                (may || t->whole_from[c] == SIZE_MAX) && !CHECK((pulled[c] > 0) == may))
                printf("    %s, %u ranks: %lu\n", coll_collective_name((coll_collective)c), p,
                       pulled[c]);
        }
        ends_free(end, p);
    }
}

/* ---- processes --------------------------------------------------------------------------- */

static int allreduces(coll_shm *shm, void *arg)
{
    enum { MOST = 100000, ALL = 4 * MOST };
    static double mine[ALL];
    double *const x = shm->ways & ZERO_COPY ? (double *)coll_shm_alloc(shm, sizeof mine) : mine;
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
    enum { CALLS = 3, MOST = COLL_NODE_REDUCE / sizeof(int64_t), ROUNDS = 300 };
    static const size_t counts[CALLS] = {1, 7, MOST};
    static int64_t mine[2 * CALLS * MOST], scratch[64];
    int64_t *const x =
        shm->ways & ZERO_COPY ? (int64_t *)coll_shm_alloc(shm, sizeof mine) : mine;
    int64_t *const sum = x + CALLS * MOST;
    const uint32_t rank = shm->node.rank, p = shm->node.p;
    static coll_request call[CALLS];
    coll_comm comm;
    coll_network_group all;
    coll_handle h;
    (void)arg;
    if (!x ||
        coll_comm_init(&comm, coll_shm_transport(shm), shm, rank, p, scratch, sizeof scratch) !=
            COLL_OK ||
        coll_comm_set_algorithm(&comm, COLL_ALLREDUCE, &coll_in_network_allreduce, NULL) !=
            COLL_OK)
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
    all.number = COLL_GROUP_ALL;
    all.members = p;
    if (p > 1 && rank == 0) {
        if (network_reduce(coll_shm_transport(shm), shm, 5, all, NULL, NULL, NULL, 0, 0, &h) !=
            COLL_STARTED)
            return 6;
        coll_shm_transport(shm)->failure->cancel(shm, &h);
    }
    for (unsigned k = 0; k < CALLS; k++)
        if (coll_request_free(&call[k]) != COLL_OK)
            return 7;
    return coll_allreduce(&comm, x, sum, MOST + 1, COLL_I64, COLL_SUM) == COLL_ERR_CAPABILITY &&
                   coll_comm_free(&comm) == COLL_OK
               ? 0
               : 8;
}

TEST(reductions_by_the_network)
{
    for (uint32_t p = 1; p <= 7; p += 3)
        for (uint32_t ways = 0; ways <= ZERO_COPY; ways += ZERO_COPY) {
            pid_t pid[PROCESSES_MOST];
            processes_start(pid, p, 0, ways, meets, NULL);
            CHECK(processes_end(pid, p));
        }
}

/* What the promise was, and where memory ends. */
TEST(in_place)
{
    static unsigned char elsewhere[COLL_NODE_READ] = {7, [COLL_SHM_SLOT] = 8};
    static unsigned char copy[sizeof elsewhere];
    const size_t all = (size_t)2 * COLL_SHM_SPACE;
    coll_shm *end[2];
    coll_handle h, sent;
    const void *zero_copy;
    unsigned char *first, *second;
    if (!CHECK(ends_make(end, 2, 0, ZERO_COPY | WHOLE)))
        return;
    CHECK_STATUS(
        coll_shm_transport(end[0])->send(end[0], 1, 0, elsewhere, sizeof elsewhere, &sent),
        COLL_STARTED);
    CHECK_STATUS(coll_shm_transport(end[1])->zero_copy->acquire(end[1], 0, 0, sizeof elsewhere,
                                                                &zero_copy, &h),
                 COLL_OK);
    CHECK(zero_copy == NULL); /* it is read */
    CHECK_STATUS(coll_shm_transport(end[1])->zero_copy->read(end[1], &h, COLL_SHM_SLOT - 1, 2,
                                                             &zero_copy),
                 COLL_OK);
    CHECK(memcmp(zero_copy, elsewhere + COLL_SHM_SLOT - 1, 2) == 0);
    coll_shm_transport(end[1])->zero_copy->release(end[1], &h);
    CHECK_STATUS(coll_shm_transport(end[0])->test(end[0], &sent), COLL_OK);
    CHECK_STATUS(
        coll_shm_transport(end[0])->send(end[0], 1, 0, elsewhere, sizeof elsewhere, &sent),
        COLL_STARTED);
    CHECK_STATUS(coll_shm_transport(end[1])->recv(end[1], 0, 0, copy, sizeof copy, &h),
                 COLL_OK);
    CHECK(copy[0] == elsewhere[0] && copy[COLL_SHM_SLOT] == elsewhere[COLL_SHM_SLOT]);
    CHECK_STATUS(coll_shm_transport(end[0])->test(end[0], &sent), COLL_OK);
    ends_free(end, 2);
    if (!CHECK(ends_make(end, 2, 0, ZERO_COPY)))
        return;
    CHECK_STATUS(
        coll_shm_transport(end[0])->send(end[0], 1, 0, elsewhere, sizeof elsewhere, &h),
        COLL_ERR_PLACE);
    CHECK_STATUS(coll_shm_transport(end[0])->send(end[0], 1, 0, elsewhere, COLL_SHM_SLOT, &h),
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
        CHECK(coll_shm_is_zero_copy(b) ==
              ((ways & (DIRECT | ZERO_COPY)) != 0 ||
               (b->transport.whole_from &&
                b->transport.whole_from[COLL_ALLREDUCE] <= 512 << 10)));
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
    coll_shm_transport(two[1])->failure->cancel(two[1], &h);
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
    RUN(reductions_by_the_network);
    RUN(in_place);
    RUN(one_that_does_not_ask);
    RUN(several_segments);
    RUN(what_is_kept);
    RUN(what_cannot_be_made); /* the last: it lowers a limit */
    return check_done();
}
