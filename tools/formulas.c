/* tools/formulas.c — the tables of formulas.h, a section a model */
#include "formulas.h"

#include <math.h>

#include "names.h"

#define U32(x)     ((uint32_t)(x))
#define U64(x)     ((uint64_t)(x))
#define ROWS(rows) rows, sizeof rows / sizeof rows[0]

/* An argument: a whole number from `least` to `most`; usual: NEEDED, or what it is. */
#define WHOLE(field, unit, least, most, default_value, meaning)                                \
    {                                                                                          \
#field, unit, COLL_PARAMETER_WHOLE, offsetof(struct question, field), least, most,     \
            default_value, meaning                                                             \
    }
#define COUNT(field, least, default_value, meaning)                                            \
    WHOLE(field, "", least, UINT32_MAX, default_value, meaning)
#define BYTES(field, least, default_value, meaning)                                            \
    WHOLE(field, "bytes", least, 1e15, default_value, meaning)
#define SEGMENT BYTES(segment, 0, 0, "the size of a segment (0: of each formula the best)")
#define NEEDED  COLL_PARAMETER_NEEDED

/* A value: costs are `m`, the question is `q`. */
#define VALUE(name, type, expression)                                                          \
    static double name(const void *costs, const struct question *q)                            \
    {                                                                                          \
        const type *m = (const type *)costs;                                                   \
        (void)m;                                                                               \
        return expression;                                                                     \
    }

/* ---- hockney ----------------------------------------------------------------------------- */

static const coll_parameter hockney_rows[] = {
    COUNT(P, 2, NEEDED, "the number of ranks"), BYTES(n, 0, NEEDED, "the size of the vector"),
    SEGMENT, WHOLE(removed, "", 0, 32, 0, "the rounds that permutation_group leaves out")};

static const char *long_segment(const struct question *q)
{
    return q->segment > q->n ? "a segment is at most n" : NULL;
}

static double hockney_segment(const void *costs, const struct question *q)
{
    return q->segment > 0 ? q->segment
                          : coll_hockney_chain_segment_bytes((const coll_hockney_costs *)costs,
                                                             U32(q->P), q->n > 0 ? q->n : 1);
}

VALUE(hockney_message, coll_hockney_costs, coll_hockney_message_us(m, q->n))
VALUE(hockney_flat, coll_hockney_costs, coll_hockney_flat_us(m, U32(q->P), q->n))
VALUE(hockney_binomial, coll_hockney_costs, coll_hockney_binomial_us(m, U32(q->P), q->n))
VALUE(hockney_sag, coll_hockney_costs, coll_hockney_scatter_ring_us(m, U32(q->P), q->n))
VALUE(hockney_chain, coll_hockney_costs,
      coll_hockney_chain_us(m, U32(q->P), q->n, hockney_segment(costs, q)))
VALUE(hockney_bruck, coll_hockney_costs, coll_hockney_bruck_us(m, U32(q->P), q->n))
VALUE(hockney_ring, coll_hockney_costs, coll_hockney_ring_us(m, U32(q->P), q->n))
VALUE(hockney_doubling, coll_hockney_costs,
      coll_hockney_recursive_doubling_us(m, U32(q->P), q->n))
VALUE(hockney_rabenseifner, coll_hockney_costs,
      coll_hockney_rabenseifner_us(m, U32(q->P), q->n))
VALUE(hockney_ring_sum, coll_hockney_costs, coll_hockney_ring_allreduce_us(m, U32(q->P), q->n))
VALUE(hockney_permutation, coll_hockney_costs,
      coll_hockney_permutation_us(m, U32(q->P), q->n, U32(q->removed)))
VALUE(hockney_double_ring, coll_hockney_costs, coll_hockney_double_ring_us(m, U32(q->P)))

