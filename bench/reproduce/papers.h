/* bench/reproduce/papers.h — a chapter of the report for each paper */
#ifndef COLL_BENCH_REPRODUCE_PAPERS_H
#define COLL_BENCH_REPRODUCE_PAPERS_H

void reproduce_moody(void);
void reproduce_moody_noise(void); /* its part with noise */
void reproduce_moody_skew(void);  /* its part on few nodes, and on nodes that come late */
void reproduce_moody_bus(void);   /* its part with NICs that have a bus and a memory */
void reproduce_littlefield(void);
void reproduce_littlefield_fit(void); /* its part on where f(L) comes from */
void reproduce_dpml(void);
void reproduce_dpml_scale(void); /* its part on pipelining and 10,240 processes */
void reproduce_kumar(void);
void reproduce_kumar_steps(void); /* its part on nodes that get out of step, and processors */
void reproduce_atcom(void);
void reproduce_atcom_library(void); /* its part on chapters 2 and 3 */

#endif /* COLL_BENCH_REPRODUCE_PAPERS_H */
