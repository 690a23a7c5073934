/* tools/neighbors.c — see neighbors.h */
#include "neighbors.h"

#include "names.h"
#include "options.h"

enum { AROUND_DIMS_MAX = 4, AROUND_MAX = 81 };

coll_grid_graph graph_named(const char *word)
{
    const char *names[COLL_GRID_GRAPHS];
    for (unsigned i = COLL_GRID_NO_GRAPH + 1; i < COLL_GRID_GRAPHS; i++)
        names[i - 1] = coll_grid_graph_name((coll_grid_graph)i);
    return (coll_grid_graph)(1 + name_index("graph", word, names, COLL_GRID_GRAPHS - 1));
}

/* Reads dimensions such as 4x3, which p ranks must fill. */
static uint32_t read_dims(const char *text, uint32_t *dims, uint32_t p)
{
    uint64_t ranks = 1;
    uint32_t n = 0;
    for (const char *at = text; *at || n == 0; n++) {
        uint64_t size;
        if (n == COLL_DIMS_MAX || !number_take(&at, 'x', &size) || size == 0 || size > p)
            refuse("dimensions are up to %d numbers such as 4x3, not \"%.40s\"", COLL_DIMS_MAX,
                   text);
        dims[n] = (uint32_t)size;
        ranks = ranks > p ? ranks : ranks * size;
    }
    if (ranks != p)
        refuse("%.40s are not %u ranks", text, p);
    return n;
}

/* The vectors to all ranks around one, in lexicographic order. */
static const int32_t *around(uint32_t n_dims, uint32_t *n)
{
    static int32_t vectors[AROUND_MAX * AROUND_DIMS_MAX];
    uint32_t all = 1, used = 0;
    if (n_dims > AROUND_DIMS_MAX)
        refuse("stencils have at most %d dimensions here", AROUND_DIMS_MAX);
    for (uint32_t d = 0; d < n_dims; d++)
        all *= 3;
    for (uint32_t i = 0; i < all; i++) {
        uint32_t digits = i;
        if (i == all / 2) /* the rank itself */
            continue;
        for (uint32_t d = n_dims; d-- > 0; digits /= 3)
            vectors[used * n_dims + d] = (int32_t)(digits % 3) - 1;
        used++;
    }
    *n = used;
    return vectors;
}

void graphs_make(coll_i_graphs *graphs, const char *words, uint32_t p)
{
    const char *colon = strchr(words, ':');
    uint32_t dims[COLL_DIMS_MAX], n_dims, n;
    coll_grid_graph which;
    coll_graph *graph;
    char name[32] = "";
    if (!colon) {
        if (!coll_i_graphs_make(graphs, graph_named(words), p))
            refuse("there is not enough memory for this");
        return;
    }
    if ((size_t)(colon - words) < sizeof name)
        memcpy(name, words, (size_t)(colon - words));
    which = graph_named(name);
    n_dims = read_dims(colon + 1, dims, p);
    graphs->per_rank = false;
    graph = coll_i_reserve_new(&graphs->graphs, sizeof *graph);
    if (!graph)
        refuse("there is not enough memory for this");
    switch (which) {
    case COLL_GRID_MESH:
    case COLL_GRID_TORUS:
        (void)coll_graph_mesh(graph, n_dims, dims, which == COLL_GRID_TORUS ? UINT32_MAX : 0);
        break;
    case COLL_GRID_STENCIL:
    case COLL_GRID_CLIPPED: {
        const int32_t *vectors = around(n_dims, &n);
        (void)coll_graph_stencil(graph, n_dims, dims,
                                 which == COLL_GRID_STENCIL ? UINT32_MAX : 0, vectors, n);
        break;
    }
    default:
        refuse("dimensions are for mesh, torus, stencil and clipped, not for %s", name);
    }
}
