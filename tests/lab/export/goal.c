/* GOAL text: every row of the registry, read back by a strict reader. Its order must be the
 * executor's, its messages must match, and a line that is lost must be noticed. */
#include "support/check.h"
#include "coll/plan/compose.h"
#include "coll/lab/export/goal.h"
#include "coll/algos/registry.h"
#include "support/exported.h"
#include "support/orders.h"

/* ---- reading ----------------------------------------------------------------------------- */

typedef struct goal_op {
    char kind; /* 's', 'r', 'c' */
    unsigned long long number;
    unsigned peer, tag, cpu;
    bool started, done;
    uint32_t first, n; /* edges: line numbers of the file are theirs */
} goal_op;

typedef struct goal_edge {
    uint32_t to;
    bool ended;
} goal_edge;

typedef struct goal_rank {
    goal_op *ops;
    goal_edge *edges;
    uint32_t n, n_edges;
} goal_rank;

typedef struct goal {
    goal_rank *ranks;
    uint32_t p;
} goal;

static void goal_free(goal *g)
{
    for (uint32_t r = 0; r < g->p; r++) {
        free(g->ranks[r].ops);
        free(g->ranks[r].edges);
    }
    free(g->ranks);
}

/* One line of a rank. What was understood, written again, must be the line. */
static bool goal_line(goal_rank *at, const char *line)
{
    char again[128] = "", relation[16], direction[8], word[8];
    unsigned label = 0, other = 0;
    goal_op op;
    memset(&op, 0, sizeof op);
    if (sscanf(line, "l%u %15s l%u", &label, relation, &other) == 3) {
        const bool ended = strcmp(relation, "requires") == 0;
        snprintf(again, sizeof again, "l%u %s l%u", label, ended ? "requires" : "irequires",
                 other);
        if (strcmp(again, line) != 0 || label + 1 != at->n || other >= label)
            return false;
        at->edges = (goal_edge *)realloc(at->edges, (at->n_edges + 1) * sizeof *at->edges);
        at->edges[at->n_edges].to = other;
        at->edges[at->n_edges++].ended = ended;
        at->ops[label].n++;
        return true;
    }
    if (sscanf(line, "l%u: %7s %llub %7s %u tag %u", &label, word, &op.number, direction,
               &op.peer, &op.tag) == 6) {
        op.kind = strcmp(word, "send") == 0 ? 's' : 'r';
        snprintf(again, sizeof again, "l%u: %s %llub %s %u tag %u", label,
                 op.kind == 's' ? "send" : "recv", op.number, op.kind == 's' ? "to" : "from",
                 op.peer, op.tag);
    } else if (sscanf(line, "l%u: calc %llu cpu %u", &label, &op.number, &op.cpu) >= 2) {
        op.kind = 'c';
        snprintf(again, sizeof again, op.cpu ? "l%u: calc %llu cpu %u" : "l%u: calc %llu",
                 label, op.number, op.cpu);
    }
    if (strcmp(again, line) != 0 || label != at->n)
        return false;
    op.first = at->n_edges;
    at->ops = (goal_op *)realloc(at->ops, (at->n + 1) * sizeof *at->ops);
    at->ops[at->n++] = op;
    return true;
}

/* Reads a file; `skip`: without this line, from 0. False: it is none. */
static bool goal_read(goal *g, const char *text, uint32_t skip)
{
    char line[256], again[64];
    uint32_t number = 0, rank = 0;
    bool inside = false;
    g->p = 0;
    g->ranks = NULL;
    for (; *text; number++) {
        const size_t length = strcspn(text, "\n");
        if (text[length] != '\n' || length >= sizeof line)
            return false;
        memcpy(line, text, length);
        line[length] = '\0';
        text += length + 1;
        if (number == skip)
            continue;
        if (number == 0) {
            if (sscanf(line, "num_ranks %u", &g->p) != 1)
                return false;
            snprintf(again, sizeof again, "num_ranks %u", g->p);
            if (strcmp(again, line) != 0)
                return false;
            g->ranks = (goal_rank *)calloc(g->p, sizeof *g->ranks);
        } else if (line[0] == '/' && !inside) {
            continue;
        } else if (!inside) {
            snprintf(again, sizeof again, "rank %u {", rank);
            if (strcmp(again, line) != 0 || rank == g->p)
                return false;
            inside = true;
        } else if (strcmp(line, "}") == 0) {
            inside = false;
            rank++;
        } else if (!goal_line(&g->ranks[rank], line)) {
            return false;
        }
    }
    return g->p > 0 && rank == g->p && !inside;
}