static const struct formula hockney_formulas[] = {
    {"message", "us", "Hockney 1994", hockney_message, NULL},
    {"bcast flat", "us", "Wu 2005, 4.2.1", hockney_flat, NULL},
    {"bcast binomial", "us", "Wu 2005, 4.2.1", hockney_binomial, NULL},
    {"bcast scatter_ring", "us", "Thakur et al. 2005, 4.2", hockney_sag, NULL},
    {"bcast chain", "us", "in segments, as it follows", hockney_chain, NULL},
    {"segment of chain", "bytes", "d/ds = 0", hockney_segment, NULL},
    {"allgather bruck", "us", "Thakur et al. 2005, 4.1", hockney_bruck, NULL},
    {"allgather ring", "us", "Thakur et al. 2005, 4.1", hockney_ring, NULL},
    {"allreduce recursive_doubling", "us", "Thakur et al. 2005, 4.5", hockney_doubling, NULL},
    {"allreduce rabenseifner", "us", "Thakur et al. 2005, 4.5", hockney_rabenseifner, NULL},
    {"allreduce ring", "us", "Thakur et al. 2005, 4.5", hockney_ring_sum, NULL},
    {"allreduce permutation_group", "us", "as the algorithm counts", hockney_permutation, NULL},
    {"barrier double_ring", "us", "as the algorithm counts", hockney_double_ring, NULL}};

/* ---- loggp ------------------------------------------------------------------------------- */

static const coll_parameter loggp_rows[] = {COUNT(P, 1, NEEDED, "the number of ranks"),
                                            BYTES(n, 1, NEEDED, "the size of the vector")};

VALUE(loggp_message, coll_loggp_costs, coll_loggp_message_ns(m, q->n))
VALUE(loggp_gap, coll_loggp_costs, coll_loggp_gap_ns(m, q->n))
VALUE(loggp_binomial, coll_loggp_costs, coll_loggp_binomial_ns(m, U32(q->P), q->n))
VALUE(loggp_both, coll_loggp_costs, 2 * coll_loggp_binomial_ns(m, U32(q->P), q->n))
VALUE(loggp_halving, coll_loggp_costs,
      q->n >= q->P ? coll_loggp_halving_doubling_ns(m, U32(q->P), q->n) : NAN)
VALUE(loggp_ring, coll_loggp_costs,
      q->n >= q->P ? coll_loggp_ring_allreduce_ns(m, U32(q->P), q->n) : NAN)

static const struct formula loggp_formulas[] = {
    {"message", "ns", "Alexandrov et al. 1995", loggp_message, NULL},
    {"gap", "ns", "Alexandrov et al. 1995", loggp_gap, NULL},
    {"bcast binomial", "ns", "as LogGOPSim has it", loggp_binomial, NULL},
    {"allreduce fnomial", "ns", "reduce, then bcast", loggp_both, NULL},
    {"allreduce rabenseifner", "ns", "as LogGOPSim has it", loggp_halving, NULL},
    {"allreduce ring", "ns", "as LogGOPSim has it", loggp_ring, NULL}};

/* ---- plogp, atcom ------------------------------------------------------------------------ */

static const coll_parameter plogp_rows[] = {
    COUNT(P, 2, NEEDED, "the number of nodes"),
    BYTES(n, 1, NEEDED, "the size of the message"),
    SEGMENT,
    BYTES(overlap, 0, 0, "the part of a segment that is overlapped"),
    {"ovp", "", COLL_PARAMETER_NUMBER, offsetof(struct question, ovp), 0, 1, 1,
     "the penalty of overlapping, as a part of smcc(overlap)"}};

typedef double plogp_tree(const coll_plogp_costs *m, uint32_t p, double bytes, double segment);

static double plogp_segment(const coll_plogp_costs *m, const struct question *q,
                            plogp_tree *tree)
{
    return q->segment > 0 ? q->segment : coll_plogp_best_segment(m, U32(q->P), q->n, tree);
}

static double plogp(const coll_plogp_costs *m, const struct question *q, plogp_tree *tree)
{
    return tree(m, U32(q->P), q->n, plogp_segment(m, q, tree));
}

