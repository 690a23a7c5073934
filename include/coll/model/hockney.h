/* coll/model/hockney.h — a message costs a start-up and so much a byte: T = α + n β
 *
 * Source: Hockney 1994; Kumar 2004, slide 3; Thakur, Rabenseifner, Gropp 2005, section 3.
 */
#ifndef COLL_MODEL_HOCKNEY_H
#define COLL_MODEL_HOCKNEY_H

#include "parameters.h"

typedef struct coll_hockney_costs {
    double alpha_us, beta_ns_per_byte, gamma_ns_per_byte;
} coll_hockney_costs;

static const coll_parameter coll_i_hockney_parameters[] = {
    {"alpha", "us", COLL_PARAMETER_NUMBER, offsetof(coll_hockney_costs, alpha_us), 0,
     COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "the start-up of a message"},
    {"beta", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_hockney_costs, beta_ns_per_byte),
     0, COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "the transfer of a byte"},
    {"gamma", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_hockney_costs, gamma_ns_per_byte),
     0, COLL_PARAMETER_ANY, 0, "combining a byte with another one"}};

static const coll_model coll_hockney_model = {"hockney",
                                              "a message costs a start-up and so much a byte",
                                              "Hockney 1994",
                                              sizeof(coll_hockney_costs),
                                              coll_i_hockney_parameters,
                                              sizeof coll_i_hockney_parameters /
                                                  sizeof coll_i_hockney_parameters[0],
                                              NULL,
                                              0};

#endif /* COLL_MODEL_HOCKNEY_H */