/* ---- checking ---------------------------------------------------------------------------- */

/* Are the operations of a rank those of its program, and is the order the one that is wanted?
 */
static bool goal_is(const goal_rank *at, const order_node *nodes, uint32_t n,
                    const orders *want, size_t elem_bytes)
{
    orders is;
    bool same = at->n == n;
    for (uint32_t i = 0; i < n && same; i++) {
        const coll_action *a = &nodes[i].act;
        const bool token = a->kind == COLL_DO_NOTIFY || a->kind == COLL_DO_AWAIT;
        const char kind =
            a->kind == COLL_DO_SEND || a->kind == COLL_DO_NOTIFY                         ? 's'
            : nodes[i].half == 2 || a->kind == COLL_DO_COPY || a->kind == COLL_DO_REDUCE ? 'c'
                                                                                         : 'r';
        same = at->ops[i].kind == kind &&
               (kind == 'c' || (at->ops[i].peer == a->peer &&
                                at->ops[i].number == (token ? 1 : a->count * elem_bytes)));
    }
    if (!same)
        return false;
    order_init(&is, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < at->ops[i].n; k++) {
            const goal_edge *edge = &at->edges[at->ops[i].first + k];
            order_edge(&is, i, edge->to, edge->ended);
        }
    same = order_same(&is, want);
    order_free(&is);
    return same;
}

static bool goal_may_start(const goal_rank *at, const goal_op *op)
{
    for (uint32_t k = 0; k < op->n; k++) {
        const goal_edge *edge = &at->edges[op->first + k];
        if (edge->ended ? !at->ops[edge->to].done : !at->ops[edge->to].started)
            return false;
    }
    return true;
}

/* The operation of the other rank that a message meets: of this tag, and only one has it. */
static goal_op *goal_other(const goal *g, uint32_t rank, const goal_op *op)
{
    goal_op *other = NULL;
    const goal_rank *peer = op->peer < g->p ? &g->ranks[op->peer] : NULL;
    for (uint32_t i = 0; peer && i < peer->n; i++) {
        goal_op *o = &peer->ops[i];
        if (o->kind == (op->kind == 's' ? 'r' : 's') && o->peer == rank && o->tag == op->tag) {
            if (other)
                return NULL;
            other = o;
        }
    }
    return other && other->number == op->number ? other : NULL;
}

/* Runs the file: a send ends when its receive has started, or at once. Does all end? */
static bool goal_runs(goal *g, bool rendezvous)
{
    bool moved = true, all = true;
    for (uint32_t r = 0; r < g->p; r++)
        for (uint32_t i = 0; i < g->ranks[r].n; i++)
            g->ranks[r].ops[i].started = g->ranks[r].ops[i].done = false;
    while (moved) {
        moved = false;
        all = true;
        for (uint32_t r = 0; r < g->p; r++)
            for (uint32_t i = 0; i < g->ranks[r].n; i++) {
                goal_op *op = &g->ranks[r].ops[i], *other = op;
                if (op->done)
                    continue;
                all = false;
                if (op->kind != 'c' && !(other = goal_other(g, r, op)))
                    return false;
                if (!op->started && goal_may_start(&g->ranks[r], op))
                    op->started = moved = true;
                if (op->started &&
                    (op->kind == 'c' || (op->kind == 's' && !rendezvous) || other->started))
                    op->done = moved = true;
            }
    }
    return all;
}

/* ---- every row --------------------------------------------------------------------------- */

enum { UNTIL_WINDOW = 32 };

static unsigned long checked_by_window, refused, files;

