/* coll/nic.h — plans as programs of counters and triggers, which a NIC runs without its host
 *
 *   nic/nic_program.h      the program: operations, what it needs of a NIC
 *   nic/lower.h            a schedule becomes a program
 *   nic/nic_pack.h         a program as bytes, for a NIC that takes it from its host
 *   nic/put.h              … whose messages are put, and no receive is posted
 *   nic/nic_place.h        which operations the host does, and which the NIC
 *   nic/counter_machine.h  runs a program over what a NIC can do
 *   nic/nic_wire.h         a wire between the machines of all ranks, in one thread
 *   nic/transport_wire.h   … over any transport
 *   nic/put_wire.h         … over one that puts, for programs of put.h
 *   nic/host_queue.h       the host's side of a NIC that runs collectives
 *   nic/firmware.h         the NIC's side
 *
 * lab/verify.h proves programs (COLL_VERIFY_NIC).
 */
#ifndef COLL_NIC_H
#define COLL_NIC_H

#include "nic/counter_machine.h"
#include "nic/firmware.h"
#include "nic/host_queue.h"
#include "nic/lower.h"
#include "nic/nic_place.h"
#include "nic/nic_pack.h"
#include "nic/nic_wire.h"
#include "nic/put.h"
#include "nic/put_wire.h"

#endif /* COLL_NIC_H */
