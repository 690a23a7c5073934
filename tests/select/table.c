/* Rules in words: what is read is what was written, and what is wrong is one sentence. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include "support/check.h"
#include "coll/select/inter_node.h"
#include "coll/table.h"
#include "support/same_record.h"

static char memory[COLL_TABLE_BYTES(100)];
static coll_table table;

static bool check_text(const char *is, const char *wanted, int line)
{
    const bool same = strcmp(is, wanted) == 0;
    check_that(same, __FILE__, line, "the text");
    if (!same)
        printf("    \"%s\"\n    instead of\n    \"%s\"\n", is, wanted);
    return same;
}
#define CHECK_TEXT(is, wanted) check_text((is), (wanted), __LINE__)

/* Reads a choice, or a table, into the empty table. */
static const coll_rule *chosen(const char *text)
{
    coll_table_init(&table, memory, sizeof memory);
    if (!CHECK(coll_table_choose(&table, "CHOICE", text)))
        printf("    %s\n", table.error.text);
    return table.list.rules;
}

static const coll_rule *tabled(const char *text)
{
    coll_table_init(&table, memory, sizeof memory);
    if (!CHECK(coll_table_read(&table, "TABLE", text)))
        printf("    %s\n", table.error.text);
    return table.list.rules;
}

/* Are they the same but for the copies of strings? */
static bool same_rules(const coll_rule *a, const coll_rule *b)
{
    bool same = a->collectives == b->collectives && a->p_least == b->p_least &&
                a->p_most == b->p_most && a->bytes_least == b->bytes_least &&
                a->bytes_most == b->bytes_most && same_record(a->algorithm, b->algorithm) &&
                a->ppn_least == b->ppn_least && a->ppn_most == b->ppn_most &&
                a->in_bytes == b->in_bytes && a->n_bindings == b->n_bindings &&
                strcmp(a->why, b->why) == 0;
    for (uint32_t i = 0; i < a->algorithm->n_params; i++)
        same = same && a->param[i] == b->param[i];
    for (uint32_t k = 0; same && k < a->n_bindings; k++) {
        const coll_algorithm *const algorithm = a->bindings[k].algorithm;
        same = a->bindings[k].level == b->bindings[k].level &&
               same_record(algorithm, b->bindings[k].algorithm);
        for (uint32_t i = 0; same && i < algorithm->n_params; i++)
            same = (a->bindings[k].params ? a->bindings[k].params[i]
                                          : algorithm->params[i].default_value) ==
                   (b->bindings[k].params ? b->bindings[k].params[i]
                                          : algorithm->params[i].default_value);
    }
    return same;
}

TEST(choices)
{
    const coll_rule *r = chosen("allreduce:fnomial:k=4;bcast:chain:segment=8192");
    CHECK_EQ(table.list.n, 2);
    CHECK_EQ(r[0].collectives, COLL_BIT(COLL_ALLREDUCE));
    CHECK(r[0].p_least == 1 && r[0].p_most == COLL_ANY_P && r[0].bytes_least == 0 &&
          r[0].bytes_most == SIZE_MAX);
    CHECK(same_record(r[0].algorithm, &coll_fnomial_allreduce));
    CHECK(r[0].param[0] == 4 && r[0].param[1] == COLL_DEFAULT && r[0].in_bytes == 0);
    CHECK_TEXT(r[0].why, "CHOICE");
    CHECK(same_record(r[1].algorithm, &coll_chain_bcast));
    CHECK(r[1].param[0] == COLL_DEFAULT && r[1].param[1] == 8192 && r[1].in_bytes == 2);
    r = chosen(" scan , exscan : linear ;; bcast:pipeline:segment=64k,chains=1 ; ");
    CHECK_EQ(table.list.n, 3); /* scan and exscan have a record each */
    CHECK(same_record(r[0].algorithm, &coll_linear_scan) &&
          same_record(r[1].algorithm, &coll_linear_exscan));
    CHECK(same_record(r[2].algorithm, &coll_chain_bcast) && r[2].param[0] == 1 &&
          r[2].param[1] == 65536);
    r = chosen("gather,scatter:binomial;reduce-scatter,reduce_scatter_block:recursive-halving");
    CHECK_EQ(table.list.n, 2); /* and these have one */
    CHECK_EQ(r[0].collectives, COLL_BIT(COLL_GATHER) | COLL_BIT(COLL_SCATTER));
    CHECK(r[0].param[0] == 2);
    r = chosen("allreduce:shm:buffer=4k:f=8;bcast:snake:segment=64e;bcast:fnomial:segment=0");
    CHECK(r[0].in_bytes == 4 && r[0].param[2] == 4096 && r[0].param[0] == 8);
    CHECK(r[1].in_bytes == 0 && r[1].param[1] == 64);
    CHECK(r[2].in_bytes == 0 && r[2].param[1] == 0);
    chosen("");
    CHECK_EQ(table.list.n, 0);
    chosen(NULL);
    CHECK_EQ(table.list.n, 0);
}

