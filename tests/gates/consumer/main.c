/* A program that uses the installed library: four ranks in a ring must each send to the next. */
#include <coll/algos/ring.h>

int main(void)
{
    coll_problem problem;
    coll_plan plan;
    coll_action action[COLL_STEP_MAX];
    coll_problem_init(&problem, COLL_ALLGATHER, 4, 1, sizeof(int));
    if (coll_plan_init(&plan, &coll_ring_allgather, &problem, NULL) != COLL_OK)
        return 1;
    for (size_t s = 0; s < coll_plan_steps(&plan, 3); s++)
        for (unsigned i = coll_plan_step(&plan, 3, s, action); i-- > 0;)
            if (action[i].kind == COLL_DO_SEND && action[i].peer != 0)
                return 1;
    return 0;
}
