/* coll/lab/sim/adapter_state.h — NICs in memory: their buses, rooms in their memories, blocks
 * that are there
 *
 * Use lab/sim.h; adapter.h says what is simulated.
 */
#ifndef COLL_LAB_SIM_ADAPTER_STATE_H
#define COLL_LAB_SIM_ADAPTER_STATE_H

#include "simulation.h"

/* A part of a NIC's memory that a message has. */
typedef struct coll_i_sim_nic_room {
    uint64_t bytes;
    uint32_t nic, next; /* next: in the list of those that are free */
    bool aside;         /* it was set aside for the oldest receive */
} coll_i_sim_nic_room;

/* Elements of a rank that are where the rank is not: of a host, in its NIC's memory too; of a
 * NIC, in its host's memory only. */
typedef struct coll_i_sim_nic_block {
    coll_ref at;
    size_t count;
    uint64_t bytes; /* that it takes of the NIC's memory */
    uint32_t rank, next;
} coll_i_sim_nic_block;

/* A NIC. */
typedef struct coll_i_sim_nic {
    coll_time down, up, host; /* when its bus, and its host for it, are free */
    uint64_t used, kept;    /* bytes of its memory: of messages and operands; of kept blocks */
    uint64_t aside, asides; /* set aside for the oldest receive; and taken of that */
    uint32_t waiting, coming; /* lists: messages that were refused; those that come again */
    uint32_t blocks;          /* list, what was used last comes first */
    uint32_t rank;            /* that runs here; COLL_RANK_NONE: none does */
    coll_nic_load load;
} coll_i_sim_nic;

/* What a rank has besides. */
typedef struct coll_i_sim_nic_rank {
    coll_time leaves;  /* when the last message left */
    uint64_t in, out;  /* bytes of its operand and of its result */
    uint32_t room[32]; /* of a slot: that of the message that it combines */
} coll_i_sim_nic_rank;

/* What a message has besides. */
typedef struct coll_i_sim_nic_way {
    coll_time wire, port, done; /* of its costs, from when the processor has done its part */
    coll_ref src;
    size_t count;
    uint32_t room;
    bool follows; /* it is of a multicast, and not the first */
} coll_i_sim_nic_way;

struct coll_i_sim_nics {
    coll_i_sim_nic *at;
    coll_i_sim_nic_rank *ranks;
    uint32_t n;
    coll_i_array ways;   /* of coll_i_sim_nic_way, by the messages' numbers */
    coll_i_array rooms;  /* of coll_i_sim_nic_room */
    coll_i_array blocks; /* of coll_i_sim_nic_block */
    uint32_t free_room, free_block;
    bool holds; /* do messages wait for a bus or for room? */
};

COLL_INLINE uint8_t coll_i_sim_nic_place(const coll_sim *sim, uint32_t rank)
{
    return coll_i_adapter_place(sim->options.adapter, coll_i_sim_outer(sim, rank));
}

COLL_INLINE uint32_t coll_i_sim_nic_number(const coll_sim *sim, uint32_t rank)
{
    return coll_i_adapter_nic(sim->options.adapter, coll_i_sim_outer(sim, rank));
}

COLL_INLINE coll_i_sim_nic *coll_i_sim_nic_of(const coll_sim *sim, uint32_t rank)
{
    return &sim->nics->at[coll_i_sim_nic_number(sim, rank)];
}

COLL_INLINE coll_i_sim_nic_way *coll_i_sim_nic_way_at(const coll_sim *sim, uint32_t message)
{
    return (coll_i_sim_nic_way *)sim->nics->ways.at + message;
}

COLL_INLINE coll_i_sim_nic_room *coll_i_sim_nic_room_at(const coll_sim *sim, uint32_t room)
{
    return (coll_i_sim_nic_room *)sim->nics->rooms.at + room;
}

COLL_INLINE coll_i_sim_nic_block *coll_i_sim_nic_block_at(const coll_sim *sim, uint32_t block)
{
    return (coll_i_sim_nic_block *)sim->nics->blocks.at + block;
}

/* ---- the bus ----------------------------------------------------------------------------- */

/* When what crosses is there: the bytes after which a message goes on, and all of it. */
typedef struct coll_i_sim_nic_crossing {
    coll_time head, end;
} coll_i_sim_nic_crossing;

/* So many bytes cross from `time` on, as soon as the bus of their direction is free. */
COLL_INLINE coll_i_sim_nic_crossing coll_i_sim_nic_cross(const coll_sim *sim,
                                                         coll_i_sim_nic *nic, bool up,
                                                         uint64_t bytes, coll_time time)
{
    const coll_sim_adapter *a = sim->options.adapter;
    const double ps = up ? a->up_ps : a->down_ps;
    const coll_time taken = a->take + coll_time_of((double)bytes * ps);
    const uint64_t first = bytes < a->chunk ? bytes : a->chunk;
    coll_time *bus = up && !(a->costs->shared > 0) ? &nic->up : &nic->down;
    const coll_time start = coll_later(*bus, time);
    coll_i_sim_nic_crossing crossing;
    *bus = start + taken;
    *(up ? &nic->load.up : &nic->load.down) += taken;
    ++*(up ? &nic->load.ups : &nic->load.downs);
    crossing.head = start + a->bus + a->take + coll_time_of((double)first * ps);
    crossing.end = start + a->bus + taken;
    return crossing;
}