static coll_atcom_terms atcom(const coll_plogp_costs *m, const struct question *q)
{
    const double segment = plogp_segment(m, q, coll_plogp_chain_us);
    const double overlap = q->overlap < segment ? q->overlap : segment;
    coll_atcom_terms t = coll_atcom_chain(m, U32(q->P), q->n, segment, overlap);
    t.penalty_us *= q->ovp;
    return t;
}

static double atcom_us(const coll_plogp_costs *m, const struct question *q,
                       coll_atcom_mode mode)
{
    const coll_atcom_terms t = atcom(m, q);
    return coll_atcom_us(&t, mode);
}

/* A segment to one node, equation 4.1, or 4.2. */
static double atcom_segment_us(const coll_plogp_costs *m, const struct question *q,
                               bool penalty)
{
    const double segment = plogp_segment(m, q, coll_plogp_chain_us);
    return coll_atcom_segment_us(m, segment, q->overlap < segment ? q->overlap : segment,
                                 penalty ? atcom(m, q).penalty_us : 0);
}

static const char *plogp_wrong(const struct question *q)
{
    return q->segment > 0 && q->overlap > q->segment ? "overlap is at most a segment"
                                                     : long_segment(q);
}

VALUE(plogp_chain, coll_plogp_costs, plogp(m, q, coll_plogp_chain_us))
VALUE(plogp_chain_segment, coll_plogp_costs, plogp_segment(m, q, coll_plogp_chain_us))
VALUE(plogp_flat, coll_plogp_costs, plogp(m, q, coll_plogp_flat_us))
VALUE(plogp_binary, coll_plogp_costs, plogp(m, q, coll_plogp_binary_us))
VALUE(plogp_binomial, coll_plogp_costs, plogp(m, q, coll_plogp_binomial_us))
VALUE(plogp_within, coll_plogp_costs, coll_plogp_us(m, COLL_PLOGP_SMCC, q->n))
VALUE(atcom_one, coll_plogp_costs, atcom_segment_us(m, q, false))
VALUE(atcom_one_penalty, coll_plogp_costs, atcom_segment_us(m, q, true))
VALUE(atcom_overlapping, coll_plogp_costs, atcom_us(m, q, COLL_ATCOM_OVERLAPPING))
VALUE(atcom_complete, coll_plogp_costs, atcom_us(m, q, COLL_ATCOM_COMPLETE))
VALUE(atcom_penalty, coll_plogp_costs, atcom_us(m, q, COLL_ATCOM_PENALTY))

static const struct formula plogp_formulas[] = {
    {"bcast flat", "us", "Kielmann et al. 2000", plogp_flat, NULL},
    {"bcast chain", "us", "Kielmann et al. 2000", plogp_chain, NULL},
    {"bcast binary", "us", "Kielmann et al. 2000", plogp_binary, NULL},
    {"bcast binomial", "us", "Kielmann et al. 2000", plogp_binomial, NULL},
    {"segment of chain", "bytes", "given, or the best power of two", plogp_chain_segment, NULL},
    {"within a node", "us", "Wu 2005, smcc", plogp_within, NULL},
    {"a segment to one node", "us", "Wu 2005, equation 4.1", atcom_one, NULL},
    {"the same, with penalty", "us", "Wu 2005, equation 4.2", atcom_one_penalty, NULL},
    {"chain, overlapping", "us", "Wu 2005, equation 4.3", atcom_overlapping, NULL},
    {"chain, wholly overlapped", "us", "Wu 2005, equation 4.4", atcom_complete, NULL},
    {"chain, with penalty", "us", "Wu 2005, equations 4.5, 4.6", atcom_penalty, NULL}};

/* ---- nbl --------------------------------------------------------------------------------- */

static const coll_parameter nbl_rows[] = {
    WHOLE(W, "", 1, 65535, NEEDED, "the width of the mesh"),
    WHOLE(H, "", 1, 65535, NEEDED, "its height"),
    COUNT(N, 1, NEEDED, "the elements of the vector"),
    COUNT(S, 0, 0, "the elements of a block (0: the best)")};

