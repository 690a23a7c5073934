/* coll/nic/nic_place.h — which operations of a program the host does, and which its NIC
 *
 *   coll_nic_rates nic = {…}, host = {…};
 *   const size_t bytes = coll_nic_crossing_bytes(&nic, &host, crossing);
 *   placed = coll_nic_place(&program, &memory, elem_bytes, bytes);   // after coll_nic_lower, before it is described
 *
 * A NIC is near to the network, and slow; its host is far, and fast. So the NIC moves all messages, and reduces and
 * copies what is short: what is longer than the way to the host and back is worth, the host does. The program
 * stays as it is otherwise, and so does what is proven of it: an operation starts and counts as before, whoever does it.
 *
 * Source  Moody 2003, §3.3.2 and §5.3, by rank and by size; here by operation
 */
#ifndef COLL_NIC_NIC_PLACE_H
#define COLL_NIC_NIC_PLACE_H

#include "nic_events.h"

/* What a reduction takes of a processor: to begin, and for a byte, in picoseconds. */
typedef struct coll_nic_rates {
    uint32_t begin_ps; /* to begin … */
    uint32_t byte_ps;  /* … and for each byte of an operand */
} coll_nic_rates;

/* From how many bytes of an operand on the host is faster, if to ask it and to be told takes crossing_ps altogether.
 * SIZE_MAX: it never is. */
COLL_INLINE size_t coll_nic_crossing_bytes(const coll_nic_rates *nic,
                                           const coll_nic_rates *host, uint32_t crossing_ps)
{
    const uint64_t away = (uint64_t)host->begin_ps + crossing_ps;
    const uint64_t more = away > nic->begin_ps ? away - nic->begin_ps : 0;
    uint64_t bytes;
    if (nic->byte_ps <= host->byte_ps)
        return more == 0 && nic->byte_ps == host->byte_ps ? 0 : SIZE_MAX;
    bytes = more / (nic->byte_ps - host->byte_ps) + (more > 0 ? 1 : 0);
    return bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

/* Places the reductions and copies of at least so many bytes on the host, and all others on the NIC, in a program that
 * was lowered into *memory. How many are the host's. */
COLL_INLINE uint32_t coll_nic_place(const coll_nic_program *program,
                                    const coll_nic_memory *memory, size_t elem_bytes,
                                    size_t bytes)
{
    coll_nic_op *ops = (coll_nic_op *)memory->at;
    uint32_t placed = 0;
    for (uint32_t i = 0; i < program->needs.ops; i++) {
        coll_nic_op *op = &ops[i];
        if (op->kind != COLL_NIC_COPY && op->kind != COLL_NIC_REDUCE)
            continue;
        op->peer = COLL_NIC_BY_NIC;
        if (op->count < bytes / elem_bytes + (bytes % elem_bytes != 0 ? 1 : 0) ||
            op->count == 0)
            continue;
        op->peer = COLL_NIC_BY_HOST;
        placed++;
    }
    return placed;
}

#endif /* COLL_NIC_NIC_PLACE_H */
