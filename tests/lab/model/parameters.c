/* tests/lab/model/parameters.c — model parameters in words: values, units, presets, and what is
 * refused */
#include "coll/lab/model/parameters.h"

#include <string.h>

#include "support/check.h"
#include "coll/lab/model/hockney.h"
#include "coll/lab/model/littlefield.h"
#include "coll/lab/model/loggp.h"
#include "coll/lab/model/moody.h"

static coll_sentence why;

static bool near(double a, double b)
{
    return a - b < 1e-9 * (b + 1) && b - a < 1e-9 * (b + 1);
}

static bool says(const char *sentence)
{
    const bool same = strcmp(why.text, sentence) == 0;
    if (!same)
        printf("    \"%s\" instead of \"%s\"\n", why.text, sentence);
    return same;
}

static bool reads(const char *text, coll_loggp_costs *m)
{
    return coll_parameters_read(&coll_loggp_model, text, m, &why);
}

static bool refused(const char *text, const char *sentence)
{
    coll_loggp_costs m;
    return !reads(text, &m) && says(sentence);
}

TEST(values_and_units)
{
    coll_loggp_costs m;
    CHECK(reads("loggp:L=1.4us,o=0,g=1e3,G=.5ns/byte,S=64k", &m));
    CHECK(near(m.L_ns, 1400) && near(m.o_ns, 0) && near(m.g_ns, 1000));
    CHECK(near(m.G_ns_per_byte, .5) && near(m.S_bytes, 65536) && near(m.O_ns_per_byte, 0));
    CHECK(reads("loggp:L=2ms,o=3ps,g=1µs,G=1us/byte,S=2MB", &m));
    CHECK(near(m.L_ns, 2e6) && near(m.o_ns, 3e-3) && near(m.g_ns, 1000));
    CHECK(near(m.G_ns_per_byte, 1000) && near(m.S_bytes, 2e6));
    CHECK(reads("loggp:L=1us,o=1000ps,g=1,G=1", &m));
    CHECK(!(m.L_ns < 1000) && !(m.L_ns > 1000) && !(m.o_ns < 1) && !(m.o_ns > 1)); /* exactly */
    CHECK(m.S_bytes >= 1e18);
}

TEST(presets)
{
    coll_loggp_costs m;
    coll_nbl_costs nbl;
    CHECK(reads("loggp:loggopsim", &m));
    CHECK(near(m.L_ns, 2500) && near(m.S_bytes, 65535));
    CHECK(reads("loggp:loggopsim,o=7", &m));
    CHECK(near(m.o_ns, 7) && near(m.L_ns, 2500));
    CHECK(coll_parameters_read(&coll_nbl_model, "nbl:delta,f4=3.7", &nbl, &why));
    CHECK(near(nbl.f4, 3.7) && near(nbl.f6, 5.1) && near(nbl.beta_us_per_element, 1.54));
    CHECK(coll_parameters_read(
        &coll_nbl_model, "nbl:alpha=54us,beta=1.54us/element,c2=250ns/element", &nbl, &why));
    CHECK(near(nbl.c2_us_per_element, .25) && near(nbl.f6, 6));
}

TEST(refused_with_a_sentence)
{
    const char *const range = "L of loggp is a number of ns from 0 on, not ";
    const char *const bad[] = {"-3", "",   "x",   "3kg", "nan",      "inf",  "0x10", "1e999",
                               "1 ", " 1", "3MB", "3k",  "3ns/byte", "1..2", "+1",   "0X1"};
    char text[100], sentence[200];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text, "loggp:o=1,L=%s,g=1", bad[i]);
        snprintf(sentence, sizeof sentence, "%s\"%s\"", range, bad[i]);
        CHECK(refused(text, sentence));
    }
    CHECK(refused("loggp", "L of loggp is missing: L=… is the latency of the network, in ns"));
    CHECK(refused(
        "loggp:L=1,o=1,g=1",
        "G of loggp is missing: G=… is the time of a NIC for each byte after the first, in "
        "ns/byte"));
    CHECK(refused("loggp:L=1,L=2", "L of loggp is given twice"));
    CHECK(refused("loggp:L=1,loggopsim",
                  "the preset loggopsim of loggp comes before everything else"));
    CHECK(refused("loggp:l=1", "loggp has no preset or parameter \"l\"; did you mean \"L\"?"));
    CHECK(
        refused("loggp:LogGPSim",
                "loggp has no preset or parameter \"LogGPSim\"; did you mean \"loggopsim\"?"));
    CHECK(refused(
        "loggp:alpha=1",
        "loggp has no preset or parameter \"alpha\"; it has loggopsim, L, o, g, G, O, S, "
        "c"));
    CHECK(refused(
        "loggp:",
        "loggp has no preset or parameter \"\"; it has loggopsim, L, o, g, G, O, S, c"));
    CHECK(refused("loggp:L", "L of loggp needs a value: L=…"));
    CHECK(refused("loggp:L=", "L of loggp is a number of ns from 0 on, not \"\""));
    CHECK(refused("loggp:S=1.5",
                  "S of loggp is a whole number of bytes from 0 to 1e+18, not \"1.5\""));
    CHECK(refused("loggp:G=3ns", "G of loggp is a number of ns/byte from 0 on, not \"3ns\""));
}

