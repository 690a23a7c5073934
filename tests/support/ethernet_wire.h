/* tests/support/ethernet_wire.h — an Ethernet in memory, that loses, repeats and reorders frames
 *
 *   wire_init(P, seed);
 *   ether.lost = 50;                       // of 1000 copies of a frame, one for each card
 *   wire_open(rank, ops, early);          // a rank at its card: wire_ranks[rank]
 *
 * A card takes what is sent to its address or to the multicast address. Time goes by as it is asked for.
 */
#ifndef COLL_TESTS_ETHERNET_WIRE_H
#define COLL_TESTS_ETHERNET_WIRE_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "chance.h"

#include "coll/transports/ethernet.h"

enum { WIRE_RANKS = 8, WIRE_QUEUE = 64, WIRE_SESSION = 0x1234, WIRE_RETRY = 400 };

typedef struct wire_frame {
    size_t bytes;
    unsigned char data[COLL_ETHERNET_FRAME];
} wire_frame;

typedef struct wire_card {
    uint32_t rank, queued;
    bool out; /* it is pulled out */
    wire_frame taken, queue[WIRE_QUEUE];
} wire_card;

static struct {
    uint32_t p, clock, patience;
    uint32_t lost, repeated, reordered, busy; /* of 1000 */
    uint32_t frames, multicasts, overflows;
    void (*spoil)(unsigned char *frame,
                  size_t bytes); /* changes what is on the ether; or NULL */
    wire_card card[WIRE_RANKS];
} ether;

static coll_ethernet wire_ranks[WIRE_RANKS];
static void *rank_memory[WIRE_RANKS];

static bool wire_happens(uint32_t of_1000)
{
    return of_1000 != 0 && chance(1000) < of_1000;
}

static void wire_deliver(wire_card *to, const unsigned char *frame, size_t bytes)
{
    uint32_t at = to->queued;
    if (at == WIRE_QUEUE) {
        ether.overflows++;
        return;
    }
    while (at > 0 && wire_happens(ether.reordered)) { /* it overtakes the one before */
        memcpy(&to->queue[at], &to->queue[at - 1], sizeof to->queue[at]);
        at--;
    }
    memcpy(to->queue[at].data, frame, bytes);
    to->queue[at].bytes = bytes;
    to->queued++;
}

static bool wire_send(void *nic, const void *head, size_t head_bytes, const void *data,
                      size_t data_bytes)
{
    const wire_card *from = (const wire_card *)nic;
    unsigned char frame[COLL_ETHERNET_FRAME] = {0}, mine[6];
    size_t bytes = head_bytes + data_bytes;
    CHECK(bytes <= COLL_ETHERNET_FRAME);
    if (wire_happens(ether.busy))
        return false;
    memcpy(frame, head, head_bytes);
    if (data_bytes)
        memcpy(frame + head_bytes, data, data_bytes);
    bytes = bytes < 60 ? 60 : bytes;
    ether.frames++;
    ether.multicasts += frame[0] & 1;
    if (ether.spoil)
        ether.spoil(frame, bytes);
    for (uint32_t r = 0; r < ether.p && !from->out; r++) {
        wire_card *to = &ether.card[r];
        coll_ethernet_address(WIRE_SESSION, r, mine);
        if (to == from || to->out || (!(frame[0] & 1) && memcmp(frame, mine, 6) != 0))
            continue;
        for (uint32_t i = wire_happens(ether.repeated) ? 2 : 1; i > 0; i--)
            if (!wire_happens(ether.lost))
                wire_deliver(to, frame, bytes);
    }
    return true;
}

static const void *wire_take(void *nic, size_t *bytes)
{
    wire_card *card = (wire_card *)nic;
    if (card->queued == 0 || card->out)
        return NULL;
    memcpy(&card->taken, &card->queue[0], sizeof card->taken);
    memmove(&card->queue[0], &card->queue[1], --card->queued * sizeof card->queue[0]);
    *bytes = card->taken.bytes;
    return card->taken.data;
}

static uint32_t wire_now(void *nic)
{
    (void)nic;
    return ether.clock++;
}

static const coll_ethernet_driver wire_driver = {wire_send, wire_take, wire_now};

/* A wire for p ranks, on which nothing goes wrong. Its clock comes round soon. */
static void wire_init(uint32_t p, uint64_t seed)
{
    memset(&ether, 0, sizeof ether);
    random_state = seed;
    ether.p = p;
    ether.clock = UINT32_MAX - 3000;
    ether.patience = 1000 * WIRE_RETRY;
    for (uint32_t r = 0; r < p; r++)
        ether.card[r].rank = r;
}

/* What goes wrong on a wire, of 1000 frames. */
static const struct {
    uint32_t lost, repeated, reordered, busy;
} wire_weather[] = {
    {0, 0, 0, 0}, {0, 0, 400, 0}, {50, 0, 0, 0}, {100, 100, 300, 50}, {200, 50, 100, 200}};
enum { WIRE_WEATHERS = sizeof wire_weather / sizeof wire_weather[0] };

static void wire_blow(uint32_t w)
{
    ether.lost = wire_weather[w].lost;
    ether.repeated = wire_weather[w].repeated;
    ether.reordered = wire_weather[w].reordered;
    ether.busy = wire_weather[w].busy;
}

/* The rank's options, at its card. */
static coll_ethernet_options wire_options(uint32_t rank, uint32_t ops, uint32_t early)
{
    coll_ethernet_options options = {&wire_driver, &ether.card[rank], rank,           ether.p,
                                     WIRE_SESSION, WIRE_RETRY,        ether.patience, ops,
                                     early};
    return options;
}

/* Opens a rank, in memory that ends where it says. */
static void wire_open(uint32_t rank, uint32_t ops, uint32_t early)
{
    const coll_ethernet_options options = wire_options(rank, ops, early);
    const size_t bytes = COLL_ETHERNET_BYTES(ether.p, ops, early);
    rank_memory[rank] = malloc(bytes);
    if (CHECK(rank_memory[rank] != NULL))
        CHECK_STATUS(coll_ethernet_init(&wire_ranks[rank], &options, rank_memory[rank], bytes),
                     COLL_OK);
}

static void wire_open_all(uint32_t ops, uint32_t early)
{
    for (uint32_t r = 0; r < ether.p; r++)
        wire_open(r, ops, early);
}

/* Asks until an operation is over, or for too long. */
static inline coll_status wire_poll(uint32_t rank, coll_handle *h)
{
    coll_status status = COLL_AGAIN;
    for (uint32_t i = 0; i < 10 * ether.patience && status == COLL_AGAIN; i++) {
        status = coll_ethernet_transport.test(&wire_ranks[rank], h);
        for (uint32_t r = 0; r < ether.p; r++)
            if (r != rank)
                coll_ethernet_transport.progress(&wire_ranks[r]);
    }
    return status;
}

static void wire_close(void)
{
    for (uint32_t r = 0; r < ether.p; r++) {
        free(rank_memory[r]);
        rank_memory[r] = NULL;
    }
}

#endif /* COLL_TESTS_ETHERNET_WIRE_H */
