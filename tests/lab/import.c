/* Schedules that are read: all that the exporters write for the rows of the registry is read back and proven, and has the
 * same actions where the format keeps them; programs written by hand are proven; and a mistake in any of them is
 * found, with its rank and step. */
#include "support/check.h"
#include "coll/lab/export.h"
#include "coll/lab/import.h"
#include "coll/algos/registry.h"
#include "support/exported.h"

static unsigned long read_back, refused, mistakes;

static coll_import it;
static coll_sentence why;

static coll_import_result read_text(const char *text)
{
    return coll_import_read(&it, text, strlen(text), NULL, &why);
}

/* Reads and proves; what is wrong otherwise, or "". */
static const char *prove(const char *text)
{
    static char said[600];
    const coll_import_result result = read_text(text);
    said[0] = '\0';
    if (result == COLL_IMPORT_REFUSED)
        snprintf(said, sizeof said, "refused: %s", why.text);
    else if (result == COLL_IMPORT_WRONG || !coll_import_prove(&it))
        snprintf(said, sizeof said, "%s", it.report.sentence);
    coll_import_release(&it);
    return said;
}

static void proves(const char *text)
{
    const char *said = prove(text);
    if (!CHECK(said[0] == '\0'))
        printf("    %s\n", said);
}

/* It is refuted, in words that begin like this. */
static void refutes(const char *text, const char *words)
{
    const char *said = prove(text);
    mistakes++;
    if (!CHECK(strncmp(said, words, strlen(words)) == 0))
        printf("    \"%s\" instead of \"%s\"\n", said, words);
}

/* ---- what the exporters write ------------------------------------------------------------ */

/* Are the actions of two plans the same? */
static bool same_plan(const coll_plan *a, const coll_plan *b, uint32_t rank)
{
    const size_t steps = coll_plan_steps(a, rank);
    bool same = steps == coll_plan_steps(b, rank);
    for (size_t s = 0; s < steps && same; s++) {
        coll_action x[COLL_STEP_MAX], y[COLL_STEP_MAX];
        const unsigned n = coll_plan_step(a, rank, s, x), m = coll_plan_step(b, rank, s, y);
        unsigned k = 0;
        for (unsigned i = 0; i < n && same; i++) {
            if (x[i].count == 0) /* left out of the file */
                continue;
            same = k < m && x[i].kind == y[k].kind && x[i].peer == y[k].peer &&
                   x[i].count == y[k].count && x[i].flags == y[k].flags &&
                   (!coll_i_has(COLL_I_WRITES_DST, &x[i]) || x[i].dst == y[k].dst) &&
                   (!coll_i_has(COLL_I_READS_SRC, &x[i]) || x[i].src == y[k].src);
            k++;
        }
        same = same && k == m;
    }
    return same;
}

static void visit(rig *its, const char *what, void *arg)
{
    const coll_msccl_options msccl = {"Simple", 64};
    const coll_goal_options goal = {1, 1, 0, NULL, NULL};
    const coll_plan *plan = &its->ranks[0].plan;
    (void)arg;
    for (int format = 0; format < 3; format++) {
        exported to;
        coll_export_result result;
        const bool unread = format == 0 && coll_is(COLL_NEIGHBORLY, plan->problem.collective);
        exported_init(&to, its);
        result = format == 0   ? coll_export_json(&to.job)
                 : format == 1 ? coll_export_msccl(&to.job, &msccl)
                               : coll_export_goal(&to.job, &goal);
        if (result != COLL_EXPORTED) {
            free(to.text);
            continue;
        }
        if (unread) {
            CHECK_EQ(read_text(to.text), COLL_IMPORT_REFUSED);
            refused++;
        } else if (!CHECK_EQ(read_text(to.text), COLL_IMPORTED) ||
                   !CHECK(coll_import_prove(&it))) {
            printf("    %s %s, %u ranks, format %d: %s%s\n", what, plan->algorithm->name,
                   its->p, format, why.text, it.report.sentence);
        } else {
            for (uint32_t r = 0; r < its->p && format == 0; r++)
                CHECK(same_plan(&its->ranks[r].plan, &it.plans[r], r));
            CHECK_EQ(it.p, its->p);
            read_back++;
        }
        coll_import_release(&it);
        free(to.text);
    }
}

