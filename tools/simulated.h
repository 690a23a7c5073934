/* tools/simulated.h — a machine in words, on which plans are simulated: of coll sim, and of coll tune --simulate
 *
 *   struct simulated on = {0};
 *   const struct option options[] = {SIMULATED_OPTIONS(on), …};
 *   simulated_check(&on);
 *   simulated_prepare(&on, plans, p, p, seed);
 *   status = coll_sim_run(&sim, plans, true, &on.options);
 *   simulated_free(&on);
 */
#ifndef COLL_TOOLS_SIMULATED_H
#define COLL_TOOLS_SIMULATED_H

#include <stdio.h>

#include "coll/lab/sim.h"
#include "options.h"

struct simulated {
    const char *model, *memory, *nic, *placement, *topology, *map, *traffic, *noise,
        *skew;      /* what the user says */
    uint64_t ports; /* … 0: nothing of ports */
    coll_sim_machine machine;
    coll_topology its_topology;
    coll_noise its_noise;
    coll_traffic its_traffic;
    coll_sim_options options; /* for coll_sim_run */
    uint32_t *places;         /* of the ranks, where some are missing */
    uint8_t *on_nic;
};

#define SIMULATED_OPTIONS(s)                                                                   \
    WORD("model", "MODEL",                                                                     \
         "what messages cost, as in loggp:L=1us,o=200,g=300,G=0.5, or as @FILE says",          \
         &(s).model),                                                                          \
        SIMULATED_MORE(s)

/* … of a command that has a --model of its own. */
#define SIMULATED_MORE(s)                                                                      \
    WORD("memory", "SHM", "ranks of a node copy through it, as in shm:a=0.2us,b=0.1",          \
         &(s).memory),                                                                         \
        WORD(                                                                                  \
            "nic", "NIC",                                                                      \
            "the NICs, with a memory and a bus, as nic:elan3_f64_add,memory=64KiB; or, where " \
            "the model is moody's hosts, by constants: moody:nic_f64_add",                     \
            &(s).nic),                                                                         \
        WORD("placement", "P",                                                                 \
             "who uses its NIC: all; hybrid: not the root and the leaves; action: all, and "   \
             "the "                                                                            \
             "host reduces what it reduces faster; host: messages alone go through it",        \
             &(s).placement),                                                                  \
        NUMBER(0, "ports", "N",                                                                \
               "ports of a rank, each for one message a direction, or of a rail of dpml (1)",  \
               &(s).ports, 1, COLL_PORTS_MOST),                                                \
        WORD("topology", "TOPOLOGY", "links, as in mesh:16x32,hop=40ns or fattree:k=4,n=3",    \
             &(s).topology),                                                                   \
        WORD("map", "MAP", "ranks on its places: block, cyclic:N, random:SEED, or @FILE",      \
             &(s).map),                                                                        \
        WORD("traffic", "TRAFFIC", "of others on its links: traffic:load=0.3,bytes=4096",      \
             &(s).traffic),                                                                    \
        WORD("noise", "NOISE", "of processors: noise:frequency=100Hz,duration=250us",          \
             &(s).noise),                                                                      \
        WORD("skew", "TIME", "ranks begin at random times up to this one, as 5us (0)",         \
             &(s).skew)

/* Reads the words for these plans, one or `n` of them, of p ranks, and fills `options`; or refuses. May place the
 * plans. Once, or again after simulated_free. */
void simulated_prepare(struct simulated *s, coll_plan *plans, uint32_t n, uint32_t p,
                       uint64_t seed);

/* The words that are given beside the model's, each behind a space. */
void simulated_print(const struct simulated *s, FILE *file);

/* Of all ranks: when they end, say, by coll_sim_finish. */
struct spread {
    double least, mean, most; /* us */
};
struct spread simulated_spread(const coll_sim *sim, uint32_t p,
                               coll_time (*of)(const coll_sim *sim, uint32_t rank));

/* The `most` links that were taken longest, *n of them. The caller frees them. */
uint32_t *simulated_busiest(const coll_sim *sim, uint64_t most, uint32_t *n);

/* Ends the program with a sentence about what a simulation has ended with. */
_Noreturn void simulated_fail(const coll_sim *sim, coll_status status);

void simulated_free(struct simulated *s);

#endif /* COLL_TOOLS_SIMULATED_H */
