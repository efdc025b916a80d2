#include "intarsia/kernels/move.h"

// Words of whatever type the elements have.
#if defined(__GNUC__)
typedef uint32_t __attribute__((__may_alias__)) word;
#else
typedef uint32_t word;
#endif

enum { kWordBytes = 4, kBlockWords = 4 };

void intarsia_move_back(void* to, const void* from, int32_t bytes) {
  word* t = (word*)to;
  const word* f = (const word*)from;
  int32_t words = bytes / kWordBytes;
  for (; words >= kBlockWords; words -= kBlockWords, t += kBlockWords, f += kBlockWords) {
    const word a = f[0], b = f[1], c = f[2], d = f[3];
    t[0] = a;
    t[1] = b;
    t[2] = c;
    t[3] = d;
  }
  for (; words > 0; --words) *t++ = *f++;
}
