/* The file of a machine: read as it was written, refused with the line, and @FILE in words. */
#include <stdlib.h>
#include <unistd.h>

#include "support/check.h"
#include "coll/lab/sim.h"

static coll_machine_file *machine;
static coll_sentence why;

#define HEAD                                                                                   \
    "coll-machine 1\n"                                                                         \
    "machine.transport mine\nmachine.data written\nmachine.ranks 4\n"

static bool reads(const char *text)
{
    return coll_machine_file_read(machine, text, "its", &why);
}

static void refuses(const char *text, const char *sentence)
{
    if (!CHECK(!reads(text)) || !CHECK(strcmp(why.text, sentence) == 0))
        printf("    it says: %s\n", why.text);
}

TEST(values_are_read)
{
    const coll_estimate *e;
    CHECK(reads(HEAD
                "# a comment\n\nloggp.L 1us # a\nloggp.o 200\t\nloggp.g 300ns\nloggp.G .5\n"
                "plogp.L 3\nplogp.row 0 .1 .2 .3\nplogp.row 1k 1 2 4 0 .5 .25\n"
                "measured copy.2 1024 20 10ns 30 40 2\nnoise.frequency 5\nnoise.duration 1ms\n"
                "noise.distribution fixed"));
    CHECK(machine->loggp.L_ns >= 1000 && machine->loggp.L_ns <= 1000);
    CHECK(machine->noise.duration_us >= 1000 && machine->noise.duration_us <= 1000);
    CHECK_EQ(machine->plogp.n, 2);
    CHECK(machine->plogp.row[1].us[COLL_PLOGP_C] >= .5);
    CHECK(machine->plogp.row[1].us[COLL_PLOGP_COPY] >= .25);
    e = coll_machine_find(machine, COLL_MEASURED_COPY, "2", 1024);
    if (CHECK(e != NULL))
        CHECK(e->median >= 20 && e->median <= 20 && e->n == 40 && e->outliers == 2);
    CHECK(coll_machine_find(machine, COLL_MEASURED_COPY, "1", 1024) == NULL);
    CHECK(reads(HEAD));
    CHECK_EQ(machine->plogp.n, 0);
}

TEST(what_is_wrong_is_said)
{
    char many[4 * COLL_PARAMETER_BYTES];
    refuses("", "its, line 1: the file of a machine begins with coll-machine 1");
    refuses("coll-machine 2\n",
            "its, line 1: the file of a machine begins with coll-machine 1");
    refuses("coll-machine 1\n",
            "its: transport of machine is missing: transport=… is what carried the messages");
    refuses(HEAD "loggp.L\n",
            "its, line 5: a line is MODEL.PARAMETER VALUE, plogp.row, or measured, "
            "not \"loggp.L\"");
    refuses(HEAD "loggp.L 1 us\n",
            "its, line 5: a line is MODEL.PARAMETER VALUE, plogp.row, or "
            "measured, not \"loggp.L 1 …\"");
    refuses(HEAD "\nlogp.L 1\n",
            "its, line 6: there is no model \"logp\"; did you mean \"loggp\"?");
    refuses(HEAD "loggp.L -1\n",
            "its, line 5: L of loggp is a number of ns from 0 on, not \"-1\"");
    refuses(HEAD "loggp.L 1s/byte\n",
            "its, line 5: L of loggp is a number of ns from 0 on, not \"1s/byte\"");
    refuses(HEAD "loggp.L 1\nloggp.L 1\n", "its, line 6: L of loggp is given twice");
    refuses(
        HEAD "loggp.L 1\n",
        "its: o of loggp is missing: o=… is the time a processor spends on a message, in ns");
    refuses(HEAD "plogp.L 1\n", "its: the table lacks rows");
    refuses(HEAD "plogp.row 1 1 1\n",
            "its: line 5 of the table is neither L and microseconds, once, nor bytes, os, or, "
            "g and "
            "perhaps smcc, c and copy, with more bytes than the line before");
    refuses(HEAD "plogp.raw 1 1 1\n",
            "its: line 5 of the table is neither L and microseconds, once, nor bytes, os, or, "
            "g and "
            "perhaps smcc, c and copy, with more bytes than the line before");
    refuses(HEAD "measured copy 1 2 3\n",
            "its, line 5: measured needs a quantity, where, its median, "
            "low, high, how many values and how many outliers");
    refuses(HEAD "measured cop 1 2 3 4 5 6\n",
            "its, line 5: there is no quantity \"cop\"; did you mean \"copy\"?");
    refuses(HEAD "measured copy. 1 2 3 4 5 6\n",
            "its, line 5: the variant of copy is a word of up to 23 bytes");
    refuses(HEAD "measured copy 1 2 3 nan 5 6\n",
            "its, line 5: copy is measured in ns, at a number of bytes");
    refuses(HEAD "measured copy 1 2 3 4 5 6\n",
            "its, line 5: copy is measured in ns, at a number "
            "of bytes"); /* more outliers than values */
    refuses(HEAD "measured copy 1 2 3 4 7 6 9\n",
            "its, line 5: a line has up to 8 words of up to 511 bytes");
    memset(many, 'x', sizeof many - 1);
    memcpy(many, HEAD, strlen(HEAD));
    many[sizeof many - 1] = '\0';
    refuses(many, "its, line 5: a line has up to 8 words of up to 511 bytes");
}

