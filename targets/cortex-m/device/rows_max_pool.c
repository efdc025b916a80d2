// Maximum over windows of an int8 image: largest.h, sixteen elements in a vector on cores with Helium, four in a word with the DSP
// extension.
#include "intarsia/targets/cortex_m/pool_s8.h"

#include "intarsia/targets/cortex_m/largest.h"

void intarsia_rows_max_pool_s8(const struct intarsia_window *window, const int8_t *input,
                               int8_t *output, int8_t *scratch) {
  largest_of_windows(window, input, output, scratch);
}
