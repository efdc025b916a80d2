#include "opencl_kind.h"

#include "intarsia/builtin_targets.h"
#include "intarsia/gpu/lower.h"

namespace intarsia::targets::opencl {
namespace {

KindSpec make_spec() {
  KindSpec spec;
  spec.name = "opencl";
  spec.summary =
      "an OpenCL 1.2 device through the ICD loader: integer operators of the portable lowering";
  spec.role = Role::Accelerator;
  spec.attributes = {AttributeSpec::integer("clock-mhz", 1000, 1, 10000, "for the cost policy"),
                     AttributeSpec::integer("macs-per-cycle", 16, 1, 65536, "for the cost policy")};
  spec.tags = {
      {"opencl-device", "the first OpenCL device that answers, beside plain C", "opencl", "c"}};
  return spec;
}

// A launch is ten microseconds before anything is computed.
CostEstimate cost(const Target& target, const graph::Module&, const graph::Function& function,
                  const graph::Node& node) {
  const auto clock = static_cast<double>(target.get_int("clock-mhz"));
  int64_t elements = 0;
  for (const graph::TensorId id : node.outputs)
    elements += element_count(function.tensor(id).shape);
  const double work = static_cast<double>(graph::mac_count(function, node) + 8 * elements);
  return {10 * clock + work / static_cast<double>(target.get_int("macs-per-cycle")), clock};
}

// The driver maps and unmaps memory that host and device share.
double transfer_microseconds(const Target&, int64_t bytes) {
  return 20.0 + static_cast<double>(bytes) / 4000.0;
}

DeviceDriver driver(const Target&) {
  return {.folder = INTARSIA_TARGET_FOLDER,
          .header = "intarsia/targets/opencl/driver.h",
          .driver_type = "struct intarsia_opencl",
          .open_function = "intarsia_opencl_open",
          .has_registers = false,
          .link_libraries = {"OpenCL"}};
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  TargetKind kind;
  kind.spec = make_spec();
  kind.patterns = [](const Target&) { return gpu::patterns_of(dialect()); };
  kind.graph_to_tir = [](const Target&, const graph::Module& module,
                         const graph::Function& function, const LoweringOptions&) {
    return gpu::lower(dialect(), module, function);
  };
  kind.tir_to_runtime = make_streams;
  kind.cost = sum_of_operators(cost);
  kind.transfer_microseconds = transfer_microseconds;
  kind.driver = driver;
  kind.disassemble = disassemble;
  registry.add(std::move(kind));
}

}  // namespace intarsia::targets::opencl