/* Without any one of its lines, the file is found out. */
static void lose_lines(const char *text, order_node *const *nodes, const uint32_t *n,
                       const orders *want, uint32_t p)
{
    uint32_t lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    for (uint32_t skip = 0; skip < lines; skip++) {
        bool well;
        goal g;
        if (skip == 1) /* the comment */
            continue;
        well = goal_read(&g, text, skip) && g.p == p;
        for (uint32_t r = 0; r < p && well; r++)
            well = goal_is(&g.ranks[r], nodes[r], n[r], &want[r], sizeof(uint64_t));
        CHECK(!well);
        goal_free(&g);
    }
}

static void visit(rig *it, const char *what, void *arg)
{
    const bool lossy = *(const bool *)arg;
    const coll_goal_options options = {250, 100, 0, NULL, NULL};
    const uint32_t traits = it->ranks[0].plan.traits;
    exported to;
    coll_export_result result;
    exported_init(&to, it);
    result = coll_export_goal(&to.job, &options);
    (void)what;
    if (result == COLL_EXPORT_REFUSED && it->p > 1) {
        refused++;
        CHECK_EQ(to.bytes, 0);
        if (traits & COLL_NEEDS_MULTICAST)
            CHECK(strcmp(to.job.sentence, "GOAL has no multicast: export an algorithm without "
                                          "the trait needs-multicast, or as JSON") == 0);
        else
            CHECK(
                (traits & COLL_I_NEEDS_GROUP) &&
                strcmp(
                    to.job.sentence,
                    "GOAL has no reduction by the network: export an algorithm without "
                    "the traits needs-network-reduce and needs-network-barrier, or as JSON") ==
                    0);
    } else if (CHECK_EQ(result, COLL_EXPORTED)) {
        goal g;
        order_node **nodes = (order_node **)calloc(it->p, sizeof *nodes);
        uint32_t *n = (uint32_t *)calloc(it->p, sizeof *n);
        orders *want = (orders *)calloc(it->p, sizeof *want);
        files++;
        CHECK_EQ(to.job.sentence[0], 0);
        if (CHECK(goal_read(&g, to.text, UINT32_MAX)) && CHECK_EQ(g.p, it->p)) {
            for (uint32_t r = 0; r < it->p; r++) {
                orders window;
                n[r] = order_nodes(&it->ranks[r].plan, r, &nodes[r]);
                order_by_pairs(&want[r], nodes[r], n[r]);
                CHECK(goal_is(&g.ranks[r], nodes[r], n[r], &want[r], sizeof(uint64_t)));
                if (order_by_window(&window, nodes[r], n[r])) {
                    checked_by_window++;
                    CHECK(order_same(&window, &want[r]));
                    order_free(&window);
                }
            }
            CHECK(goal_runs(&g, false));
            CHECK(goal_runs(&g, true));
            if (lossy)
                lose_lines(to.text, nodes, n, want, it->p);
        }
        goal_free(&g);
        for (uint32_t r = 0; r < it->p; r++) {
            free(nodes[r]);
            order_free(&want[r]);
        }
        free(nodes);
        free(n);
        free(want);
    }
    free(to.text);
}

TEST(every_row)
{
    bool lossy = false;
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++) {
        CHECK(rig_each(coll_registry[i], 5, 7, visit, &lossy));
        CHECK(rig_each(coll_registry[i], 8, 3, visit, &lossy));
    }
    printf("    %lu files, %lu ranks compared with the window, %lu refused\n", files,
           checked_by_window, refused);
    CHECK(files > 300 && checked_by_window > 2000 && refused > 5);
}

TEST(a_lost_line_is_noticed)
{
    bool lossy = true;
    CHECK(rig_each(&coll_ring_allreduce, 4, 8, visit, &lossy));
    CHECK(rig_each(&coll_bruck_alltoall, 3, 2, visit, &lossy));
    CHECK(rig_each(&coll_dissemination_barrier, 5, 0, visit, &lossy));
    CHECK(rig_each(&coll_recursive_doubling_allreduce, 5, 3, visit, &lossy));
    CHECK(rig_each(&coll_dpml_allreduce.algorithm, 6, 8, visit, &lossy));
    CHECK(rig_each(&coll_shm_bcast, 4, 9, visit, &lossy));
    CHECK(rig_each(&coll_snake_allreduce, 4, 9, visit, &lossy));
}

int main(void)
{
    RUN(every_row);
    RUN(a_lost_line_is_noticed);
    return check_done();
}
