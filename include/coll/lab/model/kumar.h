/* coll/lab/model/kumar.h — all-to-all multicast (allgather) on a fat tree, by messages out of a NIC
 *
 * P nodes, a message of m bytes from each to all others. α (alpha): software of a message; α_b
 * (alpha_b): a barrier that keeps the nodes in step; β_em (beta_em): a byte on the network; δ
 * (delta): a byte between main memory and the NIC's.
 *
 * Slide 24 of the talk names the terms; its formula is lost. Here it is derived from what the
 * algorithms do. A message costs α + m β_em. What leaves the NIC's memory was copied there once:
 * one's own message by prefix, every message by ring, ⌈P/k⌉ messages by k-prefix and k-shift.
 * Prefix keeps the nodes in step by a barrier after every stage, k-prefix_lb after some. A library
 * that sends from main memory to main memory copies every message on both sides.
 *
 * Source: Kumar 2004, Scaling collective multicast on fat-tree networks, ICPADS
 */
#ifndef COLL_LAB_MODEL_KUMAR_H
#define COLL_LAB_MODEL_KUMAR_H

#include "hockney.h"

/* Start-up of a message and of a barrier; a byte on the wire and in a copy. */
typedef struct coll_kumar_costs {
    double alpha_us, alpha_b_us, beta_em_ns_per_byte, delta_ns_per_byte;
} coll_kumar_costs;

COLL_TABLE(coll_parameter, coll_i_kumar_parameters, {
    {"alpha", "us", COLL_PARAMETER_NUMBER, offsetof(coll_kumar_costs, alpha_us), 0,
     COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "the software of a message"},
    {"alpha_b", "us", COLL_PARAMETER_NUMBER, offsetof(coll_kumar_costs, alpha_b_us), 0,
     COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED, "a barrier"},
    {"beta_em", "ns/byte", COLL_PARAMETER_NUMBER,
     offsetof(coll_kumar_costs, beta_em_ns_per_byte), 0, COLL_PARAMETER_ANY,
     COLL_PARAMETER_NEEDED, "a byte on the network"},
    {"delta", "ns/byte", COLL_PARAMETER_NUMBER, offsetof(coll_kumar_costs, delta_ns_per_byte),
     0, COLL_PARAMETER_ANY, COLL_PARAMETER_NEEDED,
     "copying a byte between main memory and the NIC's"}});

/* Slide 27: 9 us, 15 us, and 294 MB/s for both. */
COLL_CONST(coll_kumar_costs, coll_kumar_lemieux, {9, 15, 1000 / 294., 1000 / 294.});

COLL_TABLE(coll_preset, coll_i_kumar_presets, {
    {"lemieux", &coll_kumar_lemieux, "Quadrics Elan3 in the Lemieux cluster, slide 27"}});

COLL_CONST(coll_model, coll_kumar_model, {
    "kumar",
    "all-to-all multicast by messages out of a NIC's memory",
    "Kumar 2004, slides 3 and 24",
    sizeof(coll_kumar_costs),
    coll_i_kumar_parameters,
    sizeof coll_i_kumar_parameters / sizeof coll_i_kumar_parameters[0],
    coll_i_kumar_presets,
    sizeof coll_i_kumar_presets / sizeof coll_i_kumar_presets[0]});

/* ---- formulas ---------------------------------------------------------------------------- */

/* The strategies of the talk. */
typedef enum coll_kumar_algorithm {
    COLL_KUMAR_DIRECT,  /* slide 3: from main memory to main memory */
    COLL_KUMAR_RING,    /* slide 20 */
    COLL_KUMAR_PREFIX,  /* slide 21 */
    COLL_KUMAR_KPREFIX, /* slide 22; k-shift, slide 29, has the same terms */
    COLL_KUMAR_KPREFIX_LB
} coll_kumar_algorithm;

/* How often each cost occurs: T = α messages + α_b barriers + m (β_em messages + δ copies). */
typedef struct coll_kumar_terms {
    double messages, barriers, copies; /* how many of each */
} coll_kumar_terms;

/* P ≥ 2 nodes; k: of the partitions; a loose barrier after every `every` messages. */
COLL_INLINE coll_kumar_terms coll_kumar_terms_of(coll_kumar_algorithm algorithm, uint32_t P,
                                                 uint32_t k, uint32_t every)
{
    coll_kumar_terms t;
    t.messages = P - 1.0;
    t.barriers = 0;
    t.copies = ceil((double)P / k);
    switch (algorithm) {
    case COLL_KUMAR_DIRECT:
        t.copies = 2 * t.messages;
        break;
    case COLL_KUMAR_RING:
        t.copies = t.messages;
        break;
    case COLL_KUMAR_PREFIX:
        t.barriers = t.messages;
        t.copies = 1;
        break;
    case COLL_KUMAR_KPREFIX:
        break;
    case COLL_KUMAR_KPREFIX_LB:
        t.barriers = floor(t.messages / every);
        break;
    }
    return t;
}

