/* How ranks find each other: by a rendezvous, whatever the order in which they come and whoever else comes; by a
 * process manager; by what the environment says, or says wrong. */
#include "support/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll/transports/bootstrap.h"

enum { MOST = 12, BYTES = 24 };

/* ---- the rendezvous ---------------------------------------------------------------------- */

typedef struct rank {
    coll_i_launched me;
    unsigned char mine[BYTES], all[MOST * BYTES];
    unsigned late; /* ms before it comes */
    bool well;
} rank;

static void *come(void *arg)
{
    rank *its = arg;
    char why[COLL_TCP_WHY];
    (void)poll(NULL, 0, (int)its->late);
    its->well = coll_i_launched_listen(&its->me, why) &&
                coll_i_launched_gather(&its->me, its->mine, BYTES, its->all);
    return NULL;
}

/* Makes p ranks, of which rank 0 listens already if `listens`. */
static bool prepare(rank *ranks, uint32_t p, bool listens, uint32_t patience)
{
    coll_tcp_address where = {{127, 0, 0, 1}, 0, 0, 4, 0};
    const int listener = coll_i_tcp_listen_at(&where);
    if (!CHECK(listener >= 0))
        return false;
    if (!listens)
        (void)close(listener);
    for (uint32_t r = 0; r < p; r++) {
        memset(&ranks[r], 0, sizeof ranks[r]);
        ranks[r].me.rank = r;
        ranks[r].me.p = p;
        ranks[r].me.patience = patience;
        ranks[r].me.pmi.fd = -1;
        ranks[r].me.listener = r == 0 && listens ? listener : -1;
        ranks[r].me.roots = 1;
        ranks[r].me.where = ranks[r].me.first = where;
        memset(ranks[r].me.secret, 'k', COLL_TCP_SECRET);
        memset(ranks[r].mine, (int)(r + 1), BYTES);
    }
    return true;
}

static void play(rank *ranks, uint32_t p)
{
    pthread_t threads[MOST];
    for (uint32_t r = 0; r < p; r++)
        CHECK_EQ(pthread_create(&threads[r], NULL, come, &ranks[r]), 0);
    for (uint32_t r = 0; r < p; r++)
        (void)pthread_join(threads[r], NULL);
    for (uint32_t r = 0; r < p; r++)
        if (ranks[r].me.listener >= 0)
            (void)close(ranks[r].me.listener);
}

static void all_know(const rank *ranks, uint32_t p)
{
    for (uint32_t r = 0; r < p; r++) {
        CHECK(ranks[r].well);
        for (uint32_t q = 0; q < p; q++)
            CHECK(memcmp(ranks[r].all + q * BYTES, ranks[q].mine, BYTES) == 0);
    }
}

TEST(rendezvous)
{
    static rank ranks[MOST];
    for (uint32_t p = 1; p <= 6; p += p == 1 ? 1 : 4)
        for (unsigned late = 0; late < 2; late++) {
            if (!prepare(ranks, p, !late, 10000))
                return;
            ranks[late ? 0 : p - 1].late =
                60; /* rank 0, which does not listen yet, or the last */
            play(ranks, p);
            all_know(ranks, p);
        }
}

/* Gives p ranks several roots, each of which listens at a port of its own. */
static void spread(rank *ranks, uint32_t p, uint32_t roots)
{
    coll_tcp_address first = ranks[0].me.where;
    for (uint32_t r = 0; r < p; r++) {
        const uint32_t root = coll_i_rdv_root(p, roots, coll_i_rdv_group(p, roots, r));
        if (r == root && r > 0) {
            coll_tcp_address where = {{127, 0, 0, 1}, 0, 0, 4, 0};
            ranks[r].me.listener = coll_i_tcp_listen_at(&where);
            CHECK(ranks[r].me.listener >= 0);
            ranks[r].me.where = where;
        } else {
            ranks[r].me.where = ranks[root].me.where;
        }
        ranks[r].me.roots = roots;
        ranks[r].me.first = first;
    }
}

