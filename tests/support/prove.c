/* tests/support/prove.c — the verifier, for many tests */
#include "prove.h"

coll_finding prove_plan(const coll_plan *plan, const coll_verify_options *options,
                        coll_report *report)
{
    return coll_verify(plan, options, report);
}

coll_status prove_case(coll_grid_worker *worker, const coll_grid_case *of, coll_report *report)
{
    return coll_grid_prove(worker, of, report);
}
