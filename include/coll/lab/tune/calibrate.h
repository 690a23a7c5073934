/* coll/lab/tune/calibrate.h — measures all that there is to measure, and fits the models to it
 *
 * Use lab/tune.h.
 */
#ifndef COLL_LAB_TUNE_CALIBRATE_H
#define COLL_LAB_TUNE_CALIBRATE_H

#include "local_costs.h"

/* Every parameter of a model is there. */
COLL_INLINE void coll_i_tune_have(coll_machine_file *m, const coll_model *model,
                                  uint32_t parameters)
{
    for (size_t i = 0; i < COLL_MACHINE_MODELS; i++)
        if (coll_i_machine_parts[i].model == model)
            m->given[i] = parameters;
}

/* The bit of a parameter. */
COLL_INLINE uint32_t coll_i_tune_bit(const coll_model *model, const char *name)
{
    const coll_parameter *row = coll_parameter_named(model, name);
    return row ? (uint32_t)1 << (row - model->parameters) : 0;
}

/* The columns of P-LogP that need no messages: c and copy. */
COLL_INLINE void coll_i_tune_columns(coll_machine_file *m)
{
    for (uint32_t i = 0; i < m->plogp.n; i++) {
        coll_plogp_row *row = &m->plogp.row[i];
        row->us[COLL_PLOGP_C] =
            coll_i_tune_of(m, COLL_MEASURED_COMBINE, "sum_f64", row->bytes) / 1000;
        row->us[COLL_PLOGP_COPY] =
            coll_i_tune_of(m, COLL_MEASURED_COPY, "1", row->bytes) / 1000;
    }
}

/* Copies: a and b of those that are alone; node from all ranks that copy 1 MiB at once, or less where there
 * is less memory. */
COLL_INLINE void coll_i_tune_shm(coll_machine_file *m)
{
    double x[64], y[64];
    const uint32_t n = coll_tune_points(m, COLL_MEASURED_COPY, "1", x, y, 64);
    char all[COLL_VARIANT_BYTES];
    coll_line line;
    uint32_t given =
        coll_i_tune_bit(&coll_shm_model, "a") | coll_i_tune_bit(&coll_shm_model, "b") |
        coll_i_tune_bit(&coll_shm_model, "sync") | coll_i_tune_bit(&coll_shm_model, "c");
    if (n == 0)
        return;
    line = coll_line_fit(x, y, n);
    m->shm.a_us = line.a / 1000;
    m->shm.b_ns_per_byte = line.b;
    m->shm.sync_us = coll_i_tune_ns(m, COLL_MEASURED_ROUNDTRIP, 0) / 2000;
    m->shm.c_ns_per_byte = m->loggp.c_ns_per_byte;
    snprintf(all, sizeof all, "%.0f", m->origin.ranks);
    for (int i = COLL_I_TUNE_COPIED - 1; i >= 0; i--) {
        const double bytes = (double)coll_tune_copied[i];
        const double ns = coll_i_tune_of(m, COLL_MEASURED_COPY, all, bytes);
        if (!(ns > 0) || m->origin.ranks < 2)
            continue;
        m->shm.node_ns_per_byte = ns / bytes / m->origin.ranks;
        given |= coll_i_tune_bit(&coll_shm_model, "node");
        break;
    }
    coll_i_tune_have(m, &coll_shm_model, given);
}

