/* mpi/layer/layer.h — libcollmpi.so: the collectives of an unmodified MPI program on coll
 *
 *   LD_PRELOAD=…/libcollmpi.so mpiexec -n 8 ./program
 *
 * The layer sits in MPI's profiling interface. What the program calls arrives at entries.c, which
 * writes the arguments of each collective into one form, `struct call`. calls.c makes a job of
 * it: a problem of coll, buffers, a plan. jobs.c runs jobs; tokens.c gives the program an ordinary
 * request for each that does not block. waits.c has the calls in which a program waits, as
 * outstanding jobs must move on there.
 *
 *   setup.c    MPI_Init, MPI_Finalize
 *   control.c  what the environment asks for
 *   comms.c    a private communicator for each of the program's
 *   nodes.c    which ranks share a node, and messages through its memory
 *   types.c    datatypes: what coll calls them, and whether their data is one run of bytes
 *   buffers.c  where the blocks of a buffer lie; packing those that have gaps
 *   memory.c   memory of the node, for the program and for what is kept for the next call
 *   ops.c      operators
 *   plans.c    which algorithm
 *   repeats.c  calls that were made before
 *   again.h    the direct way for those that block
 *   tuned.h    rules for messages of MPI libraries on one machine
 *   report.c   COLL_VERBOSE
 *   failures.c who has died, and what becomes of communicators
 *   ulfm.c     MPIX_Comm_revoke, agree, shrink
 *   tokens.c   the program's requests
 *   late.c     COLL_DEADLINE, COLL_TOP
 *   trace.c    COLL_TRACE
 *   ticks.h    the clock for it
 *   tools.c    other libraries that are preloaded
 *
 * Who decides. Whether a call is run here or by the library's own collective must be the same on
 * all ranks, so it depends only on what is the same on all of them: the collective, the
 * communicator, the operator and its type. The one exception are arguments that the library is
 * sure to refuse: the call then goes there to be refused, as without the layer.
 *
 * Data. Buffers whose data is one run of bytes are used in place. Others are packed into memory
 * of the layer and unpacked at the end. Collectives that only move data move bytes; those that
 * reduce combine packed elements.
 *
 * Threads. One lock around everything, if the program asked for MPI_THREAD_MULTIPLE.
 */
#ifndef COLL_LAYER_H
#define COLL_LAYER_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll/coll.h"
#include "coll/executor/in_order.h"
#include "coll/plan/rank_order.h"
#include "coll/select/names.h"
#include "coll/transports/join.h"
#include "coll/transports/mpi.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- datatypes: types.c ------------------------------------------------------------------ */

typedef enum type_kind {
    KIND_OTHER, /* nothing predefined reduces it */
    KIND_INTEGER,
    KIND_FORTRAN_INTEGER, /* no logical operators */
    KIND_FLOATING,
    KIND_COMPLEX,
    KIND_LOGICAL,
    KIND_BYTE,
    KIND_CHARACTER, /* the standard has no operators for it, and libraries take it as an integer */
    KIND_PAIR
} type_kind;

struct type {
    MPI_Datatype handle;
    size_t size;      /* bytes of data of an element */
    ptrdiff_t extent; /* from one element to the next */
    ptrdiff_t lb, true_lb, true_extent;
    bool flat;  /* an element's data is one run of bytes, in the order in which it is sent */
    bool dense; /* and one element begins where the other ends */
    bool predefined;
    type_kind kind;
    coll_type element; /* COLL_TYPES: not one of coll's */
    unsigned
        taken; /* predefined operators that the library takes: a bit for each coll_operator */
    unsigned users; /* jobs that need it until they are done */
    bool freed;     /* by the program, while it had users */
};

void types_init(void);
void types_end(void);
/* NULL: the library refuses it. */
struct type *type_of(MPI_Datatype datatype);
void type_use(struct type *type);
void type_done(struct type *type);

/* ---- operators: ops.c -------------------------------------------------------------------- */

struct operation {
    MPI_Op handle;
    int number; /* of a predefined one: a coll_operator; COLL_USER_OP: the program's */
    bool commutative;
    unsigned users;
    bool freed;
    struct operation *next; /* of the program's */
};

/* What the library's own function is called with, to combine elements. */
struct combination {
    struct operation *operation;
    struct type *type;
    unsigned char
        *room; /* combine_room bytes; NULL: it is not needed, the operator is coll's */
};

