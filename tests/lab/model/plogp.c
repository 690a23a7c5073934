/* tests/lab/model/plogp.c — parameterised LogP: tables, what lies between their rows, and trees */
#include "coll/lab/model/plogp.h"

#include <stdlib.h>

#include "support/near.h"

static coll_plogp_costs table;
static coll_sentence why;

static bool reads(const char *text)
{
    return coll_plogp_read(&table, text, &why);
}

TEST(tables)
{
    CHECK(reads("# a machine\nL 12 # us\n\n 1k 2 3 20 6\n4096\t3 4\t50\r\n64k 30 40 1000 400"));
    CHECK_EQ(table.n, 3);
    CHECK_SAME(table.L_us, 12);
    CHECK_SAME(table.row[0].bytes, 1024);
    CHECK_SAME(table.row[1].us[COLL_PLOGP_G], 50);
    CHECK_SAME(table.row[1].us[COLL_PLOGP_SMCC], 0);
    CHECK_SAME(table.row[2].us[COLL_PLOGP_SMCC], 400);
}

TEST(between_rows)
{
    CHECK(reads("1k 2 3 20 6\n5k 6 4 60 6\nL 1\n"));
    CHECK_SAME(coll_plogp_us(&table, COLL_PLOGP_OS, 0), 2);
    CHECK_SAME(coll_plogp_us(&table, COLL_PLOGP_OS, 1024), 2);
    CHECK_SAME(coll_plogp_us(&table, COLL_PLOGP_OS, 3 * 1024), 4);
    CHECK_SAME(coll_plogp_us(&table, COLL_PLOGP_OR, 2 * 1024), 3.25);
    CHECK_SAME(coll_plogp_us(&table, COLL_PLOGP_G, 5 * 1024), 60);
    CHECK_SAME(coll_plogp_us(&table, COLL_PLOGP_G, 50 * 1024), 600);
    CHECK_SAME(coll_plogp_message_us(&table, 5 * 1024), 61);
}

/* The column c, or so many nanoseconds a byte; none of either is no time. */
TEST(combining)
{
    coll_plogp_words words;
    CHECK(reads("L 1\n1k 2 3 20 6 8\n3k 6 4 60 6 40\n"));
    CHECK_SAME(coll_plogp_combine_us(&table, 0), 0);
    CHECK_SAME(coll_plogp_combine_us(&table, 512), 4);
    CHECK_SAME(coll_plogp_combine_us(&table, 2 * 1024), 24);
    CHECK_SAME(coll_plogp_combine_us(&table, 6 * 1024), 80);
    CHECK(reads("L 1\n0 2 3 20 6 8\n3k 6 4 60 6 40\n"));
    CHECK_SAME(coll_plogp_combine_us(&table, 0), 8);
    CHECK(reads("L 1\n1k 2 3 20\n"));
    CHECK_SAME(coll_plogp_combine_us(&table, 1024), 0);
    CHECK(coll_parameters_read(&coll_plogp_model, "plogp:table=ibm,c=0.5", &words, &why));
    CHECK(coll_plogp_load(&table, &words, &why));
    CHECK_SAME(coll_plogp_combine_us(&table, 512), .256);
    CHECK_SAME(coll_plogp_combine_us(&table, 1 << 16), 32.768);
}

/* A second table for written data; a model in words says all of it, and can be read back. */
TEST(written_data)
{
    coll_plogp_words words, again;
    char text[600];
    CHECK(coll_parameters_read(&coll_plogp_model, "plogp:table=ibm", &words, &why));
    table.n = 0;
    CHECK(coll_plogp_load_dirty(&table, &words, &why));
    CHECK_EQ(table.n, 0);
    (void)coll_parameters_text(&coll_plogp_model, &words, text, sizeof text);
    CHECK(!strcmp(text, "plogp:table=ibm,c=0"));
    CHECK(
        coll_parameters_read(&coll_plogp_model, "plogp:table=ibm,dirty=ibm,c=2", &words, &why));
    CHECK(coll_plogp_load_dirty(&table, &words, &why));
    CHECK_EQ(table.n, 10);
    (void)coll_parameters_text(&coll_plogp_model, &words, text, sizeof text);
    CHECK(coll_parameters_read(&coll_plogp_model, text, &again, &why));
    CHECK(memcmp(&words, &again, sizeof words) == 0);
    CHECK(
        coll_parameters_read(&coll_plogp_model, "plogp:table=ibm,dirty=no/such", &words, &why));
    CHECK(!coll_plogp_load_dirty(&table, &words, &why));
    CHECK(!strcmp(why.text, "the table no/such cannot be read"));
}

TEST(refused)
{
    const char *const bad[] = {"L 1\n1k 1 1\n",           "L 1\n1k 1 1 1 1 1 1 1\n",
                               "L 1\nL 2\n1 1 1 1\n",     "L\n1k 1 1 1\n",
                               "L 1\n1k 1 1 -1\n",        "L 1\n1k 1 x 1\n",
                               "L 1\n1k 1 1e31 1\n",      "L 1\n1k 1 1 1\n1k 1 1 1",
                               "L 1\n2k 1 1 1\n1k 1 1 1", "L 1\n1.5 1 1 1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        why.text[0] = '\0';
        CHECK(!reads(bad[i]));
        CHECK(why.text[0] == 'l'); /* the sentence begins with the line */
    }
    CHECK(!reads("L 1\n"));
    CHECK(!strcmp(why.text, "the table lacks rows"));
    CHECK(!reads("1k 1 1 1\n"));
    CHECK(!strcmp(why.text, "the table lacks a line L with the latency"));
    CHECK(!reads("L 1\n0 2 2 400\n")); /* in proportion to what? */
    CHECK(!strcmp(why.text, "the table lacks a row of more than 0 bytes"));
    CHECK(reads("L 1\n0 2 2 400\n1 1e30 2 0\n"));
    CHECK(coll_plogp_us(&table, COLL_PLOGP_OS, 1e19) < COLL_PARAMETER_ANY);
    CHECK(coll_plogp_us(&table, COLL_PLOGP_G, .9999999999999999) >= 0);
    {
        char many[COLL_PLOGP_ROWS * 16 + 64] = "L 1\n";
        for (int i = 0; i < COLL_PLOGP_ROWS; i++)
            sprintf(many + strlen(many), "%d 1 1 1\n", i + 1);
        CHECK(reads(many));
        strcat(many, "1000 1 1 1\n");
        CHECK(!reads(many));
    }
}

