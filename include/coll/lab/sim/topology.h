/* coll/lab/sim/topology.h — what a topology is to the simulator: which links a message takes
 *
 * Ends are places where ranks may be, numbered from 0; a rank's end is its number outside of the
 * plan (coll_group). A route is a list of links, asked for one by one. Mostly it depends on its two
 * ends alone; where there are several shortest ones it may depend on what is under way, and where
 * links have failed it leads round them (routing.h). Links have one direction.
 *
 * A message goes through its links with cut-through: its head passes a link, if that is free, in
 * `hop` and the link stays taken until the tail has passed, `message` and `byte` for each of its
 * bytes. Where a link is taken the message waits in a buffer before it, first come, first served;
 * links behind it stay free meanwhile. It arrives with its head, but not before its tail can have
 * come when its receiver takes in bytes as fast as its model says. Multicasts and reductions by the
 * network use no links.
 *
 * With `packet` bytes a packet, the next packet leaves when the one before has been acknowledged,
 * `ack` and two hops for each link after it left: so messages to far ends are slower, on all their
 * links (Kumar 2004, on Quadrics).
 *
 * To add a topology: hops, link and name, in a header of its own in topology/; a table of what it
 * wants to know, and a line in topologies.h.
 *
 * Use lab/sim.h.
 */
#ifndef COLL_LAB_SIM_TOPOLOGY_H
#define COLL_LAB_SIM_TOPOLOGY_H

#include "../../plan/topo/nodes.h"
#include "../../select/names.h"
#include "../model/parameters.h"
#include "basics.h"

enum { COLL_MESH_DIMENSIONS = 6 };

/* What a link takes. */
typedef struct coll_link_cost {
    coll_time hop, message; /* to pass a head on; to occupy it for a message */
    double byte_ps;         /* negative: the model's */
} coll_link_cost;

/* Which of several shortest ways a message takes (routing.h). */
typedef enum coll_routing {
    COLL_ROUTE_FIXED,   /* the first */
    COLL_ROUTE_HASH,    /* by a hash of seed, source and destination (ECMP) */
    COLL_ROUTE_ADAPTIVE /* the one that is least loaded when it leaves */
} coll_routing;

/* Links between ends, and the way of a message over them. */
typedef struct coll_topology {
    uint32_t ends, links; /* how many of each */
    coll_routing route;   /* which of several ways messages take */
    uint32_t degree;      /* of `neighbour` */
    bool full;            /* it makes sense only with as many ranks as ends */
    /* How many links from one end to another. */
    uint32_t (*hops)(const struct coll_topology *topology, uint32_t from, uint32_t to);
    /* Link number i of these. */
    uint32_t (*link)(const struct coll_topology *topology, uint32_t from, uint32_t to,
                     uint32_t i);
    /* How many links lie side by side, from this one on: a message that comes to the first of them
     * takes the one that is free first. NULL: there is none beside another. */
    uint32_t (*parallel)(const struct coll_topology *topology, uint32_t link);
    /* How many shortest ways lead from one end to another, with as many links each: way 0 is that of
     * `link`. NULL: one. */
    uint32_t (*ways)(const struct coll_topology *topology, uint32_t from, uint32_t to);
    /* Link number i of a way. NULL, if `ways` is. */
    uint32_t (*way_link)(const struct coll_topology *topology, uint32_t from, uint32_t to,
                         uint32_t way, uint32_t i);
    /* The end to which link number k of those that leave an end leads, k < degree; COLL_RANK_NONE:
     * there is none. NULL: ends are not linked to each other, and shortest ways are all there are. */
    uint32_t (*neighbour)(const struct coll_topology *topology, uint32_t end, uint32_t k,
                          uint32_t *link);
    /* The two directions of a link that three numbers name; false: there is none. Or NULL. */
    bool (*numbered)(const struct coll_topology *topology, const uint32_t number[3],
                     uint32_t links[2]);
    /* What a link is called. */
    void (*name)(const struct coll_topology *topology, uint32_t link, char *text, size_t bytes);
    /* What a link costs; NULL: `cost`. */
    coll_link_cost (*costs)(const struct coll_topology *topology, uint32_t link);
    coll_link_cost cost; /* of every link, if costs is NULL */
    uint64_t packet; /* bytes of a packet that waits for its acknowledgement; 0: none does */
    coll_time ack;   /* after which the acknowledgement is there */
    uint32_t *missing, n_missing; /* ends without a rank, growing (outages.h) */
    uint32_t *failed, n_failed;   /* links that do not work, some of them twice perhaps */
    /* The topology's own. */
    uint32_t size[COLL_MESH_DIMENSIONS], dimensions;
    const coll_nodes *nodes; /* of topology/nics.h, the caller's; else NULL */
    bool wraps;              /* the dimensions are rings */
    uint32_t ports;          /* of a node, or of each rail of one */
    coll_link_cost inner;    /* of links within a node or group */
} coll_topology;