void ops_init(void);
/* Fills in `taken` of a predefined type, whose errors the library returns meanwhile. True: an integer of one byte
 * has a sign there. */
bool operations_ask(struct type *type);
/* NULL: the library refuses it. */
struct operation *operation_of(MPI_Op op);
void operation_use(struct operation *operation);
void operation_done(struct operation *operation);
/* Writes the operator on packed elements of a type, and to combination->type what room has to be
 * for, or NULL; false: MPI does not define it there. */
bool operation_on(struct operation *operation, struct type *type,
                  struct combination *combination, coll_op *op);
/* Bytes in which elements of a type are combined by the library's function. */
size_t combine_room(const struct type *type);

/* ---- communicators: comms.c -------------------------------------------------------------- */

struct repeat;
struct repeats;
struct pact;

struct comm {
    MPI_Comm handle; /* the program's; MPI_COMM_NULL once it is freed */
    bool runs_here;  /* false: it has two groups, or other worlds, or got no private one */
    bool meets;      /* it has several ranks, all of this world */
    coll_mpi mpi;    /* on a private communicator of the same ranks */
    uint32_t rank, p;
    coll_rank_order places; /* its ranks by nodes, if these are several */
    uint32_t *tables;       /* of `places` */
    uint32_t
        *seats; /* its ranks' in the memory of this rank's node, COLL_RANK_NONE if elsewhere;
                       * NULL: messages are the library's */
    coll_join join;      /* with seats on several nodes: the node's memory and the library */
    uint32_t number;     /* of the communicator there, from 1 on */
    bool shares;         /* its calls that block may use the SHARED memory of their nodes */
    bool one_node;       /* all its ranks are there, … */
    coll_group group;    /* … and these of the segment's; otherwise the identity */
    coll_group placed;   /* whose ranks are places */
    uint32_t next[2];    /* tag of the next call, and of the next persistent one */
    uint64_t calls[2];   /* that were made, which all ranks count alike */
    unsigned jobs;       /* that use it */
    coll_graph *graph;   /* neighbours, once they were needed */
    uint32_t *neighbors; /* memory of `graph` */
    struct repeats *repeats; /* of calls made before: repeats.c */
    struct pact *pact;       /* how it fails: failures.c; or NULL */
};

void comms_init(void);
void comms_end(void);
/* The record of a communicator. Made if there is none and `may_create`, which is collective;
 * otherwise NULL. */
struct comm *comm_of(MPI_Comm comm, bool may_create);
/* The record that was looked up last, or NULL. */
extern struct comm *comm_last;
/* One job less; the last one of a communicator that was freed ends the record. */
void comm_done(struct comm *comm);
/* The library has made a communicator: its record is made, too. Collective over it. */
void comm_made(MPI_Comm handle);
/* NULL: the library refuses neighbour collectives on it. */
const coll_graph *comm_graph(struct comm *comm);

/* ---- nodes: nodes.c ---------------------------------------------------------------------- */

/* `sharing`: the ranks that share memory with this one, or MPI_COMM_NULL. */
void nodes_init(MPI_Comm sharing);
void nodes_end(void);
/* Finds out about the ranks of a new communicator; collective. */
void nodes_join(struct comm *comm, MPI_Group group);
/* This rank is done with it. */
void nodes_leave(struct comm *comm);
/* Writes by what the messages of a run go, which has its plan, and their tag there; run->tag is the
 * layer's. True: they are the library's. */
bool nodes_transport(struct comm *comm, coll_task *run);
/* What they offer a call beyond messages: coll_conditions. */
unsigned nodes_offers(const struct comm *comm, const coll_problem *problem, bool blocks);
/* A call of the communicator failed on this rank: those of its ranks that share the node's memory can find that out. */
void nodes_fail(const struct comm *comm, uint64_t call);
bool nodes_has_failed(const struct comm *comm, uint64_t call);
/* Is a rank of the communicator that shares this one's node dead? */
bool nodes_is_dead(const struct comm *comm, uint32_t rank);
/* … and of a seat of this rank's node? */
bool nodes_seat_is_dead(uint32_t seat);
/* Did a call fail that may have used SHARED memory? Then its ranks do not count its uses alike, and use it no
 * more. */
