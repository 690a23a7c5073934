/* tests/support/draws.c — problems for a rule, drawn at random */
#include "draws.h"

#include "chance.h"

uint32_t draws_below(uint64_t *chance, uint32_t n)
{
    return chance_of(chance, n);
}

static void add_end(drawn *of, size_t bytes, bool up)
{
    uint32_t i = 0;
    if (bytes < of->rule->bytes_least || bytes > of->rule->bytes_most)
        return;
    while (i < of->n_ends && (of->ends[i].bytes != bytes || of->ends[i].up != up))
        i++;
    if (i == of->n_ends && i < ENDS) {
        of->ends[i].bytes = bytes;
        of->ends[i].up = up;
        of->n_ends++;
    }
}

/* Those of the rule, and those of others within its range. */
void draws_ends(drawn *of)
{
    const size_t least = of->rule->bytes_least, long_one = COLL_I_KIB(4096);
    const size_t most = least < long_one ? long_one : least <= SIZE_MAX / 4 ? least * 4 : least;
    of->n_ends = 0;
    add_end(of, least, true);
    add_end(of, of->rule->bytes_most < most ? of->rule->bytes_most : most, false);
    for (const coll_rule_list *list = of->lists; list; list = list->next)
        for (size_t i = 0; i < list->n; i++) {
            const coll_rule *other = &list->rules[i];
            if (!coll_is(other->collectives, of->collective))
                continue;
            add_end(of, other->bytes_least, true);
            if (other->bytes_least > 0)
                add_end(of, other->bytes_least - 1, false);
            if (other->bytes_most == SIZE_MAX)
                continue;
            add_end(of, other->bytes_most, false);
            add_end(of, other->bytes_most + 1, true);
        }
}

/* How many elements may a block or vector have, so that the proof stays short? */
static size_t room_of(const asked *it)
{
    const uint32_t vectors = COLL_BIT(COLL_BCAST) | COLL_BIT(COLL_REDUCE) |
                             COLL_BIT(COLL_ALLREDUCE) | COLL_BIT(COLL_SCAN) |
                             COLL_BIT(COLL_EXSCAN);
    const size_t ranks = coll_is(vectors, it->collective) ? it->p : (size_t)it->p * it->p;
    const size_t room = 40000 / ranks;
    return room < 1 ? 1 : room;
}

/* Writes elements of a size that have the bytes of an end; number k of such sizes. */
static void draw_size(rules_proof *proof, const drawn *of, uint32_t k)
{
    const end *at = &of->ends[(k + proof->it.p) % of->n_ends];
    asked *it = &proof->it;
    const size_t counts[] = {1, 2, 3, 5, it->p - 1, it->p, it->p + 1, 2 * it->p + (size_t)3};
    const size_t room = room_of(it), bytes = at->bytes;
    size_t count = counts[draws_below(&proof->chance, 8)], size = 0;
    uint32_t parameter = draws_below(&proof->chance, COLL_PARAM_MAX);
    if (count > room || count == 0 || count > bytes)
        count = 1;
    for (uint32_t i = 0; i < COLL_PARAM_MAX; i++, parameter = (parameter + 1) % COLL_PARAM_MAX)
        if (of->rule->in_bytes >> parameter & 1u) { /* of a few elements, or less than one */
            const size_t bytes_of = of->rule->param[parameter];
            const uint32_t n = (k + k / of->n_ends) % 5;
            size = n == 0 ? bytes_of + 1 : bytes_of / n;
            break;
        }
    if (size == 0 || draws_below(&proof->chance, 4) == 0)
        size = draws_below(&proof->chance, 2) ? 8 : 0;
    if (size > 0 && bytes / size >= 1 && bytes / size < room)
        count = bytes / size + (at->up && bytes % size != 0);
    else
        size = bytes / count + (at->up && bytes % count != 0);
    if (count * size < of->rule->bytes_least || count * size > of->rule->bytes_most) {
        count = 1;
        size = bytes;
    }
    it->count = count;
    it->elem_bytes = size;
    if (bytes == 0) {
        it->count = 0;
        it->elem_bytes = 8;
    }
}

/* Puts the ranks on nodes, the largest of `big`: of one size, or of any. */
static void draw_nodes(rules_proof *proof, uint32_t big)
{
    asked *it = &proof->it;
    const uint32_t way =
        draws_below(&proof->chance, 3); /* even; the largest is the first, or the last */
    uint32_t at = 0;
    it->nodes = 0;
    it->ppn = way == 0 ? big : 0;
    while (at < it->p) {
        const uint32_t left = it->p - at;
        uint32_t ranks =
            way == 0 || (way == 1 && at == 0) ? big : 1 + draws_below(&proof->chance, big);
        if (way == 2 && left > big && ranks > left - big)
            ranks = left - big;
        it->first[it->nodes++] = at;
        at += way == 2 && left <= big ? left : ranks < left ? ranks : left;
    }
    it->first[it->nodes] = it->p;
}