/* Writes a file with a text; its name, which the next call overwrites. */
static const char *file_with(const char *text)
{
    static char path[40];
    FILE *file;
    int number;
    strcpy(path, "/tmp/coll_machine_XXXXXX");
    number = mkstemp(path);
    file = number < 0 ? NULL : fdopen(number, "w");
    if (CHECK(file != NULL)) {
        fputs(text, file);
        fclose(file);
    }
    return path;
}

static void becomes(const char *before, const char *path, const char *after, const char *wanted)
{
    char text[200], words[COLL_MACHINE_WORDS];
    snprintf(text, sizeof text, "%s@%s%s", before, path, after);
    if (!CHECK(coll_machine_words(text, words, sizeof words, &why)))
        printf("    %s\n", why.text);
    else if (!CHECK(strcmp(words, wanted) == 0))
        printf("    %s is %s\n", text, words);
}

TEST(files_stand_for_models)
{
    const char *path = file_with(HEAD "loggp.L 1us\nloggp.o 200\nloggp.g 300ns\nloggp.G .5\n"
                                      "plogp.L 3\nplogp.row 1 .1 .2 .3\nplogp.row 1k 1 2 4\n"
                                      "noise.frequency 5\nnoise.duration 1\n");
    char text[200], wanted[300];
    coll_nodes nodes;
    static coll_sim_machine simulated;
    coll_noise noise;
    becomes("loggp:", path, "", "loggp:L=1000,o=200,g=300,G=0.5");
    becomes("loggp:", path, ",o=1,c=2", "loggp:L=1000,g=300,G=0.5,o=1,c=2");
    becomes("loggp:", path, ",L=1,o=1,g=2,G=3", "loggp:L=1,o=1,g=2,G=3");
    snprintf(wanted, sizeof wanted, "plogp:table=%s", path);
    becomes("", path, "", wanted);
    becomes("plogp:", path, "", wanted);
    CHECK(coll_machine_words("loggp:L=1", text, sizeof text, &why));
    CHECK(strcmp(text, "loggp:L=1") == 0);
    /* the simulator takes them */
    coll_nodes_even(&nodes, 4, 4);
    coll_sim_machine_init(&simulated, &nodes, 4);
    snprintf(text, sizeof text, "@%s", path);
    CHECK(coll_sim_machine_read(&simulated, text, &why));
    CHECK_EQ(simulated.plogp.n, 2);
    snprintf(text, sizeof text, "loggp:@%s", path);
    CHECK(coll_sim_machine_read(&simulated, text, &why));
    snprintf(text, sizeof text, "shm:@%s", path);
    CHECK(!coll_sim_machine_share(&simulated, text, &why));
    snprintf(wanted, sizeof wanted, "%s says nothing of shm", path);
    CHECK(strcmp(why.text, wanted) == 0);
    snprintf(text, sizeof text, "noise:@%s", path);
    CHECK(coll_noise_read(&noise, text, 1, &why));
    /* sentences */
    CHECK(!coll_machine_words("@", text, sizeof text, &why));
    CHECK(strcmp(why.text,
                 "@ needs the name of a machine's file behind it, of up to 254 bytes") == 0);
    CHECK(!coll_machine_words("@no/such/file", text, sizeof text, &why));
    CHECK(strcmp(why.text, "the machine no/such/file cannot be read") == 0);
    snprintf(text, sizeof text, "lagp:@%s", path);
    CHECK(!coll_machine_words(text, wanted, sizeof wanted, &why));
    CHECK(strstr(why.text, "there is no model \"lagp\"") != NULL);
    CHECK(!coll_machine_words("loggp:L=1", text, 5, &why));
    remove(path);
    path = file_with(HEAD);
    snprintf(text, sizeof text, "@%s", path);
    CHECK(!coll_machine_words(text, wanted, sizeof wanted, &why));
    CHECK(strstr(why.text, "says nothing of plogp") != NULL);
    remove(path);
}

/* Any values that can be measured are read as they were written. */
TEST(what_is_written_is_read)
{
    static char first[1 << 16], second[1 << 16];
    char *texts[] = {first, second};
    const coll_estimate e = {1. / 3, 1e-7, 1e12, 4000000000u, 17};
    CHECK(reads(HEAD "hockney.alpha 0.123456789012345678\nhockney.beta 1e-09\nplogp.L 0.1\n"
                     "plogp.row 3 1 2 3\nplogp.row 4 1 2 3 4 5 6\nmachine.seconds 1ms\n"));
    for (coll_quantity q = COLL_MEASURED_ROUNDTRIP; q < COLL_QUANTITIES;
         q = (coll_quantity)(q + 1))
        coll_machine_add(machine, q, q % 2 ? "" : "a_variant", (int)q * 1e5 + .5, &e);
    for (int i = 0; i < 2; i++) {
        FILE *file = tmpfile();
        size_t n;
        if (!CHECK(file != NULL))
            return;
        coll_machine_file_write(machine, file);
        rewind(file);
        n = fread(texts[i], 1, sizeof first - 1, file);
        texts[i][n] = '\0';
        fclose(file);
        if (!CHECK(reads(texts[i])))
            printf("    %s\n", why.text);
    }
    CHECK(strcmp(first, second) == 0);
    CHECK_EQ(machine->n, COLL_QUANTITIES);
}

int main(void)
{
    machine = (coll_machine_file *)malloc(sizeof *machine);
    if (!machine)
        return 1;
    RUN(values_are_read);
    RUN(what_is_wrong_is_said);
    RUN(files_stand_for_models);
    RUN(what_is_written_is_read);
    free(machine);
    return check_done();
}
