/* coll.h — what Arduino finds a library by */
#include "coll/coll.h"
