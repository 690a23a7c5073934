#include "nodes.h"
#include "job.h"