/* When a message goes on that crosses: with its first chunk, but so late that at the speed of the
 * network it never waits for what is still to cross. */
COLL_INLINE coll_time coll_i_sim_nic_goes_on(const coll_sim *sim,
                                             const coll_i_sim_nic_crossing *crossing,
                                             uint64_t bytes)
{
    const uint64_t chunk = sim->options.adapter->chunk;
    const coll_time rest =
        coll_time_of(bytes > chunk ? (double)(bytes - chunk) * sim->options.model->byte_ps : 0);
    return coll_later(crossing->head, crossing->end > rest ? crossing->end - rest : 0);
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* Takes the block behind *link out of its list; it is free then. */
COLL_INLINE void coll_i_sim_nic_block_drop(const coll_sim *sim, coll_i_sim_nic *nic,
                                           uint32_t *link)
{
    const uint32_t i = *link;
    coll_i_sim_nic_block *block = coll_i_sim_nic_block_at(sim, i);
    *link = block->next;
    nic->kept -= block->bytes;
    block->next = sim->nics->free_block;
    sim->nics->free_block = i;
}

/* Nothing of these elements of a rank is elsewhere any longer. */
COLL_INLINE void coll_i_sim_nic_forget(const coll_sim *sim, uint32_t rank, coll_ref at,
                                       size_t count)
{
    coll_i_sim_nic *nic = coll_i_sim_nic_of(sim, rank);
    uint32_t *link = &nic->blocks;
    while (*link != COLL_RANK_NONE) {
        coll_i_sim_nic_block *block = coll_i_sim_nic_block_at(sim, *link);
        if (block->rank == rank && block->at < at + count && at < block->at + block->count)
            coll_i_sim_nic_block_drop(sim, nic, link);
        else
            link = &block->next;
    }
}

/* Is all of this elsewhere? Then it was used last. */
COLL_INLINE bool coll_i_sim_nic_elsewhere(const coll_sim *sim, uint32_t rank, coll_ref at,
                                          size_t count)
{
    coll_i_sim_nic *nic = coll_i_sim_nic_of(sim, rank);
    uint32_t *link = &nic->blocks;
    while (*link != COLL_RANK_NONE) {
        const uint32_t i = *link;
        coll_i_sim_nic_block *block = coll_i_sim_nic_block_at(sim, i);
        if (block->rank == rank && block->at <= at && at + count <= block->at + block->count) {
            *link = block->next;
            block->next = nic->blocks;
            nic->blocks = i;
            return true;
        }
        link = &block->next;
    }
    return false;
}

/* Drops kept blocks, those that were not used for the longest time, until so many bytes are
 * free besides. */
COLL_INLINE void coll_i_sim_nic_evict(const coll_sim *sim, coll_i_sim_nic *nic, uint64_t bytes)
{
    const uint64_t memory = sim->options.adapter->memory;
    while (nic->kept > 0 && nic->used + nic->asides + nic->kept + bytes > memory) {
        uint32_t *link = &nic->blocks, *last = link;
        for (; *link != COLL_RANK_NONE; link = &coll_i_sim_nic_block_at(sim, *link)->next)
            last = link;
        coll_i_sim_nic_block_drop(sim, nic, last);
    }
}

COLL_INLINE void coll_i_sim_nic_high(coll_i_sim_nic *nic)
{
    const uint64_t now = nic->used + nic->asides + nic->kept;
    nic->load.high = nic->load.high > now ? nic->load.high : now;
}

/* These elements of a rank are elsewhere too, or only; in a NIC's memory they take so many
 * bytes, if they fit. */
COLL_INLINE void coll_i_sim_nic_note(coll_sim *sim, uint32_t rank, coll_ref at, size_t count,
                                     uint64_t bytes)
{
    struct coll_i_sim_nics *nics = sim->nics;
    coll_i_sim_nic *nic = coll_i_sim_nic_of(sim, rank);
    uint32_t i = nics->free_block;
    coll_i_sim_nic_block *block;
    coll_i_sim_nic_forget(sim, rank, at, count);
    if (bytes > sim->options.adapter->memory - nic->used - nic->asides)
        return;
    coll_i_sim_nic_evict(sim, nic, bytes);
    i = nics->free_block;
    if (i != COLL_RANK_NONE) {
        nics->free_block = coll_i_sim_nic_block_at(sim, i)->next;
    } else if (coll_i_array_reserve(&nics->blocks, nics->blocks.n + 1, sizeof *block)) {
        i = (uint32_t)nics->blocks.n++;
    } else {
        coll_i_sim_fail(sim, COLL_ERR_MEMORY, rank);
        return;
    }
    block = coll_i_sim_nic_block_at(sim, i);
    block->at = at;
    block->count = count;
    block->bytes = bytes;
    block->rank = rank;
    block->next = nic->blocks;
    nic->blocks = i;
    nic->kept += bytes;
    coll_i_sim_nic_high(nic);
}

/* ---- rooms ------------------------------------------------------------------------------- */

/* Takes room for a message to `rank`, which must be there. Its number; COLL_RANK_NONE: there is
 * no memory of ours. */
COLL_INLINE uint32_t coll_i_sim_nic_take_room(coll_sim *sim, uint32_t rank, uint64_t bytes,
                                              bool aside)
{
    struct coll_i_sim_nics *nics = sim->nics;
    coll_i_sim_nic *nic = coll_i_sim_nic_of(sim, rank);
    uint32_t i = nics->free_room;
    coll_i_sim_nic_room *room;
    if (i != COLL_RANK_NONE) {
        nics->free_room = coll_i_sim_nic_room_at(sim, i)->next;
    } else if (coll_i_array_reserve(&nics->rooms, nics->rooms.n + 1, sizeof *room)) {
        i = (uint32_t)nics->rooms.n++;
    } else {
        coll_i_sim_fail(sim, COLL_ERR_MEMORY, rank);
        return COLL_RANK_NONE;
    }
    coll_i_sim_nic_evict(sim, nic, bytes);
    room = coll_i_sim_nic_room_at(sim, i);
    room->bytes = bytes;
    room->nic = coll_i_sim_nic_number(sim, rank);
    room->aside = aside;
    *(aside ? &nic->asides : &nic->used) += bytes;
    coll_i_sim_nic_high(nic);
    return i;
}

/* Gives a room back. */
COLL_INLINE void coll_i_sim_nic_give_room(const coll_sim *sim, uint32_t i)
{
    coll_i_sim_nic_room *room = coll_i_sim_nic_room_at(sim, i);
    coll_i_sim_nic *nic = &sim->nics->at[room->nic];
    *(room->aside ? &nic->asides : &nic->used) -= room->bytes;
    room->next = sim->nics->free_room;
    sim->nics->free_room = i;
}

/* ---- memory ------------------------------------------------------------------------------ */

COLL_INLINE void coll_i_sim_nics_free(coll_sim *sim)
{
    struct coll_i_sim_nics *nics = sim->nics;
    sim->nics = NULL;
    if (!nics)
        return;
    free(nics->at);
    free(nics->ranks);
    coll_i_array_free(&nics->ways);
    coll_i_array_free(&nics->rooms);
    coll_i_array_free(&nics->blocks);
    free(nics);
}

/* The NICs of a simulation that has some, with nothing in them; false: there is no memory. */
COLL_INLINE bool coll_i_sim_nics_clear(coll_sim *sim)
{
    const coll_sim_adapter *a = sim->options.adapter;
    struct coll_i_sim_nics *nics;
    coll_i_sim_nics_free(sim);
    if (!a)
        return true;
    sim->nics = nics = (struct coll_i_sim_nics *)calloc(1, sizeof *nics);
    if (!nics)
        return false;
    nics->n = coll_i_adapter_count(a);
    nics->at = (coll_i_sim_nic *)calloc(nics->n, sizeof *nics->at);
    nics->ranks = (coll_i_sim_nic_rank *)calloc(sim->p, sizeof *nics->ranks);
    nics->free_room = nics->free_block = COLL_RANK_NONE;
    nics->holds =
        a->memory != UINT64_MAX || a->bus > 0 || a->take > 0 || a->down_ps > 0 || a->up_ps > 0;
    if (!nics->at || !nics->ranks)
        return false;
    for (uint32_t i = 0; i < nics->n; i++) {
        nics->at[i].waiting = nics->at[i].coming = COLL_I_SIM_NONE_LISTED;
        nics->at[i].blocks = nics->at[i].rank = COLL_RANK_NONE;
    }
    for (uint32_t rank = 0; rank < sim->p; rank++)
        for (unsigned k = 0; k < 32; k++)
            nics->ranks[rank].room[k] = COLL_RANK_NONE;
    return true;
}

COLL_INLINE size_t coll_i_sim_nics_bytes(const coll_sim *sim)
{
    const struct coll_i_sim_nics *nics = sim->nics;
    return nics ? nics->n * sizeof *nics->at + sim->p * sizeof *nics->ranks +
                      nics->ways.room * sizeof(coll_i_sim_nic_way) +
                      nics->rooms.room * sizeof(coll_i_sim_nic_room) +
                      nics->blocks.room * sizeof(coll_i_sim_nic_block)
                : 0;
}

/* What became of a NIC, of sim->nic_count; of a simulation that had options.adapter. Valid
 * until the next run. */
COLL_INLINE const coll_nic_load *coll_sim_nic(const coll_sim *sim, uint32_t nic)
{
    return &sim->nics->at[nic].load;
}

#endif /* COLL_LAB_SIM_ADAPTER_STATE_H */
