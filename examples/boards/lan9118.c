/* examples/boards/lan9118.c — SMSC LAN9118, an Ethernet card of FIFOs: that of the Arm MPS2 (AN385)
 *
 * Registers: LAN9118 data sheet, revision 1.5, chapter 5; Application Note AN385, 3.7 and table 4 (interrupt 13);
 * Armv7-M Architecture Reference Manual, B3.4 (NVIC).
 */
#include "nic.h"

#define LAN(offset)  BOARD_REGISTER(0x40200000u + (offset))
#define NVIC_ENABLE  BOARD_REGISTER(0xe000e100u)
#define NVIC_DISABLE BOARD_REGISTER(0xe000e180u)
#define NVIC_FORGET  BOARD_REGISTER(0xe000e280u)

enum { /* offsets */
       RX_DATA = 0x00,
       TX_DATA = 0x20,
       RX_STATUS = 0x40,
       TX_STATUS = 0x48,
       IRQ_CFG = 0x54,
       INT_STS = 0x58,
       INT_EN = 0x5c,
       BYTE_TEST = 0x64,
       FIFO_INT = 0x68,
       TX_CFG = 0x70,
       HW_CFG = 0x74,
       RX_FIFO_INF = 0x7c,
       TX_FIFO_INF = 0x80,
       MAC_COMMAND = 0xa4,
       MAC_DATA = 0xa8
};
enum { MAC_CR = 1, MAC_ADDRESS_HIGH = 2, MAC_ADDRESS_LOW = 3 }; /* registers of the MAC */
enum {
    RESET = 1,
    STORE_AND_FORWARD = 1 << 20,
    TX_ON = 2,
    RECEIVES = 1 << 2,
    SENDS = 1 << 3,
    ALL_MULTICASTS = 1 << 19,
    FIRST = 1 << 13, /* of a transmit command: this buffer begins the frame … */
    LAST = 1 << 12,  /* … and ends it */
    IRQ_ON = 0x111,  /* push-pull, active high, enabled */
    RX_LEVEL = 1 << 3,
    RX_ERROR = 1 << 15,
    TRIES = 100000,
    IRQ = 1 << 13
};
#define MAC_BUSY 0x80000000u

static bool mac_is_idle(void)
{
    for (uint32_t i = 0; i < TRIES; i++)
        if (!(LAN(MAC_COMMAND) & MAC_BUSY))
            return true;
    return false;
}

static bool mac_write(uint32_t index, uint32_t value)
{
    LAN(MAC_DATA) = value;
    LAN(MAC_COMMAND) = MAC_BUSY | index;
    return mac_is_idle();
}

bool nic_open(const unsigned char *address)
{
    const uint32_t low = (uint32_t)address[3] << 24 | (uint32_t)address[2] << 16 |
                         (uint32_t)address[1] << 8 | address[0],
                   high = (uint32_t)address[5] << 8 | address[4];
    uint32_t i = 0;
    LAN(HW_CFG) = RESET;
    while ((LAN(HW_CFG) & RESET) && i < TRIES)
        i++;
    if (i == TRIES || LAN(BYTE_TEST) != 0x87654321u)
        return false;
    LAN(HW_CFG) = STORE_AND_FORWARD | 5u << 16; /* 5 KiB of 16 are for sending */
    LAN(FIFO_INT) = 0;                          /* an interrupt as soon as a frame is there */
    LAN(INT_STS) = UINT32_MAX;
    LAN(INT_EN) = RX_LEVEL;
    LAN(IRQ_CFG) = IRQ_ON;
    LAN(TX_CFG) = TX_ON;
    return mac_is_idle() && mac_write(MAC_ADDRESS_HIGH, high) &&
           mac_write(MAC_ADDRESS_LOW, low) &&
           mac_write(MAC_CR, RECEIVES | SENDS | ALL_MULTICASTS);
}

/* Writes a buffer of a frame of `length` bytes; both are a matter of words in the FIFO. */
static void put(const unsigned char *from, size_t bytes, size_t length, uint32_t flags)
{
    LAN(TX_DATA) = flags | (uint32_t)bytes;
    LAN(TX_DATA) = (uint32_t)length;
    for (size_t at = 0; at < bytes; at += 4) {
        uint32_t word = 0;
        for (size_t i = 0; i < 4 && at + i < bytes; i++)
            word |= (uint32_t)from[at + i] << 8 * i;
        LAN(TX_DATA) = word;
    }
}

static bool nic_send(void *nic, const void *head, size_t head_bytes, const void *data,
                     size_t data_bytes)
{
    const size_t length = head_bytes + data_bytes;
    uint32_t state = LAN(TX_FIFO_INF);
    (void)nic;
    for (uint32_t reports = state >> 16 & 0xff; reports > 0; reports--)
        (void)LAN(TX_STATUS);
    if ((state & 0xffff) < length + 32)
        return false;
    put((const unsigned char *)head, head_bytes, length, FIRST | (data_bytes == 0 ? LAST : 0));
    if (data_bytes != 0)
        put((const unsigned char *)data, data_bytes, length, LAST);
    return true;
}

static const void *nic_take(void *nic, size_t *bytes)
{
    static uint32_t frame[(COLL_ETHERNET_FRAME + 4 + 3) / 4]; /* and its check sequence */
    (void)nic;
    while (LAN(RX_FIFO_INF) & 0xff0000) {
        const uint32_t state = LAN(RX_STATUS), length = state >> 16 & 0x3fff;
        for (uint32_t i = 0; i < (length + 3) / 4; i++) {
            const uint32_t word = LAN(RX_DATA);
            if (i < sizeof frame / sizeof frame[0])
                frame[i] = word;
        }
        if (!(state & RX_ERROR) && length > 4 && length <= sizeof frame) {
            *bytes = length - 4;
            return frame;
        }
    }
    return NULL;
}

const coll_ethernet_driver nic_driver = {nic_send, nic_take, nic_now};

/* With interrupts off wfi ends at one all the same, and no handler runs: the card's is enabled only here. */
void nic_wait(void)
{
    __asm__ volatile("cpsid i" ::: "memory");
    LAN(INT_STS) = RX_LEVEL;
    if (!(LAN(RX_FIFO_INF) & 0xff0000)) {
        NVIC_ENABLE = IRQ;
        __asm__ volatile("wfi" ::: "memory");
        NVIC_DISABLE = IRQ;
    }
    NVIC_FORGET = IRQ;
    __asm__ volatile("cpsie i" ::: "memory");
}