bool nodes_unshared(void);
/* Is there as much SHARED memory as the plan needs? */
bool nodes_hold(const coll_plan *plan);
/* Rules for communicators of one node: none before nodes_init. */
const coll_rule_list *nodes_rules(void);
/* Waits as the ranks of a node do that share memory, but never sleeps, as the library may have to
 * move on. False: they share none. */
bool nodes_idle(uint32_t idle);

/* ---- failures: failures.c --------------------------------------------------------------- */

/* Bytes that all ranks of a node have in common for it, for so many numbers of communicators; they are zero;
 * and their use. */
size_t failures_bytes(uint32_t numbers, uint32_t ranks);
void failures_init(void *memory, uint32_t numbers, uint32_t ranks);
/* This rank leaves the node's memory. */
void failures_end(uint32_t seat);
/* The classes of errors. Once, before any other class is added. */
void failures_classes(void);
/* A number is given to a new communicator. By one rank, before the others use it. */
void failures_fresh(uint32_t number);
/* The communicator has its seats; it is ended. */
void failures_join(struct comm *comm);
void failures_leave(struct comm *comm);
/* Did anything happen in the node: a death, a revocation? */
extern const uint32_t *failures_events;
COLL_HOT_INLINE bool failures_any(void)
{
    return __atomic_load_n(failures_events, __ATOMIC_RELAXED) != 0;
}
/* MPI's code of a dead rank. */
int failures_error(void);
/* The code of the error that ends all calls of the communicator; MPI_SUCCESS: it is well. `now`: asks for all
 * its ranks, which costs a system call for each; else for a few, now and then. */
int failures_of(struct comm *comm, bool now);
/* The rest is of communicators with a `pact`. */
void failures_revoke(struct comm *comm);
bool failures_is_revoked(const struct comm *comm);
/* So many ranks are dead, or in MPI_Finalize, as far as this rank finds now; which they are, in the order in which
 * it found them. */
uint32_t failures_find(struct comm *comm);
const uint32_t *failures_found(const struct comm *comm);
/* This rank acknowledges the first n of those that it has found, and all that it did before; so many these are. */
uint32_t failures_acknowledge(struct comm *comm, uint32_t n);
/* Agreement gives all survivors the AND of their flags, and the same set of lost ranks. Collective over the
 * survivors; a rank begins it, asks until it is decided, which needs those that neither begin it nor die, and then
 * takes the result, before it begins the next one. True: all of them had acknowledged all these ranks. */
void failures_begin(struct comm *comm, uint64_t flags);
bool failures_decided(struct comm *comm);
bool failures_take(struct comm *comm, uint64_t *flags);
/* Was it among those that were lost at the last agreement? */
bool failures_is_lost(const struct comm *comm, uint32_t rank);

/* ---- agreements: ulfm.c -------------------------------------------------------------------- */

/* The AND of the flags of all survivors of a communicator with a `pact`. Collective over them; waits for those that
 * neither call it nor die. True: all of them had acknowledged all that are dead. */
bool agreement_on(struct comm *comm, uint64_t *flags);
/* Moves on those that nobody blocks for. True: something happened. */
bool agreements_progress(void);

/* ---- calls: entries.c, calls.c, buffers.c ----------------------------------------------------------- */

struct job;
struct piece;

/* One of the two buffers of a collective: a block, or one for each rank or neighbour. */
struct side {
    const void *buf;
    MPI_Count count; /* elements of a block, where there are no `counts` */
    MPI_Datatype type;
    const void *counts, *displs; /* v and w */
    const MPI_Datatype *types;   /* w: displs are bytes */
};

struct call {
    coll_collective what;
    bool wide;       /* counts are MPI_Count, and displs MPI_Aint; else they are int */
    bool far_displs; /* displs are MPI_Aint in any case */
    struct side in, out;
    MPI_Op op;
    int root;
    MPI_Comm comm;
};

/* Elements of block i. */
MPI_Count side_count(const struct call *call, const struct side *side, uint32_t i);
/* Where it begins, from side->buf on; `before`: bytes of the extents of the blocks before it. */
ptrdiff_t side_at(const struct call *call, const struct side *side, uint32_t i,
                  const struct type *type, ptrdiff_t before);

