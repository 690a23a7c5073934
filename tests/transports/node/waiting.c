/* node/waiting.h: when a rank that waits keeps its processor. Four ranks, of which 0 and 1 share
 * processor 1, and 2 and 3 processor 2; what they say is written by hand. */
#include "support/check.h"

#include "coll/transports/node/waiting.h"

enum { P = 4 };

static coll_i_node_rank me;  /* rank 0 */
static uint32_t cpus[P + 1]; /* behind the last what is no rank, as if it could go on */
static coll_i_node_watch watches[P + 1];
static coll_i_node_link *links[P];
static struct {
    uint32_t word;
    unsigned char pad[COLL_NODE_LINE - sizeof(uint32_t)];
} words[P] __attribute__((aligned(COLL_NODE_LINE)));

/* Rank r waits for word r, of `peer`, which has changed since, or not. */
static void waits(uint32_t r, uint32_t peer, bool changed)
{
    watches[r].at = (uintptr_t)&words[r].word;
    watches[r].seen = words[r].word;
    watches[r].peer = peer;
    words[r].word += changed;
}

/* Rank 0 waits for 2, whom nobody else waits for, and none can go on. */
static void begin(void)
{
    memset(&me, 0, sizeof me);
    me.end = UINTPTR_MAX;
    me.p = P;
    me.oversubscribed = true;
    me.spins = 100;
    me.cpus = cpus;
    me.watches = watches;
    me.links = links;
    for (uint32_t r = 0; r < P; r++) {
        cpus[r] = 1 + r / 2;
        waits(r, r == 2 ? 3 : 2, false);
    }
    cpus[P] = 1;
    watches[P].peer = 0;
}

TEST(none_can_go_on)
{
    begin();
    CHECK(coll_i_node_stays(&me));
    CHECK(!coll_i_node_can_go_on(&me, 1));
    waits(3, 2, true); /* on another processor */
    CHECK(coll_i_node_stays(&me));
    CHECK(!me.bets);
}

TEST(nobody_knows_where)
{
    begin();
    cpus[0] = 0;
    CHECK(!coll_i_node_stays(&me));
}

TEST(it_waits_for_one_of_its_processor)
{
    coll_i_node_link link = {0};
    begin();
    link.peer = 2;
    CHECK_STATUS(coll_i_node_miss(&me, &link, &words[0].word, words[0].word), COLL_AGAIN);
    CHECK(link.missed && !me.near && me.watch.peer == 2);
    CHECK(coll_i_node_stays(&me));
    link.peer = 1;
    CHECK_STATUS(coll_i_node_miss(&me, &link, &words[0].word, words[0].word), COLL_AGAIN);
    CHECK(me.near);
    CHECK(!coll_i_node_stays(&me));
}

/* Of what it waits for it tells what comes from another processor, whichever was looked at last. */
TEST(it_waits_for_several)
{
    coll_i_node_link near = {0}, far = {0};
    begin();
    near.peer = 1;
    far.peer = 2;
    for (uint32_t i = 0; i < 2; i++) {
        (void)coll_i_node_miss(&me, &near, &words[0].word, words[0].word);
        CHECK(me.near && me.watch.peer == 1);
        (void)coll_i_node_miss(&me, &far, &words[2].word, words[2].word);
        CHECK(me.near && me.watch.peer == 2);
        (void)coll_i_node_miss(&me, &near, &words[0].word, words[0].word);
        CHECK(me.near && me.watch.peer == 2 && me.watch.at == (uintptr_t)&words[2].word);
        coll_i_node_wait(&me, 2);
        CHECK(watches[0].peer == 2 && !me.near && me.watch.at == 0);
        cpus[0] = 1;
    }
}

TEST(one_that_is_wanted_can_go_on)
{
    begin();
    me.luck = 1; /* if it were a bet */
    waits(1, 2, true);
    CHECK(coll_i_node_stays(&me));
    waits(3, 1, false);
    CHECK(!coll_i_node_stays(&me));
    waits(3, 1, true); /* no longer */
    CHECK(coll_i_node_stays(&me));
    waits(3, COLL_RANK_NONE, false);
    CHECK(!coll_i_node_stays(&me));
}

TEST(one_that_waited_for_this_rank_can_go_on)
{
    begin();
    me.luck = 1;
    waits(1, 0, false);
    CHECK(coll_i_node_stays(&me));
    waits(1, 0, true);
    CHECK(!coll_i_node_stays(&me));
}

TEST(bets)
{
    uint32_t made = 0;
    begin();
    waits(1, 2, true);
    for (uint32_t i = 0; i < 10 * COLL_I_NODE_TRY; i++) { /* without luck: now and then */
        made += coll_i_node_stays(&me);
        coll_i_node_yield(&me);
        cpus[0] = 1;
    }
    CHECK(made == 10 && me.luck == 0);
    for (uint32_t i = 0; me.luck == 0; i++) { /* one is won */
        CHECK(i < COLL_I_NODE_TRY);
        if (coll_i_node_stays(&me))
            coll_i_node_has_waited(&me);
    }
    for (uint32_t i = 0; i < 100; i++) {
        CHECK(coll_i_node_stays(&me));
        coll_i_node_has_waited(&me);
    }
    CHECK(me.luck == COLL_I_NODE_LUCK);
    CHECK(coll_i_node_stays(&me));
    coll_i_node_yield(&me); /* one is lost */
    cpus[0] = 1;
    CHECK(me.luck == COLL_I_NODE_LUCK - COLL_I_NODE_LOSS);
}

