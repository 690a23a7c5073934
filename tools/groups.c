/* tools/groups.c — see groups.h */
#include "groups.h"

#include "memory.h"
#include "names.h"
#include "options.h"

static const char *const group_names[] = {"affine", "missing", "shuffled"};
static const char *const places_names[] = {"dealt", "uneven", "alone", "random"};

/* Reads KIND:A:B, if there is a colon; the index of the kind among the names, or n. */
static size_t read_kind(const char *what, const char *words, const char *const *names, size_t n,
                        uint64_t numbers[2])
{
    const char *at = strchr(words, ':');
    char kind[16];
    if (!at)
        return n;
    snprintf(kind, sizeof kind, "%.*s", (int)(at - words), words);
    at++;
    if (!number_take(&at, ':', &numbers[0]) || !number_take(&at, ':', &numbers[1]) || *at ||
        numbers[0] > UINT32_MAX / 8 || numbers[1] > UINT32_MAX)
        refuse("--%s is %s and two numbers such as %s:9:1, or a list, not \"%.40s\"", what,
               what[0] == 'g' ? "how ranks are chosen" : "how ranks lie", names[0], words);
    return name_index(what[0] == 'g' ? what : "kind of places", kind, names, n);
}

/* Reads p numbers below `most`. */
static void read_list(const char *what, const char *text, uint32_t *numbers, uint32_t p,
                      uint64_t most)
{
    uint32_t n = 0;
    for (; *text; n++) {
        const char *from = text;
        uint64_t number;
        if (!number_take(&text, ',', &number) || number >= most)
            refuse("--%s is a list of numbers below %llu, which \"%.40s\" is not", what,
                   (unsigned long long)most, from);
        if (n < p)
            numbers[n] = (uint32_t)number;
    }
    if (n != p)
        refuse("--%s has %u numbers, and there are %u ranks", what, n, p);
}

static uint32_t *room_of(coll_i_groups *groups, size_t n)
{
    uint32_t *room = (uint32_t *)coll_i_reserve_new(&groups->memory, n * sizeof *room);
    if (!room)
        refuse("there is not enough memory for this");
    return room;
}

void group_read(coll_i_groups *groups, const char *words, uint32_t p)
{
    enum { KINDS = sizeof group_names / sizeof *group_names };
    uint64_t number[2] = {0, 0};
    const size_t kind = read_kind("group", words, group_names, KINDS, number);
    coll_grid_group of;
    if (kind == KINDS) {
        uint32_t *table = room_of(groups, p);
        read_list("group", words, table, p, UINT32_MAX);
        coll_group_table(&groups->group, table, NULL);
        if (coll_group_check(&groups->group, p, UINT32_MAX) != COLL_OK)
            refuse("--group names a rank twice");
        return;
    }
    of.kind = (coll_grid_grouping)(COLL_GRID_AFFINE + kind);
    of.outer = (uint32_t)number[0];
    of.which = (uint32_t)number[1];
    switch (coll_i_groups_make(groups, &of, p)) {
    case COLL_OK:
        break;
    case COLL_ERR_GROUP:
        refuse("there is no group %.40s of %u ranks", words, p);
    default:
        refuse("there is not enough memory for this");
    }
}

void places_read(coll_i_groups *groups, const char *words, uint32_t p)
{
    enum { KINDS = sizeof places_names / sizeof *places_names };
    uint64_t number[2] = {0, 0};
    const size_t kind = read_kind("places", words, places_names, KINDS, number);
    coll_grid_places of;
    if (kind == KINDS) {
        const size_t room = coll_rank_order_tables(p);
        uint32_t *tables = room_of(groups, room + p);
        read_list("places", words, tables + room, p, UINT32_MAX);
        coll_rank_order_of(&groups->places, tables + room, p, tables);
        coll_group_places(&groups->group, &groups->places);
        return;
    }
    of.kind = (coll_grid_placing)(COLL_GRID_DEALT + kind);
    of.nodes = (uint32_t)number[0];
    of.which = (uint32_t)number[1];
    if (of.nodes == 0)
        refuse("--places needs a node");
    if (!coll_i_rank_order_make(groups, &of, p))
        refuse("there is not enough memory for this");
}
