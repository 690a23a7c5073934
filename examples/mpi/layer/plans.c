/* examples/mpi/layer/plans.c — which algorithm, and the plans made before
 *
 * Programs repeat themselves, so a communicator keeps the plans that it made, by what was asked
 * for. Plans with tables are made anew each time, for the tables are the program's, and so are
 * those of algorithms that are made of others, which live in the job's memory.
 */
#include <stdlib.h>

#include "layer.h"

enum { ENTRIES = 16 };

struct key {
    size_t count, elem_bytes;
    uint32_t root;
    uint16_t flags;
    uint8_t collective, exact;
};

struct plan_cache {
    struct entry {
        struct key key;
        bool filled;
        unsigned users; /* jobs */
        coll_plan plan;
    } entry[ENTRIES];
};

void plans_free(struct plan_cache *plans)
{
    free(plans);
}

static size_t place_of(const struct key *key)
{
    const uint64_t mixed =
        (key->count * 0x9E3779B97F4A7C15u) ^
        (((uint64_t)key->collective << 32 | key->root << 8 | key->flags) * 0xD1B54A32D192ED03u);
    return (size_t)(mixed >> 60);
}

/* Chooses by the user's rules, then the built-in ones. A sum of floats is to have the same bits
 * everywhere. */
static coll_status choose(struct job *job, const coll_problem *problem, bool exact,
                          coll_plan *plan)
{
    const coll_terms terms = {0, exact ? 0 : COLL_GIVES_SAME_BITS};
    const coll_rule *rule = NULL;
    coll_status status;
    if (settings.kits) {
        const size_t room = coll_kit_tables(problem);
        job->kit = pool_take(sizeof(coll_kit) + room * sizeof(size_t));
        if (!job->kit)
            return COLL_ERR_MEMORY;
        coll_kit_init(job->kit, job->comm->rank, (size_t *)((coll_kit *)job->kit + 1), room);
    }
    status = coll_select_from(settings.rules, problem, &terms, job->kit, plan, &rule);
    if (status == COLL_OK && settings.verbose)
        report_choice(plan, job->comm, rule->why);
    return status;
}

coll_status plan_for(struct job *job, const coll_problem *problem, bool exact)
{
    struct comm *comm = job->comm;
    struct key key;
    struct entry *entry;
    coll_status status;
    job->plan = &job->own_plan;
    if (settings.kits || problem->in.counts || problem->out.counts || problem->graph)
        return choose(job, problem, exact, job->plan);
    if (!comm->plans)
        comm->plans = calloc(1, sizeof *comm->plans);
    if (!comm->plans)
        return choose(job, problem, exact, job->plan);
    memset(&key, 0, sizeof key);
    key.count = problem->count;
    key.elem_bytes = problem->elem_bytes;
    key.root = problem->root;
    key.flags = (uint16_t)problem->flags;
    key.collective = (uint8_t)problem->collective;
    key.exact = exact;
    entry = &comm->plans->entry[place_of(&key)];
    if (!entry->filled || memcmp(&entry->key, &key, sizeof key) != 0) {
        if (entry->users > 0)
            return choose(job, problem, exact, job->plan);
        entry->filled = false;
        status = choose(job, problem, exact, &entry->plan);
        if (status != COLL_OK)
            return status;
        entry->key = key;
        entry->filled = true;
    }
    entry->users++;
    job->plan_users = &entry->users;
    job->plan = &entry->plan;
    return COLL_OK;
}
