#include "fixed_log2.h"

#include "fixed_tables.h"

int32_t fixed_log2_q16(uint64_t value) {
  if (value == 0) return 0;
  const int top = 63 - __builtin_clzll(value);
  /* The bits below the highest one as a fraction of 32 bits: 6 choose the piece, 16 more the place in it. */
  const uint32_t fraction = (uint32_t)((value << (63 - top)) >> 31);
  const uint32_t piece = fraction >> 26;
  const int32_t place = (int32_t)(fraction >> 10 & 0xFFFFu);
  const int32_t low = fixed_log2_table_q16[piece];
  const int32_t rise = fixed_log2_table_q16[piece + 1] - low;
  return top * 65536 + low + (rise * place >> 16);
}

int32_t fixed_centibel(uint64_t numerator, uint64_t denominator) {
  /* 1000 / log2(10) = 301.03 in Q8. */
  const int64_t difference = fixed_log2_q16(numerator) - fixed_log2_q16(denominator);
  return (int32_t)(difference * 77064 >> 24);
}
