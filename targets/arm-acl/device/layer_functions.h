// A layer as functions of the Arm Compute Library. The driver runs them; the compiler asks by them what the library takes.
#pragma once

#include "intarsia/core/layer_stream.h"
#include "intarsia/targets/arm_acl/library.h"

#ifdef INTARSIA_HAS_ARM_ACL
#include <memory>
#include <string>

namespace intarsia::targets::arm_acl {

class LayerFunctions {
 public:
  LayerFunctions();
  ~LayerFunctions();
  LayerFunctions(const LayerFunctions &) = delete;
  LayerFunctions &operator=(const LayerFunctions &) = delete;

  // Empty, or why the library does not compute the layer. `weight_scales` of a layer of int8 may be null where nothing is
  // computed.
  std::string configure(const rt::Layer &layer, const float *weight_scales);
  // The operands are where the layer has them, from these bases on. False: the library does not work there.
  bool bind(void *const *bases);
  void run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace intarsia::targets::arm_acl
#endif
