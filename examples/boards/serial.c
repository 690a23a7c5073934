/* examples/boards/serial.c — no network card: frames on the board's UART (slip.h), to a switch that takes them */
#include "nic.h"
#include "slip.h"

/* What a frame of a rack needs at most, which is less than Ethernet allows: RAM is scarce where there is no card. */
enum { RANKS = 16, FRAME = 28 + 4 * RANKS + COLL_ETHERNET_MOST };

static unsigned char going[FRAME + SLIP_CHECK];
static unsigned char coming[FRAME + SLIP_CHECK] __attribute__((aligned(4)));
static size_t left, at;          /* bytes of the frame that goes out, and the next of them */
static unsigned char on_line[2]; /* what that one is on the line … */
static size_t n_on_line, put;    /* … how many bytes, and how many are out */
static slip_in in;

bool nic_open(const unsigned char *address)
{
    (void)address; /* the switch learns it from the first frame */
    slip_begin(&in, coming, sizeof coming);
    return true;
}

static void push(void)
{
    while (left != 0) {
        if (n_on_line == 0 && at < left)
            n_on_line = slip_put(on_line, going[at]);
        else if (n_on_line == 0)
            n_on_line = 1, on_line[0] = SLIP_END;
        for (; put < n_on_line; put++)
            if (!board_put(on_line[put]))
                return;
        n_on_line = put = 0;
        if (at++ == left)
            left = 0;
    }
}

static void add(const unsigned char *from, size_t bytes, uint16_t *crc)
{
    for (size_t i = 0; i < bytes; i++) {
        *crc = slip_crc(*crc, from[i]);
        going[left++] = from[i];
    }
}

static bool nic_send(void *nic, const void *head, size_t head_bytes, const void *data,
                     size_t data_bytes)
{
    uint16_t crc = 0xffff;
    (void)nic;
    push();
    if (left != 0 || head_bytes + data_bytes > FRAME)
        return false;
    add((const unsigned char *)head, head_bytes, &crc);
    add((const unsigned char *)data, data_bytes, &crc);
    going[left] = (unsigned char)(crc >> 8);
    going[left + 1] = (unsigned char)crc;
    left += SLIP_CHECK;
    at = 0;
    push();
    return true;
}

static const void *nic_take(void *nic, size_t *bytes)
{
    uint8_t byte;
    (void)nic;
    push();
    while (board_get(&byte)) {
        *bytes = slip_take(&in, byte);
        if (*bytes != 0)
            return coming;
    }
    return NULL;
}

const coll_ethernet_driver nic_driver = {nic_send, nic_take, nic_now};

void nic_wait(void)
{
    if (left == 0) /* no interrupt tells that the transmitter is free again */
        board_wait();
}
