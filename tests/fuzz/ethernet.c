/* Ethernet frames, as anybody on the wire may send them: they are taken or ignored, receives get what is theirs, and
 * nothing is read beyond a frame or written but the bytes of a receive. */
#include "coll/transports/ethernet.h"
#include "fuzz.h"

enum { P = 3, RECEIVES = 4, SENDS = 2, OPS = 8, EARLY = 2, SESSION = 0x1234, LENGTHS = 10 };

static const size_t wanted[RECEIVES] = {0, 8, 100, COLL_ETHERNET_MOST};

static struct {
    unsigned char *frame; /* in memory of exactly its size */
    size_t bytes;
    uint32_t clock, sent;
    bool waits;
} card;

static bool card_send(void *nic, const void *head, size_t head_bytes, const void *data,
                      size_t data_bytes)
{
    unsigned char all[COLL_ETHERNET_FRAME];
    (void)nic;
    must(head_bytes + data_bytes <= sizeof all, "a frame of %zu bytes",
         head_bytes + data_bytes);
    memcpy(all, head, head_bytes);
    if (data_bytes)
        memcpy(all + head_bytes, data, data_bytes);
    card.sent++;
    return card.sent % 7 != 0;
}

static const void *card_take(void *nic, size_t *bytes)
{
    (void)nic;
    *bytes = card.bytes;
    if (!card.waits)
        return NULL;
    card.waits = false;
    return card.frame;
}

static uint32_t card_now(void *nic)
{
    (void)nic;
    return card.clock++;
}

/* A frame with a right head where `bytes` does not say otherwise; returns its length. */
static size_t frame_of(const uint8_t *bytes, unsigned char *out)
{
    const uint32_t length = bytes[5] | (uint32_t)(bytes[6] & 7) << 8;
    const unsigned number = bytes[7] & 128 ? 0xffffff00u : 0;
    size_t size;
    memset(out, bytes[8], COLL_ETHERNET_FRAME);
    coll_ethernet_address(SESSION, bytes[4] % (P + 1) == P ? COLL_ETHERNET_ALL : bytes[4] % P,
                          out);
    coll_ethernet_address(SESSION, bytes[3] % P, out + 6);
    out[12] = COLL_ETHERNET_TYPE >> 8;
    out[13] = COLL_ETHERNET_TYPE & 255;
    out[14] = bytes[0] % 9 == 8 ? bytes[0] : (unsigned char)(bytes[0] % 8 | (bytes[0] & 128));
    out[15] = bytes[1] % 40;
    out[16] = SESSION & 255;
    out[17] = bytes[2] > 250 ? 0 : SESSION >> 8;
    out[18] = bytes[3] % (P + 1);
    out[19] = bytes[3] > 250;
    out[20] = bytes[4] % (P + 1) == P ? 255 : bytes[4] % P;
    out[21] = out[20] == 255 ? 255 : 0;
    out[22] = (unsigned char)length;
    out[23] = (unsigned char)(length >> 8);
    for (unsigned i = 0; i < 4; i++)
        out[24 + i] = (unsigned char)((number + (bytes[7] & 3)) >> 8 * i);
    size = bytes[9] < 200 ? 28 + length : (size_t)(bytes[9] - 200) * 4;
    return size < COLL_ETHERNET_FRAME ? size : COLL_ETHERNET_FRAME;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const coll_ethernet_driver driver = {card_send, card_take, card_now};
    const coll_ethernet_options options = {&driver, NULL, 1, P, SESSION, 50, 4000, OPS, EARLY};
    static unsigned char sent[COLL_ETHERNET_MOST], room[COLL_ETHERNET_FRAME];
    const size_t bytes = COLL_ETHERNET_BYTES(P, OPS, EARLY);
    void *memory = malloc(bytes);
    unsigned char *buffers[RECEIVES];
    coll_handle receives[RECEIVES], sends[SENDS];
    bool runs[RECEIVES] = {false}, sending[SENDS] = {false};
    coll_ethernet eth;
    must(memory && coll_ethernet_init(&eth, &options, memory, bytes) == COLL_OK, "no rank");
    card.clock = card.sent = 0;
    for (unsigned i = 0; i < RECEIVES; i++) {
        buffers[i] = malloc(wanted[i] ? wanted[i] : 1);
        must(buffers[i], "no memory");
        if (size > 0 && data[0] >> i & 1)
            runs[i] = coll_ethernet_transport.recv(&eth, i & 2, i & 1, buffers[i], wanted[i],
                                                   &receives[i]) == COLL_STARTED;
    }
    for (unsigned i = 0; i < SENDS; i++)
        if (size > 0 && data[0] >> (4 + i) & 1)
            sending[i] = coll_ethernet_transport.send(&eth, 2 * i, i, sent, 10 * i,
                                                      &sends[i]) == COLL_STARTED;
    for (size_t at = 1; at < size; at += LENGTHS) {
        const bool raw = size > 0 && data[0] >> 6 == 3;
        size_t n = size - at;
        if (!raw && n < LENGTHS)
            break;
        if (raw)
            memcpy(room, data + at, n = n < LENGTHS * 4 ? n : LENGTHS * 4);
        else
            n = frame_of(data + at, room);
        card.frame = bytes_of(room, n);
        card.bytes = n;
        card.waits = true;
        coll_ethernet_transport.progress(&eth);
        for (unsigned i = 0; i < RECEIVES; i++)
            if (runs[i])
                runs[i] = coll_ethernet_transport.test(&eth, &receives[i]) == COLL_AGAIN;
        for (unsigned i = 0; i < SENDS; i++)
            if (sending[i])
                sending[i] = coll_ethernet_transport.test(&eth, &sends[i]) == COLL_AGAIN;
        card.waits = false;
        free(card.frame);
    }
    for (unsigned i = 0; i < RECEIVES; i++) {
        if (runs[i])
            coll_ethernet_transport.failure->cancel(&eth, &receives[i]);
        free(buffers[i]);
    }
    for (unsigned i = 0; i < SENDS; i++)
        if (sending[i])
            coll_ethernet_transport.failure->cancel(&eth, &sends[i]);
    free(memory);
    return 0;
}