/* The buffer of a side as coll sees it. */
struct view {
    const struct side *side;
    uint32_t n;              /* blocks */
    bool packed;             /* by the layer; else in the program's memory */
    bool scattered;          /* there, not each block right behind the last */
    size_t bytes;            /* of data, in all */
    ptrdiff_t low;           /* where the data begins, from side->buf on, if it is not packed */
    unsigned char *base;     /* what coll is given */
    size_t *counts, *displs; /* in bytes, or in elements where they are reduced; NULL: even */
};

/* Looks at the n blocks of a side. DECLINED: the library refuses them; FAILED: too large. */
typedef enum verdict { TAKEN, DECLINED, FAILED } verdict;
verdict view_measure(const struct call *call, const struct side *side, uint32_t n,
                     struct view *view);
/* Entries of tables, and pieces, that it needs. */
size_t view_tables(const struct view *view);
size_t view_pieces(const struct call *call, const struct view *view);
/* Writes where the blocks lie; `base`: of packed data. `unit`: bytes of what is counted. */
void view_place(const struct call *call, struct view *view, unsigned char *base, size_t *tables,
                size_t unit);
/* Writes the pieces of blocks first … last − 1 and returns how many. Those that `graph` says
 * nobody sends, or receives, are left out. */
size_t view_split(const struct call *call, const struct view *view, uint32_t first,
                  uint32_t last, struct piece *pieces);

/* Packs what a job sends, unpacks what it got; MPI's error code. */
int job_load(const struct job *job);
int job_store(const struct job *job);

typedef enum way { BLOCKING, NONBLOCKING, PERSISTENT } way;

/* Runs, starts or prepares a call, if it is one for the layer: then true, and *error is what the
 * program's call returns. False: the library's own call is to be made. */
bool layer_takes(const struct call *call, way how, MPI_Request *request, int *error);

/* ---- sums of floats that do not depend on order: one_sum.c --------------------------------- */

/* With COLL_ONE_SUM: makes a blocking call that is a sum of floats. False: it is none, and nothing was done. */
bool one_sum_takes(const struct call *call, int *error);

/* ---- jobs: jobs.c ------------------------------------------------------------------------ */

enum { SLOTS_MAX = 32 };

/* A block of the program's data, and where it lies packed. */
struct piece {
    unsigned char *user, *packed;
    size_t count;
    struct type *type;
};

struct job {
    struct job *next; /* among those that run, or among the unused */
    struct comm *comm;
    coll_prepared *prepared; /* its own, or that of `repeat` */
    coll_prepared own;
    struct repeat *repeat; /* the call was made before; or NULL */
    bool checked;          /* it was found that its own can be run */
    struct combination combination;
    union { /* all begin with what is run */
        coll_task run;
        coll_engine engine;
        coll_in_order in_order;
    };
    union {
        coll_slot slots[SLOTS_MAX];
        coll_outstanding ops[SLOTS_MAX];
    };
    void *tables, *scratch, *packed, *workspace, *blank; /* of the pool */
    struct piece *pieces;        /* in `tables`: n_loads to be packed before it starts, … */
    size_t n_loads, n_stores;    /* … then n_stores to be unpacked at its end */
    struct operation *operation; /* if `holds` */
    bool holds; /* that, the types of pieces and of `combination`: until it is over */
    way how;
    bool
        quick; /* it rests, and may run in order, as all messages are short, if no other runs */
    bool ordered; /* it runs in order */
    bool
        misfit; /* this rank's own blocks differ in size: `blank` takes the place of one, and it ends with an error */
    uint64_t call; /* its number among its communicator's, and of a persistent one its starts */
    uint32_t use;  /* of SHARED memory, if the plan needs it */
    bool running;
    bool freed;        /* by the program, while it was running */
    MPI_Request token; /* what the program holds */
    int token_tag;
    int error; /* MPI's code */
    double started;
    uint64_t begun; /* the same, for the trace; 0: it is not noted */
    unsigned told;  /* it is told again after 2^told deadlines */
    uint64_t bytes; /* that the program sees, for the report */
};