TEST(every_row)
{
    for (size_t i = 0; i < COLL_REGISTRY_COUNT; i += CHECK_SHARE) {
        CHECK(rig_each(coll_registry[i], 5, 7, visit, NULL));
        CHECK(rig_each(coll_registry[i], 8, 8, visit, NULL));
    }
    printf("    %lu files read back\n", read_back);
    CHECK(read_back > 800 / CHECK_SHARE);
}

/* ---- XML by hand ------------------------------------------------------------------------- */

/* An all-pairs allreduce of three ranks and three chunks: each rank gathers a chunk of the others in scratch, adds it up in a block of
 * its own, and gives it to them. */
#define GPU(r, a, b)                                                                           \
    "<gpu id='" #r "' i_chunks='3' o_chunks='3' s_chunks='2'>\n"                               \
    "<tb id='0' send='" #a "' recv='" #a "' chan='0'>\n"                                       \
    "<step s='0' type='s' srcbuf='i' srcoff='" #a "' dstbuf='o' dstoff='-1' cnt='1' "          \
    "depid='-1' deps='-1' hasdep='0'/>\n"                                                      \
    "<step s='1' type='r' srcbuf='i' srcoff='-1' dstbuf='s' dstoff='0' cnt='1' depid='-1' "    \
    "deps='-1' hasdep='1'/>\n"                                                                 \
    "<step s='2' type='s' srcbuf='o' srcoff='" #r "' dstbuf='o' dstoff='-1' cnt='1' "          \
    "depid='2' deps='2' hasdep='0'/>\n"                                                        \
    "<step s='3' type='r' srcbuf='i' srcoff='-1' dstbuf='o' dstoff='" #a "' cnt='1' "          \
    "depid='-1' deps='-1' hasdep='0'/>\n</tb>\n"                                               \
    "<tb id='1' send='" #b "' recv='" #b "' chan='0'>\n"                                       \
    "<step s='0' type='s' srcbuf='i' srcoff='" #b "' dstbuf='o' dstoff='-1' cnt='1' "          \
    "depid='-1' deps='-1' hasdep='0'/>\n"                                                      \
    "<step s='1' type='r' srcbuf='i' srcoff='-1' dstbuf='s' dstoff='1' cnt='1' depid='-1' "    \
    "deps='-1' hasdep='1'/>\n"                                                                 \
    "<step s='2' type='s' srcbuf='o' srcoff='" #r "' dstbuf='o' dstoff='-1' cnt='1' "          \
    "depid='2' deps='2' hasdep='0'/>\n"                                                        \
    "<step s='3' type='r' srcbuf='i' srcoff='-1' dstbuf='o' dstoff='" #b "' cnt='1' "          \
    "depid='-1' deps='-1' hasdep='0'/>\n</tb>\n"                                               \
    "<tb id='2' send='-1' recv='-1' chan='0'>\n"                                               \
    "<step s='0' type='cpy' srcbuf='i' srcoff='" #r "' dstbuf='o' dstoff='" #r "' cnt='1' "    \
    "depid='-1' deps='-1' hasdep='0'/>\n"                                                      \
    "<step s='1' type='re' srcbuf='s' srcoff='0' dstbuf='o' dstoff='" #r "' cnt='1' "          \
    "depid='0' deps='1' hasdep='0'/>\n"                                                        \
    "<step s='2' type='re' srcbuf='s' srcoff='1' dstbuf='o' dstoff='" #r "' cnt='1' "          \
    "depid='1' deps='1' hasdep='1'/>\n</tb>\n</gpu>\n"
/* C99 promises 4095 characters alone. */
#pragma GCC diagnostic ignored "-Woverlength-strings"
static const char all_pairs[] =
    "<?xml version='1.0'?>\n<!-- by hand -->\n"
    "<algo name='pairs' proto='LL' nchannels='1' nchunksperloop='3' ngpus='3' coll='allreduce' "
    "inplace='0' outofplace='1'>\n" GPU(0, 1, 2) GPU(1, 0, 2) GPU(2, 0, 1) "</algo>\n";

