/* bench/size/nic.c — the counter machine of nic.h, for bench/size.sh
 *
 * UNPACK=1: and what takes a program from its bytes. UNPACK=2: the whole side of a NIC, but for its transport and
 * its operators.
 */
#include "coll/nic/counter_machine.h"
#include "coll/nic/firmware.h"
#include "coll/nic/nic_pack.h"

#ifndef UNPACK
#define UNPACK 0
#endif

#if UNPACK == 2
static coll_nic_firmware firmware;

/* All that a NIC calls; the linker keeps nothing else. */
coll_status coll_size_nic(unsigned what, const coll_nic_firmware_options *options, void *memory,
                          size_t bytes)
{
    switch (what) {
    case 0:
        return coll_nic_firmware_open(&firmware, options, memory, bytes);
    case 1:
        return coll_nic_firmware_progress(&firmware);
    default:
        coll_nic_firmware_close(&firmware);
        return COLL_OK;
    }
}
#else
static coll_nic_machine machine;

/* All that a NIC calls; the linker keeps nothing else. */
coll_status coll_size_nic(unsigned what, uint32_t number, coll_nic_program *program,
                          const coll_nic_wire *wire, void *memory, const unsigned char *bytes)
{
#if UNPACK
    if (what == 0) {
        static const coll_nic_bounds bounds = {64, {64, 64, 64, 0}};
        coll_nic_memory own;
        own.at = memory;
        own.bytes = 1024;
        return coll_nic_unpack(program, bytes, number, &bounds, &own);
    }
#else
    (void)bytes;
#endif
    switch (what) {
    case 1:
        return coll_nic_open(&machine, program, wire, NULL, (uint32_t *)memory,
                             (uint8_t *)memory + 64);
    case 2:
        return coll_nic_start(&machine);
    case 3:
        return coll_nic_progress(&machine);
    case 4:
        coll_nic_complete(&machine, number, COLL_OK);
        return COLL_OK;
    case 5:
        return coll_nic_signalled(&machine, number) ? COLL_OK : COLL_ERR_RANK;
    default:
        return coll_nic_cancel(&machine, COLL_ERR_CANCELLED);
    }
}
#endif
