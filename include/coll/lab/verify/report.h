/* coll/lab/verify/report.h — what the parts of the verifier share: findings, the report, chance
 *
 * Use lab/verify.h. This header is hosted, as all of verify*.h.
 */
#ifndef COLL_LAB_VERIFY_REPORT_H
#define COLL_LAB_VERIFY_REPORT_H

#include "../../nic/nic_program.h"
#include "../../plan.h"
#include "memory.h"

#include <stdarg.h>
#include <stdio.h>

/* What can be wrong with a plan. One line a finding: name, text. */
#define COLL_FINDING_LIST(X)                                                                   \
    X(COLL_PROVEN, "proven")                                                                   \
    X(COLL_FOUND_NO_MEMORY, "the verifier ran out of memory")                                  \
    X(COLL_FOUND_PLAN, "the plan cannot run, or the ranks' tables contradict each other")      \
    X(COLL_FOUND_ACTIONS, "a step yields more than COLL_STEP_MAX actions")                     \
    X(COLL_FOUND_IMPURE, "a function of the algorithm answers one question differently")       \
    X(COLL_FOUND_KIND, "an action of a kind that does not exist")                              \
    X(COLL_FOUND_PEER, "a peer that is the rank itself or does not exist")                     \
    X(COLL_FOUND_INPUTS, "a reduction without operands")                                       \
    X(COLL_FOUND_FIELD, "a field is set that the kind of the action does not have")            \
    X(COLL_FOUND_WRITES_IN, "a write to IN")                                                   \
    X(COLL_FOUND_OUTSIDE, "an access outside of IN, OUT, SCRATCH or SHARED")                   \
    X(COLL_FOUND_GAP, "a write to elements of OUT that must stay as they are")                 \
    X(COLL_FOUND_UNWRITTEN, "a read of elements that hold nothing")                            \
    X(COLL_FOUND_OVERLAP, "operands overlap that must not")                                    \
    X(COLL_FOUND_MIXED, "a reduction combines elements of different index")                    \
    X(COLL_FOUND_SIZE, "a message has another size than its receiver expects")                 \
    X(COLL_FOUND_UNSENT, "a rank waits for a message that is never sent")                      \
    X(COLL_FOUND_UNRECEIVED, "a message is never received")                                    \
    X(COLL_FOUND_DEADLOCK, "ranks wait for each other in a circle")                            \
    X(COLL_FOUND_DEADLOCK_BOUNDED, "it never ends if a channel holds one message")             \
    X(COLL_FOUND_DEADLOCK_SYNCHRONOUS, "it never ends if sends wait for the receiver")         \
    X(COLL_FOUND_WINDOW, "it needs a larger window than it says")                              \
    X(COLL_FOUND_SENDS, "it needs more sends in flight than it says")                          \
    X(COLL_FOUND_UNSET, "an element of the result is never written")                           \
    X(COLL_FOUND_WRONG, "an element of the result is not the right one")                       \
    X(COLL_FOUND_MISSING, "a contribution is missing in the result")                           \
    X(COLL_FOUND_DOUBLED, "a contribution is in the result more than once")                    \
    X(COLL_FOUND_FOREIGN, "a contribution is in the result that does not belong there")        \
    X(COLL_FOUND_ORDER, "operands are not in rank order, and the operator does not commute")   \
    X(COLL_FOUND_BITS, "ranks get results of different bits, in spite of identical")           \
    X(COLL_FOUND_STRUCTURE, "the order of operations varies, in spite of reproducible")        \
    X(COLL_FOUND_BARRIER, "a rank may leave the barrier before another one enters")            \
    X(COLL_FOUND_GROUP, "a group of a network reduction with other ranks than before")         \
    X(COLL_FOUND_RAIL, "leaders are not spread over the rails of their node")                  \
    X(COLL_FOUND_RACE, "two ranks touch the same element of SHARED in no order")               \
    X(COLL_FOUND_NIC_NEEDS, "a NIC program takes more than the NIC has, or than it says")      \
    X(COLL_FOUND_NIC_FIELD, "an operation of a NIC program has a kind or counter that it may " \
                            "not have")                                                        \
    X(COLL_FOUND_NIC_COUNT, "a counter may come to a threshold by other events than the "      \
                            "needed ones")                                                     \
    X(COLL_FOUND_NIC_RACE, "operations of a NIC program are in no order, but must be")         \
    X(COLL_FOUND_NIC_UNPOSTED, "a message may come to a NIC before its receive is posted")     \
    X(COLL_FOUND_CRASH_HANG, "a rank never ends after another one stopped")                    \
    X(COLL_FOUND_CRASH_OK, "a rank ends well without what a stopped rank did not do")          \
    X(COLL_FOUND_CRASH_BUFFER, "an operation is in flight after its collective failed")        \
    X(COLL_FOUND_CRASH_LEFTOVER, "a message of a failed collective is taken in the next one")  \
    X(COLL_FOUND_TRAIT, "a trait is missing, or is not respected, or nothing needs it")        \
    X(COLL_FOUND_REFUSED, "a plan is refused that no trait forbids, or there is none")

