/* examples/nic/window.h — the memory that a host and its NIC both see, and a way to wake each other */
#ifndef COLL_EXAMPLES_NIC_WINDOW_H
#define COLL_EXAMPLES_NIC_WINDOW_H

#include "coll/nic/queue_words.h"

enum { CHANNELS = 3, LINES = 8, OPS = 512, COUNTERS = 128, MEMORY = 1 << 21 };

/* On a card this is its window on the bus, or memory of the host that it reads and writes. */
typedef struct window {
    uint32_t words[COLL_NIC_QUEUE_BYTES(CHANNELS) / 4]; /* the queue */
    uint64_t
        memory[MEMORY / 8]; /* all that the NIC reaches of its host: buffers, descriptors */
} window;

/* Is the NIC of a rank, over "tcp" or "shm", until the other end of `host` is closed; a byte to it is an
 * interrupt. The exit code. */
int device_main(window *shared, int host, const char *transport);

#endif /* COLL_EXAMPLES_NIC_WINDOW_H */
