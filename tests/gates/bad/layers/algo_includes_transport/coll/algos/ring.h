/* Bad: an algorithm knows the transport. */
#include "../plan.h"
#include "../transport.h"
