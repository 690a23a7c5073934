/* tests/softfloat_x87.c — the tests of softfloat.c on a processor that computes with more digits than a
 * double has, as i686 does */
#if defined(__GNUC__) && !defined(__clang__) && (defined(__x86_64__) || defined(__i386__))
#pragma GCC target("fpmath=387")
#undef COLL_EXTERN /* bodies of its own, for that unit */
#define MORE_DIGITS 1
#endif
#include "softfloat.c"
