/* Graphs and nodes in words, as the command has them: a line each of --graph, --nodes, --rails and --groups,
 * for as many ranks as the first byte says; of the last two an empty line says nothing. */
#include <setjmp.h>

#include "tools/names.c"
#include "tools/neighbors.c"
#include "tools/nodes.c"

_Noreturn void options_refuse(const char *format, ...);
#define refuse options_refuse /* which would end the process */
#include "tools/options.c"
#undef refuse

#include "fuzz.h"

static jmp_buf refused;
static char sentence[512];

_Noreturn void refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    longjmp(refused, 1);
}

void *memory_of(size_t elements, size_t bytes)
{
    void *memory = calloc(elements ? elements : 1, bytes);
    must(memory, "no memory");
    return memory;
}

static void graph(const char *words, uint32_t p)
{
    static coll_i_graphs graphs; /* longjmp leaves it what it was */
    memset(&graphs, 0, sizeof graphs);
    if (setjmp(refused) == 0) {
        graphs_make(&graphs, words, p);
        for (uint32_t rank = 0; rank < p; rank++) {
            const coll_graph *of = coll_i_graph_of(&graphs, rank);
            must(coll_graph_check(of, p) == COLL_OK, "no graph of %u ranks", p);
            for (uint32_t i = 0; i < of->n_in; i++) {
                const uint32_t from = coll_graph_source(of, rank, i);
                must(from < p || from == COLL_RANK_NONE, "source %u is rank %u", i, from);
            }
        }
    }
    coll_i_graphs_release(&graphs);
}

static void nodes(const struct nodes_words *words, uint32_t p)
{
    static struct nodes_memory memory;
    static coll_problem problem;
    memset(&memory, 0, sizeof memory);
    coll_problem_init(&problem, COLL_BARRIER, p, 0, 1);
    if (setjmp(refused) == 0) {
        (void)nodes_place(&problem, words, &memory);
        must(coll_nodes_check(&problem.nodes, p), "no nodes of %u ranks", p);
        must(coll_beyond_check(&problem.nodes, p), "no rails or groups of %u ranks", p);
    }
    nodes_free(&memory);
}

static const char *said(const char *line)
{
    return *line ? line : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = size > 1 ? text_of(data + 1, size - 1, 1000) : NULL, *at = text;
    struct nodes_words words;
    if (!text)
        return 0;
    graph(line_of(&at), 1 + data[0]);
    words.nodes = line_of(&at);
    words.rails = said(line_of(&at));
    words.groups = said(line_of(&at));
    nodes(&words, 1 + data[0]);
    free(text);
    return 0;
}
