/* tools/sweep_table.c — the times of a sweep: a row for each algorithm and machine, columns of ranks and counts */
#include "sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* What differs among the cells of a row are ranks and counts, which are no parameters. */
enum { NO_PARAM = 0, COLUMNS = 12, TITLE = 2000 /* more than the parameters can be */ };

/* The first cells of the columns. Returns how many they are; 0: too many. */
static size_t columns_of(const struct sweep *s, size_t *first)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t c = 0;
        while (c < n && (s->cells[first[c]].p != s->cells[i].p ||
                         s->cells[first[c]].count != s->cells[i].count))
            c++;
        if (c == COLUMNS)
            return 0;
        if (c == n)
            first[n++] = i;
    }
    return n;
}

/* The first cells of the rows. The caller frees them. */
static size_t *rows_of(const struct sweep *s, size_t *n)
{
    size_t *first = memory_of(s->n, sizeof *first);
    *n = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t r = 0;
        while (r < *n && !sweep_same_line(s, NO_PARAM, &s->cells[first[r]], &s->cells[i]))
            r++;
        if (r == *n)
            first[(*n)++] = i;
    }
    return first;
}

/* The mean of the cell of this row and column; infinity: it was refused. */
static double mean_at(const struct sweep *s, const struct sweep_times *times, size_t row,
                      size_t column)
{
    for (size_t i = row; i < s->n; i++)
        if (s->cells[i].p == s->cells[column].p &&
            s->cells[i].count == s->cells[column].count &&
            sweep_same_line(s, NO_PARAM, &s->cells[row], &s->cells[i]))
            return times[i].runs > 0 ? times[i].mean : (double)INFINITY;
    return (double)INFINITY;
}

static void print_head(const struct sweep *s, bool ranks, int width, const size_t *column,
                       size_t columns)
{
    printf("%*s", width, ranks ? "ranks" : "elements");
    for (size_t c = 0; c < columns; c++) {
        const struct sweep_cell *cell = &s->cells[column[c]];
        printf("%s%10" PRIu64, c > 0 ? " " : "",
               ranks ? s->p.at[cell->p] : s->count.at[cell->count]);
    }
    putchar('\n');
}

/* Four digits of a time, without an exponent. */
static void print_mean(double us)
{
    if (isinf(us))
        printf("%10s", "-");
    else
        printf("%10.*f", us >= 1000 ? 0 : us >= 100 ? 1 : us >= 10 ? 2 : 3, us);
}

void sweep_check_table(const struct sweep *s)
{
    size_t column[COLUMNS];
    if (columns_of(s, column) == 0)
        refuse("nobody reads a table of more than %d columns: give shorter grids to -p and -n",
               COLUMNS);
}

void sweep_table(const struct sweep *s, const struct sweep_times *times)
{
    static char title[TITLE];
    size_t column[COLUMNS], rows;
    const size_t columns = columns_of(s, column);
    size_t *row = rows_of(s, &rows);
    int width = (int)strlen("elements");
    for (size_t r = 0; r < rows; r++) {
        sweep_line_title(s, NO_PARAM, &s->cells[row[r]], title, sizeof title);
        width = (int)strlen(title) > width ? (int)strlen(title) : width;
    }
    print_head(s, true, width, column, columns);
    print_head(s, false, width, column, columns);
    for (size_t r = 0; r < rows; r++) {
        sweep_line_title(s, NO_PARAM, &s->cells[row[r]], title, sizeof title);
        printf("%-*s", width, title);
        for (size_t c = 0; c < columns; c++) {
            const double mean = mean_at(s, times, row[r], column[c]);
            bool least = true; /* of its collective */
            for (size_t k = 0; k < rows && least; k++)
                least = s->cells[row[k]].collective != s->cells[row[r]].collective ||
                        !(mean > mean_at(s, times, row[k], column[c]));
            print_mean(mean);
            if (least && !isinf(mean))
                putchar('*');
            else if (c + 1 < columns)
                putchar(' ');
        }
        putchar('\n');
    }
    free(row);
}
