// Kind `dnnl`: oneDNN, a library of kernels for the processors that the host program runs on.
#include <fmt/format.h>

#include "intarsia/builtin_targets.h"
#include "intarsia/layers/component.h"
#include "intarsia/layers/layer_target.h"
#include "intarsia/plugin/target_kind.h"
#include "intarsia/targets/dnnl/component.h"

#ifndef INTARSIA_DNNL_COMPONENT
#define INTARSIA_DNNL_COMPONENT ""
#endif

namespace intarsia::targets::dnnl {
namespace {

KindSpec make_spec() {
  KindSpec spec;
  spec.name = "dnnl";
  spec.summary =
      "oneDNN on the host's processors: convolutions, matrices, pools, functions of float32 and "
      "int8";
  spec.role = Role::Accelerator;
  spec.attributes = {AttributeSpec::integer("clock-mhz", 3000, 1, 10000, "for the cost policy"),
                     AttributeSpec::integer("macs-per-cycle", 16, 1, 65536, "for the cost policy")};
  spec.tags = {{"onednn", "oneDNN beside plain C", "dnnl", "c"}};
  return spec;
}

using Refuses = decltype(&intarsia_dnnl_refuses);

// oneDNN itself, where it was there when this was built; elsewhere a layer that it has no primitive for is found by the
// driver, at a program's first run.
layers::Reason refuses(const layers::Layer& layer) {
  if (layer.function != 0 && layer.function == layer.second_function &&
      (layer.alpha != layer.second_alpha || layer.beta != layer.second_beta) && !layer.is_int8())
    return fmt::format("oneDNN computes {} twice in a layer with the same numbers",
                       layers::to_string(static_cast<layers::Function>(layer.function)));
  static const layers::Component component("libintarsia_dnnl.so", INTARSIA_DNNL_COMPONENT);
  static const auto ask = component.function<Refuses>("intarsia_dnnl_refuses");
  if (ask == nullptr) return std::nullopt;
  const std::vector<int32_t> words = layers::words_of(layer);
  const char* answer = ask(words.data(), layer.operands);
  if (answer == nullptr) return std::nullopt;
  return fmt::format("oneDNN takes no {}: {}", layers::describe(layer), answer);
}

const layers::Library& library() {
  static const layers::Library dnnl{.name = "dnnl", .refuses = refuses, .int8 = true};
  return dnnl;
}

DeviceDriver driver() {
  return {.folder = INTARSIA_TARGET_FOLDER,
          .header = "intarsia/targets/dnnl/driver.h",
          .driver_type = "struct intarsia_dnnl",
          .open_function = "intarsia_dnnl_open",
          .has_registers = false,
          .link_libraries = {"dnnl"}};
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  registry.add(layers::kind_of(make_spec(), library(),
                               {.call_microseconds = 1, .results_per_cycle = 8}, driver()));
}

}  // namespace intarsia::targets::dnnl
