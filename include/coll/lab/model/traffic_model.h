/* coll/lab/model/traffic_model.h — what others send over the links of a topology, in words:
 * `traffic:load=0.3,bytes=4096`
 *
 * lab/sim/traffic.h simulates it.
 */
#ifndef COLL_LAB_MODEL_TRAFFIC_MODEL_H
#define COLL_LAB_MODEL_TRAFFIC_MODEL_H

#include "parameters.h"

/* Traffic as its parameters say it. */
typedef struct coll_traffic_words {
    double load, bytes, links;
} coll_traffic_words;

COLL_TABLE(coll_parameter, coll_i_traffic_parameters, {
    {"load", "", COLL_PARAMETER_NUMBER, offsetof(coll_traffic_words, load), 0, 0.99,
     COLL_PARAMETER_NEEDED, "the part of its time for which a link is taken"},
    {"bytes", "bytes", COLL_PARAMETER_WHOLE, offsetof(coll_traffic_words, bytes), 0, 1e15,
     COLL_PARAMETER_NEEDED, "the size of a message"},
    {"links", "", COLL_PARAMETER_NUMBER, offsetof(coll_traffic_words, links), 0, 1, 1,
     "the part of all links that have such traffic, chosen by the seed"}});

COLL_CONST(coll_model, coll_traffic_model, {
    "traffic",
    "what others send over the links of a topology",
    "",
    sizeof(coll_traffic_words),
    coll_i_traffic_parameters,
    sizeof coll_i_traffic_parameters /
        sizeof coll_i_traffic_parameters[0],
    NULL,
    0});

#endif /* COLL_LAB_MODEL_TRAFFIC_MODEL_H */
