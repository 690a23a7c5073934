/* mpi/layer/tuned.c — the rules for the library that this is built with */
#include "layer.h"

const char tuned_rules[] =
#include "tuned.h"
    ;
