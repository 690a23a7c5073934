/* tools/grid.c — see grid.h */
#include "grid.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "coll/select/names.h"
#include "memory.h"
#include "options.h"

/* What is being read. */
struct reading {
    const char *name, *words;
    uint64_t least, most;
};

static _Noreturn void wrong(const struct reading *r)
{
    refuse("%s is a grid of numbers from %" PRIu64 " to %" PRIu64
           " such as 1,3,16..64 (the double one each time) or 4..20+4, not \"%s\"",
           r->name, r->least, r->most, r->words);
}

static uint64_t number(const struct reading *r, const char *from, const char *to)
{
    char word[32];
    const size_t n = (size_t)(to - from);
    uint64_t number = 0;
    if (n == 0 || n >= sizeof word)
        wrong(r);
    memcpy(word, from, n);
    word[n] = '\0';
    if (!coll_number_read(word, &number))
        wrong(r);
    return number;
}

static void add(struct grid *grid, const struct reading *r, uint64_t value)
{
    if (value < r->least || value > r->most)
        wrong(r);
    for (size_t i = 0; i < grid->n; i++)
        if (grid->at[i] == value)
            refuse("%s has %" PRIu64 " twice in \"%s\"", r->name, value, r->words);
    if (grid->n == GRID_MOST)
        refuse("%s has more than %d numbers in \"%s\"", r->name, GRID_MOST, r->words);
    grid->at[grid->n++] = value;
}

/* One of the words between commas. */
static void add_word(struct grid *grid, const struct reading *r, const char *from,
                     const char *to)
{
    const char *dots = from, *plus = from;
    uint64_t first, last, step = 0;
    while (dots < to && !(dots[0] == '.' && dots + 1 < to && dots[1] == '.'))
        dots++;
    if (dots == to) {
        add(grid, r, number(r, from, to));
        return;
    }
    for (plus = dots; plus < to && *plus != '+'; plus++)
        ;
    first = number(r, from, dots);
    last = number(r, dots + 2, plus);
    if (plus < to)
        step = number(r, plus + 1, to);
    if (first > last || last > r->most || (plus < to ? step == 0 : first == 0 && last > 0))
        wrong(r);
    for (uint64_t value = first;;) {
        const uint64_t more = plus < to ? step : value;
        add(grid, r, value);
        if (more == 0 || more > last - value)
            break;
        value += more;
    }
    if (grid->at[grid->n - 1] != last && plus == to)
        add(grid, r, last);
}

void grid_read(struct grid *grid, const char *name, const char *words, uint64_t least,
               uint64_t most)
{
    const struct reading reading = {name, words, least, most};
    const char *from = words;
    grid->at = memory_of(GRID_MOST, sizeof *grid->at);
    grid->n = 0;
    for (;;) {
        const char *comma = strchr(from, ',');
        add_word(grid, &reading, from, comma ? comma : from + strlen(from));
        if (!comma)
            return;
        from = comma + 1;
    }
}
