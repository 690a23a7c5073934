/* tools/sweep_cells.c — see sweep_cells.h */
#include "sweep_cells.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "memory.h"
#include "names.h"

/* ---- the axes ---------------------------------------------------------------------------- */

/* Is there a parameter of this name? */
static bool has_param(const coll_algorithm *algorithm, const char *name)
{
    return coll_param_index(algorithm, name) < algorithm->n_params;
}

static void read_params(struct sweep *s)
{
    for (size_t i = 0; i < s->ask.params.n; i++) {
        const char *word = s->ask.params.word[i], *equals = strchr(word, '=');
        struct sweep_param *param = &s->param[s->n_params++];
        char name[48];
        if (!equals || equals == word || (size_t)(equals - word) >= sizeof param->name)
            refuse("--param is NAME=VALUES such as k=2,4 or k=2..16, not \"%s\"", word);
        memcpy(param->name, word, (size_t)(equals - word));
        snprintf(name, sizeof name, "%s of --param", param->name);
        grid_read(&param->values, name, equals + 1, 0, UINT32_MAX);
    }
}

/* Refuses words that describe no machine whatever the cell is. */
static void check_machines(const struct sweep *s)
{
    coll_sentence why;
    coll_nodes nodes;
    memset(&nodes, 0, sizeof nodes);
    if (s->models.n == 0)
        refuse("--model is missing: hockney, loggp, plogp, nbl, moody, dpml, or @FILE of coll "
               "calibrate; coll model explains them");
    for (size_t i = 0; i < s->models.n; i++) {
        coll_sim_machine machine;
        coll_sim_machine_init(&machine, &nodes, 1);
        if (!coll_sim_machine_read(&machine, s->models.word[i], &why))
            refuse("%s", why.text);
    }
    for (size_t i = 0; i < s->topologies.n; i++) {
        coll_topology topology;
        if (!coll_topology_read(&topology, s->topologies.word[i], &why))
            refuse("%s", why.text);
        coll_topology_free(&topology);
    }
    for (size_t i = 0; i < s->noises.n; i++) {
        coll_noise noise;
        if (!coll_noise_read(&noise, s->noises.word[i], 1, &why))
            refuse("%s", why.text);
    }
}

/* ---- the cells --------------------------------------------------------------------------- */

static size_t at_least_one(size_t n)
{
    return n > 0 ? n : 1;
}

/* All cells of an algorithm; `cell` has collective and algorithm. */
static void add_cells(struct sweep *s, struct sweep_cell cell, const coll_algorithm *algorithm)
{
    const size_t counts = cell.collective == COLL_BARRIER ? 1 : s->count.n;
    size_t combinations = 1;
    for (size_t k = 0; k < s->n_params; k++)
        if (has_param(algorithm, s->param[k].name))
            combinations *= s->param[k].values.n;
    for (size_t which = 0; which < combinations; which++) {
        size_t rest = which;
        for (size_t k = s->n_params; k-- > 0;) {
            const bool has = has_param(algorithm, s->param[k].name);
            cell.param[k] = (uint16_t)(has ? rest % s->param[k].values.n + 1 : 0);
            rest /= has ? s->param[k].values.n : 1;
        }
        for (size_t m = 0; m < s->models.n; m++)
            for (size_t t = 0; t < at_least_one(s->topologies.n); t++)
                for (size_t z = 0; z < at_least_one(s->noises.n); z++)
                    for (size_t w = 0; w < at_least_one(s->skews.n); w++)
                        for (size_t p = 0; p < s->p.n; p++)
                            for (size_t n = 0; n < counts; n++) {
                                if (s->n == SWEEP_MOST)
                                    refuse("there are more than %d combinations: give shorter "
                                           "grids",
                                           SWEEP_MOST);
                                cell.model = (uint16_t)m;
                                cell.topology = (uint16_t)t;
                                cell.noise = (uint16_t)z;
                                cell.skew = (uint16_t)w;
                                cell.p = (uint16_t)p;
                                cell.count = (uint16_t)n;
                                s->cells[s->n++] = cell;
                            }
    }
}

