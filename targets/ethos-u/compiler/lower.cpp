#include "lower.h"

#include "hardware.h"
#include "intarsia/check.h"
#include "legalise.h"
#include "scheduler.h"
#include "to_tir.h"

namespace intarsia::targets::ethos_u {

isa::ethos_u::MemorySystem memory_system_of(const Target& member) {
  const Hardware& hardware = hardware_of(member);
  const isa::ethos_u::NpuTiming* npu = isa::ethos_u::find_npu_timing(hardware.tag);
  INTARSIA_CHECK(npu != nullptr, "every configuration has a timing");
  const auto system = isa::ethos_u::memory_system(*npu, "", member.get_string("memory-mode"));
  INTARSIA_CHECK(system.has_value(), "the kind admits only memory modes of the table");
  return *system;
}

tir::LoweredFunction lower(const Target& member, const graph::Module& module,
                           const graph::Function& function, const LoweringOptions& options) {
  const Hardware& hardware = hardware_of(member);
  const Program program = legalise(module, function);
  ScheduleOptions schedule_options;
  schedule_options.memory = memory_system_of(member);
  schedule_options.for_size = options.optimise == LoweringOptions::Optimise::Size;
  const Schedule schedule = make_schedule(hardware, program, schedule_options);
  return to_tir(hardware, function, program, schedule);
}

}  // namespace intarsia::targets::ethos_u
