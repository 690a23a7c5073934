/* coll/nic/nic_descriptor.h — all that a NIC has to know of a collective before it is called: for a line of its memory
 *
 *   coll_nic_rename(&program, &memory, &plan.group);      // where ranks of the plan are others of the NIC
 *   status = coll_nic_describe(&program, &plan, rank, bytes, room, &used);
 *
 * Operator, type and buffers come with each call. Composite plans are lowered as any others, and so described.
 * Little endian:
 *
 *   u32 "CND1" · u32 bytes of all · u32 collective · u32 0 · u64 elements of IN, of OUT, of SCRATCH ·
 *   the program (nic_pack.h) · u32 FNV-1a of all before it
 */
#ifndef COLL_NIC_NIC_DESCRIPTOR_H
#define COLL_NIC_NIC_DESCRIPTOR_H

#include "../plan/pack.h"
#include "nic_pack.h"

enum {
    COLL_I_NIC_DESCRIPTOR_MAGIC = 0x31444e43, /* "CND1" */
    COLL_I_NIC_DESCRIPTOR_HEAD = 40           /* bytes before the program */
};

/* What is in a descriptor beside the program. */
typedef struct coll_nic_outline {
    coll_collective collective;
    size_t extent[COLL_SPACES]; /* elements that each space must have */
} coll_nic_outline;

/* Gives a program that was lowered into *memory the ranks outside of the plan's group, which are those of the
 * NIC. Once. */
COLL_INLINE void coll_nic_rename(coll_nic_program *program, const coll_nic_memory *memory,
                                 const coll_group *group)
{
    coll_nic_op *ops = (coll_nic_op *)memory->at;
    uint32_t *peers = (uint32_t *)(void *)(ops + program->needs.ops) + program->needs.counters;
    for (uint32_t i = 0; i < program->needs.ops; i++)
        if (ops[i].kind == COLL_NIC_SEND || ops[i].kind == COLL_NIC_RECV ||
            ops[i].kind == COLL_NIC_SIGNAL || ops[i].kind == COLL_NIC_PUT ||
            ops[i].kind == COLL_NIC_ARRIVE)
            ops[i].peer = coll_group_outer(group, ops[i].peer);
    for (uint32_t i = 0; i < program->signals + program->arrivals; i++)
        peers[i] = coll_group_outer(group, peers[i]);
    program->rank = coll_group_outer(group, program->rank);
}

/* Writes the descriptor of a program, which was lowered from what `rank` does in the plan. *used: how many
 * bytes, or, with COLL_ERR_MEMORY, how many it takes; `bytes` may be NULL where room is 0.
 * COLL_ERR_SHARED: the plan needs memory of a node, which no NIC has. */
COLL_INLINE coll_status coll_nic_describe(const coll_nic_program *program,
                                          const coll_plan *plan, uint32_t rank,
                                          unsigned char *bytes, size_t room, size_t *used)
{
    coll_i_wire to;
    coll_extents need;
    size_t packed;
    coll_status status;
    if (!program || !plan || !used || (!bytes && room != 0))
        return COLL_ERR_NULL;
    status = coll_plan_check_rank(plan, rank);
    if (status == COLL_OK && coll_plan_shared(plan) != 0)
        status = COLL_ERR_SHARED;
    if (status != COLL_OK)
        return status;
    need = coll_plan_extents(plan, rank);
    if (!need.fits)
        return COLL_ERR_OVERFLOW;
    status = coll_nic_pack(program, NULL, 0, &packed);
    *used = packed + COLL_I_NIC_DESCRIPTOR_HEAD + 4;
    if (status != COLL_ERR_MEMORY || *used > room)
        return status;
    (void)coll_nic_pack(program, bytes + COLL_I_NIC_DESCRIPTOR_HEAD, packed, &packed);
    to.out = bytes;
    to.in = NULL;
    to.at = 0;
    to.bytes = room;
    coll_i_put(&to, COLL_I_NIC_DESCRIPTOR_MAGIC, 4);
    coll_i_put(&to, *used, 4);
    coll_i_put(&to, (uint32_t)plan->problem.collective, 4);
    coll_i_put(&to, 0, 4);
    coll_i_put(&to, need.in, 8);
    coll_i_put(&to, need.out, 8);
    coll_i_put(&to, coll_plan_scratch(plan, rank), 8);
    to.at = *used - 4;
    coll_i_put(&to, coll_i_hash(COLL_I_HASH_START, bytes, *used - 4), 4);
    return COLL_OK;
}

/* Reads and checks a descriptor as coll_nic_unpack does a program, for a NIC that reaches p ranks.
 * COLL_ERR_FORMAT: it is damaged, or its program is. */
COLL_INLINE coll_status coll_nic_undescribe(coll_nic_program *program,
                                            coll_nic_outline *outline,
                                            const unsigned char *bytes, size_t n, uint32_t p,
                                            coll_nic_memory *memory)
{
    coll_i_wire from;
    coll_nic_bounds bounds;
    uint64_t extent[COLL_SPACES], collective;
    bool well;
    if (!program || !outline || !bytes || !memory)
        return COLL_ERR_NULL;
    from.out = NULL;
    from.in = bytes;
    from.at = 0;
    from.bytes = n;
    well = n >= COLL_I_NIC_DESCRIPTOR_HEAD + 4 &&
           coll_i_get(&from, 4) == COLL_I_NIC_DESCRIPTOR_MAGIC && coll_i_get(&from, 4) == n;
    collective = coll_i_get(&from, 4);
    well = well && coll_i_get(&from, 4) == 0 && collective < COLL_COLLECTIVES;
    bounds.p = p;
    for (int space = 0; space < COLL_SPACES; space++) {
        extent[space] = space == COLL_SHARED ? 0 : coll_i_get(&from, 8);
        well = well && extent[space] < COLL_REF_LIMIT;
        bounds.extent[space] = outline->extent[space] = (size_t)extent[space];
    }
    if (!well)
        return COLL_ERR_FORMAT;
    from.at = n - 4;
    if (coll_i_get(&from, 4) != coll_i_hash(COLL_I_HASH_START, bytes, n - 4))
        return COLL_ERR_FORMAT;
    outline->collective = (coll_collective)collective;
    return coll_nic_unpack(program, bytes + COLL_I_NIC_DESCRIPTOR_HEAD,
                           n - COLL_I_NIC_DESCRIPTOR_HEAD - 4, &bounds, memory);
}

#endif /* COLL_NIC_NIC_DESCRIPTOR_H */