/* Takes the next of words with commas between them; NULL: there is none. The caller frees it. */
static char *take_word(const char **words)
{
    const size_t n = strcspn(*words, ",");
    char *word;
    if (**words == '\0')
        return NULL;
    word = memory_of(n + 1, 1);
    memcpy(word, *words, n);
    *words += n + ((*words)[n] == ',');
    if (n == 0)
        refuse("a word is missing beside a comma");
    return word;
}

/* The algorithms of a collective: those of the words, or all. */
static void add_collective(struct sweep *s, coll_collective collective, uint64_t *used)
{
    const char *words = s->algorithms;
    struct sweep_cell cell = {.collective = collective};
    size_t n;
    const coll_algorithm *const *all = algorithms_known(&n);
    char *word;
    if (strcmp(words, "all") == 0) {
        for (size_t i = 0; i < n; i++)
            if (coll_is(all[i]->collectives, collective)) {
                cell.algorithm = all[i]->name;
                for (size_t k = 0; k < s->n_params; k++)
                    *used |= (uint64_t)has_param(all[i], s->param[k].name) << k;
                add_cells(s, cell, all[i]);
            }
        return;
    }
    while ((word = take_word(&words)) != NULL) { /* of which cells keep the address */
        coll_pick pick;
        algorithm_named(collective, word, &pick);
        cell.algorithm = word;
        for (size_t k = 0; k < s->n_params; k++)
            *used |= (uint64_t)has_param(pick.algorithm, s->param[k].name) << k;
        add_cells(s, cell, pick.algorithm);
    }
}

/* Refuses several seeds where nothing is random. */
static void check_seeds(const struct sweep *s)
{
    bool random = s->noises.n > 0 || s->skews.n > 0;
    for (size_t i = 0; i < s->n && !random; i++)
        random = has_in_table(s->cells[i].collective) || has_out_table(s->cells[i].collective);
    if (!random && s->seeds != UINT64_MAX && s->seeds > 1)
        refuse("nothing is random here, so all --seeds give the same: give --noise or --skew");
}

void sweep_make(struct sweep *s)
{
    const char *words = s->collectives;
    uint64_t used = 0; /* a bit a parameter */
    char *word;
    if (!s->ranks)
        refuse("-p P, the numbers of ranks, is missing: -p 16..1024");
    s->elem_bytes = coll_type_bytes(type_named(s->type));
    grid_read(&s->p, "-p", s->ranks, 1, UINT32_MAX);
    grid_read(&s->count, "-n", s->counts, 0, SIZE_MAX / 4);
    read_params(s);
    check_machines(s);
    s->cells = memory_of(SWEEP_MOST, sizeof *s->cells);
    while ((word = take_word(&words)) != NULL) {
        add_collective(s, collective_named(word), &used);
        free(word);
    }
    check_seeds(s);
    for (size_t k = 0; k < s->n_params; k++)
        if (!(used >> k & 1))
            refuse("none of the algorithms has a parameter %s; coll list COLLECTIVE ALGORITHM "
                   "tells which it has",
                   s->param[k].name);
}

/* ---- in words ---------------------------------------------------------------------------- */

const char sweep_key_columns[] =
    "collective,algorithm,parameters,model,topology,noise,skew,ranks,count,bytes,";

static const char *word_of(const struct option_words *words, size_t i)
{
    return words->n > 0 ? words->word[i] : "";
}

/* A field of CSV: in quotes if it has to be. */
static void print_field(const char *text, FILE *to)
{
    const bool quoted = text[strcspn(text, ",\"\n")] != '\0';
    if (quoted)
        fputc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputs(quoted ? "\"," : ",", to);
}

static uint64_t count_of(const struct sweep *s, const struct sweep_cell *cell)
{
    return cell->collective == COLL_BARRIER ? 0 : s->count.at[cell->count];
}

void sweep_key(const struct sweep *s, size_t i, FILE *to)
{
    const struct sweep_cell *cell = &s->cells[i];
    const char *space = "";
    fprintf(to, "%s,%s,", coll_collective_name(cell->collective), cell->algorithm);
    for (size_t k = 0; k < s->n_params; k++)
        if (cell->param[k] > 0) {
            fprintf(to, "%s%s=%" PRIu64, space, s->param[k].name,
                    s->param[k].values.at[cell->param[k] - 1]);
            space = " ";
        }
    fputc(',', to);
    print_field(s->models.word[cell->model], to);
    print_field(word_of(&s->topologies, cell->topology), to);
    print_field(word_of(&s->noises, cell->noise), to);
    print_field(word_of(&s->skews, cell->skew), to);
    fprintf(to, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", s->p.at[cell->p], count_of(s, cell),
            count_of(s, cell) * s->elem_bytes);
}