/* Littlefield's links: what was not measured, as there are too few ranks, is left out. */
COLL_INLINE void coll_i_tune_nbl(coll_machine_file *m)
{
    const struct coll_i_tune_links {
        const char *name;
        uint32_t links;
        double *f;
    } rows[] = {{"f2", 2, &m->nbl.f2},
                {"f3", 3, &m->nbl.f3},
                {"f4", 4, &m->nbl.f4},
                {"f6", 6, &m->nbl.f6}};
    uint32_t given =
        coll_i_tune_bit(&coll_nbl_model, "alpha") | coll_i_tune_bit(&coll_nbl_model, "beta") |
        coll_i_tune_bit(&coll_nbl_model, "c2") | coll_i_tune_bit(&coll_nbl_model, "c3");
    const double elements = (double)COLL_TUNE_COPIED / (double)sizeof(double) * 1000;
    m->nbl.alpha_us = m->hockney.alpha_us;
    m->nbl.beta_us_per_element = m->hockney.beta_ns_per_byte * (double)sizeof(double) / 1000;
    m->nbl.c2_us_per_element =
        coll_i_tune_of(m, COLL_MEASURED_COMBINE, "sum_f64", COLL_TUNE_COPIED) / elements;
    m->nbl.c3_us_per_element =
        coll_i_tune_of(m, COLL_MEASURED_COMBINE, "twice_sum_f64", COLL_TUNE_COPIED) / elements;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double f = coll_tune_f(m, rows[i].links);
        if (f > 0) {
            *rows[i].f = f;
            given |= coll_i_tune_bit(&coll_nbl_model, rows[i].name);
        }
    }
    coll_i_tune_have(m, &coll_nbl_model, given);
}

/* Moody's letters: C + L + n (r + c) through the serial reductions; c is that of combining alone, as a
 * difference of two lines would be lost in their noise. */
COLL_INLINE void coll_i_tune_moody(coll_machine_file *m)
{
    double x[64], y[64];
    const uint32_t n = coll_tune_points(m, COLL_MEASURED_SERIAL, "1", x, y, 64);
    const double back = coll_i_tune_ns(m, COLL_MEASURED_ROUNDTRIP, 0) / 2;
    const double took = coll_i_tune_ns(m, COLL_MEASURED_ROUNDTRIP, 8) - back;
    const double there = took > 0 ? took : 0; /* the round trips are of different moments */
    double c[4], r, C;
    coll_line line;
    if (n == 0)
        return;
    line = coll_line_fit(x, y, n);
    for (int i = 0; i < 4; i++)
        c[i] = coll_i_tune_of(m, COLL_MEASURED_COMBINE, "sum_f64", 8 << i) / 1000;
    r = line.b / 1000 - c[0];
    r = r > 0 ? r : 0;
    r = r < there / 1000 ? r : there / 1000;
    m->moody.r_us = r;
    m->moody.L_us = there / 1000 - r;
    C = line.a / 1000 - m->moody.L_us;
    m->moody.C_us = C > 0 ? C : 0;
    m->moody.c1_us = c[0];
    m->moody.c2_us = c[1];
    m->moody.c4_us = c[2];
    m->moody.c8_us = c[3];
    coll_i_tune_have(m, &coll_moody_model, 0x7f);
}

/* DPML: messages and copies as above; what a message and a byte take of what all pairs share. */
COLL_INLINE void coll_i_tune_dpml(coll_machine_file *m)
{
    const double pairs = floor(m->origin.ranks / 2);
    uint32_t given = 0;
    static const char *const names[] = {"a", "b", "a_shm", "b_shm", "c", "gap", "wire"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        given |= coll_i_tune_bit(&coll_dpml_model, names[i]);
    m->dpml.a_us = m->hockney.alpha_us;
    m->dpml.b_ns_per_byte = m->hockney.beta_ns_per_byte;
    m->dpml.c_ns_per_byte = m->loggp.c_ns_per_byte;
    m->dpml.a_shm_us = m->shm.a_us > 0 ? m->shm.a_us : 0;
    m->dpml.b_shm_ns_per_byte = m->shm.b_ns_per_byte > 0 ? m->shm.b_ns_per_byte : 0;
    m->dpml.gap_us = coll_i_tune_of(m, COLL_MEASURED_PAIRS, "8", pairs) / pairs / 1000;
    m->dpml.wire_ns_per_byte =
        coll_i_tune_of(m, COLL_MEASURED_PAIRS, "65536", pairs) / pairs / (double)COLL_TUNE_LONG;
    coll_i_tune_have(m, &coll_dpml_model, given);
}

/* Six digits: nothing is measured better. */
COLL_INLINE void coll_i_tune_round(double *value)
{
    char text[40];
    snprintf(text, sizeof text, "%.6g", *value);
    *value = strtod(text, NULL);
}

COLL_INLINE void coll_i_tune_round_all(coll_machine_file *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        coll_i_tune_round(&m->measured[i].is.median);
        coll_i_tune_round(&m->measured[i].is.low);
        coll_i_tune_round(&m->measured[i].is.high);
    }
    for (size_t part = 0; part < COLL_MACHINE_MODELS; part++)
        for (size_t i = 0; i < coll_i_machine_parts[part].model->n_parameters; i++)
            if (coll_i_machine_parts[part].model->parameters[i].type != COLL_PARAMETER_WORD)
                coll_i_tune_round(
                    coll_i_parameter_at(&coll_i_machine_parts[part].model->parameters[i],
                                        coll_i_machine_costs(m, part)));
    coll_i_tune_round(&m->plogp.L_us);
    for (uint32_t i = 0; i < m->plogp.n; i++)
        for (int k = 0; k < COLL_PLOGP_COLUMNS; k++)
            coll_i_tune_round(&m->plogp.row[i].us[k]);
}

