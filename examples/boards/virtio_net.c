/* examples/boards/virtio_net.c — virtio-net behind memory-mapped registers: the card of QEMU's `virt` machines
 *
 * Registers and rings: Virtual I/O Device (VIRTIO) Version 1.1, 2.6 (split virtqueues), 4.2 (MMIO), 5.1 (network
 * device); RISC-V PLIC Specification 1.0; QEMU's documentation of `virt` for addresses.
 */
#include "nic.h"

#define SLOT(n)      (0x10001000u + 0x1000u * (n))
#define PLIC(offset) BOARD_REGISTER(0x0c000000u + (offset))
#define MTIMECMP     0x02004000u

enum { /* offsets */
       MAGIC = 0x000,
       VERSION = 0x004,
       DEVICE = 0x008,
       FEATURES = 0x020,
       FEATURES_WORD = 0x024,
       QUEUE = 0x030,
       QUEUE_MOST = 0x034,
       QUEUE_SIZE = 0x038,
       QUEUE_READY = 0x044,
       NOTIFY = 0x050,
       INTERRUPT = 0x060,
       INTERRUPT_SEEN = 0x064,
       STATUS = 0x070,
       DESCRIPTORS = 0x080,
       AVAILABLE = 0x090,
       USED = 0x0a0
};
enum { SLOTS = 8, NETWORK = 1, SIZE = 16, HEADER = 12 };
enum { ACKNOWLEDGED = 1, DRIVER = 2, DRIVER_OK = 4, FEATURES_OK = 8 };
enum { RECEIVE, SEND };     /* the queues */
enum { DEVICE_WRITES = 2 }; /* a flag of a descriptor */
enum { PLIC_ENABLE = 0x2000, PLIC_THRESHOLD = 0x200000, PLIC_CLAIM = 0x200004 };

/* A queue in memory that both sides see; `volatile`, as the other one writes it. */
static volatile struct queue {
    struct {
        uint64_t address;
        uint32_t bytes;
        uint16_t flags, next;
    } descriptor[SIZE];
    struct {
        uint16_t flags, index, ring[SIZE], event;
    } available;
    struct {
        uint16_t flags, index;
        struct {
            uint32_t id, bytes;
        } ring[SIZE];
        uint16_t event;
    } used __attribute__((aligned(4)));
} queues[2] __attribute__((aligned(16)));

/* A buffer of each descriptor: virtio's header, and a frame. */
static unsigned char buffers[2][SIZE][HEADER + COLL_ETHERNET_FRAME + 2]
    __attribute__((aligned(4)));
static uint32_t card, irq;               /* its registers, and its interrupt */
static uint16_t seen;                    /* frames that were taken */
static uint16_t over;                    /* … whose sending is over */
static uint32_t idle = (1u << SIZE) - 1; /* mask: buffers that nothing is sent from */
static bool held;                        /* the frame that was taken last is still looked at */

static void fence(void)
{
    __asm__ volatile("fence" ::: "memory");
}

/* Gives a buffer to the card. */
static void offer(uint32_t which, uint16_t buffer)
{
    volatile struct queue *q = &queues[which];
    q->available.ring[q->available.index % SIZE] = buffer;
    fence();
    q->available.index++;
    fence();
    BOARD_REGISTER(card + NOTIFY) = which;
}

static bool open_queue(uint32_t which)
{
    volatile struct queue *q = &queues[which];
    BOARD_REGISTER(card + QUEUE) = which;
    if (BOARD_REGISTER(card + QUEUE_MOST) < SIZE)
        return false;
    for (uint16_t i = 0; i < SIZE; i++) {
        q->descriptor[i].address = (uintptr_t)buffers[which][i];
        q->descriptor[i].bytes = sizeof buffers[which][i];
        q->descriptor[i].flags = which == RECEIVE ? DEVICE_WRITES : 0;
    }
    BOARD_REGISTER(card + QUEUE_SIZE) = SIZE;
    BOARD_REGISTER(card + DESCRIPTORS) = (uint32_t)(uintptr_t)q->descriptor;
    BOARD_REGISTER(card + DESCRIPTORS + 4) = 0;
    BOARD_REGISTER(card + AVAILABLE) = (uint32_t)(uintptr_t)&q->available;
    BOARD_REGISTER(card + AVAILABLE + 4) = 0;
    BOARD_REGISTER(card + USED) = (uint32_t)(uintptr_t)&q->used;
    BOARD_REGISTER(card + USED + 4) = 0;
    BOARD_REGISTER(card + QUEUE_READY) = 1;
    return true;
}