/* Tables that were written before some words changed are read, and it is known which words those
 * were. */
TEST(words_of_before)
{
    coll_sentence text;
    const coll_rule *r =
        chosen("allreduce:two_level:within=linear,across=ring;barrier:fabric;allgather:meet");
    CHECK_EQ(table.list.n, 3);
    CHECK(r[0].n_bindings == 3 && r[0].bindings[0].level == COLL_INTRA &&
          r[0].bindings[2].level == COLL_INTER);
    CHECK(same_record(r[1].algorithm, &coll_in_network_barrier));
    CHECK(same_record(r[2].algorithm, &coll_shm_flat_allgather));
    CHECK(coll_old_words_text(table.old, &text));
    CHECK_TEXT(text.text,
               "\"within\" is called \"intra\" now, \"across\" \"inter\", \"fabric\" "
               "\"in_network\", \"meet\" \"shm_flat\"");
    r = tabled("barrier p 4 fabric");
    CHECK(r && coll_old_words_text(table.old, &text));
    CHECK_TEXT(text.text, "\"fabric\" is called \"in_network\" now");
    r = chosen("allreduce:two_level:intra=linear,inter=ring");
    CHECK(r && table.old == 0 && !coll_old_words_text(table.old, &text));
    CHECK_TEXT(text.text, "");
}

TEST(tables)
{
    const coll_rule *r =
        tabled("# a comment\n\n"
               "allreduce  p 4..8\tbytes 4k..1M  rabenseifner:k=3 # because\r\n"
               "bcast bytes ..<2k p 3.. knomial:f=4\n"
               "  barrier p 2 linear#\n"
               "allgather p ..7 bytes 5 ring\n"
               "barrier ppn 2.. p 9 two_level");
    CHECK_EQ(table.list.n, 5);
    CHECK(r[0].p_least == 4 && r[0].p_most == 8);
    CHECK(r[0].bytes_least == 4096 && r[0].bytes_most == 1 << 20);
    CHECK(same_record(r[0].algorithm, &coll_rabenseifner_allreduce) && r[0].param[0] == 3);
    CHECK_TEXT(r[0].why, "because");
    CHECK(r[1].p_least == 3 && r[1].p_most == COLL_ANY_P);
    CHECK(r[1].bytes_least == 0 && r[1].bytes_most == 2047 && r[1].param[0] == 4);
    CHECK_TEXT(r[1].why, "TABLE, line 4");
    CHECK(r[2].p_least == 2 && r[2].p_most == 2 && r[2].bytes_most == SIZE_MAX);
    CHECK_TEXT(r[2].why, "TABLE, line 5");
    CHECK(r[3].p_least == 1 && r[3].p_most == 7);
    CHECK(r[3].bytes_least == 5 && r[3].bytes_most == 5);
    CHECK(r[3].ppn_least == 0 && r[3].ppn_most == 0);
    CHECK(r[4].ppn_least == 2 && r[4].ppn_most == COLL_ANY_P && r[4].p_most == 9);
}

