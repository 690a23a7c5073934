/* examples/boards/nic.h — what the program of this folder asks of a board's network card
 *
 *   lan9118.c      SMSC LAN9118 of the Arm MPS2 (QEMU: mps2-an385)
 *   virtio_net.c   virtio-net behind memory-mapped registers, of QEMU's `virt` machines
 *   serial.c       no card: frames on the board's UART, to a switch that takes them (BBC micro:bit)
 *
 * What else a board has is in ../firmware/board.h.
 */
#ifndef COLL_EXAMPLES_BOARDS_NIC_H
#define COLL_EXAMPLES_BOARDS_NIC_H

#include "../firmware/board.h"

#include "coll/transports/ethernet.h"

/* The card; its `nic` is NULL, as a board has one. */
extern const coll_ethernet_driver nic_driver;

/* Opens the card: it takes frames to this address, and those to multicast addresses. False: it is not there, or does
 * not answer. */
bool nic_open(const unsigned char *address);

/* Sleeps until a frame comes, for a millisecond at most; or not at all. */
void nic_wait(void);

/* The board's clock, for drivers. */
static inline uint32_t nic_now(void *nic)
{
    (void)nic;
    return (uint32_t)board_now();
}

#endif /* COLL_EXAMPLES_BOARDS_NIC_H */
