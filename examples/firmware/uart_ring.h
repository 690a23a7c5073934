/* examples/firmware/uart_ring.h — a transport: boards in a ring, each one's UART wired to the next
 *
 *     ┌─▶ rank 0 ──▶ rank 1 ──▶ … ──▶ rank p−1 ─┐        TX of each to RX of the next; RTS and CTS,
 *     └──────────────────────────────────────────┘        too, so that no byte comes without room for it
 *
 *   uart_ring wire;
 *   uart_ring_init(&wire, rank, p);
 *   coll_task_init(&task, &plan, rank, &uart_ring_transport, &wire);
 *
 * A message is a frame: its length in two bytes, lower first; its bytes; a CRC-16, higher byte first. One
 * goes out at a time and one comes in; without tags, so one collective runs at a time. Whatever sends to
 * the next rank alone can run: the ring algorithms. Other peers are COLL_ERR_RANK.
 *
 * All that moves bytes is send, recv and test: nothing happens behind the program's back but that an
 * interrupt handler may keep what arrives (board.h). A byte that is lost or damaged is COLL_ERR_IO or
 * COLL_ERR_SIZE, or nothing more comes and the caller's deadline passes. After that the wire is out of
 * step, and has to be reset on both sides.
 */
#ifndef COLL_EXAMPLES_FIRMWARE_UART_RING_H
#define COLL_EXAMPLES_FIRMWARE_UART_RING_H

#include "board.h"

typedef struct uart_message {
    const uint8_t *from; /* of a message that goes out */
    uint8_t *to;         /* of one that comes in */
    size_t bytes, at;    /* of the frame, 4 more, so many are through */
    uint16_t crc;
    bool busy;
} uart_message;

typedef struct uart_ring {
    uint32_t rank, p;
    uart_message out, in;
} uart_ring;

enum { UART_RING_HEAD = 2, UART_RING_FRAME = 4 }; /* bytes before a message, and around it */
enum { UART_RING_OUT = 1, UART_RING_IN };         /* what a handle stands for */

static inline void uart_ring_init(uart_ring *wire, uint32_t rank, uint32_t p)
{
    wire->rank = rank;
    wire->p = p;
    wire->out.busy = wire->in.busy = false;
}

static inline uint16_t uart_ring_crc(uint16_t crc, uint8_t byte) /* x¹⁶ + x¹² + x⁵ + 1 */
{
    crc = (uint16_t)(crc ^ byte << 8);
    for (int bit = 0; bit < 8; bit++)
        crc = (uint16_t)(crc & 0x8000u ? crc << 1 ^ 0x1021 : crc << 1);
    return crc;
}

static inline uint8_t uart_ring_length(const uart_message *m, size_t at)
{
    return (uint8_t)(m->bytes >> 8 * at);
}

static inline void uart_ring_begin(uart_message *m, const void *from, void *to, size_t bytes)
{
    m->from = (const uint8_t *)from;
    m->to = (uint8_t *)to;
    m->bytes = bytes;
    m->at = 0;
    m->crc = 0xffff;
    m->busy = true;
}

static inline void uart_ring_move_out(uart_message *m)
{
    while (m->busy) {
        const size_t at = m->at, end = m->bytes + UART_RING_HEAD;
        const uint8_t byte = at < UART_RING_HEAD ? uart_ring_length(m, at)
                             : at < end          ? m->from[at - UART_RING_HEAD]
                                                 : (uint8_t)(m->crc >> (at == end ? 8 : 0));
        if (!board_put(byte))
            return;
        if (at < end)
            m->crc = uart_ring_crc(m->crc, byte);
        m->busy = ++m->at < m->bytes + UART_RING_FRAME;
    }
}

static inline coll_status uart_ring_move_in(uart_message *m)
{
    uint8_t byte;
    while (m->busy && board_get(&byte)) {
        const size_t at = m->at++;
        if (at < UART_RING_HEAD && byte != uart_ring_length(m, at))
            return COLL_ERR_SIZE;
        if (at >= UART_RING_HEAD && at < m->bytes + UART_RING_HEAD)
            m->to[at - UART_RING_HEAD] = byte;
        m->crc = uart_ring_crc(m->crc, byte);
        m->busy = m->at < m->bytes + UART_RING_FRAME;
    }
    return !m->busy && m->crc != 0 ? COLL_ERR_IO
                                   : COLL_OK; /* with its own CRC behind it, it is 0 */
}

/* ---- the transport ----------------------------------------------------------------------- */

static inline coll_status uart_ring_test(void *ctx, coll_handle *h)
{
    uart_ring *wire = (uart_ring *)ctx;
    coll_status status;
    uart_ring_move_out(&wire->out);
    status = uart_ring_move_in(&wire->in);
    if (status != COLL_OK)
        return status;
    return (h->word[0] == UART_RING_OUT ? wire->out.busy : wire->in.busy) ? COLL_AGAIN
                                                                          : COLL_OK;
}

static inline coll_status uart_ring_start(uart_ring *wire, coll_handle *h, uintptr_t which)
{
    coll_status status;
    h->word[0] = which;
    status = uart_ring_test(wire, h);
    return status == COLL_AGAIN ? COLL_STARTED : status;
}

static inline coll_status uart_ring_send(void *ctx, uint32_t peer, uint32_t tag,
                                         const void *buf, size_t bytes, coll_handle *h)
{
    uart_ring *wire = (uart_ring *)ctx;
    (void)tag;
    if (peer != (wire->rank + 1) % wire->p)
        return COLL_ERR_RANK;
    if (wire->out.busy)
        return COLL_AGAIN;
    uart_ring_begin(&wire->out, buf, NULL, bytes);
    return uart_ring_start(wire, h, UART_RING_OUT);
}

static inline coll_status uart_ring_recv(void *ctx, uint32_t peer, uint32_t tag, void *buf,
                                         size_t bytes, coll_handle *h)
{
    uart_ring *wire = (uart_ring *)ctx;
    (void)tag;
    if (peer != (wire->rank + wire->p - 1) % wire->p)
        return COLL_ERR_RANK;
    if (wire->in.busy)
        return COLL_AGAIN;
    uart_ring_begin(&wire->in, NULL, buf, bytes);
    return uart_ring_start(wire, h, UART_RING_IN);
}

static inline void uart_ring_wait(void *ctx, uint32_t idle)
{
    const uart_ring *wire = (const uart_ring *)ctx;
    (void)idle;
    if (!wire->out.busy) /* no interrupt tells that the transmitter is free again */
        board_wait();
}

static inline void uart_ring_cancel(void *ctx, coll_handle *h)
{
    uart_ring *wire = (uart_ring *)ctx;
    (h->word[0] == UART_RING_OUT ? &wire->out : &wire->in)->busy = false;
}

static const coll_failure uart_ring_failure = {uart_ring_cancel, NULL, NULL, NULL};
static const coll_transport uart_ring_transport = {.send = uart_ring_send,
                                                   .recv = uart_ring_recv,
                                                   .test = uart_ring_test,
                                                   .wait = uart_ring_wait,
                                                   .max_bytes = 256,
                                                   .failure = &uart_ring_failure};

#endif /* COLL_EXAMPLES_FIRMWARE_UART_RING_H */
