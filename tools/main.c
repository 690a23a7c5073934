/* tools/main.c — the command `coll`: lists, shows, proves and runs the algorithms of the
 * registry */
#include <stdio.h>
#include <string.h>

#include "coll/config.h"
#include "commands.h"
#include "names.h"
#include "options.h"

static const struct subcommand {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} subcommands[] = {
    {"list", "list the algorithms, their parameters and traits", list_main},
    {"show", "show what an algorithm does, step by step and in a picture", show_main},
    {"verify", "prove that algorithms are right", verify_main},
    {"try", "prove, draw and simulate the algorithms of one header", try_main},
    {"run", "run an algorithm on data, check the result and measure", run_main},
    {"model", "evaluate the formulas that tell what a collective costs", model_main},
    {"regimes", "show which algorithm is the fastest where, by such formulas", regimes_main},
    {"sim", "simulate an algorithm on a machine of any size", sim_main},
    {"sweep", "simulate all combinations of algorithms, sizes and machines", sweep_main},
    {"report", "write a page on an algorithm: picture, proof, cost, simulation, comparison",
     report_main},
    {"select", "tell which algorithm the rules choose, and why", select_main},
    {"calibrate", "measure what messages, copies and reductions take on this machine",
     calibrate_main},
    {"tune", "find the fastest algorithms, and write rules", tune_main},
    {"launch", "start processes that share memory", launch_main},
    {"top", "show which calls the ranks of running jobs are in, and who is waited for",
     top_main},
    {"export", "write what an algorithm does in a format of others", export_main},
    {"amalgamate", "write one header of what a program uses", amalgamate_main},
};
enum { SUBCOMMANDS = sizeof subcommands / sizeof subcommands[0] };

static void print_help(void)
{
    printf("coll — collective algorithms as pure step functions\n\n"
           "usage: coll SUBCOMMAND [option]…\n\n");
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        printf("  %-10s %s\n", subcommands[i].name, subcommands[i].summary);
    printf("  %-10s print this; with a subcommand, what that understands\n"
           "  %-10s print the version\n\n"
           "Exit codes: 0 done, 1 a proof failed or a result is wrong, 2 the request cannot be "
           "met.\n",
           "--help", "--version");
}

int main(int argc, char **argv)
{
    const char *names[SUBCOMMANDS];
    const char *word = argc > 1 ? argv[1] : "";
    if (argc < 2)
        refuse("a subcommand is missing; coll --help lists them");
    if (strcmp(word, "--version") == 0 || strcmp(word, "--help") == 0 ||
        strcmp(word, "-h") == 0) {
        if (argc > 2)
            refuse("nothing is expected after %s", word);
        if (strcmp(word, "--version") == 0) {
            printf("coll %d.%d.%d\n", COLL_VERSION_MAJOR, COLL_VERSION_MINOR,
                   COLL_VERSION_PATCH);
        } else {
            print_help();
        }
        return output_end(0);
    }
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        names[i] = subcommands[i].name;
    return output_end(subcommands[name_index("subcommand", word, names, SUBCOMMANDS)].run(
        argc - 1, argv + 1));
}
