/* coll/model/littlefield.h — nodes whose links share what the node can move (NBL)
 *
 * T(L) = L α + f(L) β S: L messages of S elements on L links of a node at a time. f(L) = 1 is the
 * standard model, f(L) = L the nominal NBL model.
 *
 * Source: Littlefield 1992, PNL-SA-20425.
 */
#ifndef COLL_MODEL_LITTLEFIELD_H
#define COLL_MODEL_LITTLEFIELD_H

#include "parameters.h"

/* An element is a double in the paper. */
typedef struct coll_nbl_costs {
    double alpha_us, beta_us_per_element;
    double f2, f3, f4, f6;    /* f(1) is 1 */
    double c2_us_per_element; /* combining two vectors */
    double c3_us_per_element; /* combining three in one pass */
} coll_nbl_costs;

/* f(L). The paper has no other L than 1, 2, 3, 4 and 6: between them, and beyond 6 in proportion,
 * f is a straight line. */
COLL_INLINE double coll_nbl_f(const coll_nbl_costs *m, unsigned links)
{
    switch (links) {
    case 0:
    case 1:
        return 1;
    case 2:
        return m->f2;
    case 3:
        return m->f3;
    case 4:
        return m->f4;
    case 5:
        return (m->f4 + m->f6) / 2;
    default:
        return m->f6 * links / 6;
    }
}

static const coll_parameter coll_i_nbl_parameters[] = {
    {"alpha", "us", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, alpha_us), 0,
     COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "the start-up of a message"},
    {"beta", "us/element", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, beta_us_per_element),
     0, COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "the transfer of an element on one link"},
    {"f2", "", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, f2), 0, COLL_PARAMETER_ANY, 2,
     "how much slower a link is if two are active"},
    {"f3", "", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, f3), 0, COLL_PARAMETER_ANY, 3,
     "the same of three"},
    {"f4", "", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, f4), 0, COLL_PARAMETER_ANY, 4,
     "of four"},
    {"f6", "", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, f6), 0, COLL_PARAMETER_ANY, 6,
     "of six"},
    {"c2", "us/element", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, c2_us_per_element), 0,
     COLL_PARAMETER_ANY, 0, "combining two vectors"},
    {"c3", "us/element", COLL_PARAMETER_NUMBER, offsetof(coll_nbl_costs, c3_us_per_element), 0,
     COLL_PARAMETER_ANY, 0, "combining three vectors in one pass"}};

/* Section 7.2; f of section 4.2, of the standard model, and of the nominal NBL model. */
static const coll_nbl_costs coll_nbl_delta = {54, 1.54, 1.1, 1.3, 3.9, 5.1, .25, .37};
static const coll_nbl_costs coll_nbl_delta_standard = {54, 1.54, 1, 1, 1, 1, .25, .37};
static const coll_nbl_costs coll_nbl_delta_nominal = {54, 1.54, 2, 3, 4, 6, .25, .37};

static const coll_preset coll_i_nbl_presets[] = {
    {"delta", &coll_nbl_delta, "Intel Touchstone DELTA, f fitted to its vector combining"},
    {"delta_standard", &coll_nbl_delta_standard, "the same with f(L) = 1"},
    {"delta_nominal", &coll_nbl_delta_nominal, "the same with f(L) = L"}};

static const coll_model coll_nbl_model = {
    "nbl",
    "links of a node share what the node can move",
    "Littlefield 1992, section 2",
    sizeof(coll_nbl_costs),
    coll_i_nbl_parameters,
    sizeof coll_i_nbl_parameters / sizeof coll_i_nbl_parameters[0],
    coll_i_nbl_presets,
    sizeof coll_i_nbl_presets / sizeof coll_i_nbl_presets[0]};

#endif /* COLL_MODEL_LITTLEFIELD_H */