/* Of the features the card has only that of version 1 is taken; without a filter it takes all frames, and
 * the transport those that are its own. */
bool nic_open(const unsigned char *address)
{
    (void)address;
    for (uint32_t n = 0; n < SLOTS && card == 0; n++)
        if (BOARD_REGISTER(SLOT(n) + MAGIC) == 0x74726976 &&
            BOARD_REGISTER(SLOT(n) + VERSION) == 2 &&
            BOARD_REGISTER(SLOT(n) + DEVICE) == NETWORK) {
            card = SLOT(n);
            irq = n + 1;
        }
    if (card == 0)
        return false;
    BOARD_REGISTER(card + STATUS) = 0;
    BOARD_REGISTER(card + STATUS) = ACKNOWLEDGED | DRIVER;
    BOARD_REGISTER(card + FEATURES_WORD) = 0;
    BOARD_REGISTER(card + FEATURES) = 0;
    BOARD_REGISTER(card + FEATURES_WORD) = 1;
    BOARD_REGISTER(card + FEATURES) = 1;
    BOARD_REGISTER(card + STATUS) = ACKNOWLEDGED | DRIVER | FEATURES_OK;
    if (!(BOARD_REGISTER(card + STATUS) & FEATURES_OK) || !open_queue(RECEIVE) ||
        !open_queue(SEND))
        return false;
    BOARD_REGISTER(card + STATUS) = ACKNOWLEDGED | DRIVER | FEATURES_OK | DRIVER_OK;
    for (uint16_t i = 0; i < SIZE; i++)
        offer(RECEIVE, i);
    PLIC(4 * irq) = 1;
    PLIC(PLIC_ENABLE) = 1u << irq;
    PLIC(PLIC_THRESHOLD) = 0;
    return true;
}

static bool nic_send(void *nic, const void *head, size_t head_bytes, const void *data,
                     size_t data_bytes)
{
    volatile struct queue *q = &queues[SEND];
    uint16_t index = 0;
    unsigned char *to;
    (void)nic;
    fence();
    for (; over != q->used.index; over++)
        idle |= 1u << q->used.ring[over % SIZE].id;
    if (idle == 0)
        return false;
    while (!(idle >> index & 1))
        index++;
    idle &= ~(1u << index);
    to = buffers[SEND][index];
    COLL_COPY(to + HEADER, head, head_bytes); /* virtio's header stays 0 */
    COLL_COPY(to + HEADER + head_bytes, data, data_bytes);
    q->descriptor[index].bytes = (uint32_t)(HEADER + head_bytes + data_bytes);
    offer(SEND, index);
    return true;
}

static const void *nic_take(void *nic, size_t *bytes)
{
    volatile struct queue *q = &queues[RECEIVE];
    uint32_t id, length;
    (void)nic;
    if (held)
        offer(RECEIVE, (uint16_t)q->used.ring[(uint16_t)(seen - 1) % SIZE].id);
    held = false;
    fence();
    if (seen == q->used.index)
        return NULL;
    id = q->used.ring[seen % SIZE].id;
    length = q->used.ring[seen % SIZE].bytes;
    seen++;
    held = true;
    *bytes = length - HEADER;
    return buffers[RECEIVE][id] + HEADER;
}

const coll_ethernet_driver nic_driver = {nic_send, nic_take, nic_now};

/* Interrupts are off all the time: wfi ends at one, and no handler runs. */
void nic_wait(void)
{
    enum { TIMER = 1 << 7, EXTERNAL = 1 << 11 };
    const uint64_t until = board_now() + board_hz / 1000;
    uint32_t which;
    BOARD_REGISTER(MTIMECMP + 4) = UINT32_MAX;
    BOARD_REGISTER(MTIMECMP) = (uint32_t)until;
    BOARD_REGISTER(MTIMECMP + 4) = (uint32_t)(until >> 32);
    fence();
    if (seen == queues[RECEIVE].used.index)
        __asm__ volatile(".option push\n"
                         ".option arch, +zicsr\n"
                         "csrw mie, %0\n"
                         "wfi\n"
                         ".option pop\n" ::"r"(TIMER | EXTERNAL)
                         : "memory");
    which = PLIC(PLIC_CLAIM);
    BOARD_REGISTER(card + INTERRUPT_SEEN) = BOARD_REGISTER(card + INTERRUPT);
    if (which != 0)
        PLIC(PLIC_CLAIM) = which;
}
