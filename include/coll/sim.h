#ifndef COLL_SIM_H
#define COLL_SIM_H
#include "sim/engine.h"
#include "sim/loggp.h"
#endif
