/* tools/formulas.h — the models with what each is asked and what it answers, for coll model and
 * coll regimes
 *
 *   struct request r;
 *   request_read(&r, "nbl:delta", &words, false);      // words: N=10000 W=16 H=16
 *   r.subject->formulas[0].value(r.costs, &r.question)
 */
#ifndef COLL_TOOLS_FORMULAS_H
#define COLL_TOOLS_FORMULAS_H

#include "coll/lab/model.h"
#include "options.h"

/* What a formula may be asked; each model asks for some of it. */
struct question {
    double P, W, H, h, ppn, sockets, cross; /* the machine */
    double N, M;                            /* elements */
    double n, m;                            /* bytes */
    double S, segment, overlap, ovp, f, l, k, splits, every, removed;
    char host[COLL_PARAMETER_BYTES]; /* moody: a preset */
};

struct formula {
    const char *name, *unit, *source;
    /* NaN or infinite: it does not apply to this question */
    double (*value)(const void *costs, const struct question *q);
    const char *const *names; /* the value is an index into these; or NULL */
};

struct subject {
    const coll_model *model, *arguments;
    const struct formula *formulas;
    size_t n_formulas;
    /* What is wrong with a question although each number is in its range, or NULL; may be NULL. */
    const char *(*wrong)(const struct question *q);
};

enum { SUBJECTS = 7 };
extern const struct subject subjects[SUBJECTS];

/* A model in words, with what the file of a machine says where @FILE stands, or a refusal; of static
 * storage. */
const char *model_words(const char *text);

/* The subject that a word such as nbl:delta names, or a refusal. */
const struct subject *subject_named(const char *word);

/* What the user asks: a machine and a question. */
struct request {
    const struct subject *subject;
    union {
        coll_hockney_costs hockney;
        coll_loggp_costs loggp;
        coll_nbl_costs nbl;
        coll_moody_costs moody;
        coll_dpml_costs dpml;
        coll_kumar_costs kumar;
        coll_plogp_words plogp_words;
    } words;
    coll_plogp_costs plogp; /* the table that the words name */
    const void *costs;      /* what formulas get */
    struct question question;
    uint32_t given; /* of the question, a bit a row of the arguments */
};

/* Reads NAME or NAME:ITEM,ITEM…, and more items; an item whose key the question has belongs to it,
 * others are of the machine. Refuses what is wrong; of the question something may be absent if
 * `partly`. */
void request_read(struct request *request, const char *text, const struct option_words *words,
                  bool partly);

#endif /* COLL_TOOLS_FORMULAS_H */
