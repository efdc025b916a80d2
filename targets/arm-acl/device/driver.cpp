#include "intarsia/targets/arm_acl/driver.h"

#include "intarsia/targets/arm_acl/layer_functions.h"

#ifdef INTARSIA_HAS_ARM_ACL

#include <cstdio>
#include <deque>
#include <exception>

namespace intarsia::targets::arm_acl {
namespace {

constexpr uint32_t kLibrary = 0x5F6D7261;  // "arm_"

using Layers = std::deque<LayerFunctions>;  // never moves its elements

intarsia_status failed(uint32_t layer, const std::string &what) {
  (void)std::fprintf(stderr, "intarsia: arm_acl: layer %u: the Arm Compute Library says: %s\n",
                     static_cast<unsigned>(layer), what.c_str());
  return INTARSIA_ERROR_DEVICE_FAULT;
}

// The scales of the layer's weights where it has some.
const float *weight_scales(const rt::Layer &layer, void *const *bases) {
  const size_t bytes = static_cast<size_t>(layer.weight_scales) * sizeof(float);
  if (!layer.scales.is_there() || layer.weight_scales <= 0 || layer.scales.bytes < bytes ||
      layer.scales.offset % sizeof(float) != 0)
    return nullptr;
  return reinterpret_cast<const float *>(static_cast<const uint8_t *>(bases[layer.scales.region]) +
                                         layer.scales.offset);
}

// The stream's layers, which its first run prepares.
intarsia_status find_layers(intarsia_arm_acl &acl, const intarsia_stream &stream,
                            void *const *bases, const rt::LayerStream &from, Layers *&found) {
  for (uint32_t i = 0; i < acl.program_count; ++i)
    if (acl.programs[i].commands == stream.commands)
      found = static_cast<Layers *>(acl.programs[i].layers);
  if (found != nullptr) return INTARSIA_OK;
  if (acl.program_count == INTARSIA_ARM_ACL_MAX_PROGRAMS) return INTARSIA_ERROR_DEVICE_MEMORY;
  auto made = std::make_unique<Layers>();
  for (uint32_t i = 0; i < from.layers(); ++i) {
    const rt::Layer layer = from.layer(i);
    const float *scales = weight_scales(layer, bases);
    if (layer.is_int8() && layer.weights.is_there() && scales == nullptr)
      return failed(i, "the weights have no scales");
    const std::string problem = made->emplace_back().configure(layer, scales);
    if (!problem.empty()) return failed(i, problem);
  }
  found = made.release();
  acl.programs[acl.program_count++] = {stream.commands, found};
  return INTARSIA_OK;
}

intarsia_status run_layers(intarsia_arm_acl &acl, const intarsia_stream &stream, void *const *bases,
                           const rt::LayerStream &from) {
  Layers *layers = nullptr;
  const intarsia_status status = find_layers(acl, stream, bases, from, layers);
  if (status != INTARSIA_OK) return status;
  uint32_t index = 0;
  for (LayerFunctions &layer : *layers) {
    if (!layer.bind(bases)) return failed(index, "it does not work on memory there");
    layer.run();
    ++index;
  }
  return INTARSIA_OK;
}

intarsia_status run(intarsia_device *device, const intarsia_stream *stream, void *const *bases,
                    uint32_t base_count) {
  // `device` is the first member of the driver's state.
  auto &acl = *reinterpret_cast<intarsia_arm_acl *>(device);
  rt::LayerStream layers;
  if (!layers.open(*stream, kLibrary, base_count)) return INTARSIA_ERROR_DEVICE_MISMATCH;
  try {
    return run_layers(acl, *stream, bases, layers);
  } catch (const std::exception &error) {
    return failed(0, error.what());
  }
}

}  // namespace
}  // namespace intarsia::targets::arm_acl

using namespace intarsia::targets::arm_acl;

intarsia_status intarsia_arm_acl_open(intarsia_arm_acl *acl, void *) {
  if (acl == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  *acl = {};
  acl->device.run = run;
  return INTARSIA_OK;
}

void intarsia_arm_acl_close(intarsia_arm_acl *acl) {
  for (uint32_t i = 0; i < acl->program_count; ++i)
    delete static_cast<Layers *>(acl->programs[i].layers);
  *acl = {};
}

#else

intarsia_status intarsia_arm_acl_open(struct intarsia_arm_acl *acl, void *) {
  if (acl == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  *acl = {};
  return INTARSIA_ERROR_DEVICE_ABSENT;
}

void intarsia_arm_acl_close(struct intarsia_arm_acl *) {}

#endif
