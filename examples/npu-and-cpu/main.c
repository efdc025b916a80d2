/* One network on two processors: the NPU computes its layers, the recurrent one too, the Cortex-M55 what it does not take.
 * To the application it is one network, with one call; what it hands over is the NPU's driver. */
#include <stdint.h>

#include "../streaming-denoiser/denoise.h"
#include "../streaming-denoiser/recording.h"
#include "npu.h"
#include "semihosting.h"

DENOISER_DEFINE_RESOURCES(resources);
static struct denoiser network;
static struct noise_filter filter;
static struct intarsia_ethos_u* npu;
static uint64_t most_cycles;

int main(void) {
  int16_t frame[NOISE_FILTER_HOP];
  int16_t out[NOISE_FILTER_HOP];
  npu = npu_open();
  if (npu == 0) stop("opening the NPU", INTARSIA_ERROR_DEVICE_ABSENT);
  npu->counting = 1;
  resources.device0 = &npu->device;
  const intarsia_status status = denoiser_init(&network, &resources);
  if (status != INTARSIA_OK) stop("init", (int32_t)status);
  noise_filter_start(&filter, DENOISER_INPUT0_SCALE, DENOISER_INPUT0_ZERO_POINT);
  recording_open("../streaming-denoiser/");
  while (recording_next(frame)) {
    const intarsia_status done = denoise(&network, &filter, frame, out);
    if (done == INTARSIA_ERROR_DEVICE_FAULT) stop("the NPU", (int32_t)npu->fault_status);
    if (done != INTARSIA_OK) stop("run", (int32_t)done);
    if (npu->cycles > most_cycles) most_cycles = npu->cycles;
    recording_compare(out);
  }
  print_number(recording_frames());
  print(" frames\n");
  recording_report();
  print("the NPU worked for at most ");
  print_number((int32_t)most_cycles);
  print(" of its cycles in a frame\n");
  return 0;
}
