/* Topologies in words: routes end where they should, over links that exist and have names. */
#include "coll/lab/sim.h"
#include "coll/lab/sim/topologies.h"
#include "fuzz.h"

static void route(const coll_topology *t, uint32_t from, uint32_t to)
{
    const uint32_t hops = t->hops(t, from, to);
    must(from != to || hops == 0, "%u hops from %u to itself", hops, from);
    for (uint32_t i = 0; i < hops && i < 40; i++) {
        const uint32_t its = i < 20 ? i : hops - 1 - (i - 20);
        const uint32_t ways = t->ways ? t->ways(t, from, to) : 1;
        const uint32_t other =
            ways > 1 ? t->way_link(t, from, to, from % ways, its) : t->link(t, from, to, its);
        const uint32_t link = t->link(t, from, to, its);
        coll_link_cost cost = coll_topology_cost(t, link);
        char name[80];
        must(link < t->links, "link %u of %u from %u to %u", link, t->links, from, to);
        must(other < t->links, "link %u of %u from %u to %u", other, t->links, from, to);
        must(cost.hop <= COLL_TIME_LIMIT && cost.message <= COLL_TIME_LIMIT, "too long");
        t->name(t, link, name, sizeof name);
        must(strlen(name) > 0, "link %u has no name", link);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static coll_topology t; /* which is empty where it is refused */
    char *text = text_of(data, size, 2048);
    coll_sentence why = {""};
    if (!coll_topology_read(&t, text, &why)) {
        must(why.text[0], "refused without a sentence");
    } else {
        uint64_t random = size;
        must(t.ends > 0 && t.n_missing < t.ends, "there is no place");
        for (uint32_t p = 1; p < 200; p *= 3)
            (void)coll_topology_fits(&t, text, p, &why);
        for (int i = 0; i < 100; i++) {
            const uint64_t place = coll_i_mixed(random++, 1, 2);
            const uint32_t from = (uint32_t)(place % t.ends);
            route(&t, from, i < 50 ? (uint32_t)(place >> 32) % t.ends : (from + 1) % t.ends);
        }
        if (t.ends < 100000)
            for (uint32_t rank = 0; rank < t.ends - t.n_missing; rank += 1 + t.ends / 50)
                must(coll_topology_end(&t, rank) < t.ends, "rank %u is nowhere", rank);
    }
    coll_topology_free(&t);
    free(text);
    return 0;
}
