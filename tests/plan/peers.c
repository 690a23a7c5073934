/* Whom a rank exchanges messages with: what plan/peers.h says is what all actions of all ranks say. */
#include "coll/plan/peers.h"
#include "coll/algos/linear.h"
#include "coll/algos/recursive_multiplying.h"
#include "coll/algos/ring.h"
#include "support/check.h"

enum { MOST = 40 };

/* peers[r][q]: r sends to q, or receives from it. */
static bool meets[MOST][MOST];

static void look(const coll_plan *plan, uint32_t p)
{
    for (uint32_t r = 0; r < p; r++)
        for (uint32_t q = 0; q < p; q++)
            meets[r][q] = false;
    for (uint32_t r = 0; r < p; r++)
        for (size_t s = 0; s < coll_plan_steps(plan, r); s++) {
            coll_action actions[COLL_STEP_MAX];
            const unsigned n = coll_plan_step(plan, r, s, actions);
            for (unsigned i = 0; i < n; i++)
                if (coll_i_has_peer(&actions[i]) && actions[i].count != 0)
                    meets[r][actions[i].peer] = true;
        }
}

static void agrees(const coll_algorithm *algorithm, coll_collective collective, uint32_t p,
                   size_t count, uint32_t stride, uint32_t *most)
{
    coll_plan plan;
    coll_problem problem;
    coll_group group;
    coll_problem_init(&problem, collective, p, count, 4);
    problem.flags = COLL_FLAG_COMMUTATIVE;
    CHECK_STATUS(coll_plan_init(&plan, algorithm, &problem, NULL), COLL_OK);
    coll_group_affine(&group, 3, stride);
    CHECK_STATUS(coll_plan_place(&plan, &group), COLL_OK);
    look(&plan, p);
    *most = 0;
    for (uint32_t r = 0; r < p; r++) {
        uint32_t peers[MOST], all = 0, at = 0;
        const uint32_t n = coll_plan_peers(&plan, r, peers, MOST);
        for (uint32_t q = 0; q < p; q++)
            all += meets[r][q];
        CHECK_EQ(n, all);
        for (uint32_t q = 0; q < p && n == all; q++)
            if (meets[r][q])
                CHECK_EQ(peers[at++], 3 + q * stride);
        if (n > 0 && n == all) {
            CHECK_EQ(coll_plan_peers(&plan, r, peers, n), n);
            CHECK_EQ(coll_plan_peers(&plan, r, peers, n - 1), COLL_RANK_NONE);
        }
        *most = *most < n ? n : *most;
    }
}

TEST(all_plans)
{
    uint32_t most;
    for (uint32_t p = 1; p <= MOST; p++) {
        agrees(&coll_ring_allreduce, COLL_ALLREDUCE, p, 100, 1, &most);
        CHECK_EQ(most, p > 2 ? 2 : p - 1);
        agrees(&coll_recursive_doubling_allreduce, COLL_ALLREDUCE, p, 1, 2, &most);
        agrees(&coll_linear_bcast, COLL_BCAST, p, 1, 1, &most);
        CHECK_EQ(most, p - 1);
        agrees(&coll_linear_bcast, COLL_BCAST, p, 0, 1, &most);
    }
    agrees(&coll_recursive_doubling_allreduce, COLL_ALLREDUCE, 32, 1, 1, &most);
    CHECK_EQ(most, 5);
}

int main(void)
{
    RUN(all_plans);
    return check_done();
}