/* A name stands for the algorithms of all that the level has to solve. */
TEST(what_is_used_inside)
{
    const coll_rule *r = chosen("allreduce:two_level:inter=ring,intra=knomial/k=4/segment=8e");
    CHECK_EQ(r[0].n_bindings, 3);
    CHECK(r[0].bindings[0].level == COLL_INTER &&
          same_record(r[0].bindings[0].algorithm, &coll_ring_allreduce));
    CHECK(r[0].bindings[1].level == COLL_INTRA &&
          same_record(r[0].bindings[1].algorithm, &coll_fnomial_bcast));
    CHECK(same_record(r[0].bindings[2].algorithm, &coll_fnomial_reduce));
    CHECK(r[0].bindings[1].params[0] == 4 && r[0].bindings[1].params[1] == 8);
    CHECK(r[0].bindings[2].params[0] == 4 && r[0].bindings[2].params[2] == 0);
    r = chosen("allreduce:dpml:leaders=2,inter=recursive_multiplying/k=8");
    CHECK(r[0].param[0] == 2 && r[0].n_bindings == 1 && r[0].bindings[0].params[0] == 8);
}

/* What is chosen is what runs: sizes in elements of this problem. */
TEST(rules_lead_to_plans)
{
    const coll_conditions none = {0, 0};
    const coll_rule *rule;
    coll_problem problem;
    coll_plan plan;
    chosen("bcast:chain:segment=8192;allreduce:ring");
    table.list.next = &coll_rules_built_in;
    coll_problem_init(&problem, COLL_BCAST, 4, 100, 8);
    CHECK_STATUS(coll_select_from(&table.list, &problem, &none, NULL, &plan, &rule), COLL_OK);
    CHECK(rule == &table.list.rules[0] && plan.param[0] == 4 && plan.param[1] == 1024);
    problem.collective = COLL_ALLREDUCE; /* whose operator does not commute */
    CHECK_STATUS(coll_select_from(&table.list, &problem, &none, NULL, &plan, &rule), COLL_OK);
    CHECK(rule >= coll_rules && rule < coll_rules + COLL_RULE_COUNT);
}

/* ---- writing ----------------------------------------------------------------------------- */

static void list_is_read_back(const coll_rule_list *list)
{
    static char text[64 * COLL_RULE_TEXT];
    size_t n = 0;
    if (!CHECK(list->n <= 64))
        return;
    for (size_t i = 0; i < list->n; i++) {
        const size_t length = coll_rule_text(&list->rules[i], text + n, COLL_RULE_TEXT);
        CHECK(length < COLL_RULE_TEXT);
        n += length;
        text[n++] = '\n';
    }
    text[n] = '\0';
    tabled(text);
    CHECK_EQ(table.list.n, list->n);
    for (size_t i = 0; i < list->n; i++)
        if (!CHECK(same_rules(&table.list.rules[i], &list->rules[i])))
            printf("    %s\n", list->rules[i].why);
}

TEST(built_in_rules_are_read_back)
{
    list_is_read_back(&coll_rules_built_in);
    list_is_read_back(&coll_rules_of_nodes);
}

static void reads_back(const char *line)
{
    char text[COLL_RULE_TEXT];
    static char again_memory[COLL_TABLE_BYTES(4)];
    coll_table again;
    const coll_rule *r = tabled(line);
    const size_t length = coll_rule_text(r, text, sizeof text);
    CHECK_EQ(length, strlen(text));
    CHECK_TEXT(text, line);
    coll_table_init(&again, again_memory, sizeof again_memory);
    CHECK(coll_table_read(&again, "AGAIN", text));
    CHECK(again.list.n == 1 && same_rules(r, again.list.rules));
}

TEST(rules_are_written_as_they_are_read)
{
    char text[16];
    const coll_rule *r;
    reads_back("allreduce  p 4  ppn 3..5  bytes 1k..  ring  # a");
    reads_back("allreduce  p 4..8  bytes 4k..1M  rabenseifner:k=3  # a reason");
    reads_back("bcast  p 5  fnomial:f=4,segment=64k,order=1  # b");
    reads_back("bcast  bytes 100..<2k  snake:segment=100e  # c");
    reads_back("bcast  bytes 7..  fnomial:segment=0  # d");
    reads_back("allreduce  two_level:intra=fnomial/f=4/segment=8e,inter=ring  # e");
    reads_back("alltoall,alltoallv,alltoallw  pairwise  # f");
    reads_back("bcast  p 2..1024  bytes 0  mixed:overlap=3e  # g");
    reads_back("bcast  p 1  bytes 3..1G  mixed:k=1024,overlap=4k  # h");
    reads_back("bcast  p 1..7  linear  # i");
    r = chosen("bcast:fnomial:k=4,segment=1k");
    CHECK_EQ(coll_rule_algorithm_text(r, text, sizeof text), 22);
    CHECK_TEXT(text, "fnomial:f=4,seg"); /* cut */
}

