/* Packed plans: what coll_plan_unpack takes stays within the memory that it asks for, and comes out as the
 * same bytes again when it is packed. */
#include "support/bounds.h"
#include "coll/plan/pack.h"
#include "coll/algos/registry.h"
#include "fuzz.h"

/* Ranks of a plan that are walked, at most. */
enum { RANKS = 6, MEMORY = 1 << 16 };

static void put(uint8_t *wire, size_t at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        wire[at + i] = (uint8_t)(value >> (8 * i));
}

/* Gives a descriptor its right length, the hash of an algorithm for its collective, and its check, which
 * no mutation would find. */
static void repair(uint8_t *wire, size_t size)
{
    coll_i_wire from = {NULL, wire, 12, size};
    const uint32_t hash = (uint32_t)coll_i_get(&from, 4);
    const coll_algorithm *algorithm = coll_registry[hash % COLL_REGISTRY_COUNT];
    bool known = false;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        known = known || coll_algorithm_hash(coll_registry[i]) == hash;
    put(wire, 0, COLL_I_PACK_MAGIC);
    put(wire, 4, COLL_I_PACK_VERSION);
    put(wire, 8, (uint32_t)size);
    if (!known) {
        uint32_t collective = wire[16] % COLL_COLLECTIVES;
        while (!coll_is(algorithm->collectives, (coll_collective)collective))
            collective = (collective + 1) % COLL_COLLECTIVES;
        put(wire, 12, coll_algorithm_hash(algorithm));
        put(wire, 16, collective);
        put(wire, 60, algorithm->n_params);
    }
    put(wire, size - 4, coll_i_hash(COLL_I_HASH_START, wire, size - 4));
}

static void walk(const coll_plan *plan)
{
    const uint32_t p = plan->problem.p;
    const uint32_t own = plan->problem.graph ? plan->problem.graph->rank : COLL_RANK_NONE;
    uint64_t random = p;
    for (uint32_t i = 0; i < RANKS && i < p; i++) {
        const uint32_t rank = own != COLL_RANK_NONE ? own
                              : p <= RANKS          ? i
                              : i == 0              ? plan->problem.root
                              : i == 1              ? p - 1
                                                    : chance_of(&random, p);
        char why[BOUNDS_TEXT];
        if (coll_plan_check_rank(plan, rank) == COLL_OK)
            must(bounds_kept(plan, rank, &random, why), "%s %s, p = %u, rank %u: %s",
                 coll_collective_name(plan->problem.collective), plan->algorithm->name, p, rank,
                 why);
    }
}

/* Unpacks, walks, and packs again; 0: it was refused. */
static size_t round_trip(const uint8_t *wire, size_t size, uint8_t *again, size_t room)
{
    static size_t memory[MEMORY / sizeof(size_t)];
    coll_plan plan;
    size_t bytes = 0;
    const coll_status status = coll_plan_unpack(&plan, wire, size, coll_registry,
                                                COLL_REGISTRY_COUNT, memory, sizeof memory);
    must(status <= COLL_OK, "status %d", status);
    if (status != COLL_OK)
        return 0;
    walk(&plan);
    must(coll_plan_pack(&plan, again, room, &bytes) == COLL_OK, "it cannot be packed again");
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t first[2 * MEMORY], second[2 * MEMORY];
    uint8_t *wire = bytes_of(data, size);
    size_t bytes = round_trip(wire, size, first, sizeof first);
    if (bytes == 0 && size >= COLL_I_PACK_HEAD + 4) {
        repair(wire, size);
        bytes = round_trip(wire, size, first, sizeof first);
    }
    /* What is of no use for a plan, such as the root of an allreduce, is gone after the first time. */
    if (bytes > 0)
        must(round_trip(first, bytes, second, sizeof second) == bytes &&
                 memcmp(first, second, bytes) == 0,
             "packed again, it is not the same");
    free(wire);
    return 0;
}
