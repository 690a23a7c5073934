/* DOT: every row of the registry, read back line by line. Each action is a node of its rank's box,
 * each message an edge from its send to its receive, and the other edges are the executor's order.
 */
#include "support/check.h"
#include "coll/lab/export/dot.h"
#include "coll/algos/registry.h"
#include "support/exported.h"
#include "support/orders.h"

typedef struct dot_edge {
    uint32_t from_rank, from, to_rank, to;
    bool message, used;
} dot_edge;

typedef struct dot {
    dot_edge *edges;
    uint32_t n_edges, p;
    uint32_t *nodes; /* of each rank */
    uint32_t meetings, to_meetings;
} dot;

static void dot_free(dot *d)
{
    free(d->edges);
    free(d->nodes);
}

static bool dot_line(dot *d, const char *line, uint32_t *box)
{
    char again[160] = "", label[512];
    dot_edge e = {0, 0, 0, 0, false, false};
    unsigned rank, action, group, number;
    const size_t n = strlen(line);
    if (sscanf(line, "  subgraph cluster_%u {", &rank) == 1) {
        *box = rank;
        d->nodes = (uint32_t *)realloc(d->nodes, (d->p + 1) * sizeof *d->nodes);
        d->nodes[d->p] = 0;
        return rank == d->p++;
    }
    if (sscanf(line, "    label=\"rank %u\"", &rank) == 1)
        return rank == *box;
    if (strcmp(line, "  }") == 0) {
        *box = UINT32_MAX;
        return true;
    }
    if (sscanf(line, "    r%u_%u [label=\"%511[^\"\\]\"]", &rank, &action, label) == 3)
        return rank == *box && action == d->nodes[rank]++ && line[n - 1] == ']';
    if (sscanf(line, "  network_%u_%u [", &group, &number) == 2) {
        d->meetings++;
        return *box == UINT32_MAX;
    }
    if (sscanf(line, "  r%u_%u -> network_%u_%u", &rank, &action, &group, &number) == 4) {
        d->to_meetings++;
        return *box == UINT32_MAX && strstr(line, "dir=both");
    }
    if (sscanf(line, " r%u_%u -> r%u_%u", &e.from_rank, &e.from, &e.to_rank, &e.to) != 4)
        return false;
    e.message = *box == UINT32_MAX;
    snprintf(again, sizeof again, "%sr%u_%u -> r%u_%u%s", e.message ? "  " : "    ",
             e.from_rank, e.from, e.to_rank, e.to,
             e.message                   ? " [style=bold, color=blue]"
             : strstr(line, "dashed")    ? " [style=dashed]"
             : strstr(line, "arrowhead") ? " [arrowhead=empty]"
                                         : "");
    d->edges = (dot_edge *)realloc(d->edges, (d->n_edges + 1) * sizeof e);
    d->edges[d->n_edges++] = e;
    return strcmp(line, again) == 0 && (e.message || e.from_rank == e.to_rank);
}

static bool dot_read(dot *d, const char *text)
{
    char line[1024];
    uint32_t box = UINT32_MAX, number = 0;
    memset(d, 0, sizeof *d);
    for (; *text; number++) {
        const size_t length = strcspn(text, "\n");
        if (length >= sizeof line)
            return false;
        memcpy(line, text, length);
        line[length] = '\0';
        text += length + 1;
        if (number == 0 && strncmp(line, "digraph \"", 9) != 0)
            return false;
        if (strcmp(line, "}") == 0)
            return *text == '\0';
        if (number > 3 && !dot_line(d, line, &box))
            return false;
    }
    return false;
}

/* ---- checking ---------------------------------------------------------------------------- */

/* Is there a message edge from an action of a rank to one of another? Takes it. */
static bool takes_message(dot *d, uint32_t from_rank, uint32_t from, uint32_t to_rank,
                          uint32_t to)
{
    for (uint32_t i = 0; i < d->n_edges; i++) {
        dot_edge *e = &d->edges[i];
        if (e->message && !e->used && e->from_rank == from_rank && e->from == from &&
            e->to_rank == to_rank && e->to == to)
            return e->used = true;
    }
    return false;
}