/* Groups are consecutive, not empty, and as equal as can be; and nobody is visited by many. */
TEST(groups)
{
    for (uint32_t p = 1; p <= 70; p++)
        for (uint32_t roots = 1; roots <= p; roots++) {
            uint32_t most = 0;
            CHECK_EQ(coll_i_rdv_root(p, roots, 0), 0);
            CHECK_EQ(coll_i_rdv_root(p, roots, roots), p);
            for (uint32_t g = 0; g < roots; g++) {
                const uint32_t from = coll_i_rdv_root(p, roots, g);
                const uint32_t to = coll_i_rdv_root(p, roots, g + 1);
                CHECK(to - from == p / roots || to - from == p / roots + 1);
                CHECK_EQ(coll_i_rdv_group(p, roots, from), g);
                CHECK_EQ(coll_i_rdv_group(p, roots, to - 1), g);
            }
            for (uint32_t host = 0; host < p; host++) {
                coll_i_rdv its;
                uint32_t visits = 0;
                memset(&its, 0, sizeof its);
                its.p = p;
                its.roots = roots;
                for (uint32_t r = 0; r < p; r++)
                    visits += coll_i_rdv_speaks_for(&its, host, r) != 0;
                most = visits > most ? visits : most;
            }
            CHECK(most <= p / roots + roots);
        }
}

TEST(several_roots)
{
    static rank ranks[MOST];
    for (uint32_t p = 2; p <= MOST; p += 5)
        for (uint32_t roots = 2; roots <= p; roots++) {
            if (!prepare(ranks, p, true, 10000))
                return;
            spread(ranks, p, roots);
            ranks[roots % p].late = 30;
            play(ranks, p);
            all_know(ranks, p);
        }
    /* A rank of a group that does not come, one that knows of other roots, one with another secret: nobody
     * meets. */
    for (unsigned which = 0; which < 3; which++) {
        const uint32_t p = 7;
        if (!prepare(ranks, p, true, 400))
            return;
        spread(ranks, p, 3);
        ranks[5].late = which == 0 ? 1200 : 0;
        ranks[4].me.roots = which == 1 ? 2 : 3; /* a root for the others, not for itself */
        ranks[5].me.secret[9] ^= which == 2;
        play(ranks, p);
        for (uint32_t r = 0; r < p; r++)
            CHECK(!ranks[r].well);
    }
}

/* Visits rank 0 as a rank that there is not. */
static bool visit_as(uint32_t number, const rank *other)
{
    unsigned char room[COLL_I_TCP_RANDOM + MOST * BYTES] = {0};
    coll_i_rdv its;
    memset(&its, 0, sizeof its);
    its.secret = other->me.secret;
    its.rank = number;
    its.p = other->me.p;
    its.roots = 1;
    its.bytes = BYTES;
    its.room = room;
    its.until = coll_i_tcp_now() + 3000;
    return coll_i_rdv_visit_at(&its, &other->me.where, 1);
}

/* Who has another secret, the same rank, another number of ranks, or nothing to say, is turned away. NULL:
 * all were. A thread beside those that check. */
static void *intrude(void *arg)
{
    const rank *its = arg;
    static rank others[5];
    bool well;
    int idle;
    memcpy(&others[0], its, sizeof *its);
    idle = coll_i_rdv_connect(&its->me.where, coll_i_tcp_now() + 5000);
    well = idle >= 0;
    for (unsigned i = 0; i < 5; i++) {
        memcpy(&others[i], its, sizeof *its);
        others[i].me.listener = -1;
        others[i].me.rank = 1;
        others[i].me.p = i == 1 ? 4 : 3;
        others[i].me.secret[3] ^= i == 2;
        others[i].me.patience = 3000;
        if (i == 3) {
            const int fd = coll_i_rdv_connect(&its->me.where, coll_i_tcp_now() + 5000);
            char noise[200] = "GET / HTTP/1.1\r\n\r\n", answer[400];
            well = well && send(fd, noise, sizeof noise, MSG_NOSIGNAL) == (ssize_t)sizeof noise;
            while (recv(fd, answer, sizeof answer, 0) > 0)
                ;
            (void)close(fd);
        } else if (i == 0) {
            well = !visit_as(7, its) && well;
        } else if (i < 3) {
            well =
                !coll_i_launched_gather(&others[i].me, others[i].mine, BYTES, others[i].all) &&
                well;
        }
    }
    (void)close(idle);
    return well ? NULL : arg;
}

