/* coll/lab/sim/traffic.h — what others send over the links of a topology
 *
 *   coll_traffic traffic;
 *   coll_traffic_read(&traffic, "traffic:load=0.3,bytes=4096", seed, &why);
 *   options.traffic = &traffic;
 *
 * Each link gets messages of one size, so many that they take `load` of its time. Time is cut into
 * periods of what a message takes, divided by the load; in each a message comes, at a time that is a
 * hash of the seed, the link and the number of the period, as interruptions do (noise.h), so that two
 * simulations with one seed meet the same traffic. It waits where the link is taken, and messages of
 * the collective that come later wait for it: first come, first served. Traffic does not adapt to
 * what it meets, and a link's traffic has nothing to do with that of the next one.
 *
 * Use lab/sim.h.
 */
#ifndef COLL_LAB_SIM_TRAFFIC_H
#define COLL_LAB_SIM_TRAFFIC_H

#include "../model/traffic_model.h"
#include "simulation.h"

/* What others send. */
struct coll_traffic {
    double load;    /* of a link's time, below 1 */
    uint64_t bytes; /* of a message */
    double links;   /* the part of the links that have traffic */
    uint64_t seed;
};

/* Reads traffic from words; false, and what is wrong with them. */
COLL_INLINE bool coll_traffic_read(coll_traffic *traffic, const char *text, uint64_t seed,
                                   coll_sentence *why)
{
    static const coll_model *const all[] = {&coll_traffic_model};
    coll_traffic_words words;
    if (!coll_model_of("traffic", all, 1, text, why) ||
        !coll_parameters_read(&coll_traffic_model, text, &words, why))
        return false;
    traffic->load = words.load;
    traffic->bytes = (uint64_t)words.bytes;
    traffic->links = words.links;
    traffic->seed = coll_i_mixed(seed, 0, 0); /* other numbers than those of noise */
    return true;
}

/* The messages of others that have come to a link by now take their time of it. `next`: the period of
 * the first that has not. O(1) for each that finds the link taken. */
COLL_I_RARE void coll_traffic_pass(const coll_traffic *traffic, uint32_t link, coll_time taken,
                                   coll_time now, uint64_t *next, coll_time *free_at)
{
    coll_noise each;
    if (taken == 0 || !(traffic->load > 0) ||
        coll_i_fraction(coll_i_mixed(traffic->seed, link, UINT64_MAX)) >= traffic->links)
        return;
    each.period = coll_later(taken, coll_time_of((double)taken / traffic->load));
    each.duration = (double)taken;
    each.distribution = COLL_NOISE_FIXED;
    each.seed = traffic->seed;
    for (;; ++*next) {
        coll_i_interruption at;
        if (*free_at <= *next * each.period) /* what comes to a free link ends in its period */
            *next = coll_later(*next, now / each.period);
        at = coll_i_noise_in(&each, link, *next);
        if (at.start > now)
            return;
        *free_at = coll_later(*free_at, at.start) + taken;
    }
}

#endif /* COLL_LAB_SIM_TRAFFIC_H */
