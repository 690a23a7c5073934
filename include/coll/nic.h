/* coll/nic.h — plans as programs of counters and triggers, which a NIC runs without its host
 *
 *   nic/nic_program.h      the program: operations, what it needs of a NIC
 *   nic/lower.h            a schedule becomes a program
 *   nic/nic_pack.h         a program as bytes, for a NIC that takes it from its host
 *   nic/counter_machine.h  runs a program over what a NIC can do
 *   nic/nic_wire.h         a wire between the machines of all ranks, in one thread
 *
 * lab/verify.h proves programs (COLL_VERIFY_NIC).
 */
#ifndef COLL_NIC_H
#define COLL_NIC_H

#include "nic/counter_machine.h"
#include "nic/lower.h"
#include "nic/nic_pack.h"
#include "nic/nic_wire.h"

#endif /* COLL_NIC_H */