static double snake_block(const void *costs, const struct question *q)
{
    const double S = q->S > 0 ? q->S
                              : (double)coll_nbl_snake_best_block((const coll_nbl_costs *)costs,
                                                                  U32(q->W * q->H), U64(q->N));
    return S > 0 ? S : NAN;
}

static double fence_block(const void *costs, const struct question *q)
{
    const double S = q->S > 0
                         ? q->S
                         : (double)coll_nbl_fence_best_block((const coll_nbl_costs *)costs,
                                                             U32(q->W), U32(q->H), U64(q->N));
    return S > 0 ? S : NAN;
}

VALUE(nbl_tree, coll_nbl_costs, coll_nbl_tree_us(m, U32(q->W), U32(q->H), q->N))
VALUE(nbl_snake, coll_nbl_costs,
      coll_nbl_snake_us(m, U32(q->W * q->H), q->N, snake_block(costs, q)))
VALUE(nbl_fence, coll_nbl_costs,
      coll_nbl_fence_us(m, U32(q->W), U32(q->H), q->N, fence_block(costs, q)))
VALUE(nbl_snake_formula, coll_nbl_costs,
      q->W * q->H > 2 ? coll_nbl_snake_block(m, U32(q->W * q->H), q->N) : NAN)
VALUE(nbl_fence_formula, coll_nbl_costs,
      q->W > 2 && q->H > 1 ? coll_nbl_fence_block(m, U32(q->W), U32(q->H), q->N) : NAN)
VALUE(nbl_fastest, coll_nbl_costs,
      (double)coll_nbl_fastest(m, U32(q->W), U32(q->H), U64(q->N)).algorithm)

static const char *const nbl_names[] = {"tree", "snake", "fence"};

static const struct formula nbl_formulas[] = {
    {"allreduce tree", "us", "Littlefield 1992, 7.1", nbl_tree, NULL},
    {"allreduce snake", "us", "Littlefield 1992, 7.1", nbl_snake, NULL},
    {"allreduce fence", "us", "Littlefield 1992, 7.1", nbl_fence, NULL},
    {"block of snake", "elements", "given, or the best of all", snake_block, NULL},
    {"block of fence", "elements", "given, or the best of all", fence_block, NULL},
    {"dT/dS = 0 of snake", "elements", "re-derived from 7.1", nbl_snake_formula, NULL},
    {"dT/dS = 0 of fence", "elements", "equation 1", nbl_fence_formula, NULL},
    {"fastest", "", "with the best blocks", nbl_fastest, nbl_names}};

/* ---- moody ------------------------------------------------------------------------------- */

static const coll_parameter moody_rows[] = {
    COUNT(P, 2, NEEDED, "the number of nodes"),
    COUNT(M, 1, NEEDED, "the elements of the vector"),
    COUNT(f, 0, 0, "the degree of the tree (0: the best)"),
    COUNT(splits, 0, 0, "how often the vector is halved"),
    {"host", "", COLL_PARAMETER_WORD, offsetof(struct question, host), 0, 0, 0,
     "a preset for the hosts, where the model's machine is their NICs"}};

/* The preset of the hosts, or NULL. */
static const coll_moody_costs *moody_host(const struct question *q)
{
    for (size_t i = 0; i < coll_moody_model.n_presets; i++)
        if (coll_name_is(q->host, coll_moody_model.presets[i].name))
            return (const coll_moody_costs *)coll_moody_model.presets[i].costs;
    return NULL;
}

static const char *moody_wrong(const struct question *q)
{
    return q->host[0] && !moody_host(q) ? "host is a preset of moody"
           : q->f > 0 && q->f < 2       ? "the degree f is at least 2, or 0 for the best"
                                        : NULL;
}

static uint32_t moody_f(const void *costs, const struct question *q)
{
    return q->f >= 2 ? U32(q->f)
                     : coll_moody_best_degree((const coll_moody_costs *)costs, U32(q->P), q->M);
}

