/* tests/support/same_actions.h — do two plans do the same? */
#ifndef COLL_TESTS_SAME_ACTIONS_H
#define COLL_TESTS_SAME_ACTIONS_H

#include "coll/plan.h"

/* Do both plans yield the same actions on a rank, those of 0 elements aside? */
static inline bool same_actions(const coll_plan *a, const coll_plan *b, uint32_t rank)
{
    const coll_plan *const plan[2] = {a, b};
    size_t step[2] = {0, 0}, total = 0;
    unsigned next[2] = {0, 0}, n[2] = {0, 0};
    coll_action acts[2][COLL_STEP_MAX];
    for (;; total++) {
        const coll_action *found[2] = {NULL, NULL};
        for (int i = 0; i < 2; i++) {
            while (!found[i] && (next[i] < n[i] || step[i] < coll_plan_steps(plan[i], rank))) {
                if (next[i] == n[i]) {
                    next[i] = 0;
                    n[i] = coll_plan_step(plan[i], rank, step[i]++, acts[i]);
                } else if (acts[i][next[i]++].count > 0) {
                    found[i] = &acts[i][next[i] - 1];
                }
            }
        }
        if (!found[0] || !found[1])
            return found[0] == found[1];
        if (found[0]->kind != found[1]->kind || found[0]->flags != found[1]->flags ||
            found[0]->inputs != found[1]->inputs || found[0]->peer != found[1]->peer ||
            found[0]->count != found[1]->count || found[0]->dst != found[1]->dst ||
            found[0]->src != found[1]->src || found[0]->via != found[1]->via ||
            found[0]->stride != found[1]->stride)
            return false;
    }
}

#endif /* COLL_TESTS_SAME_ACTIONS_H */
