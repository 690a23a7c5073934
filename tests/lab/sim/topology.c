/* tests/lab/sim/topology.c — routes over all topologies; topologies in words */
#include "support/simulated.h"

static coll_topology topology;

static bool read(const char *text)
{
    coll_sentence why;
    bool held;
    coll_topology_free(&topology);
    held = coll_topology_read(&topology, text, &why);
    if (!held)
        printf("    %s: %s\n", text, why.text);
    return CHECK(held);
}

/* ---- routes ------------------------------------------------------------------------------ */

/* Follows a route over a mesh by the links' names. */
static bool mesh_route(uint32_t from, uint32_t to)
{
    const uint32_t hops = topology.hops(&topology, from, to);
    uint32_t at = from;
    for (uint32_t i = 0; i < hops; i++) {
        const uint32_t link = topology.link(&topology, from, to, i);
        const uint32_t d = link / 2 % topology.dimensions;
        uint32_t stride = 1, x;
        if (link >= topology.links || link / 2 / topology.dimensions != at)
            return false;
        for (uint32_t k = 0; k < d; k++)
            stride *= topology.size[k];
        x = at / stride % topology.size[d];
        if (!topology.wraps && (link & 1 ? x + 1 == topology.size[d] : x == 0))
            return false;
        at -= x * stride;
        x = (x + (link & 1 ? 1 : topology.size[d] - 1)) % topology.size[d];
        at += x * stride;
    }
    return at == to;
}

static void mesh_routes(const char *text, uint32_t ends, uint32_t diameter, double mean)
{
    uint32_t most = 0;
    double sum = 0;
    if (!read(text))
        return;
    CHECK_EQ(topology.ends, ends);
    for (uint32_t from = 0; from < ends; from++)
        for (uint32_t to = 0; to < ends; to++) {
            const uint32_t hops = topology.hops(&topology, from, to);
            CHECK(mesh_route(from, to));
            most = most > hops ? most : hops;
            sum += hops;
        }
    CHECK_EQ(most, diameter);
    CHECK(sum / ends / ends > mean - .001 && sum / ends / ends < mean + .001);
}

TEST(meshes)
{
    mesh_routes("mesh:1", 1, 0, 0);
    mesh_routes("mesh:7", 7, 6, 16. / 7);
    mesh_routes("mesh:4x6", 24, 8, 5. / 4 + 35. / 18);
    mesh_routes("mesh:3x1x4", 12, 5, 8. / 9 + 5. / 4);
    mesh_routes("torus:5", 5, 2, 6. / 5);
    mesh_routes("torus:4x4x4", 64, 6, 3);
    mesh_routes("torus:2x3", 6, 2, .5 + 2. / 3);
}

TEST(names_of_links)
{
    char text[64];
    CHECK(read("mesh:4x3"));
    topology.name(&topology, topology.link(&topology, 1, 9, 1), text, sizeof text);
    CHECK(strcmp(text, "(1,1) to (1,2)") == 0);
    CHECK(read("torus:4x3"));
    topology.name(&topology, topology.link(&topology, 4, 7, 0), text, sizeof text);
    CHECK(strcmp(text, "(0,1) to (3,1)") == 0);
    CHECK(read("fattree:k=4,n=3"));
    topology.name(&topology, topology.link(&topology, 5, 63, 0), text, sizeof text);
    CHECK(strcmp(text, "up 0 of subtree 5 of level 0") == 0);
    topology.name(&topology, topology.link(&topology, 5, 63, 3), text, sizeof text);
    CHECK(strcmp(text, "down 5 of subtree 3 of level 2") == 0);
    CHECK(read("nodes:3x2x4"));
    topology.name(&topology, topology.link(&topology, 5, 17, 1), text, sizeof text);
    CHECK(strcmp(text, "into node 2") == 0);
    topology.name(&topology, topology.link(&topology, 5, 1, 0), text, sizeof text);
    CHECK(strcmp(text, "out of socket 1 of node 0") == 0);
    CHECK(read("dragonfly:a=4,h=2,t=2"));
    topology.name(&topology, topology.link(&topology, 0, 2, 0), text, sizeof text);
    CHECK(strcmp(text, "router 0 to 1 of group 0") == 0);
}