extern unsigned jobs_running; /* so many have to move on while the program waits */
void jobs_init(void);
void jobs_end(void);
struct job *job_new(void);
void job_free(struct job *job);
/* The job has its communicator, plan and operator: all of it is ready that stays when it is repeated. */
void job_equip(struct job *job);
/* It is over, and kept for the next such call, to block. */
void job_rest(struct job *job);
/* Slots of a job with this plan. */
uint32_t job_window(const coll_plan *plan);
/* Starts a job that is ready; an error that it meets at once is in job->error. */
void job_start(struct job *job);
/* This rank leaves a call before it began to take part: tells the others. */
void job_withdraw(struct job *job);
/* MPI's code of a failure, with coll's sentence if it has none of its own for that. */
int job_code(coll_status status);
/* A code of the layer's own class with this sentence. */
int sentence_code(const char *sentence);
/* Runs it to its end and returns MPI's error code. */
int job_finish(struct job *job);
/* Runs an idle job of again.h to its end, and tells the error handler of a failure. NO_CODE: it can run no more. */
enum { NO_CODE = -1 };
int job_rush(struct job *job);
/* Gives it its place in the order of calls. */
void job_place(struct job *job);
/* Moves all jobs on. True: something happened. */
bool jobs_progress(void);
/* The same, of a call that waits for something else, with the layer's lock, which is open while nothing happens.
 * *idle counts the rounds without anything. True: it is time to look what other ranks do. */
bool jobs_wait(uint32_t *idle);
/* Takes a failure that an error handler is to be told of; false: there is none. */
bool jobs_tell(MPI_Comm *comm, int *error);
/* There is such a failure, of a call that does not block. */
void jobs_tell_later(MPI_Comm comm, int error);
/* After that many rounds without anything: spins, or lets others run. */
void jobs_idle(uint32_t idle);

/* ---- the program's requests for jobs: tokens.c --------------------------------------------- */

void tokens_init(void);
void tokens_end(void);
/* Makes a request for the program, and gives it a tag: active, or that of a persistent job, inactive; MPI's code.
 * The tag is −1 if there is none. */
int token_take(struct job *persistent, int *tag, MPI_Request *token);
/* What had that tag needs it no more. */
void token_give(int tag);
/* What the request is for is over, with this code of MPI's: it is done. */
void token_done(MPI_Request token, int tag, int error);
/* Are there requests that ended with an error, which the program has not been told? Any thread. */
bool tokens_failed(void);
/* The code with which a request ended; MPI_SUCCESS: with none, or it is none of the layer's. `told`: the program is
 * told now. */
int token_error(MPI_Request token, bool told);
/* The persistent job behind a request, or NULL. */
struct job *job_behind(MPI_Request request);

/* ---- memory: memory.c -------------------------------------------------------------------- */

struct coll_shm;

/* From now on there is memory that all ranks of this rank's node read where it lies: the segment's. */
void memory_open(struct coll_shm *shm);
/* There is no more. What the program has stays. */
void memory_close(void);
/* Memory that is kept for the next call; NULL: there is none. */
void *pool_take(size_t bytes);
void pool_give(void *block);
void pool_end(void);

/* ---- plans: plans.c ---------------------------------------------------------------------- */

/* Makes the plan of a problem, of which only the nodes are not known, into job->prepared, and writes this
 * rank's number in it to job->run. `exact`: its operator is. */
coll_status plan_for(struct job *job, const coll_problem *problem, bool exact);

/* ---- calls made before: repeats.c -------------------------------------------------------- */

/* A job of a call that was made before, of which all but its place in the order of calls is
 * written; NULL: it was not. */
struct job *job_repeat(struct comm *comm, const struct call *call, way how);
/* An idle job of a call, of again.h, is to run like others. */
void job_take(struct job *job);
/* The job, which has a `repeat`, is over. True: it is kept for the next such call. */
bool job_keep(struct job *job);
/* The ranks of the communicator use SHARED memory no more. */
void repeats_unshare(struct comm *comm);
/* Remembers a call of predefined types, of which a job was made. */
void job_remember(struct job *job, const struct call *call, const struct view *in,
                  const struct view *out);
void repeats_free(struct repeats *memory);

/* ---- what was asked for: setup.c, control.c, tuned.c ------------------------------------- */

enum { TAGS_MOST = 1 << 14, UNASKED = -1 }; /* 0 and 1 are what the user asks for */

