#include "cuda_kind.h"

#include "intarsia/builtin_targets.h"
#include "intarsia/gpu/lower.h"

namespace intarsia::targets::cuda {
namespace {

KindSpec make_spec() {
  KindSpec spec;
  spec.name = "cuda";
  spec.summary = "an NVIDIA GPU through the CUDA driver: operators of the portable lowering";
  spec.role = Role::Accelerator;
  spec.attributes = {
      AttributeSpec::word(
          "arch", "sm_75",
          {"sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70", "sm_72", "sm_75", "sm_80",
           "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_120"},
          "the oldest GPU that the program is for"),
      AttributeSpec::word("code", "source", {"source", "ptx"},
                          "what the package holds: CUDA C, which NVRTC compiles when the program "
                          "runs, or PTX, which clang makes of it now"),
      AttributeSpec::one_of("threads-per-block", 128, {32, 64, 128, 256, 512, 1024},
                            "work items that one multiprocessor starts together"),
      AttributeSpec::integer("clock-mhz", 1500, 1, 10000, "for the cost policy"),
      AttributeSpec::integer("macs-per-cycle", 512, 1, 1048576, "for the cost policy")};
  spec.tags = {{"cuda-device", "the first NVIDIA GPU, beside plain C", "cuda", "c"},
               {"jetson-nano", "the GPU of a Jetson Nano, beside plain C",
                "cuda -arch=sm_53 -clock-mhz=921 -macs-per-cycle=128", "c"},
               {"jetson-orin", "the GPU of a Jetson Orin, beside plain C",
                "cuda -arch=sm_87 -clock-mhz=1020 -macs-per-cycle=512", "c"}};
  return spec;
}

// A call of the driver, and what passes a PCI Express bus.
constexpr gpu::GpuCosts kCosts = {
    .launch_microseconds = 5, .transfer_microseconds = 10, .bytes_per_microsecond = 12000};

DeviceDriver driver() {
  return {.folder = INTARSIA_TARGET_FOLDER,
          .header = "intarsia/targets/cuda/driver.h",
          .driver_type = "struct intarsia_cuda",
          .open_function = "intarsia_cuda_open",
          .has_registers = false,
          .link_libraries = {"dl"}};
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  TargetKind kind = gpu::kind_of(make_spec(), dialect(), kCosts, driver());
  kind.tir_to_runtime = make_streams;
  kind.disassemble = disassemble;
  registry.add(std::move(kind));
}

}  // namespace intarsia::targets::cuda