static void print_words(const char *option, const struct option_words *words, FILE *to)
{
    for (size_t i = 0; i < words->n; i++)
        fprintf(to, " --%s %s", option, words->word[i]);
}

static void print_word(const char *option, const char *word, FILE *to)
{
    if (word)
        fprintf(to, " --%s %s", option, word);
}

void sweep_print(const struct sweep *s, FILE *to)
{
    fprintf(to, "coll %d.%d.%d sweep %s %s -p %s -n %s --type %s", COLL_VERSION_MAJOR,
            COLL_VERSION_MINOR, COLL_VERSION_PATCH, s->collectives, s->algorithms, s->ranks,
            s->counts, s->type);
    print_words("param", &s->ask.params, to);
    print_words("inner", &s->ask.inner, to);
    print_words("model", &s->models, to);
    print_words("topology", &s->topologies, to);
    print_words("noise", &s->noises, to);
    print_words("skew", &s->skews, to);
    print_word("memory", s->on.memory, to);
    print_word("nic", s->on.nic, to);
    print_word("placement", s->on.placement, to);
    print_word("map", s->on.map, to);
    print_word("traffic", s->on.traffic, to);
    if (s->on.ports > 0)
        fprintf(to, " --ports %" PRIu64, s->on.ports);
    print_word("nodes", s->ask.nodes.nodes, to);
    print_word("rails", s->ask.nodes.rails, to);
    print_word("groups", s->ask.nodes.groups, to);
    print_word("graph", s->ask.graph, to);
    fprintf(to, "%s%s", s->ask.in_place ? " --in-place" : "",
            s->ask.non_commutative ? " --non-commutative" : "");
    if (s->ask.root != UINT64_MAX)
        fprintf(to, " --root %" PRIu64, s->ask.root);
    if (s->seed != UINT64_MAX)
        fprintf(to, " --seed %" PRIu64, s->seed);
    if (s->seeds != UINT64_MAX)
        fprintf(to, " --seeds %" PRIu64, s->seeds);
}

/* ---- a cell ------------------------------------------------------------------------------ */

void sweep_job(const struct sweep *s, size_t i, uint64_t seed, struct job *job,
               struct simulated *on)
{
    static char params[OPTION_WORDS_MAX][64];
    const struct sweep_cell *cell = &s->cells[i];
    struct ask ask = s->ask;
    *on = s->on;
    ask.collective = coll_collective_name(cell->collective);
    ask.algorithm = cell->algorithm;
    ask.p = s->p.at[cell->p];
    if (cell->collective != COLL_BARRIER)
        ask.count = count_of(s, cell);
    if (!coll_is(COLL_ROOTED, cell->collective))
        ask.root = UINT64_MAX;
    ask.seeds_more = true;
    ask.seed = s->seeds != UINT64_MAX || s->seed != UINT64_MAX ? seed : UINT64_MAX;
    ask.params.n = 0;
    for (size_t k = 0; k < s->n_params; k++)
        if (cell->param[k] > 0) {
            snprintf(params[k], sizeof params[k], "%s=%" PRIu64, s->param[k].name,
                     s->param[k].values.at[cell->param[k] - 1]);
            ask.params.word[ask.params.n++] = params[k];
        }
    job_make(job, &ask, s->elem_bytes);
    on->model = s->models.word[cell->model];
    on->topology = s->topologies.n > 0 ? s->topologies.word[cell->topology] : NULL;
    on->noise = s->noises.n > 0 ? s->noises.word[cell->noise] : NULL;
    on->skew = s->skews.n > 0 ? s->skews.word[cell->skew] : NULL;
    simulated_prepare(on, job->plans, job->per_rank ? job->p : 1, job->p, seed);
}

void sweep_free(struct sweep *s)
{
    for (size_t k = 0; k < s->n_params; k++)
        free(s->param[k].values.at);
    free(s->p.at);
    free(s->count.at);
    free(s->cells);
}