/* Fits all models to what was measured. */
COLL_INLINE void coll_tune_fit(coll_machine_file *m)
{
    const double at = COLL_TUNE_LONG;
    const double c = coll_i_tune_of(m, COLL_MEASURED_COMBINE, "sum_f64", at) / at;
    m->loggp.c_ns_per_byte = m->hockney.gamma_ns_per_byte = c;
    if (m->origin.ranks >= 2) {
        coll_tune_plogp(m);
        coll_i_tune_columns(m);
        coll_tune_loggp(m);
        coll_i_tune_have(m, &coll_hockney_model, 0x7);
        coll_i_tune_have(m, &coll_loggp_model,
                         coll_i_tune_bit(&coll_loggp_model, "L") |
                             coll_i_tune_bit(&coll_loggp_model, "o") |
                             coll_i_tune_bit(&coll_loggp_model, "g") |
                             coll_i_tune_bit(&coll_loggp_model, "G") |
                             coll_i_tune_bit(&coll_loggp_model, "c"));
        coll_i_tune_nbl(m);
        coll_i_tune_moody(m);
    }
    coll_i_tune_shm(m);
    if (m->origin.ranks >= 2)
        coll_i_tune_dpml(m);
    if (m->noise.frequency_hz > 0 && m->noise.frequency_hz * m->noise.duration_us < 1e6)
        coll_i_tune_have(m, &coll_noise_model, 0x7);
    coll_i_tune_round_all(m);
}

/* The words of the states of data. */
COLL_TABLE(char *const, coll_bench_data_names, {"written", "kept", "purged"});

/* Measures everything on all ranks of the bench, and makes *machine of it, on all ranks alike. `transport` is
 * what the file calls it. Returns COLL_OK or the first error; then *machine has what was measured before. */
COLL_INLINE coll_status coll_calibrate(coll_bench *b, const char *transport,
                                       uint32_t processors, coll_machine_file *machine)
{
    const double start = coll_bench_now(b);
    double seconds;
    coll_machine_file_clear(machine);
    snprintf(machine->origin.transport, sizeof machine->origin.transport, "%s", transport);
    snprintf(machine->origin.data, sizeof machine->origin.data, "%s",
             coll_bench_data_names[b->options.data]);
    machine->origin.ranks = b->p;
    machine->origin.processors = processors;
    b->left = coll_tune_local_count(b) +
              (b->p > 1 ? 4 * coll_tune_sizes(b) + coll_tune_links_count(b) : 0);
    coll_bench_say(b, "clocks");
    coll_bench_clocks(b, machine, b->options.within_ns / 200);
    coll_tune_messages(b, machine);
    coll_bench_clocks(b, NULL, b->options.within_ns / 200);
    coll_tune_links(b, machine);
    coll_bench_clocks(b, NULL, b->options.within_ns / 200);
    coll_tune_local(b, machine);
    seconds = (coll_bench_now(b) - start) / 1e9;
    coll_bench_tell(b, &seconds, 1);
    machine->origin.seconds = seconds;
    coll_i_tune_have(machine, &coll_machine_origin_model, 0x1f);
    if (b->status == COLL_OK)
        coll_tune_fit(machine);
    return b->status;
}

#endif /* COLL_LAB_TUNE_CALIBRATE_H */
