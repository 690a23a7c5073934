#include "job.h"
#include "nodes.h"
