/* tools/rounds.h — plays a job in rounds: in each, a rank sends at most one message and
 * receives at most one
 *
 * The ranks follow their programs as plan/action.h says: sends do not block, receives do. A message
 * travels in the first round in which its receiver waits for it and its sender has nothing
 * older to send to one who waits. A multicast is one message, with many receivers. Ranks that meet in
 * the network do so in the round in which all of them have come.
 */
#ifndef COLL_TOOLS_ROUNDS_H
#define COLL_TOOLS_ROUNDS_H

#include "job.h"

struct message {
    uint32_t round; /* from 1 on */
    uint32_t from, to;
    uint32_t chain; /* messages in the longest chain that ends with this one */
    size_t count;   /* elements */
    bool combined;  /* by its receiver, on arrival */
    bool token;     /* a notification */
    bool more;      /* of the same multicast as the message before it */
    bool left;      /* it has travelled */
    uint32_t next;  /* of the same sender */
};

/* Ranks that meet in the network. */
struct meeting {
    uint32_t round;
    uint64_t ranks; /* a bit each, of the first 64 */
};

struct rounds {
    struct message *list; /* in order of rounds, after rounds_play */
    size_t n;
    struct meeting *meetings; /* likewise */
    size_t n_meetings;
    uint32_t rounds; /* in all */
    uint32_t chain;  /* the longest */
    bool complete;   /* false: too long to be played, or the ranks wait for each other … */
    bool stuck;      /* … which is that */
    uint32_t waits, awaited;                       /* one that waits in vain, and for whom */
    size_t most_messages, most_elements, elements; /* sent by one rank, and by all */
};

/* Plays at most about `limit` messages. */
void rounds_play(struct rounds *rounds, const struct job *job, size_t limit);
void rounds_free(struct rounds *rounds);

#endif /* COLL_TOOLS_ROUNDS_H */