/* The most messages of one link, if every end sends to another one. */
static unsigned most_shared(uint32_t (*permute)(uint32_t end, uint32_t by), uint32_t by)
{
    static unsigned load[1 << 16];
    unsigned most = 0;
    memset(load, 0, sizeof load);
    for (uint32_t rank = 0; rank < topology.ends - topology.n_missing; rank++) {
        const uint32_t from = coll_topology_end(&topology, rank);
        const uint32_t other = permute(rank, by);
        const uint32_t to = coll_topology_end(&topology, other);
        const uint32_t hops =
            other < topology.ends - topology.n_missing ? topology.hops(&topology, from, to) : 0;
        for (uint32_t i = 0; i < hops; i++) {
            const uint32_t link = topology.link(&topology, from, to, i);
            if (!CHECK(link < topology.links && link < 1 << 16))
                return 0;
            load[link]++;
            most = most > load[link] ? most : load[link];
        }
    }
    return most;
}

static uint32_t flip(uint32_t end, uint32_t by)
{
    return end ^ by;
}

static uint32_t shift(uint32_t end, uint32_t by)
{
    return (end + by) % (topology.ends - topology.n_missing);
}

static uint32_t to_first(uint32_t end, uint32_t by)
{
    (void)end;
    return by;
}

/* In full trees, shifts and XORs share no link; with missing nodes or fewer links up they do. */
TEST(fat_trees)
{
    static const char *const full[] = {"fattree:k=4,n=3", "fattree:k=4,n=3,route=destination",
                                       "fattree:k=2,n=6", "fattree:k=8,n=2"};
    for (unsigned i = 0; i < 4; i++) {
        CHECK(read(full[i]));
        CHECK_EQ(topology.ends, 64);
        for (uint32_t by = 1; by < 64; by++) {
            CHECK_EQ(most_shared(flip, by), 1);
            CHECK_EQ(most_shared(shift, by), 1);
        }
        CHECK_EQ(most_shared(to_first, 5), 63);
    }
    CHECK(read("fattree:k=3,n=4"));
    CHECK_EQ(topology.ends, 81);
    for (uint32_t by = 1; by < 81; by++)
        CHECK_EQ(most_shared(shift, by), 1);
    CHECK(read("fattree:k=4,n=3,missing=21"));
    CHECK(most_shared(flip, 16) > 1);
    CHECK_EQ(coll_topology_end(&topology, 20), 20);
    CHECK_EQ(coll_topology_end(&topology, 21), 22);
    CHECK(read("fattree:k=4,n=3,missing=0/1/63"));
    CHECK_EQ(coll_topology_end(&topology, 0), 2);
    CHECK_EQ(coll_topology_end(&topology, 60), 62);
    CHECK(read(
        "fattree:k=3,n=17,up=2")); /* of full trees, that of 26 levels has the most links */
    CHECK(read("fattree:k=2,n=26"));
    CHECK_EQ(topology.links, (uint32_t)2 * 26 << 26);
    CHECK(read("fattree:k=4,n=3,up=2"));
    CHECK_EQ(most_shared(shift, 1), 1);
    CHECK_EQ(most_shared(shift, 4), 2);
    CHECK_EQ(most_shared(shift, 16), 4);
    CHECK_EQ(topology.links, 2 * (64 + 16 * 2 + 4 * 4));
}

TEST(dragonflies)
{
    static const char *const texts[] = {"dragonfly:a=4,h=2,t=2", "dragonfly:a=4,h=2,t=2,g=5",
                                        "dragonfly:a=4,h=2,t=2,g=2", "dragonfly:a=1,h=3,t=1"};
    static const uint32_t ends[] = {72, 40, 16, 4};
    for (unsigned k = 0; k < 4; k++) {
        CHECK(read(texts[k]));
        CHECK_EQ(topology.ends, ends[k]);
        for (uint32_t from = 0; from < topology.ends; from++)
            for (uint32_t to = 0; to < topology.ends; to++) {
                const uint32_t a = topology.size[0], h = topology.size[1], t = topology.size[2];
                const uint32_t hops = topology.hops(&topology, from, to);
                uint32_t at = from / t;
                CHECK(hops <= 3);
                for (uint32_t i = 0; i < hops; i++) {
                    const uint32_t link = topology.link(&topology, from, to, i);
                    const uint32_t global = topology.size[3] * a * a;
                    CHECK(link < topology.links);
                    if (link < global) {
                        CHECK_EQ(link / a, at);
                        at = at / a * a + link % a;
                    } else {
                        const uint32_t there =
                            i + 1 < hops ? topology.link(&topology, from, to, i + 1) / a
                                         : to / t;
                        CHECK_EQ((link - global) / h, at);
                        if (k == 0) /* of the only port between the two groups */
                            CHECK_EQ(topology.hops(&topology, there * t, at * t), 1);
                        at = there;
                    }
                }
                CHECK_EQ(at, to / t);
            }
    }
}