TEST(nonsense)
{
    begin();
    me.end = (uintptr_t)&words[0];
    for (uint64_t at = 0; at < 3; at++) { /* nothing; not a line; behind the end */
        watches[1].at = at < 2 ? at : (uintptr_t)&words[1];
        CHECK(coll_i_node_can_go_on(&me, 1));
    }
}

/* It leaves the processor after so many looks at the latest, and at once where it has nothing to
 * look at but another can go on. */
TEST(turns)
{
    uint32_t calls = 0;
    begin();
    do {
        CHECK(++calls <= me.spins);
        coll_i_node_watch_word(&me, &words[0].word, words[0].word, 2);
        coll_i_node_wait(&me, calls + 1);
        CHECK(watches[0].at == (uintptr_t)&words[0].word && watches[0].peer == 2);
    } while (me.spun != 0);
    CHECK(calls > me.spins / COLL_I_NODE_GLANCES);
    cpus[0] = 1;
    coll_i_node_wait(&me, 2);
    CHECK(me.spun == COLL_I_NODE_GLANCES && watches[0].at == 0);
    waits(1, 0, true);
    coll_i_node_wait(&me, 2);
    CHECK(me.spun == 0);
    cpus[0] = 1;
    waits(1, 0, false);
    coll_i_node_wait(&me, 2);
    coll_i_node_wait(&me, 1); /* something came before */
    CHECK(me.spun == COLL_I_NODE_GLANCES);
}

/* What comes while it waits it does not leave the processor for. */
TEST(word_changes)
{
    begin();
    waits(1, 0, true);
    coll_i_node_watch_word(&me, &words[0].word, words[0].word + 1, 2);
    coll_i_node_wait(&me, 2);
    CHECK(me.spun == 1);
    coll_i_node_wait(&me, 2); /* nothing to look at */
    CHECK(me.spun == 0);
}

/* Looks until rank 0, with a processor of its own, would leave it. */
static uint32_t persists(void)
{
    uint32_t looks = 0;
    while (coll_i_node_persists(&me))
        if (++looks > 2 * me.patience)
            break;
    return looks;
}

/* With a processor for each rank it stays for long, and again if it was kept from it for long. */
TEST(patience)
{
    begin();
    me.oversubscribed = false;
    me.spins = 30;
    me.patience = 4000;
    for (uint32_t r = 0; r < P; r++)
        cpus[r] = coll_i_node_processor() + r; /* the system may move this test, but not far */
    CHECK(persists() == me.patience || me.near);
    me.near = false;
    me.spun = me.patience;
    CHECK(persists() == 0);
    coll_i_node_was_away(&me, COLL_I_NODE_AWAY - 1);
    CHECK(persists() == 0);
    coll_i_node_was_away(&me, COLL_I_NODE_AWAY);
    CHECK(me.spun == 0 && coll_i_node_persists(&me));
    coll_i_node_wait(&me, 2);
    CHECK(me.spun == 2);
    coll_i_node_wait(&me, 1); /* something came before */
    CHECK(me.spun == 1);
}

/* … but not if another is on its processor, as far as that one has told. */
TEST(no_processor_of_its_own)
{
    begin();
    me.oversubscribed = false;
    me.spins = 30;
    for (uint32_t r = 0; r < P; r++)
        cpus[r] = r;
    CHECK(!coll_i_node_is_near(&me)); /* nobody knows */
    cpus[0] = 4;
    CHECK(!coll_i_node_is_near(&me));
    cpus[0] = 3;
    CHECK(coll_i_node_is_near(&me));
    if (coll_i_node_processor() == 0)
        return;
    me.patience = 4000;
    for (uint32_t tries = 0; tries < 100; tries++) { /* the system may move this test */
        me.spun = 0;
        cpus[2] = coll_i_node_processor();
        if (persists() == me.spins)
            break;
    }
    CHECK(me.near && me.spun == me.spins);
    cpus[2] = 0;
    cpus[1] = cpus[3] = 0;
    CHECK(coll_i_node_persists(&me)); /* it has left */
}

int main(void)
{
    RUN(none_can_go_on);
    RUN(nobody_knows_where);
    RUN(it_waits_for_one_of_its_processor);
    RUN(it_waits_for_several);
    RUN(one_that_is_wanted_can_go_on);
    RUN(one_that_waited_for_this_rank_can_go_on);
    RUN(bets);
    RUN(nonsense);
    RUN(turns);
    RUN(word_changes);
    RUN(patience);
    RUN(no_processor_of_its_own);
    return check_done();
}