TEST(who_is_turned_away)
{
    static rank ranks[3];
    pthread_t other;
    void *slipped_in;
    if (!prepare(ranks, 3, true, 10000))
        return;
    CHECK_EQ(pthread_create(&other, NULL, intrude, &ranks[1]), 0);
    ranks[1].late = ranks[2].late = 400;
    play(ranks, 3);
    CHECK_EQ(pthread_join(other, &slipped_in), 0);
    CHECK(slipped_in == NULL);
    all_know(ranks, 3);
}

/* A rank that does not come ends the others' patience. */
TEST(who_does_not_come)
{
    static rank ranks[3];
    if (!prepare(ranks, 3, true, 300))
        return;
    play(ranks, 2);
    CHECK(!ranks[0].well && !ranks[1].well);
    if (!prepare(ranks, 2, false, 300))
        return;
    ranks[1].well = true;
    come(&ranks[1]);
    CHECK(!ranks[1].well);
}

/* ---- a process manager ------------------------------------------------------------------- */

typedef struct manager {
    int fd;
    const char *const *lines; /* what is asked, and answered, in turn */
} manager;

static void *manage(void *arg)
{
    const manager *its = arg;
    for (size_t i = 0; its->lines[i]; i += 2) {
        char asked[600];
        size_t n = 0;
        while (n + 1 < sizeof asked && read(its->fd, asked + n, 1) == 1 && asked[n++] != '\n')
            ;
        asked[n] = 0;
        if (!CHECK(strcmp(asked, its->lines[i]) == 0))
            printf("    \"%s\", not \"%s\"\n", asked, its->lines[i]);
        if (write(its->fd, its->lines[i + 1], strlen(its->lines[i + 1])) < 0)
            break;
    }
    (void)close(its->fd);
    return NULL;
}

/* Ranks 1 of 2, of a manager that says this; does all go well? */
static bool managed(const char *const *lines, unsigned char *all)
{
    static const unsigned char mine[2] = {0xa1, 0x07};
    coll_i_launched me;
    pthread_t thread;
    manager its;
    bool well;
    int ends[2];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    its.fd = ends[1];
    its.lines = lines;
    CHECK_EQ(pthread_create(&thread, NULL, manage, &its), 0);
    memset(&me, 0, sizeof me);
    me.rank = 1;
    me.p = 2;
    well = coll_i_pmi_open(&me.pmi, ends[0]) && coll_i_launched_gather(&me, mine, 2, all) &&
           coll_i_pmi_close(&me.pmi);
    (void)shutdown(ends[0], SHUT_RDWR);
    (void)pthread_join(thread, NULL);
    (void)close(ends[0]);
    return well;
}

#define OPENED                                                                                 \
    "cmd=init pmi_version=1 pmi_subversion=1\n",                                               \
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n", "cmd=get_my_kvsname\n",  \
        "cmd=my_kvsname kvsname=kvs_7 \n"
#define PUT                                                                                    \
    "cmd=put kvsname=kvs_7 key=coll-1-1-0 value=a107\n", "cmd=put_result rc=0 msg=success\n",  \
        "cmd=barrier_in\n", "cmd=barrier_out\n"

