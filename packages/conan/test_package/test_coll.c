/* The package is found: a plan of eight ranks has three rounds. */
#include <coll/algos/dissemination.h>

int main(void)
{
    coll_problem problem;
    coll_plan plan;
    coll_problem_init(&problem, COLL_BARRIER, 8, 0, 1);
    return coll_plan_init(&plan, &coll_dissemination_barrier, &problem, NULL) != COLL_OK ||
           coll_plan_steps(&plan, 0) != 3;
}
