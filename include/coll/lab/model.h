/* coll/lab/model.h — closed forms: what a collective takes on a machine, by the formulas of its
 * paper
 *
 *   printf("%g us\n", coll_moody_fnomial_us(&coll_moody_nic_f64_add, 31, 4, 1));
 *   printf("%u leaders\n", coll_dpml_best_leaders(&coll_dpml_omni_path, 64, 28, 8192, 16, true));
 *
 * One header a source, each alone. A model has a structure of costs, its values on the machines of
 * the paper, and a row of what it wants to know, by which parameters.h reads it from words. Units
 * are in the names. Where a formula is misprinted, the function's comment says so; where it is not
 * the paper's but put together from its costs, too.
 *
 *   hockney.h      α, β, γ: the textbook's estimates
 *   loggp.h        L, o, g, G, O: LogGOPSim's numbers
 *   plogp.h        L, and os, or, g as a table over the size
 *   moody.h        f-nomial reductions on hosts and NICs, the best degree       Moody 2003
 *   littlefield.h  tree, snake and fence on a mesh, the best block, regimes     Littlefield 1992
 *   dpml.h         allreduce by several leaders a node, how many                Bayatpour 2017
 *   kumar.h        all-to-all multicast on fat trees                            Kumar 2004
 *   shm_model.h    copies through the memory of a node
 *   noise_model.h  interruptions of processors
 *   traffic_model.h  what others send over links
 *   nic_model.h    NICs with a memory, a processor and a bus
 *   machine_file.h the file of a machine that was measured; machine_words.h: @FILE as its parameters
 *   atcom.h        broadcast that overlaps messages and copies, what to try     Wu 2005
 *
 * The command `coll model` evaluates them, `coll regimes` shows which algorithm is fastest where.
 * Hosted: libm and stdio.
 */
#ifndef COLL_LAB_MODEL_H
#define COLL_LAB_MODEL_H

#include "model/atcom.h"
#include "model/dpml_model.h"
#include "model/hockney.h"
#include "model/kumar.h"
#include "model/littlefield.h"
#include "model/loggp.h"
#include "model/machine_file.h"
#include "model/machine_words.h"
#include "model/moody.h"
#include "model/nic_model.h"
#include "model/noise_model.h"
#include "model/parameters.h"
#include "model/plogp.h"
#include "model/shm_model.h"
#include "model/traffic_model.h"

#endif /* COLL_LAB_MODEL_H */