/* ---- collectives ------------------------------------------------------------------------- */

TEST(collectives)
{
    coll_sentence why;
    uint32_t mask;
    CHECK(coll_collectives_read("allreduce, bcast", &mask, &why));
    CHECK_EQ(mask, COLL_BIT(COLL_ALLREDUCE) | COLL_BIT(COLL_BCAST));
    CHECK(coll_collectives_read("reduce-scatter-block", &mask, &why));
    CHECK_EQ(mask, COLL_BIT(COLL_REDUCE_SCATTER_BLOCK));
    CHECK(coll_collectives_read("", &mask, &why));
    CHECK_EQ(mask, 0);
    CHECK(coll_collectives_read("all", &mask, &why));
    for (unsigned c = 0; c < COLL_COLLECTIVES; c++)
        CHECK(coll_is(mask, (coll_collective)c));
    CHECK_EQ(mask >> COLL_COLLECTIVES, 0);
    CHECK(!coll_collectives_read("bcast,alreduce", &mask, &why));
    CHECK_TEXT(why.text, "there is no collective \"alreduce\"; did you mean \"allreduce\"?");
}

/* Sizes are known by their names: their meaning says that they are in elements. */
TEST(parameters_that_are_sizes)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i++)
        for (uint32_t k = 0; k < coll_registry[i]->n_params; k++) {
            const coll_param *const param = &coll_registry[i]->params[k];
            const bool size = strncmp(param->meaning, "elements of ", 12) == 0;
            if (!CHECK(coll_param_is_size(param) == size))
                printf("    %s of %s: %s\n", param->name, coll_registry[i]->name,
                       param->meaning);
        }
}

/* ---- errors ------------------------------------------------------------------------------ */

static void choice_refused(const char *text, const char *sentence, int line)
{
    char wanted[512];
    coll_table_init(&table, memory, sizeof memory);
    snprintf(wanted, sizeof wanted, "CHOICE: %s", sentence);
    check_that(!coll_table_choose(&table, "CHOICE", text), __FILE__, line, text);
    check_text(table.error.text, wanted, line);
}
#define REFUSES_CHOICE(text, sentence) choice_refused((text), (sentence), __LINE__)

static void table_refused(const char *text, const char *sentence, int line)
{
    char wanted[512], lines[4096];
    coll_table_init(&table, memory, sizeof memory);
    snprintf(wanted, sizeof wanted, "TABLE, line 2: %s", sentence);
    snprintf(lines, sizeof lines, "bcast linear\n%s\nbcast linear\n", text);
    check_that(!coll_table_read(&table, "TABLE", lines), __FILE__, line, text);
    check_text(table.error.text, wanted, line);
    CHECK_EQ(table.list.n, 1);
}
#define REFUSES_TABLE(text, sentence) table_refused((text), (sentence), __LINE__)