/* What went over a link. */
typedef struct coll_link_load {
    uint64_t messages, bytes;
    coll_time busy;   /* for so long it was taken */
    coll_time waited; /* for so long messages had to wait for it, all together */
    coll_time free;   /* until then it is taken */
} coll_link_load;

/* What a link costs. */
COLL_INLINE coll_link_cost coll_topology_cost(const coll_topology *topology, uint32_t link)
{
    return topology->costs ? topology->costs(topology, link) : topology->cost;
}

/* Where rank number `rank` is, if the missing ends are left out. */
COLL_INLINE uint32_t coll_topology_end(const coll_topology *topology, uint32_t rank)
{
    uint32_t low = 0,
             high = topology->n_missing; /* so many are missing before it, or up to so many */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (topology->missing[middle] - middle <= rank)
            low = middle + 1;
        else
            high = middle;
    }
    return rank + low;
}

/* Writes which of the ports that lie side by side a link is, if there are several; `link`: behind those
 * that have none beside them. Returns how much. */
COLL_INLINE size_t coll_topology_port_name(const coll_topology *topology, uint32_t link,
                                           char *text, size_t bytes)
{
    const int n =
        topology->ports > 1 ? snprintf(text, bytes, "port %u ", link % topology->ports) : 0;
    return n > 0 && (size_t)n < bytes ? (size_t)n : 0;
}

/* Gives the memory of its lists back. */
COLL_INLINE void coll_topology_free(coll_topology *topology)
{
    free(topology->missing);
    free(topology->failed);
    topology->missing = topology->failed = NULL;
    topology->n_missing = topology->n_failed = 0;
}

/* Can p ranks be on it? false, and why not. */
COLL_INLINE bool coll_topology_fits(const coll_topology *topology, const char *text, uint32_t p,
                                    coll_sentence *why)
{
    const uint32_t room = topology->ends - topology->n_missing;
    if (p > room || (topology->full && p < room))
        return coll_refuse(why, "%s has %u place%s%s, and there %s %u rank%s", text, room,
                           room == 1 ? "" : "s",
                           topology->n_missing ? " without the missing ones" : "",
                           p == 1 ? "is" : "are", p, p == 1 ? "" : "s");
    return true;
}

/* ---- in words ---------------------------------------------------------------------------- */

/* mesh:16x32,hop=40ns  nodes:8x2x16  fattree:k=4,n=3,missing=5/9 — a name, sizes if the topology
 * has some, and parameters. All topologies read theirs into this. */
typedef struct coll_topology_words {
    double hop_ns, message_ns, byte_ns, packet_bytes, ack_ns; /* of a link */
    double k, n, up, a, h, t, g, socket_ns, ports;
    /* Which of several ways. */
    char route[COLL_PARAMETER_BYTES];
    char missing[COLL_PARAMETER_BYTES]; /* ends without a rank … */
    char failed[COLL_PARAMETER_BYTES];  /* … and links that do not work */
} coll_topology_words;

/* The time of a byte that is not given. */
#define COLL_TOPOLOGY_AS_MODEL 1e299

