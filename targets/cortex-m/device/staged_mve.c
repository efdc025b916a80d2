// Convolutions by stages on cores with Helium.
#include "intarsia/targets/cortex_m/mve_conv.h"

#include "intarsia/targets/cortex_m/staging.h"

void intarsia_staged_mve_conv_s8(const struct intarsia_staged *staged, const int8_t *input,
                                 int8_t *output, int8_t *scratch, const int8_t *weights,
                                 const int32_t *channels) {
  INTARSIA_BY_STAGES(intarsia_mve_conv_s8);
}

// A piece as intarsia_mve_conv_s16 takes it.
static void mve_conv_of_halves(const struct intarsia_window *piece, const int8_t *input,
                               int8_t *output, int8_t *scratch, const int8_t *weights) {
  struct intarsia_window w = *piece;
  w.out_c /= 2;
  intarsia_mve_conv_s16(&w, (const int16_t *)(const void *)input, (int16_t *)(void *)output,
                        (int16_t *)(void *)scratch, (const int32_t *)(const void *)weights);
}

void intarsia_staged_mve_conv_s16(const struct intarsia_staged *staged, const int16_t *image,
                                  int16_t *results, int8_t *scratch, const int8_t *weights) {
  struct intarsia_piece p;
  intarsia_begin_staging(&p, staged, (const int8_t *)image, (int8_t *)results, scratch, weights,
                         (const int32_t *)(const void *)weights);
  do {
    mve_conv_of_halves(&p.w, p.from, p.results, scratch + staged->scratch_at, p.weights);
  } while (intarsia_next_piece(&p));
}