TEST(process_managers)
{
    static const char *const well[] = {OPENED,
                                       PUT,
                                       "cmd=get kvsname=kvs_7 key=coll-1-0-0\n",
                                       "cmd=get_result rc=0 msg=success value=00ff\n",
                                       "cmd=get kvsname=kvs_7 key=coll-1-1-0\n",
                                       "cmd=get_result value=a107 rc=0\n",
                                       "cmd=finalize\n",
                                       "cmd=finalize_ack\n",
                                       NULL};
    static const char *const refused[] = {OPENED,
                                          "cmd=put kvsname=kvs_7 key=coll-1-1-0 value=a107\n",
                                          "cmd=put_result rc=-1 msg=duplicate_key\n", NULL};
    static const char *const shorter[] = {OPENED, PUT, "cmd=get kvsname=kvs_7 key=coll-1-0-0\n",
                                          "cmd=get_result rc=0 value=00\n", NULL};
    static const char *const no_digits[] = {OPENED, PUT,
                                            "cmd=get kvsname=kvs_7 key=coll-1-0-0\n",
                                            "cmd=get_result rc=0 value=00gg\n", NULL};
    static const char *const other[] = {"cmd=init pmi_version=1 pmi_subversion=1\n",
                                        "cmd=no_answer rc=0\n", NULL};
    static const char *const gone[] = {"cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=res",
                                       NULL};
    unsigned char all[4] = {0};
    CHECK(managed(well, all));
    CHECK(all[0] == 0 && all[1] == 0xff && all[2] == 0xa1 && all[3] == 7);
    CHECK(!managed(refused, all));
    CHECK(!managed(shorter, all));
    CHECK(!managed(no_digits, all));
    CHECK(!managed(other, all));
    CHECK(!managed(gone, all));
}

/* ---- the environment --------------------------------------------------------------------- */

TEST(environment)
{
    static const struct {
        const char *size, *where, *secret, *says;
    } wrong[] = {
        {"x", "127.0.0.1:1", NULL, "COLL_SIZE is not a number"},
        {"2", NULL, NULL, "does not say where"},
        {"2", "127.0.0.1", NULL, "no address and port"},
        {"2", "127.0.0.1:0", NULL, "no address and port"},
        {"2", "127.0.0.1:70000", NULL, "no address and port"},
        {"2", "127.0.0.0/8:5000", NULL, "no address and port"},
        {"2", "host:5000", NULL, "no address and port"},
        {"2", "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3", NULL, "has 3 addresses, for 2 ranks"},
        {"3", "127.0.0.1:1,127.0.0.1", NULL, "no address and port"},
        {"3", "127.0.0.1:1,", NULL, "no address and port"},
        {"3", ",127.0.0.1:1", NULL, "no address and port"},
        {"3", "127.0.0.1:1,192.0.2.1:2", NULL, "rank 1 cannot listen at address 2"},
        {"1", "127.0.0.1:1", NULL, "there is no rank 1 of 1"},
        {"2", "127.0.0.1:1", "0011", "COLL_SECRET is not 32"},
        {"2", "127.0.0.1:1", "0011223344556677889900112233445X", "COLL_SECRET is not 32"}};
    char why[COLL_TCP_WHY];
    coll_tcp_address where;
    coll_tcp *alone;
    unsetenv("PMI_FD");
    unsetenv("COLL_RANK");
    alone = coll_tcp_launched(NULL, why);
    if (CHECK(alone != NULL))
        CHECK(coll_tcp_rank(alone) == 0 && coll_tcp_size(alone) == 1);
    coll_tcp_close(alone);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        setenv("COLL_RANK", "1", 1);
        setenv("COLL_SIZE", wrong[i].size, 1);
        if (wrong[i].where)
            setenv("COLL_RENDEZVOUS", wrong[i].where, 1);
        else
            unsetenv("COLL_RENDEZVOUS");
        if (wrong[i].secret)
            setenv("COLL_SECRET", wrong[i].secret, 1);
        else
            unsetenv("COLL_SECRET");
        CHECK(coll_tcp_launched(NULL, why) == NULL);
        if (!CHECK(strstr(why, wrong[i].says) != NULL))
            printf("    \"%s\"\n", why);
    }
    CHECK(coll_i_launched_where("[::1]:77", &where, why) && where.family == 6 &&
          where.port == 77 && where.ip[15] == 1);
    setenv("PMI_FD", "1000000", 1);
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", "2", 1);
    CHECK(coll_tcp_launched(NULL, why) == NULL);
    CHECK(strstr(why, "does not answer") != NULL);
}

int main(void)
{
    RUN(rendezvous);
    RUN(groups);
    RUN(several_roots);
    RUN(who_is_turned_away);
    RUN(who_does_not_come);
    RUN(process_managers);
    RUN(environment);
    return check_done();
}
