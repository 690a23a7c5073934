/* tests/support/prove.h — the verifier, compiled once for the tests whose subject it is not
 *
 * It is most of what they consist of: the functions of coll/lab/verify.h and
 * coll/lab/verify/case.h that they would else have each.
 */
#ifndef COLL_TESTS_SHARED_PROVE_H
#define COLL_TESTS_SHARED_PROVE_H

#include "coll/lab/verify.h"
#include "coll/lab/verify/case.h"

/* coll_verify. */
coll_finding prove_plan(const coll_plan *plan, const coll_verify_options *options,
                        coll_report *report);

/* coll_grid_prove. */
coll_status prove_case(coll_grid_worker *worker, const coll_grid_case *of, coll_report *report);

#endif /* COLL_TESTS_SHARED_PROVE_H */