#define COLL_I_LINK_PARAMETERS                                                                 \
    {"hop",                                                                                    \
     "ns",                                                                                     \
     COLL_PARAMETER_NUMBER,                                                                    \
     offsetof(coll_topology_words, hop_ns),                                                    \
     0,                                                                                        \
     COLL_PARAMETER_ANY,                                                                       \
     0,                                                                                        \
     "the latency of a link"},                                                                 \
        {"message",                                                                            \
         "ns",                                                                                 \
         COLL_PARAMETER_NUMBER,                                                                \
         offsetof(coll_topology_words, message_ns),                                            \
         0,                                                                                    \
         COLL_PARAMETER_ANY,                                                                   \
         0,                                                                                    \
         "the time a message takes of a link, besides its bytes"},                             \
        {"byte",                                                                               \
         "ns/byte",                                                                            \
         COLL_PARAMETER_NUMBER,                                                                \
         offsetof(coll_topology_words, byte_ns),                                               \
         0,                                                                                    \
         COLL_PARAMETER_ANY,                                                                   \
         COLL_TOPOLOGY_AS_MODEL,                                                               \
         "the time a byte takes of a link; if it is not given, what the model says"},          \
        {"packet",                                                                             \
         "bytes",                                                                              \
         COLL_PARAMETER_WHOLE,                                                                 \
         offsetof(coll_topology_words, packet_bytes),                                          \
         0,                                                                                    \
         1e9,                                                                                  \
         0,                                                                                    \
         "the bytes of a packet that waits for an acknowledgement; 0: none does"},             \
    {                                                                                          \
        "ack", "ns", COLL_PARAMETER_NUMBER, offsetof(coll_topology_words, ack_ns), 0,          \
            COLL_PARAMETER_ANY, 0, "the time of an acknowledgement, besides its hops"          \
    }

/* Reads one size and the x behind it; NULL: there is none. */
COLL_INLINE const char *coll_i_topology_size(const char *at, const char *end, uint32_t *size)
{
    char *after;
    unsigned long number;
    if (*at < '0' || *at > '9')
        return NULL;
    number = strtoul(at, &after, 10);
    if (number < 1 || number > UINT32_MAX / 64 || (after != end && *after != 'x') ||
        after + 1 == end)
        return NULL;
    *size = (uint32_t)number;
    return after == end ? end : after + 1;
}

/* Reads sizes such as 16x32 behind the colon, at least `least` of them and at most `most`; their
 * number, or 0 and what is wrong. *rest: the parameters, as NAME:… or NAME alone. */
COLL_INLINE uint32_t coll_topology_sizes(const char *text, const char *example, uint32_t least,
                                         uint32_t most, uint32_t *sizes, char rest[512],
                                         coll_sentence *why)
{
    const size_t name = strcspn(text, ":");
    const char *at = text + name + (text[name] ? 1 : 0), *end = at + strcspn(at, ",");
    uint64_t product = 1;
    uint32_t n = 0;
    do {
        at = n < most ? coll_i_topology_size(at, end, &sizes[n]) : NULL;
        product *= at && product < UINT32_MAX ? sizes[n] : 1;
        n++;
    } while (at && at < end);
    if (!at || n < least) {
        coll_refuse(why, "%.*s has sizes such as %s, not \"%.60s\"", (int)name, text, example,
                    text);
        return 0;
    }
    if (product > UINT32_MAX / 64) {
        coll_refuse(why, "%.60s has more places than can be simulated", text);
        return 0;
    }
    if (snprintf(rest, 512, "%.*s%s%s", (int)name, text, *end ? ":" : "",
                 *end ? end + 1 : "") >= 512) {
        coll_refuse(
            why, "the parameters of %.60s… are too long: put lists into files, as @FILE", text);
        return 0;
    }
    return n;
}

/* Takes what all topologies have from the words. */
COLL_INLINE void coll_topology_costs(coll_topology *topology, const coll_topology_words *words)
{
    topology->cost.hop = coll_time_of(words->hop_ns * 1000);
    topology->cost.message = coll_time_of(words->message_ns * 1000);
    topology->cost.byte_ps =
        words->byte_ns < COLL_TOPOLOGY_AS_MODEL ? words->byte_ns * 1000 : -1;
    topology->packet = (uint64_t)words->packet_bytes;
    topology->ack = coll_time_of(words->ack_ns * 1000);
}

#endif /* COLL_LAB_SIM_TOPOLOGY_H */
