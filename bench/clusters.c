/* bench/clusters.c — rules for several nodes, made by the simulator, and what they lose
 *
 *   clusters measure NAME [FROM]     simulates all choices on a cluster, and prints what they lose
 *   clusters rules NAME FILE REGISTRY  the rows of select/cluster_NAME.h from that; REGISTRY is
 *                                    include/coll/algos/registry.h
 *   clusters check NAME N [SEED [COLLECTIVE]]  what rules lose in N problems that the making has not seen
 *
 * A cluster is a machine of lab/sim: LogGP between nodes, copies within, one NIC for each node. All algorithms that
 * messages alone suffice for are choices, composite ones too. A cell is a class of ranks a node, of ranks and of
 * bytes. It has two samples, of which one is far from powers of two: a choice is judged by what it loses in the
 * worse one. Cells are covered by boxes, each with one choice that loses little in every cell that no earlier box
 * covers: the largest box first. Where only small boxes are left, more may be lost, so there are few.
 */
#include "clusters.h"

/* ---- measuring ----------------------------------------------------------------------------------- */

/* Prints a line for each choice that is near the best of a sample: collective, class, group, size, sample, choice,
 * and what it loses. Of many ranks, only choices that were near for half as many are simulated. */
static void measure(const cluster *at, uint32_t collective)
{
    enum { MANY = 4 };
    static double us[CHOICES];
    const coll_collective c = cluster_collectives[collective];
    for (uint32_t n = 0; n < CLASSES; n++)
        for (uint32_t size = 0; size < SIZES; size++) {
            bool near[CHOICES], any = false;
            uint32_t best = 0;
            for (uint32_t g = 0; g < GROUPS; g++) {
                bool now[CHOICES] = {false};
                bool known = false;
                for (uint32_t s = 0; s < SAMPLES; s++) {
                    const uint32_t p = sample_of(at, n, g, s);
                    coll_problem problem;
                    uint32_t found;
                    if (p == 0 || !fits(c, p, bytes_of(size)) ||
                        (c == COLL_BARRIER && size > 0))
                        continue;
                    problem_of(&problem, c, p, at->ppn[n][s], bytes_of(size));
                    found = simulate(at, &problem, best, any && g >= MANY ? near : NULL, us);
                    if (found == n_choices)
                        continue;
                    best = found;
                    known = true;
                    for (uint32_t k = 0; k < n_choices; k++)
                        if (us[k] <= prune * us[best]) {
                            now[k] = true;
                            printf("%u %u %u %u %u %u %.4f\n", collective, n, g, size, s, k,
                                   us[k] / us[best] - 1);
                        }
                }
                any = any || known;
                if (known)
                    memcpy(near, now, sizeof near);
            }
            fflush(stdout);
        }
}

/* ---- boxes --------------------------------------------------------------------------------------- */

typedef struct box {
    uint32_t from[3], to[3]; /* class, group, size */
    uint32_t choice;
} box;

enum { ENDS = (CLASSES + 1) * (GROUPS + 1) * (SIZES + 1) };
static double loss[CHOICES][CLASSES][GROUPS][SIZES]; /* the largest of the samples */
static bool open_cell[CLASSES][GROUPS][SIZES];       /* has samples, and no box covers it */
static double cell_least[CLASSES][GROUPS][SIZES];    /* that any choice loses */

/* Sums of all cells before, for each choice: cells that are open, those in which it loses too much, and its losses. */
typedef struct sums {
    double open, bad, lost;
} sums;
static sums so_far[CLASSES + 1][GROUPS + 1][SIZES + 1];
static double loss_most;

static void sum_up(uint32_t which)
{
    memset(so_far, 0, sizeof so_far);
    for (uint32_t n = 0; n < CLASSES; n++)
        for (uint32_t g = 0; g < GROUPS; g++) {
            sums row = {0, 0, 0};
            for (uint32_t s = 0; s < SIZES; s++) {
                const sums *a = &so_far[n][g + 1][s + 1], *b = &so_far[n + 1][g][s + 1],
                           *c = &so_far[n][g][s + 1];
                if (open_cell[n][g][s]) {
                    const double its = loss[which][n][g][s];
                    row.open += 1;
                    row.bad += its > fmax(loss_most, cell_least[n][g][s] * 1.02);
                    row.lost += fmin(its, 10);
                }
                so_far[n + 1][g + 1][s + 1].open = a->open + b->open - c->open + row.open;
                so_far[n + 1][g + 1][s + 1].bad = a->bad + b->bad - c->bad + row.bad;
                so_far[n + 1][g + 1][s + 1].lost = a->lost + b->lost - c->lost + row.lost;
            }
        }
}

