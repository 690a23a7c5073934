/* examples/boards/card.h — a board as the network card of a Linux process: the memory that both see
 *
 * The board's memory holds the queue and all that the card reaches of its host. The process maps it: as a host maps
 * a card's memory on a bus, so a store of the host is a doorbell (queue_words.h), and buffers are where the card
 * takes them. QEMU keeps the memory of a board in a file, which is what the process maps (power.h).
 *
 *   card.c    the card's program
 *   host.c    the host's
 *
 * A byte on the board's UART is an interrupt: to the host, that the card has something to say; to the card, that it
 * is to leave and stop.
 */
#ifndef COLL_EXAMPLES_BOARDS_CARD_H
#define COLL_EXAMPLES_BOARDS_CARD_H

#include "coll/nic/queue_words.h"

enum {
    CARD_CHANNELS = 3, /* calls at once */
    CARD_LINES = 24,   /* programs that it keeps; host.c never fills the last one */
    CARD_OPS = 256,    /* of a program … */
    CARD_COUNTERS = 64,
    CARD_RECEIVES = 32, /* … that are posted at once */
    CARD_MEMORY = 1 << 20,
    CARD_RAM = 16 << 20,  /* bytes of the board's memory, … */
    CARD_WINDOW = 8 << 20 /* … and where in it the window is */
};

/* What both see. */
typedef struct card_window {
    uint32_t words[COLL_NIC_QUEUE_BYTES(CARD_CHANNELS) / 4]; /* the queue */
    uint64_t memory[CARD_MEMORY / 8]; /* all that the card reaches: buffers, descriptors */
} card_window;

#endif /* COLL_EXAMPLES_BOARDS_CARD_H */
