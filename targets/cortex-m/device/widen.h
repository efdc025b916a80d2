// Activations as int16 for wide_dot.h.
#ifndef INTARSIA_CORTEX_M_WIDEN_H_
#define INTARSIA_CORTEX_M_WIDEN_H_

#include "intarsia/targets/cortex_m/bytes.h"
#include "intarsia/targets/cortex_m/wide_dot.h"

// Int8 elements less their zero point, filled with zeros to a whole group.
INTARSIA_INLINE void intarsia_widen(int16_t *to, const int8_t *from, int32_t count, int32_t zero,
                                    enum intarsia_wide_core core) {
  int32_t i = 0;
  for (; i < count; ++i) to[i] = (int16_t)(from[i] - zero);
  for (; i < intarsia_wide_run(count, core); ++i) to[i] = 0;
}

// Int16 elements, filled alike.
INTARSIA_INLINE void intarsia_fill_group(int16_t *to, const int16_t *from, int32_t count,
                                         enum intarsia_wide_core core) {
  (void)intarsia_copy((int8_t *)to, (const int8_t *)from, 2 * count);
  for (int32_t i = count; i < intarsia_wide_run(count, core); ++i) to[i] = 0;
}

#endif  // INTARSIA_CORTEX_M_WIDEN_H_
