/* tools/telling.c — see telling.h */
#include "telling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void telling_open(struct telling *telling, coll_comm *comm)
{
    const char *asked = getenv("COLL_TOP");
    uint64_t job = coll_page_now(NULL) << 16 ^ (uint64_t)getpid();
    memset(telling, 0, sizeof *telling);
    if (!asked || strcmp(asked, "1") != 0 || coll_bcast(comm, &job, 1, COLL_U64, 0) != COLL_OK)
        return;
    if (!coll_page_open(&telling->page, job, comm->rank, comm->p, COLL_PAGE_COMM))
        fprintf(stderr,
                "coll run: COLL_TOP: rank %u has no page in " COLL_PAGE_FOLDER
                ", so coll top does not show it\n",
                comm->rank);
    (void)coll_barrier(comm);
}

static void tell(struct telling *telling, coll_i_explain_state state)
{
    telling->told.word[0] = telling->calls << 16 | (uint64_t)state;
    coll_board_tell(&telling->page.board, &telling->told);
}

void telling_begin(struct telling *telling, const coll_problem *problem, coll_type type,
                   coll_operator which)
{
    const bool reduces = coll_is(COLL_REDUCING, problem->collective);
    coll_compared args = {{0, 0}};
    if (!telling->page.memory)
        return;
    coll_i_compared_set(&args, COLL_COMPARE_COLLECTIVE, (uint64_t)problem->collective);
    coll_i_compared_set(&args, COLL_COMPARE_ROOT, problem->root);
    coll_i_compared_set(&args, COLL_COMPARE_TYPE, type);
    coll_i_compared_set(&args, COLL_COMPARE_OPERATOR, reduces ? which : COLL_I_COMPARE_NO_OP);
    coll_i_compared_set(&args, COLL_COMPARE_COUNT, problem->count);
    telling->calls++;
    telling->told.word[1] = args.word[0];
    telling->told.word[2] = args.word[1];
    telling->told.word[3] = telling->told.word[4] = coll_page_now(NULL);
    telling->told.word[5] = (uint64_t)COLL_RANK_NONE << 32;
    telling->told.word[6] = 0;
    tell(telling, COLL_I_EXPLAIN_WAITS);
}

void telling_end(struct telling *telling)
{
    if (telling->page.memory)
        tell(telling, COLL_I_EXPLAIN_OUTSIDE);
}

void telling_close(struct telling *telling)
{
    coll_page_close(&telling->page);
}