/* Microseconds of such terms, with messages of so many bytes. */
COLL_INLINE double coll_kumar_us(const coll_kumar_costs *c, const coll_kumar_terms *t,
                                 double bytes)
{
    return t->messages * (c->alpha_us + bytes * c->beta_em_ns_per_byte / 1000) +
           t->barriers * c->alpha_b_us + t->copies * bytes * c->delta_ns_per_byte / 1000;
}

/* What a node receives in a second, and sends: (P − 1) m / T. */
COLL_INLINE double coll_kumar_MB_per_s(const coll_kumar_costs *c, const coll_kumar_terms *t,
                                       double bytes)
{
    return t->messages * bytes / coll_kumar_us(c, t, bytes);
}

/* ---- fitting ----------------------------------------------------------------------------- */

/* A measured cell of slide 23. */
typedef struct coll_kumar_cell {
    coll_kumar_terms terms;
    double MB_per_s; /* that a node gets */
} coll_kumar_cell;

/* Solves three linear equations a x = b, three rows [a | b]; false: they have no one solution. */
COLL_INLINE bool coll_i_solve_three(double a[3][4], double x[3])
{
    for (unsigned c = 0; c < 3; c++) {
        unsigned pivot = c;
        for (unsigned r = c + 1; r < 3; r++)
            if (fabs(a[r][c]) > fabs(a[pivot][c]))
                pivot = r;
        if (fabs(a[pivot][c]) < 1e-12)
            return false;
        for (unsigned i = 0; i < 4; i++) {
            const double other = a[c][i];
            a[c][i] = a[pivot][i];
            a[pivot][i] = other;
        }
        for (unsigned r = 0; r < 3; r++) {
            const double times = r == c ? 0 : a[r][c] / a[c][c];
            for (unsigned i = c; i < 4 && r != c; i++)
                a[r][i] -= times * a[c][i];
        }
    }
    for (unsigned c = 0; c < 3; c++)
        x[c] = a[c][3] / a[c][c];
    return true;
}

enum { COLL_KUMAR_CELLS = 32 }; /* at most */

/* β_em, δ and α_b for which the largest relative error of the n cells is least, with c->alpha_us as
 * it is: messages of one length do not tell α from m β_em. Least squares, again and again, with
 * weights that grow with the errors (Lawson 1961); cells that are not among the worst keep a
 * thousandth, so that they decide what is left to decide. Returns the largest relative error;
 * negative: the cells do not determine the costs. */
COLL_INLINE double coll_kumar_fit(coll_kumar_costs *c, const coll_kumar_cell *cells, size_t n,
                                  double bytes)
{
    double weight[COLL_KUMAR_CELLS], worst = -1;
    if (n > COLL_KUMAR_CELLS)
        return -1;
    for (size_t i = 0; i < n; i++)
        weight[i] = 1;
    for (unsigned round = 0; round < 500; round++) {
        double a[3][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}, x[3];
        double error[COLL_KUMAR_CELLS], most = 0;
        for (size_t i = 0; i < n;
             i++) { /* shares of the measured time: they are to add up to 1 */
            const coll_kumar_terms *t = &cells[i].terms;
            const double us = t->messages * bytes / cells[i].MB_per_s;
            const double row[4] = {t->messages * bytes / 1000 / us,
                                   t->copies * bytes / 1000 / us, t->barriers / us,
                                   1 - t->messages * c->alpha_us / us};
            for (unsigned r = 0; r < 3; r++)
                for (unsigned k = 0; k < 4; k++)
                    a[r][k] += weight[i] * row[r] * row[k];
        }
        if (!coll_i_solve_three(a, x))
            return -1;
        c->beta_em_ns_per_byte = x[0];
        c->delta_ns_per_byte = x[1];
        c->alpha_b_us = x[2];
        worst = 0;
        for (size_t i = 0; i < n; i++) {
            error[i] =
                fabs(coll_kumar_MB_per_s(c, &cells[i].terms, bytes) / cells[i].MB_per_s - 1);
            worst = error[i] > worst ? error[i] : worst;
        }
        for (size_t i = 0; i < n; i++) {
            weight[i] *= error[i];
            most = weight[i] > most ? weight[i] : most;
        }
        for (size_t i = 0; i < n && most > 0; i++)
            weight[i] = weight[i] / most > 1e-3 ? weight[i] / most : 1e-3;
        if (!(most > 0))
            break;
    }
    return worst;
}

#endif /* COLL_LAB_MODEL_KUMAR_H */