/* With hosts to compare with, or not at all. */
#define MOODY_HOST(expression) (moody_host(q) ? (expression) : NAN)

VALUE(moody_serial, coll_moody_costs, coll_moody_serial_us(m, U32(q->P), q->M))
VALUE(moody_fnomial, coll_moody_costs,
      coll_moody_fnomial_us(m, U32(q->P), moody_f(costs, q), q->M))
VALUE(moody_full, coll_moody_costs, coll_moody_full_us(m, U32(q->P), moody_f(costs, q), q->M))
VALUE(moody_split, coll_moody_costs,
      coll_moody_split_us(m, U32(q->P), moody_f(costs, q), q->M, U32(q->splits)))
VALUE(moody_degree, coll_moody_costs, (double)coll_moody_best_degree(m, U32(q->P), q->M))
VALUE(moody_real, coll_moody_costs, coll_moody_real_degree(m, q->M))
VALUE(moody_on_host, coll_moody_costs,
      MOODY_HOST(coll_moody_fnomial_us(moody_host(q), U32(q->P), moody_f(costs, q), q->M)))
VALUE(moody_hybrid, coll_moody_costs,
      MOODY_HOST(coll_moody_hybrid_us(moody_host(q), m, U32(q->P), moody_f(costs, q), q->M)))
VALUE(moody_placed, coll_moody_costs,
      MOODY_HOST(coll_moody_placed_us(moody_host(q), m, U32(q->P), moody_f(costs, q), q->M)))
VALUE(moody_crossing, coll_moody_costs,
      MOODY_HOST(coll_moody_crossing_c_us(moody_host(q), m, moody_f(costs, q), q->M)))

static const struct formula moody_formulas[] = {
    {"reduce serial", "us", "Moody 2003, 4.1", moody_serial, NULL},
    {"reduce fnomial", "us", "Moody 2003, 4.2.3", moody_fnomial, NULL},
    {"reduce fnomial, full tree", "us", "Moody 2003, 4.2.1", moody_full, NULL},
    {"reduce fnomial_split", "us", "Moody 2003, 3.2.4", moody_split, NULL},
    {"best degree", "", "of all", moody_degree, NULL},
    {"best real degree", "", "Moody 2003, 4.2.2", moody_real, NULL},
    {"reduce fnomial by hosts", "us", "Moody 2003, 4.2.3", moody_on_host, NULL},
    {"reduce fnomial by both", "us", "Moody 2003, 3.3.2", moody_hybrid, NULL},
    {"reduce fnomial by action", "us", "Moody 2003, 6.2", moody_placed, NULL},
    {"c of equal growth", "us", "Moody 2003, 5.3.1", moody_crossing, NULL}};

/* ---- dpml -------------------------------------------------------------------------------- */

static const coll_parameter dpml_rows[] = {
    COUNT(h, 1, NEEDED, "the number of nodes"),
    COUNT(ppn, 1, NEEDED, "the processes of a node"),
    BYTES(n, 1, NEEDED, "the size of the vector"),
    COUNT(l, 0, 0, "the leaders of a node (0: the best power of two)"),
    COUNT(k, 1, 1, "the pieces of dpml_pipelined"),
    COUNT(sockets, 1, 2, "the sockets of a node"),
    {"cross", "", COLL_PARAMETER_NUMBER, offsetof(struct question, cross), 1,
     COLL_PARAMETER_ANY, 1.5, "how many times as long copies between sockets take"}};

static double dpml_leaders(const void *costs, const struct question *q)
{
    const uint32_t ppn = U32(q->ppn);
    return q->l > 0 ? (q->l <= q->ppn ? q->l : NAN)
                    : coll_dpml_best_leaders((const coll_dpml_costs *)costs, U32(q->h), ppn,
                                             q->n, ppn, true);
}

static const char *dpml_wrong(const struct question *q)
{
    return q->l > q->ppn ? "a node has at most ppn leaders, l" : NULL;
}