#define COLL_I_FINDING(name, text) name,
/* What the verifier finds; COLL_PROVEN: nothing. */
typedef enum coll_finding { COLL_FINDING_LIST(COLL_I_FINDING) COLL_FINDINGS } coll_finding;

/* One line on a finding, never NULL. */
COLL_INLINE const char *coll_finding_text(coll_finding finding)
{
#define COLL_I_FINDING_CASE(name, text)                                                        \
    case name:                                                                                 \
        return text;
    switch (finding) {
        COLL_FINDING_LIST(COLL_I_FINDING_CASE)
    case COLL_FINDINGS:
        break;
    }
    return "unknown finding";
}

/* The name of a finding, as in the list, never NULL. */
COLL_INLINE const char *coll_finding_name(coll_finding finding)
{
#define COLL_I_FINDING_NAME(name, text)                                                        \
    case name:                                                                                 \
        return #name;
    switch (finding) {
        COLL_FINDING_LIST(COLL_I_FINDING_NAME)
    case COLL_FINDINGS:
        break;
    }
    return "unknown finding";
}

/* What one rank, or all of them, did. Moves of 0 elements are no actions and not counted. */
typedef struct coll_verify_count {
    uint64_t actions;
    uint64_t messages; /* sent; NOTIFYs too */
    uint64_t elements; /* sent */
    uint64_t reduced;  /* elements combined */
    uint64_t copied;   /* elements copied */
    uint64_t scratch;  /* elements of SCRATCH, from the first to the last one touched */
} coll_verify_count;

/* What becomes of plans when a rank stops. A point is a place in a rank's program: before its first action,
 * after each, and between receiving and combining. docs/crashes.md */
typedef struct coll_crash_count {
    uint64_t plans;   /* that were looked at */
    uint64_t several; /* of these, plans of three ranks or more, so of two survivors … */
    uint64_t uniform; /* … of which, wherever one stops, all can end well or none */
    uint64_t points;  /* in all … */
    uint64_t all, some, none; /* … where all survivors can still end well, only some, or none */
    uint64_t runs;            /* of the engines in which a rank stopped */
    uint64_t
        leftovers;   /* of these, after which the next collective found a message left over */
    uint32_t rounds; /* times, at most, that a survivor moved on after somebody noticed */
} coll_crash_count;

/* Instead of a step: none. */
#define COLL_NO_STEP SIZE_MAX

/* What came of a proof. */
typedef struct coll_report {
    bool ok;              /* it is proven */
    coll_finding finding; /* COLL_PROVEN where ok */
    uint32_t rank;        /* where it was found … */
    size_t step;          /* … COLL_NO_STEP: after the last step */
    char sentence[480];   /* what was found, and where */

    coll_verify_count total;  /* sums over the ranks */
    coll_verify_count most;   /* the largest of any rank, each for itself */
    uint64_t messages, bytes; /* sent in all */
    uint32_t rounds;          /* messages in the longest chain of messages */
    uint32_t window;          /* least window found with synchronous sends; 0: not looked for */
    uint32_t sends;           /* likewise, of the in-order engine, the least sends in flight */
    coll_nic_needs
        nic; /* of NIC programs, if they are proven: the most of any rank, each for itself */
    size_t nic_bytes;               /* likewise, of a program that is packed */
    coll_crash_count crash;         /* of crashes, if they are looked at */
    const coll_verify_count *ranks; /* p of them; the workspace's, until it is used again */
} coll_report;

/* Writes a finding into the report; returns false, which every check returns that failed. */
COLL_INLINE COLL_I_PRINTF(5, 6) bool coll_i_found(coll_report *report, coll_finding finding,
                                                  uint32_t rank, size_t step,
                                                  const char *format, ...)
{
    va_list arguments;
    int n;
    report->ok = false;
    report->finding = finding;
    report->rank = rank;
    report->step = step;
    if (step == COLL_NO_STEP)
        n = snprintf(report->sentence, sizeof report->sentence, "rank %u, at the end: ", rank);
    else
        n = snprintf(report->sentence, sizeof report->sentence, "rank %u, step %zu: ", rank,
                     step);
    va_start(arguments, format);
    vsnprintf(report->sentence + n, sizeof report->sentence - (size_t)n, format, arguments);
    va_end(arguments);
    return false;
}

/* The next number below n that looks random: splitmix64. */
COLL_INLINE uint32_t coll_i_random_below(uint64_t *state, uint32_t n)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(((x ^ x >> 31) >> 32) * n >> 32);
}

#endif /* COLL_LAB_VERIFY_REPORT_H */