static sums sums_of(const box *b)
{
    sums all_of = {0, 0, 0};
    for (unsigned i = 0; i < 8; i++) {
        const double sign = (i ^ i >> 1 ^ i >> 2) & 1 ? 1 : -1;
        const sums *at =
            &so_far[i & 1 ? b->to[0] + 1 : b->from[0]][i & 2 ? b->to[1] + 1 : b->from[1]]
                   [i & 4 ? b->to[2] + 1 : b->from[2]];
        all_of.open += sign * at->open;
        all_of.bad += sign * at->bad;
        all_of.lost += sign * at->lost;
    }
    return all_of;
}

static uint32_t volume(const box *b)
{
    uint32_t v = 1;
    for (unsigned d = 0; d < 3; d++)
        v *= b->to[d] - b->from[d] + 1;
    return v;
}

/* The box that covers most open cells; 0: there are none. */
static uint32_t find_box(box *best)
{
    double most = 0, lost = 0;
    box b;
    for (b.choice = 0; b.choice < n_choices; b.choice++) {
        sum_up(b.choice);
        for (b.from[0] = 0; b.from[0] < CLASSES; b.from[0]++)
            for (b.to[0] = b.from[0]; b.to[0] < CLASSES; b.to[0]++)
                for (b.from[1] = 0; b.from[1] < GROUPS; b.from[1]++)
                    for (b.to[1] = b.from[1]; b.to[1] < GROUPS; b.to[1]++)
                        for (b.from[2] = 0; b.from[2] < SIZES; b.from[2]++)
                            for (b.to[2] = b.from[2]; b.to[2] < SIZES; b.to[2]++) {
                                const sums its = sums_of(&b);
                                if (its.bad > .5 || its.open < .5 || its.open < most - .5)
                                    continue;
                                if (its.open > most + .5 || its.lost < lost - 1e-6 ||
                                    (its.lost < lost + 1e-6 && volume(&b) > volume(best))) {
                                    most = its.open;
                                    lost = its.lost;
                                    *best = b;
                                }
                            }
    }
    return (uint32_t)most;
}

static size_t between(size_t a, size_t b)
{
    return (size_t)sqrt((double)a * (double)b);
}

static char idents[COLL_REGISTRY_COUNT][64];

/* The names of the records, as the registry has them in its order. */
static void read_registry(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256];
    size_t n = 0;
    bool inside = false;
    while (file && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, "&coll_");
        inside = inside || strncmp(line, "COLL_I_REGISTRY({", 17) == 0;
        if (inside && at && n < COLL_REGISTRY_COUNT)
            snprintf(idents[n++], sizeof idents[0], "%.*s", (int)strcspn(at + 1, ",\n"),
                     at + 1);
        if (inside && line[0] == '}')
            break;
    }
    if (file)
        fclose(file);
    if (n != COLL_REGISTRY_COUNT) {
        fprintf(stderr, "clusters: %s has %zu algorithms, not %zu\n", path, n,
                (size_t)COLL_REGISTRY_COUNT);
        exit(1);
    }
}

static void number(size_t value, size_t most, const char *word)
{
    if (value == most)
        printf("%s", word);
    else
        printf("%zu", value);
}