/* ---- words ------------------------------------------------------------------------------- */

static bool refused(const char *text, const char *because)
{
    coll_sentence why = {""};
    bool held;
    coll_topology_free(&topology);
    held = !coll_topology_read(&topology, text, &why) && strstr(why.text, because) != NULL;
    if (!held)
        printf("    %s: \"%s\"\n", text, why.text);
    return held;
}

static bool unfit(const char *text, uint32_t p, const char *because)
{
    coll_sentence why = {""};
    bool held;
    coll_topology_free(&topology);
    held = coll_topology_read(&topology, text, &why) &&
           !coll_topology_fits(&topology, text, p, &why) && strstr(why.text, because) != NULL;
    if (!held)
        printf("    %s: \"%s\"\n", text, why.text);
    return held;
}

TEST(words)
{
    coll_sentence why;
    CHECK(refused("mash:4x4", "mash"));
    CHECK(refused("mesh", "sizes such as 16x32"));
    CHECK(refused("mesh:", "sizes such as 16x32"));
    CHECK(refused("mesh:4x", "sizes such as 16x32"));
    CHECK(refused("mesh:0x4", "sizes such as 16x32"));
    CHECK(refused("mesh:-4x4", "sizes such as 16x32"));
    CHECK(refused("mesh:4*4", "sizes such as 16x32"));
    CHECK(refused("mesh:2x2x2x2x2x2x2", "sizes such as 16x32"));
    CHECK(refused("mesh:65536x65536", "more places"));
    CHECK(refused("mesh:4x4,hop=-1", "hop of mesh is a number"));
    CHECK(refused("mesh:4x4,hops=1", "hops"));
    CHECK(refused("nodes:8x2", "8x2x16"));
    CHECK(refused("fattree:k=4", "n of fattree is missing"));
    CHECK(refused("fattree:k=4,n=3,up=5", "at most k"));
    CHECK(refused("fattree:k=4,n=26", "more places"));
    CHECK(refused("fattree:k=3,n=17", "more links"));
    CHECK(refused("fattree:k=4,n=3,missing=64", "growing numbers below 64"));
    CHECK(refused("fattree:k=4,n=3,missing=5/5", "growing numbers"));
    CHECK(refused("fattree:k=4,n=3,missing=5/", "growing numbers"));
    CHECK(refused("fattree:k=4,n=3,route=random", "random"));
    CHECK(refused("dragonfly:a=4,h=2,t=2,g=10", "from 2 to"));
    CHECK(refused("dragonfly:a=4,h=2", "t of dragonfly is missing"));
    CHECK(refused("flat:4", "no parameters"));
    CHECK(unfit("mesh:4x4", 17, "16 places"));
    CHECK(unfit("mesh:4x4", 15, "16 places"));
    CHECK(unfit("torus:4x4", 8, "16 places"));
    CHECK(unfit("fattree:k=4,n=2,missing=3", 16, "15 places without the missing ones"));
    coll_topology_free(&topology);
    CHECK(coll_topology_read(&topology, "fattree:k=4,n=2", &why));
    CHECK(coll_topology_fits(&topology, "fattree", 3, &why));
    CHECK(coll_topology_read(&topology, "flat", &why));
    CHECK(coll_topology_fits(&topology, "flat", 1 << 20, &why));
}

int main(void)
{
    RUN(meshes);
    RUN(names_of_links);
    RUN(fat_trees);
    RUN(dragonflies);
    RUN(words);
    return check_done();
}
