/* mpi/tests/differential/completion.c — requests of all kinds completed in any order, in any way */
#include "differential.h"

static void ended(struct set *set, int i, const MPI_Status *status)
{
    if (i < 0 || i >= set->n || !set->pending[i]) {
        complain("request %d of %d was said to be complete, but is not pending", i, set->n);
        return;
    }
    set->pending[i] = false;
    set->left--;
    if (!set->persistent[i] && set->requests[i] != MPI_REQUEST_NULL)
        complain("request %d is complete, but its handle is not null", i);
    if (set->persistent[i] && set->requests[i] == MPI_REQUEST_NULL)
        complain("request %d is persistent, but its handle is null", i);
    const struct message *m = set->received[i];
    if (!m || !status)
        return;
    int count;
    PMPI_Get_count(status, MPI_INT, &count);
    if (status->MPI_SOURCE != m->from || status->MPI_TAG != m->tag || count != m->n)
        complain(
            "the status of a message says %d ints from %d with tag %d, not %d from %d with %d",
            count, status->MPI_SOURCE, status->MPI_TAG, m->n, m->from, m->tag);
}

/* Some of the requests, in an order of their own. */
static int some_of(const struct set *set, struct stream *s, int *which)
{
    const int percent = 30 + below(s, 71);
    int n = 0;
    for (int i = 0; i < set->n; i++)
        if (chance(s, percent))
            which[n++] = i;
    shuffle(s, which, n);
    return n;
}

/* What a call completed: nothing, all that were given, the first, one that it names; or a number of them. */
enum { NOTHING = -1, ALL = -2, FIRST = -3, NAMED = -4 };

void complete_all(struct set *set, struct stream *s)
{
    while (set->left > 0) {
        int which[REQUESTS], found[REQUESTS], n = some_of(set, s, which), flag = 0, at = 0;
        MPI_Request some[REQUESTS];
        MPI_Status statuses[REQUESTS], *ignored = chance(s, 20) ? MPI_STATUSES_IGNORE : NULL;
        MPI_Status *const all = ignored ? MPI_STATUSES_IGNORE : statuses;
        MPI_Status *const one = ignored ? MPI_STATUS_IGNORE : statuses;
        bool active = false;
        for (int i = 0; i < n; i++) {
            some[i] = set->requests[which[i]];
            active |= set->pending[which[i]];
        }
        const int kind = below(s, 10);
        int done = NOTHING;
        switch (kind) {
        case 0:
            if (n > 0)
                MPI_Wait(&some[0], one);
            done = n > 0 ? FIRST : NOTHING;
            break;
        case 1:
            MPI_Waitall(n, some, all);
            done = ALL;
            break;
        case 2:
            MPI_Waitany(n, some, &at, one);
            if (active == (at == MPI_UNDEFINED))
                complain("MPI_Waitany says %d, with%s active requests", at,
                         active ? "" : "out");
            done = at == MPI_UNDEFINED ? NOTHING : NAMED;
            break;
        case 3:
            MPI_Waitsome(n, some, &done, found, all);
            if (active == (done == MPI_UNDEFINED))
                complain("MPI_Waitsome says %d, with%s active requests", done,
                         active ? "" : "out");
            break;
        case 4:
            if (n > 0)
                MPI_Test(&some[0], &flag, one);
            done = n > 0 && flag ? FIRST : NOTHING;
            break;
        case 5:
            MPI_Testall(n, some, &flag, all);
            done = flag ? ALL : NOTHING;
            break;
        case 6:
            MPI_Testany(n, some, &at, &flag, one);
            done = flag && at != MPI_UNDEFINED ? NAMED : NOTHING;
            if (!active && (!flag || at != MPI_UNDEFINED))
                complain("MPI_Testany without active requests says %d, %d", flag, at);
            break;
        case 7:
            MPI_Testsome(n, some, &done, found, all);
            if (active == (done == MPI_UNDEFINED))
                complain("MPI_Testsome says %d, with%s active requests", done,
                         active ? "" : "out");
            break;
        default:
            if (n > 0) {
                do
                    MPI_Request_get_status(some[0], &flag, one);
                while (!flag);
                MPI_Test(&some[0], &flag, one);
                if (!flag)
                    complain(
                        "MPI_Test after MPI_Request_get_status says that it is not complete");
                done = FIRST;
            }
        }
        for (int i = 0; i < n; i++)
            set->requests[which[i]] = some[i];
        if (done == ALL) {
            for (int i = 0; i < n; i++)
                if (set->pending[which[i]])
                    ended(set, which[i], ignored ? NULL : &statuses[i]);
        } else if (done == FIRST || done == NAMED) {
            at = done == FIRST ? 0 : at;
            if (done == NAMED || set->pending[which[at]])
                ended(set, which[at], ignored ? NULL : &statuses[0]);
        } else {
            for (int i = 0; i < done; i++)
                ended(set, which[found[i]], ignored ? NULL : &statuses[i]);
        }
    }
}
