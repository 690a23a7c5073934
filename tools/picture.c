/* tools/picture.c — see picture.h */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum {
    MARGIN = 10,    /* columns for the names of struct rounds */
    LINES_MAX = 48, /* of arrows, beyond which the grid is shorter to read */
    NARROWEST = 4,  /* columns of a rank between which an arrow can be seen */
    WIDEST = 6,
    BANDS_MAX = 4 /* of the grid, one below the other */
};

/* ---- arrows ------------------------------------------------------------------------------ */

/* A message, or two that cross: from a to b and, if `both`, back. */
struct arc {
    uint32_t low, high; /* ranks, low < high */
    bool right, left;   /* to high, to low */
    bool right_combined, left_combined, token;
};

static int by_place(const void *a, const void *b)
{
    const struct arc *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return x->high < y->high ? -1 : x->high > y->high;
}

/* The arcs of the messages list[0 … n−1] of one round. */
static size_t arcs_of(const struct message *list, size_t n, struct arc *arcs)
{
    size_t n_arcs = 0;
    for (size_t i = 0; i < n; i++) {
        const struct message *m = &list[i];
        const bool right = m->from < m->to;
        struct arc *a = &arcs[n_arcs];
        *a = (struct arc){.low = right ? m->from : m->to, .high = right ? m->to : m->from};
        for (size_t k = 0; k < n_arcs; k++)
            if (arcs[k].low == a->low && arcs[k].high == a->high && arcs[k].token == m->token)
                a = &arcs[k];
        a->token = m->token;
        if (right) {
            a->right = true;
            a->right_combined = m->combined;
        } else {
            a->left = true;
            a->left_combined = m->combined;
        }
        n_arcs += a == &arcs[n_arcs];
    }
    qsort(arcs, n_arcs, sizeof *arcs, by_place);
    return n_arcs;
}

/* Which line each arc is drawn on, so that those of one line have no rank in common, and lines
 * with long arcs come last. Returns the number of lines. */
static size_t pack(const struct arc *arcs, size_t n, size_t *line)
{
    size_t lines = 0;
    uint32_t end[PICTURE_RANKS_MAX], longest[PICTURE_RANKS_MAX]; /* of each line so far */
    size_t place[PICTURE_RANKS_MAX];
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        const size_t before = lines;
        const uint32_t length = arcs[i].high - arcs[i].low;
        while (at < lines && end[at] >= arcs[i].low)
            at++;
        lines += at == lines;
        end[at] = arcs[i].high;
        longest[at] = at < before && longest[at] > length ? longest[at] : length;
        line[i] = at;
    }
    for (size_t at = 0; at < lines; at++) {
        place[at] = 0;
        for (size_t k = 0; k < lines; k++)
            place[at] += longest[k] < longest[at] || (longest[k] == longest[at] && k < at);
    }
    for (size_t i = 0; i < n; i++)
        line[i] = place[line[i]];
    return lines;
}

static void print_arcs(const struct arc *arcs, const size_t *line, size_t n, size_t at,
                       uint32_t p, unsigned width)
{
    const char *cell[PICTURE_RANKS_MAX * WIDEST];
    for (uint32_t x = 0; x < p * width; x++)
        cell[x] = x % width ? " " : "│";
    for (size_t i = 0; i < n; i++) {
        const struct arc *a = &arcs[i];
        if (line[i] != at)
            continue;
        for (uint32_t x = a->low * width + 1; x < a->high * width; x++)
            cell[x] = x % width == 0 ? "┼" : a->token ? "┄" : "─";
        cell[a->low * width] = !a->left ? "●" : a->left_combined ? "⊕" : "◀";
        cell[a->high * width] = !a->right ? "●" : a->right_combined ? "⊕" : "▶";
    }
    for (uint32_t x = 0; x <= (p - 1) * width; x++)
        fputs(cell[x], stdout);
    putchar('\n');
}

static void print_meeting(const struct meeting *m, uint32_t p, unsigned width)
{
    uint32_t low = 0, high = p - 1;
    while (!(m->ranks >> low & 1u))
        low++;
    while (!(m->ranks >> high & 1u))
        high--;
    for (uint32_t x = 0; x <= (p - 1) * width; x++) {
        const bool within = x >= low * width && x <= high * width;
        if (x % width)
            fputs(within ? "═" : " ", stdout);
        else
            fputs(m->ranks >> x / width & 1u ? "◆" : within ? "╪" : "│", stdout);
    }
    putchar('\n');
}

/* Messages of a round: list[0 … n−1], the first of the list being of that round. */
static size_t same_round(const struct message *list, size_t n)
{
    size_t i = 0;
    while (i < n && list[i].round == list[0].round)
        i++;
    return i;
}

static void print_margin(uint32_t round, bool first)
{
    if (first)
        printf("round %-3u ", round);
    else
        printf("%*s", MARGIN, "");
}

