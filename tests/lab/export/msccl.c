/* MSCCL's XML: every row of the registry that MSCCL can express, read as the executors read it and
 * run as they run it, on data, in any order. Without one of its dependences it goes wrong. */
#include "support/check.h"
#include "coll/lab/export/msccl.h"
#include "coll/algos/registry.h"
#include "support/msccl_run.h"

#include "support/kinds.h" /* after the rig, whose functions have locals of these names */

static unsigned long files, refused, lost, unseen, types[XML_TYPES];

/* Elements of a chunk, as the executors work it out from a call's count. */
static int chunk_of(const xml_algo *a, const coll_problem *of)
{
    const bool times = strcmp(a->collective, "allgather") == 0 ||
                       strcmp(a->collective, "alltoall") == 0 ||
                       strcmp(a->collective, "reducescatter") == 0;
    const size_t elements = of->count * (times ? of->p : 1);
    return elements % (size_t)a->chunks == 0 ? (int)(elements / (size_t)a->chunks) : 0;
}

/* What a step need not have waited for: one that passed on a sum without keeping it, where the wait
 * is for memory that it left alone; in one algorithm what writes the same again; and in one what reads
 * memory where a message arrives only after that, by way of other ranks. */
static bool waits_in_vain(const xml_algo *a, const rig *it, const xml_step *awaited)
{
    const coll_plan *plan = &it->ranks[0].plan;
    return awaited->type == XML_RRS ||
           (strcmp(a->collective, "allgather") == 0 && plan->traits & COLL_NEEDS_BUILD) ||
           (plan->algorithm == &coll_permutation_group_allreduce &&
            (awaited->type == XML_S || awaited->type == XML_RE));
}

static void lose_all(xml_algo *a, rig *it, int per)
{
    for (int g = 0; g < a->p; g++)
        for (int b = 0; b < a->gpus[g].n; b++)
            for (int s = 0; s < a->gpus[g].blocks[b].n; s++) {
                xml_step *step = &a->gpus[g].blocks[b].steps[s];
                const int block = step->block;
                bool right = true;
                run r;
                if (block < 0)
                    continue;
                step->block = -1;
                run_init(&r, a, per);
                r.room = -1000;
                r.held_gpu = g;
                r.held_block = block;
                r.held_step = step->after;
                r.younger_block = b;
                r.younger_step = s;
                for (uint32_t seed = 1; seed <= 64 && right; seed++) {
                    r.seed = seed;
                    r.eager = (seed & 1) != 0;
                    r.held_begins = (seed & 2) != 0;
                    right = run_rig(&r, it);
                }
                run_free(&r);
                step->block = block;
                lost++;
                if (!waits_in_vain(a, it, &a->gpus[g].blocks[block].steps[step->after]))
                    CHECK(!right);
                else
                    unseen += right;
            }
}

static void visit(rig *it, const char *what, void *arg)
{
    const coll_msccl_options options = {"Simple", 64};
    const coll_plan *plan = &it->ranks[0].plan;
    exported to;
    coll_export_result result;
    xml_algo a;
    exported_init(&to, it);
    result = coll_export_msccl(&to.job, &options);
    if (result == COLL_EXPORT_REFUSED) {
        refused++;
        CHECK_EQ(to.bytes, 0);
        CHECK(strlen(to.job.sentence) > 20);
        free(to.text);
        return;
    }
    files++;
    if (CHECK_EQ(result, COLL_EXPORTED) && CHECK(xml_read(&a, to.text, 64)) &&
        CHECK_EQ(a.p, it->p) && CHECK(chunk_of(&a, &it->problem) > 0)) {
        const int per = chunk_of(&a, &it->problem);
        static const int rooms[] = {2, -2, 8, 1000};
        run r;
        CHECK_EQ(a.in_place, coll_in_place(plan));
        for (int g = 0; g < a.p; g++)
            for (int b = 0; b < a.gpus[g].n; b++)
                for (int s = 0; s < a.gpus[g].blocks[b].n; s++)
                    types[a.gpus[g].blocks[b].steps[s].type]++;
        run_init(&r, &a, per);
        for (uint32_t seed = 1; seed <= 8; seed++) {
            r.seed = seed;
            r.room = rooms[seed % 4];
            if (!CHECK(run_rig(&r, it)))
                printf("    %s %s, %u ranks, %zu elements, room %d\n", what,
                       plan->algorithm->name, it->p, it->problem.count, r.room);
        }
        run_free(&r);
        if (*(const bool *)arg)
            lose_all(&a, it, per);
    } else {
        printf("    %s %s: %.80s\n", what, plan->algorithm->name, a.at ? a.at : "");
    }
    xml_free(&a);
    free(to.text);
}

TEST(every_row)
{
    bool lossy = true;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        CHECK(rig_each(coll_registry[i], 5, 10, visit, &lossy));
    lossy = false;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++) {
        CHECK(rig_each(coll_registry[i], 8, 3, visit, &lossy));
        CHECK(rig_each(coll_registry[i], 8, 160, visit, &lossy));
        CHECK(
            rig_each(coll_registry[i], 3, 601, visit, &lossy)); /* messages in several steps */
    }
    printf("    %lu files, %lu refused, %lu dependences lost, %lu of them unseen\n", files,
           refused, lost, unseen);
    CHECK(files > 500 && lost > 1000 && unseen < lost / 50);
    for (int i = 0; i < XML_TYPES; i++) {
        printf("    %lu %s", types[i], xml_types[i]);
        CHECK(types[i] > 0);
    }
    printf("\n");
}

/* More peers than a channel has. */
TEST(many_peers)
{
    bool lossy = false;
    const unsigned long before = files;
    CHECK(CHECK_SHARE > 1 || rig_each(&coll_ring_alltoall, 40, 1, visit, &lossy));
    CHECK(rig_each(&coll_linear_gather, 50, 1, visit, &lossy));
    CHECK_EQ(files - before, CHECK_SHARE > 1 ? 2 : 4);
}

/* Two ranks that swap what both then overwrite: of one chunk each that ends, of more it does not,
 * as nobody takes a message before its own has left. */
TEST(what_would_not_end_is_refused)
{
    for (size_t count = 6; count <= 9; count++) {
        coll_problem problem;
        rig it;
        exported to;
        coll_problem_init(&problem, COLL_ALLREDUCE, 2, count, sizeof(uint64_t));
        problem.flags = COLL_FLAG_COMMUTATIVE;
        CHECK_STATUS(rig_init(&it, &swap, &problem, NULL), COLL_OK);
        if (count % 2 == 0) {
            bool lossy = false;
            visit(&it, "swap", &lossy);
        } else {
            const coll_msccl_options options = {"LL", 64};
            exported_init(&to, &it);
            CHECK_EQ(coll_export_msccl(&to.job, &options), COLL_EXPORT_REFUSED);
            CHECK(strcmp(to.job.sentence,
                         "with room for two chunks on a connection the ranks would wait for "
                         "each other: export another algorithm") == 0);
        }
        rig_free(&it);
    }
}

int main(void)
{
    RUN(every_row);
    RUN(many_peers);
    RUN(what_would_not_end_is_refused);
    return check_done();
}
