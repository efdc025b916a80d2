// Maximum over windows of an int16 image: largest.h, eight elements in a vector on cores with Helium, two in a word with the DSP
// extension.
#define INTARSIA_ELEMENT int16_t
#define INTARSIA_LEAST (-32768)
#define INTARSIA_MOST 32767
#define INTARSIA_WIDTH "16"
#define INTARSIA_LOAD "vldrh.16"
#define INTARSIA_LOAD_THEN "vldrht.16"
#define INTARSIA_STORE "vstrh.16"
#define INTARSIA_STORE_THEN "vstrht.16"
#define INTARSIA_SUBTRACT "ssub16"
#define INTARSIA_SPREAD(value) (((uint32_t)(value)&0xffffu) * 0x00010001u)
#include "intarsia/targets/cortex_m/largest.h"

void intarsia_rows_max_pool_s16(const struct intarsia_window *window, const int16_t *input,
                                int16_t *output, int16_t *scratch) {
  largest_of_windows(window, input, output, scratch);
}