static void print_box(const cluster *at, uint32_t collective, const box *b)
{
    static const char *const upper[] = {
        "BARRIER",  "ALLREDUCE", "BCAST",   "REDUCE", "ALLGATHER", "REDUCE_SCATTER_BLOCK",
        "ALLTOALL", "GATHER",    "SCATTER", "SCAN",   "EXSCAN"};
    const choice *one = &choices[b->choice];
    coll_rule rule;
    rule_of(&rule, one, cluster_collectives[collective]);
    printf("    COLL_I_CLUSTER(COLL_%s, ", upper[collective]);
    printf("%u, ", b->from[1] == 0 ? 1 : group_least(b->from[1]));
    number(b->to[1] + 1 == GROUPS ? UINT32_MAX : group_least(b->to[1] + 1) - 1, UINT32_MAX,
           "COLL_ANY_P");
    printf(", %zu, ", b->from[2] == 0
                          ? (size_t)0
                          : between(bytes_of(b->from[2] - 1), bytes_of(b->from[2])));
    number(b->to[2] + 1 == SIZES ? SIZE_MAX
                                 : between(bytes_of(b->to[2]), bytes_of(b->to[2] + 1)) - 1,
           SIZE_MAX, "SIZE_MAX");
    printf(", %u, ", at->ppn_least[b->from[0]]);
    number(b->to[0] + 1 == CLASSES ? UINT32_MAX : at->ppn_least[b->to[0] + 1] - 1, UINT32_MAX,
           "COLL_ANY_P");
    printf(", &%s%s", idents[one->index], "");
    for (uint32_t k = 0; k < 3; k++) {
        printf(", ");
        number(rule.param[k], COLL_DEFAULT, "COLL_DEFAULT");
    }
    printf(", %u),\n", rule.in_bytes);
}

/* Reads what `measure` printed of a collective. */
static void read_losses(FILE *file, uint32_t collective)
{
    uint32_t c, n, g, size, s, k;
    double its;
    static double sample[SAMPLES][CHOICES][CLASSES][GROUPS][SIZES];
    static bool has[SAMPLES][CLASSES][GROUPS][SIZES];
    for (uint32_t i = 0; i < SAMPLES * CHOICES * CLASSES * GROUPS * SIZES; i++)
        (&sample[0][0][0][0][0])[i] = 9;
    memset(has, 0, sizeof has);
    rewind(file);
    while (fscanf(file, "%u %u %u %u %u %u %lf", &c, &n, &g, &size, &s, &k, &its) == 7)
        if (c == collective && n < CLASSES && g < GROUPS && size < SIZES && s < SAMPLES &&
            k < CHOICES) {
            sample[s][k][n][g][size] = its;
            has[s][n][g][size] = true;
        }
    for (n = 0; n < CLASSES; n++)
        for (g = 0; g < GROUPS; g++)
            for (size = 0; size < SIZES; size++) {
                open_cell[n][g][size] = has[0][n][g][size] || has[1][n][g][size];
                cell_least[n][g][size] = HUGE_VAL;
                for (k = 0; k < CHOICES; k++) {
                    double most = 0;
                    for (s = 0; s < SAMPLES; s++)
                        if (has[s][n][g][size])
                            most = fmax(most, sample[s][k][n][g][size]);
                    loss[k][n][g][size] = most;
                    cell_least[n][g][size] = fmin(cell_least[n][g][size], most);
                }
            }
}

static double open_cells(void)
{
    double cells = 0;
    for (uint32_t i = 0; i < CLASSES * GROUPS * SIZES; i++)
        cells += (&open_cell[0][0][0])[i];
    return cells;
}

static void make_rules(const cluster *at, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "clusters: %s cannot be read\n", path);
        exit(1);
    }
    for (uint32_t i = 0; i < CLUSTER_COLLECTIVES; i++) {
        box b = {{0, 0, 0}, {0, 0, 0}, 0};
        double cells;
        find_choices(cluster_collectives[i]);
        read_losses(file, i);
        cells = open_cells();
        for (unsigned turn = 0; turn < 4;) {
            loss_most = losses_most[turn];
            const uint32_t covers = find_box(&b);
            if (covers == 0 || covers < share_least[turn] * cells) {
                turn++;
                continue;
            }
            print_box(at, i, &b);
            for (uint32_t n = b.from[0]; n <= b.to[0]; n++)
                for (uint32_t g = b.from[1]; g <= b.to[1]; g++)
                    for (uint32_t s = b.from[2]; s <= b.to[2]; s++)
                        open_cell[n][g][s] = false;
        }
        fflush(stdout);
    }
    fclose(file);
}

