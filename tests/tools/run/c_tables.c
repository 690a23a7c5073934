/* Runs tables of coll export c, as tests/tools/export.sh makes them: of 5 ranks, allreduce of TEST_COUNT i32. */
#include <stdio.h>

#include "coll/nic/counter_machine.h"
#include "coll/nic/nic_wire.h"
#include "coll/reduce.h"

#include "rank0.h"
#include "rank1.h"
#include "rank2.h"
#include "rank3.h"
#include "rank4.h"

enum { P = 5, COUNT = rank0_COUNT, OPS = 512, COUNTERS = 64, SCRATCH = 256 };

static const coll_nic_program *const programs[P] = {&rank0, &rank1, &rank2, &rank3, &rank4};
static const size_t extents[P][3] = {{rank0_IN, rank0_OUT, rank0_SCRATCH},
                                     {rank1_IN, rank1_OUT, rank1_SCRATCH},
                                     {rank2_IN, rank2_OUT, rank2_SCRATCH},
                                     {rank3_IN, rank3_OUT, rank3_SCRATCH},
                                     {rank4_IN, rank4_OUT, rank4_SCRATCH}};
static int32_t in[P][COUNT], out[P][COUNT], scratch[P][SCRATCH];
static coll_nic_machine machines[P];
static coll_nic_endpoint ends[P];
static uint32_t counters[P][COUNTERS];
static uint8_t states[P][OPS];

int main(void)
{
    coll_nic_world world;
    coll_op sum;
    coll_status status = coll_op_builtin(&sum, COLL_SUM, COLL_I32);
    coll_nic_world_init(&world, machines, ends, P);
    for (uint32_t rank = 0; rank < P && status == COLL_OK; rank++) {
        const coll_nic_program *its = programs[rank];
        if ((int)rank0_RANKS != P || rank0_ELEM_BYTES != sizeof(int32_t) || its->rank != rank ||
            its->needs.ops > OPS || its->needs.counters > COUNTERS ||
            extents[rank][0] > COUNT || extents[rank][1] > COUNT || extents[rank][2] > SCRATCH)
            status = COLL_ERR_SIZE;
        else
            status = coll_nic_open(&machines[rank], its, &coll_nic_loopback, &ends[rank],
                                   counters[rank], states[rank]);
        machines[rank].op = &sum;
        machines[rank].in = in[rank];
        machines[rank].out = out[rank];
        machines[rank].scratch = scratch[rank];
        machines[rank].elem_bytes = sizeof(int32_t);
    }
    for (int32_t round = 1; round < 4 && status == COLL_OK; round++) {
        for (int32_t rank = 0; rank < P; rank++)
            for (int32_t i = 0; i < COUNT; i++)
                in[rank][i] = round * 100 + rank * i;
        status = coll_nic_world_start(&world, NULL);
        for (int32_t rank = 0; rank < P; rank++)
            for (int32_t i = 0; i < COUNT; i++)
                if (status == COLL_OK && out[rank][i] != P * round * 100 + 10 * i)
                    status = COLL_ERR_STATE;
    }
    puts(coll_status_text(status));
    return status == COLL_OK ? 0 : 1;
}
