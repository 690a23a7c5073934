/* coll/lab/model/noise_model.h — what takes processors away from ranks, in words:
 * `noise:frequency=100Hz,duration=250us,distribution=exponential`
 *
 * lab/sim/noise.h simulates it.
 *
 * Source: Moody 2003, section 5.4.
 */
#ifndef COLL_LAB_MODEL_NOISE_MODEL_H
#define COLL_LAB_MODEL_NOISE_MODEL_H

#include "parameters.h"

/* Noise as its parameters say it. */
typedef struct coll_noise_words {
    double frequency_hz, duration_us;
    char distribution[COLL_PARAMETER_BYTES];
} coll_noise_words;

COLL_TABLE(coll_parameter, coll_i_noise_parameters, {
    {"frequency", "Hz", COLL_PARAMETER_NUMBER, offsetof(coll_noise_words, frequency_hz), 1e-3,
     1e9, COLL_PARAMETER_NEEDED, "interruptions in a second"},
    {"duration", "us", COLL_PARAMETER_NUMBER, offsetof(coll_noise_words, duration_us), 0,
     COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "how long one takes, in the mean"},
    {"distribution", "", COLL_PARAMETER_WORD, offsetof(coll_noise_words, distribution), 0, 0, 0,
     "fixed, uniform or exponential"}});

COLL_CONST(coll_model, coll_noise_model, {
    "noise",
    "interruptions of the processors",
    "Moody 2003, section 5.4",
    sizeof(coll_noise_words),
    coll_i_noise_parameters,
    sizeof coll_i_noise_parameters /
        sizeof coll_i_noise_parameters[0],
    NULL,
    0});

#endif /* COLL_LAB_MODEL_NOISE_MODEL_H */
