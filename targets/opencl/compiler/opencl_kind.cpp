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

// The driver maps and unmaps memory that host and device share.
constexpr gpu::GpuCosts kCosts = {
    .launch_microseconds = 10, .transfer_microseconds = 20, .bytes_per_microsecond = 4000};

DeviceDriver driver() {
  return {.folder = INTARSIA_TARGET_FOLDER,
          .header = "intarsia/targets/opencl/driver.h",
          .driver_type = "struct intarsia_opencl",
          .open_function = "intarsia_opencl_open",
          .has_registers = false,
          .link_libraries = {"OpenCL"}};
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  TargetKind kind = gpu::kind_of(make_spec(), dialect(), kCosts, driver());
  kind.tir_to_runtime = make_streams;
  kind.disassemble = disassemble;
  registry.add(std::move(kind));
}

}  // namespace intarsia::targets::opencl