/* Of a number of leaders that exists. */
#define DPML(expression) (isnan(dpml_leaders(costs, q)) ? NAN : (expression))
#define LEADERS          U32(dpml_leaders(costs, q))

VALUE(dpml_copy, coll_dpml_costs, DPML(coll_dpml_copy_us(m, LEADERS, q->n)))
VALUE(dpml_compute, coll_dpml_costs, DPML(coll_dpml_compute_us(m, U32(q->ppn), LEADERS, q->n)))
VALUE(dpml_exchange, coll_dpml_costs,
      DPML(coll_dpml_exchange_us(m, U32(q->h), LEADERS, q->n, U32(q->k))))
VALUE(dpml_all, coll_dpml_costs,
      DPML(coll_dpml_us(m, U32(q->h), U32(q->ppn), LEADERS, q->n, U32(q->k))))
VALUE(dpml_flat, coll_dpml_costs,
      coll_dpml_recursive_doubling_us(m, U64(q->h) * U64(q->ppn), q->n))
VALUE(dpml_real, coll_dpml_costs, coll_dpml_real_leaders(m, U32(q->h), U32(q->ppn), q->n))
VALUE(dpml_throughput, coll_dpml_costs, DPML(coll_dpml_relative_throughput(m, LEADERS, q->n)))
VALUE(dpml_zone, coll_dpml_costs,
      dpml_leaders(costs, q) > 1 ? coll_dpml_zone(m, LEADERS, q->n) - 'A' : NAN)

static double dpml_fabric(const coll_dpml_costs *m, const struct question *q, double leaders)
{
    const coll_dpml_sockets sockets = {U32(q->sockets), q->cross};
    return m->a_fabric_us > 0 && leaders <= q->ppn
               ? coll_dpml_fabric_us(m, U32(q->ppn), &sockets, U32(leaders), q->n)
               : NAN;
}

VALUE(dpml_node, coll_dpml_costs, dpml_fabric(m, q, 1))
VALUE(dpml_socket, coll_dpml_costs, dpml_fabric(m, q, q->sockets))

static const char *const dpml_zones[] = {"A", "B", "C"};

static const struct formula dpml_formulas[] = {
    {"copying in, or out", "us", "Bayatpour et al. 2017, equations 2, 6", dpml_copy, NULL},
    {"combining within a node", "us", "Bayatpour et al. 2017, equation 3", dpml_compute, NULL},
    {"allreduce of leaders", "us", "Bayatpour et al. 2017, equations 4, 5", dpml_exchange,
     NULL},
    {"allreduce dpml", "us", "Bayatpour et al. 2017, equation 7", dpml_all, NULL},
    {"allreduce recursive_doubling", "us", "Bayatpour et al. 2017, equation 1", dpml_flat,
     NULL},
    {"allreduce node_leader", "us", "Bayatpour et al. 2017, 4.3", dpml_node, NULL},
    {"allreduce socket_leader", "us", "Bayatpour et al. 2017, 4.3", dpml_socket, NULL},
    {"leaders", "", "given, or the best power of two", dpml_leaders, NULL},
    {"dT/dl = 0", "", "from equation 7", dpml_real, NULL},
    {"throughput of leaders", "times one", "Bayatpour et al. 2017, figure 1", dpml_throughput,
     NULL},
    {"zone of leaders", "", "Bayatpour et al. 2017, 4.2", dpml_zone, dpml_zones}};

/* ---- kumar ------------------------------------------------------------------------------- */

static const coll_parameter kumar_rows[] = {
    COUNT(P, 2, NEEDED, "the number of nodes"), BYTES(m, 1, NEEDED, "the size of a message"),
    COUNT(k, 1, 8, "the nodes of a partition"),
    COUNT(every, 1, 16, "the messages between two loose barriers")};

static coll_kumar_terms kumar_terms(const struct question *q, coll_kumar_algorithm algorithm)
{
    return coll_kumar_terms_of(algorithm, U32(q->P), U32(q->k), U32(q->every));
}