TEST(wrong_choices)
{
    REFUSES_CHOICE("alreduce:ring",
                   "there is no collective \"alreduce\"; did you mean \"allreduce\"?");
    REFUSES_CHOICE(
        "allreduce:rign",
        "there is no algorithm for allreduce called \"rign\"; did you mean \"ring\"?");
    REFUSES_CHOICE(
        "neighbor_alltoallv:quux",
        "there is no algorithm for neighbor_alltoallv called \"quux\"; there is linear");
    REFUSES_CHOICE(
        "scan:ring",
        "ring does not solve scan; linear, binary_tree, "
        "recursive_doubling, recursive_multiplying, two_level, multi_leader, full_lane do");
    REFUSES_CHOICE("bcast:fnomial:g=3",
                   "there is no parameter \"g\"; there are f, segment, order");
    REFUSES_CHOICE("allreduce:ring:k=3", "ring has no parameters");
    REFUSES_CHOICE(
        "bcast:fnomial:k=1",
        "the parameter f of fnomial is a whole number from 2 to 2147483647, not \"1\"");
    REFUSES_CHOICE("bcast:fnomial:segment=5G", "the parameter segment of fnomial is a whole "
                                               "number of bytes from 0 to 4294967294, not "
                                               "\"5G\"");
    REFUSES_CHOICE("bcast:shm:buffer=0",
                   "the parameter buffer of shm is a whole number of bytes "
                   "from 1 to 4294967294, not \"0\"");
    REFUSES_CHOICE(
        "bcast:fnomial:k=4e",
        "the parameter f of fnomial is a whole number from 2 to 2147483647, not \"4e\"");
    REFUSES_CHOICE("bcast:fnomial:k", "a parameter is written NAME=NUMBER, not \"k\"");
    REFUSES_CHOICE("bcast:pipeline:chains=2", "pipeline is chain with chains=1");
    REFUSES_CHOICE("bcast:fnomial:k=4,f=5", "the parameter f of fnomial is given twice");
    REFUSES_CHOICE("allreduce:two_level:inter=fnomial/k=4/k=4",
                   "the parameter f of fnomial is given twice");
    REFUSES_CHOICE("ring", "a choice is written COLLECTIVE:ALGORITHM, not \"ring\"");
    REFUSES_CHOICE("allreduce:",
                   "a choice is written COLLECTIVE:ALGORITHM, not \"allreduce:\"");
    REFUSES_CHOICE(":ring", "a choice is written COLLECTIVE:ALGORITHM, not \":ring\"");
    REFUSES_CHOICE("allreduce:ring:inter=fnomial",
                   "ring is not composite, so inter has no meaning");
    REFUSES_CHOICE(
        "allreduce:two_level:inter=rong",
        "there is no algorithm to use inside called \"rong\"; did you mean \"ring\"?");
    REFUSES_CHOICE("allreduce:two_level:inter=pairwise",
                   "pairwise does not solve what there is to solve inter");
    REFUSES_CHOICE("allreduce:two_level:intra=two_level",
                   "two_level is composite, so it is used inside one only as inter=two_level");
    REFUSES_CHOICE("allreduce:two_level:above=ring", "two_level has no parameters");
    REFUSES_CHOICE("allreduce:two_level:intra=fnomial/segment=8",
                   "what is used inside has sizes in elements: segment=8e");
    REFUSES_CHOICE("allreduce:two_level:intra=fnomial/g=8",
                   "there is no parameter \"g\"; there are f, segment, order");
}

TEST(wrong_tables)
{
    REFUSES_TABLE("alreduce ring",
                  "there is no collective \"alreduce\"; did you mean \"allreduce\"?");
    REFUSES_TABLE("allreduce p 4..8",
                  "there is no algorithm behind the collectives and the ranges");
    REFUSES_TABLE("allreduce ring p 4..8", "nothing but a comment is expected behind \"ring\"");
    REFUSES_TABLE("allreduce p 8..4 ring", "the range p 8..4 ends before it begins");
    REFUSES_TABLE("allreduce bytes 1M..4k ring",
                  "the range bytes 1M..4k ends before it begins");
    REFUSES_TABLE("allreduce p 0..4 ring",
                  "p is a range such as 4..8, 4.., ..8 or 4, not \"0..4\"");
    REFUSES_TABLE("allreduce p 1..5G ring",
                  "p is a range such as 4..8, 4.., ..8 or 4, not \"1..5G\"");
    REFUSES_TABLE("allreduce p .. ring",
                  "p is a range such as 4..8, 4.., ..8 or 4, not \"..\"");
    REFUSES_TABLE("allreduce p", "p is a range such as 4..8, 4.., ..8 or 4, not \"\"");
    REFUSES_TABLE("allreduce bytes 4k..<x ring", "bytes is a range such as 4k..1M, 4k.., ..1M "
                                                 "or 4k..<1M, not \"4k..<x\"");
    REFUSES_TABLE("allreduce bytes ..<0 ring", "bytes is a range such as 4k..1M, 4k.., ..1M "
                                               "or 4k..<1M, not \"..<0\"");
    REFUSES_TABLE("allreduce p 1 p 2 ring", "p is given twice");
    REFUSES_TABLE("allreduce ppn 1 p 2 ppn 3 ring", "ppn is given twice");
    REFUSES_TABLE("allreduce ppn 0 ring",
                  "ppn is a range such as 4..8, 4.., ..8 or 4, not \"0\"");
    REFUSES_TABLE("allreduce bytes 1 p 2 bytes 1 ring", "bytes is given twice");
}