/* A ring allgather in place of three ranks, over two channels: each half of a block has its own. */
#define RING(r, next, last, other)                                                             \
    "<gpu id=\"" #r "\" i_chunks=\"2\" o_chunks=\"6\" s_chunks=\"0\">\n"                       \
    "<tb id=\"0\" send=\"" #next "\" recv=\"" #last "\" chan=\"0\">\n"                         \
    "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" cnt=\"1\"/>\n"                         \
    "<step s=\"1\" type=\"rcs\" dstbuf=\"o\" dstoff=\"" #last "0\" cnt=\"1\"/>\n"              \
    "<step s=\"2\" type=\"r\" dstbuf=\"o\" dstoff=\"" #other "0\" cnt=\"1\"/>\n</tb>\n"        \
    "<tb id=\"1\" send=\"" #next "\" recv=\"" #last "\" chan=\"1\">\n"                         \
    "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"1\" cnt=\"1\"/>\n"                         \
    "<step s=\"1\" type=\"rcs\" dstbuf=\"o\" dstoff=\"" #last "1\" cnt=\"1\"/>\n"              \
    "<step s=\"2\" type=\"r\" dstbuf=\"o\" dstoff=\"" #other                                   \
    "1\" cnt=\"1\"/>\n</tb>\n</gpu>\n"

/* Replaces the k-th `from` (0: the first) in a text; the caller frees it. */
static char *changed(const char *text, const char *from, unsigned k, const char *to)
{
    const char *at = strstr(text, from);
    char *other = (char *)malloc(strlen(text) + strlen(to) + 1);
    while (k-- > 0 && at)
        at = strstr(at + 1, from);
    CHECK(at);
    if (!at)
        at = text;
    memcpy(other, text, (size_t)(at - text));
    strcpy(other + (at - text), to);
    strcat(other, at + strlen(from));
    return other;
}

static void mutant(const char *text, const char *from, unsigned k, const char *to,
                   const char *words)
{
    char *other = changed(text, from, k, to);
    refutes(other, words);
    free(other);
}

TEST(thread_blocks)
{
    proves(all_pairs);
    /* a dependence that is missing, or never told */
    mutant(
        all_pairs, "depid='0' deps='1'", 0, "depid='-1' deps='-1'",
        "rank 0, step 1: thread block 2 (line 19) reads SCRATCH[0] in no order with step 1 of "
        "thread block 0");
    mutant(all_pairs, "depid='2' deps='2'", 3, "depid='-1' deps='-1'",
           "rank 1, step 2: thread block 1");
    mutant(
        all_pairs, "hasdep='1'", 0, "hasdep='0'",
        "rank 0, step 1: thread block 2 (line 19) waits for step 1 of block 0, which does not "
        "say hasdep=\"1\"");
    /* a message that nobody receives, or of another size */
    mutant(
        all_pairs,
        "<step s='3' type='r' srcbuf='i' srcoff='-1' dstbuf='o' dstoff='1' cnt='1' depid='-1' "
        "deps='-1' hasdep='0'/>\n",
        0, "",
        "rank 1, step 2: thread block 0 (line 26) sends rank 0 over channel 0 a message that "
        "nobody receives: of 2 messages 1 are received");
    mutant(
        all_pairs, "type='s' srcbuf='i' srcoff='1' dstbuf='o' dstoff='-1' cnt='1'", 0,
        "type='s' srcbuf='i' srcoff='1' dstbuf='o' dstoff='-1' cnt='2'",
        "rank 1, step 1: thread block 0 (line 26) expects 1 elements of rank 0, which sends 2");
    /* another chunk, an offset beyond the buffer, one operand twice, a copy for a reduction */
    mutant(all_pairs, "srcbuf='i' srcoff='2'", 0, "srcbuf='i' srcoff='1'", "rank 2, step ");
    mutant(all_pairs, "dstbuf='s' dstoff='1'", 0, "dstbuf='s' dstoff='2'",
           "rank 0, step 1: thread block 1 (line 13) writes s[2], 1 chunks, but s has 2");
    mutant(all_pairs, "type='re' srcbuf='s' srcoff='0'", 2, "type='cpy' srcbuf='s' srcoff='0'",
           "rank 0, at the end: OUT[2] lacks the contribution of rank 2");
    mutant(all_pairs, "type='re' srcbuf='s' srcoff='1'", 1, "type='re' srcbuf='s' srcoff='0'",
           "rank 0, at the end: OUT[1] has the contribution of rank 0 2 times");
    /* a circle */
    mutant(all_pairs, "cnt='1' depid='-1' deps='-1' hasdep='1'", 0,
           "cnt='1' depid='2' deps='2' hasdep='1'", "rank 0, step ");
}