static double kumar_us(const void *costs, const struct question *q,
                       coll_kumar_algorithm algorithm)
{
    const coll_kumar_terms t = kumar_terms(q, algorithm);
    return coll_kumar_us((const coll_kumar_costs *)costs, &t, q->m);
}

static double kumar_rate(const void *costs, const struct question *q,
                         coll_kumar_algorithm algorithm)
{
    const coll_kumar_terms t = kumar_terms(q, algorithm);
    return coll_kumar_MB_per_s((const coll_kumar_costs *)costs, &t, q->m);
}

VALUE(kumar_direct, coll_kumar_costs, kumar_us(m, q, COLL_KUMAR_DIRECT))
VALUE(kumar_ring, coll_kumar_costs, kumar_us(m, q, COLL_KUMAR_RING))
VALUE(kumar_prefix, coll_kumar_costs, kumar_us(m, q, COLL_KUMAR_PREFIX))
VALUE(kumar_kprefix, coll_kumar_costs, kumar_us(m, q, COLL_KUMAR_KPREFIX))
VALUE(kumar_lb, coll_kumar_costs, kumar_us(m, q, COLL_KUMAR_KPREFIX_LB))
VALUE(kumar_direct_rate, coll_kumar_costs, kumar_rate(m, q, COLL_KUMAR_DIRECT))
VALUE(kumar_ring_rate, coll_kumar_costs, kumar_rate(m, q, COLL_KUMAR_RING))
VALUE(kumar_prefix_rate, coll_kumar_costs, kumar_rate(m, q, COLL_KUMAR_PREFIX))
VALUE(kumar_kprefix_rate, coll_kumar_costs, kumar_rate(m, q, COLL_KUMAR_KPREFIX))

static const struct formula kumar_formulas[] = {
    {"allgather linear", "us", "Kumar 2004, slide 3, with copies", kumar_direct, NULL},
    {"allgather ring", "us", "derived, slide 20", kumar_ring, NULL},
    {"allgather prefix", "us", "derived, slide 21", kumar_prefix, NULL},
    {"allgather kprefix", "us", "derived, slide 22", kumar_kprefix, NULL},
    {"allgather kprefix_lb", "us", "derived, slide 25", kumar_lb, NULL},
    {"linear", "MB/s a node", "slide 23", kumar_direct_rate, NULL},
    {"ring", "MB/s a node", "slide 23", kumar_ring_rate, NULL},
    {"prefix", "MB/s a node", "slide 23", kumar_prefix_rate, NULL},
    {"kprefix", "MB/s a node", "slide 23", kumar_kprefix_rate, NULL}};

/* ---- all of them ------------------------------------------------------------------------- */

#define ARGUMENTS(name)                                                                        \
    static const coll_model name##_arguments = {                                               \
        #name, "", "", sizeof(struct question), ROWS(name##_rows), NULL, 0}
ARGUMENTS(hockney);
ARGUMENTS(loggp);
ARGUMENTS(plogp);
ARGUMENTS(nbl);
ARGUMENTS(moody);
ARGUMENTS(dpml);
ARGUMENTS(kumar);

const struct subject subjects[SUBJECTS] = {
    {&coll_hockney_model, &hockney_arguments, ROWS(hockney_formulas), long_segment},
    {&coll_loggp_model, &loggp_arguments, ROWS(loggp_formulas), NULL},
    {&coll_plogp_model, &plogp_arguments, ROWS(plogp_formulas), plogp_wrong},
    {&coll_nbl_model, &nbl_arguments, ROWS(nbl_formulas), NULL},
    {&coll_moody_model, &moody_arguments, ROWS(moody_formulas), moody_wrong},
    {&coll_dpml_model, &dpml_arguments, ROWS(dpml_formulas), dpml_wrong},
    {&coll_kumar_model, &kumar_arguments, ROWS(kumar_formulas), NULL}};