/* ---- checking ------------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static double fraction(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 40) / (1 << 24);
}

typedef struct losses {
    double sum, worst;
    char where[160];
} losses;

static void lose(losses *l, double its, const char *where)
{
    l->sum += its;
    if (its > l->worst) {
        l->worst = its;
        snprintf(l->where, sizeof l->where, "%s", where);
    }
}

static void check(const cluster *at, uint32_t problems, const char *only)
{
    losses before = {0, 0, ""}, now = {0, 0, ""};
    losses each[CLUSTER_COLLECTIVES];
    uint32_t counts[CLUSTER_COLLECTIVES];
    memset(each, 0, sizeof each);
    memset(counts, 0, sizeof counts);
    for (uint32_t i = 0; i < problems;) {
        static double us[CHOICES];
        const uint32_t c = (uint32_t)(fraction() * CLUSTER_COLLECTIVES);
        const uint32_t ppn = (uint32_t)exp2(fraction() * log2(at->ppn_most + .99));
        const uint32_t nodes = (uint32_t)exp2(1 + fraction() * 8);
        const size_t bytes = (size_t)exp2(3 + fraction() * 18) / UNIT * UNIT;
        const uint32_t p = ppn * nodes;
        const coll_rule *found, *old;
        coll_problem problem;
        double with, without, best;
        char where[160];
        if (p < 4 || p > 400 || !fits(cluster_collectives[c], p, bytes) ||
            (cluster_collectives[c] == COLL_ALLTOALL && p > 256))
            continue;
        if (only ? strcmp(coll_collective_name(cluster_collectives[c]), only) != 0
                 : cluster_collectives[c] == COLL_BARRIER && fraction() > .2)
            continue;
        i++;
        find_choices(cluster_collectives[c]);
        problem_of(&problem, cluster_collectives[c], p, ppn, bytes);
        best = us[simulate(at, &problem, 0, NULL, us)];
        with = us_of_rules(at, &problem, at->machine->list, &found);
        without = us_of_rules(at, &problem, &coll_rules_of_nodes, &old);
        best = fmin(best, fmin(with, without));
        snprintf(where, sizeof where, "%s of %zu bytes on %u nodes of %u: %s",
                 coll_collective_name(cluster_collectives[c]), bytes, nodes, ppn,
                 found->algorithm->name);
        lose(&now, with / best - 1, where);
        lose(&each[c], with / best - 1, where);
        counts[c]++;
        snprintf(where, sizeof where, "%s of %zu bytes on %u nodes of %u: %s",
                 coll_collective_name(cluster_collectives[c]), bytes, nodes, ppn,
                 old->algorithm->name);
        lose(&before, without / best - 1, where);
    }
    printf("%s: %u problems; loss in the mean %.1f %%, at worst %.0f %% (%s)\n",
           at->machine->name, problems, 100 * now.sum / problems, 100 * now.worst, now.where);
    printf("%s: by coll_rules_of_nodes %.1f %%, at worst %.0f %% (%s)\n", at->machine->name,
           100 * before.sum / problems, 100 * before.worst, before.where);
    for (uint32_t c = 0; c < CLUSTER_COLLECTIVES; c++)
        if (counts[c] > 0)
            printf("    %-22s %4u problems, %5.1f %%, at worst %4.0f %% (%s)\n",
                   coll_collective_name(cluster_collectives[c]), counts[c],
                   100 * each[c].sum / counts[c], 100 * each[c].worst, each[c].where);
}

int main(int argc, char **argv)
{
    for (uint32_t i = 0; argc >= 3 && i < CLUSTERS; i++) {
        if (strcmp(cluster_machines[i].name, argv[2]) != 0)
            continue;
        coll_sim_init(&sim);
        if (strcmp(argv[1], "measure") == 0) {
            for (uint32_t c = argc > 3 ? (uint32_t)atoi(argv[3]) : 0; c < CLUSTER_COLLECTIVES;
                 c++) {
                find_choices(cluster_collectives[c]);
                measure(&clusters[i], c);
            }
            return 0;
        }
        if (strcmp(argv[1], "rules") == 0 && argc == 5) {
            read_registry(argv[4]);
            make_rules(&clusters[i], argv[3]);
            return 0;
        }
        if (strcmp(argv[1], "check") == 0 && argc >= 4 && atoi(argv[3]) > 0) {
            random_state = argc > 4 ? (uint64_t)atoi(argv[4]) : 1;
            check(&clusters[i], (uint32_t)atoi(argv[3]), argc > 5 ? argv[5] : NULL);
            return 0;
        }
    }
    fprintf(stderr, "clusters measure NAME, clusters rules NAME FILE REGISTRY, or clusters "
                    "check NAME N [SEED]; names:");
    for (uint32_t i = 0; i < CLUSTERS; i++)
        fprintf(stderr, " %s", cluster_machines[i].name);
    fprintf(stderr, "\n");
    return 2;
}