TEST(channels)
{
    /* blocks of two chunks: block r is chunks 2r and 2r + 1 */
    static const char ring[] =
        "<algo name=\"ring\" proto=\"Simple\" nchannels=\"2\" nchunksperloop=\"6\" ngpus=\"3\" "
        "coll=\"allgather\" inplace=\"1\">\n" RING(0, 1, 2, 1) RING(1, 2, 0, 2)
            RING(2, 0, 1, 0) "</algo>";
    char text[sizeof ring];
    char *to = text;
    for (const char *at = ring; *at; at++) { /* dstoff="RC": chunk C of rank R */
        if (strncmp(at, "dstoff=\"", 8) == 0) {
            to += sprintf(to, "dstoff=\"%d\"", 2 * (at[8] - '0') + (at[9] - '0'));
            at += 10;
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
    proves(text);
    CHECK_EQ(read_text(text), COLL_IMPORTED);
    CHECK(coll_in_place(&it.plans[0]));
    CHECK(coll_import_prove(&it));
    CHECK(it.report.window > 0 && it.report.window < 8);
    coll_import_release(&it);
    mutant(text, "chan=\"1\"", 0, "chan=\"0\"",
           "refused: line 8: block 0 has the same peer on channel 0");
    mutant(text, "coll=\"allgather\"", 0, "coll=\"mine\"", "");
    mutant(text, "type=\"rcs\"", 0, "type=\"r\"", "rank 1, step 2: thread block 0");
}

/* ---- JSON by hand ------------------------------------------------------------------------ */

static const char json[] =
    "{\"format\": \"coll-schedule\", \"version\": 1, \"more\": [{\"a\": -1.5e3}, \"\\\"\"],\n"
    " \"plan\": {\"collective\": \"allreduce\", \"algorithm\": \"swap\"},\n"
    " \"problem\": {\"ranks\": 2, \"count\": 3, \"elem_bytes\": 4, \"commutative\": true},\n"
    " \"ranks\": [{\"rank\": 0, \"in\": 3, \"out\": 3, \"scratch\": 3, \"steps\": [\n"
    "[{\"kind\": \"send\", \"peer\": 1, \"count\": 3, \"src\": {\"space\": \"IN\", \"offset\": "
    "0}}],\n"
    "[{\"kind\": \"recv\", \"peer\": 1, \"count\": 3, \"dst\": {\"space\": \"SCRATCH\", "
    "\"offset\": 0}}],\n"
    "[{\"kind\": \"reduce\", \"inputs\": 1, \"count\": 3, \"dst\": {\"space\": \"OUT\", "
    "\"offset\": 0},\n"
    "  \"src\": {\"space\": \"IN\", \"offset\": 0}, \"via\": {\"space\": \"SCRATCH\", "
    "\"offset\": 0}, \"after\": [1]}]]},\n"
    "{\"rank\": 1, \"in\": 3, \"out\": 3, \"scratch\": 3, \"steps\": [\n"
    "[{\"kind\": \"send\", \"peer\": 0, \"count\": 3, \"src\": {\"space\": \"IN\", \"offset\": "
    "0}},\n"
    " {\"kind\": \"recv_reduce\", \"peer\": 0, \"count\": 3, \"dst\": {\"space\": \"OUT\", "
    "\"offset\": 0},\n"
    "  \"src\": {\"space\": \"IN\", \"offset\": 0}, \"via\": {\"space\": \"SCRATCH\", "
    "\"offset\": 0}}]]}]}\n";

TEST(actions)
{
    proves(json);
    mutant(
        json, "\"after\": [1]", 0, "\"after\": []",
        "rank 0, step 2: action 2 (line 7) touches elements of action 1 (step 1), and does not "
        "say that it comes after it");
    mutant(json, "\"recv\"", 0, "\"send\"", "refused: line 6: a send needs \"src\"");
    mutant(
        json, "\"count\": 3, \"dst\"", 0, "\"count\": 2, \"dst\"",
        "rank 0, step 1: expects 2 elements from rank 1, which sent 3 elements at its step 0 "
        "(line 6)");
    mutant(json, "\"SCRATCH\", \"offset\": 0", 0, "\"SCRATCH\", \"offset\": 1",
           "rank 0, step 1: the destination is SCRATCH[1], 3 elements, but SCRATCH has 3");
    mutant(json, "\"peer\": 1", 1, "\"peer\": 9", "rank 0, step 1: the peer is rank 9 of 2");
    mutant(json, "\"in\": 3", 1, "\"in\": 4", "refused: line ");
    mutant(json, "\"ranks\": 2", 0, "\"ranks\": 3", "refused: line ");
    mutant(json, "\"version\": 1", 0, "\"version\": 2",
           "refused: line 1: version 1 can be read");
    mutant(json, "\"count\": 3", 0, "\"count\": 9007199254740993",
           "refused: line 3: count is a");
    mutant(json, "\"rank\": 1", 0, "\"rank\": 0", "refused: line 9: ranks are in order");
}

/* ---- GOAL by hand ------------------------------------------------------------------------ */

static const char goal[] =
    "num_ranks 2\n// there and back\nrank 0 {\n"
    "a: send 8b to 1 tag 3 cpu 0\nb: recv 16b from 1\nc: calc 20\n"
    "c requires b\n}\n/* the other */ rank 1 {\nx: recv 8b from 0 tag 3\n"
    "calc 5\ny: send 16b to 0 tag 0 cpu 1 nic 0\ny requires x\n}\n";

TEST(programs)
{
    proves(goal);
    mutant(goal, "recv 8b", 0, "recv 9b",
           "rank 1, step 0: (line 10) expects 9 bytes from rank 0");
    mutant(goal, "tag 3", 1, "tag 4",
           "rank 0, step 0: (line 4) sends rank 1 a message of tag 3");
    mutant(goal, "b: recv 16b from 1\n", 0, "b: calc 0\n",
           "rank 1, step 2: (line 12) sends rank 0 a message of tag 0 that nobody receives");
    mutant(goal, "a: send 8b to 1 tag 3 cpu 0\nb: recv 16b from 1\n", 0,
           "b: recv 16b from 1\na: send 8b to 1 tag 3\na requires b\n", "rank ");
    mutant(goal, "from 1", 0, "from -1", "refused: line 5: any rank could match");
    mutant(goal, "c requires b", 0, "c requires d",
           "refused: line 7: there is no operation \"d\"");
    mutant(goal, "c: calc", 0, "b: calc", "refused: line 6: the label \"b\" is there twice");
    /* sends that wait for their receivers */
    refutes("num_ranks 2\nrank 0 {\na: send 1b to 1\nb: recv 1b from 1\nb requires a\n}\n"
            "rank 1 {\na: send 1b to 0\nb: recv 1b from 0\nb requires a\n}\n",
            "rank ");
    refutes("num_ranks 2\nrank 0 {\nsend 1b to 1\nsend 2b to 1\n}\nrank 1 {\nrecv 1b from 0\n"
            "recv 2b from 0\n}\n",
            "rank 0, step 1: (line 4) has the tag 0 of a message of another size (line 3)");
    printf("    %lu mistakes found\n", mistakes);
}

/* Cut anywhere, or with a byte that is another one, it is refused or refuted, or proven all the same; nothing else. */
TEST(hostile)
{
    const char *const texts[] = {all_pairs, json, goal};
    for (size_t t = 0; t < 3; t++) {
        const size_t n = strlen(texts[t]);
        for (size_t cut = 0; cut + 2 < n; cut += 3) {
            char *part = (char *)malloc(cut + 1);
            memcpy(part, texts[t], cut);
            CHECK(coll_import_read(&it, part, cut, NULL, &why) != COLL_IMPORTED || cut > n - 4);
            coll_import_release(&it);
            free(part);
        }
        for (size_t at = 0; at < n; at += 7) {
            char *other = changed(texts[t], "", 0, "");
            other[at] = (char)('0' + at % 80);
            if (read_text(other) == COLL_IMPORTED)
                (void)coll_import_prove(&it);
            coll_import_release(&it);
            free(other);
        }
    }
}

int main(void)
{
    RUN(every_row);
    RUN(thread_blocks);
    RUN(channels);
    RUN(actions);
    RUN(programs);
    RUN(hostile);
    return check_done();
}