/* Draws the arrows, or, without `draw`, counts their lines. */
static size_t arrows(const struct rounds *r, uint32_t p, unsigned width, bool draw)
{
    struct arc arcs[PICTURE_RANKS_MAX * PICTURE_RANKS_MAX];
    size_t line[PICTURE_RANKS_MAX * PICTURE_RANKS_MAX], lines = 0, i = 0, k = 0;
    for (uint32_t round = 1; round <= r->rounds; round++) {
        const size_t n =
            i < r->n && r->list[i].round == round ? same_round(r->list + i, r->n - i) : 0;
        const size_t n_arcs = arcs_of(n > 0 ? r->list + i : NULL, n, arcs),
                     n_lines = pack(arcs, n_arcs, line);
        const size_t before = lines;
        for (size_t at = 0; at < n_lines; at++, lines++)
            if (draw) {
                print_margin(round, lines == before);
                print_arcs(arcs, line, n_arcs, at, p, width);
            }
        for (; k < r->n_meetings && r->meetings[k].round == round; k++, lines++)
            if (draw) {
                print_margin(round, lines == before);
                print_meeting(&r->meetings[k], p, width);
            }
        i += n;
    }
    return lines;
}

static void draw_arrows(const struct rounds *r, uint32_t p, unsigned width)
{
    bool combined = false, moved = false, token = false;
    printf("%*s", MARGIN, "rank   ");
    for (uint32_t rank = 0; rank < p; rank++)
        printf("%-*u", rank + 1 < p ? (int)width : 1, rank);
    putchar('\n');
    (void)arrows(r, p, width, true);
    for (size_t i = 0; i < r->n; i++) {
        combined = combined || r->list[i].combined;
        token = token || r->list[i].token;
        moved = moved || (!r->list[i].combined && !r->list[i].token);
    }
    const char *const words[] = {moved ? "●─▶ message" : NULL,
                                 combined ? "●─⊕ message that its receiver combines" : NULL,
                                 token ? "●┄▶ notification" : NULL,
                                 r->n_meetings > 0 ? "◆═◆ meeting in the network" : NULL};
    const char *before = "";
    printf("%*s", MARGIN, "");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        printf("%s%s", words[i] ? before : "", words[i] ? words[i] : "");
        before = words[i] ? "   " : before;
    }
    putchar('\n');
}

/* ---- the grid ---------------------------------------------------------------------------- */

/* What a rank does in a round: whom it sends to, and whom it receives from. */
struct cell {
    uint32_t to, from;
    bool combined, many, meets;
};

static int digits(uint32_t x)
{
    return x < 10 ? 1 : 2;
}

static void print_cell(const struct cell *c, int wide)
{
    if (c->meets)
        printf("◆%*s", wide, "");
    else if (c->to == UINT32_MAX)
        printf("%*s", wide + 1, "");
    else if (c->many)
        printf("→*%*s", wide - 1, "");
    else
        printf("→%-*u", wide, c->to);
    if (c->from == UINT32_MAX)
        printf("%*s", wide + 1, "");
    else
        printf("%s%-*u", c->combined ? "⊕" : "←", wide, c->from);
}

static void draw_grid(const struct rounds *r, uint32_t p, unsigned width, bool all)
{
    const int wide = digits(p - 1);
    const uint32_t across = (width - MARGIN) / (unsigned)(2 * wide + 3);
    const uint32_t most = all ? UINT32_MAX : across * (p > 32 ? 1 : BANDS_MAX);
    const uint32_t shown = r->rounds < most ? r->rounds : most;
    struct cell *cells = memory_of((size_t)p * across, sizeof *cells);
    size_t i = 0, j = 0;
    for (uint32_t first = 1; first <= shown; first += across) {
        const uint32_t n = shown - first + 1 < across ? shown - first + 1 : across;
        for (size_t k = 0; k < (size_t)p * across; k++)
            cells[k] = (struct cell){.to = UINT32_MAX, .from = UINT32_MAX};
        for (; i < r->n && r->list[i].round < first + n; i++) {
            const struct message *m = &r->list[i];
            struct cell *from = &cells[m->from * across + m->round - first];
            struct cell *to = &cells[m->to * across + m->round - first];
            from->many = from->to != UINT32_MAX;
            from->to = m->to;
            to->from = m->from;
            to->combined = m->combined;
        }
        for (; j < r->n_meetings && r->meetings[j].round < first + n; j++)
            for (uint32_t rank = 0; rank < p; rank++)
                if (r->meetings[j].ranks >> rank & 1u)
                    cells[rank * across + r->meetings[j].round - first].meets = true;
        printf("%s%*s", first > 1 ? "\n" : "", MARGIN, "round  ");
        for (uint32_t k = 0; k < n; k++)
            printf("%-*u", 2 * wide + 3, first + k);
        putchar('\n');
        for (uint32_t rank = 0; rank < p; rank++) {
            printf("rank %-3u  ", rank);
            for (uint32_t k = 0; k < n; k++) {
                print_cell(&cells[rank * across + k], wide);
                putchar(k + 1 < n ? ' ' : '\n');
            }
        }
    }
    free(cells);
    printf("%*s→3 sends to rank 3   ←3 receives from it   ⊕3 receives and combines%s\n", MARGIN,
           "", r->n_meetings > 0 ? "   ◆ meets others" : "");
    if (shown < r->rounds)
        printf("%*s… and %u more rounds; --all draws them\n", MARGIN, "", r->rounds - shown);
}

void picture_draw(const struct rounds *r, uint32_t p, unsigned width, bool all)
{
    const unsigned space = width > MARGIN + 1 ? width - MARGIN - 1 : 1;
    unsigned column = p > 1 ? space / (p - 1) : WIDEST;
    if (r->n + r->n_meetings == 0)
        return;
    if (column > WIDEST)
        column = WIDEST;
    if (column >= NARROWEST && (all || arrows(r, p, column, false) <= LINES_MAX))
        draw_arrows(r, p, column);
    else
        draw_grid(r, p, width, all);
}
