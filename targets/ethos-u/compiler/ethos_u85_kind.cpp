#include "ethos_u85_kind.h"

#include <fmt/format.h>

#include "foreign/compiled_stream.h"

namespace intarsia::targets::ethos_u {
namespace {

struct U85Member {
  std::string_view tag;
  int64_t macs, decoders;
};
constexpr U85Member kU85Members[] = {
#define U85_CONFIGURATION(tag, macs, sram_ports, other_ports, decoders) {tag, macs, decoders},
#include "intarsia/targets/ethos_u/u85_configurations.def"
};

KindSpec u85_spec() {
  KindSpec spec;
  spec.name = "ethos-u85";
  spec.summary = "Arm Ethos-U85 NPUs, for models that Vela has compiled";
  spec.role = Role::Accelerator;
  std::vector<int64_t> macs;
  for (const U85Member& member : kU85Members) macs.push_back(member.macs);
  spec.attributes = {AttributeSpec::one_of("macs", 256, macs, "multiply-accumulates per cycle")};
  for (const U85Member& member : kU85Members)
    spec.tags.push_back({std::string(member.tag),
                         fmt::format("{} MACs a cycle, {} weight decoder{}", member.macs,
                                     member.decoders, member.decoders == 1 ? "" : "s"),
                         fmt::format("ethos-u85 -macs={}", member.macs), "c -mcpu=cortex-m55"});
  return spec;
}

// There is a reason for every operator.
std::vector<Pattern> u85_patterns(const Target& device) {
  std::vector<Pattern> patterns = {u85_stream_pattern(device.get_int("macs"))};
  for (Pattern& pattern : portable_patterns()) {
    pattern.refuses = [](const PatternMatch&) {
      return std::optional<std::string>(
          "networks are not compiled for an Ethos-U85; it runs what Vela has compiled for it");
    };
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

Result<Artifacts> u85_streams(const Target& device, const tir::Module& module, const Plan& plan) {
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs)
    if (func.target == device.name && is_compiled_stream(func))
      artifacts.streams.push_back(write_compiled_stream(device, module, plan, func));
  return artifacts;
}

}  // namespace

void add_u85_kind(TargetRegistry& registry) {
  TargetKind kind;
  kind.spec = u85_spec();
  kind.patterns = u85_patterns;
  kind.graph_to_tir = [](const Target&, const graph::Module& module,
                         const graph::Function& function, const LoweringOptions&) {
    return Result<tir::LoweredFunction>(lower_compiled_stream(module, function));
  };
  kind.tir_to_runtime = u85_streams;
  // A stream runs here or nowhere; how long it takes is not known.
  kind.cost = [](const Target&, const graph::Module&, const graph::Function&,
                 const LoweringOptions&) { return CostEstimate{}; };
  kind.notes = [](const Target&, const graph::Module&, const graph::Function&) {
    return std::vector<std::string>{"cycles are not estimated for an Ethos-U85"};
  };
  kind.transfer_microseconds = [](const Target&, int64_t) { return 2.0; };
  // There is none: streams run in the simulation alone.
  kind.driver = [](const Target&) { return DeviceDriver{}; };
  registry.add(std::move(kind));
}

}  // namespace intarsia::targets::ethos_u
