/* tools/commands.h — the subcommands. Each reads its arguments (argv[0] is its name) and
 * returns the exit code: 0 done, 1 a proof or a result is wrong; a request that cannot be met
 * ends the program with 2. */
#ifndef COLL_TOOLS_COMMANDS_H
#define COLL_TOOLS_COMMANDS_H

int list_main(int argc, char **argv);
int show_main(int argc, char **argv);
int verify_main(int argc, char **argv);
int run_main(int argc, char **argv);
int model_main(int argc, char **argv);
int regimes_main(int argc, char **argv);
int sim_main(int argc, char **argv);
int sweep_main(int argc, char **argv);
int report_main(int argc, char **argv);
int select_main(int argc, char **argv);
int export_main(int argc, char **argv);
int try_main(int argc, char **argv);
int launch_main(int argc, char **argv);
int top_main(int argc, char **argv);
int calibrate_main(int argc, char **argv);
int tune_main(int argc, char **argv);
int amalgamate_main(int argc, char **argv);

#endif /* COLL_TOOLS_COMMANDS_H */