TEST(models_by_name)
{
    const coll_model *const models[] = {&coll_hockney_model, &coll_loggp_model, &coll_nbl_model,
                                        &coll_moody_model};
    CHECK(coll_model_of("model", models, 4, "nbl:delta", &why) == &coll_nbl_model);
    CHECK(coll_model_of("model", models, 4, "moody", &why) == &coll_moody_model);
    CHECK(!coll_model_of("model", models, 4, "logp:L=1", &why));
    CHECK(says("there is no model \"logp\"; did you mean \"loggp\"?"));
    CHECK(!coll_model_of("model", models, 4, "kumar", &why));
    CHECK(says("there is no model \"kumar\"; there are hockney, loggp, nbl, moody"));
    CHECK(!coll_model_of("noise", models, 1, "white", &why));
    CHECK(says("there is no noise \"white\"; there is hockney"));
}

/* What is written is read back bit by bit, and presets are legal. */
TEST(text_and_back)
{
    const coll_model *const models[] = {&coll_loggp_model, &coll_nbl_model, &coll_moody_model};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < models[k]->n_presets; i++) {
            char text[400], back[sizeof(coll_nbl_costs)];
            const coll_preset *preset = &models[k]->presets[i];
            CHECK(models[k]->bytes <= sizeof back);
            CHECK(coll_parameters_text(models[k], preset->costs, text, sizeof text) <
                  sizeof text);
            CHECK(coll_parameters_read(models[k], text, back, &why));
            CHECK(memcmp(back, preset->costs, models[k]->bytes) == 0);
            CHECK(coll_parameters_text(models[k], preset->costs, NULL, 0) == strlen(text));
        }
}

TEST(a_word)
{
    typedef struct {
        char file[COLL_PARAMETER_BYTES];
        double n;
    } costs_table;
    const coll_parameter rows[] = {
        {"table", "", COLL_PARAMETER_WORD, offsetof(costs_table, file), 0, 0,
         COLL_PARAMETER_NEEDED, "a file"},
        {"n", "", COLL_PARAMETER_WHOLE, offsetof(costs_table, n), 1, 9, 1, "a number"}};
    const coll_model model = {"t", "", "", sizeof(costs_table), rows, 2, NULL, 0};
    costs_table t;
    char text[400] = "t:table=";
    CHECK(coll_parameters_read(&model, "t:table=a=b.txt,n=9", &t, &why));
    CHECK(strcmp(t.file, "a=b.txt") == 0 && near(t.n, 9));
    CHECK(coll_parameters_text(&model, &t, text, sizeof text) == strlen("t:table=a=b.txt,n=9"));
    CHECK(strcmp(text, "t:table=a=b.txt,n=9") == 0);
    CHECK(!coll_parameters_read(&model, "t:n=1", &t, &why));
    CHECK(says("table of t is missing: table=… is a file"));
    CHECK(!coll_parameters_read(&model, "t:table=", &t, &why));
    CHECK(says("table of t is a word of up to 255 bytes, not \"\""));
    CHECK(!coll_parameters_read(&model, "t:table=x,n=10", &t, &why));
    CHECK(says("n of t is a whole number from 1 to 9, not \"10\""));
    CHECK(!coll_parameters_read(&model, "t:size=1", &t, &why));
    CHECK(says("t has no parameter \"size\"; it has table, n"));
    memset(text + 8, 'x', 300);
    text[308] = '\0';
    CHECK(!coll_parameters_read(&model, text, &t, &why));
}

int main(void)
{
    RUN(values_and_units);
    RUN(presets);
    RUN(refused_with_a_sentence);
    RUN(models_by_name);
    RUN(text_and_back);
    RUN(a_word);
    return check_done();
}