/* Names that are too long, and memory that is used up. */
TEST(limits)
{
    char small[2 * sizeof(coll_rule) + 40], text[3000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    coll_table_init(&table, memory, sizeof memory);
    CHECK(!coll_table_read(&table, "TABLE", text));
    CHECK_TEXT(table.error.text, "TABLE, line 1: the line is longer than 2046 bytes");
    CHECK(!coll_table_choose(&table, "CHOICE", text));
    CHECK_TEXT(table.error.text, "CHOICE: a choice is longer than 511 bytes");
    text[500] = '\0';
    CHECK(!coll_table_read(&table, "TABLE", text));
    memcpy(text, "bcast:fnomial:", 14);
    CHECK(!coll_table_choose(&table, "CHOICE", text));
    memcpy(text, "allreduce:two_level:inter=ring/", 32);
    CHECK(!coll_table_choose(&table, "CHOICE", text));
    text[120] = '\0';
    CHECK(!coll_table_choose(&table, "CHOICE", text));
    for (size_t bytes = 0; bytes <= sizeof small; bytes++) {
        coll_table_init(&table, small, bytes);
        CHECK(!coll_table_read(&table, "T",
                               "bcast linear\nreduce linear\nallreduce linear\nscan linear"));
        CHECK(table.list.n <= 2);
        coll_table_init(&table, small, bytes);
        CHECK(!coll_table_choose(&table, "C",
                                 "allreduce:two_level:inter=ring;bcast:linear;scan:linear"));
        CHECK(table.list.n <= 2);
    }
    coll_table_init(&table, small, sizeof small);
    CHECK(!coll_table_choose(&table, "C", "all:linear"));
    CHECK_TEXT(table.error.text, "C: there is no room for more than 2 rules");
}

TEST(what_is_not_offered)
{
    coll_table_init(&table, memory, sizeof memory);
    table.lacks = COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST;
    CHECK(!coll_table_choose(&table, "CHOICE", "allreduce:ring;bcast:shm"));
    CHECK_TEXT(table.error.text, "CHOICE: shm needs shared memory, which is not offered here");
    CHECK(table.list.n == 1);
    CHECK(!coll_table_read(&table, "TABLE", "\nbcast multicast"));
    CHECK_TEXT(table.error.text,
               "TABLE, line 2: multicast needs multicasts, which are not offered here");
    CHECK(!coll_table_choose(&table, "CHOICE", "bcast:two_level:intra=shm"));
    CHECK_TEXT(table.error.text, "CHOICE: shm needs shared memory, which is not offered here");
    CHECK(coll_table_choose(&table, "CHOICE", "allreduce:in_network"));
    table.lacks = COLL_NEEDS_NETWORK_REDUCE;
    CHECK(!coll_table_choose(&table, "CHOICE", "allreduce:in_network"));
    CHECK_TEXT(
        table.error.text,
        "CHOICE: in_network needs reductions in the network, which are not offered here");
}

/* Writes `n` bytes into the file, and loads it. */
static bool load_bytes(int file, const char *path, const char *bytes, size_t n)
{
    CHECK(ftruncate(file, 0) == 0 && pwrite(file, bytes, n, 0) == (ssize_t)n);
    coll_table_init(&table, memory, sizeof memory);
    return coll_table_load(&table, path);
}

/* How lines end, and what no text has. */
TEST(lines_of_files)
{
    static char longest[2049] = "bcast chain #";
    static const char zero[] = "bcast chain\nbcast p 1..2 chain\0linear\n";
    char path[] = "/tmp/coll_table_XXXXXX", wanted[128];
    const int file = mkstemp(path);
    if (!CHECK(file >= 0))
        return;
    CHECK(load_bytes(file, path, zero, 0));
    CHECK_EQ(table.list.n, 0);
    CHECK(load_bytes(file, path, zero, 11)); /* without an end of the line */
    CHECK_EQ(table.list.n, 1);
    CHECK(load_bytes(file, path, "bcast chain\r\n\nbcast linear\n", 27));
    CHECK_EQ(table.list.n, 2);
    /* A byte-order mark, which only begins a text. */
    CHECK(load_bytes(file, path, "\xEF\xBB\xBF bcast chain\n", 16));
    CHECK_EQ(table.list.n, 1);
    CHECK(load_bytes(file, path, "\xEF\xBB\xBF# bcast\n", 11));
    CHECK_EQ(table.list.n, 0);
    CHECK(!load_bytes(file, path, "\n\xEF\xBB\xBF bcast chain\n", 17));
    CHECK(!load_bytes(file, path, zero, sizeof zero - 1));
    snprintf(wanted, sizeof wanted, "%s, line 2: the line has a byte of 0, so this is no text",
             path);
    CHECK_TEXT(table.error.text, wanted);
    CHECK(!load_bytes(file, path, zero, sizeof zero - 2)); /* at the end of the file, too */
    CHECK_TEXT(table.error.text, wanted);
    memset(longest + 13, '-', 2046 - 13);
    longest[2046] = '\n';
    CHECK(load_bytes(file, path, longest, 2046));
    CHECK(load_bytes(file, path, longest, 2047));
    longest[2046] = '-';
    longest[2047] = '\n';
    snprintf(wanted, sizeof wanted, "%s, line 1: the line is longer than 2046 bytes", path);
    for (size_t n = 2047; n <= 2048; n++) {
        CHECK(!load_bytes(file, path, longest, n));
        CHECK_TEXT(table.error.text, wanted);
    }
    close(file);
    unlink(path);
}

TEST(files)
{
    char path[] = "/tmp/coll_table_XXXXXX", wanted[128];
    const int file = mkstemp(path);
    static const char text[] = "# tuned\nallreduce ring # one\nbcast chain:chains=2\n";
    static const char more[] = "bcast chian\n";
    if (!CHECK(file >= 0))
        return;
    CHECK(write(file, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    coll_table_init(&table, memory, sizeof memory);
    CHECK(coll_table_load(&table, path));
    CHECK_EQ(table.list.n, 2);
    CHECK_TEXT(table.list.rules[0].why, "one");
    CHECK(write(file, more, sizeof more - 1) == (ssize_t)sizeof more - 1);
    CHECK(!coll_table_load(&table, path));
    snprintf(wanted, sizeof wanted,
             "%s, line 4: there is no algorithm for bcast called \"chian\"; did you mean "
             "\"chain\"?",
             path);
    CHECK_TEXT(table.error.text, wanted);
    close(file);
    unlink(path);
    CHECK(!coll_table_load(&table, "/nowhere/at/all"));
    CHECK_TEXT(table.error.text,
               "the table /nowhere/at/all cannot be read: No such file or directory");
    CHECK(!coll_table_load(&table, "/"));
    CHECK_TEXT(table.error.text, "the table / cannot be read: Is a directory");
}

int main(void)
{
    RUN(choices);
    RUN(words_of_before);
    RUN(tables);
    RUN(what_is_used_inside);
    RUN(rules_lead_to_plans);
    RUN(built_in_rules_are_read_back);
    RUN(rules_are_written_as_they_are_read);
    RUN(collectives);
    RUN(parameters_that_are_sizes);
    RUN(wrong_choices);
    RUN(wrong_tables);
    RUN(limits);
    RUN(what_is_not_offered);
    RUN(lines_of_files);
    RUN(files);
    return check_done();
}