struct settings {
    /* Which algorithm, the user's first: for messages through the memory of a node, for communicators of
     * several nodes that are dedicated, and for others, where each wait may cost a change of
     * process. */
    const coll_rule_list *node_rules, *spread_rules, *rules;
    uint32_t off;   /* mask of collectives that the library does */
    uint32_t packs; /* … whose blocks lie packed on all ranks, or are brought so */
    bool one_sum;   /* sums of floats are rounded once */
    bool verbose;
    double deadline;     /* seconds until a wait is explained; 0: never */
    bool top;            /* calls are told to coll top */
    bool tells;          /* one of these */
    bool trace;          /* calls are noted */
    bool threads;        /* the lock is needed */
    bool ready, over;    /* between MPI_Init and MPI_Finalize; after that */
    bool outlived;       /* MPI_Finalize left the library alone, as ranks have died */
    int tags;            /* 0 … tags − 1 are used, at most TAGS_MOST */
    bool shm;            /* messages go through the memory of a node */
    bool zero_copy;      /* … and its ranks read those of MPI_Alloc_mem where they lie */
    bool oversubscribed; /* there are more ranks on this node than processors … */
    bool dedicated;      /* … and that is so on none */
    bool turns;   /* oversubscribed, and the MPI library keeps the processor while it waits */
    uint32_t ppn; /* ranks of a node as the user says; 0: as they are */
    coll_huge *pages; /* of memory that messages are sent from; NULL: stay as they are */
    int near;         /* do long messages within a node go through the library's memory? */
    MPI_Comm self;    /* private, of this rank alone */
};
extern struct settings settings;

/* Rules for the point-to-point calls of MPI libraries, as a table. */
extern const char tuned_rules[];

/* Reads the environment, collectively; ends the program if there is something wrong with it. */
void control_init(void);
void control_end(void);
/* Is it a rule of the user's? */
bool control_asked_for(const coll_rule *rule);
/* What the first rule that the user asked for has against the problem, if `taken` is not the
 * user's; otherwise COLL_OK. */
coll_status control_passed_over(const coll_problem *problem, const coll_conditions *conditions,
                                coll_workspace *workspace, const coll_rule *taken);

void lock(void);
/* Calls error handlers too, for jobs that failed. */
void unlock(void);

/* ---- late.c ------------------------------------------------------------------------------ */

/* Bytes that all ranks of a node have in common for it, which are zero, and their use. */
size_t late_bytes(uint32_t ranks);
void late_init(void *memory, uint32_t rank, uint32_t ranks);
/* Opens a page for `coll top`, and closes it. Collective. False: this rank has none. */
bool late_publish(void);
void late_unpublish(void);
/* If there is a deadline, or a page: a job with its plan starts, is looked at while it runs, and has ended. */
void late_start(struct job *job);
void late_look(struct job *job);
void late_end(const struct job *job);

/* ---- trace.c ----------------------------------------------------------------------------- */

/* Reads what COLL_TRACE, COLL_TRACE_CALLS and COLL_TRACE_EVERY say; rank 0 opens the file. */
bool trace_ask(const char *path, const char *kept, const char *every, coll_sentence *error);
/* If a trace is asked for: calls are noted from now on … */
void trace_start(void);
/* … and one that was the library's own is noted, which began then … */
void trace_own(const struct call *call, uint64_t begun, int error);
/* … until rank 0 writes what all have noted. Collective. */
void trace_end(void);

/* ---- tools.c ----------------------------------------------------------------------------- */

/* Ends the program with a sentence if the layer cannot do its work, as another library takes its calls or it was
 * built for another MPI library. Before MPI_Init. */
void tools_look(void);
/* Says once that the layer is off, because MPI_Init did not come through it. */
void tools_missed(void);

/* ---- report.c ---------------------------------------------------------------------------- */

/* `against`: what the user's rules have against it, or COLL_OK. */
void report_choice(const coll_problem *problem, const coll_rule *rule, coll_status against);
/* Once for each collective. */
void report_declined(const struct call *call, const char *why);
/* Whose memory MPI_Alloc_mem gives, and malloc, if COLL_ZERO_COPY asks for the node's. `why_not`:
 * not the node's. */
void report_zero_copy(const char *why_not);
/* How long messages within a node go that are the library's. */
void report_ways(const coll_mpi_ways *ways);
void report_job(const struct job *job);
/* So many bytes of MPI_Alloc_mem, or of malloc; `of_node`: of its memory. Any thread. */
void report_memory(bool of_malloc, bool of_node, size_t bytes);
void report_end(void);

#endif /* COLL_LAYER_H */
