#include "intarsia/targets/layer_sdk/driver.h"

#if defined(__linux__)
#include <stdio.h>
#endif

// Without a definition its address is null.
extern "C" __attribute__((weak)) int layer_sdk_execute(const char *network,
                                                       const void *const *inputs,
                                                       void *const *outputs);

namespace intarsia::targets::layer_sdk {
namespace {

#define CONSTANT(name, value) constexpr uint32_t k##name = value;
#include "intarsia/targets/layer_sdk/stream.def"
#undef CONSTANT

uint32_t word(const uint8_t *bytes, uint32_t index) {
  const uint8_t *at = bytes + 4 * static_cast<uintptr_t>(index);
  return at[0] | static_cast<uint32_t>(at[1]) << 8 | static_cast<uint32_t>(at[2]) << 16 |
         static_cast<uint32_t>(at[3]) << 24;
}

intarsia_status run(intarsia_device *, const intarsia_stream *stream, void *const *bases,
                    uint32_t base_count) {
  const uint8_t *bytes = stream->commands;
  const uint32_t words = stream->command_bytes / 4;
  if (words < kHeaderWords || word(bytes, kMagicWord) != kMagic ||
      word(bytes, kVersionWord) != kVersion)
    return INTARSIA_ERROR_DEVICE_MISMATCH;
  const uint32_t inputs = word(bytes, kInputCountWord), outputs = word(bytes, kOutputCountWord);
  if (inputs > kMaxTensors || outputs > kMaxTensors) return INTARSIA_ERROR_DEVICE_MISMATCH;
  const uint32_t name = 4 * (kHeaderWords + kTensorWords * (inputs + outputs));
  if (name >= stream->command_bytes || bytes[stream->command_bytes - 1] != 0)
    return INTARSIA_ERROR_DEVICE_MISMATCH;
  void *tensors[2 * kMaxTensors];
  for (uint32_t i = 0; i < inputs + outputs; ++i) {
    const uint32_t at = kHeaderWords + kTensorWords * i, region = word(bytes, at + kRegionWord);
    if (region >= base_count) return INTARSIA_ERROR_DEVICE_MISMATCH;
    tensors[i] = static_cast<uint8_t *>(bases[region]) + word(bytes, at + kOffsetWord);
  }
  return layer_sdk_execute(reinterpret_cast<const char *>(bytes) + name, tensors,
                           tensors + inputs) == 0
             ? INTARSIA_OK
             : INTARSIA_ERROR_DEVICE_FAULT;
}

}  // namespace
}  // namespace intarsia::targets::layer_sdk

intarsia_status intarsia_layer_sdk_open(intarsia_layer_sdk *sdk, void *) {
  if (sdk == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  *sdk = {};
  sdk->device.run = intarsia::targets::layer_sdk::run;
  if (layer_sdk_execute != nullptr) return INTARSIA_OK;
#if defined(__linux__)
  (void)fprintf(stderr,
                "intarsia: layer-sdk: the vendor's runtime is not linked (layer_sdk_execute)\n");
#endif
  return INTARSIA_ERROR_DEVICE_ABSENT;
}