TEST(files)
{
    coll_plogp_words words;
    CHECK(coll_parameters_read(&coll_plogp_model, "plogp:table=ibm", &words, &why));
    CHECK(coll_plogp_load(&table, &words, &why));
    CHECK_EQ(table.n, 10);
    for (uint32_t i = 1; i < table.n; i++)
        for (int column = 0; column < COLL_PLOGP_C; column++)
            CHECK(table.row[i].bytes > table.row[i - 1].bytes &&
                  table.row[i].us[column] > table.row[i - 1].us[column]);
    strcpy(words.table, "no/such/file");
    CHECK(!coll_plogp_load(&table, &words, &why));
    CHECK(!strcmp(why.text, "the table no/such/file cannot be read"));
    strcpy(words.table, "/");
    CHECK(!coll_plogp_load(&table, &words, &why));
    CHECK(!strcmp(why.text, "the table / cannot be read"));
    {
        FILE *file;
        int number;
        strcpy(words.table, "/tmp/coll_plogp_XXXXXX");
        number = mkstemp(words.table);
        file = number < 0 ? NULL : fdopen(number, "w");
        if (!CHECK(file != NULL))
            return;
        fputs("L 3\n1k 1 2 3 4\n", file);
        fclose(file);
        CHECK(coll_plogp_load(&table, &words, &why));
        CHECK_SAME(table.row[0].us[COLL_PLOGP_SMCC], 4);
        file = fopen(words.table, "a");
        fwrite("\0 2k 2 3 4\n", 1, 11, file);
        fclose(file);
        CHECK(!coll_plogp_load(&table, &words, &why));
        CHECK(strstr(why.text, "is no text") != NULL);
        file = fopen(words.table, "w");
        for (int i = 0; i < 70000; i++)
            fputs("#23\n", file);
        fclose(file);
        CHECK(!coll_plogp_load(&table, &words, &why));
        CHECK(strstr(why.text, "is longer than 256 KB") != NULL);
        remove(words.table);
    }
}

TEST(trees)
{
    CHECK(reads("L 10\n1k 1 1 5\n"));
    /* two nodes: all trees are one link */
    for (double segment = 1024; segment <= 8192; segment *= 2) {
        const double one = coll_plogp_chain_us(&table, 2, 8192, segment);
        CHECK_SAME(one, 10 + 8192 / segment * coll_plogp_us(&table, COLL_PLOGP_G, segment));
        CHECK_SAME(coll_plogp_flat_us(&table, 2, 8192, segment), one);
        CHECK_SAME(coll_plogp_binomial_us(&table, 2, 8192, segment), one);
    }
    /* one segment */
    CHECK_SAME(coll_plogp_chain_us(&table, 8, 1024, 1024), 7 * 15);
    CHECK_SAME(coll_plogp_flat_us(&table, 8, 1024, 1024), 10 + 7 * 5);
    CHECK_SAME(coll_plogp_binary_us(&table, 8, 1024, 1024), 3 * 20);
    CHECK_SAME(coll_plogp_binomial_us(&table, 8, 1024, 1024), 3 * 15);
    /* many: a chain needs one gap each, a binary tree two, a binomial lg p, a flat one p - 1 */
    CHECK_NEAR(coll_plogp_chain_us(&table, 8, 1 << 30, 1024), 5. * (1 << 20), 1e-4);
    CHECK_NEAR(coll_plogp_binary_us(&table, 8, 1 << 30, 1024), 10. * (1 << 20), 1e-4);
    CHECK_NEAR(coll_plogp_binomial_us(&table, 8, 1 << 30, 1024), 15. * (1 << 20), 1e-4);
    CHECK_NEAR(coll_plogp_flat_us(&table, 8, 1 << 30, 1024), 35. * (1 << 20), 1e-4);
    /* nothing is gained by segments where two nodes are all, or a segment costs as much as all */
    CHECK_SAME(coll_plogp_best_segment(&table, 2, 5000, coll_plogp_chain_us), 5000);
    CHECK_SAME(coll_plogp_best_segment(&table, 8, 1024, coll_plogp_chain_us), 1024);
    for (double bytes = 1000; bytes < 1e7; bytes *= 2.5)
        for (uint32_t p = 2; p < 100; p += 7) {
            const double best =
                coll_plogp_best_segment(&coll_plogp_ibm, p, bytes, coll_plogp_binary_us);
            CHECK(best >= 1 && best <= bytes);
            for (double segment = 1; segment < bytes; segment *= 2)
                CHECK(coll_plogp_binary_us(&coll_plogp_ibm, p, bytes, best) <=
                      coll_plogp_binary_us(&coll_plogp_ibm, p, bytes, segment));
        }
}

int main(void)
{
    RUN(tables);
    RUN(between_rows);
    RUN(combining);
    RUN(written_data);
    RUN(refused);
    RUN(files);
    RUN(trees);
    return check_done();
}
