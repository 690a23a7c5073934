/* Rule text: what coll_table_choose and coll_table_read take, they take again as coll_rule_text writes
 * it, and a plan can be made by it or not, as for any rule. */
#include "coll/table.h"
#include "fuzz.h"

enum { RULES = 40 };

/* A rule as text, without its reason. */
static void rule_text(const coll_rule *rule, char *text, size_t bytes)
{
    coll_rule bare = *rule;
    bare.why = NULL;
    must(coll_rule_text(&bare, text, bytes) < bytes, "it is too long");
}

static void read_again(const coll_rule *rule)
{
    static char memory[COLL_TABLE_BYTES(RULES)];
    char text[4096], again[4096];
    coll_table table;
    rule_text(rule, text, sizeof text);
    if (strlen(text) >= COLL_I_LINE - 2)
        return; /* a line of it would be too long */
    coll_table_init(&table, memory, sizeof memory);
    must(coll_table_read(&table, "again", text), "%s\n%s", text, table.error.text);
    must(table.list.n == 1, "\"%s\" are %zu rules", text, table.list.n);
    rule_text(&table.list.rules[0], again, sizeof again);
    must(strcmp(text, again) == 0, "\"%s\" becomes \"%s\"", text, again);
}

static void select_by(const coll_rule_list *list, uint32_t p, size_t count, bool nodes)
{
    static size_t tables[1024];
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++) {
        const coll_conditions terms = {
            COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST | COLL_I_NEEDS_GROUP, 0};
        const coll_rule *rule = NULL;
        coll_problem problem;
        coll_plan plan;
        coll_workspace workspace;
        if (coll_is(COLL_NEIGHBORLY, (coll_collective)c))
            continue;
        coll_problem_init(&problem, (coll_collective)c, p, count, 8);
        problem.flags = COLL_FLAG_COMMUTATIVE;
        if (nodes)
            coll_nodes_even(&problem.nodes, p, 3);
        coll_workspace_init(&workspace, p / 2, tables, sizeof tables / sizeof tables[0]);
        if (coll_select_from(list, &problem, &terms, &workspace, &plan, &rule) == COLL_OK)
            must(rule && plan.algorithm == rule->algorithm, "another algorithm");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned lacks[] = {0, COLL_NEEDS_SHARED, COLL_NEEDS_MULTICAST};
    char *text = text_of(data, size, 1 << 14);
    char *memory = malloc(COLL_TABLE_BYTES(RULES));
    const size_t room =
        size % 7 == 0 ? size * 8 % COLL_TABLE_BYTES(RULES) : COLL_TABLE_BYTES(RULES);
    must(memory, "no memory");
    for (int kind = 0; kind < 2; kind++) {
        coll_table table;
        char *exact = memory + COLL_TABLE_BYTES(RULES) - room; /* ends where the memory does */
        bool good;
        coll_table_init(&table, exact, room);
        table.lacks = lacks[size % 3];
        good = kind ? coll_table_read(&table, "text", text)
                    : coll_table_choose(&table, "text", text);
        must(good || table.error.text[0], "refused without a sentence");
        for (size_t i = 0; i < table.list.n; i++)
            read_again(&table.list.rules[i]);
        if (good && table.list.n > 0)
            select_by(&table.list, 1 + (uint32_t)(size % 20), size * 10, size % 2 == 1);
    }
    free(memory);
    free(text);
    return 0;
}