/* The k-th receive of a rank from another. */
static const order_node *receive_of(const order_node *nodes, uint32_t n, uint32_t from,
                                    uint32_t k)
{
    for (uint32_t i = 0; i < n; i++)
        if (nodes[i].half != 2 && coll_i_has(COLL_I_RECEIVES, &nodes[i].act) &&
            nodes[i].act.peer == from && k-- == 0)
            return &nodes[i];
    return NULL;
}

static void check_messages(dot *d, order_node *const *nodes, const uint32_t *n)
{
    for (uint32_t r = 0; r < d->p; r++) {
        uint32_t *sent = (uint32_t *)calloc(d->p, sizeof *sent);
        for (uint32_t i = 0; i < n[r]; i++) {
            const coll_action *a = &nodes[r][i].act;
            const bool all = a->kind == COLL_DO_MULTICAST;
            for (uint32_t to = 0; coll_i_has(COLL_I_SENDS, a) && to < d->p; to++)
                if (to != r && (all || to == a->peer)) {
                    const order_node *get = receive_of(nodes[to], n[to], r, sent[to]++);
                    CHECK(get && takes_message(d, r, nodes[r][i].action, to, get->action));
                }
        }
        free(sent);
    }
    for (uint32_t i = 0; i < d->n_edges; i++)
        CHECK(d->edges[i].used == d->edges[i].message);
}

/* Do the edges of a rank lead from and to what they must, by way of others or not? */
static void check_order(const dot *d, uint32_t rank, const order_node *nodes, uint32_t n)
{
    const uint32_t actions = n ? nodes[n - 1].action + 1 : 0;
    orders is, want, pairs;
    order_init(&is, actions);
    order_init(&want, actions);
    order_by_pairs(&pairs, nodes, n);
    for (uint32_t v = 0; v < actions; v++)
        for (uint32_t i = 0; i < d->n_edges; i++)
            if (!d->edges[i].message && d->edges[i].from_rank == rank && d->edges[i].to == v)
                order_edge(&is, v, d->edges[i].from, true);
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t u = 0; u < v; u++)
            if (nodes[u].action != nodes[v].action && pairs.started[v * n + u])
                order_edge(&want, nodes[v].action, nodes[u].action, true);
    CHECK(order_same(&is, &want));
    order_free(&is);
    order_free(&want);
    order_free(&pairs);
}

static unsigned long files, messages;

static void visit(rig *it, const char *what, void *arg)
{
    exported to;
    dot d;
    order_node **nodes = (order_node **)calloc(it->p, sizeof *nodes);
    uint32_t *n = (uint32_t *)calloc(it->p, sizeof *n), meet = 0;
    (void)what;
    (void)arg;
    exported_init(&to, it);
    files++;
    CHECK_EQ(coll_export_dot(&to.job), COLL_EXPORTED);
    if (CHECK(dot_read(&d, to.text)) && CHECK_EQ(d.p, it->p)) {
        for (uint32_t r = 0; r < it->p; r++) {
            n[r] = order_nodes(&it->ranks[r].plan, r, &nodes[r]);
            CHECK_EQ(d.nodes[r], n[r] ? nodes[r][n[r] - 1].action + 1 : 0);
            check_order(&d, r, nodes[r], n[r]);
            for (uint32_t i = 0; i < n[r]; i++)
                meet += nodes[r][i].act.kind == COLL_DO_NETWORK_REDUCE;
        }
        check_messages(&d, nodes, n);
        CHECK_EQ(d.to_meetings, meet);
        CHECK((meet > 0) == (d.meetings > 0));
        for (uint32_t i = 0; i < d.n_edges; i++)
            messages += d.edges[i].message;
        for (uint32_t r = 0; r < it->p; r++)
            free(nodes[r]);
    }
    dot_free(&d);
    free(nodes);
    free(n);
    free(to.text);
}

TEST(every_row)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++) {
        CHECK(rig_each(coll_registry[i], 5, 7, visit, NULL));
        CHECK(rig_each(coll_registry[i], 8, 3, visit, NULL));
    }
    printf("    %lu files, %lu messages\n", files, messages);
    CHECK(files > 300 && messages > 10000);
}

int main(void)
{
    RUN(every_row);
    return check_done();
}
