#include "denoise.h"

_Static_assert(DENOISER_INPUT0_BYTES == NOISE_FILTER_BANDS, "a feature for each band");
_Static_assert(DENOISER_OUTPUT0_BYTES == NOISE_FILTER_BANDS, "a gain for each band");

intarsia_status denoise(struct denoiser* network, struct noise_filter* filter, const int16_t* in,
                        int16_t* out) {
  uint16_t gains[NOISE_FILTER_BANDS];
  noise_filter_listen(filter, in, denoiser_input0(network));
  const intarsia_status status = denoiser_run(network);
  if (status != INTARSIA_OK) return status;
  const int8_t* output = denoiser_output0(network);
  for (int32_t b = 0; b < NOISE_FILTER_BANDS; ++b)
    /* The scale is 1/256, as the logistic's always is. */
    gains[b] = (uint16_t)(output[b] - DENOISER_OUTPUT0_ZERO_POINT);
  noise_filter_restore(filter, gains, out);
  return INTARSIA_OK;
}
