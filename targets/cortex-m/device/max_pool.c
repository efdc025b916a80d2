// Maximum over windows of an int8 image: largest.h, sixteen elements in a vector on cores with Helium, four in a word with the DSP
// extension.
#define INTARSIA_ELEMENT int8_t
#define INTARSIA_LEAST (-128)
#define INTARSIA_MOST 127
#define INTARSIA_WIDTH "8"
#define INTARSIA_LOAD "vldrb.8"
#define INTARSIA_LOAD_THEN "vldrbt.8"
#define INTARSIA_STORE "vstrb.8"
#define INTARSIA_STORE_THEN "vstrbt.8"
#define INTARSIA_SUBTRACT "ssub8"
#define INTARSIA_SPREAD(value) (((uint32_t)(value)&0xffu) * 0x01010101u)
#include "intarsia/targets/cortex_m/largest.h"

void intarsia_max_pool_s8(const struct intarsia_window *window, const int8_t *input, int8_t *output,
                          int8_t *scratch) {
  largest_of_windows(window, input, output, scratch);
}