/* Several nodes as the rule wants them, or any; false: p ranks are too few. */
static bool draw_largest(rules_proof *proof, const coll_rule *rule)
{
    asked *it = &proof->it;
    uint32_t least = 1, most = it->p - 1;
    it->nodes = it->ppn = 0;
    if (rule->ppn_most > 0) {
        least = rule->ppn_least < 1 ? 1 : rule->ppn_least;
        most = rule->ppn_most < most ? rule->ppn_most : most;
        if (least > most)
            return false;
    } else if (most < 1 || draws_below(&proof->chance, 2)) {
        return true;
    }
    {
        const uint32_t n = draws_below(&proof->chance, 4),
                       any = least + draws_below(&proof->chance, most - least + 1);
        draw_nodes(proof, n == 0 ? least : n == 1 ? most : any);
    }
    return true;
}

static void draw_graph(rules_proof *proof)
{
    asked *it = &proof->it;
    const uint32_t route = draws_below(&proof->chance, 3);
    it->graph = COLL_GRID_NO_GRAPH;
    it->route = NULL;
    if (!coll_is(COLL_NEIGHBORLY, it->collective))
        return;
    it->graph = (coll_grid_graph)(1 + draws_below(&proof->chance, COLL_GRID_GRAPHS - 1));
    if (route > 0 && coll_is(coll_mesh_combining.collectives, it->collective))
        it->route = route == 1 ? &coll_mesh_combining : &coll_node_combining;
}

/* Draws a problem of a rule for p ranks; false: there is none. */
bool draws_problem(rules_proof *proof, const drawn *of, uint32_t p, uint32_t k)
{
    asked *it = &proof->it;
    const uint32_t roots[] = {0, p - 1, draws_below(&proof->chance, p)};
    const bool reduces = coll_is(COLL_REDUCING, of->collective);
    const bool places = !coll_is(COLL_BIT(COLL_BARRIER) | COLL_NEIGHBORLY, of->collective);
    coll_problem sizes;
    if (of->n_ends == 0)
        return false;
    it->collective = of->collective;
    it->p = p;
    it->root = coll_is(COLL_ROOTED, of->collective) ? roots[draws_below(&proof->chance, 3)] : 0;
    it->flags = (places && draws_below(&proof->chance, 2) ? COLL_FLAG_IN_PLACE : 0u) |
                (reduces && draws_below(&proof->chance, 3) ? COLL_FLAG_COMMUTATIVE : 0u);
    it->layout = asked_has_tables(of->collective)
                     ? (asked_layout)(1 + draws_below(&proof->chance, ASKED_LAYOUTS - 1))
                     : ASKED_PLAIN;
    it->root_only = draws_below(&proof->chance, 2) &&
                    coll_is(COLL_BIT(COLL_GATHERV) | COLL_BIT(COLL_SCATTERV), of->collective);
    draw_graph(proof);
    if (!draw_largest(proof, of->rule))
        return false;
    coll_problem_init(&sizes, of->collective, p, 1, 8);
    if (coll_problem_bytes(&sizes) > 0) {
        draw_size(proof, of, k);
    } else { /* bytes do not matter */
        it->count = of->collective == COLL_BARRIER ? 0 : draws_below(&proof->chance, 5);
        it->elem_bytes = 8;
    }
    if (asked_make(&proof->memory, it) == COLL_ERR_GRAPH) {
        it->route = NULL;
        (void)asked_make(&proof->memory, it);
    }
    return true;
}

static const unsigned offered = COLL_NEEDS_SHARED | COLL_NEEDS_MULTICAST | COLL_I_NEEDS_GROUP;

/* Terms that the problem allows: those of all ranks, or some of them. */
coll_conditions draws_terms(rules_proof *proof, bool all)
{
    coll_conditions conditions;
    conditions.capabilities = offered & (all || draws_below(&proof->chance, 3) == 0
                                             ? ~0u
                                             : draws_below(&proof->chance, 1u << 20));
    conditions.capabilities |=
        all || draws_below(&proof->chance, 4) ? (unsigned)COLL_NEEDS_PACKED : 0;
    if (proof->it.layout == ASKED_GAPS)
        conditions.capabilities &= ~(unsigned)COLL_NEEDS_PACKED;
    conditions.requirements = all ? 0 : draws_below(&proof->chance, 1u << 20);
    conditions.requirements &= COLL_GIVES_IDENTICAL | COLL_GIVES_REPRODUCIBLE;
    if (!all) {
        conditions.capabilities &= proof->capabilities;
        conditions.requirements &= proof->requirements;
    }
    return conditions;
}
