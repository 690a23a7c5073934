/* coll/lab/sim/noise.h — what takes a processor away from a rank: daemons, ticks, interrupts
 *
 *   coll_noise noise;
 *   coll_noise_init(&noise, 100, 250, COLL_NOISE_EXPONENTIAL, seed);  // 100 Hz, 250 us: 2.5 %
 *   end = coll_noise_end(&noise, rank, start, work);
 *
 * Time is cut into periods, and in each a processor is interrupted once, at a place and for a
 * duration that are a hash of the seed, the rank and the number of the period. So noise needs no
 * memory, any time can be asked for at once, and two simulations with one seed are disturbed at
 * the same times, whatever they do: host and NIC, or two algorithms, can be compared. Between the
 * end of an interruption and the next one lie two periods at most. Durations are the same, or
 * uniform from 0 to twice the mean, or exponential; none is longer than its period.
 *
 * Work that is interrupted goes on afterwards; work of no time is not interrupted.
 *
 * Source  Moody 2003, §2.2.2, §5.4 (process interference); Hoefler, Schneider, Lumsdaine 2010
 */
#ifndef COLL_LAB_SIM_NOISE_H
#define COLL_LAB_SIM_NOISE_H

#include "../model/machine_words.h"
#include "basics.h"

#include <math.h>

/* How durations are distributed around their mean. */
typedef enum coll_noise_distribution {
    COLL_NOISE_FIXED,
    COLL_NOISE_UNIFORM,
    COLL_NOISE_EXPONENTIAL
} coll_noise_distribution;

/* Interruptions of the processors. */
typedef struct coll_noise {
    coll_time period;                     /* from one to the next, in the mean */
    double duration;                      /* in ps, in the mean */
    coll_noise_distribution distribution; /* of the durations */
    uint64_t seed;
} coll_noise;

/* A processor loses frequency · duration of its time, which must be below 1. */
COLL_INLINE void coll_noise_init(coll_noise *noise, double frequency_hz, double duration_us,
                                 coll_noise_distribution distribution, uint64_t seed)
{
    noise->period = coll_time_of(1e12 / frequency_hz);
    noise->duration = duration_us * 1e6;
    noise->distribution = distribution;
    noise->seed = seed;
}

typedef struct coll_i_interruption {
    coll_time start, end;
} coll_i_interruption;

/* That of a rank in period number i. */
COLL_INLINE coll_i_interruption coll_i_noise_in(const coll_noise *noise, uint32_t rank,
                                                uint64_t i)
{
    const uint64_t hash = coll_i_mixed(noise->seed, rank, i);
    const double place = coll_i_fraction(hash);
    const double chance = coll_i_fraction(coll_i_mixed(hash, 1, 0));
    const double period = (double)noise->period;
    double duration = noise->duration;
    coll_i_interruption at;
    if (noise->distribution == COLL_NOISE_UNIFORM)
        duration *= 2 * chance;
    else if (noise->distribution == COLL_NOISE_EXPONENTIAL)
        duration *= -log(1 - chance);
    duration = duration < period ? duration : period;
    at.start = i * noise->period + (coll_time)(place * (period - duration));
    at.end = at.start + (coll_time)duration;
    return at;
}

/* When `work` of a rank that begins at `start` ends. O(1) for every period that it takes. */
COLL_I_RARE coll_time coll_noise_end(const coll_noise *noise, uint32_t rank, coll_time start,
                                     coll_time work)
{
    coll_time t = start;
    if (work == 0 || work >= COLL_TIME_LIMIT)
        return start + work;
    for (uint64_t i = start / noise->period; t < COLL_TIME_LIMIT; i++) {
        const coll_i_interruption at = coll_i_noise_in(noise, rank, i);
        const coll_time over = (i + 1) * noise->period;
        if (t < at.start) {
            if (work <= at.start - t)
                return t + work;
            work -= at.start - t;
            t = at.start;
        }
        t = coll_later(t, at.end);
        if (work <= over - t)
            return t + work;
        work -= over - t;
        t = over;
    }
    return t;
}

/* ---- in words: noise:frequency=100Hz,duration=250us,distribution=exponential -------------- */

/* Reads noise from words, perhaps noise:@FILE; false, and what is wrong with them. */
COLL_INLINE bool coll_noise_read(coll_noise *noise, const char *text, uint64_t seed,
                                 coll_sentence *why)
{
    static const char *const names[] = {"fixed", "uniform", "exponential"};
    static const coll_model *const all[] = {&coll_noise_model};
    coll_noise_words words;
    char its[COLL_MACHINE_WORDS];
    size_t d = 0;
    if (!coll_machine_words(text, its, sizeof its, why) ||
        !coll_model_of("noise", all, 1, its, why) ||
        !coll_parameters_read(&coll_noise_model, its, &words, why))
        return false;
    if (words.distribution[0])
        d = coll_name_index("distribution", words.distribution, names, 3, why);
    if (d == COLL_NO_NAME)
        return false;
    if (words.frequency_hz * words.duration_us >= 1e6)
        return coll_refuse(why, "noise leaves no time: %g us, %g times a second, are a second",
                           words.duration_us, words.frequency_hz);
    coll_noise_init(noise, words.frequency_hz, words.duration_us, (coll_noise_distribution)d,
                    seed);
    return true;
}

#endif /* COLL_LAB_SIM_NOISE_H */
